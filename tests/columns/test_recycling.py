"""Large arrays in memory that was used before."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from thalweg.columns import recycling

LENGTH = recycling.SMALLEST // 2


def address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def test_an_array_gets_the_memory_of_one_that_nothing_refers_to() -> None:
    first = recycling.empty(LENGTH, np.int64)
    place = address(first)
    del first
    assert address(recycling.empty(LENGTH - 5, np.int64)) == place


def test_memory_is_not_used_again_while_a_view_or_an_arrow_array_refers_to_it() -> None:
    first = recycling.empty(LENGTH, np.int64)
    first[:] = np.arange(LENGTH)
    view, column = first[10:][::2][1:], pa.array(first)
    buffer = pa.py_buffer(first[:5])
    del first
    for _ in range(3):
        recycling.empty(LENGTH, np.int64)[:] = -1
    assert view[0] == 12 and column[7].as_py() == 7
    del view, column
    recycling.empty(LENGTH, np.int64)[:] = -1
    assert np.frombuffer(buffer, np.int64).tolist() == [0, 1, 2, 3, 4]


def test_no_more_memory_waits_than_is_allowed() -> None:
    many = [recycling.empty(recycling.KEPT // 32, np.int64) for _ in range(8)]
    many.clear()
    assert sum(block.nbytes for block in recycling._waiting.values()) <= recycling.KEPT


def test_small_arrays_are_ordinary_ones() -> None:
    small = recycling.empty(7, np.int32)
    assert small.dtype == np.int32 and small.base is None
