"""What a row says does not depend on other rows: neither on what stands beside it nor on its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.io import delimited, sources
from thalweg.io.delimited import characters_of, line_ends
from thalweg.io.errors import InputError
from thalweg.io.feed import Feed
from thalweg.io.kernels import mark_keys
from thalweg.io.open import open_sources
from thalweg.io.shapes import shapes
from thalweg.io.sources import Chunk, Reading
from thalweg.io.times import Clock
from thalweg.io.values import column_of
from thalweg.language.parser import parse

RULES = "initiatedAt(on(V)=true,T) :- happensAt(e(V),T)."
TWO = "initiatedAt(on(A,B)=true,T) :- happensAt(e(A,B),T), \\+ happensAt(f(B),T)."
NAMED = "event e(a: symbol, b: symbol).\n" + TWO
NEAR = "initiatedAt(on(V)=true,T) :- happensAt(e(V),T), holdsAt(near(V)=true,T).\nfluent near(v).\n"
LEVEL = "initiatedAt(on(V)=true,T) :- happensAt(e(V),T), holdsAt(level(V)=L,T), L > 3.\nfluent level(v).\n"

Told = tuple[Any, ...]
"""A row that was read, or rejected."""


def chunks(events: Any, program: str = RULES, clock: Clock | None = None) -> list[Chunk]:
    found = open_sources(events, Reading(shapes(parse(program)), clock or Clock()))
    return [chunk for source in found for chunk in source.chunks(0)]


def told(events: Any, program: str = RULES, clock: Clock | None = None) -> list[Told]:
    """What is made of each row, in their order: name, sign, arrival, time, end, value, arguments; or why not."""
    read: list[tuple[int, Told]] = []
    for chunk in chunks(events, program, clock):
        for rows in chunk.rows:
            columns = [rows.op.tolist(), rows.arrival.tolist(), rows.time.tolist()]
            ends = [None] * len(rows) if rows.end is None else rows.end.tolist()
            values = [None] * len(rows) if rows.value is None else rows.value.to_pylist()
            arguments = [column.to_pylist() for column in rows.args]
            for place, row in enumerate(zip(*columns, ends, values, *arguments, strict=True)):
                read.append((int(rows.row[place]), (rows.name, *row)))
        read += [(row["row"], (row["reason"], row["detail"])) for row in chunk.rejected.to_pylist()]
    return [row for _, row in sorted(read, key=lambda pair: pair[0])]


def in_lines(path: Path, rows: Iterable[Any], name: str = "rows.jsonl") -> Path:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    (path / name).write_text("".join(f"{line}\n" for line in lines))
    return path / name


def event(time: int, *args: str, arrival: int | None = None, op: int = 1, name: str = "e") -> Told:
    return (name, op, time if arrival is None else arrival, time, None, None, *args)


# --------------------------------------------------------------------------- what a row does not say

ROWS: list[dict[str, Any]] = [
    {"name": "e", "time": 1, "v": "a"},
    {"name": "e", "time": 1, "arrival": 3, "v": "late"},
    {"name": "e", "time": 2, "arrival": None, "op": "retract", "v": "b"},
]
MADE = [event(1, "a"), event(1, "late", arrival=3), event(2, "b", op=-1)]
STATES: list[dict[str, Any]] = [
    {"name": "near", "start": 2, "end": 5, "v": "a"},
    {"name": "near", "start": 2, "end": 6, "value": "false", "v": "b"},
    {"name": "near", "time": 4, "end": 6, "v": "c"},
    {"name": "e", "start": 4, "v": "d"},
]


def as_tables(rows: Sequence[dict[str, Any]], path: Path) -> dict[str, Any]:
    """The rows in every form that has columns with names."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    pq.write_table(table, path / "rows.parquet")
    pq.write_table(table.select([*names]), path / "again.parquet", use_dictionary=False)
    words = [["" if row.get(name) is None else str(row[name]) for name in names] for row in rows]
    (path / "rows.csv").write_text("".join(",".join(line) + "\n" for line in [names, *words]))
    (path / "spaced.csv").write_text("".join(" , ".join(line) + "\n" for line in [names, *words]))
    return {
        "lines": in_lines(path, rows),
        "lines with a bad one": in_lines(path, [*rows, "oops"], "bad.jsonl"),
        "rows": list(rows),
        "arrow": table,
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "parquet": path / "rows.parquet",
        "plain parquet": path / "again.parquet",
        "csv": path / "rows.csv",
        "csv with spaces": path / "spaced.csv",
    }


