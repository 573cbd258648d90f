"""Streams and window functions as SEMANTICS 3.1 defines them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from thalweg.language.rules import Window
from thalweg.language.terms import Term, arguments, signature
from thalweg.reference.lars_terms import text

Facts = frozenset[tuple[int, Term]]


@dataclass(frozen=True, slots=True)
class Stream:
    """The timeline `[low, high]` (None: open), the atoms on it, the data among them, and the background."""

    low: int
    facts: Facts
    data: Facts
    background: frozenset[Term] = frozenset()
    high: int | None = None

    def has_point(self, u: int) -> bool:
        return u >= self.low and (self.high is None or u <= self.high)

    def holds(self, u: int, atom: Term) -> bool:
        return self.has_point(u) and ((u, atom) in self.facts or atom in self.background)


def _last(atoms: Iterable[tuple[int, Term]], n: int, t: int, start: int) -> tuple[int, Facts]:
    """Where the last n atoms at or before t begin, and which atoms at that point are cut off."""
    order = sorted((a for a in atoms if a[0] <= t), key=lambda a: (a[0], text(a[1])))
    if n == 0:
        return t, frozenset(a for a in order if a[0] == t)
    if len(order) < n:
        return start, frozenset()
    low = order[-n][0]
    return low, frozenset(a for a in order[:-n] if a[0] == low)


def pick(stream: Stream, window: Window, t: int, pattern: Term) -> Stream:
    """The substream that the window selects at t. Tuple windows count data; derived atoms are never cut."""
    if window.kind == "time":
        base = t // window.hop * window.hop
        low, high = max(stream.low, base - window.past), base + window.future
        return Stream(
            low,
            frozenset(f for f in stream.facts if low <= f[0] <= high),
            stream.data,
            stream.background,
            high,
        )
    top = t if window.future == 0 else None
    if window.kind == "tuple":
        low, cut = _last(stream.data, window.past, t, stream.low)
        facts = frozenset(f for f in stream.facts if f[0] >= low and (top is None or f[0] <= top)) - cut
        return Stream(low, facts, stream.data, stream.background, top)
    return _partition(stream, window, t, pattern, top)


def _partition(stream: Stream, window: Window, t: int, pattern: Term, top: int | None) -> Stream:
    places = [arguments(pattern).index(v) for v in window.by]
    mine = [f for f in stream.facts if signature(f[1]) == signature(pattern)]

    def key(fact: tuple[int, Term]) -> tuple[Term, ...]:
        return tuple(arguments(fact[1])[i] for i in places)

    counted = [f for f in mine if f in stream.data]
    bounds = {
        k: _last([f for f in counted if key(f) == k], window.past, t, stream.low) for k in map(key, counted)
    }
    uncounted = _last([], window.past, t, stream.low)
    low = min((b[0] for b in bounds.values()), default=uncounted[0])
    facts = frozenset(
        f
        for f in mine
        if f[0] >= bounds.get(key(f), uncounted)[0]
        and f not in bounds.get(key(f), uncounted)[1]
        and (top is None or f[0] <= top)
    )
    return Stream(low, facts, stream.data, stream.background, top)
