"""Every answer stream at a tick, where choices allow several: each combination is tried and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, product

import pyarrow as pa

from thalweg.lars.choice import Choice
from thalweg.lars.engine import Engine
from thalweg.lars.operators import Moment


def worlds(
    engine: Engine, moment: Moment, now: int, most: int, answer: Callable[[], pa.Table]
) -> Iterator[pa.Table]:
    """What `answer` says under each combination of what the choices allow (at most so many, where that is not 0)."""
    choices = list(engine.choices)
    if any((choice.blank.live(now)[:, 1] <= now).any() for choice in choices):
        return
    combinations = product(*(list(choice.models(now, most)) for choice in choices))
    moment.horizon = moment.target = now
    kept = [choice.held(now) for choice in choices]
    for combination in islice(combinations, most or None):
        for choice, atoms in zip(choices, combination, strict=True):
            choice.pretend(atoms, now)
        _run_above(engine, moment, choices)
        yield answer()
    for choice, labels in zip(choices, kept, strict=True):
        choice.give_back(labels, now)
    _run_above(engine, moment, choices)


def _run_above(engine: Engine, moment: Moment, choices: list[Choice]) -> None:
    """Follow the changes of the choices, without choosing again."""
    for part in engine.parts:
        if part not in choices:
            part.update(moment)
    engine.end_round()
