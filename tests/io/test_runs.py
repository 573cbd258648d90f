"""Runs from end to end, with the reference as the reasoner: what is read, driven, folded and returned."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import asdict
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import thalweg
from thalweg.io import sources
from thalweg.io.errors import InputError
from thalweg.io.sinks import Memory
from thalweg.plans import Options, Schedule, as_program, prepare
from thalweg.runs import Progress, RowRejected, drive, run
from thalweg.verification import verify

RULES = """
    initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
    terminatedAt(f(X)=true, T) :- happensAt(g(X), T).
"""
CASES = Path(__file__).parent.parent / "cases" / "events"
EVENTS = pa.table({"name": ["e", "e", "g", "g"], "time": [3, 12, 7, 15], "x": ["a", "b", "a", "b"]})


def cases() -> list[Any]:
    found = []
    for case in sorted(p for p in CASES.iterdir() if not p.name.startswith("random")):
        for number, settings in enumerate(json.loads((case / "case.json").read_text())["runs"]):
            found.append(pytest.param(case, settings, id=f"{case.name}-{number}"))
    return found


def variant(case: Path, stem: str, suffix: str, number: int) -> Path:
    other = case / f"{stem}.{number}.{suffix}"
    return other if number and other.exists() else case / f"{stem}.{suffix}"


@pytest.mark.parametrize(("case", "settings"), cases())
def test_a_case_gives_the_expected_timeline_at_its_last_query_time(
    case: Path, settings: dict[str, Any], slow: list[Any]
) -> None:
    which = settings["variant"]
    result = run(
        variant(case, "rules", "ec", which),
        variant(case, "events", "csv", which),
        background=[variant(case, "background", "ec", which)],
        window=settings["window"],
        step=settings["step"],
        start=settings["start"],
        end=settings["end"],
        tick=settings["tick"],
        allow_gaps=True,
    )
    (reasoner,) = slow
    last = result.summary().last_query_time
    timeline = reasoner.reference._timeline
    expected = {(*pair, *interval) for pair, intervals in timeline.items() for interval in intervals}
    assert last == Schedule(settings["start"], settings["step"], None).at_or_after(settings["end"])
    assert set(zip(*result["timeline"].to_pydict().values(), strict=True)) == expected
    assert result["timeline"].num_rows == len(expected)
    assert set(zip(*result["events"].to_pydict().values(), strict=True)) == set(reasoner.events)


def test_rows_out_of_order_are_not_lost(
    tmp_path: Path, slow: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"e|{t}|{t}|x{t}\n" for t in (3, 12, 22, 7, 15, 28, 1)]
    (tmp_path / "e.csv").write_text("".join(rows))
    monkeypatch.setattr("thalweg.io.delimited.BLOCK", 12)
    result = run(RULES, tmp_path / "e.csv", window=10, step=10)
    assert result["timeline"]["start"].to_pylist() == [2, 13, 16, 23, 29, 4, 8]
    assert result["rejected"].num_rows == 0


def test_a_sorted_stream_is_held_chunk_by_chunk(slow: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "CHUNK_ROWS", 10)
    table = pa.table({"name": ["e"] * 200, "time": list(range(1, 201)), "x": ["a"] * 200})
    run(RULES, table, window=5, step=5)
    (reasoner,) = slow
    assert reasoner.accepted == 200
    assert reasoner.held <= 15


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_result_does_not_depend_on_how_the_input_is_cut(
    size: int, slow: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    arrivals = [4, 5, 12, 11, 21, 30, 22]
    times = [3, 5, 2, 11, 14, 29, 22]
    names = ["e", "g", "e", "e", "g", "e", "g"]
    table = pa.table(
        {"name": names, "time": times, "arrival": arrivals, "x": ["a", "a", "a", "b", "b", "a", "b"]}
    )
    whole = run(RULES, table, window=20, step=10)
    monkeypatch.setattr(sources, "CHUNK_ROWS", size)
    cut = run(RULES, table, window=20, step=10)
    assert cut["timeline"].equals(whole["timeline"])
    assert cut["changes"].to_pylist() == whole["changes"].to_pylist()
    split = run(RULES, [table.slice(0, 3), table.slice(3)], window=20, step=10)
    assert split["timeline"].equals(whole["timeline"])


def test_tables_come_back_in_the_kind_they_were_given(slow: list[Any]) -> None:
    kinds = {
        "pandas": (EVENTS.to_pandas(), pd.DataFrame),
        "polars": (pl.from_arrow(EVENTS), pl.DataFrame),
        "arrow": (EVENTS, pa.Table),
        "duckdb": (duckdb.from_arrow(EVENTS), duckdb.DuckDBPyRelation),
        "named": ({"e": EVENTS.select(["time", "x"]).to_pandas()}, pd.DataFrame),
    }
    for events, kind in kinds.values():
        result = run(RULES, events, window=10, step=10)
        for name in ("timeline", "changes", "open", "rejected", "events"):
            assert isinstance(result[name], kind)


def test_a_result_shows_itself(slow: list[Any]) -> None:
    result = run(RULES, EVENTS, window=10, step=10)
    assert repr(result).splitlines()[0] == "4 rows from input"
    assert "f(a)    true   4      8" in repr(result)
    assert "<td>f(a)</td><td>true</td><td>4</td><td>8</td>" in result._repr_html_()
    assert result.summary().query_times == 2
    assert result.summary().tables["timeline"] == 2


def test_an_unknown_table_is_an_error_that_names_the_others(slow: list[Any]) -> None:
    result = run(RULES, EVENTS, window=10, step=10)
    with pytest.raises(KeyError, match="no table 'answers'; it has timeline"):
        _ = result["answers"]


def test_a_result_is_a_collection_of_tables_by_name(slow: list[Any]) -> None:
    result = run(RULES, EVENTS, window=10, step=10)
    assert list(result) == list(result.arrow) and len(result) == len(result.arrow)
    assert "timeline" in result and "timelines" not in result and 0 not in result
    with pytest.raises(KeyError, match="no table 'timelines'"):
        result.dated("timelines")


def test_a_result_can_be_pickled_also_after_it_was_asked() -> None:
    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    result = run(rules, [{"name": "press", "time": 3, "x": "lamp"}], window=10, step=10)
    why = str(result.why("on(lamp)=true @ 5"))
    other = pickle.loads(pickle.dumps(result))
    assert other["timeline"].equals(result["timeline"]) and str(other.why("on(lamp)=true @ 5")) == why


def test_a_table_asked_for_as_an_attribute_is_pointed_to_by_name(slow: list[Any]) -> None:
    result = run(RULES, EVENTS, window=10, step=10)
    with pytest.raises(AttributeError, match=r'no attribute .changes.; the table is result\["changes"\]'):
        _ = result.changes


def test_arguments_come_as_typed_columns(slow: list[Any]) -> None:
    rules = """
        state level(tank: symbol) in {low, high}.
        initiatedAt(depth(X, D)=N, T) :- happensAt(fill(X, D), T), N is D * 2.
        initiatedAt(level(X)=high, T) :- happensAt(fill(X, D), T), D > 1.
    """
    events = pa.table({"name": ["fill", "fill"], "time": [1, 2], "x": ["North Sea", "b"], "d": [1.5, 3]})
    result = run(rules, events, window=10, step=10)
    assert result.table("depth").to_pylist() == [
        {"arg1": "North Sea", "arg2": 1.5, "value": 3, "start": 2, "end": None},
        {"arg1": "b", "arg2": 3, "value": 6, "start": 3, "end": None},
    ]
    assert result.table("level", of="changes").column_names[:4] == ["query_time", "op", "tank", "value"]
    with pytest.raises(InputError, match="there is no table chnges; did you mean changes"):
        result.table("level", of="chnges")
    with pytest.raises(InputError, match="no levl; did you mean level"):
        result.table("levl")


def test_a_bad_row_is_rejected_and_the_run_goes_on(slow: list[Any]) -> None:
    events = pa.table({"name": ["e", "bogus", "g"], "time": [3, 4, 7], "x": ["a", "a", "a"]})
    result = run(RULES, events, window=10, step=10)
    assert result["timeline"].to_pylist() == [{"fluent": "f(a)", "value": "true", "start": 4, "end": 8}]
    assert result.summary().rejected == {"unknown-name": 1}


def test_a_run_may_be_told_to_stop_at_the_first_bad_row(slow: list[Any]) -> None:
    events = pa.table({"name": ["e", "bogus"], "time": [3, 4], "x": ["a", "a"]})
    with pytest.raises(RowRejected, match="input:2: no rule reads bogus"):
        run(RULES, events, window=10, step=10, on_error="stop")


def test_a_row_that_the_reasoner_rejects_is_found_in_its_source(slow: list[Any]) -> None:
    first = pa.table({"name": ["e"], "time": [25], "arrival": [25], "x": ["a"]})
    second = pa.table({"name": ["e", "g"], "time": [26, 3], "arrival": [26, 28], "x": ["a", "a"]})
    result = run(RULES, {"first": first, "second": second}, window=10, step=10)
    (row,) = result["rejected"].to_pylist()
    assert (row["source"], row["row"], row["reason"]) == ("second", 2, "too-late")


def test_dates_give_windows_in_hours(slow: list[Any]) -> None:
    events = pa.table(
        {"name": ["e", "g"], "time": ["2022-01-03T10:00:00", "2022-01-03T11:30:00"], "x": ["a", "a"]}
    )
    result = run(RULES, events, window="2h", step="1h", start="2022-01-03", tick="1m")
    (row,) = result["timeline"].to_pylist()
    assert row["end"] - row["start"] == 90
    assert result.summary().query_times == 12


def test_rows_about_times_after_the_last_query_time_are_counted() -> None:
    events = [
        {"name": "e", "time": 3, "arrival": 3, "x": "a"},
        {"name": "e", "time": 25, "arrival": 4, "x": "b"},
        {"name": "e", "time": 8, "arrival": 4, "x": "c"},
    ]
    summary = run(RULES, events, window=10, step=10).summary()
    assert summary.waiting == 1
    assert "1 not yet due at the last query time; --end goes further" in str(summary)
    assert run(RULES, events, window=10, step=10, end=30).summary().waiting == 0


def test_a_tick_that_is_not_the_one_of_the_rules_is_refused() -> None:
    rules = f"tick 1s. {RULES} ft(f(X)=true, 5m)."
    with pytest.raises(InputError, match="tick 1m is not the one that the program declares, of 1 s"):
        run(rules, EVENTS, window="2h", step="1h", tick="1m")
    assert run(rules, EVENTS, window="2h", step="1h", tick="1000ms").summary().rows == EVENTS.num_rows


def test_an_end_stops_the_reading_and_names_what_was_not_read(
    slow: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "CHUNK_ROWS", 1)
    result = run(RULES, EVENTS.sort_by("time"), window=10, step=10, start=0, end=10)
    assert result.summary().unread == 2
    assert result.summary().last_query_time == 10
    monkeypatch.setattr(sources, "CHUNK_ROWS", 100)
    whole = run(RULES, EVENTS.sort_by("time"), window=10, step=10, start=0, end=10)
    assert whole.summary().unread == 2
    assert whole["timeline"].equals(result["timeline"])


def test_windows_and_steps_have_the_units_of_rules() -> None:
    for unit, seconds in {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}.items():
        assert thalweg.parse(f"tick 1{unit}.").tick_seconds == seconds
        assert run(RULES, EVENTS, window=f"2{unit}", step=2 * seconds).summary().query_times


def test_an_editor_is_offered_the_public_names_before_any_is_used() -> None:
    fresh = "import thalweg; print(*dir(thalweg))"
    offered = subprocess.run([sys.executable, "-c", fresh], capture_output=True, text=True, check=True).stdout.split()
    assert {"load", "parse", "run", "rows", "Program", "Reasoner", "Result", "InputError"} <= set(offered)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 5, "step": 10}, "window 5 is smaller than step 10(.|\n)*at least as long as the step"),
        ({"window": 10, "step": -1}, "step -1 is not positive"),
        ({"window": 10, "step": 0}, "step 0 is not positive"),
        ({"window": 10}, "a window and a step"),
        ({"window": 10, "step": 10, "start": 5, "end": 5}, "end 5 is not after start 5"),
        ({"window": 10, "step": 10, "on_error": "ignore"}, "neither reject nor stop"),
        ({"window": 10, "step": 10, "query": "f(X)"}, "a program of kind events has no queries"),
        ({"window": 10, "step": 10, "models": 2}, "models has no meaning"),
        ({"window": 10, "step": 10, "tick": 0}, "tick 0 is not a positive number"),
        ({"window": "soon", "step": 10}, "window soon is not a number"),
    ],
)
def test_options_that_make_no_sense_are_one_clear_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(RULES, EVENTS, **options)


def test_a_time_far_off_does_not_run_forever(slow: list[Any]) -> None:
    events = pa.table({"name": ["e", "e"], "time": [1, 2**60], "x": ["a", "a"]})
    with pytest.raises(InputError, match="query times between 0 and the next row"):
        run(RULES, events, window=10, step=10)


def test_an_end_far_off_is_said_to_be_the_end(slow: list[Any]) -> None:
    with pytest.raises(InputError, match="query times between 2 and the end, at 1000000000000"):
        run(RULES, EVENTS, window=10, step=1, end=10**12)


def test_no_rows_give_empty_tables(slow: list[Any]) -> None:
    result = run(RULES, EVENTS.slice(0, 0), window=10, step=10)
    assert result["timeline"].num_rows == 0
    assert result.summary().query_times == 0


def test_a_missing_program_is_named(slow: list[Any]) -> None:
    with pytest.raises(InputError, match=r"there is no file missing\.ec"):
        run("missing.ec", EVENTS, window=10, step=10)


def test_progress_is_reported_chunk_by_chunk(slow: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "CHUNK_ROWS", 2)
    seen: list[Progress] = []
    drive(
        prepare(as_program(RULES), EVENTS, Options(window=10, step=5)),
        Memory(as_program(RULES).kind),
        seen.append,
    )
    assert [p.rows for p in seen] == [2, 4]
    assert all(p.of == 4 for p in seen)


@pytest.mark.parametrize(
    ("start", "step", "moment", "before", "after"),
    [(0, 10, 25, 20, 30), (0, 10, 30, 30, 30), (3, 5, 3, 3, 8), (-7, 5, 0, -2, 3), (0, 10, -5, -10, 10)],
)
def test_query_times_lie_on_a_grid(start: int, step: int, moment: int, before: int, after: int) -> None:
    schedule = Schedule(start, step, None)
    assert schedule.at_or_before(moment) == before
    assert schedule.at_or_after(moment) == after


def test_a_change_names_the_late_or_retracted_row_that_caused_it(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text("e|3|3|a\ne|4|4|b\n")
    (tmp_path / "late.csv").write_text("g|15|7|a\n-|e|15|4|b\n")
    result = run(RULES, tmp_path, window=20, step=10)
    causes = {
        (row["op"], row["fluent"]): row["cause"]
        for row in result["changes"].to_pylist()
        if row["query_time"] == 20
    }
    assert causes == {
        ("delete", "f(a)"): "late.csv:1",
        ("insert", "f(a)"): "late.csv:1",
        ("delete", "f(b)"): "late.csv:2",
    }


def test_the_pending_effects_of_the_last_query_time_are_open() -> None:
    rules = """
        initiatedAt(light=red, T) :- happensAt(press, T).
        fi(light=red, light=green, 25).
    """
    result = run(rules, pa.table({"name": ["press"], "time": [3]}), window=10, step=10, end=20)
    (row,) = result["open"].to_pylist()
    assert (row["query_time"], row["fluent"], row["value"], row["due"], row["since"]) == (
        20,
        "light",
        "green",
        28,
        3,
    )


@pytest.mark.parametrize(("case", "settings"), cases())
def test_the_reasoner_and_the_reference_agree_on_the_cases(case: Path, settings: dict[str, Any]) -> None:
    which = settings["variant"]
    program = as_program(variant(case, "rules", "ec", which), [variant(case, "background", "ec", which)])
    options = Options(
        **{key: settings[key] for key in ("window", "step", "start", "end", "tick")}, allow_gaps=True
    )
    verdict = verify(prepare(program, variant(case, "events", "csv", which), options))
    assert verdict.difference is None
    assert verdict.query_times > 0


def test_a_late_row_does_not_stop_a_run_that_stops_at_bad_rows(slow: list[Any]) -> None:
    events = pa.table({"name": ["e", "g"], "time": [25, 3], "arrival": [25, 28], "x": ["a", "a"]})
    result = run(RULES, events, window=10, step=10, on_error="stop")
    assert result.summary().rejected == {"too-late": 1}


def test_empty_lines_are_no_rows(tmp_path: Path, slow: list[Any]) -> None:
    (tmp_path / "e.csv").write_text("e|3|3|a\n\n\n")
    assert run(RULES, tmp_path / "e.csv", window=10, step=10).summary().rows == 1


def test_rows_of_any_table_feed_a_reasoner_online() -> None:
    program = as_program(RULES)
    reasoner = thalweg.Reasoner(program, window=10, step=10)
    batch, rejected = thalweg.rows(program, EVENTS.to_pandas())
    reasoner.accept(batch)
    revision = reasoner.advance(20)
    assert {row["fluent"] for row in revision["changes"].to_pylist()} == {"f(a)", "f(b)"}
    assert rejected.num_rows == 0
    more, _ = thalweg.rows(program, EVENTS, first=101)
    assert sorted(int(n) for part in more for n in part.row) == [101, 102, 103, 104]


def test_durations_may_be_timedeltas_and_times_datetimes() -> None:
    events = pa.table({"name": ["e", "g"], "time": ["2026-03-02T08:00:03Z", "2026-03-02T08:00:07Z"], "x": ["a", "a"]})
    told = run(RULES, events, window="20s", step="10s", start="2026-03-02T08:00", end="2026-03-02T08:00:30")
    given = run(
        RULES,
        events,
        window=timedelta(seconds=20),
        step=timedelta(seconds=10),
        start=datetime(2026, 3, 2, 8),
        end=datetime(2026, 3, 2, 8, 0, 30),
    )
    assert given["changes"].equals(told["changes"])
    assert given.summary().query_times == told.summary().query_times == 3


def test_options_hold_what_can_be_written_down() -> None:
    options = Options(timedelta(hours=1), np.int64(10), start=date(2026, 3, 2), tick=timedelta(milliseconds=40))
    written = json.loads(json.dumps(asdict(options)))
    assert [written[name] for name in ("window", "step", "start", "tick")] == ["3600s", 10, "2026-03-02", "40.000ms"]


def test_what_is_no_duration_is_refused() -> None:
    with pytest.raises(InputError, match="window \\[1\\] is not a number with an optional unit"):
        run(RULES, EVENTS, window=[1], step=10)  # type: ignore[arg-type]


def test_a_summary_says_dates_where_times_are_dates_to_people() -> None:
    rows = [{"name": "e", "time": "2026-03-02T08:00", "x": "a"}, {"name": "e", "time": "2026-03-02T09:00", "x": "b"}]
    result = run(f"tick 1m. {RULES}", rows, window="1h", step="30m")
    assert "3 query times, 2026-03-02T08:00Z to 2026-03-02T09:00Z" in repr(result)
    assert "2026-03-02T08:01Z" in result._repr_html_()
    assert "29540640" in str(result.summary())
    assert "29540640" not in result._repr_html_().split("</svg>")[-1]


def test_the_ticks_of_lars_are_dates_too() -> None:
    rows = [{"name": "b", "time": "2026-03-02T08:00"}]
    result = run("program lars. tick 1m. a if [5m] sometime b.", rows)
    assert repr(result).splitlines()[-1].split() == ["a", "2026-03-02T08:00Z"]
    assert str(result.dated("answers").schema.field("from").type) == "timestamp[us, tz=UTC]"


def test_background_may_be_one_path_or_text() -> None:
    rules = "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), known(X)."
    assert run(rules, EVENTS, background="known(a).", window=10, step=10)["timeline"].num_rows == 1


@pytest.mark.parametrize("given", [None, 5, ["initiatedAt(f(X)=true, T) :- happensAt(e(X), T)."]])
def test_what_is_no_program_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="cannot read rules from"):
        run(given, EVENTS, window=10, step=10)
