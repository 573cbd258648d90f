"""Temporal Datalog as data: rules over atoms whose last argument is a time, read from a `Program`.

Predicates are *temporal* (their last argument is a time term: a number, ``T`` or ``T+k``) or *rigid* (no time).
Which is which is inferred: input predicates are temporal, ``T+k`` stands only in time positions, and a variable
has one sort in a clause. A temporal predicate without rules is an input predicate.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from thalweg.analysis.nearest import Names
from thalweg.analysis.temporal import Signature, Sorts, Time, time_of
from thalweg.analysis.types import COMPUTED
from thalweg.language.diagnostics import Code, Diagnostic, Severity, register
from thalweg.language.program import Program
from thalweg.language.rules import (
    Absent,
    Call,
    Clause,
    Compare,
    Declare,
    Either,
    Ignored,
    Kind,
    Literal,
    Query,
    Role,
    Tick,
)
from thalweg.language.terms import (
    EXACT,
    NOWHERE,
    Atom,
    Compound,
    Number,
    Span,
    Term,
    Variable,
    arguments,
    signature,
    variables,
)

register(
    Code(
        "TW301",
        "a time where none can be, or no time where one must be",
        "The last argument of a temporal predicate is a number, `T` or `T+k`; a variable that is a time in one place "
        "cannot be an ordinary argument in another. Input predicates carry their time stamp as last argument.",
    ),
    Code(
        "TW302",
        "a literal that Temporal Datalog does not have",
        "Bodies are made of atoms, negated atoms, comparisons and arithmetic. A negated conjunction is written as a "
        "rule of its own whose head is negated.",
    ),
    Code(
        "TW303",
        "an argument that is not a constant or a variable",
        "Temporal Datalog has no function symbols: arguments of atoms are constants and variables, and only times may "
        "be computed (`T+2`). Compute a value with `is` and use the variable. Comparisons are of constants, variables "
        "and arithmetic expressions.",
    ),
    Code(
        "TW304",
        "no query, or a query about an unknown predicate",
        "A program needs `query malf(X, T).` for at least one predicate that its rules define.",
    ),
)


Item = TypeVar("Item")
MARK = "\0"
KEPT = "."


def is_projection(predicate: Signature) -> bool:
    """True of what is said by ``not r(X, _, T)``: that there is an r with this X at T."""
    return MARK in predicate[0]


def as_written(name: str, given: Sequence[Item], made: Callable[[str], Item]) -> tuple[str, list[Item]]:
    """A predicate's name with its arguments; a projection has those again that were left out.

    >>> as_written("r\\0.,_,.", ["x", "4"], str)
    ('r', ['x', '_', '4'])
    """
    name, mark, places = name.partition(MARK)
    left = iter(given)
    inside = [next(left) if p == KEPT else made(p) for p in places.split(",")] if mark else [*given]
    return text(Atom(name)), inside


@dataclass(frozen=True, slots=True)
class TimedAtom:
    """An atom; `time` is None for rigid predicates. Arguments are constants and variables."""

    predicate: Signature
    args: tuple[Term, ...]
    time: Time | None
    negated: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        given = [text(a) for a in self.args] + ([str(self.time)] if self.time is not None else [])
        name, inside = as_written(self.predicate[0], given, str)
        return ("not " if self.negated else "") + name + (f"({', '.join(inside)})" if inside else "")


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison or a computation ``left op right``; variables of sort time stand for their number."""

    op: str
    left: Term
    right: Term
    negated: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return ("not " if self.negated else "") + f"{text(self.left)} {self.op} {text(self.right)}"


Condition = TimedAtom | Test


@dataclass(frozen=True, slots=True)
class Rule:
    """``head :- body``; a fact has no body. `times` are the variables of sort time."""

    head: TimedAtom
    body: tuple[Condition, ...]
    times: frozenset[str]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.head} :- {', '.join(map(str, self.body))}." if self.body else f"{self.head}."


