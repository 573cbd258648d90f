"""Running a program over stored input: read, reason, collect.

The driver hands chunks of rows to a reasoner and moves its clock to the largest query time that no row to
come can touch. What the reasoner says goes to a sink: tables in memory (`run`, the Python face) or files (the
command line).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.checker import refuse_errors
from thalweg.io.assemble import filtered
from thalweg.io.errors import InputError
from thalweg.io.feed import NEVER, Feed
from thalweg.io.fold import concatenate
from thalweg.io.open import open_sources
from thalweg.io.rejects import REJECTED
from thalweg.io.shapes import shapes
from thalweg.io.sinks import Memory
from thalweg.io.sources import Reading
from thalweg.io.times import Clock, Duration, Point, plain, split_duration
from thalweg.language.diagnostics import ProgramError
from thalweg.language.parser import load, parse
from thalweg.language.program import Program
from thalweg.language.rules import Kind, Query
from thalweg.protocol import Ints, Reasoner, Rows
from thalweg.result import Origin, Result, Summary, kind_of


@dataclass(frozen=True, slots=True)
class Options:
    """How to run. Durations are numbers of time-points, texts with a unit (``"10m"``) or timedeltas, times are
    integers, ISO dates, dates or datetimes. `tick` is the distance of the points of an input fluent (a number), or how
    long a time-point lasts (with a unit, for input with dates). Kept are numbers and texts, which can be written down.
    """

    window: Duration | None = None
    step: Duration | None = None
    start: Point | None = None
    end: Point | None = None
    tick: Duration | None = None
    lateness: Duration | None = None
    horizon: Duration | None = None
    models: int | str | None = None
    query: str | None = None
    recompute: bool = False
    allow_gaps: bool = False
    on_error: str = "reject"
    labels: bool = False

    def __post_init__(self) -> None:
        for name in ("window", "step", "start", "end", "tick", "lateness", "horizon"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, plain(given))

    @classmethod
    def among(cls, given: Mapping[str, Any]) -> Options:
        """The options among the arguments of a function, which has all of them under their names."""
        return cls(**{option.name: given[option.name] for option in fields(cls)})


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    rows: int
    of: int
    query_time: int | None
    seconds: float


class Maker(Protocol):
    """Makes the reasoner of a run; one that is to be handed over to a changed program retains what that needs."""

    def __call__(self, *, retain: bool = False) -> Reasoner: ...


class Sink(Protocol):
    """Where the tables of a run go."""

    def add(self, name: str, table: pa.Table) -> None:
        """Rows of one of the tables."""

    def settle(self, before: int) -> None:
        """What lies at or before this time is final."""


TOO_MANY = 10_000_000
"""Query times without a row between them: more than anybody can mean."""
MANY_ROWS = 500_000
"""Rows of tables that are better handed on than kept while the next ones are made."""


class RowRejected(InputError):
    """A bad row, where the run was told to stop at the first."""


# --------------------------------------------------------------------------- programs


def as_program(program: Program | str | Path, background: Sequence[str | Path] | str | Path = ()) -> Program:
    """The program behind a path, a text or a Program, with background knowledge from paths or texts. An event
    description that the checker refuses is refused here; the other kinds when they are run, with their query."""
    background = [background] if isinstance(background, str | Path) else background
    for given in (program, *background):
        if not isinstance(given, Program | str | Path):
            hint = "give the path or the text of the rules, or what thalweg.load gives"
            raise InputError("program", f"cannot read rules from {type(given).__name__}", hint)
    program = _read(program, background)
    if program.kind is Kind.EVENTS:
        refuse_errors(program)
    return program


def _read(program: Program | str | Path, background: Sequence[str | Path]) -> Program:
    if isinstance(program, Path) or (isinstance(program, str) and not _is_text(program)):
        paths = [item for item in background if not _is_text(item)]
        for path in (program, *paths):
            if not Path(path).is_file():
                if Path(path).is_dir():
                    raise InputError("program", f"{path} is a directory, not a file of rules")
                raise InputError("program", f"there is no file {path}")
        program = load(program, *paths)
        background = [item for item in background if _is_text(item)]
    elif isinstance(program, str):
        program = parse(program)
    for item in background:
        more = _read(item, ())
        program = Program(
            program.kind, program.statements + more.statements, {**program.sources, **more.sources}
        )
    return program


def _is_text(given: str | Path) -> bool:
    """A rule text, as opposed to a path: it ends with a full stop, or has more than one line."""
    return isinstance(given, str) and ("\n" in given or given.rstrip().endswith("."))


def with_query(program: Program, query: str | None) -> Program:
    """The program with this query instead of its own."""
    if query is None:
        return program
    if program.kind is not Kind.ANSWERS:
        raise InputError("query", f"a program of kind {program.kind} has no queries")
    try:
        asked = parse(f"query {query.strip().rstrip('.')}.", "the query")
    except ProgramError as error:
        raise InputError("query", f"cannot read the query {query}", str(error)) from error
    kept = tuple(s for s in program.statements if not isinstance(s, Query))
    wanted = tuple(s for s in asked.statements if isinstance(s, Query))
    return Program(program.kind, kept + wanted, {**program.sources, **asked.sources})


# --------------------------------------------------------------------------- clocks


@dataclass(frozen=True, slots=True)
class Schedule:
    """The query times: `start` + `step`, `start` + 2 `step`, ..., up to the first at or after `end`."""

    start: int
    step: int
    end: int | None

    def at_or_before(self, moment: int) -> int:
        """The last query time not after the moment (`start` where there is none)."""
        last = self.start + (moment - self.start) // self.step * self.step
        return last if self.end is None else min(last, self.at_or_after(self.end))

    def at_or_after(self, moment: int) -> int:
        """The first query time not before the moment."""
        return self.start + max(1, -((self.start - moment) // self.step)) * self.step

    def count(self, until: int) -> int:
        """How many query times there are up to this one."""
        return max(0, (until - self.start) // self.step)

    def refuse_too_many(self, now: int, to: int, advice: str) -> None:
        """Raise an error where there are more query times between two than anybody would wait for."""
        if (to - now) // self.step > TOO_MANY:
            what = "the end" if self.end is not None and to >= self.end else "the next row"
            message = f"there are more than {TOO_MANY:,} query times between {now} and {what}, at {to}"
            raise InputError("step", message, advice)


@dataclass(frozen=True, slots=True)
class Plan:
    """A run made ready: everything checked, nothing read but the survey."""

    program: Program
    clock: Clock
    feed: Feed
    schedule: Schedule
    spacing: int
    window: int | None
    make: Maker
    on_error: str
    began: float

    @property
    def empty(self) -> bool:
        """No row has a time, so there is no query time either."""
        return self.feed.first is None and self.schedule.end is None


def prepare(program: Program, events: Any, options: Options) -> Plan:
    """Check the request, open the sources, choose the reasoner. Timelines of open answers and LARS begin at 0 (or with
    an earlier row) unless that is very long ago, as for dates; then they begin with the first row."""
    began = time.perf_counter()
    program = with_query(program, options.query)
    refuse_errors(program)
    if options.on_error not in ("reject", "stop"):
        raise InputError("on-error", f"on-error {options.on_error} is neither reject nor stop")
    spacing, clock = _ticks(program, options.tick)
    durations = {
        name: None if given is None else clock.duration(given, name)
        for name, given in (
            ("window", options.window),
            ("step", options.step),
            ("lateness", options.lateness),
            ("horizon", options.horizon),
        )
    }
    start = None if options.start is None else clock.point(options.start, "start")
    end = None if options.end is None else clock.point(options.end, "end")
    if start is not None and end is not None and end <= start:
        raise InputError("end", f"end {options.end} is not after start {options.start}")
    _check(program, options, durations)
    feed = Feed(open_sources(events, Reading(shapes(program), clock)))
    step = durations["step"] or 1
    first = feed.first if feed.first is not None else 0
    begin = start if start is not None else (first - 1) // step * step
    if start is None and program.kind is not Kind.EVENTS:
        begin = min(begin, -1) if first < TOO_MANY else begin
    schedule = Schedule(begin, step, end)
    make = _maker(program, options, durations, schedule, spacing)
    return Plan(program, clock, feed, schedule, spacing, durations["window"], make, options.on_error, began)


def _ticks(program: Program, tick: Duration | None) -> tuple[int, Clock]:
    """The distance of points, and how long a time-point lasts."""
    declared = Clock.of_seconds(program.tick_seconds)
    if tick is None:
        return 1, declared
    number, unit = split_duration(tick, "tick")
    if unit is not None:
        clock = Clock.of_seconds(number * unit)
        if program.tick_seconds is not None and clock != declared:
            seconds = f"{declared.micros / 1e6:g} s"
            raise InputError(
                "tick",
                f"tick {tick} is not the one that the program declares, of {seconds}",
                "the durations in its rules are counted in that one: leave out the option, or change the rules",
            )
        return 1, clock
    if number <= 0 or number.denominator != 1:
        raise InputError("tick", f"tick {tick} is not a positive number of time-points")
    if program.kind is not Kind.EVENTS and number != 1:
        hint = "a length has a unit: 1s"
        raise InputError("tick", f"a distance of points has no meaning for a program of kind {program.kind}", hint)
    return int(number), declared


def spacing_of(program: Program, tick: Duration | None) -> int:
    """The distance of the points of a run."""
    return _ticks(program, tick)[0]


def clock_of(program: Program, tick: Duration | None) -> Clock:
    """How long a time-point of a run lasts."""
    return _ticks(program, tick)[1]


def _check(program: Program, options: Options, durations: dict[str, int | None]) -> None:
    window, step = durations["window"], durations["step"]
    for name, value in durations.items():
        if value is not None and (value < 0 or (value == 0 and name in ("window", "step"))):
            raise InputError(name, f"{name} {getattr(options, name)} is not positive")
    allowed = {
        Kind.EVENTS: {"window", "step", "recompute", "allow_gaps"},
        Kind.ANSWERS: {"lateness", "horizon", "query"},
        Kind.LARS: {"lateness", "models", "labels"},
    }
    for name in sorted(set().union(*allowed.values()) - allowed[program.kind]):
        if getattr(options, name):
            raise InputError(
                name, f"{name.replace('_', '-')} has no meaning for a program of kind {program.kind}"
            )
    if program.kind is not Kind.EVENTS:
        return
    if window is None or step is None:
        hint = "such as 4h and 30m: each query looks back so far, and there is one every so often"
        raise InputError("window", "an event description runs with a window and a step", hint)
    if window < step and not options.allow_gaps:
        raise InputError(
            "window",
            f"window {options.window} is smaller than step {options.step}: rows would fall between windows",
            "allow gaps if that is meant (--allow-gaps)",
        )


def _maker(
    program: Program, options: Options, durations: dict[str, int | None], schedule: Schedule, spacing: int
) -> Maker:
    """How to make the reasoner of the program's kind."""

    def make(*, retain: bool = False) -> Reasoner:
        match program.kind:
            case Kind.EVENTS:
                return _events(program, options, durations, schedule, spacing)
            case Kind.ANSWERS:
                return _answers(program, durations, schedule, retain)
            case Kind.LARS:
                return _lars(program, options, durations, schedule, retain)

    return make


