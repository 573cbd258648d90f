"""How a program can be split over machines: the reasoning key, stage by stage.

A *stage* is a group of components that can run in shards. Its key is one argument position per event or fluent such
that every rule of the group joins only on it: the head and everything derived that it reads carry one variable
there. Input goes where its key is, or to every shard where it carries none. Background knowledge is everywhere.
Components that relate entities, ``rendezVous(V1, V2)``, follow in a stage keyed by all the related arguments, where a
positive literal names them together; what else they read is routed to the keys that need it. What has no key runs as
one shard, and the rule that prevents one is named.

**A shard keeps the results whose key belongs to it** and drops others: rows that are routed by several positions, and
heads that come from background knowledge alone, also give results elsewhere, where they may be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from thalweg.analysis.dependencies import Component, Dependencies, Node, dependencies
from thalweg.analysis.joins import Path, Rule, reduced_rules
from thalweg.analysis.roles import INPUT_PARTS, Entities, Part, entities
from thalweg.language.program import Program
from thalweg.language.rules import Grounding

MOST_STAGES = 50


class Route(NamedTuple):
    """Rows of `node` go to the shards by the arguments at `positions`, which are the parts `parts` of the key.
    All parts: to one shard; some: to every key with those parts; none: everywhere."""

    node: Node
    positions: tuple[Path, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The rule that prevents a key, and why."""

    rule: int
    reason: str


@dataclass(frozen=True, slots=True)
class Stage:
    """Components that run together. `width` is the number of parts of the key, 0 for one shard. `routes` has one
    entry per way a node is routed; that of a member says where its own key stands."""

    members: tuple[Node, ...]
    routes: tuple[Route, ...]
    width: int
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True)
class Keys:
    """The stages in order of evaluation."""

    stages: tuple[Stage, ...]

    @property
    def partitioned(self) -> bool:
        """True when one entity key serves the whole program."""
        return len(self.stages) == 1 and self.stages[0].width == 1


class _Failed(Exception):
    """No key, because of a rule; without a reason, because something it reads has to come first."""

    def __init__(self, rule: int, reason: str = "") -> None:
        super().__init__(reason)
        self.obstacle = Obstacle(rule, reason)


Positions = tuple[Path, ...]
Placed = Mapping[Node, Positions]
"""The key positions of the members of a stage."""


def plain(node: Node) -> Node:
    """The node of the fluent, for a node that stands for one of its values."""
    return node._replace(value=None)


def show(node: Node) -> str:
    return f"`{node.name}/{node.arity}`"


# --------------------------------------------------------------------------- components


