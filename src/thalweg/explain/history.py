"""What is known over time, looked up by instance: the timelines of a result and the rows of its input.

Nothing is copied and little is read: timelines are sorted by instance, so that a name, or a name with its first
arguments, is a range; input rows are searched by time.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.explain.tree import Place
from thalweg.explain.wording import ground
from thalweg.io.assemble import filtered
from thalweg.io.fold import coded
from thalweg.protocol import OPEN_END, Ints, Rows
from thalweg.reference.intervals import Interval, Intervals, maximal
from thalweg.reference.state import Pair
from thalweg.reference.terms import EMPTY, Ground, Signature, Term, constant, is_ground, number, text, unify

if TYPE_CHECKING:
    from thalweg.plans import Plan

NEW = 2**61
"""The row number of what was never in the input."""


class Sorted:
    """The rows of a table by the text of an instance, which is a range of ranks for each prefix."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        found = coded(column)
        self._words = found.words
        in_order = bool(np.all(found.ranks[1:] >= found.ranks[:-1]))
        self.order: Ints = np.arange(len(found.ranks)) if in_order else np.argsort(found.ranks, kind="stable")
        self._ranks = found.ranks[self.order]

    def rows(self, pattern: Term) -> slice:
        """The rows whose instance may match the pattern."""
        prefix, exact = _prefix(pattern)
        low = bisect.bisect_left(_Words(self._words), prefix)
        high = low + 1 if exact else bisect.bisect_left(_Words(self._words), prefix + "\U0010ffff")
        if exact and (low == len(self._words) or self._words[low].as_py() != prefix):
            high = low
        first, last = np.searchsorted(self._ranks, (low, high)).tolist()
        return slice(first, last)

    def word(self, row: int) -> str:
        return str(self._words[int(self._ranks[row])].as_py())

    def instances(self, pattern: Term) -> Iterator[str]:
        rows = self.rows(pattern)
        for rank in np.unique(self._ranks[rows]).tolist():
            yield str(self._words[rank].as_py())


class _Words(Sequence[str]):
    """An Arrow column of sorted words, for bisection."""

    def __init__(self, words: pa.Array) -> None:
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, index: int) -> str:  # type: ignore[override]
        return str(self._words[index].as_py())


def _prefix(pattern: Term) -> tuple[str, bool]:
    """The text with which every instance of the pattern begins, and whether that is all of it."""
    if is_ground(pattern):
        return text(pattern), True
    known = []
    for argument in pattern[1:]:
        if not is_ground(argument):
            break
        known.append(text(argument) + ",")
    return f"{text(pattern[0])}({''.join(known)}", False


class Timelines:
    """The maximal intervals of computed fluents."""

    def __init__(self, table: pa.Table) -> None:
        start = np.asarray(table.column("start"), np.int64)
        end = np.asarray(table.column("end").fill_null(int(OPEN_END)), np.int64)
        self._fluents = Sorted(table.column("fluent"))
        order = self._fluents.order
        self._start, self._end = start[order], end[order]
        values = coded(table.column("value"))
        self._values = [ground(word) for word in values.words.to_pylist()]
        self._value = values.ranks[order]

    def intervals(self, pair: Pair) -> Intervals:
        rows = self._fluents.rows(pair[0])
        return maximal(
            self._interval(row) for row in range(rows.start, rows.stop) if self._at(row) == pair[1]
        )

    def of(self, fluent: Term) -> Iterator[tuple[Pair, Interval]]:
        """All intervals of the instances that match."""
        rows = self._fluents.rows(fluent)
        yield from self._matching(fluent, np.arange(rows.start, rows.stop))

    def holding(self, fluent: Term, time: int) -> Iterator[Pair]:
        rows = self._fluents.rows(fluent)
        here = (self._start[rows] <= time) & (self._end[rows] > time)
        yield from (pair for pair, _ in self._matching(fluent, rows.start + np.flatnonzero(here)))

    def starting(self, fluent: Term, time: int) -> Iterator[Pair]:
        rows = self._fluents.rows(fluent)
        yield from (
            p for p, _ in self._matching(fluent, rows.start + np.flatnonzero(self._start[rows] == time))
        )

    def ending(self, fluent: Term, time: int) -> Iterator[Pair]:
        rows = self._fluents.rows(fluent)
        yield from (
            p for p, _ in self._matching(fluent, rows.start + np.flatnonzero(self._end[rows] == time))
        )

    def _matching(self, fluent: Term, rows: Ints) -> Iterator[tuple[Pair, Interval]]:
        for row in rows.tolist():
            found = ground(self._fluents.word(row))
            if unify(fluent, found, EMPTY) is not None:
                yield (found, self._at(row)), self._interval(row)

    def _at(self, row: int) -> Ground:
        return self._values[int(self._value[row])]

    def _interval(self, row: int) -> Interval:
        end = int(self._end[row])
        return int(self._start[row]), None if end == OPEN_END else end