def test_a_row_without_an_arrival_arrives_in_time_whatever_others_say(tmp_path: Path) -> None:
    for kind, events in as_tables(ROWS, tmp_path).items():
        assert told(events)[:3] == MADE, kind


def test_a_row_without_a_value_is_true_and_a_time_may_stand_in_either_column(tmp_path: Path) -> None:
    expected = [
        ("near", 1, 2, 2, 5, "true", "a"),
        ("near", 1, 2, 2, 6, "false", "b"),
        ("near", 1, 4, 4, 6, "true", "c"),
        event(4, "d"),
    ]
    for kind, events in as_tables(STATES, tmp_path).items():
        assert told(events, NEAR)[:4] == expected, kind


def test_a_value_that_has_to_be_a_number_is_not_made_up(tmp_path: Path) -> None:
    rows = [{"name": "level", "start": 2, "v": "a"}, {"name": "level", "start": 2, "value": 7, "v": "b"}]
    missing = ("missing-value", "value is missing")
    for kind, events in as_tables(rows, tmp_path).items():
        first, second = told(events, LEVEL)[:2]
        assert first == missing, kind
        assert second[-2:] == (7, "b"), kind
        assert second[0] == "level", kind
    for kind, events in as_tables(rows[:1], tmp_path).items():
        assert told(events, LEVEL)[0] == missing, kind


def test_in_lines_told_by_place_an_empty_arrival_or_value_is_rejected(tmp_path: Path) -> None:
    lines = ["near|2|2|6|true|p", "near|14|4|6||p", "near||4|6|true|p", "e||5|a", "near|14|4|6|''|p"]
    (tmp_path / "rows.csv").write_text("".join(f"{line}\n" for line in lines))
    value, arrival = ("missing-value", "value is missing"), ("no-time", "arrival is missing")
    assert told(tmp_path / "rows.csv", NEAR)[1:] == [value, arrival, arrival, value]


@pytest.mark.parametrize("named", [True, False])
def test_the_first_look_knows_when_a_row_without_an_arrival_arrives(tmp_path: Path, named: bool) -> None:
    rows = [
        {"name": "e", "time": 3, "v": "a"},
        {"name": "e", "time": 5, "arrival": 90, "v": "a"},
        {"name": "e", "time": 2, "arrival": 7, "v": "a"},
        {"name": "e", "time": 95, "v": "a"},
    ]
    for kind, events in as_tables(rows, tmp_path).items():
        (source,) = open_sources(events, Reading(shapes(parse(RULES)), Clock()))
        (extent,) = source.survey().chunks
        assert (extent.earliest, extent.latest, extent.first) == (3, 95, 2), kind


def test_no_query_time_is_run_too_early_where_only_some_rows_have_an_arrival(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"name": "e", "time": 50 - n, "v": "a", **({"arrival": 60} if n % 3 else {})} for n in range(40)]
    monkeypatch.setattr(sources, "CHUNK_ROWS", 7)
    table = pa.table({name: [row.get(name) for row in rows] for name in ("name", "time", "arrival", "v")})
    pieces = list(Feed(open_sources(table, Reading(shapes(parse(RULES)), Clock()))))
    for place, piece in enumerate(pieces):
        later = [int(a) for other in pieces[place + 1 :] for part in other.chunk.rows for a in part.arrival]
        assert piece.next_arrival <= min(later, default=piece.next_arrival)
    assert len(pieces) > 3


# --------------------------------------------------------------------------- arguments of rows with keys


