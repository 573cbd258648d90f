"""Folding: insertions and deletions in any order leave the timeline they describe."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.io.fold import INTERVAL_CHANGES, FoldError, Folding, fold_atoms, fold_events, fold_intervals

Interval = tuple[str, str, int, int | None]


def changes(rows: list[tuple[str, Interval]]) -> pa.Table:
    columns = list(zip(*[(op, *interval) for op, interval in rows], strict=True)) or [()] * 5
    schema = pa.schema(
        [(n, pa.string()) for n in ("op", "fluent", "value")] + [(n, pa.int64()) for n in ("start", "end")]
    )
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*table.to_pydict().values(), strict=True))


def by_hand(rows: list[tuple[str, Interval]]) -> list[Interval]:
    """The plain-Python twin."""
    held: set[Interval] = set()
    for op, interval in rows:
        (held.add if op == "insert" else held.remove)(interval)
    return sorted(held, key=lambda i: i[:3])


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, Interval]]:
    """Changes as a reasoner makes them: one interval per pair and start at a time."""
    held: dict[tuple[str, str, int], int | None] = {}
    rows: list[tuple[str, Interval]] = []
    for _ in range(draw(st.integers(0, 40))):
        key = (draw(st.sampled_from("ab")), draw(st.sampled_from(["true", "x"])), draw(st.integers(-5, 5)))
        if key in held:
            rows.append(("delete", (*key, held.pop(key))))
        if draw(st.booleans()):
            held[key] = draw(st.sampled_from([None, key[2] + 1, key[2] + 9, 2**61]))
            rows.append(("insert", (*key, held[key])))
    return rows


@given(histories(), st.randoms(use_true_random=False))
def test_changes_fold_to_what_is_left_in_any_order(
    rows: list[tuple[str, Interval]], order: random.Random
) -> None:
    expected = by_hand(rows)
    shuffled = order.sample(rows, len(rows))
    assert rows_of(fold_intervals(changes(shuffled))) == expected


@given(histories())
def test_dictionary_encoded_changes_in_pieces_fold_the_same(rows: list[tuple[str, Interval]]) -> None:
    pieces = [changes(rows[:7]), changes(rows[7:])]
    encoded = [
        pa.table(
            {n: p[n].dictionary_encode() if n in ("op", "fluent", "value") else p[n] for n in p.column_names}
        )
        for p in pieces
    ]
    assert rows_of(fold_intervals(pa.concat_tables(encoded))) == by_hand(rows)


@given(histories())
def test_times_too_far_apart_for_one_key_fold_the_same(rows: list[tuple[str, Interval]]) -> None:
    far = ("insert", ("a", "far", -(2**61), 0))
    assert rows_of(fold_intervals(changes([*rows, far]))) == by_hand([*rows, far])


@given(histories(), st.integers(1, 5), st.integers(1, 10))
def test_what_is_handed_over_and_what_is_left_are_the_timeline(
    rows: list[tuple[str, Interval]], room: int, cut: int
) -> None:
    folding = Folding(INTERVAL_CHANGES, room=room)
    found = []
    for start in range(0, len(rows), cut):
        table = changes(rows[start : start + cut])
        folding.add(table.append_column("query_time", pa.array([start] * table.num_rows)))
        touched = [i[3] for _, i in rows[start + cut :] if i[3] is not None]
        for final in folding.settled(start + 1 - min(touched, default=2**62)):
            found += rows_of(final)
    assert sorted(found + rows_of(folding.rest()), key=lambda i: i[:3]) == by_hand(rows)


@given(st.lists(st.lists(st.integers(1, 9), max_size=4), max_size=12), st.integers(1, 5), st.integers(1, 12))
def test_what_is_handed_over_does_not_hang_on_how_many_query_times_come_together(
    lengths: list[list[int]], room: int, together: int
) -> None:
    told = [
        changes([("insert", (f"f{i}", "true", query, query + length)) for i, length in enumerate(some)]).append_column(
            "query_time", pa.array([query] * len(some), pa.int64())
        )
        for query, some in enumerate(lengths)
    ]
    runs = []
    for size in (1, together):
        folding, pieces = Folding(INTERVAL_CHANGES, room=room), []
        for start in range(0, len(told), size):
            folding.add(pa.concat_tables(told[start : start + size]))
            pieces += [rows_of(final) for final in folding.settled(2)]
        runs.append([*pieces, rows_of(folding.rest())])
    assert runs[0] == runs[1]


def test_derived_events_fold_too() -> None:
    table = pa.table(
        {"op": ["insert", "insert", "delete"], "event": ["late(a)", "late(b)", "late(a)"], "time": [3, 4, 3]}
    )
    assert rows_of(fold_events(table)) == [("late(b)", 4)]


@pytest.mark.parametrize("ops", [["delete"], ["insert", "insert"]])
def test_changes_that_cannot_be_are_noticed(ops: list[str]) -> None:
    with pytest.raises(FoldError):
        fold_intervals(changes([(op, ("a", "true", 1, 2)) for op in ops]))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 8), st.integers(0, 8)), max_size=25))
def test_atoms_fold_to_the_ticks_at_which_they_are_in(moves: list[tuple[str, int, int]]) -> None:
    """Each move turns an atom over on a stretch of ticks, as late rows do; the last tick 8 stands for ever."""
    held: dict[str, list[bool]] = {"a": [False] * 9, "b": [False] * 9}
    rows: list[tuple[str, str, None, int, int | None]] = []
    for atom, one, other in moves:
        first, last = sorted((one, other))
        if len(set(held[atom][first : last + 1])) == 1:
            op = "delete" if held[atom][first] else "insert"
            rows.append((op, atom, None, first, None if last == 8 else last))
            held[atom][first : last + 1] = [op == "insert"] * (last + 1 - first)
    schema = pa.schema(
        [("op", pa.string()), ("atom", pa.string())] + [(n, pa.int64()) for n in ("at", "from", "to")]
    )
    columns = list(zip(*rows, strict=True)) or [()] * 5
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)
    found = {"a": [False] * 9, "b": [False] * 9}
    for row in fold_atoms(table).to_pylist():
        stop = 9 if row["to"] is None else row["to"] + 1
        assert not any(found[row["atom"]][max(0, row["from"] - 1) : stop])
        found[row["atom"]][row["from"] : stop] = [True] * (stop - row["from"])
    assert found == held
