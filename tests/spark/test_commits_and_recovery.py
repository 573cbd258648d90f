"""Batches, commits and recovery, without Spark: what a stream finds does not depend on its splits and its crashes."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from inprocess import Made, made, pieces
from stories import Story, assert_same, cars, rows_of, short_traffic, traffic
from typer.testing import CliRunner

from thalweg.cli.main import app
from thalweg.io.errors import InputError
from thalweg.runs import RowRejected
from thalweg.spark import reading, task
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import DamagedFile, Directory
from thalweg.spark.keying import key_hash
from thalweg.spark.migration import migrate
from thalweg.spark.orders import Note, Order
from thalweg.spark.outputs import LostFiles, Outputs, partition
from thalweg.spark.places import Sources, offset_of
from thalweg.spark.routing import ROW
from thalweg.spark.settings import Settings
from thalweg.spark.shard import Outcome, Shard


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("forgets", [False, True], ids=["remembers", "restores"])
@pytest.mark.parametrize("batches", [1, 8])
def test_splits_shards_and_restored_states_play_no_part(
    story: Story, embedded: dict[str, pa.Table], tmp_path: Path, shards: int, forgets: bool, batches: int
) -> None:
    run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", shards=shards, forgets=forgets)
    for number, rows in enumerate(pieces(story.rows, batches)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    assert_same(embedded, run.tables())


@pytest.mark.parametrize(("batches", "shards", "forgets"), [(3, 2, False), (30, 5, False), (10, 3, True)])
def test_shards_that_others_leave_behind_go_on_to_the_same_query_time(
    tmp_path: Path, batches: int, shards: int, forgets: bool
) -> None:
    """One stage, so nobody looks at a batch first: in small batches most shards see less of the clock than others."""
    told = cars()
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=shards, forgets=forgets)
    for number, rows in enumerate(pieces(told.rows, batches)):
        report = run.pipeline.batch(rows, number)
        assert report is not None
        assert report.moment.query_time == max(0, (report.moment.latest - 1) // 30 * 30)
    assert any(order.again for order in run.engine.orders)
    run.pipeline.close()
    assert_same(told.embedded(), run.tables())


@pytest.mark.parametrize("streams", [False, True])
def test_a_row_that_cannot_be_read_is_not_believed_to_come_from_far_away(tmp_path: Path, streams: bool) -> None:
    told = short_traffic()
    row = {**told.rows.slice(20, 1).to_pylist()[0], "name": "nosuch", "time": 10**12, "arrival": 10**12, "nr": 10**6}
    rows = pa.concat_tables([told.rows, pa.Table.from_pylist([row], told.rows.schema)])
    told = Story(told.program, rows, told.options)
    run = made(told, tmp_path / "checkpoint" if streams else None, out=tmp_path / "out")
    if streams:
        run.pipeline.batch(rows, 0)
        run.pipeline.close()
    else:
        run.pipeline.whole(rows)
    expected = told.embedded()
    assert_same({name: expected[name] for name in ("timeline", "changes", "events", "open")}, run.tables())
    assert "nosuch" in str(run.tables()["rejected"].column("detail").to_pylist())


def test_a_batch_without_rows_leaves_everything_as_it_is(tmp_path: Path) -> None:
    told = cars()
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out")
    run.pipeline.batch(told.rows.slice(0, 100), 0)
    before = run.pipeline.last
    assert run.pipeline.batch(told.rows.slice(0, 0), 1) is None
    assert run.pipeline.last == before
    report = run.pipeline.batch(told.rows.slice(100), 2)
    assert report is not None and report.restored == 0
    run.pipeline.close()
    assert_same(told.embedded(), run.tables())


# --------------------------------------------------------------------------- crashes


class Crash(BaseException):
    """The process is gone."""


class Fuse:
    """Lets a number of writes, moves and deletions through, then the process is gone; half of a file may be written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left: int | None = None
        for name in ("write", "write_checked", "write_table", "move", "delete"):
            monkeypatch.setattr(Directory, name, self._fused(getattr(Directory, name), name))

    def _fused(self, real: Any, name: str) -> Any:
        def fused(directory: Directory, *given: Any, **named: Any) -> Any:
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    if name.startswith("write"):
                        Path(directory._passing(given[1:])).write_bytes(b"half")
                    raise Crash
            return real(directory, *given, **named)

        return fused


