"""Arithmetic and comparisons.

Numbers compare by value, `12 = 12.0`. They are computed as floats of 64 bits. Arithmetic on what is no number, a
division by zero, and what is beyond the range of a float make the condition false; they are not errors, since a stream
may bring anything.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from thalweg.reference.terms import (
    Ground,
    Signature,
    Subst,
    Term,
    Var,
    is_ground,
    number,
    order_key,
    resolve,
    signature,
    unify,
)


class Unbound(Exception):
    """A goal needs the value of a variable that has none yet."""


@dataclass(frozen=True)
class Test:
    """A comparison, a unification or `is`."""

    op: str
    left: Term
    right: Term


class NoNumber(ArithmeticError):
    """An arithmetic expression without a value."""


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def quotient(x: float, y: float) -> float:
    """Division that rounds towards zero."""
    return _sign(x) * _sign(y) * (abs(x) // abs(y))


def rounded(x: float) -> float:
    """The nearest whole number, of two the one further from zero."""
    return math.floor(abs(Fraction(x)) + Fraction(1, 2)) * _sign(x)


FUNCTIONS: dict[Signature, Callable[..., float]] = {
    ("+", 2): operator.add,
    ("-", 2): operator.sub,
    ("*", 2): operator.mul,
    ("/", 2): operator.truediv,
    ("//", 2): quotient,
    ("div", 2): operator.floordiv,
    ("mod", 2): operator.mod,
    ("rem", 2): math.fmod,
    ("**", 2): operator.pow,
    ("^", 2): operator.pow,
    ("min", 2): min,
    ("max", 2): max,
    ("atan2", 2): math.atan2,
    ("-", 1): operator.neg,
    ("+", 1): operator.pos,
    ("abs", 1): abs,
    ("sign", 1): _sign,
    ("floor", 1): math.floor,
    ("ceiling", 1): math.ceil,
    ("truncate", 1): math.trunc,
    ("integer", 1): rounded,
    ("round", 1): rounded,
    ("float", 1): float,
    ("sqrt", 1): math.sqrt,
    ("sin", 1): math.sin,
    ("cos", 1): math.cos,
    ("tan", 1): math.tan,
    ("asin", 1): math.asin,
    ("acos", 1): math.acos,
    ("atan", 1): math.atan,
    ("exp", 1): math.exp,
    ("log", 1): math.log,
}
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf}
_CHOOSING = ("min", "max")


def evaluate(term: Term) -> int | float:
    """The value of an arithmetic expression.

    >>> evaluate(("abs", ("-", 10, 350))), evaluate(("/", 6, 3))
    (340, 2)
    """
    if isinstance(term, Var):
        raise Unbound(term)
    if isinstance(term, (int, float)):
        return number(term)
    if isinstance(term, str) and term in CONSTANTS:
        return CONSTANTS[term]
    function = FUNCTIONS.get(signature(term)) if isinstance(term, tuple) else None
    if function is None:
        raise NoNumber(term)
    values = [float(evaluate(argument)) for argument in term[1:]]
    try:
        result = function(*values)
    except (ArithmeticError, ValueError) as problem:
        raise NoNumber(term) from problem
    if isinstance(result, complex) or not (math.isfinite(result) or term[0] in _CHOOSING):
        raise NoNumber(term)
    return number(float(result))


_NUMERIC: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "=<": operator.le,
    ">=": operator.ge,
    "=:=": operator.eq,
    "=\\=": operator.ne,
}
_BY_ORDER: dict[str, Callable[[Ground, Ground], bool]] = {
    "@<": operator.lt,
    "@>": operator.gt,
    "@=<": operator.le,
    "@>=": operator.ge,
}


def compare(test: Test, subst: Subst) -> Iterator[Subst]:
    """The ways to make a comparison true: at most one."""
    left, right = resolve(test.left, subst), resolve(test.right, subst)
    try:
        if test.op == "=":
            extended = unify(*_sides(test, left, right), subst)
        elif test.op == "is":
            extended = unify(left, _finite(evaluate(right)), subst)
        else:
            extended = subst if _true(test, left, right) else None
    except NoNumber:
        return
    if extended is not None:
        yield extended


def _sides(test: Test, left: Term, right: Term) -> tuple[Term, Term]:
    """What the sides of an equation or an order stand for: a computation for its result, beside one `pi` and the like
    for their values, everything else for itself; so does a term that is the value of a variable."""
    computed = _computes(test.left), _computes(test.right)
    if not any(computed):
        return left, right
    one, other = (
        evaluate(term) if computes or _is_named(term) else term
        for term, computes in zip((left, right), computed, strict=True)
    )
    return one, other


def _computes(term: Term) -> bool:
    return isinstance(term, tuple) and signature(term) in FUNCTIONS


def _is_named(term: Term) -> bool:
    return isinstance(term, str) and term in CONSTANTS


def _finite(value: int | float) -> int | float:
    if not math.isfinite(value):
        raise NoNumber(value)
    return value


def _true(test: Test, left: Term, right: Term) -> bool:
    op = test.op
    if not (is_ground(left) and is_ground(right)):
        raise Unbound((op, left, right))
    if op in _NUMERIC:
        return _NUMERIC[op](evaluate(left), evaluate(right))
    one, other = _sides(test, left, right)
    if op in _BY_ORDER:
        return _BY_ORDER[op](order_key(one), order_key(other))
    if op in ("==", "\\==", "\\="):
        return bool(one == other) == (op == "==")
    raise NotImplementedError(f"no comparison {op!r}")
