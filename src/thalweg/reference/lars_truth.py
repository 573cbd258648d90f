"""Truth of literals and bodies on a stream, as SEMANTICS 3.1 and 3.2 define it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from thalweg.language.rules import Aggregate, Call, Clause, Compare, Literal, Windowed, literal_terms
from thalweg.language.terms import Compound, Number, Term, Variable, arguments, signature, variables
from thalweg.reference.lars_streams import Stream, pick
from thalweg.reference.lars_terms import (
    Bindings,
    compare,
    computes,
    evaluate,
    match_term,
    number,
    text,
    value_of,
)

Head = tuple[int | None, Term]
"""An atom that a rule derives: at a point, or (None) at the point of evaluation."""


def aggregate(
    literal: Aggregate, stream: Stream, t: int, bound: Bindings, shared: frozenset[str], given: frozenset[str]
) -> Iterator[Bindings]:
    """Over the occurrences of the atom (atoms at points); variables used elsewhere in the rule make groups. A group may
    be empty where atoms of the rule give its variables."""
    window = pick(stream, literal.window, t, literal.atom)
    groups: dict[tuple[tuple[str, Term], ...], list[int | float]] = {}
    names = sorted({v.name for v in variables(literal.atom)} & shared)
    if all(n in bound and n in given for n in names) and literal.function in ("count", "sum"):
        groups[tuple((n, bound[n]) for n in names)] = []
    outer = {k: v for k, v in bound.items() if k in shared}
    for _, atom in window.facts:
        found = match_term(literal.atom, atom, outer)
        if found is not None:
            value = 1 if literal.function == "count" else evaluate(literal.template, found)
            groups.setdefault(tuple((n, found[n]) for n in names), []).append(value)
    for key, values in groups.items():
        functions: dict[str, Callable[..., float]] = {"count": len, "sum": sum, "min": min, "max": max}
        total = functions[literal.function](values)
        found = match_term(literal.result, number(total), {**bound, **dict(key)})
        if found is not None:
            yield found


def _all_points(window: Stream) -> list[int]:
    """The points of a timeline; of an open one, those that a literal with an atom in the stream can ask for."""
    last = max((u for u, _ in window.facts), default=window.low) + 100
    return list(range(window.low, (last if window.high is None else window.high) + 1))


def _pointed(atom: Term, point: Term) -> Term:
    """An atom with its point, to be matched together."""
    return Compound(f"{signature(atom)[0]} at", (*arguments(atom), point))


def _places(literal: Windowed, stream: Stream, t: int, bound: Bindings) -> Iterator[Bindings]:
    window = pick(stream, literal.window, t, literal.atom) if literal.window else stream
    candidates = {a for _, a in window.facts} | set(window.background)
    for atom in sorted(candidates, key=text):
        points = [u for u, a in window.facts if a == atom and window.has_point(u)]
        if literal.time is not None:
            if atom in window.background:
                points = _all_points(window)
            for u in points:
                at = match_term(_pointed(literal.atom, literal.time), _pointed(atom, Number(u)), bound)
                if at is not None:
                    yield at
            continue
        found = match_term(literal.atom, atom, bound)
        if found is None:
            continue
        if literal.mode == "sometime":
            if points or (atom in window.background and (window.high is None or window.high >= window.low)):
                yield found
        elif literal.mode == "always":
            if window.high is not None and window.high >= window.low:
                if all(window.holds(u, atom) for u in range(window.low, window.high + 1)):
                    yield found
            elif window.high is None and atom in window.background:
                yield found


def solutions(
    literal: Literal,
    stream: Stream,
    t: int,
    bound: Bindings,
    shared: frozenset[str],
    given: frozenset[str] = frozenset(),
) -> Iterator[Bindings]:
    """The bindings under which a literal, taken positively, is true at t."""
    match literal:
        case Call(goal):
            for atom in {a for u, a in stream.facts if u == t} | stream.background:
                found = match_term(goal, atom, bound)
                if found is not None:
                    yield found
        case Compare():
            yield from compare(literal, bound)
        case Windowed():
            yield from _places(literal, stream, t, bound)
        case Aggregate():
            yield from aggregate(literal, stream, t, bound, shared, given)
        case _:
            raise TypeError(f"no such literal in LARS: {literal!r}")


def is_negated(literal: Literal) -> bool:
    return getattr(literal, "negated", False)


def in_order(rule: Clause) -> tuple[Literal, ...]:
    """Binding literals first, then computations and tests as written, then aggregates, then negation."""
    rank = {Call: 0, Windowed: 0, Aggregate: 1, Compare: 2}
    return tuple(sorted(rule.body, key=lambda x: 9 if is_negated(x) else rank[type(x)]))


def shared_names(rule: Clause, literal: Literal) -> frozenset[str]:
    """Variables of the rule outside one of its literals; those without a name are nowhere else."""
    others = [x for x in rule.body if x is not literal]
    terms = [rule.head, rule.at or rule.head, *(p for x in others for p in literal_terms(x))]
    if isinstance(literal, Aggregate):
        terms.append(literal.result)
    return frozenset(v.name for term in terms for v in variables(term) if not v.anonymous)


def given_names(body: tuple[Literal, ...]) -> frozenset[str]:
    """Variables that the atoms of a body give, other than by computing with them."""
    names: set[str] = set()
    for literal in body:
        match literal:
            case Call(goal, False):
                terms = arguments(goal)
            case Windowed(atom, _, _, time, False):
                terms = (*arguments(atom), *([time] if time is not None else []))
            case _:
                continue
        names |= {v.name for term in terms if not computes(term) for v in variables(term)}
    return frozenset(names)


def ready(rest: tuple[Literal, ...], bound: Bindings) -> tuple[Literal, tuple[Literal, ...]]:
    """The next literal and the others: a comparison, and an atom with a computation other than ``V + k``, waits until
    its variables have values, and an aggregate until the atoms have given theirs, if they can."""
    awaited = given_names(rest) - bound.keys()

    def known(*terms: Term) -> bool:
        return all(v.name in bound for term in terms for v in variables(term))

    for i, literal in enumerate(rest):
        match literal:
            case Compare("is" | "=", Variable(), right) if known(right):
                pass
            case Compare("=", left, Variable()) if known(left):
                pass
            case Compare(_, left, right) if not known(left, right):
                continue
            case Aggregate() if awaited & {v.name for v in variables(literal.atom)}:
                continue
            case Call(goal) if not all(map(known, filter(computes, arguments(goal)))):
                continue
            case Windowed(atom, _, _, time) if not all(
                map(known, filter(computes, (*arguments(atom), *([time] if time is not None else []))))
            ):
                continue
            case _:
                pass
        return literal, rest[:i] + rest[i + 1 :]
    i = next((i for i, literal in enumerate(rest) if isinstance(literal, Aggregate)), 0)
    return rest[i], rest[:i] + rest[i + 1 :]


def instances(rule: Clause, stream: Stream, t: int, bound: Bindings | None = None) -> Iterator[Bindings]:
    """The bindings of the rule's variables under which its body is true at t."""
    given = given_names(rule.body)

    def go(rest: tuple[Literal, ...], b: Bindings) -> Iterator[Bindings]:
        if not rest:
            yield b
            return
        first, rest = ready(rest, b)
        found = solutions(first, stream, t, b, shared_names(rule, first), given)
        if is_negated(first):
            if next(found, None) is None:
                yield from go(rest, b)
        else:
            for more in found:
                yield from go(rest, more)

    yield from go(in_order(rule), bound or {})


def head_of(rule: Clause, bound: Bindings, low: int) -> Head | None:
    """What a rule instance derives, on a timeline that begins at `low`: nothing where the head has no value, or lies
    before that or between two points."""
    try:
        args = tuple(value_of(a, bound) for a in arguments(rule.head))
        at = None if rule.at is None else evaluate(rule.at, bound)
    except ValueError:
        return None
    if at is not None and (at < low or at != math.floor(at)):
        return None
    return (None if at is None else int(at)), (Compound(signature(rule.head)[0], args) if args else rule.head)


def placed(head: Head, t: int) -> tuple[int, Term]:
    """A head with its point, at a tick of evaluation."""
    return (t if head[0] is None else head[0]), head[1]
