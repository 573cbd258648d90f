"""Random LARS and Temporal Datalog programs as stories for the pipeline.

They are those of `tests/lars` and `tests/answers`. Most have no key, so in most of them every atom gets one more
argument at its front, the same in all of a rule: that is the key. Numbers are written in several ways.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from stories import Story

sys.path += [str(Path(__file__).parent.parent / folder) for folder in ("lars", "answers")]

import lars_wide
from answers_random import Rich, life_of
from lars_programs import readable

from thalweg.answers.offline import check, plan
from thalweg.language.diagnostics import has_errors
from thalweg.language.parser import parse
from thalweg.language.program import Program
from thalweg.lars.reasoner import Reasoner
from thalweg.reference.answers import Fact

ARGUMENTS = 4
COLUMNS = pa.schema(
    [
        ("name", pa.string()),
        ("time", pa.int64()),
        ("arrival", pa.int64()),
        ("op", pa.string()),
        *((f"arg{i + 1}", pa.string()) for i in range(ARGUMENTS)),
        ("nr", pa.int64()),
    ]
)
_KEYS = ("1", "ann", "'Bob B'")
_ATOM = re.compile(r"'(?:[^'\\]|''|\\.)*'|\b([abpqrcdefkgh])\b(\()?")


def _story(program: str, rows: list[dict[str, Any]], options: dict[str, Any]) -> Story | None:
    rows = sorted(rows, key=lambda row: row["arrival"])
    if not rows or any(f"arg{ARGUMENTS + 1}" in row for row in rows):
        return None
    table = pa.Table.from_pylist([row | {"nr": n} for n, row in enumerate(rows, start=1)], COLUMNS)
    return Story(program, table, {name: value for name, value in options.items() if value is not None})


def _row(rng: Random, name: str, args: tuple[Any, ...], time: int, arrival: int, op: int) -> dict[str, Any]:
    row = {f"arg{i}": _written(rng, value) for i, value in enumerate(args, start=1)}
    return row | {"name": name, "time": time, "arrival": arrival, "op": "insert" if op > 0 else "retract"}


def _written(rng: Random, value: float | str) -> str:
    """A constant as a row may have it."""
    if isinstance(value, str) or rng.random() < 0.8:
        return str(value)
    return rng.choice([f"{value:+}", f"{value:+05}", f"{value}0" if isinstance(value, float) else f"{value}.0"])


# --------------------------------------------------------------------------- LARS


def lars_story(rng: Random) -> Story | None:
    """A program with windows, and a stream with late rows and retractions; None where no row is left."""
    program = lars_wide.Wide(rng, loops=rng.random() < 0.2, computing=rng.choice((0.06, 0.06, 0.4))).program()
    if rng.random() < 0.8:
        program = _keyed(rng, program)
    begin, lateness = rng.choice([None, 0, -4, 3]), rng.choice([0, 0, 1, 3])
    first = begin or 0
    kinds = Reasoner(program, lateness=lateness, start=first)._network.kinds
    stream = lars_wide.stream_of(rng, program, first, first + 9, kinds)
    rows = [_row(rng, name, args, time, came, op) for (time, name, args), came, op in stream]
    options = {
        "lateness": lateness,
        "start": begin,
        "end": rng.choice([None, None, None, first + 6, first + 14]),
        "models": rng.choice([None, None, None, None, "all"]),
    }
    return _story(str(program), rows, options)


def _keyed(rng: Random, program: Program) -> Program:
    """The rules with a key, as far as they still can be read; windows that count do so by key."""
    kept = ["program lars."]
    for rule in re.sub(r"\n +", " ", str(program)).splitlines()[1:]:
        rule = _ATOM.sub(_with_key, rule)
        rule = re.sub(r"# by ", "# by K, ", re.sub(r"\[(\d+) #\]", r"[\1 # by K]", rule))
        if ":-" not in rule:
            rule = rule.replace("K", rng.choice(_KEYS))
        if readable("\n".join([*kept, rule])) is not None:
            kept.append(rule)
    found = readable("\n".join(kept))
    assert found is not None
    return found


def _with_key(atom: re.Match[str]) -> str:
    name, arguments = atom.groups()
    return atom[0] if name is None else f"{name}(K, " if arguments else f"{name}(K)"


# --------------------------------------------------------------------------- Temporal Datalog


class _Keyed(Rich):
    """The same programs with a key."""

    def _atom(self, name: str, shift: int, args: list[str], negated: bool = False) -> str:
        return super()._atom(name, shift, ["K", *args], negated)

    def _fact(self, name: str, time: int) -> str:
        return super()._fact(name, time).replace("(", f"({self.rng.choice(self.constants)}, ")


def answers_story(rng: Random) -> Story | None:
    """A program with queries, and a stream with late rows and retractions; None where it is none that can be run."""
    keyed = rng.random() < 0.8
    made = (_Keyed if keyed else Rich)(rng.getrandbits(30))
    text = made.text()
    if keyed and rng.random() < 0.6:  # a negated premise makes it one shard
        text = re.sub(r"not ([eghpqr]\()", r"\1", text)
    program = parse(text)
    if has_errors(check(program)):
        return None
    planned = plan(program)
    if any(query.loose for query in planned.queries):
        return None
    lateness, begin = rng.choice([0, 0, 1, 2]), rng.choice([None, None, 0, 3])
    first = begin or 0
    values = [1, 2, -1, 1.5, 7] if made.numeric else ["a", "b", "Bob B", "zz"]
    rows = []
    for name, arity in sorted(planned.datalog.inputs):
        for _ in range(rng.randint(0, 12)):
            args = tuple(rng.choice(values) for _ in range(arity - 1))
            fact = Fact(name, args, first + rng.randint(0, 6))
            rows += [_row(rng, name, args, fact.time, a.at, a.op) for a in life_of(fact, lateness, rng)]
    options = {
        "lateness": lateness,
        "start": begin,
        "end": rng.choice([None, None, None, first + 4, first + 12]),
        "horizon": rng.choice([None, None, None, None, 1, 3]),
    }
    return _story(text, rows, options)