def _events(
    program: Program, options: Options, durations: dict[str, int | None], schedule: Schedule, spacing: int
) -> Reasoner:
    from thalweg.events.reasoner import Reasoner as EventReasoner

    window, step = durations["window"], durations["step"]
    assert window is not None and step is not None
    reasoner: Reasoner = EventReasoner(
        program,
        window=window,
        step=step,
        start=schedule.start,
        tick=spacing,
        recompute=options.recompute,
        allow_gaps=options.allow_gaps,
    )
    return reasoner


def _answers(
    program: Program, durations: dict[str, int | None], schedule: Schedule, retain: bool
) -> Reasoner:
    from thalweg.answers.reasoner import Reasoner as AnswerReasoner

    lateness, horizon = durations["lateness"] or 0, durations["horizon"]
    reasoner: Reasoner = AnswerReasoner(
        program, lateness, horizon=horizon, start=schedule.start + 1, retain=retain
    )
    return reasoner


def _lars(
    program: Program, options: Options, durations: dict[str, int | None], schedule: Schedule, retain: bool
) -> Reasoner:
    from thalweg.lars.reasoner import Reasoner as LarsReasoner

    lateness = durations["lateness"] or 0
    reasoner: Reasoner = LarsReasoner(
        program,
        lateness=lateness,
        models=_models(options.models),
        start=schedule.start + 1,
        labels=options.labels,
        retain=retain,
    )
    return reasoner


