"""Rows of windows that do not overlap: each is looked at once, and nothing of them is kept."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import thalweg
from thalweg.events.reasoner import Reasoner
from thalweg.protocol import Rows

PROGRAM = """
initiatedAt(fast(V)=true, T) :- happensAt(speed(V, S), T), S > 10, \\+ happensAt(lost(V), T).
terminatedAt(fast(V)=true, T) :- happensAt(speed(V, S), T), S =< 10.
initiatedAt(seen(V)=true, T) :- happensAt(end(fast(V)=true), T).
terminatedAt(seen(V)=true, T) :- happensAt(lost(V), T).
holdsFor(odd(V)=true, I) :-
    holdsFor(seen(V)=true, I1), holdsFor(fast(V)=true, I2), relative_complement_all(I1, [I2], I).
"""
VESSELS = pa.array([f"v{i}" for i in range(20)])


def hour(k: int, rows: int = 400) -> list[Rows]:
    """The rows of one window, drawn by its number."""
    rng = np.random.default_rng(k)
    found = []
    for name, size in (("speed", rows), ("lost", rows // 10)):
        time = np.sort(rng.integers(100 * k + 1, 100 * (k + 1) + 1, size))
        vessel = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 20, size, np.int32)), VESSELS)
        args = (vessel, pa.array(rng.integers(0, 21, size).astype(np.float64))) if name == "speed" else (vessel,)
        numbers = np.arange(1000 * k, 1000 * k + size)
        found.append(Rows(name, np.ones(size, np.int8), time, time, numbers, args))
    return found


def table(reasoner: Reasoner, hours: int) -> list[dict[str, object]]:
    changes: list[dict[str, object]] = []
    for k in range(hours):
        reasoner.accept(hour(k))
        changes += reasoner.advance(100 * (k + 1))["changes"].to_pylist()
    return changes


def standing(changes: list[dict[str, object]]) -> set[tuple[object, ...]]:
    found: set[tuple[object, ...]] = set()
    for change in changes:
        row = change["fluent"], change["value"], change["start"], change["end"]
        (found.add if change["op"] == "insert" else found.remove)(row)
    return found


def test_the_state_after_many_windows_is_as_large_as_after_a_few() -> None:
    reasoner = Reasoner(thalweg.parse(PROGRAM), window=100, step=100)
    sizes = []
    for k in range(40):
        reasoner.accept(hour(k))
        reasoner.advance(100 * (k + 1))
        sizes.append(len(reasoner.snapshot()))
    assert max(sizes[20:]) <= 1.3 * max(sizes[:10])  # compressed, and later times have more digits


def test_windows_that_do_not_overlap_give_the_timeline_of_windows_that_do() -> None:
    apart = Reasoner(thalweg.parse(PROGRAM), window=100, step=100)
    overlapping = Reasoner(thalweg.parse(PROGRAM), window=250, step=100)
    again = Reasoner(thalweg.parse(PROGRAM), window=100, step=100, recompute=True)
    expected = standing(table(overlapping, 8))
    assert len(expected) > 500
    assert standing(table(apart, 8)) == expected
    assert standing(table(again, 8)) == expected


def test_recomputing_windows_that_do_not_overlap_is_no_other_work() -> None:
    usual, again = (Reasoner(thalweg.parse(PROGRAM), window=100, step=100, recompute=r) for r in (False, True))
    assert table(usual, 3) == table(again, 3)
    assert usual.snapshot() == again.snapshot()


def test_a_row_that_is_there_twice_counts_once() -> None:
    once, twice = (Reasoner(thalweg.parse(PROGRAM), window=100, step=100) for _ in range(2))
    once.accept(hour(0))
    twice.accept([*hour(0), *hour(0)])
    one, other = (reasoner.advance(100)["changes"].to_pylist() for reasoner in (once, twice))
    assert len(one) == len(other)
    assert standing(one) == standing(other)


def test_changes_name_each_fluent_once() -> None:
    reasoner = Reasoner(thalweg.parse(PROGRAM), window=100, step=100)
    reasoner.accept(hour(0))
    column = reasoner.advance(100)["changes"].column("fluent").combine_chunks()
    texts = column.dictionary.to_pylist()
    assert len(texts) == len(set(texts)) <= 60


def test_changes_name_a_fluent_once_whose_values_are_determined_by_several_rules() -> None:
    text = PROGRAM + """
        holdsFor(odd(V)=maybe, I) :- holdsFor(seen(V)=true, I1), holdsFor(fast(V)=true, I2), intersect_all([I1, I2], I).
        """
    reasoner = Reasoner(thalweg.parse(text), window=100, step=100)
    for k, rows in enumerate((400, 40)):
        reasoner.accept(hour(k, rows))
        changes = reasoner.advance(100 * (k + 1))["changes"]
        texts = changes.column("fluent").combine_chunks().dictionary.to_pylist()
        assert len(texts) == len(set(texts)) > 3
        assert changes.to_pandas()["fluent"].tolist() == changes.column("fluent").to_pylist()
