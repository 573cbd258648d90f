"""Files on Spark: the formats of an embedded run, the same rows under the same numbers, directories that grow."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from stories import assert_same_tables, rows_of, short_traffic

from thalweg import spark as ts
from thalweg.io.errors import InputError
from thalweg.io.sinks import Memory
from thalweg.plans import Options, as_program
from thalweg.result import Summary
from thalweg.runs import run
from thalweg.spark import sinks
from thalweg.spark.cli import drive, follow

pytestmark = pytest.mark.spark

MARITIME = Path(__file__).parents[2] / "examples" / "maritime"
OPTIONS = Options(window=14400, step=3600, start=0)


@pytest.fixture(scope="module")
def maritime() -> Any:
    return as_program(
        MARITIME / "rules.ec", [MARITIME / "background.ec", MARITIME / "sample" / "register.ec"]
    )


@pytest.fixture(scope="module")
def messy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample in three files of two formats, with rows that cannot be read."""
    folder = tmp_path_factory.mktemp("messy")
    lines = (MARITIME / "sample" / "events.csv").read_text().splitlines()
    (folder / "a.csv").write_text("\n".join([*lines[:700], "nosuch|1|2|3", "velocity|5|x|v1|1|2|3"]) + "\n")
    (folder / "b.csv").write_text("\n".join(lines[700:1500]) + "\n\n")
    rest = [line.split("|") for line in lines[1500:]]
    events = [row for row in rest if row[0] != "proximity"]
    told = [
        {"name": r[0], "arrival": int(r[1]), "time": int(r[2])}
        | {f"arg{i}": a for i, a in enumerate(r[3:], 1)}
        for r in events
    ]
    (folder / "c.jsonl").write_text("\n".join([*map(json.dumps, told), "{"]) + "\n")
    for number, name in enumerate(("a.csv", "b.csv", "c.jsonl")):
        os.utime(folder / name, (1_000_000 + number,) * 2)
    return folder


def embedded(program: Any, folder: Path) -> tuple[dict[str, pa.Table], Summary]:
    found = run(program, str(folder), window=OPTIONS.window, step=OPTIONS.step, start=0)
    return found.arrow, found.summary()


def test_files_of_any_format_give_the_tables_of_an_embedded_run(
    spark: Any, maritime: Any, messy: Path
) -> None:
    expected, told = embedded(maritime, messy)
    memory = Memory(maritime.kind)
    summary = drive(maritime, [str(messy)], OPTIONS, memory, shards=4)
    found = memory.tables()
    for name, table in expected.items():
        mine, yours = (rows_of(t, table.column_names) for t in (table, found[name]))
        assert mine == yours, f"{name}: {list(mine - yours)[:3]} {list(yours - mine)[:3]}"
    assert replace(summary, seconds=0, tables={}) == replace(told, seconds=0, tables={})


def test_a_directory_is_followed_file_by_file(spark: Any, maritime: Any, messy: Path, tmp_path: Path) -> None:
    expected, _ = embedded(maritime, messy)
    running = follow(
        maritime,
        [str(messy)],
        OPTIONS,
        checkpoint=tmp_path / "checkpoint",
        out=tmp_path / "out",
        shards=2,
        trigger="available",
        files_per_batch=1,
        disorder=10**6,
    )
    running.wait()
    assert [report.batch for report in running.reports] == [0, 1, 2, 3]
    assert_same_tables(expected, running.tables, ("timeline", "changes", "rejected"))


def test_files_of_any_name_and_age_are_followed_and_others_are_left_alone(spark: Any, tmp_path: Path) -> None:
    """As an embedded run reads a directory: what its names say of no format is none of the input."""
    rules = as_program("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).")
    folder = tmp_path / "a[1] {b,c}"
    (folder / "x?y").mkdir(parents=True)
    for number, name in enumerate(("a#1.csv", "b%20c.csv", "x?y/d é.csv", "e*.csv")):
        (folder / name).write_text(f"press|{number + 1}|{number + 1}|v{number}\n")
    os.utime(folder / "e*.csv", (1_000_000, 1_000_000))
    for name in ("README", "photo.png", "f.csv.part"):
        (folder / name).write_text("nothing that could be read\n")
    (tmp_path / "a1 b").mkdir()
    (tmp_path / "a1 b" / "other.csv").write_text("press|1|1|other\n")
    options = Options(window=10, step=10, start=0)
    running = follow(rules, [str(folder)], options, checkpoint=tmp_path / "c", trigger="available", shards=2)
    running.wait()
    expected = run(rules, str(folder), window=10, step=10, start=0).arrow
    assert expected["timeline"].num_rows == 4
    assert_same_tables(expected, running.tables, ("timeline", "changes"))


def test_a_file_cannot_be_followed(spark: Any, maritime: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no directory that could be followed"):
        follow(maritime, [str(MARITIME / "rules.ec")], OPTIONS, checkpoint=tmp_path)


def test_what_is_written_must_not_lie_in_what_is_followed(maritime: Any, messy: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(messy)
    for out, checkpoint in ((messy / "out", tmp_path / "c"), (None, messy), (tmp_path / "link" / "o", tmp_path / "c")):
        with pytest.raises(InputError, match="which is followed: its files would be read"):
            follow(maritime, [str(messy)], OPTIONS, checkpoint=checkpoint, out=out)


def test_a_file_that_is_damaged_is_named_in_one_sentence(spark: Any, maritime: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InputError, match=r"bad\.parquet cannot be read") as told:
        drive(maritime, [str(tmp_path)], OPTIONS, Memory(maritime.kind), shards=2)
    assert "Traceback" not in str(told.value) and told.value.__suppress_context__


def test_changes_go_to_any_format_of_spark_as_well(spark: Any, tmp_path: Path) -> None:
    story = short_traffic()
    folder = story.write(tmp_path / "in", 2)
    schema = spark.createDataFrame(story.rows.slice(0, 1)).schema
    sdf = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    running = ts.stream(
        sdf,
        story.program,
        checkpoint=tmp_path / "checkpoint",
        trigger="available",
        row="nr",
        shards=2,
        sinks={"changes": sinks.files(str(tmp_path / "orc"), "orc")},
        **story.options,
    )
    running.wait()
    written = spark.read.orc(str(tmp_path / "orc"))
    expected = story.embedded()["changes"]
    assert rows_of(expected, expected.column_names) == rows_of(
        written.drop("batch").toArrow(), expected.column_names
    )
    assert sorted(r[0] for r in written.select("batch").distinct().collect()) == [0, 1]


@pytest.mark.parametrize("format", ["orc", "json", "csv", "parquet"])
def test_files_of_a_batch_are_replaced_also_by_nothing(spark: Any, tmp_path: Path, format: str) -> None:
    """What was provisional may turn out to be no change at all."""
    write = sinks.files(str(tmp_path / "files"), format)
    rows = spark.createDataFrame([("insert", 6), ("delete", 7)], "op string, start bigint")
    for given, batch in ((rows, 0), (rows, 1), (rows.limit(0), 1)):
        write(given, batch)
    found = spark.read.schema("op string, start bigint, batch int").format(format).load(str(tmp_path / "files"))
    assert sorted(map(tuple, found.collect())) == [("delete", 7, 0), ("insert", 6, 0)]
