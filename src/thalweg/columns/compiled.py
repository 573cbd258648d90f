"""Compiled functions, kept on disk: each is compiled once for a machine, by whichever process needs it first.

Several may need it at once: the shards of a pipeline, tests side by side. Numba numbers the versions of a function one
after the other, for one kind of arguments each. Two processes that compile different versions at the same time would
give them the same number, and a third would run the one for the other. So here the number of a version follows from
what it is, and it is listed when it is there.

`kernel` and `part` are for functions that make no arrays and exchange none: they read and write those they are given.
For such a function no references need to be counted. Counting them costs several times what a kernel does that calls
small functions for every row, so it is switched off here; Numba has no public name for that yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, ClassVar, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from numba.core.caching import IndexDataCacheFile
from numba.core.options import DefaultOptions

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=np.generic)
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


_FILES: Any = IndexDataCacheFile


class Versions(_FILES):  # type: ignore[misc]
    """The versions of a compiled function on disk."""

    at_hand: ClassVar[int] = 0
    """How many versions of any function this process has compiled or read. What they leave in memory stays."""
    waiting: ClassVar[list[Callable[[], None]]] = []
    """Who wants to be told when one has to be compiled."""

    def load(self, key: Any) -> Any:
        """Read a version; None where there is none yet, so that it has to be compiled."""
        found = super().load(key)
        if found is not None:
            Versions.at_hand += 1
        else:
            while Versions.waiting:
                Versions.waiting.pop()()
        return found

    def save(self, key: Any, data: Any) -> None:
        """Keep a version."""
        Versions.at_hand += 1
        told = sha256(repr((key, self._source_stamp)).encode()).digest()
        name = self._data_name(int.from_bytes(told[:8], "big"))
        self._save_data(name, data)
        known = self._load_index()
        if known.get(key) != name:
            self._save_index({**known, key: name})


@contextmanager
def told_of_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Meanwhile `tell` is called when the first kernel has to be compiled. All of them take about a minute, once for a
    machine."""
    Versions.waiting.append(tell)
    try:
        yield
    finally:
        if tell in Versions.waiting:
            Versions.waiting.remove(tell)


def njit(**options: Any) -> Callable[[F], F]:
    """`numba.njit`, with versions on disk that processes can share."""

    def compiled(function: F) -> F:
        found: F = numba.njit(**options)(function)
        kept = getattr(getattr(found, "_cache", None), "_cache_file", None)
        if type(kept) is IndexDataCacheFile:
            kept.__class__ = Versions
        return found

    return compiled


def kernel(function: F) -> F:
    """Compile a function of the kind described above."""
    compiled: F = njit(cache=True, error_model="numpy", **_UNCOUNTED)(function)
    return compiled


def part(function: F) -> F:
    """Compile a part of a kernel, which becomes one with it."""
    compiled: F = njit(cache=True, forceinline=True, error_model="numpy", **_UNCOUNTED)(function)
    return compiled


def owned(column: npt.NDArray[T]) -> npt.NDArray[T]:
    """The column, copied if it has gaps or is somebody's who lets nobody write: kernels are compiled for one kind of
    array."""
    flags = column.flags
    return column if flags.c_contiguous and flags.writeable else column.copy()
