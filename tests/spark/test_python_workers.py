"""The Python workers of a session: how Java reaches them, and how they end."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from thalweg.columns.compiled import Versions
from thalweg.spark import task
from thalweg.spark.daemon import until_hung_up
from thalweg.spark.sessions import PARTITIONS, session
from thalweg.spark.sockets import socket_directory, sweep

pytestmark = pytest.mark.spark


def test_java_reaches_the_workers_without_tcp_where_it_can(spark: Any) -> None:
    """Over TCP a small micro-batch may wait 40 ms for an acknowledgement."""
    assert spark.conf.get("spark.python.unix.domain.socket.enabled") == str(hasattr(socket, "AF_UNIX")).lower()


@pytest.mark.parametrize(
    ("shards", "settings", "expected"),
    [(None, {}, "2"), (5, {}, "5"), (5, {"spark__sql__shuffle__partitions": "7"}, "7")],
)
def test_there_are_as_many_shuffle_partitions_as_shards(
    spark: Any, monkeypatch: pytest.MonkeyPatch, shards: int | None, settings: dict[str, str], expected: str
) -> None:
    """One for each core, where nothing else is said."""
    before = spark.conf.get(PARTITIONS)
    monkeypatch.setattr(type(spark), "getActiveSession", lambda: None)
    try:
        assert session("local[2]", shards=shards, **settings).conf.get(PARTITIONS) == expected
    finally:
        spark.conf.set(PARTITIONS, before)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for temporary files, whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp") as found:
        monkeypatch.setattr(tempfile, "tempdir", found)
        yield Path(found)


HOLDS = """
import time
from thalweg.spark.sockets import socket_directory
found = socket_directory()
(found / ".0.sock").touch()
print(found, flush=True)
time.sleep(60 if {waits} else 0)
"""


def holding(place: Path, *, waits: bool) -> tuple[subprocess.Popen[str], Path]:
    """A process that has a directory for sockets."""
    line = [sys.executable, "-c", HOLDS.format(waits=waits)]
    found = subprocess.Popen(line, env={**os.environ, "TMPDIR": str(place)}, stdout=subprocess.PIPE, text=True)
    assert found.stdout is not None
    return found, Path(found.stdout.readline().strip())


def test_sockets_lie_where_the_next_session_clears_away_what_is_left(spark: Any) -> None:
    place = socket_directory()
    assert place is not None and spark.conf.get("spark.python.unix.domain.socket.dir") == str(place)
    assert any(name.suffix == ".sock" for name in place.iterdir())


def test_what_a_killed_process_leaves_of_its_sockets_goes_and_what_others_have_stays(place: Path) -> None:
    killed, left = holding(place, waits=True)
    running, taken = holding(place, waits=True)
    with killed, running:
        sweep(place)
        assert left.is_dir() and taken.is_dir()
        killed.kill()
        killed.wait()
        sweep(place)
        assert not left.exists() and taken.is_dir()
        running.kill()
    ended, gone = holding(place, waits=False)
    with ended:
        assert gone.name.startswith("thalweg-sockets-")
    assert list(place.iterdir()) == []


def test_where_paths_are_long_sockets_lie_where_spark_lays_them(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = place / ("d" * 60)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    assert socket_directory.__wrapped__() is None
    assert list(deep.iterdir()) == []


def test_a_worker_that_java_has_hung_up_on_ends_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    near, far = socket.socketpair()
    far.close()

    def answers(sock: socket.socket, authenticated: bool) -> int:
        sock.sendall(b"done")
        return 0

    with near:
        assert until_hung_up(answers)(near, True) == 1
    assert capfd.readouterr() == ("", "")


def test_a_worker_that_fails_otherwise_says_so() -> None:
    def fails(sock: socket.socket, authenticated: bool) -> int:
        raise OSError(28, "no space left")

    near, far = socket.socketpair()
    with near, far, pytest.raises(OSError, match="no space left"):
        until_hung_up(fails)(near, True)


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An order of a program that this worker knows."""
    monkeypatch.setattr(task, "is_known", lambda text: True)
    monkeypatch.setattr(Versions, "at_hand", Versions.at_hand)
    yield SimpleNamespace(stage=0, settings=SimpleNamespace(stages=[SimpleNamespace(text="")]))
    gc.unfreeze()


def test_what_kernels_have_left_in_a_worker_is_not_searched_for_garbage_after_every_task(order: Any) -> None:
    left = [[number] for number in range(10_000)]
    Versions.at_hand += 1
    task.make_ready(order)
    assert not {id(one) for one in left} & {id(one) for one in gc.get_objects()}


def test_where_no_kernel_is_new_a_worker_goes_on_searching_what_tasks_leave(order: Any) -> None:
    Versions.at_hand += 1
    task.make_ready(order)
    left = [[number] for number in range(10_000)]
    task.make_ready(order)
    assert {id(one) for one in left} <= {id(one) for one in gc.get_objects()}
