"""Queries whose answers do not each hang on one cell: the premises of some alternatives have times of their own.

An answer ``q(X)`` to ``q(X) :- a(X, T), b(X, T+1).`` can come at any T. The cells of such an alternative are those of a
query of its own, by T. What is reported looks at all cells together, with their times as columns: one answer makes
others superfluous wherever they come from. Of answers whose cells are forgotten the substitution is remembered, as
long as another cell could still give it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from thalweg.answers.blocks import DEAD, Block, concatenated
from thalweg.answers.codec import STAR, Bools, Codec, values
from thalweg.answers.groups import Blocks, time_values
from thalweg.answers.kernels import Index, distinct, first, index
from thalweg.answers.loose import NEVER, Loose
from thalweg.answers.plans import Plan
from thalweg.answers.shapes import Shape, head_time
from thalweg.answers.stars import head_keys
from thalweg.columns.symbols import numbers
from thalweg.protocol import Ints

Cells = Mapping[tuple[int, int], Blocks]
"""Blocks by query and time."""


class Answered:
    """Substitutions that were answered, with the answer's time where it has one. Never changed in place."""

    def __init__(self, keys: Ints) -> None:
        self.keys = keys

    @cached_property
    def _index(self) -> Index:
        return index(self.keys)

    def covers(self, keys: Ints) -> Bools:
        """Which of the substitutions are among these."""
        if not len(self.keys) or not keys.shape[1]:
            return np.full(len(keys), len(self.keys) > 0)
        return np.asarray(first(self._index, keys) >= 0)

    def extended(self, parts: Sequence[Ints]) -> Answered:
        """These and others."""
        keys = np.concatenate([self.keys, *parts])
        return Answered(keys[distinct(keys)])


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that the answers of a query are made of, as it is at some moment."""

    cells: Cells
    combined: Blocks
    answered: Answered

    def before(self, cells: Cells, combined: Blocks) -> Parts:
        """The same with cells and combinations as they were."""
        return Parts({**self.cells, **cells}, combined, self.answered)


class Gathered:
    """The answers of one query."""

    def __init__(
        self,
        plan: Plan,
        codec: Codec,
        query: int,
        shapes: list[list[Shape]],
        loose: Iterable[Loose],
        horizon: int | None,
    ) -> None:
        made = plan.queries[query]
        self.query = query
        self.loose = [x for x in loose if x.query == query]
        self.sources = {(query, s.number): _stamped(s) for s in shapes[query]}
        for number, one in enumerate(made.loose, len(made.templates)):
            if one.is_single:
                group = one.groups[0].query
                stamped = replace(_stamped(shapes[group][0]), query=query, number=number, template=one.template)
                self.sources[group, 0] = stamped
        self.shapes = {s.number: s for s in self.sources.values()} | {x.shape.number: x.shape for x in self.loose}
        for shape in self.shapes.values():
            time = head_time(shape, codec)
            shape.head = (*shape.head, *time)
            shape.has_twins = len(self.shapes) > 1
        self.cells = {source for source, _ in self.sources}
        self.timed = made.goal.time is not None
        self.answered = Answered(np.empty((0, len(next(iter(self.shapes.values())).head)), np.int64))
        self._retired: list[Ints] = []
        self._any_time, self._lasts, self._until = _again(plan, query, horizon)

    def parts(self, cells: Sequence[Mapping[int, Any]]) -> Parts:
        """What there is now."""
        found = {(q, time): dict(cell.blocks) for q in sorted(self.cells) for time, cell in cells[q].items()}
        return Parts(found, self.combined(), self.answered)

    def combined(self) -> Blocks:
        """The combinations of unrelated times."""
        return {(x.shape.number, mask): b for x in self.loose for mask, b in x.blocks.items()}

    def blocks(self, parts: Parts) -> Blocks:
        """All rows but those about what is answered, with the times of their cells."""
        found: dict[tuple[int, ...], list[Block]] = {}
        for (query, time), blocks in sorted(parts.cells.items(), key=lambda item: item[0]):
            for (number, mask), block in blocks.items():
                shape = self.sources[query, number]
                apart = shape.open or shape.ground_negatives(mask) != shape.discharged
                place = (time,) if apart else ()
                found.setdefault((shape.number, mask, *place), []).append(_at(block, time))
        found.update((key, [block]) for key, block in parts.combined.items())
        merged = {key: concatenated(blocks) for key, blocks in found.items()}
        return {key: rest for key, b in merged.items() if (rest := self._asked(key, b, parts.answered)).length}

    def _asked(self, key: tuple[int, ...], block: Block, answered: Answered) -> Block:
        gone = answered.covers(head_keys(self.shapes[key[0]], block))
        return block.take(~gone) if gone.any() else block

    # -- forgetting

    def retire(self, query: int, time: int, blocks: Blocks) -> None:
        """A cell is forgotten: its certain answers are remembered."""
        for (number, mask), block in blocks.items():
            shape = self.sources[query, number]
            if mask == shape.full:
                self._remember(shape, _at(block, time))

    def _remember(self, shape: Shape, block: Block) -> None:
        certain = (block.bits & (shape.discharged | DEAD)) == shape.discharged
        keys = head_keys(shape, block)[certain]
        keys = keys[~(keys == STAR).any(axis=1)] if keys.shape[1] else keys
        if len(keys):
            self._retired.append(keys)

    def forget(self, closed: int) -> None:
        """Take over what was forgotten, and forget answers that nothing can give again."""
        for x in self.loose:
            for decided in x.decided(closed):
                self._remember(x.shape, decided)
        if self._retired:
            self.answered = self.answered.extended(self._retired)
            self._retired = []
        if self.timed and self._lasts is not None and closed >= self._until and len(self.answered.keys):
            times = values(np.ascontiguousarray(self.answered.keys[:, -1])).astype(np.int64)
            keep = (times + self._lasts > closed) | np.isin(times, self._any_time)
            if not keep.all():
                self.answered = Answered(self.answered.keys[keep])

    # -- snapshots

    def state(self, put: Callable[[Ints], int]) -> list[int]:
        """What is remembered, its array stored by `put`."""
        return [self.query, put(self.answered.keys)]


def _again(plan: Plan, query: int, horizon: int | None) -> tuple[list[int], int | None, int]:
    """The times about which answers can come again at any time, and for how long after their time others can (None
    where that is not bounded), and at least until when."""
    delays = [q.delay for q in plan.queries]
    any_time, lasts, until = [], [delays[query]], -NEVER
    for loose in plan.queries[query].loose:
        time = loose.template.time
        if time is not None and time.variable is None:
            any_time.append(time.offset)
        elif time is not None:
            after, given = loose.delay(delays), loose.given(delays)
            if after is None and horizon is not None:
                after = horizon + max(delays[group.query] for group in loose.groups if group.variable is not None)
            if after is None:
                return any_time, None, until
            lasts.append(after)
            until = until if given is None else max(until, given)
    return any_time, max(lasts), until


def _stamped(shape: Shape) -> Shape:
    """The shape with the cell's time as one more column."""
    time = shape.template.time
    assert time is not None and time.variable is not None
    column = len(shape.names)
    return replace(
        shape,
        names=[*shape.names, time.variable],
        clock=frozenset([column]),
        gathered=True,
        closures={},
        judged={},
        sides={},
    )


def _at(block: Block, time: int) -> Block:
    stamped = Block(block.length, [*block.columns, numbers(np.full(block.length, time))], block.bits)
    stamped.witness = block.witness
    return stamped


def answer_times(shape: Shape, rows: Block) -> Ints:
    """The time of every answer; 0 where it has none, or none yet."""
    time = shape.template.time
    if time is None:
        return np.zeros(rows.length, np.int64)
    return time_values(rows, shape.time_column(time)) + time.offset
