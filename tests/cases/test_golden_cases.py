"""Every golden case, run by every engine: the reference and the reasoner."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from thalweg.events.reasoner import Reasoner
from thalweg.reference.windowed import replay
from thalweg.testing.cases import Case, Run, load_cases, run_case
from thalweg.testing.engines import replay_with

HERE = Path(__file__).parent
CASES = load_cases(HERE / "events", HERE / "ours")
RUNS = [pytest.param(case, run, id=f"{case.name}-{run.name}") for case in CASES for run in case.runs]


@pytest.mark.parametrize(("case", "run"), RUNS)
def test_the_reference_gives_the_expected_result_at_every_query_time(case: Case, run: Run) -> None:
    run_case(case, run, replay)


@pytest.mark.parametrize(("case", "run"), RUNS)
def test_the_event_reasoner_gives_the_expected_result_at_every_query_time(case: Case, run: Run) -> None:
    run_case(case, run, partial(replay_with, Reasoner))


def test_every_case_of_another_result_on_purpose_says_why() -> None:
    own = {path.parent.name for path in (HERE / "ours").glob("*/*.tsv")}
    assert own
    assert own <= {case.name for case in CASES if "choice" in case.about}
    assert all(path.read_text().startswith("# Ours on purpose: ") for path in (HERE / "ours").glob("*/*.tsv"))


def test_rows_of_unknown_name_or_wrong_arity_are_rejected_with_a_reason() -> None:
    case = next(case for case in CASES if case.name == "csv_quirks")
    (answer,) = replay(case.program(), case.rows(), window=20, step=20, start=0, end=20)
    assert {(r.row, r.reason) for r in answer.rejected} == {(2, "unknown-name"), (6, "wrong-arity")}


def test_rows_that_arrive_at_or_before_an_explicit_start_are_rejected() -> None:
    case = next(case for case in CASES if case.name == "start_time_events")
    (answer,) = replay(case.program(), case.rows(), window=10, step=10, start=0, end=10)
    assert [(r.row, r.reason) for r in answer.rejected] == [(1, "before-the-start")]


def test_a_window_smaller_than_the_step_is_refused_unless_gaps_are_allowed() -> None:
    case = next(case for case in CASES if case.name == "window_smaller_than_step")
    with pytest.raises(ValueError, match="between windows"):
        replay(case.program(), case.rows(), window=5, step=10, start=0, end=40)
