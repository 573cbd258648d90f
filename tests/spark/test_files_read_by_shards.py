"""Parquet files that the shards read themselves: the rows are those that Spark would have brought them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stories import CARS, COLUMNS, TRAFFIC, Story, assert_same_tables

from thalweg import spark as ts
from thalweg.columns.symbols import constant_text
from thalweg.io.decoding import as_text
from thalweg.plans import Options, as_program
from thalweg.runs import run
from thalweg.spark import engine
from thalweg.spark.footers import read_footers
from thalweg.spark.keying import key_hash, key_hashes, key_text
from thalweg.spark.parquet import Belonging, Files, Portion, belonging, own_rows
from thalweg.spark.routing import ROW, numbered, shuffled
from thalweg.spark.settings import Settings, settings_of

pytestmark = pytest.mark.spark

KEYS: dict[str, list[Any]] = {
    "string": [
        *("a", "0012", "12", "12.0", "1e3", "99999999999999999999", "1e300", "", None, "x y", "-0.5", "12\n", "12\r\n"),
        *("+0099999999999999999999", "-0099999999999999999999", "-99999999999999999999", "0009007199254740993"),
        *("9007199254740991", "9007199254740992", "+9007199254740992", "9007199254740993", "9007199254740992.0"),
    ],
    "bigint": [1, -3, 0, 2**60, None, 12, 1000, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1],
    "double": [1.5, -0.5, -0.0, 1e300, float("inf"), float("nan"), None, 12.0, 1000.0, 2.0**53 - 1, 2.0**53],
    "boolean": [True, False, None],
}
WAYS = """
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
initiatedAt(held(X)=true, T) :- happensAt(hold(Y, X), T), happensAt(press(X), T).
"""


_texts = st.text(max_size=9) | st.sampled_from([r"a\xff", r"\x", "\\", "\\x\\", "x\\"])


@given(st.lists(_texts | st.integers().map(str) | st.floats().map(repr) | st.none(), max_size=20))
def test_keys_have_the_same_numbers_alone_and_in_a_column(constants: list[str | None]) -> None:
    column = pa.array(["first", *constants], pa.string()).slice(1)
    assert key_hashes(column).tolist() == [key_hash(text or "") for text in constants]


_whole = st.integers(-(2**70), 2**70) | st.integers(-3, 3).map(lambda n: 2**53 + n)


@given(number=_whole, sign=st.sampled_from(["", "+"]), zeros=st.integers(0, 3))
def test_all_ways_to_write_a_constant_have_one_key(number: int, sign: str, zeros: int) -> None:
    digits = "0" * zeros + str(abs(number))
    text = ("-" if number < 0 else sign) + digits
    assert constant_text(text) == str(number)
    assert key_text(text) == key_text(str(number)) == str(number)
    assert key_hashes(pa.array([text, str(number)])).tolist() == [key_hash(str(number))] * 2


def settings_for(program: str, columns: list[str], shards: int) -> Settings:
    return settings_of(as_program(program), Options(window=10, step=10, start=0), columns, shards=shards)


def spark_places(df: Any, settings: Settings, stage: int) -> dict[int, list[int]]:
    """The row numbers that the shuffle brings to each shard."""
    from pyspark.sql import functions as F

    placed = shuffled(numbered(df, settings, "nr"), settings, stage, None)
    found: dict[int, list[int]] = {}
    for row in placed.select(F.spark_partition_id().alias("shard"), ROW).collect():
        found.setdefault(row["shard"], []).append(row[ROW])
    return {shard: sorted(rows) for shard, rows in found.items()}


def own_places(table: pa.Table, settings: Settings, stage: int) -> dict[int, list[int]]:
    found = {}
    for shard in range(settings.stages[stage].shards):
        rows = belonging(table, settings, stage, shard)
        own = table if rows is None else table.take(pa.array(rows))
        if own.num_rows:
            found[shard] = sorted(own.column("nr").to_pylist())
    return found


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_of_any_type_has_its_shard(spark: Any, kind: str) -> None:
    names = ["press", "hold", "nosuch", None]
    rows = [(name, 5, key, key, nr) for nr, (key, name) in enumerate((k, n) for k in KEYS[kind] for n in names)]
    df = spark.createDataFrame(rows, f"name string, time bigint, arg1 {kind}, arg2 {kind}, nr bigint")
    settings = settings_for(WAYS, ["name", "time", "arg1", "arg2"], 5)
    assert own_places(df.toArrow(), settings, 0) == spark_places(df, settings, 0)


def test_relations_go_to_the_shards_of_every_stage_that_reads_them(spark: Any, story: Story) -> None:
    df = spark.createDataFrame(story.rows)
    settings = settings_for(TRAFFIC, [name for name in COLUMNS.names if name != "nr"], 6)
    assert len(settings.stages) > 2
    for stage, plan in enumerate(settings.stages):
        if plan.inputs:
            assert own_places(story.rows, settings, stage) == spark_places(df, settings, stage)


def test_rows_that_no_rule_reads_are_spread_and_each_is_looked_at_once(spark: Any) -> None:
    unread = WAYS + "event wave(x: symbol).\nevent wave(x: symbol, y: symbol).\n"
    settings = settings_for(unread, ["name", "time", "arg1", "arg2"], 4)
    rows = [("wave", 5, f"p{nr}", None if nr % 2 else "q", nr) for nr in range(200)]
    df = spark.createDataFrame(rows, "name string, time bigint, arg1 string, arg2 string, nr bigint")
    found = own_places(df.toArrow(), settings, 0)
    assert sorted(nr for places in found.values() for nr in places) == list(range(200))
    assert [len(places) > 20 for places in found.values()] == [True] * 4
    assert found == spark_places(df, settings, 0)


@pytest.mark.parametrize("shards", [2, 5])
def test_rows_with_one_key_are_picked_as_those_with_several(
    story: Story, shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for(CARS, [name for name in COLUMNS.names if name != "nr"], shards)
    assert Belonging(story.rows, settings, 0)._only_key() is not None
    quick = own_places(story.rows, settings, 0)
    monkeypatch.setattr(Belonging, "_only_key", lambda self: None)
    assert quick == own_places(story.rows, settings, 0)
    assert sum(map(len, quick.values())) == story.rows.num_rows


@pytest.fixture
def files(story: Story, tmp_path: Path) -> Path:
    """Row groups that are neither in the order of arrival nor of one size."""
    half = story.rows.num_rows // 2
    pq.write_table(story.rows.slice(half), tmp_path / "a.parquet", row_group_size=100)
    pq.write_table(story.rows.slice(0, half), tmp_path / "b.parquet", row_group_size=70)
    return tmp_path


def test_rows_are_read_by_arrival_and_numbered_as_they_stand(
    spark: Any, story: Story, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thalweg.spark.parquet.READ_ROWS", 150)
    monkeypatch.setattr("thalweg.spark.parquet.WORTH_A_GO", 100)
    settings = settings_for(CARS, [name for name in COLUMNS.names if name != "nr"], 2)
    footers = read_footers(spark.read.parquet(str(files)), settings, None)
    assert footers is not None and footers.files is not None
    stood = pa.concat_tables([pq.read_table(files / f"{name}.parquet") for name in "ab"]).column("nr").to_pylist()
    found: list[int] = []
    for shard in range(2):
        read = [(_picked(rows), rows.complete) for rows in own_rows(footers.files, settings, 0, shard)]
        assert len(read) > 5
        waiting = 0
        for number, (own, complete) in enumerate(read[:-1]):
            waiting += own.num_rows
            assert (complete is not None) == (waiting >= 100)
            if complete is not None:
                waiting = 0
                later = [a for table, _ in read[number + 1 :] for a in table.column("arrival").to_pylist()]
                assert min(later, default=complete + 1) > complete
        assert {complete is None for _, complete in read[:-1]} == {True, False}
        assert read[-1][1] is None
        for table, _ in read:
            places = table.column(ROW).to_pylist()
            times = dict(zip(story.rows.column("nr").to_pylist(), story.rows.column("time").to_pylist(), strict=True))
            assert [times[stood[place - 1]] for place in places] == table.column("time").to_pylist()
            found += places
    assert sorted(found) == list(range(1, story.rows.num_rows + 1))


def _picked(rows: Portion) -> pa.Table:
    """The rows of a portion without those of others."""
    return rows.table if rows.own is None else rows.table.take(pa.array(rows.own))


@pytest.mark.parametrize("most", [0, 1024])
def test_a_shard_knows_no_words_of_others_where_there_are_many(
    spark: Any, story: Story, files: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("thalweg.spark.parquet.FEW_WORDS", most)
    monkeypatch.setattr("thalweg.spark.footers.WORDS_PER_ROW", 1000)
    settings = settings_for(CARS, [name for name in COLUMNS.names if name != "nr"], 2)
    footers = read_footers(spark.read.parquet(str(files)), settings, None)
    assert footers is not None and footers.files is not None
    foreign = 0
    for shard in range(2):
        (rows,) = own_rows(footers.files, settings, 0, shard)
        assert rows.own is not None
        for at, field in enumerate(rows.table.schema):
            if pa.types.is_dictionary(field.type):
                known = set(rows.table.column(at).chunk(0).dictionary.to_pylist())
                foreign += len(known - set(_picked(rows).column(at).to_pylist()))
    assert (foreign > 0) == (most > 0)


@pytest.mark.parametrize("words", ["few", "many"])
def test_columns_by_other_names_and_in_another_order_are_read(
    spark: Any, story: Story, embedded: dict[str, pa.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr("thalweg.spark.footers.WORDS_PER_ROW", 10 if words == "few" else 0)
    read: list[Files | None] = []
    monkeypatch.setattr(engine, "woken", _noting(engine.woken, read))
    (tmp_path / "in").mkdir()
    other = story.rows.rename_columns([f"my {name}" for name in story.rows.column_names])
    pq.write_table(other.select(other.column_names[::-1]), tmp_path / "in" / "a.parquet", row_group_size=150)
    df = spark.read.parquet(str(tmp_path / "in"))
    named = df.select(*(df[f"my {name}"].alias(name) for name in story.rows.column_names))
    found = ts.recognise(named, story.program, row="nr", shards=2, **story.options)
    (files,) = read
    assert files is not None
    assert (len(files.worded) > 1) == (words == "few")
    assert_same_tables(embedded, found)


@pytest.mark.parametrize(
    ("written", "as_words"),
    [
        ({}, True),
        ({"use_dictionary": False}, False),
        ({"dictionary_pagesize_limit": 2000}, False),
        ({"dictionary_pagesize_limit": 2000, "data_page_version": "2.0"}, False),
        ({"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY"}}, False),
    ],
)
def test_texts_are_read_as_words_where_all_of_them_are_stored_as_such(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: dict[str, Any], as_words: bool
) -> None:
    """Writers give words up on the way, where there are more than they have room for."""
    monkeypatch.setattr("thalweg.spark.footers.MOST_WORDS", 2000 if "dictionary_pagesize_limit" in written else 20_000)
    count, many = 4000, 1000
    texts = [f"word number {k % many}" for k in range(count)]
    table = pa.table({"name": ["press"] * count, "time": range(count), "x": texts})
    pq.write_table(table, tmp_path / "0.parquet", write_batch_size=100, **written)
    df = spark.read.parquet(str(tmp_path))
    settings = settings_for("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).", df.columns, 2)
    footers = read_footers(df, settings, None)
    assert footers is not None and footers.files is not None
    assert ("x" in footers.files.worded) == as_words
    own = [_picked(rows) for shard in range(2) for rows in own_rows(footers.files, settings, 0, shard)]
    assert sorted(own[0].column("x").to_pylist() + own[1].column("x").to_pylist()) == sorted(texts)


def _noting(run: Any, read: list[Files | None]) -> Any:
    def noted(spark: Any, order: Any) -> Any:
        read.append(order.files)
        return run(spark, order)

    return noted


def test_what_arrow_would_read_otherwise_is_left_to_spark(spark: Any, tmp_path: Path) -> None:
    """Spark makes texts of numbers, nulls of missing columns and columns of directories; Arrow does not."""
    columns = {"name": ["press"], "time": [5], "x": [1.5]}
    pq.write_table(pa.table(columns), tmp_path / "0.parquet")
    text = "name string, time bigint, x string"
    for schema in (text, f"{text}, y string", "name string, time bigint, X double"):
        df = spark.read.schema(schema).parquet(str(tmp_path))
        settings = settings_for("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).", df.columns, 2)
        footers = read_footers(df, settings, None)
        assert footers is not None and footers.files is None, schema
    (tmp_path / "x=7").mkdir()
    pq.write_table(pa.table({"name": ["press"], "time": [5]}), tmp_path / "x=7" / "1.parquet")
    df = spark.read.option("basePath", str(tmp_path)).parquet(str(tmp_path / "x=7"))
    assert "x" in df.columns
    settings = settings_for("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).", df.columns, 2)
    assert read_footers(df, settings, None) is None


def test_a_row_that_cannot_be_read_does_not_move_the_clock_of_a_stream(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the footer of its file cannot tell: the batch is run again, up to the last row that could be read."""
    read: list[Files | None] = []
    monkeypatch.setattr(engine, "woken", _noting(engine.woken, read))
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(
        pa.table({"name": ["press", "press", "nosuch"], "time": [5, 17, 900], "x": ["a", "b", "c"]}),
        folder / "0.parquet",
    )
    running = ts.stream(
        spark.readStream.schema("name string, time bigint, x string").parquet(str(folder)),
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T).",
        checkpoint=tmp_path / "checkpoint",
        trigger="available",
        window=10,
        step=10,
        start=0,
        shards=2,
    )
    running.wait()
    assert [files is not None for files in read] == [True, True, False]
    assert [report.moment.query_time for report in running.reports] == [10, 20]
    assert running.tables.rejected.count() == 1


