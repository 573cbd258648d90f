"""An event description, sorted for the reference: its rules by what they define, its inputs by name.

Nothing is computed here. Interval operations are kept as they are written; `holdsFor` conditions are goals like any
other, and say which instances a rule of a determined fluent is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from thalweg.language import rules as language
from thalweg.language import terms as language_terms
from thalweg.language.program import Program
from thalweg.reference import intervals as algebra
from thalweg.reference.arithmetic import evaluate
from thalweg.reference.background import Knowledge
from thalweg.reference.bodies import (
    Absence,
    Collect,
    Fact,
    Goal,
    Goals,
    UnsafeRule,
    interval_bodies,
    read_body,
    read_goals,
)
from thalweg.reference.intervals import Intervals
from thalweg.reference.terms import Reader, Signature, Subst, Term, resolve, signature

Operation = language.Combine | language.Allen | language.Duration

ANCHORS = ("happens", "start", "end", "initiatedAt", "terminatedAt")
"""The conditions that are true at points where something happens, as opposed to stretches of time."""


@dataclass(frozen=True)
class EffectRule:
    """`initiatedAt` or `terminatedAt`. `triggers` are the positive conditions on input events, per alternative."""

    effect: str
    fluent: Term
    value: Term
    time: Term
    alternatives: tuple[Goals, ...]
    triggers: tuple[Goals, ...]


@dataclass(frozen=True)
class EventRule:
    event: Term
    time: Term
    alternatives: tuple[Goals, ...]


@dataclass(frozen=True)
class Conditional:
    """A head with a body over background knowledge: initially, p, grounding; fi and ft with target and delay."""

    fluent: Term
    value: Term
    alternatives: tuple[Goals, ...]
    target: tuple[Term, Term] | None = None
    delay: Term = 0


@dataclass(frozen=True)
class DeterminedRule:
    """One alternative of a `holdsFor` rule. `leaves` and `operations` say, by the name of an interval variable, which
    pair's intervals it stands for or how they are computed."""

    fluent: Term
    value: Term
    result: str
    goals: Goals
    leaves: Mapping[str, tuple[Term, Term]]
    operations: Mapping[str, Operation]

    @property
    def whole(self) -> bool:
        """True when the rule looks at intervals as wholes, so that a point cannot be judged by itself."""
        return any(isinstance(op, language.Allen | language.Duration) for op in self.operations.values())

    def intervals(
        self, subst: Subst, leaf: Callable[[Term, Term], Intervals], *, since: int, until: int, tick: int
    ) -> Intervals:
        """The intervals of the rule's head: `leaf` gives those of a pair, `since` is where complements begin and
        `until` the point up to which a running interval is measured."""

        def value(term: language_terms.Term) -> Intervals:
            if isinstance(term, language_terms.Sequence) and not term.items:
                return []
            if not isinstance(term, language_terms.Variable):
                raise NotImplementedError(f"{term!r} is no list of intervals")
            if term.name in self.leaves:
                fluent, fluent_value = self.leaves[term.name]
                return leaf(resolve(fluent, subst), resolve(fluent_value, subst))
            if term.name not in self.operations:
                raise UnsafeRule(f"nothing says which intervals {term.name} stands for")
            return apply(self.operations[term.name])

        def apply(operation: Operation) -> Intervals:
            match operation:
                case language.Combine("union_all", inputs):
                    return algebra.union_all(map(value, inputs))
                case language.Combine("intersect_all", inputs):
                    return algebra.intersect_all([*map(value, inputs)])
                case language.Combine("complement_all", inputs):
                    return algebra.complement_all(map(value, inputs), since)
                case language.Combine("relative_complement_all", inputs, base=base) if base is not None:
                    return algebra.relative_complement_all(value(base), map(value, inputs))
                case language.Allen(relation, left, right, mode):
                    return algebra.allen(relation, value(left), value(right), mode, tick)
                case language.Duration(op, inputs_, bound):
                    limit = evaluate(resolve(Reader().term(bound), subst))
                    return algebra.of_duration(op, value(inputs_), limit, until)
            raise NotImplementedError(f"no interval operation {operation!r}")

        return value(language_terms.Variable(self.result))


