"""Conditions on the tick: what is true at which ticks, as a function of now, and when that next changes.

A condition compares expressions over now, says that now is in certain intervals, or combines such. It can be asked for
many ticks at once (`truths`) and for all ticks of an interval at once (`sure`: true, false, or not the same everywhere
as far as one can see). The second is done by interval arithmetic in the same float operations as the first; they are
monotone, so what it says is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.columns import computing
from thalweg.columns.computing import Floats
from thalweg.lars.labels import FOREVER

Bools = npt.NDArray[np.bool_]
Span = tuple[float, float]

# --------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A polynomial of now with whole coefficients, the constant one first; the last is not 0."""

    terms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Computed:
    """An operation that makes no polynomial."""

    op: str
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Picked:
    """One value at the ticks at which a condition is true, another at the others."""

    condition: Condition
    then: Expression
    other: Expression


Expression = float | Polynomial | Computed | Picked
NOW = Polynomial((0.0, 1.0))


def picked(condition: Condition, then: Expression, other: Expression) -> Expression:
    """One value where a condition is true, else another."""
    if isinstance(condition, bool):
        return then if condition else other
    return then if then == other else Picked(condition, then, other)


def computed(op: str, *parts: Expression) -> Expression:
    """The value of an operation, as simple as it can be written; a value that does not exist is not a number."""
    if all(isinstance(p, float) for p in parts):
        return float(computing.computed(op, *(p for p in parts if isinstance(p, float))))
    if op in _ROUNDING and _whole(parts[0]):
        return parts[0]
    if op == "**" and isinstance(parts[0], Polynomial) and isinstance(parts[1], float) and parts[1] in _SMALL:
        product: Expression = 1.0
        for _ in range(int(parts[1])):
            product = computed("*", product, parts[0])
        return product
    if op in ("+", "-", "*"):
        whole = [_terms(p) for p in parts]
        if all(w is not None for w in whole) and sum(len(w) - 1 for w in whole if w) <= _LONGEST:
            return _polynomial(op, [w for w in whole if w is not None])
    return Computed(op, parts)


def divided(left: Expression, right: Expression) -> Expression:
    """Division that rounds downwards."""
    if _whole(right):
        return computed("floor", computed("/", left, right))
    return computed("round", computed("/", computed("-", left, computed("mod", left, right)), right))


def _terms(part: Expression) -> tuple[float, ...] | None:
    if isinstance(part, Polynomial):
        return part.terms
    return (part,) if isinstance(part, float) and part.is_integer() else None


def _polynomial(op: str, parts: list[tuple[float, ...]]) -> Expression:
    left = np.array(parts[0])
    if len(parts) == 1:
        found = -left
    elif op == "*":
        found = np.convolve(left, parts[1])
    else:
        found = np.zeros(max(map(len, parts)))
        found[: len(left)] = left
        found[: len(parts[1])] += np.array(parts[1]) * (1 if op == "+" else -1)
    size = int(np.flatnonzero(found)[-1]) + 1 if found.any() else 1
    terms = tuple(found[:size].tolist())
    return terms[0] if size == 1 else Polynomial(terms)


_SMALL = frozenset(range(8))
"""Powers that are written out."""
_LONGEST = 16
"""Polynomials of this degree have a value at every tick."""
_NEVER_FAR = 3
"""Powers of this degree have one for all that is not itself a high power."""
_ROUNDING = {"floor", "ceiling", "round", "truncate"}
_MONOTONE = _ROUNDING | {"min", "max"}


def values(expression: Expression, ticks: Floats) -> Floats:
    """The values at ticks; not a number where there is none."""
    match expression:
        case Polynomial(terms):
            found: Floats = np.polynomial.polynomial.polyval(ticks, np.array(terms))
            return found
        case Computed(op, parts):
            return computing.computed(op, *(values(p, ticks) for p in parts))
        case Picked(condition, then, other):
            either: Floats = np.where(truths(condition, ticks), values(then, ticks), values(other, ticks))
            return either
        case _:
            return np.full(len(ticks), expression)


