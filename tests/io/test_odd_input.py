"""What a stranger brings: other encodings, pipes, odd JSON, columns of unusual types. Nothing is lost in silence."""

from __future__ import annotations

import os
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thalweg.io.errors import InputError
from thalweg.io.feed import Feed
from thalweg.io.open import open_sources
from thalweg.io.shapes import shapes
from thalweg.io.sources import Reading
from thalweg.io.times import Clock
from thalweg.language.parser import parse
from thalweg.runs import run

RULES = """
    event press(lamp: symbol).
    initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
"""


def lamps(events: Any) -> list[str]:
    """The lamps of all rows that are read."""
    return [lamp for chunk in _chunks(events) for rows in chunk.rows for lamp in rows.args[0].to_pylist()]


def complaints(events: Any) -> list[tuple[int, str, str]]:
    """Row, reason and detail of all rows that are rejected."""
    found = [row for chunk in _chunks(events) for row in chunk.rejected.to_pylist()]
    return [(row["row"], row["reason"], row["detail"]) for row in found]


def _chunks(events: Any) -> list[Any]:
    sources = Feed(open_sources(events, Reading(shapes(parse(RULES)), Clock()))).sources
    return [chunk for source in sources for chunk in source.chunks(0)]


def written(path: Path, text: bytes | str) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# --------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    "before", [b"press|5|5|%s\npress|6|6|%s\n", b"name,time,lamp\npress,5,%s\npress,6,%s\n"]
)
def test_names_that_are_not_utf8_stay_different(tmp_path: Path, before: bytes) -> None:
    path = written(tmp_path / "latin.csv", before % (b"Z\xfcrich", b"Z\xf6rich"))
    assert lamps(path) == ["Z\\xfcrich", "Z\\xf6rich"]


ODD = [b"Z\xfcrich", b"Z\xf6rich", b"a", None]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.dictionary(pa.int8(), pa.binary()), pa.string()])
@pytest.mark.parametrize("on_disk", [True, False])
def test_bytes_in_a_table_are_the_text_that_they_are_in_a_file(
    tmp_path: Path, kind: pa.DataType, on_disk: bool
) -> None:
    column = pa.array(ODD, pa.binary())
    column = column.view(kind) if kind == pa.string() else column.cast(kind)
    events: Any = pa.table({"name": [b"press"] * 4, "time": [5, 6, 7, 8], "lamp": column})
    if on_disk:
        pq.write_table(events, tmp_path / "bytes.parquet")
        events = tmp_path / "bytes.parquet"
    assert lamps(events) == ["Z\\xfcrich", "Z\\xf6rich", "a"]
    (bad,) = [row for chunk in _chunks(events) for row in chunk.rejected.to_pylist()]
    assert (bad["row"], bad["reason"]) == (4, "missing-value")


def test_names_and_rejected_rows_may_be_any_bytes() -> None:
    column = pa.array([b"pr\xfcss", b"press"], pa.binary()).view(pa.string())
    events = pa.table({"name": column, "time": [b"\xff", b"\xff"], "lamp": ["a", "b"]})
    found = [row for chunk in _chunks(events) for row in chunk.rejected.to_pylist()]
    assert [(row["reason"], row["text"]) for row in found] == [
        ("unknown-name", "name=pr\\xfcss time=\\xff lamp=a"),
        ("bad-time", "name=press time=\\xff lamp=b"),
    ]


def test_a_file_in_utf16_is_told_to_be_that(tmp_path: Path) -> None:
    path = written(tmp_path / "excel.csv", "name,time,lamp\npress,5,a\n".encode("utf-16"))
    with pytest.raises(InputError, match=r"UTF-16(.|\n)*iconv -f UTF-16 -t UTF-8"):
        lamps(path)


def test_a_first_line_of_any_length_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "long.csv", f"press|5|5|{'x' * 200_000}\n")
    assert lamps(path) == ["x" * 200_000]


def test_a_named_pipe_is_read_like_standard_input(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("press|5|5|a\n",))
    writer.start()
    assert lamps(pipe) == ["a"]
    writer.join()


# --------------------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    ("lamp", "complaint"),
    [
        ('"\\ud800"', "not JSON: half of a surrogate pair"),
        ("[" * 100_000, "not JSON: nested too deeply"),
        ("1" * 5_000, "not JSON: a number of more than 4300 digits"),
    ],
    ids=["half of a character", "deep", "digits"],
)
def test_a_line_that_python_cannot_read_is_rejected_by_itself(
    tmp_path: Path, lamp: str, complaint: str
) -> None:
    good = '{"name":"press","time":5,"lamp":"a"}\n'
    path = written(tmp_path / "odd.jsonl", f'{good}{{"name":"press","time":6,"lamp":{lamp}}}\n[]\n')
    assert lamps(path) == ["a"]
    assert complaints(path) == [(2, "malformed", complaint), (3, "malformed", "not a JSON object")]


@pytest.mark.parametrize("text", ['[{"name":"press",\n"time":5}]\n', '{\n"name":"press",\n"time":5\n}\n'])
def test_json_that_is_not_in_lines_is_told_what_to_do(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"none of its first lines is a JSON object(.|\n)*jq -c"):
        lamps(written(tmp_path / "rows.json", text))


