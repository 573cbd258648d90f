"""What a timeline picture shows, before anything is drawn: lanes, bars, marks and countdowns, as columns.

A lane is one fluent instance, or the events of one entity; the entity of an instance is its first argument. Lanes
stand together by entity, bars are sorted by lane and start, and every picture (page, SVG, terminal) reads the same
`Chart`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.io.fold import coded
from thalweg.protocol import OPEN_END, Rows

Ints = npt.NDArray[np.int64]

REVISED = 1
"""The bar is due to a late or retracted row: an earlier query time said something else."""
WITHDRAWN = 2
"""The bar is no longer there: a query time found it and a later one withdrew it."""

EVENTS = "events"
"""The name of the lane that holds the events of an entity."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One row of the picture. `name` is the fluent's, `given` says that it is input."""

    label: str
    entity: str
    name: str
    given: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """Intervals: lane, colour, start, end (`OPEN_END`: still holds), flags; sorted by lane and start."""

    lane: Ints
    key: Ints
    start: Ints
    end: Ints
    flags: Ints

    def __len__(self) -> int:
        return len(self.lane)


@dataclass(frozen=True, slots=True)
class Marks:
    """Events: lane, colour, time and what to write beside it; sorted by lane and time."""

    lane: Ints
    key: Ints
    time: Ints
    text: Sequence[str]

    def __len__(self) -> int:
        return len(self.lane)


@dataclass(frozen=True, slots=True)
class Pending:
    """A delayed effect that is still to come; `key` -1: the value just ends."""

    lane: int
    key: int
    since: int
    due: int
    about: str


@dataclass(frozen=True)
class Chart:
    """Everything a picture shows. `keys` are what colours stand for: a value, or the name of a fluent or event."""

    lanes: tuple[Lane, ...]
    keys: tuple[str, ...]
    bars: Bars
    marks: Marks
    pending: tuple[Pending, ...]
    last: int | None
    notes: tuple[str, ...] = ()
    values: tuple[str, ...] = field(default=())

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first time and the last one that anything in the picture has."""
        ends = self.bars.end[self.bars.end != OPEN_END]
        times = [self.bars.start, ends, self.marks.time, np.array([p.due for p in self.pending], np.int64)]
        known = np.concatenate([*times, np.array([] if self.last is None else [self.last], np.int64)])
        return (int(known.min()), int(known.max())) if len(known) else (0, 1)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Bars of one table, before lanes are put in order."""

    fluents: Sequence[str]
    values: Sequence[str]
    fluent: Ints
    value: Ints
    start: Ints
    end: Ints
    flags: Ints
    given: bool


def chart(
    tables: Mapping[str, pa.Table],
    *,
    inputs: Sequence[Rows] = (),
    last: int | None = None,
    only: Sequence[str] = (),
    limit: int = 500_000,
    tick: int = 1,
) -> Chart:
    """The picture of a result. `only` keeps lanes of which the fluent, its name or an argument matches one of the
    patterns (``v*``, ``status``); no more than `limit` bars and marks each are drawn, and a note says so."""
    notes: list[str] = []
    pieces = [piece for piece in _pieces(tables, inputs, tick) if len(piece.start)]
    names = {fluent: piece.given for piece in pieces for fluent in piece.fluents}
    texts, events, times = _events(tables, inputs)
    pending = tables["open"].to_pylist() if "due" in _columns(tables, "open") else []
    names |= {row["fluent"]: False for row in pending if row["fluent"] not in names}
    lanes, places = _lanes(names, texts, only)
    keys = _Keys(pieces)
    bars = _cut(_bars(pieces, places, keys), limit, "intervals", notes)
    marks = _cut_marks(_marks(texts, events, times, places, keys), limit, notes)
    waiting = tuple(
        Pending(
            places[row["fluent"]],
            -1 if row["value"] is None else keys.of(row["fluent"], row["value"]),
            row["since"],
            row["due"],
            f"{'ends' if row['value'] is None else row['value']} at {row['due']}, unless {row['cancelled_by']}",
        )
        for row in pending
        if row["fluent"] in places
    )
    return Chart(lanes, tuple(keys.names), bars, marks, waiting, last, tuple(notes), tuple(keys.values))


