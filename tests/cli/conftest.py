"""A directory with rules and events to run commands in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from thalweg.cli.main import app

RULES = """
initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
terminatedAt(f(X)=true, T) :- happensAt(g(X), T), known(X).
"""
EVENTS = "e|3|3|a\ne|12|12|b\ng|17|7|a\nbogus|20|20|a\ng|25|15|b\n"

Command = Callable[..., Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "background.ec").write_text("known(a). known(b).\n")
    (tmp_path / "events.csv").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def thalweg(here: Path) -> Command:
    """Runs a command line in a directory with rules.ec, background.ec and events.csv."""

    def call(line: str, stdin: str | None = None) -> Any:
        return CliRunner().invoke(app, line.split(), input=stdin)

    return call
