"""`thalweg migrate`: a checkpoint goes over to changed rules. Compared with one reasoner that does the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from inprocess import Made, made, pieces
from stories import Story, rows_of, short_traffic
from typer.testing import CliRunner

import thalweg
from thalweg.cli.main import app
from thalweg.events.reasoner import Reasoner
from thalweg.io.errors import InputError
from thalweg.io.sinks import Memory
from thalweg.runs import Options, as_program
from thalweg.runs import rows as read_rows
from thalweg.spark import task
from thalweg.spark.migration import _settings, migrate
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


class Crash(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("writes", range(0, 40, 4))
def test_a_crash_on_the_way_leaves_the_old_program_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    from thalweg.spark.files import Directory

    before = short_traffic()
    after = changed(before, *SLOWER)
    first, second = pieces(before.rows, 2)
    run = made(before, tmp_path / "checkpoint", out=tmp_path / "out", shards=2)
    report = run.pipeline.batch(first, 0)
    assert report is not None
    task._MEMORY._runs.clear()
    left = [writes]

    def fused(real: Any) -> Any:
        def write(*given: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Crash
            return real(*given)

        return write

    with monkeypatch.context() as patched:
        for name in ("write_pieces", "write_table", "move", "delete"):
            patched.setattr(Directory, name, fused(getattr(Directory, name)))
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
