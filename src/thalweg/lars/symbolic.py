"""Terms under bindings that may depend on now.

A variable is bound to the code of a symbol or to a number that is an expression over now; arguments, comparisons and
computations give values and conditions of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from thalweg.analysis.places import computes, moved_variable
from thalweg.analysis.types import COMPUTED, NAMED, NUMBER, SYMBOL
from thalweg.columns.symbols import as_floats
from thalweg.language.rules import Compare, Kind
from thalweg.language.terms import Atom, Compound, Number, Term, Variable, is_ground, signature, variables
from thalweg.lars.codes import Codes
from thalweg.lars.conditions import (
    OPPOSITE,
    ORDER,
    Condition,
    Expression,
    compared,
    computed,
    divided,
    every,
    opposed,
)

Value = int | Expression
"""The code of a symbol, or a number that may depend on now."""
Bound = dict[str, Value]
Found = tuple[Bound, Condition]

_SAME = {"^": "**", "integer": "round"}


class Unknown(Exception):
    """The condition cannot be written down."""


class Terms:
    """Reads terms; `codes` are those of the symbols."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes

    def compare(self, literal: Compare, bound: Bound) -> Iterator[Found]:
        """The ways in which a comparison agrees with the bindings: it may give a variable its value."""
        op, left, right = literal.op, literal.left, literal.right
        equal = op in ("=", "==", "is")
        if equal and not literal.negated:
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Variable) and one.name not in bound:
                    yield {**bound, one.name: self._either(other, bound)}, True
                    return
        if op in OPPOSITE or op in ORDER or equal or op in ("\\=", "\\=="):
            a, b = self._side(op, left, bound, right), self._side(op, right, bound, left)
            if op in ORDER and isinstance(a, int) != isinstance(b, int):
                yield bound, self._mixed(op, a, b, negated=literal.negated)
                return
            if isinstance(a, int) or isinstance(b, int):
                yield bound, self._symbols(op, a, b) != literal.negated
                return
            numeric = ORDER.get(op, "=:=" if equal else "=\\=" if op.startswith("\\") else op)
            yield bound, opposed(numeric, a, b) if literal.negated else compared(numeric, a, b)
            return
        raise Unknown

    def _side(self, op: str, term: Term, bound: Bound, other: Term) -> Value:
        """The value of a side of a comparison; in the standard order, a name is a text, whatever else it may mean, and
        so is a term that is not computed."""
        if op in ORDER and (isinstance(term, Atom) or _is_term(term)):
            return self.codes.constant(term, SYMBOL)
        return self._either(term, bound, other)

    def _mixed(self, op: str, left: Value, right: Value, *, negated: bool) -> Condition:
        """The order of a symbol and a number: all numbers come before all texts."""
        one, other = (self.codes.value(side) if isinstance(side, int) else side for side in (left, right))
        if one is None or other is None:
            return ((op in ("@<", "@=<")) == (other is None)) != negated
        return opposed(ORDER[op], one, other) if negated else compared(ORDER[op], one, other)

    def _symbols(self, op: str, left: Value, right: Value) -> bool:
        if op in ORDER:
            (a,), (b,) = self.codes.ranks(np.array([left]), np.array([right]))
            return bool({"@<": a < b, "@>": a > b, "@=<": a <= b, "@>=": a >= b}[op])
        return (left == right) == (op in ("=", "==", "is"))

    def _either(self, term: Term, bound: Bound, other: Term | None = None) -> Value:
        """The value of a side of a comparison: a constant is a number where the other side is one."""
        if isinstance(term, Variable):
            if term.name not in bound:
                raise Unknown
            return bound[term.name]
        if isinstance(term, Number | Compound | Atom) and not _is_symbol(term, other, bound):
            return self.number(term, bound)
        return self.codes.constant(term, "symbol")

    def known(self, term: Term, kind: str, bound: Bound) -> Value | None:
        """The value of an argument, where it has one."""
        if any(v.name not in bound for v in variables(term)):
            return None
        return self.term(term, kind, bound)

    def term(self, term: Term, kind: str, bound: Bound) -> Value:
        """The value of an argument in a position of that kind."""
        match term:
            case Variable(name) if name in bound:
                return bound[name]
            case Variable():
                raise Unknown
            case _ if kind == NUMBER:
                return self.number(term, bound)
            case _:
                return self.codes.constant(term, kind)

    def number(self, term: Term, bound: Bound) -> Expression:
        """The value of a computation."""
        match term:
            case Number(value):
                return float(value)
            case Variable(name) if name in bound:
                return numeric(bound[name])
            case Atom(name) if name in NAMED:
                return NAMED[name]
            case Compound("div", (left, right)):
                return divided(self.number(left, bound), self.number(right, bound))
            case Compound(functor, args):
                return computed(_SAME.get(functor, functor), *(self.number(a, bound) for a in args))
            case _:
                raise Unknown

    def match(
        self, terms: Iterable[Term], kinds: Iterable[str], values: Iterable[Value], bound: Bound
    ) -> Found:
        """Bindings under which terms equal values, and the condition that remains; what is computed comes last."""
        conditions: list[Condition] = []
        places = zip(terms, kinds, values, strict=True)
        for term, kind, value in sorted(places, key=lambda place: computes(place[0]) and not moved_variable(place[0])):
            match term:
                case Variable("_"):
                    continue
                case Variable(name) if name not in bound:
                    bound = {**bound, name: value}
                case Compound("+" | "-" as op, (Variable(name), Number(k))) | Compound(
                    "+" as op, (Number(k), Variable(name))
                ) if name not in bound:
                    back = computed("-" if op == "+" else "+", numeric(value), float(k))
                    bound = {**bound, name: back}
                case _:
                    conditions.append(same(self.term(term, kind, bound), value))
        return bound, every(conditions)


def same(left: Value, right: Value | None) -> Condition:
    """Are two values (of which one may be unknown) equal?"""
    if right is None:
        return True
    if isinstance(left, int) or isinstance(right, int):
        return left == right
    return compared("=:=", left, right)


def value_of(code: int, kind: str) -> Value:
    """The value of a code in a position of that kind."""
    return float(as_floats(np.array([code]))[0]) if kind == NUMBER else code


def numeric(value: Value) -> Expression:
    """A value where only numbers make sense."""
    if isinstance(value, int):
        raise Unknown
    return value


def _is_term(term: Term) -> bool:
    """A compound that stands for itself."""
    return isinstance(term, Compound) and is_ground(term) and signature(term) not in COMPUTED[Kind.LARS]


def _is_symbol(term: Term, other: Term | None, bound: Bound) -> bool:
    """Is a side of a comparison that is no variable a constant, because the other side is one?"""
    if isinstance(term, Compound) and not is_ground(term):
        return False
    if isinstance(other, Variable) and other.name in bound:
        return isinstance(bound[other.name], int)
    return isinstance(term, Atom)