@pytest.fixture(scope="module")
def short() -> Story:
    return short_traffic()


@pytest.fixture(scope="module")
def short_embedded(short: Story) -> dict[str, pa.Table]:
    return short.embedded()


def taken_up(run: Made, rows: list[pa.Table]) -> None:
    """What Spark does after a start: the last batch that it has not noted as done comes again."""
    last = run.pipeline.last
    first = 0 if last is None else last.batch
    for number in range(first, len(rows)):
        run.pipeline.batch(rows[number], number)
    run.pipeline.close()


@pytest.mark.parametrize("seed", range(6))
def test_a_crash_at_any_write_changes_nothing_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """With several stages, and with one."""
    short = cars() if seed % 2 else short_traffic()
    rng = Random(seed)
    fuse = Fuse(monkeypatch)
    rows = pieces(short.rows, 5)
    crashes = 0
    while True:
        fuse.left = rng.randint(0, 50) if crashes < 6 else None
        task._MEMORY._runs.clear()
        try:
            run = made(short, tmp_path / "checkpoint", out=tmp_path / "out", shards=2)
            taken_up(run, rows)
            break
        except Crash:
            crashes += 1
    assert crashes > 1
    assert_same(short.embedded(), run.tables())
    assert not run.directory.names("_staging")
    kept = {key: lineage.files for key, lineage in run.pipeline.last.shards.items() if lineage.files}
    for key, files in kept.items():
        names = [
            n for n in Directory(str(tmp_path / "checkpoint")).names("state", key) if not n.startswith(".")
        ]
        assert set(names) == files


def test_what_a_crash_left_of_the_last_query_times_is_replaced_though_nothing_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next batch has the same number and brings no change: neither tables nor sinks keep what was provisional."""
    story = cars()
    first = story.rows.slice(0, 200)
    told: dict[int, bool] = {}
    monkeypatch.setattr(Outputs, "table", lambda self, name, batch: self.directory.exists(name, partition(batch)))

    def begun(crashes: bool) -> Made:
        def sink(there: bool, batch: int) -> None:
            told[batch] = there
            if batch and crashes:
                raise Crash

        return made(story, tmp_path / "checkpoint", out=tmp_path / "out", sinks={"changes": sink})

    run = begun(crashes=True)
    run.pipeline.batch(first, 0)
    with pytest.raises(Crash):
        run.pipeline.close()
    assert told == {0: True, 1: True}
    run = begun(crashes=False)
    last = first.slice(199, 1).to_pylist()[0]["arrival"]
    nothing = {"name": "halt", "time": last, "arrival": last, "op": "insert", "arg1": "nobody", "arg2": None, "nr": 999}
    second = pa.Table.from_pylist([nothing], first.schema)
    report = run.pipeline.batch(second, 1)
    assert report is not None and not report.tables.get("changes")
    run.pipeline.close()
    assert told == {0: True, 1: False, 2: True}
    assert_same(Story(story.program, pa.concat_tables([first, second]), story.options).embedded(), run.tables())


def test_last_query_times_are_taken_back_though_the_next_batch_had_nothing_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch that takes their place has a later number than they have."""
    story = cars()
    told: dict[int, bool] = {}
    monkeypatch.setattr(Outputs, "table", lambda self, name, batch: self.directory.exists(name, partition(batch)))
    sinks = {"changes": lambda there, batch: told.update({batch: there})}
    for number, rows in ((0, story.rows.slice(0, 200)), (1, story.rows.slice(0, 0)), (2, story.rows.slice(200))):
        run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", sinks=sinks)
        assert (run.pipeline.batch(rows, number) is None) == (rows.num_rows == 0)
        run.pipeline.close()
        assert told[1] == (number < 2)
    assert_same(story.embedded(), run.tables())


