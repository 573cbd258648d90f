"""Choices that rest on other choices through whole windows: what the definition says, and nothing else."""

from __future__ import annotations

from random import Random

import lars_joint as joint
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lars_programs import Fact, Timeline, batch, current, heads
from test_lars_against_reference import Definition, truth

import thalweg
from thalweg.lars import folding
from thalweg.lars.reasoner import Reasoner
from thalweg.protocol import TooLarge
from thalweg.reference.lars import prefer
from thalweg.reference.lars_truth import Head

LAST = 8
quickly = settings(
    max_examples=settings.default.max_examples // 8, deadline=None, suppress_health_check=list(HealthCheck)
)


def all_models(reasoner: Reasoner) -> set[frozenset[tuple[int | None, str]]]:
    """Every answer stream that the reasoner tells of."""
    found: dict[int, set[tuple[int | None, str]]] = {}
    for row in reasoner.models().to_pylist():
        model = found.setdefault(row["model"], set())
        if row["atom"] is not None:
            model.add((row["at"], row["atom"]))
    return {frozenset(m) for m in found.values()}


@pytest.mark.parametrize("kind", joint.KINDS)
@quickly
@given(seed=st.integers(0, 2**32))
def test_answers_persistence_models_and_their_lack_are_those_of_the_definition(kind: str, seed: int) -> None:
    program, facts = joint.case(seed, kind)
    definition, random = Definition(program), Random(seed)
    if not definition.small(facts):
        return
    predict, by_tick, resumed_at = random.random() < 0.6, random.random() < 0.5, random.randint(0, LAST)
    reasoner, timeline, missing, previous = Reasoner(program, predict=predict), Timeline(), 0, frozenset[Head]()
    if not by_tick:
        reasoner.accept(batch(facts))
    for t in range(LAST + 1):
        if by_tick:
            reasoner.accept(batch([f for f in facts if f[0] == t]))
        if t == resumed_at:
            resumed = Reasoner(program, predict=predict)
            resumed.restore(reasoner.snapshot())
            assert resumed.snapshot() == reasoner.snapshot()
            reasoner = resumed
        told = reasoner.advance(t)
        timeline.apply(told["changes"], t)
        missing += sum(1 if row["op"] == "insert" else -1 for row in told["no_answer"].to_pylist())
        answers = definition.answers(facts, t)
        assert (missing > 0) == (not answers)
        assert all_models(reasoner) == {heads(a.heads) for a in answers}
        if answers:
            best = prefer(answers, previous, definition.chosen)
            assert current(reasoner) == timeline.at(t) == heads(best.heads)
        previous = definition.reported(reasoner)


@pytest.mark.parametrize("kind", ["always", "all"])
@quickly
@given(seed=st.integers(0, 2**32))
def test_labels_end_where_the_definition_next_changes_or_are_said_not_to_be_exact(kind: str, seed: int) -> None:
    program, facts = joint.case(seed, kind)
    definition, t = Definition(program), 3
    known = [f for f in facts if f[0] <= t]
    if not definition.small(known):
        return
    reasoner = Reasoner(program)
    reasoner.accept(batch(known))
    reasoner.advance(t)
    ends = {(r["at"], r["atom"]): (r["to"], r["exact"]) for r in reasoner.answers().to_pylist()}
    rows = [r for r in reasoner.labels().to_pylist() if r["atom"].startswith("[") and "by" not in r["atom"]]
    previous, left = frozenset[Head](), set(ends)
    for q in range(LAST + 1):
        best, previous = definition.step(known, q, previous)
        if best is None:
            return
        for row in rows if q >= t else ():
            here = truth(program, known, best, q, row["atom"])
            if row["to"] is None or q <= row["to"]:
                assert here == (row["status"] == "in"), (row, q)
            elif row["exact"] and q == row["to"] + 1:
                assert here == (row["status"] == "out"), (row, q)
        for atom in left - heads(best.heads) if q > t else ():
            end, exact = ends[atom]
            assert end == q - 1 if exact else end is not None and end < q, (atom, end, q)
            left.remove(atom)


def run(source: str, facts: list[Fact], last: int, **options: bool) -> Reasoner:
    reasoner = Reasoner(thalweg.parse(f"program lars. {source}"), **options)
    reasoner.accept(batch(facts))
    reasoner.advance(last)
    return reasoner


CHOSEN = """
    at(T) c if [9] at(T) a, not at(T) d.
    at(T) d if [9] at(T) a, not at(T) c.
"""


