"""A changed LARS program takes over from another: it answers as one that has seen the rows that windows still see."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lars_programs import INPUTS, Choose, Draw, Fact, batch, program_of, stream_of

import thalweg
from thalweg.io.fold import fold_atoms
from thalweg.language.program import Program
from thalweg.lars.counting import TupleWindow
from thalweg.lars.reasoner import Reasoner
from thalweg.protocol import CannotGoOn

AT, LAST = 20, 40
FORMS = {
    "time": Draw(windows=("time",), aggregates=False),
    "all": Draw(),
    "loops": Draw(loops=True),
}
quickly = settings(
    max_examples=settings.default.max_examples // 20, deadline=None, suppress_health_check=list(HealthCheck)
)
Row = tuple[Fact, int, int]
Ticks = dict[tuple[str, int | None], set[int]]


READERS = "\n".join(
    f"seen_{name}({', '.join('XY'[: int(arity)])}) if [9] sometime {name}({', '.join('XY'[: int(arity)])})."
    if int(arity)
    else f"seen_{name} if [9] sometime {name}."
    for name, arity in (n.split("/") for n in (*INPUTS, "d/1", "c/0"))
)
"""Rules that look back further than the drawn ones do."""


def rows_of(seed: int) -> list[Row]:
    """Facts with arrivals and insertions or retractions, some of them late."""
    random = Random(seed)
    facts = stream_of(Choose(random), (*INPUTS, "d/1", "c/0"), LAST - 2, 120)
    rows = [(f, f[0] + random.choice([0, 0, 0, 1, 2, 3]), 1) for f in facts]
    return rows + [(f, a + random.randint(0, 2), -1) for f, a, _ in rows if random.random() < 0.2]


def feed(reasoner: Reasoner, rows: list[Row], after: int, to: int) -> pa.Table:
    """Rows that arrive in (after, to], tick by tick, and what changes."""
    found = []
    for tick in range(after + 1, to + 1):
        now = [r for r in rows if r[1] == tick or (tick == 0 and r[1] < 0)]
        if now:
            reasoner.accept(batch(*(list(c) for c in zip(*now, strict=True))))
        found.append(reasoner.advance(tick)["changes"])
    return pa.concat_tables(found)


def ticks(changes: list[pa.Table], last: int) -> Ticks:
    found: Ticks = {}
    for row in fold_atoms(pa.concat_tables(changes)).to_pylist():
        end = last if row["to"] is None else min(row["to"], last)
        found.setdefault((row["atom"], row["at"]), set()).update(range(row["from"], end + 1))
    return found


def between(found: Ticks, first: int, last: int) -> Ticks:
    cut = {key: {t for t in held if first <= t <= last} for key, held in found.items()}
    return {key: held for key, held in cut.items() if held}


def resumed(reasoner: Reasoner) -> Reasoner:
    """The same from its snapshot."""
    state = reasoner.snapshot()
    again = Reasoner(reasoner.program, lateness=reasoner.lateness, retain=True)
    again.restore(state)
    assert again.snapshot() == state
    return again


def handed_over(
    before: Program, after: Program, rows: list[Row], lateness: int, *, at: int = AT
) -> tuple[list[pa.Table], list[pa.Table], Reasoner, tuple[str, ...]]:
    """Changes of the old program and corrections, and the changes after them."""
    old = Reasoner(before, lateness=lateness, retain=True)
    first = feed(old, rows, -1, at)
    new = resumed(old).changed(after)
    revision = new.revise()
    assert set(revision["changes"].column("query_time").to_pylist()) <= {at}
    new = resumed(new)
    return [first, revision["changes"]], [feed(new, rows, at, LAST)], new, revision.notes


@pytest.mark.parametrize("form", FORMS)
@quickly
@given(seed=st.integers(0, 2**32))
def test_the_same_program_changes_nothing(form: str, seed: int) -> None:
    program, rows = program_of(Choose(Random(seed)), FORMS[form]), rows_of(seed)
    lateness = seed % 4
    before, after, _, notes = handed_over(program, program, rows, lateness)
    assert before[1].num_rows == 0 and notes == ()
    whole = Reasoner(program, lateness=lateness)
    assert ticks([feed(whole, rows, -1, LAST)], LAST) == ticks([*before, *after], LAST)


@pytest.mark.parametrize("form", ["time", "all"])
@quickly
@given(seed=st.integers(0, 2**32))
def test_a_changed_program_answers_as_if_it_had_always_run(form: str, seed: int) -> None:
    """From the first tick that late rows may revise; where rows are missing, and that was said, after the windows have
    passed them."""
    random = Random(seed)
    old, new = (program_of(Choose(random), FORMS[form]) for _ in range(2))
    if seed % 3:
        old = thalweg.parse(f"{old}\n{READERS}")
    lateness = seed % 4
    known = Reasoner(old)._network.kinds
    derived = {("c", 0), ("d", 1)} - set(known)
    rows = [r for r in rows_of(seed) if (r[0][1], len(r[0][2])) not in derived]
    before, after, reasoner, notes = handed_over(old, new, rows, lateness)
    whole = Reasoner(new, lateness=lateness)
    expected = ticks([feed(whole, rows, -1, LAST)], LAST)
    first = min(AT, AT + 1 - lateness)
    found, told = ticks([*before, *after], LAST), ticks(before[:1], AT)
    assert between(found, 0, first - 1) == between(told, 0, first - 1)
    if not notes:
        assert between(found, first, LAST) == between(expected, first, LAST)
    elif not counts_atoms(reasoner) and None not in reasoner._network.reach.values():
        assert between(found, LAST - 5, LAST) == between(expected, LAST - 5, LAST)


def counts_atoms(reasoner: Reasoner) -> bool:
    """A window that does may reach back to the first row."""
    return any(isinstance(operator, TupleWindow) for operator in reasoner._network.operators)


# --------------------------------------------------------------------------- by hand

LAMP = "on(X) :- [10] sometime press(X), not [3] sometime cut(X).\n"


def told(
    program: str, changed: str, facts: list[Fact], at: int, **options: int
) -> tuple[set[tuple[object, ...]], Reasoner]:
    """The corrections as (op, atom, from, to, until), and the reasoner that goes on."""
    old = Reasoner(thalweg.parse(program), retain=True, **options)
    old.accept(batch(facts))
    old.advance(at)
    new = old.changed(thalweg.parse(changed))
    names = ("op", "atom", "from", "to", "until")
    return {tuple(row[n] for n in names) for row in new.revise()["changes"].to_pylist()}, new


def notes(program: str, changed: str, at: int = 30) -> tuple[str, ...]:
    old = Reasoner(thalweg.parse(program), retain=True)
    old.advance(at)
    return old.changed(thalweg.parse(changed)).revise().notes


def test_a_shorter_window_lets_go_what_it_sees_no_more() -> None:
    facts: list[Fact] = [(2, "press", ("a",)), (7, "press", ("b",)), (12, "press", ("b",))]
    found, new = told(LAMP, LAMP.replace("[10]", "[5]"), facts, 11)
    assert found == {("delete", "on(a)", 11, None, None)}
    changes = new.advance(30)["changes"].to_pylist()
    assert [(r["query_time"], r["op"], r["atom"]) for r in changes] == [(18, "delete", "on(b)")]


def test_ticks_that_late_rows_may_revise_are_evaluated_again() -> None:
    facts: list[Fact] = [(2, "press", ("a",)), (9, "cut", ("a",))]
    found, _ = told(LAMP, LAMP.replace("[3]", "[1]"), facts, 12, lateness=4)
    assert found == {("insert", "on(a)", 11, None, 12)}
    found, _ = told(LAMP, LAMP.replace("[10]", "[5]"), facts, 12, lateness=6)
    assert found == {("delete", "on(a)", 8, 8, 8)}


def test_what_is_derived_no_more_goes() -> None:
    both = LAMP + "seen(X) :- [20] sometime press(X).\n"
    found, _ = told(both, LAMP, [(2, "press", ("a",))], 5)
    assert found == {("delete", "seen(a)", 5, None, None)}
    found, _ = told(LAMP, both, [(2, "press", ("a",))], 5)
    assert found == {("insert", "seen(a)", 5, None, 22)}


def test_a_word_may_become_a_number() -> None:
    words = "warm(X) :- [10] sometime temp(X, K).\n"
    numbers = words.replace("temp(X, K)", "temp(X, K), K > 50")
    found, _ = told(words, numbers, [(2, "temp", ("a", 40)), (3, "temp", ("b", 60)), (4, "temp", ("c", "hot"))], 5)
    assert found == {("delete", "warm(a)", 5, None, None), ("delete", "warm(c)", 5, None, None)}


def test_a_choice_that_is_still_possible_is_kept() -> None:
    choice = "day :- [9] sometime light, not night.\nnight :- [9] sometime light, not day.\n"
    dark = "night :- [2] sometime moon.\n"
    facts: list[Fact] = [(1, "moon", ()), (2, "light", ()), (8, "light", ()), (14, "light", ())]
    found, new = told(choice + dark, choice, facts, 15)
    assert found == set()
    assert new.answers().column("atom").to_pylist() == ["night"]
    found, _ = told(choice, choice + "day :- [5] sometime light.\nnight :- never.\n", facts, 15)
    assert found == set()


def test_a_program_without_an_answer_says_so_from_the_last_tick_on() -> None:
    facts: list[Fact] = [(1, "light", ())]
    old = Reasoner(thalweg.parse("on :- [9] sometime light.\n"), retain=True)
    old.accept(batch(facts))
    old.advance(4)
    new = old.changed(thalweg.parse("on :- [9] sometime light, not on.\n"))
    revision = new.revise()
    assert [(r["op"], r["from"], r["until"]) for r in revision["no_answer"].to_pylist()] == [("insert", 4, 10)]
    again = new.changed(thalweg.parse("on :- [9] sometime light.\n")).revise()
    assert [(r["op"], r["from"]) for r in again["no_answer"].to_pylist()] == [("delete", 4)]
    assert [(r["op"], r["from"]) for r in again["changes"].to_pylist()] == [("insert", 4)]


def test_what_was_not_kept_is_said() -> None:
    assert notes(LAMP, LAMP) == ()
    assert notes(LAMP, LAMP.replace("[10]", "[20]")) == (
        "rows of press/1 before tick 19 were not kept and count as absent, which matters until tick 38",
    )
    assert notes(LAMP, LAMP.replace("[10]", "[20]"), at=8) == ()
    assert notes(LAMP, LAMP + "off(X) :- press(X), not [5] sometime hold(X).\n") == (
        "hold/1 was not read before: its rows count from tick 31 on, which matters until tick 35",
    )
    assert notes(LAMP, LAMP + "last(X) :- [3 #] sometime press(X).\n") == (
        "a window counts 3 rows back: earlier ones were not all kept, it may see fewer",
    )
    counted = LAMP + "last(X) :- [3 # by X] sometime press(X).\n"
    assert notes(counted, counted.replace("[3 #", "[2 #")) == ()
    assert notes(counted, counted.replace("[3 #", "[4 #")) == (
        "a window counts 4 rows of press/1 back: earlier ones were not all kept, it may see fewer",
    )


def test_a_reasoner_that_keeps_no_input_cannot_be_handed_over() -> None:
    with pytest.raises(CannotGoOn, match="retain=True"):
        Reasoner(thalweg.parse(LAMP)).changed(thalweg.parse(LAMP))


def test_a_state_from_before_rows_were_kept_knows_nothing_of_the_past() -> None:
    bare = Reasoner(thalweg.parse(LAMP))
    bare.accept(batch([(2, "press", ("a",))]))
    bare.advance(5)
    old = Reasoner(thalweg.parse(LAMP), retain=True)
    old.restore(bare.snapshot())
    revision = old.changed(thalweg.parse(LAMP.replace("[10]", "[9]"))).revise()
    assert any("press/1 before tick 6 were not kept" in note for note in revision.notes)
