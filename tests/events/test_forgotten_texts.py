"""A stream of ever new texts: those that nothing refers to are forgotten, and nobody can tell."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_against_the_reference import SUBSETS, UNTIDY, drawn, scenario_of

from thalweg import parse
from thalweg.columns import symbols
from thalweg.columns.symbols import SymbolTable
from thalweg.events import forgetting, words
from thalweg.events.reasoner import Reasoner
from thalweg.protocol import OPEN_END, Revision, Rows
from thalweg.testing.fuzz import difference

PROGRAM = parse(
    """
    initiatedAt(offer(N)=made, T) :- happensAt(propose(N, W), T), trusted(W).
    initiatedAt(offer(N)=W, T) :- happensAt(take(N, W), T), holdsAt(offer(N)=made, T).
    terminatedAt(offer(N)=_, T) :- happensAt(close(N), T).
    fi(offer(N)=made, offer(N)=lapsed, 7).
    ft(offer(N)=lapsed, 3).
    happensAt(deal(N, W), T) :- happensAt(take(N, W), T), holdsAt(free(W)=true, T), W @< N.
    holdsFor(good(N, W)=true, I) :- holdsFor(offer(N)=W, I1), holdsFor(free(W)=true, I2), intersect_all([I1, I2], I).
    initiatedAt(worth(N)=V, T) :- happensAt(rate(N, V), T), V > 0.5.
    terminatedAt(worth(N)=_, T) :- happensAt(close(N), T).
    trusted(ann). trusted('Bob B'). trusted(cy).
    """
)
PEOPLE = ("ann", "Bob B", "cy", "dot")
START = 100_000
"""Times are other numbers than ids, so that they keep no texts."""
LATER = parse("initiatedAt(offer(N)=made, T) :- happensAt(propose(N, other), T).")


def rows_of(name: str, rows: list[tuple[Any, ...]], number: int) -> Rows:
    """Rows (operation, arrival, time, arguments)."""
    op, arrival, time, *args = zip(*rows, strict=True)
    return Rows(
        name,
        np.array(op, np.int8),
        np.array(arrival, np.int64),
        np.array(time, np.int64),
        np.arange(number, number + len(rows)),
        tuple(map(pa.array, args)),
    )


def batches(seed: int, count: int, step: int = 10) -> list[list[Rows]]:
    """For each step some rows about ever new offers, one of them late, one early, one taken back."""
    rng = Random(seed)
    found = []
    for k in range(count):
        names = [f"{rng.choice(('o', 'Offer ', 'x'))}{k}_{i}" for i in range(6)]
        at = lambda k=k: START + step * k + rng.randint(1, step)  # noqa: E731
        rows: dict[str, list[tuple[Any, ...]]] = {"propose": [], "take": [], "close": [], "rate": []}
        for name in names:
            time = at()
            rows["propose"].append((1, time, time, name, rng.choice(PEOPLE)))
            if rng.random() < 0.6:
                rows["take"].append((1, time + 2, time + 2, name, rng.choice(PEOPLE)))
            over = time + rng.choice((4, 12))
            rows["close"].append((1, over, over, name))
            if rng.random() < 0.5:
                rows["rate"].append((1, time, time, name, rng.random()))
        _, _, time, *args = rows["propose"][0]
        rows["propose"].append((-1, time + step, time, *args))
        rows["propose"].append((1, time + step, time + rng.randint(-step, 3 * step), names[1], "ann"))
        rows["close"].append((1, time + 5 * step, time + 5 * step, names[1]))
        rows["nobody"] = [(1, time, time, f"refused{k}")]
        free = rows_of("free", [(1, time, time, rng.choice(PEOPLE))], 0)
        end = np.array([rng.choice((time + 15, OPEN_END)) if rng.random() < 0.3 else time + 15])
        free = Rows("free", free.op, free.arrival, free.time, free.row, free.args, end, pa.array(["true"]))
        found.append([*(rows_of(n, r, 100 * k) for n, r in rows.items() if r), free])
    return found


def told(revision: Revision) -> dict[str, list[str]]:
    return {name: sorted(map(repr, revision[name].to_pylist())) for name in ("changes", "events", "open", "rejected")}


def fresh(window: int, **how: Any) -> Reasoner:
    return Reasoner(PROGRAM, window=window, step=10, start=START, **how)


@pytest.mark.parametrize("subset", [*SUBSETS, None], ids=str)
@drawn(5)
def test_forgetting_texts_before_every_query_changes_no_answer(subset: str | None, seed: int) -> None:
    scenario = scenario_of(seed, SUBSETS[subset] if subset else None, UNTIDY)
    make = partial(Reasoner, recompute=seed % 3 == 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SymbolTable, "is_due", lambda _: True)
        assert difference(scenario, make, batches=seed) == ""


@settings(max_examples=6, deadline=None)
@given(
    st.integers(0, 2**30), st.sampled_from([10, 20, 35]), st.sampled_from([0, 5, 20]), st.booleans(), st.data()
)
def test_a_reasoner_that_forgets_texts_tells_what_one_does_that_remembers_all(
    seed: int, window: int, few: int, recompute: bool, data: st.DataObject
) -> None:
    stream = batches(seed, 12)
    stops = data.draw(st.sets(st.integers(0, 11)))
    all_of_it = fresh(window, recompute=recompute)
    expected = []
    for k, batch in enumerate(stream):
        all_of_it.accept(batch)
        expected.append(told(all_of_it.advance(START + 10 * k + 10)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symbols, "FEW", few)
        patch.setattr(forgetting, "FEW", few)
        patch.setattr(words, "FEW", few)
        one, other = fresh(window, recompute=recompute), fresh(window, recompute=recompute)
        for k, batch in enumerate(stream):
            for reasoner in (one, other):
                reasoner.accept(batch)
            if k in stops:  # rows wait, too
                state = one.snapshot()
                assert state == other.snapshot()
                other = fresh(window, recompute=recompute)
                other.restore(state)
            assert told(one.advance(START + 10 * k + 10)) == told(other.advance(START + 10 * k + 10)) == expected[k]
        assert one.snapshot() == other.snapshot()
    assert any(t["changes"] for t in expected) and any(t["events"] for t in expected)
    assert one._plan.symbols.kept > 0


@pytest.mark.parametrize("window", [10, 30])
def test_texts_follow_the_window_and_not_the_stream(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "FEW", 20)
    monkeypatch.setattr(words, "FEW", 20)
    reasoner = fresh(window)
    known, written, sizes = [], [], []
    for k, batch in enumerate(batches(3, 80)):
        reasoner.accept(batch)
        reasoner.advance(START + 10 * k + 10)
        known.append(len(reasoner._plan.symbols))
        written.append(reasoner._output.words._pool.count)
        sizes.append(len(reasoner.snapshot()))
    assert max(known[40:]) < 1.5 * max(known[10:30]) < 400
    assert max(written[40:]) < 1.5 * max(written[10:30]) < 800
    assert max(sizes[40:]) < 1.5 * max(sizes[10:30])


def test_few_texts_are_not_worth_forgetting() -> None:
    reasoner = fresh(10)
    for k, batch in enumerate(batches(3, 20)):
        reasoner.accept(batch)
        reasoner.advance(START + 10 * k + 10)
    assert reasoner._plan.symbols.kept == 0 and len(reasoner._plan.symbols) > 120


def test_numbers_that_were_written_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "FEW", 20)
    reasoner = fresh(10)
    for k in range(40):
        rows = [(1, START + 10 * k + 1 + i, START + 10 * k + 1 + i, "o", 1 + 10 * k + i) for i in range(9)]
        reasoner.accept([rows_of("rate", rows, 9 * k)])
        assert reasoner.advance(START + 10 * k + 10)["changes"]["value"].to_pylist()[-1] == str(10 * k + 9)
    assert reasoner._output.words._codes.count < 100


def test_a_changed_program_goes_on_with_texts_that_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SymbolTable, "is_due", lambda _: True)
    reasoner = fresh(30)
    for k, batch in enumerate(batches(5, 6)):
        reasoner.accept(batch)
        reasoner.advance(START + 10 * k + 10)
    changed = reasoner.changed(LATER)
    changed.revise()
    copy = Reasoner(LATER, window=30, step=10, start=START)
    copy.restore(changed.snapshot())
    for k in range(6, 10):
        times = range(START + 10 * k + 1, START + 10 * k + 5)
        rows = [(1, t, t, f"new{k}_{t % 10}", ("other", "ann")[t % 2]) for t in times]
        found = []
        for one in (changed, copy):
            one.accept([rows_of("propose", rows, 4 * k)])
            found.append(told(one.advance(START + 10 * k + 10)))
        assert found[0] == found[1]
        inserted = [row for row in found[0]["changes"] if f"offer(new{k}_" in row]
        assert len(inserted) == 2 and all("'made'" in row for row in inserted)
    assert changed.snapshot() == copy.snapshot()