class _Planner:
    """The rules by their heads, and how a component could be keyed."""

    def __init__(self, program: Program, found: Dependencies, known: Entities) -> None:
        self.rules: dict[Node, list[Rule]] = {}
        self.rank: Counter[tuple[Node, Path]] = Counter()
        self.inputs = {node for node, part in found.parts.items() if part in INPUT_PARTS}
        self.domains = {
            Node("predicate", *entity.key[1:])
            for entity in known.of_kind("predicate")
            if entity.part is Part.DOMAIN
        }
        self.groundings = {i for i, s in enumerate(program.statements) if isinstance(s, Grounding)}
        for rule in reduced_rules(program, known):
            self.rules.setdefault(rule.head.node, []).append(rule)
            self.count(rule)
        self.own = {id(c): list(self.rules_of(c)) for c in found.components}
        self.components = [component for component in found.components if self.own[id(component)]]

    def rules_of(self, component: Component) -> Iterator[Rule]:
        wanted = set(component.rules)
        for node in dict.fromkeys(plain(node) for node in component.members):
            for rule in self.rules.get(node, ()):
                if rule.statement in wanted or (rule.statement in self.groundings and rule.body):
                    yield rule

    def count(self, rule: Rule) -> None:
        """How many rules could join on a position: what decides between several possible keys."""
        for name, path in rule.head.paths.items():
            if all(name in atomic.paths for atomic in rule.body):
                self.rank[rule.head.node, path] += 1
                for atomic in rule.body:
                    self.rank[atomic.node, atomic.paths[name]] += 1

    def reads(self, component: Component) -> set[Node]:
        return {atomic.node for rule in self.own[id(component)] for atomic in rule.body}

    # -------------------------------------------------------------- an entity key

    def by_entity(self, component: Component, stage: Placed) -> tuple[dict[Node, Positions], set[Route]]:
        """Key positions of the members and routes of what they read, when every rule joins on one variable."""
        own: dict[Node, Positions] = {}
        routes: set[Route] = set()
        pending = self.own[id(component)]
        members = {plain(node) for node in component.members}
        while pending:
            named = [(rule, self.name(rule, {**own, **_of(rule, stage)})) for rule in pending]
            decided = [(rule, name) for rule, name in named if name is not None]
            if not decided:
                with_body = [rule for rule in pending if rule.body] or pending
                decided = [(with_body[0], self.best(with_body[0]))]
            for rule, name in decided:
                self.join(rule, name, members, own, stage, routes)
            done = {id(rule) for rule, _ in decided}
            pending = [rule for rule in pending if id(rule) not in done]
        return own, routes

    def name(self, rule: Rule, placed: Placed) -> str | None:
        """The variable to join on, where the key position of something derived is already decided."""
        for atomic in (rule.head, *rule.body):
            if atomic.node in placed:
                (key,) = placed[atomic.node]
                name = next((name for name, path in atomic.paths.items() if path == key), None)
                if name is not None:
                    return name
                if rule.body:
                    raise _Failed(
                        rule.statement, f"it does not join on the same argument of {show(atomic.node)}"
                    )
                return ""
        return None

    def best(self, rule: Rule) -> str:
        """The most promising variable of a rule of which nothing is decided."""
        if not rule.head.paths:
            raise _Failed(rule.statement, f"{show(rule.head.node)} has no argument to split by")
        in_body = [n for n in rule.head.paths if any(n in atomic.paths for atomic in rule.body)]
        candidates = in_body or list(rule.head.paths)
        return max(candidates, key=lambda name: self.rank[rule.head.node, rule.head.paths[name]])

    def join(
        self,
        rule: Rule,
        name: str,
        members: set[Node],
        own: dict[Node, Positions],
        stage: Placed,
        routes: set[Route],
    ) -> None:
        if rule.counts is not None and name not in rule.counts:
            raise _Failed(rule.statement, "its window counts the atoms of the whole stream")
        if not rule.body and rule.head.node in own:
            return
        for atomic in (rule.head, *rule.body):
            path = atomic.paths.get(name)
            key = own.get(atomic.node) or stage.get(atomic.node)
            if path is not None and key in (None, (path,)):
                if atomic.node in members:
                    own[atomic.node] = (path,)
                elif key is None:
                    routes.add(Route(atomic.node, (path,), (0,)))
            elif path is None and atomic.node in self.inputs:
                routes.add(Route(atomic.node, (), ()))
            elif atomic.node in self.domains:
                raise _Failed(
                    rule.statement, f"it ranges over {show(atomic.node)}, which the whole stream fills"
                )
            else:
                raise _Failed(rule.statement, f"it joins {show(atomic.node)} on another argument than {name}")

    # -------------------------------------------------------------- a relation key

    def by_relation(self, component: Component, stage: Placed) -> tuple[dict[Node, Positions], set[Route]]:
        """The same for a component that relates entities: the key is all arguments of the heads."""
        rules = self.own[id(component)]
        key = tuple(sorted(rules[0].head.paths.values()))
        if len(key) < 2:
            raise _Failed(rules[0].statement)
        own = dict.fromkeys((plain(node) for node in component.members), key)
        routes: set[Route] = set()
        for rule in rules:
            if rule.counts is not None:
                raise _Failed(rule.statement, "its window counts the atoms of the whole stream")
            if tuple(sorted(rule.head.paths.values())) != key:
                raise _Failed(rule.statement, _why_related(rule))
            self.relate(rule, key, {**_of(rule, stage), **own}, routes)
        return own, routes

    def relate(self, rule: Rule, key: Positions, placed: Placed, routes: set[Route]) -> None:
        """Instances whose arguments do not all occur in the body are known where they are; any other head needs a
        positive literal that names its whole key."""
        part = {name: key.index(path) for name, path in rule.head.paths.items()}
        somewhere = rule.known.union(*(atomic.paths for atomic in rule.body))
        guarded = not rule.body or any(name not in somewhere for name in part)
        for atomic in rule.body:
            order = sorted((name for name in atomic.paths if name in part), key=part.__getitem__)
            positions, parts = tuple(atomic.paths[n] for n in order), tuple(part[n] for n in order)
            guarded |= atomic.positive and len(parts) == len(key)
            if atomic.node not in placed:
                if atomic.node in self.domains and len(parts) < len(atomic.paths):
                    raise _Failed(
                        rule.statement, f"it ranges over {show(atomic.node)}, which the whole stream fills"
                    )
                if not parts and atomic.node not in self.inputs:
                    raise _Failed(rule.statement, f"it joins {show(atomic.node)} on none of its arguments")
                routes.add(Route(atomic.node, positions, parts))
            elif parts != tuple(range(len(key))) or positions != placed[atomic.node]:
                raise _Failed(rule.statement, f"it relates different instances of {show(atomic.node)}")
        if not guarded and rule.statement not in self.groundings:
            raise _Failed(rule.statement, f"no event or fluent relates {' and '.join(rule.head.paths)}")

    # -------------------------------------------------------------- dynamic domains

    def filled(self, routes: set[Route]) -> Iterator[Route]:
        """The routes, with those of dynamic domains replaced by routes of the inputs that fill them."""
        for route in routes:
            if route.node not in self.domains:
                yield route
                continue
            for node in self.inputs:
                for rule in self.rules.get(node, ()):
                    yield from self.filling(rule, route)

    def filling(self, rule: Rule, route: Route) -> Iterator[Route]:
        for atomic in rule.body:
            if atomic.node == route.node:
                names = {path: name for name, path in atomic.paths.items()}
                wanted = [names.get(position) for position in route.positions]
                if all(name in rule.head.paths for name in wanted):
                    yield Route(rule.head.node, tuple(rule.head.paths[str(n)] for n in wanted), route.parts)


