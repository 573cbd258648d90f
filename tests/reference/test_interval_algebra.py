"""Interval algebra: the published tables, the laws, and every operation against sets of points."""

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

# --------------------------------------------------------------------------- published examples


def union(*lists: Intervals) -> Intervals:
    return union_all(lists)


def meet(*lists: Intervals) -> Intervals:
    return intersect_all(lists)


def minus(base: Intervals, *lists: Intervals) -> Intervals:
    return relative_complement_all(base, lists)


def test_the_three_constructs_give_the_published_examples() -> None:
    assert union([(5, 20), (26, 30)], [(28, 35)]) == [(5, 20), (26, 35)]
    assert meet([(26, 31)], [(21, 26), (30, 40)]) == [(30, 31)]
    assert minus([(5, 20), (26, 30)], [(1, 4), (18, 22)]) == [(5, 18), (26, 30)]


A: Intervals = [(10, 15), (23, 30), (40, 50), (60, 70)]
B: Intervals = [(17, 21), (26, 35), (43, 47), (54, 65)]
A_OUT: Intervals = [(10, 12), (27, 30), (43, 47)]
B_OUT: Intervals = [(19, 21), (43, 47), (60, 65)]
A_IN: Intervals = [(54, 58), (80, 90), (95, 100)]
B_IN: Intervals = [(37, 41), (82, 87), (105, 120)]


def test_the_running_example_has_its_published_combinations() -> None:
    assert union(A, B) == [(10, 15), (17, 21), (23, 35), (40, 50), (54, 70)]
    assert meet(A, B) == [(26, 30), (43, 47), (60, 65)]
    assert minus(A, B) == [(10, 15), (23, 26), (40, 43), (47, 50), (65, 70)]
    assert minus(B, A) == [(17, 21), (30, 35), (54, 60)]


def test_incremental_union_goes_through_its_published_steps() -> None:
    gone = union(A_OUT, B_OUT)
    assert gone == [(10, 12), (19, 21), (27, 30), (43, 47), (60, 65)]
    from_one = minus(gone, meet(A, B))
    assert from_one == [(10, 12), (19, 21)]
    from_both = meet(A_OUT, B_OUT)
    assert from_both == [(43, 47)]
    left = minus(union(A, B), union(from_one, from_both))
    assert left == [(12, 15), (17, 19), (23, 35), (40, 43), (47, 50), (54, 70)]
    new = union(A_IN, B_IN)
    assert new == [(37, 41), (54, 58), (80, 90), (95, 100), (105, 120)]
    assert union(left, new) == [
        (12, 15),
        (17, 19),
        (23, 35),
        (37, 43),
        (47, 50),
        (54, 70),
        (80, 90),
        (95, 100),
        (105, 120),
    ]


def test_incremental_intersection_goes_through_its_published_steps() -> None:
    left = minus(meet(A, B), union(A_OUT, B_OUT))
    assert left == [(26, 27)]
    only_a = minus(minus(A, B), A_OUT)
    assert only_a == [(12, 15), (23, 26), (40, 43), (47, 50), (65, 70)]
    new_b = meet(B_IN, union(only_a, A_IN))
    assert new_b == [(40, 41), (82, 87)]
    only_b = minus(minus(B, A), B_OUT)
    assert only_b == [(17, 19), (30, 35), (54, 60)]
    new_a = meet(A_IN, union(only_b, B_IN))
    assert new_a == [(54, 58), (82, 87)]
    assert union(left, new_b, new_a) == [(26, 27), (40, 41), (54, 58), (82, 87)]


def test_incremental_complement_goes_through_its_published_steps() -> None:
    gone = union(A_OUT, B_IN)
    assert gone == [(10, 12), (27, 30), (37, 41), (43, 47), (82, 87), (105, 120)]
    left = minus(minus(A, B), gone)
    assert left == [(12, 15), (23, 26), (41, 43), (47, 50), (65, 70)]
    still_b = union(minus(minus(B, A), B_OUT), B_IN)
    assert still_b == [(17, 19), (30, 35), (37, 41), (54, 60), (82, 87), (105, 120)]
    new_a = minus(A_IN, still_b)
    assert new_a == [(80, 82), (87, 90), (95, 100)]
    shared = union(minus(meet(A, B), A_OUT), A_IN)
    assert shared == [(26, 27), (54, 58), (60, 65), (80, 90), (95, 100)]
    freed = meet(B_OUT, shared)
    assert freed == [(60, 65)]
    assert union(left, new_a, freed) == [
        (12, 15),
        (23, 26),
        (41, 43),
        (47, 50),
        (60, 70),
        (80, 82),
        (87, 90),
        (95, 100),
    ]


