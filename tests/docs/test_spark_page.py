"""The page about Spark, beside the other tests that need a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_blocks import ROOT, Page

pytestmark = pytest.mark.spark


def test_the_blocks_of_the_page_about_spark_do_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Page(ROOT / "docs" / "spark.md", tmp_path).run() > 0
