"""More of the language over more kinds of streams: what is reported is an answer stream, however the input comes."""

from __future__ import annotations

from functools import cache
from random import Random

import lars_wide as wide
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lars_programs import Timeline, batch, term
from test_lars_against_reference import written

from thalweg.language.program import Program
from thalweg.language.rules import Clause
from thalweg.language.terms import Term
from thalweg.lars.reasoner import Reasoner
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
    state: dict[object, bool] = {}
    for due in range(start, t + 1):
        here = [(a, op, f) for f, a, op in rows if max(f[0], a, start) == due and due - f[0] <= lateness]
        for _, op, fact in sorted(here, key=lambda x: x[:2]):
            state[fact] = op > 0
    return [(f[0], term(f)) for f, there in state.items() if there and f[0] <= t]  # type: ignore[index, arg-type]


class Missing:
    """Folds the rows of `no_answer`: the ticks at which there is none."""

    def __init__(self, now: int) -> None:
        self.timeline = Timeline()
        self.timeline.now = now

    def apply(self, revision: object, now: int) -> None:
        if "no_answer" in revision.tables:  # type: ignore[attr-defined]
            table = revision["no_answer"]  # type: ignore[index]
            rows = [{**row, "atom": row["loop"], "at": None} for row in table.to_pylist()]
            self.timeline.apply(_Rows(rows), now)  # type: ignore[arg-type]

    def at(self, tick: int) -> bool:
        return bool(self.timeline.at(tick))


class _Rows:
    def __init__(self, rows: list[dict[str, object]]) -> None:
        self.rows = rows

    def to_pylist(self) -> list[dict[str, object]]:
        return self.rows


@pytest.mark.parametrize("loops", [False, True])
@quickly
@given(seed=st.integers(0, 2**32))
def test_what_is_reported_is_an_answer_stream_and_lasts_as_long_as_is_said(loops: bool, seed: int) -> None:
    random = Random(seed)
    program = wide.Wide(random, loops).program()
    start, lateness = random.choice([0, 0, -4, 3]), random.choice([0, 0, 1, 3])
    blocks, predict, retain = (random.random() < share for share in (0.2, 0.7, 0.3))
    stops = sorted({*random.sample(range(start, start + LAST), random.randint(0, LAST)), start + LAST})

    def fresh() -> Reasoner:
        return Reasoner(program, lateness=lateness, blocks=blocks, predict=predict, start=start, retain=retain)

    reasoner, timeline, missing = fresh(), Timeline(), Missing(start - 1)
    rows = wide.stream_of(random, program, start, start + LAST, reasoner._network.kinds)
    timeline.now, before = start - 1, start - 100
    for t in stops:
        now = [r for r in rows if before < r[1] <= t]
        reasoner.accept(batch(*(list(c) for c in zip(*now, strict=True))) if now else [])
        if random.random() < 0.2:
            resumed = fresh()
            resumed.restore(reasoner.snapshot())
            assert resumed.snapshot() == reasoner.snapshot()
            reasoner = resumed
        revision = reasoner.advance(t)
        timeline.apply(revision["changes"], t)
        missing.apply(revision, t)
        known = known_at(rows, t, lateness, start)
        for s in range(max(start, min(before, t - lateness) + 1), t + 1):
            assert_answer(program, known, s, timeline, missing, start)
        before = t
    ends = [(r["at"], r["atom"], r["to"], r["exact"]) for r in reasoner.answers().to_pylist()]
    last = start + LAST
    for t in range(last + 1, last + AFTER):
        held = timeline.at(t - 1)
        more = [r for r in rows if before < r[1] <= t or (t == last + 1 and r[0][0] > last)]
        if more:
            return
        revision = reasoner.advance(t)
        timeline.apply(revision["changes"], t)
        missing.apply(revision, t)
        assert_answer(program, known_at(rows, t, lateness, start), t, timeline, missing, start)
        if blocks or missing.at(t):
            continue
        for at, atom, end, exact in ends:
            gone = (at, atom) in held and (at, atom) not in timeline.at(t)
            assert not gone or (end is not None and end < t), (at, atom, end, t)
            assert end is None or not exact or t != end + 1 or gone, (at, atom, end, t)
        before = t


def assert_answer(
    program: Program, known: list[tuple[int, Term]], s: int, timeline: Timeline, missing: Missing, start: int
) -> None:
    if missing.at(s):
        return
    told = {(at, parsed(atom)) for at, atom in timeline.at(s)}
    facts = (c.head for c in program.statements if isinstance(c, Clause) and not c.body)
    background = {substitute(head, {}) for head in facts}
    chosen = {(s if at is None else at, atom) for at, atom in told if atom not in background}
    chosen -= {fact for fact in known if fact[0] <= s}
    if len(chosen) > MOST:
        return
    answer = as_answer(program, known, s, chosen, start)
    assert answer is not None, (s, sorted(timeline.at(s), key=str))
    assert {h for _, h in answer.heads} == told