def _columns(tables: Mapping[str, pa.Table], name: str) -> list[str]:
    return list(tables[name].column_names) if name in tables else []


# --------------------------------------------------------------------------- what there is to draw


def _pieces(tables: Mapping[str, pa.Table], inputs: Sequence[Rows], tick: int) -> Iterator[_Piece]:
    if "start" in _columns(tables, "timeline"):
        piece = _piece(tables["timeline"])
        yield _with_flags(piece, tables)
        yield from _withdrawn(tables)
    for rows in inputs:
        if rows.value is not None:
            yield _given(rows, tick)


def _piece(table: pa.Table, flags: int = 0) -> _Piece:
    fluents, values = coded(table.column("fluent")), coded(table.column("value"))
    start = np.asarray(table.column("start"), dtype=np.int64)
    end = np.asarray(table.column("end").fill_null(int(OPEN_END)), dtype=np.int64)
    return _Piece(
        _words(fluents.words),
        _words(values.words),
        fluents.ranks.astype(np.int64),
        values.ranks.astype(np.int64),
        start,
        end,
        np.full(len(start), flags, np.int64),
        False,
    )


def _words(words: pa.Array) -> list[str]:
    return [word if word is not None else "" for word in words.to_pylist()]


def _revisions(tables: Mapping[str, pa.Table], op: str) -> list[dict[str, Any]]:
    """The changes by which late or retracted rows have brought intervals (or taken them away)."""
    if "cause" not in _columns(tables, "changes"):
        return []
    import pyarrow.compute as pc

    changes = tables["changes"]
    late = pc.and_(
        pc.not_equal(changes.column("cause").cast(pa.string()), "time"),
        pc.equal(changes.column("op").cast(pa.string()), op),
    )
    rows: list[dict[str, Any]] = changes.filter(late).to_pylist()
    return rows


Interval = tuple[str, str, int, int]
"""Fluent, value, start, end."""


def withdrawals(tables: Mapping[str, pa.Table]) -> dict[Interval, dict[str, Any]]:
    """The intervals that late or retracted rows have taken away, each with the last change that did. One that was
    still running ends, as it is drawn, at the query time that withdrew it: nobody has claimed any more."""
    found = {}
    for row in _revisions(tables, "delete"):
        end = row["end"] if row["end"] is not None else max(row["start"] + 1, row["query_time"])
        found[row["fluent"], row["value"], row["start"], end] = row
    return found


def _with_flags(piece: _Piece, tables: Mapping[str, pa.Table]) -> _Piece:
    revised = {
        (row["fluent"], row["value"], row["start"], row["end"]) for row in _revisions(tables, "insert")
    }
    if revised:
        starts = np.array(sorted({row[2] for row in revised}), np.int64)
        for i in np.flatnonzero(np.isin(piece.start, starts)):
            end = None if piece.end[i] == OPEN_END else int(piece.end[i])
            row = (piece.fluents[piece.fluent[i]], piece.values[piece.value[i]], int(piece.start[i]), end)
            if row in revised:
                piece.flags[i] = REVISED
    return piece


def _withdrawn(tables: Mapping[str, pa.Table]) -> Iterator[_Piece]:
    """What was found and withdrawn again, where nothing of the same pair starts at the same point now."""
    gone = withdrawals(tables)
    if not gone:
        return
    table = tables["timeline"].select(["fluent", "value", "start"])
    standing = {(row["fluent"], row["value"], row["start"]) for row in table.to_pylist()}
    rows = sorted(interval for interval in gone if interval[:3] not in standing)
    if rows:
        columns = dict(zip(("fluent", "value", "start", "end"), zip(*rows, strict=True), strict=True))
        yield _piece(
            pa.table({name: pa.array(list(column)) for name, column in columns.items()}, schema=_SHAPE),
            WITHDRAWN,
        )


