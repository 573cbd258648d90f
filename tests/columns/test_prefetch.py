"""Memory that is asked for ahead is read and written as ever."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError

from thalweg.columns import inserting
from thalweg.columns.compiled import kernel
from thalweg.columns.prefetch import ask


@kernel
def _doubled(table: np.ndarray, flat: np.ndarray, ahead: int) -> int:
    for k in range(len(flat)):
        ask(flat, k + ahead)
        ask(table, k + ahead)
        flat[k] *= 2
    return int(flat.sum())


@pytest.mark.parametrize("ahead", [0, 3, 10**9, -(10**9)])
def test_asking_for_memory_changes_nothing_even_where_there_is_none(ahead: int) -> None:
    table = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert _doubled(table, np.arange(5), ahead) == 20
    assert (table == np.arange(12).reshape(3, 4)).all()


def test_only_arrays_without_gaps_are_asked_for() -> None:
    with pytest.raises(TypingError, match="only arrays without gaps"):
        _doubled(np.zeros((3, 4), np.int32), np.zeros((5, 2), np.int64)[:, 0], 1)


def test_kernels_that_ask_for_memory_are_kept_on_disk() -> None:
    table, fronts, numbers = np.zeros((1, 4), np.int32), np.zeros(1, np.int32), np.zeros(4, np.int64)
    none, out = np.zeros(0, np.int64), np.zeros((5, 0), np.int64)
    lists = table, fronts, numbers, 0
    inserting.insert(*lists, none, none, np.zeros(1, np.int64), 0, out, numbers, (0, 0))
    kept = Path(inserting.insert.stats.cache_path)  # type: ignore[attr-defined]
    assert list(kept.glob("inserting.insert-*.nbc"))
