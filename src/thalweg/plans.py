"""What is to be run: a program, its input, the options, and what follows from them before the first row is reasoned
about: query times, the clock of the input, and how to make the reasoner.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from thalweg.analysis.checker import refuse_errors
from thalweg.analysis.farthest import farthest
from thalweg.analysis.requests import LONGEST, MOST_QUERIES
from thalweg.io.errors import InputError
from thalweg.io.feed import Feed
from thalweg.io.open import open_sources
from thalweg.io.shapes import shapes
from thalweg.io.sources import Reading
from thalweg.io.times import Clock, Duration, Point, plain, split_duration
from thalweg.language.diagnostics import ProgramError
from thalweg.language.parser import load, parse
from thalweg.language.program import Program
from thalweg.language.rules import Kind, Query
from thalweg.protocol import Reasoner


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


class Maker(Protocol):
    """Makes the reasoner of a run; one that is to be handed over to a changed program retains what that needs."""

    def __call__(self, *, retain: bool = False) -> Reasoner: ...



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

    def __post_init__(self) -> None:
        _refuse_beyond(self.start)

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

    def believed(self, now: int, to: int) -> int:
        """The query time to go to; the present one where there are more between them than anybody would wait for."""
        return now if (to - now) // self.step > MOST_QUERIES else to

    def refuse_too_many(self, now: int, to: int, advice: str) -> None:
        """Raise an error where there are more query times between two than anybody would wait for, or none so late."""
        if self.believed(now, to) != to:
            what = "the end" if self.end is not None and to >= self.end else "the next row"
            message = f"there are more than {MOST_QUERIES:,} query times between {now} and {what}, at {to}"
            raise InputError("step", message, advice)
        _refuse_beyond(to)


def _refuse_beyond(query_time: int) -> None:
    """Raise an error where a step is so long that the query time next to a row is no time."""
    if abs(query_time) > LONGEST:
        message = f"with this step there is a query time at {query_time}, beyond 2**62"
        raise InputError("step", message, "choose a smaller step")


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
    inputs: tuple[str, ...] = ()
    """The names that the rules read and do not compute."""

    @property
    def empty(self) -> bool:
        """No row has a time, so there is no query time either."""
        return self.feed.first is None and self.schedule.end is None

    @property
    def reach(self) -> int | None:
        """How far before a query time what was said may still be revised later; None: for ever."""
        return None if self.window is None else max(0, self.window - self.schedule.step)


def prepare(program: Program, events: Any, options: Options) -> Plan:
    """Check the request, open the sources, choose the reasoner."""
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
    step = durations["step"] or 1
    start = None if options.start is None else clock.point(options.start, "start", step)
    end = None if options.end is None else clock.point(options.end, "end")
    if start is not None and end is not None and end <= start:
        raise InputError("end", f"end {options.end} is not after start {options.start}")
    _check(program, options, durations)
    expected = shapes(program)
    feed = Feed(open_sources(events, Reading(expected, clock)))
    first = feed.first if feed.first is not None else 0
    begin = start if start is not None else first_query(program.kind, first, step)
    schedule = Schedule(begin, step, end)
    make = _maker(program, options, durations, schedule, spacing)
    window, names = durations["window"], expected.inputs
    return Plan(program, clock, feed, schedule, spacing, window, make, options.on_error, began, names)


def first_query(kind: Kind, first: int, step: int) -> int:
    """Where a stream without an explicit start starts. Timelines of open answers and LARS begin at 0 (or with an
    earlier row) unless that is very long ago, as for dates; then they begin with the first row."""
    begin = (first - 1) // step * step
    return begin if kind is Kind.EVENTS or first >= MOST_QUERIES else min(begin, -1)


def _ticks(program: Program, tick: Duration | None) -> tuple[int, Clock]:
    """The distance of points, and how long a time-point lasts."""
    limit = farthest(program)
    declared = Clock.of_seconds(program.tick_seconds, limit)
    if tick is None:
        return 1, declared
    number, unit = split_duration(tick, "tick")
    if unit is not None:
        clock = Clock.of_seconds(number * unit, limit)
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
        hint = (
            "such as --window 4h --step 30m (in Python window='4h', step='30m'): "
            "there is a query every half hour, and each looks back four hours"
        )
        raise InputError("window", "an event description runs with a window and a step", hint)
    if window < step and not options.allow_gaps:
        raise InputError(
            "window",
            f"window {options.window} is smaller than step {options.step}: rows would fall between windows",
            "make it at least as long as the step, or allow gaps if that is meant (--allow-gaps)",
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
