"""The documentation builds as a site whose links lead somewhere, and which asks for nothing from anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from page_blocks import ROOT, blocks

import thalweg

_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_the_site_has_every_page_and_the_examples(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    wanted = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in ROOT.glob("docs/*.md")}
    wanted |= {f"examples/{path.parent.name}.html" for path in ROOT.glob("examples/*/README.md")}
    assert wanted | {"bench.html", "errors/index.html", "errors/TW103.html"} <= pages


def test_the_site_asks_for_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        asked = re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]+", text)
        assert not asked, f"{path.name}: {asked[:3]}"


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("examples/*/README.md")])
def test_links_between_files_lead_to_files(path: Path) -> None:
    links = [link for link in _LINK.findall(path.read_text(encoding="utf-8")) if "://" not in link]
    missing = [link for link in links if not (path.parent / link).exists()]
    assert not missing


def test_the_picture_of_the_tutorial_is_what_it_draws() -> None:
    """``UPDATE_GOLDEN=1`` draws it anew."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    files = {block.title: block.text for block in blocks(page) if block.title}
    rules = files["cold.ec"] + files["more.ec"].split("\n", 1)[1]
    lines = [line.split(",") for line in files["log.csv"].splitlines()]
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    events = [{name: value for name, value in row.items() if value} for row in rows]
    drawn = thalweg.run(rules, events, window="4h", step="30m").timeline(title="Two trucks").svg
    kept = ROOT / "docs" / "trucks.svg"
    if os.environ.get("UPDATE_GOLDEN"):
        kept.write_text(drawn, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == drawn
