"""The event reasoner against the reference: every timeline, event, countdown and rejection, at every query time."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings

from thalweg.testing.fuzz import difference
from thalweg.testing.programs import Features
from thalweg.testing.streams import TIDY, Mess, Scenario, scenarios


def reasoner() -> Any:
    try:
        return getattr(import_module("thalweg.events.reasoner"), "Reasoner", None)
    except ImportError:
        return None


pytestmark = pytest.mark.skipif(reasoner() is None, reason="the event reasoner is not there")

LAYERS = Features().without("cycles", "delays", "whole")


@settings(max_examples=60, deadline=None)
@given(scenario=scenarios(LAYERS, TIDY))
def test_layered_programs_over_tidy_streams_agree(scenario: Scenario) -> None:
    assert not difference(scenario, reasoner()), str(scenario)


@settings(max_examples=60, deadline=None)
@given(scenario=scenarios(Features().without("whole"), TIDY))
def test_cyclic_and_delayed_programs_over_tidy_streams_agree(scenario: Scenario) -> None:
    assert not difference(scenario, reasoner()), str(scenario)


@settings(max_examples=80, deadline=None)
@given(scenario=scenarios())
def test_every_kind_of_program_over_untidy_streams_agrees(scenario: Scenario) -> None:
    assert not difference(scenario, reasoner()), str(scenario)


@settings(max_examples=60, deadline=None)
@given(scenario=scenarios(mess=Mess(late=40, duplicate=20, retract=40, early=10)))
def test_very_untidy_streams_agree(scenario: Scenario) -> None:
    assert not difference(scenario, reasoner()), str(scenario)