@dataclass(frozen=True, slots=True)
class Datalog:
    """A program's rules by the predicate they define, its queries, and who is who."""

    rules: Mapping[Signature, tuple[Rule, ...]]
    queries: tuple[TimedAtom, ...]
    temporal: frozenset[Signature]
    inputs: frozenset[Signature]
    declared: Mapping[Signature, Declare]

    def is_derived(self, predicate: Signature) -> bool:
        """True when some rule with a body defines the predicate."""
        return any(rule.body for rule in self.rules.get(predicate, ()))


def text(term: Term) -> str:
    """A term as it would be written."""
    match term:
        case Atom(name):
            plain = name[:1].islower() and name.replace("_", "a").isalnum() and name.isascii()
            return name if plain else "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case Number(value):
            exact = isinstance(value, int) or (value.is_integer() and abs(value) < EXACT)
            return str(int(value)) if exact else repr(value)
        case Variable(name):
            return name
        case Compound(functor, (left, right)) if not functor.isalnum() or functor in {"mod", "div", "rem"}:
            return (
                f"{_operand(left)} {functor} {_operand(right)}"
                if functor.isalnum()
                else _infix(functor, left, right)
            )
        case Compound(functor, args):
            return f"{functor}({', '.join(map(text, args))})"
        case _:
            return "[...]"


def _infix(functor: str, left: Term, right: Term) -> str:
    if functor == "+" and isinstance(right, Number) and right.value < 0:
        return f"{_operand(left)}{text(right)}"
    return f"{_operand(left)}{functor}{_operand(right)}"


def _operand(term: Term) -> str:
    return f"({text(term)})" if isinstance(term, Compound) and len(term.args) == 2 else text(term)


# --------------------------------------------------------------------------- reading a program


def _places(args: Sequence[Term], elsewhere: set[str]) -> list[str]:
    """What a projection does with each argument: keep it, or leave out a variable that stands nowhere else (with a
    name where it stands in two places, which are equal then)."""
    found = [{v.name for v in variables(arg)} - elsewhere for arg in args]
    first = {name: place for place, names in reversed([*enumerate(found)]) for name in names}
    twice = {name for name in first if sum(name in names for names in found) > 1}
    return [
        KEPT if not names else f"V{min(first[n] for n in names)}" if names & twice else "_" for names in found
    ]


def _kept(args: Sequence[Item], places: Sequence[str]) -> list[Item]:
    return [arg for arg, place in zip(args, places, strict=True) if place == KEPT]


def read(program: Program) -> tuple[Datalog, list[Diagnostic]]:
    """The program's rules with their times told from their other arguments, and what is wrong with it."""
    return _Reading(program).datalog()


