"""Ids of tuples and constants against dictionaries."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from column_lists import ints
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns.keys import SMALL, KeyTable, matrix
from thalweg.columns.symbols import SymbolTable, as_floats, constant_text, number, number_text, numbers
from thalweg.language.terms import EXACT

component = st.sampled_from([0, 1, 2, 3, 70, 5000, SMALL - 1, SMALL, -1, -(2**63), 2**63 - 1])


@st.composite
def tuples(draw: st.DrawFn) -> tuple[int, list[list[tuple[int, ...]]]]:
    """A width, and batches of tuples of that width."""
    width = draw(st.integers(1, 4))
    each = (
        st.tuples(*[component] * width) if draw(st.booleans()) else st.tuples(*[st.integers(0, 40)] * width)
    )
    return width, draw(st.lists(st.lists(each, max_size=30), max_size=4))


def columns(rows: list[tuple[int, ...]], width: int) -> list[np.ndarray]:
    return [ints([row[c] for row in rows]) for c in range(width)]


@given(tuples())
def test_tuples_have_ids_in_order_of_first_sight(case: tuple[int, list[list[tuple[int, ...]]]]) -> None:
    width, batches = case
    keys, known = KeyTable(width), {}
    for rows in batches:
        asked = columns(rows, width)
        assert keys.find(asked, len(rows)).tolist() == [known.get(row, -1) for row in rows]
        for row in rows:
            known.setdefault(row, len(known))
        assert keys.intern(asked, len(rows)).tolist() == [known[row] for row in rows]
        assert keys.find(asked, len(rows)).tolist() == [known[row] for row in rows]
        assert keys.count == len(known)
        assert [tuple(map(int, key)) for key in keys.keys] == [*known]
    copy = KeyTable.of(keys.state())
    assert [tuple(map(int, key)) for key in copy.keys] == [*known]
    everything = np.arange(len(known))
    for position in range(width):
        assert copy.column(position, everything).tolist() == [key[position] for key in known]


@given(st.integers(1, 3000), st.integers(1, 3), st.integers(0, 2**30))
def test_tables_grow_without_losing_ids(count: int, width: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(-5, 2**40, (count, width))
    keys = KeyTable(width)
    first = keys.intern([rows[:, c] for c in range(width)], count)
    again = keys.intern([rows[::-1, c] for c in range(width)], count)
    assert (again[::-1] == first).all()
    assert (keys.keys[first] == rows).all()


def test_columns_side_by_side_are_a_matrix() -> None:
    assert matrix([ints([1, 2]), ints([3, 4])], 2).tolist() == [[1, 3], [2, 4]]
    assert matrix([ints([1, 2])], 2).tolist() == [[1], [2]]
    assert matrix([], 3).shape == (3, 0)


# --------------------------------------------------------------------------- symbols

raw = st.sampled_from(
    ["a", "b", "m1", "North Sea", "12", "0012", "12.0", "it's", "-3", "f(a)", "Élan", "", "1e3"]
)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("0012", "12"),
        ("12.0", "12"),
        ("12.50", "12.5"),
        ("m1", "m1"),
        ("North Sea", "'North Sea'"),
        ("it's", "'it\\'s'"),
        ("f(a)", "'f(a)'"),
        ("Upper", "'Upper'"),
        ("\u0661\u0662", "'\u0661\u0662'"),
        ("", "''"),
        ("123456789012345678901", "123456789012345678901"),
    ],
)
def test_constants_given_as_data_have_a_canonical_text(data: str, text: str) -> None:
    assert constant_text(data) == text


@given(st.lists(raw, max_size=30))
def test_symbols_have_ids_by_canonical_text_however_the_column_is_encoded(values: list[str]) -> None:
    known: dict[str, int] = {}
    expected = [known.setdefault(constant_text(value), len(known)) for value in values]
    plain = pa.array(values, pa.string())
    table = SymbolTable()
    assert table.encode(plain).tolist() == expected
    assert table.texts == [*known]
    for column in (
        plain,
        plain.dictionary_encode(),
        plain.cast(pa.large_string()),
        pa.chunked_array([plain]),
    ):
        assert table.encode(column).tolist() == expected
    assert len(table) == len(known)
    assert SymbolTable(table.texts).encode(plain).tolist() == expected


def test_long_columns_that_overlap_have_the_ids_of_short_ones() -> None:
    long, short = SymbolTable(), SymbolTable()
    names = [f"v{i}" if i % 3 else f"North {i}" for i in range(5000)]
    for first, last in ((0, 3000), (1500, 5000), (200, 4000)):
        asked = [*names[first:last], "007"]
        expected = [short.encode(pa.array([name])).tolist()[0] for name in asked]
        assert long.encode(pa.array(asked)).tolist() == expected
    assert long.texts == short.texts


def test_a_copy_knows_the_same_symbols_and_learns_on_its_own() -> None:
    table = SymbolTable()
    table.add_all([*(f"v{i}" for i in range(2000)), "'North Sea'", "7"])
    table.expect_all()
    copy = table.copy()
    names = ["North Sea", *(f"v{i}" for i in range(500, 2500)), "007", "7"]
    assert copy.encode(pa.array(names)).tolist() == SymbolTable(table.texts).encode(pa.array(names)).tolist()
    assert len(copy) == 2502 and len(table) == 2002
    assert table.encode(pa.array(["new"])).tolist() == [2002] and copy.texts[2002] == "v2000"


def test_numbers_in_a_column_are_the_symbols_of_their_texts() -> None:
    table = SymbolTable()
    assert table.encode(pa.array(["7", "12"])).tolist() == table.encode(pa.array([7, 12])).tolist() == [0, 1]


@given(st.lists(raw, unique=True, max_size=10))
def test_ranks_are_the_standard_order_numbers_first(values: list[str]) -> None:
    table = SymbolTable()
    for value in values:
        table.add(constant_text(value))
    in_order = [table.texts[at] for at in np.argsort(table.ranks())]
    numeric = [float(text) for text in in_order if _is_number(text)]
    others = [text.strip("'") for text in in_order if not _is_number(text)]
    assert numeric == sorted(numeric)
    assert others == sorted(others)
    assert all(_is_number(text) for text in in_order[: len(numeric)])


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit()


@given(st.lists(st.floats(allow_nan=False), max_size=20))
def test_numbers_and_their_codes_are_one_to_one(values: list[float]) -> None:
    codes = numbers(np.array(values, np.float64))
    assert as_floats(codes).tolist() == values
    assert [number(value) for value in values] == codes.tolist()
    for (a, x), (b, y) in itertools.combinations(zip(values, codes, strict=True), 2):
        assert (a == b) == (x == y)


def test_minus_zero_is_zero() -> None:
    assert number(-0.0) == number(0.0)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_reads_back(value: float) -> None:
    assert float(number_text(value)) == value
    assert number_text(value).lstrip("-").isdecimal() == (value.is_integer() and abs(value) < EXACT)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_columns_that_may_not_be_written_are_keys_like_others(length: int) -> None:
    table = KeyTable(2)
    constant = np.broadcast_to(np.int64(7), length)
    ids = table.intern([constant, np.arange(length)], length)
    assert ids.tolist() == list(range(length))
    assert table.find([constant, np.arange(length)], length).tolist() == ids.tolist()


def test_texts_as_an_array_are_those_of_the_table_whenever_they_came() -> None:
    table = SymbolTable(["a", "b"])
    table.expect_all()
    copy = table.copy()
    copy.add("c")
    for first in range(4):
        assert copy.array(first).to_pylist() == ["a", "b", "c"][first:]
    assert table.array(0).to_pylist() == ["a", "b"]


def test_what_a_reasoner_has_written_may_be_terms() -> None:
    table = SymbolTable()
    column = pa.array(["per(a)", "'per(a)'", "'North Sea'", "7", "per(a)"])
    written = [table.texts[i] for i in table.encode(column, written=True)]
    assert written == ["per(a)", "'per(a)'", "'North Sea'", "7", "per(a)"]
    assert [table.texts[i] for i in table.encode(pa.array(["per(a)", "North Sea", "007"]))] == written[1:4]
