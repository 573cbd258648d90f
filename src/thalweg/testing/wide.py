"""Random event descriptions that say things in more ways than those of `programs`.

Names that need quotes, numbers as individuals, older forms of rules, background rules that compute, lists, negations
and disjunctions in each other, values that are variables, several delayed effects of one pair, the time-point as an
argument, determined fluents with conditions. A program is written freely and not always legal: `wide_scenario` passes
over those that the checker refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from thalweg import parse
from thalweg.analysis.checker import check
from thalweg.language.diagnostics import Severity
from thalweg.language.program import Program
from thalweg.reference.description import Description
from thalweg.reference.events import Row
from thalweg.reference.terms import Ground
from thalweg.testing.streams import TIDY, Mess, Scenario, histories
from thalweg.testing.wide_programs import Writer
from thalweg.testing.wide_words import EVENTS, INPUTS, NUMBERS, PLACES, Individuals


def wide_program(rng: Random) -> tuple[str, Individuals]:
    """The text of a random event description, and the individuals that it speaks of."""
    writer = Writer(rng)
    return writer.text(), writer.individuals


def wide_scenario(rng: Random, *, size: int = 40, times: int = 30) -> Scenario:
    """A legal program, a stream for it, and a window, a step and a start that need not fit the tick or each other."""
    while True:
        text, individuals = wide_program(rng)
        program = parse(text)
        if all(diagnostic.severity is not Severity.ERROR for diagnostic in check(program)):
            break
    tick = rng.choice((1, 1, 1, 1, 2, 3))
    mess = rng.choice((Mess(), TIDY, Mess(late=40, duplicate=20, retract=40, early=10)))
    rows = _rows(rng, program, individuals, size=rng.randint(1, size), times=times, mess=mess)
    step = rng.choice((2, 3, 5, 7, 10, 20, 1)) * rng.choice((tick, 1))
    window = step + rng.choice((0, 8, 15, times + 40, 3, 1, 0)) * rng.choice((tick, 1))
    start = tick * rng.choice((0, 0, 0, -5, 3, -1))
    rng.shuffle(rows)
    stretched = tuple(_stretched(rng, row, tick) for row in rows)
    return Scenario(text, stretched, window, step, start=start, end=tick * (times + 8), tick=tick)


# --------------------------------------------------------------------------- rows


def _rows(
    rng: Random, program: Program, individuals: Individuals, *, size: int, times: int, mess: Mess
) -> list[Row]:
    """Rows of the program's inputs, numbered from 1, with times from 0 on; some intervals are empty."""
    description = Description(program)
    some = [ground for _, ground in individuals][: rng.choice((1, 2, 2, 3))]
    events = [name for name, sorts in EVENTS.items() if (name.strip("'"), len(sorts)) in description.input_events]
    fluents = [name for name, (sorts, _) in INPUTS.items() if (name, len(sorts)) in description.read]
    events = rng.sample(events, min(len(events), rng.randint(2, 6)))

    def arguments(sorts: str) -> tuple[Ground, ...]:
        among: dict[str, Sequence[Ground]] = {"x": some, "n": NUMBERS, "p": PLACES}
        return tuple(rng.choice(among[sort]) for sort in sorts)

    def row(time: int) -> Row:
        if not events or (fluents and rng.randrange(100) < 30):
            name = rng.choice(fluents)
            sorts, values = INPUTS[name]
            found = Row(name=name, args=arguments(sorts), time=time, arrival=time, value=rng.choice(values))
            end = None if rng.randrange(100) < 15 else time + rng.randint(0, 10)
            return replace(found, shape="point") if name == "walk" else replace(found, shape="interval", end=end)
        name = rng.choice(events)
        return Row(name=name.strip("'"), args=arguments(EVENTS[name]), time=time, arrival=time)

    several = range(size if events or fluents else 0)
    rows = [one for _ in several for one in histories(rng, row(rng.randint(0, times)), mess)]
    return [replace(one, number=number) for number, one in enumerate(rows, start=1)]


def _stretched(rng: Random, row: Row, tick: int) -> Row:
    """The row where time-points are a tick apart; it may arrive between two, and now and then lies between two."""

    def moved(time: int) -> int:
        return tick * time + (rng.randrange(tick) if rng.randrange(40) == 0 else 0)

    end = None if row.end is None else moved(row.end)
    return replace(row, time=moved(row.time), arrival=tick * row.arrival + rng.randrange(tick), end=end)
