"""Golden directories: a program, a stream and the results expected at every query time.

A case is a directory with `rules.ec`, `background.ec`, `events.csv` and `case.json` (the runs: window, step,
start, end, tick), and `expected/<run>.tsv` with columns `query_time, kind, entity, start, end`; `kind` is
interval (half-open, empty end: still running) or event. Results are compared inside the window,
`[q-window+1, q+1)`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from thalweg import parse
from thalweg.language.program import Program
from thalweg.reference.description import Description
from thalweg.reference.events import Row, Timeline
from thalweg.reference.intervals import Interval, clip, maximal
from thalweg.reference.terms import constant
from thalweg.testing.comparison import written


@dataclass(frozen=True)
class Run:
    """One way to run a case."""

    name: str
    window: int
    step: int
    start: int
    end: int
    tick: int = 1

    @property
    def query_times(self) -> range:
        last = self.start - self.step * ((self.start - self.end) // self.step)
        return range(self.start + self.step, last + 1, self.step)


@dataclass(frozen=True)
class Case:
    """A golden directory. `ours` may hold expected files of our own, for runs in which we differ on purpose."""

    path: Path
    ours: Path | None = None

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def about(self) -> dict[str, object]:
        return dict(json.loads((self.path / "case.json").read_text()))

    @property
    def runs(self) -> list[Run]:
        fields = ("window", "step", "start", "end", "tick")
        runs = json.loads((self.path / "case.json").read_text())["runs"]
        return [Run(run["run"], *(run[name] for name in fields)) for run in runs]

    def program(self) -> Program:
        texts = [(self.path / name).read_text() for name in ("rules.ec", "background.ec")]
        return parse("\n".join(texts))

    def rows(self) -> list[Row]:
        lines = (self.path / "events.csv").read_text().splitlines()
        return [*pipe_rows(lines, Description(self.program()))]

    def expected(self, run: Run) -> dict[int, Expected]:
        """What is expected at each query time: our own file where there is one."""
        own = self.ours / self.name / f"{run.name}.tsv" if self.ours else None
        path = own if own is not None and own.exists() else self.path / "expected" / f"{run.name}.tsv"
        return read_expected(path.read_text().splitlines(), run.query_times)


def load_cases(directory: Path, ours: Path | None = None) -> list[Case]:
    """Every case in the directory, by name."""
    return [Case(path.parent, ours) for path in sorted(directory.glob("*/case.json"))]


def pipe_rows(lines: Iterable[str], description: Description) -> Iterator[Row]:
    """RTEC-style rows: `name|arrival|occurrence|arguments`, for input fluents with end and value."""
    points = {name for name, _ in description.points}
    fluents = {name for name, _ in description.input_fluents}
    for number, line in enumerate(lines, start=1):
        name, arrival, time, *rest = (field.strip() for field in line.split("|"))
        at = {"name": name, "arrival": int(arrival), "time": int(time), "number": number}
        if name in points:
            yield _row(at, rest[1:], shape="point", value=constant(rest[0]))
        elif name in fluents:
            yield _row(at, rest[2:], shape="interval", value=constant(rest[1]), end=int(rest[0]))
        else:
            yield _row(at, rest)


def _row(at: dict[str, object], args: list[str], **more: object) -> Row:
    return Row(**at, args=tuple(map(constant, args)), **more)  # type: ignore[arg-type]


# --------------------------------------------------------------------------- expected and found


@dataclass
class Expected:
    """Intervals by entity (`status(m)=voted`), derived events by time."""

    intervals: dict[str, list[Interval]] = field(default_factory=dict)
    events: set[tuple[str, int]] = field(default_factory=set)

    def inside(self, start: int, end: int) -> Expected:
        """What lies in `[start, end)`."""
        clipped = {name: clip(maximal(found), start, end) for name, found in self.intervals.items()}
        events = {(name, time) for name, time in self.events if start <= time < end}
        return Expected({name: found for name, found in clipped.items() if found}, events)


def read_expected(lines: Sequence[str], query_times: Iterable[int]) -> dict[int, Expected]:
    """The rows of an expected file; lines that begin with `#` are remarks."""
    result = {q: Expected() for q in query_times}
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    for row in rows:
        found = result[int(row["query_time"])]
        if row["kind"] == "event":
            found.events.add((row["entity"], int(row["start"])))
        else:
            end = int(row["end"]) if row["end"] else None
            found.intervals.setdefault(row["entity"], []).append((int(row["start"]), end))
    return result


class QueryResult(Protocol):
    """What a case needs to know about an engine's answer at a query time."""

    @property
    def query_time(self) -> int: ...

    @property
    def timeline(self) -> Timeline: ...

    @property
    def events(self) -> Iterable[tuple[str, int]]: ...


class Engine(Protocol):
    """Runs a program over rows and answers at every query time. Rows that arrive after `end` take no part."""

    def __call__(
        self,
        program: Program,
        rows: Sequence[Row],
        *,
        window: int,
        step: int,
        start: int,
        end: int,
        tick: int,
        allow_gaps: bool,
    ) -> Sequence[QueryResult]: ...


def run_case(case: Case, run: Run, engine: Engine) -> None:
    """Fails with a readable difference where the engine's answers are not the expected ones."""
    answers = engine(
        case.program(),
        case.rows(),
        window=run.window,
        step=run.step,
        start=run.start,
        end=run.end,
        tick=run.tick,
        allow_gaps=run.window < run.step,
    )
    expected = case.expected(run)
    assert [a.query_time for a in answers] == [*run.query_times], "query times differ"
    for answer in answers:
        q = answer.query_time
        inside = (max(run.start, q - run.window + 1), q + 1)
        found = Expected({f"{f}={v}": i for (f, v), i in answer.timeline.items()}, set(answer.events))
        difference = describe(expected[q].inside(*inside), found.inside(*inside))
        assert not difference, f"{case.name}, run {run.name}, query time {q}, inside {inside}:\n{difference}"


def describe(expected: Expected, found: Expected) -> str:
    """One line per entity that differs; empty when nothing does."""
    lines = []
    for name in sorted(expected.intervals.keys() | found.intervals.keys()):
        want, got = expected.intervals.get(name, []), found.intervals.get(name, [])
        if want != got:
            lines.append(f"  {name}: expected {written(want)}, found {written(got)}")
    for name, time in sorted(expected.events - found.events):
        lines.append(f"  {name} at {time}: expected, not found")
    for name, time in sorted(found.events - expected.events):
        lines.append(f"  {name} at {time}: found, not expected")
    return "\n".join(lines)
