"""What stopped a run, as one sentence: workers and Spark report failures as pages of text."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from thalweg.io.errors import InputError

_REFUSED = re.compile(r"^(?:thalweg\.[\w.]+\.)(?:InputError|DamagedFile): (.+)$", re.MULTILINE)
_ENDED = re.compile(r"\[STREAM_FAILED\].+?terminated with exception: (.+?)(?: SQLSTATE: \w+)*$", re.MULTILINE)
_DAMAGED = "is its part of the checkpoint, the directory `spark`, damaged? then bring it back from a copy"
_OTHER_SOURCES = "a stream that was started with idle_timeout goes on with one, and one without it without"
_FULL = "No space left on device"
_WRONG_PLACE = (errno.EEXIST, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR)


def plainly(error: BaseException) -> BaseException:
    """The failure as the user should read it; the same one where there is nothing better to say."""
    if isinstance(error, InputError):
        return error
    text = str(error)
    refused = _REFUSED.search(text)
    if refused is not None:
        return InputError("worker", refused[1])
    if _FULL in text or (isinstance(error, OSError) and error.errno == errno.ENOSPC):
        return InputError(
            "disk",
            "no space is left for what this run writes: nothing of the batch under way counts",
            "make room for tables, checkpoint and Spark's temporary files, and start again",
        )
    if isinstance(error, OSError) and error.errno in _WRONG_PLACE:
        where = re.search(r"'([^']+)'", text)
        return InputError(
            "place",
            f"{where[1] if where else text} cannot be written to: {os.strerror(error.errno).lower()}",
            "name a directory that is there, or that can be made",
        )
    ended = _ENDED.search(text)
    if ended is not None:
        hint = _DAMAGED if "Current State: INITIALIZING" in text else None
        hint = _OTHER_SOURCES if "sources in the checkpoint" in ended[1] else hint
        return InputError("spark", f"Spark has ended the stream: {ended[1]}", hint)
    return error


@contextmanager
def told_plainly() -> Iterator[None]:
    """Whatever stops what is done here is told as the user should read it."""
    try:
        yield
    except Exception as error:
        told = plainly(error)
        if told is error:
            raise
        raise told from None  # the page is what the sentence is for