class _Reading:
    """One pass to normal clauses, one to sorts, one to rules."""

    def __init__(self, program: Program) -> None:
        self.found: list[Diagnostic] = []
        self.clauses: list[Clause] = []
        self.queries: list[Query] = []
        self.declared: dict[Signature, Declare] = {}
        self.projections: set[str] = set()
        self.heads: set[Signature] = set()
        for statement in program.statements:
            match statement:
                case Clause():
                    self.heads.add(signature(statement.head))
                    self.clauses += self._flat(statement)
                case Query():
                    self.queries.append(statement)
                case Declare(role=Role.EVENT):
                    self.declared[statement.name, len(statement.arguments) + 1] = statement
                case Declare() | Tick() | Ignored():
                    pass
                case _:
                    self._refuse("TW302", "this statement has no meaning in Temporal Datalog", statement.span)
        self.ruled = {signature(c.head) for c in self.clauses if c.body}
        self.ruled_or_given = {signature(c.head) for c in self.clauses}

    def _refuse(self, code: str, message: str, span: Span, suggestion: str | None = None) -> None:
        self.found.append(Diagnostic(code, Severity.ERROR, message, span, suggestion=suggestion))

    # -- clauses without disjunction

    def _flat(self, clause: Clause) -> Iterator[Clause]:
        """The clause, or one per alternative of its disjunctions, with every anonymous variable named apart."""
        for body in self._bodies(clause.body):
            counter = iter(range(1, 1 << 30))
            head = _name_apart(clause.head, counter)
            literals = tuple(
                replace(one, goal=_name_apart(one.goal, counter)) if isinstance(one, Call) else one
                for one in body
            )
            yield from self._projected(replace(clause, head=head, body=literals))

    def _projected(self, clause: Clause) -> Iterator[Clause]:
        """``not r(X, _)`` means that there is no such r: variables of one negated atom only are projected away."""
        body: list[Literal] = []
        for literal in clause.body:
            others = [clause.head, *(t for o in clause.body if o is not literal for t in _terms(o))]
            elsewhere = {v.name for term in others for v in variables(term)}
            if isinstance(literal, Call) and literal.negated:
                args = arguments(literal.goal)
                places = _places(args, elsewhere)
                if any(place != KEPT for place in places):
                    name = signature(literal.goal)[0] + MARK + ",".join(places)
                    yield from self._projection(name, literal)
                    literal = replace(literal, goal=_term(name, _kept(args, places)))
            body.append(literal)
        yield replace(clause, body=tuple(body))

    def _projection(self, name: str, literal: Call) -> Iterator[Clause]:
        if name not in self.projections:
            self.projections.add(name)
            onto, _, places = name.partition(MARK)
            args = [Variable(p if p not in (KEPT, "_") else f"B{i}") for i, p in enumerate(places.split(","))]
            goal = Call(_term(onto, args), span=literal.span)
            yield Clause(_term(name, _kept(args, places.split(","))), (goal,), span=literal.span)

    def _bodies(self, body: tuple[Literal, ...]) -> Iterator[tuple[Call | Compare, ...]]:
        if not body:
            yield ()
            return
        first, rest = body[0], body[1:]
        match first:
            case Call() | Compare():
                starts: Iterable[tuple[Call | Compare, ...]] = [(first,)]
            case Either(alternatives):
                starts = [start for one in alternatives for start in self._bodies(one)]
            case Absent():
                self._refuse(
                    "TW302",
                    "a negated conjunction",
                    first.span,
                    "give the conjunction a rule of its own and negate it",
                )
                return
            case _:
                self._refuse("TW302", "this literal has no meaning in Temporal Datalog", first.span)
                return
        for start in starts:
            for end in self._bodies(rest):
                yield start + end

    # -- sorts

    def datalog(self) -> tuple[Datalog, list[Diagnostic]]:
        sorts = Sorts(self.clauses, self.declared.keys())
        for message, span in sorts.conflicts:
            self._refuse("TW301", message, span)
        rules: dict[Signature, list[Rule]] = {}
        for number, clause in enumerate(self.clauses):
            rule = self._rule(number, clause, sorts)
            if rule is not None:
                rules.setdefault(rule.head.predicate, []).append(rule)
        queries = [atom for query in self.queries if (atom := self._query(query, sorts)) is not None]
        if not self.queries:
            self._refuse(
                "TW304",
                "the program asks nothing",
                NOWHERE,
                "add `query p(X, T).` for a predicate p, or ask with `--query`",
            )
        temporal = frozenset(sorts.temporal)
        inputs = frozenset(p for p in temporal if p not in self.ruled)
        known = {name: tuple(found) for name, found in rules.items()}
        return Datalog(known, tuple(queries), temporal, inputs, self.declared), self.found

    def _rule(self, number: int, clause: Clause, sorts: Sorts) -> Rule | None:
        times = sorts.times_of(number)
        head = self._atom(clause.head, sorts, False, clause.span)
        body: list[Condition | None] = []
        for literal in clause.body:
            match literal:
                case Call(goal, negated):
                    body.append(self._atom(goal, sorts, negated, literal.span))
                case Compare():
                    body.append(self._test(literal))
        if head is None or any(condition is None for condition in body):
            return None
        return Rule(head, tuple(c for c in body if c is not None), times, clause.span)

    def _test(self, literal: Compare) -> Test | None:
        for side in (literal.left, literal.right):
            known = isinstance(side, (Atom, Number, Variable))
            if not known and not (isinstance(side, Compound) and signature(side) in COMPUTED[Kind.ANSWERS]):
                self._refuse(
                    "TW303",
                    f"`{text(side)}` is neither a constant nor a variable, and it is not computed",
                    side.span if side.span != NOWHERE else literal.span,
                    "compare what stands in it",
                )
                return None
        return Test(literal.op, literal.left, literal.right, literal.negated, literal.span)

    def _query(self, query: Query, sorts: Sorts) -> TimedAtom | None:
        goal = _name_apart(query.goal, iter(range(1, 1 << 30)))
        if not isinstance(goal, (Atom, Compound)) or signature(goal) not in self.heads:
            named = (
                f"{signature(goal)[0]}/{signature(goal)[1]}" if isinstance(goal, (Atom, Compound)) else "this"
            )
            known = sorted(f"{name}/{arity}" for name, arity in self.heads)
            hint = f"ask about {Names(known).nearest(named) or ' or '.join(known) or 'an atom of a rule'}"
            if not known and isinstance(goal, (Atom, Compound)):
                rule = f"{text(_term('found', arguments(goal)))} :- {text(goal)}."
                hint = f"define what you ask about by a rule: `{rule}`"
            self._refuse("TW304", f"no rule defines {named}", query.span, hint)
            return None
        return self._atom(goal, sorts, False, query.span) if signature(goal) in self.ruled_or_given else None

    def _atom(self, term: Term, sorts: Sorts, negated: bool, span: Span) -> TimedAtom | None:
        if not isinstance(term, (Atom, Compound)):
            self._refuse("TW302", f"`{text(term)}` is not an atom", span)
            return None
        predicate = signature(term)
        args = arguments(term)
        time: Time | None = None
        if predicate in sorts.temporal:
            time = time_of(args[-1])
            if time is None:
                self._refuse(
                    "TW301",
                    f"the last argument of {predicate[0]}/{predicate[1]} is a time",
                    args[-1].span if args[-1].span != NOWHERE else span,
                    _time_hint(predicate[0], args),
                )
                return None
            args = args[:-1]
        for arg in args:
            if not isinstance(arg, (Atom, Number, Variable)):
                self._refuse(
                    "TW303",
                    f"`{text(arg)}` is neither a constant nor a variable",
                    arg.span if arg.span != NOWHERE else span,
                    "compute it with `is` in the body and use the variable here",
                )
                return None
        return TimedAtom(predicate, args, time, negated, span)


def _time_hint(name: str, args: Sequence[Term]) -> str:
    hint = "only a number, `T`, or `T` with a number added to it (`T+2`, `T-1`) can stand there"
    if not isinstance(args[-1], Compound):
        return hint
    taken = {v.name for arg in args for v in variables(arg)}
    free = next(v for v in itertools.chain("USV", (f"U{i}" for i in itertools.count(1))) if v not in taken)
    atom = text(_term(name, [*args[:-1], Variable(free)]))
    return f"{hint}; compare another time with what you compute: `{atom}, {free} =:= {text(args[-1])}`"


def _term(name: str, args: Sequence[Term]) -> Term:
    return Compound(name, tuple(args)) if args else Atom(name)


def _terms(literal: Literal) -> tuple[Term, ...]:
    match literal:
        case Call(goal):
            return (goal,)
        case Compare(_, left, right):
            return (left, right)
        case _:
            return ()


def _name_apart(term: Term, counter: Iterator[int]) -> Term:
    match term:
        case Variable(name) if name == "_":
            return Variable(f"_#{next(counter)}", term.span)
        case Compound(functor, args):
            return Compound(functor, tuple(_name_apart(a, counter) for a in args), term.span)
        case _:
            return term
