"""One feed from many sources: chunks in the order of arrival, and what can still come.

After each chunk the feed knows the earliest arrival that is still to be read. Every query time before it can
be answered now, and none after it; so a run never answers too early, whatever the order of the rows, and
never holds more than the disorder demands.
"""

from __future__ import annotations

import heapq
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.errors import InputError
from thalweg.io.rejects import REJECTED
from thalweg.io.sources import Chunk, Source, Survey
from thalweg.io.times import as_mask
from thalweg.protocol import OPEN_END, Ints

NEVER = OPEN_END
"""Later than every arrival."""


class Piece(NamedTuple):
    """A chunk, and the earliest arrival of what comes after it (`NEVER`: nothing comes)."""

    chunk: Chunk
    next_arrival: int


class Feed:
    """The rows of all sources. `first` is the first of all times and arrivals, `latest` the last arrival
    (None: no row has one), `size` the number of rows, as the survey found them."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)
        surveys = [_surveyed(source) for source in self.sources]
        self.size = sum(survey.size for survey in surveys)
        self._bounds = [_suffix_minima([chunk.earliest for chunk in survey.chunks]) for survey in surveys]
        chunks = [chunk for survey in surveys for chunk in survey.chunks]
        self.first = min((chunk.first for chunk in chunks if chunk.first is not None), default=None)
        self.latest = max((chunk.latest for chunk in chunks if chunk.latest is not None), default=None)
        places = [survey.size + 1 for survey in surveys]
        self._offsets = np.array([0, *accumulate(places)][:-1] or [0], np.int64)

    def __iter__(self) -> Iterator[Piece]:
        """The chunks: always next the one with the earliest arrival, each source in its own order."""
        return _ahead(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        readers = [s.chunks(int(offset)) for s, offset in zip(self.sources, self._offsets, strict=False)]
        heap = [(bounds[0], index, 0) for index, bounds in enumerate(self._bounds) if bounds]
        heapq.heapify(heap)
        while heap:
            _, index, position = heapq.heappop(heap)
            with _readable(self.sources[index]):
                chunk = next(readers[index])
            if position + 1 < len(self._bounds[index]):
                heapq.heappush(heap, (self._bounds[index][position + 1], index, position + 1))
            yield Piece(chunk, heap[0][0] if heap else NEVER)

    @property
    def begins(self) -> int:
        """The earliest arrival (`NEVER`: no row has one)."""
        return min((bounds[0] for bounds in self._bounds if bounds), default=NEVER)

    def locate(self, rows: Ints) -> tuple[Ints, Ints]:
        """For row numbers as the reasoner knows them: which source, and which row there."""
        which = np.searchsorted(self._offsets, rows - 1, side="right") - 1
        return which, rows - self._offsets[which]

    def numbers(self, place: str) -> Ints:
        """The row numbers of what is told to people as one place, ``events.csv:812``: one for each source of that
        name."""
        name, _, row = place.rpartition(":")
        named = np.array([source.label == name for source in self.sources], np.bool_)
        return self._offsets[: len(named)][named] + int(row) if row.isdecimal() else np.empty(0, np.int64)

    def label(self, which: Ints) -> pa.Array:
        """The names of sources."""
        names = pa.array([source.label for source in self.sources], pa.string())
        return names.take(pa.array(which))

    def rejected(self, table: pa.Table) -> pa.Table:
        """The reasoner's rejected rows with their places in the sources."""
        if not table.num_rows:
            return REJECTED.empty_table()
        which, row = self.locate(table.column("row").to_numpy())
        details = table.column("detail").combine_chunks().cast(pa.string())
        reasons = table.column("reason").combine_chunks().cast(pa.string())
        columns = [self.label(which), pa.array(row), reasons, details, pa.nulls(len(row), pa.string())]
        return pa.table(columns, schema=REJECTED)

    def with_causes(self, table: pa.Table) -> pa.Table:
        """The table with its causes, ``row 812``, as places in the sources, ``events.csv:812``."""
        if "cause" not in table.column_names or not table.num_rows:
            return table
        column = table.column("cause")
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        causes = [(piece.indices, piece.dictionary) for piece in column.chunks]
        places = [self._places(words) for _, words in causes]
        if all(place is words for place, (_, words) in zip(places, causes, strict=True)):
            return table
        pieces = [pa.DictionaryArray.from_arrays(codes, p) for (codes, _), p in zip(causes, places, strict=True)]
        return table.set_column(table.column_names.index("cause"), "cause", pa.chunked_array(pieces))

    def _places(self, causes: pa.Array) -> pa.Array:
        """Causes as they are told to people."""
        rows = as_mask(pc.starts_with(causes, "row ").fill_null(False))
        if not rows.any():
            return causes
        numbers = pc.utf8_slice_codeunits(causes.filter(pa.array(rows)), 4).cast(pa.int64()).to_numpy()
        which, row = self.locate(numbers)
        places = pc.binary_join_element_wise(self.label(which), pa.array(row).cast(pa.string()), ":")
        return pc.replace_with_mask(causes, pa.array(rows), places)


@contextmanager
def _readable(source: Source) -> Iterator[None]:
    """What goes wrong while reading is said with the name of the source."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError("input", f"{source.label} cannot be read: {str(error).splitlines()[0]}") from error


def _surveyed(source: Source) -> Survey:
    with _readable(source):
        return source.survey()


def up_to(survey: Survey, end: int) -> tuple[int, int]:
    """How many chunks of a source a feed reads until it comes to an end, and how many rows there are in the others."""
    bounds = _suffix_minima([chunk.earliest for chunk in survey.chunks])
    count = sum(bound <= end for bound in bounds)
    return count, sum(chunk.size for chunk in survey.chunks[count:])


def _suffix_minima(earliest: Sequence[int | None]) -> list[int]:
    """For each chunk the earliest arrival in it and in all chunks after it."""
    reverse = accumulate((NEVER if time is None else time for time in reversed(earliest)), min)
    return list(reverse)[::-1]


def _ahead(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The same pieces, the next one being read while the caller works on this one."""
    ready: queue.Queue[Piece | BaseException | None] = queue.Queue(maxsize=1)
    stopped = threading.Event()

    def put(item: Piece | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return ready.put(item, timeout=0.1)
            except queue.Full:
                continue

    def read() -> None:
        try:
            for piece in pieces:
                put(piece)
                if stopped.is_set():
                    return
            put(None)
        except BaseException as error:
            put(error)

    threading.Thread(target=read, name="thalweg-reader", daemon=True).start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
