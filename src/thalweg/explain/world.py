"""A time-point of a finished run, as a world in which rule bodies can be solved again.

`Known` is everything about the run; `At` is the `World` of `thalweg.reference.bodies` at one time-point: what happens
and holds there is looked up, only `initiatedAt` and `terminatedAt` conditions are solved by the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from thalweg.explain.history import Derived, Given, Timelines
from thalweg.io.dates import is_dated, written
from thalweg.language import rules as language
from thalweg.language.program import Program
from thalweg.language.terms import Span
from thalweg.reference.arithmetic import Unbound, evaluate
from thalweg.reference.background import Knowledge
from thalweg.reference.bodies import Fact, Goals, interval_bodies, solve
from thalweg.reference.description import Conditional, Description, DeterminedRule, EffectRule, EventRule
from thalweg.reference.intervals import Intervals, contains, maximal
from thalweg.reference.state import Domains, Pair
from thalweg.reference.terms import (
    EMPTY,
    Ground,
    Subst,
    Term,
    Var,
    is_ground,
    resolve,
    signature,
    unify,
    unify_all,
)

if TYPE_CHECKING:
    from thalweg.plans import Plan

MOST_REMEMBERED = 200_000
"""Answers that are kept between explanations, at most."""
Answer = TypeVar("Answer")
AnyRule = EffectRule | EventRule | DeterminedRule | Conditional


@dataclass(frozen=True)
class Known:
    """What is known of a run: its program, results and input."""

    program: Program
    description: Description
    timelines: Timelines
    derived: Derived
    given: Given
    plan: Plan
    last: int

    @property
    def tick(self) -> int:
        return self.plan.spacing

    @property
    def start(self) -> int:
        return self.plan.schedule.start

    def moment(self, time: int) -> str:
        """A time-point as people read it: as a date, where time-points are dates to them."""
        return written(time, self.plan.clock) if is_dated(self.program.tick_seconds, self.last) else str(time)

    @cached_property
    def domains(self) -> Domains:
        return Domains(self.description)

    @cached_property
    def knowledge(self) -> Knowledge:
        """Background knowledge, with the dynamic domains as the whole input fills them."""
        if not self.description.dynamic:
            return self.description.knowledge
        terms = self.given.terms
        events = [term for term, value in terms if value is None]
        facts = self.domains.shown(events, [(t, v) for t, v in terms if v is not None])
        return self.description.knowledge.with_facts(facts)

    @cached_property
    def _remembered(self) -> dict[Hashable, Any]:
        return {}

    def once(self, key: Hashable, answer: Callable[[], Answer]) -> Answer:
        """The answer to a question about the run, which several explanations may ask."""
        known = self._remembered
        if key not in known:
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            known[key] = answer()
        found: Answer = known[key]
        return found

    @cached_property
    def _places(self) -> dict[int, str]:
        of, d = self.program.statements, self.description
        found: list[tuple[AnyRule, Span]] = []
        found += zip(d.effect_rules, (s.span for s in of if isinstance(s, language.EffectRule)), strict=True)
        found += zip(d.event_rules, (s.span for s in of if isinstance(s, language.EventRule)), strict=True)
        found += zip(d.initially, (s.span for s in of if isinstance(s, language.Initially)), strict=True)
        found += zip(d.delayed, (s.span for s in of if isinstance(s, language.Delayed)), strict=True)
        spans = (s.span for s in of if isinstance(s, language.IntervalRule) for _ in interval_bodies(s))
        found += zip(d.determined_rules, spans, strict=True)
        return {id(rule): place(span) for rule, span in found}

    def place_of(self, rule: AnyRule) -> str:
        """Where a rule stands: ``rules.ec:12``."""
        return self._places.get(id(rule), "")

    def is_output(self, fluent: Term) -> bool:
        return signature(fluent) in self.description.outputs

    def is_determined(self, pair: Pair) -> bool:
        """Is it a pair that interval expressions define? A fluent may have values of both kinds."""
        rules = self.description.determiners.get(signature(pair[0]), ())
        return any(matched(rule.fluent, rule.value, pair) is not None for rule in rules)

    def intervals(self, pair: Pair) -> Intervals:
        """The maximal intervals of a pair, computed or input."""
        if self.is_output(pair[0]):
            return self.timelines.intervals(pair)
        return maximal((f.since, f.end) for f in self.given.stretches(*pair))

    def instances(self, fluent: Term, value: Term) -> Iterator[Pair]:
        """The pairs that match and hold at some time."""
        yield from (p for p in self._seen(fluent) if unify(value, p[1], EMPTY) is not None)

    def known(self, fluent: Term) -> Iterator[Pair]:
        """The known instances that match, each with a value that it may have or a variable: those that hold at some
        time, and those that grounding rules list."""
        yield from self._seen(fluent)
        for rule in self.description.groundings:
            subst = None if rule.value is None else unify(rule.entity, fluent, EMPTY)
            for answer in () if subst is None else solve(rule.alternatives, subst, self.knowledge):
                pair = resolve(rule.entity, answer), resolve(rule.value, answer)
                if is_ground(pair[0]):
                    yield pair

    def _seen(self, fluent: Term) -> Iterator[Pair]:
        if self.is_output(fluent):
            found: Iterable[Pair] = (pair for pair, _ in self.timelines.of(fluent))
        else:
            found = ((f.term, f.value) for f in self.given.stretches(fluent, Var("_")))
        yield from dict.fromkeys(found)


def place(span: Span) -> str:
    return f"{PurePath(span.source).name or 'rules'}:{span.line}" if span.line else ""


class At:
    """One time-point. `asked` keeps effects that depend on themselves from being asked for ever."""

    def __init__(
        self, known: Known, time: int, asked: frozenset[tuple[str, Term, Term, int]] = frozenset()
    ) -> None:
        self.known = known
        self.time = time
        self._asked = asked

    def answers(self, fact: Fact, subst: Subst) -> Iterator[Subst]:
        if fact.kind == "call":
            yield from self.known.knowledge.answers(fact, subst)
            return
        if fact.kind == "holdsFor":
            yield from self._holds_for(fact, subst)
            return
        asked = tuple(resolve(term, subst) for term in fact.terms[:-1])
        if isinstance(asked[0], Var):
            raise Unbound(fact)
        for answer in self._facts(fact.kind, asked):
            extended = unify_all(fact.terms, (*answer, self.time), subst)
            if extended is not None:
                yield extended

    def _facts(self, kind: str, asked: tuple[Term, ...]) -> list[tuple[Ground, ...]]:
        match kind:
            case "happens":
                return [(event,) for event in self.happening(asked[0])]
            case "holds":
                return [*self.holding(asked[0], asked[1], self.time)]
            case "start":
                return [*self.edges(asked[0], asked[1], start=True)]
            case "end":
                return [*self.edges(asked[0], asked[1], start=False)]
        return [*dict.fromkeys(self.effects(kind, asked[0], asked[1]))]

    def happening(self, event: Term) -> list[Ground]:
        if signature(event) in self.known.description.derived:
            return [*dict.fromkeys(self.known.derived.at(event, self.time))]
        return [fact.term for fact in self.known.given.at(event, self.time)]

    def holding(self, fluent: Term, value: Term, time: int) -> Iterator[Pair]:
        if self.known.is_output(fluent):
            yield from self.known.timelines.holding(fluent, time)
            return
        found = self.known.given.stretches(fluent, value)
        yield from dict.fromkeys((f.term, f.value) for f in found if contains([(f.since, f.end)], time))

    def edges(self, fluent: Term, value: Term, *, start: bool) -> Iterator[Pair]:
        """The pairs that begin (or cease) to hold after this point."""
        after = self.time + self.known.tick
        if self.known.is_output(fluent):
            timelines = self.known.timelines
            yield from timelines.starting(fluent, after) if start else timelines.ending(fluent, after)
            return
        now, then = (set(self.holding(fluent, value, t)) for t in (self.time, after))
        yield from then - now if start else now - then

    def effects(self, effect: str, fluent: Term, value: Term) -> Iterator[Pair]:
        """The pairs that rules or delayed effects initiate or terminate here."""
        if (effect, fluent, value, self.time) in self._asked:
            return
        world = At(self.known, self.time, self._asked | {(effect, fluent, value, self.time)})
        for rule in self.known.description.effects.get((effect, signature(fluent)), ()):
            for _, answer in firing(rule, fluent, value, world):
                pair = resolve(rule.fluent, answer), resolve(rule.value, answer)
                if is_ground(pair[0]) and is_ground(pair[1]):
                    yield pair
                elif is_ground(pair[0]):
                    yield from self.holding(pair[0], pair[1], self.time)
        for source, target, since in self.due(effect, fluent, value):
            if At(self.known, since, world._asked).initiates(source):
                yield target

    def initiates(self, pair: Pair) -> bool:
        """True when the pair is initiated here; an interval that starts after this point says so already."""
        if any(start == self.time + self.known.tick for start, _ in self.known.intervals(pair)):
            return True
        return any(True for _ in self.effects("initiatedAt", *pair)) or self.initially(pair) is not None

    def initially(self, pair: Pair) -> Conditional | None:
        """The rule that says that the pair holds from the start on, where this is the point before: the stream's
        start or, of an instance that the input shows later, the point before it is first seen."""
        if any(start <= self.time for _, (start, _) in self.known.timelines.of(pair[0])):
            return None
        for rule in self.known.description.initially:
            subst = matched(rule.fluent, rule.value, pair)
            if subst is not None and any(True for _ in solve(rule.alternatives, subst, self.known.knowledge)):
                return rule
        return None

    def due(self, effect: str, fluent: Term, value: Term) -> Iterator[tuple[Pair, Pair, int]]:
        """The countdowns that could end here: source, pair that is affected, and since when."""
        for _, source, target, since in self.countdowns(effect, fluent, value):
            yield source, target, since

    def countdowns(
        self, effect: str, fluent: Term, value: Term
    ) -> Iterator[tuple[Conditional, Pair, Pair, int]]:
        for rule in self.known.description.delayed:
            if (rule.target is None) == (effect == "initiatedAt"):
                continue
            wanted = rule.value if rule.target is None else rule.target[1]
            subst = unify_all((rule.fluent, wanted), (fluent, value), EMPTY)
            for answer in () if subst is None else solve(rule.alternatives, subst, self.known.knowledge):
                source = resolve(rule.fluent, answer), resolve(rule.value, answer)
                target = source[0], resolve(wanted, answer)
                delay = int(evaluate(resolve(rule.delay, answer)))
                since = self.time - delay - -delay % self.known.tick
                if all(map(is_ground, (*source, *target))) and since >= self.known.start - self.known.tick:
                    yield rule, source, target, since

    def _holds_for(self, fact: Fact, subst: Subst) -> Iterator[Subst]:
        fluent, value = resolve(fact.terms[0], subst), resolve(fact.terms[1], subst)
        if is_ground(fluent) and is_ground(value):
            yield subst
            return
        found: dict[tuple[Ground, Ground], Subst] = {}
        for pair in self.known.known(fluent):
            extended = unify(fluent, pair[0], subst)
            if extended is not None and not is_ground(resolve(value, extended)):
                extended = unify(value, pair[1], extended)
            if extended is not None and is_ground(resolve(value, extended)):
                found.setdefault((pair[0], resolve(value, extended)), extended)
        yield from found.values()


def matched(fluent: Term, value: Term, pair: Pair) -> Subst | None:
    return unify_all((fluent, value), pair, EMPTY)


def firing(rule: EffectRule, fluent: Term, value: Term, world: At) -> Iterator[tuple[Goals, Subst]]:
    """The ways in which the rule has its effect on the pair at the time-point, with the body that is true."""
    subst = unify_all((rule.time, rule.fluent, rule.value), (world.time, fluent, value), EMPTY)
    if subst is None:
        return
    for goals in rule.alternatives:
        try:
            for answer in solve((goals,), subst, world):
                yield goals, answer
        except Unbound:
            continue
