"""Literals on the way to rules: what a body needs besides its literals, and small questions about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from thalweg.analysis.safety import moved_variable
from thalweg.language.rules import Aggregate, Call, Clause, Literal, Window, Windowed, literal_terms
from thalweg.language.terms import Compound, Number, Term, Variable, arguments, signature, variables
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


Extra = Nothing | InBackground | NoFact | Elsewhere
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


def with_free_places(clause: Clause) -> Clause:
    """The clause with ``V`` for ``V + k`` in negated atoms, where `V` stands in one place of the atom and otherwise
    only under other negations: that there is no such value says the same for both."""
    terms = [clause.head, *([clause.at] if clause.at is not None else [])]
    terms += [t for x in clause.body if not _negated_atom(x) for t in literal_terms(x)]
    outside = {v.name for t in terms for v in variables(t)}

    def freed(literal: Literal) -> Literal:
        if not _negated_atom(literal):
            return literal
        inside = Counter(v.name for t in literal_terms(literal) for v in variables(t))

        def free(term: Term) -> Term:
            name = moved_variable(term)
            return Variable(name) if name is not None and inside[name] == 1 and name not in outside else term

        def every(atom: Term) -> Term:
            return Compound(signature(atom)[0], tuple(map(free, arguments(atom)))) if arguments(atom) else atom

        match literal:
            case Call(goal):
                return replace(literal, goal=every(goal))
            case Windowed(atom, _, _, time):
                return replace(literal, atom=every(atom), time=None if time is None else free(time))
            case _:
                return literal

    return replace(clause, body=tuple(map(freed, clause.body)))


def _negated_atom(literal: Literal) -> bool:
    return isinstance(literal, Call | Windowed) and literal.negated
