"""Hidden fluents: which instances are known, which individuals a dynamic domain holds, and since when.

An instance is known from the time-point at which the input events of one of its rules first happen together, or from
the start where a grounding lists it. ``initially`` reaches an instance when it becomes known; a head variable that no
condition binds ranges over the instances known at that time; a complement holds for what is known. All of that is
expressed by ordinary rules over hidden fluents, so it is windowed, revised and snapshotted like everything else.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from thalweg.analysis.roles import may_equal
from thalweg.events.bounds import TRUE, Bounds, hidden
from thalweg.events.forms import (
    DelayRule,
    EdgeAt,
    EffectAt,
    EventAt,
    Fact,
    Flat,
    HoldsAt,
    Missing,
    Normal,
    PointRule,
    SpanRule,
    StartRule,
    Test,
    Total,
    Wanted,
    binding,
    names,
    rebuild,
    split_edges,
)
from thalweg.events.hanging import refuse_hanging
from thalweg.events.meeting import Meeting, settle
from thalweg.events.newcomers import Newcomers
from thalweg.events.normal import normalise
from thalweg.events.relations import apply, holes
from thalweg.language.diagnostics import Diagnostic, ProgramError
from thalweg.language.program import Program
from thalweg.language.rules import Edge, Effect
from thalweg.language.terms import NOWHERE, Term, Variable, variables

_ANY = Variable("_#Any")
"""A value that is left open."""


def _free(args: tuple[Term, ...], body: tuple[Flat, ...], time: str | None = None) -> set[str]:
    return {v.name for a in args for v in variables(a)} - binding(body, time)


class Domains:
    """Adds the hidden rules that a program needs to its normal form."""

    def __init__(self, normal: Normal, inputs: set[str], written: Sequence[PointRule]) -> None:
        """`written` are the effect rules before equations were solved: what an event names is what it says."""
        self.normal = normal
        self.inputs = inputs  # input fluents
        self.seeds: list[StartRule] = []
        self.derived = {p.relation for p in normal.points if p.effect is None}
        self.determined = {s.fluent for s in normal.spans}
        self.spans = [replace(rule, place=at) for at, rule in enumerate(normal.spans)]
        self.spans_of: dict[str, list[SpanRule]] = {}
        for rule in self.spans:
            self.spans_of.setdefault(rule.fluent, []).append(rule)
        self.newcomers = Newcomers(self)
        self.fresh = itertools.count()
        """Numbers for new variables."""
        self.meetings: list[Meeting] = []
        self._done: set[str] = set()
        self.starts_of: dict[str, list[StartRule]] = {}
        for s in normal.starts:
            self.starts_of.setdefault(s.fluent, []).append(s)
        self.greeted = {
            fluent
            for fluent, starts in self.starts_of.items()
            if self.set_later(fluent) or any(_free(s.args, s.body) for s in starts)
        }
        self.effects_of: dict[str, list[PointRule]] = {}
        """Effect rules by fluent, as they were written."""
        for p in written:
            if p.effect is not None:
                self.effects_of.setdefault(p.relation, []).append(p)
        self.mixed = {fluent for fluent in self.determined if self.is_simple(fluent)}
        """The fluents that have simple and determined values."""

    def extend(self) -> None:
        """Rewrite the rules: dynamic facts, free head variables, initially, grounding, complements."""
        normal = self.normal
        self._domain_rules()
        normal.points = [x for rule in normal.points for p in split_edges(rule, self.mixed) for x in self._effect(p)]
        for start in normal.starts:
            self._initially(start)
        normal.spans = self.newcomers.with_twins(Bounds(self).bounded(self.spans))
        normal.delays = [
            replace(d, body=self._timed(d.body, shift=False) + self._target_filter(d)) for d in normal.delays
        ]
        normal.postpones = [replace(p, body=self._timed(p.body, shift=False)) for p in normal.postpones]
        settle(normal, self.meetings)
        normal.points = [p for rule in normal.points for p in split_edges(rule, self.mixed)]  # hidden rules too

    # ----------------------------------------------------------------- dynamic domains

    def _timed(self, body: tuple[Flat, ...], *, shift: bool) -> tuple[Flat, ...]:
        """Facts of dynamic domains as hidden fluents."""

        def one(x: Flat) -> Flat:
            match x:
                case Fact(relation, args, negated) if relation in self.normal.domains:
                    return HoldsAt(f"domain {relation}", args, TRUE, negated, shift)
                case Missing(bodies, negated):
                    return Missing(tuple(tuple(one(y) for y in b) for b in bodies), negated)
                case Total(function, template, inner, result):
                    return Total(function, template, tuple(one(y) for y in inner), result)
                case _:
                    return x

        return tuple(one(x) for x in body)

    def _domain_rules(self) -> None:
        """Input rows show individuals: a grounding of an input entity by a dynamic domain fills it."""
        normal = self.normal
        for relation in normal.domains:
            name = f"domain {relation}"
            arity = holes(relation)
            normal.fluents[name] = arity
            known = normal.facts.get(relation)
            for args in known.rows if known is not None else ():
                self.seeds.append(StartRule(name, args, TRUE, (), NOWHERE))
        for found in list(normal.wanted.values()):
            for w in found:
                for x in w.body:
                    if isinstance(x, Fact) and x.relation in normal.domains:
                        self._shown(w, x)

    def _shown(self, w: Wanted, fact: Fact) -> None:
        name = f"domain {fact.relation}"
        if w.relation in self.normal.events and w.relation not in self.derived:
            body: tuple[Flat, ...] = (EventAt(w.relation, w.args),)
            lag = -1
        elif w.relation in self.inputs:
            value = w.value if w.value is not None else Variable("_#Value")
            body = (EdgeAt(Edge.START, w.relation, w.args, value),)
            lag = 0
        else:
            return
        if {v.name for a in fact.args for v in variables(a)} <= names(body):
            self.add(name, fact.args, body, lag=lag)

    def add(self, name: str, args: tuple[Term, ...], body: tuple[Flat, ...], *, lag: int = 0) -> None:
        """A hidden rule: the hidden pair begins after the point at which the body is true (`lag` -1: at that point)."""
        self.normal.fluents[name] = len(args)
        self.normal.points.append(
            PointRule(Effect.INITIATES, name, args, TRUE, "_#T", body, -1, NOWHERE, lag=lag)
        )

    def _becoming(self, literals: list[HoldsAt], rest: tuple[Flat, ...]) -> list[tuple[Flat, ...]]:
        """Bodies that are true one tick before all hidden literals hold together for the first time."""
        bodies = []
        for at, x in enumerate(literals):
            others = tuple(replace(y, next=True) for k, y in enumerate(literals) if k != at)
            bodies.append((EdgeAt(Edge.START, x.fluent, x.args, x.value), *others, *rest))
        return bodies

    def _since(self, name: str, args: tuple[Term, ...], literals: list[HoldsAt], rest: tuple[Flat, ...]) -> None:
        """The hidden pair holds from when all hidden literals do; from the start where there are none."""
        if not literals:
            self.seeds.append(StartRule(name, args, TRUE, rest, NOWHERE))
        for body in self._becoming(literals, rest):
            self.add(name, args, body)

    # ----------------------------------------------------------------- rules

    def _effect(self, p: PointRule) -> Iterator[PointRule]:
        """The rule about wanted pairs; and, where a value that is named and not wanted may be initiated, one by which
        it ends the others."""
        if hidden(p.relation):
            yield p
            return
        body = self.newcomers.visible(self._timed(p.body, shift=False))
        if p.effect is not None and _free(p.args, body, p.time):
            body = (*body, HoldsAt(self.known(p.relation), p.args, TRUE))
        shift = any(self._starts_input(x) for x in p.body)
        wanted = self.filter_(p.relation, p.args, p.value, shift=shift)
        yield replace(p, body=body + wanted)
        if p.effect is Effect.INITIATES and self._may_displace(p):
            instance = self.filter_(p.relation, p.args, _ANY, shift=shift)
            unwanted = tuple(replace(x, negated=True) for x in wanted if isinstance(x, Missing))
            ends = replace(p, effect=Effect.TERMINATES, value=_ANY, displaces=True)
            yield replace(ends, body=body + instance + unwanted + self._named(p, shift=shift))

    def _starts_input(self, x: Flat) -> bool:
        """Does this read the start of an input interval? It may tell a domain of somebody at its first point."""
        return isinstance(x, EdgeAt) and x.edge is Edge.START and not x.negated and x.fluent in self.inputs

    def _named(self, p: PointRule, *, shift: bool) -> tuple[Flat, ...]:
        """A literal that keeps the values that a head or a grounding names; none where the rule names its value."""
        if not isinstance(p.value, Variable):
            return ()
        heads = [rule.value for rule in (*self.effects_of.get(p.relation, ()), *self.starts_of.get(p.relation, ()))]
        targets = [d.target for d in self.normal.delays if d.fluent == p.relation]
        wanted = self.declaring(p.relation)
        constants = {v for v in (*heads, *targets, *(w.value for w in wanted)) if not isinstance(v, Variable | None)}
        ways: list[tuple[Flat, ...]] = [(Test("=", p.value, value),) for value in sorted(constants, key=str)]
        for w in wanted:
            if isinstance(w.value, Variable):
                any_one = tuple(Variable(f"_#Any{next(self.fresh)}") for _ in w.args)
                ways.append(self._timed(self.instance(w, (*any_one, p.value)), shift=shift))
        return (Missing(tuple(ways), negated=False),)

    def _may_displace(self, p: PointRule) -> bool:
        """May the rule initiate a value that is not wanted of an instance of which another is?"""
        wanted = self.declaring(p.relation)
        constant = None if isinstance(p.value, Variable) else p.value
        given = [_shape(w) for w in wanted if w.value is not None and (w.value == constant or _open(w.value, w.args))]
        return any(_shape(w) not in given for w in wanted)

    def filter_(
        self, relation: str, args: tuple[Term, ...], value: Term | None, *, shift: bool
    ) -> tuple[Flat, ...]:
        """A literal that keeps only wanted instances; none where nothing is said."""
        is_fluent = relation in self.normal.fluents
        wanted = [w for w in self.normal.wanted.get(relation, []) if not is_fluent or w.value is not None]
        if not wanted:
            return ()
        bodies = []
        for w in wanted:
            copy = self._copy(w)
            same = [Test("=", a, b) for a, b in zip(args, copy.args, strict=True)]
            if value is not None and copy.value is not None and not _open(value, args):
                same.append(Test("=", value, copy.value))
            bodies.append((*same, *self._timed(copy.body, shift=shift)))
        return (Missing(tuple(bodies), negated=False),)

    def _target_filter(self, d: DelayRule) -> tuple[Flat, ...]:
        """A delayed effect on a pair that is not wanted does not happen."""
        return () if d.target is None else self.filter_(d.fluent, d.args, d.target, shift=False)

    def _dynamic_part(self, body: tuple[Flat, ...]) -> list[HoldsAt]:
        """The dynamic facts of a body, as hidden pairs."""
        return [HoldsAt(f"domain {x.relation}", x.args, TRUE) for x in body if isinstance(x, Fact) and self.dynamic(x)]

    def _initially(self, start: StartRule) -> None:
        for choice, bodies in self.beginnings(start):
            if not bodies:
                self.seeds.append(choice)
            for body in bodies:
                pair = choice.fluent, choice.args, choice.value
                rule = PointRule(Effect.INITIATES, *pair, "_#T", body, -1, choice.span, greets=True)
                self.normal.points.append(rule)

    def beginnings(self, start: StartRule) -> Iterator[tuple[StartRule, list[tuple[Flat, ...]]]]:
        """What ``initially`` sets, and the bodies that are true just before it does; none: before the stream."""
        for choice in self._wanted_starts(start):
            hidden_ones = self._dynamic_part(choice.body)
            rest = tuple(x for x in choice.body if not self.dynamic(x))
            if _free(start.args, start.body):
                hidden_ones.append(HoldsAt(self._greeting(start.fluent), start.args, TRUE))
            if self._may_be_too_late(start):
                _, met = self.ways(start.fluent)
                rest = (*rest, HoldsAt(met, start.args, TRUE, negated=True, next=True))
            yield replace(choice, body=rest), self._becoming(hidden_ones, rest)

    def set_later(self, fluent: str) -> bool:
        """Can ``initially`` set it after the start of the stream because of who is told to a domain, does a grounding
        not say who there is, or does it have determined values as well?"""
        starts = self.starts_of.get(fluent, [])
        wanted = self.declaring(fluent)
        bodies = [*(s.body for s in starts), *(w.body for w in wanted)]
        told = any(self.dynamic(x) for body in bodies for x in body)
        return bool(starts) and (told or fluent in self.determined or any(_free(w.args, w.body) for w in wanted))

    def _wanted_starts(self, start: StartRule) -> list[StartRule]:
        """The rule with its grounding: a choice per grounding rule where domains fill up, otherwise one filter."""
        wanted = self.declaring(start.fluent)
        if not any(self.dynamic(x) for w in wanted for x in w.body):
            check = self.filter_(start.fluent, start.args, start.value, shift=True)
            return [replace(start, body=start.body + check)]
        return [
            replace(start, body=start.body + self.instance(w, (*start.args, start.value))) for w in wanted
        ]

    def instance(self, w: Wanted, terms: tuple[Term, ...]) -> tuple[Flat, ...]:
        """The conditions under which a grounding rule gives the pair with these arguments and value."""
        copy = self._copy(w)
        assert copy.value is not None
        solved: dict[str, Term] = {}
        rest: list[Flat] = []
        for mine, theirs in zip(terms, (*copy.args, copy.value), strict=True):
            if isinstance(theirs, Variable) and theirs.name not in solved:
                solved[theirs.name] = mine
            else:
                rest.append(Test("=", apply(theirs, solved), mine))
        return (*rest, *(rebuild(x, lambda t: apply(t, solved)) for x in copy.body))

    def _copy(self, w: Wanted) -> Wanted:
        """A grounding rule with variables of its own."""
        binding = {name: Variable(f"{name}#w{next(self.fresh)}") for name in _variables_of(w)}
        return rebuild(w, partial(apply, binding=binding))

    # ----------------------------------------------------------------- known instances

    def known(self, fluent: str, value: Term | None = None) -> str:
        """The hidden fluent of known instances, with its rules; those that may have a value, where one is given."""
        rules = self.spans_of.get(fluent, [])
        giving = [rule for rule in rules if value is None or may_equal(rule.value, value)]
        name = f"known {fluent}" if len(giving) == len(rules) else f"known {fluent}={value}"
        if name in self._done:
            return name
        self._done.add(name)
        arity = self.normal.fluents[fluent]
        self.normal.fluents[name] = arity
        for w in self.declaring(fluent):
            self._given(name, w.args, w.body)
        if fluent in self.inputs:
            args = tuple(Variable(f"_#A{i}") for i in range(arity))
            self.add(name, args, (EdgeAt(Edge.START, fluent, args, Variable("_#V")),))
        elif not self.is_declared(fluent):
            self._seen(name, fluent)
            self._reached(name, fluent)
            if self.meets(fluent):
                self.meetings.append(Meeting(name, fluent))
            for rule in giving:
                self._instances(name, rule)
        return name

    def bearers(self, fluent: str, value: Term) -> str:
        """The hidden fluent of the instances that rules of a determined fluent know, those that may give the value."""
        name = f"known by rules {fluent}={value}"
        if name not in self._done:
            self._done.add(name)
            self.normal.fluents[name] = self.normal.fluents[fluent]
            for rule in self.spans_of.get(fluent, ()):
                if may_equal(rule.value, value):
                    self._instances(name, rule)
        return name

    def _reached(self, name: str, fluent: str) -> None:
        """``initially`` with a body makes its instances known."""
        for start in self.starts_of.get(fluent, ()):
            if not _free(start.args, start.body):
                self._given(name, start.args, start.body)

    def _greeting(self, fluent: str) -> str:
        """The hidden fluent of the instances that ``initially`` reaches as they become known: not those that only rules
        of its determined values know."""
        if self.is_declared(fluent) or not (self.meets(fluent) or fluent in self.determined):
            return self.known(fluent)
        return self.ways(fluent)[0]

    def _may_be_too_late(self, start: StartRule) -> bool:
        """Can an effect come before ``initially``, which then does not reach the instance?"""
        if any(self.dynamic(x) for x in start.body):
            return True
        told = any(self.dynamic(x) for w in self.declaring(start.fluent) for x in w.body)
        if told and any(self._starts_input(x) for p in self.effects_of.get(start.fluent, ()) for x in p.body):
            return True  # a start of input tells of somebody, and has an effect on them, at once
        free = _free(start.args, start.body)
        return bool(free) and not self.is_declared(start.fluent) and self.meets(start.fluent)

    def is_declared(self, fluent: str) -> bool:
        """Does a grounding list the fluent's instances?"""
        return bool(self.declaring(fluent))

    def is_simple(self, fluent: str) -> bool:
        """Has the fluent a state of its own? It may have determined values as well."""
        set_or_delayed = [*(s.fluent for s in self.normal.starts), *(d.fluent for d in self.normal.delays)]
        return fluent in self.effects_of or fluent in set_or_delayed

    def declaring(self, fluent: str) -> list[Wanted]:
        """The grounding rules of a fluent."""
        return [w for w in self.normal.wanted.get(fluent, []) if w.value is not None]

    def ways(self, fluent: str) -> tuple[str, str]:
        """The hidden fluents of the instances that an event, and that an effect makes known."""
        seen, met = f"known by event {fluent}", f"known by effect {fluent}"
        if seen not in self._done:
            self._done.add(seen)
            self.normal.fluents[seen] = self.normal.fluents[met] = self.normal.fluents[fluent]
            self._seen(seen, fluent)
            self.meetings.append(Meeting(met, fluent))
        return seen, met

    def meets(self, fluent: str) -> bool:
        """Can an effect be the first that is seen of an instance?"""
        return any(d.fluent == fluent for d in self.normal.delays) or any(
            not self._names(p) and (fluent in self.determined or not _free(p.args, p.body, p.time))
            for p in self.effects_of.get(fluent, [])
        )

    def _names(self, p: PointRule) -> bool:
        """Do input events of the rule name all arguments of its head?"""
        triggers = self._triggers(p)
        return bool(triggers) and not _free(p.args, triggers)

    def _triggers(self, p: PointRule) -> tuple[Flat, ...]:
        """The positive input events of a rule."""
        return tuple(
            x for x in p.body if isinstance(x, EventAt) and not x.negated and x.relation not in self.derived
        )

    def _seen(self, name: str, fluent: str) -> None:
        for p in self.effects_of.get(fluent, []):
            if self._names(p):
                self.add(name, p.args, self._triggers(p), lag=-1)

    def _given(self, name: str, args: tuple[Term, ...], body: tuple[Flat, ...]) -> None:
        """Background knowledge and domains give the arguments; nobody where they leave one open."""
        dynamic = self._dynamic_part(body)
        rest = tuple(x for x in body if not self.dynamic(x))
        if not _free(args, body):
            self._since(name, args, dynamic, rest)

    # ----------------------------------------------------------------- determined fluents

    def _instances(self, name: str, rule: SpanRule) -> None:
        """The heads of a rule are known when all its variables have known values and its tests agree; where it leaves
        an argument open, they are among those that are known otherwise."""
        literals, tests = self._headed(rule)
        if HoldsAt(name, rule.args, TRUE) not in literals:
            self._since(name, rule.args, literals, tests)

    def _headed(self, rule: SpanRule) -> tuple[list[HoldsAt], tuple[Flat, ...]]:
        """The conditions of a rule; arguments of its head that they leave open are those of known instances."""
        ranged, tests = self.conditions(rule)
        if _free(rule.args, (*ranged, *tests)):
            ranged.append(HoldsAt(self.known(rule.fluent), rule.args, TRUE))
        return ranged, tests

    def conditions(self, rule: SpanRule) -> tuple[list[HoldsAt], tuple[Flat, ...]]:
        """When a rule speaks about an instance: all its variables have known values, domains hold those that it asks
        for, and its other tests agree."""
        every = sorted({v for _, x in rule.inputs for v in names((x,))})
        ranged = [HoldsAt(self.range(rule, v), (Variable(v),), TRUE) for v in every]
        return ranged + self._dynamic_part(rule.tests), tuple(x for x in rule.tests if not self.dynamic(x))

    def _borne(self, name: str, variable: str, rule: SpanRule, pair: tuple[Term, ...]) -> None:
        """The constants that a variable of a pair can stand for as a rule gives them to what it speaks about."""
        ranged, tests = self._headed(rule)
        mine = {v.name for term in (*rule.args, rule.value) for v in variables(term)} | names((*ranged, *tests))
        fresh = {v: Variable(f"{v}#b{next(self.fresh)}") for v in mine}
        change = partial(apply, binding=fresh)
        literals = [rebuild(x, change) for x in ranged]
        rest = tuple(rebuild(x, change) for x in tests)
        solved: dict[str, Term] = {}
        for asked, given in zip(pair, map(change, (*rule.args, rule.value)), strict=True):
            if isinstance(asked, Variable) and asked.name not in solved:
                solved[asked.name] = given
            else:
                rest = (*rest, Test("=", apply(asked, solved), given))
        self._since(name, (solved[variable],), literals, rest)

    def range(self, rule: SpanRule, variable: str) -> str:
        """The hidden fluent of the constants that a variable of a determined fluent's rule can stand for."""
        name = f"range {rule.fluent}/{rule.place}/{variable}"
        if name in self._done:
            return name
        self._done.add(name)
        self.normal.fluents[name] = 1
        for _, x in rule.inputs:
            if any(v.name == variable for v in variables(x.value)):
                self._valued(name, variable, x)
            if any(v.name == variable for term in x.args for v in variables(term)):
                known = self.known(x.fluent, x.value)
                self.add(name, (Variable(variable),), (EdgeAt(Edge.START, known, x.args, TRUE),))
                if x.fluent not in self.inputs and x.fluent not in self.determined and not hidden(x.fluent):
                    held: Flat = EdgeAt(Edge.START, x.fluent, x.args, Variable("_#Held"))
                    self.add(name, (Variable(variable),), (held,))
        self._listed(name, variable, rule.fluent, (*rule.args, rule.value))
        return name

    def _valued(self, name: str, variable: str, x: HoldsAt) -> None:
        """The constants that a variable in the place of a value can stand for."""
        fluent = x.fluent
        for effect in Effect if fluent in self.effects_of else ():  # a value may come and end at once
            self.add(name, (Variable(variable),), (EffectAt(effect, fluent, x.args, x.value),))
        self._listed(name, variable, fluent, (*x.args, x.value))
        for other in () if self.is_declared(fluent) else self.spans_of.get(fluent, ()):
            self._borne(name, variable, other, (*x.args, x.value))
        self.add(name, (Variable(variable),), (EdgeAt(Edge.START, fluent, x.args, x.value),))

    def _listed(self, name: str, variable: str, fluent: str, pair: tuple[Term, ...]) -> None:
        """The constants that a variable of a pair can stand for by a grounding of the fluent."""
        for w in self.declaring(fluent):
            if not _free(w.args, w.body):
                self._given(name, (Variable(variable),), self.instance(w, pair))

    def dynamic(self, x: Flat) -> bool:
        """Is this a fact of a domain that fills up?"""
        return isinstance(x, Fact) and x.relation in self.normal.domains and not x.negated


def check(program: Program) -> list[Diagnostic]:
    """What this reasoner cannot do, of a program without other errors."""
    try:
        normal = program.once(normalise)
        if normal.delays and normal.domains:
            refuse_hanging(Domains(normal.copy(), set(), normal.points))
    except ProgramError as error:
        return list(error.diagnostics)
    return []


def _shape(w: Wanted) -> Wanted:
    """The instances that a grounding rule gives: without its value, and with variables by their places."""
    found = {v.name for a in w.args for v in variables(a)}
    order = [v.name for a in w.args for v in variables(a)] + sorted(names(w.body) - found)
    places = {name: Variable(f"#{at}") for at, name in enumerate(dict.fromkeys(order))}
    return rebuild(replace(w, value=None), partial(apply, binding=places))


def _variables_of(w: Wanted) -> set[str]:
    found = {v.name for a in w.args for v in variables(a)} | names(w.body)
    return found | ({v.name for v in variables(w.value)} if w.value is not None else set())


def _open(value: Term, args: tuple[Term, ...]) -> bool:
    """A value that nothing binds: every value is meant."""
    return isinstance(value, Variable) and value.name.startswith("_#") and value not in args