def span(expression: Expression, first: float, last: float) -> Span | None:
    """Bounds of the values at the ticks from `first` through `last` (perhaps infinite); None where some may not
    exist, or nothing is known."""
    match expression:
        case Polynomial(terms):
            found: Span | None = (terms[-1], terms[-1])
            for term in reversed(terms[:-1]):
                found = _bounded("+", _bounded("*", found, (first, last)), (term, term))
            return found
        case Computed("mod", (_, float(m))) if m >= 1 and _whole(expression):
            found = _bounded("mod", span(expression.parts[0], first, last), (m, m))
            return None if found is None else (found[0], min(found[1], m - 1))
        case Computed(op, parts):
            return _bounded(op, *(span(p, first, last) for p in parts))
        case Picked(condition, then, other):
            known = sure(condition, int(first), FOREVER if math.isinf(last) else int(last))
            one = span(then, first, last) if known is not False else None
            two = span(other, first, last) if known is not True else None
            if known is not None or one is None or two is None:
                return one if known else two if known is False else None
            return min(one[0], two[0]), max(one[1], two[1])
        case _:
            return None if math.isnan(expression) else (expression, expression)


def _whole(expression: Expression) -> bool:
    """Are all its values whole numbers, as far as one can see?"""
    match expression:
        case Computed("floor" | "ceiling" | "round" | "truncate" | "//"):
            return True
        case Computed("+" | "-" | "*" | "mod" | "min" | "max" | "abs", parts):
            return all(map(_whole, parts))
        case Picked(_, then, other):
            return _whole(then) and _whole(other)
        case _:
            return _terms(expression) is not None


def _bounded(op: str, *given: Span | None) -> Span | None:
    parts = [g for g in given if g is not None]
    if len(parts) < len(given):
        return None
    found = _BOUNDS[op](*parts) if op in _BOUNDS else None
    if op in _MONOTONE:
        low, high = (float(computing.FUNCTIONS[op, len(parts)](*(p[i] for p in parts))) for i in (0, 1))
        found = low, high
    if found is None or math.isnan(found[0]) or math.isnan(found[1]):
        return None
    return None if _infinite(found) and not any(map(_infinite, parts)) else found  # some have no value


def _infinite(bounds: Span) -> bool:
    return math.isinf(bounds[0]) or math.isinf(bounds[1])


