"""Interval algebra, the definition and the kernels alike: the published tables and the laws of temporal sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import pytest
from column_lists import batch, interval_lists, lists_of
from hypothesis import given

from thalweg.columns import spans
from thalweg.reference.intervals import Intervals, intersect_all, relative_complement_all, union_all


@dataclass(frozen=True, slots=True)
class Algebra:
    """The three constructs, each of any number of lists."""

    union_all: Callable[[Sequence[Intervals]], Intervals]
    intersect_all: Callable[[Sequence[Intervals]], Intervals]
    minus_all: Callable[[Intervals, Sequence[Intervals]], Intervals]

    def union(self, *lists: Intervals) -> Intervals:
        return self.union_all(lists)

    def meet(self, *lists: Intervals) -> Intervals:
        return self.intersect_all(lists)

    def minus(self, base: Intervals, *lists: Intervals) -> Intervals:
        return self.minus_all(base, lists)


def kernel(op: int) -> Callable[[Intervals, Intervals], Intervals]:
    """A kernel, which combines many pairs of lists at once, on one pair."""
    return lambda a, b: lists_of(*spans.combine(op, *batch([a]), *batch([b])))[0]


DEFINITION = Algebra(union_all, intersect_all, relative_complement_all)
KERNELS = Algebra(
    lambda lists: reduce(kernel(spans.UNION), lists),
    lambda lists: reduce(kernel(spans.INTERSECTION), lists),
    lambda base, lists: reduce(kernel(spans.DIFFERENCE), lists, base),
)
both = pytest.mark.parametrize("op", [DEFINITION, KERNELS], ids=["definition", "kernels"])

# --------------------------------------------------------------------------- published examples


@both
def test_the_three_constructs_give_the_published_examples(op: Algebra) -> None:
    assert op.union([(5, 20), (26, 30)], [(28, 35)]) == [(5, 20), (26, 35)]
    assert op.meet([(26, 31)], [(21, 26), (30, 40)]) == [(30, 31)]
    assert op.minus([(5, 20), (26, 30)], [(1, 4), (18, 22)]) == [(5, 18), (26, 30)]


A: Intervals = [(10, 15), (23, 30), (40, 50), (60, 70)]
B: Intervals = [(17, 21), (26, 35), (43, 47), (54, 65)]
A_OUT: Intervals = [(10, 12), (27, 30), (43, 47)]
B_OUT: Intervals = [(19, 21), (43, 47), (60, 65)]
A_IN: Intervals = [(54, 58), (80, 90), (95, 100)]
B_IN: Intervals = [(37, 41), (82, 87), (105, 120)]


@both
def test_the_running_example_has_its_published_combinations(op: Algebra) -> None:
    assert op.union(A, B) == [(10, 15), (17, 21), (23, 35), (40, 50), (54, 70)]
    assert op.meet(A, B) == [(26, 30), (43, 47), (60, 65)]
    assert op.minus(A, B) == [(10, 15), (23, 26), (40, 43), (47, 50), (65, 70)]
    assert op.minus(B, A) == [(17, 21), (30, 35), (54, 60)]


@both
def test_incremental_union_goes_through_its_published_steps(op: Algebra) -> None:
    gone = op.union(A_OUT, B_OUT)
    assert gone == [(10, 12), (19, 21), (27, 30), (43, 47), (60, 65)]
    from_one = op.minus(gone, op.meet(A, B))
    assert from_one == [(10, 12), (19, 21)]
    from_both = op.meet(A_OUT, B_OUT)
    assert from_both == [(43, 47)]
    left = op.minus(op.union(A, B), op.union(from_one, from_both))
    assert left == [(12, 15), (17, 19), (23, 35), (40, 43), (47, 50), (54, 70)]
    new = op.union(A_IN, B_IN)
    assert new == [(37, 41), (54, 58), (80, 90), (95, 100), (105, 120)]
    assert op.union(left, new) == [
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


@both
def test_incremental_intersection_goes_through_its_published_steps(op: Algebra) -> None:
    left = op.minus(op.meet(A, B), op.union(A_OUT, B_OUT))
    assert left == [(26, 27)]
    only_a = op.minus(op.minus(A, B), A_OUT)
    assert only_a == [(12, 15), (23, 26), (40, 43), (47, 50), (65, 70)]
    new_b = op.meet(B_IN, op.union(only_a, A_IN))
    assert new_b == [(40, 41), (82, 87)]
    only_b = op.minus(op.minus(B, A), B_OUT)
    assert only_b == [(17, 19), (30, 35), (54, 60)]
    new_a = op.meet(A_IN, op.union(only_b, B_IN))
    assert new_a == [(54, 58), (82, 87)]
    assert op.union(left, new_b, new_a) == [(26, 27), (40, 41), (54, 58), (82, 87)]


@both
def test_incremental_complement_goes_through_its_published_steps(op: Algebra) -> None:
    gone = op.union(A_OUT, B_IN)
    assert gone == [(10, 12), (27, 30), (37, 41), (43, 47), (82, 87), (105, 120)]
    left = op.minus(op.minus(A, B), gone)
    assert left == [(12, 15), (23, 26), (41, 43), (47, 50), (65, 70)]
    still_b = op.union(op.minus(op.minus(B, A), B_OUT), B_IN)
    assert still_b == [(17, 19), (30, 35), (37, 41), (54, 60), (82, 87), (105, 120)]
    new_a = op.minus(A_IN, still_b)
    assert new_a == [(80, 82), (87, 90), (95, 100)]
    shared = op.union(op.minus(op.meet(A, B), A_OUT), A_IN)
    assert shared == [(26, 27), (54, 58), (60, 65), (80, 90), (95, 100)]
    freed = op.meet(B_OUT, shared)
    assert freed == [(60, 65)]
    assert op.union(left, new_a, freed) == [
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
@both
def test_the_incremental_formulas_hold_for_every_combination_of_changes(
    op: Algebra, given_lists: tuple[bool, ...]
) -> None:
    a_out, a_in, b_out, b_in = (
        changes if present else []
        for changes, present in zip((A_OUT, A_IN, B_OUT, B_IN), given_lists, strict=True)
    )
    a, b = op.union(op.minus(A, a_out), a_in), op.union(op.minus(B, b_out), b_in)
    gone = op.union(op.minus(op.union(a_out, b_out), op.meet(A, B)), op.meet(a_out, b_out))
    assert op.union(a, b) == op.union(op.minus(op.union(A, B), gone), a_in, b_in)
    only_a, only_b = op.minus(op.minus(A, B), a_out), op.minus(op.minus(B, A), b_out)
    assert op.meet(a, b) == op.union(
        op.minus(op.meet(A, B), op.union(a_out, b_out)),
        op.meet(b_in, op.union(only_a, a_in)),
        op.meet(a_in, op.union(only_b, b_in)),
    )
    shared = op.union(op.minus(op.meet(A, B), a_out), a_in)
    assert op.minus(a, b) == op.union(
        op.minus(op.minus(A, B), op.union(a_out, b_in)), op.minus(a_in, op.union(only_b, b_in)), op.meet(b_out, shared)
    )


# --------------------------------------------------------------------------- laws

LAWS = {
    "union commutes": lambda o, a, b, c: (o.union(a, b), o.union(b, a)),
    "intersection commutes": lambda o, a, b, c: (o.meet(a, b), o.meet(b, a)),
    "union distributes": lambda o, a, b, c: (o.union(a, o.meet(b, c)), o.meet(o.union(a, b), o.union(a, c))),
    "intersection distributes": lambda o, a, b, c: (o.meet(a, o.union(b, c)), o.union(o.meet(a, b), o.meet(a, c))),
    "union absorbs": lambda o, a, b, c: (o.union(a, o.meet(a, b)), a),
    "intersection absorbs": lambda o, a, b, c: (o.meet(a, o.union(a, b)), a),
    "intersection by complements": lambda o, a, b, c: (o.meet(a, b), o.minus(a, o.minus(a, b))),
    "minus a union": lambda o, a, b, c: (o.minus(a, o.union(b, c)), o.minus(o.union(a, c), o.union(b, c))),
    "minus one after the other": lambda o, a, b, c: (o.minus(o.minus(a, b), c), o.minus(o.minus(a, c), b)),
    "minus of a union": lambda o, a, b, c: (o.minus(o.union(a, b), c), o.union(o.minus(a, c), o.minus(b, c))),
    "minus of an intersection": lambda o, a, b, c: (o.minus(o.meet(a, b), c), o.meet(o.minus(a, c), o.minus(b, c))),
    "minus a minus": lambda o, a, b, c: (o.minus(a, o.minus(b, c)), o.union(o.meet(a, c), o.minus(a, b))),
    "minus with a union": lambda o, a, b, c: (o.union(o.minus(a, b), c), o.minus(o.union(a, c), o.minus(b, c))),
    "minus with an intersection": lambda o, a, b, c: (o.meet(o.minus(a, b), c), o.minus(o.meet(a, c), o.meet(b, c))),
    "minus an intersection": lambda o, a, b, c: (o.minus(a, o.meet(b, c)), o.union(o.minus(a, b), o.minus(a, c))),
    "minus a union is both": lambda o, a, b, c: (o.minus(a, o.union(b, c)), o.meet(o.minus(a, b), o.minus(a, c))),
    "what is left adds nothing": lambda o, a, b, c: (o.union(o.minus(a, b), a), a),
    "what is left and what was taken": lambda o, a, b, c: (o.union(o.minus(a, b), b), o.union(a, b)),
    "what is left is part": lambda o, a, b, c: (o.meet(o.minus(a, b), a), o.minus(a, b)),
    "what is left is apart": lambda o, a, b, c: (o.meet(o.minus(a, b), b), []),
    "n-ary union": lambda o, a, b, c: (o.union(a, b, c), o.union(o.union(a, b), c)),
    "n-ary intersection": lambda o, a, b, c: (o.meet(a, b, c), o.meet(o.meet(a, b), c)),
    "n-ary complement": lambda o, a, b, c: (o.minus(a, b, c), o.minus(a, o.union(b, c))),
}


@both
@given(a=interval_lists(), b=interval_lists(), c=interval_lists())
def test_the_published_laws_of_temporal_sets_hold(op: Algebra, a: Intervals, b: Intervals, c: Intervals) -> None:
    for name, law in LAWS.items():
        left, right = law(op, a, b, c)
        assert left == right, name
