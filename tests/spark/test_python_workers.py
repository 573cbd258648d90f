"""The Python workers of a session: how Java reaches them, and how they end."""

from __future__ import annotations

import socket
from typing import Any

import pytest

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