def _of(rule: Rule, stage: Placed) -> dict[Node, Positions]:
    """The part of the placement that the rule touches."""
    return {a.node: stage[a.node] for a in (rule.head, *rule.body) if a.node in stage}


def _why_related(rule: Rule) -> str:
    others = {name for atomic in rule.body for name in atomic.paths} - set(rule.head.paths)
    if others:
        return f"it relates different entities through {', '.join(sorted(others))}"
    return "its head has other arguments than the heads of the rules around it"


# --------------------------------------------------------------------------- stages


def _keyed_stage(
    planner: _Planner, remaining: list[Component], *, relation: bool
) -> tuple[Stage | None, list[Component], Obstacle | None]:
    """The largest stage of one kind that can come next, what is left, and the first obstacle."""
    stage: dict[Node, Positions] = {}
    routes: set[Route] = set()
    blocked: set[Node] = set()
    taken: list[Component] = []
    left: list[Component] = []
    first: Obstacle | None = None
    for component in remaining:
        members = {plain(node) for node in component.members}
        try:
            if planner.reads(component) & blocked - members:
                raise _Failed(component.rules[0])
            own, read = (planner.by_relation if relation else planner.by_entity)(component, stage)
            if stage and own and len(next(iter(stage.values()))) != len(next(iter(own.values()))):
                raise _Failed(component.rules[0])
        except _Failed as failure:
            first = first or (failure.obstacle if failure.obstacle.reason else None)
            left.append(component)
            blocked |= members
            continue
        stage.update(own)
        routes |= read
        taken.append(component)
    if not taken:
        return None, left, first
    width = len(next(iter(stage.values())))
    whole = tuple(range(width))
    every = {Route(node, key, whole) for node, key in stage.items()} | set(planner.filled(routes))
    return Stage(_members(taken), tuple(sorted(every, key=_in_order)), width), left, first


def _in_order(route: Route) -> tuple[object, ...]:
    return route.node.kind, route.node.name, route.node.arity, route.parts, route.positions


def _members(taken: list[Component]) -> tuple[Node, ...]:
    return tuple(node for component in taken for node in component.members)


def _single_stage(
    planner: _Planner, remaining: list[Component], obstacle: Obstacle | None, all_of_it: bool
) -> tuple[Stage, list[Component]]:
    """One shard for the first component and for all that have nothing to be split by, as far as they do not read
    what is left for later stages."""
    ready: list[Component] = []
    left: list[Component] = []
    later: set[Node] = set()
    for index, component in enumerate(remaining):
        bare = all(not rule.head.paths for rule in planner.own[id(component)])
        if (all_of_it or index == 0 or bare) and not planner.reads(component) & later:
            ready.append(component)
        else:
            left.append(component)
            later |= {plain(node) for node in component.members}
    return Stage(_members(ready), (), 0, obstacle), left


def reasoning_keys(
    program: Program, found: Dependencies | None = None, known: Entities | None = None
) -> Keys:
    """The stages in which the program can be split, each with its key or with what prevents one."""
    known = known or entities(program)
    planner = _Planner(program, found or dependencies(program, known), known)
    remaining = planner.components
    stages: list[Stage] = []
    while remaining:
        stage, left, obstacle = _keyed_stage(planner, remaining, relation=False)
        if stage is None:
            stage, left, related = _keyed_stage(planner, remaining, relation=True)
            obstacle = related or obstacle
        if stage is None or len(stages) >= MOST_STAGES:
            stage, left = _single_stage(planner, remaining, obstacle, len(stages) >= MOST_STAGES)
        stages.append(stage)
        remaining = left
    return Keys(_merged(stages))


def _merged(stages: list[Stage]) -> tuple[Stage, ...]:
    """Neighbouring stages of one shard are one."""
    merged: list[Stage] = []
    for stage in stages:
        if merged and stage.width == 0 and merged[-1].width == 0:
            merged[-1] = replace(merged[-1], members=merged[-1].members + stage.members)
        else:
            merged.append(stage)
    return tuple(merged)
