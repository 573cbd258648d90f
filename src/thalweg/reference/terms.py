"""Ground terms as plain Python values, unification, and how a term is written as text.

An atom is a `str`, a number an `int` or `float`, a compound a tuple `(functor, argument, ...)`, a list a tuple
`("[]", item, ...)`; a variable is a `Var`. A float without a fraction is the integer: `12` and `12.0` are one
constant, in data and in rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thalweg.language import terms as language
from thalweg.language.instances import NUMERAL
from thalweg.language.terms import EXACT

LIST = "[]"

Signature = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Var:
    """A logical variable; `number` tells renamed copies (and the anonymous ones) apart."""

    name: str
    number: int = 0


Ground = Any
"""`str | int | float | tuple`, nested: a term without variables."""

Term = Any
"""A ground term, a `Var`, or a tuple that contains some."""

Subst = Mapping[Var, Term]
"""Bindings of variables; never changed in place."""

EMPTY: Subst = {}


def number(value: int | float) -> int | float:
    """The one form of a number: integral floats become integers, as long as they can be told from their neighbours.

    >>> number(12.0), number(0.5), number(2.0**60)
    (12, 0.5, 1.152921504606847e+18)
    """
    if isinstance(value, float) and abs(value) < EXACT and value == int(value):
        return int(value)
    return value


_PLAIN_ATOM = re.compile(r"[a-z][A-Za-z0-9_]*\Z", re.ASCII)


def constant(text: str) -> Ground:
    """The constant that a text field holds: a number if it reads as one, else an atom, spaces and all.

    >>> [constant(t) for t in ("007", "-3.5", ".5", " a", "North Sea", "")]
    [7, -3.5, 0.5, ' a', 'North Sea', '']
    """
    if not NUMERAL.match(text):
        return text
    return number(float(text)) if any(c in text for c in ".eE") else int(text)


class Reader:
    """Turns language terms into reference terms; every `_` becomes a variable of its own."""

    def __init__(self) -> None:
        self._anonymous = 0

    def term(self, term: language.Term) -> Term:
        match term:
            case language.Atom(name):
                return name
            case language.Number(value):
                return number(value)
            case language.Variable() as variable:
                return self._variable(variable)
            case language.Compound("-", (language.Number(value),)):
                return number(-value)
            case language.Compound(functor, args):
                return (functor, *map(self.term, args))
            case language.Sequence(items, None):
                return (LIST, *map(self.term, items))
        raise NotImplementedError(f"a list with a tail has no meaning in an event description: {term!r}")

    def _variable(self, variable: language.Variable) -> Var:
        if not variable.anonymous:
            return Var(variable.name)
        self._anonymous += 1
        return Var("_", self._anonymous)


def variables(term: Term) -> Iterator[Var]:
    """Every variable in the term, left to right, with repetitions."""
    if isinstance(term, Var):
        yield term
    elif isinstance(term, tuple):
        for argument in term[1:]:
            yield from variables(argument)


def walk(term: Term, subst: Subst) -> Term:
    """What a variable stands for, one level deep."""
    while isinstance(term, Var) and term in subst:
        term = subst[term]
    return term


def resolve(term: Term, subst: Subst) -> Term:
    """The term with every bound variable replaced."""
    term = walk(term, subst)
    if isinstance(term, tuple):
        return (term[0], *(resolve(argument, subst) for argument in term[1:]))
    return term


def is_ground(term: Term) -> bool:
    return next(variables(term), None) is None


def unify(left: Term, right: Term, subst: Subst) -> Subst | None:
    """The bindings that make both terms the same, or None."""
    left, right = walk(left, subst), walk(right, subst)
    if isinstance(left, Var):
        return subst if left == right else {**subst, left: right}
    if isinstance(right, Var):
        return {**subst, right: left}
    if isinstance(left, tuple) and isinstance(right, tuple):
        if len(left) != len(right) or left[0] != right[0]:
            return None
        return unify_all(left[1:], right[1:], subst)
    return subst if type(left) is not tuple and type(right) is not tuple and left == right else None


def unify_all(lefts: Iterable[Term], rights: Iterable[Term], subst: Subst) -> Subst | None:
    """The bindings that make all terms on the left the same as those on the right, one by one, or None."""
    for left, right in zip(lefts, rights, strict=True):
        extended = unify(left, right, subst)
        if extended is None:
            return None
        subst = extended
    return subst


def renamed(term: Term, number_: int) -> Term:
    """A copy whose variables are new, for one use of a clause."""
    if isinstance(term, Var):
        return Var(f"{term.name}/{term.number}", number_)
    if isinstance(term, tuple):
        return (term[0], *(renamed(argument, number_) for argument in term[1:]))
    return term


def signature(term: Term) -> Signature:
    """Name and arity.

    >>> signature(("gap", "v1")), signature("tick")
    (('gap', 1), ('tick', 0))
    """
    return (term[0], len(term) - 1) if isinstance(term, tuple) else (str(term), 0)


def order_key(term: Ground) -> tuple[Any, ...]:
    """The standard order of terms: numbers, then atoms, then compounds by arity, name and arguments."""
    if isinstance(term, (int, float)):
        return (0, term)
    if isinstance(term, str):
        return (1, term)
    return (2, len(term), term[0], tuple(order_key(argument) for argument in term[1:]))


def text(term: Ground) -> str:
    """The term as it is written in results: `status(m1)`, `'North Sea'`, `per(close_ballot(c,m))`, `'-'(a,b)`.

    >>> text(("per", ("close_ballot", "c", 7)))
    'per(close_ballot(c,7))'
    >>> text("North Sea"), text("")
    ("'North Sea'", "''")
    """
    if isinstance(term, str):
        return _atom(term)
    if isinstance(term, (int, float)):
        return repr(term)
    if term[0] == LIST:
        return "[" + ",".join(map(text, term[1:])) + "]"
    if term[0] == "=" and len(term) == 3:
        return f"{text(term[1])}={text(term[2])}"
    return f"{_atom(term[0])}({','.join(map(text, term[1:]))})"


def _atom(name: str) -> str:
    if _PLAIN_ATOM.match(name):
        return name
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
