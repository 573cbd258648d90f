"""Interval algebra on plain lists: the definitions that the kernels are tested against.

An interval is `(start, end)`, half-open; `end` None: it has none. A list is *maximal* when it is sorted, disjoint
and never touching. Every function takes maximal lists (or, `maximal`, any list) and returns a maximal list.

Whole intervals. `longer`, `shorter` and `allen` look at intervals as wholes. A running interval is measured up to
the query time (`until`, the first point that is not yet known); in comparisons of ends it ends after every closed
one and together with every other running one.

Allen relations, between `A` of the source list and `B` of the target list, with `last(X) = end - tick`:

- before    `last(A) < start(B)`: so touching intervals, `[3,6)` and `[6,10)`, are before, not meeting
- meets     `start(A) < start(B) = last(A)` and `end(A) < end(B)`: they share exactly one point
- overlaps  `start(A) < start(B) < last(A)` and `end(A) < end(B)`
- starts    same start, `end(A) < end(B)`
- finishes  same end, `start(A) > start(B)`
- during    `start(A) > start(B)` and `end(A) < end(B)`
- equal     same start, same end

At most one of the seven holds between two intervals. Mode `source` gives every `A` that is in the relation with some
`B`; `target` every such `B`; `union` both, as one maximal list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

Interval = tuple[int, int | None]
Intervals = list[Interval]


def _end(interval: Interval) -> float:
    return math.inf if interval[1] is None else interval[1]


def _interval(start: float, end: float) -> Interval:
    return int(start), None if math.isinf(end) else int(end)


def maximal(intervals: Iterable[Interval]) -> Intervals:
    """Sorted, empty ones dropped, overlapping and touching ones joined.

    >>> maximal([(5, 8), (1, 3), (3, 5), (9, None), (4, 4)])
    [(1, 8), (9, None)]
    """
    result: Intervals = []
    for start, end in sorted(intervals, key=lambda i: (i[0], _end(i))):
        if end is not None and end <= start:
            continue
        if result and _end(result[-1]) >= start:
            last = result.pop()
            result.append(_interval(last[0], max(_end(last), _end((start, end)))))
        else:
            result.append((start, end))
    return result


def contains(intervals: Sequence[Interval], point: int) -> bool:
    """True when the point lies in one of the intervals."""
    return any(start <= point < _end((start, end)) for start, end in intervals)


def union_all(lists: Iterable[Sequence[Interval]]) -> Intervals:
    """The points of at least one list.

    >>> union_all([[(1, 4)], [(3, 6), (8, None)]])
    [(1, 6), (8, None)]
    """
    return maximal(interval for intervals in lists for interval in intervals)


def intersect_all(lists: Sequence[Sequence[Interval]]) -> Intervals:
    """The points of every list; of no lists at all: none.

    >>> intersect_all([[(1, 10), (20, None)], [(5, 25)]])
    [(5, 10), (20, 25)]
    """
    if not lists:
        return []
    result = maximal(lists[0])
    for other in lists[1:]:
        result = maximal(
            _interval(max(a[0], b[0]), min(_end(a), _end(b)))
            for a in result
            for b in other
            if max(a[0], b[0]) < min(_end(a), _end(b))
        )
    return result


def relative_complement_all(base: Sequence[Interval], lists: Iterable[Sequence[Interval]]) -> Intervals:
    """The points of `base` that are in none of the lists.

    >>> relative_complement_all([(5, 20), (26, 30)], [[(1, 4), (18, 22)]])
    [(5, 18), (26, 30)]
    """
    result = maximal(base)
    for start, end in union_all(lists):
        pieces: Intervals = []
        for piece in result:
            pieces.append(_interval(piece[0], min(_end(piece), start)))
            if end is not None and end < _end(piece):
                pieces.append(_interval(max(piece[0], end), _end(piece)))
        result = maximal(pieces)
    return result


def complement_all(lists: Iterable[Sequence[Interval]], since: int) -> Intervals:
    """The points from `since` on that are in none of the lists.

    >>> complement_all([[(3, 7)], [(5, 9)]], since=0)
    [(0, 3), (9, None)]
    """
    return relative_complement_all([(since, None)], lists)


def clip(intervals: Iterable[Interval], start: float, end: float) -> Intervals:
    """What lies inside `[start, end)`."""
    return maximal(
        _interval(max(s, start), min(_end((s, e)), end))
        for s, e in intervals
        if max(s, start) < min(_end((s, e)), end)
    )


def length(interval: Interval, until: int) -> int:
    """How long an interval is; a running one is measured up to `until`."""
    start, end = interval
    return (until if end is None else end) - start


_MEASURES: dict[str, Callable[[float, float], bool]] = {
    ">": lambda length_, bound: length_ > bound,
    ">=": lambda length_, bound: length_ >= bound,
    "<": lambda length_, bound: length_ < bound,
    "=<": lambda length_, bound: length_ <= bound,
}


def of_duration(op: str, intervals: Sequence[Interval], bound: float, until: int) -> Intervals:
    """The intervals whose length is in relation `op` to `bound`.

    >>> of_duration(">", [(1, 5), (8, 20), (30, None)], 4, until=36)
    [(8, 20), (30, None)]
    """
    return maximal(i for i in intervals if _MEASURES[op](length(i, until), bound))


def _relation(source: Interval, target: Interval, tick: int) -> str | None:
    """Which of the seven relations holds between the two, if any."""
    (s1, e1), (s2, e2) = (source[0], _end(source)), (target[0], _end(target))
    last = e1 - tick
    if last < s2:
        return "before"
    if s1 == s2:
        return "equal" if e1 == e2 else "starts" if e1 < e2 else None
    if s1 > s2:
        return "finishes" if e1 == e2 else "during" if e1 < e2 else None
    if e1 < e2:
        return "meets" if last == s2 else "overlaps"
    return None


RELATIONS = ("before", "meets", "overlaps", "starts", "finishes", "during", "equal")
MODES = ("source", "target", "union", "intersection", "relative_complement", "relative_complement_inverse")


def allen(
    relation: str, source: Sequence[Interval], target: Sequence[Interval], mode: str, tick: int = 1
) -> Intervals:
    """The intervals of either list that stand in the relation with one of the other; see the module's text.

    >>> allen("before", [(3, 6)], [(6, 10)], "union")
    [(3, 10)]
    """
    if relation not in RELATIONS or mode not in MODES:
        raise ValueError(f"no Allen relation {relation!r} with mode {mode!r}")
    pairs = [(a, b) for a in source for b in target if _relation(a, b, tick) == relation]
    sources, targets = maximal([a for a, _ in pairs]), maximal([b for _, b in pairs])
    match mode:
        case "source":
            return sources
        case "target":
            return targets
        case "union":
            return union_all([sources, targets])
        case "intersection":
            return intersect_all([sources, targets])
        case "relative_complement":
            return relative_complement_all(sources, [targets])
    return relative_complement_all(targets, [sources])
