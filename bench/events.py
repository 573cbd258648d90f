"""The event reasoner's throughput, growth, memory and start-up.

    python bench/events.py [--events N] [--long N] [--only NAME ...]

Goals (tumbling windows, one core): 1 million events/s from sorted Arrow columns and 500,000 events/s from Parquet to
Parquet, on the vessel program and on a voting-like one; twice the events at most 2.2 times the cost, twice the
entities at most 1.3 times; a window of 1,000 events and 50 rules under 10 ms; 50 million events through windows of a
million under 2 GiB; `thalweg run` on ten events under 2 s.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import thalweg
from measuring import Run, first_and_last, run, stored
from thalweg._memory import keep_freed_memory
from thalweg.events.reasoner import Reasoner
from thalweg.io.sinks import Files
from thalweg.io.write import Folder
from thalweg.plans import Options, prepare
from thalweg.protocol import Rows
from thalweg.runs import drive
from workloads import catalogue
from workloads.catalogue import Workload
from workloads.files import write_parquet, write_repeated

MIB = 1024
MAIN = "from thalweg.cli.main import app as main; main()"


def tumbling(workload: Workload, windows: int | None = None) -> Run:
    """The workload in so many windows that do not overlap, unless told of 250,000 events each, and no fewer than 5."""
    windows = windows or max(5, workload.events // 250_000)
    rows = workload.rows()
    first, last = first_and_last(rows)
    step = (last - first) // windows + 1
    return run(workload, window=step, step=step, rows=rows)


def warm() -> None:
    """Compile the kernels before anything is measured."""
    for name in ("vessels", "voting_acyclic", "voting", "netbill", "fleet"):
        tumbling(getattr(catalogue, name)(events=20_000))


def columns(events: int) -> None:
    """From sorted Arrow columns to Arrow tables."""
    print("| program | events | events/s | rows of changes | rows/s |\n|---|---|---|---|---|")
    for name in ("vessels", "voting_acyclic", "voting", "netbill", "fleet"):
        found = tumbling(getattr(catalogue, name)(events=events))
        rows = found.changes / found.seconds
        print(f"| {name} | {found.events:,} | {found.rate:,.0f} | {found.changes:,} | {rows:,.0f} |", flush=True)


def parquet(events: int) -> None:
    """From Parquet to Parquet, program read and checked, all threads counted, memory kept as `thalweg run` does."""
    keep_freed_memory()
    print("| program | events | events/s |\n|---|---|---|")
    for name in ("vessels", "voting_acyclic"):
        _files_to_files(getattr(catalogue, name)(events=20_000))  # kernels that nothing else here needs
        seconds = _files_to_files(getattr(catalogue, name)(events=events))
        print(f"| {name} | {events:,} | {events / seconds:,.0f} |", flush=True)


def _files_to_files(workload: Workload) -> float:
    """CPU seconds of one run."""
    first, last = first_and_last(workload.rows())
    step = (last - first) // max(5, workload.events // 250_000) + 1
    with tempfile.TemporaryDirectory() as place:
        files = write_parquet(workload.stream, Path(place) / "in")
        started = time.process_time()
        program = thalweg.parse(workload.source())
        plan = prepare(program, files, Options(window=step, step=step, start=first - 1))
        with Folder(Path(place) / "out", "parquet") as folder:
            sink = Files(folder, program.kind)
            drive(plan, sink)
            sink.finish()
        return time.process_time() - started


def growth(events: int) -> None:
    """Cost per doubling of the events, and of the entities at a fixed number of events."""
    print("| events | CPU seconds | times the half |\n|---|---|---|")
    before = 0.0
    for n in (events // 2, events, 2 * events, 4 * events):
        seconds = tumbling(catalogue.vessels(events=n), 5).seconds
        print(f"| {n:,} | {seconds:.2f} | {f'{seconds / before:.2f}' if before else ''} |", flush=True)
        before = seconds
    print("\n| vessels | CPU seconds | times the half |\n|---|---|---|")
    before = 0.0
    for n in (2_500, 5_000, 10_000):
        seconds = tumbling(catalogue.vessels(events=events, vessels=n), 5).seconds
        print(f"| {n:,} | {seconds:.2f} | {f'{seconds / before:.2f}' if before else ''} |", flush=True)
        before = seconds


def _queries(workload: Workload, step: int) -> list[tuple[float, int]]:
    """What every query of windows that do not overlap takes, in CPU seconds, and how many events it is about."""
    rows = workload.rows()
    first, _ = first_and_last(rows)
    reasoner = Reasoner(thalweg.parse(workload.source()), window=step, step=step, start=first - 1)
    reasoner.accept(rows)
    times = np.concatenate([part.time for part in rows])
    counts = np.bincount((times - first) // step)
    took = []
    for k, count in enumerate(counts.tolist(), start=1):
        started = time.process_time()
        reasoner.advance(first - 1 + k * step)
        took.append((time.process_time() - started, count))
    return took


def sparse() -> None:
    """A query every minute about five vessels: microseconds for query times with events and without, each asked for by
    itself; and all of them in one go."""
    print("| events | query times | median, best (microseconds) |\n|---|---|---|")
    workload, step = catalogue.vessels(events=10_000, vessels=5), 60
    took = _queries(workload, step)
    for what, some in (("some", [t for t, n in took if n]), ("none", [t for t, n in took if not n])):
        print(f"| {what} | {len(some):,} | {1e6 * statistics.median(some):,.0f}, {1e6 * min(some):,.0f} |")
    apart, least = sum(seconds for seconds, _ in took), min(stored(workload, step=step).seconds for _ in range(3))
    print(f"all {len(took):,}: {apart:.2f} CPU s one by one, {least:.3f} in one go: {apart / least:.0f} times")


def small_window() -> None:
    """One query over 1,000 events that are new, in milliseconds."""
    workload = catalogue.vessels(events=40_000, vessels=500)
    first, last = first_and_last(workload.rows())
    took = [seconds for seconds, _ in _queries(workload, (last - first) // 40 + 1)]
    rules = sum(line.startswith(("initiatedAt", "terminatedAt", "holdsFor")) for line in workload.source().splitlines())
    median, best = 1000 * statistics.median(took), 1000 * min(took)
    print(f"1,000 events, {rules} rules: {median:.1f} ms (median of {len(took)}; best {best:.1f})")


APART = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(status)
"""
"""A small process between this one and one that is measured: to Linux, the peak of a process is at least what the one
that started it held, and ours is large once anything has been measured."""


