"""Lists that are written anew in windows that do not overlap, against readings point by point."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
from column_lists import LATEST, ints, packed, ragged, rows_of, table, valued_lists
from hypothesis import given
from hypothesis import strategies as st
from test_timeline_kernels import Point, Span, inertia, points, value_at

from thalweg.columns import fresh
from thalweg.columns.comparing import rewritten
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.timelines import OPEN
from thalweg.protocol import Ints

EXPIRY = LATEST + 1
RULES = (operator.gt, operator.ge, operator.lt, operator.le)
LATER = LATEST + 5


def written(made: Ragged, ids: Ints, write: Callable[[Ragged, int], tuple[int, int, int]]) -> int:
    """Call a kernel until it has found room for all lists; returns how many rows there were."""
    made.reserve_past(len(ids))
    made.touch(ids)
    done = before = 0
    while done < len(ids):
        made.used, done, more = write(made, done)
        before += more
        if done < len(ids):
            made.reserve(len(made.pool) - made.used + 1)
    return before


def tight(lists: list[list[Span]]) -> Ragged:
    """Lists in a pool without room, so that kernels have to stop."""
    made = ragged(lists, 3)
    made.pool = made.pool[: max(1, made.used)].copy()
    return made


def place(made: Ragged) -> tuple:
    return made.table, made.past, made.pool, made.used


def unexpired(spans: list[Span], expiry: int) -> list[Span]:
    return [span for span in spans if span[1] > expiry]


@given(st.lists(st.tuples(points, points), min_size=1, max_size=4), st.integers(-1, EXPIRY))
def test_timelines_go_on_with_later_points(found: list[tuple[list[Point], list[Point]]], expiry: int) -> None:
    late = [[(t + LATER, kind, v, n) for t, kind, v, n in new] for _, new in found]
    made = tight([inertia(old) for old, _ in found])
    ids = ints([k for k, new in enumerate(late) if new])
    sizes = [len(new) for new in late if new]
    rows = table([point for new in late for point in new], 4)
    starts = ints([sum(sizes[:k]) for k in range(len(sizes) + 1)])
    count = written(made, ids, lambda x, first: fresh.replay(starts, rows, *place(x), ids, first, 1, expiry))
    assert count == sum(len(unexpired(inertia(found[k][0]), expiry)) for k in ids)
    result = rows_of(made, Version.NOW)
    for k, (old, _) in enumerate(found):
        assert unexpired(result[k], expiry) == unexpired(inertia(old + late[k]), expiry)
    assert [unexpired(x, expiry) for x in rows_of(made, Version.BASE)] == [
        unexpired(inertia(old), expiry) for old, _ in found
    ]


@given(st.lists(st.tuples(valued_lists(), valued_lists()), min_size=1, max_size=4), st.integers(-1, LATEST))
def test_lists_are_taken_over_without_what_has_expired(found: list[tuple[list[Span], list[Span]]], expiry: int) -> None:
    made = tight([old for old, _ in found])
    starts, sizes, rows = packed([new for _, new in found], 3)
    ids = np.arange(len(found))
    stops = starts + sizes
    written(made, ids, lambda x, first: fresh.take_over(starts, stops, rows, *place(x), ids, first, expiry))
    assert rows_of(made, Version.NOW) == [unexpired(new, expiry) for _, new in found]


expressions = st.integers(1, 3).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(valued_lists(), min_size=3, max_size=3), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=2**n - 1, max_size=2**n - 1),
        st.lists(st.tuples(*[st.integers(-1, 2)] * n, *[st.integers(0, 2)] * n), min_size=1, max_size=4),
    )
)


@given(expressions, st.data())
def test_an_expression_is_what_its_truth_table_makes_of_its_inputs(given_: tuple, data: st.DataObject) -> None:
    inputs, truths, bindings = given_
    n = len(inputs)
    truth = np.array([False, *truths])
    stores = [ragged(lists, 3) for lists in inputs]
    heads = [[(s, e, 0) for s, e, v in data.draw(valued_lists()) if v == 0] for _ in bindings]
    lows = ints([data.draw(st.integers(0, LATEST + 2)) for _ in bindings])
    expiry = data.draw(st.integers(-2, int(lows.min()) - 1))
    made = tight(heads)
    ids = np.arange(len(bindings))
    which, values = ints([b[:n] for b in bindings]).T.copy(), ints([b[n:] for b in bindings]).T.copy()
    spare = fresh.MOST - n
    tables = (*(x.table for x in stores), *[np.zeros((1, 4), np.int32)] * spare)
    pools = (*(x.pool for x in stores), *[np.zeros((1, 3), np.int64)] * spare)
    scratch = np.empty((3, fresh.MOST), np.int64)
    few = data.draw(st.booleans())
    missing = ((0, fresh.FEW - n), (0, 0))

    def write(x: Ragged, first: int) -> tuple[int, int, int]:
        if few:
            read_few = [array for m in range(fresh.FEW) for array in (tables[m], pools[m])]
            asked = np.pad(which, missing, constant_values=-1), np.pad(values, missing)
            return fresh.evaluate_few(*read_few, *asked, truth, *place(x), ids, lows, first, expiry)
        read = tables, pools, which, values, truth
        return fresh.evaluate(*read, *place(x), ids, lows, first, expiry, scratch)

    written(made, ids, write)
    for k, result in enumerate(rows_of(made, Version.NOW)):
        assert all(a[1] < b[0] for a, b in zip(result, result[1:], strict=False)), "not maximal"
        for time in range(expiry, LATEST + 4):
            held = [which[m, k] >= 0 and value_at(inputs[m][which[m, k]], time) == values[m, k] for m in range(n)]
            now = bool(truth[sum(1 << m for m in range(n) if held[m])])
            expected = now if time >= lows[k] else value_at(heads[k], time) == 0
            if time > expiry:
                assert (value_at(result, time) == 0) == expected, f"at {time}"


@given(st.lists(valued_lists(), min_size=3, max_size=3), st.data())
def test_a_list_can_repeat_intervals_of_another(inputs: list[list[Span]], data: st.DataObject) -> None:
    bindings = data.draw(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), min_size=1, max_size=4))
    source = ragged(inputs, 3)
    heads = [[(s, e, 0) for s, e, v in data.draw(valued_lists()) if v == 0] for _ in bindings]
    lows = ints([data.draw(st.integers(0, LATEST + 2)) for _ in bindings])
    expiry = data.draw(st.integers(-2, int(lows.min()) - 1))
    made, ids = tight(heads), np.arange(len(bindings))
    which, values = (ints([b[c] for b in bindings]) for c in (0, 1))
    read = source.table, source.pool, which, values
    written(made, ids, lambda x, first: fresh.repeat(*read, *place(x), ids, lows, first, expiry))
    for k, result in enumerate(rows_of(made, Version.NOW)):
        assert all(a[1] < b[0] for a, b in zip(result, result[1:], strict=False)), "not maximal"
        for time in range(expiry + 1, LATEST + 4):
            held = which[k] >= 0 and value_at(inputs[which[k]], time) == values[k]
            expected = held if time >= lows[k] else value_at(heads[k], time) == 0
            assert (value_at(result, time) == 0) == expected, f"at {time}"


@given(st.lists(valued_lists(), min_size=3, max_size=3), st.integers(0, 3), st.data())
def test_a_list_can_be_the_intervals_of_another_that_last(
    inputs: list[list[Span]], op: int, data: st.DataObject
) -> None:
    bindings = data.draw(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), min_size=1, max_size=4))
    source, until = ragged(inputs, 3), LATEST + 3
    heads = [[(s, e, 0) for s, e, v in data.draw(valued_lists()) if v == 0] for _ in bindings]
    lows = ints([data.draw(st.integers(0, LATEST + 2)) for _ in bindings])
    earliest = data.draw(st.integers(0, int(lows.min())))
    expiry = data.draw(st.integers(-2, earliest - 1))
    made, ids = tight(heads), np.arange(len(bindings))
    which, values = (ints([b[c] for b in bindings]) for c in (0, 1))
    bounds = ints(data.draw(st.lists(st.integers(0, 8), min_size=len(bindings), max_size=len(bindings))))
    if len(set(bounds.tolist())) == 1:
        bounds = bounds[:1]
    flips = np.empty(len(bindings), np.int64)
    read = op, bounds, until, source.table, source.pool, which, values, flips
    written(made, ids, lambda x, first: fresh.lasting(*read, *place(x), ids, lows, earliest, first, expiry, 0, 0, 1))
    for k, result in enumerate(rows_of(made, Version.NOW)):
        bound = int(bounds[k % len(bounds)])
        mine = [(s, e) for s, e, v in inputs[which[k]] if v == values[k]] if which[k] >= 0 else []
        sizes = [(until if e == OPEN else e) - s for s, e in mine]
        kept = [x for x, size in zip(mine, sizes, strict=True) if RULES[op](size, bound)]
        near = [s for s, e in mine if e >= lows[k]]
        low = max(min([int(lows[k]), *near]), earliest)
        assert all(a[1] < b[0] for a, b in zip(result, result[1:], strict=False)), "not maximal"
        for time in range(expiry + 1, LATEST + 4):
            expected = any(s <= time < e for s, e in kept) if time >= low else value_at(heads[k], time) == 0
            assert (value_at(result, time) == 0) == expected, f"at {time}"
        running = [s + bound + (op in (0, 3)) for s, e in mine if e == OPEN and e >= lows[k]]
        assert flips[k] == next((flip for flip in running if flip > until), OPEN)


@given(st.lists(st.tuples(valued_lists(), valued_lists()), min_size=1, max_size=4), st.integers(-1, LATEST))
def test_what_changed_in_new_lists_is_told(lists: list[tuple[list[Span], list[Span]]], expiry: int) -> None:
    made = ragged([old for old, _ in lists], 3)
    starts, sizes, rows = packed([new for _, new in lists], 3)
    ids = np.arange(len(lists))
    stops = starts + sizes
    before = written(made, ids, lambda x, first: fresh.take_over(starts, stops, rows, *place(x), ids, first, expiry))
    after = int(sizes.sum())
    removed, added = np.empty((4, before), np.int64), np.empty((4, after), np.int64)
    touched = np.empty((3, len(ids)), np.int64)
    view = made.view(Version.LAST)
    counts = rewritten(*view, made.pool, ids, expiry, removed, added, touched)
    removed, added, touched = removed[:, : counts[0]], added[:, : counts[1]], touched[:, : counts[2]]
    stretches = {int(i): (int(low), int(high)) for i, low, high in touched.T}
    assert counts[3] == min((low for low, _ in stretches.values()), default=int(OPEN))
    for k, (was, now) in enumerate((unexpired(old, expiry), unexpired(new, expiry)) for old, new in lists):
        assert [tuple(x) for i, *x in removed.T.tolist() if i == k] == [x for x in was if x not in now]
        assert [tuple(x) for i, *x in added.T.tolist() if i == k] == [x for x in now if x not in was]
        assert (k in stretches) == (was != now)
        low, high = stretches.get(k, (int(OPEN), int(OPEN)))
        for time in range(-1, LATEST + 3):
            if value_at(was, time) != value_at(now, time):
                assert low <= time < high, f"at {time}"
        if was != now:
            assert value_at(was, low) != value_at(now, low)
