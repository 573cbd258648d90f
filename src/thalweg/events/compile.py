"""Compiles flat bodies: a driver literal that brings rows, steps in a good order, and what else can change the result.

Because all literals are read at one time-point, a change of any literal affects exactly the driver rows at the changed
times that agree with it; `Trigger` finds them (or a few more, where the literal shares no variable with the driver).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from thalweg.columns.timelines import INITIATE, TERMINATE, TERMINATE_ALL
from thalweg.events.arithmetic import (
    AssignStep,
    CompareStep,
    CopyStep,
    MixedStep,
    SameStep,
    Settled,
    TimeStep,
    comes_first,
    settled,
)
from thalweg.events.background import constant_of
from thalweg.events.constants import Rule
from thalweg.events.drivers import Body, Driver, EdgeDriver, EffectDriver, EventDriver, Trigger, Value
from thalweg.events.forms import (
    EdgeAt,
    EffectAt,
    EventAt,
    Fact,
    Flat,
    HoldsAt,
    Missing,
    PointRule,
    Test,
    Total,
    names,
    rebuild,
)
from thalweg.events.frames import Match, Slot, Step
from thalweg.events.relations import Substitution, apply, refuse, unify
from thalweg.events.sorts import ARITHMETIC, NUMERIC, Coder, Node
from thalweg.events.steps import (
    EffectStep,
    EitherStep,
    EventStep,
    FactStep,
    HoldsStep,
    MissingStep,
    TotalStep,
)
from thalweg.events.stores import EventStore, FactStore, FluentStore
from thalweg.language.rules import Effect
from thalweg.language.terms import Atom, Compound, Number, Span, Term, Variable, variables

_MIRRORED = {"@<": "@>", "@>": "@<", "@=<": "@>=", "@>=": "@=<"}


@dataclass(slots=True)
class Catalogue:
    """The stores of a program by relation. A fluent may have a simple and a determined store. `settled` are the rules
    with numbers that facts give, by the identity of what they were."""

    coder: Coder
    tick: int
    start: int
    facts: Mapping[str, FactStore]
    settled: Mapping[int, Any]
    events: dict[str, EventStore] = field(default_factory=dict)
    simple: dict[str, FluentStore] = field(default_factory=dict)
    determined: dict[str, FluentStore] = field(default_factory=dict)

    def with_numbers(self, rule: Rule) -> Rule:
        """The rule with numbers that facts give to it."""
        found: Rule = self.settled[id(rule)]
        return found

    def fluents(self, name: str, only: str = "") -> list[FluentStore]:
        """The stores that may hold a pair of the fluent; with `only`, for values of that kind."""
        stores = {"simple": self.simple, "determined": self.determined}
        return [s[name] for kind, s in stores.items() if name in s and only in ("", kind)]


def solve(rule: PointRule) -> PointRule:
    """Substitute positive equations between variables and constants, so that literals share variables."""
    body = list(rule.body)
    while True:
        for at, x in enumerate(body):
            if isinstance(x, Test) and x.op == "=" and not x.negated and _plain(x.left) and _plain(x.right):
                binding: Substitution = {}
                if not unify(x.right, x.left, binding):  # of two variables the left one stays: it was written
                    break
                if any(name == rule.time for name in binding) or Variable(rule.time) in binding.values():
                    continue
                del body[at]
                rewritten = rebuild(replace(rule, body=tuple(body)), partial(apply, binding=binding))
                assert isinstance(rewritten, PointRule)
                rule = rewritten
                body = list(rule.body)
                break
        else:
            return rule
        if isinstance(x, Test) and x in body:
            return rule


def _binds(x: Flat) -> set[str]:
    """The variables that a literal can give values to. Others that it mentions are its own, where nobody binds them."""
    match x:
        case Missing():
            return set()
        case Total(result=result):
            return {v.name for v in variables(result)}
        case Test(op):
            return names([x]) if op in ("=", "is", "==") and not x.negated else set()
        case _:
            return set() if x.negated else names([x])


class _Open(NamedTuple):
    """A literal that has no step yet, the variables it mentions, and those it can give values to."""

    literal: Flat
    names: set[str]
    binds: set[str]


def _plain(term: Term) -> bool:
    return isinstance(term, Variable | Atom | Number)


class BodyCompiler:
    """Compiles the literals of one rule; `scope` names its variables to the sorts."""

    def __init__(self, catalogue: Catalogue, scope: int, span: Span, time: str | None) -> None:
        self.catalogue = catalogue
        self.scope = scope
        self.span = span
        self.time = time
        self.trail: list[str] = []

    # ----------------------------------------------------------------- slots

    def slot(self, term: Term, node: Node, bound: set[str]) -> Slot:
        if isinstance(term, Variable):
            return Slot(name=term.name, binds=term.name not in bound)
        return Slot(code=self.catalogue.coder.constant(term, node, self.span))

    def match(self, kind: str, name: str, args: Sequence[Term], bound: set[str]) -> Match:
        return Match(tuple(self.slot(t, (kind, name, i), bound) for i, t in enumerate(args)))

    # ----------------------------------------------------------------- ordering

    def steps(self, body: Sequence[Flat], bound: set[str], outer: set[str]) -> list[Step]:
        """Steps for all literals: cheap and bound ones first. `outer` are variables that others read, so a negation
        waits for them. Updates `bound`."""
        todo = [_Open(x, names([x]), _binds(x)) for x in body]
        out: list[Step] = []
        while todo:
            costs = [self._cost(todo, i, bound, outer) for i in range(len(todo))]
            best = costs.index(min(costs))
            if costs[best] >= 100:
                missing = sorted(n for n in todo[best].names - bound if not n.startswith("_"))
                raise refuse(
                    f"variable {', '.join(missing) or '_'} is not bound by a positive literal",
                    self.span,
                    "add a literal that gives it a value",
                )
            literal = todo.pop(best).literal
            more = self._steps(literal, bound, outer)
            self.trail += [repr(literal)] * len(more)
            out += more
        return out

    def _cost(self, todo: Sequence[_Open], i: int, bound: set[str], outer: set[str]) -> int:
        x, mine, _ = todo[i]
        free = mine - bound
        if self.time is not None and self.time in free and isinstance(x, Test | Total):
            free = free - {self.time}

        def waits(free: set[str]) -> bool:
            """Must a literal that binds none of these wait, as others bind one of them, or read it (`outer`)?"""
            given = (other.binds for k, other in enumerate(todo) if k != i)
            return bool(free) and not free.isdisjoint(outer.union(*given))

        match x:
            case Test(op, left, right, negated):
                if not free:
                    return 0
                if not negated and op in ("=", "is", "==") and self._assignable(left, right, bound):
                    return 1
                return 100
            case Total(_, _, _, result):
                waiting = free - {v.name for v in variables(result)}
                return 100 if waits(waiting) else 40
            case Missing(_, _):
                return 100 if waits(free) else 30
            case EventAt(negated=True) | HoldsAt(negated=True) | EdgeAt(negated=True) | EffectAt(negated=True) | Fact(
                negated=True
            ):
                return 100 if waits(free) else 12
            case Fact():
                if free and self._single(x, bound):
                    return 6
                return 5 + 10 * bool(free) + (30 if free and len(free) == len(mine) else 0)
            case _:
                return 10 + 10 * bool(free) + (30 if free and len(free) == len(mine) else 0)

    def _single(self, x: Fact, bound: set[str]) -> bool:
        """Is there at most one fact for what is bound, so that looking it up makes no more rows?"""
        given = tuple(i for i, t in enumerate(x.args) if not isinstance(t, Variable) or t.name in bound)
        return bool(given) and self.catalogue.facts[x.relation].lookup(given).single

    def _assignable(self, left: Term, right: Term, bound: set[str]) -> bool:
        for one, other in ((left, right), (right, left)):
            unbound = isinstance(one, Variable) and one.name not in bound
            if unbound and all(v.name in bound or v.name == self.time for v in variables(other)):
                return True
        return False

    # ----------------------------------------------------------------- literals

    def _steps(self, x: Flat, bound: set[str], outer: set[str]) -> list[Step]:
        c = self.catalogue
        match x:
            case EventAt(relation, args, negated):
                found = self.match("event", relation, args, bound)
                c.events[relation].index(found.positions, probed=True)
                step: Step = EventStep(c.events[relation], found, negated)
            case HoldsAt(_, _, _, negated, _) | EdgeAt(_, _, _, _, negated):
                ways = [self._holds(x, store, bound) for store in self._stores(x)]
                if negated:
                    return list(ways)
                step = ways[0] if len(ways) == 1 else EitherStep(ways)
            case EffectAt(effect, fluent, args, value, negated, every):
                store = c.simple.get(fluent)
                if store is None:
                    raise refuse(f"{fluent} has no initiatedAt or terminatedAt rules", self.span, "use start or end")
                store.reads_points = True
                match_ = self.match("fluent", fluent, args, bound)
                step = EffectStep(store, match_, self.slot(value, ("value", fluent, 0), bound), effect, negated, every)
            case Fact(relation, args, negated):
                step = FactStep(c.facts[relation], self.match("fact", relation, args, bound), negated)
            case Test():
                return self._test(x, bound)
            case Total():
                return self._total(x, bound, outer)
            case Missing(bodies, negated):
                trail = list(self.trail)
                step = MissingStep([self.steps(b, set(bound), outer) for b in bodies], negated)
                self.trail = trail
                return [*self._time(x, bound), step]
        if not getattr(x, "negated", False):
            bound |= names([x])
        return [step]

    def _stores(self, x: HoldsAt | EdgeAt) -> list[FluentStore]:
        return self.catalogue.fluents(x.fluent, x.only if isinstance(x, EdgeAt) else "")

    def _holds(self, x: HoldsAt | EdgeAt, store: FluentStore, bound: set[str]) -> Step:
        slots = [self.slot(t, ("fluent", x.fluent, i), bound) for i, t in enumerate(x.args)]
        value: Slot | None = self.slot(x.value, ("value", x.fluent, 0), bound)
        if store.by_value:
            assert value is not None
            slots.append(value)
            value = None
        edge = x.edge if isinstance(x, EdgeAt) else None
        shift = self.catalogue.tick if isinstance(x, HoldsAt) and x.next else 0
        return HoldsStep(store, Match(tuple(slots)), value, x.negated, self.catalogue.tick, edge, shift)

    def _time(self, x: Flat, bound: set[str]) -> list[Step]:
        if self.time is not None and self.time not in bound and self.time in names([x]):
            bound.add(self.time)
            return [TimeStep(self.time)]
        return []

    def _test(self, x: Test, bound: set[str]) -> list[Step]:
        before = self._time(x, bound)
        for one, other in ((x.left, x.right), (x.right, x.left)):
            if isinstance(one, Variable) and one.name not in bound:
                bound.add(one.name)
                if self._numeric(one) and not (isinstance(other, Atom) and x.op != "is"):
                    return [*before, AssignStep(one.name, other)]
                return [*before, CopyStep(one.name, self.slot(other, ("var", self.scope, one.name), bound))]
        sides = (x.left, x.right)
        if x.op in NUMERIC or any(isinstance(t, Compound) and t.functor in ARITHMETIC for t in sides):
            return [*before, CompareStep(x.op, x.left, x.right, x.negated)]
        if not any(isinstance(t, Variable) for t in sides):
            return [*before, Settled(settled(x.op, *map(constant_of, sides)) != x.negated)]
        kinds = [self._numeric(t) for t in sides]
        if all(kinds):
            return [*before, CompareStep(x.op, x.left, x.right, x.negated)]
        if not x.op.startswith("@"):
            return [*before, SameStep(x.op, *self._slots(x, bound), x.negated)]
        return [*before, self._ordered(x, kinds, bound)]

    def _ordered(self, x: Test, kinds: Sequence[bool], bound: set[str]) -> Step:
        """A comparison in the standard order, where not both sides are numbers."""
        symbols = self.catalogue.coder.symbols
        op, one, other = (x.op, x.left, x.right) if kinds[0] else (_MIRRORED[x.op], x.right, x.left)
        if not any(kinds) or not isinstance(one, Variable):
            return SameStep(x.op, *self._slots(x, bound), x.negated, symbols)
        if not isinstance(other, Variable):
            return Settled(comes_first(op) != x.negated)
        left, right = self._side(one, one, bound), self._side(other, other, bound)
        return MixedStep(op, left, right, x.negated, symbols)

    def _slots(self, x: Test, bound: set[str]) -> tuple[Slot, Slot]:
        variable = next((t for t in (x.left, x.right) if isinstance(t, Variable)), None)
        return self._side(x.left, variable, bound), self._side(x.right, variable, bound)

    def _side(self, term: Term, variable: Variable | None, bound: set[str]) -> Slot:
        node: Node = ("var", self.scope, variable.name) if variable else ("constant",)
        return self.slot(term, node, bound)

    def _numeric(self, term: Term) -> bool:
        if isinstance(term, Variable):
            return term.name == self.time or self.catalogue.coder.sorts.numeric(("var", self.scope, term.name))
        return isinstance(term, Number)

    def _total(self, x: Total, bound: set[str], outer: set[str]) -> list[Step]:
        before = self._time(x, bound)
        inner_bound = set(bound)
        trail = list(self.trail)
        inner = self.steps(x.body, inner_bound, outer)
        self.trail = trail
        name = x.result.name if isinstance(x.result, Variable) and x.result.name not in bound else None
        if name is not None:
            bound.add(name)
        return [*before, TotalStep(x.function, inner, x.template, name, x.result)]


def compile_body(catalogue: Catalogue, rule: PointRule, scope: int, outer: set[str], inner: Sequence[Flat]) -> Body:
    """Choose the driver, order the rest, and list the triggers. `inner` is the body without sweep conditions."""
    compiler = BodyCompiler(catalogue, scope, rule.span, rule.time)
    body = list(inner)
    at = _driver_position(catalogue, body)
    if at is None:
        raise refuse(
            "no event says when this rule applies", rule.span, "add a positive happensAt (or start/end) literal"
        )
    literal = body.pop(at)
    driver = _driver(compiler, literal)
    bound = set(driver.variables)
    steps = compiler.steps(body, bound, outer)
    again = Counter(slot.name for slot in driver.slots if slot.name is not None)
    driver.used = frozenset(names(body) | outer | {name for name, times in again.items() if times > 1})
    keys = [f"{type(driver).__name__}{literal} at {rule.time}", *compiler.trail]
    triggers = [t for x in body for t in _triggers(compiler, x, driver)]
    for t in triggers:
        driver.prepare(tuple(d for _, d in t.shared))
    if isinstance(driver, EventDriver) and not driver.store.indexes:
        driver.prepare((0,) if driver.store.arity else ())
    return Body(driver, steps, triggers, keys)


def _driver_position(catalogue: Catalogue, body: list[Flat]) -> int | None:
    ranked = []
    for i, x in enumerate(body):
        match x:
            case EventAt(negated=False):
                ranked.append((0, i))
            case EdgeAt(negated=False) if len(catalogue.fluents(x.fluent, x.only)) == 1:
                ranked.append((1, i))
            case EffectAt(negated=False):
                ranked.append((2, i))
            case _:
                pass
    return min(ranked)[1] if ranked else None


def _driver(compiler: BodyCompiler, x: Flat) -> Driver:
    c = compiler.catalogue
    match x:
        case EventAt(relation, args, _):
            slots = compiler.match("event", relation, args, set()).slots
            return EventDriver(slots, c.events[relation])
        case EdgeAt(edge, fluent, args, value, _):
            slots = compiler.match("fluent", fluent, args, set()).slots
            slots += (compiler.slot(value, ("value", fluent, 0), set()),)
            return EdgeDriver(slots, c.fluents(fluent, x.only)[0], edge, c.tick, c.start)
        case EffectAt(effect, fluent, args, value, _, every):
            slots = compiler.match("fluent", fluent, args, set()).slots
            slots += (compiler.slot(value, ("value", fluent, 0), set()),)
            c.simple[fluent].reads_points = True
            return EffectDriver(slots, c.simple[fluent], _point_kind(effect, every), c.start)
        case _:
            raise TypeError(x)


def _point_kind(effect: Effect, every: bool) -> int:
    if effect is Effect.INITIATES:
        return INITIATE
    return TERMINATE_ALL if every else TERMINATE


def _triggers(compiler: BodyCompiler, x: Flat, driver: Driver) -> list[Trigger]:
    c = compiler.catalogue

    def trigger(
        store: EventStore | FluentStore | FactStore,
        kind: str,
        sort: str,
        name: str,
        args: Sequence[Term],
        value: Value | None = None,
    ) -> Trigger:
        constants, shared = [], []
        for i, t in enumerate(args):
            if not isinstance(t, Variable):
                node = (sort, name, i) if sort != "fluent" or i < getattr(store, "arity", i + 1) else ("value", name, 0)
                constants.append((i, c.coder.constant(t, node, compiler.span)))
            elif t.name in driver.variables:
                shared.append((i, driver.variables[t.name]))
        shared = _once(shared)
        return Trigger(store, kind, tuple(constants), tuple(shared), c.tick, value)

    def of_pair(store: FluentStore, kind: str, fluent: str, args: Sequence[Term], value: Term) -> Trigger:
        if store.by_value:
            return trigger(store, kind, "fluent", fluent, (*args, value))
        known: Value | None = None
        if not isinstance(value, Variable):
            known = Value(c.coder.constant(value, ("value", fluent, 0), compiler.span))
        elif value.name in driver.variables:
            known = Value(0, driver.variables[value.name])
        return trigger(store, kind, "fluent", fluent, args, known)

    match x:
        case EventAt(relation, args, _):
            return [trigger(c.events[relation], "event", "event", relation, args)]
        case HoldsAt(fluent, args, value, _, _):
            kind = "next" if x.next else "holds"
            return [of_pair(s, kind, fluent, args, value) for s in c.fluents(fluent)]
        case EdgeAt(_, fluent, args, value, _):
            return [of_pair(s, "edge", fluent, args, value) for s in c.fluents(fluent, x.only)]
        case EffectAt(_, fluent, args, _, _, _):
            return [trigger(c.simple[fluent], "effect", "fluent", fluent, args)]
        case Total(_, _, inner, _):
            return [t for y in inner for t in _triggers(compiler, y, driver)]
        case Missing(bodies):
            return [t for inner in bodies for y in inner for t in _triggers(compiler, y, driver)]
        case _:
            return []


def _once(shared: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """One pair per driver position, in its order."""
    by_driver = {d: p for p, d in reversed(shared)}
    return [(by_driver[d], d) for d in sorted(by_driver)]
