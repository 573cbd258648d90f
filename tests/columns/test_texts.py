"""Texts by number against a list."""

from __future__ import annotations

import pyarrow as pa
from column_lists import ints
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns.texts import Numbers, TextPool


@given(st.lists(st.lists(st.text(max_size=6), max_size=8), max_size=5), st.data())
def test_texts_are_found_by_their_numbers(batches: list[list[str]], data: st.DataObject) -> None:
    pool, known = TextPool(), Numbers()
    for batch in batches:
        numbers = pool.add(pa.array(["left out", *batch], pa.string()).slice(1))
        assert numbers.tolist() == list(range(known.count, known.count + len(batch)))
        known.extend(numbers)
    texts = [text for batch in batches for text in batch]
    wanted = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20)) if texts else []
    for _ in range(2):
        assert pool.take(ints(wanted)).to_pylist() == [texts[number] for number in wanted]
        column = pool.encode(ints(wanted))
        assert column.to_pylist() == [texts[number] for number in wanted]
        assert len(column.dictionary) == len(set(wanted))


def test_a_pool_grows_far_beyond_its_first_room() -> None:
    pool = TextPool()
    texts = [f"fluent(v{i})" for i in range(5000)]
    for start in range(0, 5000, 700):
        pool.add(pa.array(texts[start : start + 700]))
    assert pool.take(ints([4999, 0, 2500])).to_pylist() == ["fluent(v4999)", "fluent(v0)", "fluent(v2500)"]