_SHAPE = pa.schema(
    [("fluent", pa.string()), ("value", pa.string()), ("start", pa.int64()), ("end", pa.int64())]
)


def _given(rows: Rows, tick: int) -> _Piece:
    """Input intervals as they were given; points are as long as a tick."""
    assert rows.value is not None
    terms = instances(rows)
    fluents = sorted(set(terms))
    values = [_text(value) for value in rows.value.to_pylist()]
    known = sorted(set(values))
    end = rows.end if rows.end is not None else rows.time + tick
    rank, value_rank = ({word: i for i, word in enumerate(words)} for words in (fluents, known))
    return _Piece(
        fluents,
        known,
        np.array([rank[t] for t in terms], np.int64),
        np.array([value_rank[v] for v in values], np.int64),
        rows.time,
        end,
        np.zeros(len(rows), np.int64),
        True,
    )


def instances(rows: Rows) -> list[str]:
    """The instances of input rows as text: ``vote(a1,m1)``."""
    if not rows.args:
        return [rows.name] * len(rows)
    columns = [[_text(value) for value in column.to_pylist()] for column in rows.args]
    return [f"{rows.name}({','.join(arguments)})" for arguments in zip(*columns, strict=True)]


_PLAIN = re.compile(r"[a-z][A-Za-z0-9_]*\Z", re.ASCII)


def _text(value: object) -> str:
    """A constant as results write it."""
    if not isinstance(value, str) or _PLAIN.match(value):
        return str(value)
    try:
        float(value)
    except ValueError:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return value


def _events(tables: Mapping[str, pa.Table], inputs: Sequence[Rows]) -> tuple[list[str], Ints, Ints]:
    """The distinct events, and which of them happens and when."""
    texts: dict[str, int] = {}
    which: list[Ints] = []
    times: list[Ints] = []
    for rows in inputs:
        if rows.value is None:
            found = instances(rows)
            which.append(np.array([texts.setdefault(event, len(texts)) for event in found], np.int64))
            times.append(rows.time)
    if "event" in _columns(tables, "events"):
        events = coded(tables["events"].column("event"))
        words = [texts.setdefault(word, len(texts)) for word in _words(events.words)]
        which.append(np.array(words, np.int64)[events.ranks])
        times.append(np.asarray(tables["events"].column("time"), dtype=np.int64))
    joined = [np.concatenate(parts) if parts else np.zeros(0, np.int64) for parts in (which, times)]
    return list(texts), joined[0], joined[1]


# --------------------------------------------------------------------------- lanes


def name_and_arguments(text: str) -> tuple[str, list[str]]:
    """The name of an instance and the text of its arguments.

    >>> name_and_arguments("moved('a,1',f(x,y))")
    ('moved', ["'a,1'", 'f(x,y)'])
    """
    opening = -1 if text.startswith("'") else text.find("(")
    if opening < 0 or not text.endswith(")"):
        return text, []
    arguments, depth, quoted, start, i = [], 0, False, opening + 1, opening + 1
    while i < len(text) - 1:
        sign = text[i]
        if quoted:
            i += sign == "\\"
            quoted = sign != "'"
        elif sign == "'":
            quoted = True
        elif sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "," and not depth:
            arguments.append(text[start:i])
            start = i + 1
        i += 1
    return text[:opening], [*arguments, text[start:-1]]


def natural(text: str) -> list[tuple[int, int, str]]:
    """A key that puts m2 before m10."""
    return [
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text) if part
    ]


def _lanes(
    names: Mapping[str, bool], texts: Sequence[str], only: Sequence[str]
) -> tuple[tuple[Lane, ...], dict[str, int]]:
    """The lanes in order, and where each fluent and event goes."""
    wanted: dict[Lane, list[str]] = {}
    for fluent, is_given in names.items():
        name, arguments = name_and_arguments(fluent)
        if _wanted(only, fluent, name, arguments):
            lane = Lane(fluent, arguments[0] if arguments else "", name, is_given)
            wanted[lane] = [fluent]
    for event in texts:
        name, arguments = name_and_arguments(event)
        if _wanted(only, event, name, arguments):
            entity = arguments[0] if arguments else ""
            wanted.setdefault(Lane(EVENTS, entity, EVENTS, True), []).append(event)
    order = sorted(
        wanted, key=lambda lane: (natural(lane.entity), lane.name != EVENTS, lane.name, natural(lane.label))
    )
    return tuple(order), {text: i for i, lane in enumerate(order) for text in wanted[lane]}


