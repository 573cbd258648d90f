"""Rules reduced to what they join: which variable stands where in the head and in each event and fluent read.

Background knowledge does not count, it is known everywhere; a body with alternatives becomes several rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.dependencies import Node
from thalweg.analysis.roles import Entities, Part, named
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Aggregate,
    Body,
    Boundary,
    Call,
    Clause,
    Delayed,
    EffectRule,
    Either,
    EventRule,
    Happens,
    Holds,
    HoldsFor,
    Initially,
    IntervalRule,
    Kind,
    Literal,
    Statement,
    Windowed,
)
from thalweg.language.terms import Compound, Term, Variable, signature

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
    """One conjunction of a statement; `counts` when it has a window that counts atoms of the whole stream."""

    statement: int
    head: Atomic
    body: tuple[Atomic, ...]
    counts: bool = False


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
        self.facts = {
            Node("predicate", *entity.key[1:])
            for entity in known.of_kind("predicate")
            if entity.part is Part.BACKGROUND
        }

    def rules(self) -> Iterator[Rule]:
        for index, statement in enumerate(self.program.statements):
            head = self.head(statement)
            if head is not None:
                for conjunction in alternatives(body_of(statement)):
                    counts = any(_counts(literal) for literal in conjunction)
                    yield Rule(index, head, tuple(self.body(conjunction)), counts)
                if isinstance(statement, Delayed) and statement.target is not None:
                    yield Rule(index, self.atomic("fluent", statement.target.fluent), (head,))

    def head(self, statement: Statement) -> Atomic | None:
        match statement:
            case EffectRule(_, pair) | IntervalRule(pair) | Initially(pair) | Delayed(pair) if named(
                pair.fluent
            ):
                return self.atomic("fluent", pair.fluent)
            case EventRule(event) if named(event):
                return self.atomic("event", event)
            case Clause(head, body) if self.datalog and body and named(head):
                return self.atomic("predicate", head)
            case _:
                return None

    def body(self, conjunction: Body) -> Iterator[Atomic]:
        for literal, negated, local in literals(conjunction):
            found = self.read(literal)
            if found is not None:
                node = Node(found[0], *signature(found[1]))
                if node not in self.facts:
                    paths = variable_paths(found[1], timed=self.timed, head=False)
                    yield Atomic(node, paths, not negated and not local)

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

    def atomic(self, kind: str, term: Term) -> Atomic:
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


def _counts(literal: Literal) -> bool:
    window = literal.window if isinstance(literal, Windowed | Aggregate) else None
    return window is not None and window.kind != "time"


def reduced_rules(program: Program, known: Entities) -> Iterator[Rule]:
    """The rules of the program, reduced."""
    return _Reduction(program, known).rules()
