"""A full disk and a damaged state under a whole run: one sentence, nothing half-committed; after the repair the
stream goes on to the same tables."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import workers
from stories import Story, assert_same_tables, cars, rows_of

from thalweg import spark as ts
from thalweg.io.errors import InputError
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import Directory

pytestmark = pytest.mark.spark

FILES = 4


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.name != "posix" or subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk (tmpfs)")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def followed(spark: Any, story: Story, folder: Path, disk: Path, *, computed: bool = False) -> ts.Stream:
    schema = spark.createDataFrame(story.rows.slice(0, 1)).schema
    sdf = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    sdf = sdf.withColumn("time", sdf.time + 0) if computed else sdf
    places = {"checkpoint": disk / "checkpoint", "out": disk / "out"}
    return ts.stream(sdf, story.program, trigger="available", row="nr", shards=2, **places, **story.options)


def half(story: Story, folder: Path) -> list[Path]:
    """Write all files, and lay the second half of them aside."""
    story.write(folder, FILES)
    aside = folder.parent / "aside"
    aside.mkdir()
    return [file.rename(aside / file.name) for file in sorted(folder.iterdir())[FILES // 2 :]]


def stands(disk: Path) -> tuple[int, bytes]:
    """The last batch that counts, and its commit."""
    (name,) = (disk / "checkpoint" / "commits").iterdir()
    last = Checkpoint(Directory(str(disk / "checkpoint"))).last()
    assert last is not None
    return last.batch, name.read_bytes()


@pytest.mark.parametrize("computed", [False, True], ids=["files as they are", "computed rows"])
def test_a_full_disk_stops_a_stream_and_room_lets_it_go_on(
    spark: Any, tmp_path: Path, disk: Path, computed: bool
) -> None:
    story, folder = cars(), tmp_path / "in"
    aside = half(story, folder)
    running = followed(spark, story, folder, disk, computed=computed)
    running.wait()
    before = stands(disk)
    timeline = rows_of(running.tables.timeline.toArrow(), ["fluent", "value", "start", "end"])
    for file in aside:
        file.rename(folder / file.name)
    ballast = disk / "ballast"
    with pytest.raises(OSError, match="No space left"), ballast.open("wb", buffering=0) as filling:
        while True:
            filling.write(bytes(512))
    with pytest.raises(InputError, match="no space is left"):
        followed(spark, story, folder, disk, computed=computed).wait()
    assert stands(disk) == before
    kept = ts.read(spark, str(disk / "out")).timeline
    assert rows_of(kept.toArrow(), ["fluent", "value", "start", "end"]) == timeline
    with ballast.open("r+b") as filling:
        filling.truncate(ballast.stat().st_size - 24_000)  # room for the start, but hardly for a batch
    try:
        followed(spark, story, folder, disk, computed=computed).wait()
    except InputError as error:
        assert "no space is left" in str(error)
    ballast.unlink()
    running = followed(spark, story, folder, disk, computed=computed)
    running.wait()
    assert stands(disk)[0] == FILES - 1
    assert_same_tables(story.embedded(), running.tables)


def half_done(spark: Any, story: Story, folder: Path, place: Path) -> tuple[int, bytes]:
    """A stream that has taken half of the files, and the others beside them; how it stands."""
    aside = half(story, folder)
    followed(spark, story, folder, place).wait()
    for file in aside:
        file.rename(folder / file.name)
    return stands(place)


def test_a_damaged_state_stops_a_stream_and_its_repair_lets_it_go_on(spark: Any, tmp_path: Path) -> None:
    story, folder = cars(), tmp_path / "in"
    before = half_done(spark, story, folder, tmp_path)
    last = Checkpoint(Directory(str(tmp_path / "checkpoint"))).last()
    assert last is not None
    key, lineage = next((key, found) for key, found in last.shards.items() if found.snapshot is not None)
    assert lineage.snapshot is not None
    state = tmp_path / "checkpoint" / "state" / key / lineage.snapshot.name
    content = state.read_bytes()
    state.write_bytes(content[: len(content) // 2] + b"x" + content[len(content) // 2 + 1 :])
    for worker in workers():  # the reasoners in their memory are not damaged
        worker.kill()
    with pytest.raises(InputError, match="is not what was written: the checkpoint is damaged"):
        followed(spark, story, folder, tmp_path).wait()
    assert stands(tmp_path) == before
    state.write_bytes(content)
    running = followed(spark, story, folder, tmp_path)
    running.wait()
    assert_same_tables(story.embedded(), running.tables)


def test_what_is_wrong_with_sparks_part_of_a_checkpoint_is_one_sentence(spark: Any, tmp_path: Path) -> None:
    """Where it is missing Spark counts from 0 again, and its first batch, whatever is in it, would pass for done."""
    story, folder = cars(), tmp_path / "in"
    before = half_done(spark, story, folder, tmp_path)
    part, away = tmp_path / "checkpoint" / "spark", tmp_path / "away"
    part.rename(away)
    with pytest.raises(InputError, match="spark/offsets does not know of batch 1: the checkpoint is damaged"):
        followed(spark, story, folder, tmp_path).wait()
    away.rename(part)
    last = part / "offsets" / "1"
    content = last.read_bytes()
    last.write_bytes(b"")
    with pytest.raises(InputError, match=r"^Spark has ended the stream: Failed to read log file") as told:
        followed(spark, story, folder, tmp_path).wait()
    assert len(str(told.value).splitlines()) == 2 and "bring it back from a copy" in str(told.value)
    assert stands(tmp_path) == before
    last.write_bytes(content)
    running = followed(spark, story, folder, tmp_path)
    running.wait()
    assert_same_tables(story.embedded(), running.tables)