def _wanted(only: Sequence[str], text: str, name: str, arguments: Sequence[str]) -> bool:
    candidates = (text, name, *arguments)
    return not only or any(fnmatchcase(candidate, pattern) for pattern in only for candidate in candidates)


class _Keys:
    """What colours stand for: the value, or the fluent's name where the fluent is only ever true."""

    def __init__(self, pieces: Sequence[_Piece]) -> None:
        self.names: list[str] = []
        self.values: list[str] = []
        self._codes: dict[tuple[str, str], int] = {}
        several = {
            name_and_arguments(piece.fluents[f])[0]
            for piece in pieces
            for f, v in {*zip(piece.fluent.tolist(), piece.value.tolist(), strict=True)}
            if piece.values[v] != "true"
        }
        self._several = several

    def of(self, fluent: str, value: str) -> int:
        name = name_and_arguments(fluent)[0]
        return self._code(value if name in self._several or value != "true" else name, value)

    def of_event(self, name: str) -> int:
        return self._code(name, "")

    def _code(self, key: str, value: str) -> int:
        if (key, value) not in self._codes:
            self._codes[key, value] = len(self.names)
            self.names.append(key)
            self.values.append(value)
        return self._codes[key, value]


def _bars(pieces: Sequence[_Piece], places: Mapping[str, int], keys: _Keys) -> Bars:
    parts: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []
    for piece in pieces:
        lane_of = np.array([places.get(fluent, -1) for fluent in piece.fluents], np.int64)
        both = piece.fluent * len(piece.values) + piece.value
        distinct, inverse = np.unique(both, return_inverse=True)
        codes = [divmod(int(code), len(piece.values)) for code in distinct]
        key_of = np.array(
            [keys.of(piece.fluents[f], piece.values[v]) if lane_of[f] >= 0 else -1 for f, v in codes],
            np.int64,
        )
        lane = lane_of[piece.fluent]
        kept = lane >= 0
        columns = (lane, key_of[inverse], piece.start, piece.end, piece.flags)
        parts.append(tuple(column[kept] for column in columns))  # type: ignore[arg-type]
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [_NONE] * 5
    order = np.lexsort((joined[2], joined[0]))
    return Bars(*(column[order] for column in joined))


_NONE: Ints = np.zeros(0, np.int64)


def _marks(texts: Sequence[str], events: Ints, times: Ints, places: Mapping[str, int], keys: _Keys) -> Marks:
    lane_of = np.array([places.get(text, -1) for text in texts], np.int64)
    key_of = np.array([keys.of_event(name_and_arguments(text)[0]) for text in texts], np.int64)
    kept = np.flatnonzero(lane_of[events] >= 0) if len(events) else _NONE
    events, times = events[kept], times[kept]
    if not len(events):
        return Marks(_NONE, _NONE, _NONE, [])
    order = np.lexsort((times, lane_of[events]))
    events, times = events[order], times[order]
    return Marks(lane_of[events], key_of[events], times, [texts[i] for i in events])


def _cut(bars: Bars, limit: int, what: str, notes: list[str]) -> Bars:
    if len(bars) <= limit:
        return bars
    notes.append(f"the first {limit:,} of {len(bars):,} {what} are drawn")
    return Bars(*(getattr(bars, column)[:limit] for column in Bars.__slots__))


def _cut_marks(marks: Marks, limit: int, notes: list[str]) -> Marks:
    if len(marks) <= limit:
        return marks
    notes.append(f"the first {limit:,} of {len(marks):,} events are drawn")
    return Marks(*(getattr(marks, column)[:limit] for column in Marks.__slots__))
