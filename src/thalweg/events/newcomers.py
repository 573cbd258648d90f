"""What `start` and `end` see: the next time-point before anybody new is met there.

What happens at a time-point does not hang on events that come later. So an individual that the next point shows for the
first time, and what ``initially`` gives it there, begin and end nothing at this point. Rules that read `start` or `end`
of a fluent for which that matters get a guard: conditions on hidden fluents that count newcomers one point later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from thalweg.events.bounds import BEFORE, TRUE, VIEW, hidden, viewed
from thalweg.events.forms import (
    EdgeAt,
    EffectAt,
    Flat,
    HoldsAt,
    Missing,
    SpanRule,
    Total,
    binding,
    names,
    split_edges,
)
from thalweg.events.supports import present
from thalweg.language.rules import Combine, Edge, Effect
from thalweg.language.terms import NOWHERE, Term, Variable, variables

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
        rules = self._rules(x.fluent) if x.only != "simple" else []
        stirred = any(map(self._stirred, rules))
        if not stirred and (x.edge is Edge.END or not any(map(self._brings, rules))):
            return guards
        if not stirred and len(rules) == 1 and self._about_its_head(rules[0]):
            return *guards, *self._seen_before(x)
        return *guards, HoldsAt(self._twin(x.fluent), x.args, x.value, x.edge is Edge.END, next=True)

    def _rules(self, fluent: str) -> list[SpanRule]:
        return self.domains.spans_of.get(fluent, [])

    def _seen_before(self, x: EdgeAt) -> tuple[Flat, ...]:
        """The one rule of a fluent knows the instance, and not by what happens at the next point only."""
        known = [self.domains.bearers(x.fluent, x.value)]
        if self.domains.is_declared(x.fluent) and not self._rules(x.fluent)[0].whole:
            known.append(self.domains.known(x.fluent))
        return tuple(HoldsAt(self._late(name), x.args, TRUE, next=True) for name in known)

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
        return fluent not in above and any(self._brings(rule, above) for rule in self._rules(fluent))

    def _brings(self, rule: SpanRule, above: frozenset[str] = frozenset()) -> bool:
        """Can the rule give an instance its value from the moment it is first seen? Not where what holds there names
        all that the rule speaks of; a rule over whole intervals does not ask who its head is about at a point."""
        asked, wanted = list(rule.tests), self.domains.declaring(rule.fluent)
        mine = names([x for _, x in rule.inputs])
        if not rule.whole:
            asked += (x for w in wanted for x in w.body)
            mine |= set() if wanted else _variables(rule.args) - binding(rule.tests)
        if any(map(self.domains.dynamic, asked)) or not mine <= present(rule):
            return True
        return any(self._at_first_sight(x.fluent, above | {rule.fluent}) for _, x in rule.inputs)

    def _stirred(self, rule: SpanRule) -> bool:
        """Can a newcomer change an instance of the rule that is known already?"""
        return not rule.whole and any(self._at_first_sight(x.fluent) for _, x in rule.inputs)

    def _about_its_head(self, rule: SpanRule) -> bool:
        """Is an instance of the rule one of its head, and known wherever it holds?"""
        told = [x for x in rule.tests if self.domains.dynamic(x)]
        mine, read = _variables(rule.args), [names((x,)) for _, x in rule.inputs]
        if rule.whole and (told or any(one != read[0] for one in read) or any(self._judged(x) for _, x in rule.inputs)):
            return False
        return mine - binding(rule.tests) <= names([*(x for _, x in rule.inputs), *told]) <= mine

    def _judged(self, x: HoldsAt, above: frozenset[str] = frozenset()) -> bool:
        """Have rules over whole intervals a part in it? What they give may hold before it is known."""
        rules = [] if x.fluent in above else self._rules(x.fluent)
        return any(rule.whole or any(self._judged(y, above | {x.fluent}) for _, y in rule.inputs) for rule in rules)

    # ----------------------------------------------------------------- hidden fluents

    def _late(self, name: str) -> str:
        """The hidden fluent for which what events show, and who is told to a domain, counts one time-point later."""
        twin = f"known late {name}"
        if twin not in self._done:
            self._done.add(twin)
            normal = self.domains.normal
            normal.fluents[twin] = normal.fluents[name]
            rules = [p for p in normal.points if p.relation == name]
            for p in [p for rule in rules for p in split_edges(rule, self.domains.mixed)]:
                later = {f: self._late(f) for f in _hidden_in(p.body)}
                body = tuple(_renamed(x, later) for x in p.body)
                lag = p.lag + 1 if p.lag < 0 or name.startswith("domain ") else 0
                guards = tuple(g for x in body for g in self._guards(x))
                self.domains.add(twin, p.args, (*body, *guards), lag=lag)
                if guards:
                    self.domains.add(twin, p.args, body, lag=lag + 1)
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
            for start in self.domains.starts_of.get(fluent, ()):
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
            return replace(self._but_for_first_points(rule), fluent=name)
        inputs = tuple((variable, self._earlier(x)) for variable, x in rule.inputs)
        tests = tuple(self._told_before(x) for x in rule.tests)
        return replace(rule, fluent=name, inputs=inputs, tests=tests)

    def _but_for_first_points(self, rule: SpanRule) -> SpanRule:
        """A rule over whole intervals without the points at which its instances are seen for the first time."""
        known, _ = self.domains.conditions(self.domains.spans[rule.place])
        if not known:
            return rule
        now = [(f"_#Now{n}", x) for n, x in enumerate(known)]
        late = [(f"_#Late{n}", replace(x, fluent=self._late(x.fluent))) for n, x in enumerate(known)]
        steps = (
            Combine("intersect_all", tuple(Variable(n) for n, _ in now), Variable("_#Now")),
            Combine("intersect_all", tuple(Variable(n) for n, _ in late), Variable("_#Late")),
            Combine("relative_complement_all", (Variable("_#Late"),), Variable("_#First"), base=Variable("_#Now")),
            Combine("relative_complement_all", (Variable("_#First"),), Variable("_#Rest"), base=Variable(rule.result)),
        )
        gates = tuple(dict.fromkeys((*rule.gates, *known)))
        inputs = (*rule.inputs, *now, *late)
        return replace(rule, inputs=inputs, steps=(*rule.steps, *steps), result="_#Rest", gates=gates)

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
        args = tuple(Variable(f"_#Before{n}") for n in range(normal.fluents[fluent]))
        value = Variable("_#Before")
        held, new, old = (Variable(f"_#I{n}") for n in range(3))
        normal.fluents[VIEW + fluent] = normal.fluents[fluent]
        steps = (
            Combine("relative_complement_all", (old,), Variable("_#Set"), base=new),
            Combine("relative_complement_all", (Variable("_#Set"),), Variable("_#Rest"), base=held),
        )
        inputs = (
            (held.name, HoldsAt(VIEW + fluent, args, value)),
            (new.name, HoldsAt(self._set(fluent), args, TRUE)),
            (old.name, HoldsAt(self._set(fluent, lag=1), args, TRUE)),
        )
        return SpanRule(BEFORE + fluent, args, value, inputs, steps, (), "_#Rest", -1, NOWHERE)


def _hidden_in(body: Iterable[Flat]) -> set[str]:
    """The hidden fluents that conditions read."""
    return {x.fluent for x in body if isinstance(x, HoldsAt | EdgeAt) and hidden(x.fluent)}


def _renamed(x: Flat, names: dict[str, str]) -> Flat:
    """A condition that reads another fluent instead."""
    return replace(x, fluent=names[x.fluent]) if isinstance(x, HoldsAt | EdgeAt) and x.fluent in names else x


def _variables(terms: Iterable[Term]) -> set[str]:
    return {v.name for term in terms for v in variables(term)}
