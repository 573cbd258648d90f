"""What `start` and `end` see: the next time-point before anybody new is met there.

What happens at a time-point does not hang on events that come later. So an individual that the next point shows for the
first time, and what ``initially`` gives it there, begin and end nothing at this point. Rules that read `start` or `end`
of a fluent for which that matters get a guard: conditions on hidden fluents that count newcomers one point later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from thalweg.analysis.roles import may_equal
from thalweg.events.bounds import BEFORE, TRUE, VIEW, hidden, viewed
from thalweg.events.forms import EdgeAt, EffectAt, Flat, HoldsAt, Missing, SpanRule, Test, Total, names
from thalweg.language.rules import Combine, Edge, Effect
from thalweg.language.terms import NOWHERE, Variable, variables

if TYPE_CHECKING:
    from thalweg.events.domains import Domains


@dataclass(slots=True)
class Newcomers:
    """Guards for a program's rules, and the hidden fluents that they read."""

    domains: Domains
    _twins: list[str] = field(default_factory=list)
    """The fluents of which a twin without newcomers is asked for."""
    _done: set[str] = field(default_factory=set)

    # ----------------------------------------------------------------- guards

    def visible(self, body: tuple[Flat, ...]) -> tuple[Flat, ...]:
        """A body whose starts and ends are none that a newcomer brings."""
        guarded: list[Flat] = []
        for x in body:
            guards = self._guards(x)
            match x:
                case EdgeAt(negated=True) if guards:
                    guarded.append(Missing(((replace(x, negated=False), *guards),)))
                case Missing(bodies):
                    guarded.append(replace(x, bodies=tuple(map(self.visible, bodies))))
                case Total(body=inner):
                    guarded.append(replace(x, body=self.visible(inner)))
                case _:
                    guarded += [x, *guards]
        return tuple(guarded)

    def _guards(self, x: Flat) -> tuple[Flat, ...]:
        """What must hold for an edge to be one."""
        if not isinstance(x, EdgeAt):
            return ()
        guards = self._greeted(x)
        if x.fluent in self.domains.determined and x.only != "simple":
            if x.edge is Edge.START and self._at_first_sight(x.fluent):
                guards = (*guards, *self._seen_before(x))
            if self._stirred(x.fluent) or self._made_of_several(x.fluent):
                guards = (*guards, HoldsAt(self._twin(x.fluent), x.args, x.value, x.edge is Edge.END, next=True))
        return guards

    def _seen_before(self, x: EdgeAt) -> tuple[Flat, ...]:
        """The instance is known to be able to have the value, and not by what happens at the next point only."""

        def late(name: str) -> HoldsAt:
            return HoldsAt(self._late(name), x.args, TRUE, next=True)

        given = {rule.value for rule in self.domains.spans if rule.fluent == x.fluent}
        values = sorted((v for v in given if may_equal(v, x.value)), key=str)
        listed = (late(self.domains.known(x.fluent)),) if self.domains.is_declared(x.fluent) else ()
        if not any(variables(x.value)) or len(values) == 1:
            return *listed, late(self.domains.bearers(x.fluent, x.value))
        bearers = [(v, late(self.domains.bearers(x.fluent, v))) for v in values]
        each = (((known,) if any(variables(v)) else (Test("=", x.value, v), known)) for v, known in bearers)
        return *listed, Missing(tuple(each), negated=False)

    def _greeted(self, x: Flat) -> tuple[Flat, ...]:
        """The same for values that instances have by ``initially``."""
        if isinstance(x, EdgeAt) and x.edge is Edge.START and x.fluent in self.domains.greeted:
            return (self._started(x),) if x.only != "determined" else ()
        return ()

    def _started(self, x: EdgeAt) -> Flat:
        """The instance is known already, or the effect that begins the value makes it known."""
        domains = self.domains
        if domains.set_later(x.fluent):
            effect = EffectAt(Effect.INITIATES, x.fluent, x.args, x.value)
            return Missing(((HoldsAt(self._set(x.fluent), x.args, TRUE),), (effect,)), negated=False)
        known = HoldsAt(domains.known(x.fluent), x.args, TRUE)
        if domains.is_declared(x.fluent) or not domains.meets(x.fluent):
            return known
        _, met = domains.ways(x.fluent)
        return Missing(((known,), (HoldsAt(met, x.args, TRUE, next=True),)), negated=False)

    def _at_first_sight(self, fluent: str, above: frozenset[str] = frozenset()) -> bool:
        """Can an instance have a value from the moment it is first seen?"""
        if fluent in self.domains.greeted:
            return True
        if fluent in above or fluent not in self.domains.determined:
            return False
        if any(self.domains.dynamic(x) for w in self.domains.normal.wanted.get(fluent, []) for x in w.body):
            return True
        return any(
            any(isinstance(step, Combine) and step.op == "complement_all" for step in rule.steps)
            or any(self._at_first_sight(x.fluent, above | {fluent}) for _, x in rule.inputs)
            for rule in self.domains.spans
            if rule.fluent == fluent
        )

    def _stirred(self, fluent: str) -> bool:
        """Can a newcomer change an instance that is known already?"""
        return any(
            self._at_first_sight(x.fluent)
            for rule in self.domains.spans
            if rule.fluent == fluent and not rule.whole
            for _, x in rule.inputs
        )

    def _made_of_several(self, fluent: str) -> bool:
        """Can a newcomer give a value to an instance that another rule, or other individuals, made known?"""
        rules = [rule for rule in self.domains.spans if rule.fluent == fluent and not rule.whole]
        heads = ({v.name for term in (*rule.args, rule.value) for v in variables(term)} for rule in rules)
        more = any(names([x for _, x in rule.inputs]) - head for rule, head in zip(rules, heads, strict=True))
        return (len(rules) > 1 or more) and self._at_first_sight(fluent)

    # ----------------------------------------------------------------- hidden fluents

    def _late(self, name: str) -> str:
        """The hidden fluent for which what events show, and who is told to a domain, counts one time-point later."""
        twin = f"known late {name}"
        if twin not in self._done:
            self._done.add(twin)
            normal = self.domains.normal
            normal.fluents[twin] = normal.fluents[name]
            for p in [p for p in normal.points if p.relation == name]:
                later = {f: self._late(f) for f in _hidden_in(p.body)}
                body = tuple(_renamed(x, later) for x in p.body)
                lag = p.lag + 1 if p.lag < 0 or name.startswith("domain ") else 0
                self.domains.add(twin, p.args, (*body, *(g for x in body for g in self._greeted(x))), lag=lag)
            self.domains.seeds += [replace(rule, fluent=twin) for rule in self.domains.seeds if rule.fluent == name]
            self.domains.meetings += [replace(m, name=twin) for m in self.domains.meetings if m.name == name]
        return twin

    def _set(self, fluent: str, lag: int = 0) -> str:
        """The hidden fluent of the instances that ``initially`` has set, from then on or some points later."""
        name = f"known initially {fluent}" + (f" after {lag}" if lag else "")
        if name not in self._done:
            self._done.add(name)
            normal = self.domains.normal
            normal.fluents[name] = normal.fluents[fluent]
            for start in [s for s in normal.starts if s.fluent == fluent]:
                for choice, bodies in self.domains.beginnings(start):
                    if not bodies:
                        self.domains.seeds.append(replace(choice, fluent=name, value=TRUE))
                    for body in bodies:
                        self.domains.add(name, choice.args, body, lag=lag)
        return name

    def _twin(self, fluent: str) -> str:
        """The hidden fluent that is the fluent without what newcomers bring at a point."""
        if fluent not in self._twins:
            self._twins.append(fluent)
            self.domains.normal.fluents[BEFORE + fluent] = self.domains.normal.fluents[fluent]
        return BEFORE + fluent

    def with_twins(self, spans: Sequence[SpanRule]) -> list[SpanRule]:
        """The rules of determined fluents, and those of the twins that are asked for."""
        found = list(spans)
        for fluent in self._twins:  # grows on the way
            found += [self._without(rule) for rule in spans if rule.fluent == fluent]
            if fluent in self.domains.effects_of or fluent in self.domains.greeted:
                found.append(self._without_set(fluent))
        return found

    def _without(self, rule: SpanRule) -> SpanRule:
        """A rule of a determined fluent, without newcomers."""
        name = BEFORE + rule.fluent
        if rule.whole:
            return replace(rule, fluent=name)
        inputs = tuple((variable, self._earlier(x)) for variable, x in rule.inputs)
        tests = tuple(self._told_before(x) for x in rule.tests)
        return replace(rule, fluent=name, inputs=inputs, tests=tests)

    def _earlier(self, x: HoldsAt) -> HoldsAt:
        name = viewed(x.fluent)
        if hidden(name):
            return replace(x, fluent=self._late(name))
        return replace(x, fluent=self._twin(name)) if self._at_first_sight(name) else x

    def _told_before(self, x: Flat) -> Flat:
        """A test that hangs on who is told to a domain, as it was before."""
        match x:
            case HoldsAt() if hidden(x.fluent):
                return self._earlier(x)
            case Missing(bodies):
                return replace(x, bodies=tuple(tuple(self._told_before(y) for y in body) for body in bodies))
            case Total():
                return replace(x, body=tuple(self._told_before(y) for y in x.body))
            case _:
                return x

    def _without_set(self, fluent: str) -> SpanRule:
        """A simple fluent but for the points at which ``initially`` sets it."""
        normal = self.domains.normal
        args = tuple(Variable(f"_Before{n}") for n in range(normal.fluents[fluent]))
        value = Variable("_Before")
        held, new, old = (Variable(f"_I{n}") for n in range(3))
        normal.fluents[VIEW + fluent] = normal.fluents[fluent]
        steps = (
            Combine("relative_complement_all", (old,), Variable("_Set"), base=new),
            Combine("relative_complement_all", (Variable("_Set"),), Variable("_Rest"), base=held),
        )
        inputs = (
            (held.name, HoldsAt(VIEW + fluent, args, value)),
            (new.name, HoldsAt(self._set(fluent), args, TRUE)),
            (old.name, HoldsAt(self._set(fluent, lag=1), args, TRUE)),
        )
        return SpanRule(BEFORE + fluent, args, value, inputs, steps, (), "_Rest", -1, NOWHERE)


def _hidden_in(body: Iterable[Flat]) -> set[str]:
    """The hidden fluents that conditions read."""
    return {x.fluent for x in body if isinstance(x, HoldsAt | EdgeAt) and hidden(x.fluent)}


def _renamed(x: Flat, names: dict[str, str]) -> Flat:
    """A condition that reads another fluent instead."""
    return replace(x, fluent=names[x.fluent]) if isinstance(x, HoldsAt | EdgeAt) and x.fluent in names else x
