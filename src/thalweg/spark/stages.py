"""A program as stages that can run in shards, each a program of its own.

`analysis.keys` says which components can run together and by which key. Here each such group becomes a program: its
rules, all background knowledge, and what earlier stages compute declared as input. Where a stage cannot be cut off from
the others in this way, the whole program is one stage and one shard, and `obstacle` says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.dependencies import Node, dependencies
from thalweg.analysis.joins import alternatives
from thalweg.analysis.keys import Stage, plain, reasoning_keys
from thalweg.analysis.obstacles import head_of, is_temporal, obstacle_of, reads_of
from thalweg.analysis.roles import Entities, EntityKind, Part, entities, named, pair_of
from thalweg.analysis.types import infer
from thalweg.language.program import Program
from thalweg.language.rules import (
    Argument,
    Call,
    Clause,
    Declare,
    Delayed,
    Grounding,
    Kind,
    Literal,
    Postponable,
    Role,
    Statement,
    Windowed,
)
from thalweg.language.terms import Term, signature
from thalweg.language.wording import counted
from thalweg.spark.keying import Grid, Route, grid_of


class Name(NamedTuple):
    """An event, fluent or predicate by name and number of arguments, as rows have them."""

    kind: str
    name: str
    arity: int


Routes = Mapping[Name, tuple[Route, ...]]


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage. `inputs` says where the rows of the stream go that it reads, `foreign` where the changes of earlier
    stages go (rows without a route go to the first shard); `members` gives the places of the key in what it computes.
    `selective`: a shard also computes keys of other shards, which are not reported."""

    text: str
    grid: Grid
    inputs: Routes
    foreign: Routes = field(default_factory=dict)
    members: Mapping[Name, Route] = field(default_factory=dict)
    selective: bool = False
    obstacle: str | None = None

    @property
    def shards(self) -> int:
        return math.prod(self.grid)

    @property
    def key(self) -> str:
        """How people read it."""
        if not self.grid:
            return "one shard" + (f": {self.obstacle}" if self.obstacle else "")
        return f"{counted(self.shards, 'shard')} by {counted(len(self.grid), 'argument')}"


EVERYTHING = (Route((), ()),)


def stages_of(program: Program, shards: int) -> tuple[StagePlan, ...]:
    """The stages in order; the last ones read the changes of the first ones."""
    known = entities(program)
    keys = reasoning_keys(program, dependencies(program, known), known)
    obstacle = None if shards == 1 else obstacle_of(program, keys)
    if shards == 1 or obstacle is not None or not keys.stages:
        return (StagePlan(str(program), (), _inputs(known, program.kind), obstacle=obstacle),)
    if len(keys.stages) == 1:
        return (_only(program, keys.stages[0], known, shards),)
    computed: dict[Name, int] = {}
    found = []
    for index, stage in enumerate(keys.stages):
        found.append(_cut(program, stage, known, computed, shards))
        computed.update({_name(plain(node)): index for node in stage.members})
    return tuple(found)


def first_readers(stages: Iterable[StagePlan]) -> dict[Name, int]:
    """For each input the first stage that reads it, which is the one to report its rejected rows."""
    first: dict[Name, int] = {}
    for index, stage in enumerate(stages):
        for name in stage.inputs:
            first.setdefault(name, index)
    return first


def _inputs(known: Entities, kind: Kind) -> dict[Name, tuple[Route, ...]]:
    return {
        Name(entity.key.kind, entity.name, entity.arity - (kind is Kind.ANSWERS)): EVERYTHING
        for entity in known
        if entity.is_input or entity.also_input(kind)
    }


def _name(node: Node, kind: Kind = Kind.EVENTS) -> Name:
    return Name(node.kind, node.name, node.arity - (kind is Kind.ANSWERS))


# --------------------------------------------------------------------------- one stage


def _only(program: Program, stage: Stage, known: Entities, shards: int) -> StagePlan:
    """The whole program as one stage. Rows beside its facts go to every shard, where the facts are."""
    beside = {
        Name(entity.key.kind, entity.name, entity.arity): EVERYTHING
        for entity in known
        if entity.part is Part.BACKGROUND and entity.also_input(program.kind)
    }
    inputs = {name: routes for name, routes in _inputs(known, program.kind).items() if name not in beside}
    whole = _planned(program, str(program), stage, shards, inputs, {}, program.kind)
    selective = whole.selective or _told_without_rows(program, known)
    return replace(whole, inputs={**whole.inputs, **beside}, selective=selective)


