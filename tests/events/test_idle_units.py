"""What a query asks: only the fluents for which something they read changed, or something of their own is due."""

from __future__ import annotations

from typing import Any

import pytest

from thalweg import parse
from thalweg.events.reasoner import Reasoner
from thalweg.testing.engines import to_batch
from thalweg.testing.tables import stream

PROGRAM = """
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
initiatedAt(busy(X)=true, T) :- happensAt(start(on(X)=true), T), not happensAt(quiet(X), T).
terminatedAt(busy(X)=true, T) :- happensAt(end(on(X)=true), T).
initiatedAt(watched(X)=yes, T) :- happensAt(watch(X), T).
fi(watched(X)=yes, watched(X)=no, 25).
holdsFor(near(X)=true, I) :- holdsFor(far(X)=false, I).
holdsFor(lasting(X)=true, I) :- holdsFor(on(X)=true, I1), intDurGreater(I1, 35, I).
fluent far(x).
"""

EVENTS = """
press(a)       5
watch(a)       11
quiet(a)       25
release(a)     61
far(a)=false   72..85
"""

ASKED = {
    10: {"on(_)", "busy(_)", "lasting(_)"},
    20: {"watched(_)"},
    30: {"busy(_)"},  # which reads quiet, though nothing comes of it
    40: {"watched(_)"},  # 25 after 11
    50: {"lasting(_)"},  # 35 after 6
    60: set(),
    70: {"on(_)", "busy(_)", "lasting(_)"},
    80: {"far(_)", "near(_)"},
    90: {"far(_)", "near(_)"},  # its end was ahead
    100: set(),
}


def asked_by(window: int, *, recompute: bool = False) -> dict[int, set[str]]:
    """The fluents that each query asks."""
    reasoner = Reasoner(parse(PROGRAM), window=window, step=10, recompute=recompute)
    found: dict[int, set[str]] = {}
    evaluate = reasoner._evaluate

    def seen(clock: Any) -> Any:
        asked = evaluate(clock)
        found[clock.query] = {store.name for unit in asked for store in unit.stores if not store.hidden}
        return asked

    reasoner._evaluate = seen  # type: ignore[method-assign]
    reasoner.accept(to_batch(stream(EVENTS)))
    for query in range(10, 101, 10):
        reasoner.advance(query)
    return found


@pytest.mark.parametrize("window", [10, 30])
def test_a_query_asks_only_what_may_have_changed(window: int) -> None:
    assert asked_by(window) == ASKED


def test_from_scratch_everything_is_asked() -> None:
    assert len({frozenset(asked) for asked in asked_by(30, recompute=True).values()}) == 1
