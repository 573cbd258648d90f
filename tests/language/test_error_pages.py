"""Every diagnostic code has its page in the documentation."""

from __future__ import annotations

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_say_what_the_registry_says() -> None:
    spec = importlib.util.spec_from_file_location("error_pages", DOCS / "error_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = module.pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "errors").glob("*.md")}
    assert found == wanted, "run `make pages`"
    assert len(wanted) > 25
