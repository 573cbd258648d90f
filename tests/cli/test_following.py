"""`thalweg run --follow` and the signals that end it, with a stream that only pretends to run."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, cast

import pytest

from thalweg.cli import _follow
from thalweg.io.errors import InputError


class Pretended:
    """A stream with one batch under way. The first look sends an interrupt, `impatient` streams get another one while
    they are being stopped; else the batch is done soon, or has failed."""

    def __init__(self, impatient: bool, failure: Exception | None = None) -> None:
        self.impatient = impatient
        self.failure = failure
        self.reports: list[Any] = []
        self.done = threading.Event()
        self.told: list[str] = []

    def wait(self, timeout: int | None = None) -> bool:
        if timeout is None:
            if self.failure is not None:
                raise self.failure
            return True
        os.kill(os.getpid(), signal.SIGINT)
        return False

    def stop(self) -> None:
        self.told.append("stop")
        if self.impatient:
            os.kill(os.getpid(), signal.SIGINT)
            assert self.done.wait(30), "it was not broken off"
        else:
            self.done.wait(1)

    def break_off(self) -> None:
        self.told.append("break off")
        self.done.set()


@pytest.mark.parametrize(("impatient", "told"), [(False, ["stop"]), (True, ["stop", "break off"])])
def test_a_second_interrupt_breaks_off_the_batch_that_the_first_one_waits_for(
    impatient: bool, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    stream = Pretended(impatient)
    with _follow._interruptible() as asked:
        whole = _follow._told(cast(Any, stream), asked, quiet=False, as_json=False)
    assert whole == (not impatient) and stream.told == told
    assert "stopping after the batch under way; at once if interrupted again" in capsys.readouterr().err


def test_what_the_batch_under_way_failed_with_is_told_though_the_stream_was_to_stop() -> None:
    stream = Pretended(False, InputError("disk", "no space is left"))
    with _follow._interruptible() as asked, pytest.raises(InputError, match="no space is left"):
        _follow._told(cast(Any, stream), asked, quiet=True, as_json=False)
