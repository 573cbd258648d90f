"""The examples of the language reference: the reasoner and the definition say what the page says, and no construct is
without one."""

from __future__ import annotations

import pytest
from page_blocks import ROOT
from page_examples import Example, by_definition, by_reasoner, examples

from thalweg.language import rules as language
from thalweg.language.parser import parse
from thalweg.language.rules import Kind

PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
EXAMPLES = list(examples(PAGE))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_result_is_the_one_shown(example: Example) -> None:
    shown = example.result.text.splitlines()
    assert by_definition(example) == shown
    assert by_reasoner(example) == shown


def test_every_kind_of_statement_and_condition_has_an_example() -> None:
    used: set[str] = set()
    for example in EXAMPLES:
        waiting: list[object] = [*parse(example.rules).statements]
        while waiting:
            item = waiting.pop()
            used.add(type(item).__name__)
            for name in ("body", "alternatives"):
                for part in getattr(item, name, ()):
                    waiting += part if isinstance(part, tuple) else [part]
    elsewhere = {"Query", "Windowed", "Aggregate", "Ignored"}
    """Of other kinds of program, or without effect."""
    wanted = {kind.__name__ for kind in (*language.Statement.__args__, *language.Literal.__args__)}
    assert wanted - elsewhere - used == set()
    assert {example.rules for example in EXAMPLES if parse(example.rules).kind is not Kind.EVENTS} == set()