def _product(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _products(x: Span, y: Span) -> Span:
    every = [_product(a, b) for a in x for b in y]
    return min(every), max(every)


def _ratios(x: Span, y: Span) -> Span | None:
    if y[0] <= 0 <= y[1]:
        return None
    every = [r for a in x for b in y for r in ((0.0, a * b) if math.isinf(a) and math.isinf(b) else (a / b,))]
    return min(every), max(every)


def _whole_ratios(x: Span, y: Span) -> Span | None:
    found = _ratios(x, y)
    if found is None or _infinite(x) or _infinite(y):
        return None if found is None else (_truncated(found[0]), _truncated(found[1]))
    every = [float(computing.computed("//", a, b)) for a in x for b in y]
    return min(every), max(every)


def _truncated(x: float) -> float:
    return x if math.isinf(x) else float(math.trunc(x))


def _remainders(x: Span, y: Span) -> Span | None:
    m = y[0]
    if m != y[1] or m == 0 or math.isinf(m):
        return None
    if not math.isinf(x[0]) and not math.isinf(x[1]) and x[0] // m == x[1] // m:
        return x[0] % m, x[1] % m
    return min(0.0, m), max(0.0, m)


def _powers(x: Span, y: Span) -> Span | None:
    if (_infinite(x) or _infinite(y)) and not (y[0] == y[1] and 0 <= y[0] <= _NEVER_FAR):
        return None  # sooner or later there is no value
    if y[0] != y[1] or y[0] != math.floor(y[0]) or y[0] < 0:
        return None if x[0] < 1 or y[0] < 0 else (_power(x[0], y[0]), _power(x[1], y[1]))
    every = _power(x[0], y[0]), _power(x[1], y[0])
    return (0.0 if x[0] <= 0 <= x[1] and y[0] % 2 == 0 < y[0] else min(every)), max(every)


def _power(base: float, exponent: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.power(base, exponent))


def _absolute(x: Span) -> Span:
    low = 0.0 if x[0] <= 0 <= x[1] else min(abs(x[0]), abs(x[1]))
    return low, max(abs(x[0]), abs(x[1]))


_BOUNDS: dict[str, Callable[..., Span | None]] = {
    "+": lambda x, y=(0.0, 0.0): (x[0] + y[0], x[1] + y[1]),
    "-": lambda x, y=None: (-x[1], -x[0]) if y is None else (x[0] - y[1], x[1] - y[0]),
    "*": _products,
    "/": _ratios,
    "//": _whole_ratios,
    "mod": _remainders,
    "**": _powers,
    "abs": _absolute,
    "sqrt": lambda x: None if x[0] < 0 else (math.sqrt(x[0]), math.sqrt(x[1])),
}

# --------------------------------------------------------------------------- conditions


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison; false where a value does not exist."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Within:
    """Now is in one of these intervals, which are sorted and do not touch."""

    intervals: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Recurring:
    """Now is in one of the intervals, or a whole number of periods after a tick from `begin` on that is. The intervals
    are sorted, do not touch and end before `begin + period`."""

    intervals: tuple[tuple[int, int], ...]
    begin: int
    period: int


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition


Condition = bool | Compared | Within | Recurring | Every | Some | Not

_COMPARE: dict[str, Callable[[Floats, Floats], Bools]] = {
    "<": np.less,
    "=<": np.less_equal,
    "=:=": np.equal,
    "=\\=": lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b),
}
_NUMBERS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "=<": lambda a, b: a <= b,
    "=:=": lambda a, b: a == b,
    "=\\=": lambda a, b: a != b and not math.isnan(a) and not math.isnan(b),
}
_TURNED = {">": "<", ">=": "=<"}


def compared(op: str, left: Expression, right: Expression) -> Condition:
    """A comparison, decided where it does not depend on now."""
    if op in _TURNED:
        op, left, right = _TURNED[op], right, left
    if isinstance(left, float) and isinstance(right, float):
        return _NUMBERS[op](left, right)
    if _terms(left) is not None and _terms(right) is not None:
        left, right = computed("-", left, right), 0.0
        if isinstance(left, float):
            return compared(op, left, right)
    return Compared(op, left, right)


OPPOSITE = {"<": ">=", ">=": "<", ">": "=<", "=<": ">", "=:=": "=\\=", "=\\=": "=:="}
ORDER = {"@<": "<", "@>": ">", "@=<": "=<", "@>=": ">="}
"""Comparisons in the standard order, and what they are among numbers."""


def opposed(op: str, left: Expression, right: Expression) -> Condition:
    """That a comparison is false, as it is where a side has no value."""
    if _total(left) and _total(right):
        return compared(OPPOSITE[op], left, right)
    return no(compared(op, left, right))


def exists(expression: Expression) -> Condition:
    """Has it a value?"""
    return True if _total(expression) else Compared("=:=", expression, expression)


def _total(expression: Expression) -> bool:
    """Has it a value at every tick, as far as one can see?"""
    match expression:
        case Polynomial():
            return True
        case Computed("/" | "//" | "mod", (dividend, divisor)):
            return isinstance(divisor, float) and divisor != 0 and _total(dividend)
        case Computed("**" | "sqrt"):
            return False
        case Computed(_, parts):
            return all(map(_total, parts))
        case Picked(_, then, other):
            return _total(then) and _total(other)
        case _:
            return not math.isnan(expression)


def every(parts: Iterable[Condition]) -> Condition:
    """All of them."""
    flat = (q for p in parts for q in (p.parts if isinstance(p, Every) else (p,)))
    kept = tuple(dict.fromkeys(p for p in flat if p is not True))
    if any(p is False for p in kept):
        return False
    return True if not kept else kept[0] if len(kept) == 1 else Every(kept)


