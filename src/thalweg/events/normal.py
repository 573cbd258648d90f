"""Normal form of an event description: flat literals over named relations, all read at one time-point.

Background rules are unfolded into the bodies that call them, disjunctions become rules of their own, nested compound
arguments become part of the relation's name (``per(close_ballot(C,M))`` is the relation ``per(close_ballot(_,_))`` of
C and M), anonymous variables get names, and ``findall`` with ``length`` and its kin becomes one counting literal.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

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
from thalweg.language import rules as r
from thalweg.language.diagnostics import Code, Diagnostic, ProgramError, Severity, register
from thalweg.language.instances import around_holes, quoted
from thalweg.language.program import Program
from thalweg.language.terms import NOWHERE, Atom, Compound, Number, Span, Term, Variable, is_ground, variables
from thalweg.language.terms import Sequence as ListTerm

register(
    Code(
        "TW290",
        "beyond the event reasoner",
        "The rule is understood but uses a construct in a way that the event reasoner cannot evaluate. The message "
        "says which, and what to write instead.",
    )
)

AGGREGATES = {"length": "count", "sum_list": "sum", "sumlist": "sum", "max_list": "max", "min_list": "min"}
_DECIDED: dict[Term, bool] = {Atom("true"): True, Atom("fail"): False, Atom("false"): False}
"""Conditions that are true or false whatever happens."""
_NEVER: r.Body = (r.Call(Atom("fail")),)
"""Stands for a call that nothing makes true: the rule still says what happens and who is seen."""
AtPoint = EventAt | HoldsAt | EdgeAt | EffectAt | Fact
"""Conditions with arguments."""
LIMIT = 4096
"""How many rules one rule may become by unfolding."""


def refuse(message: str, span: Span, help: str | None = None) -> ProgramError:
    """The error for what the event reasoner cannot do."""
    return ProgramError([Diagnostic("TW290", Severity.ERROR, message, span, (), help)])


def flatten(term: Term, span: Span = NOWHERE) -> tuple[str, tuple[Term, ...]]:
    """A relation's name with holes, and what fills them.

    >>> flatten(Compound("per", (Compound("vote", (Variable("V"), Atom("m"))),)))
    ('per(vote(_,_))', (Variable(name='V'), Atom(name='m')))
    """
    holes: list[Term] = []

    def skeleton(part: Term) -> str:
        if isinstance(part, Compound) and part.functor not in "+-*/":
            return f"{quoted(part.functor)}({','.join(skeleton(a) for a in part.args)})"
        if isinstance(part, ListTerm):
            raise refuse("an argument is a constant, a variable or a term, not a list", span)
        match part:
            case Compound("-", (Number(value),), span_):
                part = Number(-value, span_)
        if isinstance(part, Compound) and any(True for _ in variables(part)):
            raise refuse(f"an argument is not computed: {part}", span, "give the result a name: `Y is X + 1`")
        holes.append(part)
        return "_"

    match term:
        case Atom(name):
            return quoted(name), ()
        case Compound(functor, args):
            return f"{quoted(functor)}({','.join(skeleton(a) for a in args)})", tuple(holes)
        case _:
            raise refuse(f"a name with arguments is expected here, not {term}", span)


@cache
def _open_name(functor: str, arity: int) -> str:
    """The name of a relation whose arguments are all holes."""
    return quoted(functor) + (f"({','.join('_' * arity)})" if arity else "")


def holes(name: str) -> int:
    """How many arguments a relation's name has room for.

    >>> holes("per(close_ballot(_,_))")
    2
    """
    return len(around_holes(name)) - 1


Substitution = dict[str, Term]


def apply(term: Term, binding: Mapping[str, Term]) -> Term:
    """The term with variables replaced, all the way."""
    match term:
        case Variable(name):
            seen = binding.get(name)
            return term if seen is None else apply(seen, binding)
        case Compound(functor, args, span):
            return Compound(functor, tuple(apply(a, binding) for a in args), span)
        case ListTerm(items, rest, span):
            return ListTerm(
                tuple(apply(a, binding) for a in items), None if rest is None else apply(rest, binding), span
            )
        case _:
            return term


def unify(a: Term, b: Term, binding: Substitution) -> bool:
    """Make two terms equal by binding variables (in place); False when that is impossible."""
    stack = [(a, b)]
    while stack:
        x, y = (apply(t, binding) for t in stack.pop())
        if isinstance(x, Variable):
            if x != y:
                binding[x.name] = y
        elif isinstance(y, Variable):
            binding[y.name] = x
        elif isinstance(x, Compound) and isinstance(y, Compound):
            if x.functor != y.functor or len(x.args) != len(y.args):
                return False
            stack.extend(zip(x.args, y.args, strict=True))
        elif isinstance(x, Number) and isinstance(y, Number):
            if x.value != y.value:
                return False
        elif x != y:
            return False
    return True


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
                    name = _open_name(s.name, len(s.arguments))
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
            self.out.facts[_open_name(functor, arity)] = table
        nested: dict[str, FactTable] = {}
        for clause in known.clauses:
            head = clause.head
            if clause.body or any(True for _ in variables(head)):
                key = (head.functor, len(head.args)) if isinstance(head, Compound) else (head.name, 0)  # type: ignore[union-attr]
                self.clauses.setdefault(key, []).append(clause)
            else:
                name, args = flatten(head, clause.span)
                nested.setdefault(name, FactTable(clause.span, [])).rows.append(args)
        for name, table in nested.items():
            plain = self.out.facts.get(name)
            self.out.facts[name] = table if plain is None else FactTable(plain.span, plain.rows + table.rows)

    def _statement(self, index: int, s: r.Statement) -> None:
        out = self.out
        match s:
            case r.EffectRule():
                for rule in self._variants(s):
                    assert isinstance(rule, r.EffectRule)
                    fluent, args, value = self._pair(rule.pair, s.span)
                    body = self._body(rule.body, rule.time, s.span)
                    time = _time(rule.time, s.span)
                    for flat in body:
                        point = PointRule(s.effect, fluent, args, value, time, flat, index, s.span)
                        out.points.append(self._dated(point))
            case r.EventRule():
                for rule in self._variants(s):
                    assert isinstance(rule, r.EventRule)
                    relation, args = flatten(rule.event, s.span)
                    out.events[relation] = len(args)
                    time = _time(rule.time, s.span)
                    for flat in self._body(rule.body, rule.time, s.span):
                        point = PointRule(None, relation, args, None, time, flat, index, s.span)
                        out.points.append(self._dated(point))
            case r.IntervalRule():
                for rule in self._variants(s):
                    assert isinstance(rule, r.IntervalRule)
                    self._span_rule(index, rule)
            case r.Initially():
                for rule in self._variants(s):
                    assert isinstance(rule, r.Initially)
                    fluent, args, value = self._pair(rule.pair, s.span)
                    for flat in self._body(rule.body, None, s.span):
                        out.starts.append(StartRule(fluent, args, value, flat, s.span))
            case r.Delayed():
                for rule in self._variants(s):
                    assert isinstance(rule, r.Delayed)
                    self._delay(rule)
            case r.Postponable():
                for rule in self._variants(s):
                    assert isinstance(rule, r.Postponable)
                    fluent, args, value = self._pair(rule.pair, s.span)
                    for flat in self._body(rule.body, None, s.span):
                        out.postpones.append(PostponeRule(fluent, args, value, flat, s.span))
            case r.Grounding():
                self._grounding(s)
            case _:
                pass

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

    def _variants(self, s: r.Statement) -> Iterator[r.Statement]:
        """The statement with anonymous variables named."""
        yield self._rename(s)

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
        renamed = self._rename(s)
        assert isinstance(renamed, r.Grounding)
        entity, value = renamed.entity, None
        if isinstance(entity, Compound) and entity.functor == "=":
            entity, value = entity.args
        relation, args = flatten(entity, s.span)
        self.grounded.append((relation, s.span))
        for flat in self._body(renamed.body, None, s.span):
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

        def term(t: Term) -> Term:
            match t:
                case Variable("_", span):
                    return Variable(f"_#{next(self.fresh)}", span)
                case Compound("-", (Number(value),), span):
                    return Number(-value, span)
                case Compound(functor, args, span):
                    return Compound(functor, tuple(term(a) for a in args), span)
                case ListTerm(items, rest, span):
                    return ListTerm(tuple(term(a) for a in items), None if rest is None else term(rest), span)
                case _:
                    return t

        return rebuild(s, term)

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
        key = (goal.functor, len(goal.args)) if isinstance(goal, Compound) else (getattr(goal, "name", ""), 0)
        return self.clauses.get(key, [])

    def _expand(self, goal: Term, where: Span, span: Span) -> list[r.Body]:
        """The bodies that make the goal true: its facts, and each clause with the head's unifier as equations."""
        key = (goal.functor, len(goal.args)) if isinstance(goal, Compound) else (getattr(goal, "name", ""), 0)
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

        def term(t: Term) -> Term:
            match t:
                case Variable("_"):
                    return Variable(f"_#{next(self.fresh)}")
                case Variable(name):
                    return Variable(f"{name}#{mark}")
                case Compound("-", (Number(value),), span):
                    return Number(-value, span)
                case Compound(functor, args, span):
                    return Compound(functor, tuple(term(a) for a in args), span)
                case ListTerm(items, rest, span):
                    return ListTerm(tuple(term(a) for a in items), None if rest is None else term(rest), span)
                case _:
                    return t

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
