"""Normal form of an event description: flat literals over named relations, all read at one time-point.

Background rules are unfolded into the bodies that call them, disjunctions become rules of their own, nested compound
arguments become part of the relation's name (``per(close_ballot(C,M))`` is the relation ``per(close_ballot(_,_))`` of
C and M), anonymous variables get names, and ``findall`` with ``length`` and its kin becomes one counting literal.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from thalweg.analysis.types import FUNCTIONS
from thalweg.events.background import Background, FactTable, background
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
    PostponeRule,
    SpanRule,
    StartRule,
    Test,
    Total,
    Wanted,
    names,
    rebuild,
)
from thalweg.events.nesting import faults
from thalweg.events.relations import Substitution, apply, flatten, open_name, refuse, unify
from thalweg.language import rules as r
from thalweg.language.program import Program
from thalweg.language.terms import Atom, Compound, Number, Span, Term, Variable, is_ground, variables
from thalweg.language.terms import Sequence as ListTerm

AGGREGATES = {"length": "count", "sum_list": "sum", "sumlist": "sum", "max_list": "max", "min_list": "min"}
_DECIDED: dict[Term, bool] = {Atom("true"): True, Atom("fail"): False, Atom("false"): False}
"""Conditions that are true or false whatever happens."""
_NEVER: r.Body = (r.Call(Atom("fail")),)
"""Stands for a call that nothing makes true: the rule still says what happens and who is seen."""
AtPoint = EventAt | HoldsAt | EdgeAt | EffectAt | Fact
"""Conditions with arguments."""
LIMIT = 4096
"""How many rules one rule may become by unfolding."""


class Normaliser:
    """Turns the statements of one program into `Normal`; holds the background rules and fresh names."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.out = Normal()
        self.fresh = itertools.count()
        self.clauses: dict[tuple[str, int], list[r.Clause]] = {}
        self.depth: list[tuple[str, int]] = []
        self.grounded: list[tuple[str, Span]] = []

    def run(self) -> Normal:
        known = background(self.program)
        self._background(known)
        for _, s in known.others:
            match s:
                case r.DynamicDomain(predicate):
                    self.out.domains.add(flatten(predicate)[0])
                case r.Declare():
                    name = open_name(s.name, len(s.arguments))
                    self.out.declared[name] = s
                    if s.role is r.Role.POINTS:
                        self.out.pointwise.add(name)
        for index, s in known.others:
            self._statement(index, s)
        for relation, wanted in self.out.wanted.items():
            named = self.out.events if all(w.value is None for w in wanted) else self.out.fluents
            if relation not in self.out.events and relation not in self.out.fluents:
                named[relation] = len(wanted[0].args)
        for fault in faults(self.out, self.grounded):
            raise refuse(*fault)
        return self.out

    # ----------------------------------------------------------------- statements

    def _background(self, known: Background) -> None:
        for (functor, arity), table in known.facts.items():
            self.out.facts[open_name(functor, arity)] = table
        nested: dict[str, FactTable] = {}
        for clause in known.clauses:
            head = clause.head
            if clause.body or any(True for _ in variables(head)):
                self.clauses.setdefault(_key(head), []).append(clause)
            else:
                name, args = flatten(head, clause.span)
                nested.setdefault(name, FactTable(clause.span, [])).rows.append(args)
        for name, table in nested.items():
            plain = self.out.facts.get(name)
            self.out.facts[name] = table if plain is None else FactTable(plain.span, plain.rows + table.rows)

    def _statement(self, index: int, s: r.Statement) -> None:
        out, span = self.out, s.span
        match self._rename(s):
            case r.EffectRule(effect, pair, time, body):
                fluent, args, value = self._pair(pair, span)
                bodies = self._body(body, time, span)
                point = PointRule(effect, fluent, args, value, _time(time, span), (), index, span)
                out.points += [self._dated(replace(point, body=flat)) for flat in bodies]
            case r.EventRule(event, time, body):
                relation, args = flatten(event, span)
                out.events[relation] = len(args)
                point = PointRule(None, relation, args, None, _time(time, span), (), index, span)
                out.points += [self._dated(replace(point, body=flat)) for flat in self._body(body, time, span)]
            case r.IntervalRule() as rule:
                self._span_rule(index, rule)
            case r.Initially(pair, body):
                fluent, args, value = self._pair(pair, span)
                out.starts += [StartRule(fluent, args, value, flat, span) for flat in self._body(body, None, span)]
            case r.Delayed() as rule:
                self._delay(rule)
            case r.Postponable(pair, body):
                fluent, args, value = self._pair(pair, span)
                out.postpones += [PostponeRule(fluent, args, value, x, span) for x in self._body(body, None, span)]
            case r.Grounding() as rule:
                self._grounding(rule)

    def _dated(self, p: PointRule) -> PointRule:
        """A rule whose head has the time-point among its arguments or as its value, with a number there."""
        head = (*p.args, *((p.value,) if p.value is not None else ()))
        if all(v.name != p.time for term in head for v in variables(term)):
            return p
        moment = Variable(f"_#{next(self.fresh)}")
        put = partial(apply, binding={p.time: moment})
        value = None if p.value is None else put(p.value)
        body = (*p.body, Test("is", moment, Variable(p.time)))
        return replace(p, args=tuple(map(put, p.args)), value=value, body=body)

    def _delay(self, rule: r.Delayed) -> None:
        fluent, args, value = self._pair(rule.source, rule.span)
        target: Term | None = None
        if rule.target is not None:
            other, target_args, target = self._pair(rule.target, rule.span)
            binding: Substitution = {}
            if other != fluent or not all(unify(a, b, binding) for a, b in zip(args, target_args, strict=True)):
                raise refuse("a delayed effect is on the same fluent", rule.span, "let both pairs be of one fluent")
            args = tuple(apply(a, binding) for a in args)
            value, target = apply(value, binding), apply(target, binding)
        for flat in self._body(rule.body, None, rule.span):
            self.out.delays.append(DelayRule(fluent, args, value, target, rule.delay, flat, rule.span))

    def _grounding(self, s: r.Grounding) -> None:
        entity, value = s.entity, None
        if isinstance(entity, Compound) and entity.functor == "=":
            entity, value = entity.args
        relation, args = flatten(entity, s.span)
        self.grounded.append((relation, s.span))
        for flat in self._body(s.body, None, s.span):
            self.out.wanted.setdefault(relation, []).append(Wanted(relation, args, value, flat))

    def _pair(self, pair: r.Pair, span: Span) -> tuple[str, tuple[Term, ...], Term]:
        fluent, args = flatten(pair.fluent, span)
        self.out.fluents[fluent] = len(args)
        return fluent, args, self._value(pair.value, span)

    def _value(self, value: Term, span: Span) -> Term:
        if isinstance(value, Compound | ListTerm) and any(True for _ in variables(value)):
            raise refuse("a fluent's value is a constant or a variable", span, "give the parts arguments of their own")
        return value

    def _rename(self, s: r.Statement) -> r.Statement:
        """Give every anonymous variable a name of its own within the statement. Statements that begin alike then have
        variables of the same names, so that rules can share work; nobody can write such a name."""
        self.fresh = itertools.count()

        def named(v: Variable) -> Variable:
            return Variable(f"_#{next(self.fresh)}", v.span) if v.name == "_" else v

        return rebuild(s, partial(_renamed, named=named))

    # ----------------------------------------------------------------- bodies

    def _body(self, body: r.Body, time: Term | None, span: Span) -> list[tuple[Flat, ...]]:
        """The alternatives of a body, flat."""
        return [self._flat(choice, time, span) for choice in self._unfold(body, span)]

    def _unfold(self, body: r.Body, span: Span) -> list[r.Body]:
        """Replace calls of background rules by their bodies and disjunctions by their branches."""
        done: list[r.Body] = [()]
        for literal in body:
            choices = self._choices(literal, span)
            done = [d + c for d in done for c in choices]
            if len(done) > LIMIT:
                raise refuse(f"the body unfolds to more than {LIMIT} rules", span, "split it by hand")
        return done

    def _choices(self, literal: r.Literal, span: Span) -> list[r.Body]:
        match literal:
            case r.Either(alternatives):
                return [choice for a in alternatives for choice in self._unfold(a, span)]
            case r.Call(Compound("member", (item, ListTerm(items, None))), negated):
                among: list[r.Body] = [(r.Compare("=", item, one, span=literal.span),) for one in items] or [_NEVER]
                return [(_none_of(among, literal.span),)] if negated else among
            case r.Call(goal, negated) if self._clauses_of(goal):
                expanded = self._expand(goal, literal.span, span)
                if not negated:
                    return expanded
                return [(_none_of(expanded, literal.span),)]
            case _:
                return [(literal,)]

    def _clauses_of(self, goal: Term) -> list[r.Clause]:
        return self.clauses.get(_key(goal), [])

    def _expand(self, goal: Term, where: Span, span: Span) -> list[r.Body]:
        """The bodies that make the goal true: its facts, and each clause with the head's unifier as equations."""
        key = _key(goal)
        if key in self.depth:
            raise refuse(f"background rule {key[0]}/{key[1]} is recursive", where, "write its consequences as facts")
        self.depth.append(key)
        found: list[r.Body] = []
        if flatten(goal)[0] in self.out.facts or flatten(goal)[0] in self.out.domains:
            found.append((r.Call(goal, span=where),))
        for clause in self.clauses[key]:
            head, body = self._fresh_clause(clause)
            binding: Substitution = {}
            if not unify(head, goal, binding):  # of two variables the goal's stays
                continue
            equations = tuple(
                r.Compare("=", Variable(name), apply(term, binding), span=where)
                for name, term in binding.items()
                if any(v.name == name for v in variables(goal))
            )
            inner = tuple(rebuild(x, partial(apply, binding=binding)) for x in body)
            found += [equations + choice for choice in self._unfold(inner, span)]
        self.depth.pop()
        return found or [_NEVER]

    def _fresh_clause(self, clause: r.Clause) -> tuple[Term, r.Body]:
        mark = next(self.fresh)

        def named(v: Variable) -> Variable:
            return Variable(f"_#{next(self.fresh)}" if v.name == "_" else f"{v.name}#{mark}")

        term = partial(_renamed, named=named)
        return term(clause.head), tuple(rebuild(x, term) for x in clause.body)

    def _flat(self, body: r.Body, time: Term | None, span: Span) -> tuple[Flat, ...]:
        lists = {}
        for x in body:
            if isinstance(x, r.FindAll):
                lists[self._list_name(x, span)] = x
        out: list[Flat] = []
        for literal in body:
            for flat in self._literal(literal, time, span, lists):
                out += self._of_time(flat, time)
        return tuple(out)

    def _of_time(self, x: Flat, time: Term | None) -> Iterable[Flat]:
        """A condition that has the time-point among its arguments (``holiday(T)``), with the two compared."""
        if not (isinstance(time, Variable) and isinstance(x, AtPoint) and time.name in names((x,))):
            return [x]
        moment = Variable(f"_#{next(self.fresh)}")
        positive = replace(rebuild(x, partial(apply, binding={time.name: moment})), negated=False)
        same = positive, Test("=:=", moment, time)
        return [Missing((same,))] if x.negated else same

    def _literal(
        self, literal: r.Literal, time: Term | None, span: Span, lists: dict[str, r.FindAll]
    ) -> Iterable[Flat]:
        where = literal.span if literal.span.line else span
        match literal:
            case r.Happens(event, t, negated):
                self._same_time(t, time, where)
                relation, args = flatten(event, where)
                self.out.events.setdefault(relation, len(args))
                return [EventAt(relation, args, negated)]
            case r.Holds(pair, t, negated):
                self._same_time(t, time, where)
                return [HoldsAt(*self._pair(pair, where), negated)]
            case r.Boundary(edge, pair, t, negated):
                self._same_time(t, time, where)
                return [EdgeAt(edge, *self._pair(pair, where), negated)]
            case r.Affects(effect, pair, t, negated):
                self._same_time(t, time, where)
                return [EffectAt(effect, *self._pair(pair, where), negated)]
            case r.Compare(op, left, right, negated):
                on_list = self._list_test(literal, lists, time, span)
                if on_list is None and any(isinstance(side, ListTerm) for side in (left, right)):
                    raise refuse("a list is compared with `[]` only", where, "write the condition without a list")
                if _is_open(left) or _is_open(right):
                    raise refuse("a term with variables is compared as a whole", where, "compare its arguments")
                return [on_list] if on_list else [Test(op, left, right, negated)]
            case r.FindAll(_, body, result):
                return [Missing(tuple(self._body(body, time, span)))] if result == ListTerm(()) else []
            case r.Call(goal, negated):
                return self._call(goal, negated, where, time, lists)
            case r.Absent(body):
                return [Missing(tuple(self._body(body, time, span)))]
            case _:
                raise refuse("interval operations belong in holdsFor rules", where, "read the fluent with holdsAt")

    def _call(
        self, goal: Term, negated: bool, where: Span, time: Term | None, lists: dict[str, r.FindAll]
    ) -> Iterable[Flat]:
        if isinstance(goal, Compound) and goal.functor in AGGREGATES and len(goal.args) == 2:
            listed = goal.args[0]
            if isinstance(listed, Variable) and listed.name in lists:
                found = lists[listed.name]
                (body,) = self._one(self._body(found.body, time, where), where)
                return [Total(AGGREGATES[goal.functor], found.template, body, goal.args[1])]
            raise refuse("this reads a list that findall did not make", where, "collect it with findall in this rule")
        if isinstance(goal, Compound) and goal.functor == "member" and len(goal.args) == 2:
            raise refuse("`member` reads a list that is written out", where, "use the condition of the findall itself")
        if goal in _DECIDED:
            return [] if _DECIDED[goal] != negated else [Test("<", Number(1), Number(0))]
        relation, args = flatten(goal, where)
        return [Fact(relation, args, negated)]

    def _list_name(self, found: r.FindAll, span: Span) -> str:
        """The variable of a list that findall makes; nothing where it is to be empty."""
        if isinstance(found.result, Variable):
            return found.result.name
        if found.result == ListTerm(()):
            return ""
        where = found.span if found.span.line else span
        raise refuse("a list that findall makes is counted, not taken apart", where, "name it, and use `length(L, N)`")

    def _one(self, bodies: list[tuple[Flat, ...]], where: Span) -> list[tuple[Flat, ...]]:
        if len(bodies) != 1:
            raise refuse("findall over a disjunction", where, "give the alternatives a fluent of their own")
        return bodies

    def _list_test(
        self, test: r.Compare, lists: dict[str, r.FindAll], time: Term | None, span: Span
    ) -> Flat | None:
        """``L = []`` and ``L \\= []`` for a list made by findall."""
        for side, other in ((test.left, test.right), (test.right, test.left)):
            if isinstance(side, Variable) and side.name in lists and other == ListTerm(()):
                empty = (test.op in ("=", "==")) != test.negated
                return Missing(tuple(self._body(lists[side.name].body, time, span)), negated=empty)
        return None

    def _same_time(self, t: Term, time: Term | None, where: Span) -> None:
        if time is not None and t != time:
            help_ = f"use {getattr(time, 'name', time)} here too"
            raise refuse("all literals of a rule are read at one time-point", where, help_)

    # ----------------------------------------------------------------- determined fluents

    def _span_rule(self, index: int, rule: r.IntervalRule) -> None:
        fluent, args, value = self._pair(rule.pair, rule.span)
        if rule.intervals == ListTerm(()):
            return  # the intervals of all rules for one pair are united
        if not isinstance(rule.intervals, Variable):
            help_ = "let them come as input, as those of an input fluent"
            raise refuse("a rule computes intervals, it does not list them", rule.intervals.span, help_)
        for choice in self._unfold(rule.body, rule.span):
            inputs: list[tuple[str, HoldsAt]] = []
            steps: list[r.Combine | r.Allen | r.Duration] = []
            tests: list[Flat] = []
            for x in choice:
                match x:
                    case r.HoldsFor(pair, Variable(name)):
                        inputs.append((name, HoldsAt(*self._pair(pair, rule.span))))
                    case r.Combine() | r.Allen() | r.Duration():
                        steps.append(x)
                    case r.Compare(op, left, right, negated) if ListTerm(()) in (left, right):
                        if (op in ("=", "==")) != negated:
                            help_ = "subtract with `relative_complement_all`, or use `complement_all`"
                            raise refuse("whether intervals are empty hangs on the window", x.span, help_)
                    case r.Compare() | r.Call() | r.Absent():
                        tests += self._literal(x, None, rule.span, {})
                    case _:
                        raise refuse("this cannot stand in a holdsFor rule", x.span, "use holdsFor and intervals")
            self.out.spans.append(
                SpanRule(
                    fluent,
                    args,
                    value,
                    tuple(inputs),
                    tuple(steps),
                    tuple(tests),
                    rule.intervals.name,
                    index,
                    rule.span,
                )
            )


