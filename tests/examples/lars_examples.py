"""The LARS examples as data, and what others say about them: the reference, and clingo at each tick.

`python tests/examples/lars_examples.py` writes the golden results anew: bus and tram from the reference alone, content
caching from the reasoner, which the tests compare with clingo.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[2] / part) for part in ("src", "bench")]

import thalweg
from thalweg.language.program import Program
from thalweg.language.terms import Atom, Compound, Number, Term, signature
from thalweg.lars.stratify import stratify
from thalweg.reference.lars import answer_streams, prefer
from thalweg.reference.lars_terms import text
from thalweg.reference.lars_truth import Head

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Interval = tuple[str, str, str, str]
"""Atom, point, first and last tick, as in golden.csv."""


@dataclass(frozen=True)
class LarsExample:
    """Rules with a sample and its golden result; `until` is the last tick of the run."""

    folder: str
    rules: str
    sample: str
    golden: str
    until: int
    background: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        return EXAMPLES / self.folder

    def program(self) -> Program:
        return thalweg.load(self.home / self.rules, *(self.home / b for b in self.background))

    def rows(self) -> list[tuple[int, str, tuple[str, ...]]]:
        with (self.home / self.sample).open(encoding="utf-8", newline="") as file:
            return [(int(r[2]), r[0], tuple(r[3:])) for r in csv.reader(file, delimiter="|")]

    def result(self) -> list[Interval]:
        """What the reasoner finds."""
        run = thalweg.run(self.program(), str(self.home / self.sample), end=self.until)
        shown = [tuple("" if v is None else str(v) for v in r.values()) for r in run.arrow["answers"].to_pylist()]
        return sorted(shown)  # type: ignore[arg-type]

    def golden_rows(self) -> list[Interval]:
        with (self.home / self.golden).open(encoding="utf-8", newline="") as file:
            return sorted((r["atom"], r["at"], r["from"], r["to"]) for r in csv.DictReader(file))


LARS = {
    "bus and tram": LarsExample("bus_and_tram", "bus.lars", "sample/day.csv", "golden.csv", 600),
    "strategy": LarsExample(
        "content_caching", "strategy.lars", "sample/parameters.csv", "golden_strategy.csv", 320
    ),
    "retrieval": LarsExample(
        "content_caching",
        "retrieval.lars",
        "sample/requests.csv",
        "golden_retrieval.csv",
        320,
        ("sample/network.lars",),
    ),
}


def term(name: str, args: tuple[str, ...]) -> Term:
    """A row of a sample as an atom."""
    terms = tuple(Number(int(a)) if a.lstrip("-").isdigit() else Atom(a) for a in args)
    return Compound(name, terms) if terms else Atom(name)


def by_reference(chosen: LarsExample, ticks: range) -> Iterator[tuple[int, set[Head]]]:
    """The preferred answer stream at each tick, by the definition."""
    program = chosen.program()
    choices = stratify(program).chosen
    data = [(t, term(name, args)) for t, name, args in chosen.rows()]
    previous: frozenset[Head] = frozenset()
    for t in ticks:
        near = [f for f in data if t - 60 <= f[0] <= t]
        best = prefer(answer_streams(program, near, t), previous, choices)
        heads = {head for _, head in best.heads}
        previous = frozenset(h for h in heads if signature(h[1]) in choices)
        yield t, heads


def intervals(answers: Iterator[tuple[int, set[Head]]]) -> list[Interval]:
    """Answers tick by tick as intervals; what is in at the last tick has no end."""
    running: dict[Head, int] = {}
    found: list[tuple[Head, int, int | None]] = []
    for t, heads in answers:
        found += [(head, running.pop(head), t - 1) for head in set(running) - heads]
        running |= dict.fromkeys(heads - set(running), t)
    found += [(head, first, None) for head, first in running.items()]
    return sorted(
        (text(atom), "" if at is None else str(at), str(first), "" if last is None else str(last))
        for (at, atom), first, last in found
    )


def write(chosen: LarsExample, rows: list[Interval]) -> None:
    with (chosen.home / chosen.golden).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["atom", "at", "from", "to"])
        writer.writerows(rows)


if __name__ == "__main__":
    bus = LARS["bus and tram"]
    write(bus, intervals(by_reference(bus, range(bus.until + 1))))
    for name in ("strategy", "retrieval"):
        write(LARS[name], LARS[name].result())
