"""Answer streams as SEMANTICS 3.2 defines them, by brute force.

`answer_streams` tries all subsets of the possible heads, `as_answer` a given one, `prefer` picks the one a reasoner
has to report. Nothing here is fast. Streams and windows are in `lars_streams`, the truth of bodies in `lars_truth`,
terms in `lars_terms`, the possible heads in `lars_search`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from thalweg.language.program import Program
from thalweg.language.rules import Clause
from thalweg.language.terms import Term, signature
from thalweg.reference.lars_search import base_of, candidates, rules_of
from thalweg.reference.lars_streams import Facts, Stream
from thalweg.reference.lars_terms import Bindings, text
from thalweg.reference.lars_truth import Head, head_of, instances, placed


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer stream: its atoms beyond the data, and the heads (per rule) that derive them."""

    derived: Facts
    heads: frozenset[tuple[int, Head]]


def answer_streams(
    program: Program, data: Iterable[tuple[int, Term]], t: int, start: int = 0
) -> list[Answer]:
    """All answer streams at t for the input `data`, of which only what is stamped up to t counts."""
    rules, base = rules_of(program), base_of(program, data, t, start)
    possible = candidates(program, base.data, t, start)
    tried = (chosen for size in range(len(possible) + 1) for chosen in combinations(possible, size))
    found = (_answer(rules, base, t, chosen) for chosen in tried)
    return [answer for answer in found if answer is not None]


def as_answer(
    program: Program,
    data: Iterable[tuple[int, Term]],
    t: int,
    chosen: Iterable[tuple[int, Term]],
    start: int = 0,
) -> Answer | None:
    """The answer stream at t whose atoms beyond the data are the chosen ones; None where they make none."""
    return _answer(rules_of(program), base_of(program, data, t, start), t, tuple(chosen))


def _answer(rules: list[Clause], base: Stream, t: int, chosen: tuple[tuple[int, Term], ...]) -> Answer | None:
    known = base.data

    def stream(extra: Iterable[tuple[int, Term]]) -> Stream:
        return Stream(base.low, known | frozenset(extra), known, base.background)

    fired = list(_fires(rules, stream(chosen), t))
    if {placed(h, t) for _, _, h in fired if h[1] not in base.background} - known != set(chosen):
        return None
    smaller = (less for n in range(len(chosen)) for less in combinations(chosen, n))
    if any(_is_model(rules, fired, stream(less), t) for less in smaller):
        return None
    return Answer(frozenset(chosen), frozenset((i, h) for i, _, h in fired))


def _fires(rules: list[Clause], stream: Stream, t: int) -> Iterator[tuple[int, Bindings, Head]]:
    for i, rule in enumerate(rules):
        for bound in instances(rule, stream, t):
            head = head_of(rule, bound, stream.low)
            if head is not None:
                yield i, bound, head


def _is_model(rules: list[Clause], reduct: list[tuple[int, Bindings, Head]], stream: Stream, t: int) -> bool:
    """Does the stream satisfy every rule instance of the reduct at t?"""
    return all(
        stream.holds(*placed(head, t)) or next(instances(rules[i], stream, t, bound), None) is None
        for i, bound, head in reduct
    )


def prefer(answers: list[Answer], previous: frozenset[Head], choices: frozenset[tuple[str, int]]) -> Answer:
    """The answer with the fewest changes of chosen heads; then the one where an earlier rule (head) applies."""

    def chosen(answer: Answer) -> frozenset[Head]:
        return frozenset(h for _, h in answer.heads if signature(h[1]) in choices)

    fewest = min(len(chosen(a) ^ previous) for a in answers)
    best = [a for a in answers if len(chosen(a) ^ previous) == fewest]
    order = sorted(
        {(i, h) for a in best for i, h in a.heads if signature(h[1]) in choices},
        key=lambda x: (x[0], text(x[1][1]), -1 if x[1][0] is None else x[1][0]),
    )
    return max(best, key=lambda a: [x in a.heads for x in order])
