"""The event reasoner's throughput: events per CPU second from sorted Arrow columns, and how it grows.

    python bench/events.py [--events N]

Goals: 1 million events/s on the vessel program in tumbling windows, twice the events at most 2.2 times the cost, twice
the entities at most 1.3 times, a window of 1,000 events under 10 ms.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import thalweg
from measuring import Run, first_and_last, run
from thalweg.events.reasoner import Reasoner
from workloads import catalogue
from workloads.catalogue import Workload


def tumbling(workload: Workload, windows: int = 5) -> Run:
    """The workload in so many windows that do not overlap."""
    rows = workload.rows()
    first, last = first_and_last(rows)
    step = (last - first) // windows + 1
    return run(workload, window=step, step=step, rows=rows)


def throughput(events: int) -> None:
    for name in ("vessels", "voting", "netbill", "fleet"):
        found = tumbling(getattr(catalogue, name)(events=events))
        print(f"{name:10} {found.events:>9} events {found.rate:>12,.0f} events/s  {found.changes:>9} changes")


def growth(events: int) -> None:
    costs = [tumbling(catalogue.vessels(events=n)).seconds for n in (events // 2, events)]
    print(f"twice the events cost {costs[1] / costs[0]:.2f} times")
    fleet = [tumbling(catalogue.vessels(events=events, vessels=n)).seconds for n in (5000, 10000)]
    print(f"twice the entities cost {fleet[1] / fleet[0]:.2f} times")


def small_window() -> None:
    """One query over 1,000 events that are new, in milliseconds."""
    workload = catalogue.vessels(events=40_000, vessels=500)
    rows = workload.rows()
    first, last = first_and_last(rows)
    step = (last - first) // 40 + 1
    reasoner = Reasoner(thalweg.parse(workload.source()), window=step, step=step, start=first - 1)
    reasoner.accept(rows)
    took = []
    for k in range(1, 41):
        started = time.process_time()
        reasoner.advance(first - 1 + k * step)
        took.append(time.process_time() - started)
    took.sort()
    print(f"a window of 1,000 events takes {1000 * took[len(took) // 2]:.1f} ms (median of {len(took)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    options = parser.parse_args()
    for name in ("vessels", "voting", "netbill", "fleet"):
        tumbling(getattr(catalogue, name)(events=20_000))
    throughput(options.events)
    growth(options.events)
    small_window()


if __name__ == "__main__":
    main()
