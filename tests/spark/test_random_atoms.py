"""Random LARS and Temporal Datalog programs through the pipeline: the tables of an embedded run, whatever the shards,
the batches and the order of rows in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from inprocess import made, pieces
from random_atoms import answers_story, lars_story
from stories import Story, assert_same

from thalweg.io.errors import InputError
from thalweg.language.diagnostics import ProgramError


def assert_agrees(story: Story, rng: Random) -> None:
    """The pipeline and an embedded run agree on a story."""
    expected = story.embedded()
    shards, batches, forgets = rng.choice((2, 3, 5)), rng.choice((0, 1, 2, 5, 9)), rng.random() < 0.5
    shuffles = Random(rng.random()) if rng.random() < 0.5 else None
    with TemporaryDirectory() as folder:
        checkpoint = Path(folder, "checkpoint") if batches else None
        run = made(
            story, checkpoint, out=Path(folder, "out"), shards=shards, forgets=forgets, shuffles=shuffles
        )
        if not batches:
            run.pipeline.whole(story.rows)
        for number, rows in enumerate(pieces(story.rows, batches) if batches else ()):
            run.pipeline.batch(rows, number)
        run.pipeline.close()
        assert_same(expected, run.tables())


@pytest.mark.parametrize("story_of", [lars_story, answers_story])
@settings(max_examples=settings.default.max_examples)  # type: ignore[union-attr]
@given(seed=st.integers(0, 2**40))
def test_random_programs_over_atoms_give_the_tables_of_an_embedded_run(
    story_of: Callable[[Random], Story | None], seed: int
) -> None:
    rng = Random(seed)
    try:
        story = story_of(rng)
    except (InputError, ProgramError):
        story = None
    assume(story is not None)
    assert story is not None
    assert_agrees(story, rng)
