"""Compiled functions on disk, with several processes at work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg.columns.compiled import Versions, njit, told_of_compiling


@pytest.mark.parametrize("first", [0, 1])
def test_versions_that_two_processes_keep_at_once_are_not_taken_for_each_other(tmp_path: Path, first: int) -> None:
    """Both have looked what there is before either has kept anything."""
    processes = [_slow(Versions(str(tmp_path), "add", "stamp"), {}) for _ in range(2)]
    for number in (first, 1 - first):
        processes[number].save(f"key {number}", f"code {number}")
    later = Versions(str(tmp_path), "add", "stamp")
    found = [later.load(f"key {number}") for number in range(2)]
    assert found in (["code 0", None], [None, "code 1"], ["code 0", "code 1"])


def _slow(versions: Versions, seen: dict[Any, Any]) -> Versions:
    """As a process sees it that was slow to write."""
    versions._load_index = lambda: seen
    return versions


def test_a_version_of_changed_code_does_not_take_the_place_of_the_former_one(tmp_path: Path) -> None:
    """Its list may be older than what it lists."""
    former, changed = (Versions(str(tmp_path), "add", stamp) for stamp in ("old", "new"))
    former.save("key", "old code")
    kept = {file.name: file.read_bytes() for file in tmp_path.glob("*.nbc")}
    changed.save("key", "new code")
    assert changed.load("key") == "new code" and former.load("key") is None
    assert all((tmp_path / name).read_bytes() == content for name, content in kept.items())


def test_a_process_counts_the_kernels_that_it_has_compiled_or_read(tmp_path: Path) -> None:
    before, versions = Versions.at_hand, Versions(str(tmp_path), "add", "stamp")
    assert versions.load("key") is None and Versions.at_hand == before
    versions.save("key", "code")
    assert versions.load("key") == "code" and Versions.at_hand == before + 2


def test_who_waits_is_told_once_when_something_has_to_be_compiled(tmp_path: Path) -> None:
    told: list[str] = []
    versions = Versions(str(tmp_path), "add", "stamp")
    versions.save("known", "code")
    with told_of_compiling(lambda: told.append("compiling")):
        versions.load("known")
        assert told == []
        versions.load("one")
        versions.load("another")
    versions.load("a third")
    assert told == ["compiling"]


def test_where_all_is_compiled_nobody_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    with told_of_compiling(lambda: told.append("compiling")):
        pass
    Versions(str(tmp_path), "add", "stamp").load("key")
    assert told == []


def test_compiled_functions_keep_their_versions_this_way() -> None:
    double = njit(cache=True)(_double)
    assert type(double._cache._cache_file) is Versions
    assert double(np.arange(3)).tolist() == [0, 2, 4]
    assert double(np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]


def _double(values: Any) -> Any:
    return values * 2
