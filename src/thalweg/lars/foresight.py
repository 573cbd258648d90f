"""What depends on itself, some way ahead: choices and recursions over something computed from the point of a head.

Rules that depend on themselves cannot be unfolded. What they read can be: tuples with conditions on the tick, so
that nothing changes between two turning points. A copy of the rules is run over labels that reach from one turning
point to the next, as far as patience lasts; where all that it reads repeats itself and the copy comes back to a state
in which it was before, it is known for ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np

from thalweg.columns.symbols import number
from thalweg.lars.choice import Choice, Naming
from thalweg.lars.compile import Compiler
from thalweg.lars.components import Component, Zone, zones
from thalweg.lars.conditions import Condition, Recurring, Within
from thalweg.lars.labels import FOREVER
from thalweg.lars.loops import Entangled, Loop, pieces_of
from thalweg.lars.symbolic import Unknown
from thalweg.lars.turning import Course, Repeats, drift, repeating, steady, together
from thalweg.lars.unfolding import Row, Unfolding
from thalweg.protocol import Ints

_LOOKS = ((1 << 10, 0), (1 << 15, 1), (1 << 20, 0), (1 << 20, 4))
"""How far ahead is looked, one after the other: ticks, and (0: does not matter) periods where all repeats itself."""
LOOKS = len(_LOOKS)
_TURNS = max(periods for _, periods in _LOOKS)
_BLOCKS = 1024
_RUNS = 4096
"""How many blocks of ticks are tried one by one, and how many labels are made, for what one loop reads."""
_NEW_RUNS = 512
"""How many labels where it does not repeat itself: ever new numbers, perhaps, which there is no end to follow to."""

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known of a loop: when tuples of its stores are in, by name, and when there is no answer, by the text of
    what is to blame; through `horizon`."""

    labels: dict[str, dict[tuple[int, ...], Condition]]
    blank: dict[str, Condition]
    horizon: int


class Foresight:
    """The loops of a network over what moves. `choices`: those of its engine."""

    def __init__(
        self, compiler: Compiler, choices: list[Choice], unfolding: Unfolding, weighs: set[str], naming: Naming
    ) -> None:
        self._unfolding = unfolding
        self._stores = compiler.network.stores
        self._start = compiler.start
        self._texts = compiler.codes.symbols
        self._choices = {s.name: c for c in choices for s in c.stores}
        self._of: dict[str, Loop | None] = {}
        for own in _looping(compiler):
            if own & unfolding.moving:
                self._of |= dict.fromkeys(own, _loop(compiler, own, unfolding.moving, weighs, naming))
        self._outlooks: dict[tuple[Loop, int], Outlook] = {}
        self._after = compiler.start
        self._look = 0
        self._asked: set[Loop] = set()
        unfolding.opaque = set(self._of)
        unfolding.foreseen = self._labels

    def renew(self) -> None:
        """The stores have changed."""
        self._outlooks.clear()

    def look(self, how_far: int, after: int) -> None:
        """Labels are asked for as far ahead as look number `how_far` reaches; stores are right through a tick."""
        self._look, self._after = how_far, after
        self._asked = set()

    @property
    def horizon(self) -> int:
        """The last tick that is known of all loops that were asked for since."""
        return min((self._outlooks[loop, self._look].horizon for loop in self._asked), default=FOREVER)

    def blank(self, name: str, loop: str) -> Condition:
        """When there is no answer because of a loop (a text), in the choice that a store is part of."""
        return self._outlook(name).blank.get(loop, False)

    def _labels(self, name: str) -> Iterable[tuple[tuple[int, ...], Condition]]:
        return self._outlook(name).labels[name].items()

    def _outlook(self, name: str) -> Outlook:
        loop = self._of[name]
        if loop is None:
            raise Unknown
        if (loop, self._look) not in self._outlooks:
            before, self._asked = self._asked, set()
            try:
                self._outlooks[loop, self._look] = self._seen(loop)
            finally:
                self._asked = before
        self._asked.add(loop)
        return self._outlooks[loop, self._look]

    # ------------------------------------------------------------------ one loop

    def _seen(self, loop: Loop) -> Outlook:
        """As far as the present look goes."""
        contents = {name: self._unfolding.part(*outer) for name, outer in loop.outers.items()}
        contents |= {name: self._unfolding.content(loop.original(name)) for name in loop.moved}
        turns = self._turns(loop, contents.values())
        reach, periods = _LOOKS[self._look]
        last = self._after + reach
        if turns is not None and periods:
            last = turns.begin + turns.period * (periods if loop.engine.choices else 1)
        share = max(1, sum(map(len, contents.values())))
        runs = _NEW_RUNS if turns is None else _RUNS
        course = Course(
            self._after + 1, min(last, self.horizon, FOREVER - 1), blocks=1 + _BLOCKS // share, runs=1 + runs // share
        )
        read = {name: _pieces(content, course) for name, content in contents.items()}
        read = {name: (keys, _through(pieces, course.end)) for name, (keys, pieces) in read.items()}
        loop.run(self._start, self._after, course.end, read)
        return self._outlook_of(loop, course.end, None if turns is None else _again(loop, turns, course.end))

    def _turns(self, loop: Loop, contents: Iterable[list[Row]]) -> Repeats | None:
        """How all that a loop reads repeats itself; None where that is not known."""
        if not loop.is_steady or self.horizon < FOREVER:
            return None
        found: list[Repeats | None] = [Repeats(loop.last_end(self._after) + 1, 1)]
        for values, condition in (row for content in contents for row in content):
            same = steady(condition)
            if same is not None and not same[1]:
                found.append(Repeats(same[0], 1))
            else:
                found += [repeating(condition), *(drift(v) for v in values if not isinstance(v, int))]
        known = [f for f in found if f is not None and f.gain == 0]
        turns = together(known) if len(known) == len(found) else None
        return turns if turns is not None and max(turns.begin, turns.period) < FOREVER // 16 else None

    def _outlook_of(self, loop: Loop, last: int, again: Repeats | None) -> Outlook:
        """What the stores say as long as they know, and the copy from then on."""
        end = last if again is None else again.begin + again.period - 1
        parts = (-FOREVER, self._after), (self._after + 1, end)
        labels = {
            name: _joined(zip(parts, (pieces_of(self._stores[name]), loop.pieces(name)), strict=True), again)
            for name, of in self._of.items()
            if of is loop and name in loop.engine.network.stores
        }
        choices = {id(c): c for s in labels if (c := self._choices.get(s)) is not None}
        told = [
            (self._texts.texts[key[0]], first, final)
            for choice in choices.values()
            for key, first, final in pieces_of(choice.blank)
        ]
        blank = _joined(zip(parts, (told, loop.blank()), strict=True), again)
        return Outlook(labels, blank, FOREVER if again is not None else last)