@pytest.mark.parametrize("given_lists", [*itertools.product((False, True), repeat=4)])
def test_the_incremental_formulas_hold_for_every_combination_of_changes(
    given_lists: tuple[bool, ...],
) -> None:
    a_out, a_in, b_out, b_in = (
        changes if present else []
        for changes, present in zip((A_OUT, A_IN, B_OUT, B_IN), given_lists, strict=True)
    )
    a, b = union(minus(A, a_out), a_in), union(minus(B, b_out), b_in)
    gone = union(minus(union(a_out, b_out), meet(A, B)), meet(a_out, b_out))
    assert union(a, b) == union(minus(union(A, B), gone), a_in, b_in)
    only_a, only_b = minus(minus(A, B), a_out), minus(minus(B, A), b_out)
    assert meet(a, b) == union(
        minus(meet(A, B), union(a_out, b_out)),
        meet(b_in, union(only_a, a_in)),
        meet(a_in, union(only_b, b_in)),
    )
    shared = union(minus(meet(A, B), a_out), a_in)
    assert minus(a, b) == union(
        minus(minus(A, B), union(a_out, b_in)), minus(a_in, union(only_b, b_in)), meet(b_out, shared)
    )


# --------------------------------------------------------------------------- laws

POINTS = range(26)


@st.composite
def interval_lists(draw: st.DrawFn) -> Intervals:
    """Maximal lists between 0 and 25, the last interval sometimes open."""
    points = draw(st.sets(st.integers(0, 24)))
    intervals: Intervals = maximal((point, point + 1) for point in points)
    if draw(st.booleans()):
        intervals = maximal([*intervals, (draw(st.integers(0, 25)), None)])
    return intervals


LAWS = {
    "union commutes": lambda a, b, c: (union(a, b), union(b, a)),
    "intersection commutes": lambda a, b, c: (meet(a, b), meet(b, a)),
    "union distributes": lambda a, b, c: (union(a, meet(b, c)), meet(union(a, b), union(a, c))),
    "intersection distributes": lambda a, b, c: (meet(a, union(b, c)), union(meet(a, b), meet(a, c))),
    "union absorbs": lambda a, b, c: (union(a, meet(a, b)), a),
    "intersection absorbs": lambda a, b, c: (meet(a, union(a, b)), a),
    "intersection by complements": lambda a, b, c: (meet(a, b), minus(a, minus(a, b))),
    "minus a union": lambda a, b, c: (minus(a, union(b, c)), minus(union(a, c), union(b, c))),
    "minus one after the other": lambda a, b, c: (minus(minus(a, b), c), minus(minus(a, c), b)),
    "minus of a union": lambda a, b, c: (minus(union(a, b), c), union(minus(a, c), minus(b, c))),
    "minus of an intersection": lambda a, b, c: (minus(meet(a, b), c), meet(minus(a, c), minus(b, c))),
    "minus a minus": lambda a, b, c: (minus(a, minus(b, c)), union(meet(a, c), minus(a, b))),
    "minus with a union": lambda a, b, c: (union(minus(a, b), c), minus(union(a, c), minus(b, c))),
    "minus with an intersection": lambda a, b, c: (meet(minus(a, b), c), minus(meet(a, c), meet(b, c))),
    "minus an intersection": lambda a, b, c: (minus(a, meet(b, c)), union(minus(a, b), minus(a, c))),
    "minus a union is both": lambda a, b, c: (minus(a, union(b, c)), meet(minus(a, b), minus(a, c))),
    "what is left adds nothing": lambda a, b, c: (union(minus(a, b), a), a),
    "what is left and what was taken": lambda a, b, c: (union(minus(a, b), b), union(a, b)),
    "what is left is part": lambda a, b, c: (meet(minus(a, b), a), minus(a, b)),
    "what is left is apart": lambda a, b, c: (meet(minus(a, b), b), []),
    "n-ary union": lambda a, b, c: (union(a, b, c), union(union(a, b), c)),
    "n-ary intersection": lambda a, b, c: (meet(a, b, c), meet(meet(a, b), c)),
    "n-ary complement": lambda a, b, c: (minus(a, b, c), minus(a, union(b, c))),
    "complement": lambda a, b, c: (complement_all([a, b], since=0), minus([(0, None)], a, b)),
}


@pytest.mark.parametrize("law", LAWS)
@given(a=interval_lists(), b=interval_lists(), c=interval_lists())
def test_the_laws_of_temporal_sets_hold(law: str, a: Intervals, b: Intervals, c: Intervals) -> None:
    left, right = LAWS[law](a, b, c)
    assert left == right


def points_of(intervals: Intervals) -> set[int]:
    return {point for point in POINTS if contains(intervals, point)}


@given(a=interval_lists(), b=interval_lists())
def test_every_operation_is_the_one_on_sets_of_points(a: Intervals, b: Intervals) -> None:
    assert points_of(union(a, b)) == points_of(a) | points_of(b)
    assert points_of(meet(a, b)) == points_of(a) & points_of(b)
    assert points_of(minus(a, b)) == points_of(a) - points_of(b)
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
    assert allen(relation, S, T, "union") == union(source, target)


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
def test_union_mode_is_the_union_of_source_and_target(a: Intervals, b: Intervals, relation: str) -> None:
    source, target, both = (allen(relation, a, b, mode) for mode in MODES)
    assert both == union(source, target)


def test_an_unknown_relation_or_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="no Allen relation 'after'"):
        allen("after", [], [], "source")
