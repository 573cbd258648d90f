"""Texts by number against a list."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from column_lists import ints
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns.texts import Marks, Numbers, TextPool, borders, number_anew, unnumber


@given(st.lists(st.lists(st.text(max_size=6), max_size=8), max_size=5), st.data())
def test_texts_are_found_by_their_numbers(batches: list[list[str]], data: st.DataObject) -> None:
    pool, known = TextPool(), Numbers()
    for batch in batches:
        numbers = pool.add(pa.array(["left out", *batch], pa.string()).slice(1))
        assert numbers.tolist() == list(range(known.count, known.count + len(batch)))
        known.extend(numbers)
    texts = [text for batch in batches for text in batch]
    wanted = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20)) if texts else []
    assert pool.take(ints(wanted)).to_pylist() == [texts[number] for number in wanted]


@given(st.lists(st.text(max_size=6), min_size=1, max_size=5), st.data())
def test_texts_are_put_together_from_literals_and_others(texts: list[str], data: st.DataObject) -> None:
    pool = TextPool()
    pool.add(pa.array(texts, pa.string()))
    literals = tuple(data.draw(st.lists(st.text(max_size=4), min_size=1, max_size=4)))
    row = st.lists(st.integers(0, len(texts) - 1), min_size=len(literals) - 1, max_size=len(literals) - 1)
    rows = data.draw(st.lists(row, max_size=6))
    numbers = np.array(rows, np.int64).reshape(len(rows), len(literals) - 1).T.copy()
    expected = [literals[0] + "".join(texts[n] + after for n, after in zip(r, literals[1:], strict=True)) for r in rows]
    again = pool.compose([(literals, numbers), (("", ""), ints([0]).reshape(1, 1)), (literals, numbers)])
    assert pool.compose([(literals, numbers)]).to_pylist() == expected
    assert again.to_pylist() == [*expected, texts[0], *expected]


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=4))
def test_codes_are_numbered_in_the_order_of_first_sight(batches: list[list[int]]) -> None:
    marks = Marks()
    every = [code for batch in batches for code in batch]
    for _ in range(2):
        places, first, known = marks.of(6), np.empty(6, np.int64), 0
        found: list[int] = []
        for batch in batches:
            out = np.empty(len(batch), np.int32)
            known = number_anew(ints(batch), places, first, known, out)
            found += out.tolist()
        assert first[:known].tolist() == list(dict.fromkeys(every))
        assert [int(first[number]) for number in found] == every
        unnumber(places, first[:known])


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=4))
def test_numbers_are_told_apart_by_their_bases(groups: list[list[int]]) -> None:
    bases = ints([10 * n for n in range(len(groups) + 1)])
    numbers, out = ints([10 * n + k for n, some in enumerate(groups) for k in some]), np.empty(len(bases), np.int64)
    borders(numbers, bases, out)
    assert out.tolist() == [sum(map(len, groups[:n])) for n in range(len(groups) + 1)]


def test_a_pool_grows_far_beyond_its_first_room() -> None:
    pool = TextPool()
    texts = [f"fluent(v{i})" for i in range(5000)]
    for start in range(0, 5000, 700):
        pool.add(pa.array(texts[start : start + 700]))
    assert pool.take(ints([4999, 0, 2500])).to_pylist() == ["fluent(v4999)", "fluent(v0)", "fluent(v2500)"]
