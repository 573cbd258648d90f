"""The one small protocol that all reasoners answer to; Spark, CLI, notebooks and tests use nothing else.

Rows come in as columns (`Rows`), results go out as Arrow tables (`Revision`). Rows may be accepted in any
order and in any split: the result at a query time depends only on what had *arrived* by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from datetime import date

    from thalweg.language.program import Program

Ints = npt.NDArray[np.int64]
Ops = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

OPEN_END = np.iinfo(np.int64).max
"""The `end` of an interval that has none."""

NOTHING_TO_RETRACT = "nothing like it had arrived before; of rows that arrive together retractions come first"
"""What is said of a retraction that is rejected."""

REJECTED = pa.schema(
    [("query_time", pa.int64()), ("row", pa.int64()), ("reason", pa.string()), ("detail", pa.string())]
)
"""What every reasoner says of rows that never have an effect: when that is said, and why (`thalweg.reasons`)."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Input rows of one name. All columns have one length.

    `op` is +1 (insert) or -1 (retract); `time` is the occurrence, for interval fluents the start, and then
    `end` is exclusive (`OPEN_END`: still running). `args` and `value` are Arrow arrays: strings (plain or
    dictionary-encoded) hold the text of a constant, integers and floats are numbers. `row` numbers the
    input rows, for causes and rejections. `derived` marks what another reasoner has computed: an interval
    that starts a time-point after a query time is an effect of that query time and counts there, `row` is its cause
    (-1: time), and its constants are written as in results (``'North Sea'``).
    """

    name: str
    op: Ops
    arrival: Ints
    time: Ints
    row: Ints
    args: tuple[pa.Array, ...] = ()
    end: Ints | None = None
    value: pa.Array | None = None
    derived: bool = False

    def __len__(self) -> int:
        return len(self.time)


Batch = Sequence[Rows]


def refuse_other_batches(batch: object) -> None:
    """Raise `TypeError` where this is no batch; says how to make one."""
    if not isinstance(batch, Sequence) or any(not isinstance(rows, Rows) for rows in batch):
        raise TypeError("a batch is made of a table: `batch, rejected = thalweg.rows(program, table)`")


@dataclass(frozen=True, slots=True)
class Revision:
    """What one `advance` found: Arrow tables by name (`changes`, `open`, `rejected`, ...), columns fixed per
    reasoner. `notes`: what a changed program cannot know of the past, in sentences."""

    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self.tables:
            raise KeyError(f"this revision has no table {name!r}; it has {', '.join(self.tables)}")
        return self.tables[name]


class PartMissing(RuntimeError):
    """Something that is not installed is needed to go on; the message says what and how to get it."""


class TooLarge(RuntimeError):
    """What is asked for would take more than can be had; the message says what, and what to do."""


class CannotGoOn(ValueError):
    """A changed program cannot go on from the state of another one; the message says why."""


class Reasoner(Protocol):
    """Accepts rows, advances its clock through query times, can be stopped and resumed, and handed over to a changed
    program."""

    def accept(self, batch: Batch) -> None:
        """Take insertions and retractions, in any order, with arrival times."""

    def advance(self, to: int | date) -> Revision:
        """Run every query time up to and including `to`. The present time runs none; one before it is refused with
        `ValueError`, for the clock does not go back, and leaves everything as it is."""

    def snapshot(self) -> bytes:
        """The complete state: versioned, deterministic."""

    def restore(self, state: bytes) -> None:
        """Continue from a snapshot; refuses another program's state."""

    def changed(self, program: Program) -> Reasoner:
        """A reasoner for a changed program that goes on from here; this one is not to be used again. Refuses with
        `CannotGoOn`."""

    def revise(self) -> Revision:
        """After `changed`, once: what is different under the changed program, as changes that fold with those before,
        and notes on what cannot be known."""