def _key(goal: Term) -> tuple[str, int]:
    """The name of a predicate and how many arguments it has."""
    return (goal.functor, len(goal.args)) if isinstance(goal, Compound) else (getattr(goal, "name", ""), 0)


def _renamed(t: Term, named: Callable[[Variable], Variable]) -> Term:
    """The term with other variables, and with negative numbers as such."""
    match t:
        case Variable():
            return named(t)
        case Compound("-", (Number(value),), span):
            return Number(-value, span)
        case Compound(functor, args, span):
            return Compound(functor, tuple(_renamed(a, named) for a in args), span)
        case ListTerm(items, rest, span):
            again = tuple(_renamed(a, named) for a in items)
            return ListTerm(again, None if rest is None else _renamed(rest, named), span)
        case _:
            return t


def _none_of(bodies: Sequence[r.Body], span: Span) -> r.Absent:
    """None of these is true."""
    return r.Absent((r.Either(tuple(bodies), span=span),), span=span)


def _is_open(side: Term) -> bool:
    """A side of a comparison that is a term with variables, and is not computed."""
    return isinstance(side, Compound) and not is_ground(side) and side.functor not in FUNCTIONS


def _time(time: Term, span: Span) -> str:
    if not isinstance(time, Variable):
        raise refuse("the time of a rule is a variable", span, "write T")
    return time.name


def normalise(program: Program) -> Normal:
    """The normal form of an event description; ask for it `once`, as the check does."""
    return Normaliser(program).run()
