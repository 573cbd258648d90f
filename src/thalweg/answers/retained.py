"""The input that a changed program may look at again: rows that took effect, as long as an undecided answer can need
them.

How long that is follows from the templates: an answer at time t is decided at t + delay, and rests on facts from
t + offset on, its own or those of the queries that decide its negated premises.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from thalweg.analysis.temporal import Signature
from thalweg.answers.engine import Engine
from thalweg.answers.inbox import Coded, joined
from thalweg.answers.shapes import Shape
from thalweg.columns.retained import Retained


@dataclass(slots=True)
class Depth:
    """How far back an answer reaches, as offsets from its time: by input predicate, by query whose cells are known, and
    over all. `endless`: there is no bound."""

    facts: dict[Signature, int] = field(default_factory=dict)
    cells: dict[int, int] = field(default_factory=dict)
    lowest: int = 0
    endless: bool = False

    def include(self, other: Depth, offset: int) -> None:
        """What a premise at an offset reaches, too."""
        for predicate, low in other.facts.items():
            self.facts[predicate] = min(self.facts.get(predicate, low + offset), low + offset)
        for query, low in other.cells.items():
            self.cells[query] = min(self.cells.get(query, low + offset), low + offset)
        self.lowest = min(self.lowest, other.lowest + offset)
        self.endless |= other.endless


def depth(engine: Engine, query: int, known: Container[int] = (), path: tuple[int, ...] = ()) -> Depth:
    """The reach of a query; queries whose cells are known are not looked into."""
    found = Depth(endless=query in path)
    if query in path:
        return found
    for shape in engine.shapes[query]:
        found.include(depth_of(engine, shape, known, path), 0)
    for group in (g for loose in engine.plan.queries[query].loose for g in loose.groups):
        found.include(depth(engine, group.query, known, (*path, query)), 0)
        found.endless = True
    return found


def depth_of(engine: Engine, shape: Shape, known: Container[int] = (), path: tuple[int, ...] = ()) -> Depth:
    """The reach of one alternative: its own premises, and all of the queries that decide its negated ones."""
    found = Depth()
    for premise in shape.positives:
        found.include(Depth({premise.predicate: 0}), premise.offset)
    for negative in shape.negatives:
        inner = (
            Depth(cells={negative.query: 0})
            if negative.query in known
            else depth(engine, negative.query, known, (*path, shape.query))
        )
        found.include(inner, negative.offset)
    return found


def reach(engine: Engine) -> dict[Signature, int]:
    """For how long after its time a fact can matter to an undecided answer."""
    found: dict[Signature, int] = dict.fromkeys(engine.plan.datalog.inputs, 0)
    for query in engine.mains:
        for predicate, low in depth(engine, query).facts.items():
            found[predicate] = max(found[predicate], engine.retire[query] - low)
    return found


class Kept(Retained[Signature, Coded]):
    """The rows that undecided answers can need; `reaches` tells for how long after their time."""

    def __init__(self, begin: int, reaches: Mapping[Signature, int]) -> None:
        super().__init__(begin)
        self.reaches = reaches

    def trim(self, closed: int) -> None:
        """Drop the rows that no answer which is undecided at a closed time can need."""
        for predicate, reach in self.reaches.items():
            self.since[predicate] = max(self.complete_from(predicate), closed - reach + 1)
        kept = {}
        for predicate, parts in sorted(self.rows.items()):
            rows = joined(parts)
            kept[predicate] = rows.take(rows.time > closed - self.reaches.get(predicate, 0))
        self.replace(kept)


@dataclass(frozen=True, slots=True)
class Unasked:
    """What is left of a query that is asked no more: for how long after its time an answer was undecided, up to which
    time answers are decided in any case, and the certain answers that were told of later times, as rows of `changes`.
    Should the query be asked again, these are not told again."""

    retire: int
    final: int
    told: list[dict[str, Any]]

    def decided(self, closed: int) -> int:
        """Up to which time answers are decided."""
        return max(closed - self.retire, self.final)

    def state(self, closed: int) -> tuple[int, int, list[dict[str, Any]]]:
        """The same without answers that are decided; of those without a time that is not known."""
        decided = self.decided(closed)
        return self.retire, self.final, [r for r in self.told if r["time"] is None or r["time"] > decided]
