"""`thalweg run --engine spark`, `--follow` and `thalweg inspect`, as a user calls them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from atoms import STORIES, story
from stories import TRAFFIC, rows_of, short_traffic
from typer.testing import CliRunner

from thalweg.cli.main import app
from thalweg.io import sinks
from thalweg.io.fold import Folding

pytestmark = pytest.mark.spark

RULES = """
initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
terminatedAt(f(X)=true, T) :- happensAt(g(X), T).
fi(f(X)=true, f(X)=spent, 50).
"""
EVENTS = ("e|3|3|a", "e|12|12|b", "g|17|7|a", "bogus|20|20|a", "g|25|15|b", "e|61|61|a", "g|90|90|c")
RUN = "run rules.ec --window 20 --step 10"
Command = Callable[[str], Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "in").mkdir()
    for number, part in enumerate((EVENTS[:3], EVENTS[3:5], EVENTS[5:])):
        file = tmp_path / "in" / f"{number}.csv"
        file.write_text("\n".join(part) + "\n")
        os.utime(file, (1_000_000 + number,) * 2)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def thalweg(here: Path) -> Command:
    return lambda line: CliRunner().invoke(app, line.split())


def test_spark_prints_what_an_embedded_run_prints(spark: Any, thalweg: Command) -> None:
    embedded, on_spark = thalweg(f"{RUN} -i in"), thalweg(f"{RUN} -i in --engine spark --shards 3")
    assert on_spark.exit_code == 0, on_spark.stderr
    assert on_spark.stdout == embedded.stdout != ""
    said = [[line for line in run.stderr.splitlines() if not line.endswith("/s")] for run in (embedded, on_spark)]
    assert said[0] == said[1]


def tables(directory: Path) -> dict[str, Any]:
    """The files of a result; of the summary all but how long it took."""
    files = [path for path in directory.rglob("*") if path.is_file() and path.name != "summary.json"]
    summary = json.loads((directory / "summary.json").read_text())
    told = {name: value for name, value in summary.items() if name not in ("seconds", "rate")}
    return {"summary": told, **{str(path.relative_to(directory)): path.read_bytes() for path in files}}


RUSH = "happensAt(rush(V), T) :- happensAt(speed(V, K), T), K > 80.\n"
TRIP = short_traffic()
TOLD = {
    "events": replace(TRIP, program=TRAFFIC + RUSH, options=TRIP.options | {"end": 900}),
    **{name: story(*STORIES[name]) for name in ("answers by turbine", "windows by lamp", "a choice in one shard")},
}


@pytest.mark.parametrize("name", TOLD)
def test_spark_writes_the_files_of_an_embedded_run(
    spark: Any, thalweg: Command, here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Row by row, in the same order, whatever the shards and the files; also a timeline that is written in pieces."""
    monkeypatch.setattr(sinks, "Folding", partial(Folding, room=50))
    told = replace(TOLD[name], rows=TOLD[name].rows.drop_columns(["nr"]))
    told.write(here / "stored", 4)
    (here / "rules.ec").write_text(told.program)
    options = " ".join(f"--{option} {given}" for option, given in told.options.items())
    line = f"run rules.ec -i stored {options} --format csv" + (" --per-fluent" if name == "events" else "")
    assert thalweg(f"{line} --out a").exit_code == 0
    expected = tables(here / "a")
    for table in ("changes", "rejected", *(["events", "open"] if name == "events" else ["answers"])):
        assert expected[f"{table}.csv"].count(b"\n") > 3, "there is nothing to be put in order"
    for shards in (1, 3):
        found = thalweg(f"{line} --engine spark --shards {shards} --out b{shards}")
        assert found.exit_code == 0, found.stderr
        assert tables(here / f"b{shards}") == expected


AHEAD = """
initiatedAt(near(A, B)=true, T) :- happensAt(meets(A, B), T), holdsAt(busy(A)=true, T), not happensAt(parts(A, B), T).
initiatedAt(busy(A)=true, T) :- happensAt(begins(A), T).
terminatedAt(busy(A)=true, T) :- happensAt(ends(A), T).
"""
"""Two stages, both of which read some of the names."""
AHEAD_ROWS = (
    *("begins|3|3|a", "meets|5|5|a|b", "bogus|5|5|a", "meets|6|90|a|b", "begins|7|91|c", "begins|8|92|"),
    *("begins|20|x|d", "meets|21|93", "begins|22|24|b", "meets|33|33|b|a"),
)


