"""The Python workers of a session: how Java reaches them, and how they end."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from thalweg.columns.compiled import Versions
from thalweg.spark import task
from thalweg.spark.daemon import until_hung_up

pytestmark = pytest.mark.spark


def test_java_reaches_the_workers_without_tcp_where_it_can(spark: Any) -> None:
    """Over TCP a small micro-batch may wait 40 ms for an acknowledgement."""
    assert spark.conf.get("spark.python.unix.domain.socket.enabled") == str(hasattr(socket, "AF_UNIX")).lower()


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
