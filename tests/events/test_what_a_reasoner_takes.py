"""What the event reasoner takes for its windows, programs and rows, and what it says to anything else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from thalweg import parse
from thalweg.events.reasoner import Reasoner

LAMP = parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).")


def made(program: Any = LAMP, window: Any = 10, step: Any = 10) -> Any:
    return Reasoner(program, window=window, step=step)


def test_a_reasoner_of_a_program_with_a_tick_takes_timedeltas() -> None:
    reasoner = made(parse(f"tick 1m. {LAMP}"), window=timedelta(hours=1), step=timedelta(minutes=10))
    assert (reasoner.window, reasoner.step) == (60, 10)


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda: made(LAMP, window="1h", step=10), "here, or timedeltas, not '1h'"),
        (lambda: made(LAMP, window=10.5, step=10), r"not 10\.5"),
        (lambda: made("a.", window=10, step=10), "takes an event description"),
        (lambda: made(parse("program lars. a if b.")), "this is a LARS program: use thalweg.lars.Reasoner"),
        (lambda: made(LAMP, window=timedelta(hours=1)), "does not say how long a time-point lasts, so 1:00:00 is no"),
        (lambda: made(parse(f"tick 1m. {LAMP}"), window=timedelta(seconds=90)), "not a whole number of time-points"),
        (lambda: made(LAMP, window=10, step=10).accept([{"name": "press"}]), "thalweg.rows"),
        (lambda: made(LAMP, window=10, step=10).accept(None), "thalweg.rows"),
        (lambda: made(LAMP, window=10, step=10).advance(to=25.5), r"not 25\.5"),
    ],
)
def test_a_reasoner_that_is_misused_says_what_it_takes(misuse: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        misuse()
