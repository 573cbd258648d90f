"""`thalweg verify`: agreement is said, the first difference is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thalweg.verification import reference_rows

VERIFY = "verify rules.ec --background background.ec --input events.csv --window 20 --step 10"


def test_a_stream_on_which_both_agree_is_reported_with_its_size(thalweg: Callable[..., Any]) -> None:
    result = thalweg(VERIFY)
    assert result.exit_code == 0
    assert result.stdout == "no difference: 4 rows, 3 query times, 2 intervals\n"


def test_a_sample_takes_the_rows_of_some_entities(thalweg: Callable[..., Any]) -> None:
    result = thalweg(f"{VERIFY} --sample 1")
    assert result.stdout == "no difference: 2 rows of 1 entities, 3 query times, 1 intervals\n"


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