def _apart(command: Sequence[str]) -> list[str]:
    """What a command prints; its CPU seconds and its peak in KiB are in the last line."""
    done = subprocess.run([sys.executable, "-c", APART, *command], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def _by_itself(name: str, events: int, window: int) -> None:
    """A run in a process of its own, so that the peak of its memory is that of nothing else."""
    command = [sys.executable, __file__, "--only", name, "--events", str(window), "--long", str(events)]
    print(*_apart(command)[:-1], sep="\n")


def memory(events: int, window: int = 1_000_000) -> None:
    """One window's events again and again, later each time; the peak of the process, in a process of its own."""
    _by_itself("stream", events, window)


def written(events: int, window: int = 1_000_000) -> None:
    """The same stream in Parquet files, read and its tables written by `thalweg run`; the peak of that process."""
    workload = catalogue.vessels(events=window)
    first, last = first_and_last(workload.rows())
    step, rounds = last - first + 1, -(-events // window)
    with tempfile.TemporaryDirectory() as folder:
        rules, source = Path(folder) / "rules.ec", Path(folder) / "in"
        rules.write_text(workload.source(), encoding="utf-8")
        write_repeated(workload.stream, source, rounds, step)
        command = [sys.executable, "-c", MAIN, "run", str(rules), "--input", str(source), "--out", f"{folder}/out"]
        command += ["--window", str(step), "--step", str(step), "--start", str(first - 1), "--quiet"]
        seconds, peak = map(float, _apart(command)[-1].split())
        size = sum(path.stat().st_size for path in (Path(folder) / "out").iterdir())
    print(
        f"{rounds * window:,} events in windows of {window:,}, files to files: peak {peak / MIB:,.0f} MiB, "
        f"{rounds * window / seconds:,.0f} events/s, {size / 2**20:,.0f} MiB written"
    )


def stream(events: int, window: int) -> None:
    """The run that `memory` looks at: batches of a quarter of a window."""
    workload = catalogue.vessels(events=window)
    rows = workload.rows()
    first, last = first_and_last(rows)
    step = last - first + 1
    reasoner = Reasoner(thalweg.parse(workload.source()), window=step, step=step, start=first - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, changes, rounds = time.process_time(), 0, -(-events // window)
    for k in range(rounds):
        for batch in _quarters(rows, first, step, k * step):
            reasoner.accept(batch)
        changes += reasoner.advance(first - 1 + (k + 1) * step)["changes"].num_rows
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{rounds * window:,} events in windows of {window:,}: peak {peak // MIB:,} MiB (input alone "
        f"{before // MIB:,} MiB), {rounds * window / seconds:,.0f} events/s, {changes:,} changes"
    )


SESSIONS = """
initiatedAt(session(S)=open, T) :- happensAt(login(S), T).
terminatedAt(session(S)=open, T) :- happensAt(logout(S), T).
initiatedAt(paid(S)=true, T) :- happensAt(pay(S), T), holdsAt(session(S)=open, T).
terminatedAt(paid(S)=true, T) :- happensAt(logout(S), T).
"""


def keys(events: int, window: int = 100_000) -> None:
    """Ever new texts: sessions that begin, pay and end; the peak of a process of its own, and its snapshots."""
    _by_itself("sessions", events, window)


def sessions(events: int, window: int) -> None:
    """The run that `keys` looks at: steps of half a window, three events for each session."""
    step = window // 6
    reasoner = Reasoner(thalweg.parse(SESSIONS), window=2 * step, step=step)
    rounds = 5 * max(1, -(-events // (5 * 3 * step)))
    peaks, sizes, started = [], [], time.process_time()
    for k in range(rounds):
        names = pc.binary_join_element_wise("session ", pc.cast(pa.array(np.arange(step) + k * step), pa.string()), "")
        times = np.arange(step) + k * step + 1
        batch = [
            Rows(name, np.ones(step, np.int8), times + later, times + later, np.arange(step), (names,))
            for name, later in (("login", 0), ("pay", step // 8), ("logout", step // 4))
        ]
        reasoner.accept(batch)
        reasoner.advance((k + 1) * step)
        if (k + 1) % (rounds // 5) == 0:
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            sizes.append(len(reasoner.snapshot()))
    seconds = time.process_time() - started
    print(
        f"{rounds * 3 * step:,} events of {rounds * step:,} sessions in windows of {6 * step:,}: peak "
        f"{peaks[0] // MIB:,} MiB after a fifth, {peaks[-1] // MIB:,} at the end; snapshot "
        f"{sizes[0] / 2**20:.1f} MiB and {sizes[-1] / 2**20:.1f}; {rounds * 3 * step / seconds:,.0f} events/s"
    )


def _quarters(rows: list[Rows], first: int, step: int, later: int) -> Iterator[list[Rows]]:
    for quarter in range(4):
        low, high = first + quarter * step // 4, first + (quarter + 1) * step // 4
        batch = []
        for part in rows:
            at = slice(*np.searchsorted(part.time, [low, high]).tolist())
            if at.stop > at.start:
                times = part.time[at] + later
                args = tuple(column.slice(at.start, at.stop - at.start) for column in part.args)
                batch.append(replace(part, op=part.op[at], time=times, arrival=times, row=part.row[at], args=args))
        yield batch


def start_up() -> None:
    """The whole command on ten events, best of three, its modules compiled as those of an installed package are."""
    with tempfile.TemporaryDirectory() as folder:
        rules, events = Path(folder) / "rules.ec", Path(folder) / "events.csv"
        rules.write_text("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\n", encoding="utf-8")
        events.write_text("".join(f"press|{t}|{t}|lamp{t}\n" for t in range(1, 11)), encoding="utf-8")
        command = [sys.executable, "-c", MAIN, "run", str(rules), "--input", str(events)]
        command += ["--window", "5", "--step", "5", "--quiet"]
        surroundings = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
        surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run(command, check=True, capture_output=True, env=surroundings)
        took = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True, env=surroundings)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"thalweg run on ten events: {min(took):.2f} CPU seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--long", type=int, default=10_000_000, help="events of the memory run")
    parts = ("columns", "parquet", "growth", "window", "sparse", "memory", "keys", "written", "start")
    parser.add_argument("--only", nargs="*", default=parts)
    options = parser.parse_args()
    runs = {"stream": stream, "sessions": sessions}
    if len(options.only) == 1 and options.only[0] in runs:
        runs[options.only[0]](options.long, options.events)
        return
    measures: dict[str, tuple[Callable[..., None], tuple[int, ...]]] = {
        "columns": (columns, (options.events,)),
        "parquet": (parquet, (options.events,)),
        "growth": (growth, (options.events,)),
        "window": (small_window, ()),
        "sparse": (sparse, ()),
        "memory": (memory, (options.long,)),
        "keys": (keys, (options.long,)),
        "written": (written, (options.long,)),
        "start": (start_up, ()),
    }
    warm()
    for name in options.only:
        measure, given = measures[name]
        print(f"\n{name}: {(measure.__doc__ or '').strip()}\n")
        measure(*given)


if __name__ == "__main__":
    main()
