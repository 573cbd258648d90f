"""Rules reduced to what they join: which variable stands where in the head and in each event and fluent read.

Facts and rules over facts do not count, they are known everywhere. What a background rule reads of the stream (events,
fluents, dynamic domains) counts for the rule that calls it. A body with alternatives becomes several rules, and a
grounding is a rule that reads the dynamic domains of its body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.dependencies import Node
from thalweg.analysis.roles import Entities, Part, named, pair_of
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Aggregate,
    Body,
    Boundary,
    Call,
    Clause,
    Compare,
    Delayed,
    EffectRule,
    Either,
    EventRule,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Initially,
    IntervalRule,
    Kind,
    Literal,
    Statement,
    Windowed,
    literal_terms,
)
from thalweg.language.terms import Compound, Term, Variable, arguments, signature, variables

Path = tuple[int, ...]
"""Where an argument stands: ``(0,)`` is the first; ``(0, 1)`` the second argument of the compound that is
the first."""

MOST_ALTERNATIVES = 32


class Atomic(NamedTuple):
    """A temporal literal or head of a rule, reduced to what matters here: variable name to path."""

    node: Node
    paths: Mapping[str, Path]
    positive: bool


class Rule(NamedTuple):
    """One conjunction of a statement. `counts`: where it has windows that count atoms, the variables by whose values
    all of them do so. `known`: variables that background knowledge may bind."""

    statement: int
    head: Atomic
    body: tuple[Atomic, ...]
    counts: frozenset[str] | None = None
    known: frozenset[str] = frozenset()


class _Exposed(NamedTuple):
    """What a background predicate reads of the stream: the node, and where its own arguments stand there."""

    node: Node
    paths: Mapping[int, Path]
    positive: bool


def variable_paths(term: Term, *, timed: bool, head: bool) -> dict[str, Path]:
    """Where each variable of an event or fluent term stands, its first place if there are several.
    `timed`: the last argument is a time. `head`: anonymous variables count, as free ones."""
    found: dict[str, Path] = {}
    args = term.args if isinstance(term, Compound) else ()
    if timed:
        args = args[:-1]
    stack: list[tuple[Path, Term]] = [
        ((index,), argument) for index, argument in reversed(list(enumerate(args)))
    ]
    while stack:
        path, here = stack.pop()
        if isinstance(here, Variable):
            if here.name != "_":
                found.setdefault(here.name, path)
            elif head:
                found[f"_{path}"] = path
        elif isinstance(here, Compound):
            stack.extend(
                ((*path, index), argument) for index, argument in reversed(list(enumerate(here.args)))
            )
    return found


class _Reduction:
    """Rules of a program as heads and bodies of `Atomic`s."""

    def __init__(self, program: Program, known: Entities) -> None:
        self.program = program
        self.timed = program.kind is Kind.ANSWERS
        self.datalog = program.kind is not Kind.EVENTS
        predicates = known.of_kind("predicate")
        self.facts = {Node("predicate", *e.key[1:]) for e in predicates if e.part is Part.BACKGROUND}
        self.domains = {e.key[1:] for e in predicates if e.part is Part.DOMAIN}
        self.clauses: dict[tuple[str, int], list[Clause]] = {}
        self.exposed: dict[tuple[str, int], list[_Exposed]] = {}
        for statement in program.statements if not self.datalog else ():
            if isinstance(statement, Clause) and statement.body and named(statement.head):
                self.clauses.setdefault(signature(statement.head), []).append(statement)

    def rules(self) -> Iterator[Rule]:
        for index, statement in enumerate(self.program.statements):
            head = self.head(statement)
            if head is not None:
                for conjunction in alternatives(body_of(statement)):
                    known = frozenset(self.background(conjunction))
                    yield Rule(index, head, tuple(self.body(conjunction)), _counted_by(conjunction), known)
                if isinstance(statement, Delayed) and statement.target is not None:
                    target = self.atomic("fluent", statement.target.fluent)
                    if target is not None:
                        yield Rule(index, target, (head,))

    def head(self, statement: Statement) -> Atomic | None:
        match statement:
            case EffectRule(_, pair) | IntervalRule(pair) | Initially(pair) | Delayed(pair):
                return self.atomic("fluent", pair.fluent)
            case EventRule(event):
                return self.atomic("event", event)
            case Clause(head, body) if self.datalog and body:
                return self.atomic("predicate", head)
            case Grounding(entity):
                pair_or_none = pair_of(entity)
                if pair_or_none is not None:
                    return self.atomic("fluent", pair_or_none.fluent)
                return self.atomic("event", entity)
            case _:
                return None

    def body(self, conjunction: Body) -> Iterator[Atomic]:
        for literal, negated, local in literals(conjunction):
            positive = not negated and not local
            found = self.read(literal)
            if found is not None:
                node = Node(found[0], *signature(found[1]))
                if node not in self.facts:
                    yield Atomic(node, variable_paths(found[1], timed=self.timed, head=False), positive)
            elif isinstance(literal, Call) and named(literal.goal):
                yield from self.called(literal.goal, positive)

    def called(self, goal: Term, positive: bool) -> Iterator[Atomic]:
        """What a background predicate reads of the stream, in the variables of the call."""
        args = arguments(goal)
        for node, paths, sign in self.exposures(signature(goal)):
            names = {
                arg.name: paths[i] for i, arg in enumerate(args) if i in paths and isinstance(arg, Variable)
            }
            names.pop("_", None)
            yield Atomic(node, names, positive and sign)

    def exposures(self, predicate: tuple[str, int]) -> list[_Exposed]:
        found = self.exposed.get(predicate)
        if found is not None:
            return found
        if predicate in self.domains:
            own = _Exposed(Node("predicate", *predicate), {i: (i,) for i in range(predicate[1])}, True)
            self.exposed[predicate] = [own]
            return [own]
        self.exposed[predicate] = []  # a predicate that calls itself is refused elsewhere
        for clause in self.clauses.get(predicate, ()):
            place = {a.name: i for i, a in enumerate(arguments(clause.head)) if isinstance(a, Variable)}
            for conjunction in alternatives(clause.body):
                for node, paths, positive in self.body(conjunction):
                    seen = {place[name]: path for name, path in paths.items() if name in place}
                    self.exposed[predicate].append(_Exposed(node, seen, positive))
        return self.exposed[predicate]

    def read(self, literal: Literal) -> tuple[str, Term] | None:
        match literal:
            case Happens(event) if named(event):
                return "event", event
            case Holds(pair) | Boundary(_, pair) | Affects(_, pair) | HoldsFor(pair) if named(pair.fluent):
                return "fluent", pair.fluent
            case Call(atom) | Windowed(atom) | Aggregate(_, _, atom) if self.datalog and named(atom):
                return "predicate", atom
            case _:
                return None

    def background(self, conjunction: Body) -> Iterator[str]:
        for literal, _, _ in literals(conjunction):
            if isinstance(literal, Call | Compare):
                for term in literal_terms(literal):
                    yield from (variable.name for variable in variables(term))

    def atomic(self, kind: str, term: Term) -> Atomic | None:
        if not named(term):
            return None
        return Atomic(Node(kind, *signature(term)), variable_paths(term, timed=self.timed, head=True), True)


def alternatives(body: Body) -> list[Body]:
    """The conjunctions that a body with disjunctions stands for; beyond `MOST_ALTERNATIVES` it stays as it
    is."""
    found: list[Body] = [()]
    for literal in body:
        if isinstance(literal, Either):
            options = [option for alternative in literal.alternatives for option in alternatives(alternative)]
        else:
            options = [(literal,)]
        if len(found) * len(options) > MOST_ALTERNATIVES:
            return [body]
        found = [before + option for before in found for option in options]
    return found


def _counted_by(conjunction: Body) -> frozenset[str] | None:
    """The variables by which all windows count that count atoms; None where there is no such window."""
    found = [names for literal in conjunction if (names := _counts_by(literal)) is not None]
    return frozenset.intersection(*found) if found else None


def _counts_by(literal: Literal) -> frozenset[str] | None:
    """The same for one literal. Such a window is as long as that of any value together, which `always` asks about."""
    window = literal.window if isinstance(literal, Windowed | Aggregate) else None
    if window is None or window.kind == "time":
        return None
    if isinstance(literal, Windowed) and literal.mode == "always":
        return frozenset()
    return frozenset(variable.name for by in window.by for variable in variables(by))


def reduced_rules(program: Program, known: Entities) -> Iterator[Rule]:
    """The rules of the program, reduced."""
    return _Reduction(program, known).rules()
