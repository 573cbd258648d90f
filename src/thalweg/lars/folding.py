"""Aggregates over atoms that are chosen, one atom after the other.

Which value an aggregate has depends on which of its atoms are in. They are taken in an order: with each of them the
value so far goes on to another one if the atom is in, and stays if it is not. Every such step becomes a rule
instance of the choice. Atoms that are in for sure are taken together, before all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from thalweg.columns.symbols import as_floats, number
from thalweg.lars.aggregates import Aggregated
from thalweg.lars.operators import Moment, every_tick
from thalweg.lars.rule import Reads, Rule
from thalweg.lars.store import Store
from thalweg.protocol import Ints, TooLarge

FIRST_IN, FIRST_OUT, NEXT_IN, NEXT_OUT, LAST, SURE = range(6)
"""Kinds of steps: the first atom in question is in or out; a further one; the value after the last one; the value
where there is none in question."""
_NONE = int(np.float64("nan").view(np.int64))
"""The value so far where nothing is in."""
_VALUES = 4096

Key = tuple[int, ...]
Piece = tuple[int, int]
Member = tuple[Key, float, list[Piece], list[Piece]]
"""An atom, what it counts for, when it may be in, and when it is in for sure."""


@dataclass(slots=True)
class _Link:
    """An atom in question after others (none: the start, with what is sure): which values there may be after it, when
    it stands there, and when it is the last one."""

    atom: Key
    amount: float
    before: _Link | None
    values: list[int]
    during: list[Piece] = field(default_factory=list)
    last: list[Piece] = field(default_factory=list)


class Fold:
    """The steps of an aggregate: (group, kind, atom before, atom, value before, value).

    `may` and `sure` are copies of the store that the aggregate ranges over: what may be in it, and what is."""

    def __init__(self, aggregate: Aggregated, may: Store, sure: Store) -> None:
        pattern = aggregate.pattern
        self.occurrences = aggregate.reads[0]
        self.reads: tuple[Store, ...] = (may, sure)
        self.groups = len(pattern.head_slots)
        self.kind = self.groups
        self.before = slice(self.kind + 1, self.kind + 1 + may.width)
        self.atom = slice(self.before.stop, self.before.stop + may.width)
        self.writes = Store(f"steps of {aggregate.writes.name}", self.atom.stop + 2)
        self._function, self._value = aggregate.function, aggregate.value
        self._scratch = Store(f"groups of {self.writes.name}", self.groups)
        self._patterns = [_over(pattern, store, self._scratch) for store in self.reads]
        self._row = list(self._patterns[0].reads[0].slots)

    def update(self, moment: Moment) -> None:
        groups = self._scratch
        groups.forget()
        for pattern in self._patterns:
            store = pattern.reads[0].store
            for pieces in (store.plus, store.minus):
                if len(pieces):
                    rows, found = pattern.from_literal(0, pieces, ghosts=False)
                    span = every_tick(len(found))
                    span[:, 0] = found[:, 0]
                    groups.absorb(rows, span, pattern.head_slots, moment.horizon)
        if len(groups):
            self._give(moment)

    def _give(self, moment: Moment) -> None:
        """New steps for the groups that something happened to."""
        store = self.writes
        found = [
            ((*group, *step), piece)
            for group, members in self._members(moment).items()
            for step, pieces in self._steps(members)
            for piece in pieces
        ]
        keys = np.array([key for key, _ in found], np.int64).reshape(len(found), store.width)
        spans = np.array([piece for _, piece in found], np.int64).reshape(len(found), 2)
        touched = np.ascontiguousarray(self._scratch.keys[: len(self._scratch)])
        among = store.ids_with(touched, self.groups)
        store.assign(store.ids(keys), spans[:, 0], spans[:, 1], moment.horizon, among)

    def _members(self, moment: Moment) -> dict[Key, list[Member]]:
        """The atoms of the groups, those that last longest first."""
        pattern, span = self._patterns[0], every_tick(len(self._scratch))
        span[:, 1] = moment.horizon
        rows, pieces = pattern.from_head(span)
        found: dict[Key, dict[Key, Member]] = {}
        if not len(pieces):
            return {}
        values = rows[pieces[:, 0]]
        atoms = np.ascontiguousarray(values[:, self._row])
        for row, atom, value, sure, (_, first, last) in zip(
            values[:, pattern.head_slots].tolist(),
            atoms.tolist(),
            as_floats(values[:, self._value]).tolist(),
            self.reads[1].find(atoms).tolist(),
            pieces.tolist(),
            strict=True,
        ):
            certain = [] if sure < 0 else [(a, b) for a, b in self.reads[1].label(sure).tolist()]
            member: Member = (tuple(atom), value, [], certain)
            found.setdefault(tuple(row), {}).setdefault(tuple(atom), member)[2].append((first, last))
        return {group: sorted(members.values(), key=_place) for group, members in found.items()}

    def _steps(self, members: list[Member]) -> Iterator[tuple[Key, list[Piece]]]:
        """The steps of a group, and when they are taken."""
        nothing = (0,) * self.reads[0].width
        for link in self._chains(members):
            if link.before is None:
                if link.values != [_NONE]:
                    yield (SURE, *nothing, *nothing, 0, *link.values), link.last
                continue
            first = link.before.before is None
            kinds, before = ((FIRST_IN, FIRST_OUT), nothing) if first else ((NEXT_IN, NEXT_OUT), link.before.atom)
            for value in link.before.values:
                start, more = 0 if first else value, self._with(value, link.amount)
                yield (kinds[0], *before, *link.atom, start, more), link.during
                yield (kinds[1], *before, *link.atom, start, value), link.during
            for value in link.values:
                if value != _NONE:
                    yield (LAST, *nothing, *link.atom, 0, value), link.last

    def _chains(self, members: list[Member]) -> Iterable[_Link]:
        """The atoms in question, one after the other, at all ticks; ticks with the same first atoms share these."""
        links: dict[tuple[int, int], _Link] = {}
        for first, last in _stretches(members):
            here = [(k, m) for k, m in enumerate(members) if _holds(m[2], first)]
            value = _NONE
            for _, (_, amount, _, sure) in here:
                if _holds(sure, first):
                    value = self._with(value, amount)
            link = links.setdefault((0, value), _Link((), 0.0, None, [value]))
            for k, (atom, amount, _, sure) in here:
                if not _holds(sure, first):
                    _lengthen(link.during, first, last)
                    link = links.setdefault((id(link), k), _Link(atom, amount, link, []))
                    link.values = link.values or self._values(link)
            for pieces in (link.during, link.last):
                _lengthen(pieces, first, last)
        return links.values()

    def _values(self, link: _Link) -> list[int]:
        """The values that there may be after an atom."""
        assert link.before is not None
        found = dict.fromkeys(link.before.values)
        found |= dict.fromkeys(self._with(value, link.amount) for value in link.before.values)
        if len(found) > _VALUES:
            raise TooLarge(
                f"{self._function} over atoms that are chosen has more than {_VALUES} possible values; let it range "
                "over fewer of them, or over rounded numbers"
            )
        return list(found)

    def _with(self, code: int, amount: float) -> int:
        """The value when one more atom is in."""
        so_far = None if code == _NONE else float(as_floats(np.array([code]))[0])
        match self._function:
            case "count":
                return number(1.0 if so_far is None else so_far + 1.0)
            case "sum":
                return number(amount if so_far is None else so_far + amount)
            case "min":
                return number(amount if so_far is None else min(so_far, amount))
            case _:
                return number(amount if so_far is None else max(so_far, amount))

    def state(self) -> dict[str, Ints]:
        return {}

    def restore(self, state: dict[str, Ints]) -> None:
        pass


def _over(pattern: Rule, store: Store, groups: Store) -> Rule:
    """The pattern over a copy of its store, with a slot for every column."""
    slots, size = [], len(pattern.base)
    for slot in pattern.reads[0].slots:
        slots.append(size if slot < 0 else slot)
        size += slot < 0
    reads = [Reads(store, tuple(slots))]
    return Rule(groups, pattern.head_slots.tolist(), reads, pattern.tests, pattern.constants, size)


def _place(member: Member) -> tuple[int, Key]:
    return -member[2][-1][1], member[0]


def _holds(pieces: list[Piece], tick: int) -> bool:
    return any(first <= tick <= last for first, last in pieces)


def _stretches(members: list[Member]) -> list[Piece]:
    """Ticks between which nothing changes for the members."""
    edges = {e for m in members for first, last in m[2] for e in (first, last + 1)}
    low, high = min(edges), max(edges)
    edges |= {e for m in members for a, b in m[3] for e in (a, b + 1) if low < e < high}
    return [(first, following - 1) for first, following in pairwise(sorted(edges))]


def _lengthen(pieces: list[Piece], first: int, last: int) -> None:
    """Add ticks after the others."""
    if pieces and pieces[-1][1] == first - 1:
        pieces[-1] = (pieces[-1][0], last)
    else:
        pieces.append((first, last))

