"""Answers whose times are not tied together (Example 8): combinations of groups, each with a time of its own.

Every group of premises that share a time variable is decided by a query of its own. Its certain answers are joined
here on the variables that groups share; times are columns like any other. A combination that lacks a group is open
without a deadline. With a horizon, all times of a combination lie within it, and what can no longer be completed
within it is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg.answers.blocks import Block, Facts, advance, concatenated, meet, start_block
from thalweg.answers.codec import Bools, Codec, values
from thalweg.answers.datalog import TimedAtom
from thalweg.answers.kernels import distinct, first, index
from thalweg.answers.plans import LooseTemplate, Plan
from thalweg.answers.shapes import Positive, Shape, Slot, compile_template
from thalweg.columns.keys import matrix
from thalweg.columns.symbols import numbers
from thalweg.language.terms import Variable
from thalweg.protocol import Ints

NEVER = 1 << 62
"""Later than any time (`thalweg.analysis.farthest`)."""


@dataclass(slots=True, eq=False)
class LooseShape(Shape):
    """A shape whose positive premises are whole groups; time variables are columns that hold numbers."""

    groups: tuple[tuple[TimedAtom, ...], ...] = field(default=(), kw_only=True)

    def premises(self, mask: int, bits: int, met: bool) -> list[TimedAtom]:
        return [atom for i, group in enumerate(self.groups) for atom in group if bool(mask >> i & 1) == met]


class Loose:
    """The combinations of one loose template."""

    def __init__(
        self, plan: Plan, codec: Codec, query: int, number: int, made: LooseTemplate, horizon: int | None
    ) -> None:
        self.codec = codec
        self.query = query
        self.groups = [group.query for group in made.groups]
        self.horizon = horizon
        self.patience = max((plan.queries[g].delay for g in self.groups), default=0)
        self.shape = _shape(plan, codec, query, number, made)
        self.blocks: dict[int, Block] = {}
        self.due = NEVER
        self.times = [
            self.shape.names.index(g.variable) if g.variable is not None else None for g in made.groups
        ]

    def step(self, new: Mapping[int, Facts], lost: Mapping[int, Facts], closed: int) -> bool:
        """Take in what became certain in the groups (by query), take back what no longer is; True on any change."""
        before = dict(self.blocks)
        if not self.groups and not before:  # the stream has no part in it: it holds from the beginning
            self._put(0, advance(self.shape, -1, 0, start_block(self.shape), 0, self.codec))
        for i, query in enumerate(self.groups):
            if query in lost:
                self._take_back(i, lost[query])
        for i, query in enumerate(self.groups):
            if query in new:
                self._combine(i, new[query])
        self._expire(closed)
        return before.keys() != self.blocks.keys() or any(self.blocks[m] is not b for m, b in before.items())

    def _combine(self, i: int, facts: Facts) -> None:
        for mask, block in [(0, start_block(self.shape)), *self.blocks.items()]:
            if mask >> i & 1:
                continue
            met, rest = meet(self.shape, mask, block, i, facts)
            after = mask | 1 << i
            met = advance(self.shape, mask if mask else -1, after, met, 0, self.codec)
            met = self._within(after, met)
            if mask and rest is not block:
                self._put(mask, rest)
            if met.length:
                self._put(after, concatenated([self.blocks[after], met]) if after in self.blocks else met)

    def _put(self, mask: int, block: Block | None) -> None:
        if block is not None and block.length:
            self.blocks[mask] = block
        else:
            self.blocks.pop(mask, None)

    def _spread(self, mask: int, block: Block) -> tuple[Ints, Ints] | None:
        """Earliest and latest time of every row."""
        columns = [c for i, c in enumerate(self.times) if c is not None and mask >> i & 1]
        if not columns:
            return None
        stacked = np.stack([time_column(block, c) for c in columns])
        return stacked.min(axis=0), stacked.max(axis=0)

    def _within(self, mask: int, block: Block) -> Block:
        spread = self._spread(mask, block)
        if self.horizon is None or spread is None:
            return block
        keep = spread[1] - spread[0] <= self.horizon
        return block if keep.all() else block.take(keep)

    def _expire(self, closed: int) -> None:
        """Drop what cannot be completed any more; of the complete ones keep one per answer."""
        self.due = NEVER
        if self.horizon is None:
            return
        for mask, block in list(self.blocks.items()):
            spread = self._spread(mask, block)
            if spread is None:
                continue
            ends = spread[0] + self.horizon + self.patience
            waits = ends > closed
            if mask == self.shape.full:
                waits |= distinct(self._answers(block))
            elif waits.any():
                self.due = min(self.due, int(ends[waits].min()))
            if not waits.all():
                self._put(mask, block.take(waits))

    def _answers(self, block: Block) -> Ints:
        columns = [block.columns[s.column] for s in self.shape.head if s.column >= 0]
        known = [c for c in columns if c is not None]
        return matrix([*known, self.answer_times(block)], block.length)

    def answer_times(self, block: Block) -> Ints:
        """The time of every answer; 0 where its group has not been met."""
        time = self.shape.template.time
        if time is None or time.variable is None:
            return np.full(block.length, 0 if time is None else time.offset)
        return time_column(block, self.shape.names.index(time.variable)) + time.offset

    def _take_back(self, i: int, facts: Facts) -> None:
        columns = [column for _, column in self.shape.positives[i].columns]
        known = index(facts.rows())
        for mask, block in list(self.blocks.items()):
            if mask >> i & 1:
                held = [c for c in (block.columns[k] for k in columns) if c is not None]
                gone: Bools = first(known, matrix(held, block.length)) >= 0
                if gone.any():
                    self._put(mask, block.take(~gone))

    # -- snapshots

    def state(self, put: Callable[[Ints], int]) -> list[Any]:
        """The blocks with their arrays stored by `put`."""
        return [
            [mask, b.length, [None if c is None else put(c) for c in b.columns], put(b.bits)]
            for mask, b in sorted(self.blocks.items())
        ]

    def adopt(self, kept: list[Any], arrays: list[Ints]) -> None:
        """Blocks from a snapshot; when they expire is found at the next step."""
        self.due = -NEVER
        self.blocks = {
            mask: Block(length, [None if c is None else arrays[c] for c in columns], arrays[bits])
            for mask, length, columns, bits in kept
        }


def time_column(block: Block, column: int) -> Ints:
    """A time variable's values; 0 where it is not bound."""
    codes = block.columns[column]
    return np.zeros(block.length, np.int64) if codes is None else values(codes).astype(np.int64)


