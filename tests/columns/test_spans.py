"""The kernels of the interval algebra against the definitions on plain lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from column_lists import (
    LATEST,
    batch,
    interval_lists,
    ints,
    lists_of,
    places,
    ragged,
    rows_of,
    table,
    valued_lists,
)
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns import spans
from thalweg.columns.lengths import by_length
from thalweg.columns.ragged import Version
from thalweg.columns.timelines import OPEN
from thalweg.reference import intervals as plain
from thalweg.reference.intervals import Intervals, clip, maximal

several = st.lists(interval_lists(), min_size=1, max_size=4)
pairs = st.lists(st.tuples(interval_lists(), interval_lists()), max_size=4)


# --------------------------------------------------------------------------- against plain lists


@given(pairs)
def test_combining_batches_is_combining_each_pair_of_lists(lists: list[tuple[Intervals, Intervals]]) -> None:
    a, b = batch([x for x, _ in lists]), batch([y for _, y in lists])
    assert lists_of(*spans.combine(spans.UNION, *a, *b)) == [plain.union_all([x, y]) for x, y in lists]
    found = lists_of(*spans.combine(spans.INTERSECTION, *a, *b))
    assert found == [plain.intersect_all([x, y]) for x, y in lists]
    found = lists_of(*spans.combine(spans.DIFFERENCE, *a, *b))
    assert found == [plain.relative_complement_all(x, [y]) for x, y in lists]


@given(st.lists(valued_lists(), min_size=1, max_size=4), st.data())
def test_the_intervals_of_a_value_are_those_that_have_it(
    lists: list[list[tuple[int, int, int]]], data: st.DataObject
) -> None:
    asked = data.draw(st.lists(st.tuples(st.integers(-1, len(lists) - 1), st.integers(0, 3)), max_size=6))
    ids, values = ints([i for i, _ in asked]), ints([v for _, v in asked])
    low = data.draw(st.integers(-1, LATEST + 2))
    high = data.draw(st.sampled_from([low, low + 1, low + 5, int(OPEN)]))
    lows, highs = np.full(len(asked), low), np.full(len(asked), high)
    had = [
        [(s, None if e == OPEN else e) for s, e, v in (lists[i] if i >= 0 else []) if v == value]
        for i, value in asked
    ]
    found = lists_of(*spans.with_value(*places(lists, 3), ids, values, lows, highs, False))
    assert found == [clip(x, low, float("inf") if high == OPEN else high) for x in had]
    meeting = [[(s, e) for s, e in x if s <= high and (e is None or e >= low)] for x in had]
    found = lists_of(*spans.with_value(*places(lists, 3), ids, values, lows, highs, True))
    assert found == meeting


@given(several, st.sampled_from([">", ">=", "<", "=<"]), st.integers(0, 12), st.integers(LATEST + 2, 50))
def test_duration_filters_keep_the_intervals_of_that_length(
    lists: list[Intervals], op: str, bound: int, until: int
) -> None:
    code = [">", ">=", "<", "=<"].index(op)
    bounds = np.full(len(lists), bound)
    *found, flips = by_length(code, *batch(lists), bounds, until, 0, 0, 1)
    assert lists_of(*found) == [plain.of_duration(op, x, bound, until) for x in lists]
    for x, flip in zip(lists, flips, strict=True):
        later = [
            q
            for q in range(until, until + 80)
            if plain.of_duration(op, x, bound, q) != plain.of_duration(op, x, bound, until)
        ]
        assert flip == (later[0] if later else OPEN)


@given(pairs, st.sampled_from(range(7)), st.sampled_from([1, 2, 5]))
def test_allen_relations_pick_the_intervals_of_either_side(
    lists: list[tuple[Intervals, Intervals]], relation: int, tick: int
) -> None:
    scaled = [(_times(x, tick), _times(y, tick)) for x, y in lists]
    a, b = batch([x for x, _ in scaled]), batch([y for _, y in scaled])
    name = spans.RELATIONS[relation]
    for pick, mode in enumerate(("source", "target")):
        found = lists_of(*spans.allen(relation, pick, *a, *b, tick))
        assert found == [plain.allen(name, x, y, mode, tick) for x, y in scaled]


def _times(intervals: Intervals, tick: int) -> Intervals:
    return [(tick * start, None if end is None else tick * end) for start, end in intervals]


S: Intervals = [(3, 6), (12, 14), (20, 22), (26, 30), (36, 39), (41, 44), (46, 48)]
T: Intervals = [(6, 10), (12, 17), (19, 24), (28, 32), (34, 39), (41, 44), (48, 50)]


@pytest.mark.parametrize(
    ("relation", "source", "target"),
    [
        ("before", S, T),
        ("meets", [], []),
        ("starts", [(12, 14)], [(12, 17)]),
        ("finishes", [(36, 39)], [(34, 39)]),
        ("during", [(20, 22)], [(19, 24)]),
        ("overlaps", [(26, 30)], [(28, 32)]),
        ("equal", [(41, 44)], [(41, 44)]),
    ],
)
def test_allen_relations_give_the_expected_table(relation: str, source: Intervals, target: Intervals) -> None:
    code = spans.RELATIONS.index(relation)
    assert lists_of(*spans.allen(code, 0, *batch([S]), *batch([T]), 1)) == [source]
    assert lists_of(*spans.allen(code, 1, *batch([S]), *batch([T]), 1)) == [target]


# --------------------------------------------------------------------------- groups


@given(st.lists(st.lists(interval_lists(), max_size=4), max_size=4))
def test_uniting_groups_is_the_union_of_the_lists_of_each(groups: list[list[Intervals]]) -> None:
    sizes = [len(group) for group in groups]
    starts = ints([sum(sizes[:at]) for at in range(len(groups) + 1)])
    found = spans.unite_groups(starts, *batch([x for group in groups for x in group]))
    assert lists_of(*found) == [plain.union_all(group) for group in groups]


any_intervals = st.tuples(st.integers(0, LATEST), st.one_of(st.none(), st.integers(1, 6))).map(
    lambda pair: (pair[0], None if pair[1] is None else pair[0] + pair[1])
)


@given(st.lists(st.lists(any_intervals, max_size=6), max_size=4))
def test_uniting_sorted_intervals_makes_them_maximal(groups: list[Intervals]) -> None:
    groups = [sorted(group, key=lambda interval: interval[0]) for group in groups]
    sizes = [len(group) for group in groups]
    starts = ints([sum(sizes[:at]) for at in range(len(groups) + 1)])
    rows = table([(s, int(OPEN) if e is None else e) for group in groups for s, e in group], 2)
    assert lists_of(*spans.unite_sorted(starts, rows)) == [maximal(group) for group in groups]


# --------------------------------------------------------------------------- grafting


@given(st.lists(st.tuples(interval_lists(), interval_lists()), min_size=1, max_size=4), st.data())
def test_splicing_replaces_what_lies_in_a_stretch_and_nothing_else(
    lists: list[tuple[Intervals, Intervals]], data: st.DataObject
) -> None:
    stretches = []
    for _ in lists:
        low = data.draw(st.integers(-1, LATEST + 2))
        stretches.append((low, data.draw(st.sampled_from([low, low + 1, low + 6, int(OPEN)]))))
    expiry = data.draw(st.integers(-1, min(low for low, _ in stretches)))
    order = data.draw(st.permutations(range(len(lists))))
    roomy = data.draw(st.booleans())
    ids = ints(order)
    n_off, n_len, new = batch([lists[k][1] for k in order])
    made = ragged([[(s, int(OPEN) if e is None else e, 0) for s, e in x] for x, _ in lists], 3, roomy=roomy)
    lows, highs = (ints([stretches[k][side] for k in order]) for side in range(2))
    found = spans.splice(made.table, made.pool, ids, lows, highs, n_off, n_len, new)
    made.replace(ids, *found, expiry)
    now, base = (
        [[(s, None if e == OPEN else e) for s, e, _ in rows] for rows in rows_of(made, version)]
        for version in (Version.NOW, Version.BASE)
    )
    expected = [_spliced(x, y, *at) for (x, y), at in zip(lists, stretches, strict=True)]
    assert [_unexpired(x, expiry) for x in now] == [_unexpired(x, expiry) for x in expected]
    assert [_unexpired(x, expiry) for x in base] == [_unexpired(x, expiry) for x, _ in lists]


def _spliced(old: Intervals, new: Intervals, low: int, high: int) -> Intervals:
    after = float("inf") if high == OPEN else high
    behind = [] if high == OPEN else clip(old, high, float("inf"))
    return maximal([*clip(old, -1, low), *clip(new, low, after), *behind])


def _unexpired(intervals: Intervals, expiry: int) -> Intervals:
    return [(s, e) for s, e in intervals if e is None or e > expiry]


@given(st.lists(interval_lists(), min_size=1, max_size=3), st.integers(-1, LATEST + 2), st.integers(0, 6))
def test_a_stretch_reaches_the_ends_of_the_intervals_that_it_meets_or_touches(
    lists: list[Intervals], low: int, size: int
) -> None:
    rows = [[(s, int(OPEN) if e is None else e, 0) for s, e in x] for x in lists]
    ids = np.arange(len(lists))
    lows, highs = np.full(len(lists), low), np.full(len(lists), low + size)
    spans.reach(*places(rows, 3), ids, np.zeros(len(lists), np.int64), lows, highs)
    for k, found in enumerate(rows):
        met = [(s, e) for s, e, _ in found if s <= low + size and e >= low]
        assert lows[k] == min([low, *(s for s, _ in met)])
        assert highs[k] == max([low + size, *(e for _, e in met)])


@given(
    st.lists(st.lists(st.tuples(st.integers(0, LATEST), st.integers(1, 9)), max_size=8), min_size=1, max_size=3),
    st.integers(0, LATEST),
    st.integers(0, 9),
    st.integers(LATEST, LATEST + 9),
)
def test_given_intervals_are_united_within_a_stretch(
    lists: list[list[tuple[int, int]]], low: int, size: int, horizon: int
) -> None:
    rows = [sorted((s, s + n, 1) for s, n in x) for x in lists]
    longest = ints([max((n for _, n in x), default=0) for x in lists])
    ids = np.arange(len(lists))
    lows, highs = np.full(len(lists), low), np.full(len(lists), low + size)
    found = lists_of(*spans.given_in(*places(rows, 3), ids, longest, lows, highs, horizon))
    shown = [maximal((s, None if e > horizon else e) for s, e, _ in x) for x in rows]
    assert found == [clip(x, low, low + size) for x in shown]


def test_every_relation_of_two_intervals_is_told_apart() -> None:
    spots = [(s, e) for s, e in itertools.product(range(6), range(7)) if s < e]
    for one_, other in itertools.product(spots, repeat=2):
        holding = [
            code
            for code in range(7)
            if lists_of(*spans.allen(code, 0, *batch([[one_]]), *batch([[other]]), 1))[0]
        ]
        assert len(holding) <= 1
