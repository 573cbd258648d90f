"""The pages of the codes tell the truth: each wrong example gets its code, each right one does not."""

from __future__ import annotations

import re

import pytest

from thalweg.analysis.checker import check_read
from thalweg.language.diagnostics import CODES
from thalweg.language.parser import read

OWN = sorted(code for code in CODES if code.startswith(("TW1", "TW20")))


def codes_of(text: str) -> set[str]:
    program, reading = read(text, "example.ec")
    return {diagnostic.code for diagnostic in check_read(program, reading)}


@pytest.mark.parametrize("code", OWN)
def test_the_examples_of_a_code_are_what_they_say(code: str) -> None:
    wrong, right = re.findall(r"```\n(.*?)\n```", CODES[code].explanation, re.DOTALL)
    assert code in codes_of(wrong)
    assert code not in codes_of(right)
    assert not {found for found in codes_of(right) if found.startswith("TW0")}
