"""Durations and times that are Python's own become part of settings that can be written down."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any

import pytest

from thalweg.io.errors import InputError
from thalweg.plans import Options, as_program
from thalweg.spark.failures import plainly
from thalweg.spark.settings import Settings, settings_of
from thalweg.spark.streaming import how_often

RULES = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."


def settings(options: Options, **more: Any) -> Settings:
    return settings_of(as_program(RULES), options, ["name", "time", "x"], shards=2, **more)


def test_timedeltas_and_dates_are_settings_like_the_texts_they_stand_for() -> None:
    minute = timedelta(minutes=1)
    given = settings(Options(10 * minute, minute, start=date(2026, 3, 2)), disorder=minute, max_ahead=minute)
    told = settings(Options("600s", "60s", start="2026-03-02"), disorder="1m", max_ahead="1m")
    assert given.identity == told.identity
    assert (given.disorder, given.max_ahead) == (told.disorder, told.max_ahead) == (60, 60)
    assert json.loads(json.dumps(given.options)) == asdict(Options("600s", "60s", start="2026-03-02"))


def test_a_trigger_may_be_a_timedelta() -> None:
    assert how_often(timedelta(seconds=2)) == "2000 milliseconds"
    assert how_often("10s") == "10 seconds"


@pytest.mark.parametrize("wrong", [timedelta(0), timedelta(seconds=-1), 5, "often"])
def test_a_trigger_that_says_no_time_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="trigger"):
        how_often(wrong)


def test_a_stream_that_goes_on_with_an_idle_timeout_or_without_it_unlike_before_is_told_so() -> None:
    """Spark counts the time on the wall as a source of its own."""
    said = "assertion failed: There are [2] sources in the checkpoint offsets and now there are [1] sources requested"
    page = f"[STREAM_FAILED] Query [id = a, runId = b] terminated with exception: {said} SQLSTATE: XXKST\n=== Streaming"
    told = plainly(RuntimeError(page))
    assert isinstance(told, InputError)
    assert told.message == f"Spark has ended the stream: {said}" and "idle_timeout" in str(told.hint)
