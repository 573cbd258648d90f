"""Explaining results of a large window: how long a question takes, and how long the first one does.

    python bench/explain.py [--events N] [--questions N]

The maritime program over one window that holds the whole stream. The first question reads the input again (from Arrow
tables in memory); `why` and `why not` then re-derive on demand. Goal: under a second for one result on a window of
5 million events.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pyarrow as pa

import thalweg
from thalweg.explain.tree import Node, Part
from thalweg.protocol import Rows
from thalweg.result import Result
from workloads import catalogue


def table(part: Rows) -> pa.Table:
    """Rows as a table of one event or input fluent."""
    columns: dict[str, Any] = {"arrival": part.arrival}
    columns |= {"time": part.time} if part.end is None else {"start": part.time, "end": part.end}
    columns |= {} if part.value is None else {"value": part.value}
    return pa.table(columns | {f"arg{i + 1}": column for i, column in enumerate(part.args)})


def ran(events: int) -> Result:
    """One window over the whole stream."""
    workload = catalogue.maritime(events=events, vessels=max(10, events // 1000))
    tables: dict[str, list[pa.Table]] = {}
    for part in workload.rows():
        tables.setdefault(part.name, []).append(table(part))
    given = {name: pa.concat_tables(parts) for name, parts in tables.items()}
    length = workload.last + 1
    return thalweg.run(workload.source(), given, window=length, step=length, start=-1)


def questions(result: Result, count: int) -> list[tuple[str, dict[str, Any]]]:
    """Intervals of every fluent in turn, spread over the timeline."""
    timeline = result.arrow["timeline"]
    names = np.array([text.partition("(")[0] for text in timeline.column("fluent").to_pylist()])
    chosen: list[tuple[str, dict[str, Any]]] = []
    for name in sorted(set(names.tolist())):
        where = np.flatnonzero(names == name)
        rows = timeline.take(where[np.linspace(0, len(where) - 1, max(1, count // 20)).astype(int)]).to_pylist()
        chosen += [(name, row) for row in rows]
    return chosen


def timed(ask: Callable[[], Node]) -> tuple[float, int]:
    """CPU seconds of a question, and the size of its tree."""
    started = time.process_time()
    tree = ask()
    assert not any(node.part is Part.UNEXPLAINED for node in tree), str(tree)
    return time.process_time() - started, sum(1 for _ in tree)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=100)
    chosen = parser.parse_args()
    started = time.process_time()
    result = ran(chosen.events)
    print(f"{result.summary().rows:,} rows, {result.arrow['timeline'].num_rows:,} intervals, one window: ", end="")
    print(f"{time.process_time() - started:.1f} s to generate and run")
    asked = questions(result, chosen.questions)
    name, row = asked[0]
    first, _ = timed(lambda: result.why(f"{row['fluent']}={row['value']} @ {row['start']}"))
    print(f"the first question, with the input read again: {first:.2f} s")
    print(f"\n{'fluent':<22} {'why, s':>8} {'nodes':>6} {'why not, s':>11}")
    slowest = 0.0
    for name in dict.fromkeys(name for name, _ in asked):
        times = [
            timed(lambda row=row: result.why(f"{row['fluent']}={row['value']} @ {row['start']}"))
            for other, row in asked
            if other == name
        ]
        doubts = [
            timed(lambda row=row: result.why_not(f"{row['fluent']}={row['value']} @ {row['start'] - 1}"))[0]
            for other, row in asked
            if other == name and not result.holds(f"{row['fluent']}={row['value']} @ {row['start'] - 1}")
        ]
        worst = max(seconds for seconds, _ in times)
        slowest = max(slowest, worst, *doubts)
        print(f"{name:<22} {worst:>8.3f} {max(n for _, n in times):>6} {max(doubts, default=0):>11.3f}")
    print(f"\nslowest question: {slowest:.3f} s (goal: under 1)")


if __name__ == "__main__":
    main()
