"""The example folders as data: programs, samples, golden results; and the reference's answer to a sample.

`python tests/examples/example_folders.py` writes the golden results anew, from the reference alone.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from thalweg.language.parser import load
from thalweg.language.program import Program
from thalweg.language.rules import Declare, Role
from thalweg.reference.events import Row, run
from thalweg.reference.terms import constant

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("voting", "netbill", "maritime", "fleet", "activity", "transport")

Interval = tuple[str, str, int, int | None]
"""Fluent, value, start, end; a running interval has no end."""


@dataclass(frozen=True, slots=True)
class Example:
    """One example folder, with the run that its `example.json` describes."""

    name: str
    rules: str
    background: tuple[str, ...]
    start: int
    end: int
    window: int
    step: int
    tick: int
    parts: tuple[tuple[str, ...], ...] = ()
    """Entities that have nothing to do with those of the other parts: each part can be judged alone."""

    @property
    def folder(self) -> Path:
        return EXAMPLES / self.name

    @property
    def events(self) -> Path:
        return self.folder / "sample" / "events.csv"

    def program(self) -> Program:
        return load(self.folder / self.rules, *(self.folder / file for file in self.background))

    def rows(self) -> list[Row]:
        """The sample, read in the plainest way."""
        shapes = {d.name: d.role for d in self.program().statements if isinstance(d, Declare)}
        with self.events.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, delimiter="|"))
        return [_row(number, shapes.get(line[0], Role.EVENT), line) for number, line in enumerate(lines)]

    def golden(self) -> list[Interval]:
        with (self.folder / "golden.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [(r["fluent"], r["value"], int(r["start"]), int(r["end"]) if r["end"] else None) for r in rows]


def example(name: str) -> Example:
    """The example of this name."""
    described = json.loads((EXAMPLES / name / "example.json").read_text(encoding="utf-8"))
    described["background"] = tuple(described["background"])
    described["parts"] = tuple(map(tuple, described.get("parts", ())))
    return Example(name=name, **described)


def _row(number: int, role: Role, line: list[str]) -> Row:
    name, arrival, time, *rest = line
    if role is Role.FLUENT:
        end, value, *args = rest
        return Row(
            name=name,
            args=tuple(map(constant, args)),
            time=int(time),
            arrival=int(arrival),
            number=number,
            shape="interval",
            value=constant(value),
            end=int(end),
        )
    if role is Role.POINTS:
        value, *args = rest
        return Row(
            name=name,
            args=tuple(map(constant, args)),
            time=int(time),
            arrival=int(arrival),
            number=number,
            shape="point",
            value=constant(value),
        )
    return Row(
        name=name, args=tuple(map(constant, rest)), time=int(time), arrival=int(arrival), number=number
    )


def by_reference(chosen: Example, part: tuple[str, ...] = ()) -> list[Interval]:
    """What the reference computes from the sample, without windows; of one part, or of the whole."""
    rows = [row for row in chosen.rows() if not part or set(row.args) & set(part)]
    trace = run(chosen.program(), rows, until=chosen.end, start=chosen.start, tick=chosen.tick)
    return sorted(about(_flat(trace.timeline()), part), key=_order)


def about(intervals: Iterable[Interval], part: tuple[str, ...]) -> list[Interval]:
    """The intervals of fluents that name somebody of the part; of no part: all."""
    return [row for row in intervals if not part or set(re.findall(r"\w+", row[0])) & set(part)]


def parts() -> list[tuple[str, tuple[str, ...]]]:
    """Every part of every example, by the example's name."""
    return [(name, part) for name in NAMES for part in example(name).parts or ((),)]


def judged_slowly(name: str) -> bool:
    """Whether the reference needs more than a few seconds for a part of the sample."""
    return len(example(name).rows()) > 1000


def _flat(timeline: dict[tuple[str, str], list[tuple[int, int | None]]]) -> Iterator[Interval]:
    for (fluent, value), intervals in timeline.items():
        for start, end in intervals:
            yield fluent, value, start, end


def _order(interval: Interval) -> tuple[str, str, int]:
    return interval[:3]


def write_golden(chosen: Example) -> None:
    """The reference's result as the golden one."""
    found = sorted((row for part in chosen.parts or ((),) for row in by_reference(chosen, part)), key=_order)
    with (chosen.folder / "golden.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["fluent", "value", "start", "end"])
        writer.writerows(["" if field is None else field for field in row] for row in found)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or NAMES:
        write_golden(example(wanted))
