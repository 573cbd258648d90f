"""What a reasoner is asked for: a program of its own kind, times and durations as whole numbers of time-points; and
that it cannot be copied but by a snapshot."""

from __future__ import annotations

import operator
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import NoReturn

from thalweg.analysis.farthest import farthest, too_large
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.language.terms import EXACT

NAMES = {Kind.EVENTS: "an event description", Kind.ANSWERS: "a Temporal Datalog program", Kind.LARS: "a LARS program"}
REASONERS = {
    Kind.EVENTS: "thalweg.Reasoner",
    Kind.ANSWERS: "thalweg.answers.reasoner.Reasoner",
    Kind.LARS: "thalweg.lars.Reasoner",
}

LONGEST = 2**62
"""The largest duration, and the last query time that there can be."""
MOST_QUERIES = 10_000_000
"""Query times in one go: more than anybody can mean."""


def refuse_other_kinds(program: object, kind: Kind) -> None:
    """Raise `ValueError` unless this is a program of the kind; says which reasoner takes it."""
    if not isinstance(program, Program):
        given = type(program).__name__
        raise ValueError(f"this reasoner takes {NAMES[kind]} (thalweg.load, thalweg.parse), not {given}")
    if program.kind is not kind:
        raise ValueError(
            f"this reasoner takes {NAMES[kind]}, and this is {NAMES[program.kind]}: "
            f"use {REASONERS[program.kind]}, or thalweg.run, which takes all kinds"
        )


class Uncopied:
    """A reasoner, which is neither pickled nor copied: its state is a snapshot."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a reasoner is not pickled or copied: take its snapshot(), and restore() that in another one")


def point(moment: object, program: Program, beyond: int = 0) -> int:
    """A time in time-points; so far beyond the largest time of a row at most. A date or datetime (UTC, where it has no
    zone) is counted in ticks since 1970, where the program says how long they are.

    >>> from thalweg.language.parser import parse
    >>> point(datetime(1970, 1, 1, 2, 0, 30), parse("tick 1m. initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."))
    120
    """
    found = _point(moment, program)
    if abs(found) >= EXACT and abs(found) > (limit := farthest(program)) + beyond:
        raise ValueError(f"the time {found} is {too_large(limit)}")
    return found


def _point(moment: object, program: Program) -> int:
    if not isinstance(moment, date):
        return whole(moment, program)
    given = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    if given.tzinfo is None:
        given = given.replace(tzinfo=UTC)
    return _measured(given - datetime(1970, 1, 1, tzinfo=UTC), program.tick_seconds, moment).__floor__()


def reachable(to: object, program: Program, now: int, step: int = 1) -> int:
    """A time to go to, in time-points, from a clock that stands at `now` and moves in steps; a clock does not go back.

    >>> from thalweg.language.parser import parse
    >>> reachable(7, parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."), 5)
    7
    """
    found = point(to, program, step)
    if found < now:
        raise ValueError(
            f"the clock is at {now} and does not go back to {found}: what was computed up to {now} stands, and rows "
            "about earlier times count, where they are not too late, when it moves on"
        )
    return found


def whole(number: object, program: Program) -> int:
    """A time or a duration in time-points. A timedelta is measured in ticks, where the program says how long they are.

    >>> from thalweg.language.parser import parse
    >>> whole(timedelta(hours=1), parse("tick 1m. initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."))
    60
    """
    if isinstance(number, timedelta):
        return _ticks(number, program.tick_seconds)
    try:
        found = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        message = f"times and durations are whole numbers of time-points here, or timedeltas, not {number!r}"
        raise ValueError(f"{message}; thalweg.run takes units") from None
    if abs(found) > LONGEST:
        raise ValueError(f"{found} is more than 2**62 time-points")
    return found


def _ticks(given: timedelta, tick: float | None) -> int:
    points = _measured(given, tick, given)
    if points.denominator != 1:
        raise ValueError(f"{given} is not a whole number of time-points of {tick:g} s")
    return int(points)


def _measured(length: timedelta, tick: float | None, given: object) -> Fraction:
    if tick is None:
        raise ValueError(
            f"the program does not say how long a time-point lasts, so {given} is no number of them: "
            "give a number, or declare a tick (`tick 1s.`)"
        )
    return Fraction(length // timedelta(microseconds=1), 1_000_000) / Fraction(tick).limit_denominator(1_000_000)
