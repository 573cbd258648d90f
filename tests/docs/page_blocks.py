"""The code blocks of a page of documentation, and what it means to run them.

A page is run from top to bottom in a directory of its own. A block with a title is a file: it is written there. Python
blocks share one namespace. In a console block lines that begin with ``$ `` are commands, and what stands below one is
what it prints; below a Python block, a block of plain text is what that printed. In what is shown, ``...`` stands for
anything, and the width of gaps between words plays no part. Rules must pass the checker. `<!-- in: folder -->` on a
page means that it speaks of the files of that folder.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from thalweg.analysis.checker import check_read
from thalweg.cli.main import app
from thalweg.language.diagnostics import has_errors, render
from thalweg.language.parser import read, read_files

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("prolog", "python", "console", "sh", "text", "json", "toml", "sql", "java")
RULES = (".ec", ".tdl", ".lars")

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FOLDER = re.compile(r"<!-- in: (\S+) -->")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the file it is (if it is one), its text, its line, and whether it follows the one
    before it directly."""

    language: str
    title: str
    text: str
    line: int
    follows: bool

    def __str__(self) -> str:
        return f"the {self.language} block at line {self.line}"


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page."""
    last = 0
    for found in _FENCE.finditer(text):
        information = found[1].strip()
        title = re.search(r'title="([^"]+)"', information)
        line = text.count("\n", 0, found.start()) + 1
        follows = not text[last : found.start()].strip()
        yield Block(information.split(" ")[0], title[1] if title else "", found[2], line, follows)
        last = found.end()


def indented(text: str) -> list[int]:
    """The lines at which a code block is made by indentation, which nobody would run."""
    lines = _FENCE.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    return [
        i + 1
        for i, line in enumerate(lines)
        if line.startswith("    ") and line.strip() and i and not lines[i - 1].strip() and not _in_list(lines, i)
    ]


def _in_list(lines: list[str], at: int) -> bool:
    before = [line for line in lines[:at] if line.strip() and not line.startswith(" ")]
    return bool(before) and before[-1].startswith(("- ", "* ", "1. ", "2. ", "3. "))


@dataclass
class Page:
    """A page being run in a directory."""

    path: Path
    folder: Path
    real_shell: bool = False
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self) -> int:
        """Run every block; how many there were."""
        text = self.path.read_text(encoding="utf-8")
        for source in _FOLDER.findall(text):
            shutil.copytree(ROOT / source, self.folder, dirs_exist_ok=True)
        printed: str | None = None
        number = 0
        for block in blocks(text):
            number += 1
            shown = block.follows and block.language == "text" and not block.title
            if shown and printed is not None:
                _compare(block.text, printed, f"{self.path.name}: what {block} shows")
            printed = self._run(block)
        return number

    def _run(self, block: Block) -> str | None:
        where = f"{self.path.name}: {block}"
        assert block.language in LANGUAGES, f"{where} has no language that is known here"
        if block.title and ": " not in block.title:
            target = self.folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        if block.language == "prolog":
            _check(block, self.folder, where)
        elif block.title:
            return None
        elif block.language == "python":
            return self._python(block, where)
        elif block.language in ("console", "sh"):
            for command, expected in commands(block):
                done = self._command(command)
                if expected:
                    _compare(expected, done, f"{where}: {command}")
        return None

    def _python(self, block: Block, where: str) -> str:
        out = io.StringIO()
        code = compile("\n" * block.line + block.text, str(self.path), "exec")
        with contextlib.redirect_stdout(out):
            exec(code, self.names)
        return out.getvalue()

    def _command(self, command: str) -> str:
        words = shlex.split(command)
        plain = not self.real_shell and words[0] == "thalweg" and not set("|<>;&*") & set(words[1:])
        if plain and not any(glob in word for word in words for glob in "*?"):
            done = CliRunner().invoke(app, words[1:])
            told = f"{done.output}\n{done.exception}" if done.exit_code > 1 else ""
            assert done.exit_code in (0, 1), f"{self.path.name}: {command}\n{told}"
            return done.stdout
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
        ran = subprocess.run(
            command, shell=True, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode in (0, 1), f"{self.path.name}: {command}\n{ran.stdout}{ran.stderr}"
        return ran.stdout


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Commands with what they are shown to print; a backslash at the end continues a command."""
    if block.language == "sh":
        yield from ((line, "") for line in block.text.replace("\\\n", " ").splitlines() if line.strip())
        return
    for part in re.split(r"^\$ ", block.text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected.rstrip("\n")


def _check(block: Block, folder: Path, where: str) -> None:
    """Rules must be without errors, unless the page shows them as wrong."""
    if "wrong" in block.title or block.title.endswith("csv"):
        return
    program, found = read_files(folder / block.title) if block.title else read(block.text, "rules")
    found = check_read(program, found)
    assert not has_errors(found), f"{where}\n{render(found, program.sources)}"


def _compare(expected: str, printed: str, what: str) -> None:
    want, got = (_gaps(text) for text in (expected, printed))
    if want.endswith("\n...\n"):
        want = want[:-1]
    same = doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)
    assert same, f"{what}\nshown:\n{expected}\nprinted:\n{printed}"


def _gaps(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.rstrip().splitlines()) + "\n"
