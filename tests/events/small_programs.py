"""Small programs with rows and the timeline that reasoner and reference must give."""

from __future__ import annotations

from thalweg import parse
from thalweg.events.reasoner import Reasoner
from thalweg.reference.windowed import replay
from thalweg.testing.comparison import assert_same_timeline
from thalweg.testing.engines import replay_with
from thalweg.testing.tables import stream, timeline

Case = tuple[str, str, str, tuple[int, int, int]]
"""Rules, rows and timeline; window, step and end of the run."""


def assert_gives(case: Case, *, tick: int = 1) -> None:
    """Both give the timeline that is written."""
    text, rows, expected, (window, step, end) = case
    program, given, drawn = parse(text), stream(rows), timeline(expected)
    run = {"window": window, "step": step, "start": 0, "end": end, "tick": tick}
    assert_same_timeline(drawn, replay(program, given, **run)[-1].timeline, names=("written", "reference"))
    found = replay_with(Reasoner, program, given, **run)[-1].timeline
    assert_same_timeline(drawn, found, names=("written", "reasoner"))
