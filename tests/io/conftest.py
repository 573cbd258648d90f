"""A reasoner made of the reference, so that reading, driving and folding are tested on their own."""

from __future__ import annotations

import importlib
from typing import Any

import pyarrow as pa
import pytest

from thalweg.language.program import Program
from thalweg.protocol import Batch, Reasoner, Revision
from thalweg.reference.windowed import Answer, WindowedReference
from thalweg.verification import reference_rows


class SlowReasoner:
    """Answers the protocol with what the definition says."""

    def __init__(self, program: Program, *, window: int, step: int, start: int, tick: int) -> None:
        self.reference = WindowedReference(
            program, window=window, step=step, start=start, tick=tick, allow_gaps=True
        )
        self.events: frozenset[tuple[str, int]] = frozenset()
        self.accepted = 0
        self.held = 0

    def accept(self, batch: Batch) -> None:
        rows = [row for part in batch for row in reference_rows(part)]
        self.accepted += len(rows)
        self.reference.accept(rows)
        self.held = max(self.held, len(self.reference._waiting))

    def advance(self, to: int) -> Revision:
        tables: dict[str, list[pa.Table]] = {}
        for answer in self.reference.advance(to):
            for name, table in self.tables(answer).items():
                if name == "open":
                    tables[name] = []
                tables.setdefault(name, []).append(table)
        return Revision({name: pa.concat_tables(parts) for name, parts in tables.items()})

    def tables(self, answer: Answer) -> dict[str, pa.Table]:
        new, old = answer.events - self.events, self.events - answer.events
        self.events = answer.events
        events = [("insert", *e) for e in sorted(new)] + [("delete", *e) for e in sorted(old)]
        q = answer.query_time
        return {
            "changes": table(
                ["query_time:i", "op", "fluent", "value", "start:i", "end:i", "cause"],
                [(c.query_time, c.op, c.fluent, c.value, c.start, c.end, "time") for c in answer.changes],
            ),
            "events": table(
                ["query_time:i", "op", "event", "time:i", "cause"], [(q, *event, "time") for event in events]
            ),
            "open": table(
                ["query_time:i", "fluent", "value", "due:i", "since:i", "cancelled_by"],
                [(q, o.fluent, o.value, o.due, o.since, o.cancelled_by) for o in answer.open],
            ),
            "rejected": table(
                ["row:i", "reason", "detail"],
                [(r.row, r.reason, r.reason) for r in answer.rejected],
            ),
        }

    def snapshot(self) -> bytes:
        raise NotImplementedError

    def restore(self, state: bytes) -> None:
        raise NotImplementedError


def table(columns: list[str], rows: list[tuple[Any, ...]]) -> pa.Table:
    """A table of integer (``:i``) and text columns."""
    kinds = [(name.split(":")[0], pa.int64() if name.endswith(":i") else pa.string()) for name in columns]
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return pa.table([pa.array(v, kind) for v, (_, kind) in zip(values, kinds, strict=True)], pa.schema(kinds))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[SlowReasoner]:
    """Runs of event descriptions use the slow reasoner; the list holds those that were made."""
    made: list[SlowReasoner] = []

    def make(program: Program, options: Any, durations: Any, schedule: Any, spacing: int) -> Reasoner:
        reasoner = SlowReasoner(
            program,
            window=durations["window"],
            step=durations["step"],
            start=schedule.start,
            tick=spacing,
        )
        made.append(reasoner)
        return reasoner

    monkeypatch.setattr(importlib.import_module("thalweg.plans"), "_events", make)
    return made
