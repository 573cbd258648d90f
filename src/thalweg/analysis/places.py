"""The places of an atom, its arguments and its point, where something is computed: ``V + 1`` and the like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from thalweg.analysis.types import FUNCTIONS
from thalweg.language.rules import Call, Clause, Literal, Windowed, literal_terms
from thalweg.language.terms import (
    Compound,
    Number,
    Term,
    Variable,
    arguments,
    is_ground,
    signature,
    variables,
)


def moved_variable(term: Term) -> str | None:
    """The variable of ``V + k``, ``k + V`` or ``V - k``, which is known when the value is."""
    match term:
        case Compound("+" | "-", (Variable(name), Number())) | Compound("+", (Number(), Variable(name))):
            return name
        case _:
            return None


def with_places(literal: Call | Windowed, instead: Callable[[Term], Term]) -> Call | Windowed:
    """The literal with something else in the places of its atom."""

    def every(atom: Term) -> Term:
        return Compound(signature(atom)[0], tuple(map(instead, arguments(atom)))) if arguments(atom) else atom

    if isinstance(literal, Call):
        return replace(literal, goal=every(literal.goal))
    atom = every(literal.atom)
    return replace(literal, atom=atom, time=None if literal.time is None else instead(literal.time))


def places(literal: Call | Windowed) -> tuple[Term, ...]:
    """The arguments of an atom, and its point where one is asked for."""
    if isinstance(literal, Call):
        return arguments(literal.goal)
    return (*arguments(literal.atom), *([literal.time] if literal.time is not None else []))


def computes(term: Term) -> bool:
    """True for an expression with variables, which cannot be taken apart to bind them."""
    return isinstance(term, Compound) and term.functor in FUNCTIONS and not is_ground(term)


def given(terms: Iterable[Term]) -> set[str]:
    """The variables whose values follow from those of the places: ``V`` and ``V + k``."""
    found = (term.name if isinstance(term, Variable) else moved_variable(term) for term in terms)
    return {name for name in found if name is not None and name != "_"}


def follows(term: Term, terms: Iterable[Term]) -> bool:
    """Does a place follow from the others, all its variables being given there?"""
    return {v.name for v in variables(term)} <= given(terms)


def matches_alone(clause: Clause, literal: Literal) -> bool:
    """Is this a negated atom that computes with variables of its own, ``not r(X, X*2)``, each of which another of its
    places gives? There is no such atom, whatever `X` is."""
    if not isinstance(literal, Call | Windowed) or not literal.negated:
        return False
    computed = [term for term in places(literal) if computes(term)]
    if {v.name for term in computed for v in variables(term)} <= outside(clause):
        return False
    return all(follows(term, places(literal)) for term in computed)


def with_free_places(clause: Clause) -> Clause:
    """The clause with ``V`` for ``V + k`` in negated atoms, where `V` stands in one place of the atom and otherwise
    only under other negations: that there is no such value says the same for both."""
    bound = outside(clause)

    def freed(literal: Literal) -> Literal:
        if not isinstance(literal, Call | Windowed) or not literal.negated:
            return literal
        inside = Counter(v.name for t in literal_terms(literal) for v in variables(t))

        def free(term: Term) -> Term:
            name = moved_variable(term)
            return Variable(name) if name is not None and inside[name] == 1 and name not in bound else term

        return with_places(literal, free)

    return replace(clause, body=tuple(map(freed, clause.body)))


def outside(clause: Clause) -> set[str]:
    """The variables of a clause that stand elsewhere than in negated atoms."""
    terms = [clause.head, *([clause.at] if clause.at is not None else [])]
    terms += [t for x in clause.body if not _negated_atom(x) for t in literal_terms(x)]
    return {v.name for t in terms for v in variables(t)}


def _negated_atom(literal: Literal) -> bool:
    return isinstance(literal, Call | Windowed) and literal.negated
