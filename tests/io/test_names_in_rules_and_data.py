"""A name in quotes in the rules is the name that stands in the data, in all kinds of program; a number is not."""

from __future__ import annotations

import pytest

import thalweg

KINDS = {
    "events": (
        "initiatedAt(seen(X)=true, T) :- happensAt(p(X), T), X = {}. initiatedAt(here=true, T) :- happensAt(p({}), T).",
        {"window": 5, "step": 5},
        ("timeline", "fluent"),
    ),
    "answers": (
        "seen(X, T) :- p(X, T), X = {}. here(T) :- p({}, T). query seen(X, T). query here(T).",
        {"end": 2},
        ("answers", "query"),
    ),
    "lars": (
        "seen(X) if [2] sometime p(X), X = {}. here if [2] sometime p({}).",
        {"end": 2},
        ("changes", "atom"),
    ),
}
NAMES = ["über", "in", "at", "if", "mod", "not", "sometime", "a b", "it's", "x(y)", "A", "", "a\nb", "'q'", '"', "\\x"]


def found(kind: str, name: str) -> set[str]:
    """What holds of a name that the rules name and the data has, beside another one."""
    rules, options, (table, column) = KINDS[kind]
    written = "'" + name.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n") + "'"
    rows = [{"name": "p", "time": 1, "x": x} for x in (name, "other")]
    result = thalweg.run(thalweg.parse(rules.format(written, written)), rows, **options)
    return {text.split("(")[0] for text in result.arrow[table][column].to_pylist()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_rules_is_that_of_the_data(kind: str, name: str) -> None:
    assert found(kind, name) == {"seen", "here"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", ["7", "-3", "0.50", "1e3"])
def test_a_number_in_quotes_is_a_name_that_no_field_is(kind: str, number: str) -> None:
    assert found(kind, number) == set()
