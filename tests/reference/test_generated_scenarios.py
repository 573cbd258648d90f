"""Random programs and streams are legal, varied, and shrink."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from random import Random

import pytest
from hypothesis import given, settings

from thalweg import parse
from thalweg.analysis.checker import check
from thalweg.language import rules
from thalweg.language.diagnostics import Severity
from thalweg.reference.description import Description
from thalweg.reference.windowed import replay, unreadable
from thalweg.testing.comparison import assert_same_rows, assert_same_timeline
from thalweg.testing.engines import to_batch
from thalweg.testing.programs import Features, random_program
from thalweg.testing.shrink import shrunk
from thalweg.testing.streams import TIDY, Scenario, programs, random_scenario, splits
from thalweg.testing.tables import stream, timeline


@settings(max_examples=80, deadline=None)
@given(text=programs())
def test_every_random_program_passes_the_checker(text: str) -> None:
    errors = [d for d in check(parse(text)) if d.severity is Severity.ERROR]
    assert not errors, f"{errors}\n{text}"


def test_random_programs_use_the_whole_language() -> None:
    used: Counter[str] = Counter()
    for seed in range(200):
        text = random_program(Random(seed))
        program = parse(text)
        used.update({type(statement).__name__ for statement in program.statements})
        words = (
            "findall",
            "\\+",
            "start(",
            "complement_all",
            "intersect_all",
            "relative_complement_all",
            "allen",
            " ; ",
        )
        used.update(word for word in words if word in text)
        used.update(("intDur" in text) * ["intDur"] + ("=_" in text) * ["open value"])
    wanted = [rules.EffectRule, rules.EventRule, rules.IntervalRule, rules.Initially, rules.Delayed]
    wanted += [rules.Postponable, rules.Grounding, rules.DynamicDomain, rules.Clause]
    missing = [t.__name__ for t in wanted if used[t.__name__] < 10]
    missing += [
        word
        for word in ("findall", "\\+", "start(", "allen", " ; ", "intDur", "open value")
        if used[word] < 5
    ]
    assert not missing


def test_switched_off_features_do_not_appear() -> None:
    bare = Features.only()
    for seed in range(100):
        text = random_program(Random(seed), bare)
        kinds = {type(statement) for statement in parse(text).statements}
        assert kinds <= {rules.EffectRule, rules.Clause}
        assert "\\+" not in text
        assert ";" not in text


def test_a_feature_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="loops"):
        Features.only("loops")


def test_every_feature_has_a_switch() -> None:
    names = [field.name for field in fields(Features) if field.type == "bool"]
    everything = Features.only(*names)
    assert everything == Features.all()
    assert everything.without(*names) == Features.only()


def test_most_scenarios_have_something_to_say() -> None:
    said: Counter[str] = Counter()
    for seed in range(100):
        s = random_scenario(Random(seed))
        answers = replay(s.program, s.rows, window=s.window, step=s.step, start=s.start, end=s.end)
        said["intervals"] += bool(answers[-1].timeline)
        said["events"] += bool(answers[-1].events)
        said["countdowns"] += any(answer.open for answer in answers)
        said["rejected"] += any(answer.rejected for answer in answers)
        said["withdrawn"] += any(c.op == "delete" and c.end is not None for a in answers for c in a.changes)
    assert said["intervals"] > 50
    assert said["events"] > 15
    assert said["countdowns"] > 10
    assert said["rejected"] > 30
    assert said["withdrawn"] > 5


def test_rows_of_a_scenario_are_readable_and_numbered() -> None:
    for seed in range(50):
        s = random_scenario(Random(seed))
        description = Description(s.program)
        assert not [row for row in s.rows if unreadable(description, row)]
        assert sorted(row.number for row in s.rows) == [*range(1, len(s.rows) + 1)]


def test_a_tidy_stream_has_neither_late_rows_nor_retractions() -> None:
    for seed in range(50):
        rows = random_scenario(Random(seed), mess=TIDY).rows
        assert all(row.arrival == row.time and row.op == 1 for row in rows)


def test_batches_hold_every_row_once() -> None:
    s = random_scenario(Random(7))
    batches = splits(Random(1), s.rows)
    assert sorted(r.number for batch in batches for r in batch) == sorted(r.number for r in s.rows)


def test_rows_become_columns_of_one_name_and_shape() -> None:
    batch = to_batch(stream("e(a) 2 4@9\nnear(a,b)=true 3..8 10..\n- e(a) 2@11\nk 5"))
    by_name = {rows.name: rows for rows in batch}
    assert by_name["e"].time.tolist() == [2, 4, 2]
    assert by_name["e"].op.tolist() == [1, 1, -1]
    assert by_name["e"].args[0].to_pylist() == ["a", "a", "a"]
    assert by_name["near"].end is not None
    assert by_name["near"].end.tolist()[0] == 8
    assert by_name["k"].args == ()


def test_a_failing_scenario_shrinks_to_what_matters() -> None:
    def fails(scenario: Scenario) -> bool:
        answers = replay(scenario.program, scenario.rows, window=50, step=50, start=0, end=50)
        return bool(answers[-1].timeline)

    scenario = next(s for s in (random_scenario(Random(seed)) for seed in range(50)) if fails(s))
    small = shrunk(scenario, fails)
    assert fails(small)
    assert len(small.text.splitlines()) + len(small.rows) <= 3


def test_a_difference_of_timelines_names_pair_and_sides() -> None:
    with pytest.raises(AssertionError) as problem:
        assert_same_timeline(timeline("f(a)=true [3,8)"), timeline("f(a)=true [3,..)"), context="at 20")
    assert str(problem.value) == "the timelines differ at 20:\n  f(a)=true: left [3,8), right [3,..)"


def test_a_difference_of_rows_names_the_side_that_has_the_row() -> None:
    with pytest.raises(AssertionError) as problem:
        assert_same_rows([("d(a)", 3)], [], names=("expected", "found"))
    assert str(problem.value) == "the rows differ:\n  only expected: ('d(a)', 3)"


@pytest.mark.parametrize("text", ["e(a)", "e(a) x", "near(a)=true 3", "e(a) 3..5"])
def test_a_stream_that_is_drawn_wrongly_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        stream(text)


def test_a_timeline_that_is_drawn_wrongly_is_refused() -> None:
    with pytest.raises(ValueError, match="not a pair with intervals"):
        timeline("f(a)=true 3 8")
