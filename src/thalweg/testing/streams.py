"""Random streams for random programs: insertions, late ones, duplicates, retractions, re-insertions.

A `Scenario` is everything a run needs. `scenario` makes one from a source of random numbers; `scenarios` is the
Hypothesis strategy over it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from thalweg import parse
from thalweg.language.program import Program
from thalweg.reference.description import Description
from thalweg.reference.events import Row
from thalweg.reference.terms import Ground
from thalweg.testing.programs import (
    ENTITIES,
    EVENTS,
    INPUT_FLUENTS,
    INPUT_VALUES,
    PLACES,
    Features,
    random_program,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Mess:
    """How untidy a stream is, in per cent of its rows; `delay` is the longest delay of a late row."""

    late: int = 20
    duplicate: int = 8
    retract: int = 12
    reinsert: int = 50
    early: int = 3
    delay: int = 20


TIDY = Mess(late=0, duplicate=0, retract=0, early=0)


@dataclass(frozen=True)
class Scenario:
    """A program, its rows in no particular order, and how to run it."""

    text: str
    rows: tuple[Row, ...]
    window: int
    step: int
    start: int = 0
    end: int = 40
    tick: int = 1

    @property
    def program(self) -> Program:
        return parse(self.text)

    @property
    def settings(self) -> dict[str, Any]:
        """How to run it, as keywords of `replay` and `replay_with`."""
        names = ("window", "step", "start", "end", "tick")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        rows = "\n".join(map(_written, sorted(self.rows, key=lambda row: (row.arrival, row.number))))
        settings = f"window={self.window} step={self.step} start={self.start} end={self.end} tick={self.tick}"
        return f"{self.text}\n{settings}\n{rows}"


def _written(row: Row) -> str:
    value = "" if row.shape == "event" else f" ={row.value}"
    end = f"..{row.end}" if row.shape == "interval" else ""
    sign = "+" if row.op > 0 else "-"
    arguments = ",".join(map(str, row.args))
    return f"{sign} #{row.number} arrival {row.arrival}: {row.name}({arguments}){value} at {row.time}{end}"


# --------------------------------------------------------------------------- rows


def random_rows(
    rng: Random, program: Program, *, size: int, times: int = 30, mess: Mess | None = None
) -> list[Row]:
    """About `size` rows of the program's inputs, with times from 1 to `times`, numbered from 1.

    They are about a few entities and a few names only, so that they meet.
    """
    mess = mess or Mess()
    entities = ENTITIES[: rng.choice((1, 2, 2, 3))]
    events, fluents = _vocabulary(rng, program)
    rows: list[Row] = []
    for _ in range(size if events or fluents else 0):
        time = rng.randint(1, times)
        if fluents and (not events or rng.randrange(100) < 25):
            row = _fluent_row(rng, rng.choice(fluents), time, entities)
        else:
            row = _event_row(rng, rng.choice(events), time, entities)
        rows.extend(histories(rng, row, mess))
    return [replace(row, number=number) for number, row in enumerate(rows, start=1)]


def _vocabulary(rng: Random, program: Program) -> tuple[list[str], list[str]]:
    """The input events and fluents of a stream: those that rules read, or only some of them."""
    description = Description(program)
    events = [name for name in EVENTS if (name, len(EVENTS[name])) in description.read]
    fluents = [name for name in INPUT_FLUENTS if (name, len(INPUT_FLUENTS[name])) in description.read]
    few = rng.sample(events, min(len(events), rng.randint(2, 5)))
    return few, fluents if rng.randrange(100) < 80 or not few else []


def _event_row(rng: Random, name: str, time: int, entities: tuple[str, ...]) -> Row:
    arguments = tuple(_argument(rng, sort, entities) for sort in EVENTS[name])
    return Row(name=name, args=arguments, time=time, arrival=time)


def _fluent_row(rng: Random, name: str, time: int, entities: tuple[str, ...]) -> Row:
    arguments = tuple(_argument(rng, sort, entities) for sort in INPUT_FLUENTS[name])
    row = Row(name=name, args=arguments, time=time, arrival=time, value=rng.choice(INPUT_VALUES[name]))
    if name == "walk":
        return replace(row, shape="point")
    end = None if rng.randrange(100) < 15 else time + rng.randint(1, 10)
    return replace(row, shape="interval", end=end)


def _argument(rng: Random, sort: str, entities: tuple[str, ...]) -> Ground:
    if sort == "x":
        return rng.choice(entities)
    return rng.choice(PLACES) if sort == "p" else rng.choice((1, 3, 4.5, 7, 9))


def histories(rng: Random, row: Row, mess: Mess) -> list[Row]:
    """A row with its arrival, and what happens to it later on."""

    def happens(percent: int) -> bool:
        return rng.randrange(100) < percent

    if happens(mess.late):
        row = replace(row, arrival=row.time + rng.randint(1, mess.delay))
    elif happens(mess.early):
        row = replace(row, arrival=row.time - rng.randint(1, 5))
    history = [row]
    if happens(mess.duplicate):
        history.append(replace(row, arrival=row.arrival + rng.randint(0, 5)))
    if happens(mess.retract):
        gone = row.arrival + rng.randint(0, 12)
        history.append(replace(row, op=-1, arrival=gone))
        if row.shape == "interval" and row.end is None:
            history.append(replace(row, end=max(row.time, gone) + rng.randint(1, 4), arrival=gone))
        elif happens(mess.reinsert):
            history.append(replace(row, arrival=gone + rng.randint(0, 8)))
    return history


# --------------------------------------------------------------------------- scenarios


def random_scenario(
    rng: Random,
    features: Features | None = None,
    mess: Mess | None = None,
    *,
    size: int = 40,
    times: int = 30,
) -> Scenario:
    """A program, a stream for it and a window; the window is sometimes the step and sometimes everything."""
    text = random_program(rng, features)
    rows = random_rows(rng, parse(text), size=rng.randint(1, size), times=times, mess=mess)
    step = rng.choice((2, 3, 5, 7, 10, 20, 1))
    window = step + rng.choice((0, 8, 15, times + 40, 3, 1, 0))
    rng.shuffle(rows)
    return Scenario(text, tuple(rows), window, step, end=times + 10)


def scenarios(
    features: Features | None = None, mess: Mess | None = None, *, size: int = 40, times: int = 30
) -> SearchStrategy[Scenario]:
    """Random scenarios; they shrink towards short programs and few rows."""
    from hypothesis import strategies as st

    return st.randoms(use_true_random=False).map(
        lambda rng: random_scenario(rng, features, mess, size=size, times=times)
    )


def programs(features: Features | None = None) -> SearchStrategy[str]:
    """Random event descriptions as text."""
    from hypothesis import strategies as st

    return st.randoms(use_true_random=False).map(lambda rng: random_program(rng, features))


def splits(rng: Random, rows: tuple[Row, ...]) -> list[list[Row]]:
    """The rows in random batches, in random order."""
    shuffled = list(rows)
    rng.shuffle(shuffled)
    batches: list[list[Row]] = [[] for _ in range(rng.randint(1, 4))]
    for row in shuffled:
        rng.choice(batches).append(row)
    return batches
