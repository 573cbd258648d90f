"""The example in the README does what the README shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from thalweg.cli.main import app

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
RULES, EVENTS, SHOWN, ERROR = re.findall(r"^```(?:prolog)?\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)[:4]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("door.ec").write_text(RULES, encoding="utf-8")
    Path("door.csv").write_text(EVENTS, encoding="utf-8")


def test_the_run_prints_the_table_that_the_readme_shows() -> None:
    command = ["run", "door.ec", "--input", "door.csv", "--window", "1h", "--step", "10m", "--quiet"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    assert result.stdout == SHOWN


def test_the_check_finds_nothing_in_the_rules_and_what_the_readme_shows_in_the_wrong_ones() -> None:
    right = CliRunner().invoke(app, ["check", "door.ec"])
    assert right.exit_code == 0
    assert "no errors" in right.stdout
    wrong = RULES.replace("happensAt(opened(Door), T), not", "happensAt(open(Door), T), not")
    Path("door.ec").write_text(wrong, encoding="utf-8")
    result = CliRunner().invoke(app, ["check", "door.ec"])
    assert result.exit_code == 1
    assert result.stdout.startswith(ERROR)
