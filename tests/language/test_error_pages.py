"""Every diagnostic code has its page in the documentation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_say_what_the_registry_says() -> None:
    """In a process of its own, since all rooms are imported for it."""
    done = subprocess.run(
        [sys.executable, str(DOCS / "error_pages.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(list((DOCS / "errors").glob("TW*.md"))) > 25
