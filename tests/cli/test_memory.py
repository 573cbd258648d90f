"""A command keeps the memory that it frees."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

AGAIN = """
import resource
import numpy as np
from thalweg._memory import keep_freed_memory

if {kept}:
    keep_freed_memory()
for _ in range(20):
    arrays = [np.ones(300_000) for _ in range(20)]
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


def faults(kept: bool) -> int:
    """How often a process is given new memory that makes twenty times the same arrays."""
    command = [sys.executable, "-c", AGAIN.format(kept=kept)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only GNU's C library lets itself be told")
def test_memory_that_is_freed_is_used_again() -> None:
    assert faults(True) < 0.5 * faults(False)
