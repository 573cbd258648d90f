"""`thalweg run --engine spark`, `--follow` and `thalweg inspect`, as a user calls them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from stories import rows_of
from typer.testing import CliRunner

from thalweg.cli.main import app

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


def test_spark_writes_the_files_of_an_embedded_run(spark: Any, thalweg: Command, here: Path) -> None:
    thalweg(f"{RUN} -i in --out a")
    assert thalweg(f"{RUN} -i in --engine spark --out b").exit_code == 0
    names = sorted(p.name for p in (here / "a").iterdir())
    assert names == sorted(p.name for p in (here / "b").iterdir())
    for name in names:
        if name.endswith(".parquet"):
            mine, yours = pq.read_table(here / "a" / name), pq.read_table(here / "b" / name)
            assert mine.schema == yours.schema
            assert rows_of(mine, mine.column_names) == rows_of(yours, mine.column_names)


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
