"""RTEC-style CSV: which lines become which rows, and why the others do not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from thalweg.io.open import open_sources
from thalweg.io.shapes import shapes
from thalweg.io.sources import Chunk, Reading
from thalweg.io.times import Clock
from thalweg.language.parser import parse
from thalweg.protocol import OPEN_END, Rows

PROGRAM = parse(
    """
    event velocity(vessel: symbol, speed: float).
    event gap(vessel: symbol).
    event tick.
    fluent proximity(a: symbol, b: symbol).
    points(walk(_)=true).
    initiatedAt(far(V)=true, T) :- happensAt(gap(V), T), holdsAt(walk(V)=true, T).
    initiatedAt(near(A,B)=true, T) :- happensAt(gap(A), T), holdsAt(proximity(A,B)=true, T).
    initiatedAt(fast(V)=true, T) :- happensAt(velocity(V,S), T), S > 10.
    initiatedAt(on=true, T) :- happensAt(tick, T).
    """
)


def read(tmp_path: Path, text: str, name: str = "events.csv", clock: Clock = Clock()) -> Chunk:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (source,) = open_sources(path, Reading(shapes(PROGRAM), clock))
    (chunk,) = source.chunks(0)
    return chunk


def by_name(chunk: Chunk) -> dict[str, Rows]:
    return {rows.name: rows for rows in chunk.rows}


def reasons(chunk: Chunk) -> dict[int, str]:
    return {row["row"]: row["reason"] for row in chunk.rejected.to_pylist()}


def test_events_have_arrival_time_and_typed_arguments(tmp_path: Path) -> None:
    rows = by_name(read(tmp_path, "velocity|7|5|v1|2.5\nvelocity|8|8|v2|3\n"))["velocity"]
    assert rows.arrival.tolist() == [7, 8]
    assert rows.time.tolist() == [5, 8]
    assert rows.op.tolist() == [1, 1]
    assert rows.row.tolist() == [1, 2]
    assert rows.args[0].to_pylist() == ["v1", "v2"]
    assert rows.args[1].to_pylist() == [2.5, 3.0]
    assert pa.types.is_dictionary(rows.args[0].type)


def test_an_event_without_arguments_has_three_fields(tmp_path: Path) -> None:
    rows = by_name(read(tmp_path, "tick|4|4\ntick|8|8\n"))["tick"]
    assert rows.time.tolist() == [4, 8]
    assert rows.args == ()


def test_an_interval_has_start_end_and_value_before_its_arguments(tmp_path: Path) -> None:
    rows = by_name(read(tmp_path, "proximity|9|3|8|true|v1|v2\nproximity|9|3||true|v1|v3\n"))["proximity"]
    assert rows.time.tolist() == [3, 3]
    assert rows.end is not None and rows.end.tolist() == [8, OPEN_END]
    assert rows.value is not None and rows.value.to_pylist() == ["true", "true"]
    assert rows.args[1].to_pylist() == ["v2", "v3"]


def test_a_point_of_a_fluent_has_a_value_before_its_arguments(tmp_path: Path) -> None:
    rows = by_name(read(tmp_path, "walk|40|40|true|a\n"))["walk"]
    assert rows.end is None
    assert rows.value is not None and rows.value.to_pylist() == ["true"]
    assert rows.args[0].to_pylist() == ["a"]


def test_a_leading_sign_says_whether_a_row_is_inserted_or_retracted(tmp_path: Path) -> None:
    rows = by_name(read(tmp_path, "+|gap|1|1|a\n-|gap|2|1|a\ngap|3|3|b\n"))["gap"]
    assert rows.op.tolist() == [1, -1, 1]
    assert rows.arrival.tolist() == [1, 2, 3]


def test_leading_zeros_do_not_make_another_number(tmp_path: Path) -> None:
    rows = by_name(read(tmp_path, "velocity|9|9|0012|0012\n"))["velocity"]
    assert rows.args[0].to_pylist() == ["12"]
    assert rows.args[1].to_pylist() == [12.0]


def test_spaces_around_a_field_do_not_belong_to_it(tmp_path: Path) -> None:
    rows = by_name(read(tmp_path, "gap| 11 |11| a \n"))["gap"]
    assert rows.args[0].to_pylist() == ["a"]


def test_quotes_shield_the_separator_and_are_not_part_of_the_text(tmp_path: Path) -> None:
    text = 'gap|1|1|"x|y"\ngap|2|2|"say ""hi"""\ngap|3|3|\'North Sea\'\ngap|4|4|5" pipe\n'
    rows = by_name(read(tmp_path, text))["gap"]
    assert rows.args[0].to_pylist() == ["x|y", 'say "hi"', "North Sea", '5" pipe']


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_are_no_data(tmp_path: Path) -> None:
    chunk = read(tmp_path, "\ufeffgap|1|1|a\r\n\r\ngap|2|2|b\r\n")
    assert by_name(chunk)["gap"].row.tolist() == [1, 3]
    assert chunk.rejected.num_rows == 0