@pytest.mark.parametrize("other", [pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_files_that_store_the_same_texts_differently_are_read_together(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: pa.DataType
) -> None:
    read: list[Files | None] = []
    monkeypatch.setattr(engine, "woken", _noting(engine.woken, read))
    rows = pa.table({"name": ["press"] * 4, "time": [5, 6, 7, 8], "x": ["a", "b", None, "a"]})
    pq.write_table(rows, tmp_path / "0.parquet")
    pq.write_table(rows.set_column(2, "x", pa.array(["b", "c", None, "d"]).cast(other)), tmp_path / "1.parquet")
    program = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    found = ts.recognise(spark.read.parquet(str(tmp_path)), program, window=10, step=10, shards=2)
    assert {row.fluent for row in found.timeline.collect()} == {"on(a)", "on(b)", "on(c)", "on(d)"}
    assert found.rejected.count() == 2
    assert [files is not None for files in read] == [True]


def test_texts_that_are_no_utf_8_stay_different(spark: Any, tmp_path: Path) -> None:
    bad = pa.array([b"\xff", b"\xfe", b"a"])
    texts = pa.Array.from_buffers(pa.string(), 3, bad.buffers())
    pq.write_table(pa.table({"name": ["press"] * 3, "time": [5, 6, 7], "x": texts}), tmp_path / "0.parquet")
    program = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    df = spark.read.parquet(str(tmp_path))
    expected = {r"on('\\xfe')", r"on('\\xff')", "on(a)"}
    for rows in (df, df.withColumn("time", df.time + 1)):
        found = ts.recognise(rows, program, window=10, step=10, shards=2)
        assert {row.fluent for row in found.timeline.collect()} == expected
    embedded = run(program, str(tmp_path), window=10, step=10).arrow["timeline"]
    assert set(embedded.column("fluent").to_pylist()) == expected


def test_bytes_that_are_no_utf_8_lie_where_the_texts_lie_that_are_written_for_them(spark: Any) -> None:
    keys = [b"\xff", rb"\xff", b"M\xfcller", rb"M\xfcller", "Müller".encode(), b"\xc3", b"a", b"0012", b"", None]
    rows = [(name, 5, key, key, nr) for nr, (key, name) in enumerate((k, n) for k in keys for n in ("press", "hold"))]
    df = spark.createDataFrame(rows, "name string, time bigint, arg1 binary, arg2 binary, nr bigint")
    settings = settings_for(WAYS, ["name", "time", "arg1", "arg2"], 5)
    table = df.toArrow()
    for at in (2, 3):
        table = table.set_column(at, f"arg{at - 1}", as_text(table.column(at).combine_chunks()))
    for kind in ("binary", "string"):
        cast = df.withColumn("arg1", df.arg1.cast(kind)).withColumn("arg2", df.arg2.cast(kind))
        assert own_places(table, settings, 0) == spark_places(cast, settings, 0)
    assert key_hash(r"\xff") == key_hash(r"M\xfcller") != key_hash("a")


@pytest.mark.parametrize("kind", ["binary", "string"])
def test_keys_that_are_no_utf_8_find_what_other_stages_say_of_them(spark: Any, kind: str) -> None:
    program = """
    initiatedAt(on(X, R)=true, T) :- happensAt(press(X, R), T).
    terminatedAt(on(X, _)=true, T) :- happensAt(release(X), T).
    initiatedAt(busy(R)=true, T) :- happensAt(start(on(X, R)=true), T).
    terminatedAt(busy(R)=true, T) :- happensAt(free(R), T).
    """
    rooms = [b"M\xfcller", b"\xff", b"\xfe\x41", rb"\xff", b"\x80\x81", b"west"]
    rows = [("press", 2 + nr, b"x%d" % nr, room) for nr, room in enumerate(rooms)]
    rows += [("free", 20 + nr, room, None) for nr, room in enumerate(rooms)]
    df = spark.createDataFrame(rows, "name string, time bigint, arg1 binary, arg2 binary")
    options = {"window": 50, "step": 10, "start": 0}
    assert len(settings_for(program, df.columns, 4).stages) == 2
    expected = run(program, df.toArrow(), **options).arrow["timeline"]
    found = ts.recognise(
        df.withColumn("arg1", df.arg1.cast(kind)).withColumn("arg2", df.arg2.cast(kind)), program, shards=4, **options
    )
    assert_same_tables({"timeline": expected}, found, ("timeline",))
    assert sum(row["end"] is not None for row in expected.to_pylist()) == 5
