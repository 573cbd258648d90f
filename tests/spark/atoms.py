"""Streams of atoms for the other two kinds of program: open answers, and LARS."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from stories import COLUMNS, Story

TURBINES = """
query malf(X, T).
query shdn(X, T).
flag(X, T) :- temp(X, D, T), D > 80.
cool(X, T+1) :- flag(X, T), flag(X, T+1).
shdn(X, T+1) :- cool(X, T), flag(X, T+1).
malf(X, T-2) :- shdn(X, T).
"""
"""Decided by what comes later; all of it by turbine."""

CARELESS = TURBINES + "malf(X, T) :- noReading(X, T), not maintenance(X, T).\n"
"""And a negated premise, which makes it one shard."""

LAMPS = """
on(X) :- [10] sometime press(X), not [3] sometime cut(X).
hot(X) :- [8] always on(X).
warned(X) :- hot(X), not [20] sometime rest(X).
"""
"""Windows over atoms, by lamp."""

BESIDE = LAMPS + """
known(w1). known(w2).
watched(X) :- known(X), on(X).
idle(X) :- [5] sometime known(X), not [3] sometime press(X).
"""
"""And rows beside facts, which every shard has."""

SILENT = """
silent(X) :- lamp(X), not [3] sometime press(X).
lamp(w1). lamp(w77).
"""
"""Somebody may be told of whom no row speaks."""

CHOICE = LAMPS + "day(X) :- on(X), not night(X).\nnight(X) :- on(X), not day(X).\n"
"""And rules that negate each other."""


def story(program: str, options: dict[str, Any], seed: int = 11, size: int = 400) -> Story:
    """Turbines and lamps for a hundred time-points; some rows are late, some taken back, some too late or bad."""
    rng = Random(seed)
    rows: list[dict[str, Any]] = []
    readings = ["temp", "temp", "temp", "noReading", "maintenance"]
    names = readings if "temp" in program else ["press", "cut", "rest", "known"]
    names = [name for name in names if f"{name}(" in program]
    for _ in range(size):
        time = rng.randint(0, 100)
        name, late = rng.choice(names), rng.choice([0, 0, 0, 1, 2, 3, 5])
        degrees = str(rng.choice([70, 81, 85, 90])) if name == "temp" else None
        row = {"name": name, "arg1": f"w{rng.randint(1, 12)}", "arg2": degrees}
        row |= {"time": time, "arrival": time + late, "op": "insert"}
        rows.append(row)
        if rng.random() < 0.05:
            rows.append(row | {"op": "retract", "arrival": time + late + rng.randint(0, 2)})
    rows.append({"name": "nosuch", "arg1": "w1", "arg2": None, "time": 7, "arrival": 7, "op": "insert"})
    rows.sort(key=lambda row: row["arrival"])
    numbered = [row | {"nr": number} for number, row in enumerate(rows, start=1)]
    return Story(program, pa.Table.from_pylist(numbered, COLUMNS), options)


STORIES = {
    "answers by turbine": (TURBINES, {"lateness": 4}),
    "answers in one shard": (CARELESS, {"lateness": 4}),
    "windows by lamp": (LAMPS, {"lateness": 4}),
    "rows beside facts": (BESIDE, {"lateness": 4}),
    "a choice in one shard": (CHOICE, {"lateness": 4}),
}
