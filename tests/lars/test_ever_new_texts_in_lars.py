"""A stream of ever new texts: those that nothing refers to are forgotten, and nobody can tell."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lars_programs import Fact, batch, current
from test_lars_against_reference import FORMS, Definition, assert_follows, case

import thalweg
from thalweg.columns import symbols
from thalweg.columns.symbols import SymbolTable
from thalweg.lars.reasoner import Reasoner
from thalweg.protocol import Revision

PROGRAMS = {
    "joins": """program lars.
        seen(X) if [5] sometime p(X).
        twice(X) if [5] sometime p(X), [3] sometime q(X, W), known(W).
        known(ann). known('Bob B').
        alone(X) if [4] sometime p(X), not [6] sometime q(X, _).
        many(W, N) if N = count(X) over [8] q(X, W).
        still(X) if [3] always seen(X).
    """,
    "counted": """program lars.
        last(X) if [3 #] sometime p(X).
        both(X, W) if [3 #] sometime p(X), [5] sometime q(X, W).
    """,
    "choices": """program lars.
        pick(X) if [3] sometime p(X), not skip(X).
        skip(X) if [3] sometime p(X), not pick(X).
        odd(X) if [2] sometime q(X, cy), not odd(X).
        told(X, W) if pick(X), [4] sometime q(X, W).
    """,
    "ahead": """program lars.
        at(T+4) due(X) if [0] at(T) p(X).
        was(X, T) if [0] at(T) q(X, _).
        later(X) if [5] sometime was(X, _), not [5] sometime due(X).
    """,
}
PEOPLE = ("ann", "Bob B", "cy", "17")
quickly = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))


def stream(seed: int, ticks: int) -> list[list[tuple[Fact, int, int]]]:
    """For each tick the rows that arrive: facts about ever new things with their arrivals and operations."""
    rng = Random(seed)
    found: list[list[tuple[Fact, int, int]]] = []
    for t in range(ticks):
        names = [f"{rng.choice(('x', 'Thing ', '9'))}{t}{i}" for i in range(2)]
        rows = [((t, "p", (name,)), t, 1) for name in names]
        rows += [((t, "q", (rng.choice(names), rng.choice(PEOPLE))), t, 1) for _ in range(rng.randint(0, 2))]
        rows.append(((max(0, t - 1), "p", (f"late{t}",)), t, 1))
        if rng.random() < 0.5 and found:
            fact, _, _ = found[-1][0]
            rows.append((fact, t, -1))
        rows.append(((t + 2, "p", (f"early{t}",)), t, 1))
        rows.append(((t, "nobody", (f"refused{t}",)), t, 1))
        found.append(rows)
    return found


def feed(reasoner: Reasoner, rows: list[tuple[Fact, int, int]]) -> None:
    facts, arrivals, ops = zip(*rows, strict=True)
    reasoner.accept(batch(facts, arrivals, ops))


def told(revision: Revision) -> dict[str, list[str]]:
    return {name: sorted(map(repr, table.to_pylist())) for name, table in revision.tables.items()}


@pytest.mark.parametrize("form", FORMS)
@quickly
@given(seed=st.integers(0, 2**32))
def test_forgetting_texts_at_every_tick_changes_no_answer(form: str, seed: int) -> None:
    program, facts = case(seed, FORMS[form])
    definition = Definition(program)
    if not definition.small(facts):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SymbolTable, "is_due", lambda _: True)
        assert_follows(Reasoner(program), definition, facts)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("lateness", [0, 3])
@quickly
@given(st.integers(0, 2**30), st.sampled_from([0, 4, 8]), st.booleans(), st.data())
def test_a_reasoner_that_forgets_texts_tells_what_one_does_that_remembers_all(
    name: str, lateness: int, seed: int, few: int, retain: bool, data: st.DataObject
) -> None:
    program, rows = thalweg.parse(PROGRAMS[name]), stream(seed, 24)
    stops = data.draw(st.sets(st.integers(0, 23)))

    def fresh() -> Reasoner:
        return Reasoner(program, lateness=lateness, retain=retain, answers=True, labels=True)

    all_of_it, expected = fresh(), []
    for t, some in enumerate(rows):
        feed(all_of_it, some)
        expected.append(told(all_of_it.advance(t)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symbols, "FEW", few)
        one, other = fresh(), fresh()
        for t, some in enumerate(rows):
            for reasoner in (one, other):
                feed(reasoner, some)
            if t in stops:  # rows wait, too
                state = one.snapshot()
                assert state == other.snapshot()
                other = fresh()
                other.restore(state)
            assert told(one.advance(t)) == told(other.advance(t)) == expected[t]
        assert one.snapshot() == other.snapshot()
    assert any(t["changes"] for t in expected)
    assert one._codes.symbols.kept > 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_follow_the_window_and_not_the_stream(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "FEW", 20)
    reasoner = Reasoner(thalweg.parse(PROGRAMS[name]), lateness=2)
    known, written, sizes = [], [], []
    for t, rows in enumerate(stream(3, 150)):
        feed(reasoner, rows)
        reasoner.advance(t)
        known.append(len(reasoner._codes.symbols))
        written.append(len(reasoner._texts._pool))
        sizes.append(len(reasoner.snapshot()))
    assert max(known[75:]) < 1.5 * max(known[20:60]) < 600
    assert max(written[75:]) < 1.5 * max(written[20:60])
    assert max(sizes[75:]) < 1.5 * max(sizes[20:60])


def test_texts_are_forgotten_when_a_derived_predicate_gets_input() -> None:
    program = thalweg.parse("program lars. a(X) if [2] sometime p(X). b(X, end) if [3] sometime a(X).")
    found = []
    for due in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SymbolTable, "is_due", lambda _, due=due: due)
            reasoner = Reasoner(program)
            for t in range(12):
                reasoner.accept(batch([(t, "p", (f"x{t}",))]))
                if t > 5:
                    reasoner.accept(batch([(t, "a", (f"y{t}",))]))
                reasoner.advance(t)
            found.append((current(reasoner), len(reasoner._codes.symbols)))
    assert found[0][0] == found[1][0] >= {(None, "a(x11)"), (None, "b(y9,end)"), (None, "b(x11,end)")}
    assert found[1][1] < found[0][1] == 19


def test_few_texts_are_not_worth_forgetting() -> None:
    reasoner = Reasoner(thalweg.parse(PROGRAMS["joins"]))
    for t, rows in enumerate(stream(3, 40)):
        feed(reasoner, rows)
        reasoner.advance(t)
    assert reasoner._codes.symbols.kept == 0 and len(reasoner._codes.symbols) > 100
