"""Texts as words and numbers for them: as Arrow finds them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns import wording
from thalweg.columns.wording import Wordbook, divided, renumbered, worded

TEXTS = st.text(st.sampled_from("abé\0"), max_size=20) | st.text(max_size=9)


@given(st.lists(TEXTS, max_size=60), st.integers(0, 3))
def test_words_are_those_that_arrow_finds(texts: list[str], before: int) -> None:
    column = pa.array(["first"] * before + texts, pa.string()).slice(before)
    found = worded(column)
    found.validate(full=True)
    assert found.equals(column.dictionary_encode())


@given(st.lists(TEXTS | st.none(), max_size=20))
def test_missing_texts_stay_missing(texts: list[str | None]) -> None:
    column = pa.array(texts, pa.string())
    assert worded(column).equals(column.dictionary_encode())


def test_there_is_room_for_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording, "FEW", 2)
    texts = [f"{'v' * (n % 13)}{n % 5000}" for n in range(20_000)]
    assert worded(pa.array(texts)).equals(pa.array(texts).dictionary_encode())


@given(st.lists(TEXTS, max_size=40, unique=True), st.lists(TEXTS, max_size=40), st.integers(0, 3))
def test_texts_are_found_among_words(words: list[str], texts: list[str], before: int) -> None:
    asked = [*texts, *words[::2]]
    column = pa.array(["first"] * before + asked, pa.string()).slice(before)
    found = Wordbook(pa.array(["last"] * before + words, pa.string()).slice(before)).look_up(column)
    assert found.tolist() == [words.index(text) if text in words else -1 for text in asked]


def test_many_texts_are_found_among_many_words() -> None:
    words = [f"{'v' * (n % 13)}{n}" for n in range(5000)]
    asked = words[::-3] + [f"w{n}" for n in range(5000)]
    found = Wordbook(pa.array(words)).look_up(pa.array(asked))
    assert found.tolist() == [*range(4999, -1, -3), *([-1] * 5000)]


NUMBERED = st.tuples(st.lists(st.integers(0, 6), max_size=40), st.lists(st.integers(0, 2), min_size=7, max_size=7))


@given(NUMBERED, st.sets(st.integers(0, 39)) | st.none())
def test_rows_are_divided_in_order(numbered: tuple[list[int], list[int]], some: set[int] | None) -> None:
    words, group = numbered
    rows = range(len(words)) if some is None else sorted(row for row in some if row < len(words))
    among = None if some is None else np.array(rows, np.int64)
    found, bounds = divided(np.array(words, np.int32), np.array(group, np.int32), 3, among)
    for number in range(3):
        expected = [row for row in rows if group[words[row]] == number]
        assert found[bounds[number] : bounds[number + 1]].tolist() == expected


@given(NUMBERED, st.sets(st.integers(0, 39)) | st.none())
def test_words_are_numbered_anew_by_first_sight(
    numbered: tuple[list[int], list[int]], some: set[int] | None
) -> None:
    words, _ = numbered
    rows = range(len(words)) if some is None else sorted(row for row in some if row < len(words))
    numbers, known = renumbered(np.array(words, np.int32), 7, None if some is None else np.array(rows, np.int64))
    assert known.tolist() == list(dict.fromkeys(words[row] for row in rows))
    assert [known[numbers[row]] for row in rows] == [words[row] for row in rows]
    assert len(numbers) == len(words) and all(0 <= number < max(len(known), 1) for number in numbers)
