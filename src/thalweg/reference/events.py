"""The Event Calculus by time-stepping: SEMANTICS 1.1 to 1.5, no windows, no cleverness.

At each time-point `T`, in this order:

1. who is new: constants and instances that the input shows for the first time; `initially` reaches them just
   before `T`;
2. the state at `T`: values of simple fluents, input intervals, interval expressions over them;
3. what happens at `T`: derived events, initiations, terminations, delayed effects that are due, start and end of
   intervals. All bodies read the state at `T`; what they read of each other is computed on demand, and a circle among
   them is an error;
4. the state at `T+1`, by inertia (1.1), and the countdowns that go on (1.5).

Time-points at which nothing can happen are skipped. Rules that look at whole intervals (durations, Allen relations)
need the future of a point: the whole run is repeated until their results stay the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from thalweg.language.program import Program
from thalweg.reference.description import Description
from thalweg.reference.intervals import Interval, Intervals, clip, maximal
from thalweg.reference.moment import Moment
from thalweg.reference.snapshot import Judged, Snapshot, Whole
from thalweg.reference.state import Countdown, Domains, Input, Pair, State, Stretch, settled, shown
from thalweg.reference.terms import Ground, signature, text

Timeline = Mapping[tuple[str, str], Intervals]
"""Fluent and value as text, to their maximal intervals; a running one is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One input row. `shape` is event, interval or point; `op` +1 or -1; `end` of an interval None: still running."""

    name: str
    args: tuple[Ground, ...] = ()
    time: int
    arrival: int
    op: int = 1
    number: int = 0
    shape: str = "event"
    value: Ground | None = None
    end: int | None = None

    @property
    def term(self) -> Ground:
        return (self.name, *self.args) if self.args else self.name

    @property
    def fact(self) -> tuple[Ground, ...]:
        """What the row says, whenever it arrived."""
        return (self.shape, self.term, self.time, self.value, self.end)

    def stretch(self, tick: int) -> Stretch:
        end = self.time + tick if self.shape == "point" else self.end
        return Stretch(self.term, self.value, self.time, end)


@dataclass(frozen=True, slots=True)
class Record:
    """One time-point of a run: what holds, which derived events happen, and the state to go on from."""

    time: int
    holding: frozenset[Pair]
    derived: frozenset[Ground]
    state: State


@dataclass(frozen=True, slots=True)
class OpenCountdown:
    """A delayed effect to come: `value` is the target's (None: the fluent's value just ends)."""

    fluent: str
    value: str | None
    due: int
    since: int
    cancelled_by: str


@dataclass(frozen=True)
class Trace:
    """A run from the start up to the last record; the last record is the point after the query time."""

    description: Description
    tick: int
    records: list[Record] = field(default_factory=list)

    def intervals(self) -> dict[Pair, Intervals]:
        """Every pair, input included, to the maximal intervals in which it holds."""
        pieces: dict[Pair, list[Interval]] = {}
        for record, after in zip(self.records, [*self.records[1:], None], strict=True):
            for pair in record.holding:
                pieces.setdefault(pair, []).append((record.time, None if after is None else after.time))
        return {pair: maximal(intervals) for pair, intervals in pieces.items()}

    def timeline(self) -> dict[tuple[str, str], Intervals]:
        """The computed pairs as text, to their maximal intervals."""
        outputs = self.description.outputs
        return {
            (text(fluent), text(value)): intervals
            for (fluent, value), intervals in self.intervals().items()
            if signature(fluent) in outputs
        }

    def events(self) -> set[tuple[str, int]]:
        """The derived events as text, with their times."""
        return {(text(event), record.time) for record in self.records for event in record.derived}

    def open(self) -> set[OpenCountdown]:
        """The countdowns that are running at the end. Of those of one pair only the next one due: when it fires, or
        is cancelled, the others are too."""
        running = self.records[-1].state.countdowns
        first: dict[Pair, int] = {}
        for c in running:
            first[c.pair] = min(c.due, first.get(c.pair, c.due))
        return {_open(c) for c in running if c.due == first[c.pair]}


def _open(countdown: Countdown) -> OpenCountdown:
    fluent, value = countdown.pair
    source = f"{text(fluent)}={text(value)}"
    cancelled_by = f"end of {source}" + (f" or initiation of {source}" if countdown.postponable else "")
    target = None if countdown.target is None else text(countdown.target)
    return OpenCountdown(text(fluent), target, countdown.due, countdown.since, cancelled_by)


# --------------------------------------------------------------------------- running


def run(
    program: Program, rows: Iterable[Row], *, until: int, start: int | None = None, tick: int = 1
) -> Trace:
    """Everything that follows from the rows up to the query time `until`, without windows: all rows count, whenever
    they arrived. Without a `start` the stream starts one tick before its first row."""
    rows = list(rows)
    if start is None:
        start = min((row.time for row in rows), default=until) - tick
    return step_through(Domains(Description(program), tick), given(rows, tick, until), start=start, until=until)


def given(rows: Iterable[Row], tick: int, until: int) -> Input:
    """The rows that have begun by `until`, as input."""
    begun = [row for row in rows if row.time <= until]
    events: dict[int, list[Ground]] = {}
    for row in begun:
        if row.shape == "event":
            events.setdefault(row.time, []).append(row.term)
    return Input(events, tuple(row.stretch(tick) for row in begun if row.shape != "event"), tick)


class NoFixpoint(ValueError):
    """Rules over whole intervals that depend on themselves."""


def step_through(
    domains: Domains,
    input_: Input,
    *,
    start: int,
    until: int,
    past: Sequence[Record] = (),
    stops: Sequence[int] = (),
) -> Trace:
    """The run from `start`, or from the last record of the `past`, up to `until` (the last time-point at or before it).

    Of the past only the effects of its last time-point are computed again, from the state and the input there.
    `stops` are time-points that must have a record.
    """
    whole: Whole = {}
    for _ in range(len(domains.description.determined_rules) + 2):
        trace = _pass(domains, input_, start, until, past, stops, whole)
        found = _whole_intervals(domains, trace, input_, past)
        if found == whole:
            return trace
        whole = found
    raise NoFixpoint("a duration filter or Allen relation depends on its own result")


def _pass(
    domains: Domains,
    input_: Input,
    start: int,
    until: int,
    past: Sequence[Record],
    stops: Sequence[int],
    whole: Whole,
) -> Trace:
    """One run, with the results of rules over whole intervals taken as given."""
    tick = input_.tick
    trace = Trace(domains.description, tick, list(past[:-1]))
    if past:
        time, state, held = past[-1].time, past[-1].state, past[-1].holding
    else:
        time, state, held = start, _newcomers(State(), domains, input_, whole, start), None
    while True:
        moment = Moment(domains, input_, whole, time, state, held)
        trace.records.append(Record(time, moment.now.all_holding(), moment.all_derived(), state))
        after = _after(moment)
        if time + tick > until:
            break
        time, held = _next_time(moment, after, until, stops), None
        state = _newcomers(after, domains, input_, whole, time)
    trace.records.append(Record(time + tick, moment.next.all_holding(), frozenset(), after))
    return trace


def _after(moment: Moment) -> State:
    """The state at the next time-point, before anybody new is seen there."""
    state = moment.state
    initiated, terminated = moment.all_effects()
    values, countdowns = settled(moment.domains, state, moment.time, initiated, terminated, moment.met)
    pairs = initiated | {(fluent, value) for fluent, value in terminated if value is not None}
    fluents = {fluent for key in moment.description.simple for fluent, _ in moment.affected(key)}
    return replace(
        state,
        values=values,
        countdowns=countdowns,
        seen=state.seen | pairs | {(fluent, None) for fluent in fluents},
        touched=state.touched | fluents,
    )


def _newcomers(state: State, domains: Domains, input_: Input, whole: Whole, time: int) -> State:
    """The state at a time-point with what the input shows there for the first time."""
    state = shown(domains, state, input_, time)
    fresh = domains.initial(state) - state.initial
    reached = frozenset(pair for pair in fresh if pair[0] not in state.touched)
    before = time - input_.tick
    values, countdowns = settled(domains, state, before, reached, frozenset())
    state = replace(
        state, values=values, countdowns=countdowns, seen=state.seen | reached, initial=state.initial | fresh
    )
    now = Snapshot(domains, input_, whole, time, state)
    return replace(state, seen=state.seen | _had(now), since={**_candidates(now), **state.since})


def _had(now: Snapshot) -> frozenset[Pair]:
    """The determined pairs that hold where a grounding leaves the value open: those values the instance has had."""
    domains = now.domains
    keys = {signature(fluent) for fluent, value in domains.declared(now.state) if value is None}
    return frozenset(pair for key in keys & domains.description.determined for pair in now.holding(key))


def _candidates(now: Snapshot) -> dict[tuple[Ground, ...], int]:
    """The instances of rules over whole intervals, with the point from which on they are known."""
    rules = [rule for rule in now.domains.description.determined_rules if rule.whole]
    return {key: now.time for rule in rules for key, _ in now.instances(rule)}


def _next_time(moment: Moment, after: State, until: int, stops: Sequence[int]) -> int:
    """The next time-point at which something can happen."""
    tick, time = moment.input.tick, moment.time
    changed = moment.now.all_holding() != moment.next.all_holding()
    if not moment.domains.anchored or changed or moment.busy():
        return time + tick
    candidates = [*moment.input.events, *stops, *(c.due for c in after.countdowns)]
    for start, end in _stretches(moment.input, moment.whole):
        candidates += [start - tick, start] + ([] if end is None else [end - tick, end])
    return min((t for t in candidates if time < t <= until), default=until - (until - time) % tick)


def _stretches(input_: Input, whole: Whole) -> Iterator[Interval]:
    yield from ((s.start, s.end) for s in input_.stretches)
    for found in whole.values():
        yield from (interval for judged in found for interval in judged.intervals)


def _whole_intervals(domains: Domains, trace: Trace, input_: Input, past: Sequence[Record]) -> Whole:
    """The results of the rules over whole intervals, after the past, judged by the timelines of the run."""
    rules = [rule for rule in domains.description.determined_rules if rule.whole]
    if not rules:
        return {}
    timelines = trace.intervals()
    last = trace.records[-1]
    first = trace.records[0].time if not past else past[-1].time + input_.tick
    now = Snapshot(domains, input_, {}, last.time, last.state)
    result: dict[Pair, list[Judged]] = {}
    for rule in rules:
        for key, subst in now.instances(rule):
            since = last.state.since.get(key, last.time)
            found = rule.intervals(
                subst,
                lambda fluent, value: timelines.get((fluent, value), []),
                since=since,
                until=last.time,
                tick=input_.tick,
            )
            judged = Judged(key, since, clip(found, first, float("inf")))
            for pair in now.heads(rule, subst) if found else ():
                result.setdefault(pair, []).append(judged)
    return result