@pytest.mark.parametrize("form", ["lines", "lines with a bad one", "rows"])
class TestArguments:
    def given(self, form: str, rows: list[dict[str, Any]], path: Path) -> Any:
        if form == "rows":
            return rows
        return in_lines(path, rows if form == "lines" else [*rows, "oops"])

    def test_are_its_own_keys_in_its_own_order(self, form: str, tmp_path: Path) -> None:
        one = {"name": "f", "time": 1, "b": "x"}
        two = {"name": "e", "time": 2, "a": "p", "b": "q"}
        other = {"name": "e", "b": "q", "time": 2, "a": "p", "c": None, "d": [1], "e": {"f": 2}}
        expected = [event(1, "x", name="f"), event(2, "p", "q"), event(2, "q", "p")]
        for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
            rows = [(one, two, other)[place] for place in order]
            assert told(self.given(form, rows, tmp_path), TWO)[:3] == [expected[place] for place in order]

    def test_of_a_declared_event_go_by_name(self, form: str, tmp_path: Path) -> None:
        rows = [
            {"name": "e", "time": 1, "b": "q", "a": "p"},
            {"name": "e", "time": 1, "x": 1, "a": "p", "y": [2], "b": "q"},
            {"name": "e", "time": 1, "x": "p", "y": "q"},
            {"name": "e", "time": 1, "b": "q", "c": "r"},
            {"name": "e", "time": 1, "a": "p", "b": None},
            {"name": "e", "time": 1},
            {"name": "e", "time": 1, "arg2": "q", "arg1": "p", "note": "z"},
            {"name": "e", "time": 1, "c": "r"},
        ]
        pq_ = event(1, "p", "q")
        lacking = [("missing-value", f"{name} is missing") for name in ("a", "b", "a")]
        few = ("wrong-arity", "1 argument where e takes 2 arguments")
        assert told(self.given(form, rows, tmp_path), NAMED)[:8] == [pq_, pq_, pq_, *lacking, pq_, few]

    def test_may_be_numbered(self, form: str, tmp_path: Path) -> None:
        rows = [
            {"name": "e", "time": 1, "arg2": "q", "x": 0, "arg1": "p"},
            {"name": "e", "time": 1, "arg2": "q"},
            {"name": "e", "time": 1, "arg999999999": "q", "arg1": 0},
        ]
        many = ("wrong-arity", "999999999 arguments where e takes 2 arguments")
        missing = ("missing-value", "argument 1 is missing")
        assert told(self.given(form, rows, tmp_path), TWO)[:3] == [event(1, "p", "q"), missing, many]

    def test_tell_which_of_several_is_meant(self, form: str, tmp_path: Path) -> None:
        program = "event e(a).\nevent e(b, a).\nevent e.\n" + (
            "initiatedAt(on(A)=true,T) :- happensAt(e(A),T).\ninitiatedAt(on(A)=true,T) :- happensAt(e(B,A),T).\n"
            "initiatedAt(on(A)=true,T) :- happensAt(e(A),T), happensAt(e,T).\n"
        )
        rows = [{"name": "e", "time": 1, **more} for more in ({"a": "p"}, {"a": "p", "b": "q"}, {}, {"b": "q"})]
        found = told(self.given(form, rows, tmp_path), program)[:4]
        assert found == [event(1, "p"), event(1, "q", "p"), event(1), ("missing-value", "a is missing")]

    def test_keys_of_special_meaning_are_known_by_any_case(self, form: str, tmp_path: Path) -> None:
        rows = [
            {"Name": "e", "time": 1, "v": "a"},
            {"name": "e", "TIME": 2, "v": "b", "_change_type": "delete"},
            {"name": "e", "time": 1, "v": "c", "op": "+", "_change_type": "delete", "_commit_version": 3},
            {"name": "e", "time": 1, "Time": 2, "v": "d"},
        ]
        twice = ("malformed", "more than one key `time`: time, Time")
        expected = [event(1, "a"), event(2, "b", op=-1), event(1, "c"), twice]
        assert told(self.given(form, rows, tmp_path))[:4] == expected

    def test_a_start_is_one_only_beside_a_time(self, form: str, tmp_path: Path) -> None:
        rows = [{"name": "e", "start": 4, "v": "a"}, {"name": "e", "time": 5, "start": "b"}]
        assert told(self.given(form, rows, tmp_path))[:2] == [event(4, "a"), event(5, "b")]