def test_a_stream_does_not_go_on_with_the_reasoner_of_another_that_starts_elsewhere(tmp_path: Path) -> None:
    """In one worker: neither has had rows for a shard yet, so both are where they began."""
    story = cars()
    late = story.rows.slice(0, 1).to_pylist()[0] | {"name": "speed", "arg2": "100"}
    keys = {place: next(f"v{n}" for n in range(99) if key_hash(f"v{n}") % 2 == place) for place in (0, 1)}

    def rows(shard: int, time: int, arrival: int, number: int) -> pa.Table:
        told = {**late, "arg1": keys[shard], "time": time, "arrival": arrival, "nr": number}
        return pa.Table.from_pylist([told], story.rows.schema)

    def begun(name: str, start: int) -> Made:
        return made(story, tmp_path / name, out=tmp_path / f"{name}-out", start=start, window=100, step=10)

    one, other = begun("one", 0), begun("other", 100)
    one.pipeline.batch(rows(0, 5, 5, 1), 0)
    other.pipeline.batch(rows(0, 125, 125, 1), 0)
    one.pipeline.batch(rows(0, 6, 6, 2), 1)
    other.pipeline.batch(rows(1, 95, 126, 2), 1)
    report = other.pipeline.batch(rows(0, 151, 151, 3), 2)
    assert report is not None and report.rejected == {"before-the-start": 1}


def test_a_worker_forgets_the_reasoners_of_streams_that_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story, kept = cars(), task._MEMORY._runs
    monkeypatch.setattr(task, "KEPT_SECONDS", 0.0)
    for name in ("one", "other"):
        told = Story(f"{story.program} % {name}", story.rows, story.options)
        run = made(told, tmp_path / name, out=tmp_path / "out" / name)
        run.pipeline.batch(pieces(story.rows, 2)[0], 0)
        assert len(kept) == 1, "the one that was used last"


def test_of_two_attempts_at_a_task_that_both_end_one_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark may run a task again after it ended: beside itself, or where its output is lost with a machine. The other
    worker restores the state, and may store the same one in other bytes; what the first has noted must be there."""
    story = short_traffic()
    run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", shards=2)
    memories: tuple[dict[Any, Any], ...] = ({}, {})
    once = run.engine.run

    def twice(rows: pa.Table | None, order: Order) -> list[Note]:
        found = []
        for memory in memories:
            monkeypatch.setattr(task._MEMORY, "_runs", memory)
            found.append(once(rows, order))
        memories[order.batch % 2].clear()
        return found[0]

    monkeypatch.setattr(run.engine, "run", twice)
    for number, rows in enumerate(pieces(story.rows, 12)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    assert_same(story.embedded(), run.tables())


@pytest.mark.parametrize(
    ("batches", "together"), [(12, 1000), (2, 50)], ids=["small batches", "batches in pieces"]
)
def test_a_batch_that_is_replayed_leaves_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: int, together: int
) -> None:
    """Whether the reasoners were in memory or come from the state and the log, and in whatever order a shuffle brings
    the rows, of which some share their number."""
    monkeypatch.setattr(reading, "CHUNK_ROWS", together)
    story = short_traffic()
    number = pc.subtract(story.rows["nr"], pc.bit_wise_and(story.rows["nr"], 1))
    rows = story.rows.set_column(story.rows.column_names.index("nr"), "nr", number)
    found = []
    for seed, forgets in ((1, False), (2, True)):
        here = tmp_path / str(seed)
        run = made(
            story, here / "checkpoint", out=here / "out", shards=2, forgets=forgets, shuffles=Random(seed)
        )
        for batch, piece in enumerate(pieces(rows, batches)):
            run.pipeline.batch(piece, batch)
        states = {p.relative_to(here): p.read_bytes() for p in here.rglob("*.state")}
        tables = {p.relative_to(here): p.read_bytes() for p in here.rglob("*.parquet")}
        logs = {p.relative_to(here): p.read_bytes() for p in here.rglob("*.rows")}
        assert states and logs and len(tables) > 10
        found.append((states, logs, tables))
    assert found[0] == found[1]


def test_a_shard_without_rows_goes_again_to_every_query_time_it_went_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far a reasoner goes at a time shows in the bytes of its state."""
    went: dict[int, list[int]] = {}
    plainly = Shard.advance

    def advance(self: Shard, to: int) -> Outcome:
        if to > self.query_time:
            went.setdefault(self.shard, []).append(to)
        return plainly(self, to)

    monkeypatch.setattr(Shard, "advance", advance)
    story = cars()
    run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", shards=9)
    for number, rows in enumerate(pieces(story.rows, 30)):
        run.pipeline.batch(rows, number)
    live, went = went, {}
    task._MEMORY._runs.clear()
    assert run.pipeline.last is not None
    order = replace(run.engine.orders[-1], lineages=dict(run.pipeline.last.shards))
    for shard in range(9):
        task.restored(order, shard)
    assert max(map(len, went.values())) > 5
    assert {shard: live[shard][-len(again) :] for shard, again in went.items()} == went