@pytest.mark.parametrize(
    ("above", "with_it"),
    [
        ("e if [2] always c, not f. f if [9] sometime a, not e.", 1),
        ("e if N = count(1) over [9] c, N = 2, not f. f if [9] sometime a, not e.", 3),
        ("e if N = sum(T) over [9] v(T), N = 4, not f. f if [9] sometime a, not e. v(T) if [9] at(T) c.", 1),
        ("e if N = min(T) over [9] v(T), N = 2, not f. f if [9] sometime a, not e. v(T) if [9] at(T) c.", 2),
        ("e if N = max(T) over [9] v(T), N > 2, not f. f if [9] sometime a, not e. v(T) if [9] at(T) c.", 4),
        ("e if [1 #] sometime c, not f. f if [9] sometime a, not e.", 4),
        ("e if [2 #] always c, not f. f if [9] sometime a, not e.", 2),
        ("e if [9] at(T) c, T mod 2 = 0, not f. f if [9] sometime a, not e.", 4),
        ("e if [1 hop 3] sometime c, not f. f if [9] sometime a, not e.", 6),
    ],
)
def test_whole_windows_see_what_is_chosen_in_each_answer(above: str, with_it: int) -> None:
    """Three points, each c or d: eight ways, and e is possible in those where the window says so."""
    reasoner = run(CHOSEN + above, [(1, "a", ()), (2, "a", ()), (3, "a", ())], 3)
    found = all_models(reasoner)
    assert sum((None, "e") in m for m in found) == with_it
    assert len({frozenset(x for x in m if x[1] in "cd") for m in found}) == 8
    assert len(found) == 8 + with_it


def test_a_loop_that_a_whole_window_closes_is_named_where_there_is_no_answer() -> None:
    reasoner = Reasoner(thalweg.parse(f"program lars. {CHOSEN} e if a, N = count(1) over [9] c, N >= 0, not e."))
    reasoner.accept(batch([(1, "a", ()), (2, "a", ())]))
    (row,) = reasoner.advance(1)["no_answer"].to_pylist()
    assert (row["op"], row["loop"]) == ("insert", "c, d, e")


def test_a_large_choice_under_an_aggregate_is_the_first_in_the_order_of_rules_and_then_kept() -> None:
    source = """
        c(X) if [9] sometime p(X), not d(X).
        d(X) if [9] sometime p(X), not c(X).
        bad if [9] sometime p(_), N = count(X) over [0] c(X), N =\\= 5, not bad.
    """
    names = range(1, 13)
    reasoner = run(source, [(1, "p", (x,)) for x in names] + [(2, "p", (99,))], 1)
    assert {a for _, a in current(reasoner) if a.startswith("c")} == {"c(1)", "c(10)", "c(11)", "c(12)", "c(2)"}
    before = current(reasoner)
    reasoner.advance(2)
    assert current(reasoner) == before | {(None, "d(99)")}


def test_the_previous_choice_is_kept_while_a_whole_window_allows_it() -> None:
    source = """
        early if [5] sometime a, not late.
        late if [5] sometime a, not early.
        at(T) lamp if [5] at(T) p, late.
        alarm if [1] always lamp, not quiet.
        quiet if [5] sometime a, not alarm.
        bad if [5] sometime q, not late, not bad.
    """
    reasoner = run(source, [(1, "a", ()), (2, "p", ()), (3, "p", ()), (4, "q", ())], 1)
    assert {a for _, a in current(reasoner)} == {"early", "quiet"}
    reasoner.advance(3)
    assert {a for _, a in current(reasoner)} == {"early", "quiet"}
    reasoner.advance(4)
    assert {a for _, a in current(reasoner)} == {"late", "lamp", "quiet"}


@pytest.mark.parametrize("rule", ["c if a.", "at(T) c if [3] at(T) a."])
@pytest.mark.parametrize(("size", "inside"), [(0, False), (1, False), (2, True)])
def test_an_input_atom_that_is_cut_off_is_outside_the_window_also_where_it_is_derived(
    rule: str, size: int, inside: bool
) -> None:
    facts: list[Fact] = [(1, "a", ()), (1, "c", ()), (1, "z", ())]
    reasoner = run(f"{rule} e if [{size} #] sometime c. g if z.", facts, 1)
    assert ((None, "e") in current(reasoner)) == inside


def test_a_sum_with_too_many_values_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "_VALUES", 6)
    source = CHOSEN + "v(T) if [9] at(T) c. e if N = sum(T) over [9] v(T), N = 4, not f. f if a, not e."
    with pytest.raises(TooLarge, match="sum over atoms that are chosen has more than 6 possible values"):
        run(source, [(1, "a", ()), (2, "a", ()), (4, "a", ())], 4)


@pytest.mark.parametrize("predict", [True, False])
def test_a_counting_window_under_a_choice_stays_as_it_is_when_input_comes_for_another_predicate(predict: bool) -> None:
    source = """
        at(T) c(X) if [1] at(T) p(X), not at(T) d(X).
        at(T) d(X) if [2] at(T) p(X), not at(T) c(X).
        m if [2 #] sometime d(1).
        e if not m, not f.
        f if [1] sometime p(_), not e.
    """
    reasoner, found = Reasoner(thalweg.parse(f"program lars. {source}"), predict=predict), []
    input_ = {1: ("d", (2,)), 2: ("d", (1,)), 4: ("f", ()), 5: ("c", (1,))}
    for tick in range(1, 7):
        if tick in input_:
            reasoner.accept(batch([(tick, *input_[tick])]))
        reasoner.advance(tick)
        found.append("".join(sorted(a for _, a in current(reasoner))))
    assert found == ["e", "m", "m", "m", "e", "e"]
