"""What a generated stream is: one table of columns per name, and what can be done with it.

A `Table` holds the rows of one event (or of one input fluent, then with `end` and `value`). Entities are
dictionary-encoded (`Coded`), numbers are plain arrays. Rows are sorted by time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.protocol import OPEN_END, Rows

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of constants: `codes` index into `names`."""

    codes: npt.NDArray[np.int32]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def arrow(self) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(self.codes), pa.array(self.names, pa.string()))


Column = Coded | Ints | Floats


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one name. `args` maps argument names to columns, in the order of the arguments."""

    time: Ints
    args: Mapping[str, Column]
    arrival: Ints
    end: Ints | None = None
    value: Coded | None = None

    def __len__(self) -> int:
        return len(self.time)


Stream = dict[str, Table]


def coded(codes: npt.NDArray[Any], names: Sequence[str]) -> Coded:
    """A column of constants from any array of positions in `names`."""
    return Coded(np.ascontiguousarray(codes, dtype=np.int32), tuple(names))


def numbered(prefix: str, count: int) -> tuple[str, ...]:
    """Names of entities: ``numbered('v', 3)`` is ``('v0', 'v1', 'v2')``."""
    return tuple(f"{prefix}{i}" for i in range(count))


def table(
    time: Ints, args: Mapping[str, Column], *, end: Ints | None = None, value: Coded | None = None
) -> Table:
    """A table sorted by time whose rows arrive when they happen (intervals: when they end)."""
    order = np.argsort(time, kind="stable")
    arrival = time if end is None else end
    return pick(Table(time, dict(args), arrival, end, value), order)


def pick(rows: Table, which: npt.NDArray[Any]) -> Table:
    """The rows at these positions, or where this mask is true."""

    def column(values: Column) -> Column:
        return Coded(values.codes[which], values.names) if isinstance(values, Coded) else values[which]

    return Table(
        time=rows.time[which],
        args={name: column(values) for name, values in rows.args.items()},
        arrival=rows.arrival[which],
        end=None if rows.end is None else rows.end[which],
        value=None if rows.value is None else Coded(rows.value.codes[which], rows.value.names),
    )


def size(stream: Stream) -> int:
    """How many rows the stream has in all."""
    return sum(len(rows) for rows in stream.values())


def first(stream: Stream, rows: int) -> Stream:
    """The earliest `rows` rows of the stream; of those at the last time, by the order of the tables."""
    if size(stream) <= rows:
        return stream
    times = np.concatenate([part.time for part in stream.values()])
    last = np.partition(times, rows - 1)[rows - 1]
    spare = rows - int(np.count_nonzero(times < last))
    cut: Stream = {}
    for name, part in stream.items():
        before = int(np.searchsorted(part.time, last, side="left"))
        at_last = min(spare, int(np.searchsorted(part.time, last, side="right")) - before)
        spare -= at_last
        cut[name] = pick(part, np.arange(before + at_last))
    return cut


def until(stream: Stream, time: int) -> Stream:
    """The rows up to and including this time."""
    return {
        name: pick(rows, np.arange(np.searchsorted(rows.time, time, side="right")))
        for name, rows in stream.items()
    }


def filled(build: Callable[[int], Stream], events: int, guess: int) -> Stream:
    """The earliest `events` rows of ``build(n)``, with `n` raised from `guess` until there are enough.

    A builder makes only rows up to the time at which its first entity runs out, so that the rate is even.
    """
    amount = max(guess, 1)
    stream = build(amount)
    while size(stream) < events:
        amount = int(amount * max(1.2, 1.05 * events / max(size(stream), 1))) + 1
        stream = build(amount)
    return first(stream, events)


def delayed(
    stream: Stream, share: float, *, seed: int, shape: float = 2.0, scale: float = 2.0, unit: float = 3600.0
) -> Stream:
    """The same stream where a share of the rows, chosen uniformly, is late by Gamma(shape, scale) units."""
    rng = np.random.default_rng(seed)
    late: Stream = {}
    for name, rows in stream.items():
        chosen = rng.random(len(rows)) < share
        delay = np.ceil(rng.gamma(shape, scale, len(rows)) * unit).astype(np.int64)
        late[name] = replace(rows, arrival=rows.arrival + np.where(chosen, delay, 0))
    return late


def spread(first: Ints, last: Ints, every: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Times about `every` apart within each ``[first, last)``, and which of these ranges each lies in."""
    counts = np.maximum((last - first) // every, 0)
    which = np.repeat(np.arange(len(first)), counts)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    jitter = rng.random(len(which)) * 0.8
    return first[which] + ((nth + jitter) * every[which]).astype(np.int64) + 1, which


def arrow(column: Column) -> pa.Array:
    """The column as an Arrow array."""
    return column.arrow() if isinstance(column, Coded) else pa.array(column)


def to_rows(stream: Stream, *, first_row: int = 0) -> list[Rows]:
    """The stream as insertions for a reasoner; rows are numbered table by table."""
    batch: list[Rows] = []
    number = first_row
    for name, part in stream.items():
        batch.append(
            Rows(
                name=name,
                op=np.ones(len(part), dtype=np.int8),
                arrival=part.arrival,
                time=part.time,
                row=np.arange(number, number + len(part), dtype=np.int64),
                args=tuple(arrow(column) for column in part.args.values()),
                end=part.end,
                value=None if part.value is None else part.value.arrow(),
            )
        )
        number += len(part)
    return batch


def by_arrival(stream: Stream, step: int, *, start: int = 0) -> Iterator[tuple[int, list[Rows]]]:
    """What arrives up to each query time ``start + step, start + 2 step, ...``, one batch per query time."""
    orders = {name: np.argsort(rows.arrival, kind="stable") for name, rows in stream.items()}
    arrivals = {name: rows.arrival[orders[name]] for name, rows in stream.items()}
    last = max((int(a[-1]) for a in arrivals.values() if len(a)), default=start)
    cursor = dict.fromkeys(stream, 0)
    number = 0
    query = start
    while query < last:
        query += step
        batch: Stream = {}
        for name, rows in stream.items():
            stop = int(np.searchsorted(arrivals[name], query, side="right"))
            if stop > cursor[name]:
                batch[name] = pick(rows, orders[name][cursor[name] : stop])
                cursor[name] = stop
        yield query, to_rows(batch, first_row=number)
        number += size(batch)


def span(stream: Stream) -> tuple[int, int]:
    """The first and the last time-point at which something happens."""
    times = [rows.time for rows in stream.values() if len(rows)]
    ends = [rows.end[rows.end < OPEN_END] for rows in stream.values() if rows.end is not None]
    latest = [int(times_.max()) for times_ in times] + [int(e.max()) for e in ends if len(e)]
    return min((int(t[0]) for t in times), default=0), max(latest, default=0)
