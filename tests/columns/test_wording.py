"""Texts as words and numbers for them: as Arrow finds them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns import wording
from thalweg.columns.wording import worded

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
