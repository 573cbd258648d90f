"""Rigid predicates: background facts and rules without time, evaluated once, before the stream begins.

Also the arithmetic of tests on constants, shared by everything that decides a test before the stream does.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from thalweg.analysis.order import strong_components
from thalweg.analysis.temporal import Signature
from thalweg.analysis.types import NAMED
from thalweg.answers.datalog import Datalog, Rule, Test, TimedAtom
from thalweg.answers.templates import Substitution
from thalweg.language.terms import EXACT, Atom, Compound, Number, Term, Variable, is_ground, variables

Row = tuple[Term, ...]
Background = Mapping[Signature, frozenset[Row]]

FUNCTIONS: Mapping[Signature, Callable[..., float]] = {
    ("+", 2): operator.add, ("-", 2): operator.sub, ("*", 2): operator.mul, ("/", 2): operator.truediv,
    ("//", 2): lambda a, b: math.copysign(1, a) * math.copysign(1, b) * (abs(a) // abs(b)),
    ("div", 2): operator.floordiv, ("mod", 2): operator.mod, ("rem", 2): math.fmod,
    ("min", 2): min, ("max", 2): max, ("**", 2): operator.pow, ("^", 2): operator.pow,
    ("abs", 1): abs, ("floor", 1): math.floor, ("ceiling", 1): math.ceil, ("sqrt", 1): math.sqrt,
    ("-", 1): operator.neg, ("round", 1): lambda a: math.trunc(a + math.copysign(0.49999999999999994, a)),
}  # fmt: skip
"""What `thalweg.columns.computing` does with columns, for single floats: the check loads no numerical library."""
ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "=<": operator.le, ">=": operator.ge, "=:=": operator.eq, "=\\=": operator.ne,
}  # fmt: skip
EQUAL = frozenset(["=", "==", "is"])
UNEQUAL = frozenset(["\\=", "\\=="])


def number_of(term: Term) -> float | None:
    """The value of a ground arithmetic term; None when it has none."""
    match term:
        case Number(value):
            return float(value)
        case Atom(name):
            return NAMED.get(name)
        case Compound(functor, args) if (functor, len(args)) in FUNCTIONS:
            of = [value for value in map(number_of, args) if value is not None]
            return _value(functor, *of) if len(of) == len(args) else None
        case _:
            return None


def _value(functor: str, *of: float) -> float | None:
    """What a computation comes to; None where that is no real number, or beyond the range of a float."""
    try:
        found = FUNCTIONS[functor, len(of)](*of)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(found, complex) or not (math.isfinite(found) or functor in ("min", "max")):
        return None
    return float(found)


def constant_of(term: Term) -> Term | None:
    """The constant that a ground term stands for."""
    if isinstance(term, (Atom, Number)):
        return term
    return _constant(number_of(term))


def given(op: str, term: Term) -> Term | None:
    """The constant that a variable gets from an equation with a ground term: with `is` always a number."""
    if op != "is":
        return constant_of(term)
    value = number_of(term)
    return None if value is None or math.isinf(value) else _constant(value)


def _constant(value: float | None) -> Term | None:
    if value is None:
        return None
    return Number(int(value)) if value.is_integer() and abs(value) < EXACT else Number(value)


def _as_number(term: Term | None) -> Term | None:
    """Beside an expression, `pi` and the like are numbers."""
    return _constant(NAMED[term.name]) if isinstance(term, Atom) and term.name in NAMED else term


def decide(test: Test) -> bool:
    """The truth of a ground test; a comparison of what has no value, or an order between things that are not numbers,
    is false."""
    if test.op in ORDERS or test.op == "is":
        a, b = number_of(test.left), number_of(test.right)
        holds = a is not None and b is not None and ORDERS["=:=" if test.op == "is" else test.op](a, b)
    else:
        left, right = constant_of(test.left), constant_of(test.right)
        if isinstance(test.left, Compound) or isinstance(test.right, Compound):
            left, right = _as_number(left), _as_number(right)
        holds = left is not None and right is not None and (left == right) == (test.op in EQUAL)
    return holds != test.negated


def known_operator(test: Test) -> bool:
    """True when the comparison is one that Temporal Datalog has."""
    return test.op in ORDERS or test.op in EQUAL or test.op in UNEQUAL


def background(datalog: Datalog) -> dict[Signature, frozenset[Row]]:
    """The extension of every rigid predicate that does not depend on the stream, bottom up by components."""
    rigid = {p for p in datalog.rules if p not in datalog.temporal} - stream_dependent(datalog)
    uses = {
        p: [a.predicate for r in datalog.rules[p] for a in atoms(r.body) if a.predicate in rigid]
        for p in rigid
    }
    known: dict[Signature, frozenset[Row]] = {}
    for component in strong_components(sorted(rigid), uses):
        known.update({p: frozenset[Row]() for p in component})
        growing = True
        while growing:
            growing = False
            for predicate in component:
                rows = {row for rule in datalog.rules[predicate] for row in _solve(rule, known)}
                if rows - known[predicate]:
                    known[predicate] |= rows
                    growing = any(p in component for p in uses[predicate]) or len(component) > 1
    return known


def stream_dependent(datalog: Datalog) -> set[Signature]:
    """Rigid predicates that some temporal atom can reach: they are resolved like temporal ones."""
    dependent: set[Signature] = set()
    while True:
        more = {
            p
            for p, rules in datalog.rules.items()
            if p not in datalog.temporal
            and any(a.time is not None or a.predicate in dependent for r in rules for a in atoms(r.body))
        }
        if more <= dependent:
            return dependent
        dependent |= more


def atoms(body: Iterable[TimedAtom | Test]) -> Iterator[TimedAtom]:
    """The atoms of a body."""
    return (c for c in body if isinstance(c, TimedAtom))


def _solve(rule: Rule, known: Background) -> Iterator[Row]:
    for found in _bindings(list(rule.body), known, Substitution.empty()):
        row = tuple(found.term(a) for a in rule.head.args)
        if all(is_ground(a) for a in row):
            yield row


def _bindings(body: list[TimedAtom | Test], known: Background, by: Substitution) -> Iterator[Substitution]:
    """Solutions of a rigid body; negated atoms and tests wait until they are ground."""
    ready = next((c for c in body if _is_ready(c, by)), None)
    if ready is None:
        if not body:
            yield by
        return
    rest = [c for c in body if c is not ready]
    match ready:
        case Test() if is_ground(by.expression(ready.left)) and is_ground(by.expression(ready.right)):
            if decide(by.test(ready)):
                yield from _bindings(rest, known, by)
        case Test(op):
            side, other = next(way for way in _ways(ready) if is_ground(by.expression(way[1])))
            value = given(op, by.expression(other))
            extended = by.copy()
            if value is not None and extended.unify(side, value):
                yield from _bindings(rest, known, extended)
        case TimedAtom(negated=True):
            if by.atom(ready).args not in known.get(ready.predicate, ()):
                yield from _bindings(rest, known, by)
        case TimedAtom():
            for extended in matches(ready, known.get(ready.predicate, frozenset()), by):
                yield from _bindings(rest, known, extended)


def unbound_in_background(rule: Rule) -> list[str]:
    """The variables of a rule without time that need a value and get none, so that the rule would never apply."""
    positive = [c for c in rule.body if isinstance(c, TimedAtom) and not c.negated]
    bound = {v.name for atom in positive for arg in atom.args for v in variables(arg)}
    equations = [c for c in rule.body if isinstance(c, Test) and c.op in EQUAL and not c.negated]
    for _ in equations:
        for test in equations:
            for side, other in _ways(test):
                if isinstance(side, Variable) and _names(other) <= bound:
                    bound.add(side.name)
    others = [c for c in rule.body if c not in positive]
    terms = [t for c in others for t in (c.args if isinstance(c, TimedAtom) else (c.left, c.right))]
    return list(dict.fromkeys(v.name for t in (*terms, *rule.head.args) for v in variables(t) if v.name not in bound))


def _ways(test: Test) -> tuple[tuple[Term, Term], ...]:
    """An equation as (variable, value): `is` computes its right side only."""
    there = (test.left, test.right)
    return (there,) if test.op == "is" else (there, (test.right, test.left))


def _names(term: Term) -> set[str]:
    return {v.name for v in variables(term)}


def _is_ready(condition: TimedAtom | Test, by: Substitution) -> bool:
    match condition:
        case Test(op):
            ways = _ways(condition) if op in EQUAL and not condition.negated else ()
            return all(is_ground(by.expression(side)) for side in (condition.left, condition.right)) or any(
                isinstance(side, Variable) and is_ground(by.expression(other)) for side, other in ways
            )
        case TimedAtom(negated=True):
            return all(is_ground(by.term(a)) for a in condition.args)
        case _:
            return True


def matches(atom: TimedAtom, rows: Iterable[Row], by: Substitution) -> Iterator[Substitution]:
    """The substitutions that make the atom one of the rows."""
    wanted = replace(atom, args=tuple(by.term(a) for a in atom.args))
    if all(is_ground(a) for a in wanted.args):
        if wanted.args in (rows if isinstance(rows, frozenset) else set(rows)):
            yield by
        return
    for row in rows:
        extended = by.copy()
        if all(extended.unify(a, b) for a, b in zip(wanted.args, row, strict=True)):
            yield extended
