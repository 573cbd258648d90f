"""What holds at one time-point, and which instances are known there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from thalweg.reference.background import Knowledge
from thalweg.reference.bodies import Fact, goal_variables, solve
from thalweg.reference.description import DeterminedRule
from thalweg.reference.intervals import Intervals, contains
from thalweg.reference.state import Domains, Input, Pair, State
from thalweg.reference.terms import (
    EMPTY,
    Ground,
    Signature,
    Subst,
    Term,
    Var,
    is_ground,
    resolve,
    signature,
    unify,
    variables,
)

Found = TypeVar("Found")
ANY = Var("_")
"""A value that is not asked for."""


class SameTimeCycle(ValueError):
    """Something at a time-point depends on itself at the same time-point."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of one instance of a rule over whole intervals, and the point from which on the instance is known."""

    key: tuple[Ground, ...]
    since: int
    intervals: Intervals


Whole = Mapping[Pair, list[Judged]]
"""The results of rules over whole intervals."""


class Snapshot:
    """What holds at a time-point. `values` gives the simple fluents of a signature, `affected` what rules have had
    an effect on just before, `held` everything that holds where that is settled."""

    def __init__(
        self,
        domains: Domains,
        input_: Input,
        whole: Whole,
        time: int,
        state: State,
        *,
        values: Callable[[Signature], set[Pair]] | None = None,
        affected: Callable[[Signature], set[Pair]] | None = None,
        held: frozenset[Pair] | None = None,
    ) -> None:
        self.domains = domains
        self.input = input_
        self.whole = whole
        self.time = time
        self.state = state
        self._values = values or (lambda key: {p for p in state.values.items() if signature(p[0]) == key})
        self._affected = affected or (lambda key: set())
        self._held = held
        self._memo = Memo()

    def all_holding(self) -> frozenset[Pair]:
        d = self.domains.description
        keys = d.outputs | d.input_fluents | {signature(s.fluent) for s in self.input.stretches}
        return frozenset(pair for key in keys for pair in self.holding(key))

    def holding(self, key: Signature, value: Term = ANY) -> frozenset[Pair]:
        """The pairs of a fluent that hold, at least those with the value."""
        if self._held is not None:
            return frozenset(pair for pair in self._held if signature(pair[0]) == key)
        return frozenset(self._holding(key, value))

    def _holding(self, key: Signature, value: Term) -> Iterator[Pair]:
        description = self.domains.description
        if key in description.simple:
            yield from self._memo(("values", key), lambda: self._values(key))
        if key not in description.outputs:
            yield from (pair for pair in self.input.holding(self.time) if signature(pair[0]) == key)
        for rule in self._rules(key, value):
            if not rule.whole:
                yield from self._memo(("rule", id(rule)), partial(self._determined, rule))
        yield from self._judged(key)

    def _judged(self, key: Signature) -> Iterator[Pair]:
        """The pairs that rules over whole intervals give here; it may be before anybody of the pair has been seen."""
        for pair, found in self.whole.items():
            if signature(pair[0]) == key and any(map(self._counts, found)):
                yield pair

    def _counts(self, judged: Judged) -> bool:
        """Does the result of an instance hold? Where it becomes known, only if it is known here."""
        if not contains(judged.intervals, self.time):
            return False
        number, *_ = judged.key
        rule = self.domains.description.determined_rules[number]
        return judged.since != self.time or any(key == judged.key for key, _ in self.instances(rule))

    def _rules(self, key: Signature, value: Term) -> list[DeterminedRule]:
        """The rules of a determined fluent that may give it the value."""
        rules = self.domains.description.determiners.get(key, ())
        return [rule for rule in rules if may_equal(rule.value, value)]

    def _determined(self, rule: DeterminedRule) -> frozenset[Pair]:
        """The pairs of one rule that hold now: the interval expression over the single point `time`."""
        here = [(self.time, self.time + self.input.tick)]

        def leaf(fluent: Term, value: Term) -> Intervals:
            return [*here] if (fluent, value) in self.holding(signature(fluent), value) else []

        def holds(subst: Subst) -> bool:
            found = rule.intervals(subst, leaf, since=self.time, until=self.time, tick=self.input.tick)
            return contains(found, self.time)

        held = [subst for _, subst in self.instances(rule) if holds(subst)]
        return frozenset(pair for subst in held for pair in self.heads(rule, subst))

    def heads(self, rule: DeterminedRule, subst: Subst) -> Iterator[Pair]:
        """The wanted pairs of a rule's instance."""
        for extended in self.domains.instances(rule.fluent, subst, self.state, self._named):
            pair = resolve(rule.fluent, extended), resolve(rule.value, extended)
            if self.domains.wants_pair(pair, self.state):
                yield pair

    def _named(self, key: Signature) -> Iterator[Pair]:
        """The instances of a fluent that effects and rules for its determined values name, where no grounding does."""
        if key not in self.domains.grounded:
            yield from self._affected(key)
            for rule in self._rules(key, ANY):
                fluents = (resolve(rule.fluent, subst) for _, subst in self.instances(rule))
                yield from ((fluent, None) for fluent in fluents if is_ground(fluent))

    def instances(self, rule: DeterminedRule) -> list[tuple[tuple[Ground, ...], Subst]]:
        """The instances of a rule, each with a key. A variable ranges over the constants that the known
        instances of the fluents in the body, and those that a grounding gives of the head, have in its place."""
        known = tuple(frozenset(self.known(signature(fluent), value)) for fluent, value in rule.leaves.values())
        asked = (id(rule), self.state.domain, known)
        if asked not in self.domains.found:
            self.domains.found[asked] = list(self._instances(rule, known))
        return self.domains.found[asked]

    def _instances(
        self, rule: DeterminedRule, known: tuple[frozenset[Pair], ...]
    ) -> Iterator[tuple[tuple[Ground, ...], Subst]]:
        number = self.domains.description.determined_rules.index(rule)
        names = sorted({v for goal in rule.goals if isinstance(goal, Fact) for v in goal_variables(goal)}, key=repr)
        declared = self.domains.declared(self.state)
        world = _Leaves(self.domains.knowledge(self.state), rule, known, declared)
        for answer in solve((rule.goals,), EMPTY, world):
            yield (number, *(resolve(name, answer) for name in names)), answer

    def known(self, key: Signature, value: Term) -> Iterator[Pair]:
        """The known instances of any fluent that may have the value; value None: some value."""
        yield from self.domains.known(key, self.state)
        if key in self.domains.grounded and key not in self.domains.description.input_fluents:
            listed = self.domains.declared(self.state)
            had = self._affected(key) | self.holding(key, value)
            yield from (p for p in had if (p[0], None) in listed and self.domains.wants_pair(p, self.state))
            return
        yield from self._affected(key)
        if key not in self.domains.description.determined:
            yield from self.holding(key)
        for rule in self._rules(key, value):
            yield from self._memo(("known", id(rule)), partial(self._heads, rule))
        yield from self._judged(key)

    def _heads(self, rule: DeterminedRule) -> frozenset[Pair]:
        return frozenset(pair for _, subst in self.instances(rule) for pair in self.heads(rule, subst))


