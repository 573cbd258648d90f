"""A changed program takes over the state of another: the window is revised, the rest stays."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pyarrow as pa
import pytest

import thalweg
from thalweg.events.reasoner import Reasoner
from thalweg.io.fold import fold_events, fold_intervals
from thalweg.protocol import CannotGoOn
from thalweg.runs import rows

RULES = """
event speed(v: symbol, k: float).
event halt(v: symbol).
event meet(v: symbol, w: symbol).
initiatedAt(fast(V)=true, T) :- happensAt(speed(V, K), T), K > 90.
terminatedAt(fast(V)=true, T) :- happensAt(speed(V, K), T), K =< 90.
initiatedAt(moving(V)=true, T) :- happensAt(speed(V, K), T), K > 5.
terminatedAt(moving(V)=true, T) :- happensAt(halt(V), T).
initiatedAt(level(V)=warned, T) :- happensAt(speed(V, K), T), K > 90, \\+ holdsAt(level(V)=warned, T).
initiatedAt(level(V)=fined, T) :- happensAt(speed(V, K), T), K > 90, holdsAt(level(V)=warned, T).
fi(level(V)=fined, level(V)=clear, 60).
holdsFor(racing(V)=true, I) :- holdsFor(moving(V)=true, I1), holdsFor(fast(V)=true, I2), intersect_all([I1, I2], I).
holdsFor(long(V)=true, I) :- holdsFor(moving(V)=true, J), intDurGreater(J, 100, I).
happensAt(stopped(V), T) :- happensAt(end(moving(V)=true), T).
initiatedAt(after(V)=true, T) :- happensAt(stopped(V), T).
terminatedAt(after(V)=true, T) :- happensAt(start(moving(V)=true), T).
"""
WINDOW, STEP = 90, 30


def events(seed: int) -> list[dict[str, object]]:
    rng = Random(seed)
    found: list[dict[str, object]] = []
    for _ in range(220):
        time = rng.randint(1, 600)
        late = rng.choice([0, 0, 0, 10, 40])
        row: dict[str, object] = {"time": time, "arrival": time + late, "v": f"v{rng.randint(1, 5)}"}
        found.append(row | rng.choice([{"name": "speed", "k": rng.randint(0, 120)}, {"name": "halt"}]))
    return found


Interval = tuple[str, str, int, int | None]


def fold(parts: list[pa.Table]) -> set[Interval]:
    table = fold_intervals(pa.concat_tables(parts))
    return {tuple(row.values()) for row in table.to_pylist()}  # type: ignore[misc]


def run(program: str, batch: object, to: int, window: int = WINDOW) -> tuple[Reasoner, list[pa.Table]]:
    reasoner = Reasoner(thalweg.parse(program), window=window, step=STEP)
    reasoner.accept(batch)  # type: ignore[arg-type]
    return reasoner, [reasoner.advance(to)["changes"]]


def migrated(
    before: str, after: str, seed: int, at: int = 300, window: int = WINDOW
) -> tuple[list[pa.Table], pa.Table, list[pa.Table]]:
    """Changes before, the corrections, and changes after."""
    program = thalweg.parse(before)
    batch, _ = rows(program, events(seed))
    old, first = run(before, batch, at, window)
    new = old.changed(thalweg.parse(after))
    corrections = new.revise()["changes"]
    state = new.snapshot()
    again = Reasoner(thalweg.parse(after), window=window, step=STEP)
    again.restore(state)
    assert again.snapshot() == state
    return first, corrections, [again.advance(660)["changes"]]


@pytest.mark.parametrize("seed", range(4))
def test_the_same_program_changes_nothing(seed: int) -> None:
    first, corrections, later = migrated(RULES, "% the same\n" + RULES, seed)
    assert corrections.num_rows == 0
    batch, _ = rows(thalweg.parse(RULES), events(seed))
    _, whole = run(RULES, batch, 660)
    assert fold([*first, *later]) == fold(whole)


CHANGED = {
    "a threshold": ("K > 5.", "K > 50."),
    "a threshold in a cycle": ("K > 90, holdsAt(level(V)=warned, T)", "K > 70, holdsAt(level(V)=warned, T)"),
    "a delay": ("level(V)=clear, 60)", "level(V)=clear, 30)"),
    "an interval expression": ("intersect_all([I1, I2], I)", "union_all([I1, I2], I)"),
    "a rule more": ("% more", "terminatedAt(moving(V)=true, T) :- happensAt(speed(V, K), T), K < 2."),
    "a fluent more": (
        "% more",
        "holdsFor(quiet(V)=true, I) :- holdsFor(moving(V)=true, I1), holdsFor(fast(V)=true, I2),"
        " relative_complement_all(I1, [I2], I).",
    ),
}


@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.parametrize("seed", range(3))
def test_from_the_window_on_the_changed_rules_count(change: str, seed: int) -> None:
    """Compared with a run of the changed program that starts where the window does, from the values that held there.
    It does not know since when they held, so countdowns and lengths that reach back are left out."""
    before, text = RULES + "% more\n", RULES + "% more\n"
    after = text.replace(*CHANGED[change])
    assert after != before
    first, corrections, later = migrated(before, after, seed)
    found, old = fold([*first, corrections, *later]), fold(first)
    final = 300 - WINDOW
    there = [r for r in old if r[2] <= final + 1 and (r[3] is None or r[3] > final + 1)]
    held = [f"initially({f}={v})." for f, v, _, _ in there if not f.startswith(("racing", "long"))]
    oracle = Reasoner(thalweg.parse(after + "\n".join(held)), window=WINDOW, step=STEP, start=final)
    oracle.accept(rows(thalweg.parse(before), events(seed))[0])
    expected = fold([oracle.advance(660)["changes"]])
    fined = {f for f, v, _, _ in there if v == "fined"}

    def comparable(rows: set[Interval]) -> set[Interval]:
        return {r for r in rows if r[2] > final + 1 and not r[0].startswith("long") and r[0] not in fined}

    assert comparable(found) == comparable(expected)
    assert {r for r in found if r[2] <= final} <= {(f, v, s, e) for f, v, s, _ in old for e in ends(found)}
    assert {r for r in old if r[3] is not None and r[3] <= final} <= found
    assert set(corrections.column("query_time").to_pylist()) <= {300}


def ends(rows: set[Interval]) -> set[int | None]:
    return {r[3] for r in rows}


def test_what_is_computed_no_more_ends() -> None:
    without = "\n".join(line for line in RULES.splitlines() if "after(V)" not in line)
    first, corrections, later = migrated(RULES, without, 1)
    running = {r for r in fold(first) if r[0].startswith("after(") and r[3] is None}
    assert running
    found = fold([*first, corrections, *later])
    assert {(f, v, s, 301) for f, v, s, _ in running} <= found
    assert not [r for r in found if r[0].startswith("after(") and r[3] is None]


def without(*begins: str) -> str:
    return "\n".join(line for line in RULES.splitlines() if not line.startswith(begins))


AFTER = """initiatedAt(after(V)=true, T) :- happensAt(stopped(V), T).
terminatedAt(after(V)=true, T) :- happensAt(start(moving(V)=true), T).
"""
MOVING = ("initiatedAt(moving", "terminatedAt(moving")
LESS = {
    "a simple fluent": without("initiatedAt(after", "terminatedAt(after"),
    "a determined fluent": without("holdsFor(racing"),
    "a derived event": without("happensAt(stopped", "initiatedAt(after", "terminatedAt(after"),
    "values in a cycle": without("initiatedAt(level", "fi(level"),
    "what others are made of": without("holdsFor", "happensAt", *MOVING, "initiatedAt(after", "terminatedAt(after"),
    "a fluent in another way": RULES.replace(
        AFTER, "holdsFor(after(V)=true, I) :- holdsFor(moving(V)=true, I1), union_all([I1], I).\n"
    ),
}


def handed(reasoner: Reasoner, program: str, tables: list[dict[str, pa.Table]]) -> Reasoner:
    """The reasoner under other rules, through a snapshot."""
    new = reasoner.changed(thalweg.parse(program))
    tables.append(dict(new.revise().tables))
    again = Reasoner(thalweg.parse(program), window=WINDOW, step=STEP)
    again.restore(new.snapshot())
    return again


@pytest.mark.parametrize("stay", [0, 30, 60, 120])
@pytest.mark.parametrize("what", LESS)
def test_what_is_computed_again_is_not_told_again(what: str, stay: int) -> None:
    batch, _ = rows(thalweg.parse(RULES), events(1))
    reasoner = Reasoner(thalweg.parse(RULES), window=WINDOW, step=STEP)
    reasoner.accept(batch)
    tables = [dict(reasoner.advance(300).tables)]
    reasoner = handed(reasoner, LESS[what], tables)
    tables.append(dict(reasoner.advance(300 + stay).tables))
    reasoner = handed(reasoner, RULES, tables)
    tables.append(dict(reasoner.advance(660).tables))
    found = fold([part["changes"] for part in tables])
    happened = fold_events(pa.concat_tables([part["events"] for part in tables]))
    spans: dict[tuple[str, str], list[tuple[int, int | None]]] = {}
    for fluent, value, start, end in sorted(found, key=lambda row: row[:3]):
        spans.setdefault((fluent, value), []).append((start, end))
    for held in spans.values():
        assert all(end is not None and end < start for (_, end), (start, _) in pairwise(held)), held
    if stay == 0:
        _, whole = run(RULES, batch, 660)
        assert found == fold(whole)
        once = Reasoner(thalweg.parse(RULES), window=WINDOW, step=STEP)
        once.accept(batch)
        assert happened.equals(fold_events(once.advance(660)["events"]))


def test_several_values_at_once_cannot_become_one() -> None:
    both = (
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\n"
        "holdsFor(seen(X)=a, I) :- holdsFor(on(X)=true, J), union_all([J], I).\n"
        "holdsFor(seen(X)=b, I) :- holdsFor(on(X)=true, J), union_all([J], I).\n"
    )
    one = both.split("holdsFor")[0] + "initiatedAt(seen(X)=a, T) :- happensAt(press(X), T).\n"
    old = Reasoner(thalweg.parse(both), window=WINDOW, step=STEP)
    old.accept(rows(thalweg.parse(both), [{"name": "press", "time": 5, "x": "lamp"}])[0])
    old.advance(30)
    with pytest.raises(CannotGoOn, match="seen had several values at once"):
        old.changed(thalweg.parse(one))


def test_a_number_cannot_become_a_word() -> None:
    words = RULES.replace("k: float", "k: symbol").replace("K > 90", "K = high").replace("K =< 90", "K = low")
    words = words.replace("K > 5", "K = some")
    old = Reasoner(thalweg.parse(RULES), window=WINDOW, step=STEP)
    with pytest.raises(ValueError, match="speed has an argument or value that is a number in only one"):
        old.changed(thalweg.parse(words))


@pytest.mark.parametrize("seed", range(4))
def test_where_windows_do_not_overlap_changed_rules_count_from_now_on(seed: int) -> None:
    first, corrections, later = migrated(RULES, RULES.replace("K > 5.", "K > 50."), seed, window=STEP)
    assert corrections.num_rows == 0
    found, old = fold([*first, *later]), fold(first)
    assert {r for r in old if r[3] is not None} <= found
    same, corrections, later = migrated(RULES, "% the same\n" + RULES, seed, window=STEP)
    assert corrections.num_rows == 0
    batch, _ = rows(thalweg.parse(RULES), events(seed))
    _, whole = run(RULES, batch, 660, STEP)
    assert fold([*same, *later]) == fold(whole)
