"""The event reasoner is what the reference says, on random programs and streams.

A scenario is drawn as the seed of a random generator; one that fails is made small by the package's own shrinker,
which knows rules and rows, so Hypothesis does not try. The profile says how many are drawn; `make fuzz` draws many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.analysis.checker import check
from thalweg.columns.sealing import ForeignState
from thalweg.events.reasoner import Reasoner
from thalweg.language.diagnostics import Severity
from thalweg.reference.events import run
from thalweg.testing.comparison import assert_same_rows, assert_same_timeline
from thalweg.testing.engines import Fold, Result, replay_with, to_batch
from thalweg.testing.fuzz import difference
from thalweg.testing.programs import Features
from thalweg.testing.shrink import shrunk
from thalweg.testing.streams import TIDY, Mess, Scenario, random_scenario, splits

CYCLES = ("negation", "multivalued", "cycles", "delays", "initially")
SUBSETS = {
    "inertia alone": Features.only(),
    "layers of fluents": Features().without("cycles", "delays", "whole"),
    "cycles and delays": Features.only(*CYCLES, "joins", "free_heads"),
    "interval expressions": Features.only("determined", "whole", "negation", "input_fluents", "joins"),
    "derived events and edges": Features.only("derived", "boundaries", "affects", "negation", "joins"),
    "background and domains": Features.only(
        "background", "arithmetic", "findall", "disjunction", "grounding", "dynamic_domains", "free_heads"
    ),
    "values from the data": Features.only("open_values", "multivalued", "negation", "delays", "cycles"),
}
UNTIDY = Mess(late=40, duplicate=20, retract=40, early=10)


def drawn(percent: int) -> Callable[[Any], Any]:
    """So many scenarios, as a share of what the profile draws."""
    count = max(1, settings.default.max_examples * percent // 100)  # type: ignore[union-attr]
    with_seed = given(seed=st.integers(0, 2**40))
    limits = settings(max_examples=count, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    return lambda test: limits(with_seed(test))


def scenario_of(seed: int, features: Features | None = None, mess: Mess | None = None) -> Scenario:
    """The scenario of a seed; one whose program the checker refuses is passed over."""
    scenario = random_scenario(Random(seed), features, mess, size=30, times=24)
    assume(all(diagnostic.severity is not Severity.ERROR for diagnostic in check(scenario.program)))
    return scenario


def assert_agrees(scenario: Scenario, seed: int) -> None:
    """Fails with a small scenario on which reasoner and reference differ."""
    if found := difference(scenario, Reasoner, seed):
        kind = found.partition(":")[0]
        small = shrunk(scenario, lambda s: difference(s, Reasoner).partition(":")[0] == kind)
        pytest.fail(f"{difference(small, Reasoner) or found}\n\n{small}")


def made(scenario: Scenario) -> Reasoner:
    return Reasoner(
        scenario.program, window=scenario.window, step=scenario.step, start=scenario.start, tick=scenario.tick
    )


def query_times(scenario: Scenario) -> range:
    """Up to the first at or after the end."""
    first, step = scenario.start + scenario.step, scenario.step
    return range(first, scenario.end + step, step)


# --------------------------------------------------------------------------- the results


@pytest.mark.parametrize("subset", SUBSETS)
@drawn(20)
def test_a_part_of_the_language_agrees_at_every_query_time(subset: str, seed: int) -> None:
    assert_agrees(scenario_of(seed, SUBSETS[subset]), seed)


@drawn(75)
def test_the_whole_language_agrees_at_every_query_time(seed: int) -> None:
    assert_agrees(scenario_of(seed), seed)


@drawn(25)
def test_very_untidy_streams_agree_at_every_query_time(seed: int) -> None:
    assert_agrees(scenario_of(seed, mess=UNTIDY), seed)


@drawn(25)
def test_everything_together_agrees_at_every_query_time(seed: int) -> None:
    assert_agrees(scenario_of(seed, Features.all()), seed)


@drawn(25)
def test_time_points_that_are_a_tick_apart_agree_at_every_query_time(seed: int) -> None:
    scenario = scenario_of(seed, Features().without("delays", "whole"))
    tick = Random(seed).choice((2, 5, 40))
    rows = tuple(
        replace(row, time=tick * row.time, arrival=tick * row.arrival, end=row.end and tick * row.end)
        for row in scenario.rows
    )
    stretched = replace(
        scenario,
        rows=rows,
        window=tick * scenario.window,
        step=tick * scenario.step,
        end=tick * scenario.end,
        tick=tick,
    )
    plain, wide = results(scenario), results(stretched)
    assert [r.query_time * tick for r in plain] == [r.query_time for r in wide]
    for one, other in zip(plain, wide, strict=True):
        scaled = {
            pair: [(tick * start, end and tick * end) for start, end in found]
            for pair, found in one.timeline.items()
        }
        assert_same_timeline(scaled, other.timeline, context=f"with tick {tick}\n{scenario}")
        assert_same_rows({(name, tick * time) for name, time in one.events}, other.events)


def results(scenario: Scenario, batches: list[list[Any]] | None = None) -> list[Result]:
    return replay_with(
        Reasoner,
        scenario.program,
        scenario.rows,
        window=scenario.window,
        step=scenario.step,
        start=scenario.start,
        end=scenario.end,
        tick=scenario.tick,
        batches=batches,
    )


# --------------------------------------------------------------------------- how rows come in


@drawn(40)
def test_any_split_and_any_order_of_the_rows_gives_the_same_results(seed: int) -> None:
    scenario = scenario_of(seed)
    expected = results(scenario)
    for number in range(3):
        found = results(scenario, splits(Random(seed + number), scenario.rows))
        assert found == expected, f"split {number}\n{scenario}"


@drawn(40)
def test_rows_that_come_as_late_as_they_may_give_the_same_results(seed: int) -> None:
    scenario = scenario_of(seed)
    rows = [row for row in scenario.rows if row.arrival <= scenario.end]
    reasoner, fold, found = made(scenario), Fold(), []
    for q in query_times(scenario):
        since = q - scenario.step if found else float("-inf")
        reasoner.accept(to_batch(row for row in rows if since < row.arrival <= q))
        found.append(fold.add(q, reasoner.advance(q)))
    assert found == results(scenario), str(scenario)


@drawn(25)
def test_one_long_advance_tells_the_same_as_many_short_ones(seed: int) -> None:
    scenario = scenario_of(seed)
    last = query_times(scenario)[-1]
    reasoner = made(scenario)
    reasoner.accept(to_batch(row for row in scenario.rows if row.arrival <= scenario.end))
    revision = reasoner.advance(last)
    whole, short = Fold().add(last, revision), results(scenario)
    assert (whole.timeline, whole.events) == (short[-1].timeline, short[-1].events), str(scenario)
    assert whole.rejected == frozenset().union(*(result.rejected for result in short)), str(scenario)
    assert whole.open == short[-1].open, str(scenario)


@drawn(40)
def test_a_window_that_loses_no_event_gives_the_result_without_windows(seed: int) -> None:
    scenario = scenario_of(seed, Features().without("whole"), TIDY)
    until = query_times(scenario)[-1]
    expected = run(scenario.program, scenario.rows, until=until, start=scenario.start)
    for window in (scenario.step, scenario.step + 1, 2 * scenario.step, scenario.end + scenario.step):
        last = results(replace(scenario, window=window))[-1]
        context = f"with window {window}\n{scenario}"
        assert_same_timeline(expected.timeline(), last.timeline, context=context)
        assert_same_rows(expected.events(), last.events, context=context)
        pending = {(c.fluent, c.value, c.due, c.since, c.cancelled_by) for c in expected.open()}
        assert_same_rows(pending, last.open, context=context)


# --------------------------------------------------------------------------- snapshots


@drawn(50)
def test_a_restored_reasoner_goes_on_as_if_nothing_had_happened(seed: int) -> None:
    scenario = scenario_of(seed)
    stop = Random(seed).choice(query_times(scenario))
    whole, first, second = made(scenario), made(scenario), made(scenario)
    for reasoner in (whole, first):
        reasoner.accept(to_batch(row for row in scenario.rows if row.arrival <= scenario.end))
        reasoner.advance(stop)
    second.restore(first.snapshot())
    assert second.query_time == stop
    for q in query_times(scenario):
        if q > stop:
            expected, found = whole.advance(q), second.advance(q)
            for name in expected.tables:
                assert found[name].equals(expected[name]), f"{name} at {q}, stopped at {stop}\n{scenario}"


@drawn(25)
def test_equal_histories_have_equal_snapshots(seed: int) -> None:
    scenario = scenario_of(seed)
    one, other = made(scenario), made(scenario)
    for reasoner in (one, other):
        reasoner.accept(to_batch(scenario.rows))
        for q in query_times(scenario):
            reasoner.advance(q)
    state = one.snapshot()
    assert state == other.snapshot() == one.snapshot(), str(scenario)
    copy = made(scenario)
    copy.restore(state)
    assert copy.snapshot() == state, str(scenario)


ON = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
OFF = ON + " terminatedAt(on(X)=true, T) :- happensAt(release(X), T)."


@pytest.mark.parametrize(
    ("program", "window", "step", "start"),
    [(OFF, 10, 10, 0), (ON, 20, 10, 0), (ON, 10, 5, 0), (ON, 10, 10, 5)],
    ids=["program", "window", "step", "start"],
)
def test_a_snapshot_of_another_run_is_refused(program: str, window: int, step: int, start: int) -> None:
    state = Reasoner(parse(ON), window=10, step=10).snapshot()
    with pytest.raises(ForeignState):
        Reasoner(parse(program), window=window, step=step, start=start).restore(state)


def test_bytes_that_are_no_snapshot_are_refused() -> None:
    with pytest.raises(ForeignState):
        Reasoner(parse(ON), window=10, step=10).restore(b"something else")
