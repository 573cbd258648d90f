"""Incremental evaluation beside evaluation from scratch: how many times less CPU, by late share and overlap.

    python bench/incremental.py [--scale S] [--only vessels|fleet|expressions] [--late SHARE ...] [--steps K ...]

A share of the rows is late by Gamma(2, 2) hours; the step is two hours, the window 1 to 16 steps. Every run goes
through the first windows unmeasured, until the longest window is full, and is then measured over some query times; the
recomputing run takes over at that moment. Goals: at least 5 at 16 steps and 5-20 % late, 3 at 40 %, never below 0.9;
interval expressions never below 1; with the same late rows, twice the window at most 1.2 times the cost per query. The
published system gains about 2 to 4 times at 16 steps, and loses on interval expressions.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

import thalweg
from measuring import first_and_last
from thalweg.events.reasoner import Reasoner
from workloads import catalogue
from workloads.catalogue import Workload
from workloads.columns import delayed

STEP = 7200
SHARES = (0.05, 0.10, 0.20, 0.40, 0.80)
OVERLAPS = (1, 2, 4, 8, 16)
MEASURED = 6


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds and rows of `changes` per query."""

    seconds: float
    changes: float


def cost(
    workload: Workload,
    overlap: int,
    *,
    fill: int,
    measured: int = MEASURED,
    recompute: bool = False,
    step: int = STEP,
) -> Cost:
    """The median cost of a query, after `fill` steps."""
    rows = workload.rows()
    query = first_and_last(rows)[0] - 1
    reasoner = Reasoner(
        thalweg.parse(workload.source()), window=overlap * step, step=step, start=query, tick=workload.tick
    )
    reasoner.accept(rows)
    query += fill * step
    reasoner.advance(query)
    reasoner.recompute = recompute
    query += step
    reasoner.advance(query)
    seconds, changes = [], 0
    for _ in range(measured):
        query += step
        started = time.process_time()
        found = reasoner.advance(query)
        seconds.append(time.process_time() - started)
        changes += found["changes"].num_rows
    return Cost(median(seconds), changes / measured)


def late(workload: Workload, share: float) -> Workload:
    """The workload with a share of its rows late."""
    return replace(workload, stream=delayed(workload.stream, share, seed=4))


def table(workload: Workload, shares: Iterable[float], overlaps: Iterable[int]) -> None:
    """Ratios of recomputing to incremental CPU time, and the incremental cost of a changed row."""
    per_step = workload.events * STEP // workload.last
    print(f"{workload.name}: about {per_step} rows per step; times faster (microseconds per changed row)")
    print("late   " + "".join(f"{f'{k} steps':>16}" for k in overlaps))
    for share in shares:
        revised = late(workload, share)
        cells = []
        for overlap in overlaps:
            quick = cost(revised, overlap, fill=max(OVERLAPS))
            slow = cost(revised, overlap, fill=max(OVERLAPS), recompute=True)
            per_change = 1e6 * quick.seconds / max(1, quick.changes)
            cells.append(f"{slow.seconds / quick.seconds:8.2f} ({per_change:5.1f})")
        print(f"{share:4.0%}   " + "".join(f"{cell:>16}" for cell in cells), flush=True)


def doubling(workload: Workload, overlaps: Iterable[int] = (8, 16, 32)) -> None:
    """The cost of a query with the same late rows in windows of more and more steps."""
    print(f"{workload.name}: the same late rows (10 %) in longer windows")
    revised, before = late(workload, 0.10), 0.0
    for overlap in overlaps:
        found = min(cost(revised, overlap, fill=max(overlaps)).seconds for _ in range(2))
        grown = f"{found / before:.2f} times the cost of half the window" if before else ""
        print(f"{overlap:>4} steps {1000 * found:7.1f} ms per query  {grown}", flush=True)
        before = found


def from_scratch(workload: Workload, overlap: int = 16) -> None:
    """Recomputing a window beside a first look at one: the comparison must not be a straw man."""
    again = cost(workload, overlap, fill=overlap, measured=2, recompute=True)
    once = cost(workload, 1, fill=1, measured=1, step=overlap * STEP)
    print(
        f"{workload.name}: recomputing {overlap} steps costs {1000 * again.seconds:.0f} ms, "
        f"taking them in for the first time {1000 * once.seconds:.0f} ms"
    )


RATES = {"vessels": (10_500, 300), "fleet": (11_500, 200), "expressions": (9_700, 1000)}
"""Rows per step, and how many vessels or vehicles they come from."""


def made(name: str, steps: int, scale: float) -> Workload:
    """A stream of at least so many steps."""
    per_step, entities = RATES[name]
    who = {("vehicles" if name == "fleet" else "vessels"): int(scale * entities)}
    workload: Workload = getattr(catalogue, name)(events=int(scale * per_step * steps), **who)
    return workload


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the vessels and vehicles")
    parser.add_argument("--only", choices=RATES, help="one of the workloads")
    parser.add_argument("--late", nargs="*", type=float, default=SHARES, help="late shares of the table")
    parser.add_argument("--steps", nargs="*", type=int, default=OVERLAPS, help="windows of the table, in steps")
    options = parser.parse_args()
    scale, names = options.scale, [options.only] if options.only else list(RATES)
    steps = max(OVERLAPS) + MEASURED + 2
    for name in names:
        for recompute in (False, True):
            cost(late(made(name, 5, 0.1), 0.2), 2, fill=3, measured=1, recompute=recompute)
        table(made(name, steps, scale), options.late, options.steps)
        longer = made(name, 2 * steps, scale)
        doubling(longer)
        from_scratch(longer)


if __name__ == "__main__":
    main()
