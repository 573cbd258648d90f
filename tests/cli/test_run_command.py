"""`thalweg run`: what it prints, what it writes, how it fails."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thalweg import Reasoner, parse, run
from thalweg.cli.run import _show
from thalweg.io.shapes import Shapes, name_in
from thalweg.language.diagnostics import ProgramError
from thalweg.protocol import NOTHING_TO_RETRACT

RUN = "run rules.ec --background background.ec --input events.csv --window 20 --step 10"
TIMELINE = "fluent\tvalue\tstart\tend\nf(a)\ttrue\t4\t8\nf(b)\ttrue\t13\t16\n"


def test_in_a_pipe_the_timeline_is_printed_and_the_rest_said_elsewhere(thalweg: Callable[..., Any]) -> None:
    result = thalweg(RUN)
    assert result.exit_code == 0
    assert result.stdout == TIMELINE
    assert "5 rows from events.csv" in result.stderr
    assert "1 rejected: 1 unknown-name (bogus 1)\n" in result.stderr
    assert "rejected events.csv:4: no rule reads bogus" in result.stderr
    assert "3 query times, 10 to 30" in result.stderr


def test_the_most_frequent_names_that_no_rule_reads_are_told(thalweg: Callable[..., Any], here: Path) -> None:
    names = ["b"] * 3 + ["a"] * 3 + ["ee"] * 4 + ["d"] * 2 + ["f"] + [""]
    (here / "events.csv").write_text("e|1|1|a\n" + "".join(f"{name}|3|3|a\n" for name in names) + "e|5|x|a\n")
    result = thalweg(f"{RUN} --out result")
    assert "15 rejected: 1 bad-time, 14 unknown-name (ee 4, a 3, b 3, others 4)\n" in result.stderr
    told = json.loads((here / "result" / "summary.json").read_text())
    assert list(told["unknown"].items()) == [("ee", 4), ("a", 3), ("b", 3)]


@pytest.mark.parametrize("name", ["", "f", "press", "presss", "odd; did you mean it", "no rule reads x"])
def test_the_name_of_a_rejected_row_can_be_told_from_what_is_said_of_it(name: str) -> None:
    known = Shapes({"pressed": {}}, derived=frozenset({"f"}))
    (detail,) = known.unknown(pa.array([name])).to_pylist()
    assert name_in(detail) == name


def test_one_row_and_one_query_time_are_no_plurals(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "events.csv").write_text("e|3|3|a\n")
    result = thalweg(f"{RUN} --out result")
    assert result.stderr.splitlines()[:3] == [
        "1 row from events.csv",
        "1 query time, 10",
        "1 change, 0 event_changes, 1 timeline, 0 events, 0 open, 0 rejected",
    ]


def test_names_on_a_terminal_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["[bold]x[/bold]", "[/closed]", ":smile:"]
    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    rows = [{"name": "press", "time": 3, "x": name} for name in names]
    _show(run(rules, rows, window=10, step=10), dates=False, quiet=True)
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)


def test_a_narrow_terminal_loses_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    name = "the_truck_that_is_never_at_home"
    rules = "tick 1m. initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    rows = [{"name": "press", "time": "2026-03-02T08:40Z", "x": name}]
    _show(run(rules, rows, window=10, step=10), dates=True, quiet=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 30
    begins = [lines[0].index(column) for column in ("fluent", "value", "start", "end")]
    cells = ["".join(line[a:b].strip() for line in lines[1:]) for a, b in pairwise(begins)]
    assert cells == [f"on({name})", "true", "2026-03-02T08:41Z"]


def test_what_came_before_the_start_is_told_in_dates_on_request(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "dated.ec").write_text("tick 1m. initiatedAt(f(X)=true, T) :- happensAt(e(X), T).\n")
    (here / "dated.csv").write_text("name,time,x\ne,2026-03-02T08:00Z,a\ne,2026-03-02T09:00Z,a\n")
    line = "run dated.ec -i dated.csv --window 1h --step 1h --start 2026-03-02T08:30Z"
    assert "rejected dated.csv:2: the stream starts after 2026-03-02T08:30Z" in thalweg(f"{line} --dates").stderr
    assert "rejected dated.csv:2: the stream starts after 29540670" in thalweg(line).stderr


def test_names_that_rules_read_and_no_row_has_are_told(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "rules.ec").write_text("initiatedAt(f(X)=true, T) :- happensAt(ee(X), T), not happensAt(g(X), T).\n")
    (here / "events.csv").write_text("g|3|3|a\n")
    assert "no rows of ee\n" in thalweg(f"{RUN}").stderr
    assert json.loads(thalweg(f"{RUN} --json").stdout)["summary"]["absent"] == ["ee"]
    (here / "events.csv").write_text("")
    assert "no rows of" not in thalweg(f"{RUN}").stderr


def test_quiet_says_nothing_but_the_timeline(thalweg: Callable[..., Any]) -> None:
    result = thalweg(f"{RUN} --quiet")
    assert (result.stdout, result.stderr) == (TIMELINE, "")


def test_json_is_one_object(thalweg: Callable[..., Any]) -> None:
    found = json.loads(thalweg(f"{RUN} --json").stdout)
    assert found["timeline"][0] == {"fluent": "f(a)", "value": "true", "start": 4, "end": 8}
    assert found["summary"]["rows"] == 5
    assert found["rejected"][0]["row"] == 4
    said = {"query_time": 10, "op": "insert", "cause": "time"}
    assert found["changes"][0] == {**found["timeline"][0], **said, "end": None}


def test_out_writes_every_table(thalweg: Callable[..., Any], here: Path) -> None:
    result = thalweg(f"{RUN} --out result")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "written to result" in result.stderr
    names = {p.name for p in (here / "result").iterdir()}
    tables = ("timeline", "changes", "events", "event_changes", "open", "rejected")
    assert names == {"summary.json", *(f"{name}.parquet" for name in tables)}
    timeline = pq.read_table(here / "result" / "timeline.parquet")
    assert timeline.column_names == ["fluent", "value", "start", "end"]
    assert timeline.to_pylist()[1] == {"fluent": "f(b)", "value": "true", "start": 13, "end": 16}
    changes = pq.read_table(here / "result" / "changes.parquet")
    assert changes.column_names == ["query_time", "op", "fluent", "value", "start", "end", "cause"]
    assert json.loads((here / "result" / "summary.json").read_text())["tables"]["timeline"] == 2


def test_out_lists_delayed_effects_that_are_still_to_come(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "rules.ec").write_text(
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T).\nfi(f(X)=true, f(X)=false, 500).\np(f(_)=true).\n"
    )
    thalweg(f"{RUN} --out result")
    rows = pq.read_table(here / "result" / "open.parquet").to_pylist()
    assert [list(row) for row in rows[:1]] == [["query_time", "fluent", "value", "due", "since", "cancelled_by"]]
    assert {(row["fluent"], row["value"], row["due"] - row["since"]) for row in rows} == {
        ("f(a)", "false", 500),
        ("f(b)", "false", 500),
    }
    assert rows[0]["cancelled_by"] == "end of f(a)=true or initiation of f(a)=true"


def test_out_may_be_csv_or_json_lines(thalweg: Callable[..., Any], here: Path) -> None:
    thalweg(f"{RUN} --out a --format csv")
    thalweg(f"{RUN} --out b --format jsonl")
    with (here / "a" / "timeline.csv").open() as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    lines = [json.loads(line) for line in (here / "b" / "timeline.jsonl").read_text().splitlines()]
    assert rows == [("f(a)", "true", "4", "8"), ("f(b)", "true", "13", "16")]
    assert lines[0] == {"fluent": "f(a)", "value": "true", "start": 4, "end": 8}
    assert len(lines) == 2


def test_a_table_per_fluent_has_typed_columns(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "rules.ec").write_text(
        "event e(x: symbol). state f(x: symbol) in {true}.\n"
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T).\n"
        "initiatedAt(n(X)=N, T) :- happensAt(e(X), T), N is 2 + 3.\n"
    )
    thalweg(f"{RUN} --out result --per-fluent")
    fluents = here / "result" / "fluents"
    assert sorted(p.name for p in fluents.iterdir()) == ["f.parquet", "n.parquet"]
    assert pq.read_table(fluents / "f.parquet").column_names == ["x", "value", "start", "end"]
    assert pq.read_table(fluents / "n.parquet").to_pylist()[0] == {
        "arg1": "a",
        "value": 5.0,
        "start": 4,
        "end": None,
    }
    assert thalweg(f"{RUN} --out result").exit_code == 0
    assert not fluents.exists()


@pytest.mark.parametrize(("name", "file"), [("On it", "On it"), ("Größe", "Größe"), ("../n 1%", "..%2Fn 1%25")])
def test_a_fluent_may_have_any_name_and_has_its_table(
    thalweg: Callable[..., Any], here: Path, name: str, file: str
) -> None:
    (here / "rules.ec").write_text(f"initiatedAt('{name}'(X)='So so', T) :- happensAt(e(X), T).\n")
    assert thalweg(f"{RUN} --out result --per-fluent").exit_code == 0
    row = {"arg1": "a", "value": "So so", "start": 4, "end": None}
    assert pq.read_table(here / "result" / "fluents" / f"{file}.parquet").to_pylist()[0] == row
    result = run(here / "rules.ec", here / "events.csv", window=20, step=10)
    assert result.arrow["timeline"].num_rows == len(result.table(name)) == len(result.table(f"'{name}'")) > 1


def test_folding_the_written_changes_gives_the_written_timeline(
    thalweg: Callable[..., Any], here: Path
) -> None:
    thalweg(f"{RUN} --out result")
    held: set[tuple[Any, ...]] = set()
    for row in pq.read_table(here / "result" / "changes.parquet").to_pylist():
        interval = (row["fluent"], row["value"], row["start"], row["end"])
        (held.add if row["op"] == "insert" else held.remove)(interval)
    timeline = pq.read_table(here / "result" / "timeline.parquet")
    assert held == {tuple(row.values()) for row in timeline.to_pylist()}


@pytest.mark.parametrize(("arrival", "left"), [("3", ["f(a)"]), ("4", [])])
def test_a_retraction_that_arrives_with_its_row_is_rejected_and_told_why(
    thalweg: Callable[..., Any], here: Path, arrival: str, left: list[str]
) -> None:
    (here / "rules.ec").write_text("initiatedAt(f(X)=true, T) :- happensAt(e(X), T).\n", encoding="utf-8")
    (here / "events.csv").write_text(f"e|3|3|a\n-|e|{arrival}|3|a\n", encoding="utf-8")
    found = json.loads(thalweg("run rules.ec --input events.csv --window 20 --step 10 --json").stdout)
    assert [row["fluent"] for row in found["timeline"]] == left
    assert [row["detail"] for row in found["rejected"]] == [NOTHING_TO_RETRACT for _ in left]


def test_events_may_come_from_standard_input(thalweg: Callable[..., Any]) -> None:
    result = thalweg(RUN.replace("events.csv", "-"), stdin="e|3|3|a\ng|17|7|a\n")
    assert result.stdout.splitlines()[1:] == ["f(a)\ttrue\t4\t8"]


def test_several_inputs_are_one_stream(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "more.csv").write_text("g|9|5|a\n")
    result = thalweg(f"{RUN} --input more.csv")
    assert result.stdout.splitlines()[1] == "f(a)\ttrue\t4\t6"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (RUN.replace("events.csv", "missing.csv"), "error: there is no file missing.csv"),
        (RUN.replace("rules.ec", "missing.ec"), "error: there is no file missing.ec"),
        (RUN.replace("background.ec", "missing.ec"), "error: there is no file missing.ec"),
        (RUN.replace("--window 20", "--window 5"), "error: window 5 is smaller than step 10"),
        (RUN.replace("--step 10", "--step -10"), "error: step -10 is not positive"),
        (RUN.replace("--window 20", ""), "error: an event description runs with a window and a step"),
        (f"{RUN} --format xlsx", "error: format xlsx is none of"),
        (f"{RUN} --on-error explode", "error: on-error explode is neither"),
        (RUN.replace("events.csv", "rules.ec"), "error: rules.ec cannot be read"),
    ],
)
def test_a_request_that_makes_no_sense_is_one_message_and_exit_code_2(
    line: str, message: str, thalweg: Callable[..., Any], here: Path
) -> None:
    result = thalweg(f"{line} --out result")
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert "Traceback" not in result.output
    assert sorted(p.name for p in here.iterdir()) == ["background.ec", "events.csv", "rules.ec"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("taken.svg", "error: taken.svg is a directory, not a file to draw into\n"),
        ("nowhere/a.svg", "error: there is no directory nowhere\n"),
        ("/proc/a.svg", "error: cannot write /proc/a.svg: No such file or directory\n"),
    ],
)
def test_a_picture_that_cannot_be_written_is_one_sentence(
    target: str, message: str, thalweg: Callable[..., Any], here: Path
) -> None:
    if target.startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("there is no directory in which nobody may write")
    (here / "taken.svg").mkdir()
    result = thalweg(f"{RUN} --quiet --picture {target}")
    assert (result.exit_code, result.stderr) == (2, message)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_full_disk_behind_a_pipe_is_one_sentence(here: Path) -> None:
    command = [sys.executable, "-m", "thalweg", "check", "rules.ec"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")


def test_rules_with_errors_are_reported_with_their_place(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "rules.ec").write_text("initiatedAt(f(X)=true, T) :- happensAt(e(X) T).\n")
    result = thalweg(RUN)
    assert result.exit_code == 1
    assert "rules.ec" in result.stderr


WRONG = {
    "a cycle without a step in time": (
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T), \\+ happensAt(start(on(X)=true), T).",
        "TW130",
    ),
    "a variable that nothing binds": (
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T), Y > 3.",
        "TW110",
    ),
}


@pytest.mark.parametrize(("rules", "code"), WRONG.values(), ids=WRONG.keys())
def test_what_the_checker_refuses_is_not_run(thalweg: Callable[..., Any], here: Path, rules: str, code: str) -> None:
    (here / "rules.ec").write_text(rules)
    told = thalweg(f"{RUN} --out out")
    assert told.exit_code == 1
    assert "rules.ec:1:" in told.stderr and code in told.stderr
    assert not (here / "out").exists()
    with pytest.raises(ProgramError, match=code):
        run(rules, [{"name": "press", "time": 1, "x": "lamp"}], window=10, step=10)
    with pytest.raises(ProgramError, match=code):
        Reasoner(parse(rules), window=10, step=10)


def test_a_run_told_to_stop_stops_at_the_bad_row_and_writes_nothing(
    thalweg: Callable[..., Any], here: Path
) -> None:
    result = thalweg(f"{RUN} --on-error stop --out result")
    assert result.exit_code == 1
    assert result.stderr.startswith("stopped at a bad row: events.csv:4: no rule reads bogus")
    assert not (here / "result").exists()


def test_gaps_are_allowed_when_asked_for(thalweg: Callable[..., Any]) -> None:
    result = thalweg(f"{RUN.replace('--window 20', '--window 5')} --allow-gaps")
    assert result.exit_code == 0


def test_a_directory_with_other_files_is_not_replaced(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "result").mkdir()
    (here / "result" / "notes.txt").write_text("mine")
    result = thalweg(f"{RUN} --out result")
    assert result.exit_code == 2
    assert (here / "result" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"{RUN} --format csv", "add --out DIR"),
        (f"{RUN} --per-fluent", "add --out DIR"),
        (f"{RUN} --explained 5", "add --html FILE"),
        (f"{RUN} --chart --json", "--chart and --json are two things to print"),
        (f"{RUN} --dates --json", "--json has time-points"),
        (f"{RUN} --dates --out result", "--out has time-points"),
        ("explain rules.ec f(a)@5 --input events.csv --changed --minimal", "are two questions"),
        (f"{RUN} --engine flink", "there are embedded and spark"),
        ("run . --input events.csv --window 20 --step 10", ". is a directory, not a file of rules"),
        ("run rules.ec --background background.ec --input events.csv", "such as --window 4h --step 30m"),
    ],
)
def test_requests_that_make_no_sense_are_told_what_would(
    thalweg: Callable[..., Any], command: str, message: str
) -> None:
    result = thalweg(command)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [(">&-", 0, "5 rows"), ("<&-", 2, "there is no standard input"), (">&- 2>&-", 0, "")],
)
def test_closed_streams_are_no_traceback(here: Path, closed: str, code: int, said: str) -> None:
    source = "-" if "<" in closed else "events.csv"
    line = f"{sys.executable} -m thalweg run rules.ec -b background.ec -i {source} --window 20 --step 10 {closed}"
    found = subprocess.run(["sh", "-c", line], cwd=here, capture_output=True, text=True, check=False)
    assert found.returncode == code and "Traceback" not in found.stderr and said in found.stderr


def test_the_paragraphs_of_help_are_as_wide_as_the_terminal(
    thalweg: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = [line.strip() for line in thalweg("run --help").stdout.splitlines()]
    first = next(place for place, line in enumerate(lines) if line.startswith("Without --out"))
    assert all(len(line) > 80 for line in lines[first : first + 2])
