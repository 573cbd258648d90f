"""Comparisons and computations of a body as tests on its slots.

Where the slots are is known when the body is complete: a test is made when it is told their places.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from thalweg.analysis.types import COMPUTED, NAMED, NUMBER, SYMBOL
from thalweg.columns.symbols import number
from thalweg.language.rules import Compare, Kind
from thalweg.language.terms import Atom, Compound, Number, Term, Variable, is_ground
from thalweg.lars import steps
from thalweg.lars.codes import Codes
from thalweg.lars.conditions import ORDER
from thalweg.lars.rule import Option, Test, computing, ordered

Placed = Callable[[Callable[[int], int]], Test]
"""A test, once it is known where each slot is in the end."""

_BINARY = {
    "+": steps.ADD,
    "-": steps.SUB,
    "*": steps.MUL,
    "/": steps.DIV,
    "//": steps.INT_DIV,
    "div": steps.FLOOR_DIV,
    "mod": steps.MOD,
    "min": steps.MIN,
    "max": steps.MAX,
    "**": steps.POWER,
    "^": steps.POWER,
}
_UNARY = {
    "-": steps.NEG,
    "abs": steps.ABS,
    "floor": steps.FLOOR,
    "ceiling": steps.CEILING,
    "round": steps.ROUND,
    "truncate": steps.TRUNCATE,
    "integer": steps.ROUND,
    "sqrt": steps.SQRT,
}
_NUMERIC = {"<": steps.LT, "=<": steps.LE, ">": steps.GT, ">=": steps.GE, "=:=": steps.EQ, "=\\=": steps.NE}
_OPPOSITE = {
    "<": ">=", ">=": "<", ">": "=<", "=<": ">", "=:=": "=\\=", "=\\=": "=:=", "=": "\\=", "\\=": "=", "==": "\\==",
    "\\==": "==", "is": "=\\=", "@<": "@>=", "@>=": "@<", "@>": "@=<", "@=<": "@>",
}  # fmt: skip
_AS_NUMBERS = {"=": "=:=", "==": "=:=", "is": "=:=", "\\=": "=\\=", "\\==": "=\\="}
_SHIFT = 65536


class Unsupported(Exception):
    """A form that the checker should have refused; `term` is where it stands."""

    def __init__(self, message: str, term: Term) -> None:
        self.term = term
        super().__init__(message)


class Comparisons:
    """Makes the tests of one body. `slot` gives a term of a kind its slot there, `kind` is that of a variable."""

    def __init__(self, slot: Callable[[Term, str], int], kind: Callable[[Variable], str], codes: Codes) -> None:
        self._slot, self._kind, self._codes = slot, kind, codes

    def compare(self, literal: Compare) -> Placed:
        """A comparison; one that gives a variable its value may do that too."""
        op = _OPPOSITE[literal.op] if literal.negated else literal.op
        left, right = literal.left, literal.right
        if op.startswith("@"):
            return self._standard(op, left, right)
        if literal.op in _NUMERIC or literal.op == "is" or NUMBER in (self._sort(left), self._sort(right)):
            if literal.op in ("=", "==", "is") and not literal.negated:
                return self.equation(self._slot(left, NUMBER), right)
            asked = _AS_NUMBERS.get(literal.op, literal.op)
            return self._numeric(asked, left, right, negated=literal.negated)
        a, b = self._slot(left, SYMBOL), self._slot(right, SYMBOL)
        return _same(a, b) if op in ("=", "==") else _different(a, b)

    def _sort(self, term: Term) -> str:
        match term:
            case Variable():
                return self._kind(term)
            case Compound() if not is_ground(term) or (term.functor, len(term.args)) in COMPUTED[Kind.LARS]:
                return NUMBER
            case _:
                return SYMBOL

    def _standard(self, op: str, left: Term, right: Term) -> Placed:
        kinds = self._sort(left), self._sort(right)
        mixed = NUMBER in kinds and any(
            k == SYMBOL and isinstance(side, Variable) for k, side in zip(kinds, (left, right), strict=True)
        )
        if NUMBER in kinds and not mixed:
            named = [k == SYMBOL and not isinstance(t, Number) for k, t in zip(kinds, (left, right), strict=True)]
            if any(named):  # numbers come before names and terms
                before = Number(0 if named[1] else 1)
                return self._numeric(ORDER[op], before, Number(0.5))
            return self._numeric(ORDER[op], left, right)
        a, b = self._slot(left, kinds[0]), self._slot(right, kinds[1])
        ranks = partial(self._codes.ranks, kinds=kinds)

        def make(place: Callable[[int], int]) -> Test:
            step = ordered(op, place(a), place(b), ranks)
            return Test((Option(frozenset({place(a), place(b)}), None, step),))

        return make

    def _numeric(self, op: str, left: Term, right: Term, *, negated: bool = False) -> Placed:
        code = [*self._code(left), *self._code(right), (_NUMERIC[op], int(negated))]

        def make(place: Callable[[int], int]) -> Test:
            placed = _placed(code, place)
            return Test((Option(_needs(placed), None, computing(placed)),))

        return make

    def equation(self, slot: int, term: Term) -> Placed:
        """slot = term, usable as a test, to compute the slot, or, for ``V + k``, to compute V from the slot."""
        code = self._code(term)
        options = [
            ([(steps.PUSH_SLOT, slot), *code, (steps.EQ, 0)], None),
            ([*code, (steps.ASSIGN, slot)], slot),
        ]
        match term:
            case Compound("+" | "-" as op, (Variable(name), Number(k))) | Compound(
                "+" as op, (Number(k), Variable(name))
            ):
                back = steps.SUB if op == "+" else steps.ADD
                source = self._slot(Variable(name), NUMBER)
                inverse = [
                    (steps.PUSH_SLOT, slot),
                    (steps.PUSH_CONST, number(k)),
                    (back, 0),
                    (steps.ASSIGN, source),
                ]
                options.append((inverse, source))
            case Variable(name):
                source = self._slot(term, NUMBER)
                options.append(([(steps.PUSH_SLOT, slot), (steps.ASSIGN, source)], source))
            case _:
                pass

        def make(place: Callable[[int], int]) -> Test:
            found = []
            for instructions, gives in options:
                placed = _placed(instructions, place)
                found.append(
                    Option(_needs(placed), None if gives is None else place(gives), computing(placed))
                )
            return Test(tuple(found))

        return make

    def _code(self, term: Term) -> list[tuple[int, int]]:
        """Instructions that push the value of a term."""
        match term:
            case Number(value):
                return [(steps.PUSH_CONST, number(value))]
            case Variable():
                return [(steps.PUSH_SLOT, self._slot(term, NUMBER))]
            case Atom(name) if name in NAMED:
                return [(steps.PUSH_CONST, number(NAMED[name]))]
            case Compound(functor, (only,)) if functor in _UNARY:
                return [*self._code(only), (_UNARY[functor], 0)]
            case Compound(functor, (left, right)) if functor in _BINARY:
                return [*self._code(left), *self._code(right), (_BINARY[functor], 0)]
            case _:
                raise Unsupported("this cannot be computed", term)


def _placed(code: list[tuple[int, int]], place: Callable[[int], int]) -> list[tuple[int, int]]:
    with_slots = (steps.PUSH_SLOT, steps.ASSIGN)
    return [(op, place(arg) if op in with_slots else arg) for op, arg in code]


def _needs(code: list[tuple[int, int]]) -> frozenset[int]:
    return frozenset(arg for op, arg in code if op == steps.PUSH_SLOT)


def _same(left: int, right: int) -> Placed:
    def make(place: Callable[[int], int]) -> Test:
        a, b = place(left), place(right)
        test = computing([(steps.SAME, a * _SHIFT + b)])
        return Test(
            (
                Option(frozenset({a, b}), None, test),
                Option(frozenset({a}), b, computing([(steps.COPY, b * _SHIFT + a)])),
                Option(frozenset({b}), a, computing([(steps.COPY, a * _SHIFT + b)])),
            )
        )

    return make


def _different(left: int, right: int) -> Placed:
    def make(place: Callable[[int], int]) -> Test:
        a, b = place(left), place(right)
        return Test((Option(frozenset({a, b}), None, computing([(steps.DIFFERENT, a * _SHIFT + b)])),))

    return make
