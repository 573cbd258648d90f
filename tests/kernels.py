"""Compile what most tests need: ``make kernels``.

Tests side by side, and the workers of their Spark sessions, would compile the same at the same time. This is one
process that does a little of everything, with the core requirements alone, while the others are being installed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from atoms import STORIES, story
from example_folders import NAMES, example
from inprocess import made, pieces
from lars_examples import EXAMPLES, LARS
from stories import short_traffic

import thalweg
from thalweg.events.reasoner import Reasoner
from thalweg.testing.fuzz import fuzz
from thalweg.testing.wide import wide_scenario

ANSWERS = ("turbines", "hospital")


def scenarios() -> None:
    """Random event descriptions, against the definition."""
    assert fuzz(Reasoner, cases=40, seed=0) is None
    assert fuzz(Reasoner, cases=40, seed=0, draw=wide_scenario) is None


def examples() -> None:
    """The samples of the three kinds."""
    for name in NAMES:
        chosen = example(name)
        options = {"start": chosen.start, "end": chosen.end, "tick": chosen.tick}
        thalweg.run(chosen.program(), str(chosen.events), window=chosen.window, step=chosen.step, **options)
    for lars in LARS.values():
        lars.result()
    for name in ANSWERS:
        folder = EXAMPLES / name
        program = thalweg.load(folder / f"{name}.tdl", folder / "background.tdl")
        thalweg.run(program, str(next((folder / "sample").iterdir())))


def pipelines(folder: Path) -> None:
    """Shards whose states are written and read again."""
    told = {name: story(*given) for name, given in STORIES.items()} | {"events": short_traffic()}
    for name, chosen in told.items():
        run = made(chosen, folder / name / "checkpoint", out=folder / name / "out", forgets=True)
        for number, rows in enumerate(pieces(chosen.rows, 6)):
            run.pipeline.batch(rows, number)
        run.pipeline.close()
        run.tables()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        scenarios()
        examples()
        pipelines(Path(name))
