"""Some rows of Arrow columns: as Arrow takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns.pieces import taken

COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole numbers": (pa.int64(), [5, -3, 2**60, 0, 7]),
    "small numbers": (pa.uint8(), [5, 0, 255, 1, 7]),
    "numbers": (pa.float64(), [0.5, float("inf"), -0.0, 1e300, 2.0]),
    "half precision": (pa.float16(), [0.5, 1.0, 2.0, -1.0, 4.0]),
    "words": (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a", "", "c"]),
    "numbers as words": (pa.dictionary(pa.int32(), pa.int64()), [4, 4, 2, 9, 4]),
    "texts": (pa.string(), ["a", "b", "a", "", "c"]),
    "truths": (pa.bool_(), [True, False, True, True, False]),
    "times": (pa.timestamp("ms"), [0, 5, 7, -3, 1]),
}


@pytest.mark.parametrize("kind", COLUMNS)
@given(where=st.lists(st.integers(0, 3), max_size=9), missing=st.booleans(), before=st.integers(0, 1))
def test_rows_are_those_that_arrow_takes(kind: str, where: list[int], missing: bool, before: int) -> None:
    of, values = COLUMNS[kind]
    values = [None if missing and place == 2 else value for place, value in enumerate(values)]
    column = pa.array(values, of.value_type if pa.types.is_dictionary(of) else of)
    column = (column.dictionary_encode().cast(of) if pa.types.is_dictionary(of) else column).slice(before)
    found = taken(column, np.array(where, np.int64))
    found.validate(full=True)
    assert found.type == column.type
    assert found.equals(column.take(pa.array(where, pa.int64())))