def test_a_row_without_a_name_is_of_the_event_of_its_file(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"time": 1, "v": "a"}, {"name": "g", "time": 2, "v": "b"}]
    unknown = ("unknown-name", "no rule reads g")
    assert told(in_lines(tmp_path, rows, "e.jsonl")) == [event(1, "a"), unknown]
    assert told({"e": rows}) == [event(1, "a"), unknown]
    assert told(in_lines(tmp_path, rows)) == [("unknown-name", "the name is empty"), unknown]
    with pytest.raises(InputError, match=r"the columns of e\.jsonl do not fit"):
        told(in_lines(tmp_path, [{"time": 1, "v": "a", "w": "b"}], "e.jsonl"))


KEYS = st.sampled_from(["a", "b", "c", "arg1", "Arg2", "start", "end", "value", "arrival", "op", 'q"', "ü", "x\\"])
DATES = ["2022-01-03", "2022-01-03T00:00:01Z"]
VALUES = st.sampled_from(["p", "7", 7, 2.5, 1e300, True, None, *DATES, [1], {"a": 1}, "e"])
NAMES = st.sampled_from(["e", "f", "near", None, "g"])
JSON = st.builds(
    lambda name, time, rest: {"name": name, "time": time, **rest},
    NAMES,
    st.sampled_from([1, "1970-01-01T00:00:05", None, 3.0, "x"]),
    st.dictionaries(KEYS, VALUES, max_size=4),
)
ALL = NAMED + "\ninitiatedAt(on(V)=true,T) :- happensAt(g(V),T), holdsAt(near(V)=true,T).\nfluent near(v).\n"


@pytest.mark.parametrize("program", [f"{TWO}\n{RULES.replace('e(V)', 'g(V)')}", ALL], ids=["undeclared", "declared"])
@pytest.mark.parametrize("small", [True, False])
@given(st.data())
def test_each_row_is_what_it_is_alone(program: str, small: bool, data: st.DataObject) -> None:
    rows = data.draw(st.lists(JSON, min_size=1, max_size=6))
    timed = {"name": "f", "time": 9, "b": "z"}  # a file in which no row has a time is refused as a whole
    alone = [told([row, timed], program)[0] for row in rows]
    assert told([*rows, timed], program)[:-1] == alone
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        one, path = Path(folder) / "one", Path(folder)
        one.mkdir()
        if small:
            patch.setattr(delimited, "BLOCK", 40)
        assert told(in_lines(path, [*rows, timed]), program)[:-1] == alone
        for row, expected in zip(rows, alone, strict=True):
            assert told(in_lines(one, [row, timed]), program)[0] == expected


# --------------------------------------------------------------------------- the kernel


def keys_by_hand(line: str) -> tuple[str, ...] | None:
    try:
        said = json.loads(line)
    except ValueError:
        return None
    if not isinstance(said, dict):
        return None
    return tuple(k for k, v in said.items() if v is not None and not isinstance(v, list | dict))


OBJECT = st.dictionaries(
    st.text(st.sampled_from('ab"\\:{}[],n '), max_size=4),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a"\\:{}[], n'), max_size=5),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2),
    ),
    max_size=4,
)
LINE = st.builds(
    lambda said, blanks: json.dumps(said, separators=(f"{blanks},", f"{blanks}:{blanks}")),
    OBJECT,
    st.sampled_from(["", " ", "\t "]),
)


@given(st.lists(LINE | st.sampled_from(["{", "}{", '{"a', '"', "\\", '{"a":', "[", "1"]), min_size=1, max_size=6))
def test_lines_have_one_mark_where_they_have_the_same_keys_in_the_same_order(lines: list[str]) -> None:
    block = "".join(f"{line}\n" for line in lines).encode()
    ends = line_ends(block)
    marks = np.empty(len(ends), np.uint64)
    mark_keys(characters_of(block), np.concatenate([np.zeros(1, np.int64), ends[:-1]]), ends, marks)
    found = [(keys_by_hand(line), mark) for line, mark in zip(lines, marks.tolist(), strict=True)]
    for keys, mark in found:
        if isinstance(keys, tuple):
            assert mark != 0
            assert all((keys == other) == (mark == its) for other, its in found if isinstance(other, tuple))


