"""Where the sockets between Java and Python lie: a directory of each process that is gone when the process ends.

Spark lays them into the directory for temporary files, where those of a process that was killed would stay. The
directory is locked as long as its process lives, so that the next one can tell what was left.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "thalweg-sockets-"
LONGEST = 103 - len("/.01234567-89ab-cdef-0123-456789abcdef.sock")
"""So long may the path of the directory be: those of sockets have a limit."""


@cache
def socket_directory() -> Path | None:
    """The directory of this process, which is made now; None where there is no room for a path in a socket's name, or
    where there are no such sockets. What processes that are gone have left is cleared away."""
    place = Path(tempfile.gettempdir())
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(place / PREFIX)) + 8 > LONGEST:
        return None
    sweep(place)
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        if _locked(made) is not None and made.exists():  # nobody has taken it for one that was left
            atexit.register(_remove, made, os.getpid())
            return made


def sweep(place: Path) -> None:
    """Clear away the directories of processes that are gone."""
    for left in place.glob(f"{PREFIX}*"):
        lock = _locked(left) if _is_own(left) else None
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)


def _is_own(directory: Path) -> bool:
    with suppress(OSError):
        return directory.lstat().st_uid == os.getuid()
    return False


def _locked(directory: Path) -> int | None:
    """Lock a directory until the process ends, or what is returned is closed; None where another process has it, or has
    taken it away."""
    import fcntl

    with suppress(OSError):
        found = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(found)
            raise
        return found
    return None


def _remove(directory: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)
