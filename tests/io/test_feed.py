"""The feed: chunks in the order of arrival, and never a promise that a later chunk breaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.io.errors import InputError
from thalweg.io.feed import NEVER, Feed
from thalweg.io.rejects import REJECTED
from thalweg.io.sources import Chunk, Survey
from thalweg.io.times import Extent
from thalweg.protocol import Rows


@dataclass
class Listed:
    """A source with given arrivals, chunk by chunk."""

    label: str
    arrivals: list[list[int]]
    fails: bool = False

    def survey(self) -> Survey:
        return Survey(
            tuple(
                Extent(len(a), min(a, default=None), max(a, default=None), min(a, default=None))
                for a in self.arrivals
            )
        )

    def chunks(self, offset: int) -> Iterator[Chunk]:
        row = offset + 1
        for arrivals in self.arrivals:
            if self.fails and row > offset + 1:
                raise OSError("the disk is gone")
            times = np.array(arrivals, np.int64)
            numbers = np.arange(row, row + len(times))
            row += len(times)
            ops = np.ones(len(times), np.int8)
            yield Chunk((Rows("e", ops, times, times, numbers),), REJECTED.empty_table(), len(times))


SOURCES = st.lists(
    st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=4), max_size=5), min_size=1, max_size=4
)


@given(SOURCES)
def test_nothing_arrives_before_what_was_promised(arrivals: list[list[list[int]]]) -> None:
    feed = Feed([Listed(str(i), a) for i, a in enumerate(arrivals)])
    promised = -NEVER
    seen: list[int] = []
    for chunk, next_arrival in feed:
        found = [int(t) for rows in chunk.rows for t in rows.arrival]
        assert all(t >= promised for t in found)
        promised = next_arrival
        seen += found
    assert promised == NEVER or not seen
    assert sorted(seen) == sorted(t for source in arrivals for chunk in source for t in chunk)


@given(SOURCES)
def test_every_row_number_leads_back_to_its_source(arrivals: list[list[list[int]]]) -> None:
    feed = Feed([Listed(str(i), a) for i, a in enumerate(arrivals)])
    found = []
    for chunk, _ in feed:
        for rows in chunk.rows:
            which, place = feed.locate(rows.row)
            flat = [[t for part in source for t in part] for source in arrivals]
            assert [flat[w][p - 1] for w, p in zip(which, place, strict=True)] == rows.arrival.tolist()
            told = [f"{w}:{p}" for w, p in zip(which, place, strict=True)]
            assert [feed.numbers(place).tolist() for place in told] == [[n] for n in rows.row.tolist()]
            found += rows.row.tolist()
    assert len(found) == len(set(found))


def test_the_reasoners_rejections_are_given_their_place() -> None:
    feed = Feed([Listed("a.csv", [[1, 2]]), Listed("b.csv", [[3], [4]])])
    numbers = sorted(int(n) for chunk, _ in feed for rows in chunk.rows for n in rows.row)
    table = pa.table({"row": [numbers[3]], "reason": ["too-late"], "detail": ["time 4"]})
    (row,) = feed.rejected(table).to_pylist()
    assert (row["source"], row["row"], row["reason"]) == ("b.csv", 2, "too-late")


def test_a_source_that_fails_fails_the_run() -> None:
    with pytest.raises(InputError, match="a cannot be read: the disk is gone"):
        list(Feed([Listed("a", [[1], [2]], fails=True), Listed("b", [[9]])]))


def test_sorted_sources_are_taken_in_turns() -> None:
    feed = Feed([Listed("a", [[1], [5], [9]]), Listed("b", [[2], [6]])])
    assert [int(chunk.rows[0].arrival[0]) for chunk, _ in feed] == [1, 2, 5, 6, 9]