# --------------------------------------------------------------------------- values of Python

MOMENT = datetime(1970, 1, 1, 0, 0, 7)
BERLIN = timezone(timedelta(hours=1))


@pytest.mark.parametrize("frame", [list, pd.DataFrame])
def test_a_time_means_the_same_beside_one_of_another_kind(frame: Any) -> None:
    times = [MOMENT, 8, datetime(1970, 1, 1, 0, 0, 9, tzinfo=UTC), datetime(1970, 1, 1, 1, 0, 10, tzinfo=BERLIN),
             date(1970, 1, 2), "11", "1970-01-01 00:00:12", Decimal(13), np.datetime64("1970-01-01T00:00:14"),
             np.int64(15), 16.0, pd.Timestamp("1970-01-01 00:00:17")]  # fmt: skip
    expected = [7, 8, 9, 10, 86400, 11, 12, 13, 14, 15, 16, 17]
    for order in (range(12), reversed(range(12)), [1, 0], [0, 1], [4, 0], [0, 4], [4, 1], [1, 4], [2, 0], [0, 2]):
        rows = [{"name": "e", "time": times[place], "v": place} for place in order]
        found = told(frame(rows))
        assert found == [event(expected[row["v"]], str(row["v"])) for row in rows]


@pytest.mark.parametrize("frame", [list, pd.DataFrame])
@pytest.mark.parametrize(
    ("value", "constant"),
    [
        (True, "true"),
        (np.bool_(False), "false"),
        (2.0, "2"),
        (1e300, "1e+300"),
        (12, "12"),
        (2**70, str(2**70)),
        (Decimal("12345678901234567890.00"), "12345678901234567890"),
        (Decimal("1.50"), "1.5"),
        (b"\xfc", "\\xfc"),
        ("0012", "12"),
        (date(2022, 1, 3), "2022-01-03"),
    ],
)
def test_a_constant_is_the_same_beside_one_of_another_kind(frame: Any, value: Any, constant: str) -> None:
    for beside in ("text", True, 3, 0.5, date(2020, 1, 1)):
        for order in ([value, beside], [beside, value], [value]):
            rows = [{"name": "e", "time": 1, "v": v} for v in order]
            found = told(frame(rows))
            assert found[order.index(value) if value in order[:1] else 1] == event(1, constant), (beside, order)


def test_a_number_in_json_is_the_same_beside_one_of_another_kind(tmp_path: Path) -> None:
    values = ["true", "12", "0.5", '"x"', '"2022-01-03"', "12345678901234567890", "1e300", '"2022-01-03T00:00:00Z"']
    expected = ["true", "12", "0.5", "x", "2022-01-03", "12345678901234567890", "1e+300", "2022-01-03T00:00:00Z"]
    for one, said in zip(values, expected, strict=True):
        for other in values:
            path = in_lines(tmp_path, [f'{{"name":"e","time":1,"v":{v}}}' for v in (one, other)])
            assert told(path)[0] == event(1, said), other


def test_what_is_no_number_or_no_value_at_all_is_missing() -> None:
    rows = [{"name": "e", "time": 1, "v": v} for v in (float("nan"), None, pd.NaT, np.datetime64("NaT"), pd.NA)]
    few = ("wrong-arity", "0 arguments where e takes 1 argument")
    assert told(rows) == [few] * 5
    assert column_of([None, None]).null_count == 2


# --------------------------------------------------------------------------- what is said of it


def test_the_column_of_a_cut_off_line_is_where_it_ends(tmp_path: Path) -> None:
    path = in_lines(tmp_path, [ROWS[0], '{"name":"e","time":', '{"name":"e",'])
    complaints = ["Expecting value at column 20", "Expecting property name enclosed in double quotes at column 13"]
    assert told(path)[1:] == [("malformed", f"not JSON: {complaint}") for complaint in complaints]


def test_a_header_says_which_of_its_words_is_meant(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("name,Tiem,a\ne,1,b\n")
    with pytest.raises(InputError, match=r"has no column `time`; is `Tiem` meant to be it\?"):
        told(tmp_path / "rows.csv")
