"""What can be wrong with a request to read or write, as opposed to a single bad row.

A bad row is rejected and the run goes on. An `InputError` means that the request itself cannot be carried
out: a missing file, an unreadable format, an option that makes no sense. Commands render it as one message,
exit code 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """A request that cannot be carried out. `code` names the kind of mistake, `hint` says what to do about
    it."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\n{hint}")
        self.code = code
        self.message = message
        self.hint = hint


DID_YOU_MEAN = "; did you mean "


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean velocity?``, or nothing where no known name is near.

    >>> did_you_mean("velocty", ["velocity", "gap_start"])
    '; did you mean velocity?'
    """
    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"{DID_YOU_MEAN}{near[0]}?" if near else ""
