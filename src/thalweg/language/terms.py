"""Terms: the one tree that every kind of program is written in.

Terms are plain frozen data. A term compares equal to another that was written elsewhere: the span
says where it stands, and takes no part in equality.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Span(NamedTuple):
    """Where something stands in a source text: 1-based lines and columns, end exclusive."""

    source: str
    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Span("", 0, 0, 0, 0)
"""The span of what was not written by anybody, such as a rule made by a transformation."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A constant that stands for itself: ``true``, ``nearPorts``, ``'North Sea'``."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


EXACT = 2**53
"""Whole numbers from here on cannot be told from their neighbours: what is computed is a float of 64 bits."""


@dataclass(frozen=True, slots=True)
class Number:
    """An integer or a float. Durations with a unit (``10m``) are numbers of ticks; `written` remembers how one
    was written, for printing."""

    value: int | float
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    written: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A logical variable. Each occurrence of the name ``_`` is a variable of its own."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def anonymous(self) -> bool:
        return self.name == "_"


@dataclass(frozen=True, slots=True)
class Compound:
    """A functor with at least one argument; operators too: ``F=V`` is ``=(F, V)``, ``X+1`` is ``+(X, 1)``."""

    functor: str
    args: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list term ``[a, b | Rest]``."""

    items: tuple[Term, ...]
    rest: Term | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Term = Atom | Number | Variable | Compound | Sequence


def signature(term: Term) -> tuple[str, int]:
    """Name and arity of an atom or compound: ``('velocity', 4)``.

    >>> signature(Compound("gap", (Variable("V"),)))
    ('gap', 1)
    """
    match term:
        case Compound(functor, args):
            return functor, len(args)
        case Atom(name):
            return name, 0
        case _:
            raise TypeError(f"{term!r} has no name and arity")


def arguments(term: Term) -> tuple[Term, ...]:
    """The arguments of a compound; none for an atom."""
    return term.args if isinstance(term, Compound) else ()


def variables(term: Term) -> Iterator[Variable]:
    """Every variable occurrence in the term, left to right, anonymous ones included."""
    stack: list[Term] = [term]
    while stack:
        match stack.pop():
            case Variable() as variable:
                yield variable
            case Compound(_, args):
                stack.extend(reversed(args))
            case Sequence(items, rest):
                if rest is not None:
                    stack.append(rest)
                stack.extend(reversed(items))


def is_ground(term: Term) -> bool:
    """True when the term has no variables."""
    return next(variables(term), None) is None
