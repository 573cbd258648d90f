"""Progress: shown to people, kept out of pipes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from thalweg.cli._progress import progress
from thalweg.columns.compiled import Versions
from thalweg.runs import Progress


class Terminal(io.StringIO):
    """Standard error as a terminal shows it."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_rows_query_time_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress(shown=True) as report:
        assert report is not None
        report(Progress(rows=500_000, of=1_000_000, query_time=3600, seconds=0.5))
    assert "500,000 rows, query time 3,600, 1,000,000/s" in screen.getvalue()
    assert "50%" in screen.getvalue()


def test_a_terminal_is_told_why_the_first_run_takes_a_minute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress(shown=True):
        Versions(str(tmp_path), "add", "stamp").load("key")
    assert "compiling kernels, once for this machine" in screen.getvalue()


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO, True), (Terminal, False)])
def test_a_pipe_and_whoever_wants_quiet_are_told_nothing(
    stream: type[io.StringIO], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = stream()
    monkeypatch.setattr("sys.stderr", there)
    with progress(shown=shown) as report:
        assert report is None
    assert there.getvalue() == ""
