"""The join kernels beside plain Python, and constants as codes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from thalweg.answers.codec import STAR, SYMBOL, Codec, values
from thalweg.answers.kernels import best, distinct, first, index, pairs

tables = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=25)


def rows(given_: list[tuple[int, int]]) -> np.ndarray:  # type: ignore[type-arg]
    return np.array(given_, np.int64).reshape(len(given_), 2)


@given(tables, tables)
def test_first_finds_the_first_equal_row(known: list[tuple[int, int]], probe: list[tuple[int, int]]) -> None:
    found = first(index(rows(known)), rows(probe)).tolist()
    assert found == [known.index(p) if p in known else -1 for p in probe]


@given(tables, tables)
def test_pairs_are_all_equal_rows_in_order(
    known: list[tuple[int, int]], probe: list[tuple[int, int]]
) -> None:
    left, right = pairs(index(rows(known)), rows(probe))
    expected = [(i, j) for i, p in enumerate(probe) for j, k in enumerate(known) if p == k]
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected


@given(tables, tables, st.data())
def test_best_is_the_highest_status_of_equal_rows(
    known: list[tuple[int, int]], probe: list[tuple[int, int]], data: st.DataObject
) -> None:
    status = data.draw(st.lists(st.integers(0, 2), min_size=len(known), max_size=len(known)))
    found = best(index(rows(known)), np.array(status, np.int8), rows(probe)).tolist()
    assert found == [max((s for k, s in zip(known, status, strict=True) if k == p), default=0) for p in probe]


@given(tables)
def test_distinct_keeps_the_first_of_each(given_: list[tuple[int, int]]) -> None:
    assert distinct(rows(given_)).tolist() == [row not in given_[:i] for i, row in enumerate(given_)]


@given(
    st.lists(
        st.one_of(st.text(max_size=4), st.integers(-5, 5).map(str), st.floats(-9, 9).map(repr)), max_size=12
    )
)
def test_codes_go_there_and_back(texts: list[str]) -> None:
    codec = Codec()
    codes = codec.encode(pa.array(texts, pa.string()))
    again = codec.encode(pa.array(texts, pa.string()).dictionary_encode())
    assert codes.tolist() == again.tolist()
    written = codec.texts(codes).to_pylist()
    for code, text in zip(codes.tolist(), written, strict=True):
        assert codec.one(code) == text
        assert code != STAR


def test_numbers_and_symbols_never_share_a_code() -> None:
    codec = Codec()
    codes = codec.encode(pa.array(["1", "1.0", "nan", "inf", "one", "-0"]))
    assert codes[0] == codes[1] == codec.encode(pa.array([1]))[0] == codec.encode(pa.array([1.0]))[0]
    assert (codes >= SYMBOL).tolist() == [False, False, True, True, True, False]
    assert values(codes)[5] == 0.0 and codes[5] == codec.encode(pa.array([0]))[0]
    assert len(set(codes.tolist())) == 5
