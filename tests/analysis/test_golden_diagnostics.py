"""Wrong programs and their exact diagnostics, one directory each under tests/golden/diagnostics.

A directory holds `program.ec`, sometimes `background.ec`, and `expected.txt`. After a wanted change run the tests
with UPDATE_GOLDEN=1 and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from thalweg.analysis.checker import check_read
from thalweg.language.diagnostics import CODES, Severity, render
from thalweg.language.parser import read_files

ROOT = Path(__file__).parent.parent / "golden" / "diagnostics"
CASES = sorted(path.name for path in ROOT.iterdir() if path.is_dir())


def diagnose(case: str) -> str:
    background = ["background.ec"] if Path("background.ec").exists() else []
    program, found = read_files("program.ec", *background)
    diagnostics = check_read(program, found)
    assert diagnostics, f"{case} is not wrong"
    return render(diagnostics, program.sources) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_program_gets_its_exact_diagnostics(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / case)
    expected = Path("expected.txt")
    found = diagnose(case)
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


def test_there_are_at_least_sixty_wrong_programs() -> None:
    assert len(CASES) >= 60


def test_every_code_of_the_checker_has_a_wrong_program() -> None:
    text = "".join((ROOT / case / "expected.txt").read_text(encoding="utf-8") for case in CASES)
    own = [code for code in CODES if code.startswith(("TW1", "TW20"))]
    assert own
    assert [code for code in own if f"[{code}]" not in text] == []


def test_severities_are_told_apart() -> None:
    text = "".join((ROOT / case / "expected.txt").read_text(encoding="utf-8") for case in CASES)
    for severity in (Severity.ERROR, Severity.WARNING, Severity.HINT):
        assert f": {severity}[" in text