def test_a_shard_that_long_gets_no_rows_writes_its_state_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "MOST_STOPS", 3)
    story = cars()
    run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", shards=9)
    idle = 0
    for number, rows in enumerate(pieces(story.rows, 30)):
        run.pipeline.batch(rows, number)
        assert run.pipeline.last is not None
        steps = [lineage.steps for lineage in run.pipeline.last.shards.values()]
        idle = max(idle, *(sum(len(step.stops) for step in found[-2:]) for found in steps))
        assert all(step.rows is None or step.rows.size for found in steps for step in found)
    task._MEMORY._runs.clear()
    run.pipeline.close()
    assert idle == 3
    assert_same(story.embedded(), run.tables())


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_a_row_without_a_number_or_with_one_that_is_none_has_number_0(tmp_path: Path, shards: int) -> None:
    """Each is a row of its own, however many shards read it."""
    story = short_traffic()
    given = [None, -1, 2**62, 2**63 - 1]
    numbers = pa.array([given[nr % 4] for nr in story.rows["nr"].to_pylist()], pa.int64())
    rows = story.rows.set_column(story.rows.column_names.index("nr"), "nr", numbers)
    run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", shards=shards)
    for batch, piece in enumerate(pieces(rows, 2)):
        run.pipeline.batch(piece, batch)
    run.pipeline.close()
    expected, found = story.embedded(), run.tables()
    assert_same({"timeline": expected["timeline"]}, found)
    rejected = [rows_of(tables["rejected"], ["reason", "detail", "text"]) for tables in (expected, found)]
    assert rejected[0] == rejected[1]
    assert {reason for reason, *_ in rejected[0]} >= {"too-late", "bad-op"}
    assert set(found["rejected"]["row"].to_pylist()) == {0}


def test_what_a_killed_task_has_half_written_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark runs the task again; the half file lies beside what counts."""
    story = short_traffic()
    run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", shards=2)
    real = Directory.write_table

    def killed_first(self: Directory, table: pa.Table, *parts: str) -> None:
        Path(self._passing(parts)).write_bytes(b"half")
        real(self, table, *parts)

    monkeypatch.setattr(Directory, "write_table", killed_first)
    for number, rows in enumerate(pieces(story.rows, 2)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    assert_same(story.embedded(), run.tables())


def test_a_batch_that_comes_again_is_not_taken_again(short: Story, tmp_path: Path) -> None:
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    rows = pieces(short.rows, 2)
    assert run.pipeline.batch(rows[0], 0) is not None
    assert run.pipeline.batch(rows[0], 0) is None
    again = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    assert again.pipeline.batch(rows[0], 0) is None
    assert again.engine.orders == []


def test_a_worker_that_has_fallen_behind_knows_the_sources_of_what_it_missed(
    short: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches are sources of their own, and two workers take turns."""
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out", shards=2)
    plainly = run.engine.numbered

    def numbered(df: pa.Table, settings: Settings, batch: int, before: Sources | None) -> tuple[pa.Table, Sources]:
        rows, _ = plainly(df, settings, batch, before)
        numbers = pc.add(rows.column(ROW), offset_of(batch))
        rows = rows.set_column(rows.column_names.index(ROW), ROW, numbers)
        return rows, Sources(tuple(f"{n}.csv" for n in range(batch + 1)), several=True)

    monkeypatch.setattr(run.engine, "numbered", numbered)
    memories: tuple[dict[Any, Any], ...] = ({}, {})
    for number, rows in enumerate(pieces(short.rows, 7)):
        monkeypatch.setattr(task._MEMORY, "_runs", memories[number % 2])
        assert run.pipeline.batch(rows, number) is not None


def test_a_damaged_state_is_a_clear_error_and_commits_nothing(short: Story, tmp_path: Path) -> None:
    rows = pieces(short.rows, 2)
    made(short, tmp_path / "checkpoint", out=tmp_path / "out").pipeline.batch(rows[0], 0)
    task._MEMORY._runs.clear()
    file = next((tmp_path / "checkpoint" / "state").rglob("*.state"))
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b"?")
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    with pytest.raises(DamagedFile, match=r"is not what was written: .* is damaged; bring the file back"):
        run.pipeline.batch(rows[1], 1)
    assert [f.name for f in (tmp_path / "checkpoint" / "commits").iterdir()] == ["00000000.json"]
    file.write_bytes(content)
    assert run.pipeline.batch(rows[1], 1) is not None


