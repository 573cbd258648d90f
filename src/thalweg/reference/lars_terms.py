"""Terms of LARS programs, for the definition: texts, values, matching, comparisons."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from thalweg.language.rules import Compare
from thalweg.language.terms import Atom, Compound, Number, Term, Variable, arguments, signature, variables
from thalweg.reference import arithmetic
from thalweg.reference.terms import number as one_form

Bindings = Mapping[str, Term]
_PLAIN = re.compile(r"[a-z]\w*\Z", re.ASCII)


def text(term: Term) -> str:
    """Canonical text of a ground term, as tables show it; the order of texts is the order in which tuple windows
    cut."""
    match term:
        case Number(value):
            return repr(one_form(value))
        case Compound(functor, args):
            return f"{functor}({','.join(map(text, args))})"
        case Atom(name):
            return name if _PLAIN.match(name) else "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case _:
            raise TypeError(f"{term!r} is not ground")


def evaluate(term: Term, bound: Bindings) -> int | float:
    """The value of an arithmetic expression."""
    match term:
        case Number(value):
            return value
        case Variable(name) if isinstance(bound.get(name), Number) or bound.get(name) == Atom("inf"):
            return evaluate(bound[name], bound)
        case Atom(name):
            return _evaluated(name)
        case Compound(functor, args):
            return _evaluated((functor, *(evaluate(a, bound) for a in args)))
    raise ValueError(f"{term!r} has no value")


def _evaluated(term: object) -> int | float:
    try:
        return arithmetic.evaluate(term)
    except arithmetic.NoNumber as problem:
        raise ValueError(f"{term!r} has no value") from problem


def number(value: int | float) -> Number:
    return Number(one_form(value))


def value_of(term: Term, bound: Bindings) -> Term:
    """What a term stands for: a computation for its result, everything else for itself."""
    if isinstance(term, Compound) and signature(term) in arithmetic.FUNCTIONS:
        return number(evaluate(term, bound))
    return substitute(term, bound)


def substitute(term: Term, bound: Bindings) -> Term:
    match term:
        case Variable(name):
            return bound.get(name, term)
        case Compound(functor, args):
            return Compound(functor, tuple(substitute(a, bound) for a in args))
        case Number(value):
            return number(value)
        case _:
            return term


def computes(term: Term) -> bool:
    """An expression whose value does not say what its variables are."""
    match term:
        case Compound("+" | "-", (Variable(), Number())) | Compound("+", (Number(), Variable())):
            return False
        case _:
            return isinstance(term, Compound)


def match_term(pattern: Term, term: Term, bound: Bindings) -> Bindings | None:
    """The bindings that make the pattern equal to a ground term; time terms ``T+k`` are solved for ``T``,
    other computations come last."""
    match pattern:
        case Variable("_"):
            return bound
        case Variable(name) if name not in bound:
            return {**bound, name: term}
        case Compound("+", (Number(k), Variable(name))) if isinstance(term, Number):
            return match_term(Variable(name), number(term.value - k), bound)
        case Compound("+" | "-" as op, (Variable(name), Number(k))) if isinstance(term, Number):
            value = number(term.value - k if op == "+" else term.value + k)
            return match_term(Variable(name), value, bound)
        case Compound(functor, args) if not isinstance(term, Number):
            if signature(term) != (functor, len(args)):
                return None
            for p, a in sorted(zip(args, arguments(term), strict=True), key=lambda pair: computes(pair[0])):
                found = match_term(p, a, bound)
                if found is None:
                    return None
                bound = found
            return bound
        case Compound() if isinstance(term, Number) and all(v.name in bound for v in variables(pattern)):
            try:
                return bound if value_of(pattern, bound) == term else None
            except ValueError:
                return None
        case _:
            return bound if substitute(pattern, bound) == term else None


def _as_number(term: Term) -> Term:
    """Beside a computation, `pi` and the like are numbers."""
    return number(evaluate(term, {})) if isinstance(term, Atom) and term.name in arithmetic.CONSTANTS else term


def _true(op: str, left: Term, right: Term, bound: Bindings) -> bool:
    if op in ("=", "==", "\\=", "\\==") or op.startswith("@"):
        one, other = (value_of(side, bound) for side in (left, right))
        if isinstance(left, Compound) or isinstance(right, Compound):
            one, other = (_as_number(side) for side in (one, other))
        if not op.startswith("@"):
            return (one == other) == (op in ("=", "=="))
        first, second = _standard(one), _standard(other)
        return {"@<": first < second, "@>": first > second, "@=<": first <= second, "@>=": first >= second}[op]
    a, b = evaluate(left, bound), evaluate(right, bound)
    return {"<": a < b, ">": a > b, "=<": a <= b, ">=": a >= b, "=:=": a == b, "=\\=": a != b}[op]


def _standard(term: Term) -> tuple[Any, ...]:
    """The place of a constant in the standard order: numbers by value, then names by alphabet, then compounds by arity,
    name and arguments."""
    match term:
        case Number(value):
            return 0, value
        case Atom(name):
            return 1, name
        case Compound(functor, args):
            return 2, len(args), functor, *map(_standard, args)
    raise TypeError(f"{term!r} is not ground")


def compare(literal: Compare, bound: Bindings) -> Iterator[Bindings]:
    try:
        match literal:
            case Compare("=", Variable(name), right, negated=False) if name not in bound:
                yield {**bound, name: value_of(right, bound)}
            case Compare("=", left, Variable(name), negated=False) if name not in bound:
                yield {**bound, name: value_of(left, bound)}
            case Compare("is", Variable(name), right) if name not in bound:
                value = evaluate(right, bound)
                if math.isfinite(value):
                    yield {**bound, name: number(value)}
            case Compare("is", left, right):
                if evaluate(left, bound) == evaluate(right, bound):
                    yield bound
            case Compare(op, left, right):
                if _true(op, left, right, bound):
                    yield bound
    except ValueError:
        return
