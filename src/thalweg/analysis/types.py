"""Which positions hold numbers: argument positions, fluent values and variables, unified through shared
variables.

Positions that meet in one variable, anywhere in the program, form a class. A class is a *number* class
when a member takes part in arithmetic or in a numeric comparison, is a time or a delay, is the result of
``length`` and its kin, or is declared int, float or number. Every other class holds *symbols*: interned
constants of any sort, numbers included. A number class that also receives a constant that is no number is
a clash.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.temporal import temporal_predicates
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Aggregate,
    Allen,
    Boundary,
    Call,
    Clause,
    Combine,
    Compare,
    Declare,
    Delayed,
    Duration,
    DynamicDomain,
    EffectRule,
    EventRule,
    FindAll,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Initially,
    IntervalRule,
    Kind,
    Literal,
    Pair,
    Postponable,
    Query,
    Role,
    Statement,
    Windowed,
)
from thalweg.language.terms import EXACT, Atom, Compound, Number, Sequence, Span, Term, Variable, signature

NUMBER = "number"
SYMBOL = "symbol"
NUMERIC_COMPARISONS = frozenset({"<", ">", "=<", ">=", "=:=", "=\\=", "is"})
UNIFICATIONS = frozenset({"=", "\\=", "==", "\\=="})
_EVERYWHERE = {
    *((name, 2) for name in ("+", "-", "*", "/", "//", "div", "mod", "min", "max", "**", "^")),
    *((name, 1) for name in ("-", "abs", "floor", "ceiling", "round", "sqrt")),
}
_IN_EVENTS = ("+", "sign", "truncate", "integer", "float", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log")
COMPUTED: Mapping[Kind, frozenset[tuple[str, int]]] = {
    Kind.EVENTS: frozenset(_EVERYWHERE | {("rem", 2), ("atan2", 2)} | {(name, 1) for name in _IN_EVENTS}),
    Kind.ANSWERS: frozenset(_EVERYWHERE | {("rem", 2)}),
    Kind.LARS: frozenset(_EVERYWHERE | {("truncate", 1), ("integer", 1)}),
}
"""What each kind of program computes: names and numbers of arguments."""
FUNCTIONS = frozenset(name for functions in COMPUTED.values() for name, _ in functions)
"""Names that mean a computation inside an arithmetic expression."""
NAMED: Mapping[str, float] = {"pi": math.pi, "e": math.e, "inf": math.inf}
"""Atoms that are numbers inside an arithmetic expression or a numeric comparison."""
INFINITE = "inf"
"""The atom that is a number wherever numbers are wanted: larger than all others, and nothing is computed with it."""
_POINT = "a time-point"


class Evidence(NamedTuple):
    """Why a class is of a type, and where that stands."""

    span: Span
    why: str


@dataclass(frozen=True, slots=True)
class Clash:
    """A class that must be numeric and receives something that is no number."""

    number: Evidence
    others: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Types:
    """The answer: ask for a position, get ``number`` or ``symbol``."""

    numbers: frozenset[Hashable] = field(repr=False)
    clashes: tuple[Clash, ...] = ()
    declared: Mapping[Hashable, str] = field(default_factory=dict, repr=False)

    def argument(self, kind: str, name: str, arity: int, index: int) -> str:
        """Type of an argument of an event, fluent or predicate (`kind`)."""
        return self._type((str(kind), name, arity, index))

    def value(self, name: str, arity: int) -> str:
        """Type of the values of a fluent."""
        return self._type(("value", name, arity))

    def background(self, name: str, arity: int, index: int) -> str:
        """Type of an argument of a background predicate, or of any predicate of a Datalog or LARS program."""
        return self._type(("predicate", name, arity, index))

    def variable(self, statement: int, name: str) -> str:
        """Type of a variable of the statement with that index."""
        return self._type(("variable", statement, name))

    def shown(self, kind: str, name: str, arity: int, index: int) -> str:
        """The declared type of an argument where there is one, else the inferred one."""
        position = (str(kind), name, arity, index)
        return self.declared.get(position) or self._type(position)

    def _type(self, position: Hashable) -> str:
        return NUMBER if position in self.numbers else SYMBOL


class _Classes:
    """Union-find over positions, with the evidence of each class at its root."""

    def __init__(self) -> None:
        self.ids: dict[Hashable, int] = {}
        self.parent: list[int] = []
        self.number: list[Evidence | None] = []
        self.others: list[list[Evidence]] = []

    def id(self, position: Hashable) -> int:
        found = self.ids.get(position)
        if found is None:
            found = self.ids[position] = self.fresh()
        return found

    def fresh(self) -> int:
        self.parent.append(len(self.parent))
        self.number.append(None)
        self.others.append([])
        return len(self.parent) - 1

    def root(self, member: int) -> int:
        parent = self.parent
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    def unite(self, left: int, right: int) -> None:
        left, right = self.root(left), self.root(right)
        if left == right:
            return
        if len(self.others[left]) < len(self.others[right]):
            left, right = right, left
        self.parent[right] = left
        self.number[left] = self.number[left] or self.number[right]
        self.others[left].extend(self.others[right])
        self.others[right] = []

    def mark_number(self, member: int, evidence: Evidence) -> None:
        root = self.root(member)
        if self.number[root] is None:
            self.number[root] = evidence

    def mark_other(self, member: int, evidence: Evidence) -> None:
        self.others[self.root(member)].append(evidence)


class _Inference:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.classes = _Classes()
        self.declared: dict[Hashable, str] = {}
        self.computes = program.kind is not Kind.EVENTS
        self.temporal: frozenset[tuple[str, int]] = (
            temporal_predicates(program) if program.kind is Kind.ANSWERS else frozenset()
        )
        self.index = 0

    def run(self) -> None:
        for index, statement in enumerate(self.program.statements):
            self.index = index
            self.head(statement)
            for place in literals(body_of(statement)):
                self.literal(place.literal)

    # ------------------------------------------------------------------ statements

    def head(self, statement: Statement) -> None:
        match statement:
            case EffectRule(_, pair, time):
                self.pair(pair)
                self.numeric(time, _POINT)
            case EventRule(event, time):
                self.atom("event", event)
                self.numeric(time, _POINT)
            case IntervalRule(pair, intervals):
                self.pair(pair)
                self.intervals(intervals)
            case Initially(pair) | Postponable(pair):
                self.pair(pair)
            case Delayed(source, target, delay):
                self.pair(source)
                if target is not None:
                    self.pair(target)
                if isinstance(delay, Variable | Compound):
                    self.numeric(delay, "a delay")
            case Clause(head, _, at):
                self.predicate(head)
                if at is not None:
                    self.numeric(at, _POINT)
            case Query(goal) | DynamicDomain(goal):
                self.predicate(goal)
            case Grounding(entity):
                match entity:
                    case Compound("=", (fluent, value)):
                        self.pair(Pair(fluent, value))
                    case _:
                        self.atom("event", entity)
            case Declare():
                self.declare(statement)
            case _:
                pass

    def declare(self, statement: Declare) -> None:
        kind = "event" if statement.role is Role.EVENT else "fluent"
        arity = len(statement.arguments)
        for index, argument in enumerate(statement.arguments):
            position = (kind, statement.name, arity, index)
            if position in self.declared:
                continue
            member = self.classes.id(position)
            evidence = Evidence(statement.span, f"`{argument.name}` is declared {argument.type}")
            if argument.type in ("int", "float", NUMBER):
                self.classes.mark_number(member, evidence)
                self.declared.setdefault(position, argument.type)
            elif argument.type == SYMBOL and argument.name != "_":
                self.classes.mark_other(member, evidence)
                self.declared.setdefault(position, SYMBOL)
        for value in statement.values:
            self.put(self.classes.id(("value", statement.name, arity)), value)

    # ------------------------------------------------------------------ literals

    def literal(self, literal: Literal) -> None:
        match literal:
            case Happens(event, time):
                self.atom("event", event)
                self.numeric(time, _POINT)
            case Holds(pair, time) | Boundary(_, pair, time) | Affects(_, pair, time):
                self.pair(pair)
                self.numeric(time, _POINT)
            case HoldsFor(pair, intervals):
                self.pair(pair)
                self.intervals(intervals)
            case Call(goal):
                self.call(goal)
            case Compare(op, left, right):
                self.compare(op, left, right)
            case FindAll(template, _, result):
                self.put(self.element(result), template)
            case Combine(_, inputs, result, base):
                for term in (*inputs, result, *((base,) if base is not None else ())):
                    self.intervals(term)
            case Allen(_, left, right, _, result):
                for term in (left, right, result):
                    self.intervals(term)
            case Duration(_, intervals, bound, result):
                self.intervals(intervals)
                self.intervals(result)
                self.numeric(bound, "a duration")
            case Windowed(atom, _, _, time):
                self.predicate(atom)
                if time is not None:
                    self.numeric(time, _POINT)
            case Aggregate(function, template, atom, _, result):
                self.predicate(atom)
                self.numeric(result, f"the result of {function}")
                if function != "count":
                    self.numeric(template, f"what {function} is taken of")
            case _:
                pass

    def call(self, goal: Term) -> None:
        match goal:
            case Compound("length", (_, size)):
                self.numeric(size, "the length of a list")
            case Compound("sum_list" | "sumlist" | "max_list" | "min_list", (items, result)):
                self.numeric(result, f"the result of {goal.functor}")
                evidence = Evidence(goal.span, f"it is an item of a list given to {goal.functor}")
                self.classes.mark_number(self.element(items), evidence)
            case Compound("member", (item, items)):
                self.put(self.element(items), item)
            case _:
                self.predicate(goal)

    def compare(self, op: str, left: Term, right: Term) -> None:
        if op in NUMERIC_COMPARISONS or _is_expression(left) or _is_expression(right):
            self.numeric(left, f"compared with `{op}`" if op != "is" else "the result of `is`")
            self.numeric(right, f"compared with `{op}`" if op != "is" else "computed with")
        elif op in UNIFICATIONS:
            member = self.classes.fresh()
            self.put(member, left)
            self.put(member, right)

    # ------------------------------------------------------------------ terms

    def variable(self, name: str) -> int:
        return self.classes.id(("variable", self.index, name))

    def element(self, items: Term) -> int:
        """The class of the items of a list."""
        match items:
            case Variable(name) if name != "_":
                return self.classes.id(("element", self.index, name))
            case Sequence(members, rest):
                member = self.classes.fresh() if rest is None else self.element(rest)
                for item in members:
                    self.put(member, item)
                return member
            case _:
                return self.classes.fresh()

    def atom(self, kind: str, term: Term, *, timed: bool = False) -> None:
        if isinstance(term, Compound):
            name, arity = term.functor, len(term.args)
            for index, argument in enumerate(term.args[: arity - timed]):
                self.put(self.classes.id((kind, name, arity, index)), argument)

    def predicate(self, term: Term) -> None:
        if not (isinstance(term, Compound) and signature(term) in self.temporal):
            self.atom("predicate", term)
        else:
            time = term.args[-1]
            self.atom("predicate", term, timed=isinstance(time, Number))
            if isinstance(time, Variable) or _is_expression(time):
                self.numeric(time, _POINT)

    def pair(self, pair: Pair) -> None:
        self.atom("fluent", pair.fluent)
        match pair.fluent:
            case Compound(name, args):
                self.put(self.classes.id(("value", name, len(args))), pair.value)
            case Atom(name):
                self.put(self.classes.id(("value", name, 0)), pair.value)
            case _:
                pass

    def put(self, member: int, term: Term) -> None:
        """The term stands in a position of the class."""
        match term:
            case Variable(name):
                if name != "_":
                    self.classes.unite(member, self.variable(name))
            case Number(value):
                if _is_far(value):
                    self.classes.mark_other(member, Evidence(term.span, f"`{value}` has more than 53 bits"))
            case Compound(functor, args):
                if self.computes and _is_expression(term):
                    self.classes.mark_number(member, Evidence(term.span, "it is computed"))
                    self.numeric(term, "computed with")
                    return
                self.classes.mark_other(member, Evidence(term.span, f"`{functor}(...)` is a term"))
                for index, argument in enumerate(args):
                    self.put(self.classes.id(("term", functor, len(args), index)), argument)
            case Atom(name) if name != INFINITE:
                self.classes.mark_other(member, Evidence(term.span, f"`{name}` is a symbol"))
            case Sequence():
                self.classes.mark_other(member, Evidence(term.span, "a list"))
                self.element(term)
            case _:
                pass

    def numeric(self, term: Term, why: str) -> None:
        """The term is a number, or an expression that is computed."""
        stack = [(term, why)]
        while stack:
            here, reason = stack.pop()
            match here:
                case Variable(name):
                    if name != "_":
                        evidence = Evidence(here.span, f"`{name}` is {reason}")
                        self.classes.mark_number(self.variable(name), evidence)
                case Number(value) if not _is_far(value) or reason == _POINT:
                    pass
                case Compound(functor, args) if functor in FUNCTIONS:
                    why = f"an argument of {functor}" if functor in ("min", "max") else "computed with"
                    stack.extend((argument, why) for argument in args)
                case Atom(name) if name in NAMED:
                    if name == INFINITE and reason == "computed with":
                        member = self.classes.fresh()
                        self.classes.mark_number(member, Evidence(here.span, f"it is {reason}"))
                        self.classes.mark_other(member, Evidence(here.span, "`inf` can only be compared with"))
                case _:
                    member = self.classes.fresh()
                    self.classes.mark_number(member, Evidence(here.span, f"it is {reason}"))
                    self.put(member, here)

    def intervals(self, term: Term) -> None:
        match term:
            case Variable(name) if name != "_":
                self.classes.mark_other(
                    self.variable(name), Evidence(term.span, f"`{name}` is a list of intervals")
                )
            case _:
                pass

    # ------------------------------------------------------------------ answers

    def types(self) -> Types:
        classes = self.classes
        numeric = {member for member in range(len(classes.parent)) if classes.number[classes.root(member)]}
        clashes = []
        for member in range(len(classes.parent)):
            evidence, others = classes.number[member], classes.others[member]
            if classes.parent[member] == member and evidence is not None and others:
                clashes.append(Clash(evidence, tuple(others)))
        numbers = frozenset(position for position, member in classes.ids.items() if member in numeric)
        return Types(numbers, tuple(clashes), self.declared)


def _is_far(value: int | float) -> bool:
    """Is it an integer that cannot be told from its neighbours?"""
    return isinstance(value, int) and abs(value) >= EXACT


def _is_expression(term: Term) -> bool:
    return isinstance(term, Compound) and term.functor in FUNCTIONS


def infer(program: Program) -> Types:
    """The types of all positions of the program, with the clashes found on the way."""
    inference = _Inference(program)
    inference.run()
    return inference.types()
