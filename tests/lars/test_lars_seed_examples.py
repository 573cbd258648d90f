"""Examples 2 to 6 of the seed as the reasoner sees them (7 is a matter of explanations), and edges of windows."""

from __future__ import annotations

import pytest
from lars_programs import Fact, batch

import thalweg
from thalweg.lars.reasoner import Reasoner
from thalweg.lars.stratify import stratify


def ticks(rules: str, facts: list[Fact], last: int = 9, start: int = 0) -> dict[str, list[int]]:
    """The ticks at which each head is in; points are written behind an @."""
    reasoner = Reasoner(thalweg.parse(f"program lars. {rules}"), start=start)
    reasoner.accept(batch(facts))
    found: dict[str, list[int]] = {}
    for t in range(start, last + 1):
        reasoner.advance(t)
        for row in reasoner.answers().to_pylist():
            shown = row["atom"] if row["at"] is None else f"{row['atom']}@{row['at']}"
            found.setdefault(shown, []).append(t)
    return found


def span(first: int, last: int) -> list[int]:
    return list(range(first, last + 1))


def test_example_2_a_window_of_5_holds_6_points_and_is_cut_at_the_start() -> None:
    found = ticks("x if [5] sometime a. y if [5] always b. seen(T) if [5] at(T) a.", [(3, "a", ())])
    assert found == {"x": span(3, 8), "seen(3)": span(3, 8)}


def test_example_3_both_atoms_are_in_the_window_of_three_minutes() -> None:
    found = ticks("tick 6s. both if [3m] sometime bus, [3m] sometime tram.", [(372, "bus", ()), (391, "tram", ())], 420)
    assert found == {"both": span(391, 402)} and 397 in found["both"]


def test_example_4_at_and_sometime_hold_exactly_for_three_minutes() -> None:
    rules = "tick 6s. some if [3m] sometime bus. here if [3m] at(372) bus. now if bus. ever if at(372) bus."
    found = ticks(rules, [(372, "bus", ())], 410)
    assert found == {"some": span(372, 402), "here": span(372, 402), "now": [372], "ever": span(372, 410)}


def test_example_5_a_head_in_the_future_stands_at_its_own_point() -> None:
    rules = "tick 6s. at(T+3m) expBusM if [3m] at(T) busG, on. on if [1m] sometime request."
    found = ticks(rules, [(372, "busG", ()), (397, "request", ())], 410)
    assert found == {"on": span(397, 407), "expBusM@402": span(397, 402)}


def test_example_6_a_window_atom_stands_strictly_above_its_atom() -> None:
    strata = stratify(thalweg.parse("program lars. v1 if [5] at(T) v2."))
    assert [(e.head, e.atom, e.strict) for e in strata.edges] == [(("v1", 0), ("v2", 0), True)]
    with pytest.raises(thalweg.ProgramError, match="TW401"):
        Reasoner(thalweg.parse("program lars. v1 if [5] sometime v2. v2 if v1."))


EDGES = [
    ("[0] sometime a", [3], [3]),
    ("[+0] sometime a", [3], [3]),
    ("[0] always a", [3, 4], [3, 4]),
    ("[2] always a", [0, 1, 2, 4], [0, 1, 2]),
    ("[2] always a", [2, 3, 4], [4]),
    ("[1, +1] sometime a", [4], [4, 5]),
    ("[3 hop 3] sometime a", [4], [6, 7, 8]),
    ("[2 hop 4] sometime a", [3], [4, 5, 6, 7]),
    ("[0 #] sometime a", [3], []),
    ("[1 #] sometime a", [3, 6], span(3, 9)),
    ("not [2] sometime a", [3], [0, 1, 2, 6, 7, 8, 9]),
    ("not [2] always a", [0, 1, 2, 3], span(4, 9)),
    ("1 = count(X) over [2] p(X)", [3], []),
]


@pytest.mark.parametrize(("literal", "points", "expected"), EDGES)
def test_edges_of_windows(literal: str, points: list[int], expected: list[int]) -> None:
    assert ticks(f"x if {literal}.", [(t, "a", ()) for t in points]).get("x", []) == expected


def test_a_future_window_sees_heads_that_are_derived_ahead() -> None:
    found = ticks("at(T+4) late if [4] at(T) a. soon if [+2] sometime late.", [(1, "a", ())])
    assert found["late@5"] == span(1, 5) and found["soon"] == span(3, 5)


def test_ends_are_exact_where_a_hopping_window_looks_at_a_head_that_lasts() -> None:
    rules = "program lars. c if not b. at(T+2) f if [2] at(T) a, not [1 hop 3] sometime c."
    reasoner = Reasoner(thalweg.parse(rules))
    reasoner.accept(batch([(1, "a", ())]))
    reasoner.advance(1)
    assert {(r["atom"], r["to"]) for r in reasoner.answers().to_pylist()} == {("c", None), ("f", 2)}


def test_a_head_in_the_past_is_allowed_down_to_the_start() -> None:
    found = ticks("at(T-3) before if [5] at(T) a. was if [5] sometime before.", [(2, "a", ()), (4, "a", ())])
    assert "before@-1" not in found
    assert found["before@1"] == span(4, 9) and found["was"] == span(4, 6)


def test_partition_windows_keep_the_last_of_each_key() -> None:
    facts: list[Fact] = [(0, "p", (1, 7)), (1, "p", (2, 8)), (3, "p", (1, 9))]
    found = ticks("last(X, Y) if [1 # by X] sometime p(X, Y).", facts, 5)
    assert found == {"last(1,7)": [0, 1, 2], "last(2,8)": span(1, 5), "last(1,9)": span(3, 5)}


def test_a_partition_window_of_no_atoms_sees_derived_atoms_of_now_alone() -> None:
    rules = "at(T+1) p(1) if [9] at(T) a. seen(X) if [0 # by X] sometime p(X). whole(X) if [0 # by X] always p(X)."
    found = ticks(rules, [(2, "a", ())], 6)
    assert found == {"p(1)@3": span(2, 6), "seen(1)": [3], "whole(1)": [3]}


def test_atoms_of_one_point_are_cut_in_the_order_of_their_texts() -> None:
    facts: list[Fact] = [(2, "p", (1,)), (2, "p", (2,)), (2, "p", (3,)), (2, "p", (3,))]
    assert ticks("last(X) if [2 #] sometime p(X).", facts, 3) == {"last(2)": [2, 3], "last(3)": [2, 3]}


def test_aggregates_count_sum_and_bound_the_occurrences_in_a_window() -> None:
    facts: list[Fact] = [(1, "p", (4,)), (2, "p", (4,)), (2, "p", (9,))]
    found = ticks(
        "n(N) if N = count(X) over [1] p(X), N > 0. s(S) if S = sum(X) over [1] p(X), S > 0."
        " lo(M) if M = min(X) over [1] p(X). hi(M) if M = max(X) over [1] p(X).",
        facts,
        4,
    )
    assert found == {
        "n(1)": [1], "n(3)": [2], "n(2)": [3],
        "s(4)": [1], "s(17)": [2], "s(13)": [3],
        "lo(4)": [1, 2, 3], "hi(4)": [1], "hi(9)": [2, 3],
    }  # fmt: skip
