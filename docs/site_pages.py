"""What the site needs beyond the pages of this folder: pages that live elsewhere in the repository, and their links.

The examples' stories, the benchmarks, CONTRIBUTING and CHANGELOG stay where readers of the repository look for them;
the site takes them in as they are, and links to them are turned to where they stand there.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"(?<=\]\()([^)#\s]+)")
_TAIL = ["spark.md", "lars.md"]


def elsewhere() -> dict[str, str]:
    """Files of the repository by where they stand on the site."""
    examples = {f"examples/{p.parent.name}.md": p for p in sorted(ROOT.glob("examples/*/README.md"))}
    others = {"bench.md": "bench/README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
    pages = {site: ROOT / path for site, path in others.items()} | examples
    return {site: path.relative_to(ROOT).as_posix() for site, path in pages.items()}


def on_config(config: Any) -> Any:
    """Sections of the menu that follow from what there is."""
    docs = Path(config.docs_dir)
    sections = {next(iter(s)): next(iter(s.values())) for s in config.nav if isinstance(s, dict)}
    using, house = sections["Using it"], sections["The house"]
    using += [page for page in _TAIL if (docs / page).is_file() and page not in using]
    house += ["bench.md", "contributing.md", "changelog.md"]
    decisions = [f"decisions/{p.name}" for p in sorted((docs / "decisions").glob("*.md"))]
    examples = [page for page in elsewhere() if page.startswith("examples/")]
    config.nav = [*config.nav, {"Examples": examples}, {"Decisions": decisions}]
    return config


def on_files(files: Any, config: Any) -> Any:
    for site, path in elsewhere().items():
        files.append(File.generated(config, site, content=(ROOT / path).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to files outside docs lead to their pages; to files that are no pages, nowhere: they are named only."""
    places = {path: site for site, path in elsewhere().items()}
    source = places_of(page.file.src_uri)
    here = posixpath.dirname(source)

    def turned(found: re.Match[str]) -> str:
        link = found[1]
        if "://" in link or link.startswith(("/", "mailto:")):
            return link
        target = posixpath.normpath(posixpath.join(here, link))
        site = places.get(target, places.get(f"{target}/README.md"))
        if site is None and target.startswith("docs/"):
            site = target.removeprefix("docs/")
        if site is None:
            return link
        return posixpath.relpath(site, posixpath.dirname(page.file.src_uri) or ".")

    return _LINK.sub(turned, markdown)


def places_of(uri: str) -> str:
    """Where in the repository a page of the site stands."""
    return elsewhere().get(uri, f"docs/{uri}")
