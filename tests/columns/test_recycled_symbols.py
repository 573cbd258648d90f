"""Texts that are forgotten give their ids to new ones: the table against plain dictionaries and lists."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from column_lists import ints
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns import symbols
from thalweg.columns.symbols import FREE, SymbolTable, constant_text

raw = st.sampled_from([*(f"v{i}" for i in range(12)), "North Sea", "007", "7", "1.50", "p(a)", ""])
columns = st.lists(raw, max_size=12)
numbers = st.lists(st.integers(-3, 40), max_size=12)


class Twin:
    """What a symbol table is, without any haste."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.fixed = 0

    def add(self, text: str) -> int:
        if text not in self.ids:
            taken = set(self.ids.values())
            self.ids[text] = next(i for i in range(len(taken) + 1) if i not in taken)
        return self.ids[text]

    def forget(self, used: list[int]) -> None:
        self.ids = {text: i for text, i in self.ids.items() if i < self.fixed or i in used}


class Follower:
    """Somebody who asks for what is new now and then."""

    def __init__(self) -> None:
        self.arrived = 0
        self.texts: dict[int, str] = {}

    def catch_up(self, table: SymbolTable) -> None:
        ids, texts = table.since(self.arrived).tolist(), table.array(self.arrived).to_pylist()
        self.texts |= zip(ids, texts, strict=True)
        self.arrived = table.arrived


steps = st.one_of(
    st.tuples(st.just("encode"), columns),
    st.tuples(st.just("add"), raw),
    st.tuples(st.just("forget"), numbers),
    st.tuples(st.sampled_from(["follow", "copy", "restore", "rank"]), st.none()),
)


@given(columns, st.lists(steps, max_size=14), st.booleans())
def test_ids_are_reused_the_smallest_first_and_nobody_is_told_wrong_texts(
    first: list[str], script: list[tuple[str, object]], expected: bool
) -> None:
    table, twin, follower = SymbolTable(), Twin(), Follower()
    assert table.encode(pa.array(first, pa.string())).tolist() == [twin.add(constant_text(t)) for t in first]
    table.fix()
    twin.fixed = len(twin.ids)
    if expected:
        table.expect_all()
    for what, given_ in script:
        match what, given_:
            case "encode", list(texts):
                ids = [twin.add(constant_text(t)) for t in texts]
                assert table.encode(pa.array(texts, pa.string())).tolist() == ids
            case "add", str(text):
                assert table.add(constant_text(text)) == twin.add(constant_text(text))
            case "forget", list(used):
                table.forget([ints(used[:5]), ints(used[5:]).reshape(-1, 1), np.ones(3, np.bool_)])
                twin.forget(used)
                follower = Follower()
            case "follow", _:
                follower.catch_up(table)
            case "copy", _:
                table = table.copy()
            case "restore", _:
                state = json.loads(json.dumps(table.state()))
                table = SymbolTable(["other", "texts"])
                table.restore(state)
                follower = Follower()
            case "rank", _:
                _ranked(table)
        known = {i: text for i, text in enumerate(table.texts) if text != FREE}
        assert known == {i: text for text, i in twin.ids.items()}
        assert table.count == len(known) and table.fixed == twin.fixed
    follower.catch_up(table)
    assert [follower.texts[i] for i in range(len(table))] == table.texts
    _ranked(table)


def _ranked(table: SymbolTable) -> None:
    again = SymbolTable(table.texts)
    assert table.ranks().tolist() == again.ranks().tolist()


def test_long_columns_get_free_ids_too() -> None:
    table = SymbolTable()
    table.encode(pa.array([f"v{i}" for i in range(5000)]))
    table.forget([np.arange(0, 5000, 2)])
    assert table.count == table.kept == 2500
    again = table.encode(pa.array([f"v{i}" for i in range(0, 6000)]))
    assert sorted(again.tolist()) == [*range(6000)]
    assert [table.texts[i] for i in again.tolist()] == [f"v{i}" for i in range(6000)]
    assert again[0:5000:2].tolist() == [*range(0, 4999, 2)]


def test_a_text_that_was_forgotten_is_not_remembered_by_its_dictionary() -> None:
    table = SymbolTable()
    names = pa.array(["a", "b", "North Sea"]).dictionary_encode()
    assert table.encode(names).tolist() == [0, 1, 2]
    table.forget([])
    assert len(table) == 0
    assert table.encode(pa.array(["c", "North Sea"])).tolist() == [0, 1]
    assert table.encode(names).tolist() == [2, 3, 1]


def test_dictionaries_of_fixed_texts_are_still_remembered() -> None:
    table = SymbolTable([f"v{i}" for i in range(2000)])
    table.fix()
    table.expect_all()
    table.encode(pa.array(["new"]))
    table.forget([])
    assert [len(recent.names) for recent in table._recent] == [2000]


def test_the_longest_dictionary_stays_whatever_comes_after_it() -> None:
    table = SymbolTable([f"v{i}" for i in range(2000)])
    table.expect_all()
    for i in range(3 * symbols.RECENT):
        table.encode(pa.array([f"w{i}"]))
    assert sorted(len(recent.names) for recent in table._recent) == [*[1] * (symbols.RECENT - 1), 2000]
    longer = pa.array([f"w{i}" for i in range(3000)])
    assert table.encode(longer)[: 3 * symbols.RECENT].tolist() == [*range(2000, 2000 + 3 * symbols.RECENT)]
    for i in range(3 * symbols.RECENT):
        table.encode(pa.array([f"x{i}"]))
    assert max(len(recent.names) for recent in table._recent) == 3000


def test_it_is_time_when_the_texts_have_more_than_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "FEW", 10)
    table = SymbolTable(["a", "b"])
    table.fix()
    due = []
    for i in range(100):
        table.add(f"v{i}")
        if table.is_due():
            due.append(i)
            table.forget([np.arange(min(10, len(table)))])
    assert due == [12, 33, 54, 75, 96]
    assert len(table.texts) <= 31


def test_canonical_texts_of_ever_new_texts_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "RAW", 50)
    table = SymbolTable()
    for i in range(30):
        table.encode(pa.array([f"North {k}" for k in range(10 * i, 10 * i + 10)]))
    assert len(table) == 300 and len(table._raw) <= 50
