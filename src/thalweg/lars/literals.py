"""Literals on the way to rules: what a body needs besides its literals, and small questions about them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from thalweg.language.rules import Aggregate, Window, Windowed
from thalweg.language.terms import Compound, Number, Term, Variable, arguments


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
    """The window with the places of its `by` arguments instead of their names."""
    if not window.by:
        return window
    return replace(window, by=tuple(Number(arguments(atom).index(v)) for v in window.by))
