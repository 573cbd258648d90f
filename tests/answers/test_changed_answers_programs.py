"""A changed Temporal Datalog program takes over from another: what is undecided is as if it had always run."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from answers_random import Rich
from answers_support import facts
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.answers.offline import check, plan
from thalweg.answers.reasoner import Reasoner
from thalweg.language.diagnostics import has_errors
from thalweg.protocol import CannotGoOn, Rows

AT, LAST = 14, 24
quickly = settings(
    max_examples=settings.default.max_examples // 8, deadline=None, suppress_health_check=list(HealthCheck)
)
Told = Counter[tuple[Any, ...]]


def pair(seed: int) -> tuple[str, str] | None:
    """A program, and the same with a rule more, less, or another; None where one of them is refused."""
    made, rng = Rich(seed), random.Random(seed)
    lines = made.text().splitlines()
    rules = [i for i, line in enumerate(lines) if ":-" in line]
    read = [name for name in ("e", "g", "h") if f"{name}(" in "\n".join(lines)]
    if not rules or not read:
        return None
    head = rng.choice([lines[i].split("(")[0] for i in rules])
    other = made._rule(head, read)
    i, change = rng.choice(rules), rng.choice(("drop", "replace", "add", "add", "same"))
    changed = [
        *lines[:i],
        *{"drop": [], "replace": [other], "add": [lines[i], other], "same": [lines[i]]}[change],
        *lines[i + 1 :],
    ]
    texts = "\n".join(lines), "\n".join(changed)
    return texts if all(fine(text) for text in texts) else None


def fine(text: str) -> bool:
    program = parse(text)
    if has_errors(check(program)):
        return False
    planned = plan(program)
    widest = max((len(t.variables()) for q in planned.queries for t in q.templates), default=0)
    return bool(planned.datalog.inputs) and widest <= 4 and not any(q.loose for q in planned.queries)


def stream(made: Rich, lateness: int, rng: random.Random) -> dict[int, list[Rows]]:
    """Rows by arrival; some late, some taken back."""
    found: dict[int, list[Rows]] = {}
    for time in range(LAST + 1):
        for name, arity in made.ARITIES:
            for _ in range(rng.choice((0, 0, 1, 2))):
                fact = (name, *(rng.choice(made.constants) for _ in range(arity)), time)
                came = time + rng.randint(0, lateness)
                found.setdefault(came, []).extend(facts(fact, arrival=came))
                if lateness and rng.random() < 0.2:
                    went = rng.randint(came, time + lateness)
                    found.setdefault(went, []).extend(facts(fact, arrival=went, op=-1))
    return found


def feed(reasoner: Reasoner, rows: dict[int, list[Rows]], after: int, to: int, told: Told) -> None:
    """Rows that arrive in (after, to], step by step, and what changes."""
    for clock in range(after + 1, to + 1):
        reasoner.accept(rows.get(clock, []))
        fold(reasoner.advance(clock)["changes"].to_pylist(), told)


def fold(changes: list[dict[str, Any]], told: Told) -> None:
    for row in changes:
        told[key(row)] += 1 if row["op"] == "insert" else -1


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    answer = (row["status"], row["query"], row["time"], row["answer"])
    return (*answer, *([row["where"]] if row["status"] == "certain" else map(str, (row["evidence"], row["needed"]))))


def resumed(reasoner: Reasoner) -> Reasoner:
    state = reasoner.snapshot()
    again = Reasoner(reasoner.program, reasoner.lateness, retain=True)
    again.restore(state)
    assert again.snapshot() == state
    return again


def undecided(told: Told, decided: dict[str, int]) -> set[tuple[Any, ...]]:
    """What is said about times that were not decided when the program was changed."""
    assert set(told.values()) <= {0, 1}, [k for k, n in told.items() if n not in (0, 1)]
    return {k for k, n in told.items() if n and k[1] in decided and k[2] > decided[k[1]]}


def bounds(old: Reasoner, new: Reasoner) -> dict[str, int]:
    """Up to which time answers were decided; for queries that are new, those that would have been."""
    names = {old.plan.queries[q].name: old.engine.retire[q] for q in old.engine.mains}
    mine = {new.plan.queries[q].name: new.engine.retire[q] for q in new.engine.mains}
    return {name: old.engine.closed - names.get(name, retire) for name, retire in mine.items()}


@pytest.mark.parametrize("lateness", [0, 2])
@quickly
@given(seed=st.integers(0, 2**32))
def test_undecided_answers_are_as_if_the_changed_program_had_always_run(lateness: int, seed: int) -> None:
    texts = pair(seed)
    if texts is None:
        return
    rows = stream(Rich(seed), lateness, random.Random(seed))
    old, told = Reasoner(parse(texts[0]), lateness, retain=True), Told()
    feed(old, rows, -1, AT, told)
    try:
        new = resumed(old).changed(parse(texts[1]))
    except CannotGoOn:
        return
    decided = bounds(old, Reasoner(parse(texts[1]), lateness))
    revision = new.revise()
    fold(revision["changes"].to_pylist(), told)
    whole, expected = Reasoner(parse(texts[1]), lateness), Told()
    feed(whole, rows, -1, AT, expected)
    new, later = resumed(new), Told()
    fold(revision["changes"].to_pylist(), later)
    for clock in range(AT, LAST + 1):
        if clock > AT:
            feed(new, rows, clock - 1, clock, came := Told())
            told.update(came)
            later.update(came)
            feed(whole, rows, clock - 1, clock, expected)
        found, wanted = undecided(told, decided), undecided(expected, decided)
        if not revision.notes:
            assert found == wanted, (clock, found ^ wanted)
    certain = {k[:4]: k[4] for k, n in expected.items() if n and k[0] == "certain"}
    for k in (k for k, n in later.items() if n > 0 and k[0] == "certain"):
        assert k[:4] in certain and (k[4] or not certain[k[:4]])
    if texts[0] == texts[1]:
        assert revision["changes"].num_rows == 0 and not revision.notes


def with_a_query_less(text: str) -> str | None:
    """The program without its last query; None where it has one only, or would be refused."""
    lines = text.splitlines()
    asked = [line for line in lines if line.startswith("query")]
    less = "\n".join(line for line in lines if line != asked[-1])
    return less if len(asked) > 1 and fine(less) else None


@pytest.mark.parametrize("stay", [0, 2])
@quickly
@given(seed=st.integers(0, 2**32), fewer=st.booleans())
@example(seed=125, fewer=True)
@example(seed=288, fewer=True)
@example(seed=451, fewer=False)
def test_there_and_back_tells_nothing_twice(stay: int, seed: int, fewer: bool) -> None:
    texts = pair(seed)
    other = texts and (with_a_query_less(texts[0]) if fewer else texts[1])
    if texts is None or not other:
        return
    rows, lateness = stream(Rich(seed), 2, random.Random(seed)), 2
    reasoner, told = Reasoner(parse(texts[0]), lateness, retain=True), Told()
    feed(reasoner, rows, -1, AT, told)
    for text, after, to in ((other, AT, AT + stay), (texts[0], AT + stay, LAST)):
        try:
            reasoner = resumed(reasoner).changed(parse(text))
        except CannotGoOn:
            return
        fold(reasoner.revise()["changes"].to_pylist(), told)
        reasoner = resumed(reasoner)
        feed(reasoner, rows, after, to, told)
    assert set(told.values()) <= {0, 1}, [k for k, n in told.items() if n not in (0, 1)]


# --------------------------------------------------------------------------- by hand

WARM = "query warm(X, T).\nwarm(X, T) :- hot(X, T), hot(X, T+1).\n"


def handed_over(before: str, after: str, *rows: tuple[object, ...], at: int, **options: Any) -> tuple[Any, Reasoner]:
    """The corrections as (op, status, answer, change), with the notes; and the reasoner that goes on."""
    old = Reasoner(parse(before), retain=True, **options)
    old.accept(facts(*rows))
    old.advance(at)
    new = old.changed(parse(after))
    revision = new.revise()
    told = {tuple(row[n] for n in ("op", "status", "answer", "change")) for row in revision["changes"].to_pylist()}
    return (told, revision.notes), new


def test_a_changed_rule_is_judged_on_the_rows_that_may_still_matter() -> None:
    after = WARM.replace("hot(X, T+1)", "hot(X, T+1), site(X)") + "site(a).\n"
    found, new = handed_over(WARM, after, ("hot", "a", 5), ("hot", "b", 5), at=5)
    assert found == ({("delete", "open", "warm(b, 5)", "dropped")}, ())
    new.accept(facts(("hot", "a", 6), ("hot", "b", 6)))
    assert new.advance(6)["answers"].column("answer").to_pylist() == ["warm(a, 5)"]


def test_what_is_decided_is_final_and_what_is_not_asked_any_more_keeps_its_answers() -> None:
    rows = [("hot", "a", 3), ("hot", "a", 4), ("hot", "a", 5)]
    found, _ = handed_over(WARM, WARM.replace("hot(X, T+1)", "cold(X, T+1)"), *rows, at=5)
    told, notes = found
    assert told == {("delete", "open", "warm(a, 5)", "dropped"), ("insert", "open", "warm(a, 5)", "opened")}
    assert notes == ()
    found, _ = handed_over(WARM, WARM.replace("warm", "mild"), *rows, at=5)
    assert found[0] == {("delete", "open", "warm(a, 5)", "dropped"), ("insert", "open", "mild(a, 5)", "opened")}


def test_answers_that_are_known_ahead_are_withdrawn_or_kept_also_after_many_steps_at_once() -> None:
    ahead = "query due(X, T).\ndue(X, T+9) :- hot(X, T), hot(X, T+1).\n"
    rows = [("hot", "a" if t % 2 else "b", t - t % 3 // 2) for t in range(1, 31)]
    at = 30
    stepped = Reasoner(parse(ahead), retain=True)
    stepped.accept(facts(*rows))
    for clock in range(at + 1):
        stepped.advance(clock)
    after = ahead.replace("hot(X, T), ", "hot(X, T), site(X), ") + "site(b).\n"
    found, _ = handed_over(ahead, after, *rows, at=at)
    by_steps = stepped.changed(parse(after)).revise()["changes"].to_pylist()
    assert found[0] == {tuple(row[n] for n in ("op", "status", "answer", "change")) for row in by_steps}
    withdrawn = {answer for op, status, answer, _ in found[0] if (op, status) == ("delete", "certain")}
    assert withdrawn and all(answer.startswith("due(a, ") for answer in withdrawn)
    assert not [row for row in found[0] if row[0] == "insert"]


def test_what_a_changed_rule_cannot_know_is_said() -> None:
    longer = WARM + "warm(X, T) :- hot(X, T-4), hot(X, T).\n"
    found, new = handed_over(WARM, longer, ("hot", "a", 26), ("hot", "a", 29), at=30)
    missing = "answers to warm(X, T) about times before 34 may be missing: rows of hot/1 before 30 were not kept"
    assert found == (set(), (missing,))
    new.accept(facts(("hot", "a", 30 + 1), ("hot", "a", 35)))
    assert new.advance(35)["answers"].column("answer").to_pylist() == ["warm(a, 35)"]
    found, _ = handed_over(WARM, WARM + "warm(X, T) :- hot(X, T), not cold(X, T-1).\n", ("hot", "a", 30), at=30)
    assert found[1] == ("answers to warm(X, T) about times before 32 may be missing: cold/1 was not read before 31",)
    assert found[0] == set()


ALTERNATING = "query on(X, T).\non(X, T) :- press(X, T), not on(X, T-1).\n"


def test_a_query_that_rests_on_all_that_ever_came_stays_or_is_refused() -> None:
    rows = [("press", "a", t) for t in range(20)]
    seen = "query seen(X, T).\nseen(X, T) :- press(X, T).\n"
    found, new = handed_over(ALTERNATING, ALTERNATING + seen, *rows, at=19)
    assert found == (set(), ())
    new.accept(facts(("press", "a", 20), ("press", "a", 21)))
    assert new.advance(21)["answers"].column("answer").to_pylist() == ["seen(a, 20)", "on(a, 21)", "seen(a, 21)"]
    with pytest.raises(CannotGoOn, match=r"the answers to on\(X, T\) rest on all that ever came, and rows of press/1"):
        handed_over(ALTERNATING, ALTERNATING.replace("press(X, T),", "press(X, T), X \\= b,"), *rows, at=19)


def test_unrelated_times_stay_or_are_refused() -> None:
    loose = "query met(X, T).\nmet(X, T) :- hot(X, T), wet(X, S).\n"
    rows = [("wet", "a", 2), ("hot", "b", 3)]
    found, new = handed_over(loose, loose + WARM, *rows, at=20, horizon=50)
    assert found[0] == set() and [note.split(" about ")[0] for note in found[1]] == ["answers to warm(X, T)"]
    new.accept(facts(("hot", "a", 21)))
    assert new.advance(21)["answers"].column("answer").to_pylist() == ["met(a, 21)"]
    with pytest.raises(CannotGoOn, match="rest on all that ever came"):
        handed_over(loose, loose.replace("wet(X, S)", "wet(X, S), X \\= b"), *rows, at=20, horizon=50)


def test_answers_without_a_time_stay_or_are_refused() -> None:
    seen = "query seen(X).\nseen(X) :- hot(X, T), wet(X, T+1).\n"
    rows = [("hot", "a", 2), ("wet", "a", 3), ("hot", "a", 19), ("hot", "b", 19)]
    found, new = handed_over(seen, seen + WARM, *rows, at=19)
    assert found[0] == set()
    new = resumed(new)
    new.accept(facts(("wet", "a", 20), ("wet", "b", 20)))
    assert new.advance(20)["answers"].column("answer").to_pylist() == ["seen(b)"]
    with pytest.raises(CannotGoOn, match="rest on all that ever came"):
        handed_over(seen, seen.replace("T+1", "T+2"), *rows, at=19)
    both = seen + "query due(X, T).\ndue(X, T+9) :- hot(X, T).\ndue(X, 1) :- hot(X, T), cold(X, T).\n"
    with pytest.raises(CannotGoOn, match="rest on all that ever came"):
        handed_over(both, both.replace("cold", "wet"), ("hot", "a", 0), ("wet", "a", 0), at=3)
    old = Reasoner(parse(seen + WARM), 3, retain=True)
    old.accept(facts(*rows[:2]))
    old.advance(3)
    new = resumed(old.changed(parse(WARM)))
    new.accept(facts(("hot", "b", 4)))
    assert "warm(b, 4)" in new.advance(4)["open"].column("answer").to_pylist()


def test_a_query_that_is_asked_again_knows_what_it_has_told() -> None:
    due = "query due(X, T).\ndue(X, T+9) :- hot(X, T), hot(X, T+1).\n"
    old = Reasoner(parse(due + WARM), 3, retain=True)
    old.accept(facts(("hot", "a", 1), ("hot", "a", 2), ("hot", "b", 1), ("hot", "b", 2)))
    assert old.advance(2)["answers"].num_rows == 4
    new = resumed(old).changed(parse(WARM))
    assert {row["change"] for row in new.revise()["changes"].to_pylist()} == {"dropped"}
    new = resumed(new)
    new.accept(facts(("hot", "b", 2), arrival=3, op=-1))
    new.advance(3)
    again = resumed(new).changed(parse(due + WARM)).revise()
    certain = [row for row in again["changes"].to_pylist() if row["status"] == "certain"]
    assert [(row["answer"], row["change"]) for row in certain] == [("due(b, 10)", "withdrawn")]
    assert again["answers"].num_rows == 0


def test_a_reasoner_that_keeps_no_input_cannot_be_handed_over() -> None:
    with pytest.raises(CannotGoOn, match="retain=True"):
        Reasoner(parse(WARM)).changed(parse(WARM))


def test_a_state_from_before_rows_were_kept_knows_nothing_of_the_past() -> None:
    bare = Reasoner(parse(WARM))
    bare.accept(facts(("hot", "a", 5)))
    bare.advance(5)
    old = Reasoner(parse(WARM), retain=True)
    old.restore(bare.snapshot())
    revision = old.changed(parse(WARM.replace("hot(X, T+1)", "hot(X, T+2)"))).revise()
    missing = "answers to warm(X, T) about times before 6 may be missing: rows of hot/1 before 6 were not kept"
    assert revision.notes == (missing,)
    assert [row["change"] for row in revision["changes"].to_pylist()] == ["dropped"]
