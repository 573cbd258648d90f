"""`thalweg run` and `explain` on LARS programs: all answer streams, labels, what is missing, late rows."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ONE_OF_MANY = """program lars.
pick(X) if [5] sometime p(X), not skip(X).
skip(X) if [5] sometime p(X), pick(Y), X \\= Y.
some if pick(_).
"""
ODD = "program lars. a if [2] sometime p, not b. b if [2] sometime q. a if b, not a.\n"


@pytest.fixture
def story(here: Path) -> Path:
    (here / "bus.lars").write_text((EXAMPLES / "bus_and_tram" / "bus.lars").read_text())
    (here / "story.csv").write_text("busG|372|372\ntramB|391|391\nrequest|397|397\n")
    return here


def test_run_shows_all_answer_streams(thalweg: Callable[..., Any], story: Path) -> None:
    out = thalweg("run bus.lars --input story.csv --end 420 --models all").stdout.splitlines()
    assert out[0].split("\t") == ["query_time", "model", "atom", "at"] and all(out)
    assert {tuple(line.split("\t")[:3]) for line in out[1:]} >= {
        ("397", "1", "takeBusM"),
        ("397", "2", "takeTrM"),
    }


def test_run_gives_labels_on_request(thalweg: Callable[..., Any], story: Path) -> None:
    found = json.loads(thalweg("run bus.lars --input story.csv --end 398 --labels --json").stdout)
    assert {"atom": "[3m] at(372) busG", "status": "in", "from": 372, "to": 402, "exact": True} in found[
        "labels"
    ]
    assert "labels" not in json.loads(thalweg("run bus.lars --input story.csv --end 398 --json").stdout)


def test_a_number_of_models_that_is_none_is_refused(thalweg: Callable[..., Any], story: Path) -> None:
    for given in ("none", "0", "-3"):
        result = thalweg(f"run bus.lars --input story.csv --models={given}")
        assert result.exit_code == 2
        assert result.stderr == f"error: models {given} is neither a positive number nor all\n"


def test_labels_are_printed_below_the_answers(thalweg: Callable[..., Any], story: Path) -> None:
    answers, labels = thalweg("run bus.lars --input story.csv --end 398 --labels --quiet").stdout.split(
        "\n\n"
    )
    assert answers.splitlines()[0] == "atom\tat\tfrom\tto"
    assert labels.splitlines()[0] == "atom\tstatus\tfrom\tto\texact"
    assert "[3m] at(372) busG\tin\t372\t402\ttrue" in labels.splitlines()


def test_the_command_says_where_there_is_no_answer_stream(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "odd.lars").write_text(ODD)
    (here / "rows.csv").write_text("q|3|3\n")
    result = thalweg("run odd.lars --input rows.csv --end 9")
    assert "no answer stream from 3 on: loop of a" in result.stderr
    assert "an answer stream again from 6 on: loop of a" in result.stderr


def test_the_command_says_that_clingo_is_missing(
    thalweg: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "clingo", None)
    (here / "many.lars").write_text(ONE_OF_MANY)
    (here / "rows.csv").write_text("".join(f"p|1|1|{x}\n" for x in range(12)))
    result = thalweg("run many.lars --input rows.csv")
    assert result.exit_code == 2 and "pip install thalweg[lars]" in result.stderr


def test_late_rows_and_retractions_are_folded_into_the_answers(
    thalweg: Callable[..., Any], here: Path
) -> None:
    (here / "lamp.lars").write_text("on(X) if [3] sometime press(X).\n")
    (here / "rows.jsonl").write_text(
        '{"name": "press", "time": 5, "arrival": 5, "x": "a"}\n'
        '{"name": "press", "time": 7, "arrival": 9, "x": "b"}\n'
        '{"name": "press", "time": 6, "arrival": 12, "x": "c"}\n'
        '{"name": "press", "time": 8, "arrival": 8, "x": "d"}\n'
        '{"name": "press", "time": 8, "arrival": 10, "op": "retract", "x": "d"}\n'
    )
    result = thalweg("run lamp.lars --input rows.jsonl --lateness 2 --end 20 --json")
    found = json.loads(result.stdout)
    assert [(r["atom"], r["from"], r["to"]) for r in found["answers"]] == [("on(a)", 5, 8), ("on(b)", 7, 10)]
    assert [(r["row"], r["reason"]) for r in found["rejected"]] == [(3, "too-late")]


def test_a_timeline_of_dates_begins_with_the_first_row(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "lamp.lars").write_text("tick 1s.\non(X) if [10s] sometime press(X).\ndark if not on(_).\n")
    (here / "rows.jsonl").write_text('{"name": "press", "time": "2026-03-02T08:30:00Z", "x": "a"}\n')
    found = json.loads(thalweg("run lamp.lars --input rows.jsonl --end 2026-03-02T08:31:00Z --json").stdout)
    first = 1_772_440_200
    assert [(r["atom"], r["from"], r["to"]) for r in found["answers"]] == [
        ("dark", first + 11, None),
        ("on(a)", first, first + 10),
    ]


def test_explain_answers_questions_about_labels(thalweg: Callable[..., Any], story: Path) -> None:
    result = thalweg("explain bus.lars takeBusM@398 --input story.csv --end 420")
    assert result.stdout.startswith("takeBusM is in the answer stream from 397 to 402\n")
    assert "busG at 372  [story.csv:1]" in result.stdout
