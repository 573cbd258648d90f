"""The notebooks run from top to bottom without a screen, and print what they are stored with."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from page_blocks import ROOT

NOTEBOOKS = sorted(ROOT.glob("docs/notebooks/*.ipynb"))


def told(notebook: nbformat.NotebookNode) -> list[str]:
    """What each cell printed, and the plain text of what it shows."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in c.outputs) for c in cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_says_what_it_said(path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    NotebookClient(fresh, timeout=240, resources={"metadata": {"path": str(path.parent)}}).execute()
    assert told(fresh) == told(stored)
    assert any("<svg" in out.get("data", {}).get("text/html", "") for c in fresh.cells for out in c.get("outputs", []))
