"""Compiles the rules of fluent units: heads, delayed effects, and components that are swept.

A component of simple fluents can be swept when each rule, apart from `holdsAt` conditions inside the component, is
decided outside of it (a *candidate*), or is driven by one edge inside it and otherwise asks for nothing that depends
on time (a *chain*), and no fluent hangs on its own edges by way of chains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from thalweg.columns.cells import ANY, END, START
from thalweg.columns.symbols import number
from thalweg.columns.timelines import DISPLACE, GREET, INITIATE, TERMINATE, TERMINATE_ALL
from thalweg.events.arithmetic import CopyStep, SameStep
from thalweg.events.chains import ChainPlan
from thalweg.events.compile import BodyCompiler, Catalogue, compile_body
from thalweg.events.countdowns import DelayPlan
from thalweg.events.forms import (
    DelayRule,
    EdgeAt,
    Fact,
    Flat,
    HoldsAt,
    Missing,
    Normal,
    PointRule,
    PostponeRule,
    Test,
    binding,
    names,
)
from thalweg.events.frames import Slot, Step
from thalweg.events.relations import refuse
from thalweg.events.steps import MissingStep
from thalweg.events.stores import EventStore, FluentStore
from thalweg.events.sweeping import SweepUnit
from thalweg.events.units import Condition, Head
from thalweg.language.rules import Edge, Effect
from thalweg.language.terms import Number, Term, Variable, variables

# --------------------------------------------------------------------------- heads


def compile_head(
    c: Catalogue, p: PointRule, conditions: Sequence[HoldsAt] = (), fluents: Sequence[str] = ()
) -> Head:
    """A rule of a unit; `conditions` are left to the sweep over the component `fluents`."""
    scope, p = id(p), c.with_numbers(p)
    rest = _without(p.body, conditions)
    body = compile_body(c, p, scope, _in_head(p) | names(tuple(conditions)), rest)
    compiler = BodyCompiler(c, scope, p.span, p.time)
    bound = names(tuple(rest)) | {p.time}
    store: FluentStore | EventStore
    if p.effect is None:
        store = c.events[p.relation]
        slots = compiler.match("event", p.relation, p.args, bound).slots
        return Head(body, store, slots, shift=0)
    slots, kind, value = _effect(compiler, p, bound)
    found = tuple(_condition(compiler, x, fluents, bound) for x in conditions)
    return Head(body, c.simple[p.relation], slots, kind, value, p.lag * c.tick, found)


def _effect(compiler: BodyCompiler, p: PointRule, bound: set[str]) -> tuple[tuple[Slot, ...], int, Slot | None]:
    """Instance, kind and value of what a rule does."""
    assert p.value is not None
    slots = compiler.match("fluent", p.relation, p.args, bound).slots
    kind = (GREET if p.greets else INITIATE) if p.effect is Effect.INITIATES else TERMINATE
    value: Slot | None = compiler.slot(p.value, ("value", p.relation, 0), bound)
    if value is not None and value.binds:
        if kind <= INITIATE:
            raise refuse(f"the value {p.value} is not bound", p.span, "add a literal that gives it a value")
        kind, value = DISPLACE if p.displaces else TERMINATE_ALL, None
    for slot in slots:
        if slot.binds:
            raise refuse(f"head variable {slot.name} is not bound", p.span, "add a literal that gives it a value")
    return slots, kind, value


def _condition(compiler: BodyCompiler, x: HoldsAt, fluents: Sequence[str], bound: set[str]) -> Condition:
    slots = compiler.match("fluent", x.fluent, x.args, bound).slots
    value: Slot | None = compiler.slot(x.value, ("value", x.fluent, 0), bound)
    if value is not None and value.binds:
        value = None
    return Condition(fluents.index(x.fluent), slots, value, x.negated)


def _without(body: Sequence[Flat], some: Sequence[Flat]) -> list[Flat]:
    return [x for x in body if not any(x is y for y in some)]


def _in_head(p: PointRule) -> set[str]:
    return {v.name for t in (*p.args, *((p.value,) if p.value is not None else ())) for v in variables(t)}


# --------------------------------------------------------------------------- components


def sweep_unit(
    c: Catalogue,
    normal: Normal,
    effects: Mapping[str, Sequence[PointRule]],
    fluents: Sequence[str],
    inside: Callable[[Flat], bool],
) -> SweepUnit | None:
    """One sweep for the component, or None where a rule is neither a candidate nor a chain. `effects` are the rules by
    fluent; `inside` says whether a literal reads the component."""
    rules = [p for fluent in fluents for p in effects.get(fluent, ())]
    edges = [_chain_edge(p, inside) for p in rules]
    conditions = [
        _conditions(p, [x for x in p.body if inside(x) and x is not edge]) for p, edge in zip(rules, edges, strict=True)
    ]
    tied = {(edge.fluent, p.relation) for p, edge in zip(rules, edges, strict=True) if edge is not None}
    ranks = _ranks(fluents, tied)
    if any(x is None for x in conditions) or ranks is None or any(c.simple[f].hidden for pair in tied for f in pair):
        return None
    found = list(zip(rules, edges, [x or [] for x in conditions], strict=True))
    heads = [compile_head(c, p, inner, fluents) for p, edge, inner in found if edge is None]
    chains = [_chain(c, p, edge, inner, fluents) for p, edge, inner in found if edge is not None]
    pairs = [(h.slots, x.slots) for h in heads for x in h.conditions]
    linked = len(fluents) > 1 or any(
        [s.name or s.code for s in mine] != [s.name or s.code for s in other] for mine, other in pairs
    )
    stores = [c.simple[f] for f in fluents]
    return SweepUnit(stores, heads, delay_plans(c, normal, fluents), chains, ranks, linked=linked)


def _conditions(p: PointRule, inner: Sequence[Flat]) -> list[HoldsAt] | None:
    """The body's literals inside the component, when all are conditions whose variables the others bind."""
    found = [x for x in inner if isinstance(x, HoldsAt) and not x.next]
    if len(found) < len(inner):
        return None
    rest = _without(p.body, found)
    bound = binding(rest, p.time)
    outer = names(tuple(rest)) | _in_head(p)
    for at, x in enumerate(found):
        if not {v.name for a in x.args for v in variables(a)} <= bound:
            return None
        value = x.value.name if isinstance(x.value, Variable) else None
        others = outer | names(tuple(y for k, y in enumerate(found) if k != at))
        if value is not None and value not in bound and value in others:
            return None
    return found


