"""Rows that shards on one machine hand to one another, so that a row group is read once and not by each of them.

The first shard that comes to a row group claims it, reads it, keeps its own rows and lays those of the others down as
Arrow files, which these map into their memory. Nobody depends on it: where nothing comes, because the other shard has
failed, stands still or ran before, a shard reads the row group itself. The rows are the same either way.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa

PATIENCE = 5.0
"""Seconds that a shard waits for what another one has claimed, all in all."""
PAUSE = 0.001
"""Seconds between two looks."""
ROOM = 512 * 1024 * 1024
"""Bytes that may lie there for others; when there are more, everyone reads for itself."""
NOBODY = b"nobody"
"""Stands in a claim: the row group is not handed over."""


class Exchange:
    """The exchange as one shard of a stage sees it. `divide` reads a row group and gives the rows of every shard,
    `read` only those of this one."""

    def __init__(
        self,
        directory: str,
        stage: int,
        shard: int,
        *,
        divide: Callable[[int], Mapping[int, pa.Table]],
        read: Callable[[int], pa.Table],
    ) -> None:
        self.directory = Path(directory)
        self.stage, self.shard = stage, shard
        self._divide, self._read = divide, read
        self._kept: dict[int, pa.Table] = {}
        self._patience = PATIENCE

    def rows(self, pieces: range, following: range) -> list[pa.Table]:
        """This shard's rows of some row groups; while others are busy with these, it looks at those that follow."""
        for piece in pieces:
            self._try(piece)
        return [self._awaited(piece, following) for piece in pieces]

    # ------------------------------------------------------------------ giving

    def _claim(self, piece: int) -> Path:
        return self.directory / f"{self.stage}-{piece}"

    def _parcel(self, piece: int, shard: int) -> Path:
        return self.directory / f"{self.stage}-{piece}-{shard}.arrow"

    def _try(self, piece: int) -> bool:
        """Claim a row group and hand it over; False where somebody else has."""
        if piece in self._kept:
            return False
        try:
            with self._claim(piece).open("xb") as claim:
                claim.write(str(self.shard).encode())
        except OSError:  # it exists, or nothing can be written there
            return False
        if _size(self.directory) > ROOM:
            self._claim(piece).write_bytes(NOBODY)
            self._kept[piece] = self._read(piece)
            return True
        parts = self._divide(piece)
        try:
            for shard, table in parts.items():
                if shard != self.shard:
                    _lay_down(table, self._parcel(piece, shard))
        except OSError:
            self._claim(piece).unlink(missing_ok=True)
        self._kept[piece] = parts[self.shard]
        return True

    # ------------------------------------------------------------------ taking

    def _awaited(self, piece: int, following: range) -> pa.Table:
        if piece in self._kept:
            return self._kept.pop(piece)
        parcel = self._parcel(piece, self.shard)
        while not parcel.exists():
            if self._patience <= 0 or not self._is_coming(piece):
                return self._read(piece)
            if not any(self._try(later) for later in following):
                began = time.monotonic()
                time.sleep(PAUSE)
                self._patience -= time.monotonic() - began
        with pa.memory_map(str(parcel)) as source:
            found = pa.ipc.open_file(source).read_all()
        parcel.unlink(missing_ok=True)
        return found

    def _is_coming(self, piece: int) -> bool:
        """False where nobody will hand a row group over: what this very shard claimed was lost with an earlier try."""
        try:
            return self._claim(piece).read_bytes() not in (NOBODY, str(self.shard).encode())
        except OSError:
            return False


def _size(directory: Path) -> int:
    """Bytes in a directory from which others take files away meanwhile."""
    total = 0
    with os.scandir(directory) as found:
        for entry in found:
            with contextlib.suppress(FileNotFoundError):
                total += entry.stat().st_size
    return total


def _lay_down(table: pa.Table, path: Path) -> None:
    """Write a file that is there complete or not at all."""
    passing = path.with_suffix(".part")
    with pa.OSFile(str(passing), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    passing.rename(path)
