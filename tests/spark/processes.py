"""The processes of a Spark session."""

from __future__ import annotations

import contextlib

import psutil


def workers() -> list[psutil.Process]:
    """The Python workers of this process's Spark: what its daemon has forked."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            parent = child.parent()
            if parent is not None and all("thalweg.spark.daemon" in p.cmdline() for p in (child, parent)):
                found.append(child)
    return found