def _chain_edge(p: PointRule, inside: Callable[[Flat], bool]) -> EdgeAt | None:
    """The edge inside the component that drives the rule, when nothing else in it depends on time but conditions."""
    edges = [x for x in p.body if isinstance(x, EdgeAt) and inside(x)]
    if len(edges) != 1 or edges[0].negated or p.lag or p.greets:
        return None
    edge = edges[0]
    rest = [x for x in p.body if x is not edge]
    outside = [x for x in rest if not (inside(x) and isinstance(x, HoldsAt))]
    if not all(_timeless(x) for x in outside) or p.time in names(tuple(outside)) | _in_head(p):
        return None
    if isinstance(edge.value, Variable) and edge.value.name in names(tuple(rest)) | _in_head(p):
        return None
    bound = binding([edge, *(x for x in outside if isinstance(x, Fact))])
    computed = any(not names((x,)) <= bound for x in outside if isinstance(x, Test))
    return None if computed else edge


def _timeless(x: Flat) -> bool:
    match x:
        case Fact() | Test():
            return True
        case Missing(bodies):
            return all(_timeless(y) for body in bodies for y in body)
        case _:
            return False


def _chain(
    c: Catalogue, p: PointRule, edge: EdgeAt, conditions: Sequence[HoldsAt], fluents: Sequence[str]
) -> ChainPlan:
    compiler = BodyCompiler(c, id(p), p.span, p.time)
    slots = compiler.match("fluent", edge.fluent, edge.args, set()).slots
    bound = {s.name for s in slots if s.name is not None}
    rest = _without(p.body, [edge, *conditions])
    steps = compiler.steps(rest, bound, _in_head(p) | names(tuple(conditions)))
    target_slots, kind, target_value = _effect(compiler, p, bound)
    node = ("value", edge.fluent, 0)
    return ChainPlan(
        fluent=fluents.index(edge.fluent),
        edge=START if edge.edge is Edge.START else END,
        value=int(ANY) if isinstance(edge.value, Variable) else c.coder.constant(edge.value, node, p.span),
        slots=slots,
        steps=steps,
        target=fluents.index(p.relation),
        target_slots=target_slots,
        kind=kind,
        target_value=target_value,
        conditions=tuple(_condition(compiler, x, fluents, bound) for x in conditions),
    )


