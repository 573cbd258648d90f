"""How a program can be split over machines: the reasoning key, stage by stage.

A *stage* is a group of components that can run in shards. Its key is one argument position per event or
fluent such that every rule of the group joins only on it: the key positions of the head and of every event
and fluent read hold one variable. Background knowledge is everywhere. Components that relate entities,
``rendezVous(V1, V2)``, follow in a stage keyed by all the related arguments, where a positive literal
names them together; what else they read is routed to the keys that need it. What has no key runs as one
shard, and the rule that prevents one is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from thalweg.analysis.dependencies import Component, Dependencies, Node, dependencies
from thalweg.analysis.joins import Atomic, Path, Rule, reduced_rules
from thalweg.analysis.roles import INPUT_PARTS, Entities, entities
from thalweg.language.program import Program

MOST_STAGES = 50


class Route(NamedTuple):
    """Rows of `node` go to the shards by the arguments at `positions`, which are the parts `parts` of the
    key. All parts: to one shard; some: to every key with those parts; none: everywhere."""

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
    """Components that run together. `width` is the number of parts of the key, 0 for one shard; `owned`
    lists rules whose heads come from background knowledge alone, to be kept only where the key belongs to
    the shard."""

    members: tuple[Node, ...]
    routes: tuple[Route, ...]
    width: int
    owned: tuple[int, ...] = ()
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True)
class Keys:
    """The stages in order of evaluation."""

    stages: tuple[Stage, ...]

    @property
    def partitioned(self) -> bool:
        """True when one entity key serves the whole program."""
        return len(self.stages) == 1 and self.stages[0].width == 1


# --------------------------------------------------------------------------- one stage


class _Failed(Exception):
    def __init__(self, rule: int, reason: str) -> None:
        super().__init__(reason)
        self.obstacle = Obstacle(rule, reason)


Placement = dict[Node, Path | None]
"""The key position of each node of a stage; None: its rows go everywhere."""


class _Planner:
    def __init__(self, program: Program, found: Dependencies, known: Entities) -> None:
        self.rules: dict[Node, list[Rule]] = {}
        self.rank: Counter[tuple[Node, Path]] = Counter()
        for rule in reduced_rules(program, known):
            self.rules.setdefault(rule.head.node, []).append(rule)
            self.count(rule)
        self.components = found.components
        self.inputs = {node for node, part in found.parts.items() if part in INPUT_PARTS}

    def count(self, rule: Rule) -> None:
        """How many rules could join on a position: what decides between several possible keys."""
        for name, path in rule.head.paths.items():
            if all(name in atomic.paths for atomic in rule.body):
                self.rank[rule.head.node, path] += 1
                for atomic in rule.body:
                    self.rank[atomic.node, atomic.paths[name]] += 1

    def whole(self, component: Component) -> list[Rule]:
        """The rules of the component's nodes; values of one fluent share their rules' placement."""
        wanted = set(component.rules)
        nodes = dict.fromkeys(plain(node) for node in component.members)
        return [rule for node in nodes for rule in self.rules.get(node, ()) if rule.statement in wanted]

    # -------------------------------------------------------------- an entity key

    def place(self, component: Component, fixed: Placement, here: set[Node]) -> Placement:
        """Extend the placement by the component; raises _Failed when a rule joins on something else."""
        own: Placement = {}
        members = {plain(node) for node in component.members}
        pending = [rule for rule in self.whole(component) if rule.body]
        while pending:
            known = [rule for rule in pending if self.placed(rule, fixed, own)] or pending[:1]
            for rule in known:
                self.join(rule, fixed, own, members, here)
            done = {id(rule) for rule in known}
            pending = [rule for rule in pending if id(rule) not in done]
        for rule in self.whole(component):
            if _position(rule.head.node, fixed, own) is None:
                self.assign(rule, rule.head, self.choose(rule, fixed, own), fixed, own)
        return own

    def placed(self, rule: Rule, fixed: Placement, own: Placement) -> bool:
        return any(_position(atomic.node, fixed, own) is not None for atomic in (rule.head, *rule.body))

    def join(self, rule: Rule, fixed: Placement, own: Placement, members: set[Node], here: set[Node]) -> None:
        if rule.counts:
            raise _Failed(rule.statement, "its window counts the atoms of the whole stream")
        name = self.choose(rule, fixed, own)
        self.assign(rule, rule.head, name, fixed, own)
        for atomic in rule.body:
            if name in atomic.paths or atomic.node in members or atomic.node in here:
                self.assign(rule, atomic, name, fixed, own)
            elif _position(atomic.node, fixed, own) is not None or atomic.node not in self.inputs:
                raise _Failed(rule.statement, f"it joins {show(atomic.node)} on another argument than {name}")
            else:
                own[atomic.node] = None
        carriers = [atomic for atomic in rule.body if name in atomic.paths]
        if carriers and not any(a.positive and _position(a.node, fixed, own) is not None for a in carriers):
            raise _Failed(rule.statement, f"no positive literal ties {name} to one shard")

    def choose(self, rule: Rule, fixed: Placement, own: Placement) -> str:
        """The variable to join on: one at a key position that is already decided, else the most promising."""
        for atomic in (rule.head, *rule.body):
            path = _position(atomic.node, fixed, own)
            for name, at in atomic.paths.items():
                if at == path:
                    return name
        if not rule.head.paths:
            raise _Failed(rule.statement, f"{show(rule.head.node)} has no argument to split by")
        in_body = [n for n in rule.head.paths if any(n in atomic.paths for atomic in rule.body)]
        candidates = in_body or list(rule.head.paths)
        return max(candidates, key=lambda name: self.rank[rule.head.node, rule.head.paths[name]])

    def assign(self, rule: Rule, atomic: Atomic, name: str, fixed: Placement, own: Placement) -> None:
        path = atomic.paths.get(name)
        if path is None:
            raise _Failed(rule.statement, f"{show(atomic.node)} does not carry {name}")
        decided = _position(atomic.node, fixed, own)
        everywhere = (atomic.node in fixed and fixed[atomic.node] is None) or (
            atomic.node in own and own[atomic.node] is None
        )
        if everywhere and atomic is rule.head:
            raise _Failed(rule.statement, f"{show(atomic.node)} would be computed everywhere")
        if decided is not None and decided != path:
            raise _Failed(rule.statement, f"{show(atomic.node)} is joined on two different arguments")
        if not everywhere:
            own[atomic.node] = path

    # -------------------------------------------------------------- a relation key

    def relate(
        self, component: Component, placed: Mapping[Node, tuple[Path, ...]]
    ) -> tuple[tuple[Path, ...], list[Route]]:
        """Key positions of the members and routes of what they read, for a component that relates entities.
        `placed` are the key positions of what is already in the stage."""
        members = {plain(node) for node in component.members}
        key: tuple[Path, ...] | None = None
        routes: dict[Route, None] = {}
        for rule in self.whole(component):
            paths = tuple(sorted(rule.head.paths.values()))
            if rule.counts:
                raise _Failed(rule.statement, "its window counts the atoms of the whole stream")
            if key is None:
                key = paths
            if len(paths) < 2:
                raise _Failed(rule.statement, "")
            if paths != key:
                raise _Failed(rule.statement, self.why_related(rule))
            if rule.body:
                self.route(rule, key, {**placed, **dict.fromkeys(members, key)}, routes)
        return key or (), list(routes)

    def why_related(self, rule: Rule) -> str:
        others = {name for atomic in rule.body for name in atomic.paths} - set(rule.head.paths)
        if others:
            return f"it relates different entities through {', '.join(sorted(others))}"
        return "it joins on different arguments than the rules around it"

    def route(
        self,
        rule: Rule,
        key: tuple[Path, ...],
        placed: Mapping[Node, tuple[Path, ...]],
        routes: dict[Route, None],
    ) -> None:
        """Where the literals of a rule must be for the keys of its head. Instances whose arguments do not all occur
        in the body are known where they are; any other head needs a literal that names its whole key."""
        part = {name: key.index(path) for name, path in rule.head.paths.items()}
        guarded = any(all(name not in atomic.paths for atomic in rule.body) for name in part)
        for atomic in rule.body:
            order = sorted((name for name in atomic.paths if name in part), key=part.__getitem__)
            positions, parts = tuple(atomic.paths[n] for n in order), tuple(part[n] for n in order)
            guarded |= atomic.positive and len(parts) == len(key)
            if atomic.node not in placed:
                routes[Route(atomic.node, positions, parts)] = None
            elif parts != tuple(range(len(key))) or positions != placed[atomic.node]:
                raise _Failed(rule.statement, f"it relates different instances of {show(atomic.node)}")
        if not guarded:
            raise _Failed(rule.statement, f"no event or fluent relates {' and '.join(rule.head.paths)}")


def _position(node: Node, fixed: Placement, own: Placement) -> Path | None:
    return own.get(node) or fixed.get(node)


def plain(node: Node) -> Node:
    """The node of the fluent, for a node that stands for one of its values."""
    return node._replace(value=None)


def show(node: Node) -> str:
    return f"`{node.name}/{node.arity}`"


# --------------------------------------------------------------------------- all stages


def _entity_stage(
    planner: _Planner, remaining: list[Component]
) -> tuple[Stage | None, list[Component], Obstacle | None]:
    """The largest stage with an entity key that can come next, and what is left."""
    fixed: Placement = {}
    here: set[Node] = set()
    blocked: set[Node] = set()
    taken: list[Component] = []
    left: list[Component] = []
    first: Obstacle | None = None
    for component in remaining:
        try:
            if any(atomic.node in blocked for rule in planner.whole(component) for atomic in rule.body):
                raise _Failed(component.rules[0], "")
            own = planner.place(component, fixed, here)
        except _Failed as failure:
            first = first or (failure.obstacle if failure.obstacle.reason else None)
            left.append(component)
            blocked |= {plain(node) for node in component.members}
            continue
        fixed.update(own)
        here |= {plain(node) for node in component.members}
        taken.append(component)
    if not taken:
        return None, left, first
    routes = tuple(
        Route(node, (path,), (0,)) if path is not None else Route(node, (), ())
        for node, path in fixed.items()
    )
    return Stage(_members(taken), routes, 1, _owned(planner, taken)), left, first


def _relation_stage(
    planner: _Planner, remaining: list[Component]
) -> tuple[Stage | None, list[Component], Obstacle | None]:
    """A stage keyed by related arguments, of the components that can come next, and what is left."""
    blocked: set[Node] = set()
    left: list[Component] = []
    taken: list[Component] = []
    routes: dict[Route, None] = {}
    placed: dict[Node, tuple[Path, ...]] = {}
    width = 0
    first: Obstacle | None = None
    for component in remaining:
        reads = {atomic.node for rule in planner.whole(component) for atomic in rule.body}
        members = {plain(node) for node in component.members}
        try:
            if reads & blocked - members:
                raise _Failed(component.rules[0], "")
            key, own = planner.relate(component, placed)
            if width not in (0, len(key)):
                raise _Failed(component.rules[0], "")
        except _Failed as failure:
            first = first or (failure.obstacle if failure.obstacle.reason else None)
            left.append(component)
            blocked |= members
            continue
        width = len(key)
        routes.update(dict.fromkeys(own))
        placed.update(dict.fromkeys(members, key))
        taken.append(component)
    if not taken:
        return None, left, first
    routes.update({Route(node, key, tuple(range(width))): None for node, key in placed.items()})
    return Stage(_members(taken), tuple(routes), width, _owned(planner, taken)), left, first


def _members(taken: list[Component]) -> tuple[Node, ...]:
    return tuple(node for component in taken for node in component.members)


def _owned(planner: _Planner, taken: list[Component]) -> tuple[int, ...]:
    """The rules that read nothing: their heads belong where their key does."""
    return tuple(sorted({rule.statement for c in taken for rule in planner.whole(c) if not rule.body}))


def _single_stage(
    planner: _Planner, remaining: list[Component], obstacle: Obstacle | None, all_of_it: bool
) -> tuple[Stage, list[Component]]:
    """One shard for the first component, for all that have nothing to be split by, and what only they
    read."""
    taken = [
        component
        for index, component in enumerate(remaining)
        if all_of_it or index == 0 or all(not rule.head.paths for rule in planner.whole(component))
    ]
    ids = {id(component) for component in taken}
    left = [component for component in remaining if id(component) not in ids]
    ready = _without_unread(planner, taken, left)
    members = tuple(node for component in ready for node in component.members)
    ids = {id(component) for component in ready}
    return Stage(members, (), 0, (), obstacle), [c for c in remaining if id(c) not in ids]


def _without_unread(planner: _Planner, taken: list[Component], left: list[Component]) -> list[Component]:
    """Those of `taken` that do not read, through others, what is left for later stages."""
    later = {plain(node) for component in left for node in component.members}
    ready: list[Component] = []
    for component in taken:
        if any(atomic.node in later for rule in planner.whole(component) for atomic in rule.body):
            later |= {plain(node) for node in component.members}
        else:
            ready.append(component)
    return ready


def reasoning_keys(
    program: Program, found: Dependencies | None = None, known: Entities | None = None
) -> Keys:
    """The stages in which the program can be split, each with its key or with what prevents one."""
    known = known or entities(program)
    planner = _Planner(program, found or dependencies(program, known), known)
    remaining = [component for component in planner.components if planner.whole(component)]
    stages: list[Stage] = []
    while remaining:
        stage, left, obstacle = _entity_stage(planner, remaining)
        if stage is None:
            stage, left, related = _relation_stage(planner, remaining)
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
