"""Compiled functions that make no arrays and exchange none: they read and write those they are given.

For such a function no references need to be counted. Counting them costs several times what a kernel does that calls
small functions for every row, so it is switched off here; Numba has no public name for that yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.core.options import DefaultOptions

F = TypeVar("F", bound=Callable[..., Any])
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def kernel(function: F) -> F:
    """Compile a function of the kind described above."""
    compiled: F = njit(cache=True, error_model="numpy", **_UNCOUNTED)(function)
    return compiled


def part(function: F) -> F:
    """Compile a part of a kernel, which becomes one with it."""
    compiled: F = njit(cache=True, forceinline=True, error_model="numpy", **_UNCOUNTED)(function)
    return compiled
