"""Lists with three versions against dictionaries of counts."""

from __future__ import annotations

import numpy as np
from column_lists import ints, table
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.sorting import group_starts, order_by, sort_changes

Key = tuple[int, int]
"""Time and another column."""
Model = dict[int, dict[Key, int]]

IDS = 5
changes = st.lists(
    st.tuples(
        st.integers(0, IDS - 1), st.integers(0, 12), st.integers(0, 3), st.sampled_from([1, 1, 1, 2, -1])
    ),
    max_size=12,
)


def columns(rows: list[tuple[int, int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return ints([row[0] for row in rows]), table([row[1:] for row in rows], 3)


def model_lists(model: Model) -> list[list[tuple[int, ...]]]:
    return [[(*key, count) for key, count in sorted(model.get(i, {}).items())] for i in range(IDS)]


def lists(ragged: Ragged, version: Version) -> list[list[tuple[int, ...]]]:
    rows, sizes = ragged.gather(np.arange(IDS), version)
    ends = np.cumsum(sizes)
    return [[tuple(map(int, row)) for row in rows[end - n : end]] for n, end in zip(sizes, ends, strict=True)]


def merged(model: Model, rows: list[tuple[int, int, int, int]], *, assign: bool) -> tuple[set, set]:
    """Changes the model; returns (id, key) that ceased and that began to be there."""
    before = {(i, key) for i, found in model.items() for key in found}
    totals: dict[tuple[int, Key], int] = {}
    for i, time, other, count in rows:
        at = (i, (time, other))
        totals[at] = count if assign else totals.get(at, model.get(i, {}).get(at[1], 0)) + count
    for (i, key), count in totals.items():
        model.setdefault(i, {})[key] = count
        if count <= 0:
            del model[i][key]
    now = {(i, key) for i, found in model.items() for key in found}
    return before - now, now - before


def named(ids: np.ndarray, rows: np.ndarray) -> list[tuple[int, Key]]:
    return [(int(i), (int(row[0]), int(row[1]))) for i, row in zip(ids, rows, strict=True)]


def fresh() -> Ragged:
    ragged = Ragged(3)
    ragged.ensure(IDS)
    return ragged


def without_removal_of_the_unknown(model: Model, rows: list[tuple[int, int, int, int]]) -> list:
    """Counts never go below zero in use: what is taken away is there."""
    totals = {(i, key): count for i, found in model.items() for key, count in found.items()}
    kept = []
    for i, time, other, count in sorted(rows, key=lambda row: -row[3]):
        at = (i, (time, other))
        if totals.get(at, 0) + count >= 0:
            totals[at] = totals.get(at, 0) + count
            kept.append((i, time, other, count))
    return kept


@given(st.lists(changes, max_size=6))
def test_merging_adds_up_counts_and_says_what_came_and_went(batches: list) -> None:
    ragged, model = fresh(), {}
    for batch in batches:
        rows = without_removal_of_the_unknown(model, batch)
        gone, came = merged(model, rows, assign=False)
        (gone_ids, gone_rows), (came_ids, came_rows) = ragged.merge(*columns(rows))
        assert lists(ragged, Version.NOW) == model_lists(model)
        assert sorted(named(gone_ids, gone_rows)) == sorted(gone)
        assert sorted(named(came_ids, came_rows)) == sorted(came)


@given(st.lists(changes, max_size=6), st.integers(-1, 40))
def test_rows_that_are_later_than_all_others_are_appended(batches: list, expiry: int) -> None:
    ragged, model = fresh(), {}
    for number, batch in enumerate(batches):
        before = model_lists(model)
        rows = [*{(i, 13 * number + t, other): (i, 13 * number + t, other, 1) for i, t, other, _ in batch}.values()]
        rows.sort(key=lambda row: row[1])
        merged(model, rows, assign=False)
        if rows:
            ragged.append(*columns(rows))
        live = [[row for row in x if row[0] > ragged.expiry] for x in model_lists(model)]
        found = [[row for row in x if row[0] > ragged.expiry] for x in lists(ragged, Version.NOW)]
        assert found == live
        old = [[row for row in x if row[0] > ragged.expiry] for x in lists(ragged, Version.BASE)]
        assert old == [[row for row in x if row[0] > ragged.expiry] for x in before]
        ragged.commit()
        ragged.expiry = min(expiry, 13 * number)


@given(st.lists(changes, max_size=6))
def test_assigning_gives_rows_their_counts(batches: list) -> None:
    ragged, model = fresh(), {}
    for batch in batches:
        rows = [*{row[:3]: (*row[:3], max(0, row[3])) for row in batch}.values()]
        gone, came = merged(model, rows, assign=True)
        (gone_ids, gone_rows), (came_ids, came_rows) = ragged.merge(*columns(rows), assign=True)
        assert lists(ragged, Version.NOW) == model_lists(model)
        assert sorted(named(gone_ids, gone_rows)) == sorted(gone)
        assert sorted(named(came_ids, came_rows)) == sorted(came)


@given(
    st.lists(st.tuples(changes, st.sampled_from(["go on", "settle", "commit", "pack", "copy"])), max_size=8)
)
def test_earlier_versions_stay_as_they_were(steps: list) -> None:
    ragged, now = fresh(), {}
    base = last = model_lists({})
    for batch, then in steps:
        rows = without_removal_of_the_unknown(now, batch)
        merged(now, rows, assign=False)
        ragged.merge(*columns(rows))
        if then == "settle":
            ragged.settle()
            last = model_lists(now)
        elif then != "go on":
            ragged.commit()
            base = last = model_lists(now)
        if then == "pack":
            ragged.pack()
        elif then == "copy":
            ragged = Ragged.of(ragged.state())
        for version, expected in ((Version.NOW, model_lists(now)), (Version.LAST, last), (Version.BASE, base)):
            assert lists(ragged, version) == expected
            at, which = ragged.ranges(np.arange(IDS), np.full(IDS, 4), np.full(IDS, 9), version)
            found = [(int(k), tuple(map(int, ragged.pool[p]))) for p, k in zip(at, which, strict=True)]
            assert found == [(i, row) for i in range(IDS) for row in expected[i] if 4 <= row[0] < 9]


@given(st.lists(changes, min_size=1, max_size=4), st.integers(-1, 13))
def test_packing_drops_expired_rows(batches: list, expiry: int) -> None:
    ragged, model = fresh(), {}
    for batch in batches:
        rows = without_removal_of_the_unknown(model, batch)
        merged(model, rows, assign=False)
        ragged.merge(*columns(rows))
    ragged.commit()
    ragged.expiry = expiry
    ragged.pack()
    expected = [[row for row in rows if row[0] > expiry] for rows in model_lists(model)]
    assert [lists(ragged, version) for version in Version] == [expected] * 3


ranges = st.lists(st.tuples(st.integers(-1, IDS - 1), st.integers(-1, 13), st.integers(0, 6)), max_size=8)


@given(changes, ranges)
def test_ranges_find_the_rows_in_between(batch: list, questions: list) -> None:
    ragged, model = fresh(), {}
    rows = without_removal_of_the_unknown(model, batch)
    merged(model, rows, assign=False)
    ragged.merge(*columns(rows))
    ids, froms, sizes = (ints([question[c] for question in questions]) for c in range(3))
    at, which = ragged.ranges(ids, froms, froms + sizes, Version.NOW)
    found = [(int(k), *map(int, ragged.pool[p])) for p, k in zip(at, which, strict=True)]
    plain = model_lists(model)
    expected = [
        (k, *row)
        for k, (i, low, size) in enumerate(questions)
        for row in (plain[i] if i >= 0 else [])
        if low <= row[0] < low + size
    ]
    assert found == expected


@given(changes, changes, st.lists(st.tuples(st.integers(-1, IDS - 1), st.integers(-1, 14)), max_size=10))
def test_absence_is_told_of_each_version(first: list, second: list, questions: list) -> None:
    ragged = fresh()
    for batch in (first, second):
        if batch is second:
            ragged.commit()
        if batch:
            ragged.merge(*columns(batch))
    ids, times = ints([q[0] for q in questions]), ints([q[1] for q in questions])
    for version in (Version.BASE, Version.NOW):
        there = {(i, row[0]) for i, found in enumerate(lists(ragged, version)) for row in found}
        absent = [k for k, question in enumerate(questions) if question not in there]
        assert ragged.absent(ids, times, version).tolist() == absent


@settings(max_examples=20)
@given(st.integers(1, 400), st.integers(0, 2**30))
def test_many_appends_and_packs_lose_nothing(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ragged, model = fresh(), {}
    for start in range(0, 30 * count, count):
        times = rng.integers(start, start + count, count)
        rows = [(int(i), int(t), 0, 1) for i, t in zip(rng.integers(0, IDS, count), times, strict=True)]
        merged(model, rows, assign=False)
        ragged.merge(*columns(rows))
        ragged.commit()
    assert lists(ragged, Version.NOW) == model_lists(model)


@settings(max_examples=25)
@given(st.integers(0, 2**30), st.integers(1, 40), st.integers(1, 12), st.sampled_from([0.0, 0.2, 0.9]))
def test_lists_that_slide_through_their_slabs_keep_their_points(
    seed: int, count: int, overlap: int, late_share: float
) -> None:
    rng = np.random.default_rng(seed)
    ragged, model, size = Ragged(4), {}, 0
    ragged.ensure(IDS)
    for query in range(10, 400, 10):
        late = rng.random(count) < late_share
        times = np.where(late, rng.integers(query - 10 * overlap, query, count), rng.integers(query - 10, query, count))
        rows = [(int(i), int(t), int(t) % 3, 1) for i, t in zip(rng.integers(0, IDS, count), times, strict=True)]
        rows += [(i, *key, -n) for i, found in model.items() for key, n in found.items() if rng.random() < 0.02]
        rows = [row for row in rows if row[1] > query - 10 * overlap]
        merged(model, rows, assign=False)
        ids, keys = columns(rows)
        points = np.column_stack([keys[:, 0], np.zeros(len(ids), np.int64), keys[:, 1:]])
        if rng.random() < 0.1:
            ragged.merge(ids, points)
        else:
            ragged.insert(ids, points)
        ragged.commit()
        ragged.expiry = query - 10 * overlap
        live = [[(t, v, n) for t, _, v, n in found if t > ragged.expiry] for found in lists(ragged, Version.NOW)]
        assert live == [[row for row in found if row[0] > ragged.expiry] for found in model_lists(model)]
        size = max(size, len(ragged.pool))
    assert size < 64 + 8192 + 40 * count * overlap


# --------------------------------------------------------------------------- order


@given(st.lists(st.integers(0, 4), max_size=12).map(sorted))
def test_groups_start_where_the_id_changes(ids: list[int]) -> None:
    expected = [at for at in range(len(ids)) if at == 0 or ids[at] != ids[at - 1]]
    assert group_starts(ints(ids)).tolist() == [*expected, len(ids)]


wide = st.sampled_from([0, 1, 2, 5, 10**6, 2**40])


@given(st.lists(st.tuples(wide, st.integers(-(2**62), 2**62) | st.integers(0, 5)), min_size=1, max_size=20))
def test_ordering_is_stable_by_id_and_time(rows: list[tuple[int, int]]) -> None:
    order = order_by(ints([i for i, _ in rows]), ints([t for _, t in rows]))
    assert order.tolist() == sorted(range(len(rows)), key=lambda k: rows[k])


@given(changes)
def test_sorted_changes_are_in_order_of_id_and_all_columns_but_the_count(batch: list) -> None:
    given = columns(batch)
    ids, rows, order = sort_changes(*given)
    if order is not None:
        assert (ids == given[0][order]).all()
        assert (rows == given[1][order]).all()
    found = [(int(i), *map(int, row)) for i, row in zip(ids, rows, strict=True)]
    assert [row[:3] for row in found] == sorted(row[:3] for row in batch)
    assert sorted(found) == sorted(batch)
