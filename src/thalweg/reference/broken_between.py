"""A second rendering of inertia, by brute force, to check the stepping one against.

The rules are the ones by which the Event Calculus is usually explained:

    holdsAt(F=V, T)            if initiatedAt(F=V, Ti), Ti < T, not brokenBetween(F=V, Ti, T)
    brokenBetween(F=V, Ti, T)  if terminatedAt(F=V, Tb), Ti =< Tb < T
    brokenBetween(F=V, Ti, T)  if initiatedAt(F=V', Tb), Ti =< Tb < T, V' \\= V

with delayed effects by their definition: an initiation of `F=V` at `T` has its delayed effect at `T+R` unless `F=V` is
broken at a point of `[T+1, T+R-1]` or, postponable, initiated again at a point of `[T+1, T+R]`. There is no state and
no order of evaluation: each question is answered by asking others, every fluent is tried with every constant.

For small streams, and for event descriptions of input events, simple fluents, background knowledge, `initially` with
a body and delayed effects.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from thalweg.language.program import Program
from thalweg.reference.arithmetic import evaluate
from thalweg.reference.bodies import Fact, solve
from thalweg.reference.description import Conditional, Description, EffectRule
from thalweg.reference.events import Row
from thalweg.reference.intervals import Intervals, maximal
from thalweg.reference.terms import (
    EMPTY,
    Ground,
    Subst,
    Term,
    Var,
    is_ground,
    resolve,
    signature,
    text,
    unify,
    unify_all,
)

Pair = tuple[Ground, Ground]


class OutOfScope(ValueError):
    """The program uses what this rendering does not cover."""


class CircularQuestion(ValueError):
    """Postponable delayed effects that hang on each other at one time-point."""


class BrokenBetween:
    """Answers `holds(pair, time)` for a program and a stream of events."""

    def __init__(self, program: Program, rows: Iterable[Row], *, start: int) -> None:
        self.description = Description(program)
        self.start = start
        self.events: dict[int, list[Ground]] = {}
        rows = list(rows)
        for row in rows:
            if row.shape != "event":
                raise OutOfScope("input fluents")
            self.events.setdefault(row.time, []).append(row.term)
        if self.description.determined or self.description.derived or self.description.groundings:
            raise OutOfScope("determined fluents, derived events, grounding")
        self.constants = self._constants(rows)
        self.values = cache(self._values)
        self.holds = cache(self._holds)
        self.initiated = self._once(self._initiated)
        self.terminated = cache(self._terminated)
        self.initial = self._initial()

    @staticmethod
    def _once(question: Callable[[Pair, int], bool]) -> Callable[[Pair, int], bool]:
        """The question, remembered; asked again while it is being answered it is circular."""
        answers: dict[tuple[Pair, int], bool | None] = {}

        def ask(pair: Pair, time: int) -> bool:
            if (pair, time) not in answers:
                answers[pair, time] = None
                answers[pair, time] = question(pair, time)
            answer = answers[pair, time]
            if answer is None:
                raise CircularQuestion(f"{pair} at {time}")
            return answer

        return ask

    # ------------------------------------------------------------------- candidates

    def _constants(self, rows: list[Row]) -> list[Ground]:
        found = {argument for row in rows for argument in row.args}
        heads = [*self.description.knowledge.heads(), *(term for pair in self._pairs() for term in pair)]
        found |= {constant for head in heads for constant in _constants_in(head)}
        return sorted(found, key=repr)

    def _pairs(self) -> list[tuple[Term, Term]]:
        """Every pair that a rule has an effect on, as it is written."""
        rules = [(rule.fluent, rule.value) for rule in self.description.effect_rules]
        given = [
            (rule.fluent, rule.value) for rule in [*self.description.initially, *self.description.delayed]
        ]
        return [
            *rules,
            *given,
            *(rule.target for rule in self.description.delayed if rule.target is not None),
        ]

    def _values(self, fluent: Ground) -> list[Ground]:
        """The values that rules give to a fluent; every constant, where one is open."""
        values = [value for term, value in self._pairs() if signature(term) == signature(fluent)]
        return [*dict.fromkeys(values)] if all(map(is_ground, values)) else self.constants

    def candidates(self, name: str, arity: int) -> Iterator[Pair]:
        """Every instance of a fluent with every value."""
        for arguments in itertools.product(self.constants, repeat=arity):
            fluent = (name, *arguments) if arity else name
            yield from ((fluent, value) for value in self.values(fluent))

    # ------------------------------------------------------------------- the rules

    def _holds(self, pair: Pair, time: int) -> bool:
        return any(
            self.initiated(pair, earlier) and not self.broken_between(pair, earlier, time)
            for earlier in range(self.start - 1, time)
        )

    def broken_between(self, pair: Pair, since: int, time: int) -> bool:
        return any(self.broken(pair, t) for t in range(since, time))

    def broken(self, pair: Pair, time: int) -> bool:
        others = [value for value in self.values(pair[0]) if value != pair[1]]
        return self.terminated(pair, time) or any(self.initiated((pair[0], value), time) for value in others)

    def _initiated(self, pair: Pair, time: int) -> bool:
        if time < self.start:
            return time == self.start - 1 and pair in self.initial
        return self._by_rule("initiatedAt", pair, time) or any(
            source[1] != pair[1] and self._fires(source, rule, pair, time)
            for rule in self.description.delayed
            if rule.target is not None
            for source in ((pair[0], value) for value in self.values(pair[0]))
        )

    def _terminated(self, pair: Pair, time: int) -> bool:
        if time < self.start:
            return False
        return self._by_rule("terminatedAt", pair, time) or any(
            self._fires(pair, rule, None, time) for rule in self.description.delayed if rule.target is None
        )

    def _by_rule(self, effect: str, pair: Pair, time: int) -> bool:
        rules = [rule for rule in self.description.effect_rules if rule.effect == effect]
        return any(self._satisfied(rule, pair, time) for rule in rules)

    def _satisfied(self, rule: EffectRule, pair: Pair, time: int) -> bool:
        subst = unify_all((rule.fluent, rule.value), pair, {Var("T"): time})
        return subst is not None and any(True for _ in solve(rule.alternatives, subst, _At(self, time)))

    def _fires(self, source: Pair, rule: Conditional, target: Pair | None, time: int) -> bool:
        """Whether an initiation of the source has its delayed effect at `time`."""
        delays = self._delays(source, rule, target)
        return any(self._comes(source, time - delay, time) for delay in delays)

    def _delays(self, source: Pair, rule: Conditional, target: Pair | None) -> set[int]:
        subst = unify_all((rule.fluent, rule.value), source, EMPTY)
        if subst is not None and rule.target is not None:
            subst = unify_all(rule.target, target, subst) if target is not None else None
        if subst is None:
            return set()
        solutions = solve(rule.alternatives, subst, self.description.knowledge)
        return {int(evaluate(resolve(rule.delay, solution))) for solution in solutions}

    def _comes(self, source: Pair, since: int, time: int) -> bool:
        if since < self.start - 1 or not self.initiated(source, since):
            return False
        if any(self.broken(source, t) for t in range(since + 1, time)):
            return False
        return not self._postponable(source) or not any(
            self.initiated(source, t) for t in range(since + 1, time + 1)
        )

    def _postponable(self, pair: Pair) -> bool:
        return any(
            any(True for _ in solve(rule.alternatives, subst, self.description.knowledge))
            for rule in self.description.postponable
            if (subst := unify_all((rule.fluent, rule.value), pair, EMPTY)) is not None
        )

    def _initial(self) -> set[Pair]:
        found = set()
        for rule in self.description.initially:
            for answer in solve(rule.alternatives, EMPTY, self.description.knowledge):
                pair = resolve(rule.fluent, answer), resolve(rule.value, answer)
                if not is_ground(pair[0]):
                    raise OutOfScope("initially for every known instance")
                found.add(pair)
        return found

    # ------------------------------------------------------------------- results

    def timeline(self, until: int) -> dict[tuple[str, str], Intervals]:
        """The maximal intervals of every pair, up to the point after `until`."""
        result: dict[tuple[str, str], Intervals] = {}
        for pair in (pair for key in self.description.simple for pair in self.candidates(*key)):
            points = [t for t in range(self.start, until + 2) if self.holds(pair, t)]
            intervals = maximal((t, None if t == until + 1 else t + 1) for t in points)
            if intervals:
                result[text(pair[0]), text(pair[1])] = intervals
        return result


class _At:
    """The world at a time-point."""

    def __init__(self, question: BrokenBetween, time: int) -> None:
        self._question = question
        self._time = time

    def answers(self, fact: Fact, subst: Subst) -> Iterator[Subst]:
        question = self._question
        first = resolve(fact.terms[0], subst)
        match fact.kind:
            case "call":
                yield from question.description.knowledge.answers(fact, subst)
            case "happens":
                for event in question.events.get(self._time, ()):
                    yield from _some(unify(first, event, subst))
            case "holds":
                for pair in question.candidates(*signature(first)):
                    extended = unify_all((first, fact.terms[1]), pair, subst)
                    if extended is not None and question.holds(pair, self._time):
                        yield extended
            case _:
                raise OutOfScope(fact.kind)


def _some(subst: Subst | None) -> Iterator[Subst]:
    if subst is not None:
        yield subst


def _constants_in(term: Term) -> Iterator[Ground]:
    if isinstance(term, tuple):
        for argument in term[1:]:
            yield from _constants_in(argument)
    elif not isinstance(term, Var):
        yield term
