"""Rules of determined fluents about known instances only: wanted, known, by value, with their past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from thalweg.analysis.roles import may_equal
from thalweg.events.forms import Fact, Flat, HoldsAt, SpanRule, binding, names
from thalweg.events.supports import covered, indispensable
from thalweg.language.rules import Allen, Combine, Duration
from thalweg.language.terms import NOWHERE, Atom, Term, Variable

if TYPE_CHECKING:
    from thalweg.events.domains import Domains

TRUE = Atom("true")
VIEW = "values "
"""Prefix of the view of a simple fluent whose pairs are instances of their own."""
PAST = "past "
"""Prefix of the copy of a fluent that forgets nothing, for relations that look at any distance."""

BOTH = "both kinds "
"""Prefix of the fluent of all values of one that has simple and determined ones."""
BEFORE = "before "
"""Prefix of the twin of a fluent without what newcomers bring at a point."""


def hidden(name: str) -> bool:
    """Is this the name of a hidden fluent?"""
    return name.startswith(("known ", "domain ", "range ", VIEW, BOTH, PAST, BEFORE))


def viewed(name: str) -> str:
    """The fluent that is read under a name, maybe through a view."""
    return name.removeprefix(VIEW).removeprefix(BOTH)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Rewrites rules of determined fluents with the hidden fluents of a program."""

    domains: Domains

    def bounded(self, rules: Sequence[SpanRule]) -> list[SpanRule]:
        """The rules, each about the instances that are known and wanted."""
        spans = [self._joined(rule, s) for s in rules for rule in self._wanted_span(self._headed(self._ranged(s)))]
        seen = [self._viewed(rule) for rule in spans]
        return self._with_pasts([*self._of_both_kinds(seen), *seen])

    def _wanted_span(self, s: SpanRule) -> list[SpanRule]:
        """A rule per grounding of its head: its facts are tests, its dynamic domains are further inputs."""
        wanted = self.domains.declaring(s.fluent)
        if not any(self.domains.dynamic(x) for w in wanted for x in w.body):
            bounded = self._as_inputs(s, s.tests)
            check = self.domains.filter_(s.fluent, s.args, s.value, shift=False)
            return [replace(bounded, tests=bounded.tests + check)]
        return [
            self._as_inputs(s, (*s.tests, *self.domains.instance(w, (*s.args, s.value)))) for w in wanted
        ]

    def _ranged(self, s: SpanRule) -> SpanRule:
        """Let the rule speak about known instances only: bound the complements, and the variables that no indispensable
        input binds."""
        every = sorted({v for _, x in s.inputs for v in names((x,))})
        written = s
        if s.whole and any(isinstance(x, Combine) and x.op == "complement_all" for x in s.steps):
            s = self._cut_complements(s)
        needed = indispensable(s)
        bound = {v for name, x in s.inputs if name in needed for v in names((x,))}
        if set(every) <= covered(s) and all(set(every) <= bound | names((x,)) for _, x in s.inputs):
            return s  # whatever makes the result non-empty names all variables, and what holds is known
        for v in every:
            if v not in bound:
                s = self._bounded(s, HoldsAt(self.domains.range(written, v), (Variable(v),), TRUE))
        return s

    def _headed(self, s: SpanRule) -> SpanRule:
        """Variables of the head that no condition binds range over the known instances of its fluent."""
        if names((HoldsAt(s.fluent, s.args, TRUE),)) <= names([x for _, x in s.inputs]) | binding(s.tests):
            return s
        return self._bounded(s, HoldsAt(self.domains.known(s.fluent), s.args, TRUE))

    def _joined(self, s: SpanRule, written: SpanRule) -> SpanRule:
        """Let all variables be found from whatever bounds the rule, which may name fewer than the fluents it reads."""
        needed = indispensable(s)
        bound = names((*(x for name, x in s.inputs if name in needed), *s.gates))
        every = names([x for _, x in written.inputs])
        missing = {v for x in (*(x for _, x in s.inputs), *s.gates) for v in every - bound - names((x,))}
        for v in sorted(missing):
            s = self._bounded(s, HoldsAt(self.domains.range(written, v), (Variable(v),), TRUE))
        return s

    def _viewed(self, s: SpanRule) -> SpanRule:
        """Read a simple fluent by value where the value is a variable, and one that has determined values too where
        both may be meant."""

        def view(x: HoldsAt) -> HoldsAt:
            if not self.domains.is_simple(x.fluent):
                return x
            given = [rule.value for rule in self.domains.spans_of.get(x.fluent, ())]
            several = [v for v in given if may_equal(v, x.value)]
            if not isinstance(x.value, Variable) and not any(isinstance(v, Variable) for v in several):
                return x
            name = (BOTH if several else VIEW) + x.fluent
            self.domains.normal.fluents[name] = self.domains.normal.fluents[x.fluent]
            return replace(x, fluent=name)

        return replace(s, inputs=tuple((name, view(x)) for name, x in s.inputs))

    def _of_both_kinds(self, rules: Sequence[SpanRule]) -> list[SpanRule]:
        """The rules of the fluents of all values that rules read."""
        fluents = self.domains.normal.fluents
        read = {x.fluent.removeprefix(BOTH) for s in rules for _, x in s.inputs if x.fluent.startswith(BOTH)}
        found = []
        for fluent in sorted(read):
            fluents[VIEW + fluent] = fluents[fluent]
            args = tuple(Variable(f"_#Both{n}") for n in range(fluents[fluent]))
            value = Variable("_#Both")
            for part in (VIEW + fluent, fluent):
                inputs = (("_#BothI", HoldsAt(part, args, value)),)
                found.append(SpanRule(BOTH + fluent, args, value, inputs, (), (), "_#BothI", -1, NOWHERE))
        return found

    def _with_pasts(self, rules: list[SpanRule]) -> list[SpanRule]:
        """Let rules that look at any distance read copies that forget nothing. Allen relations do: what was over before
        the window may be related to an instance that was not known then. Durations of what hangs on other durations do:
        an interval that becomes long enough changes what was there before the window."""
        copies: dict[tuple[str, Term | None], SpanRule] = {}

        def copied(x: HoldsAt, s: SpanRule) -> HoldsAt:
            args = tuple(Variable(f"_#Past{n}") for n in range(len(x.args)))
            value = Variable("_#Past") if isinstance(x.value, Variable) else x.value
            source = (("_#PastI", HoldsAt(x.fluent, args, value)),)
            copy = SpanRule(PAST + x.fluent, args, value, source, (), (), "_#PastI", -1, s.span)
            copies.setdefault((x.fluent, None if isinstance(x.value, Variable) else x.value), copy)
            self.domains.normal.fluents[PAST + x.fluent] = len(x.args)
            return replace(x, fluent=PAST + x.fluent)

        found = []
        for s in rules:
            if _looks_far(s):
                told = [(name, x, hidden(viewed(x.fluent))) for name, x in s.inputs]
                s = replace(s, inputs=tuple((name, x if unseen else copied(x, s)) for name, x, unseen in told))
            found.append(s)
        return [*copies.values(), *found]

    def _bounded(self, s: SpanRule, x: HoldsAt) -> SpanRule:
        """The rule where a hidden pair holds: point by point, or for whole intervals while it holds now."""
        if s.whole:
            return replace(s, gates=(*s.gates, x))
        at = next(self.domains.fresh)
        cut = Combine("intersect_all", (Variable(s.result), Variable(f"_#D{at}")), Variable(f"_#R{at}"))
        return replace(s, inputs=(*s.inputs, (f"_#D{at}", x)), steps=(*s.steps, cut), result=f"_#R{at}")

    def _cut_complements(self, s: SpanRule) -> SpanRule:
        """Complements whose whole intervals are judged begin when the instance becomes known."""
        known, _ = self.domains.conditions(s)
        ranges = [(f"_#D{next(self.domains.fresh)}", x) for x in known]
        steps: list[Combine | Allen | Duration] = []
        for x in s.steps:
            if isinstance(x, Combine) and x.op == "complement_all" and ranges:
                whole = Variable(f"_#R{next(self.domains.fresh)}")
                steps.append(replace(x, result=whole))
                steps.append(Combine("intersect_all", (whole, *(Variable(n) for n, _ in ranges)), x.result))
            else:
                steps.append(x)
        return replace(s, inputs=(*s.inputs, *ranges), steps=tuple(steps))

    def _as_inputs(self, s: SpanRule, tests: tuple[Flat, ...]) -> SpanRule:
        """Dynamic facts among the tests bound the rule."""
        plain = tuple(x for x in tests if not self.domains.dynamic(x))
        s = replace(s, tests=plain)
        for x in tests:
            if self.domains.dynamic(x):
                assert isinstance(x, Fact)
                s = self._bounded(s, HoldsAt(f"domain {x.relation}", x.args, TRUE))
        return s


def _looks_far(s: SpanRule) -> bool:
    """Does a rule look at intervals at any distance?"""
    if any(isinstance(step, Allen) for step in s.steps):
        return True
    measured = {step.result for step in s.steps if isinstance(step, Duration)}
    made = {step.result: step for step in s.steps if isinstance(step, Combine)}

    def hangs_on_length(term: Term) -> bool:
        step = made.get(term)
        return term in measured or (step is not None and any(map(hangs_on_length, _operands(step))))

    judged = [step.intervals for step in s.steps if isinstance(step, Duration)]
    return any(hangs_on_length(term) for term in judged if term in made)


def _operands(step: Combine) -> tuple[Term, ...]:
    return step.inputs if step.base is None else (step.base, *step.inputs)
