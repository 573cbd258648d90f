"""No garbage collection while an analysis runs.

An analysis makes many small objects and keeps most of them, beside a program of many more; collecting in
between walks all of them again and again and finds nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the collector, and leave it as it was."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
