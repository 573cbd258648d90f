"""Compiled rules: literals over stores, tests, and the plans that evaluate a body from any of its literals.

A plan starts from changed tuples of one literal, from tuples of the head, or from nothing, and takes the other
literals in an order in which something is bound; tests run as soon as their variables have values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.lars import steps
from thalweg.lars.labels import FOREVER
from thalweg.lars.store import NOTHING, Store
from thalweg.lars.windows import INSIDE, NO_CLIP, NONE, clip
from thalweg.protocol import Ints

Frame = tuple[Ints, Ints]
"""Rows of variable slots, and pieces (row, from, to)."""
Step = Callable[[Ints, Ints], Frame]
NO_GHOSTS = np.empty((0, 2), np.int64)
NO_CONSTANTS: Mapping[int, int] = MappingProxyType({})
EMPTY: Frame = (np.empty((0, 0), np.int64), NOTHING)


@dataclass(frozen=True, slots=True)
class Reads:
    """A literal over a store: the slot of each column (-1: not looked at), and the ticks a tuple counts for."""

    store: Store
    slots: tuple[int, ...]
    window: Ints = field(default_factory=lambda: NO_CLIP)
    negated: bool = False


class Option(NamedTuple):
    """One way to do a test: which slots it needs, which one it gives a value, and how."""

    needs: frozenset[int]
    gives: int | None
    step: Step


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison or computation; the first option that can be done is done."""

    options: tuple[Option, ...]


