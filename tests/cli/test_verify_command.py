"""`thalweg verify`: agreement is said, the first difference is shown."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thalweg.verification import reference_rows

LAMPS = """
initiatedAt(on(X)=true, T) :- happensAt(press(X), T), not holdsAt(on(X)=true, T).
terminatedAt(on(X)=true, T) :- happensAt(press(X), T), holdsAt(on(X)=true, T).
initiatedAt(warm(X)=true, T) :- happensAt(start(on(X)=true), T).
fi(warm(X)=true, warm(X)=hot, 7).
ft(warm(X)=hot, 20).
p(warm(X)=true).
happensAt(glows(X), T) :- happensAt(press(X), T), holdsAt(warm(X)=hot, T).
"""
VERIFY = "verify rules.ec --background background.ec --input events.csv --window 20 --step 10"


def test_a_stream_on_which_both_agree_is_reported_with_its_size(thalweg: Callable[..., Any]) -> None:
    result = thalweg(VERIFY)
    assert result.exit_code == 0
    assert result.stdout == "no difference: 4 rows, 3 query times, 2 intervals\n"


def test_a_sample_takes_the_rows_of_some_entities(thalweg: Callable[..., Any]) -> None:
    result = thalweg(f"{VERIFY} --sample 1")
    assert result.stdout == "no difference: 2 rows of 1 entity, 3 query times, 1 interval\n"


def test_the_first_difference_is_shown(thalweg: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "thalweg.verification.reference_rows", lambda rows: (r for r in reference_rows(rows) if r.time != 7)
    )
    result = thalweg(VERIFY)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "first difference at query time 20, in timeline"
    assert "extra:   f(a) true 4 8" in result.stdout


def test_what_cannot_be_read_is_exit_code_2(thalweg: Callable[..., Any]) -> None:
    result = thalweg(VERIFY.replace("events.csv", "missing.csv"))
    assert result.exit_code == 2
    assert result.stderr == "error: there is no file missing.csv\n"


def stream(seed: int) -> str:
    """Presses of three lamps, most of them late, some too late, some taken back."""
    choice = random.Random(seed)
    rows = []
    for time in range(1, 120):
        lamp, arrival = choice.choice("abc"), time + choice.choice([0, 0, 3, 15, 60])
        rows.append((arrival, f"+,press,{arrival},{time},{lamp}"))
        if choice.random() < 0.2:
            later = arrival + choice.choice([1, 10, 50])
            rows.append((later, f"-,press,{later},{time},{lamp}"))
    return "op,name,arrival,time,x\n" + "".join(f"{row}\n" for _, row in sorted(rows))


def test_cycles_delays_retractions_and_rows_that_come_too_late_are_verified_too(
    thalweg: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "lamps.ec").write_text(LAMPS)
    (here / "presses.csv").write_text(stream(seed=4))
    command = "verify lamps.ec --input presses.csv --window 40 --step 10"
    result = thalweg(command)
    assert (result.exit_code, result.stdout[:15]) == (0, "no difference: ")
    monkeypatch.setattr(
        "thalweg.verification.reference_rows", lambda rows: (r for r in reference_rows(rows) if r.op > 0)
    )
    result = thalweg(command)
    assert result.exit_code == 1
    assert result.stdout.startswith("first difference at query time ")


def test_another_kind_of_program_is_refused_first(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "lamp.lars").write_text("on if [1] sometime press.\n")
    result = thalweg("verify lamp.lars --input events.csv")
    assert (result.exit_code, "only event descriptions are verified" in result.stderr) == (2, True)
    assert "with a window and a step" in thalweg("verify rules.ec -b background.ec --input events.csv").stderr
