"""Bus and tram, the worked example of the definition: the tables of answers and labels, and the seed's examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lars_programs import batch

import thalweg
from thalweg.lars.reasoner import Reasoner

BUS = Path(__file__).resolve().parents[2] / "examples" / "bus_and_tram" / "bus.lars"
STORY = [(372, "busG", ()), (391, "tramB", ()), (397, "request", ())]
JAM = [*STORY, (400, "jam", ())]

NOTHING: set[str] = set()
BOTH = {"on", "expBusM @ 402", "expTrM @ 441"}
BUS_TAKEN, TRAM_TAKEN = BOTH | {"takeBusM"}, BOTH | {"takeTrM"}
TRAM_ONLY = {"on", "expTrM @ 441", "takeTrM"}
TABLE = [
    (372, "both", [NOTHING]),
    (380, "both", [NOTHING]),
    (391, "both", [NOTHING]),
    (397, "both", [BUS_TAKEN, TRAM_TAKEN]),
    (400, "no jam", [BUS_TAKEN, TRAM_TAKEN]),
    (400, "jam", [TRAM_TAKEN]),
    (402, "no jam", [BUS_TAKEN, TRAM_TAKEN]),
    (402, "jam", [TRAM_TAKEN]),
    *((t, "both", [TRAM_ONLY]) for t in range(403, 408)),
    (408, "both", [NOTHING]),
    (420, "both", [NOTHING]),
]
ROWS = [
    (t, jam, expected)
    for t, when, expected in TABLE
    for jam in (False, True)
    if when == "both" or jam == (when == "jam")
]


def bus(facts: list[Any], **options: Any) -> Reasoner:
    reasoner = Reasoner(thalweg.load(BUS), **options)
    reasoner.accept(batch(facts))
    return reasoner


def shown(row: dict[str, Any]) -> str:
    return row["atom"] if row["at"] is None else f"{row['atom']} @ {row['at']}"


@pytest.mark.parametrize(("t", "jam", "expected"), ROWS)
def test_the_answer_streams_are_those_of_the_table(t: int, jam: bool, expected: list[set[str]]) -> None:
    reasoner = bus(JAM if jam else STORY)
    reasoner.advance(t)
    models: dict[int, set[str]] = {}
    for row in reasoner.models().to_pylist():
        models.setdefault(row["model"], set()).update([shown(row)] if row["atom"] else [])
    assert sorted(map(sorted, models.values())) == sorted(map(sorted, expected))
    assert {shown(row) for row in reasoner.answers().to_pylist()} in expected


@pytest.mark.parametrize(("jam", "switch"), [(False, 403), (True, 400)])
@pytest.mark.parametrize("predict", [True, False])
def test_the_bus_that_was_chosen_is_kept_until_it_must_go(jam: bool, switch: int, predict: bool) -> None:
    reasoner = bus(JAM if jam else STORY, predict=predict)
    for t in range(397, 408):
        reasoner.advance(t)
        taken = {row["atom"] for row in reasoner.answers().to_pylist() if row["atom"].startswith("take")}
        assert taken == ({"takeBusM"} if t < switch else {"takeTrM"})


def labels(reasoner: Reasoner) -> dict[str, tuple[str, int | None, int | None]]:
    return {row["atom"]: (row["status"], row["from"], row["to"]) for row in reasoner.labels().to_pylist()}


def test_the_labels_at_the_request_are_those_of_the_definition() -> None:
    reasoner = bus(STORY)
    reasoner.advance(397)
    assert labels(reasoner) == {
        "[3m] at(372) busG": ("in", 372, 402),
        "[5m] at(391) tramB": ("in", 391, 441),
        "[1m] sometime request": ("in", 397, 407),
        "[3m] sometime jam": ("out", None, None),
        "on": ("in", 397, 407),
        "at(402) expBusM": ("in", 397, 402),
        "at(441) expTrM": ("in", 397, 407),
        "[+5m] sometime expBusM": ("in", 397, 402),
        "[+5m] sometime expTrM": ("in", 397, 407),
        "takeBusM": ("in", 397, 402),
        "takeTrM": ("out", None, 402),
    }


def test_a_jam_puts_the_bus_out_and_the_tram_in() -> None:
    reasoner = bus(JAM)
    reasoner.advance(400)
    found = labels(reasoner)
    assert found["[3m] sometime jam"] == ("in", 400, 430)
    assert found["takeBusM"] == ("out", None, None)
    assert found["takeTrM"] == ("in", 400, 407)
    assert found["on"] == ("in", 397, 407)


def test_changes_say_until_when_they_last() -> None:
    revision = bus(STORY).advance(420)
    rows = [(r["query_time"], r["op"], shown(r), r["until"]) for r in revision["changes"].to_pylist()]
    assert sorted(rows[:4], key=str) == [
        (397, "insert", "expBusM @ 402", 402),
        (397, "insert", "expTrM @ 441", 407),
        (397, "insert", "on", 407),
        (397, "insert", "takeBusM", 402),
    ]
    assert {r[2] for r in rows if r[:2] == (403, "delete")} == {"takeBusM", "expBusM @ 402"}
    assert {r[2] for r in rows if r[:2] == (408, "delete")} == {"on", "takeTrM", "expTrM @ 441"}


def test_all_answer_streams_are_told_at_every_tick_at_which_they_change() -> None:
    models = bus(STORY, models=0).advance(420)["models"].to_pylist()
    streams = {
        (t, m): {shown(r) for r in models if (r["query_time"], r["model"]) == (t, m) and r["atom"]}
        for t, m in {(r["query_time"], r["model"]) for r in models}
    }
    assert streams[397, 1] == BUS_TAKEN and streams[397, 2] == TRAM_TAKEN
    assert streams[403, 1] == TRAM_ONLY and (403, 2) not in streams
    assert streams[408, 1] == NOTHING
