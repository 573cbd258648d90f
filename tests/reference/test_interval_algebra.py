"""Interval algebra: every operation against sets of points."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.reference.intervals import (
    MODES,
    RELATIONS,
    Intervals,
    allen,
    clip,
    complement_all,
    contains,
    intersect_all,
    maximal,
    of_duration,
    relative_complement_all,
    union_all,
)

POINTS = range(26)


@st.composite
def interval_lists(draw: st.DrawFn) -> Intervals:
    """Maximal lists between 0 and 25, the last interval sometimes open."""
    points = draw(st.sets(st.integers(0, 24)))
    intervals: Intervals = maximal((point, point + 1) for point in points)
    if draw(st.booleans()):
        intervals = maximal([*intervals, (draw(st.integers(0, 25)), None)])
    return intervals


def points_of(intervals: Intervals) -> set[int]:
    return {point for point in POINTS if contains(intervals, point)}


@given(a=interval_lists(), b=interval_lists())
def test_every_operation_is_the_one_on_sets_of_points(a: Intervals, b: Intervals) -> None:
    assert points_of(union_all([a, b])) == points_of(a) | points_of(b)
    assert points_of(intersect_all([a, b])) == points_of(a) & points_of(b)
    assert points_of(relative_complement_all(a, [b])) == points_of(a) - points_of(b)
    assert points_of(complement_all([a, b], since=3)) == {p for p in POINTS if p >= 3} - points_of(
        a
    ) - points_of(b)
    assert points_of(clip(a, 5, 12)) == points_of(a) & set(range(5, 12))


@given(intervals=st.lists(st.tuples(st.integers(0, 20), st.one_of(st.none(), st.integers(0, 25)))))
def test_a_maximal_list_is_sorted_disjoint_and_never_touching(intervals: Intervals) -> None:
    result = maximal(intervals)
    ends = [end for _, end in result[:-1]]
    assert None not in ends
    assert all(end < start for end, (start, _) in zip(ends, result[1:], strict=True) if end is not None)
    assert all(end is None or start < end for start, end in result)
    assert points_of(result) == {p for p in POINTS if any(contains([i], p) for i in intervals)}
    assert maximal(result) == result


# --------------------------------------------------------------------------- whole intervals


def test_a_running_interval_is_measured_up_to_the_query_time() -> None:
    running: Intervals = [(3, None)]
    assert of_duration(">", running, 5, until=8) == []
    assert of_duration(">", running, 5, until=9) == running
    assert of_duration("<", running, 5, until=7) == running
    assert of_duration(">=", [(3, 8)], 5, until=100) == [(3, 8)]


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
    assert allen(relation, S, T, "source") == source
    assert allen(relation, S, T, "target") == target
    assert allen(relation, S, T, "union") == union_all([source, target])


def test_intervals_that_share_one_point_meet_and_touching_ones_do_not() -> None:
    assert allen("meets", [(1, 5)], [(4, 9)], "source") == [(1, 5)]
    assert allen("meets", [(1, 5)], [(5, 9)], "source") == []
    assert allen("before", [(1, 5)], [(5, 9)], "source") == [(1, 5)]


def test_running_intervals_end_together_and_after_all_others() -> None:
    assert allen("equal", [(3, None)], [(3, None)], "source") == [(3, None)]
    assert allen("finishes", [(5, None)], [(3, None)], "source") == [(5, None)]
    assert allen("during", [(5, 100)], [(3, None)], "source") == [(5, 100)]
    assert allen("starts", [(3, 100)], [(3, None)], "source") == [(3, 100)]


@given(a=interval_lists(), b=interval_lists())
def test_at_most_one_relation_holds_between_two_intervals(a: Intervals, b: Intervals) -> None:
    for one, other in itertools.product(a, b):
        holding = [r for r in RELATIONS if allen(r, [one], [other], "source")]
        assert len(holding) <= 1
        assert all(allen(r, [one], [other], "target") == [other] for r in holding)


@given(a=interval_lists(), b=interval_lists(), relation=st.sampled_from(RELATIONS))
def test_the_other_modes_combine_source_and_target(a: Intervals, b: Intervals, relation: str) -> None:
    source, target, both, common, first, second = (allen(relation, a, b, mode) for mode in MODES)
    assert both == union_all([source, target])
    assert common == intersect_all([source, target])
    assert first == relative_complement_all(source, [target])
    assert second == relative_complement_all(target, [source])


def test_an_unknown_relation_or_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="no Allen relation 'after'"):
        allen("after", [], [], "source")
