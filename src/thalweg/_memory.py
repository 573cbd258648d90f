"""Memory of a process that does nothing but run a program: what is freed is kept for what comes next.

A run makes large arrays at every query time and forgets them. Given back to the system, that memory would have to be
handed out and cleared again, which costs up to a quarter of the run. A library must not decide so for the process that
it is part of; a command may.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_SETTINGS = ((_TRIM_THRESHOLD, 1 << 30), (_MMAP_THRESHOLD, 1 << 25), (_ARENA_MAX, 1))
"""Give back what is more than a gibibyte at the end of the one heap; blocks above 32 MiB, the most that can be told,
have no place in it, where they would leave holes."""


def keep_freed_memory() -> None:
    """From now on, keep it; with GNU's C library, which lets itself be told, nothing elsewhere."""
    import pyarrow as pa

    tell = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if tell is not None and all(tell(setting, value) for setting, value in _SETTINGS):
        pa.set_memory_pool(pa.system_memory_pool())
