"""Open answers: throughput, cost of idle partial answers, growth, and the definition re-evaluated at each step.

    python bench/answers.py            all of it, about two minutes
    python bench/answers.py --quick    smaller sizes

Facts per second are CPU seconds of one core, input as Arrow columns with dictionaries, from `accept` to the end of
`advance` (the columns of the tables are written out only where the line says so). Ratios are of this run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from thalweg import parse
from thalweg.answers.offline import plan
from thalweg.answers.reasoner import Reasoner
from thalweg.protocol import Rows

TURBINES = """
query malf(X, T).
flag(X, T) :- temp(X, high, T).
cool(X, T+1) :- flag(X, T), flag(X, T+1).
shdn(X, T+1) :- cool(X, T), flag(X, T+1).
malf(X, T-2) :- shdn(X, T), flag(X, T+1).
"""
"""Four premises at four times."""

HOSPITAL = """
query risk(X, T).
gvs(X, T) :- gcm(X, T), gbol(X, T).
st(X, us, T+1) :- bca(X, T+2).
st(X, us, T+1) :- not gvs(X, T), not st(X, us, T).
st(X, ic, T+1) :- not gvs(X, T), st(X, us, T).
risk(X, T) :- st(X, ic, T+2).
"""

PATIENCE = (
    "query late(X, T). late(X, T) :- order(X, T), bill(X, T+100000). query malf(X, T)."
    + TURBINES.replace("query malf(X, T).", "")
)
"""Turbines, and orders that wait for a bill far in the future."""


class Names:
    """A dictionary of constants, and columns over it."""

    def __init__(self, prefix: str, count: int) -> None:
        self.texts = pa.array([f"{prefix}{i}" for i in range(count)])

    def column(self, which: np.ndarray) -> pa.Array:  # type: ignore[type-arg]
        return pa.DictionaryArray.from_arrays(pa.array(which.astype(np.int32)), self.texts)


LEVELS = pa.array(["low", "high"])


def rows(name: str, at: int, *columns: pa.Array) -> Rows:
    """Rows of one time-point."""
    n = len(columns[0])
    times = np.full(n, at)
    return Rows(name, np.ones(n, np.int8), times, times, np.arange(n), columns)


def turbines(devices: int, steps: int, hot: float, seed: int = 1) -> Iterator[list[Rows]]:
    """One reading per device and step."""
    rng = np.random.default_rng(seed)
    names = Names("wt", devices)
    every = names.column(np.arange(devices))
    for step in range(steps):
        level = pa.DictionaryArray.from_arrays(pa.array((rng.random(devices) < hot).astype(np.int32)), LEVELS)
        yield [rows("temp", step, every, level)]


def hospital(patients: int, steps: int, good: float, seed: int = 2) -> Iterator[list[Rows]]:
    """Two signs per patient and step, each with some probability, and a few analyses."""
    rng = np.random.default_rng(seed)
    names = Names("p", patients)

    def some(name: str, at: int, share: float) -> Rows:
        return rows(name, at, names.column(np.flatnonzero(rng.random(patients) < share)))

    for step in range(steps):
        yield [some("gcm", step, good), some("gbol", step, good), some("bca", step, good / 20)]


@dataclass
class Timed:
    """CPU seconds of a run, after each fifth of it, and how many facts it took in."""

    facts: int
    seconds: float
    marks: list[float]

    @property
    def rate(self) -> float:
        return self.facts / self.seconds


def run(reasoner: Reasoner, batches: list[list[Rows]], *, warm: int = 2, table: str | None = None) -> Timed:
    """Feed the batches step by step; the first ones, which meet empty caches, are not counted."""
    for step in range(warm):
        reasoner.accept(batches[step])
        reasoner.advance(step)
    marks = []
    every = max(1, (len(batches) - warm) // 5)
    began = time.process_time()
    for step in range(warm, len(batches)):
        reasoner.accept(batches[step])
        revision = reasoner.advance(step)
        if table is not None:
            revision[table]
        if (step - warm + 1) % every == 0:
            marks.append(time.process_time() - began)
    return Timed(sum(len(r) for batch in batches[warm:] for r in batch), time.process_time() - began, marks)


def best(make: Callable[[], Timed], times: int = 3) -> Timed:
    """The least disturbed of some runs."""
    return min((make() for _ in range(times)), key=lambda t: t.seconds)


# --------------------------------------------------------------------------- the definition at each step


def definition(text: str, batches: list[list[Rows]]) -> tuple[Timed, int]:
    """At every step all answers and open answers from the whole history, as Definition 14 has them, in plain Python."""
    template = plan(parse(text)).queries[0].templates[0]
    offsets = [p.time.offset for p in template.positive if p.time is not None]
    history: set[tuple[str, int]] = set()
    found = 0
    began = time.process_time()
    for step, batch in enumerate(batches):
        for part in batch:
            for device, level in zip(part.args[0].to_pylist(), part.args[1].to_pylist(), strict=True):
                if level == "high":
                    history.add((device, step))
        certain, standing = set(), set()
        for device, at in history:
            start = at - offsets[0]
            premises = [(device, start + o) for o in offsets]
            if all(p in history or p[1] > step for p in premises):
                (certain if all(p in history for p in premises) else standing).add((device, start))
        found = len(certain) + len(standing)
    return Timed(sum(len(r) for b in batches for r in b), time.process_time() - began, []), found


# --------------------------------------------------------------------------- the report


def line(what: str, measured: str, goal: str) -> None:
    """One row of the report."""
    print(f"{what:<66}{measured:>26}   {goal}", flush=True)


def report(quick: bool, only: str | None) -> None:
    """All measurements, one line each."""
    scale = 10 if quick else 1
    parts: dict[str, Callable[[], None]] = {
        "turbines": lambda: turbine_lines(100_000 // scale),
        "hospital": lambda: hospital_lines(10_000 // scale, 10_000 // scale),
        "sparse": lambda: sparse_line(300_000 // scale),
        "definition": lambda: definition_lines((100,) if quick else (100, 200, 400)),
    }
    for name, measure in parts.items():
        if only in (None, name):
            measure()


def turbine_lines(devices: int) -> None:
    """Throughput, and what idle partial answers cost."""
    batches = list(turbines(devices, 14, 0.3))
    plain = best(lambda: run(Reasoner(parse(TURBINES)), batches))
    line(
        f"turbines: {devices:,} devices, 4 premises, 30 % hot", f"{plain.rate:,.0f} facts/s", "goal 1,000,000"
    )
    for table in ("answers", "changes"):
        written = best(lambda t=table: run(Reasoner(parse(TURBINES)), batches, table=t), 2)  # type: ignore[misc]
        line(f"  with the table `{table}` written out at every step", f"{written.rate:,.0f} facts/s", "")

    for times, what in ((1, "of one time"), (devices // 10, f"of {devices // 10:,} times")):
        twofold = 1 if times == 1 else 2 * times
        some = best(lambda n=times: idle(devices, n, batches), 7)  # type: ignore[misc]
        twice = best(lambda n=twofold: idle(2 * devices, n, batches), 7)  # type: ignore[misc]
        more = f"{100 * (twice.seconds / some.seconds - 1):+.1f} % time"
        line(f"  {devices:,} idle partial answers {what}, then twice as many", more, "goal at most +5 %")


def idle(count: int, times: int, batches: list[list[Rows]]) -> Timed:
    """A run next to partial answers of some answer times that wait for something far ahead."""
    at = np.arange(count) * times // count - times
    reasoner = Reasoner(parse(PATIENCE), start=-times)
    column = Names("o", count).column(np.arange(count))
    reasoner.accept([Rows("order", np.ones(count, np.int8), at, at, np.arange(count), (column,))])
    reasoner.advance(-1)
    return run(reasoner, batches)


def hospital_lines(patients: int, steps: int) -> None:
    """Throughput with negation, and growth over a long stream."""
    wards = list(hospital(patients, 40, 0.9))
    ward = best(lambda: run(Reasoner(parse(HOSPITAL)), wards))
    line(f"hospital: {patients:,} patients, negation, dense", f"{ward.rate:,.0f} facts/s", "goal 200,000")
    long = list(hospital(patients, steps, 0.02))
    grown = run(Reasoner(parse(HOSPITAL)), long)
    early, late = grown.marks[1] - grown.marks[0], grown.marks[4] - grown.marks[3]
    line(
        f"  {steps:,} sparse steps: last fifth over second fifth",
        f"{late / early:.2f} times",
        "no growth: about 1",
    )


def sparse_line(steps: int) -> None:
    """One reading per time-point, all in one batch."""
    rng = np.random.default_rng(3)
    device = Names("wt", 100).column(rng.integers(0, 100, steps))
    level = pa.DictionaryArray.from_arrays(pa.array((rng.random(steps) < 0.5).astype(np.int32)), LEVELS)
    times = np.arange(steps)
    batch = [Rows("temp", np.ones(steps, np.int8), times, times, times, (device, level))]

    def once() -> Timed:
        reasoner = Reasoner(parse(TURBINES))
        began = time.process_time()
        reasoner.accept(batch)
        reasoner.advance(steps)
        return Timed(steps, time.process_time() - began, [])

    line(f"turbines: {steps:,} time-points with one reading each", f"{best(once).rate:,.0f} facts/s", "")


def definition_lines(lengths: tuple[int, ...]) -> None:
    """Beside the definition, evaluated anew at every step; its cost grows with the history."""
    for steps in lengths:
        small = list(turbines(1000, steps, 0.3))
        naive = best(lambda given=small: definition(TURBINES, given)[0], 2)  # type: ignore[misc]
        line(f"the definition at each step: 1,000 devices, {steps} steps", f"{naive.rate:,.0f} facts/s", "")
        ours = best(lambda given=small: run(Reasoner(parse(TURBINES)), given), 15)  # type: ignore[misc]
        line("  the reasoner on the same", f"{ours.rate / naive.rate:,.0f} times faster", "goal 100")
        written = best(lambda given=small: run(Reasoner(parse(TURBINES)), given, table="answers"))  # type: ignore[misc]
        line(
            "  with `answers` and their evidence written out",
            f"{written.rate / naive.rate:,.0f} times faster",
            "",
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["turbines", "hospital", "sparse", "definition"])
    given = parser.parse_args()
    report(given.quick, given.only)