def _pair_variables(pair: tuple[Term, Term]) -> Iterator[Var]:
    yield from variables(pair[0])
    yield from variables(pair[1])


class _Leaves:
    """The world in which the conditions of a determined fluent are solved: `holdsFor` enumerates, nothing more."""

    def __init__(
        self,
        knowledge: Knowledge,
        rule: DeterminedRule,
        known: tuple[frozenset[Pair], ...],
        declared: frozenset[Pair],
    ) -> None:
        self._knowledge = knowledge
        self._ranges: dict[Var, set[Ground]] = {}
        for leaf, pairs in zip(rule.leaves.values(), known, strict=True):
            for subst in _matching(*leaf, pairs):
                self._extend(leaf, subst)
        head = rule.fluent, rule.value
        for fluent, value in declared:
            given = unify(rule.fluent, fluent, EMPTY)
            if given is not None and value is not None:
                given = unify(rule.value, value, given)
            if given is not None:
                self._extend(head, given)

    def _extend(self, pair: tuple[Term, Term], subst: Subst) -> None:
        for variable in _pair_variables(pair):
            bound = resolve(variable, subst)
            if is_ground(bound):
                self._ranges.setdefault(variable, set()).add(bound)

    def answers(self, fact: Fact, subst: Subst) -> Iterator[Subst]:
        if fact.kind != "holdsFor":
            yield from self._knowledge.answers(fact, subst)
            return
        answers = [subst]
        for variable in _pair_variables((fact.terms[0], fact.terms[1])):
            answers = [extended for answer in answers for extended in self._bind(variable, answer)]
        yield from answers

    def _bind(self, variable: Var, subst: Subst) -> list[Subst]:
        if is_ground(resolve(variable, subst)):
            return [subst]
        found = (unify(variable, value, subst) for value in self._ranges.get(variable, ()))
        return [extended for extended in found if extended is not None]


def _matching(fluent: Term, value: Term, pairs: Iterable[Pair]) -> Iterator[Subst]:
    for known_fluent, known_value in pairs:
        subst = unify(fluent, known_fluent, EMPTY)
        if subst is not None and known_value is not None and isinstance(resolve(value, subst), Var):
            subst = unify(value, known_value, subst)
        if subst is not None:
            yield subst


class Memo:
    """Results by key, each computed once; asking for one while it is being computed is a cycle."""

    def __init__(self) -> None:
        self._found: dict[object, object] = {}
        self._asked: set[object] = set()

    def __call__(self, key: object, compute: Callable[[], Found]) -> Found:
        if key not in self._found:
            if key in self._asked:
                raise SameTimeCycle(f"{key} depends on itself at the same time-point")
            self._asked.add(key)
            self._found[key] = compute()
        return self._found[key]  # type: ignore[return-value]


def may_equal(left: Term, right: Term) -> bool:
    """False when the two terms differ whatever their variables stand for."""
    if isinstance(left, Var) or isinstance(right, Var):
        return True
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(may_equal, left, right))
    return bool(left == right)