def test_a_last_line_without_a_line_break_is_read(tmp_path: Path) -> None:
    assert by_name(read(tmp_path, "gap|1|1|a\ngap|2|2|b"))["gap"].time.tolist() == [1, 2]


def test_dates_are_measured_in_ticks(tmp_path: Path) -> None:
    text = "gap|2022-01-03T00:01:00Z|2022-01-03|a\n"
    rows = by_name(read(tmp_path, text, clock=Clock(60_000_000)))["gap"]
    assert rows.time.tolist() == [27352800]
    assert rows.arrival.tolist() == [27352801]


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        ("gapp|1|1|a", "unknown-name", "no rule reads gapp; did you mean gap?"),
        ("fast|1|1|a", "unknown-name", "fast is computed by the rules, it cannot be input"),
        ("gap|1|1", "wrong-arity", "3 fields where gap takes 4 (gap|arrival|time|...)"),
        ("gap|1|1|a|b", "wrong-arity", "5 fields where gap takes 4 (gap|arrival|time|...)"),
        ("gap", "wrong-arity", "1 fields where gap takes 4 (gap|arrival|time|...)"),
        (
            "proximity|1|1|2|a|b",
            "wrong-arity",
            "6 fields where proximity takes 7 (proximity|arrival|start|end|value|...)",
        ),
        ("velocity|1|1|a|fast", "wrong-type", "speed 'fast' is not a number"),
        ("velocity|1|1|a|", "wrong-type", "speed '' is not a number"),
        ("velocity|1|1|a|nan", "wrong-type", "speed 'nan' is not a number"),
        ("velocity|1|1|a|1e999", "out-of-range", "speed '1e999' is too large"),
        ("velocity|1|1|a|99999999999999999999", "out-of-range", "speed '99999999999999999999' is too large"),
        ("gap|1||a", "no-time", "time is missing"),
        ("gap||1|a", "no-time", "arrival is missing"),
        ("gap|1|soon|a", "bad-time", "time 'soon' is neither a whole number nor a date such as 2026-03-02"),
        ("gap|1|1.5|a", "bad-time", "time '1.5' is neither a whole number nor a date such as 2026-03-02"),
        ("gap|1|2022-13-01|a", "bad-time", "time '2022-13-01' is neither a whole number nor a date such as 2026-03-02"),
        (
            "gap|99999999999999999999|1|a",
            "out-of-range",
            "arrival '99999999999999999999' is too large: times go to 4 * 10**18 either way, and as floats to 2**53",
        ),
        ("proximity|1|5|3|true|a|b", "end-before-start", "end 3 is not after start 5"),
        ("proximity|1|5|5|true|a|b", "end-before-start", "end 5 is not after start 5"),
    ],
)
def test_a_bad_row_is_rejected_with_its_line_and_reason(
    tmp_path: Path, line: str, reason: str, detail: str
) -> None:
    chunk = read(tmp_path, f"gap|1|1|a\n{line}\ngap|3|3|c\n")
    expected = {"source": "events.csv", "row": 2, "reason": reason, "detail": detail, "text": line}
    assert chunk.rejected.to_pylist() == [expected]
    assert by_name(chunk)["gap"].row.tolist() == [1, 3]


def test_a_row_with_two_faults_is_rejected_once(tmp_path: Path) -> None:
    assert reasons(read(tmp_path, "velocity|x|y|a|b\n")) == {1: "bad-time"}


def test_an_empty_field_is_an_empty_constant_where_a_symbol_is_expected(tmp_path: Path) -> None:
    rows = by_name(read(tmp_path, "velocity|6|6||12\n"))["velocity"]
    assert rows.args[0].to_pylist() == [""]


def test_bytes_that_are_no_text_do_not_stop_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes(b"gap|1|1|a\ngap|2|2|\xff\xfe\n")
    (source,) = open_sources(path, Reading(shapes(PROGRAM), Clock()))
    (chunk,) = source.chunks(0)
    assert by_name(chunk)["gap"].time.tolist() == [1, 2]


def test_rejections_come_in_the_order_of_the_lines(tmp_path: Path) -> None:
    chunk = read(tmp_path, "bogus|1|1|a\nvelocity|1|1|a|x\ngap|1|x|a\nbogus|2|2|a\n")
    assert list(reasons(chunk)) == [1, 2, 3, 4]


def test_a_file_full_of_unknown_names_is_rejected_in_no_time(tmp_path: Path) -> None:
    lines = ["gap|1|1|a", *(f"name{i}|1|1|a" for i in range(50_000)), "gapp|2|2|b", "gap|3|3|c"]
    chunk = read(tmp_path, "\n".join(lines) + "\n")
    assert by_name(chunk)["gap"].row.tolist() == [1, 50_003]
    assert chunk.rejected.num_rows == 50_001
    assert chunk.rejected.slice(0, 1).to_pylist()[0]["detail"] == "no rule reads name0"
