"""Programs cut into stages: what goes from one to the next, and what must not be cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from inprocess import Made, made, pieces
from stories import COLUMNS, Story, assert_same

NAMES = ["per(a)", "per( a )", "f(x", "it's", "back\\slash", "North Sea", "0012", "b", "1e20"]
NAMES += ["100000000000000000001", "+0100000000000000000001"]
STAGES = """
    initiatedAt(on(X)=X, T) :- happensAt(press(X), T).
    happensAt(pressed(X), T) :- happensAt(press(X), T).
    initiatedAt(near(X, Y)=V, T) :- happensAt(meet(X, Y), T), holdsAt(on(X)=V, T), holdsAt(on(Y)=_, T).
    initiatedAt(both(X, Y)=true, T) :- happensAt(meet(X, Y), T), happensAt(pressed(Y), T).
    initiatedAt(last=V, T) :- happensAt(start(near(_, _)=V), T)."""
DEEP = """
    initiatedAt(on(per(X, k))=true, T) :- happensAt(press(X), T).
    happensAt(pressed(per(X)), T) :- happensAt(press(X), T).
    initiatedAt(near(X, Y)=true, T) :-
        happensAt(meet(X, Y), T), holdsAt(on(per(X, k))=true, T), holdsAt(on(per(Y, k))=true, T).
    initiatedAt(both(X, Y)=true, T) :- happensAt(meet(X, Y), T), happensAt(pressed(per(Y)), T)."""


def meetings(program: str) -> Story:
    """Everybody presses and meets the next one, who presses at that time."""
    rows: list[dict[str, Any]] = []
    for i, (name, other) in enumerate(zip(NAMES, [*NAMES[1:], NAMES[0]], strict=True)):
        rows.append({"name": "press", "time": 5 + i, "arg1": name})
        rows.append({"name": "meet", "time": 20 + i, "arg1": name, "arg2": other})
        rows.append({"name": "press", "time": 20 + i, "arg1": other})
    rows.sort(key=lambda row: row["time"])
    told = [row | {"arrival": row["time"], "op": "insert", "nr": number} for number, row in enumerate(rows, start=1)]
    return Story(program, pa.Table.from_pylist(told, COLUMNS), {"window": 40, "step": 10, "start": 0})


@pytest.mark.parametrize("shards", [2, 5])
def test_a_constant_is_the_same_in_every_stage(tmp_path: Path, shards: int) -> None:
    """Names that look like terms, and numbers in many spellings."""
    told = meetings(STAGES)
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=shards)
    assert len(run.pipeline.settings.stages) > 1
    for number, rows in enumerate(pieces(told.rows, 3)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    expected = told.embedded()
    assert "near('per(a)','per( a )')" in expected["timeline"].column("fluent").to_pylist()
    assert_same(expected, run.tables())


QUOTED = """
    initially('Lamp of'(X)=off) :- lamp(X).
    lamp(b).
    lamp('North Sea').
    initiatedAt('Lamp of'(X)=on, T) :- happensAt(press(X), T).
    happensAt('Was pressed'(X), T) :- happensAt(press(X), T).
    initiatedAt(near(X, Y)=true, T) :-
        happensAt(meet(X, Y), T), holdsAt('Lamp of'(X)=on, T), holdsAt('Lamp of'(Y)=on, T).
    initiatedAt('Both of'(X, Y)=true, T) :- happensAt(meet(X, Y), T), happensAt('Was pressed'(Y), T)."""


def test_what_has_a_name_in_quotes_is_told_and_goes_from_stage_to_stage(tmp_path: Path) -> None:
    told = meetings(QUOTED)
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert [stage.shards for stage in run.pipeline.settings.stages] == [3, 3]
    for number, rows in enumerate(pieces(told.rows, 3)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    expected = told.embedded()
    fluents = {fluent.partition("(")[0] for fluent in expected["timeline"].column("fluent").to_pylist()}
    assert fluents == {"'Lamp of'", "near", "'Both of'"}
    assert_same(expected, run.tables())


def test_what_has_terms_as_arguments_is_not_cut_into_stages(tmp_path: Path) -> None:
    told = meetings(DEEP)
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    (only,) = run.pipeline.settings.stages
    assert only.key == "one shard: a rule reads on, whose arguments are terms, and has another key"
    run.pipeline.batch(told.rows, 0)
    run.pipeline.close()
    expected = told.embedded()
    fluents = expected["timeline"].column("fluent").to_pylist()
    assert {fluent.partition("(")[0] for fluent in fluents} == {"on", "near", "both"}
    assert_same(expected, run.tables())


def assert_as_embedded(told: Story, run: Made) -> dict[str, pa.Table]:
    """All rows as one batch give the tables of an embedded run, which are returned."""
    run.pipeline.batch(told.rows, 0)
    run.pipeline.close()
    expected = told.embedded()
    assert_same(expected, run.tables())
    return expected


KNOWN = """
    initiatedAt(on(X)=true, T) :- happensAt(press(X), T), X \\= b.
    initiatedAt(near(X, Y)=true, T) :- happensAt(meet(X, Y), T), holdsAt(on(X)=true, T), holdsAt(on(Y)=true, T)."""


@pytest.mark.parametrize(
    ("rule", "free"),
    [
        ("holdsFor(quiet=true, I) :- holdsFor(on(_)=true, A), complement_all([A], I).", "_"),
        (
            "holdsFor(quiet(X)=true, I) :- holdsFor(on(X)=true, A), holdsFor(near(X, Y)=true, B),"
            " relative_complement_all(A, [B], I).",
            "Y",
        ),
        (
            "holdsFor(quiet(X)=true, I) :- holdsFor(on(X)=true, A), holdsFor(near(X, Y)=true, B),"
            " union_all([A, B], I).",
            "Y",
        ),
        ("holdsFor(quiet(X)=V, I) :- holdsFor(on(X)=V, A), complement_all([A], I).", "V"),
    ],
)
def test_who_is_known_without_ever_holding_counts_and_no_stage_hears_of_them(
    tmp_path: Path, rule: str, free: str
) -> None:
    """What does not hold is told by nobody: rules that range over it see the whole stream."""
    told = meetings(f"{KNOWN}\n{rule}")
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=5)
    assert [stage.key for stage in run.pipeline.settings.stages] == [
        f"one shard: in quiet, {free} ranges over all that is known"
    ]
    expected = assert_as_embedded(told, run)
    assert any(fluent.startswith("quiet") for fluent in expected["timeline"].column("fluent").to_pylist())


SHOWN = """
    happensAt(pressed(X), T) :- happensAt(press(X), T).
    initiatedAt(near(X, Y)=true, T) :- happensAt(meet(X, Y), T).
    initiatedAt(lit(X)=true, T) :-
        happensAt(pressed(X), T), findall(Y, holdsAt(near(Y, _)=true, T), L), length(L, N), N > 5."""


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("initiatedAt(lit(X)=off, T) :- happensAt(meet(_, _), T).", "lit"),
        ("initially(lit(X)=off).", "lit"),
        ("terminatedAt(lit(X)=true, T) :- happensAt(pressed(_), T).", "lit"),
        ("holdsFor(dark(X)=true, I) :- holdsFor(lit(X)=true, A), complement_all([A], I).", "dark"),
    ],
)
def test_a_derived_event_shows_nobody_in_any_stage(tmp_path: Path, rule: str, name: str) -> None:
    """Input events do; a stage that gets the derived events of another one would take them for those."""
    told = meetings(f"{SHOWN}\n{rule}")
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert [stage.key for stage in run.pipeline.settings.stages] == [
        f"one shard: in {name}, X ranges over all that is known"
    ]
    assert_as_embedded(told, run)


SIGHTED = """
    initiatedAt(near(X, Y)=true, T) :- happensAt(meet(X, Y), T).
    initiatedAt(lit(X)=true, T) :- happensAt(press(X), T).
    initially(lit(_)=off).
    holdsFor(dark(X)=true, I) :- holdsFor(lit(X)=true, A), complement_all([A], I).
    holdsFor(dim(X)=true, I) :- holdsFor(dark(X)=true, I)."""


def asking(edge: str, asked: str, rules: str = SIGHTED) -> Story:
    """A story with a rule of another key that asks for the edge of something."""
    body = f"happensAt({edge}({asked}), T), holdsAt(near(Y, X)=true, T), holdsAt(lit(Y)=true, T)"
    return meetings(f"{rules}\ninitiatedAt(both(X, Y)=true, T) :- {body}.")


@pytest.mark.parametrize("asked", ["lit(X)=off", "dark(X)=true", "dim(X)=true"])
@pytest.mark.parametrize("edge", ["start", "end"])
def test_what_somebody_has_from_first_sight_has_no_start_in_any_stage(tmp_path: Path, asked: str, edge: str) -> None:
    run = made(asking(edge, asked), tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    name = asked.partition("(")[0]
    assert [stage.key for stage in run.pipeline.settings.stages] == [
        f"one shard: a rule reads the {edge} of {name}, which may hold from first sight on, by another key"
    ]


def test_a_blank_of_the_conditions_is_not_the_blank_of_the_head(tmp_path: Path) -> None:
    """Whoever is seen has it from then on, as there is a ``dusk``; who that is plays no part."""
    rules = SIGHTED.replace("initially(lit(_)=off).", "initially(lit(_)=off) :- dusk(_).\n    dusk(late).")
    told = asking("start", "lit(X)=off", rules)
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert [stage.key for stage in run.pipeline.settings.stages] == [
        "one shard: a rule reads the start of lit, which may hold from first sight on, by another key"
    ]
    assert_as_embedded(told, run)


def test_what_holds_from_the_start_has_no_start_in_any_stage(tmp_path: Path) -> None:
    told = asking("start", "lit(X)=off", SIGHTED.replace("lit(_)=off", "lit(b)=off"))
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert [stage.shards for stage in run.pipeline.settings.stages] == [3, 3]
    assert_as_embedded(told, run)


def test_what_must_hold_for_a_rule_to_say_anything_may_come_from_other_stages(tmp_path: Path) -> None:
    body = "holdsFor(on(X)=true, A), holdsFor(near(X, _)=true, B), intersect_all([A, B], I)"
    told = meetings(f"{KNOWN}\nholdsFor(met(X)=true, I) :- {body}.")
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=5)
    assert [stage.shards for stage in run.pipeline.settings.stages] == [5, 5, 5]
    assert_as_embedded(told, run)


NEAR = """
    fluent near(one: symbol, other: symbol).
    holdsFor(close(X)=true, I) :- holdsFor(near(X, X)=true, I).
    initiatedAt(some=true, T) :- happensAt(start(close(_)=true), T).
    terminatedAt(some=true, T) :- happensAt(end(close(_)=true), T)."""


@pytest.mark.parametrize(("window", "step"), [(20, 10), (30, 30), (40, 10)])
def test_an_interval_that_is_cut_at_the_start_of_the_window_is_no_late_row_of_the_next_stage(
    tmp_path: Path, window: int, step: int
) -> None:
    """One is taken back, and what lies before the window stays; one, as long as that, goes on after all."""
    first = 60 - window + 1
    rows = [
        {"time": 24, "end": 54, "arrival": 25, "op": "insert", "who": "a"},
        {"time": 12, "end": first, "arrival": 26, "op": "insert", "who": "b"},
        {"time": 24, "end": 54, "arrival": 55, "op": "retract", "who": "a"},
        {"time": first, "end": 57, "arrival": 56, "op": "insert", "who": "b"},
    ]
    told = [
        {"name": "near", "time": r["time"], "end": r["end"], "arrival": r["arrival"], "op": r["op"]}
        | {"arg1": r["who"], "arg2": r["who"], "nr": number}
        for number, r in enumerate(rows, start=1)
    ]
    near = Story(NEAR, pa.Table.from_pylist(told), {"window": window, "step": step, "start": 0})
    expected = near.embedded()
    assert expected["rejected"].num_rows == 0 and expected["timeline"].num_rows > 0
    run = made(near, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert len(run.pipeline.settings.stages) == 2
    for number, piece in enumerate(pieces(near.rows, 2)):
        run.pipeline.batch(piece, number)
    run.pipeline.close()
    assert_same(expected, run.tables())


ARITIES = """
    event meets(who: symbol).
    event meets(who: symbol, whom: symbol).
    initiatedAt(out(X)=true, T) :- happensAt(meets(X), T).
    initiatedAt(near(X, Y)=true, T) :- happensAt(meets(X, Y), T), holdsAt(out(X)=true, T), holdsAt(out(Y)=true, T)."""


@pytest.mark.parametrize("shards", [1, 3])
def test_a_stage_does_not_reject_rows_that_only_another_one_reads(tmp_path: Path, shards: int) -> None:
    """They come under the same name, with another number of arguments; those that are late are rejected once."""
    told = [("a", None, 2, 2), ("b", None, 3, 3), ("a", "b", 5, 5), ("b", "a", 25, 25)]
    told += [("a", "c", 4, 90), ("c", None, 4, 91)]
    rows = [
        {"name": "meets", "arg1": who, "arg2": whom, "time": time, "arrival": arrival, "op": "insert", "nr": number}
        for number, (who, whom, time, arrival) in enumerate(told, start=1)
    ]
    story = Story(ARITIES, pa.Table.from_pylist(rows, COLUMNS), {"window": 40, "step": 10, "start": 0})
    run = made(story, None, out=tmp_path / "out", shards=shards)
    assert len(run.pipeline.settings.stages) == (1 if shards == 1 else 2)
    run.pipeline.whole(story.rows)
    assert run.tables()["rejected"].column("row").to_pylist() == [5, 6]
    assert_same(story.embedded(), run.tables())
