"""What nothing happens to any more is forgotten, and nobody can tell."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from test_against_the_reference import SUBSETS, UNTIDY, drawn, scenario_of

from thalweg import parse
from thalweg.events import forgetting
from thalweg.events import reasoner as events_reasoner
from thalweg.events.reasoner import Reasoner
from thalweg.protocol import Rows
from thalweg.testing.fuzz import difference

TRADE = """
initiatedAt(offer(N)=made, T) :- happensAt(propose(N), T).
initiatedAt(offer(N)=taken, T) :- happensAt(take(N), T), holdsAt(offer(N)=made, T).
terminatedAt(offer(N)=_, T) :- happensAt(close(N), T).
fi(offer(N)=made, offer(N)=lapsed, 7).
ft(offer(N)=lapsed, 3).
ft(offer(N)=taken, 5).
initiatedAt(open=true, T) :- happensAt(bell, T).
holdsFor(live(N)=true, I) :- holdsFor(offer(N)=made, I1), holdsFor(open=true, I2), intersect_all([I1, I2], I).
happensAt(deal(N), T) :- happensAt(start(offer(N)=taken), T).
"""

PROGRAM = parse(TRADE)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_reasoner, "is_due", lambda _: True)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("subset", [*SUBSETS, None], ids=str)
@drawn(5)
def test_forgetting_after_every_query_changes_no_answer(subset: str | None, seed: int) -> None:
    scenario = scenario_of(seed, SUBSETS[subset] if subset else None, UNTIDY)
    make = partial(Reasoner, recompute=seed % 3 == 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forgetting, "MOST", (0.2, 0.75, 1.0)[seed % 3])
        assert difference(scenario, make, batches=seed) == ""


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("ended", "numbered"), [(0, 100), (10, 100), (25, 75), (60, 40), (100, 0)])
def test_a_store_of_which_most_is_alive_keeps_its_numbers(ended: int, numbered: int) -> None:
    program = parse(
        "initiatedAt(on(X)=true, T) :- happensAt(push(X), T). terminatedAt(on(X)=true, T) :- happensAt(pull(X), T)."
    )
    reasoner = Reasoner(program, window=10, step=10)
    who = np.arange(100)
    reasoner.accept([events("push", np.full(100, 2), who), events("pull", np.full(ended, 3), who[:ended])])
    for time in (10, 20):
        reasoner.advance(time)
    assert forgetting.numbers(reasoner) == numbered


def events(name: str, times: np.ndarray, *args: np.ndarray) -> Rows:
    times = times.astype(np.int64)
    rows = np.arange(len(times))
    return Rows(name, np.ones(len(times), np.int8), times, times, rows, tuple(map(pa.array, args)))


def traded(window: int) -> tuple[list[int], Reasoner]:
    """Ever new offers, a hundred in each of 60 steps; how many instances and keys have a number after each."""
    reasoner = Reasoner(PROGRAM, window=window, step=10)
    reasoner.accept([events("bell", np.array([1]))])
    given = []
    for step in range(60):
        offers = np.arange(100) + 100 * step
        times = 10 * step + 1 + np.arange(100) % 9
        taken, closed = offers % 3 == 0, offers % 2 == 0
        reasoner.accept(
            [
                events("propose", times, offers),
                events("take", times[taken] + 1, offers[taken]),
                events("close", times[closed] + 2, offers[closed]),
            ]
        )
        reasoner.advance(10 * step + 10)
        given.append(forgetting.numbers(reasoner))
    return given, reasoner


@pytest.mark.parametrize("window", [10, 30])
def test_memory_follows_the_window_and_not_the_stream(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "FEW", 100)
    given, reasoner = traded(window)
    assert max(given[40:]) == max(given[10:30])
    assert 0 < reasoner.kept < max(given) < 6000


def test_what_is_forgotten_does_not_show_in_a_snapshot_taken_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "FEW", 100)
    _, reasoner = traded(10)
    copy = Reasoner(PROGRAM, window=10, step=10)
    copy.restore(reasoner.snapshot())
    assert (copy.kept, copy.snapshot()) == (reasoner.kept, reasoner.snapshot())
    for one in (reasoner, copy):
        one.accept([events("propose", np.arange(601, 611), np.arange(5990, 6000))])
    later, again = reasoner.advance(700), copy.advance(700)
    assert later["changes"].num_rows > 0
    assert {n: t.to_pylist() for n, t in later.tables.items()} == {n: t.to_pylist() for n, t in again.tables.items()}


def test_few_instances_are_not_worth_forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "FEW", 30_000)
    given, reasoner = traded(10)
    assert given[-1] < forgetting.FEW
    assert reasoner.kept == 0
