"""Random programs and streams against every possible evolution (Theorem 7) and the completed stream."""

from __future__ import annotations

from answers_random import arrivals, programs, run, universe
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

SETTINGS = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@SETTINGS
@given(programs(), st.data())
def test_rows_are_sound_and_complete_at_every_time_point(text: str, data: st.DataObject) -> None:
    world = universe(text)
    assume(world is not None)
    assert world is not None
    run(world, data.draw(arrivals(world.evolutions.atoms, 0)), 0)


@SETTINGS
@given(programs(), st.integers(1, 2), st.data())
def test_late_and_retracted_rows_revise_the_answers(text: str, lateness: int, data: st.DataObject) -> None:
    world = universe(text)
    assume(world is not None)
    assert world is not None
    run(world, data.draw(arrivals(world.evolutions.atoms, lateness)), lateness)
