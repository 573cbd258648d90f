"""Writes a page for every diagnostic code to docs/errors, from the registry.

    python docs/error_pages.py            # write them
    python docs/error_pages.py --check    # fail where they differ

Every room registers its own codes when it is imported, so all rooms are imported; Spark's is not, it has none.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import thalweg
from thalweg.language.diagnostics import CODES, page

FOLDER = Path(__file__).parent / "errors"
_TITLES = {
    "TW0": "Text and clauses",
    "TW1": "Analysis: errors",
    "TW2": "Analysis: warnings and hints",
    "TW3": "Open answers",
    "TW4": "LARS",
    "TW5": "Input and runs",
}


def pages() -> dict[str, str]:
    """The text of every page by file name, the index included."""
    for module in pkgutil.walk_packages(thalweg.__path__, "thalweg."):
        if not module.name.startswith(("thalweg.spark", "thalweg.cli")):
            import_module(module.name)
    codes = [CODES[code] for code in sorted(CODES)]
    index = ["# Diagnostics", ""]
    for prefix, title in _TITLES.items():
        entries = [f"- [{c.code}]({c.code}.md): {c.title}" for c in codes if c.code.startswith(prefix)]
        index += [f"## {title}", "", *entries, ""] if entries else []
    return {f"{c.code}.md": page(c) for c in codes} | {"README.md": "\n".join(index).rstrip() + "\n"}


def write(wanted: dict[str, str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(wanted)} pages in {FOLDER}")


def differing(wanted: dict[str, str]) -> list[str]:
    """The names of pages that are missing, superfluous or say something else."""
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        wrong = differing(pages())
        sys.exit(f"run `make pages`: {', '.join(wrong)}" if wrong else 0)
    write(pages())
