"""Occurrences taken together: `always`, windows that count atoms and aggregates, over what depends on now.

Each function takes occurrences whose values, points and conditions are expressions over now, and says in the same terms
what there is of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

from thalweg.language.rules import Window
from thalweg.lars.conditions import (
    NOW,
    Condition,
    Expression,
    Within,
    compared,
    computed,
    every,
    no,
    picked,
    some,
)
from thalweg.lars.counting import TupleWindow
from thalweg.lars.symbolic import Unknown, Value, same, value_of

_LONGEST = 4096
"""Windows of `always` with more points than this are not written out."""
_MOST = 64
"""Aggregates over more occurrences than this are not written out."""


class Occurrence(NamedTuple):
    """A tuple at a point, and when it is there."""

    values: tuple[Value, ...]
    point: Expression
    condition: Condition


def equal(left: Iterable[Value], right: Iterable[Value]) -> Condition:
    """Are all values the same?"""
    return every(same(a, b) for a, b in zip(left, right, strict=True))


# --------------------------------------------------------------------------- time windows


def _base(window: Window) -> Expression:
    return NOW if window.hop == 1 else computed("-", NOW, computed("mod", NOW, float(window.hop)))


def inside(window: Window | None, point: Expression) -> Condition:
    """Is the point inside the time window?"""
    if window is None:
        return True
    first = computed("-", _base(window), float(window.past))
    last = computed("+", _base(window), float(window.future))
    return every([compared(">=", point, first), compared("=<", point, last)])


def at_every_point(occurrences: list[Occurrence], window: Window, start: float) -> list[Occurrence]:
    """What is in at every point of the time window that lies on the timeline."""
    if window.past + window.future > _LONGEST:
        raise Unknown
    points = [computed("+", _base(window), float(k)) for k in range(-window.past, window.future + 1)]
    nowhere = compared("<", points[-1], start)
    return [
        Occurrence(
            values,
            NOW,
            every([no(nowhere), *(some([compared("<", p, start), _there(of_it, p)]) for p in points)]),
        )
        for values, of_it in _by_values(occurrences)
    ]


def _by_values(occurrences: list[Occurrence]) -> list[tuple[tuple[Value, ...], list[Occurrence]]]:
    """For each tuple the occurrences that may be of it."""
    return [
        (values, [o._replace(condition=every([o.condition, equal(o.values, values)])) for o in occurrences])
        for values in dict.fromkeys(o.values for o in occurrences)
    ]


def _there(occurrences: Iterable[Occurrence], point: Expression) -> Condition:
    return some(every([o.condition, compared("=:=", o.point, point)]) for o in occurrences)


# --------------------------------------------------------------------------- windows that count atoms


def counted(occurrence: Occurrence, window: TupleWindow, start: float) -> Occurrence:
    """A derived atom, while it is inside a window that counts atoms."""
    point = occurrence.point
    upper = compared("=<", point, NOW) if window.window.future == 0 else True
    if window.window.past == 0:
        lower: Condition = compared(">=", point, NOW)
    else:
        own = [value for i, value in enumerate(occurrence.values) if i in window.by]
        lows = [(equal(own, group), low) for group, low in _groups(window, own, start)]
        lower = some(
            [every([no(some(known for known, _ in lows)), compared(">=", point, start)]),
             *(every([known, compared(">=", point, low)]) for known, low in lows)]
        )  # fmt: skip
    return occurrence._replace(condition=every([occurrence.condition, upper, lower]))


def _groups(window: TupleWindow, like: list[Value], start: float) -> list[tuple[list[Value], float]]:
    """The groups of counted atoms, and the first point of the window for each."""
    kinds = ["symbol" if isinstance(v, int) else "number" for v in like]
    return [
        ([value_of(code, kind) for code, kind in zip(key, kinds, strict=True)], float(low))
        for key, low in window.lows(int(start))
    ]


def counted_at_every_point(
    occurrences: list[Occurrence], window: TupleWindow, since: int, start: float
) -> list[Occurrence]:
    """What is in at every point from the first one of the window to now. Occurrences stand at one point each, so that
    can only be while there are not more points than occurrences."""
    if window.window.future:
        return []
    if window.window.past == 0:
        return [Occurrence(v, NOW, _there(of_it, NOW)) for v, of_it in _by_values(occurrences)]
    if len(occurrences) > _MOST:
        raise Unknown
    low = min((low for _, low in window.lows(int(start))), default=int(start))
    found = []
    for values, of_it in _by_values(occurrences):
        held = [
            every([Within(((t, t),)), *(_there(of_it, float(p)) for p in range(low, t + 1))])
            for t in range(max(low, since), low + len(occurrences))
        ]
        found.append(Occurrence(values, NOW, some(held)))
    return found


# --------------------------------------------------------------------------- aggregates


def distinct(occurrences: list[Occurrence]) -> list[Occurrence]:
    """Occurrences of which no two are the same atom at the same point."""
    if len(occurrences) > _MOST:
        raise Unknown
    found: list[Occurrence] = []
    for o in occurrences:
        again = some(
            every([other.condition, equal(other.values, o.values), compared("=:=", other.point, o.point)])
            for other in found
        )
        found.append(o._replace(condition=every([o.condition, no(again)])))
    return [o for o in found if o.condition is not False]


class Member(NamedTuple):
    """What an aggregate ranges over: a value in a group, and when it is there."""

    group: tuple[Value, ...]
    value: Expression
    condition: Condition


def aggregated(function: str, members: list[Member]) -> list[Member]:
    """The result for each group that there is."""
    found = []
    for group in dict.fromkeys(m.group for m in members):
        here = [(every([m.condition, equal(m.group, group)]), m.value) for m in members]
        there = some(m.condition for m in members if m.group == group)
        found.append(Member(group, _total(function, [x for x in here if x[0] is not False]), there))
    return found


def _total(function: str, members: list[tuple[Condition, Expression]]) -> Expression:
    match function:
        case "count":
            parts = [picked(there, 1.0, 0.0) for there, _ in members]
        case "sum":
            parts = [picked(there, value, 0.0) for there, value in members]
        case "min":
            parts = [picked(there, value, float("inf")) for there, value in members]
        case _:
            parts = [picked(there, value, float("-inf")) for there, value in members]
    combine = function if function in ("min", "max") else "+"
    return reduce(lambda a, b: computed(combine, a, b), parts)