@pytest.mark.parametrize(
    ("end", "waiting", "absent"),
    [("", 3, ["ends", "parts"]), (" --end 25", 3, []), (" --end 95", 0, ["ends", "parts"])],
)
def test_rows_that_wait_and_names_without_rows_are_told_as_by_an_embedded_run(
    spark: Any, thalweg: Command, here: Path, end: str, waiting: int, absent: list[str]
) -> None:
    """Each row is counted once, however many stages read it."""
    (here / "rules.ec").write_text(AHEAD)
    (here / "in" / "3.csv").write_text("\n".join(AHEAD_ROWS) + "\n")
    for number in range(3):
        (here / "in" / f"{number}.csv").unlink()
    line = f"{RUN} -i in --format csv{end}"
    assert thalweg(f"{line} --out a").exit_code == 0
    expected = tables(here / "a")
    assert (expected["summary"]["waiting"], sorted(expected["summary"]["absent"])) == (waiting, absent)
    found = thalweg(f"{line} --engine spark --shards 3 --out b")
    assert found.exit_code == 0, found.stderr
    assert tables(here / "b") == expected


@pytest.mark.parametrize(("end", "unread"), [(2, 9), (4, 8), (17, 6)])
def test_of_files_after_the_end_no_row_is_read(
    spark: Any, thalweg: Command, here: Path, end: int, unread: int
) -> None:
    """Not even those that could not be."""
    (here / "in" / "4.csv").write_text("e|95|95|a\nbogus|x|x|a\n")
    line = f"{RUN} -i in --start 0 --end {end} --format csv"
    assert thalweg(f"{line} --out a").exit_code == 0
    expected = tables(here / "a")
    assert (expected["summary"]["rows"], expected["summary"]["unread"]) == (9, unread)
    found = thalweg(f"{line} --engine spark --shards 2 --out b")
    assert found.exit_code == 0, found.stderr
    assert tables(here / "b") == expected


def test_following_tells_of_every_batch_and_can_be_taken_up_and_inspected(
    spark: Any, thalweg: Command, here: Path
) -> None:
    thalweg(f"{RUN} -i in --out a")
    line = f"{RUN} -i in --engine spark --follow --trigger available --files-per-batch 1 --disorder 40 --out b"
    late = here / "in" / "2.csv"
    late.rename(here / "2.csv")
    first = thalweg(f"{line} --start 0 --shards 2")
    assert first.exit_code == 0, first.stderr
    assert "batch 1: 2 rows" in first.stderr and "(1 unknown-name)" in first.stderr
    (here / "2.csv").rename(late)
    again = thalweg(f"{line} --start 0 --json")
    assert again.exit_code == 0, again.stderr
    told = [json.loads(text) for text in again.stdout.splitlines()]
    assert [report["batch"] for report in told] == [2, 3]
    assert told[0]["rows"] == 2
    from thalweg.spark import read

    expected = pq.read_table(here / "a" / "timeline.parquet")
    found = read(spark, str(here / "b")).timeline.toArrow()
    assert rows_of(found, expected.column_names) == rows_of(expected, expected.column_names)

    shown = thalweg("inspect b")
    assert shown.exit_code == 0, shown.stderr
    assert "stage 0      2 shards by 1 argument" in shown.stdout
    assert "start 0, step 10, window 20" in shown.stdout.replace("'", "")
    told = json.loads(thalweg("inspect b/_checkpoint --json").stdout)
    assert (told["batch"], told["latest_arrival"], told["totals"]["rows"]) == (2, 90, 7)
    assert told["totals"]["rejected unknown-name"] == 1
    assert set(told["state"]) == {"0-0", "0-1"} and told["state_bytes"] > 0
    assert "initiatedAt(f(X)=true, T)" in thalweg("inspect b --program").stdout

    old = next(file for file in (here / "b" / "changes").rglob("*.parquet"))
    old.unlink()
    warned = thalweg(f"{line} --start 0")
    assert warned.exit_code == 0, warned.stderr
    (told,) = [text for text in warned.stderr.splitlines() if "LostFiles" in text or "has lost" in text]
    assert told.startswith("warning: ") and "has lost 1 of the" in told


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{RUN} -i in --engine flink", "there is no engine flink"),
        (f"{RUN} -i in --engine sparc", "did you mean spark?"),
        (f"{RUN} -i in --follow", "--follow has a meaning only on Spark\nadd --engine spark"),
        (f"{RUN} -i in --engine spark --checkpoint c", "--checkpoint has a meaning only with --follow"),
        (f"{RUN} -i in --engine spark --follow", "say which one: --out DIR"),
        (f"{RUN} -i in --engine spark --follow --out b --format csv", "written as Parquet, batch by batch"),
        (f"{RUN} -i rules.ec --engine spark --follow --out b", "is no directory that could be followed"),
        (f"{RUN} -i in --engine spark --follow --out b --trigger rarely", "write '10 seconds', or available"),
        (f"{RUN} -i in --engine spark --shards 0 --out b", "0 is no number of shards"),
        ("inspect in", "holds no checkpoint of a pipeline"),
    ],
)
def test_a_wrong_request_is_one_message(thalweg: Command, line: str, message: str) -> None:
    result = thalweg(line)
    assert result.exit_code == 2
    assert message in result.stderr
