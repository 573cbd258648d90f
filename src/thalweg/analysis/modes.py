"""Which arguments a background predicate needs before it can answer, and which it gives.

Facts and rules over facts give all their arguments. A rule that computes, such as
``angle(A, B, D) :- D is abs(A - B).``, needs `A` and `B` and gives `D`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from thalweg.analysis.bodies import literals
from thalweg.analysis.order import strong_components
from thalweg.analysis.roles import named
from thalweg.language.program import Program
from thalweg.language.rules import Call, Clause, DynamicDomain, Kind, literal_terms
from thalweg.language.terms import Term, Variable, arguments, signature, variables

Signature = tuple[str, int]

GIVEN_BUILTINS: Mapping[Signature, frozenset[int]] = {
    ("length", 2): frozenset({0}),
    ("sum_list", 2): frozenset({0}),
    ("sumlist", 2): frozenset({0}),
    ("max_list", 2): frozenset({0}),
    ("min_list", 2): frozenset({0}),
    ("member", 2): frozenset({1}),
}
"""The arguments that the predicates of the language need."""


@dataclass(frozen=True, slots=True)
class Modes:
    """Per background predicate the argument positions that must be bound by others; and the predicates
    whose rules call each other in a cycle, each group in the order found."""

    needs: Mapping[Signature, frozenset[int]]
    recursive: tuple[tuple[Signature, ...], ...] = ()
    indifferent: Mapping[Signature, frozenset[int]] = field(default_factory=dict)
    """The positions at which a predicate is true of anything: it needs no value there and gives none."""

    def needed(self, goal: Term) -> frozenset[int]:
        if not named(goal):
            return frozenset()
        key = signature(goal)
        return self.needs.get(key) or GIVEN_BUILTINS.get(key, frozenset())

    def given(self, goal: Term) -> list[Term]:
        """The arguments of a call that have values afterwards."""
        nothing = self.indifferent.get(signature(goal), ()) if named(goal) else ()
        return [argument for at, argument in enumerate(arguments(goal)) if at not in nothing]


def names(term: Term) -> set[str]:
    """The names of the variables in the term, without anonymous ones."""
    if isinstance(term, Variable):
        return set() if term.name == "_" else {term.name}
    if not arguments(term) and not hasattr(term, "items"):
        return set()
    return {variable.name for variable in variables(term) if variable.name != "_"}


def modes(program: Program, unbound: Callable[[Clause, Modes], set[str]]) -> Modes:
    """The modes of all background predicates, callees first. `unbound` says which variables of a clause its
    body cannot bind, given the modes known so far."""
    if program.kind is not Kind.EVENTS:
        return Modes({})
    rules: dict[Signature, list[Clause]] = {}
    indifferent = _indifferent(program)
    domains = {
        signature(s.predicate)
        for s in program.statements
        if isinstance(s, DynamicDomain) and named(s.predicate)
    }
    needs: dict[Signature, frozenset[int]] = {}
    for statement in program.statements:
        if isinstance(statement, Clause) and named(statement.head):
            if statement.body:
                rules.setdefault(signature(statement.head), []).append(statement)
            elif (open_positions := _open(statement.head)) and signature(statement.head) not in domains:
                key = signature(statement.head)
                needs[key] = needs.get(key, frozenset()) | open_positions - indifferent[key]
    groups = _callees_first(rules)
    for group in groups:
        for predicate in group:
            missing = needs.get(predicate, frozenset())
            for clause in rules.get(predicate, ()):
                found = _positions(clause.head, unbound(clause, Modes(needs, indifferent=indifferent)))
                missing |= found - indifferent[predicate]
            if missing:
                needs[predicate] = missing
    recursive = tuple(tuple(group) for group in groups if _recursive(group, rules))
    return Modes(needs, recursive, indifferent)


def _indifferent(program: Program) -> dict[Signature, frozenset[int]]:
    """Per background predicate the positions at which every clause has a variable that it mentions nowhere else."""
    found: dict[Signature, frozenset[int]] = {}
    for statement in program.statements:
        if isinstance(statement, Clause) and named(statement.head):
            terms = [t for place in literals(statement.body) for t in literal_terms(place.literal)]
            count = Counter(variable.name for t in (statement.head, *terms) for variable in variables(t))
            free = frozenset(
                at
                for at, argument in enumerate(arguments(statement.head))
                if isinstance(argument, Variable) and (argument.name == "_" or count[argument.name] == 1)
            )
            key = signature(statement.head)
            found[key] = found.get(key, free) & free
    return found


def _open(head: Term) -> frozenset[int]:
    return frozenset(i for i, a in enumerate(arguments(head)) if next(variables(a), None) is not None)


def _positions(head: Term, missing: set[str]) -> frozenset[int]:
    found, met = set(), set()
    for index, argument in enumerate(arguments(head)):
        if isinstance(argument, Variable) and argument.name in met:
            continue  # an earlier argument gives it: ``angle(D, D) :- D =< 180.``
        if any(v.name == "_" or v.name in missing for v in variables(argument)):
            found.add(index)
        if isinstance(argument, Variable) and argument.name != "_":
            met.add(argument.name)
    return frozenset(found)


def _calls(clauses: Iterable[Clause]) -> Iterable[Signature]:
    for clause in clauses:
        for place in literals(clause.body):
            if isinstance(place.literal, Call) and named(place.literal.goal):
                yield signature(place.literal.goal)


def _recursive(group: list[Signature], rules: Mapping[Signature, list[Clause]]) -> bool:
    return len(group) > 1 or group[0] in _calls(rules.get(group[0], ()))


def _callees_first(rules: Mapping[Signature, list[Clause]]) -> list[list[Signature]]:
    """The predicates in groups that call each other, callees before callers."""
    calls = {predicate: [c for c in _calls(clauses) if c in rules] for predicate, clauses in rules.items()}
    return strong_components(rules, calls)
