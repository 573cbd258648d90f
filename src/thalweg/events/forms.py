"""What rules become in normal form: flat literals over named relations, all read at one time-point."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

from thalweg.events.background import FactTable
from thalweg.language import rules as r
from thalweg.language.terms import Atom, Compound, Number, Span, Term, Variable, variables
from thalweg.language.terms import Sequence as ListTerm


@dataclass(frozen=True, slots=True)
class EventAt:
    relation: str
    args: tuple[Term, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class HoldsAt:
    """With `next`, the state one tick later is read: only used by hidden rules."""

    fluent: str
    args: tuple[Term, ...]
    value: Term
    negated: bool = False
    next: bool = False


@dataclass(frozen=True, slots=True)
class EdgeAt:
    """With `only` (simple or determined), of values of that kind where the fluent has both."""

    edge: r.Edge
    fluent: str
    args: tuple[Term, ...]
    value: Term
    negated: bool = False
    only: str = ""


@dataclass(frozen=True, slots=True)
class EffectAt:
    """With `every`, a termination of all values at once; the value then says nothing."""

    effect: r.Effect
    fluent: str
    args: tuple[Term, ...]
    value: Term
    negated: bool = False
    every: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    relation: str
    args: tuple[Term, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    op: str
    left: Term
    right: Term
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Total:
    """`result` is the count, sum, min or max of `template` over the solutions of the body."""

    function: str
    template: Term
    body: tuple[Flat, ...]
    result: Term


@dataclass(frozen=True, slots=True)
class Missing:
    """No solution of any of the bodies (or, with `negated` false, at least one)."""

    bodies: tuple[tuple[Flat, ...], ...]
    negated: bool = True


Flat = EventAt | HoldsAt | EdgeAt | EffectAt | Fact | Test | Total | Missing


@dataclass(frozen=True, slots=True)
class PointRule:
    """A rule that fires at points: it initiates or terminates a pair, or makes an event happen (`value` is None)."""

    effect: r.Effect | None
    relation: str
    args: tuple[Term, ...]
    value: Term | None
    time: str
    body: tuple[Flat, ...]
    source: int
    span: Span
    greets: bool = False
    """An ``initially``: no rule sees it as an effect."""
    displaces: bool = False
    """The initiation of a value that no grounding gives: it ends the others, and no rule sees it as an effect."""
    lag: int = 0
    """How many ticks after the rule's time the effect is placed; -1, so that it shows at that time (hidden rules)."""


@dataclass(frozen=True, slots=True)
class SpanRule:
    """A rule of a determined fluent. `inputs` name interval variables; `steps` combine them; `tests` bind and filter;
    `gates` must hold now for the rule to say anything."""

    fluent: str
    args: tuple[Term, ...]
    value: Term
    inputs: tuple[tuple[str, HoldsAt], ...]
    steps: tuple[r.Combine | r.Allen | r.Duration, ...]
    tests: tuple[Flat, ...]
    result: str
    source: int
    span: Span
    gates: tuple[HoldsAt, ...] = ()
    place: int = -1
    """Its place among the rules of determined fluents that the program has; -1: it has none."""

    @property
    def whole(self) -> bool:
        """Does the rule judge whole intervals?"""
        return any(isinstance(x, r.Allen | r.Duration) for x in self.steps)


