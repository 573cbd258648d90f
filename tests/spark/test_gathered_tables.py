"""Tables of several shards, gathered piece by piece in the order of time. No Spark is needed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.spark import gathering
from thalweg.spark.files import Directory
from thalweg.spark.gathering import as_written, by_time

Row = tuple[int | None, str]
WORDS = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema([("said", pa.list_(pa.string())), ("at", pa.int64()), ("what", WORDS)])


def written(place: Path, shards: Sequence[Sequence[Row]], group: int, *, told: bool = True) -> Directory:
    """A table of one batch with a file for each shard."""
    folder = place / "changes" / "batch=0"
    folder.mkdir(parents=True)
    for number, rows in enumerate(shards):
        columns = [[[what, "nested"] for _, what in rows], [at for at, _ in rows], [what for _, what in rows]]
        table = pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
        file = folder / f"part-0-{number:05d}.parquet"
        pq.write_table(table, file, row_group_size=group, write_statistics=told)
    return Directory(str(place))


def gathered(place: Directory) -> list[list[Row]]:
    pieces = by_time(place, "changes", "at")
    return [list(zip(p["at"].to_pylist(), p["what"].to_pylist(), strict=True)) for p in pieces]


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gathering, "ENOUGH", 4)
        yield


def test_all_rows_of_a_time_are_in_one_piece_and_pieces_follow_each_other(tmp_path: Path) -> None:
    first = [(1, "a"), (1, "b"), (2, "c"), (2, "d"), (3, "e"), (3, "f")]
    second = [(1, "g"), (2, "h"), (3, "i"), (4, "j")]
    assert [sorted(piece) for piece in gathered(written(tmp_path, [first, second], group=2))] == [
        [(1, "a"), (1, "b"), (1, "g")],
        [(2, "c"), (2, "d"), (2, "h")],
        [(3, "e"), (3, "f"), (3, "i"), (4, "j")],
    ]


def test_rows_without_a_time_come_last(tmp_path: Path) -> None:
    rows: list[Row] = [(None, "x"), (None, "y"), *((time, "a") for time in range(20))]
    pieces = gathered(written(tmp_path, [rows], group=2))
    assert len(pieces) > 1
    assert {what for piece in pieces[:-1] for _, what in piece} == {"a"}
    assert {(None, "x"), (None, "y")} <= set(pieces[-1])


def test_files_that_do_not_tell_their_times_are_gathered_as_a_whole(tmp_path: Path) -> None:
    rows = [(time, "a") for time in range(20)]
    assert gathered(written(tmp_path, [rows], group=2, told=False)) == [rows]


def test_no_piece_grows_with_the_table(tmp_path: Path) -> None:
    shards = [[(time, "a") for time in range(2000)] for _ in range(3)]
    pieces = gathered(written(tmp_path, shards, group=10))
    assert sum(map(len, pieces)) == 6000
    assert max(map(len, pieces)) <= 2 * 3 * 10


def test_what_a_shard_writes_is_read_in_pieces_of_a_limited_size(tmp_path: Path) -> None:
    place, times = Directory(str(tmp_path)), pa.array(range(600_000))
    place.write_table(pa.table({"at": times}), "changes", "batch=0", "part-0-00000.parquet")
    with place.parquet("changes", "batch=0", "part-0-00000.parquet") as file:
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    assert sizes == [262_144, 262_144, 75_712]
    assert [piece.num_rows for piece in as_written(place, "changes")] == sizes
    for pieces in (by_time(place, "changes", "at"), as_written(place, "changes")):
        assert pa.concat_tables(pieces).column("at").to_pylist() == times.to_pylist()


def test_a_table_without_files_has_no_pieces(tmp_path: Path) -> None:
    assert gathered(Directory(str(tmp_path))) == []


@given(
    st.lists(st.lists(st.tuples(st.none() | st.integers(-5, 30), st.sampled_from("abc")), min_size=1), max_size=4),
    st.integers(1, 7),
)
def test_no_row_is_lost_or_told_twice_or_out_of_time_in_whatever_order_shards_write(
    shards: list[list[Row]], group: int
) -> None:
    with tempfile.TemporaryDirectory() as place:
        pieces = gathered(written(Path(place), shards, group)) if shards else []

    def known(row: Row) -> tuple[bool, int, str]:
        return row[0] is None, row[0] or 0, row[1]

    assert sorted((row for piece in pieces for row in piece), key=known) == sorted(
        (row for shard in shards for row in shard), key=known
    )
    times = [[row[0] for row in piece if row[0] is not None] for piece in pieces]
    for earlier, later in pairwise(times):
        assert not later or max(earlier) < min(later)
    assert all(None not in (at for at, _ in piece) for piece in pieces[:-1])
