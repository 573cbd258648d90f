"""Incremental evaluation beside evaluation from scratch: how many times less CPU, by late share and overlap.

    python bench/incremental.py [--events N]

The published system gains about 2 to 4 times at 16 steps of overlap. Goals here: at least 5 at 5-20 % late, 3 at 40 %,
never below 0.9.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measuring import first_and_last, run
from workloads import catalogue

SHARES = (0.05, 0.10, 0.20, 0.40, 0.80)
OVERLAPS = (1, 2, 4, 8, 16)


def table(name: str, events: int, steps: int) -> None:
    """Ratios of recomputing to incremental CPU time, and the cost of a changed row."""
    make = getattr(catalogue, name)
    print(f"{name}: {events} events, {steps} steps; CPU of recomputing / CPU of incremental (microseconds per change)")
    print("late   " + "".join(f"{f'{k} steps':>16}" for k in OVERLAPS))
    for share in SHARES:
        workload = make(events=events, late=share)
        rows = workload.rows()
        first, last = first_and_last(rows)
        step = (last - first) // steps + 1
        cells = []
        for k in OVERLAPS:
            skip = min(k, steps // 2)
            quick = run(workload, window=k * step, step=step, rows=rows, skip=skip)
            slow = run(workload, window=k * step, step=step, rows=rows, skip=skip, recompute=True)
            cost = 1e6 * quick.seconds / max(1, quick.changes)
            cells.append(f"{slow.seconds / quick.seconds:9.2f} ({cost:4.1f})")
        print(f"{share:4.0%}   " + "".join(f"{cell:>16}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=150_000)
    parser.add_argument("--steps", type=int, default=32)
    options = parser.parse_args()
    small = catalogue.vessels(events=2000, late=0.2)
    first, last = first_and_last(small.rows())
    for recompute in (False, True):
        run(small, window=(last - first) // 2, step=(last - first) // 8 + 1, recompute=recompute)
    for name in ("vessels", "fleet"):
        table(name, options.events, options.steps)


if __name__ == "__main__":
    main()
