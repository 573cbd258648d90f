"""Who is who in a program: every name with an arity, and the part it plays.

A name that rules read and nothing defines is an input. A fluent may be *mixed*: some of its values follow
rules of change and inertia (simple), others are interval expressions (determined); the part is kept per
value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from thalweg.analysis.bodies import body_of, literals
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Aggregate,
    Boundary,
    Call,
    Clause,
    Declare,
    Delayed,
    DynamicDomain,
    EffectRule,
    EventRule,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Initially,
    IntervalRule,
    Kind,
    Literal,
    Pair,
    Postponable,
    Query,
    Role,
    Windowed,
)
from thalweg.language.terms import (
    Atom,
    Compound,
    Number,
    Sequence,
    Span,
    Term,
    Variable,
    is_ground,
    signature,
)

BUILTINS = frozenset(
    {("length", 2), ("sum_list", 2), ("max_list", 2), ("min_list", 2), ("member", 2), ("true", 0)}
)
"""Predicates that need no definition."""
EVENT_BUILTINS = BUILTINS | {("sumlist", 2), ("fail", 0), ("false", 0)}
"""Those of event descriptions."""


class EntityKind(StrEnum):
    EVENT = "event"
    FLUENT = "fluent"
    PREDICATE = "predicate"


class Part(StrEnum):
    """The part an entity plays."""

    INPUT_EVENT = "input event"
    DERIVED_EVENT = "derived event"
    INPUT_FLUENT = "input fluent"
    POINTS_FLUENT = "input fluent, points"
    SIMPLE = "simple fluent"
    DETERMINED = "determined fluent"
    BACKGROUND = "background predicate"
    DOMAIN = "dynamic domain"
    INPUT_PREDICATE = "input predicate"
    DERIVED_PREDICATE = "derived predicate"
    UNKNOWN = "unknown predicate"


INPUT_PARTS = frozenset(
    {Part.INPUT_EVENT, Part.INPUT_FLUENT, Part.POINTS_FLUENT, Part.DOMAIN, Part.INPUT_PREDICATE}
)
OUTPUT_PARTS = frozenset({Part.DERIVED_EVENT, Part.SIMPLE, Part.DETERMINED, Part.DERIVED_PREDICATE})


class Key(NamedTuple):
    """What identifies an entity."""

    kind: EntityKind
    name: str
    arity: int


class ValuePart(NamedTuple):
    """A value in the head of a rule, and how the rule defines it."""

    value: Term
    part: Part


@dataclass(frozen=True, slots=True)
class Entity:
    """An event, fluent or predicate. `rules` and `uses` are indexes of statements that define and read it;
    `span` is where it first occurs; `values` are the head values of a fluent, each with its part."""

    key: Key
    parts: tuple[Part, ...]
    values: tuple[ValuePart, ...] = ()
    rules: tuple[int, ...] = ()
    uses: tuple[int, ...] = ()
    span: Span = field(default=Span("", 0, 0, 0, 0), compare=False)
    declared: Declare | None = None

    @property
    def name(self) -> str:
        return self.key.name

    @property
    def arity(self) -> int:
        return self.key.arity

    @property
    def part(self) -> Part:
        """The part of an entity that is not mixed; of a mixed fluent, simple."""
        return self.parts[0]

    @property
    def mixed(self) -> bool:
        return len(self.parts) > 1

    @property
    def is_input(self) -> bool:
        return self.part in INPUT_PARTS

    @property
    def is_output(self) -> bool:
        return self.part in OUTPUT_PARTS

    def also_input(self, kind: Kind) -> bool:
        """True where rows are facts beside those that the program states or derives: in LARS, if a rule reads them."""
        stated = self.part is Part.BACKGROUND and bool(self.rules) and bool(self.uses)
        return kind is Kind.LARS and (stated or self.part is Part.DERIVED_PREDICATE)


@dataclass(frozen=True, slots=True)
class Entities:
    """All entities of a program, in the order of first occurrence."""

    by_key: Mapping[Key, Entity]

    def __iter__(self) -> Iterator[Entity]:
        return iter(self.by_key.values())

    def get(self, kind: EntityKind | str, name: str, arity: int) -> Entity | None:
        return self.by_key.get(Key(EntityKind(kind), name, arity))

    def event(self, term: Term) -> Entity | None:
        """The entity of an event term."""
        return self.get(EntityKind.EVENT, *signature(term)) if named(term) else None

    def fluent(self, term: Term) -> Entity | None:
        """The entity of a fluent term."""
        return self.get(EntityKind.FLUENT, *signature(term)) if named(term) else None

    def of_kind(self, kind: EntityKind | str) -> tuple[Entity, ...]:
        return tuple(entity for entity in self if entity.key.kind == kind)

    @property
    def inputs(self) -> tuple[Entity, ...]:
        return tuple(entity for entity in self if entity.is_input)

    @property
    def outputs(self) -> tuple[Entity, ...]:
        return tuple(entity for entity in self if entity.is_output)

    def pair_parts(self, pair: Pair) -> tuple[Part, ...]:
        """The parts a fluent-value pair may play: one, unless the fluent is mixed and the value is open.

        A value that no rule of a mixed fluent mentions never holds: it has no part.
        """
        entity = self.fluent(pair.fluent)
        if entity is None:
            return ()
        if not entity.mixed:
            return entity.parts
        found = {part for value, part in entity.values if may_equal(value, pair.value)}
        return tuple(part for part in entity.parts if part in found)


def named(term: Term) -> bool:
    """True when the term has a name and an arity."""
    return isinstance(term, Atom | Compound)


def may_equal(left: Term, right: Term) -> bool:
    """False when no assignment of the variables makes the terms equal, judged without following shared
    variables."""
    match left, right:
        case (Variable(), _) | (_, Variable()):
            return True
        case Compound(), Compound():
            return (
                left.functor == right.functor
                and len(left.args) == len(right.args)
                and all(may_equal(a, b) for a, b in zip(left.args, right.args, strict=True))
            )
        case Sequence(), Sequence():
            return left.rest is not None or right.rest is not None or len(left.items) == len(right.items)
        case Number(a), Number(b):
            return a == b
        case _:
            return left == right


def pair_of(term: Term) -> Pair | None:
    """``F=V`` as a pair."""
    match term:
        case Compound("=", (fluent, value)):
            return Pair(fluent, value)
        case _:
            return None


class _Entry:
    """An entity while it is being collected."""

    __slots__ = (
        "changes",
        "clauses",
        "declared",
        "determines",
        "domain",
        "events",
        "mentions",
        "span",
        "uses",
        "values",
    )

    def __init__(self, span: Span) -> None:
        self.span = span
        self.events: list[int] = []
        self.changes: list[int] = []
        self.determines: list[int] = []
        self.clauses: list[int] = []
        self.uses: list[int] = []
        self.mentions: list[int] = []
        self.values: dict[ValuePart, None] = {}
        self.declared: Declare | None = None
        self.domain = False


class _Collector:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.entries: dict[Key, _Entry] = {}

    def entry(self, kind: EntityKind, term: Term) -> _Entry | None:
        match term:
            case Compound(functor, args):
                key = Key(kind, functor, len(args))
            case Atom(name):
                key = Key(kind, name, 0)
            case _:
                return None
        return self.at(key, term.span)

    def at(self, key: Key, span: Span) -> _Entry:
        found = self.entries.get(key)
        if found is None:
            found = self.entries[key] = _Entry(span)
        return found

    def run(self) -> None:
        for index, statement in enumerate(self.program.statements):
            match statement:
                case EffectRule(_, pair) | Initially(pair):
                    self.define_pair(pair, Part.SIMPLE, index)
                case Delayed(source, target):
                    self.define_pair(source, Part.SIMPLE, index)
                    if target is not None:
                        self.define_pair(target, Part.SIMPLE, index)
                case Postponable(pair):
                    self.mention(EntityKind.FLUENT, pair.fluent, index)
                case IntervalRule(pair):
                    self.define_pair(pair, Part.DETERMINED, index)
                case EventRule(event):
                    if entry := self.entry(EntityKind.EVENT, event):
                        entry.events.append(index)
                case Clause(head):
                    if entry := self.entry(EntityKind.PREDICATE, head):
                        entry.clauses.append(index)
                case Query(goal) if self.program.kind is not Kind.EVENTS:
                    self.use(EntityKind.PREDICATE, goal, index)
                case Declare():
                    self.declare(statement)
                case Grounding(entity):
                    pair_or_none = pair_of(entity)
                    if pair_or_none is not None:
                        self.mention(EntityKind.FLUENT, pair_or_none.fluent, index)
                    else:
                        self.mention(EntityKind.EVENT, entity, index)
                case DynamicDomain(predicate):
                    if entry := self.entry(EntityKind.PREDICATE, predicate):
                        entry.domain = True
                case _:
                    pass
            for place in literals(body_of(statement)):
                self.literal(place.literal, index)

    def define_pair(self, pair: Pair, part: Part, index: int) -> None:
        entry = self.entry(EntityKind.FLUENT, pair.fluent)
        if entry is None:
            return
        (entry.changes if part is Part.SIMPLE else entry.determines).append(index)
        entry.values[ValuePart(pair.value, part)] = None

    def declare(self, statement: Declare) -> None:
        kind = EntityKind.EVENT if statement.role is Role.EVENT else EntityKind.FLUENT
        entry = self.at(Key(kind, statement.name, len(statement.arguments)), statement.span)
        if entry.declared is None:
            entry.declared = statement

    def mention(self, kind: EntityKind, term: Term, index: int) -> None:
        if entry := self.entry(kind, term):
            entry.mentions.append(index)

    def use(self, kind: EntityKind, term: Term, index: int) -> None:
        if entry := self.entry(kind, term):
            entry.uses.append(index)

    def literal(self, literal: Literal, index: int) -> None:
        match literal:
            case Happens(event):
                self.use(EntityKind.EVENT, event, index)
            case Holds(pair) | Boundary(_, pair) | Affects(_, pair) | HoldsFor(pair):
                self.use(EntityKind.FLUENT, pair.fluent, index)
            case Call(goal):
                self.use(EntityKind.PREDICATE, goal, index)
            case Windowed(atom) | Aggregate(_, _, atom):
                self.use(EntityKind.PREDICATE, atom, index)
            case _:
                pass

    def entity(self, key: Key, entry: _Entry) -> Entity:
        match key.kind:
            case EntityKind.EVENT:
                parts: tuple[Part, ...] = (Part.DERIVED_EVENT if entry.events else Part.INPUT_EVENT,)
            case EntityKind.FLUENT:
                parts = self.fluent_parts(entry)
            case EntityKind.PREDICATE:
                parts = (self.predicate_part(key, entry),)
        return Entity(
            key=key,
            parts=parts,
            values=tuple(entry.values),
            rules=tuple(
                dict.fromkeys([*entry.events, *sorted(entry.changes + entry.determines), *entry.clauses])
            ),
            uses=tuple(dict.fromkeys(entry.uses)),
            span=entry.span,
            declared=entry.declared,
        )

    def fluent_parts(self, entry: _Entry) -> tuple[Part, ...]:
        parts = []
        if entry.changes:
            parts.append(Part.SIMPLE)
        if entry.determines:
            parts.append(Part.DETERMINED)
        if parts:
            return tuple(parts)
        declared = entry.declared
        if declared is not None and declared.role is Role.STATE:
            return (Part.SIMPLE,)
        points = declared is not None and declared.role is Role.POINTS
        return (Part.POINTS_FLUENT if points else Part.INPUT_FLUENT,)

    def predicate_part(self, key: Key, entry: _Entry) -> Part:
        if entry.domain:
            return Part.DOMAIN
        known = EVENT_BUILTINS if self.program.kind is Kind.EVENTS else BUILTINS
        if (key.name, key.arity) in known and not entry.clauses:
            return Part.BACKGROUND
        if self.program.kind is Kind.EVENTS:
            return Part.BACKGROUND if entry.clauses else Part.UNKNOWN
        if any(self.derives(index) for index in entry.clauses):
            return Part.DERIVED_PREDICATE
        return Part.BACKGROUND if entry.clauses else Part.INPUT_PREDICATE

    def derives(self, index: int) -> bool:
        clause = self.program.statements[index]
        return bool(body_of(clause)) or not (isinstance(clause, Clause) and is_ground(clause.head))


def entities(program: Program) -> Entities:
    """Every name with an arity in the program, and the part it plays."""
    collector = _Collector(program)
    collector.run()
    return Entities({key: collector.entity(key, entry) for key, entry in collector.entries.items()})