def test_large_whole_numbers_in_json_stay_different(tmp_path: Path) -> None:
    numbers = ["12345678901234567890", "12345678901234567891"]
    lines = "".join(f'{{"name":"press","time":5,"lamp":{n}}}\n' for n in numbers)
    assert lamps(written(tmp_path / "large.jsonl", lines)) == numbers
    mixed = lines + '{"name":"press","time":6,"lamp":0.5}\n[]\n'
    assert lamps(written(tmp_path / "large.jsonl", mixed)) == [*numbers, "0.5"]


# --------------------------------------------------------------------------- tables


def test_large_decimals_as_constants_stay_different() -> None:
    numbers = [Decimal("12345678901234567890"), Decimal("12345678901234567891"), Decimal("12"), None]
    column = pa.array(numbers, pa.decimal128(38, 2))
    table = pa.table({"name": ["press"] * 4, "time": [5] * 4, "lamp": column})
    assert lamps(table) == ["12345678901234567890", "12345678901234567891", "12"]


def test_two_columns_whose_names_differ_only_in_case_are_refused() -> None:
    table = pa.table({"name": ["press"], "time": [5], "Time": [6], "lamp": ["a"]})
    with pytest.raises(InputError, match="more than one column `time`: time, Time"):
        lamps(table)


@pytest.mark.parametrize(
    "table",
    [pd.Series([1]), pl.Series([1]), pl.DataFrame({"time": pl.Series([5], dtype=pl.Int128)})],
    ids=["pandas series", "polars series", "polars int128"],
)
def test_what_is_no_table_of_known_types_is_refused_with_what_to_give(table: Any) -> None:
    with pytest.raises(InputError, match=r"cannot read events from (Series|DataFrame)"):
        lamps(table)


@pytest.mark.parametrize(
    ("events", "message", "hint"),
    [
        ([("press", 1, "a")], "a row is a dictionary, not a tuple", "{'name': 'press', 'time': 1, 'lamp': 'a'}"),
        ([["press", 1, "a"]], "a row is a dictionary, not a list", "{'name'"),
        ({"name": ["press"], "time": [1], "lamp": ["a"]}, "`name` is a list of str, not a table", "DataFrame"),
        ({"press": [1, 2]}, "`press` is a list of int, not a table", "DataFrame"),
        ({"name": "press", "time": 1, "lamp": "a"}, "`time` is a number .1., not a table", "a row stands in a list"),
        ([{"name": "press", "ts": 1, "lamp": "a"}], "no column `time`", "name, ts, lamp"),
        (pd.DataFrame({"time": [1], "lamp": ["a"]}), "no column `name`", "{'press': table}"),
        (pd.DataFrame(), "no column `time`", "it has no columns"),
        (pd.DataFrame([["press", 1, "a", "b"]], columns=["name", "time", "lamp", "lamp"]), "more than one column", ""),
    ],
)
def test_what_is_nearly_a_table_is_told_apart(events: Any, message: str, hint: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        lamps(events)
    assert hint in str(refused.value)


@pytest.mark.parametrize("header", ["event,timestamp,lamp", "'event','when','what'".replace("'", '"'), "MMSI,Base,SOG"])
def test_a_header_without_a_time_is_one_error_and_no_heap_of_rejected_rows(header: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(f"{header}\npress,1,a\npress,2,b\n")
    with pytest.raises(InputError, match="neither a header with a `time` column") as refused:
        lamps(tmp_path / "log.csv")
    assert "if that is a header, call its columns `name` and `time`" in str(refused.value)


def test_a_first_line_of_words_before_rows_with_times_is_a_bad_row(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("made,by,hand\npress,1,1,a\n")
    assert lamps(tmp_path / "log.csv") == ["a"]


def test_a_mapping_may_lead_from_names_to_files(tmp_path: Path) -> None:
    (tmp_path / "january.csv").write_text("time,lamp\n1,a\n2,b\n")
    assert lamps({"press": tmp_path / "january.csv"}) == ["a", "b"]
    assert lamps({"press": str(tmp_path / "*.csv")}) == ["a", "b"]
    with pytest.raises(InputError, match="there is no file"):
        lamps({"press": "nowhere.csv"})


def test_integers_beyond_64_bits_are_names_or_rejected_rows() -> None:
    rows = [{"name": "press", "time": 1, "lamp": 2**70}, {"name": "press", "time": 2, "lamp": 3}]
    assert lamps(rows) == [str(2**70), "3"]
    assert lamps(pd.DataFrame(rows)) == [str(2**70), "3"]
    assert [row[1] for row in complaints([{"name": "press", "time": 2**70, "lamp": "a"}])] == ["out-of-range"]


def test_bytes_are_text_and_those_that_are_none_stay_different(tmp_path: Path) -> None:
    """In columns of bytes, and in texts of Parquet files that somebody wrote without looking."""
    raw = pa.array([b"\xff", b"\xfe", b"a", None])
    for column in (raw, pa.Array.from_buffers(pa.string(), 4, raw.buffers()), raw.cast(pa.large_binary())):
        table = pa.table({"name": ["press"] * 4, "time": [5, 6, 7, 8], "x": column})
        pq.write_table(table, tmp_path / "press.parquet")
        for source in (table, str(tmp_path / "press.parquet")):
            found = run("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).", source, window=10, step=10).arrow
            assert sorted(found["timeline"]["fluent"].to_pylist()) == [r"on('\\xfe')", r"on('\\xff')", "on(a)"]
            assert found["rejected"]["text"].to_pylist() == ["name=press time=8"]
