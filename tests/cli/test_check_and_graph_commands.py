"""`thalweg check` and `thalweg graph` as people call them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import run

import pytest
from typer.testing import CliRunner

from thalweg.cli.main import app

GOOD = """
initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T), vessel(V).
terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).
"""
DOUBTFUL = """
initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V, Where), T).
terminatedAt(gap(V)=true, T) :- happensAt(e(V), T).
"""
WRONG = "initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T), Speed > 3.\n"

runner = CliRunner()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("good.ec").write_text(GOOD, encoding="utf-8")
    Path("background.ec").write_text("vessel(a).\n", encoding="utf-8")
    Path("doubtful.ec").write_text(DOUBTFUL, encoding="utf-8")
    Path("wrong.ec").write_text(WRONG, encoding="utf-8")
    return tmp_path


def test_a_good_program_is_analysed(here: Path) -> None:
    result = runner.invoke(app, ["check", "good.ec", "--background", "background.ec"])
    assert result.exit_code == 0
    assert "no errors" in result.output
    assert "gap_start(symbol)  input event" in result.output
    assert "gap(symbol)=true  simple fluent, layer 1" in result.output
    assert "split by the first argument of gap_end/1, gap_start/1 and gap/1" in result.output
    assert "rows: while they lie in the window" in result.output


def test_of_facts_alone_nothing_is_said_about_input(here: Path) -> None:
    (here / "facts.ec").write_text("limit(m1, 80).\n")
    done = runner.invoke(app, ["check", "facts.ec"])
    assert done.exit_code == 0
    assert done.stdout == "facts.ec: events program, no statements, 1 fact, no errors\n"


def test_of_background_that_is_given_as_a_program_of_its_own_the_way_to_give_it_is_said(here: Path) -> None:
    command = "thalweg check good.ec --background background.ec"
    told = f"good.ec reads vessel/1 of it, but each file is checked by itself: {command}"
    assert runner.invoke(app, ["check", "good.ec", "background.ec"]).stdout.splitlines()[-1] == told
    assert "\n\ngood.ec" in runner.invoke(app, ["check", "background.ec", "good.ec"]).stdout
    assert "by itself" not in runner.invoke(app, command.split()[1:]).stdout
    (here / "facts.ec").write_text("limit(m1, 80).\n")
    assert "by itself" not in runner.invoke(app, ["check", "good.ec", "facts.ec"]).stdout
    assert "by itself" not in runner.invoke(app, ["check", "good.ec", "doubtful.ec"]).stdout


def test_what_makes_a_program_one_shard_though_its_rules_have_keys_is_said(here: Path) -> None:
    (here / "quiet.ec").write_text(
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T). terminatedAt(on(X)=true, T) :- happensAt(release(X), T)."
        " holdsFor(quiet=true, I) :- holdsFor(on(_)=true, A), complement_all([A], I)."
    )
    why = "in quiet, _ ranges over all that is known"
    told = runner.invoke(app, ["check", "quiet.ec"]).output
    assert "stage 1: on/1, split by" in told
    assert f"all of it is one shard all the same: {why}" in told
    assert "all of it is one shard" not in runner.invoke(app, ["check", "good.ec", "-b", "background.ec"]).output
    (found,) = json.loads(runner.invoke(app, ["check", "quiet.ec", "--json"]).output)["files"]
    assert found["analysis"]["one_shard_because"] == why


def test_a_wrong_program_fails_with_its_place_and_a_caret(here: Path) -> None:
    result = runner.invoke(app, ["check", "wrong.ec"])
    assert result.exit_code == 1
    assert "wrong.ec:1:60: error[TW110]" in result.output
    assert "^^^^^" in result.output


def test_strict_turns_warnings_into_errors(here: Path) -> None:
    assert runner.invoke(app, ["check", "doubtful.ec"]).exit_code == 0
    result = runner.invoke(app, ["check", "doubtful.ec", "--strict"])
    assert result.exit_code == 1
    assert "error[TW201]" in result.output


def test_the_values_of_a_fluent_are_listed_also_where_a_rule_ends_any_of_them(here: Path) -> None:
    (here / "gap.ec").write_text(
        "initiatedAt(gap(V)=near, T) :- happensAt(lost(V, port), T)."
        " initiatedAt(gap(V)=far, T) :- happensAt(lost(V, sea), T)."
        " terminatedAt(gap(V)=_, T) :- happensAt(found(V), T)."
    )
    assert "gap(symbol)=near|far  simple fluent" in runner.invoke(app, ["check", "gap.ec"]).output


@pytest.mark.parametrize(
    ("reads", "listed", "values"),
    [
        ("happensAt(start(gap(V)=near), T), not holdsAt(gap(V)=far, T)", "near|far", ["near", "far"]),
        ("happensAt(start(gap(V)=near), T), not happensAt(end(gap(V)=_), T)", "near|...", ["near"]),
        ("happensAt(start(gap(V)=_), T)", "symbol", []),
        ("happensAt(start(gap(V)=How), T), happensAt(lost(V, How), T), holdsAt(gap(V)=near, T)", "symbol", ["near"]),
        ("happensAt(e(V), T), holdsAt(gap(V)=Miles, T), Miles > 3", "number", []),
    ],
)
def test_of_an_input_fluent_the_values_are_listed_that_rules_ask_for(
    here: Path, reads: str, listed: str, values: list[str]
) -> None:
    (here / "gap.ec").write_text(f"initiatedAt(alarm(V)=true, T) :- {reads}.")
    told = runner.invoke(app, ["check", "gap.ec"]).output
    assert f"gap(symbol)={listed} input fluent" in " ".join(told.split())
    (found,) = json.loads(runner.invoke(app, ["check", "gap.ec", "--json"]).output)["files"]
    (gap,) = (entity for entity in found["analysis"]["inputs"] if entity["name"] == "gap")
    assert gap["values"] == values


def test_json_lists_the_values_of_a_fluent_and_no_variables(here: Path) -> None:
    (here / "at.ec").write_text(
        "initiatedAt(at(P)=R, T) :- happensAt(enters(P, R), T). initiatedAt(at(P)=away, T) :- happensAt(leaves(P), T)."
        " terminatedAt(at(P)=_, T) :- happensAt(lost(P), T). terminatedAt(at(P)=away, T) :- happensAt(lost(P), T)."
    )
    (found,) = json.loads(runner.invoke(app, ["check", "at.ec", "--json"]).output)["files"]
    assert found["analysis"]["outputs"][0]["values"] == ["away"]


def test_json_holds_diagnostics_and_analysis_of_every_file(here: Path) -> None:
    result = runner.invoke(app, ["check", "good.ec", "wrong.ec", "-b", "background.ec", "--json"])
    assert result.exit_code == 1
    good, wrong = json.loads(result.output)["files"]
    assert good["ok"] and not wrong["ok"]
    assert good["analysis"]["stages"][0]["key_width"] == 1
    assert {entity["name"] for entity in good["analysis"]["inputs"]} == {"gap_start", "gap_end"}
    unsafe = next(d for d in wrong["diagnostics"] if d["severity"] == "error")
    assert unsafe["code"] == "TW110"
    assert (unsafe["line"], unsafe["column"]) == (1, 60)


def test_a_missing_file_is_one_sentence_and_exit_code_2(here: Path) -> None:
    for command in ("check", "graph"):
        result = runner.invoke(app, [command, "nowhere.ec"])
        assert result.exit_code == 2
        assert "error: there is no file nowhere.ec" in result.output


def test_a_directory_is_no_file_of_rules(here: Path) -> None:
    Path("rules").mkdir()
    for command in ("check", "graph", "fmt"):
        result = runner.invoke(app, [command, "rules"])
        assert (result.exit_code, result.output) == (2, "error: rules is a directory, not a file of rules\n")


def test_a_graph_that_cannot_be_written_is_one_sentence(here: Path) -> None:
    Path("taken.svg").mkdir()
    for target, why in (("taken.svg", "Is a directory"), ("nowhere/graph.svg", "No such file or directory")):
        result = runner.invoke(app, ["graph", "good.ec", "-o", target])
        assert (result.exit_code, result.output) == (2, f"error: cannot write {target}: {why}\n")


def test_a_code_may_be_given_by_its_number(here: Path) -> None:
    assert runner.invoke(app, ["code", "103"]).output == runner.invoke(app, ["code", "TW103"]).output


def test_a_graph_is_written_beside_you(here: Path) -> None:
    result = runner.invoke(app, ["graph", "good.ec"])
    assert result.exit_code == 0
    assert Path("good.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "3 boxes and 2 arrows" in result.output


def test_a_graph_can_be_printed(here: Path) -> None:
    result = runner.invoke(app, ["graph", "good.ec", "-o", "-.dot"])
    assert result.output.startswith("digraph")


def test_a_graph_of_an_unknown_kind_is_refused(here: Path) -> None:
    result = runner.invoke(app, ["graph", "good.ec", "-o", "good.png"])
    assert result.exit_code == 2
    assert not Path("good.png").exists()


def test_an_error_leads_to_the_page_of_its_code(tmp_path: Path) -> None:
    (tmp_path / "wrong.ec").write_text(
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\n"
        "terminatedAt(on(X)=true, T) :- happensAt(on(X), T).\n"
    )
    found = CliRunner().invoke(app, ["check", str(tmp_path / "wrong.ec")])
    advice = found.stdout.rstrip().splitlines()[-1]
    assert advice == "More about it: thalweg code TW103"
    told = CliRunner().invoke(app, advice.split()[4:])
    page = Path(__file__).parents[2] / "docs" / "errors" / "TW103.md"
    assert told.stdout.strip() == page.read_text(encoding="utf-8").strip()
    assert CliRunner().invoke(app, ["code", "TW999"]).exit_code == 2


def test_every_code_that_has_a_page_is_known_to_the_command() -> None:
    pages = [p.stem for p in (Path(__file__).parents[2] / "docs" / "errors").glob("TW*.md")]
    assert CliRunner().invoke(app, ["code", *pages]).exit_code == 0


def test_a_query_can_be_asked_of_a_program_that_asks_nothing(here: Path) -> None:
    Path("leak.tdl").write_text("leak(P, T) :- drop(P, T), drop(P, T+1).\n", encoding="utf-8")
    asks_nothing = runner.invoke(app, ["check", "leak.tdl"])
    assert asks_nothing.exit_code == 1
    assert "or ask with `--query`" in asks_nothing.output
    assert "leak(P, T): decided by T+1" in runner.invoke(app, ["check", "leak.tdl", "--query", "leak(P,T)"]).output


def test_a_query_about_an_unknown_predicate_names_the_nearest(here: Path) -> None:
    Path("leak.tdl").write_text("leak(P, T) :- drop(P, T), drop(P, T+1).\n", encoding="utf-8")
    result = runner.invoke(app, ["check", "leak.tdl", "--query", "leek(P,T)"])
    assert result.exit_code == 1
    assert "query leek(P,T).\n    | ^^^^" in result.output
    assert "ask about leak/2" in result.output


def test_the_package_can_be_run_as_a_module(here: Path) -> None:
    result = run([sys.executable, "-m", "thalweg", "check", "good.ec"], capture_output=True, text=True)
    assert result.returncode == 0
    assert "no errors" in result.stdout
