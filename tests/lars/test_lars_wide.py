"""More of the language over more kinds of streams: what is reported is an answer stream, however the input comes."""

from __future__ import annotations

from functools import cache
from random import Random

import lars_wide as wide
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lars_programs import Fact, Timeline, batch, term
from test_lars_against_reference import written

from thalweg.language.program import Program
from thalweg.language.rules import Clause
from thalweg.language.terms import Term
from thalweg.lars.reasoner import Reasoner
from thalweg.protocol import Revision
from thalweg.reference.lars import as_answer
from thalweg.reference.lars_terms import substitute

LAST, AFTER = 9, 12
MOST = 7
"""Answers with more atoms than this take the definition too long."""
quickly = settings(
    max_examples=settings.default.max_examples // 5, deadline=None, suppress_health_check=list(HealthCheck)
)
parsed = cache(written)


def known_at(rows: list[wide.Row], t: int, lateness: int, start: int) -> list[tuple[int, Term]]:
    """The facts that count at a tick, by the rules of admission."""
    state: dict[Fact, bool] = {}
    for due in range(start, t + 1):
        here = [(a, op, f) for f, a, op in rows if max(f[0], a, start) == due and due - f[0] <= lateness]
        for _, op, fact in sorted(here, key=lambda x: x[:2]):
            state[fact] = op > 0
    return [(f[0], term(f)) for f, there in state.items() if there and f[0] <= t]


class Told:
    """What a reasoner has told: the answers tick by tick, and where there are none."""

    def __init__(self, start: int) -> None:
        self.answers, self.missing = Timeline(), Timeline()
        self.answers.now = self.missing.now = start - 1

    def apply(self, revision: Revision, now: int) -> None:
        self.answers.apply(revision["changes"], now)
        if "no_answer" in revision.tables:
            table = revision["no_answer"]
            renamed = table.rename_columns(["atom" if n == "loop" else n for n in table.column_names])
            self.missing.apply(renamed.append_column("at", pa.nulls(len(table), pa.int64())), now)

    def assert_answer(self, program: Program, known: list[tuple[int, Term]], s: int, start: int) -> None:
        """Fails where there is an answer stream at s, by what was told, and it is none."""
        if self.missing.at(s):
            return
        told = {(at, parsed(atom)) for at, atom in self.answers.at(s)}
        facts = (c.head for c in program.statements if isinstance(c, Clause) and not c.body)
        background = {substitute(head, {}) for head in facts}
        chosen = {(s if at is None else at, atom) for at, atom in told if atom not in background}
        chosen -= {fact for fact in known if fact[0] <= s}
        if len(chosen) <= MOST:
            answer = as_answer(program, known, s, chosen, start)
            assert answer is not None, (s, sorted(self.answers.at(s), key=str))
            assert {head for _, head in answer.heads} == told


@pytest.mark.parametrize("computing", [0.06, 0.4])
@pytest.mark.parametrize("loops", [False, True])
@quickly
@given(seed=st.integers(0, 2**32))
def test_what_is_reported_is_an_answer_stream_and_lasts_as_long_as_is_said(
    loops: bool, computing: float, seed: int
) -> None:
    random = Random(seed)
    program = wide.Wide(random, loops, computing).program()
    start, lateness = random.choice([0, 0, -4, 3]), random.choice([0, 0, 1, 3])
    blocks, predict, retain = (random.random() < share for share in (0.2, 0.7, 0.3))
    last = start + LAST
    stops = sorted({*random.sample(range(start, last), random.randint(0, LAST)), last})

    def fresh() -> Reasoner:
        return Reasoner(program, lateness=lateness, blocks=blocks, predict=predict, start=start, retain=retain)

    reasoner, told, before = fresh(), Told(start), start - 100
    rows = wide.stream_of(random, program, start, last, reasoner._network.kinds)
    for t in stops:
        now = [r for r in rows if before < r[1] <= t]
        reasoner.accept(batch(*(list(c) for c in zip(*now, strict=True))) if now else [])
        if random.random() < 0.2:
            resumed = fresh()
            resumed.restore(reasoner.snapshot())
            assert resumed.snapshot() == reasoner.snapshot()
            reasoner = resumed
        told.apply(reasoner.advance(t), t)
        known = known_at(rows, t, lateness, start)
        for s in range(max(start, min(before, t - lateness) + 1), t + 1):
            told.assert_answer(program, known, s, start)
        before = t
    if all(max(fact[0], arrival) <= last for fact, arrival, _ in rows):
        assert_lasting(reasoner, told, program, known, last, exact=not blocks)


def assert_lasting(
    reasoner: Reasoner, told: Told, program: Program, known: list[tuple[int, Term]], last: int, *, exact: bool
) -> None:
    """Fails where, without further input, an atom leaves before it is said to, or (where that is exact) after it."""
    ends = [((r["at"], r["atom"]), r["to"], r["exact"]) for r in reasoner.answers().to_pylist()]
    for t in range(last + 1, last + AFTER):
        told.apply(reasoner.advance(t), t)
        told.assert_answer(program, known, t, reasoner.start)
        if told.missing.at(t):
            return
        for atom, end, sure in ends if exact else ():
            gone = atom in told.answers.at(t - 1) and atom not in told.answers.at(t)
            assert not gone or (end is not None and end < t), (atom, end, t)
            assert end is None or not sure or t != end + 1 or gone, (atom, end, t)
