"""The sweep against the definitions of inertia and of delayed effects, read time-point by time-point."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from column_lists import ints, places, ragged, rows_of, table
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns import sweep as kernels
from thalweg.columns.cells import (
    ANY,
    CARRY_TIME,
    COUNTS,
    DELAYS,
    NONE,
    TEMPLATE,
    WIDTH,
    Board,
    CellArrays,
    Stretch,
    active,
    beginning,
    shares,
    trim,
    unite,
)
from thalweg.columns.ragged import Version
from thalweg.columns.timelines import INITIATE, OPEN, TERMINATE, TERMINATE_ALL

CELLS, LATEST = 4, 20
Condition = tuple[int, bool, int]
"""Cell, negated, value."""
Candidate = tuple[int, int, int, int, tuple[Condition, ...]]
"""Time, cell, kind, value, conditions."""
Delay = tuple[int, int, int, int, int]
"""Value, target, length, postponable, cell."""
Span = tuple[int, int, int, int]
"""Cell, start, end, value."""

cells = st.integers(0, CELLS - 1)
values = st.integers(0, 2)
conditions = st.lists(st.tuples(cells, st.booleans(), values | st.just(int(ANY))), max_size=2).map(tuple)
kinds = st.sampled_from([INITIATE, INITIATE, INITIATE, TERMINATE, TERMINATE_ALL])
candidates = st.lists(st.tuples(st.integers(0, LATEST), cells, kinds, values, conditions), max_size=25)
delays = st.lists(
    st.tuples(values, values | st.just(int(NONE)), st.integers(1, 8), st.integers(0, 1), cells).filter(
        lambda delay: delay[0] != delay[1]
    ),
    max_size=4,
).map(lambda found: sorted({(d[4], d[0], d[1]): d for d in found}.values(), key=lambda d: d[4]))


# --------------------------------------------------------------------------- the definitions


@dataclass
class Twin:
    """Every time-point up to `until`, by SEMANTICS 1.1 and 1.5."""

    rows: list[Candidate]
    delays: list[Delay]
    until: int
    value: dict[int, int] = field(default_factory=dict)
    since: dict[int, int] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    initiated: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    terminated: dict[tuple[int, int], set[int]] = field(default_factory=dict)

    def run(self) -> list[Span]:
        for time in range(self.until + 1):
            self._effects(time)
            for cell in range(CELLS):
                self._settle(cell, time)
        running = [(cell, self.since[cell], int(OPEN), value) for cell, value in self.value.items()]
        return sorted(self.spans + running)

    def _effects(self, time: int) -> None:
        for at in ((cell, time) for cell in range(CELLS)):
            self.initiated[at], self.terminated[at] = set(), set()
        for when, cell, kind, value, needed in self.rows:
            if when == time and all(self._holds(*condition) for condition in needed):
                if kind == INITIATE:
                    self.initiated[cell, time].add(value)
                else:
                    self.terminated[cell, time] |= {value} if kind == TERMINATE else {0, 1, 2}
        due = [delay for delay in self.delays if self._is_due(delay, time)]
        for delay in due:
            if not delay[3]:
                self._fire(delay, time)
        waiting = [delay for delay in due if delay[3]]
        while waiting:
            postponed = [d for d in waiting if d[0] in self.initiated[d[4], time]]
            waiting = [d for d in waiting if d not in postponed]
            free = [
                d for d in waiting if not any(o[4] == d[4] and o[1] == d[0] for o in waiting if o is not d)
            ]
            for delay in free:
                self._fire(delay, time)
            waiting = [d for d in waiting if d not in free]
            if not postponed and not free:
                break

    def _holds(self, cell: int, negated: bool, value: int) -> bool:
        holds = cell in self.value and value in (int(ANY), self.value[cell])
        return holds != negated

    def _is_due(self, delay: Delay, time: int) -> bool:
        value, _, length, postponable, cell = delay
        start = time - length
        if start < 0 or value not in self.initiated[cell, start]:
            return False
        between = range(start + 1, time)
        if any(self._broken(cell, value, t) for t in between):
            return False
        return not postponable or not any(value in self.initiated[cell, t] for t in between)

    def _broken(self, cell: int, value: int, time: int) -> bool:
        return value in self.terminated[cell, time] or bool(self.initiated[cell, time] - {value})

    def _fire(self, delay: Delay, time: int) -> None:
        value, target, _, _, cell = delay
        if target == NONE:
            self.terminated[cell, time].add(value)
        else:
            self.initiated[cell, time].add(target)

    def _settle(self, cell: int, time: int) -> None:
        now = self.value.get(cell)
        possible = self.initiated[cell, time] | ({now} if now is not None else set())
        then = [value for value in possible if not self._broken(cell, value, time)]
        if then == [now]:
            return
        if now is not None:
            self.spans.append((cell, self.since.pop(cell), time + 1, self.value.pop(cell)))
        if then:
            self.value[cell], self.since[cell] = then[0], time + 1


# --------------------------------------------------------------------------- the kernel


@dataclass
class Sweep:
    """The arrays of a component, kept from one sweep to the next."""

    rows: list[Candidate]
    delays: list[Delay]

    def __post_init__(self) -> None:
        self.arrays = CellArrays()
        self.arrays.ensure(CELLS)
        self.arrays.cells[:, CARRY_TIME] = -1
        first = [sum(d[4] < cell for d in self.delays) for cell in range(CELLS + 1)]
        self.arrays.cells[:CELLS, COUNTS] = self.arrays.cells[:CELLS, TEMPLATE] = first[:-1]
        self.arrays.cells[:CELLS, DELAYS] = np.diff(first)
        self.board = Board(
            self.arrays.cells,
            self.arrays.due,
            self.arrays.alert,
            np.full((len(self.delays), 2), NONE),
            table([d[:4] for d in self.delays], 4),
            np.empty((0, 6), np.int64),
            np.zeros(1, np.int64),
            np.empty((0, 3), np.int64),
            1,
            1,
            len(self.delays),
        )
        wide = [self._columns(row) for row in self.rows]
        self.table, self.row_cells = table(wide, 8), ints([row[1] for row in self.rows])
        unite(self.arrays.parents, self.row_cells, self.table, 3)
        self.stamp = 0
        self.lists, _ = places([[row[:4] for row in self.rows if row[1] == cell] for cell in range(CELLS)], 4)

    def groups(self, query: int, window_start: int, wanted: Sequence[int]) -> tuple[Stretch, Any, Any]:
        self.stamp += 1
        stretch = Stretch(window_start, query, 1, 0, self.stamp)
        ranks = np.zeros(len(self.arrays.parents), np.int64)
        found = active(self.arrays.parents, ints(wanted), self.arrays.alert, self.lists, CELLS, query, ranks)
        return stretch, *found

    @staticmethod
    def _columns(row: Candidate) -> tuple[int, ...]:
        pairs = [part for cell, negated, value in row[4] for part in (2 * cell + negated, value)]
        return (row[0], row[2], row[3], *pairs, *[-1] * (4 - len(pairs)), 1)

    def run(self, query: int, window_start: int = -1) -> list[Span]:
        stretch, found, starts = self.groups(query, window_start, range(CELLS))
        group = {int(cell): g for g in range(len(starts) - 1) for cell in found[starts[g] : starts[g + 1]]}
        order = sorted(range(len(self.rows)), key=lambda k: (group[self.rows[k][1]], self.rows[k][0]))
        groups = [group[self.rows[k][1]] for k in order]
        met, out, logged = kernels.sweep(
            found,
            starts,
            self.table,
            self.row_cells,
            ints(order),
            ints([sum(g < at for g in groups) for at in range(len(starts))]),
            self.board,
            stretch,
            log=True,
        )
        assert sorted(met) == list(range(CELLS))
        self.log = {tuple(map(int, row)) for row in logged}
        return sorted((int(c), int(s), int(e), int(v)) for c, s, e, v in out)


@given(candidates, delays, st.integers(0, LATEST + 10))
def test_the_sweep_is_the_definition(rows: list[Candidate], delayed: list[Delay], query: int) -> None:
    twin = Twin(rows, delayed, query)
    expected = twin.run()
    sweep = Sweep(rows, delayed)
    assert sweep.run(query) == expected
    initiations = {(c, t, v) for (c, t), found in twin.initiated.items() for v in found}
    assert {(c, t, v) for c, t, kind, v in sweep.log if kind == INITIATE} == initiations


@given(candidates, delays, st.lists(st.integers(0, LATEST + 5), min_size=2, max_size=2).map(sorted))
def test_a_sweep_goes_on_from_what_it_has_carried_over(
    rows: list[Candidate], delayed: list[Delay], times: list[int]
) -> None:
    window_start, query = times
    sweep = Sweep(rows, delayed)
    assert sweep.run(query, window_start) == Twin(rows, delayed, query).run()
    assert (sweep.arrays.cells[:CELLS, CARRY_TIME] == window_start).all()
    later = LATEST + 10
    expected = [span for span in Twin(rows, delayed, later).run() if span[2] > window_start + 1]
    assert sweep.run(later, window_start) == expected


@given(candidates, delays, st.integers(0, LATEST))
def test_the_next_countdown_of_a_cell_is_known(
    rows: list[Candidate], delayed: list[Delay], query: int
) -> None:
    rows = [row for row in rows if row[0] <= query]
    sweep = Sweep(rows, delayed)
    sweep.run(query)
    for cell in range(CELLS):
        twin = Twin(rows, delayed, LATEST + 10)
        twin.run()
        fires = [
            time
            for time in range(query + 1, LATEST + 10)
            if any(d[4] == cell and twin._is_due(d, time) and time - d[2] <= query for d in delayed)
        ]
        assert sweep.arrays.due[cell] == (fires[0] if fires else OPEN)


# --------------------------------------------------------------------------- groups and lists


@given(candidates)
def test_cells_that_read_each_other_are_one_group(rows: list[Candidate]) -> None:
    sweep = Sweep(rows, [])
    groups = {cell: {cell} for cell in range(CELLS)}
    for _, cell, _, _, needed in rows:
        for other, _, _ in needed:
            joined = groups[cell] | groups[other]
            for member in joined:
                groups[member] = joined
    _, cells, starts = sweep.groups(LATEST, -1, range(CELLS))
    found = [tuple(sorted(map(int, cells[start:end]))) for start, end in itertools.pairwise(starts)]
    assert sorted(found) == sorted({tuple(sorted(group)) for group in groups.values()})


@given(st.lists(st.lists(st.integers(0, 20), max_size=6).map(sorted), min_size=1, max_size=4), st.data())
def test_trimming_drops_the_candidates_up_to_a_time(lists: list[list[int]], data: st.DataObject) -> None:
    times = ints(data.draw(st.lists(st.integers(-1, 21), min_size=len(lists), max_size=len(lists))))
    lists_at, pool = places([[(t, 0) for t in x] for x in lists], 2)
    cells = np.zeros((len(lists), WIDTH), np.int64)
    cells[:, CARRY_TIME] = times
    trim(lists_at, pool, np.arange(len(lists)), cells)
    for k, (old, time) in enumerate(zip(lists, times, strict=True)):
        start, length, room, _ = lists_at[k]
        assert pool[start : start + length, 0].tolist() == [t for t in old if t > time]
        assert room == length


ends_of_spans = st.lists(st.integers(1, 20), unique=True, max_size=5).map(sorted)


@given(st.lists(st.tuples(ends_of_spans, ends_of_spans), min_size=1, max_size=4), st.booleans())
def test_swept_lists_replace_the_old_ones_without_what_has_expired(
    lists: list[tuple[list[int], list[int]]], roomy: bool
) -> None:
    old, new = ([[(end - 1, end, 7) for end in pair[side]] for pair in lists] for side in range(2))
    made = ragged(old, 3, roomy=roomy)
    starts = ints([sum(map(len, new[:k])) for k in range(len(new) + 1)])
    flat = table([span for found in new for span in found], 3)
    ids = np.arange(len(lists))
    kept, froms = beginning(made.table, made.pool, ids, flat, starts[:-1], starts[1:], 10)
    made.replace(ids, kept, froms, starts[1:], flat, 10)
    assert rows_of(made, Version.NOW) == [[span for span in found if span[1] > 10] for found in new]
    base = [[span for span in found if span[1] > 10] for found in rows_of(made, Version.BASE)]
    assert base == [[span for span in found if span[1] > 10] for found in old]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 3), st.data())
def test_each_fluent_gets_the_intervals_of_its_cells(sizes: list[int], fluents: int, data: st.DataObject) -> None:
    met = np.arange(len(sizes))
    owners = np.repeat(met, sizes)
    count = data.draw(st.integers(0, len(sizes)))
    for fluent in range(fluents):
        ids, places, froms, tos = shares(met, owners, fluent, fluents, count)
        expected = [cell for cell in met if cell % fluents == fluent and cell // fluents < count]
        assert (ids * fluents + fluent).tolist() == met[places].tolist() == expected
        for cell, start, stop in zip(expected, froms, tos, strict=True):
            assert owners[start:stop].tolist() == [cell] * sizes[cell]
