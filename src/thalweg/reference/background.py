"""Background knowledge: facts and rules, arithmetic, comparisons, lists; by plain SLD resolution.

Numbers compare by value, `12 = 12.0`. They are computed as floats of 64 bits. Arithmetic on what is no number, a
division by zero, and what is beyond the range of a float make the condition false; they are not errors, since a stream
may bring anything.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from thalweg.language import rules as language
from thalweg.reference.bodies import Fact, Goals, Test, Unbound, read_body, solve
from thalweg.reference.terms import (
    EMPTY,
    LIST,
    Ground,
    Reader,
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
    variables,
)

# --------------------------------------------------------------------------- arithmetic and comparison


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


# --------------------------------------------------------------------------- lists


def _items(term: Term) -> tuple[Ground, ...]:
    if not is_ground(term):
        raise Unbound(term)
    return term[1:] if isinstance(term, tuple) and term[0] == LIST else ()


def _sum(items: tuple[Ground, ...]) -> Ground | None:
    return number(float(sum(items))) if all(isinstance(i, (int, float)) for i in items) else None


def _extreme(choose: Callable[..., float]) -> Callable[[tuple[Ground, ...]], Ground | None]:
    return lambda items: choose(items) if items and _sum(items) is not None else None


_LIST_VALUES: dict[str, Callable[[tuple[Ground, ...]], Ground | None]] = {
    "length": len,
    "sum_list": _sum,
    "sumlist": _sum,
    "max_list": _extreme(max),
    "min_list": _extreme(min),
}


def _builtin(goal: Term) -> Iterator[Ground] | None:
    """The true instances of a built-in goal, or None where the predicate is not built in."""
    match goal:
        case "true":
            return iter([goal])
        case (("length" | "sum_list" | "sumlist" | "max_list" | "min_list") as name, items, _):
            value = _LIST_VALUES[name](_items(items))
            return iter([] if value is None else [(name, items, value)])
        case ("member", _, items):
            return iter([("member", item, items) for item in _items(items)])
    return None


# --------------------------------------------------------------------------- resolution


class Knowledge:
    """The background clauses of a program. Also a world of its own, in which nothing happens and nothing holds."""

    def __init__(self, clauses: Iterable[language.Clause], reader: Reader) -> None:
        self._clauses: dict[Signature, list[tuple[Term, tuple[Goals, ...]]]] = {}
        self._copies = itertools.count(1)
        for clause in clauses:
            head = reader.term(clause.head)
            self._clauses.setdefault(signature(head), []).append((head, read_body(clause.body, reader)))

    def with_facts(self, facts: Iterable[Ground]) -> Knowledge:
        """The same knowledge and some more facts: the extensions of dynamic domains."""
        more = Knowledge((), Reader())
        more._copies = self._copies
        more._clauses = {key: list(clauses) for key, clauses in self._clauses.items()}
        for fact in facts:
            more._clauses.setdefault(signature(fact), []).append((fact, ((),)))
        return more

    def heads(self) -> list[Term]:
        """What the clauses are about."""
        return [head for clauses in self._clauses.values() for head, _ in clauses]

    def answers(self, fact: Fact, subst: Subst) -> Iterator[Subst]:
        if fact.kind != "call":
            return
        goal = resolve(fact.terms[0], subst)
        instances = _builtin(goal)
        for instance in instances if instances is not None else self._instances(goal):
            extended = unify(goal, instance, subst)
            if extended is not None:
                yield extended

    def compare(self, test: Test, subst: Subst) -> Iterator[Subst]:
        return compare(test, subst)

    def _instances(self, goal: Term) -> Iterator[Term]:
        """The true instances of a goal. Each clause is solved in a world of variables of its own: the goal's
        variables are renamed on the way in, those that are left in the answer on the way out."""
        question = self._renamed(goal)
        for head, alternatives in self._clauses.get(signature(goal), ()):
            entered = unify(head, question, EMPTY)
            if entered is None:
                continue
            for answer in solve(alternatives, entered, self):
                yield self._renamed(resolve(question, answer))

    def _renamed(self, term: Term) -> Term:
        fresh = {variable: Var("/", next(self._copies)) for variable in variables(term)}
        return resolve(term, fresh)