def certain_facts(shape: Shape, time: int, block: Block, with_time: bool) -> Facts:
    """Certain answers of a group as facts: its variables in order, then its time."""
    done = block.bits & shape.discharged == shape.discharged
    rows = block if done.all() else block.take(done)
    args = [c for c in (rows.columns[s.column] for s in shape.head) if c is not None]
    if with_time:
        args.append(numbers(np.full(rows.length, time)))
    return Facts(args, rows.length)


def _shape(plan: Plan, codec: Codec, query: int, number: int, made: LooseTemplate) -> LooseShape:
    base = compile_template(plan, codec, query, number, made.template, made.template.time_variables())
    place = {name: i for i, name in enumerate(base.names)}
    time = made.template.time
    positives = []
    for group in made.groups:
        goal = plan.queries[group.query].goal
        inside = [place[a.name] for a in goal.args if isinstance(a, Variable)]
        if group.variable is not None:
            inside.append(place[group.variable])
        positives.append(Positive(goal.predicate, 0, (), tuple(enumerate(inside)), (), goal))
    return LooseShape(
        query,
        number,
        made.template,
        base.names,
        tuple(positives),
        (),
        base.operations,
        base.head if time is None or time.variable is None else (*base.head, Slot(place[time.variable])),
        frozenset(),
        0,
        groups=tuple(group.premises for group in made.groups),
    )
