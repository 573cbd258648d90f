"""The kernels over timelines against a reading of the law of inertia point by point."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from column_lists import LATEST, in_two_parts, ints, packed, ragged, rows_of, table, valued_lists
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns import comparing, timelines
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.timelines import INITIATE, OPEN, TERMINATE, TERMINATE_ALL
from thalweg.protocol import Ints

Point = tuple[int, int, int, int]
"""Time, kind, value, count."""
Span = tuple[int, int, int]

kinds = st.sampled_from([INITIATE, INITIATE, TERMINATE, TERMINATE_ALL])
points = st.lists(st.tuples(st.integers(0, LATEST), kinds, st.integers(0, 2), st.just(1)), max_size=14).map(
    lambda found: sorted(set(found))
)


def after(effects: Sequence[tuple[int, int]], value: int | None) -> int | None:
    """The value after a time-point with these (kind, value) effects, by the definition."""
    initiated = {v for kind, v in effects if kind == INITIATE}

    def broken(v: int) -> bool:
        return any(kind == TERMINATE_ALL or (kind == TERMINATE and w == v) for kind, w in effects) or bool(
            initiated - {v}
        )

    holding = [v for v in {*initiated, *([] if value is None else [value])} if not broken(v)]
    assert len(holding) <= 1
    return holding[0] if holding else None


def inertia(found: Sequence[Point], tick: int = 1) -> list[Span]:
    """The timeline of an instance from its points alone."""
    spans: list[Span] = []
    value: int | None = None
    since = 0
    for time in sorted({point[0] for point in found}):
        then = after([(kind, v) for t, kind, v, _ in found if t == time], value)
        if then != value:
            if value is not None:
                spans.append((since, time + tick, value))
            value, since = then, time + tick
    if value is not None:
        spans.append((since, int(OPEN), value))
    return spans


@given(
    st.lists(st.tuples(kinds, st.integers(0, 2)), min_size=1, max_size=5), st.sampled_from([None, 0, 1, 2])
)
def test_the_next_value_follows_the_law_of_inertia(effects: list[tuple[int, int]], value: int | None) -> None:
    pool = table([(5, kind, v, 1) for kind, v in effects], 4)
    held, found = timelines.next_value(pool, 0, len(pool), value is not None, -5 if value is None else value)
    assert (int(found) if held else None) == after(effects, value)


def rebuilt(
    lists: Sequence[Sequence[Span]],
    all_points: Sequence[Sequence[Point]],
    ids: Ints,
    first: Ints,
    last: Ints,
    expiry: int = -99,
    tick: int = 1,
    roomy: bool = False,
) -> list[list[Span]]:
    made = ragged(lists, 3, roomy=roomy)
    starts, sizes, rows = packed(all_points, 4)
    starts, ends = starts[ids], (starts + sizes)[ids]
    found = timelines.rebuild(starts, ends, rows, made.table, made.pool, ids, first, last, last[:0], tick)
    made.replace(*found, expiry)
    base = [[row for row in rows if row[1] > expiry] for rows in rows_of(made, Version.BASE)]
    assert base == [[row for row in rows if row[1] > expiry] for rows in lists], "an earlier version has changed"
    return rows_of(made, Version.NOW)


@given(st.lists(points, min_size=1, max_size=3), st.sampled_from([1, 2, 40]))
def test_a_timeline_built_from_nothing_is_the_law_of_inertia(found: list[list[Point]], tick: int) -> None:
    scaled = [[(tick * t, kind, v, n) for t, kind, v, n in some] for some in found]
    ids = np.arange(len(found))
    first = np.full(len(found), 0)
    last = np.full(len(found), tick * LATEST)
    result = rebuilt([[] for _ in found], scaled, ids, first, last, tick=tick)
    assert result == [inertia(some, tick) for some in scaled]


@given(st.lists(st.tuples(points, points), min_size=1, max_size=3), st.data())
def test_a_timeline_rebuilt_where_points_changed_is_the_one_built_from_nothing(
    changes: list[tuple[list[Point], list[Point]]], data: st.DataObject
) -> None:
    before = [old for old, _ in changes]
    now, first, last = [], [], []
    for old, new in changes:
        low, high = sorted(data.draw(st.tuples(st.integers(0, LATEST), st.integers(0, LATEST))))
        inside = [point for point in new if low <= point[0] <= high]
        now.append(sorted([point for point in old if not low <= point[0] <= high] + inside))
        first.append(low)
        last.append(high)
    order = data.draw(st.permutations(range(len(changes))))
    ids = ints(order)
    roomy = data.draw(st.booleans())
    result = rebuilt([inertia(old) for old in before], now, ids, ints(first)[ids], ints(last)[ids], roomy=roomy)
    assert result == [inertia(some) for some in now]


@given(points, st.integers(0, LATEST), st.integers(0, LATEST))
def test_a_rebuilt_timeline_keeps_what_has_not_expired(found: list[Point], first: int, expiry: int) -> None:
    first, expiry = max(first, expiry), min(first, expiry)
    old = inertia(found)
    (result,) = rebuilt([old], [found], ints([0]), ints([first]), ints([LATEST]), expiry)
    assert result == [span for span in old if span[1] > expiry]


batches_of_points = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, LATEST), kinds, st.integers(0, 2)), max_size=8), max_size=6
)


@given(batches_of_points, st.randoms(use_true_random=False))
def test_points_that_come_and_go_in_any_order_keep_timelines_right(batches: list, rng: Random) -> None:
    lists, kept, model = ragged([[], [], []], 3), ragged([[], [], []], 4), [set(), set(), set()]
    kept.clock = 0
    for batch in batches:
        rows = [(i, (t, kind, v, 1)) for i, t, kind, v in set(batch) if (t, kind, v, 1) not in model[i]]
        leave = [(i, point) for i in range(3) for point in sorted(model[i]) if rng.random() < 0.2]
        rows += [(i, (*point[:3], -1)) for i, point in leave]
        rng.shuffle(rows)
        for i, point in rows:
            (model[i].add if point[3] > 0 else model[i].discard)((*point[:3], 1))
        found = kept.insert(ints([i for i, _ in rows]), table([point for _, point in rows], 4))
        ids, starts, ends, first, last = found
        points = starts, ends, kept.pool
        lists.replace(*timelines.rebuild(*points, lists.table, lists.pool, ids, first, last, last[:0], 1), -99)
        lists.commit()
        assert rows_of(kept, Version.NOW) == [sorted(found) for found in model]
        assert rows_of(lists, Version.NOW) == [inertia(sorted(found)) for found in model]


# --------------------------------------------------------------------------- questions

asked = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, LATEST + 2)), max_size=20)
three = st.lists(valued_lists(), min_size=3, max_size=3)
cuts = st.lists(st.integers(0, 99), min_size=3, max_size=3)


@given(three, cuts, asked, st.booleans(), st.booleans(), st.booleans(), st.sampled_from(["any", "one", "each"]))
def test_an_instance_holds_what_its_interval_at_the_point_says(
    lists: list[list[Span]],
    cuts: list[int],
    questions: list[tuple[int, int]],
    sort: bool,
    cursors: bool,
    negated: bool,
    kind: str,
) -> None:
    questions = sorted(questions, key=lambda question: question[1]) if sort else questions
    view = in_two_parts(lists, 3, cuts)
    n = len(questions)
    wanted = {"any": [], "one": [1], "each": [k % 3 for k in range(n)]}[kind]
    rows, values = np.empty(n, np.int64), np.empty(0 if negated else n, np.int64)
    ids, times = ints([i for i, _ in questions]), ints([t for _, t in questions])
    places = np.empty((3 if cursors else 0, 3), np.int64)
    count = timelines.holding(*view, ids, times, ints(wanted), negated, places, rows, values)
    held = [value_at(lists[i], t) if i >= 0 else None for i, t in questions]
    right = [v is not None and (kind == "any" or v == wanted[0 if kind == "one" else k]) for k, v in enumerate(held)]
    expected = [k for k in range(n) if right[k] != negated]
    assert rows[:count].tolist() == expected
    assert negated or values[:count].tolist() == [held[k] for k in expected]


@given(st.integers(0, 60), st.integers(-5, 300))
def test_a_point_is_found_in_a_long_list_too(length: int, time: int) -> None:
    rows = [(4 * k, 4 * k + 3, k) for k in range(length)]
    view = in_two_parts([rows], 3, [length // 2])
    out, values, none = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(0, np.int64)
    count = timelines.holding(*view, ints([0]), ints([time]), none, False, np.empty((0, 3), np.int64), out, values)
    assert values[:count].tolist() == [k for k, (start, end, _) in enumerate(rows) if start <= time < end]


@given(three, cuts, asked, st.sampled_from([0, 1]), st.sampled_from([1, 2]))
def test_an_edge_is_found_a_tick_before_the_start_and_at_the_last_point(
    lists: list[list[Span]], cuts: list[int], questions: list[tuple[int, int]], column: int, tick: int
) -> None:
    *view, pool = in_two_parts(lists, 3, cuts)
    out = np.empty(len(questions), np.int64)
    ids, times = ints([i for i, _ in questions]), ints([t for _, t in questions])
    timelines.edge_at(*view, pool, ids, times, column, tick, out)
    for (i, t), at in zip(questions, out, strict=True):
        edges = [span for span in (lists[i] if i >= 0 else []) if span[column] == t + tick]
        assert [tuple(map(int, pool[at]))] == edges if at >= 0 else edges == []


ranges = st.lists(st.tuples(st.integers(-1, 2), st.integers(-2, LATEST), st.integers(0, 8)), max_size=6)


@given(three, cuts, ranges, st.sampled_from([0, 1]))
def test_the_edges_in_a_range_are_all_found(
    lists: list[list[Span]], cuts: list[int], questions: list[tuple[int, int, int]], column: int
) -> None:
    *view, pool = in_two_parts(lists, 3, cuts)
    ids = ints([i for i, _, _ in questions])
    froms = ints([low for _, low, _ in questions])
    tos = ints([low + size for _, low, size in questions])
    none = np.empty(0, np.int64)
    count = timelines.edges_in(*view, pool, ids, froms, tos, column, 1, none, none)
    out, which = np.empty(count, np.int64), np.empty(count, np.int64)
    assert timelines.edges_in(*view, pool, ids, froms, tos, column, 1, out, which) == count
    expected = [
        (k, span)
        for k, (i, low, size) in enumerate(questions)
        for span in (lists[i] if i >= 0 else [])
        if span[column] != OPEN and low <= span[column] - 1 < low + size
    ]
    assert [(k, tuple(map(int, pool[at]))) for k, at in zip(which, out, strict=True)] == expected


# --------------------------------------------------------------------------- differences


def value_at(spans: Sequence[Span], time: int) -> int | None:
    return next((v for s, e, v in spans if s <= time < e), None)


@given(
    st.lists(st.tuples(valued_lists(), valued_lists()), min_size=1, max_size=3),
    st.integers(-1, LATEST),
    st.sampled_from(["apart", "in place", "elsewhere"]),
)
def test_the_difference_of_two_versions_is_what_is_removed_added_and_dirty(
    lists: list[tuple[list[Span], list[Span]]], expiry: int, where: str
) -> None:
    made = _changed(lists, where)
    ids = np.arange(len(lists))
    old, pool = made.view(Version.BASE), made.pool
    total = sum(len(before) + len(now) for before, now in lists)
    outs = [np.empty((size, 3), np.int64) for size in (total, total, 2 * total)]
    counts = comparing.differences(*old, pool, ids, expiry, *outs)
    removed, added, dirty = (out[:count] for out, count in zip(outs, counts, strict=True))
    for k, (before, now) in enumerate(lists):
        before, now = ([span for span in side if span[1] > expiry] for side in (before, now))
        assert _named(removed, k, pool) == [span for span in before if span not in now]
        assert _named(added, k, pool) == [span for span in now if span not in before]
        stretches = [(int(low), int(high)) for i, low, high in dirty if i == k]
        assert all(a[1] < b[0] for a, b in zip(stretches, stretches[1:], strict=False))
        for time in range(-1, LATEST + 3):
            differs = value_at(before, time) != value_at(now, time)
            assert differs == any(low <= time < high for low, high in stretches), f"at {time}"


def _changed(lists: list[tuple[list[Span], list[Span]]], where: str) -> Ragged:
    """The old lists with the new ones in their places; what both begin with stays, in place or not."""
    made = ragged([old for old, _ in lists], 3, roomy=where != "apart")
    kept = []
    for old, new in lists:
        common = [a == b for a, b in zip(old, new, strict=False)]
        kept.append([*common, False].index(False) if where != "apart" else 0)
    starts, sizes, rows = packed([new for _, new in lists], 3)
    ids = np.arange(len(lists))
    if where == "elsewhere":
        made.replace(ids, ints(kept), starts, starts, rows, -99)
    made.replace(ids, ints(kept), starts + ints(kept), starts + sizes, rows, -99)
    return made


def _named(found: Ints, k: int, pool: Ints) -> list[Span]:
    return [(int(pool[at, 0]), int(pool[at, 1]), int(pool[at, 2])) for i, at, *_ in found if i == k]


Owned = tuple[int, int, int, int]
"""Instance, start, end, value."""


def disjoint(found: list[Owned]) -> list[Owned]:
    kept: list[Owned] = []
    for span in sorted(found):
        if not kept or kept[-1][0] < span[0] or kept[-1][2] < span[1]:
            kept.append(span)
    return kept


owned = st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(1, 5), st.integers(0, 1))
edges = st.lists(owned.map(lambda x: (x[0], x[1], x[1] + x[2], x[3])), max_size=8).map(disjoint)


@given(edges, edges, st.sampled_from([0, 1]), st.integers(0, 6))
def test_an_edge_moves_when_it_is_in_only_one_of_the_two(
    old: list[Owned], new: list[Owned], column: int, low: int
) -> None:
    gone, came = np.empty(len(old), np.int64), np.empty(len(new), np.int64)
    sides = [[ints([x[c] for x in some]) for c in (0, 1 + column, 3)] for some in (old, new)]
    n_gone, n_came = comparing.moved_edges(*sides[0], *sides[1], low, gone, came)
    told = [{(x[0], x[1 + column], x[3]) for x in some} for some in (old, new)]
    for found, mine, others in ((gone[:n_gone], old, told[1]), (came[:n_came], new, told[0])):
        edges = [(x[0], x[1 + column], x[3]) for x in mine]
        assert found.tolist() == [k for k, edge in enumerate(edges) if edge[1] >= low and edge not in others]