@dataclass(frozen=True, slots=True)
class StartRule:
    """``initially``: the pair holds from the start for every solution of the body."""

    fluent: str
    args: tuple[Term, ...]
    value: Term
    body: tuple[Flat, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class DelayRule:
    """``fi`` (with `target`) or ``ft``: after `delay` the target begins, or the source ends."""

    fluent: str
    args: tuple[Term, ...]
    value: Term
    target: Term | None
    delay: Term
    body: tuple[Flat, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PostponeRule:
    fluent: str
    args: tuple[Term, ...]
    value: Term
    body: tuple[Flat, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Wanted:
    """``grounding`` of a pair (`value` given) or of an event or a whole fluent."""

    relation: str
    args: tuple[Term, ...]
    value: Term | None
    body: tuple[Flat, ...]


@dataclass(slots=True)
class Normal:
    """The whole program in normal form."""

    points: list[PointRule] = field(default_factory=list)
    spans: list[SpanRule] = field(default_factory=list)
    starts: list[StartRule] = field(default_factory=list)
    delays: list[DelayRule] = field(default_factory=list)
    postpones: list[PostponeRule] = field(default_factory=list)
    facts: dict[str, FactTable] = field(default_factory=dict)
    domains: set[str] = field(default_factory=set)
    wanted: dict[str, list[Wanted]] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    fluents: dict[str, int] = field(default_factory=dict)
    pointwise: set[str] = field(default_factory=set)
    declared: dict[str, r.Declare] = field(default_factory=dict)

    def copy(self) -> Normal:
        """One that can be changed."""
        return Normal(**{part.name: copy(getattr(self, part.name)) for part in fields(self)})


def literals(body: Iterable[Flat]) -> Iterator[Flat]:
    """Flat literals, those of inner bodies included."""
    for x in body:
        yield x
        match x:
            case Total(_, _, inner, _):
                yield from literals(inner)
            case Missing(bodies):
                for inner in bodies:
                    yield from literals(inner)
            case _:
                pass


def names(body: Sequence[Flat]) -> set[str]:
    """The variables of flat literals, inner bodies included."""
    found: set[str] = set()
    for x in body:
        match x:
            case EventAt(_, args, _) | Fact(_, args, _):
                terms: tuple[Term, ...] = args
            case HoldsAt(_, args, value, _, _) | EdgeAt(_, _, args, value, _) | EffectAt(_, _, args, value, _, _):
                terms = (*args, value)
            case Test(_, left, right, _):
                terms = (left, right)
            case Total(_, template, inner, result):
                terms = (template, result)
                found |= names(inner)
            case Missing(bodies):
                terms = ()
                for inner in bodies:
                    found |= names(inner)
        for t in terms:
            if isinstance(t, Variable):
                found.add(t.name)
            else:
                found.update(v.name for v in variables(t))
    return found


Node = TypeVar("Node")


def rebuild(node: Node, term: Callable[[Term], Term]) -> Node:
    """A literal or statement with every term in it rewritten."""

    def value(x: object) -> object:
        if isinstance(x, Atom | Number | Variable | Compound | ListTerm):
            return term(x)
        if isinstance(x, tuple):
            return tuple(value(y) for y in x)
        return rebuild(x, term) if _parts(type(x)) else x

    changes = {name: value(getattr(node, name)) for name in _parts(type(node))}
    assert dataclasses.is_dataclass(node) and not isinstance(node, type)
    return replace(node, **changes)


_PARTS: dict[type, tuple[str, ...]] = {Span: ()}


def _parts(kind: type) -> tuple[str, ...]:
    """The fields of literals and statements in which terms may be; nothing else has any."""
    if kind not in _PARTS:
        known = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        _PARTS[kind] = tuple(f.name for f in known if f.name != "span")
    return _PARTS[kind]


def binding(body: Iterable[Flat], time: str | None = None) -> set[str]:
    """Variables that positive literals bind: all but what only negations, filters and counted bodies mention. `time` is
    the variable of the rule's time-point, which is bound."""
    positive = [x for x in body if not isinstance(x, Missing) and not getattr(x, "negated", False)]
    tests = [x for x in positive if isinstance(x, Test) and x.op in ("=", "==", "is")]
    bound = names(tuple(x for x in positive if not isinstance(x, Total | Test)))
    bound |= {v.name for x in positive if isinstance(x, Total) for v in variables(x.result)}
    bound |= set() if time is None else {time}
    while more := {name for x in tests for name in _assigned(x, bound)} - bound:
        bound |= more
    return bound


def _assigned(test: Test, bound: set[str]) -> Iterator[str]:
    """The variable that an equation gives a value, where the other side has one."""
    for one, other in ((test.left, test.right), (test.right, test.left)):
        if isinstance(one, Variable) and all(v.name in bound for v in variables(other)):
            yield one.name


def ended_whole(rules: Iterable[PointRule]) -> set[str]:
    """The fluents of which a rule ends every value."""
    terminations = [p for p in rules if p.effect is r.Effect.TERMINATES]
    return {
        p.relation
        for p in terminations
        if isinstance(p.value, Variable) and p.value.name not in binding(p.body, p.time)
    }


def split_terminations(rule: PointRule, every: Collection[str]) -> list[PointRule]:
    """Let ``terminatedAt(F=V)`` in a body see terminations of every value: as one of V, or of the value that holds.
    `every`: the fluents that have such terminations."""

    def ways(x: EffectAt) -> list[tuple[Flat, ...]]:
        plain = replace(x, negated=False)
        wide = replace(plain, value=Variable(f"_#Every{id(x)}"), every=True)
        held = (HoldsAt(x.fluent, x.args, x.value),) if isinstance(x.value, Variable) else ()
        return [(plain,), (wide, *held)]

    bodies: list[tuple[Flat, ...]] = [()]
    for x in rule.body:
        if not isinstance(x, EffectAt) or x.effect is not r.Effect.TERMINATES or x.fluent not in every:
            bodies = [(*b, x) for b in bodies]
        elif x.negated:
            bodies = [(*b, Missing(tuple(ways(x)))) for b in bodies]
        else:
            bodies = [b + w for b in bodies for w in ways(x)]
    return [replace(rule, body=b) for b in bodies]


def split_edges(rule: PointRule, mixed: Collection[str]) -> list[PointRule]:
    """Let each edge of a fluent that has both kinds of values be of one kind: a rule for each, no edge of either."""
    bodies: list[tuple[Flat, ...]] = [()]
    for x in rule.body:
        if not isinstance(x, EdgeAt) or x.fluent not in mixed or x.only:
            bodies = [(*b, x) for b in bodies]
            continue
        ways = [replace(x, only=kind) for kind in ("simple", "determined")]
        bodies = [(*b, *ways) for b in bodies] if x.negated else [(*b, way) for b in bodies for way in ways]
    return [replace(rule, body=b) for b in bodies]
