"""Every code block of the documentation runs, and shows what it really prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_blocks import LANGUAGES, ROOT, Page, blocks, indented

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
AS_WRITTEN = ("README.md", "tutorial.md")
"""Pages whose commands are run by a shell, as a reader would run them; of the others only what is no plain command."""
ELSEWHERE = ("spark.md",)
"""Run by test_spark_page.py."""


def named(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", [path for path in PAGES if path.name not in ELSEWHERE], ids=named)
def test_the_blocks_of_a_page_do_what_it_says(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Page(path, tmp_path, real_shell=path.name in AS_WRITTEN).run()


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_no_block_escapes_by_having_no_language(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not indented(text), "blocks made by indentation are not run; write a fence with a language"
    strange = [str(block) for block in blocks(text) if block.language not in LANGUAGES]
    assert not strange


def test_a_page_that_shows_something_else_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    with pytest.raises(AssertionError, match="printed:\n2"):
        Page(page, tmp_path).run()
    page.write_text("```console\n$ thalweg --version\nthalweg 99\n```\n")
    with pytest.raises(AssertionError, match="shown:\nthalweg 99"):
        Page(page, tmp_path).run()
    page.write_text("```prolog\ninitiatedAt(f=true, T) :- happensAt(e(X), S).\n```\n")
    with pytest.raises(AssertionError, match="TW"):
        Page(page, tmp_path).run()
