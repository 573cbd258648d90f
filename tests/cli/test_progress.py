"""Progress: shown to people, kept out of pipes."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import pytest

from thalweg.cli._progress import progress, query_times
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


def watched(
    monkeypatch: pytest.MonkeyPatch, seconds: list[float], of: int, screen: io.StringIO, *, shown: bool = True
) -> str:
    """What is shown while query times take so long, each one reported at its end."""
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    clock = itertools.accumulate(seconds)
    with query_times(shown=shown, shorter="ask for less", clock=lambda: next(clock)) as report:
        for done in range(1, len(seconds) + 1) if report else ():
            report(done, of)
    return screen.getvalue()


def test_what_will_take_long_is_said_after_the_first_query_times(monkeypatch: pytest.MonkeyPatch) -> None:
    told = watched(monkeypatch, [60.0, *[1.0] * 9], 1_000, Terminal())
    assert told.count("1,000 query times take about 17 minutes; ask for less") == 1
    assert "10 of 1,000 query times, about 16 minutes left" in told


def test_query_times_that_get_slower_are_expected_to_go_on_so(monkeypatch: pytest.MonkeyPatch) -> None:
    slower = [0.0, *(0.1 * step for step in range(10, 18))]
    assert "take 4 minutes to 21 minutes; ask for less" in watched(monkeypatch, slower, 150, Terminal())


def test_a_single_query_time_that_takes_very_long_is_enough_to_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "50 query times take about 20 minutes; ask for less" in watched(monkeypatch, [9.0, 25.0], 50, Terminal())


def test_what_will_not_take_long_is_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    told = watched(monkeypatch, [0.0, *[1.0] * 9], 20, Terminal())
    assert "10 of 20 query times, about 10 seconds left" in told
    assert "ask for less" not in told
    assert "left" not in watched(monkeypatch, [0.01] * 9, 20, Terminal())


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO, True), (Terminal, False)])
def test_query_times_are_kept_out_of_pipes_too(
    stream: type[io.StringIO], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert watched(monkeypatch, [60.0] * 9, 1_000, stream(), shown=shown) == ""


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO, True), (Terminal, False)])
def test_a_pipe_and_whoever_wants_quiet_are_told_nothing(
    stream: type[io.StringIO], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = stream()
    monkeypatch.setattr("sys.stderr", there)
    with progress(shown=shown) as report:
        assert report is None
    assert there.getvalue() == ""