def some(parts: Iterable[Condition]) -> Condition:
    """At least one of them."""
    flat = (q for p in parts for q in (p.parts if isinstance(p, Some) else (p,)))
    kept = tuple(dict.fromkeys(p for p in flat if p is not False))
    if any(p is True for p in kept):
        return True
    return False if not kept else kept[0] if len(kept) == 1 else Some(kept)


def no(part: Condition) -> Condition:
    """The opposite."""
    return not part if isinstance(part, bool) else part.part if isinstance(part, Not) else Not(part)


def truths(condition: Condition, ticks: Floats) -> Bools:
    """Whether it is true, at each of the ticks."""
    match condition:
        case Compared(op, left, right):
            return _COMPARE[op](values(left, ticks), values(right, ticks))
        case Within(intervals):
            bounds = np.array(intervals, np.float64)
            at = np.searchsorted(bounds[:, 0], ticks, side="right") - 1
            found: Bools = (at >= 0) & (ticks <= bounds[at, 1])
            return found
        case Recurring(intervals, begin, period):
            turned = np.where(ticks < begin, ticks, begin + np.mod(ticks - begin, period))
            return truths(Within(intervals), turned)
        case Every(parts):
            all_of: Bools = np.all([truths(p, ticks) for p in parts], axis=0)
            return all_of
        case Some(parts):
            one_of: Bools = np.any([truths(p, ticks) for p in parts], axis=0)
            return one_of
        case Not(part):
            return ~truths(part, ticks)
        case _:
            return np.full(len(ticks), condition)


def sure(condition: Condition, first: int, last: int) -> bool | None:
    """True or false where it is that at every tick from `first` through `last` (FOREVER: at all later ones)."""
    match condition:
        case Compared(op, left, right):
            end = math.inf if last >= FOREVER else float(last)
            bounds = span(left, float(first), end)
            if left == right:
                return None if bounds is None else op in ("=:=", "=<")
            return _decided(op, bounds, span(right, float(first), end))
        case Within(intervals):
            if any(a <= first and last <= b for a, b in intervals):
                return True
            return None if any(a <= last and first <= b for a, b in intervals) else False
        case Recurring():
            return _recurring(condition, first, last)
        case Every(parts):
            return _all_of(sure(p, first, last) for p in parts)
        case Some(parts):
            return _opposite(_all_of(_opposite(sure(p, first, last)) for p in parts))
        case Not(part):
            return _opposite(sure(part, first, last))
        case _:
            return condition


def _recurring(condition: Recurring, first: int, last: int) -> bool | None:
    intervals, begin, period = Within(condition.intervals), condition.begin, condition.period
    if first < begin <= last:
        return _agreed(_recurring(condition, first, begin - 1), _recurring(condition, begin, last))
    if first < begin:
        return sure(intervals, first, last)
    end = begin + period - 1
    if last - first >= period:
        return sure(intervals, begin, end)
    first, last = (begin + (t - begin) % period for t in (first, last))
    if first <= last:
        return sure(intervals, first, last)
    return _agreed(sure(intervals, first, end), sure(intervals, begin, last))


def _agreed(one: bool | None, other: bool | None) -> bool | None:
    return one if one is other else None


def _opposite(known: bool | None) -> bool | None:
    return None if known is None else not known


def _all_of(known: Iterable[bool | None]) -> bool | None:
    found: bool | None = True
    for one in known:
        if one is False:
            return False
        found = None if one is None else found
    return found


def _decided(op: str, left: Span | None, right: Span | None) -> bool | None:
    if left is None or right is None:
        return None
    below, above = left[1] < right[0], left[0] > right[1]
    match op:
        case "<":
            return True if below else False if left[0] >= right[1] else None
        case "=<":
            return True if left[1] <= right[0] else False if above else None
        case "=:=":
            return False if below or above else True if left == right and left[0] == left[1] else None
        case _:
            return _opposite(_decided("=:=", left, right))
