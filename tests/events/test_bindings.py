"""The bindings of instances are found once, as long as nothing that they need is new."""

from __future__ import annotations

import numpy as np

from thalweg.events.bindings import Known


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def test_the_bindings_of_an_instance_are_found_once() -> None:
    known = Known()
    assert known.unknown(ints(0, 2), 3).tolist() == [0, 2]
    known.add(ints(0, 2), ints(2, 1), ints(7, 8, 9))
    assert known.unknown(ints(0, 1, 2), 3).tolist() == [1]
    which, bindings = known.of(ints(2, 0))
    assert which is not None
    assert list(zip(which.tolist(), bindings.tolist(), strict=True)) == [(0, 9), (1, 7), (1, 8)]


def test_they_are_found_again_when_there_are_more_instances_of_other_fluents() -> None:
    known = Known()
    for others in range(1, 9):
        known.renew(others)
        assert known.unknown(ints(0, 1), 2).tolist() == [0, 1]
        known.add(ints(0, 1), ints(0, others), np.arange(others))  # instance 0 has none
        known.renew(others)
        assert known.unknown(ints(0, 1), 2).tolist() == []
        assert known.of(ints(0))[1].tolist() == []
        assert known.of(ints(1))[1].tolist() == list(range(others))


def test_instances_without_bindings_are_looked_at_again_too() -> None:
    known = Known()
    known.add(known.unknown(ints(0), 1), ints(0), ints())
    known.renew(1)
    assert known.unknown(ints(0), 1).tolist() == [0]
