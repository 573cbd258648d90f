"""The small examples of the language reference: rules, events and result in three blocks, by the reasoner and by the
definition.

    ```prolog title="lamp"            rules
    ```text title="lamp: events"      press(lamp) @ 3        an event; of an input fluent, covered(lamp)=true @ 6..30
    ```text title="lamp: result"      on(lamp)=true [4,8) [12,..)        and derived events, alarm(lamp) @ 8
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from page_blocks import Block, blocks

import thalweg
from thalweg.explain.wording import ground
from thalweg.language.parser import parse
from thalweg.protocol import OPEN_END
from thalweg.reference import events as reference
from thalweg.reference.events import Row
from thalweg.reference.terms import Ground, text

UNTIL = 100
"""Every example is asked once, here."""

_EVENT = re.compile(r"(?P<name>[^=@]+?)(=(?P<value>\S+))? @ (?P<start>\d+)(\.\.(?P<end>\d*))?")


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a page."""

    name: str
    rules: str
    events: str
    result: Block
    tick: int


def examples(page: str) -> Iterator[Example]:
    """The examples of a page: blocks of rules that are followed by events and a result."""
    found = {block.title: block for block in blocks(page) if block.title}
    for title, block in found.items():
        name, _, options = title.partition(": events")
        if name == title:
            continue
        tick = re.search(r"tick (\d+)", options)
        result = found[f"{name}: result"]
        yield Example(name, found[name].text, block.text, result, int(tick[1]) if tick else 1)


def rows(example: Example) -> list[Row]:
    """The events, as the definition reads them."""
    return [_row(i, line.strip(), example.tick) for i, line in enumerate(example.events.splitlines()) if line.strip()]


def _row(number: int, line: str, tick: int) -> Row:
    found = _EVENT.fullmatch(line)
    assert found, f"no event: {line}"
    term = ground(found["name"].strip())
    name, *args = term if isinstance(term, tuple) else (term,)
    start, value = int(found["start"]), found["value"]
    shape = "event" if value is None else "interval" if found["end"] is not None else "point"
    return Row(
        name=str(name),
        args=tuple(args),
        time=start,
        arrival=start,
        number=number,
        shape=shape,
        value=None if value is None else ground(value),
        end=int(found["end"]) if found["end"] else None,
    )


def by_definition(example: Example) -> list[str]:
    trace = reference.run(parse(example.rules), rows(example), until=UNTIL, start=0, tick=example.tick)
    intervals = [
        (f"{fluent}={value}", start, end)
        for (fluent, value), found in trace.timeline().items()
        for start, end in found
    ]
    return _lines(intervals, [*trace.events()])


def by_reasoner(example: Example) -> list[str]:
    tables: dict[str, list[dict[str, object]]] = {}
    for row in rows(example):
        columns: dict[str, object] = {f"a{i}": _field(argument) for i, argument in enumerate(row.args)}
        if row.shape == "interval":
            columns |= {"start": row.time, "end": row.end if row.end is not None else int(OPEN_END)}
        else:
            columns |= {"time": row.time}
        columns |= {} if row.value is None else {"value": _field(row.value)}
        tables.setdefault(row.name, []).append(columns)
    result = thalweg.run(
        example.rules, tables, window=UNTIL, step=UNTIL, start=0, end=UNTIL, tick=example.tick
    )
    assert not result.arrow["rejected"].num_rows, result.arrow["rejected"].to_pylist()
    intervals = [
        (f"{row['fluent']}={row['value']}", row["start"], row["end"])
        for row in result.arrow["timeline"].to_pylist()
    ]
    return _lines(intervals, [(row["event"], row["time"]) for row in result.arrow["events"].to_pylist()])


def _field(argument: Ground) -> str:
    """A constant as it stands in a file."""
    return argument if isinstance(argument, str) else text(argument)


def _lines(intervals: list[tuple[str, int, int | None]], events: list[tuple[str, int]]) -> list[str]:
    spans: dict[str, list[str]] = {}
    for pair, start, end in sorted(intervals, key=lambda row: row[:2]):
        spans.setdefault(pair, []).append(f"[{start},{'..' if end is None else end})")
    width = max(map(len, spans), default=0)
    found = [f"{pair.ljust(width)} {' '.join(intervals)}" for pair, intervals in spans.items()]
    return found + [f"{event} @ {time}" for event, time in sorted(events)]