@dataclass(frozen=True)
class GroundingRule:
    """Which instances of an event (`value` None) or a pair are wanted."""

    entity: Term
    value: Term | None
    alternatives: tuple[Goals, ...]


class Description:
    """The rules of a program, by signature of what they define."""

    def __init__(self, program: Program) -> None:
        reader = Reader()
        of = program.statements
        self.knowledge = Knowledge((s for s in of if isinstance(s, language.Clause)), reader)
        self.derived = {signature(reader.term(s.event)) for s in of if isinstance(s, language.EventRule)}
        self.event_rules = [
            EventRule(reader.term(s.event), reader.term(s.time), read_body(s.body, reader))
            for s in of
            if isinstance(s, language.EventRule)
        ]
        self.effect_rules = [self._effect(s, reader) for s in of if isinstance(s, language.EffectRule)]
        self.determined_rules = [
            rule for s in of if isinstance(s, language.IntervalRule) for rule in _determined(s, reader)
        ]
        self.effects: dict[tuple[str, Signature], list[EffectRule]] = {}
        for effect_rule in self.effect_rules:
            key = effect_rule.effect, signature(effect_rule.fluent)
            self.effects.setdefault(key, []).append(effect_rule)
        self.determiners: dict[Signature, list[DeterminedRule]] = {}
        for rule in self.determined_rules:
            self.determiners.setdefault(signature(rule.fluent), []).append(rule)
        self.initially = [
            _conditional(s.pair, s.body, reader) for s in of if isinstance(s, language.Initially)
        ]
        self.postponable = [
            _conditional(s.pair, s.body, reader) for s in of if isinstance(s, language.Postponable)
        ]
        self.delayed = [_delayed(s, reader) for s in of if isinstance(s, language.Delayed)]
        self.groundings = [_grounding(s, reader) for s in of if isinstance(s, language.Grounding)]
        self.dynamic = {
            signature(reader.term(s.predicate)) for s in of if isinstance(s, language.DynamicDomain)
        }
        declared = [s for s in of if isinstance(s, language.Declare)]
        self.simple = self._simple(declared)
        self.determined = {signature(rule.fluent) for rule in self.determined_rules}
        self.points = {(s.name, len(s.arguments)) for s in declared if s.role is language.Role.POINTS}
        self.input_fluents = self._input_fluents(declared)
        self.input_events = self._input_events(declared)

    @property
    def outputs(self) -> set[Signature]:
        """The fluents that are computed."""
        return self.simple | self.determined

    @property
    def read(self) -> set[Signature]:
        """The events and fluents that rules read."""
        return {signature(fact.terms[0]) for fact in self._facts() if fact.kind != "call"}

    @property
    def anchored(self) -> bool:
        """True when no rule can fire at a point where nothing happens."""
        bodies = self._bodies()
        return all(any(isinstance(g, Fact) and g.kind in ANCHORS for g in goals) for goals in bodies)

    def _effect(self, rule: language.EffectRule, reader: Reader) -> EffectRule:
        alternatives = read_body(rule.body, reader)
        triggers = tuple(tuple(goal for goal in goals if self._on_input(goal)) for goals in alternatives)
        fluent, value = reader.term(rule.pair.fluent), reader.term(rule.pair.value)
        return EffectRule(rule.effect.value, fluent, value, reader.term(rule.time), alternatives, triggers)

    def _on_input(self, goal: Goal) -> bool:
        return (
            isinstance(goal, Fact) and goal.kind == "happens" and signature(goal.terms[0]) not in self.derived
        )

    def _simple(self, declared: Sequence[language.Declare]) -> set[Signature]:
        heads = [rule.fluent for rule in self.effect_rules]
        heads += [rule.fluent for rule in [*self.initially, *self.delayed]]
        defined = {signature(head) for head in heads}
        return defined | {(s.name, len(s.arguments)) for s in declared if s.role is language.Role.STATE} - {
            signature(rule.fluent) for rule in self.determined_rules
        }

    def _input_fluents(self, declared: Sequence[language.Declare]) -> set[Signature]:
        roles = (language.Role.FLUENT, language.Role.POINTS)
        found = {(s.name, len(s.arguments)) for s in declared if s.role in roles}
        kinds = ("holds", "start", "end", "initiatedAt", "terminatedAt", "holdsFor")
        found |= {signature(f.terms[0]) for f in self._facts() if f.kind in kinds}
        found |= {signature(rule.entity) for rule in self.groundings if rule.value is not None}
        return found - self.outputs

    def _input_events(self, declared: Sequence[language.Declare]) -> set[Signature]:
        found = {(s.name, len(s.arguments)) for s in declared if s.role is language.Role.EVENT}
        found |= {signature(f.terms[0]) for f in self._facts() if f.kind == "happens"}
        found |= {signature(rule.entity) for rule in self.groundings if rule.value is None}
        return found - self.derived

    def _bodies(self) -> list[Goals]:
        rules: list[EffectRule | EventRule] = [*self.effect_rules, *self.event_rules]
        return [goals for rule in rules for goals in rule.alternatives]

    def _facts(self) -> list[Fact]:
        bodies = self._bodies()
        bodies += [rule.goals for rule in self.determined_rules]
        return [fact for goals in bodies for goal in goals for fact in _facts_in(goal)]


