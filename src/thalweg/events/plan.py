"""The plan: stores and units of a program, in the order in which a query evaluates them.

The dependency graph is over stores. A component without a cycle is one unit. A component of simple fluents whose mutual
conditions can be grounded is one sweep. Any other cycle (through determined fluents, derived events, edges,
counting) is a loop: its units run in rounds until nothing changes, which ends because every way round passes a
simple fluent and so moves on in time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from thalweg.analysis.order import strong_components
from thalweg.columns.points import Bench
from thalweg.columns.spans import RELATIONS
from thalweg.columns.symbols import SymbolTable
from thalweg.events.bounds import PAST, VIEW, hidden
from thalweg.events.compile import BodyCompiler, Catalogue
from thalweg.events.components import compile_head, delay_plans, sweep_unit
from thalweg.events.determined import InputUnit, SpanUnit, ViewUnit
from thalweg.events.drivers import Body, EdgeDriver, EventDriver
from thalweg.events.evaluation import SpanPlan
from thalweg.events.expressions import (
    Apply,
    Complement,
    Lasting,
    Leaf,
    Node,
    Related,
    Whole,
    leaves,
    required,
)
from thalweg.events.forms import (
    EdgeAt,
    EffectAt,
    EventAt,
    Flat,
    HoldsAt,
    Normal,
    SpanRule,
    StartRule,
    literals,
    names,
)
from thalweg.events.frames import Frame, Reader, Slot, run_steps
from thalweg.events.outline import outline
from thalweg.events.relations import refuse
from thalweg.events.simple import SimpleUnit
from thalweg.events.stores import EventStore, FluentStore
from thalweg.events.sweeping import SweepUnit
from thalweg.events.units import EventUnit, FluentUnit
from thalweg.language.program import Program
from thalweg.language.rules import Allen, Combine, Duration
from thalweg.language.terms import Term, Variable, variables
from thalweg.protocol import Ints

Unit = EventUnit | SimpleUnit | SweepUnit | SpanUnit | InputUnit | ViewUnit
Key = tuple[str, str]
MEASURES = {">": 0, ">=": 1, "<": 2, "=<": 3}


@dataclass(slots=True)
class Stage:
    """Units that are evaluated together; `loop` says in rounds."""

    units: list[Unit]
    loop: bool
    inside: frozenset[int] = frozenset()


@dataclass(slots=True)
class Plan:
    """Everything that a reasoner needs to run a program."""

    normal: Normal
    catalogue: Catalogue
    stages: list[Stage]
    inputs: dict[str, InputUnit]
    input_events: dict[str, EventStore]
    seeds: list[tuple[SimpleUnit | SweepUnit, FluentStore, Ints, Ints]]
    outputs: list[tuple[FluentUnit, int, FluentStore]] = field(default_factory=list)
    derived: list[EventUnit] = field(default_factory=list)
    pointwise: set[str] = field(default_factory=set)

    @property
    def symbols(self) -> SymbolTable:
        return self.catalogue.coder.symbols

    def units(self) -> Iterable[Unit]:
        for stage in self.stages:
            yield from stage.units


def plan(program: Program, *, tick: int = 1, start: int = 0, symbols: SymbolTable | None = None) -> Plan:
    """Compile a program."""
    return _Planner(program, tick, start, symbols).run()


class _Planner:
    def __init__(self, program: Program, tick: int, start: int, symbols: SymbolTable | None = None) -> None:
        self.tick = tick
        self.start = start
        found = outline(program)
        self.normal, self.seed_rules = found.normal, found.seeds
        self.input_fluents, self.simple = found.input_fluents, found.simple
        self.delayed = {d.fluent for d in found.normal.delays}
        self.effects, self.happenings, self.spans = found.effects, found.happenings, found.spans
        coder, facts = found.coded(symbols)
        self.catalogue = Catalogue(coder, tick, start, facts, found.settled)
        self._stores()

    # ----------------------------------------------------------------- stores

    def _stores(self) -> None:
        c, normal = self.catalogue, self.normal
        for name, arity in normal.events.items():
            c.events[name] = EventStore(name, arity)
        for name in self.simple:
            c.simple[name] = FluentStore(name, normal.fluents[name], by_value=False, hidden=hidden(name))
        for name in (*self.spans, *sorted(self.input_fluents)):
            c.determined[name] = FluentStore(name, normal.fluents[name], by_value=True, hidden=hidden(name))
            c.determined[name].keeps_past = name.startswith(PAST)
        for name in self._views():
            c.determined[name] = FluentStore(name, normal.fluents[name], by_value=True, hidden=True)

    def _views(self) -> list[str]:
        return sorted(f for f in self.normal.fluents if f.startswith(VIEW))

    # ----------------------------------------------------------------- graph

    def run(self) -> Plan:
        keys = self._keys()
        graph = {k: sorted(self._reads(k)) for k in keys}
        stages: list[Stage] = []
        self.unit_of: dict[int, tuple[FluentUnit, int]] = {}
        self.bench = Bench()
        self.plan = Plan(self.normal, self.catalogue, stages, {}, {}, [], pointwise=set(self.normal.pointwise))
        for name, store in self.catalogue.events.items():
            if name not in self.happenings:
                self.plan.input_events[name] = store
        for component in strong_components(graph, graph):
            members = [k for k in component if k in graph]
            stage = self._stage(members, any(k in graph[k] for k in members) or len(members) > 1)
            stages.append(stage)
        self._edges()
        _share([h.body for unit in self.plan.units() for h in getattr(unit, "heads", ())])
        self._seed()
        self._outputs()
        for store in self.plan.input_events.values():
            store.primary()
        return self.plan

    def _keys(self) -> list[Key]:
        keys: list[Key] = [("input", n) for n in sorted(self.input_fluents)]
        keys += [("event", n) for n in sorted(self.happenings)]
        keys += [("simple", n) for n in sorted(self.simple)]
        keys += [("determined", n) for n in sorted(self.spans)]
        keys += [("view", n) for n in self._views()]
        return keys

    def _fluent_keys(self, name: str) -> set[Key]:
        found: set[Key] = set()
        if name in self.simple:
            found.add(("simple", name))
        if name in self.spans:
            found.add(("determined", name))
        if name in self.input_fluents:
            found.add(("input", name))
        if name.startswith(VIEW):
            found.add(("view", name))
        return found

    def _reads(self, key: Key) -> set[Key]:
        kind, name = key
        found: set[Key] = set()
        if kind in ("event", "simple"):
            for p in (self.happenings if kind == "event" else self.effects).get(name, ()):
                found |= self._literals(p.body)
        elif kind == "view":
            found.add(("simple", name.removeprefix(VIEW)))
        elif kind == "determined":
            for s in self.spans[name]:
                found |= self._literals((*(x for _, x in s.inputs), *s.gates, *s.tests))
        return found

    def _literals(self, body: Sequence[Flat]) -> set[Key]:
        found: set[Key] = set()
        for x in literals(body):
            match x:
                case EventAt(relation, _, _):
                    if relation in self.happenings:
                        found.add(("event", relation))
                case HoldsAt() | EdgeAt() | EffectAt():
                    found |= self._fluent_keys(x.fluent)
                case _:
                    pass
        return found

    # ----------------------------------------------------------------- stages

    def _stage(self, members: list[Key], cyclic: bool) -> Stage:
        if cyclic:
            sweep = self._sweep(members)
            if sweep is not None:
                return Stage([sweep], loop=False)
        units = [self._unit(k) for k in members]
        if cyclic:
            for unit in units:
                _probe_again(unit)
        inside = frozenset(id(s) for s in self._inside(members)) if cyclic else frozenset()
        return Stage(units, loop=cyclic, inside=inside)

    def _inside(self, members: list[Key]) -> list[EventStore | FluentStore]:
        c = self.catalogue
        stores: dict[str, dict[str, EventStore] | dict[str, FluentStore]] = {
            "event": c.events,
            "simple": c.simple,
            "determined": c.determined,
            "input": c.determined,
            "view": c.determined,
        }
        return [stores[kind][name] for kind, name in members]

    def _unit(self, key: Key) -> Unit:
        kind, name = key
        c = self.catalogue
        if kind == "input":
            given = self.plan.inputs[name] = InputUnit(c.determined[name])
            unit: Unit = given
        elif kind == "view":
            unit = ViewUnit(c.determined[name], c.simple[name.removeprefix(VIEW)])
        elif kind == "event":
            unit = EventUnit(c.events[name], [compile_head(c, p) for p in self.happenings[name]])
            self.plan.derived.append(unit)
        elif kind == "determined":
            unit = SpanUnit(c.determined[name], [self._span(s) for s in self.spans[name]])
        elif name in self.delayed:
            heads = [compile_head(c, p) for p in self.effects.get(name, ())]
            unit = SweepUnit([c.simple[name]], heads, delay_plans(c, self.normal, [name]), linked=False)
        else:
            unit = SimpleUnit(c.simple[name], [compile_head(c, p) for p in self.effects.get(name, ())], self.bench)
        if isinstance(unit, FluentUnit):
            for at, store in enumerate(unit.stores):
                self.unit_of[id(store)] = (unit, at)
        return unit

    def _sweep(self, members: list[Key]) -> SweepUnit | None:
        """One sweep for the component, where that is possible."""
        fluents = [name for kind, name in members if kind == "simple" and name not in self.spans]
        if len(fluents) < len(members):
            return None
        own = set(members)
        unit = sweep_unit(
            self.catalogue, self.normal, self.effects, fluents, lambda x: not own.isdisjoint(self._literals((x,)))
        )
        if unit is not None:
            for at, store in enumerate(unit.stores):
                self.unit_of[id(store)] = (unit, at)
        return unit

    # ----------------------------------------------------------------- determined fluents

    def _span(self, s: SpanRule) -> SpanPlan:
        c = self.catalogue
        scope, s = id(s), self.catalogue.with_numbers(s)
        compiler = BodyCompiler(c, scope, s.span, None)
        every = names((*(x for _, x in s.inputs), *s.gates))
        leaf_of = {name: self._leaf(compiler, x) for name, x in s.inputs}
        node = self._node(s, Variable(s.result), leaf_of)
        gates = [self._leaf(compiler, x) for x in s.gates]
        needed = required(node) + gates
        joins = []
        order: tuple[str, ...] = ()
        for leaf in leaves(node) + gates:
            bound = {slot.name for slot in leaf.slots if slot.name is not None}
            others: list[tuple[FluentStore, tuple[Slot, ...]]] = []
            for other in needed:
                if other is not leaf:
                    mine = {slot.name for slot in other.slots if slot.name is not None}
                    if mine - bound or other.store is not leaf.store:
                        others.append((other.store, other.slots))
                        bound |= mine
            if every - bound:
                raise refuse(
                    f"variable {', '.join(sorted(every - bound))} is not bound", s.span, "add a fluent that binds it"
                )
            steps = compiler.steps(s.tests, bound, set())
            order = tuple(sorted(bound))
            joins.append((leaf, others, steps))
        alone = None if every else compiler.steps(s.tests, set(), set())
        bound = set(order) | every
        head = compiler.match("fluent", s.fluent, s.args, bound).slots
        head += (compiler.slot(s.value, ("value", s.fluent, 0), bound),)
        if any(slot.binds for slot in head):
            raise refuse("a variable of the head is not bound", s.span, "add a fluent that binds it")
        return SpanPlan(node, order, head, joins, gates, alone, self.start, self.tick)

    def _leaf(self, compiler: BodyCompiler, x: HoldsAt) -> Leaf:
        stores = self.catalogue.fluents(x.fluent)
        if len(stores) > 1:
            own = self._holds_value(x)
            stores = [s for s in stores if s.by_value == own]
        store = stores[0]
        slots = [replace(s, binds=False) for s in compiler.match("fluent", x.fluent, x.args, set()).slots]
        value = replace(compiler.slot(x.value, ("value", x.fluent, 0), set()), binds=False)
        if store.by_value:
            return Leaf(store, (*slots, value), None)
        return Leaf(store, tuple(slots), value)

    def _holds_value(self, x: HoldsAt) -> bool:
        """For a fluent with simple and determined values: is this value a determined one? A variable is meant so: what
        may be of both kinds is read through a fluent for both."""
        return isinstance(x.value, Variable) or any(s.value == x.value for s in self.spans.get(x.fluent, []))

    def _node(self, s: SpanRule, term: Term, leaf_of: dict[str, Leaf]) -> Node:
        if not isinstance(term, Variable):
            return Apply(0, ())
        if term.name in leaf_of:
            return leaf_of[term.name]
        step = next((x for x in s.steps if x.result == term), None)
        match step:
            case None:
                raise refuse(f"nothing says what {term.name} is", s.span, "add a holdsFor or an interval operation")
            case Combine("complement_all", inputs):
                return Complement(tuple(self._node(s, t, leaf_of) for t in inputs))
            case Combine("relative_complement_all", inputs, base=base) if base is not None:
                return Apply(2, tuple(self._node(s, t, leaf_of) for t in (base, *inputs)))
            case Combine(op, inputs):
                code = 0 if op == "union_all" else 1
                return Apply(code, tuple(self._node(s, t, leaf_of) for t in inputs))
            case Duration(op, intervals, bound):
                inner = self._node(s, intervals, leaf_of)
                if not isinstance(inner, Leaf | Lasting):
                    inner = Whole(inner)
                    inner.keeps_past = inner.judges_lengths
                return Lasting(MEASURES[op], inner, bound)
            case Allen(relation, left, right, mode):
                a, b = (Whole(self._node(s, t, leaf_of), keeps_past=True) for t in (left, right))
                return Related(RELATIONS.index(relation), a, b, mode)
            case _:
                raise TypeError(step)

    # ----------------------------------------------------------------- finishing

    def _edges(self) -> None:
        """Tell each fluent unit which rules wait for its edges."""
        for unit in self.plan.units():
            for head in getattr(unit, "heads", ()):
                driver = head.body.driver
                if isinstance(driver, EdgeDriver):
                    driver.from_before = driver.store.hidden or getattr(head.store, "hidden", False)
                    owner, _ = self.unit_of[id(driver.store)]
                    owner.edge_drivers.append(driver)

    def _seed(self) -> None:
        for rule in self.seed_rules:
            unit, _ = self.unit_of[id(self.catalogue.simple[rule.fluent])]
            store = self.catalogue.simple[rule.fluent]
            ids, values = self._solutions(rule, store)
            if len(ids):
                assert isinstance(unit, SimpleUnit | SweepUnit)
                self.plan.seeds.append((unit, store, ids, values))

    def _solutions(self, rule: StartRule, store: FluentStore) -> tuple[Ints, Ints]:
        compiler = BodyCompiler(self.catalogue, id(rule), rule.span, None)
        bound: set[str] = set()
        outer = {v.name for t in (*rule.args, rule.value) for v in variables(t)}
        steps = compiler.steps(rule.body, bound, outer)
        frame = Frame(np.full(1, self.start), {}, np.zeros(1, np.int64))
        frame = run_steps(steps, frame, Reader(before=False))
        slots = compiler.match("fluent", rule.fluent, rule.args, bound).slots
        value = compiler.slot(rule.value, ("value", rule.fluent, 0), bound)
        ids = store.intern([s.column(frame) for s in slots], len(frame))
        pairs = np.unique(np.column_stack([ids, value.column(frame)]), axis=0)
        return pairs[:, 0], pairs[:, 1]

    def _outputs(self) -> None:
        for unit in self.plan.units():
            if isinstance(unit, InputUnit) or not isinstance(unit, FluentUnit):
                continue
            for at, store in enumerate(unit.stores):
                if not store.hidden:
                    self.plan.outputs.append((unit, at, store))


def _probe_again(unit: Unit) -> None:
    """The rounds of a loop ask again for events of the same query."""
    for head in getattr(unit, "heads", ()):
        driver = head.body.driver
        if isinstance(driver, EventDriver):
            for trigger in head.body.triggers:
                driver.store.index(tuple(d for _, d in trigger.shared), probed=True)


def _share(bodies: Sequence[Body]) -> None:
    """Find work that several bodies begin with, so that it is done once."""
    seen: Counter[str] = Counter()
    prefixes: list[list[str]] = []
    for body in bodies:
        prefix = [f"{id(body.driver.store)} {body.keys[0]}"]
        for key in body.keys[1:]:
            prefix.append(f"{prefix[-1]} / {key}")
        prefixes.append(prefix)
        seen.update(set(prefix))
    for body, prefix in zip(bodies, prefixes, strict=True):
        body.shared = {n: prefix[n] for n in range(len(body.steps)) if seen[prefix[n]] > 1}
    used: dict[str, frozenset[str]] = {}
    for body, prefix in zip(bodies, prefixes, strict=True):
        used[prefix[0]] = used.get(prefix[0], frozenset()) | body.driver.used
    for body, prefix in zip(bodies, prefixes, strict=True):
        body.driver.used = used[prefix[0]]
