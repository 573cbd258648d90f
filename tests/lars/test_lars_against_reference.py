"""Generated programs: whatever the reasoner says is what the definition says, however the input comes."""

from __future__ import annotations

from random import Random

import lars_points as points
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lars_programs import (
    INPUTS,
    Choose,
    Draw,
    Fact,
    Timeline,
    batch,
    current,
    heads,
    lasting,
    program_of,
    stream_of,
    term,
)

import thalweg
from thalweg.language.program import Program
from thalweg.language.rules import Clause
from thalweg.language.terms import Term, signature
from thalweg.lars import diagonal
from thalweg.lars.reasoner import Reasoner
from thalweg.lars.stratify import stratify
from thalweg.reference.lars import Answer, answer_streams, prefer
from thalweg.reference.lars_search import candidates, rules_of
from thalweg.reference.lars_streams import Stream
from thalweg.reference.lars_terms import substitute
from thalweg.reference.lars_truth import Head, instances

LAST = 8
MOST = 5
"""Programs with more possible heads than this take the definition too long."""
FORMS = {
    "time": Draw(windows=("time",), aggregates=False),
    "all": Draw(),
    "loops": Draw(loops=True),
}
quickly = settings(
    max_examples=settings.default.max_examples // 8, deadline=None, suppress_health_check=list(HealthCheck)
)


def case(seed: int, form: Draw) -> tuple[Program, list[Fact]]:
    """A program, and input for the predicates that it reads."""
    choose = Choose(Random(seed))
    program = program_of(choose, form)
    read = {f"{n}/{k}" for n, k in (e.atom for e in stratify(program).edges)}
    return program, [f for f in stream_of(choose, (*INPUTS, "d/1", "c/0")) if f"{f[1]}/{len(f[2])}" in read]


def written(atom: str) -> Term:
    """The term of a text."""
    (fact,) = (s for s in thalweg.parse(f"program lars. {atom}.").statements if isinstance(s, Clause))
    return substitute(fact.head, {})


