"""Background facts as columns, once for each program: reasoners of one program share them.

A program may have a hundred thousand facts, and on Spark every shard makes a reasoner of it. What does not depend on
the reasoner is found out here and remembered with the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thalweg.language import rules as r
from thalweg.language.instances import quoted
from thalweg.language.program import Program
from thalweg.language.terms import Atom, Compound, Number, Span, Term

if TYPE_CHECKING:
    from thalweg.protocol import Ints


@dataclass(frozen=True, slots=True)
class FactColumn:
    """One argument of the facts of a relation: the different constants, by first sight, their texts, and for each fact
    which of them it has."""

    constants: list[Term]
    texts: list[str]
    which: Ints


@dataclass(slots=True)
class FactTable:
    """The facts of a relation, and where the first of them stands."""

    span: Span
    rows: list[tuple[Term, ...]]
    _columns: list[FactColumn] | None = None

    @property
    def columns(self) -> Sequence[FactColumn]:
        """The arguments."""
        if self._columns is None:
            self._columns = [fact_column(terms) for terms in zip(*self.rows, strict=True)]
        return self._columns


@dataclass(slots=True)
class Background:
    """A program taken apart: facts whose arguments are constants, by name and number of arguments; other clauses; and
    the statements that are none, each with its place."""

    facts: dict[tuple[str, int], FactTable] = field(default_factory=dict)
    clauses: list[r.Clause] = field(default_factory=list)
    others: list[tuple[int, r.Statement]] = field(default_factory=list)


def background(program: Program) -> Background:
    """The background knowledge of a program."""
    return program.once(_taken_apart)


def _taken_apart(program: Program) -> Background:
    found = Background()
    for index, s in enumerate(program.statements):
        if type(s) is not r.Clause:
            found.others.append((index, s))
            continue
        head = s.head
        if s.body or type(head) is not Compound or not all(type(a) is Atom or type(a) is Number for a in head.args):
            found.clauses.append(s)
            continue
        key = head.functor, len(head.args)
        table = found.facts.get(key)
        if table is None:
            table = found.facts[key] = FactTable(s.span, [])
        table.rows.append(head.args)
    return found


def fact_column(terms: Iterable[Term]) -> FactColumn:
    """The column of some constants."""
    keys = [term.name if type(term) is Atom else term for term in terms]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    import numpy as np  # `thalweg check` comes here for the rules, and starts without it

    which = np.fromiter(map(places.__getitem__, keys), np.int64, len(keys))
    constants = [Atom(key) if isinstance(key, str) else key for key in places]
    return FactColumn(constants, [constant_of(term) for term in constants], which)


def constant_of(term: Term) -> str:
    """Canonical text of a ground term."""
    from thalweg.columns.symbols import number_text

    if isinstance(term, Number):
        return number_text(term.value) if isinstance(term.value, float) else str(term.value)
    if isinstance(term, Atom):
        return quoted(term.name)
    if isinstance(term, Compound):
        return f"{quoted(term.functor)}({','.join(constant_of(a) for a in term.args)})"
    raise TypeError(term)
