"""What the search for answer streams goes through: every atom that some rule could derive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from thalweg.language.program import Program
from thalweg.language.rules import Aggregate, Clause, Literal, Windowed
from thalweg.language.terms import Term
from thalweg.reference.lars_streams import Stream
from thalweg.reference.lars_terms import Bindings, substitute, text
from thalweg.reference.lars_truth import (
    aggregate,
    given_names,
    head_of,
    in_order,
    is_negated,
    placed,
    ready,
    shared_names,
    solutions,
)


def rules_of(program: Program) -> list[Clause]:
    """The clauses with a body; those without one are background."""
    return [s for s in program.statements if isinstance(s, Clause) and s.body]


def candidates(
    program: Program, data: Iterable[tuple[int, Term]], t: int, start: int = 0
) -> list[tuple[int, Term]]:
    """Every atom, with its point, that an answer stream at t may have beyond the data: what the search goes through."""
    base = base_of(program, data, t, start)
    possible = _possible(rules_of(program), base, t) - base.data
    return sorted((f for f in possible if f[1] not in base.background), key=lambda f: (f[0], text(f[1])))


def base_of(program: Program, data: Iterable[tuple[int, Term]], t: int, start: int) -> Stream:
    """The data that counts at t, with the background."""
    known = frozenset((u, substitute(a, {})) for u, a in data if start <= u <= t)
    facts = {substitute(s.head, {}) for s in program.statements if isinstance(s, Clause) and not s.body}
    return Stream(start, known, known, frozenset(facts))


def _possible(rules: list[Clause], base: Stream, t: int) -> set[tuple[int, Term]]:
    """What rules could derive if every negated literal held and windows and aggregates saw any part of the stream."""
    seen: set[tuple[int, Term]] = set(base.facts)
    while True:
        stream = Stream(base.low, frozenset(seen), base.data, base.background)
        new = {
            placed(head, t)
            for rule in rules
            for bound in _loosely(in_order(rule), rule, stream, t, {})
            if (head := head_of(rule, bound, base.low)) is not None
        } - seen
        if not new:
            return seen
        seen |= new


def _loosely(
    rest: tuple[Literal, ...], rule: Clause, stream: Stream, t: int, bound: Bindings
) -> Iterator[Bindings]:
    if not rest:
        yield bound
        return
    first, rest = ready(rest, bound)
    if is_negated(first):
        yield from _loosely(rest, rule, stream, t, bound)
    elif isinstance(first, Aggregate):
        shared, given = shared_names(rule, first), given_names(rule.body)
        loose = sorted(stream.facts - stream.data, key=lambda f: (f[0], text(f[1])))
        for n in range(len(loose) + 1):
            for part in combinations(loose, n):
                less = Stream(stream.low, stream.data | frozenset(part), stream.data, stream.background)
                for more in aggregate(first, less, t, bound, shared, given):
                    yield from _loosely(rest, rule, stream, t, more)
    else:
        if isinstance(first, Windowed) and first.mode != "at":
            first = Windowed(first.atom, "sometime")
        elif isinstance(first, Windowed):
            first = Windowed(first.atom, "at", None, first.time)
        for more in solutions(first, stream, t, bound, frozenset()):
            yield from _loosely(rest, rule, stream, t, more)