def _models(given: int | str | None) -> int:
    """How many answer streams are wanted; 0 for all."""
    if given is None or given == "all":
        return 1 if given is None else 0
    try:
        number = int(given)
    except ValueError:
        number = 0
    if number < 1:
        raise InputError("models", f"models {given} is neither a positive number nor all")
    return number


# --------------------------------------------------------------------------- driving


@dataclass(slots=True)
class _Count:
    """What a run has seen so far."""

    places: int = 0
    rows: int = 0
    accepted: int = 0
    dropped: int = 0
    stopped: bool = False
    latest: int | None = None
    query_time: int | None = None
    rejected: Counter[str] = field(default_factory=Counter)
    stride: int = 1
    """How many query times are run in one go."""
    ahead: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """The times of rows that have arrived and may not be due at the last query time."""

    def await_rows(self, rows: Sequence[Rows]) -> None:
        """Note the rows that arrive before their time."""
        found = [part.time[(part.time > part.arrival) & (part.op > 0)] for part in rows]
        self.ahead = np.concatenate([self.ahead, *found])
        if self.query_time is not None:
            self.ahead = self.ahead[self.ahead > self.query_time]

    def waiting(self) -> int:
        """How many rows are about times after the last query time."""
        return 0 if self.query_time is None else int((self.ahead > self.query_time).sum())

    def found(self, rows: int) -> None:
        """So many rows came of the last query times: few are cheaper together, many one query time after the other."""
        if rows > MANY_ROWS:
            self.stride = max(1, self.stride // 2)
        elif rows < MANY_ROWS // 2:
            self.stride = min(2 * self.stride, TOO_MANY)


def drive(plan: Plan, sink: Sink, progress: Callable[[Progress], None] | None = None) -> Summary:
    """Run to the end of the input (or to the plan's end); everything found goes to the sink."""
    began = plan.began
    reasoner = plan.make()
    count = _Count()
    for chunk, next_arrival in plan.feed:
        count.places += chunk.size
        count.rows += chunk.rejected.num_rows + sum(map(len, chunk.rows))
        _stop_at_the_first(plan, chunk.rejected)
        _reject(sink, chunk.rejected, count)
        rows = up_to(chunk.rows, plan.schedule.end)
        if plan.program.kind is Kind.EVENTS:
            count.await_rows(rows)
        count.dropped += sum(map(len, chunk.rows)) - sum(map(len, rows))
        if rows:
            reasoner.accept(rows)
            count.accepted += sum(map(len, rows))
            latest = max(int(part.arrival.max()) for part in rows)
            count.latest = latest if count.latest is None else max(latest, count.latest)
        if next_arrival != NEVER:
            _advance(plan, reasoner, sink, plan.schedule.at_or_before(next_arrival - 1), count)
        if progress is not None:
            progress(Progress(count.places, plan.feed.size, count.query_time, time.perf_counter() - began))
        if plan.schedule.end is not None and next_arrival > plan.schedule.end:
            count.stopped = next_arrival != NEVER
            break
    last = plan.schedule.end if plan.schedule.end is not None else count.latest
    if last is not None:
        _advance(plan, reasoner, sink, plan.schedule.at_or_after(last), count)
    return _summary(plan, count, time.perf_counter() - began)


def up_to(rows: Sequence[Rows], end: int | None) -> list[Rows]:
    """The rows that arrive no later than the end."""
    if end is None or all(int(part.arrival.max()) <= end for part in rows):
        return list(rows)
    return [kept for part in rows if (kept := filtered(part, part.arrival <= end)) is not None]


def _advance(plan: Plan, reasoner: Reasoner, sink: Sink, to: int, count: _Count) -> None:
    now = plan.schedule.start if count.query_time is None else count.query_time
    if to <= now:
        return
    advice = "is that time right? choose --start and --end, or a larger step"
    plan.schedule.refuse_too_many(now, to, advice)
    while now < to:
        now = min(to, now + count.stride * plan.schedule.step) if plan.program.kind is Kind.EVENTS else to
        revision = reasoner.advance(now)
        count.query_time = now
        for name, table in revision.tables.items():
            if name == "rejected":
                _reject(sink, plan.feed.rejected(table), count)
            else:
                sink.add(name, plan.feed.with_causes(table))
        if plan.window is not None:  # the next query revises what lies in its own window
            sink.settle(min(now, now + plan.schedule.step - plan.window))
        count.found(sum(table.num_rows for table in revision.tables.values()))


def _stop_at_the_first(plan: Plan, rejected: pa.Table) -> None:
    """Where the run was told so, a row that cannot be read ends it; late rows are no such rows."""
    if plan.on_error == "stop" and rejected.num_rows:
        first = rejected.slice(0, 1).to_pylist()[0]
        place = f"{first['source']}:{first['row']}"
        raise RowRejected(first["reason"], f"{place}: {first['detail']}", f"the row is: {first['text']}")


def _reject(sink: Sink, rejected: pa.Table, count: _Count) -> None:
    if not rejected.num_rows:
        return
    for found in pc.value_counts(rejected.column("reason")).to_pylist():
        count.rejected[found["values"]] += found["counts"]
    sink.add("rejected", rejected)


def _summary(plan: Plan, count: _Count, seconds: float) -> Summary:
    unread = count.dropped + (plan.feed.size - count.places if count.stopped else 0)
    times = 0 if count.query_time is None else plan.schedule.count(count.query_time)
    return Summary(
        kind=plan.program.kind,
        sources=tuple(source.label for source in plan.feed.sources),
        rows=count.rows,
        accepted=count.accepted,
        rejected=dict(count.rejected),
        unread=unread,
        waiting=count.waiting(),
        query_times=times,
        first_query_time=plan.schedule.start + plan.schedule.step if times else None,
        last_query_time=count.query_time,
        seconds=seconds,
    )


def rows(
    program: Program | str | Path, events: Any, *, tick: Duration | None = None, first: int = 1
) -> tuple[list[Rows], pa.Table]:
    """Events as a reasoner's `accept` takes them, and the table of those that were rejected.

    For online use: events are anything that `run` takes, and their rows are numbered from `first` on.

    >>> program = as_program("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).")
    >>> batch, rejected = rows(program, [{"name": "press", "time": 3, "x": "lamp"}])
    >>> batch[0].name, batch[0].time.tolist(), rejected.num_rows
    ('press', [3], 0)
    """
    program = as_program(program)
    _, clock = _ticks(program, tick)
    found: list[Rows] = []
    rejected = [REJECTED.empty_table()]
    offset = first - 1
    for source in open_sources(events, Reading(shapes(program), clock)):
        for chunk in source.chunks(offset):
            found += chunk.rows
            rejected.append(chunk.rejected)
            offset += chunk.size
    return found, concatenate(rejected)


def run(
    program: Program | str | Path,
    events: Any,
    *,
    window: Duration | None = None,
    step: Duration | None = None,
    start: Point | None = None,
    end: Point | None = None,
    tick: Duration | None = None,
    background: Sequence[str | Path] | str | Path = (),
    lateness: Duration | None = None,
    horizon: Duration | None = None,
    models: int | str | None = None,
    query: str | None = None,
    recompute: bool = False,
    allow_gaps: bool = False,
    on_error: str = "reject",
    labels: bool = False,
) -> Result:
    """Run a program over events and return what it found.

    The program is a `Program`, a path or a text. Events are a path, directory or glob, a table (pandas,
    Polars, Arrow, a DuckDB relation, anything with the Arrow C stream interface), a list of rows as dictionaries, a
    mapping from event names to such tables or paths, or a sequence of these. Tables come back in the kind they were
    given.

    An event description needs a window and a step; the other kinds of program may have a lateness.
    """
    options = Options.among(locals())
    plan = prepare(as_program(program, background), events, options)
    memory = Memory(plan.program.kind)
    summary = drive(plan, memory)
    return Result(plan.program, memory.tables(), summary, kind_of(events), Origin(events, options))
