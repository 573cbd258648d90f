"""RTEC-style lines that were taken apart into columns, as Spark gets them, lead to what the same lines in a file do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thalweg.io.errors import InputError
from thalweg.io.rejects import Rejects
from thalweg.io.rtec import read_block
from thalweg.io.shapes import shapes
from thalweg.plans import as_program, clock_of
from thalweg.runs import run
from thalweg.spark.frames import RtecFields, from_rtec

RULES = """
event speed(vehicle: symbol, kmh: float).
event speed(vehicle: symbol).
event halt(vehicle: symbol).
event bell.
event said(name: symbol).
event told(value: float, time: int).
fluent near(one: symbol, other: symbol).
points(walk(_)=true).
initiatedAt(moving(V)=true, T) :- happensAt(speed(V, K), T), K > 5.
initiatedAt(moving(V)=true, T) :- happensAt(speed(V), T).
terminatedAt(moving(V)=true, T) :- happensAt(halt(V), T).
initiatedAt(moving(bell)=true, T) :- happensAt(bell, T).
initiatedAt(heard(V)=true, T) :- happensAt(said(V), T).
initiatedAt(counted(V)=true, T) :- happensAt(told(V, _), T).
holdsFor(close(A, B)=true, I) :- holdsFor(near(A, B)=true, I).
holdsFor(strolling(A)=true, I) :- holdsFor(walk(A)=true, I).
"""
GOOD = [
    b"speed|3|3|v1|50", b"near|9|4|9|true|v1|v2", b"halt|21|20|v1", b"speed|22|22|0012|9", b"-|speed|60|22|0012|9",
    b"speed|23|23|v9", b"halt|5.0|5.0|a", b"speed|6|6||5", b"+|speed|7|7|c|9", b"near|9|4||true|v1|v3", b"bell|5|5",
    b"near|9|4|inf|true|v1|v4", b"walk|40|40|true|a", b'"speed"|8|8|"a|b"|12', b'speed|8|8|"a|12', b"said|8|8|who",
    b'speed|8|8|"a""b"|12', b"speed|8|8|'it''s'|12", b'"-"|speed|9|8|"a|b"|12', b'  -  |  speed |9|8| "a|b" |12',
    b"speed|8|8|M\xfcller|12", b"speed|8|8|a|12\r", b"\xc2\xa0speed|5|5|nb|9\xc2\xa0", b"speed|8|8|u\x1fu|12",
    b"told|9|9|5|7", b"\tspeed\x0b|5|5|vt|9",
]  # fmt: skip
BAD = [
    b"bogus|1|1|x", b"speed", b"speed|7", b"speed|7|7", b"speed|8|8|a|1|extra", b"speed|8|8|a|1||", b"|", b"||",
    b"moving|5|5|a", b"speedd|5|5|a|1", b"halt|x|5|a", b"halt|5|x|a", b"halt|5||a", b"halt||5|a", b"halt|5|5.5|a",
    b"halt|99999999999999999999|5|a", b"speed|6|6|a|fast", b"speed|6|6|a|", b"speed|6|6|a|1e400", b"+", b"-", b"+|",
    b"*|speed|7|7|c|9", b"+speed|7|7|c|9", b"-|bogus|1|1|x", b"-|speed|7|7", b"near|9|9|4|true|v1|v2",
    b"near|9|9|9|true|v1|v2", b"near|9|4|x|true|v1|v4", b"near|9|4|9|v1|v2", b"walk|40|40|a", b"# comment",
    b"% comment|1|2", b"sp\xfceed|8|8|M\xc3\xbcller|12", b"speed|8|8|M\xc3\xbcller|1\xfc2", b"bogus|8|8|a|12\r",
    b"bell|5|5|", b"SPEED|5|5|a|1", b"speed|0x10|8|u|12", b"\xef\xbb\xbfhalt|9|9|z", b"speed|1\rhalt|8|8|cr",
    b"bogus|5000|99999999999|x", b"bogus|-70|4|x", b"bogus|4|-90|x", b"told|9|9|a|7", b"bogus|-999", b'"a|1|2|b"|7|8',
]  # fmt: skip
NOTHING = [b"", b"   ", b"\t", b"\r", b'""']
PROGRAM = as_program(RULES)
FIELDS = RtecFields("|", shapes(PROGRAM), clock_of(PROGRAM, None), keep=("nr",))


def columns(texts: Sequence[bytes | None]) -> pa.Table:
    """The columns of texts, with the number of each text."""
    numbers = pa.array(range(1, len(texts) + 1))
    batch = pa.record_batch([pa.array(texts, pa.binary()), numbers], names=["0", "1"])
    return pa.Table.from_batches(list(FIELDS.read([batch])))


def by_columns(texts: Sequence[bytes | None], **options: Any) -> dict[str, Any]:
    """What a run over the columns finds, its rows told by the numbers of the texts."""
    table = columns(texts)
    numbers = table.column("nr").to_pylist()
    found = run(PROGRAM, table.drop(["nr"]), window=100, step=50, **options)
    rejected = [{**row, "row": numbers[row["row"] - 1]} for row in found.arrow["rejected"].to_pylist()]
    return _told(found, rejected)


def by_file(path: Path, **options: Any) -> dict[str, Any]:
    found = run(PROGRAM, path, window=100, step=50, **options)
    return _told(found, found.arrow["rejected"].to_pylist())


def _told(found: Any, rejected: list[dict[str, Any]]) -> dict[str, Any]:
    changes = found.arrow["changes"].drop(["cause"]).to_pylist()
    keys = ("row", "reason", "detail", "text")
    summary = found.summary()
    return {
        "timeline": sorted(map(str, found.arrow["timeline"].to_pylist())),
        "changes": sorted(map(str, changes)),
        "rejected": sorted(tuple(str(row[key]) for key in keys) for row in rejected),
        "counts": (summary.rows, summary.accepted, summary.rejected, summary.query_times, summary.first_query_time),
    }


def written(path: Path, lines: Sequence[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def test_lines_of_every_kind_mean_what_they_mean_in_a_file(tmp_path: Path) -> None:
    lines = [line for place, bad in enumerate(BAD) for line in (bad, GOOD[place % len(GOOD)])]
    lines = [GOOD[0], *NOTHING, *lines, *NOTHING]
    expected = by_file(written(tmp_path / "events.csv", lines))
    assert {int(row) for row, *_ in expected["rejected"]} >= {n for n, line in enumerate(lines, 1) if line in BAD}
    assert by_columns(lines) == expected
    some = [*GOOD, BAD[0]]
    assert by_columns(some) == by_file(written(tmp_path / "events.csv", some))


@given(st.lists(st.sampled_from([*GOOD, *BAD, *NOTHING]), max_size=4), st.sampled_from([*GOOD, *BAD, *NOTHING]))
@example([b"-|halt|9|9|a"], b'"-"|speed|9|8|"a|b"|12')
@example([b" "], b"\xc2\xa0speed|5|5|nb|9\xc2\xa0")
@example([b'"'], b"speed|8|8|u\x1fu|12")
def test_what_a_line_means_does_not_depend_on_others(others: list[bytes], line: bytes) -> None:
    assert read([*others, line, *others])[len(others) :][:1] == read([line])


def read(lines: Sequence[bytes]) -> list[object]:
    """For each line the row that it is, or why it is rejected; None where it says nothing."""
    from thalweg.io.delimited import clean

    rejects = Rejects("file")
    block = clean(b"".join(line + b"\n" for line in lines))
    found: dict[int, object] = {}
    for rows in read_block(block, "|", FIELDS.shapes, FIELDS.clock, line=0, offset=0, rejected=rejects):
        arguments = [column.to_pylist() for column in rows.args]
        value = [None] * len(rows) if rows.value is None else rows.value.to_pylist()
        end = [None] * len(rows) if rows.end is None else rows.end.tolist()
        told = zip(rows.op.tolist(), rows.arrival.tolist(), rows.time.tolist(), end, value, *arguments, strict=True)
        found |= {place: (rows.name, *row) for place, row in zip(rows.row.tolist(), told, strict=True)}
    for row in rejects.table().to_pylist():
        found[row["row"]] = (row["reason"], row["detail"], row["text"])
    return [found.get(place) for place in range(len(lines))]


def test_a_line_with_too_few_fields_has_no_time_and_is_of_the_wrong_arity() -> None:
    (row,) = columns([b"speed|7"]).to_pylist()
    assert row["_thalweg_reason"] == "wrong-arity" and row["_thalweg_text"] == "speed|7"
    assert row["name"] is row["arrival"] is row["time"] is None


def test_of_a_line_that_is_rejected_the_earlier_time_counts_for_the_start_and_none_for_the_end() -> None:
    found = columns([b"bogus|9|4|x", b"bogus|4|9|x", b"bogus|4|x|x", b"bogus|x|4|x", b"bogus|2022-01-03|4|x"])
    assert found.column("time").to_pylist() == ["4"] * 5
    assert found.column("arrival").null_count == 5


def test_a_text_may_have_several_lines_or_be_a_file_or_nothing(tmp_path: Path) -> None:
    file = b"\xef\xbb\xbfspeed|3|3|v1|50\r\n\r\nhalt|21|20|v1\r\nbogus|1|1"
    texts = [file, None, b"\xef\xbb\xbfhalt|9|9|z", b"bell|5|5\n"]
    assert columns(texts).column("nr").to_pylist() == [1, 1, 1, 3, 4]
    expected = by_file(written(tmp_path / "events.csv", [file]))
    assert {**by_columns([file]), "rejected": 1} == {**expected, "rejected": len(expected["rejected"])}


def test_names_that_are_events_and_fluents_are_told_apart_by_their_fields(tmp_path: Path) -> None:
    rules = """
    event near(a: symbol).
    fluent near(a: symbol, b: symbol).
    initiatedAt(seen(A)=true, T) :- happensAt(near(A), T).
    holdsFor(close(A, B)=true, I) :- holdsFor(near(A, B)=true, I).
    """
    program = as_program(rules)
    lines = [b"near|3|3|v1", b"near|9|4|9|true|v1|v2", b"near|9|4|9|v1"]
    fields = RtecFields("|", shapes(program), clock_of(program, None))
    (batch,) = fields.read([pa.record_batch([pa.array(lines)], names=["0"])])
    found, expected = (
        run(program, given, window=100, step=50, start=0).arrow
        for given in (pa.Table.from_batches([batch]), written(tmp_path / "events.csv", lines))
    )
    assert found["timeline"].num_rows == 2
    assert found["timeline"].equals(expected["timeline"])
    assert found["rejected"].drop(["source"]).equals(expected["rejected"].drop(["source"]))


@pytest.mark.parametrize("separator", ["", "||", "\n", '"', "§"])
def test_a_separator_is_one_character(separator: str) -> None:
    class Frame:
        sparkSession = None

    with pytest.raises(InputError, match="does not separate fields"):
        from_rtec(Frame(), RULES, separator=separator)  # type: ignore[arg-type]
