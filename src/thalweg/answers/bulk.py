"""Many clock steps at once, for queries whose answers cannot move each other.

Without negation, lateness and unrelated times a row is met or dropped exactly when its next premise is due, so the
order of steps need not be followed: the answer's time becomes a column like any other, the facts of all steps join the
rows of one stage, then of the next. What happened when follows from the answer's time. This pays where steps
are many and facts per step are few.

A query qualifies when it has one template and all its variables are in the answer: then no other row has the same
substitution, and nothing supersedes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from thalweg.analysis.temporal import Signature
from thalweg.answers.blocks import Block, Facts, advance, concatenated, moved, start_block
from thalweg.answers.changes import ADVANCED, CERTAINLY, DROPPED, MET, OPENED
from thalweg.answers.codec import Bools
from thalweg.answers.engine import Engine
from thalweg.answers.groups import Group
from thalweg.answers.kernels import first, index
from thalweg.answers.shapes import Shape
from thalweg.answers.tables import Shown
from thalweg.columns.keys import matrix
from thalweg.protocol import Ints

FACTS_PER_STEP = 4000
"""Above this, steps one by one are as fast: their joins fit the cache."""
CHUNK = 1 << 18
"""How many facts are taken at once."""


def qualifies(engine: Engine) -> bool:
    """True when every query of the engine can be run many steps at once."""
    if engine.lateness or engine.gathered or engine.seeded:
        return False
    return all(len(shapes) == 1 and _is_simple(shapes[0]) for shapes in engine.shapes)


def _is_simple(shape: Shape) -> bool:
    heads = {slot.column for slot in shape.head}
    return not shape.negatives and not shape.open and set(range(len(shape.names))) <= heads


class Bulk:
    """The stages of every query: premises of one offset are met together."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.stages = [_Stages(engine, shapes[0]) for shapes in engine.shapes if len(shapes) == 1]

    def run(self, facts: Mapping[Signature, tuple[Facts, Ints]], to: int) -> list[Shown]:
        """Take in the facts (with their times, all after the clock and up to `to`) and move the clock to `to`."""
        found: list[Shown] = []
        for stages in self.stages:
            stages.run(facts, to, found)
        self.engine.skip(to)
        return found


class _Stages:
    def __init__(self, engine: Engine, shape: Shape) -> None:
        self.engine = engine
        self.shape = shape
        self.stamp = len(shape.names)
        self.timed = _with_stamp(shape)
        offsets = sorted({p.offset for p in shape.positives})
        self.groups = [(o, [i for i, p in enumerate(shape.positives) if p.offset == o]) for o in offsets]

    def run(self, facts: Mapping[Signature, tuple[Facts, Ints]], to: int, found: list[Shown]) -> None:
        waiting = self._due(to)
        mask = 0
        rows = start_block(self.timed)
        for offset, numbers in self.groups:
            if mask:
                entered = [rows] if rows.length else []
                rows = (
                    concatenated([*waiting.get(mask, []), *entered]) if waiting.get(mask) or entered else rows
                )
            after = mask
            met = rows
            for i in numbers:
                met = self._met(after, met, i, facts)
                after |= 1 << i
            if mask and rows.length:
                kept = _kept(rows, met)
                self._note(mask, rows, offset, -1, np.where(kept, MET, DROPPED), found)
            if not mask:
                met = self._existing(met)
            label = CERTAINLY if after == self.shape.full else ADVANCED if mask else OPENED
            self._note(after, met, offset, 1, np.full(met.length, label), found)
            rows = self._still_due(after, met, to)
            mask = after

    def _met(self, mask: int, rows: Block, i: int, facts: Mapping[Signature, tuple[Facts, Ints]]) -> Block:
        premise = self.shape.positives[i]
        if premise.predicate not in facts or not rows.length:
            return rows.take(np.empty(0, np.int64)) if mask else self._nothing()
        given, times = facts[premise.predicate]
        stamped = Facts([*given.args, times - premise.offset], given.length)
        met = moved(self.timed, mask, rows, i, stamped)
        return advance(self.timed, mask if mask else -1, mask | 1 << i, met, 0, self.engine.codec)

    def _nothing(self) -> Block:
        return Block(0, [np.empty(0, np.int64) for _ in range(self.stamp + 1)], np.empty(0, np.int64))

    def _times(self, rows: Block) -> Ints:
        times = rows.columns[self.stamp]
        assert times is not None
        return times

    def _existing(self, rows: Block) -> Block:
        """Rows none of whose atoms lies before the start, at the time that the query asks for."""
        if not rows.length:
            return rows
        keep = self._times(rows) + self.shape.floor >= self.engine.start
        keep &= self._times(rows) >= self.engine.known_from[self.shape.query][self.shape.number]
        wanted = self.engine.plan.queries[self.shape.query].at
        if wanted is not None:
            keep &= self._times(rows) == wanted
        return rows if keep.all() else rows.take(keep)

    def _due(self, to: int) -> dict[int, list[Block]]:
        """Rows from earlier steps whose next premise is due now, by mask."""
        cells = self.engine.cells[self.shape.query]
        found: dict[int, list[Block]] = {}
        for time in sorted(cells):
            cell = cells[time]
            self.engine.leave(self.shape.query, time, cell)
            for (number, mask), block in list(cell.blocks.items()):
                due = self.shape.due(mask)
                if due is not None and time + due <= to:
                    del cell.blocks[number, mask]
                    columns = [*block.columns, np.full(block.length, time)]
                    found.setdefault(mask, []).append(Block(block.length, columns, block.bits))
            if not cell.blocks:
                del cells[time]
        return found

    def _still_due(self, mask: int, rows: Block, to: int) -> Block:
        """Rows whose next premise is due by `to`; the others go back to their cells."""
        due = self.shape.due(mask)
        if due is None or not rows.length:
            return rows
        later = self._times(rows) + due > to
        if later.any():
            self._put_back(mask, rows.take(later))
            rows = rows.take(~later)
        return rows

    def _put_back(self, mask: int, rows: Block) -> None:
        times = self._times(rows)
        for time in np.unique(times).tolist():
            part = rows.take(times == time)
            self.engine.keep(self.shape, time, mask, Block(part.length, part.columns[:-1], part.bits))

    def _note(self, mask: int, rows: Block, offset: int, op: int, labels: Ints, found: list[Shown]) -> None:
        if rows.length:
            times = self._times(rows)
            bare = Block(rows.length, rows.columns[:-1], rows.bits)
            group = Group(self.shape, mask, 0)
            found.append(Shown(group, bare, times + offset, times, np.full(rows.length, op), labels, bare))


def _kept(rows: Block, met: Block) -> Bools:
    """Which rows went on to the next stage."""
    if not met.length:
        return np.zeros(rows.length, np.bool_)
    shared = [
        (a, b) for a, b in zip(rows.columns, met.columns, strict=True) if a is not None and b is not None
    ]
    known = index(matrix([b for _, b in shared], met.length))
    return np.asarray(first(known, matrix([a for a, _ in shared], rows.length)) >= 0)


def _with_stamp(shape: Shape) -> Shape:
    """The shape with the answer's time as one more column, which every premise gives as one more argument."""
    stamp = len(shape.names)
    positives = tuple(
        replace(p, columns=(*p.columns, (len(p.atom.args), stamp)), offset=p.offset) for p in shape.positives
    )
    return replace(
        shape, names=[*shape.names, "\0"], positives=positives, stamp=stamp, closures={}, judged={}, sides={}
    )
