"""When a condition on the tick next changes: exactly, proved where it never does, and said where it is not known.

Ticks are looked at in blocks that double in size. A block for which the condition is the same everywhere, by interval
arithmetic, costs one look; another is halved, down to blocks in which every tick is tried. That
ends, because a condition is the same at all late ticks or repeats itself: from some tick on (`begin`) with some
period. After one whole period without a change there will be none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import NamedTuple

import numpy as np

from thalweg.language.terms import EXACT
from thalweg.lars.conditions import (
    Compared,
    Computed,
    Condition,
    Every,
    Expression,
    Not,
    Picked,
    Polynomial,
    Recurring,
    Some,
    Within,
    compared,
    computed,
    span,
    sure,
    truths,
    values,
)
from thalweg.lars.labels import FOREVER
from thalweg.protocol import Ints

Run = tuple[int, int, tuple[float, ...]]
"""The first and the last tick of a time in which numbers do not change, and the numbers."""

_BLOCK = 1024
"""Ticks that are tried one by one."""
_PATIENCE = 1024
"""Blocks that are tried where nothing says that the search will end."""
_LONG_PATIENCE = 32 * _PATIENCE
"""Blocks that are tried where it will."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """From the tick `begin` on, what it says of repeats itself after `period` ticks, increased by `gain`."""

    begin: int
    period: int
    gain: int = 0


class Change(NamedTuple):
    """The tick of a change (FOREVER: there is none); where it is not known, a tick before which there is none."""

    tick: int
    known: bool = True


class _Tired(Exception):
    """Patience has come to its end, before a tick."""

    def __init__(self, tick: int) -> None:
        self.tick = tick


class _Search:
    """For the first tick at which a condition is not what it was."""

    def __init__(self, condition: Condition, truth: bool) -> None:
        self.condition = condition
        self.truth = truth
        self.patience = _PATIENCE
        self.precise = precise_through(condition)

    def tried_at(self, ticks: Ints) -> int | None:
        """Try them all."""
        self.patience -= 1
        if self.patience < 0 or ticks[-1] > self.precise:
            raise _Tired(int(ticks[0]))
        with np.errstate(all="ignore"):
            found = truths(self.condition, ticks.astype(np.float64))
        other = np.flatnonzero(found != self.truth)
        return int(ticks[other[0]]) if len(other) else None

    def among(self, first: int, last: int) -> int | None:
        known = sure(self.condition, first, last)
        if known is not None:
            return None if known is self.truth else first
        if last - first < _BLOCK:
            return self.tried_at(np.arange(first, last + 1))
        middle = (first + last) // 2
        left = self.among(first, middle)
        return self.among(middle + 1, last) if left is None else left


def next_change(condition: Condition, tick: int, truth: bool) -> Change:
    """The first tick after `tick` at which the condition is not `truth`."""
    if sure(condition, tick + 1, FOREVER) is truth:
        return Change(FOREVER)
    search = _Search(condition, truth)
    found = search.among(tick + 1, tick + _BLOCK)
    if found is not None:
        return Change(found)
    try:
        return Change(_later(search, tick + 1 + _BLOCK))
    except _Tired as tired:
        return Change(tired.tick, known=False)


def precise_through(part: Condition | Expression) -> int:
    """A tick up to which polynomials are computed without rounding."""
    match part:
        case Polynomial(terms):
            share = EXACT / len(terms)
            if abs(terms[0]) > share:
                return 0
            return int(min((share / abs(c)) ** (1 / i) for i, c in enumerate(terms) if i and c))
        case Computed(_, parts) | Every(parts) | Some(parts):
            inner: tuple[Condition | Expression, ...] = parts
        case Picked(condition, then, other):
            inner = condition, then, other
        case Compared(_, left, right):
            inner = left, right
        case Not(only):
            inner = (only,)
        case _:
            inner = ()
    return min((precise_through(p) for p in inner), default=FOREVER)


def _later(search: _Search, first: int) -> int:
    """The first change from a tick on, in blocks that double."""
    condition, truth = search.condition, search.truth
    repeats, end, size = repeating(condition), FOREVER - 1, _BLOCK
    if repeats is not None:
        search.patience, end = _LONG_PATIENCE, max(repeats.begin, first) + repeats.period
    step, remainder = (1, 0) if truth else _stride(condition)
    while first <= end and sure(condition, first, FOREVER) is not truth:
        size = 2 * size
        last = min(first + size - 1, end)
        found = search.among(first, last) if step < _BLOCK else _strides(search, first, last, step, remainder)
        if found is not None:
            return found
        first = last + 1
    return FOREVER


def _strides(search: _Search, first: int, last: int, step: int, remainder: int) -> int | None:
    """The first change among the ticks that leave a remainder: nothing changes at others."""
    start = first + (remainder - first) % step
    for begin in range(start, last + 1, step * _BLOCK):
        ticks = begin + step * np.arange(_BLOCK)
        found = search.tried_at(ticks[ticks <= last])
        if found is not None:
            return found
    return None


def _stride(condition: Condition) -> tuple[int, int]:
    """A number, as large as can be, and the remainder that a tick must leave so that the condition can be true."""
    found = (1, 0)
    for part in condition.parts if isinstance(condition, Every) else (condition,):
        match part:
            case Compared("=:=", Computed("mod", (Polynomial((offset, 1.0)), float(m))), float(r)) if m == int(m):
                if found[0] < m:
                    found = int(m), int(r - offset) % int(m)
            case _:
                pass
    return found


def repeating(condition: Condition) -> Repeats | None:
    """From when on and how a condition repeats itself; None where that is not known."""
    same = steady(condition)
    if same is not None:
        return Repeats(same[0], 1)
    match condition:
        case Every(parts) | Some(parts):
            found = [repeating(p) for p in parts]
            known = [f for f in found if f is not None]
            return together(known) if len(known) == len(found) else None
        case Not(part):
            return repeating(part)
        case Recurring(_, begin, period):
            return Repeats(begin, period)
        case Within() | bool():
            return None
        case _:
            found_one = drift(computed("-", condition.left, condition.right))
            return found_one if found_one is not None and found_one.gain == 0 else None


def together(parts: list[Repeats]) -> Repeats:
    """How things repeat themselves that each do in their own way."""
    period = lcm(*(p.period for p in parts))
    return Repeats(
        max(p.begin for p in parts), period, sum(p.gain * (period // p.period) for p in parts)
    )


def steady(condition: Condition) -> tuple[int, bool] | None:
    """A tick from which on a condition is always the same, and what it is then; None where none is seen."""
    begin, known = FOREVER, None
    for power in range(61, -1, -1):
        here = sure(condition, 2**power, 2 ** (power + 1) - 1)
        if here is None or (known is not None and here is not known):
            break
        begin, known = 2**power, here
    return None if known is None else (begin, known)


def drift(expression: Expression) -> Repeats | None:
    """How the values of an expression repeat themselves; None where that is not known."""
    match expression:
        case float():
            return Repeats(0, 1)
        case Polynomial((_, slope)):
            return Repeats(0, 1, int(slope))
        case Computed("mod", (Polynomial(), float(m))) if m == int(m) != 0:
            return Repeats(0, abs(int(m)))
        case Computed("floor", (Computed("/", (whole, float(m))),)) if m == int(m) != 0:
            return _divided(whole, int(m))
        case Computed("//", (whole, float(m))) if m == int(m) != 0:
            return _divided(whole, int(m))
        case Computed("mod", (part, float(m))) if m == int(m) != 0:
            found = drift(part)
            return None if found is None else Repeats(found.begin, _full_turns(found, int(m)).period)
        case Computed("-", (only,)):
            found = drift(only)
            return None if found is None else Repeats(found.begin, found.period, -found.gain)
        case Computed("min" | "max" as op, (left, right)):
            return _either(compared("<" if op == "min" else ">", left, right), left, right)
        case Computed("abs", (only,)):
            return _either(compared(">=", only, 0.0), only, computed("-", only))
        case Computed("+", (left, right)):
            return _combined([drift(left), drift(right)])
        case Computed("-", (left, right)):
            return _combined([drift(left), drift(computed("-", right))])
        case Computed("*", (float(k), part)) | Computed("*", (part, float(k))) if k == int(k):
            found = drift(part)
            return None if found is None else Repeats(found.begin, found.period, found.gain * int(k))
        case Picked(condition, then, other):
            return _either(condition, then, other)
        case Computed(_, parts):
            return _level(parts)
        case _:
            return None


def _combined(parts: list[Repeats | None]) -> Repeats | None:
    known = [p for p in parts if p is not None]
    return together(known) if len(known) == len(parts) else None


def _full_turns(part: Repeats, m: int) -> Repeats:
    """The repetition after which the gain is a multiple of m."""
    turns = abs(m) // gcd(part.gain, m)
    return Repeats(part.begin, part.period * turns, part.gain * turns)


def _either(first: Condition, left: Expression, right: Expression) -> Repeats | None:
    """The left expression where a condition is true, else the right one; sooner or later it is the same one, or both
    repeat themselves."""
    same = steady(first)
    if same is None:
        turns, level = repeating(first), _level([left, right])
        return None if turns is None or level is None else together([turns, level])
    found = drift(left if same[1] else right)
    return None if found is None else Repeats(max(same[0], found.begin), found.period, found.gain)


def _level(parts: Iterable[Expression]) -> Repeats | None:
    """Of what is computed from expressions that repeat themselves without gain."""
    found = [drift(p) for p in parts]
    return _combined(found) if all(f is not None and f.gain == 0 for f in found) else None


def _divided(part: Expression, m: int) -> Repeats | None:
    """A whole part of a quotient: it repeats itself where the sign of the dividend does not change."""
    found, sign = drift(part), steady(compared("<", part, 0.0))
    if found is None or sign is None:
        return None if found is None or found.gain else found
    turned = _full_turns(found, m)
    return Repeats(max(found.begin, sign[0]), turned.period, turned.gain // m)


class Course:
    """Follows things that depend on now through time, each as long as patience lasts: some blocks of ticks that are
    tried one by one, some runs. `end`: the last tick that is known of all that were followed."""

    def __init__(self, first: int, last: int, *, blocks: int, runs: int) -> None:
        self.first, self.end = first, last
        self._patience = blocks, runs
        self._blocks, self._runs = blocks, runs

    def follow(self, condition: Condition, numbers: Sequence[Expression]) -> list[Run]:
        """The times at which a condition is true, divided where a number changes; the last may go beyond the end."""
        found: list[Run] = []
        self._blocks, self._runs = self._patience
        try:
            for first, last, these in self._pieces(condition, numbers, self.first, self.end):
                if found and found[-1][1] == first - 1 and found[-1][2] == these:
                    found[-1] = found[-1][0], last, these
                    continue
                self._runs -= 1
                if self._runs < 0:
                    raise _Tired(first)
                found.append((first, last, these))
        except _Tired as tired:
            self.end = min(self.end, tired.tick - 1)
        return found

    def _pieces(
        self, condition: Condition, numbers: Sequence[Expression], first: int, last: int
    ) -> Iterator[Run]:
        known = sure(condition, first, last)
        if known is False:
            return
        bounds = [span(n, float(first), float(last)) for n in numbers]
        same = tuple(b[0] for b in bounds if b is not None and b[0] == b[1])
        if known and len(same) == len(numbers):
            yield first, last, same
        elif last - first < _BLOCK:
            self._blocks -= 1
            if self._blocks < 0:
                raise _Tired(first)
            yield from _tried(condition, numbers, np.arange(first, last + 1))
        else:
            middle = (first + last) // 2
            yield from self._pieces(condition, numbers, first, middle)
            yield from self._pieces(condition, numbers, middle + 1, last)


def _tried(condition: Condition, numbers: Sequence[Expression], ticks: Ints) -> Iterator[Run]:
    """The same, tick by tick."""
    at = ticks.astype(np.float64)
    with np.errstate(all="ignore"):
        table = np.stack([at, *(values(n, at) for n in numbers)], axis=1)
        table = table[truths(condition, at) & ~np.isnan(table).any(axis=1)]
    if not len(table):
        return
    steps = np.diff(table, axis=0)
    cuts = np.flatnonzero((steps[:, 0] != 1) | (steps[:, 1:] != 0).any(axis=1)) + 1
    for part in np.split(table, cuts):
        yield int(part[0, 0]), int(part[-1, 0]), tuple(part[0, 1:].tolist())
