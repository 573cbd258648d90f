"""What a pipeline is: program, options, stages, the shape of its input. Fixed at the first start.

Everything here is plain data that goes to the Python workers and, as JSON, to disk.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa

from thalweg.analysis.checker import trusted
from thalweg.io.errors import InputError
from thalweg.io.shapes import Shapes, shapes
from thalweg.io.sinks import TABLES
from thalweg.io.sources import event_of
from thalweg.io.tabular import Header, read_header
from thalweg.io.times import Duration
from thalweg.language.parser import parse
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.plans import Options, Plan, prepare, with_query
from thalweg.spark.keying import Route
from thalweg.spark.stages import Name, StagePlan, stages_of

FORMAT = 3
"""Of checkpoints. Another number is another layout, which is refused."""
KNOWN = 64
"""Programs that are remembered."""
_PROGRAMS: dict[str, Program] = {}


@dataclass(frozen=True)
class Settings:
    """The settings of a pipeline. `options` are those of `thalweg.run`, with `start` as a time-point once it is known;
    `columns` are the columns of the input; `event` is the name of all its rows where it has no column `name`."""

    text: str
    kind: str
    options: Mapping[str, Any]
    shards: int
    stages: tuple[StagePlan, ...]
    columns: tuple[str, ...]
    event: str | None = None
    label: str = "input"
    disorder: int = 0
    max_ahead: int | None = None

    @property
    def program(self) -> Program:
        return parsed(self.text)

    @property
    def shapes(self) -> Shapes:
        return shapes_of(self.text)

    @property
    def header(self) -> Header:
        return headed(self.text, self.columns, self.label)

    @property
    def plan(self) -> Plan:
        """The run of the whole program: clock, schedule, window."""
        return planned(self.text, tuple(self.options.items()))

    @property
    def known_start(self) -> int | None:
        """Where the stream starts; rows up to there are rejected, and tell nothing about the clock."""
        return None if self.options["start"] is None else self.plan.schedule.start

    def stage_plan(self, stage: int) -> Plan:
        """The run of one stage."""
        return planned(self.stages[stage].text, tuple(self.options.items()))

    def schemas(self) -> dict[str, pa.Schema]:
        """The columns of all tables, those included that have no rows."""
        known = dict(TABLES[Kind(self.kind)])
        if self.kind != Kind.EVENTS:
            nothing = self.stage_plan(0).make().advance(self.plan.schedule.start)
            known |= {n: table.schema for n, table in nothing.tables.items() if n not in known}
        return known

    @cached_property
    def identity(self) -> str:
        """What a state belongs to. Where the stream starts is part of the state, not of this."""
        told = {name: value for name, value in self.options.items() if name != "start"}
        return identified(self.text, tuple(told.items()), self.shards)

    def starting(self, start: int) -> Settings:
        """The same with a known start."""
        return replace(self, options={**self.options, "start": start})

    # ------------------------------------------------------------------ on disk

    def as_json(self) -> dict[str, Any]:
        told = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "stages"}
        return {"format": FORMAT, **told, "stages": [_stage_json(stage, self.text) for stage in self.stages]}

    @staticmethod
    def of_json(told: Mapping[str, Any]) -> Settings:
        plain = {name: value for name, value in told.items() if name not in ("format", "stages", "columns")}
        stages = tuple(_with_one_text(_stage_of(stage, told["text"]), told["text"]) for stage in told["stages"])
        return Settings(**plain, stages=stages, columns=tuple(told["columns"]))


@lru_cache(maxsize=KNOWN)
def identified(text: str, options: tuple[tuple[str, Any], ...], shards: int) -> str:
    """The identity of settings; of a long text it is found once."""
    return hashlib.sha256(json.dumps([text, dict(options), shards], sort_keys=True).encode()).hexdigest()


@lru_cache(maxsize=KNOWN)
def planned(text: str, options: tuple[tuple[str, Any], ...]) -> Plan:
    """The run of a program; a worker prepares it once."""
    return prepare(parsed(text), (), Options(**dict(options)))


@lru_cache(maxsize=KNOWN)
def shapes_of(text: str) -> Shapes:
    """The input rows of a program; a worker finds them once."""
    return shapes(parsed(text))


@lru_cache(maxsize=KNOWN)
def headed(text: str, columns: tuple[str, ...], label: str) -> Header:
    """How the columns are used."""
    return read_header(columns, shapes_of(text), label)


def parsed(text: str) -> Program:
    """The program of a text that the driver has checked; each text is parsed once, and not at all where its program is
    known."""
    found = _PROGRAMS.get(text)
    if found is None:
        found = trusted(parse(text))
        _know(text, found)
    return found


def is_known(text: str) -> bool:
    """True where the program of a text need not be parsed."""
    return text in _PROGRAMS


def _know(text: str, program: Program) -> None:
    _PROGRAMS[text] = program
    while len(_PROGRAMS) > KNOWN:
        del _PROGRAMS[next(iter(_PROGRAMS))]


@lru_cache(maxsize=KNOWN)
def cut(text: str, shards: int) -> tuple[StagePlan, ...]:
    """The stages of a program, on so many shards."""
    return tuple(_with_one_text(stage, text) for stage in stages_of(parsed(text), shards))


def _as_a_whole(text: str) -> tuple[StagePlan, ...]:
    """The stage of a program that is asked for what no shard can tell alone."""
    return tuple(replace(stage, obstacle="answer streams and labels are told as a whole") for stage in cut(text, 1))


def _with_one_text(stage: StagePlan, text: str) -> StagePlan:
    """The same stage; where it is the whole program there is one copy of the text, which may be long."""
    return replace(stage, text=text) if stage.text == text else stage


def settings_of(
    program: Program,
    options: Options,
    columns: Sequence[str] | None,
    *,
    shards: int,
    event: str | None = None,
    label: str = "input",
    disorder: Duration = 0,
    max_ahead: Duration | None = None,
) -> Settings:
    """Check the request and plan the stages. No columns: the rows come from files, each with its own."""
    program = with_query(program, options.query)
    text = str(program)
    _know(text, program)
    given = {**asdict(options), "query": None}
    plan = planned(text, tuple(given.items()))
    if not isinstance(shards, int) or shards < 1:
        raise InputError("shards", f"{shards} is no number of shards")
    slack = plan.clock.duration(disorder, "disorder")
    if slack < 0:
        raise InputError("disorder", f"disorder {disorder} is negative")
    ahead = None if max_ahead is None else plan.clock.duration(max_ahead, "max_ahead")
    if ahead is not None and ahead < 1:
        raise InputError("max_ahead", f"max_ahead {max_ahead} is not positive")
    found = Settings(
        text=text,
        kind=str(program.kind),
        options=given,
        shards=shards,
        stages=_as_a_whole(text) if options.models is not None or options.labels else cut(text, shards),
        columns=tuple(columns or ()),
        label=label,
        disorder=slack,
        max_ahead=ahead,
    )
    if columns is None:
        return found
    candidates = [label] if event is None else [event]
    return replace(found, event=event_of(candidates, found.header, found.shapes, label))


# --------------------------------------------------------------------------- stages as JSON


def _stage_json(stage: StagePlan, whole: str) -> dict[str, Any]:
    """A stage; the text of one that is the whole program, which may be long, is told once."""
    return {
        "text": None if stage.text == whole else stage.text,
        "grid": stage.grid,
        "inputs": [[*name, routes] for name, routes in stage.inputs.items()],
        "foreign": [[*name, routes] for name, routes in stage.foreign.items()],
        "members": [[*name, route] for name, route in stage.members.items()],
        "selective": stage.selective,
        "obstacle": stage.obstacle,
    }


def _stage_of(told: Mapping[str, Any], whole: str) -> StagePlan:
    def route(given: Sequence[Any]) -> Route:
        return Route(tuple(tuple(path) for path in given[0]), tuple(given[1]))

    return StagePlan(
        whole if told["text"] is None else told["text"],
        tuple(told["grid"]),
        {Name(*name): tuple(map(route, routes)) for *name, routes in told["inputs"]},
        {Name(*name): tuple(map(route, routes)) for *name, routes in told["foreign"]},
        {Name(*name): route(given) for *name, given in told["members"]},
        told["selective"],
        told["obstacle"],
    )
