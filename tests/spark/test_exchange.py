"""Shards on one machine hand row groups to one another: each gets its own rows, whatever becomes of the others."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest

from thalweg.spark import exchange
from thalweg.spark.exchange import Exchange

PIECES = 12
SHARDS = 3


class Reading:
    """A shard of three that reads row groups of 30 rows, and notes which ones it has read."""

    def __init__(self, directory: Path, shard: int) -> None:
        self.read: list[int] = []
        self.shard = shard
        self.exchange = Exchange(str(directory), 0, shard, divide=self.divide, read=lambda p: self.divide(p)[shard])

    def divide(self, piece: int) -> dict[int, pa.Table]:
        self.read.append(piece)
        words = pa.array([f"v{n}" for n in range(30)]).dictionary_encode()
        table = pa.table({"nr": range(30 * piece, 30 * piece + 30), "word": words})
        return {shard: table.take(list(range(shard, 30, SHARDS))) for shard in range(SHARDS)}

    def run(self, portion: int = 4) -> None:
        self.found = []
        for first in range(0, PIECES, portion):
            following = range(first + portion, min(first + portion + SHARDS, PIECES))
            for table in self.exchange.rows(range(first, first + portion), following):
                self.found += table.column("nr").to_pylist()
                assert table.column("word").to_pylist() == [f"v{nr % 30}" for nr in table.column("nr").to_pylist()]

    def assert_complete(self) -> None:
        assert self.found == [nr for nr in range(30 * PIECES) if nr % 30 % SHARDS == self.shard]


@pytest.mark.parametrize("portion", [1, 4, 12])
def test_shards_side_by_side_read_every_row_group_once(tmp_path: Path, portion: int) -> None:
    shards = [Reading(tmp_path, shard) for shard in range(SHARDS)]
    threads = [threading.Thread(target=shard.run, args=(portion,)) for shard in shards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for shard in shards:
        shard.assert_complete()
    assert sorted(piece for shard in shards for piece in shard.read) == list(range(PIECES))


def test_shards_one_after_the_other_find_what_the_first_has_laid_down(tmp_path: Path) -> None:
    shards = [Reading(tmp_path, shard) for shard in range(SHARDS)]
    for shard in shards:
        shard.run()
        shard.assert_complete()
    assert [len(shard.read) for shard in shards] == [PIECES, 0, 0]
    assert not list(tmp_path.glob("*.arrow"))


def test_what_a_shard_has_claimed_and_not_handed_over_others_read_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "PATIENCE", 0.02)
    for piece in (0, 5, 6):
        (tmp_path / f"0-{piece}").write_bytes(b"1")
    shard = Reading(tmp_path, 0)
    shard.run()
    shard.assert_complete()


def test_a_shard_that_is_tried_again_does_not_wait_for_itself(tmp_path: Path) -> None:
    failed = Reading(tmp_path, 1)
    failed.exchange.rows(range(3), range(0))
    again = Reading(tmp_path, 1)
    again.exchange._patience = 1e9
    again.run()
    again.assert_complete()


def test_where_too_much_lies_about_everyone_reads_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "ROOM", 0)
    shards = [Reading(tmp_path, shard) for shard in range(SHARDS)]
    for shard in shards:
        shard.run()
        shard.assert_complete()
        assert shard.read == list(range(PIECES))
    assert not list(tmp_path.glob("*.arrow"))


def test_where_nothing_can_be_written_everyone_reads_for_itself(tmp_path: Path) -> None:
    shards = [Reading(tmp_path / "gone", shard) for shard in range(SHARDS)]
    for shard in shards:
        shard.run()
        shard.assert_complete()


def test_what_could_not_be_laid_down_is_read_by_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(table: pa.Table, path: Path) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(exchange, "_lay_down", full)
    for shard in (Reading(tmp_path, number) for number in range(SHARDS)):
        shard.run()
        shard.assert_complete()
