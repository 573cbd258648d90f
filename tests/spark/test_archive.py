"""The package inside a wheel is unpacked once for all copies of the wheel, so that what is compiled is kept."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path

import pytest

from thalweg._archive import unpacked


def test_copies_of_a_wheel_share_a_directory_and_another_wheel_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    homes = []
    for number, text in enumerate(("first", "first", "second")):
        archive = tmp_path / f"copy-{number}.zip"
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr("thalweg/words.txt", text)
        os.utime(archive, (number, number))
        homes.append(unpacked(str(archive)))
        assert (Path(homes[-1]) / "words.txt").read_text() == text
    assert homes[0] == homes[1] != homes[2]