class Definition:
    """What the definition gives for a program, tick by tick, with the preferred choice."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.chosen = stratify(program).chosen

    def small(self, facts: list[Fact], last: int = LAST) -> bool:
        data = [(f[0], term(f)) for f in facts]
        return all(len(candidates(self.program, data, t)) <= MOST for t in range(last + 1))

    def answers(self, facts: list[Fact], t: int) -> list[Answer]:
        return answer_streams(self.program, [(f[0], term(f)) for f in facts], t)

    def reported(self, reasoner: Reasoner) -> frozenset[Head]:
        """The chosen heads that the reasoner stands at: where one loop has no answer the others have theirs."""
        found = {(at, written(atom)) for at, atom in current(reasoner)}
        return frozenset(h for h in found if signature(h[1]) in self.chosen)

    def step(self, facts: list[Fact], t: int, previous: frozenset[Head]) -> tuple[Answer | None, frozenset[Head]]:
        found = self.answers(facts, t)
        if not found:
            return None, frozenset()
        best = prefer(found, previous, self.chosen)
        return best, frozenset(h for _, h in best.heads if signature(h[1]) in self.chosen)


def assert_follows(reasoner: Reasoner, definition: Definition, facts: list[Fact]) -> None:
    """Fails where the answer of a reasoner, or what its changes add up to, is not that of the definition."""
    reasoner.accept(batch(facts))
    timeline, previous = Timeline(), frozenset[Head]()
    for t in range(LAST + 1):
        timeline.apply(reasoner.advance(t)["changes"], t)
        best, previous = definition.step(facts, t, previous)
        if best is None:
            previous = definition.reported(reasoner)
        else:
            assert current(reasoner) == timeline.at(t) == heads(best.heads)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("predict", [True, False])
@quickly
@given(seed=st.integers(0, 2**32))
def test_answers_and_changes_are_those_of_the_definition(form: str, predict: bool, seed: int) -> None:
    program, facts = case(seed, FORMS[form])
    definition = Definition(program)
    if not definition.small(facts):
        return
    reasoner = Reasoner(program, predict=predict)
    assert_follows(reasoner, definition, facts)


@pytest.mark.parametrize("form", FORMS)
@quickly
@given(seed=st.integers(0, 2**32))
def test_ticks_handled_in_blocks_give_the_same_timeline(form: str, seed: int) -> None:
    program, facts = case(seed, FORMS[form])
    one, other = Timeline(), Timeline()
    ticks, blocks = Reasoner(program), Reasoner(program, blocks=True)
    ticks.accept(batch(facts))
    blocks.accept(batch(facts))
    for t in range(LAST + 1):
        one.apply(ticks.advance(t)["changes"], t)
    other.apply(blocks.advance(3)["changes"], 3)
    other.apply(blocks.advance(LAST)["changes"], LAST)
    assert [one.at(t) for t in range(LAST + 1)] == [other.at(t) for t in range(LAST + 1)]


@quickly
@given(seed=st.integers(0, 2**32))
def test_no_answer_stream_is_reported_exactly_where_there_is_none(seed: int) -> None:
    program, facts = case(seed, FORMS["loops"])
    definition = Definition(program)
    if not definition.small(facts) or not definition.chosen:
        return
    reasoner = Reasoner(program)
    reasoner.accept(batch(facts))
    missing = 0
    for t in range(LAST + 1):
        for row in reasoner.advance(t)["no_answer"].to_pylist():
            missing += 1 if row["op"] == "insert" else -1
        assert (missing > 0) == (not definition.answers(facts, t))


@quickly
@given(seed=st.integers(0, 2**32))
def test_all_answer_streams_can_be_asked_for(seed: int) -> None:
    program, facts = case(seed, FORMS["loops"])
    definition = Definition(program)
    if not definition.small(facts):
        return
    reasoner = Reasoner(program)
    reasoner.accept(batch(facts))
    for t in range(LAST + 1):
        reasoner.advance(t)
        before = current(reasoner)
        found: dict[int, set[tuple[int | None, str]]] = {}
        for row in reasoner.models().to_pylist():
            model = found.setdefault(row["model"], set())
            if row["atom"] is not None:
                model.add((row["at"], row["atom"]))
        expected = {heads(a.heads) for a in definition.answers(facts, t)}
        assert {frozenset(m) for m in found.values()} == expected
        assert current(reasoner) == before


@pytest.mark.parametrize("form", FORMS)
@quickly
@given(seed=st.integers(0, 2**32))
def test_labels_end_exactly_where_the_answer_next_changes(form: str, seed: int) -> None:
    program, facts = case(seed, FORMS[form])
    definition = Definition(program)
    if not definition.small(facts):
        return
    reasoner = Reasoner(program)
    reasoner.accept(batch(facts))
    previous = frozenset[Head]()
    for t in range(5):
        reasoner.advance(t)
        known = [f for f in facts if f[0] <= t]
        best, previous = definition.step(known, t, previous)
        if best is None:
            previous = definition.reported(reasoner)
            continue
        ends, left, later = lasting(reasoner), set(heads(best.heads)), previous
        for q in range(t + 1, t + 7):
            following, later = definition.step(known, q, later)
            if following is None:
                break
            for atom in left - heads(following.heads):
                assert ends[atom] == q - 1
            left &= heads(following.heads)


@quickly
@given(seed=st.integers(0, 2**32))
def test_ends_of_what_rests_on_points_are_where_the_definition_next_changes(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(diagonal, "_AHEAD", 1)
    monkeypatch.setattr(diagonal, "_SOON", 1)
    program, facts, tick = points.case(seed, background=False, loops=True)
    definition, previous = Definition(program), frozenset[Head]()
    if not definition.small(facts, tick + 20):
        return
    reasoner = Reasoner(program)
    reasoner.accept(batch(facts))
    for t in range(tick + 1):
        reasoner.advance(t)
        best, previous = definition.step(facts, t, previous)
        if best is None:
            previous = definition.reported(reasoner)
    ends = {(r["at"], r["atom"]): (r["to"], r["exact"]) for r in reasoner.answers().to_pylist()}
    left = set(ends)
    for t in range(tick + 1, tick + 21):
        best, previous = definition.step(facts, t, previous)
        if best is None:
            return
        for atom in left - heads(best.heads):
            end, exact = ends[atom]
            assert end == t - 1 if exact else end is not None and end < t, (atom, end, t)
        left &= heads(best.heads)
    assert all(ends[atom][0] is None or ends[atom][0] >= tick + 20 or not ends[atom][1] for atom in left)


def truth(program: Program, known: list[Fact], best: Answer, t: int, written: str) -> bool:
    """Is an extended atom, as `labels` writes it, true at t on an answer stream?"""
    (rule,) = rules_of(thalweg.parse(f"program lars. asked if {written}."))
    data = frozenset((f[0], term(f)) for f in known)
    facts = {s.head for s in program.statements if isinstance(s, Clause) and not s.body}
    stream = Stream(0, data | best.derived, data, frozenset(substitute(a, {}) for a in facts))
    return next(instances(rule, stream, t), None) is not None


@pytest.mark.parametrize("form", FORMS)
@quickly
@given(seed=st.integers(0, 2**32))
def test_labels_of_window_atoms_say_what_is_true_and_until_when(form: str, seed: int) -> None:
    program, facts = case(seed, FORMS[form])
    definition, t = Definition(program), 3
    known = [f for f in facts if f[0] <= t]
    if not definition.small(known):
        return
    reasoner = Reasoner(program)
    reasoner.accept(batch(known))
    reasoner.advance(t)
    rows = [r for r in reasoner.labels().to_pylist() if r["atom"].startswith("[") and "by" not in r["atom"]]
    previous = frozenset[Head]()
    for q in range(LAST + 1):
        best, previous = definition.step(known, q, previous)
        if best is None:
            return
        for row in rows if q >= t else ():
            here = truth(program, known, best, q, row["atom"])
            if row["to"] is None or q <= row["to"]:
                assert here == (row["status"] == "in"), (row, q)
            elif q == row["to"] + 1:
                assert here == (row["status"] == "out"), (row, q)


def known_at(rows: list[tuple[Fact, int, int]], t: int, lateness: int) -> list[Fact]:
    """The facts that count at a tick, by the rules of admission."""
    state: dict[Fact, bool] = {}
    for due in range(t + 1):
        here = [(a, op, f) for f, a, op in rows if max(f[0], a) == due and due - f[0] <= lateness]
        for _, op, fact in sorted(here, key=lambda x: x[:2]):
            state[fact] = op > 0
    return [f for f, there in state.items() if there]


@pytest.mark.parametrize("form", ["time", "all"])
@pytest.mark.parametrize("blocks", [False, True])
@quickly
@given(seed=st.integers(0, 2**32))
def test_late_rows_and_retractions_revise_the_answers_and_snapshots_lose_nothing(
    form: str, blocks: bool, seed: int
) -> None:
    program, facts = case(seed, FORMS[form])
    definition, random = Definition(program), Random(seed)
    lateness = random.randint(0, 3)
    rows = [(f, f[0] + random.choice([0, 0, -1, 1, 2, 3]), 1) for f in facts]
    rows += [(f, a + random.randint(0, 2), -1) for f, a, _ in rows if random.random() < 0.3]
    random.shuffle(rows)
    if not definition.small(facts):
        return
    reasoner, timeline = Reasoner(program, lateness=lateness, blocks=blocks), Timeline()
    for t in [2, LAST] if blocks else range(LAST + 1):
        now = [r for r in rows if timeline.now < r[1] <= t or (timeline.now < 0 and r[1] <= t)]
        if now:
            reasoner.accept(batch(*(list(c) for c in zip(*now, strict=True))))
        if t in (2, 5):
            resumed = Reasoner(program, lateness=lateness, blocks=blocks)
            resumed.restore(reasoner.snapshot())
            assert resumed.snapshot() == reasoner.snapshot()
            reasoner = resumed
        timeline.apply(reasoner.advance(t)["changes"], t)
        known = known_at(rows, t, lateness)
        if definition.small(known, t):
            for s in range(max(0, t - lateness), t + 1):
                assert timeline.at(s) == heads(definition.answers(known, s)[0].heads)
