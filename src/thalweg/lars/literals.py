"""Literals on the way to rules: what a body needs besides its literals, and small questions about them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from thalweg.language.rules import Aggregate, Call, Clause, Literal, Window, Windowed, literal_terms
from thalweg.language.terms import Compound, Number, Term, Variable, arguments, variables
from thalweg.lars.store import Store


@dataclass(frozen=True, slots=True)
class Nothing:
    """The aggregate has nothing to range over."""

    aggregate: Aggregate


@dataclass(frozen=True, slots=True)
class InBackground:
    """An at-atom of a background fact, its point inside the window."""

    literal: Windowed


@dataclass(frozen=True, slots=True)
class NoFact:
    """No background fact agrees with an at-atom."""

    literal: Windowed


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The point of an at-atom is outside its window."""

    literal: Windowed


@dataclass(frozen=True, slots=True)
class Unmatched:
    """No atom of a source agrees with one that computes with variables of its own, ``r(X, X*2)``; `shared`: its
    variables that the rest of the rule uses."""

    name: str
    asked: Call | Windowed
    source: Store
    shared: tuple[str, ...]


Extra = Nothing | InBackground | NoFact | Elsewhere | Unmatched
"""What alternatives of a body ask for that no literal of the language says."""


@dataclass(frozen=True, slots=True)
class Written:
    """A body that a clause (the statement of that index) was compiled from: its literals, each with the store that it
    reads, if any."""

    index: int
    clause: Clause
    literals: tuple[Literal | Extra, ...]
    stores: tuple[Store | None, ...]


def groups_of(clause: Clause, literal: Aggregate) -> list[str]:
    """Variables of the aggregated atom that the rest of the rule uses, in order."""
    terms = [clause.head, literal.result]
    if clause.at is not None:
        terms.append(clause.at)
    for other in clause.body:
        if other is not literal:
            terms += literal_terms(other)
    elsewhere = {v.name for t in terms for v in variables(t)}
    return [n for n in dict.fromkeys(v.name for v in variables(literal.atom)) if n in elsewhere and n != "_"]


def renamed(term: Term, kept: set[str]) -> Term:
    """The term with new names for its variables that are not kept."""
    match term:
        case Variable(name) if name not in kept and name != "_":
            return Variable(f"{name} apart")
        case Compound(functor, args):
            return Compound(functor, tuple(renamed(a, kept) for a in args))
        case _:
            return term


def positioned(window: Window, atom: Term) -> Window:
    """The window with the places of its `by` arguments instead of their names, where it has names."""
    if not window.by or isinstance(window.by[0], Number):
        return window
    return replace(window, by=tuple(Number(arguments(atom).index(v)) for v in window.by))