def _cut(
    program: Program, stage: Stage, known: Entities, computed: Mapping[Name, int], shards: int
) -> StagePlan:
    """The part of the program that a stage runs."""
    members = {plain(node) for node in stage.members}
    rules = [s for s in program.statements if head_of(s) in members]
    reads = {node for rule in rules for node in reads_of(rule)} - members
    foreign = {_name(node) for node in reads if _name(node) in computed}
    inputs = {
        name: EVERYTHING
        for node in sorted(reads)
        if (name := _name(node)) not in foreign
        and (entity := known.get(EntityKind(node.kind), node.name, node.arity)) is not None
        and entity.is_input
    }
    kept = [s for s in program.statements if _kept(s, members, reads, computed)]
    declared = list(_declarations(program, foreign))
    text = str(Program(program.kind, tuple(declared + kept), program.sources))
    return _planned(
        program, text, stage, shards, inputs, dict.fromkeys(sorted(foreign), EVERYTHING), program.kind
    )


def _planned(
    program: Program,
    text: str,
    stage: Stage,
    shards: int,
    inputs: Mapping[Name, tuple[Route, ...]],
    foreign: Mapping[Name, tuple[Route, ...]],
    kind: Kind,
) -> StagePlan:
    members = {plain(node) for node in stage.members}
    routes: dict[Name, tuple[Route, ...]] = {}
    own: dict[Name, Route] = {}
    for node, positions, parts in stage.routes:
        name, route = _name(node, kind), Route(positions, parts)
        if node in members:
            own[name] = route
        routes[name] = (*routes.get(name, ()), route)
    obstacle = stage.obstacle.reason if stage.obstacle is not None else None
    deep = any(len(path) > 1 for name in inputs for route in routes.get(name, ()) for path in route.positions)
    if stage.width == 0 or deep:
        why = obstacle or ("the key of an input stands inside a compound argument" if deep else None)
        return StagePlan(text, (), inputs, foreign, obstacle=why)
    grid = grid_of(shards, stage.width)
    bound = {name.name for name in inputs if name in routes}
    read = {n: routes.get(n, () if n.name in bound else _anywhere(n, stage.width)) for n in inputs}
    sent = {name: routes[name] for name in foreign}
    every = [*read.values(), *sent.values()]
    partial = any(len(route.parts) < stage.width for given in every for route in given)
    twice = any(len(given) > 1 for given in every)
    everywhere = any(
        isinstance(s, Grounding) or (head_of(s) in members and _timeless(s)) for s in program.statements
    )
    return StagePlan(
        text,
        grid,
        read,
        sent,
        own,
        selective=partial or twice or everywhere,
    )


def _anywhere(name: Name, width: int) -> tuple[Route, ...]:
    """A way for rows that no rule reads: they are looked at by some shard, and not all by the same one."""
    return (Route(((0,),) * width, tuple(range(width))),) if name.arity else ()


def _timeless(statement: Statement) -> bool:
    """True for a rule whose heads come from background knowledge alone, so that every shard finds them."""
    if isinstance(statement, Delayed | Postponable):
        return False
    return not any(is_temporal(place.literal) for place in literals(body_of(statement)))


def _told_without_rows(program: Program, known: Entities) -> bool:
    """True where atoms may follow from facts, from negations or from counting nothing: every shard finds them."""

    def is_background(atom: Term) -> bool:
        entity = known.get(EntityKind.PREDICATE, *signature(atom)) if named(atom) else None
        return entity is None or entity.part is Part.BACKGROUND

    def is_row(literal: Literal) -> bool:
        match literal:
            case Call(atom, negated=False) | Windowed(atom, negated=False):
                return not is_background(atom)
        return False

    return program.kind is not Kind.EVENTS and any(
        isinstance(s, Clause)
        and not is_background(s.head)
        and not all(any(map(is_row, conjunction)) for conjunction in alternatives(s.body))
        for s in program.statements
    )


def _kept(statement: Statement, members: set[Node], reads: set[Node], computed: Mapping[Name, int]) -> bool:
    """True for what belongs to the stage, and for what belongs to nobody."""
    head = head_of(statement)
    if head is not None:
        return head in members
    match statement:
        case Grounding(entity):
            pair = pair_of(entity)
            term, kind = (entity, "event") if pair is None else (pair.fluent, "fluent")
            return not named(term) or Node(kind, *signature(term)) in members | reads
        case Declare(role, name, arguments):
            kind = "event" if role is Role.EVENT else "fluent"
            node = Node(kind, name, len(arguments))
            return node in members or (
                role in (Role.EVENT, Role.FLUENT, Role.POINTS) and _name(node) not in computed
            )
        case _:
            return True


def _declarations(program: Program, foreign: Iterable[Name]) -> Iterator[Declare]:
    """What earlier stages compute, as input with the types that the whole program gives it."""
    types = infer(program)
    for kind, name, arity in sorted(foreign):
        role = Role.EVENT if kind == "event" else Role.FLUENT
        shown = [types.shown(EntityKind(kind), name, arity, i) for i in range(arity)]
        yield Declare(role, name, tuple(Argument("_", str(type)) for type in shown))