def _facts_in(goal: Goal) -> list[Fact]:
    match goal:
        case Fact():
            return [goal]
        case Absence(alternatives) | Collect(_, alternatives):
            return [fact for goals in alternatives for inner in goals for fact in _facts_in(inner)]
    return []


def _conditional(pair: language.Pair, body: language.Body, reader: Reader) -> Conditional:
    return Conditional(reader.term(pair.fluent), reader.term(pair.value), read_body(body, reader))


def _delayed(rule: language.Delayed, reader: Reader) -> Conditional:
    source = _conditional(rule.source, rule.body, reader)
    target = (reader.term(rule.target.fluent), reader.term(rule.target.value)) if rule.target else None
    return Conditional(source.fluent, source.value, source.alternatives, target, reader.term(rule.delay))


def _grounding(rule: language.Grounding, reader: Reader) -> GroundingRule:
    alternatives = read_body(rule.body, reader)
    match rule.entity:
        case language_terms.Compound("=", (fluent, value)):
            return GroundingRule(reader.term(fluent), reader.term(value), alternatives)
    return GroundingRule(reader.term(rule.entity), None, alternatives)


def _determined(rule: language.IntervalRule, reader: Reader) -> list[DeterminedRule]:
    return [_alternative(rule, body, reader) for body in interval_bodies(rule)]


def _alternative(rule: language.IntervalRule, body: language.Body, reader: Reader) -> DeterminedRule:
    operations = {_name(literal.result): literal for literal in body if isinstance(literal, Operation)}
    read_from = {_name(literal.intervals) for literal in body if isinstance(literal, language.HoldsFor)}
    intervals = read_from | set(operations)
    conditions = [
        literal
        for literal in body
        if not isinstance(literal, Operation) and not _asks_for_intervals(literal, intervals)
    ]
    goals = read_goals(tuple(conditions), reader)
    leaves = {
        _name(literal.intervals): (goal.terms[0], goal.terms[1])
        for literal, goal in zip(conditions, goals, strict=True)
        if isinstance(literal, language.HoldsFor) and isinstance(goal, Fact)
    }
    fluent, value = reader.term(rule.pair.fluent), reader.term(rule.pair.value)
    return DeterminedRule(fluent, value, _name(rule.intervals), goals, leaves, operations)


def _asks_for_intervals(literal: language.Literal, intervals: set[str]) -> bool:
    """`I \\= []` or `\\+ I = []`, a customary guard. It says nothing about any single time-point and is always true
    here."""
    match literal:
        case language.Compare("\\=" | "\\==", left, right, False) | language.Compare("=" | "==", left, right, True):
            names = {term.name for term in (left, right) if isinstance(term, language_terms.Variable)}
            return bool(names & intervals)
    return False


def _name(term: language_terms.Term) -> str:
    if not isinstance(term, language_terms.Variable):
        raise NotImplementedError(f"{term!r} is no variable for intervals")
    return term.name
