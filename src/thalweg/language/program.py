"""A Program: statements of one kind, with the texts they came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from thalweg.language.rules import Kind, Statement, Tick
from thalweg.language.wording import counted

if TYPE_CHECKING:
    from thalweg.language.diagnostics import Diagnostic

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, repr=False)
class Program:
    """What `parse` and `load` return: the statements of the rule file, its includes and its background files.

    `sources` maps each source name to its text, for excerpts in diagnostics; it takes no part in equality.
    """

    kind: Kind
    statements: tuple[Statement, ...]
    sources: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), compare=False, repr=False
    )
    _text: str | None = field(default=None, init=False, compare=False, repr=False)
    _sound: bool = field(default=False, init=False, compare=False, repr=False)
    _known: dict[Callable[[Program], Any], Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Program], tuple[Any, ...]]:
        """Pickled and copied is what was written, not what is known about it."""
        return Program, (self.kind, self.statements, dict(self.sources))

    @property
    def tick_seconds(self) -> float | None:
        """How long a time-point lasts, where the program says so."""
        return next((s.seconds for s in self.statements if isinstance(s, Tick)), None)

    def once(self, question: Callable[[Program], _Found]) -> _Found:
        """The answer to a question about the program, which never changes: it is asked once."""
        if question not in self._known:
            self._known[question] = question(self)
        found: _Found = self._known[question]
        return found

    def __str__(self) -> str:
        """Canonical text that parses to an equal program; it is written once."""
        from thalweg.language.printer import to_text

        if self._text is None:
            object.__setattr__(self, "_text", to_text(self))
        assert self._text is not None
        return self._text

    def __repr__(self) -> str:
        """Short, since a program is long; `print` shows its text."""
        return f"<{self.kind.value} program of {counted(len(self.statements), 'statement')}>"

    def _repr_html_(self) -> str:
        from thalweg.language.printer import to_html

        return to_html(self)

    def check(self) -> list[Diagnostic]:
        """Everything that the checker finds in a program that could be read."""
        from thalweg import analysis

        found: list[Diagnostic] = analysis.check(self)
        return found

    def graph(self) -> Any:
        """The dependency graph, as an object that displays itself in notebooks."""
        from thalweg.show.graph import graph

        return graph(self)
