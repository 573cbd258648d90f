"""A duration bound that background knowledge gives is a number, also where nothing else says so."""

from __future__ import annotations

import pytest

from thalweg import run


@pytest.mark.parametrize(("filter", "kept"), [("intDurGreater", []), ("intDurLess", ["meet(a)"])])
def test_a_bound_from_a_fact_is_a_number(filter: str, kept: list[str]) -> None:
    rules = f"""
    fluent slow(v: symbol).
    holdsFor(meet(A)=true, I) :- holdsFor(slow(A)=true, J), seconds(meet, D), {filter}(J, D, I).
    seconds(meet, 240). seconds(other, 10).
    """
    rows = [{"name": "slow", "start": 5, "end": 50, "v": "a", "value": "true"}]
    found = run(rules, rows, window=100, step=100)
    assert found.arrow["timeline"].column("fluent").to_pylist() == kept