class Derived:
    """The derived events."""

    def __init__(self, table: pa.Table) -> None:
        time = np.asarray(table.column("time"), np.int64)
        self._events = Sorted(table.column("event"))
        self._time = time[self._events.order]

    def at(self, event: Term, time: int) -> Iterator[Ground]:
        rows = self._events.rows(event)
        for row in (rows.start + np.flatnonzero(self._time[rows] == time)).tolist():
            found = ground(self._events.word(row))
            if unify(event, found, EMPTY) is not None:
                yield found

    def times(self, event: Term) -> list[int]:
        """When something that matches happens."""
        rows = self._events.rows(event)
        return [
            int(self._time[r])
            for r in range(rows.start, rows.stop)
            if unify(event, ground(self._events.word(r)), EMPTY) is not None
        ]


@dataclass(frozen=True, slots=True)
class Fact:
    """An input row that counts. An interval that came when its beginning was final already counts from `since` on."""

    term: Ground
    value: Ground | None
    start: int
    end: int | None
    number: int
    since: int


class Given:
    """The input that counts: known by the last query time, not rejected, not retracted."""

    def __init__(self, rows: Sequence[Rows], plan: Plan, rejected: set[tuple[str, int]], last: int) -> None:
        self.rows = tuple(rows)
        self._plan, self._rejected, self._last = plan, rejected, last
        self._feed, self._tick = plan.feed, plan.spacing
        self._parts: dict[Signature, list[Rows]] = {}
        for part in rows:
            self._parts.setdefault((part.name, len(part.args)), []).append(part)
        self._sorted = {id(part): bool(np.all(part.time[1:] >= part.time[:-1])) for part in rows}

    def at(self, event: Term, time: int) -> list[Fact]:
        """The events at a time-point that match."""
        return self._counting(
            fact
            for part in self._of(event)
            if part.value is None
            for fact in self._facts(part, self._when(part, time))
            if unify(event, fact[0].term, EMPTY) is not None
        )

    def stretches(self, fluent: Term, value: Term) -> list[Fact]:
        """The input intervals of the instances that match."""
        return self._counting(
            fact
            for part in self._of(fluent)
            if part.value is not None
            for fact in self._facts(part, np.arange(len(part)))
            if (found := unify(fluent, fact[0].term, EMPTY)) is not None
            and unify(value, fact[0].value, found) is not None
        )

    def between(self, first: int | None, last: int) -> list[Fact]:
        """All rows, of any name, that happen from a time-point (None: the first) through another."""
        return self._counting(
            fact
            for part in self.rows
            for fact in self._facts(
                part, np.flatnonzero((part.time <= last) & (part.time >= (-NEW if first is None else first)))
            )
        )

    def beginning(self, time: int) -> list[Fact]:
        """All rows, of any name, that happen or begin at a time-point."""
        return self._counting(
            [fact for part in self.rows for fact in self._facts(part, self._when(part, time))]
        )

    def events(self, event: Term, until: int, most: int) -> list[Fact]:
        """The last events up to a time that match, the latest first."""
        found: list[tuple[Fact, int, int]] = []
        for part in self._of(event):
            if part.value is not None:
                continue
            where = np.flatnonzero(self._like(part, event) & (part.time <= until))
            where = where[np.argsort(-part.time[where], kind="stable")][: 4 * most]
            found += [f for f in self._facts(part, where) if unify(event, f[0].term, EMPTY) is not None]
        return sorted(self._counting(found), key=lambda fact: -fact.start)[:most]

    def _like(self, part: Rows, pattern: Term) -> npt.NDArray[np.bool_]:
        """Which rows have the pattern's known arguments."""
        mask = np.ones(len(part), bool)
        for column, argument in zip(
            part.args, pattern[1:] if isinstance(pattern, tuple) else (), strict=True
        ):
            if is_ground(argument):
                mask &= _equal(column, argument)
        return mask

    def mentions(self, name: str) -> bool:
        """Does a row have this argument?"""
        return any(_equal(column, name).any() for part in self.rows for column in part.args)

    def names(self, most: int) -> list[str]:
        """The first texts that are arguments of rows."""
        found: dict[str, None] = {}
        for part in self.rows:
            for column in part.args:
                if len(found) < most and not pa.types.is_primitive(column.type):
                    found.update(dict.fromkeys(filter(None, pc.unique(column.cast(pa.string())).to_pylist())))
        return list(found)[:most]

    def place(self, fact: Fact) -> Place:
        label, line = self._where(fact.number)
        said = text(fact.term) if fact.value is None else f"{text(fact.term)}={text(fact.value)}"
        return Place(label, line, said, fact.start, fact.end, fact.number)

    def _where(self, number_: int) -> tuple[str, int]:
        """The source of a row and its line; what was never in the input has none."""
        if number_ >= NEW:
            return "what if", 0
        which, row = self._feed.locate(np.array([number_], np.int64))
        return str(self._feed.label(which)[0].as_py()), int(row[0])

    @cached_property
    def terms(self) -> list[tuple[Ground, Ground | None]]:
        """Every distinct event and pair of the input."""
        found: dict[tuple[Ground, Ground | None], None] = {}
        for parts in self._parts.values():
            for part in parts:
                for fact, _, _ in self._facts(part, np.arange(len(part))):
                    found[fact.term, fact.value] = None
        return list(found)

    def everything(self) -> list[Fact]:
        """All rows that count."""
        return self._counting(
            [fact for part in self.rows for fact in self._facts(part, np.arange(len(part)))]
        )

    def named(self, place: str) -> tuple[Place, int] | None:
        """The row at a place, ``events.csv:812``, and its operation, also where it does not count."""
        numbers = self._feed.numbers(place)
        for part in self.rows:
            where = np.flatnonzero((part.row >= NEW) | np.isin(part.row, numbers))
            for fact, op, _ in self._facts(part, where):
                if str(found := self.place(fact)) == place:
                    return found, op
        return None

    def counting(self) -> list[Rows]:
        """The rows that count, as they came."""
        found = []
        for parts in self._parts.values():
            if any((part.op < 0).any() for part in parts):
                facts = [fact for part in parts for fact in self._facts(part, np.arange(len(part)))]
                numbers = [fact.number for fact in self._counting(facts)]
                found += [filtered(part, np.isin(part.row, numbers) & (part.op > 0)) for part in parts]
            else:
                refused = np.array([*self._refused], np.int64)
                found += [filtered(p, (p.arrival <= self._last) & ~np.isin(p.row, refused)) for p in parts]
        return [part for part in found if part is not None]

    @cached_property
    def _refused(self) -> set[int]:
        """The numbers of rejected rows."""
        found: set[int] = set()
        for part in self.rows if self._rejected else ():
            which, lines = self._feed.locate(part.row[part.row < NEW])
            places = zip(self._feed.label(which).to_pylist(), lines.tolist(), strict=True)
            refused = [place in self._rejected for place in places]
            found.update(part.row[part.row < NEW][refused].tolist())
        return found

    def _of(self, pattern: Term) -> list[Rows]:
        key = (pattern[0], len(pattern) - 1) if isinstance(pattern, tuple) else (str(pattern), 0)
        return self._parts.get(key, [])

    def _when(self, part: Rows, time: int) -> Ints:
        if self._sorted[id(part)]:
            return np.arange(*np.searchsorted(part.time, (time, time + 1)))
        return np.flatnonzero(part.time == time)

    def _facts(self, part: Rows, where: Ints) -> Iterator[tuple[Fact, int, int]]:
        """Rows as facts, with operation and arrival."""
        places = pa.array(where)
        columns = [column.take(places).to_pylist() for column in part.args]
        values = None if part.value is None else part.value.take(places).to_pylist()
        for i, row in enumerate(where.tolist()):
            arguments = tuple(as_constant(column[i]) for column in columns)
            start = int(part.time[row])
            end = None
            if values is not None:
                end = start + self._tick if part.end is None else int(part.end[row])
                end = None if end == OPEN_END else end
            term = (part.name, *arguments) if arguments else part.name
            value = None if values is None else as_constant(values[i])
            arrival = int(part.arrival[row])
            since = start if values is None else max(start, self._final(arrival) + self._tick)
            yield Fact(term, value, start, end, int(part.row[row]), since), int(part.op[row]), arrival

    def _final(self, arrival: int) -> int:
        """The last time-point that is final when a row that arrives then is first seen."""
        schedule = self._plan.schedule
        horizon = schedule.at_or_after(arrival) - (self._plan.window or 0)
        return max(schedule.start, horizon - horizon % self._tick) - self._tick * (horizon < schedule.start)

    def _counting(self, found: Iterator[tuple[Fact, int, int]] | list[tuple[Fact, int, int]]) -> list[Fact]:
        """What is left when arrivals, rejections and retractions have been taken into account."""
        known: dict[tuple[Ground, ...], Fact] = {}
        for fact, op, arrival in sorted(found, key=lambda f: (f[2], f[1])):
            if arrival > self._last or fact.number in self._refused:
                continue
            key = (fact.term, fact.value, fact.start, fact.end)
            if op < 0:
                known.pop(key, None)
            else:
                known.setdefault(key, fact)
        return list(known.values())


def as_constant(value: object) -> Ground:
    """A field of an input row as a term."""
    if isinstance(value, str):
        return constant(value)
    assert isinstance(value, (int, float))
    return number(value)


def _equal(column: pa.Array, argument: Ground) -> npt.NDArray[np.bool_]:
    if pa.types.is_dictionary(column.type):
        same = np.array([as_constant(word) == argument for word in column.dictionary.to_pylist()], bool)
        return (
            same[column.indices.to_numpy(zero_copy_only=False)] if len(same) else np.zeros(len(column), bool)
        )
    if pa.types.is_string(column.type):
        return _equal(column.dictionary_encode(), argument)
    values = column.to_numpy(zero_copy_only=False)
    return np.asarray(
        values == argument if isinstance(argument, (int, float)) else np.zeros(len(values)), bool
    )
