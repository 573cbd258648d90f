"""The examples run as their READMEs say, and the reasoner gives the golden results at every window."""

from __future__ import annotations

import shlex

import pytest
from example_folders import NAMES, Interval, example

import thalweg

FLAGS = ("--window", "--step", "--start", "--end", "--tick")


def command_of(name: str) -> list[str]:
    """The first `thalweg run` command of the README."""
    lines = (example(name).folder / "README.md").read_text(encoding="utf-8").splitlines()
    return shlex.split(next(line for line in lines if line.startswith("    thalweg run ")))


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_runs_the_example_as_described(name: str) -> None:
    chosen, words = example(name), command_of(name)
    given = {flag: int(words[words.index(flag) + 1]) for flag in FLAGS if flag in words}
    files = tuple(words[i + 1] for i, word in enumerate(words) if word == "--background")
    described = dict(
        zip(FLAGS, (chosen.window, chosen.step, chosen.start, chosen.end, chosen.tick), strict=True)
    )
    assert (words[2], files) == (chosen.rules, chosen.background)
    assert {"--tick": 1} | given == described


@pytest.mark.parametrize("widening", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_reasoner_gives_the_golden_result(name: str, widening: int) -> None:
    chosen = example(name)
    result = thalweg.run(
        chosen.program(),
        str(chosen.events),
        window=chosen.window * widening,
        step=chosen.step,
        start=chosen.start,
        end=chosen.end,
        tick=chosen.tick,
    )
    rows = result.arrow["timeline"].to_pylist()
    found: list[Interval] = [(r["fluent"], str(r["value"]), r["start"], r["end"]) for r in rows]
    assert sorted(found, key=str) == sorted(chosen.golden(), key=str)
