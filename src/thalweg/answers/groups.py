"""Rows of partial answers by what they have met and what they still need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from thalweg.answers.blocks import Block
from thalweg.answers.codec import Bools, values
from thalweg.answers.datalog import Test, TimedAtom
from thalweg.answers.shapes import Comparison, Computation, Operation, Rigid, Shape, is_implied
from thalweg.protocol import Ints

Blocks = Mapping[tuple[int, ...], Block]
"""The blocks of a cell by shape and mask; of several cells also by place."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that have met the same premises: one shape, one mask, one set of discharged negations. `place` keeps rows of
    different cells apart where these have exceptions of their own."""

    shape: Shape
    mask: int
    bits: int
    place: int | None = None

    @property
    def key(self) -> tuple[int, ...]:
        """The block that the rows are from."""
        own = self.shape.number, self.mask
        return own if self.place is None else (*own, self.place)

    @property
    def is_certain(self) -> bool:
        return self.mask == self.shape.full and self.bits == self.shape.discharged

    @property
    def is_supported(self) -> bool:
        return bool(self.mask or self.bits)

    @property
    def is_judged(self) -> bool:
        """False where a negation counts as met of which some are still excepted."""
        return not self.bits & ~self.shape.ground_negatives(self.mask)

    def evidence(self) -> list[TimedAtom]:
        """The premises that are met, by time."""
        return _by_time(self.shape.premises(self.mask, self.bits, True))

    def needed(self) -> list[TimedAtom]:
        """The premises that are still missing, by time."""
        return _by_time(self.shape.premises(self.mask, self.bits, False))

    def tests(self) -> list[Test]:
        """The comparisons and computations that wait for values."""
        return [o.test for o in self._waiting() if isinstance(o, (Comparison, Computation))]

    def background(self) -> list[TimedAtom]:
        """The background atoms that wait for values."""
        return [o.atom for o in self._waiting() if isinstance(o, Rigid)]

    def _waiting(self) -> list[Operation]:
        done = self.shape.closure(self.mask)[0]
        return [o for i, o in enumerate(self.shape.operations) if i not in done and not is_implied(o)]


def _by_time(atoms: list[TimedAtom]) -> list[TimedAtom]:
    return sorted(atoms, key=lambda a: a.time.offset if a.time is not None else 0)


def has_head(group: Group) -> bool:
    """True where the substitution is known."""
    bound = group.shape.bound(group.mask) | group.shape.open
    return all(slot.column < 0 or slot.column in bound for slot in group.shape.head)


def without(rows: Block, gone: Bools) -> Block:
    """The rows but those."""
    return rows.take(~gone) if gone.any() else rows


def time_values(rows: Block, column: int | None) -> Ints:
    """The times in a column; 0 where there is none, or none known."""
    codes = None if column is None else rows.columns[column]
    return np.zeros(rows.length, np.int64) if codes is None else values(codes).astype(np.int64)
