"""The commands of the examples' READMEs are run as they stand there; the generators of large streams, smaller."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from example_folders import EXAMPLES
from typer.testing import CliRunner

from thalweg.cli.main import app

STORIES = [path.parent.name for path in sorted(EXAMPLES.glob("*/README.md"))]


def commands(name: str, first: str) -> list[str]:
    """The commands of a README that begin with a word, in indented or fenced blocks, with or without a prompt."""
    lines = (EXAMPLES / name / "README.md").read_text(encoding="utf-8").splitlines()
    plain = [re.sub(r"^(    |\$ )", "", line) for line in lines]
    return [line for line in plain if line.startswith(f"{first} ")]


@pytest.mark.parametrize("name", STORIES)
def test_the_commands_of_a_story_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    monkeypatch.chdir(tmp_path / name)
    found = commands(name, "thalweg")
    assert found, "a story has a command that runs it"
    for command in found:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, f"{command}\n{done.output}\n{done.exception}"
        assert done.stdout.strip()


@pytest.mark.parametrize("name", STORIES)
def test_the_generator_of_a_story_runs_and_repeats_itself(name: str, tmp_path: Path) -> None:
    made = []
    for turn in ("one", "two"):
        folder = tmp_path / turn
        folder.mkdir()
        for command in commands(name, "python generate.py"):
            small = re.sub(r"\b\d{3,}\b", "100", command)
            words = [sys.executable, str(EXAMPLES / name / "generate.py"), *shlex.split(small)[2:]]
            environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
            subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True)
        made.append({p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()})
    assert made[0] and made[0] == made[1]


def test_the_demo_says_what_happened_why_and_where_the_picture_is(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "demo.py")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "sanctioned(a3,seconded_own_motion)=true holds from 121 to 201" in done.stdout
    drawn = re.search(r"as a picture, click to see why: (\S+)", done.stdout)
    assert drawn and "<canvas" in (tmp_path / drawn[1]).read_text(encoding="utf-8")
