"""Tables with named columns, from files and from memory: the same rows whatever they come from."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

import thalweg
from thalweg.io.errors import InputError
from thalweg.io.feed import Feed
from thalweg.io.open import open_sources
from thalweg.io.shapes import shapes
from thalweg.io.sources import Chunk, Reading
from thalweg.io.times import Clock
from thalweg.language.parser import parse
from thalweg.protocol import OPEN_END, Rows

DECLARED = """
    event velocity(vessel: symbol, speed: float).
    event gap(vessel: symbol).
    initiatedAt(fast(V)=true, T) :- happensAt(velocity(V,S), T), S > 10.
    terminatedAt(fast(V)=true, T) :- happensAt(gap(V), T).
"""
UNDECLARED = """
    initiatedAt(fast(V)=true, T) :- happensAt(velocity(V,S), T), S > 10.
    terminatedAt(fast(V)=true, T) :- happensAt(gap(V), T).
"""
INTERVALS = """
    fluent proximity(a: symbol, b: symbol).
    initiatedAt(near(A,B)=true, T) :- happensAt(gap(A), T), holdsAt(proximity(A,B)=true, T).
"""
MIXED = pa.table(
    {
        "name": ["velocity", "gap", "velocity"],
        "time": [5, 6, 7],
        "vessel": ["v1", "v2", "v1"],
        "speed": [2.5, None, 3.0],
    }
)


def chunks(events: Any, program: str = DECLARED) -> list[Chunk]:
    sources = open_sources(events, Reading(shapes(parse(program)), Clock()))
    return [chunk for source in sources for chunk in source.chunks(0)]


def rows_of(events: Any, program: str = DECLARED) -> dict[str, Rows]:
    return {rows.name: rows for chunk in chunks(events, program) for rows in chunk.rows}


def rejected(events: Any, program: str = DECLARED) -> list[dict[str, Any]]:
    return [row for chunk in chunks(events, program) for row in chunk.rejected.to_pylist()]


def as_parquet(table: pa.Table, path: Path) -> Path:
    pq.write_table(table, path / "events.parquet")
    return path / "events.parquet"


def as_csv(table: pa.Table, path: Path) -> Path:
    pv.write_csv(table, path / "events.csv")
    return path / "events.csv"


def as_tsv(table: pa.Table, path: Path) -> Path:
    pv.write_csv(table, path / "events.tsv", pv.WriteOptions(delimiter="\t"))
    return path / "events.tsv"


def as_jsonl(table: pa.Table, path: Path) -> Path:
    lines = [json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in table.to_pylist()]
    (path / "events.jsonl").write_text("".join(lines))
    return path / "events.jsonl"


def as_zipped_csv(table: pa.Table, path: Path) -> Path:
    plain = as_csv(table, path)
    (path / "events.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    return path / "events.csv.gz"


def as_arrow_file(table: pa.Table, path: Path) -> Path:
    with pa.OSFile(str(path / "events.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path / "events.arrow"


KINDS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "parquet": as_parquet,
    "csv": as_csv,
    "tsv": as_tsv,
    "jsonl": as_jsonl,
    "csv.gz": as_zipped_csv,
    "arrow file": as_arrow_file,
    "arrow table": lambda table, _: table,
    "arrow batch": lambda table, _: table.to_batches()[0],
    "arrow stream": lambda table, _: table.to_reader(),
    "pandas": lambda table, _: table.to_pandas(),
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazy": lambda table, _: pl.from_arrow(table).lazy(),
    "duckdb": lambda table, _: duckdb.from_arrow(table),
    "rows": lambda table, _: table.to_pylist(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", [DECLARED, UNDECLARED])
def test_every_kind_of_input_gives_the_same_rows(kind: str, program: str, tmp_path: Path) -> None:
    rows = rows_of(KINDS[kind](MIXED, tmp_path), program)
    assert rows["velocity"].time.tolist() == rows["velocity"].arrival.tolist() == [5, 7]
    assert rows["velocity"].args[0].to_pylist() == ["v1", "v1"]
    assert rows["velocity"].args[1].to_pylist() == [2.5, 3.0]
    assert rows["gap"].time.tolist() == [6]
    assert rows["gap"].args[0].to_pylist() == ["v2"]


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_a_file_without_names_holds_the_event_it_is_named_after(kind: str, tmp_path: Path) -> None:
    table = pa.table({"time": [1, 2], "vessel": ["a", "b"]})
    path = KINDS[kind](table, tmp_path)
    named = path.rename(path.with_name(f"gap{path.suffix}"))
    assert rows_of(named)["gap"].args[0].to_pylist() == ["a", "b"]


def test_a_directory_holds_one_table_per_event(tmp_path: Path) -> None:
    pq.write_table(pa.table({"time": [1], "vessel": ["a"]}), tmp_path / "gap.parquet")
    (tmp_path / "velocity").mkdir()
    pq.write_table(pa.table({"time": [2], "x": ["a"], "y": [1]}), tmp_path / "velocity" / "part-0.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    rows = rows_of(tmp_path)
    assert rows["gap"].time.tolist() == [1]
    assert rows["velocity"].args[1].to_pylist() == [1.0]


def test_a_glob_names_several_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("gap|1|1|a\n")
    (tmp_path / "b.csv").write_text("gap|2|2|b\n")
    found = [rows.time.tolist() for chunk in chunks(str(tmp_path / "*.csv")) for rows in chunk.rows]
    assert found == [[1], [2]]


def test_a_mapping_names_the_event_of_each_table() -> None:
    rows = rows_of({"gap": pd.DataFrame({"time": [3], "v": ["a"]})})
    assert rows["gap"].time.tolist() == [3]


def test_numbered_columns_are_arguments_whatever_else_is_there() -> None:
    table = pa.table({"name": ["velocity"], "time": [1], "note": ["x"], "arg2": [4], "arg1": ["v"]})
    rows = rows_of(table, UNDECLARED)
    assert rows["velocity"].args[0].to_pylist() == ["v"]
    assert rows["velocity"].args[1].to_pylist() == [4]


def test_intervals_have_start_end_and_value_columns() -> None:
    table = pa.table({"name": ["proximity", "gap"], "time": [None, 4], "start": [1, None], "end": [9, None]})
    table = table.append_column("a", pa.array(["v", None])).append_column("b", pa.array(["w", None]))
    rows = rows_of(table.append_column("arg1", pa.array([None, "x"])), INTERVALS)
    assert rows["proximity"].time.tolist() == [1]
    assert rows["proximity"].end is not None and rows["proximity"].end.tolist() == [9]
    assert rows["proximity"].value is not None and rows["proximity"].value.to_pylist() == ["true"]
    assert rows["gap"].time.tolist() == [4]


def test_an_interval_without_an_end_is_still_running() -> None:
    table = pa.table(
        {"start": [1], "end": pa.nulls(1, pa.int64()), "value": ["false"], "a": ["v"], "b": ["w"]}
    )
    rows = rows_of({"proximity": table}, INTERVALS)["proximity"]
    assert rows.end is not None and rows.end.tolist() == [OPEN_END]
    assert rows.value is not None and rows.value.to_pylist() == ["false"]


@pytest.mark.parametrize(
    ("word", "sign"),
    [
        ("insert", 1),
        ("+", 1),
        ("update_postimage", 1),
        ("retract", -1),
        ("delete", -1),
        ("-", -1),
        ("update_preimage", -1),
        (None, 1),
    ],
)
@pytest.mark.parametrize("column", ["op", "_change_type"])
def test_operations_may_have_the_names_of_change_data_feeds(word: str | None, sign: int, column: str) -> None:
    table = pa.table({"name": ["gap"], "time": [1], "vessel": ["a"], column: pa.array([word], pa.string())})
    table = table.append_column("_commit_version", pa.array([7]))
    assert rows_of(table, UNDECLARED)["gap"].op.tolist() == [sign]


def test_an_unknown_operation_is_rejected() -> None:
    table = pa.table({"name": ["gap"], "time": [1], "vessel": ["a"], "op": ["upsert"]})
    (row,) = rejected(table)
    assert row["reason"] == "bad-op"
    assert row["detail"].startswith("op 'upsert' is none of +, insert")


def test_timestamps_of_any_sort_become_time_points() -> None:
    moment = dt.datetime(2022, 1, 3, 0, 0, 1)
    for column in (
        pa.array([moment]),
        pa.array([moment], pa.timestamp("ns")),
        pa.array([moment], pa.timestamp("s", "UTC")),
        pa.array(["2022-01-03T00:00:01"]),
        pa.array(["2022-01-03 02:00:01+02:00"]),
        pa.array([1641168001.0]),
    ):
        assert rows_of(pa.table({"name": ["gap"], "time": column, "v": ["a"]}))["gap"].time.tolist() == [
            1641168001
        ]


@pytest.mark.parametrize(
    ("columns", "reason", "detail"),
    [
        ({"name": ["gap"], "time": pa.nulls(1, pa.int64()), "vessel": ["a"]}, "no-time", "time is missing"),
        (
            {"name": ["gap"], "time": ["x"], "vessel": ["a"]},
            "bad-time",
            "time 'x' is neither a whole number nor a date such as 2026-03-02",
        ),
        (
            {"name": ["gap"], "time": [2**63 - 1], "vessel": ["a"]},
            "out-of-range",
            f"time '{2**63 - 1}' is too large: times go to 4 * 10**18 either way, and as floats to 2**53",
        ),
        (
            {"name": ["gap"], "time": [1], "vessel": pa.nulls(1, pa.string())},
            "missing-value",
            "vessel is missing",
        ),
        (
            {"name": pa.nulls(1, pa.string()), "time": [1], "vessel": ["a"]},
            "unknown-name",
            "the name is empty",
        ),
        (
            {"name": ["gpa"], "time": [1], "vessel": ["a"]},
            "unknown-name",
            "no rule reads gpa; did you mean gap?",
        ),
        (
            {"name": ["velocity"], "time": [1], "vessel": ["a"], "speed": ["fast"]},
            "wrong-type",
            "speed 'fast' is not a number",
        ),
        (
            {"name": ["velocity"], "time": [1], "vessel": ["a"], "speed": [2**60]},
            "out-of-range",
            f"speed '{2**60}' is too large",
        ),
    ],
)
def test_a_bad_row_of_a_table_is_rejected_with_its_place(columns: Any, reason: str, detail: str) -> None:
    (row,) = rejected(pa.table(columns))
    assert (row["source"], row["row"], row["reason"], row["detail"]) == ("input", 1, reason, detail)


def test_a_row_with_too_many_arguments_is_rejected() -> None:
    table = pa.table({"name": ["gap", "velocity"], "time": [1, 2], "x": ["a", "b"], "y": [3, 4]})
    (row,) = rejected(table, UNDECLARED)
    assert (row["row"], row["reason"]) == (1, "wrong-arity")
    assert row["detail"] == "2 arguments where gap takes 1 argument"
    assert row["text"] == "name=gap time=1 x=a y=3"


def test_a_row_of_headed_text_with_another_number_of_fields_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("name,time,vessel\ngap,1,a\ngap,2\n\ngap,3,c\n")
    assert [(r["row"], r["reason"], r["text"]) for r in rejected(tmp_path / "e.csv")] == [
        (3, "wrong-arity", "gap,2")
    ]
    assert rows_of(tmp_path / "e.csv")["gap"].row.tolist() == [2, 5]


def test_malformed_json_lines_are_rejected_and_the_others_read(tmp_path: Path) -> None:
    lines = [
        '{"name": "gap", "time": 1, "vessel": "a"}',
        "{oops",
        "",
        "[1]",
        '{"name": "gap", "time": "2", "vessel": 7}',
    ]
    (tmp_path / "e.jsonl").write_text("\n".join(lines))
    assert [(r["row"], r["reason"]) for r in rejected(tmp_path / "e.jsonl")] == [
        (2, "malformed"),
        (4, "malformed"),
    ]
    rows = rows_of(tmp_path / "e.jsonl")["gap"]
    assert rows.time.tolist() == [1, 2]
    assert rows.args[0].to_pylist() == ["a", "7"]


def test_integers_and_truth_values_are_constants_where_symbols_are_expected() -> None:
    table = pa.table({"name": ["gap"], "time": [1], "vessel": [227574020]})
    assert rows_of(table)["gap"].args[0].to_pylist() == ["227574020"]
    table = pa.table({"name": ["gap"], "time": [1], "vessel": [True]})
    assert rows_of(table)["gap"].args[0].to_pylist() == ["true"]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ("missing.csv", "there is no file missing.csv"),
        (pa.table({"name": ["gap"], "tme": [1]}), "input has no column `time`; is `tme` meant to be it?"),
        (pa.table({"time": [1], "vessel": ["a"]}), "input has no column `name`"),
        ({"gap": pa.table({"time": [1], "x": ["a"], "y": ["b"]})}, "the columns of gap do not fit"),
        (42, "cannot read events from int"),
    ],
)
def test_what_cannot_be_read_at_all_is_one_clear_error(events: Any, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("`", ".")):
        chunks(events)


def test_a_file_of_another_format_is_an_error_not_a_heap_of_rejections(tmp_path: Path) -> None:
    (tmp_path / "ais.csv").write_text("MMSI,BaseDateTime,LAT\n338148873,2022-01-03T00:00:00,33.6\n")
    with pytest.raises(InputError, match="neither a header"):
        chunks(tmp_path / "ais.csv")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 this is not parquet")
    with pytest.raises(InputError, match="cannot be read"):
        chunks(tmp_path / "broken.parquet")


def test_a_header_without_a_time_is_no_heap_of_rejections(tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("name,when,vessel\ngap,5,v1\n")
    with pytest.raises(InputError, match=r"gaps.csv has no column .time."):
        chunks(tmp_path / "gaps.csv")


def test_one_argument_is_no_plural(tmp_path: Path) -> None:
    (row,) = rejected(pa.table({"name": ["velocity"], "time": [1], "x": ["a"]}), UNDECLARED)
    assert row["detail"] == "1 argument where velocity takes 2 arguments"


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "empty.jsonl").write_text("")
    assert rows_of(tmp_path / "empty.csv") == {}
    assert rows_of(tmp_path / "empty.jsonl") == {}


def test_columns_that_hold_lists_or_structures_are_no_arguments(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text(
        '{"name": "gap", "time": 1, "meta": {"a": 1}, "vessel": "v", "tags": [1, 2]}\n'
    )
    assert rows_of(tmp_path / "e.jsonl", UNDECLARED)["gap"].args[0].to_pylist() == ["v"]


def test_columns_of_one_name_or_of_mixed_types_are_one_clear_error() -> None:
    twice = pa.table([[1], [2], ["gap"]], names=["time", "time", "name"])
    with pytest.raises(InputError, match=r"more than one column .time."):
        chunks(twice)
    with pytest.raises(InputError, match="different types"):
        chunks(pd.DataFrame({"name": ["gap", "gap"], "time": [1, 2], "v": [object(), "x"]}))


def test_a_file_that_is_cut_off_is_named_when_it_is_read(tmp_path: Path) -> None:
    text = "".join(f"gap|{t}|{t}|a\n" for t in range(5000)).encode()
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress(text)[:-200])
    with pytest.raises(InputError, match="cannot be read"):
        list(Feed(open_sources(tmp_path / "e.csv.gz", Reading(shapes(parse(DECLARED)), Clock()))))


def test_dictionaries_may_differ_in_their_keys_and_in_the_kinds_of_their_values() -> None:
    rules = """
    initiatedAt(warm(X)=true, T) :- happensAt(reading(X, D), T), D > 6.
    terminatedAt(warm(X)=true, T) :- happensAt(opened(X), T).
    """
    rows = [
        {"name": "opened", "time": 1, "x": "anna"},
        {"name": "reading", "time": 3, "x": "anna", "degrees": 7.5},
        {"name": "opened", "time": 5, "x": 12},
    ]
    result = thalweg.run(rules, rows, window=10, step=10)
    assert result.arrow["rejected"].num_rows == 0
    assert [row["fluent"] for row in result.arrow["timeline"].to_pylist()] == ["warm(anna)"]


def test_dictionaries_of_intervals_are_rows_too() -> None:
    rules = "fluent near(x). holdsFor(close(X)=true, I) :- holdsFor(near(X)=true, I)."
    result = thalweg.run(rules, [{"name": "near", "start": 3, "end": 6, "x": "a"}], window=10, step=10)
    assert [(row["start"], row["end"]) for row in result.arrow["timeline"].to_pylist()] == [(3, 6)]


def test_a_row_of_nothing_but_nulls_is_rejected_like_any_other() -> None:
    columns = {"name": pa.string(), "time": pa.int64(), "vessel": pa.string(), "speed": pa.float64()}
    table = pa.table({name: pa.array([None, None], kind) for name, kind in columns.items()})
    found = thalweg.run(DECLARED, table, window=10, step=10)
    assert found.arrow["rejected"].column("reason").to_pylist() == ["unknown-name"] * 2
