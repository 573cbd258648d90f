"""`thalweg migrate`: a checkpoint goes over to changed rules. Compared with one reasoner that does the same."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from atoms import CARELESS, CHOICE, LAMPS, SILENT, TURBINES, story
from inprocess import Made, made, pieces
from stories import Story, assert_same, rows_of, short_traffic, traffic
from typer.testing import CliRunner

import thalweg
from thalweg import spark as ts
from thalweg.cli.main import app
from thalweg.events.reasoner import Reasoner
from thalweg.io.errors import InputError
from thalweg.io.sinks import Memory
from thalweg.plans import Options, as_program
from thalweg.runs import rows as read_rows
from thalweg.spark import migration, task
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import Directory
from thalweg.spark.migration import _settings, migrate
from thalweg.spark.origin import BEFORE
from thalweg.spark.outputs import Outputs, partition
from thalweg.spark.settings import settings_of

SLOWER = ("happensAt(speed(V, K), T), K > 5.", "happensAt(speed(V, K), T), K > 60.")


def changed(story: Story, old: str, new: str) -> Story:
    assert old in story.program
    return Story(story.program.replace(old, new), story.rows, story.options)


def by_one_reasoner(before: Story, after: Story, at: int) -> dict[str, pa.Table]:
    """What a single reasoner says that changes its program at a query time."""
    batch, _ = read_rows(thalweg.parse(before.program), before.rows.drop_columns(["nr"]))
    options = {name: before.options[name] for name in ("window", "step", "start")}
    old = Reasoner(thalweg.parse(before.program), **options)
    old.accept(batch)
    memory = Memory(thalweg.parse(after.program).kind)
    revisions = [old.advance(at)]
    new = old.changed(thalweg.parse(after.program))
    last = max(int(part.arrival.max()) for part in batch)
    revisions += [new.revise(), new.advance(-(-last // 30) * 30)]
    for revision in revisions:
        for name, table in revision.tables.items():
            if name != "rejected":
                memory.add(name, table)
    return memory.tables()


def halves(before: Story, after: Story, folder: Path, shards: int) -> tuple[Made, Any, int]:
    """Half of the stream, the migration, the other half."""
    first, second = pieces(before.rows, 2)
    run = made(before, folder / "checkpoint", out=folder / "out", shards=shards)
    report = run.pipeline.batch(first, 0)
    assert report is not None
    run.pipeline.close()
    task._MEMORY._runs.clear()
    done = migrate(folder / "checkpoint", after.program)
    again = made(after, folder / "checkpoint", out=folder / "out", shards=shards)
    again.pipeline.batch(second, 1)
    again.pipeline.close()
    return again, done, report.moment.query_time


@pytest.mark.parametrize("shards", [1, 3])
def test_the_window_is_revised_and_the_stream_goes_on(tmp_path: Path, shards: int) -> None:
    before = short_traffic()
    after = changed(before, *SLOWER)
    again, done, at = halves(before, after, tmp_path, shards)
    assert done.query_time == at and done.corrections["changes"] > 0
    expected, found = by_one_reasoner(before, after, at), again.tables()
    for name in ("timeline", "events", "open"):
        columns = expected[name].column_names
        mine, yours = rows_of(expected[name], columns), rows_of(found[name], columns)
        assert mine == yours, f"{name}: {list(mine - yours)[:3]} {list(yours - mine)[:3]}"
    told = [row for row in found["changes"].to_pylist() if row["cause"] == "program"]
    assert len(told) == done.corrections["changes"] and {row["query_time"] for row in told} == {at}
    columns = [name for name in expected["changes"].column_names if name != "cause"]
    assert rows_of(expected["changes"], columns) == rows_of(found["changes"], columns)


def test_rules_that_say_the_same_change_nothing(tmp_path: Path) -> None:
    before = short_traffic()
    again, done, _ = halves(before, changed(before, "% relations", "event never(x: symbol)."), tmp_path, 2)
    assert sum(done.corrections.values()) == done.corrections["open"]
    expected = before.embedded()
    assert rows_of(expected["changes"], expected["changes"].column_names) == rows_of(
        again.tables()["changes"], expected["changes"].column_names
    )


KNOWN = """
event stop(x: symbol).
initially(state(X)=on) :- lamp(X).
terminatedAt(state(X)=on, T) :- happensAt(stop(X), T).
initiatedAt(quiet(X)=true, T) :- happensAt(stop(X), T).
lamp(w77). lamp(w78). lamp(w79).
"""
"""What every shard finds, and that of the key tells."""
FEWER = KNOWN.replace(" lamp(w78).", "")


@pytest.mark.parametrize("after", [FEWER, KNOWN.replace("initially(state(X)=on) :- lamp(X).\n", "")])
@pytest.mark.parametrize("back", [False, True])
def test_what_every_shard_found_is_taken_back_once(tmp_path: Path, after: str, back: bool) -> None:
    rows = traffic(seed=5, size=100, program=KNOWN).rows
    stops = [{**row, "name": "stop", "arg1": f"w{row['nr'] % 80}", "arg2": None} for row in rows.to_pylist()]
    told = Story(KNOWN, pa.Table.from_pylist(stops, rows.schema), {"window": 5000, "step": 30, "start": 0})
    changed = Story(after, told.rows, told.options)
    one, other = (changed, told) if back else (told, changed)
    single, _, _ = halves(one, other, tmp_path / "1", 1)
    several, _, _ = halves(one, other, tmp_path / "3", 3)
    assert len({part["fluent"] for part in single.tables()["timeline"].to_pylist()}) > 50
    assert_same(single.tables(), several.tables())


# --------------------------------------------------------------------------- the other two kinds

OTHERS = {
    "windows": (LAMPS, LAMPS.replace("[10]", "[2]")),
    "a rule more": (LAMPS, LAMPS + "lit(X) :- [4] sometime press(X), not [2] sometime rest(X).\n"),
    "somebody less who is known without rows": (f"{SILENT}lamp(w76).\n", SILENT),
    "somebody more who is known without rows": (SILENT, f"{SILENT}lamp(w76).\n"),
    "a rule less that needs no rows": (LAMPS + SILENT, LAMPS),
    "a threshold": (TURBINES, TURBINES.replace("D > 80", "D > 84") + "query flag(Y, T).\n"),
    "a query less": (TURBINES, TURBINES.replace("query shdn(X, T).\n", "")),
    "another negation": (CARELESS, CARELESS.replace("not maintenance(X, T)", "not maintenance(X, T+1)")),
}


def handed_over(before: Story, after: Story, at: int) -> dict[str, pa.Table]:
    """What a single reasoner says that changes its program at a query time."""
    program, plans = thalweg.parse(before.program), []
    for text in (before.program, after.program):
        columns = [name for name in before.rows.column_names if name != "nr"]
        plans.append(settings_of(as_program(text), Options(**before.options), columns, shards=1).plan)
    old = plans[0].make(retain=True)
    old.accept(read_rows(program, before.rows.drop_columns(["nr"]))[0])
    memory = Memory(program.kind)
    revisions = [old.advance(at)]
    new = old.changed(plans[1].program)
    revisions += [new.revise(), new.advance(max(before.rows.column("arrival").to_pylist()))]
    for revision in revisions:
        for name, table in revision.tables.items():
            if name != "rejected":
                memory.add(name, table)
    return memory.tables()


@pytest.mark.parametrize("name", OTHERS)
def test_open_answers_and_lars_programs_go_over_too(tmp_path: Path, name: str) -> None:
    before, after = (story(text, {"lateness": 4}, size=200) for text in OTHERS[name])
    after = Story(after.program, before.rows, before.options)
    again, done, at = halves(before, after, tmp_path, 2)
    assert done.query_time == at and done.corrections["changes"] > 0 and done.notes == ()
    expected, found = handed_over(before, after, at), again.tables()
    for table in ("changes", "answers", "open"):
        if table in expected:
            columns = expected[table].column_names
            mine, yours = rows_of(expected[table], columns), rows_of(found[table], columns)
            assert mine == yours, f"{table}: {list(mine - yours)[:3]} {list(yours - mine)[:3]}"


class Crash(BaseException):
    """The process is gone."""


def crash_after(writes: int, patched: pytest.MonkeyPatch) -> None:
    """Let the process be gone after so many things were written, moved or deleted."""
    left = [writes]

    def fused(real: Any) -> Any:
        def write(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Crash
            return real(*given, **named)

        return write

    for name in ("write", "write_checked", "write_table", "move", "delete"):
        patched.setattr(Directory, name, fused(getattr(Directory, name)))


# --------------------------------------------------------------------------- there and back

BACK = {
    **OTHERS,
    "a query more": OTHERS["a query less"][::-1],
    "nothing is negated": (CARELESS, TURBINES),
    "later": (TURBINES, TURBINES.replace("malf(X, T-2) :- shdn(X, T).", "malf(X, T-2) :- shdn(X, T+5), flag(X, T).")),
    "less is read": (LAMPS, "on(X) :- [10] sometime press(X).\n"),
    "a choice": (CHOICE, LAMPS),
}
RACING = """holdsFor(racing(V)=true, I) :-
    holdsFor(moving(V)=true, I1), holdsFor(level(V)=fined, I2), intersect_all([I1, I2], I)."""
EVENTS = {
    "a threshold of events": SLOWER,
    "events that are not read": ("terminatedAt(moving(V)=true, T) :- happensAt(halt(V), T).\n", ""),
    "a fluent less": (f"{RACING}\n", ""),
}


def there(name: str) -> tuple[Story, str]:
    """A story, and other rules for it."""
    if name in BACK:
        before, after = BACK[name]
        return story(before, {"lateness": 4}, size=150), after
    return (before := short_traffic()), changed(before, *EVENTS[name]).program


def begun(story: Story, folder: Path, *programs: str) -> Made:
    """Half of the stream, and changes of the program."""
    run = made(story, folder / "checkpoint", out=folder / "out", shards=1)
    run.pipeline.batch(pieces(story.rows, 2)[0], 0)
    for program in programs:
        task._MEMORY._runs.clear()
        migrate(folder / "checkpoint", program)
    last = Story([story.program, *programs][-1], story.rows, story.options)
    return made(last, folder / "checkpoint", out=folder / "out", shards=1)


def all_rows(run: Made) -> dict[str, Any]:
    """The rows of all tables."""
    return {name: rows_of(table, table.column_names) for name, table in run.tables().items()}


def assert_alike(one: Made, other: Made, story: Story) -> None:
    """The tables of two runs are the same, now and after the rest of the rows."""
    assert all_rows(one) == all_rows(other)
    for run in (one, other):
        run.pipeline.batch(pieces(story.rows, 2)[1], 1)
        run.pipeline.close()
    assert all_rows(one) == all_rows(other)


@pytest.mark.parametrize("name", [*BACK, *EVENTS])
def test_there_and_back_leaves_nothing_behind_and_the_stream_goes_on_as_if_nothing_had_been(
    tmp_path: Path, name: str
) -> None:
    before, after = there(name)
    plain, back = begun(before, tmp_path / "plain"), begun(before, tmp_path / "back", after, before.program)
    assert_alike(plain, back, before)


def test_changes_of_the_program_without_a_batch_between_them_are_one_change(tmp_path: Path) -> None:
    before, other = there("nothing is negated")
    third = before.program.replace("D > 80", "D > 84")
    once, twice = begun(before, tmp_path / "once", third), begun(before, tmp_path / "twice", other, third)
    assert_alike(once, twice, before)


def test_after_a_batch_the_way_back_begins_where_that_left_it(tmp_path: Path) -> None:
    before, after = there("a query less")
    first, second, third = pieces(before.rows, 3)
    run = made(before, tmp_path / "c", out=tmp_path / "out", shards=1)
    run.pipeline.batch(first, 0)
    for batch, program, rows in ((1, after, second), (2, before.program, third)):
        task._MEMORY._runs.clear()
        done = migrate(tmp_path / "c", program)
        assert done.undone == {}
        run = made(Story(program, before.rows, before.options), tmp_path / "c", out=tmp_path / "out", shards=1)
        run.pipeline.batch(rows, batch)
    run.pipeline.close()
    told: Counter[tuple[str, ...]] = Counter()
    for row in run.tables()["changes"].to_pylist():
        told[tuple(str(row[n]) for n in ("status", "query", "answer", "evidence", "needed"))] += (
            1 if row["op"] == "insert" else -1
        )
    assert set(told.values()) <= {0, 1}


@pytest.mark.parametrize("writes", range(2, 17, 4))
def test_a_crash_on_the_way_back_leaves_one_program_or_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    before, after = there("nothing is negated")
    plain = begun(before, tmp_path / "plain")
    begun(before, tmp_path / "back", after)
    task._MEMORY._runs.clear()
    with monkeypatch.context() as patched:
        crash_after(writes, patched)
        try:
            migrate(tmp_path / "back" / "checkpoint", before.program)
        except Crash:
            pass
    migrate(tmp_path / "back" / "checkpoint", before.program)
    back = made(before, tmp_path / "back" / "checkpoint", out=tmp_path / "back" / "out", shards=1)
    assert all_rows(back) == all_rows(plain)


def test_what_was_before_is_forgotten_with_the_way_back_or_the_next_change(tmp_path: Path) -> None:
    before, after = there("a threshold")
    begun(before, tmp_path, after)
    kept = Directory(str(tmp_path / "checkpoint"))
    (first,) = kept.names(BEFORE)
    task._MEMORY._runs.clear()
    migrate(tmp_path / "checkpoint", before.program.replace("D > 80", "D > 81"))
    (second,) = kept.names(BEFORE)
    assert second != first
    done = migrate(tmp_path / "checkpoint", before.program)
    assert done.undone["changes"] > 0 and kept.names(BEFORE) == []


@pytest.mark.spark
@pytest.mark.parametrize("name", ["windows", "a threshold"])
def test_a_stream_on_spark_goes_on_with_the_changed_rules(spark: Any, tmp_path: Path, name: str) -> None:
    before, after = (story(text, {"lateness": 4}, size=200) for text in OTHERS[name])
    before.write(tmp_path / "in", 2)
    files = sorted((tmp_path / "in").iterdir())
    (tmp_path / "later").mkdir()
    later = files[-1].rename(tmp_path / "later" / files[-1].name)
    schema = spark.createDataFrame(before.rows.slice(0, 1)).schema
    sdf = spark.readStream.schema(schema).parquet(str(tmp_path / "in"))
    options = {"checkpoint": tmp_path / "c", "trigger": "available", "row": "nr", "shards": 2, **before.options}
    assert ts.stream(sdf, before.program, **options).wait()
    done = migrate(tmp_path / "c", after.program)
    assert done.query_time is not None and done.corrections["changes"] > 0
    later.rename(tmp_path / "in" / later.name)
    assert len(Directory(str(tmp_path / "c")).names(BEFORE)) == 1
    running = ts.stream(sdf, after.program, **options)
    assert running.wait()
    assert Directory(str(tmp_path / "c")).names(BEFORE) == []
    expected = handed_over(before, Story(after.program, before.rows, before.options), done.query_time)
    for table in ("changes", "answers"):
        columns = expected[table].column_names
        mine = rows_of(expected[table], columns)
        yours = rows_of(running.tables[table].toArrow(), columns)
        assert mine == yours, f"{table}: {list(mine - yours)[:3]} {list(yours - mine)[:3]}"


@pytest.mark.parametrize("writes", range(0, 40, 8))
def test_a_crash_on_the_way_leaves_the_old_program_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    before = short_traffic()
    after = changed(before, *SLOWER)
    first, second = pieces(before.rows, 2)
    run = made(before, tmp_path / "checkpoint", out=tmp_path / "out", shards=2)
    report = run.pipeline.batch(first, 0)
    assert report is not None
    task._MEMORY._runs.clear()
    with monkeypatch.context() as patched:
        crash_after(writes, patched)
        try:
            migrate(tmp_path / "checkpoint", after.program)
        except Crash:
            pass
    migrate(tmp_path / "checkpoint", after.program)
    again = made(after, tmp_path / "checkpoint", out=tmp_path / "out", shards=2)
    again.pipeline.batch(second, 1)
    again.pipeline.close()
    expected, found = by_one_reasoner(before, after, report.moment.query_time), again.tables()
    columns = expected["timeline"].column_names
    assert rows_of(expected["timeline"], columns) == rows_of(found["timeline"], columns)


def test_a_stream_that_is_running_commits_nothing_after_a_migration(tmp_path: Path) -> None:
    before = short_traffic()
    after = changed(before, *SLOWER)
    first, second = pieces(before.rows, 2)
    running = made(before, tmp_path / "checkpoint", out=tmp_path / "out")
    running.pipeline.batch(first, 0)
    migrate(tmp_path / "checkpoint", after.program)
    with pytest.raises(InputError, match="another process goes on with"):
        running.pipeline.batch(second, 1)
    task._MEMORY._runs.clear()
    again = made(after, tmp_path / "checkpoint", out=tmp_path / "out")
    assert again.pipeline.batch(second, 1) is not None


def test_a_migration_under_a_running_stream_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = short_traffic()
    first, second = pieces(before.rows, 2)
    running = made(before, tmp_path / "checkpoint", out=tmp_path / "out")
    running.pipeline.batch(first, 0)
    real = migration._revised

    def meanwhile(*given: Any) -> Any:
        running.pipeline.batch(second, 1)
        task._MEMORY._runs.clear()
        return real(*given)

    monkeypatch.setattr(migration, "_revised", meanwhile)
    with pytest.raises(InputError, match="the stream is running"):
        migrate(tmp_path / "checkpoint", changed(before, *SLOWER).program)
    running.pipeline.close()
    expected, found = before.embedded()["changes"], running.tables()["changes"]
    assert rows_of(expected, expected.column_names) == rows_of(found, expected.column_names)


def test_looking_at_a_checkpoint_leaves_what_a_migration_has_laid_ready(tmp_path: Path) -> None:
    """The look falls between the announcement of the changed program and the commit that makes it valid."""
    before = short_traffic()
    after = changed(before, *SLOWER)
    first, second = pieces(before.rows, 2)
    made(before, tmp_path / "checkpoint", out=tmp_path / "out").pipeline.batch(first, 0)
    real = Checkpoint.commit

    def watched(self: Checkpoint, *given: Any) -> None:
        assert CliRunner().invoke(app, ["inspect", str(tmp_path / "checkpoint"), "--program"]).exit_code == 0
        real(self, *given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Checkpoint, "commit", watched)
        migrate(tmp_path / "checkpoint", after.program)
    task._MEMORY._runs.clear()
    assert made(after, tmp_path / "checkpoint", out=tmp_path / "out").pipeline.batch(second, 1) is not None


def test_sinks_hear_at_the_next_start_what_a_migration_without_them_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = short_traffic()
    after = changed(before, *SLOWER)
    got: dict[int, int] = {}
    monkeypatch.setattr(Outputs, "table", lambda self, name, batch: len(self.directory.names(name, partition(batch))))
    sinks = {"changes": lambda files, batch: got.update({batch: files})}
    run = made(before, tmp_path / "checkpoint", out=tmp_path / "out", sinks=sinks)
    run.pipeline.batch(pieces(before.rows, 2)[0], 0)
    run.pipeline.close()
    told = dict(got)
    assert set(told) == {0, 1}
    migrate(tmp_path / "checkpoint", after.program)
    assert got == told
    made(after, tmp_path / "checkpoint", out=tmp_path / "out", sinks=sinks)
    assert got[0] > told[0] and got[1] == 0


def test_what_cannot_go_over_is_refused(tmp_path: Path) -> None:
    before = short_traffic()
    run = made(before, tmp_path / "checkpoint", out=tmp_path / "out", shards=2)
    run.pipeline.batch(before.rows, 0)
    with pytest.raises(InputError, match="cannot go on from the state of one of kind events"):
        migrate(tmp_path / "checkpoint", "on(X) :- [10] sometime press(X).")
    with pytest.raises(InputError, match="is cut into other stages: 2 shards by 1 argument, not"):
        migrate(tmp_path / "checkpoint", before.program.split("% relations")[0])
    with pytest.raises(InputError, match="holds no checkpoint"):
        migrate(tmp_path / "elsewhere", before.program)
    pressed = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\n"
    both = "initiatedAt(pair(X,Y)=true, T) :- happensAt(press(X), T), holdsAt(on(Y)=true, T).\n"
    old = settings_of(as_program(pressed), Options(window=10, step=10), ["name", "time", "x"], shards=2)
    with pytest.raises(InputError, match="other shards would have to know event press/1"):
        _settings(old, as_program(pressed + both))


def test_the_command_says_what_changed(tmp_path: Path) -> None:
    before = short_traffic()
    run = made(before, tmp_path / "out" / "_checkpoint", out=tmp_path / "out", shards=1)
    run.pipeline.batch(pieces(before.rows, 2)[0], 0)
    (tmp_path / "rules.ec").write_text(changed(before, *SLOWER).program)
    result = CliRunner().invoke(app, ["migrate", str(tmp_path / "out"), str(tmp_path / "rules.ec")])
    assert result.exit_code == 0, result.stderr
    assert "was evaluated again: " in result.stdout and " changes" in result.stdout
    again = CliRunner().invoke(app, ["migrate", str(tmp_path / "out"), str(tmp_path / "rules.ec"), "--json"])
    assert json.loads(again.stdout)["corrections"] == {}
    again = CliRunner().invoke(app, ["migrate", str(tmp_path / "out"), str(tmp_path / "rules.ec")])
    assert again.stdout == "the checkpoint has these rules already\n"


@pytest.mark.parametrize(
    ("program", "changed", "note"),
    [
        (LAMPS, LAMPS + "off(X) :- [5] sometime hold(X), not on(X).\n", "hold/1 was not read before"),
        (TURBINES, TURBINES + "malf(X, T) :- noReading(X, T).\n", "answers to malf(X, T) about times before"),
    ],
)
def test_the_command_says_what_cannot_be_known(tmp_path: Path, program: str, changed: str, note: str) -> None:
    before = story(program, {"lateness": 4}, size=100)
    run = made(before, tmp_path / "out" / "_checkpoint", out=tmp_path / "out", shards=2)
    run.pipeline.batch(before.rows, 0)
    (tmp_path / "rules").write_text(changed)
    result = CliRunner().invoke(app, ["migrate", str(tmp_path / "out"), str(tmp_path / "rules")])
    assert result.exit_code == 0, result.stderr
    first, second = result.stdout.splitlines()
    assert first.startswith("the window up to query time") and second.startswith(f"note: {note}")


def test_a_query_that_rests_on_everything_is_refused_and_the_checkpoint_stays(tmp_path: Path) -> None:
    program = "query on(X, T).\non(X, T) :- temp(X, D, T), not on(X, T-1).\n"
    before = story(program, {"lateness": 4}, size=100)
    run = made(before, tmp_path / "c", out=tmp_path / "out", shards=1)
    run.pipeline.batch(before.rows, 0)
    run.pipeline.close()
    with pytest.raises(InputError, match="rest on all that ever came"):
        migrate(tmp_path / "c", program.replace("temp(X, D, T)", "temp(X, D, T), D > 80"))
    assert made(before, tmp_path / "c", out=tmp_path / "out", shards=1).pipeline.batch(before.rows, 0) is None
