"""Snapshots that are not what they should be are refused, whichever reasoner they are of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg import parse
from thalweg.answers.reasoner import Reasoner as Answers
from thalweg.columns.sealing import ForeignState, opened, sealed
from thalweg.events.reasoner import Reasoner as Events
from thalweg.lars.reasoner import Reasoner as Lars

MAKERS: dict[str, Callable[[], Any]] = {
    "events": lambda: Events(parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."), window=10, step=10),
    "lars": lambda: Lars(parse("a(X) if [5] sometime b(X).")),
    "answers": lambda: Answers(parse("query warm(X, T). warm(X, T) :- temp(X, high, T), temp(X, high, T+1).")),
}


@given(st.binary(max_size=40), st.data())
def test_what_was_sealed_comes_out_and_any_changed_byte_is_noticed(content: bytes, data: st.DataObject) -> None:
    state = sealed(b"toys 1", [content[:7], content[7:]])
    assert bytes(opened(b"toys 1", state, "toys")) == content
    place = data.draw(st.integers(0, len(state) - 1))
    changed = bytearray(state)
    changed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ForeignState):
        opened(b"toys 1", bytes(changed), "toys")


@pytest.mark.parametrize("kind", MAKERS)
def test_a_snapshot_that_was_cut_off_or_changed_is_refused(kind: str) -> None:
    make = MAKERS[kind]
    state = make().snapshot()
    make().restore(state)
    middle = len(state) // 2
    for damaged in (state[:-1], state[:30], state[:middle] + b"?" + state[middle + 1 :], b"", "a text"):
        with pytest.raises(ForeignState):
            make().restore(damaged)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_snapshot_of_another_kind_of_reasoner_is_refused(kind: str) -> None:
    for other in MAKERS.keys() - {kind}:
        with pytest.raises(ForeignState, match="this is no snapshot of"):
            MAKERS[kind]().restore(MAKERS[other]().snapshot())
