"""Files that are no text, lines that end otherwise, and columns of types that have no counterpart here."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_odd_input import complaints, lamps, written

from thalweg.io.errors import InputError
from thalweg.io.times import Clock, read_times

ROWS = {"name": ["press", "press"], "time": [5, 6]}


# --------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\x14\0\x06\0", "ZIP"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "workbook"),
        (b"SQLite format 3\0", "SQLite"),
        (b"%PDF-1.7\n", "PDF"),
        (gzip.compress(b"press|5|5|a\n", mtime=0), "gz"),
        (b"name,time,lamp\rpress,5,a\rpress,6,b\r", "carriage returns"),
        (b"press|5|5|a\rpress|6|6|b", "carriage returns"),
    ],
)
def test_a_file_that_is_no_text_is_called_what_it_is(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        lamps(written(tmp_path / "rows.csv", content))
    assert raised.value.hint


def test_lines_of_json_that_end_with_carriage_returns_only_are_refused(tmp_path: Path) -> None:
    row = b'{"name": "press", "time": 5, "lamp": "a"}\r'
    with pytest.raises(InputError, match="carriage returns"):
        lamps(written(tmp_path / "rows.jsonl", row * 2))


def test_an_error_shows_nothing_that_a_terminal_would_obey(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        lamps(written(tmp_path / "rows.csv", b"\x1b[31mred\x07\nmore\n"))
    assert "\x1b" not in str(raised.value)
    assert "[31mred" in str(raised.value)


def test_a_key_that_the_program_does_not_read_is_named_with_what_is_meant(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", b"time,lamp\n5,a\n")
    with pytest.raises(InputError, match="its key `pres` is none that the program reads; did you mean press"):
        lamps({"pres": path})


# --------------------------------------------------------------------------- columns


@pytest.mark.parametrize("store", [False, True])
def test_a_column_of_uuids_holds_their_texts(tmp_path: Path, store: bool) -> None:
    ids = [UUID(int=7), UUID(int=8)]
    column = pa.array([one.bytes for one in ids], pa.uuid())
    table: Any = pa.table(ROWS | {"lamp": column})
    if store:
        pq.write_table(table, tmp_path / "rows.parquet")
        table = tmp_path / "rows.parquet"
    assert lamps(table) == [str(one) for one in ids]


def test_uuids_in_pandas_are_their_texts() -> None:
    ids = [UUID(int=7), UUID(int=8)]
    assert lamps(pd.DataFrame(ROWS | {"lamp": ids})) == [str(one) for one in ids]


def test_a_sparse_column_is_read_like_a_full_one() -> None:
    assert lamps(pd.DataFrame(ROWS | {"lamp": pd.arrays.SparseArray([0, 7])})) == ["0", "7"]


def test_periods_and_intervals_are_texts_and_no_times() -> None:
    months = pd.period_range("2026-03", periods=2, freq="M")
    assert lamps(pd.DataFrame(ROWS | {"lamp": months})) == ["2026-03", "2026-04"]
    assert lamps(pd.DataFrame(ROWS | {"lamp": pd.interval_range(0, 2)})) == ["(0, 1]", "(1, 2]"]
    said = complaints(pd.DataFrame({"name": ["press"], "time": months[:1], "lamp": ["a"]}))
    assert said == [(1, "bad-time", "time '2026-03' is neither a whole number nor a date such as 2026-03-02")]


def test_objects_in_polars_are_values_or_refused() -> None:
    rows = pl.DataFrame(ROWS)
    assert lamps(rows.with_columns(pl.Series("lamp", ["a", 7], dtype=pl.Object))) == ["a", "7"]
    with pytest.raises(InputError, match="`lamp` holds objects of type object"):
        lamps(rows.with_columns(pl.Series("lamp", [object(), object()], dtype=pl.Object)))


@pytest.mark.parametrize("column", [pd.Series(["press"]), pl.Series(["press"])])
def test_a_single_column_is_no_table(column: Any) -> None:
    with pytest.raises(InputError, match=r"cannot read events from Series\n.*give a path, a pandas"):
        lamps(column)


def test_a_zone_in_whole_hours_is_read_beside_whatever_else() -> None:
    texts = ["2026-03-02 08:14:00+01", "2026-03-02 08:14:00.5-05", "2026-03-02", "2026-03-02T08:14Z", "12"]
    read = read_times(pa.array(texts), Clock())
    assert read.clean
    midnight = 1772409600
    assert read.values.tolist() == [midnight + 26040, midnight + 47640, midnight, midnight + 29640, 12]
