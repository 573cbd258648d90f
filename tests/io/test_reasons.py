"""The codes of rejected rows: one spelling, whoever says it, and each explained on the page about input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import thalweg
from thalweg import reasons
from thalweg.answers.reasoner import Reasoner as Answering
from thalweg.events.reasoner import Reasoner as Happening
from thalweg.lars.reasoner import Reasoner as Windowed
from thalweg.protocol import Rows

KINDS = {
    "events": (
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T).",
        lambda program: Happening(program, window=5, step=5, start=0),
        {"window": 5, "step": 5, "start": 0},
    ),
    "answers": (
        "query q(X, T). q(X, T) :- e(X, T).",
        lambda program: Answering(program, 0, start=0),
        {"start": 0, "lateness": 0},
    ),
    "lars": (
        "q(X) if [2] sometime e(X).",
        lambda program: Windowed(program, start=0, lateness=0),
        {"start": 0, "lateness": 0},
    ),
}
EVENTS = {
    "name": ["e", "e", "e"],
    "arrival": [1, 30, 30],
    "time": [1, 2, 30],
    "0": ["a", "b", "c"],
    "op": ["+", "+", "-"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_reasoner_gives_the_reasons_that_the_table_of_a_run_has(kind: str) -> None:
    text, made, options = KINDS[kind]
    program = thalweg.parse(text)
    table = pa.table(EVENTS)
    reasoner: Any = made(program)
    batch, unread = thalweg.rows(program, table)
    assert not unread.num_rows
    reasoner.accept(batch)
    told = reasoner.advance(30)["rejected"].column("reason").to_pylist()
    assert sorted(told) == [reasons.TOO_LATE, reasons.UNKNOWN_RETRACTION]
    result = thalweg.run(program, table, **options)
    assert sorted(result.arrow["rejected"].column("reason").to_pylist()) == sorted(told)


@pytest.mark.parametrize("kind", ["events", "lars"])
def test_a_text_where_a_number_belongs_is_of_the_wrong_type_also_for_a_reasoner(kind: str) -> None:
    text, made, _ = KINDS[kind]
    reasoner: Any = made(thalweg.parse(text[:-1] + ", X > 3."))
    one = np.array([1])
    reasoner.accept([Rows("e", one.astype(np.int8), one, one, one, (pa.array(["fast"]),))])
    assert reasoner.advance(5)["rejected"].column("reason").to_pylist() == [reasons.WRONG_TYPE]


def test_every_reason_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "input.md").read_text()
    codes = [code for name, code in vars(reasons).items() if name.isupper() and isinstance(code, str)]
    assert len(codes) > len(reasons.UNREADABLE)
    assert [code for code in codes if f"| `{code}` |" not in page] == []
