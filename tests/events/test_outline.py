"""Reasoners of one program share what depends on it alone, and nothing else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import thalweg
from thalweg.events.forms import Normal
from thalweg.events.normal import Normaliser, normalise
from thalweg.events.outline import outline
from thalweg.events.reasoner import Reasoner
from thalweg.language.diagnostics import has_errors
from thalweg.language.program import Program
from thalweg.protocol import Rows

RULES = """
initiatedAt(fast(V)=true, T) :- happensAt(speed(V, K), T), limit(V, L), K > L.
terminatedAt(fast(V)=true, T) :- happensAt(speed(V, K), T), limit(V, L), K =< L.
""" + "\n".join(f"limit(v{i}, {i % 7})." for i in range(2000))


def seen(vehicles: list[str], speed: float, time: int) -> Rows:
    size = len(vehicles)
    times = np.full(size, time)
    args = (pa.array(vehicles), pa.array(np.full(size, speed)))
    return Rows("speed", np.ones(size, np.int8), times, times, np.arange(size), args)


def fluents(reasoner: Reasoner, to: int) -> list[str]:
    return sorted(reasoner.advance(to)["changes"].column("fluent").to_pylist())


def test_what_one_reasoner_sees_another_does_not() -> None:
    program = thalweg.parse(RULES)
    first, second = (Reasoner(program, window=10, step=10) for _ in range(2))
    known = outline(program)
    size = len(known.symbols)
    first.accept([seen([f"v{i}" for i in range(1, 1500)] + ["stranger"], 6.5, 3)])
    second.accept([seen(["newcomer", "v3", "v6"], 3.5, 4)])
    assert len(fluents(first, 10)) == 1499
    assert fluents(second, 10) == ["fast(v3)"]
    assert outline(program) is known and len(known.symbols) == size


def test_a_reasoner_made_later_writes_the_same_state() -> None:
    program = thalweg.parse(RULES)
    used = Reasoner(program, window=20, step=10)
    used.accept([seen([f"w{i}" for i in range(1200)] + ["v3", "v9"], 3.5, 3)])
    used.advance(10)
    alone, later = Reasoner(thalweg.parse(RULES), window=20, step=10), Reasoner(program, window=20, step=10)
    for reasoner in (alone, later):
        reasoner.accept([seen(["v9", "v5", "x"], 2.5, 4)])
        reasoner.advance(10)
    assert alone.snapshot() == later.snapshot()
    later.restore(used.snapshot())
    later.accept([seen(["v9", "w1"], 0.5, 13)])
    assert fluents(later, 20) == ["fast(v9)", "fast(v9)"]


def test_a_program_that_is_checked_and_run_is_brought_into_normal_form_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Program] = []
    run = Normaliser.run

    def counted(self: Normaliser) -> Normal:
        asked.append(self.program)
        return run(self)

    monkeypatch.setattr(Normaliser, "run", counted)
    program = thalweg.parse(RULES)
    assert not has_errors(program.check())
    known = program.once(normalise).copy()
    outline(program)
    program.check()
    assert asked == [program]
    assert program.once(normalise) == known
