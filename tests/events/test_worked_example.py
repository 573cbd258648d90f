"""The seed's running example of incremental evaluation (Tables 6 to 15), through the reasoner itself.

Two input fluents are known at one query time; by the next, intervals of each are retracted and inserted. Each of the
four lists of retracted and inserted intervals may be empty or not: 16 combinations for each of the three constructs.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from thalweg import parse
from thalweg.events.reasoner import Reasoner
from thalweg.reference.events import Row
from thalweg.reference.intervals import (
    Intervals,
    intersect_all,
    relative_complement_all,
    union_all,
)
from thalweg.reference.windowed import replay
from thalweg.testing.engines import Fold, to_batch

RULES = """
holdsFor(either=true, I) :- holdsFor(a=true, I1), holdsFor(b=true, I2), union_all([I1, I2], I).
holdsFor(both=true, I) :- holdsFor(a=true, I1), holdsFor(b=true, I2), intersect_all([I1, I2], I).
holdsFor(first=true, I) :- holdsFor(a=true, I1), holdsFor(b=true, I2), relative_complement_all(I1, [I2], I).
"""
BEFORE, LATER = 125, 130
KNOWN: dict[str, Intervals] = {
    "a": [(10, 15), (23, 30), (40, 50), (60, 70)],
    "b": [(17, 21), (26, 35), (43, 47), (54, 65)],
}
OUT: dict[str, Intervals] = {
    "a": [(10, 12), (27, 30), (43, 47)],
    "b": [(19, 21), (43, 47), (60, 65)],
}
IN: dict[str, Intervals] = {
    "a": [(54, 58), (80, 90), (95, 100)],
    "b": [(37, 41), (82, 87), (105, 120)],
}
PUBLISHED = {
    "either": [(12, 15), (17, 19), (23, 35), (37, 43), (47, 50), (54, 70), (80, 90), (95, 100), (105, 120)],
    "both": [(26, 27), (40, 41), (54, 58), (82, 87)],
    "first": [(12, 15), (23, 26), (41, 43), (47, 50), (60, 70), (80, 82), (87, 90), (95, 100)],
}


def revised(fluent: str, out: Intervals, more: Intervals) -> list[Row]:
    """Rows that retract what loses a part, and insert what is left of it and what is new."""
    rows = []
    for interval in KNOWN[fluent]:
        left = relative_complement_all([interval], [out])
        if left != [interval]:
            rows.append((-1, interval))
            rows += [(1, part) for part in left]
    rows += [(1, interval) for interval in more]
    return [row(fluent, op, interval, LATER - 2) for op, interval in rows]


def row(fluent: str, op: int, interval: tuple[int, int | None], arrival: int) -> Row:
    start, end = interval
    return Row(name=fluent, args=(), time=start, arrival=arrival, shape="interval", end=end, value="true", op=op)


def numbered(rows: list[Row]) -> list[Row]:
    return [replace(each, number=number) for number, each in enumerate(rows, start=1)]


@pytest.mark.parametrize("recompute", [False, True], ids=["incremental", "recomputing"])
@pytest.mark.parametrize("given", [*itertools.product([False, True], repeat=4)])
def test_every_combination_of_retracted_and_inserted_lists(
    given: tuple[bool, bool, bool, bool], recompute: bool
) -> None:
    out = {"a": OUT["a"] if given[0] else [], "b": OUT["b"] if given[1] else []}
    more = {"a": IN["a"] if given[2] else [], "b": IN["b"] if given[3] else []}
    rows = [row(name, 1, interval, 121) for name, found in KNOWN.items() for interval in found]
    rows = numbered([*rows, *(r for name in ("a", "b") for r in revised(name, out[name], more[name]))])
    reasoner = Reasoner(parse(RULES), window=200, step=5, recompute=recompute)
    reasoner.accept(to_batch(rows))
    fold = Fold()
    earlier = fold.add(BEFORE, reasoner.advance(BEFORE)).timeline
    assert earlier == combined(KNOWN["a"], KNOWN["b"])
    revision = reasoner.advance(LATER)
    a, b = (union_all([relative_complement_all(KNOWN[x], [out[x]]), more[x]]) for x in ("a", "b"))
    later = fold.add(LATER, revision).timeline
    assert later == combined(a, b)
    if all(given):
        assert later == {(name, "true"): found for name, found in PUBLISHED.items()}
    told = {(c["op"], c["fluent"], c["start"], c["end"]) for c in revision["changes"].to_pylist()}
    assert told == difference(earlier, later)
    reference = replay(parse(RULES), rows, window=200, step=5, start=0, end=LATER)[-1].timeline
    assert later == reference


def combined(a: Intervals, b: Intervals) -> dict[tuple[str, str], Intervals]:
    found = {
        "either": union_all([a, b]),
        "both": intersect_all([a, b]),
        "first": relative_complement_all(a, [b]),
    }
    return {(name, "true"): intervals for name, intervals in found.items() if intervals}


def difference(
    earlier: dict[tuple[str, str], Intervals], later: dict[tuple[str, str], Intervals]
) -> set[tuple[str, str, int, int | None]]:
    old, new = (
        {(name, start, end) for (name, _), found in timeline.items() for start, end in found}
        for timeline in (earlier, later)
    )
    return {("delete", *x) for x in old - new} | {("insert", *x) for x in new - old}
