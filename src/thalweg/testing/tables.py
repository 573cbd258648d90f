"""Streams and timelines as small tables of text, for tests that can be read.

A stream, one line per fact, each time with its arrival where that is another:

    e(a)            2 4 11@15
    - e(a)          4@20
    near(a,b)=true  3..8 10..
    walk(a)=true    points 40 80

A timeline, one line per pair:

    f(a)=true   [3,8) [12,..)
"""

from __future__ import annotations

import re

from thalweg.reference.events import Row
from thalweg.reference.intervals import Interval
from thalweg.reference.terms import Ground, constant

_FACT = re.compile(r"(?P<op>[+-]?)\s*(?P<name>\w+)(\((?P<args>[^)]*)\))?(=(?P<value>\w+))?\s+(?P<times>.+)")
_TIME = re.compile(r"(?P<start>-?\d+)(?P<dots>\.\.)?(?P<end>\d+)?(@(?P<arrival>-?\d+))?")
_INTERVAL = re.compile(r"\[(-?\d+),(\.\.|-?\d+)\)")


def stream(text: str) -> list[Row]:
    """The rows of a drawn stream, numbered from 1 in the order they are written.

    >>> [(row.name, row.args, row.time, row.arrival) for row in stream("e(a) 2 4@9")]
    [('e', ('a',), 2, 2), ('e', ('a',), 4, 9)]
    """
    rows: list[Row] = []
    for line in _lines(text):
        fact = _FACT.fullmatch(line)
        if fact is None:
            raise ValueError(f"not a fact with times: {line!r}")
        times = fact["times"].split()
        shape = "event" if fact["value"] is None else "point" if times[0] == "points" else "interval"
        for time in times[shape == "point" :]:
            rows.append(_row(fact, time, shape, len(rows) + 1))
    return rows


def _row(fact: re.Match[str], text: str, shape: str, number: int) -> Row:
    time = _TIME.fullmatch(text)
    if time is None or (time["dots"] is not None) != (shape == "interval"):
        raise ValueError(f"not a time of an {shape}: {text!r}")
    args: tuple[Ground, ...] = (
        tuple(constant(arg.strip()) for arg in fact["args"].split(",")) if fact["args"] else ()
    )
    return Row(
        name=fact["name"],
        args=args,
        time=int(time["start"]),
        arrival=int(time["arrival"] or time["start"]),
        op=-1 if fact["op"] == "-" else 1,
        number=number,
        shape=shape,
        value=None if fact["value"] is None else constant(fact["value"]),
        end=int(time["end"]) if time["end"] else None,
    )


def timeline(text: str) -> dict[tuple[str, str], list[Interval]]:
    """A drawn timeline.

    >>> timeline("f(a)=true [3,8) [12,..)")
    {('f(a)', 'true'): [(3, 8), (12, None)]}
    """
    result: dict[tuple[str, str], list[Interval]] = {}
    for line in _lines(text):
        pair, _, drawn = line.partition(" ")
        fluent, _, value = pair.rpartition("=")
        intervals = [(int(s), None if e == ".." else int(e)) for s, e in _INTERVAL.findall(drawn)]
        if not fluent or not intervals:
            raise ValueError(f"not a pair with intervals: {line!r}")
        result[fluent, value] = intervals
    return result


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
