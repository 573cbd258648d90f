"""Cycles and delayed effects: the sweep beside acyclic rules, and its growth with windows, delays and idle instances.

    python bench/cycles.py [--events N]

Goals: 500,000 events/s, at most 3 times the cost of comparable acyclic rules, linear in the window, delays of any
length alike, idle instances free.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pyarrow as pa

import thalweg
from measuring import first_and_last, run
from thalweg.events.reasoner import Reasoner
from thalweg.protocol import Rows
from workloads import catalogue

SIZES = [10 * 2**k for k in range(11)]
TOGGLE = """
initiatedAt(stage(X)=on, T) :- happensAt(press(X), T), \\+ holdsAt(stage(X)=on, T).
initiatedAt(stage(X)=off, T) :- happensAt(press(X), T), holdsAt(stage(X)=on, T).
fi(stage(X)=on, stage(X)=off, {delay}).
"""


def presses(entities: int, points: int, every: int = 1, seed: int = 1) -> Rows:
    """One press per point in time, of a random entity."""
    rng = np.random.default_rng(seed)
    time_ = np.arange(1, points + 1, every, dtype=np.int64)
    n = len(time_)
    names = pa.array([f"x{i}" for i in range(entities)])
    who = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, entities, n).astype(np.int32)), names)
    return Rows("press", np.ones(n, np.int8), time_, time_, np.arange(n), (who,))


def cost(rows: Rows, window: int, delay: int = 10, *, greet: int = 0) -> float:
    """CPU seconds of a run in windows of this size; `greet` first shows so many entities that then stay idle."""
    reasoner = Reasoner(thalweg.parse(TOGGLE.format(delay=delay)), window=window, step=window)
    if greet:
        names = pa.array([f"idle{i}" for i in range(greet)])
        ones = np.ones(greet, np.int64)
        reasoner.accept([Rows("press", ones.astype(np.int8), ones, ones, ones, (names,))])
        reasoner.advance(window)
    started = time.process_time()
    reasoner.accept([rows])
    reasoner.advance(int(rows.time[-1]) + window)
    return time.process_time() - started


def best(rows: Rows, window: int, delay: int = 10, *, greet: int = 0) -> float:
    """The least of three."""
    return min(cost(rows, window, delay, greet=greet) for _ in range(3))


def window_cost(size: int) -> float:
    """CPU seconds per window of so many points, with one event per point."""
    windows = max(8, 4000 // size)
    return best(presses(100, windows * size), size) / windows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=500_000)
    options = parser.parse_args()
    rates = {}
    for name in ("voting_acyclic", "voting", "netbill_acyclic", "netbill"):
        make = getattr(catalogue, name)
        run(make(events=5000), window=200, step=200)
        workload = make(events=options.events)
        rows = workload.rows()
        first, last = first_and_last(rows)
        step = (last - first) // 5 + 1
        found = max((run(workload, window=step, step=step, rows=rows) for _ in range(3)), key=lambda r: r.rate)
        rates[name] = found.rate
        print(f"{name:15} {found.rate:>10,.0f} events/s, {found.changes / found.events:.1f} changes per event")
    for name in ("voting", "netbill"):
        print(f"{name} costs {rates[f'{name}_acyclic'] / rates[name]:.2f} times its acyclic twin per event")
    cost(presses(10, 1000), 100)
    per_window = [window_cost(size) for size in SIZES]
    shown = ", ".join(f"{size}: {1e3 * c:.2f}" for size, c in zip(SIZES, per_window, strict=True))
    print(f"milliseconds per window of so many points: {shown}")
    worst = max(later / before for before, later in itertools.pairwise(per_window))
    print(f"doubling the window costs at most {worst:.2f} times as much")
    short, long = (best(presses(1000, 200_000), 50_000, delay) for delay in (10, 10_000))
    print(f"delays of 10,000 points cost {long / short:.2f} times delays of 10")
    alone, idle = (best(presses(100, 100_000), 10_000, greet=n) for n in (0, 100_000))
    print(f"with 99.9 % idle instances the rest costs {idle / alone:.2f} times")


if __name__ == "__main__":
    main()
