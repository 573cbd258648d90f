"""A stream of ever new texts: those that nothing refers to are forgotten, and nobody can tell."""

from __future__ import annotations

import random

import pytest
from answers_random import Rich, run, sampled
from answers_support import facts
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.answers.reasoner import Reasoner
from thalweg.columns import symbols
from thalweg.columns.symbols import SymbolTable
from thalweg.protocol import Batch, Revision

PROGRAMS = {
    "joins": """
        query bought(X, W, T).
        bought(X, W, T) :- asked(X, W, T), trusted(W), paid(X, T+2).
        trusted(ann). trusted('Bob B').
    """,
    "negation": """
        query odd(X, W, T). query quiet(X, T).
        odd(X, W, T) :- asked(X, W, T), not paid(X, T+1), W \\= cy.
        quiet(X, T) :- paid(X, T), not asked(X, ann, T-1).
    """,
    "loose": """
        query met(X, T).
        met(X, T) :- asked(X, ann, S), paid(X, T).
    """,
    "own times": """
        query seen(X).
        seen(X) :- asked(X, Y, T), paid(X, T+1), not asked(X, Y, T+2).
        seen(X) :- asked(X, ann, S), paid(X, T), T > S, T =< S+2.
    """,
}
PEOPLE = ("ann", "Bob B", "cy", "17")
TABLES = ("answers", "open", "changes", "rejected")


def stream(seed: int, steps: int, lateness: int) -> list[Batch]:
    """For each step rows about ever new things; some late, some early, some taken back."""
    rng = random.Random(seed)
    found: list[Batch] = []
    for t in range(steps):
        names = [f"{rng.choice(('x', 'Thing ', '9'))}{t}{i}" for i in range(3)]
        asked = [("asked", name, rng.choice(PEOPLE), t) for name in names]
        paid = [("paid", name, t + rng.randint(0, 3)) for name in names if rng.random() < 0.8]
        batch = facts(*asked, *paid, ("nobody", f"refused{t}", t), arrival=t)
        if lateness and t:
            batch += facts(("asked", f"late{t}", "ann", t - 1), arrival=t)
            batch += facts(asked[0], arrival=t + 1, op=-1)
        found.append(batch)
    return found


def shown(revision: Revision) -> list[list[str]]:
    return [sorted(map(repr, revision[name].to_pylist())) for name in TABLES]


def fresh(name: str, lateness: int, *, retain: bool = False) -> Reasoner:
    return Reasoner(parse(PROGRAMS[name]), lateness, horizon=4 if name == "loose" else None, retain=retain)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(0, 2))
def test_forgetting_texts_at_every_step_changes_no_answer(seed: int, lateness: int) -> None:
    made = sampled(Rich(seed), lateness, random.Random(seed))
    assume(made is not None)
    assert made is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SymbolTable, "is_due", lambda _: True)
        run(*made, lateness)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("lateness", [0, 2])
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from([0, 4, 8]), st.sampled_from([1, 3, 7]), st.booleans(), st.data())
def test_a_reasoner_that_forgets_texts_tells_what_one_does_that_remembers_all(
    name: str, lateness: int, seed: int, few: int, stride: int, retain: bool, data: st.DataObject
) -> None:
    """Also to those who read the tables only in the end."""
    rows = stream(seed, 21, lateness)
    stops = data.draw(st.sets(st.integers(0, 20)))
    all_of_it = fresh(name, lateness, retain=retain)
    expected = []
    for t, batch in enumerate(rows):
        all_of_it.accept(batch)
        if t % stride == stride - 1:
            expected.append(shown(all_of_it.advance(t)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symbols, "FEW", few)
        one, other = (fresh(name, lateness, retain=retain) for _ in range(2))
        found, again, unread = [], [], []
        for t, batch in enumerate(rows):
            for reasoner in (one, other):
                reasoner.accept(batch)
            if t in stops:  # rows wait, too
                state = one.snapshot()
                assert state == other.snapshot()
                other = fresh(name, lateness, retain=retain)
                other.restore(state)
            if t % stride == stride - 1:
                unread.append(one.advance(t))
                again.append(shown(other.advance(t)))
        assert one.snapshot() == other.snapshot()
        found = [shown(revision) for revision in unread]
    assert found == again == expected
    assert any(tables[2] for tables in expected)
    assert one.codec.symbols.kept > 0


@pytest.mark.parametrize("name", ["joins", "negation"])
@pytest.mark.parametrize("lateness", [0, 2])
def test_texts_follow_what_is_open_and_not_the_stream(
    name: str, lateness: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbols, "FEW", 20)
    reasoner = fresh(name, lateness)
    known, sizes = [], []
    for t, batch in enumerate(stream(3, 150, lateness)):
        reasoner.accept(batch)
        reasoner.advance(t)
        known.append(len(reasoner.codec.symbols))
        sizes.append(len(reasoner.snapshot()))
    assert max(known[75:]) < 1.5 * max(known[20:60]) < 400
    assert max(sizes[75:]) < 1.5 * max(sizes[20:60])


def test_a_changed_program_goes_on_with_texts_that_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SymbolTable, "is_due", lambda _: True)
    reasoner = fresh("joins", 1, retain=True)
    rows = stream(7, 16, 1)
    for t in range(10):
        reasoner.accept(rows[t])
        reasoner.advance(t)
    program = parse("query asked_twice(X, T). asked_twice(X, T) :- asked(X, other, T), asked(X, more, T+1).")
    changed = reasoner.changed(program)
    changed.revise()
    copy = Reasoner(program, 1, retain=True)
    copy.restore(changed.snapshot())
    for t in range(10, 16):
        found = []
        for one in (changed, copy):
            one.accept(facts(("asked", f"new{t}", "other", t), ("asked", f"new{t - 1}", "more", t)))
            found.append(one.advance(t)["answers"]["X"].to_pylist())
        assert found[0] == found[1] == ([f"new{t - 1}"] if t > 10 else [])
    assert changed.snapshot() == copy.snapshot()