def test_a_running_stream_can_be_looked_at(short: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit that somebody has just found is gone when he reads it: the next one has taken its place."""
    rows = pieces(short.rows, 2)
    pipeline = made(short, tmp_path / "checkpoint", out=tmp_path / "out").pipeline
    pipeline.batch(rows[0], 0)
    listed = Directory.names

    def slow(self: Directory, *parts: str) -> list[str]:
        names = listed(self, *parts)
        monkeypatch.setattr(Directory, "names", listed)
        pipeline.batch(rows[1], 1)
        return names

    monkeypatch.setattr(Directory, "names", slow)
    last = Checkpoint(Directory(str(tmp_path / "checkpoint"))).last()
    assert last is not None and last.batch == 1


def test_who_was_started_last_goes_on_and_who_was_before_commits_nothing(short: Story, tmp_path: Path) -> None:
    """The same command twice. The second clears away what the first is writing, so that one must not be told valid."""
    first, second, third = pieces(short.rows, 3)
    before = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    before.pipeline.batch(first, 0)
    after = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    with pytest.raises(InputError, match="another process goes on with"):
        before.pipeline.batch(second, 1)
    with pytest.raises(InputError, match="another process goes on with"):
        before.pipeline.close()
    after.pipeline.batch(second, 1)
    with pytest.raises(InputError, match="belongs to another number of shards"):
        made(short, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    after.pipeline.batch(third, 2)  # who was refused does not go on
    after.pipeline.close()
    assert_same(short.embedded(), after.tables())


def test_a_commit_that_is_missing_is_told_as_that(short: Story, tmp_path: Path) -> None:
    made(short, tmp_path / "checkpoint", out=tmp_path / "out").pipeline.batch(short.rows, 0)
    commit = tmp_path / "checkpoint" / "commits" / "00000000.json"
    commit.rename(tmp_path / "aside")
    with pytest.raises(InputError, match=r"does not know of batch 0 in .*: it is damaged"):
        made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    (tmp_path / "aside").rename(commit)
    assert made(short, tmp_path / "checkpoint", out=tmp_path / "out").pipeline.last.batch == 0


def gone(out: Path, what: str) -> list[Path]:
    """Files of the tables, to be taken away."""
    parts = sorted((out / "changes").rglob("*.parquet"))
    match what:
        case "a file":
            return parts[-2:-1]
        case "a batch":
            return [part for part in parts if part.parent.name == partition(1)]
        case "what stands":
            return sorted((out / "open").rglob("*.parquet"))
        case _:
            return parts


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("what", ["a file", "a batch", "what stands", "a table"])
def test_a_file_of_the_tables_that_is_gone_is_noticed_until_it_is_back(
    short: Story, short_embedded: dict[str, pa.Table], tmp_path: Path, what: str, closed: bool
) -> None:
    """By the next start, by `inspect` and by `migrate`, and also of the last query times."""
    rows = pieces(short.rows, 4)
    places = {"out": tmp_path / "out", "directory": tmp_path / "checkpoint"}
    run = made(short, **places)
    for number in range(3):
        run.pipeline.batch(rows[number], number)
    if closed:
        run.pipeline.close()
    files = gone(tmp_path / "out", what)
    name, count = files[0].parts[-3], len(files)
    every = len(list((tmp_path / "out" / name).rglob("*.parquet")))
    command = ["inspect", str(tmp_path / "checkpoint"), "--json"]
    assert count and json.loads(CliRunner().invoke(app, command).stdout)["lost"] == {}
    for file in files:
        file.rename(tmp_path / f"{file.parent.name}-{file.name}")
    assert json.loads(CliRunner().invoke(app, command).stdout)["lost"] == {name: count}
    assert f"lost         {count} file" in CliRunner().invoke(app, command[:2]).stdout
    told = rf"{tmp_path}/out has lost {count} of the {every} files? of {name}: bring them back"
    with pytest.warns(LostFiles, match=told):
        made(short, **places)
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{file.parent.name}-{file.name}").rename(file)
    with warnings.catch_warnings(action="error"):
        run = made(short, **places)
    run.pipeline.batch(rows[3], 3)
    run.pipeline.close()
    assert_same(short_embedded, run.tables())


def test_a_stream_whose_old_tables_were_deleted_goes_on_and_may_be_migrated(short: Story, tmp_path: Path) -> None:
    rows = pieces(short.rows, 4)
    places = {"out": tmp_path / "out", "directory": tmp_path / "checkpoint"}
    run = made(short, **places)
    for number in range(3):
        run.pipeline.batch(rows[number], number)
    for table in ("changes", "rejected"):
        shutil.rmtree(tmp_path / "out" / table / partition(0), ignore_errors=True)
    with pytest.warns(LostFiles, match="has lost"):
        migrate(tmp_path / "checkpoint", short.program + MORE)
    changed = replace(short, program=short.program + MORE)
    with pytest.warns(LostFiles, match="has lost"):
        run = made(changed, **places)
    run.pipeline.batch(rows[3], 3)
    told = pq.read_table(tmp_path / "out" / "changes" / partition(3), partitioning=None).column("fluent")
    assert any(str(fluent).startswith("more(") for fluent in told)


MORE = "initiatedAt(more(V)=true, T) :- happensAt(halt(V), T).\n"


@pytest.mark.parametrize("content", ["", "[]", '{"format": 3}', "{}"])
def test_settings_that_cannot_be_read_are_damaged(short: Story, tmp_path: Path, content: str) -> None:
    made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    (tmp_path / "checkpoint" / "pipeline.json").write_text(content)
    with pytest.raises(DamagedFile, match=r"pipeline\.json cannot be read"):
        made(short, tmp_path / "checkpoint", out=tmp_path / "out")


def test_a_full_disk_commits_nothing(short: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pieces(short.rows, 2)
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    run.pipeline.batch(rows[0], 0)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Directory, "write_table", full)
        with pytest.raises(InputError, match="no space is left"):
            run.pipeline.batch(rows[1], 1)
    assert run.pipeline.last.batch == 0
    assert run.pipeline.batch(rows[1], 1) is not None


# --------------------------------------------------------------------------- settings, clocks


def test_another_program_or_number_of_shards_is_refused(short: Story, tmp_path: Path) -> None:
    made(short, tmp_path / "checkpoint", out=tmp_path / "out", shards=2).pipeline.batch(short.rows, 0)
    with pytest.raises(InputError, match=r"belongs to another number of shards \(2, not 3\)") as refused:
        made(short, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert "thalweg migrate" not in str(refused.value), "it does not change the number of shards"
    with pytest.raises(InputError, match="belongs to another run: window is 120, not 240"):
        made(short, tmp_path / "checkpoint", out=tmp_path / "out", window=240)
    with pytest.raises(InputError, match="belongs to another run: it starts at 0, not 30"):
        made(short, tmp_path / "checkpoint", out=tmp_path / "out", start=30)
    other = Story(short.program.replace("K > 5", "K > 6"), short.rows, short.options)
    with pytest.raises(InputError, match=r"belongs to another program(?s:.*)thalweg migrate"):
        made(other, tmp_path / "checkpoint", out=tmp_path / "out")


def test_rows_out_of_order_within_the_disorder_play_no_part(
    short: Story, short_embedded: dict[str, pa.Table], tmp_path: Path
) -> None:
    rng = Random(1)
    arrivals = short.rows.column("arrival").to_pylist()
    order = sorted(range(len(arrivals)), key=lambda i: arrivals[i] + rng.randint(0, 100))
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out", disorder=100)
    for number, rows in enumerate(pieces(short.rows.take(pa.array(order)), 6)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    assert_same(short_embedded, run.tables())


def test_one_wrong_clock_does_not_close_the_windows_of_everybody(short: Story, tmp_path: Path) -> None:
    wrong = {
        "name": "halt",
        "time": 10**9,
        "arrival": 10**9,
        "op": "insert",
        "arg1": "v1",
        "arg2": None,
        "nr": 9999,
    }
    first, *others = pieces(short.rows, 4)
    ahead = {**wrong, "arrival": first.column("arrival")[-1].as_py(), "nr": 9998}
    bad = pa.Table.from_pylist([wrong, ahead], short.rows.schema)
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out", max_ahead=1000)
    report = run.pipeline.batch(pa.concat_tables([first, bad]), 0)
    assert report is not None and report.rejected["too-far-ahead"] == 2
    for number, rows in enumerate(others, start=1):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    expected = short.embedded()
    found = run.tables()
    assert rows_of(found["changes"], found["changes"].column_names) == rows_of(
        expected["changes"], expected["changes"].column_names
    )


@pytest.mark.parametrize("start", [None, -1])
def test_a_clock_that_is_behind_in_the_first_batch_is_believed_unless_it_is_before_the_start(
    short: Story, tmp_path: Path, start: int | None
) -> None:
    past = {**short.rows.slice(0, 1).to_pylist()[0], "time": -(10**6), "arrival": -(10**6), "nr": 9999}
    rows = pa.concat_tables([short.rows, pa.Table.from_pylist([past], short.rows.schema)])
    story = Story(short.program, rows, {**short.options, "start": start})
    run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", max_ahead=1000)
    report = run.pipeline.batch(rows, 0)
    assert report is not None
    refused = [row for row in run.tables()["rejected"].to_pylist() if row["reason"] == "too-far-ahead"]
    if start is None:
        assert len(refused) == rows.num_rows - 1 - sum(report.rejected.values()) + report.rejected["too-far-ahead"]
        assert {row["detail"] for row in refused} == {"more than 1000 time-points after everything known, -1000000"}
    else:
        assert not refused and report.rejected["before-the-start"] == 1


def test_a_silent_stream_follows_the_time_on_the_wall(short: Story, tmp_path: Path) -> None:
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    first, _ = pieces(short.rows, 2)
    report = run.pipeline.batch(first, 0, now=5_000_000, idle=20_000_000)
    assert report is not None
    latest, before = report.moment.latest, report.moment.query_time
    nothing = first.slice(0, 0)
    assert run.pipeline.batch(nothing, 1, now=20_000_000, idle=20_000_000) is None
    pushed = run.pipeline.batch(nothing, 2, now=95_000_000, idle=20_000_000)
    assert pushed is not None
    assert pushed.moment.query_time == (latest + 90) // 30 * 30 > before
    again = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    assert again.pipeline.last.moment == pushed.moment


def test_a_silence_counts_from_the_first_look_at_the_wall(short: Story, tmp_path: Path) -> None:
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    first, _ = pieces(short.rows, 2)
    nothing = first.slice(0, 0)
    report = run.pipeline.batch(first, 0, now=None, idle=20_000_000)
    assert report is not None and report.moment.latest is not None
    seen = run.pipeline.batch(nothing, 1, now=50_000_000, idle=20_000_000)
    assert seen is not None and seen.moment.query_time == report.moment.query_time
    assert run.pipeline.batch(nothing, 2, now=60_000_000, idle=20_000_000) is None
    pushed = run.pipeline.batch(nothing, 3, now=140_000_000, idle=20_000_000)
    assert pushed is not None and pushed.moment.query_time == (report.moment.latest + 90) // 30 * 30


def test_rows_end_a_silence_though_nobody_looked_at_the_wall_when_they_came(short: Story, tmp_path: Path) -> None:
    """A look comes once in a second, and batches more often."""
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    first, second = pieces(short.rows, 2)
    nothing = first.slice(0, 0)
    run.pipeline.batch(first, 0, now=5_000_000, idle=20_000_000)
    report = run.pipeline.batch(second, 1, now=None, idle=20_000_000)
    assert report is not None
    seen = run.pipeline.batch(nothing, 2, now=50_000_000, idle=20_000_000)
    assert seen is not None and seen.moment.query_time == report.moment.query_time


def test_of_two_streams_with_one_place_for_their_tables_the_first_stops(short: Story, tmp_path: Path) -> None:
    """Neither has told anything when both begin: the tables of one would be taken for those of the other."""
    first, second = (made(short, tmp_path / name, out=tmp_path / "out") for name in ("one", "other"))
    with pytest.raises(InputError, match=r"another run has begun to write its tables to .*out"):
        first.pipeline.batch(short.rows, 0)
    second.pipeline.batch(short.rows, 0)
    second.pipeline.close()
    assert_same(short.embedded(), second.tables())
    with pytest.raises(InputError, match="or another run has written there"):
        made(short, tmp_path / "one", out=tmp_path / "out")


def test_a_stream_whose_files_another_one_has_cleared_away_says_so(
    short: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made(short, tmp_path / "one", out=tmp_path / "out")

    def lost(*_: Any) -> list[Note]:
        made(short, tmp_path / "other", out=tmp_path / "out")
        raise FileNotFoundError("part-00000.parquet")

    monkeypatch.setattr(first.engine, "run", lost)
    with pytest.raises(InputError, match=r"another run has begun to write its tables to .*out"):
        first.pipeline.batch(short.rows, 0)


def test_the_address_of_a_local_directory_is_its_path(tmp_path: Path) -> None:
    for name in ("a b", "a%20b", "a#b?c", "é[1]"):
        assert Directory((tmp_path / name).as_uri()) == Directory(str(tmp_path / name))


def test_a_start_that_came_to_nothing_binds_nobody(short: Story, tmp_path: Path) -> None:
    """The port was taken, say: the next start may be another one."""
    made(short, tmp_path / "checkpoint", out=tmp_path / "out", window=240)
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    run.pipeline.batch(short.rows, 0)
    run.pipeline.close()
    assert_same(short.embedded(), run.tables())
    with pytest.raises(InputError, match="belongs to another run: window is 120, not 240"):
        made(short, tmp_path / "checkpoint", out=tmp_path / "out", window=240)


def test_rows_that_come_later_each_time_they_are_asked_for_do_not_keep_a_run_from_ending(
    short: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`current_timestamp()` as the time of rows, for one."""
    run = made(short, None, out=tmp_path / "out")
    once, goes = run.engine.run, 0

    def later(rows: pa.Table | None, order: Order) -> list[Note]:
        nonlocal goes
        goes += 1
        assert goes < 10
        return [replace(note, latest=note.latest and note.latest + 100 * goes) for note in once(rows, order)]

    monkeypatch.setattr(run.engine, "run", later)
    assert run.pipeline.whole(short.rows) is not None


def test_a_run_can_stop_at_the_first_bad_row(short: Story, tmp_path: Path) -> None:
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out", on_error="stop")
    with pytest.raises(RowRejected, match=r"input:\d+: no rule reads nosuch"):
        run.pipeline.batch(short.rows, 0)
    assert run.pipeline.last is None


def test_a_sink_gets_every_batch_and_what_replaces_it(short: Story, tmp_path: Path) -> None:
    got: list[int] = []
    run = made(short, tmp_path / "checkpoint", out=tmp_path / "out")
    run.pipeline.outputs.sinks = {"changes": lambda _, batch: got.append(batch)}
    run.pipeline.outputs.table = lambda name, batch: None  # type: ignore[method-assign,assignment,return-value]
    rows = pieces(short.rows, 3)
    for number in (0, 1):
        run.pipeline.batch(rows[number], number)
    run.pipeline.close()
    run.pipeline.batch(rows[2], 2)
    assert got == [0, 1, 2, 2]


def test_what_is_written_follows_what_changes(tmp_path: Path) -> None:
    """Many small batches after a large one: the rows are logged, the state is not written anew each time."""
    story = traffic(seed=5, size=3000)
    run = made(story, tmp_path / "checkpoint", out=tmp_path / "out", shards=1)
    large, small = story.rows.slice(0, 2800), pieces(story.rows.slice(2800), 10)
    run.pipeline.batch(large, 0)
    sizes = []
    for number, rows in enumerate(small, start=1):
        run.pipeline.batch(rows, number)
        written = list((tmp_path / "checkpoint" / "state" / "0-0").glob(f"{number:08d}.*"))
        sizes += [file.stat().st_size for file in written if file.suffix == ".rows"]
    snapshot = next((tmp_path / "checkpoint" / "state" / "0-0").glob("*.state")).stat().st_size
    assert len(sizes) >= 8
    assert max(sizes) < snapshot / 4


def test_tables_are_read_as_they_were_written_whatever_their_words(tmp_path: Path) -> None:
    few, many = ["a", None, "b"] * 400, [f"f(v{i})" for i in range(1200)]
    words = [pa.array(column).dictionary_encode() for column in (few, many)]
    table = pa.table({"few": words[0], "many": words[1], "plain": pa.array(many), "start": pa.array(range(1200))})
    listed = pa.table({"evidence": [["a"], []], "start": [1, 2]})
    directory = Directory(str(tmp_path))
    for name, given in (("table", table), ("listed", listed), ("nothing", table.slice(0, 0))):
        directory.write_table(given, name)
        assert directory.table(name).to_pylist() == given.to_pylist()
        assert directory.table(name).schema == given.schema
    told = pq.read_metadata(tmp_path / "table").row_group(0)
    assert [told.column(i).has_dictionary_page for i in range(4)] == [True, False, True, True]
    assert told.column(3).statistics.max == 1199
