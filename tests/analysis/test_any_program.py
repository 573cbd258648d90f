"""Whatever program there is, every question has an answer."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import given, settings

sys.path.insert(0, str(Path(__file__).parent.parent / "language"))

from generated_programs import programs

from thalweg.analysis import check
from thalweg.analysis.report import analyse, describe, facts
from thalweg.language.program import Program
from thalweg.show.graph import graph


@settings(max_examples=100)
@given(programs)
def test_every_question_about_any_program_has_an_answer(program: Program) -> None:
    check(program)
    found = analyse(program)
    describe(found)
    facts(found)
    drawn = graph(program)
    assert drawn.svg and drawn.dot and drawn.mermaid
    layers = found.dependencies.layers
    for edge in found.dependencies.edges:
        assert layers[edge.source] <= layers[edge.target]
    placed = [node for stage in found.keys.stages for node in stage.members]
    assert len(placed) == len(set(placed))
