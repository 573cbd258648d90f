"""Compile what most tests need: ``make kernels``, which is ``python tests/kernels.py events`` beside ``... others``.

Tests side by side, and the workers of their Spark sessions, would compile the same at the same time. These are two
processes that do a little of everything, with the core requirements alone, while the others are being installed: one
for event descriptions, one for LARS and open answers, which share little with them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from atoms import STORIES, story
from example_folders import NAMES, example
from inprocess import made, pieces
from lars_examples import EXAMPLES, LARS
from stories import Story, short_traffic

import thalweg
from thalweg.events.reasoner import Reasoner
from thalweg.testing.fuzz import fuzz
from thalweg.testing.wide import wide_scenario

ANSWERS = ("turbines", "hospital")


def scenarios() -> None:
    """Random event descriptions, against the definition."""
    assert fuzz(Reasoner, cases=40, seed=0) is None
    assert fuzz(Reasoner, cases=40, seed=0, draw=wide_scenario) is None


def samples() -> None:
    """The samples of event descriptions."""
    for name in NAMES:
        chosen = example(name)
        options = {"start": chosen.start, "end": chosen.end, "tick": chosen.tick}
        thalweg.run(chosen.program(), str(chosen.events), window=chosen.window, step=chosen.step, **options)


def other_samples() -> None:
    """Those of the two other kinds."""
    for lars in LARS.values():
        lars.result()
    for name in ANSWERS:
        folder = EXAMPLES / name
        program = thalweg.load(folder / f"{name}.tdl", folder / "background.tdl")
        thalweg.run(program, str(next((folder / "sample").iterdir())))


def pipelines(told: dict[str, Story]) -> None:
    """Shards whose states are written and read again."""
    with tempfile.TemporaryDirectory() as name:
        for kind, chosen in told.items():
            folder = Path(name) / kind
            run = made(chosen, folder / "checkpoint", out=folder / "out", forgets=True)
            for number, rows in enumerate(pieces(chosen.rows, 6)):
                run.pipeline.batch(rows, number)
            run.pipeline.close()
            run.tables()


if __name__ == "__main__":
    if sys.argv[1] == "events":
        scenarios()
        samples()
        pipelines({"events": short_traffic()})
    else:
        other_samples()
        pipelines({name: story(*given) for name, given in STORIES.items()})