def _looping(compiler: Compiler) -> Iterable[set[str]]:
    """The names of stores that depend on each other."""
    for zone in zones(compiler.network):
        if isinstance(zone, Zone) or (isinstance(zone, Component) and zone.inner):
            yield {s.name for s in zone.stores}


def _loop(
    compiler: Compiler, own: set[str], moving: set[str], weighs: set[str], naming: Naming
) -> Loop | None:
    try:
        return Loop(compiler, own, moving, weighs, naming)
    except Entangled:
        return None


def _pieces(rows: list[Row], course: Course) -> tuple[Ints, Ints]:
    """Tuples and their labels, as the course of time makes them."""
    keys: list[list[int]] = []
    pieces: list[tuple[int, int, int]] = []
    for values, condition in rows:
        numbers = [v for v in values if not isinstance(v, int)]
        for first, last, these in course.follow(condition, numbers):
            given = iter(these)
            pieces.append((len(keys), first, last))
            keys.append([v if isinstance(v, int) else number(next(given)) for v in values])
    width = len(rows[0][0]) if rows else 0
    return np.array(keys, np.int64).reshape(len(keys), width), np.array(pieces, np.int64).reshape(-1, 3)


def _through(pieces: Ints, last: int) -> Ints:
    """Labels, cut after a tick."""
    kept = pieces[pieces[:, 1] <= last]
    kept[:, 2] = np.minimum(kept[:, 2], last)
    return kept


def _joined(
    parts: Iterable[tuple[tuple[int, int], Iterable[tuple[Key, int, int]]]], again: Repeats | None
) -> dict[Key, Condition]:
    """Labels from sources that each know of the ticks of an interval, one after the other; `again`: how they go on."""
    found: dict[Key, list[tuple[int, int]]] = {}
    for (low, high), pieces in parts:
        for key, begin, end in pieces:
            first, last = max(begin, low), min(end, high)
            if first > last:
                continue
            label = found.setdefault(key, [])
            if label and label[-1][1] == first - 1:
                label[-1] = label[-1][0], last
            else:
                label.append((first, last))
    if again is None:
        return {key: Within(tuple(label)) for key, label in found.items()}
    return {key: Recurring(tuple(label), again.begin, again.period) for key, label in found.items()}


def _again(loop: Loop, turns: Repeats, last: int) -> Repeats | None:
    """How a loop repeats itself, where it is seen through a tick to come back to a state."""
    if not loop.engine.choices:
        return turns if turns.begin + turns.period - 1 <= last else None
    ends = [turns.begin - 1 + k * turns.period for k in range(_TURNS + 1)]
    states = loop.states(t for t in ends if t <= last)
    for j, k in combinations(range(len(states)), 2):
        if states[j] == states[k]:
            return Repeats(turns.begin + j * turns.period, (k - j) * turns.period)
    return None