class Room:
    """Arrays that a step writes its frame into; a frame is used up before its step runs again."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._rows = np.empty((64, slots), np.int64)
        self._pieces = np.empty((64, 3), np.int64)

    def of(self, size: int) -> Frame:
        """Room for at least so many rows and pieces."""
        if size > len(self._pieces):
            self._rows = np.empty((2 * size, self._slots), np.int64)
            self._pieces = np.empty((2 * size, 3), np.int64)
        return self._rows, self._pieces


class Plan(NamedTuple):
    """How a literal (or the head) is bound to changed tuples, and the steps that follow."""

    spec: Ints
    window: Ints
    steps: tuple[Step, ...]


class Unplannable(Exception):
    """A variable of the rule cannot be bound; the safety check reports it with its place."""


class Rule:
    """A rule with its plans. `constants` are slots with a value from the start."""

    def __init__(
        self,
        head: Store,
        head_slots: Iterable[int],
        reads: Iterable[Reads],
        tests: Iterable[Test] = (),
        constants: Mapping[int, int] = NO_CONSTANTS,
        slots: int = 0,
        origin: int | None = None,
    ) -> None:
        self.head = head
        self.head_slots = np.array(list(head_slots), np.int64)
        self.reads = tuple(reads)
        self.tests = tuple(tests)
        self.constants = dict(constants)
        self.base = np.zeros(max(slots, 1), np.int64)
        self.base[list(self.constants)] = list(self.constants.values())
        self.origin = origin
        self.copies = self._copied_columns()
        self._plans: dict[tuple[int | None, bool], Plan] = {}
        self._seeded = Room(len(self.base))

    def _copied_columns(self) -> Ints | None:
        """Where the rule only copies columns of its one literal: which ones."""
        if len(self.reads) != 1 or self.tests or self.reads[0].negated:
            return None
        slots = self.reads[0].slots
        named = [s for s in slots if s >= 0]
        if len(set(named)) < len(named) or any(s in self.constants for s in named):
            return None
        if not all(int(s) in slots for s in self.head_slots):
            return None
        return np.array([slots.index(int(s)) for s in self.head_slots], np.int64)

    # ------------------------------------------------------------------ evaluation

    def from_literal(self, i: int, pieces: Ints, *, ghosts: bool) -> Frame:
        """All instances that use the given pieces of literal i."""
        reads = self.reads[i]
        plan = self._plan(i, ghosts)
        return self._run(plan, reads.store.changed_keys, pieces)

    def from_head(self, pieces: Ints) -> Frame:
        """All instances whose head is one of the given tuples, at those ticks."""
        return self._run(self._plan(None, False), self.head.keys, pieces)

    def from_nothing(self, since: int) -> Frame:
        """All instances of a rule without positive literals."""
        plan = Plan(np.empty((0, 2), np.int64), NO_CLIP, self._order(set(self.constants), None, False))
        keys = np.zeros((1, max(self.head.width, 1)), np.int64)
        return self._run(plan, keys, np.array([[0, since, FOREVER]], np.int64))

    def _run(self, plan: Plan, keys: Ints, pieces: Ints) -> Frame:
        rows, out = self._seeded.of(len(pieces))
        n = steps.seed(keys, pieces, plan.spec, plan.window, self.base, rows, out)
        pieces = out[:n]
        for step in plan.steps:
            if not len(pieces):
                return EMPTY
            rows, pieces = step(rows, pieces)
        return rows, pieces

    # ------------------------------------------------------------------ planning

    def _plan(self, i: int | None, ghosts: bool) -> Plan:
        key = (i, ghosts)
        if key not in self._plans:
            slots = self.head_slots.tolist() if i is None else self.reads[i].slots
            window = NO_CLIP if i is None else self.reads[i].window
            private = self.private(i)
            bound = set(self.constants)
            spec = _spec([-1 if s in private else s for s in slots], bound)
            bound |= {s for s in slots if s >= 0 and s not in private}
            self._plans[key] = Plan(spec, window, self._order(bound, i, ghosts))
        return self._plans[key]

    def private(self, i: int | None) -> set[int]:
        """Slots of a negated literal that occur only under negation: they are existential there."""
        if i is None or not self.reads[i].negated:
            return set()
        mine = {s for s in self.reads[i].slots if s >= 0} - self.constants.keys()
        others = {s for r in self.reads if not r.negated for s in r.slots} | set(self.head_slots.tolist())
        for test in self.tests:
            for option in test.options:
                others |= option.needs | ({option.gives} if option.gives is not None else set())
        return mine - others

    def _order(self, bound: set[int], done: int | None, ghosts: bool) -> tuple[Step, ...]:
        bound = set(bound)
        positive = [i for i, r in enumerate(self.reads) if not r.negated and i != done]
        negative = [i for i, r in enumerate(self.reads) if r.negated and not ghosts]
        tests = list(self.tests)
        found: list[Step] = []
        while positive or negative or tests:
            test = next((t for t in tests if _doable(t, bound)), None)
            if test is not None:
                option = _doable(test, bound)
                assert option is not None
                found.append(option.step)
                bound |= {option.gives} if option.gives is not None else set()
                tests.remove(test)
                continue
            ready = next((i for i in negative if self._needed(i) <= bound), None)
            if ready is not None:
                found.append(_anti(self.reads[ready], bound))
                negative.remove(ready)
                continue
            if not positive:
                raise Unplannable
            best = max(positive, key=lambda i: _boundness(self.reads[i], bound))
            found.append(_join(self.reads[best], bound, ghosts, len(self.base)))
            bound |= {s for s in self.reads[best].slots if s >= 0}
            positive.remove(best)
        return tuple(found)

    def _needed(self, i: int) -> set[int]:
        return {s for s in self.reads[i].slots if s >= 0} - self.private(i)


def _doable(test: Test, bound: set[int]) -> Option | None:
    return next(
        (o for o in test.options if o.needs <= bound and (o.gives is None or o.gives not in bound)), None
    )


def _boundness(reads: Reads, bound: set[int]) -> tuple[bool, float, int]:
    known = sum(s in bound for s in reads.slots)
    return known > 0 or not reads.slots, known / max(len(reads.slots), 1), -len(reads.slots)


def _spec(slots: Iterable[int], bound: set[int]) -> Ints:
    rows: list[tuple[int, int]] = []
    seen = set(bound)
    for slot in slots:
        rows.append((steps.SKIP, 0) if slot < 0 else (steps.BOUND if slot in seen else steps.NEW, slot))
        seen.add(slot)
    return np.array(rows, np.int64).reshape(len(rows), 2)


def _access(reads: Reads, bound: set[int]) -> tuple[int, int]:
    columns = tuple(c for c, s in enumerate(reads.slots) if s in bound)
    if len(columns) == len(reads.slots):
        return steps.BY_KEY, 0
    return (steps.BY_CHAIN, reads.store.index(columns)) if columns else (steps.BY_SCAN, 0)


def _join(reads: Reads, bound: set[int], ghosts: bool, slots: int) -> Step:
    store, window = reads.store, reads.window
    spec = _spec(reads.slots, bound)
    how, j = _access(reads, bound)
    room = Room(slots)

    def step(rows: Ints, pieces: Ints) -> Frame:
        size = 64
        while True:
            out_rows, out = room.of(size)
            n = steps.join(
                rows, pieces, store.keys, store.lab, store.nodes, store.table, store.meta, store.chain, store.heads,
                store.wanted, spec, window, how, j, store.ghosts if ghosts else NO_GHOSTS, out_rows, out,
            )  # fmt: skip
            if n <= len(out):
                return out_rows[:n], out[:n]
            size = n

    return step


def _anti(reads: Reads, bound: set[int]) -> Step:
    store = reads.store
    spec = _spec(reads.slots, bound)
    how, j = _access(reads, bound)

    room = Room(0)

    def step(rows: Ints, pieces: Ints) -> Frame:
        size = 2 * len(pieces)
        while True:
            _, out = room.of(size)
            n = steps.anti(
                rows, pieces, store.keys, store.lab, store.nodes, store.table, store.meta, store.chain, store.heads,
                store.wanted, spec, how, j, out,
            )  # fmt: skip
            if n <= len(out):
                return rows, out[:n]
            size = n

    return step


# --------------------------------------------------------------------------- steps of tests


def computing(code: list[tuple[int, int]]) -> Step:
    """A test or assignment in the instructions of `steps.evaluate`."""
    program = np.array(code, np.int64).reshape(len(code), 2)
    room = Room(0)

    def step(rows: Ints, pieces: Ints) -> Frame:
        _, out = room.of(len(pieces))
        n = steps.evaluate(rows, pieces, program, out)
        return rows, out[:n]

    return step


@njit(cache=True)
def _clip_slot(
    rows: Ints, pieces: Ints, slot: int, window: Ints, start: int, outside: bool, out: Ints
) -> int:
    n = 0
    for k in range(len(pieces)):
        value = np.int64(rows[pieces[k, 0], slot]).view(np.float64)
        s = pieces[k, 1]
        e = pieces[k, 2]
        lo = s
        hi = e
        if value != np.floor(value) or value < start:
            hi = lo - 1
        elif window[0] == INSIDE:
            lo, hi = clip(window, rows[pieces[k, 0], slot], s, e)
        if outside:
            if lo > hi:
                lo = e + 1
                hi = e + 1
            if s < lo:
                out[n, 0], out[n, 1], out[n, 2] = pieces[k, 0], s, lo - 1
                n += 1
            if hi < e:
                out[n, 0], out[n, 1], out[n, 2] = pieces[k, 0], hi + 1, e
                n += 1
        elif lo <= hi:
            out[n, 0], out[n, 1], out[n, 2] = pieces[k, 0], lo, hi
            n += 1
    return n


def within(slot: int, window: Ints, start: int, *, outside: bool) -> Step:
    """Keep the ticks whose window holds (or does not hold) the point in a slot."""
    assert window[0] in (NONE, INSIDE)
    room = Room(0)

    def step(rows: Ints, pieces: Ints) -> Frame:
        _, out = room.of(2 * len(pieces))
        n = _clip_slot(rows, pieces, slot, window, start, outside, out)
        return rows, out[:n]

    return step


def since(tick: int) -> Test:
    """Keep the ticks from one on."""

    def step(rows: Ints, pieces: Ints) -> Frame:
        later = pieces.copy()
        later[:, 1] = np.maximum(later[:, 1], tick)
        return rows, later[later[:, 1] <= later[:, 2]]

    return Test((Option(frozenset(), None, step),))


def ordered(op: str, left: int, right: int, ranks: Callable[[Ints, Ints], tuple[Ints, Ints]]) -> Step:
    """A comparison in the standard order of terms."""

    def step(rows: Ints, pieces: Ints) -> Frame:
        a, b = ranks(rows[pieces[:, 0], left], rows[pieces[:, 0], right])
        keep = {"@<": a < b, "@>": a > b, "@=<": a <= b, "@>=": a >= b}[op]
        return rows, pieces[keep]

    return step
