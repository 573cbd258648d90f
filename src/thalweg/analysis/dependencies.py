"""What depends on what, in which order it can be computed, and which cycles have no step in time.

Nodes are fluents and events. Bodies at `T` read the state at `T`, before the effects of `T`: so an edge
from a simple fluent through ``holdsAt`` (or through an interval expression that is true or false point by
point) *waits*, and a cycle with such an edge is well defined. Every other edge is read at the same
time-point, and a cycle made of those alone is an error; so is a cycle through a duration filter or an
Allen relation, which see whole intervals and thus the future.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from thalweg.analysis.bodies import Place, body_of, literals
from thalweg.analysis.order import strong_components
from thalweg.analysis.roles import Entities, EntityKind, Part, entities, may_equal, named
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Aggregate,
    Allen,
    Boundary,
    Call,
    Clause,
    Delayed,
    Duration,
    EffectRule,
    EventRule,
    Happens,
    Holds,
    HoldsFor,
    Initially,
    IntervalRule,
    Kind,
    Literal,
    Pair,
    Statement,
    Windowed,
)
from thalweg.language.terms import Term, Variable, is_ground, signature

ANY = Variable("_")
"""The value of a node that stands for all determined values of a mixed fluent."""


class Node(NamedTuple):
    """An event, or a fluent; `value` is set only where a determined value of a fluent is a node of its own
    (mixed fluents, and fluents with several determined values)."""

    kind: str
    name: str
    arity: int
    value: Term | None = None


class EdgeKind(StrEnum):
    HOLDS = "holds"
    EVENT = "event"
    BOUNDARY = "boundary"
    EFFECT = "effect"
    INTERVAL = "interval"
    DELAYED = "delayed"
    ATOM = "atom"


@dataclass(frozen=True, slots=True)
class Edge:
    """`target` reads `source` in the statement `rule`. `waits`: the state before the effects of the
    time-point is read. `whole`: whole intervals are read, so their future."""

    source: Node
    target: Node
    kind: EdgeKind
    rule: int
    negated: bool = False
    waits: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Component:
    """Nodes that must be computed together. `members` are in an order in which each reads only earlier
    ones at the same time-point; `cyclic`: they depend on each other or one on itself; `delayed`: delayed
    effects inside; `layer`: 1 for what reads inputs only; `rules`: the statements that define the members."""

    members: tuple[Node, ...]
    cyclic: bool
    delayed: bool
    layer: int
    rules: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle that no step in time breaks: its nodes, and the statement behind each edge."""

    nodes: tuple[Node, ...]
    rules: tuple[int, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The graph: all nodes with their part (inputs too), all edges, components in evaluation order."""

    parts: Mapping[Node, Part]
    edges: tuple[Edge, ...]
    components: tuple[Component, ...]
    cycles: tuple[Cycle, ...]
    layers: Mapping[Node, int] = field(default_factory=dict)


# --------------------------------------------------------------------------- the graph


class _Graph:
    """Collects nodes and edges of one program."""

    def __init__(self, program: Program, known: Entities) -> None:
        self.program = program
        self.known = known
        self.parts: dict[Node, Part] = {}
        self.rules: dict[Node, list[int]] = {}
        self.edges: dict[Edge, None] = {}
        self.through: dict[tuple[str, int], tuple[Place, ...]] = {}
        self.clauses: dict[tuple[str, int], list[Clause]] = {}
        self.split = {
            e.key[1:]: e.values for e in known.of_kind(EntityKind.FLUENT) if _splits(e.parts, e.values)
        }
        self.datalog = program.kind is not Kind.EVENTS
        if not self.datalog:
            for statement in program.statements:
                if isinstance(statement, Clause) and named(statement.head):
                    self.clauses.setdefault(signature(statement.head), []).append(statement)

    def build(self) -> None:
        for entity in self.known:
            if self.datalog or entity.key.kind != EntityKind.PREDICATE:
                self.nodes_of(entity.key[1:], entity.key.kind, entity.parts)
        for index, statement in enumerate(self.program.statements):
            heads = self.heads(statement)
            for head in heads:
                self.rules[head].append(index)
            if heads:
                self.read(index, statement, heads)

    def nodes_of(self, key: tuple[str, int], kind: str, parts: tuple[Part, ...]) -> None:
        for part in parts:
            for node in self.units(key, kind, part):
                self.parts[node] = part
                self.rules[node] = []

    def units(self, key: tuple[str, int], kind: str, part: Part) -> list[Node]:
        values = self.split.get(key) if kind == EntityKind.FLUENT else None
        if values is None or part is not Part.DETERMINED:
            return [Node(str(kind), *key)]
        own = [value for value, value_part in values if value_part is part]
        if not all(is_ground(value) for value in own):
            return [Node("fluent", *key, ANY)]
        return [Node("fluent", *key, value) for value in own]

    def heads(self, statement: Statement) -> list[Node]:
        match statement:
            case EffectRule(_, pair) | Initially(pair) | Delayed(pair):
                return self.pair_nodes(pair, Part.SIMPLE)
            case IntervalRule(pair):
                return self.pair_nodes(pair, Part.DETERMINED)
            case EventRule(event):
                return [Node("event", *signature(event))] if named(event) else []
            case Clause(head) if self.datalog:
                return [Node("predicate", *signature(head))] if named(head) else []
            case _:
                return []

    def pair_nodes(self, pair: Pair, only: Part | None = None) -> list[Node]:
        """The nodes that a pair may stand for."""
        if not named(pair.fluent):
            return []
        key = signature(pair.fluent)
        if key not in self.split:
            node = Node("fluent", *key)
            return [node] if node in self.parts else []
        nodes = []
        for part in self.known.pair_parts(pair) or self.known.by_key[EntityKind.FLUENT, *key].parts:  # type: ignore[index]
            if only is None or part is only:
                nodes += [
                    n
                    for n in self.units(key, "fluent", part)
                    if n.value is None or may_equal(n.value, pair.value)
                ]
        return nodes

    def read(self, index: int, statement: Statement, heads: list[Node]) -> None:
        if isinstance(statement, Delayed):
            for head in heads:
                self.edges[Edge(head, head, EdgeKind.DELAYED, index, waits=True)] = None
        body = body_of(statement)
        whole = any(isinstance(place.literal, Duration | Allen) for place in literals(body))
        for place in literals(body):
            self.edges_of(place, index, heads, whole)

    def edges_of(self, place: Place, index: int, heads: Iterable[Node], whole: bool) -> None:
        for source, kind in self.sources(place.literal):
            simple = self.parts.get(source) is Part.SIMPLE
            waits = simple and (kind is EdgeKind.HOLDS or (kind is EdgeKind.INTERVAL and not whole))
            sees_whole = whole and kind is EdgeKind.INTERVAL
            for head in heads:
                self.edges[Edge(source, head, kind, index, place.negated, waits, sees_whole)] = None
        if isinstance(place.literal, Call) and not self.datalog and named(place.literal.goal):
            for inner in self.temporal(signature(place.literal.goal)):
                self.edges_of(inner._replace(negated=inner.negated or place.negated), index, heads, whole)

    def sources(self, literal: Literal) -> list[tuple[Node, EdgeKind]]:
        match literal:
            case Happens(event):
                return [(Node("event", *signature(event)), EdgeKind.EVENT)] if named(event) else []
            case Holds(pair):
                return [(node, EdgeKind.HOLDS) for node in self.pair_nodes(pair)]
            case Boundary(_, pair):
                return [(node, EdgeKind.BOUNDARY) for node in self.pair_nodes(pair)]
            case Affects(_, pair):
                return [(node, EdgeKind.EFFECT) for node in self.pair_nodes(pair)]
            case HoldsFor(pair):
                return [(node, EdgeKind.INTERVAL) for node in self.pair_nodes(pair)]
            case Call(atom) | Windowed(atom) | Aggregate(_, _, atom) if self.datalog and named(atom):
                node = Node("predicate", *signature(atom))
                return [(node, EdgeKind.ATOM)] if node in self.parts else []
            case _:
                return []

    def temporal(self, predicate: tuple[str, int]) -> tuple[Place, ...]:
        """The events and fluents that the rules of a background predicate read, through other predicates
        too."""
        found = self.through.get(predicate)
        if found is not None:
            return found
        seen, todo, places = {predicate}, [predicate], []
        while todo:
            for clause in self.clauses.get(todo.pop(), ()):
                for place in literals(clause.body):
                    if isinstance(place.literal, Call):
                        if named(place.literal.goal) and signature(place.literal.goal) not in seen:
                            seen.add(signature(place.literal.goal))
                            todo.append(signature(place.literal.goal))
                    else:
                        places.append(place)
        self.through[predicate] = tuple(places)
        return self.through[predicate]


def _splits(parts: tuple[Part, ...], values: tuple[tuple[Term, Part], ...]) -> bool:
    """True when determined values are nodes of their own: they may be defined from other values of the
    fluent."""
    own = [value for value, part in values if part is Part.DETERMINED]
    return bool(own) and (len(parts) > 1 or (len(own) > 1 and all(is_ground(value) for value in own)))


# --------------------------------------------------------------------------- components


def _components(graph: _Graph) -> tuple[tuple[Component, ...], tuple[Cycle, ...], dict[Node, int]]:
    reads: dict[Node, dict[Node, None]] = {node: {} for node in graph.parts}
    incoming: dict[Node, list[Edge]] = {node: [] for node in graph.parts}
    for edge in graph.edges:
        if edge.source in graph.parts:
            reads[edge.target][edge.source] = None
            incoming[edge.target].append(edge)
    layers: dict[Node, int] = {}
    position = {node: index for index, node in enumerate(graph.parts)}
    components, cycles = [], []
    for group in strong_components(graph.parts, reads):
        members = set(group)
        inside = [edge for node in group for edge in incoming[node] if edge.source in members]
        defined = any(graph.rules[node] for node in group)
        below = [layers[source] for node in group for source in reads[node] if source not in members]
        layer = max(below, default=0) + 1 if defined else 0
        layers.update(dict.fromkeys(group, layer))
        cycle = None if graph.datalog else timeless_cycle(group, inside)
        if cycle is not None:
            cycles.append(cycle)
        if defined:
            components.append(
                Component(
                    members=_same_time_order(sorted(group, key=position.__getitem__), inside),
                    cyclic=len(group) > 1 or any(edge.kind is not EdgeKind.DELAYED for edge in inside),
                    delayed=any(edge.kind is EdgeKind.DELAYED for edge in inside),
                    layer=layer,
                    rules=tuple(sorted({rule for node in group for rule in graph.rules[node]})),
                )
            )
    components.sort(key=lambda component: (component.layer, component.rules))
    cycles.sort(key=lambda cycle: cycle.rules)
    return tuple(components), tuple(cycles), layers


def _same_time_order(members: list[Node], inside: Iterable[Edge]) -> tuple[Node, ...]:
    """The members, each after those that it reads at the same time-point (where no cycle forbids it)."""
    reads: dict[Node, list[Node]] = {}
    for edge in inside:
        if not edge.waits:
            reads.setdefault(edge.target, []).append(edge.source)
    return tuple(node for group in strong_components(members, reads) for node in group)


def timeless_cycle(members: Iterable[Node], inside: Iterable[Edge]) -> Cycle | None:
    """A cycle among the members that no step in time breaks; None where there is none."""
    inside = list(inside)
    for edge in inside:
        if edge.whole:
            return _cycle(edge, inside)
    timeless = [edge for edge in inside if not edge.waits]
    reads: dict[Node, list[Node]] = {}
    for edge in timeless:
        reads.setdefault(edge.target, []).append(edge.source)
    group_of = {node: i for i, group in enumerate(strong_components(members, reads)) for node in group}
    among = [edge for edge in timeless if group_of[edge.source] == group_of[edge.target]]
    return _cycle(min(among, key=lambda edge: edge.rule), among) if among else None


def _cycle(edge: Edge, edges: Iterable[Edge]) -> Cycle:
    """The shortest cycle through the edge."""
    chain = [edge, *_path(edge.target, edge.source, edges)]
    return Cycle(tuple(step.source for step in chain), tuple(step.rule for step in chain), edge.whole)


def _path(start: Node, goal: Node, edges: Iterable[Edge]) -> list[Edge]:
    """A shortest chain of edges from start to goal; empty when they are one node."""
    outgoing: dict[Node, list[Edge]] = {}
    for edge in edges:
        outgoing.setdefault(edge.source, []).append(edge)
    came: dict[Node, Edge] = {}
    todo = [start]
    for node in todo:
        if node == goal:
            break
        for edge in outgoing.get(node, ()):
            if edge.target not in came and edge.target != start:
                came[edge.target] = edge
                todo.append(edge.target)
    path = []
    while goal != start:
        path.append(came[goal])
        goal = came[goal].source
    return path[::-1]


# --------------------------------------------------------------------------- questions


def dependencies(program: Program, known: Entities | None = None) -> Dependencies:
    """The dependency graph of the program, layered."""
    graph = _Graph(program, known or entities(program))
    graph.build()
    found, cycles, layers = _components(graph)
    return Dependencies(graph.parts, tuple(graph.edges), found, cycles, layers)