def _ranks(fluents: Sequence[str], chains: set[tuple[str, str]]) -> list[int] | None:
    """How many chains can lead to each fluent at one time-point; None where they go round in a circle."""
    ranks = dict.fromkeys(fluents, 0)
    for _ in fluents:
        raised = {f: max([ranks[f], *(ranks[a] + 1 for a, b in chains if b == f)]) for f in fluents}
        if raised == ranks:
            return list(ranks.values())
        ranks = raised
    return None


# --------------------------------------------------------------------------- delayed effects


def delay_plans(c: Catalogue, normal: Normal, fluents: Sequence[str]) -> list[DelayPlan]:
    """The delayed effects of the fluents."""
    return [_delay(c, normal, d, fluents.index(d.fluent)) for d in normal.delays if d.fluent in fluents]


def _delay(c: Catalogue, normal: Normal, d: DelayRule, fluent: int) -> DelayPlan:
    compiler = BodyCompiler(c, id(d), d.span, None)
    slots = compiler.match("fluent", d.fluent, d.args, set()).slots
    source = compiler.slot(d.value, ("value", d.fluent, 0), set())
    bound = {s.name for s in (*slots, source) if s.name is not None}
    outer = {v.name for t in (d.delay, *((d.target,) if d.target is not None else ())) for v in variables(t)}
    postpones = [p for p in normal.postpones if p.fluent == d.fluent]
    uniform = _any_instance(d.args, names(d.body) | outer) and all(
        _any_instance(p.args, names(p.body)) for p in postpones
    )
    steps = compiler.steps(d.body, bound, outer)
    target = None if d.target is None else compiler.slot(d.target, ("value", d.fluent, 0), bound)
    delay = Slot(code=number(d.delay.value)) if isinstance(d.delay, Number) else None
    if delay is None:
        if not isinstance(d.delay, Variable) or d.delay.name not in bound:
            raise refuse("the delay is not bound", d.span, "write a number, or bind it in the body")
        delay = Slot(name=d.delay.name)
    postponable = _postpone(c, d, (*slots, source), postpones)
    return DelayPlan(fluent, source, target, delay, c.tick, postponable, steps, slots, uniform)


def _any_instance(args: Sequence[Term], used: set[str]) -> bool:
    """Do the arguments say nothing about the instance?"""
    own = [t.name for t in args if isinstance(t, Variable)]
    return len(set(own)) == len(args) and not set(own) & used


def _postpone(
    c: Catalogue, d: DelayRule, slots: tuple[Slot, ...], postpones: Sequence[PostponeRule]
) -> list[Step] | None:
    """Steps that keep the pairs (arguments and value are in `slots`) whose countdown is postponable; None where there
    is no such rule."""
    ways: list[list[Step]] = []
    for p in postpones:
        if not isinstance(p.value, Variable) and not isinstance(d.value, Variable) and p.value != d.value:
            continue
        compiler = BodyCompiler(c, id(p), p.span, None)
        value = compiler.slot(p.value, ("value", p.fluent, 0), set())
        pattern = (*compiler.match("fluent", p.fluent, p.args, set()).slots, value)
        # The two rules may use the same names for different variables: what the pair consists of gets names of its own.
        steps: list[Step] = [CopyStep(f"#{i}", replace(slot, binds=False)) for i, slot in enumerate(slots)]
        bound: set[str] = set()
        for i, mine in enumerate(pattern):
            if mine.name is None or mine.name in bound:
                steps.append(SameStep("=", replace(mine, binds=False), Slot(name=f"#{i}"), False))
            else:
                steps.append(CopyStep(mine.name, Slot(name=f"#{i}")))
                bound.add(mine.name)
        steps += compiler.steps(p.body, bound, set())
        ways.append(steps)
    return [MissingStep(ways, negated=False)] if ways else None
