"""Files of a pipeline, local or on any store that Arrow knows: whole, checked, and never half-written.

A file is written under a passing name and renamed, so that it is there complete or not at all. What is
read back for the state is compared with the checksum that was committed.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from thalweg.io.errors import InputError

GROUP_ROWS = 256 * 1024
"""Rows of a row group at most: whoever gathers the tables of many shards holds some of each."""


class DamagedFile(InputError):
    """A file of a checkpoint that is missing or is not what was written."""

    def __init__(self, path: str, what: str) -> None:
        remedy = "bring the file back from a copy, or begin anew with another checkpoint"
        super().__init__("checkpoint", f"{path} {what}: the checkpoint is damaged; {remedy}")


class UnseenFile(InputError):
    """What workers have written, and the driver does not see."""

    def __init__(self, what: str, address: str) -> None:
        super().__init__(
            "out",
            f"the workers have written {what} to {address}, and it is not there",
            "tables and checkpoint must lie where the driver and all workers see the same files",
        )


def local_part(address: str) -> str:
    """The path in the address of a local file, as it stands there.

    >>> local_part("file:/data/a#1.csv"), local_part("file:///data/100%.csv")
    ('/data/a#1.csv', '/data/100%.csv')
    """
    return re.sub("^file:(//[^/]*)?", "", address)


@dataclass(frozen=True)
class Directory:
    """A directory by its path or address (``/data/out``, ``hdfs://...``, ``s3://...``). A relative path is made
    absolute at once: the workers run elsewhere. That of a local one (``file:///data/my%20out``) becomes a path, which
    all read alike: Arrow takes ``%20`` for a blank, and Spark does not."""

    address: str

    def __post_init__(self) -> None:
        if self.address.startswith("file:"):
            object.__setattr__(self, "address", unquote(local_part(self.address)))
        if "://" not in self.address:
            object.__setattr__(self, "address", Path(self.address).absolute().as_posix())

    @cached_property
    def _store(self) -> tuple[fs.FileSystem, str]:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(self.address)
        return found

    def __getstate__(self) -> dict[str, str]:
        return {"address": self.address}

    def path(self, *parts: str) -> str:
        """The path of something inside."""
        return "/".join((self._store[1].rstrip("/"), *parts))

    def url(self, *parts: str) -> str:
        """The same, as Spark wants it."""
        base = self.address if "://" in self.address else f"file://{self._store[1]}"
        return "/".join((base.rstrip("/"), *parts))

    def readable(self, *parts: str) -> str:
        """The same for Spark's readers, which take some letters of a path for patterns."""
        return re.sub(r"([\\{}\[\]*?])", r"\\\1", self.url(*parts))

    # ------------------------------------------------------------------ reading

    def exists(self, *parts: str) -> bool:
        info = self._store[0].get_file_info(self.path(*parts))
        return bool(info.type != fs.FileType.NotFound)

    def names(self, *parts: str, passing: bool = False) -> list[str]:
        """What lies in a directory, in order; nothing where there is none, or a file. `passing`: also what is being
        written, or was when its writer was killed."""
        selector = fs.FileSelector(self.path(*parts), allow_not_found=True)
        try:
            found = sorted(info.base_name for info in self._store[0].get_file_info(selector))
        except NotADirectoryError:
            return []
        return found if passing else [name for name in found if not name.startswith(".")]

    def below(self, *parts: str) -> list[tuple[str, ...]]:
        """The files in a directory and in those inside, as paths from there; none that are being written."""
        place = self.path(*parts)
        found = self._store[0].get_file_info(fs.FileSelector(place, allow_not_found=True, recursive=True))
        paths = (tuple(info.path.removeprefix(f"{place}/").split("/")) for info in found if info.is_file)
        return sorted(path for path in paths if not path[-1].startswith("."))

    def size(self, *parts: str) -> int:
        return int(self._store[0].get_file_info(self.path(*parts)).size or 0)

    def read(self, *parts: str) -> bytes:
        try:
            with self._store[0].open_input_stream(self.path(*parts)) as stream:
                content: bytes = stream.read()
                return content
        except FileNotFoundError as error:
            raise DamagedFile(self.path(*parts), "is missing") from error

    def read_checked(self, checksum: int, *parts: str) -> bytes:
        """A file that was written with this checksum."""
        content = self.read(*parts)
        if crc32(content) != checksum:
            raise DamagedFile(self.path(*parts), "is not what was written")
        return content

    def read_json(self, *parts: str) -> Any:
        try:
            return json.loads(self.read(*parts))
        except ValueError as error:
            raise DamagedFile(self.path(*parts), "cannot be read") from error

    def table(self, *parts: str) -> pa.Table:
        """A Parquet file."""
        return pq.read_table(self.path(*parts), filesystem=self._store[0], partitioning=None)

    def parquet(self, *parts: str, footer: pq.FileMetaData | None = None) -> pq.ParquetFile:
        """A Parquet file to be read piece by piece; `footer`: what it says at its end, where that is known."""
        return pq.ParquetFile(self.path(*parts), filesystem=self._store[0], metadata=footer)

    def parts(self, name: str) -> list[tuple[str, ...]]:
        """The files of a table of a pipeline, batch by batch."""
        return [(name, batch, file) for batch in self.names(name) for file in self.names(name, batch)]

    # ------------------------------------------------------------------ writing

    def make(self, *parts: str) -> None:
        self._store[0].create_dir(self.path(*parts), recursive=True)

    def write(self, content: bytes, *parts: str) -> None:
        """Write a file, replacing one of the same name."""
        self._write((content,), parts, lambda checksum: parts[-1])

    def write_checked(self, pieces: Sequence[bytes], *parts: str, kind: str) -> tuple[str, int]:
        """Write a file in pieces, which need not be put together in memory; returns its name and checksum. The name
        says what is in it: the same content has the same one, and no other content takes its place."""

        def name(checksum: int) -> str:
            return f"{parts[-1]}.{checksum:08x}.{kind}"

        checksum = self._write(pieces, parts, name)
        return name(checksum), checksum

    def _write(self, pieces: Sequence[bytes], parts: tuple[str, ...], name: Callable[[int], str]) -> int:
        passing, checksum = self._passing(parts), 0
        with self._store[0].open_output_stream(passing) as stream:
            for piece in pieces:
                stream.write(piece)
                checksum = crc32(piece, checksum)
        self._store[0].move(passing, self.path(*parts[:-1], name(checksum)))
        return checksum

    def write_json(self, content: Any, *parts: str) -> None:
        self.write((json.dumps(content, indent=1, sort_keys=True) + "\n").encode(), *parts)

    def write_table(self, table: pa.Table, *parts: str) -> None:
        """Write a Parquet file, replacing one of the same name."""
        passing, how = self._passing(parts), _encoding(table)
        pq.write_table(table, passing, GROUP_ROWS, filesystem=self._store[0], compression="snappy", **how)
        self._store[0].move(passing, self.path(*parts))

    def _passing(self, parts: tuple[str, ...]) -> str:
        self.make(*parts[:-1])
        return self.path(*parts[:-1], f".{parts[-1]}.{uuid.uuid4().hex}")

    def move(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        """Give a file or directory another place; what lies there goes first."""
        self.delete(*target)
        self.make(*target[:-1])
        self._store[0].move(self.path(*source), self.path(*target))

    def delete(self, *parts: str) -> None:
        """Delete a file or a directory; nothing happens where there is none."""
        store, path = self._store[0], self.path(*parts)
        match store.get_file_info(path).type:
            case fs.FileType.NotFound:
                return
            case fs.FileType.Directory:
                store.delete_dir(path)
            case _:
                store.delete_file(path)


def _encoding(table: pa.Table) -> dict[str, list[str]]:
    """How columns are written: statistics of numbers only, by which readers skip what they do not ask for; words once,
    and numbers for them, unless most of them stand in one row only, as the instances of a first batch do."""
    if any(pa.types.is_nested(field.type) for field in table.schema):
        return {}
    texts = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    many = {name for name in texts if 2 * _words(table.column(name)) > table.num_rows}
    return {
        "write_statistics": [name for name in table.column_names if name not in texts],
        "use_dictionary": [name for name in table.column_names if name not in many],
    }


def _words(column: pa.ChunkedArray) -> int:
    return sum(len(piece.dictionary) for piece in column.chunks)
