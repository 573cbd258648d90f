"""Which predicates of a Temporal Datalog program are temporal: their last argument is a time.

The others are rigid. Input predicates are temporal, ``T+k`` stands only in time positions, a variable has one sort in
a clause; what nothing is known about is rigid when only facts define it, and temporal when rules put whole
numbers there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from thalweg.analysis.bodies import literals
from thalweg.language.program import Program
from thalweg.language.rules import Call, Clause, Declare, Role
from thalweg.language.terms import (
    NOWHERE,
    Atom,
    Compound,
    Number,
    Span,
    Term,
    Variable,
    arguments,
    is_ground,
    signature,
    variables,
)

Signature = tuple[str, int]
"""Name and number of arguments, the time included."""


@dataclass(frozen=True, slots=True)
class Time:
    """A time term: ``variable + offset``, or the number `offset` when there is no variable."""

    variable: str | None
    offset: int = 0

    def __str__(self) -> str:
        if self.variable is None:
            return str(self.offset)
        return self.variable if not self.offset else f"{self.variable}{self.offset:+d}"

    def shifted(self, by: int) -> Time:
        return Time(self.variable, self.offset + by)


def time_of(term: Term) -> Time | None:
    """A time term read from ``T``, ``T+k``, ``T-k``, ``k+T`` or a number; None for anything else."""
    match term:
        case Variable(name):
            return Time(name)
        case Number(value) if isinstance(value, int):
            return Time(None, value)
        case Compound("+", (Variable(name), Number(value))) if isinstance(value, int):
            return Time(name, value)
        case Compound("+", (Number(value), Variable(name))) if isinstance(value, int):
            return Time(name, value)
        case Compound("-", (Variable(name), Number(value))) if isinstance(value, int):
            return Time(name, -value)
        case _:
            return None


class Sorts:
    """Which last arguments are times: a union-find over last-argument places and variables."""

    def __init__(
        self,
        clauses: Sequence[Clause],
        declared: Collection[Signature] = (),
    ) -> None:
        defined = {signature(c.head) for c in clauses}
        ruled = {signature(c.head) for c in clauses if c.body}
        self.parent: dict[object, object] = {}
        self.time: dict[object, Span] = {}
        self.plain: dict[object, Span] = {}
        self.conflicts: list[tuple[str, Span]] = []
        self.clauses = clauses
        mentioned: set[Signature] = set()
        whole_numbers: set[Signature] = set()
        for number, clause in enumerate(clauses):
            for goal in _goals(clause):
                if isinstance(goal, (Atom, Compound)):
                    mentioned.add(signature(goal))
                    if self._place(number, goal) and goal is clause.head:
                        whole_numbers.add(signature(goal))
        for predicate in mentioned:
            if predicate[1] and (predicate not in defined or predicate in declared):
                self._mark(self.time, ("last", predicate), NOWHERE)
            elif predicate in ruled and predicate in whole_numbers and not self._known(("last", predicate)):
                self._mark(self.time, ("last", predicate), NOWHERE)
        self.temporal = {p for p in mentioned if self._find(("last", p)) in self.time}
        self._report()

    def _find(self, node: object) -> object:
        while (above := self.parent.get(node, node)) != node:
            node = above
        return node

    def _mark(self, sort: dict[object, Span], node: object, span: Span) -> None:
        sort.setdefault(self._find(node), span)

    def _known(self, node: object) -> bool:
        root = self._find(node)
        return root in self.time or root in self.plain

    def _union(self, left: object, right: object) -> None:
        a, b = self._find(left), self._find(right)
        if a == b:
            return
        self.parent[a] = b
        for sort in (self.time, self.plain):
            if a in sort:
                sort.setdefault(b, sort.pop(a))

    def _place(self, number: int, goal: Atom | Compound) -> bool:
        """Note what the arguments of one atom say; True when the last one is a whole number."""
        args = arguments(goal)
        for arg in args[:-1]:
            if isinstance(arg, Variable):
                self._mark(self.plain, (number, arg.name), arg.span)
        if not args:
            return False
        last, place = args[-1], ("last", signature(goal))
        match last:
            case Variable(name):
                self._union(place, (number, name))
            case Compound() if time_of(last) is not None:
                self._mark(self.time, place, last.span)
                for variable in variables(last):
                    self._mark(self.time, (number, variable.name), variable.span)
            case Number(value) if isinstance(value, int):
                return True
            case _ if is_ground(last):
                self._mark(self.plain, place, last.span)
        return False

    def times_of(self, number: int) -> frozenset[str]:
        """The variables of a clause that are times."""
        names = {v.name for term in _goals(self.clauses[number]) for v in variables(term)}
        return frozenset(name for name in names if self._find((number, name)) in self.time)

    def _report(self) -> None:
        for root in self.time.keys() & self.plain.keys():
            spans = [s for s in (self.plain[root], self.time[root]) if s != NOWHERE]
            members = [n for n in self.parent if self._find(n) == root] + [root]
            places = sorted(
                {f"{n[1][0]}/{n[1][1]}" for n in members if isinstance(n, tuple) and n[0] == "last"}
            )
            names = sorted({str(n[1]) for n in members if isinstance(n, tuple) and n[0] != "last"})
            what = f"the last argument of {', '.join(places)}" if places else f"`{', '.join(names)}`"
            self.conflicts.append(
                (f"{what} is a time in one place and not in another", spans[0] if spans else NOWHERE)
            )


def _goals(clause: Clause) -> Iterable[Term]:
    inside = (place.literal for place in literals(clause.body))
    return [clause.head, *(literal.goal for literal in inside if isinstance(literal, Call))]


def sorts_of(program: Program) -> Sorts:
    """The sorts of a Temporal Datalog program; its clauses are numbered in their order."""
    clauses = [s for s in program.statements if isinstance(s, Clause)]
    declared = {
        (s.name, len(s.arguments) + 1)
        for s in program.statements
        if isinstance(s, Declare) and s.role is Role.EVENT
    }
    return Sorts(clauses, declared)


def temporal_predicates(program: Program) -> frozenset[Signature]:
    """The temporal predicates of a Temporal Datalog program."""
    return frozenset(sorts_of(program).temporal)
