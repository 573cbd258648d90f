"""Tables to files: Parquet, CSV or JSONL, a directory at a time, complete or not at all.

Everything is written to a hidden directory beside the target, which takes the target's name when all is done.
An earlier result of the same name is replaced; a directory that holds anything else is left alone.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from thalweg.io.errors import InputError
from thalweg.io.fold import concatenate, shortened

ROW_GROUP = 1024 * 1024
FORMATS = ("parquet", "csv", "jsonl")
SUMMARY = "summary.json"
"""Lies in every result, and nowhere else."""
_LEFT_BEHIND = {SUMMARY, "fluents", *(f".{form}" for form in FORMATS)}


class TableWriter(Protocol):
    """Writes the pieces of one table to one file."""

    def write(self, table: pa.Table) -> None:
        """Append the rows."""

    def close(self) -> None:
        """Nothing follows."""


class _ParquetWriter:
    """Text as dictionaries, each with the words of its row group; integers, which are times and numbers of rows, as
    packed differences: as small as dictionaries, and faster. Text has statistics only where a table is sorted by it."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        integers = [field.name for field in schema if pa.types.is_integer(field.type)]
        others = [_leaf(field) for field in schema if field.name not in integers]
        self._writer = pq.ParquetWriter(
            path,
            schema,
            compression="snappy",
            use_dictionary=others,
            dictionary_pagesize_limit=ROW_GROUP * 64,
            column_encoding=dict.fromkeys(integers, "DELTA_BINARY_PACKED"),
            write_statistics=sorted({*integers, schema.names[0]}),
        )
        self._held: list[pa.Table] = []

    def write(self, table: pa.Table) -> None:
        """Small pieces are held until they make a row group worth the name."""
        self._held.append(table)
        if sum(piece.num_rows for piece in self._held) >= ROW_GROUP // 8:
            self._write_held()

    def _write_held(self) -> None:
        table = self._held[0]
        if len(self._held) > 1:
            table = concatenate(self._held).unify_dictionaries().combine_chunks()
        self._held = []
        for start in range(0, table.num_rows, ROW_GROUP):
            self._writer.write_table(_compact(table.slice(start, ROW_GROUP)), row_group_size=ROW_GROUP)

    def close(self) -> None:
        try:
            if self._held:
                self._write_held()
        finally:
            self._writer.close()


def _leaf(field: pa.Field) -> str:
    """The name under which Parquet knows the values of a column."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else str(field.name)


def _compact(group: pa.Table) -> pa.Table:
    """The rows with the words that occur in them, where that is not most of the words."""
    for place, column in enumerate(group.columns):
        if not pa.types.is_dictionary(column.type) or column.num_chunks != 1 or column.null_count:
            continue
        part = column.chunk(0)
        if len(part.dictionary) > 1024 and part.indices.type == pa.int32():
            short = shortened(part.indices.to_numpy(), part.dictionary)
            group = group.set_column(place, group.schema.field(place), short)
    return group


class _CsvWriter:
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        options = pv.WriteOptions(quoting_style="needed")
        self._writer = pv.CSVWriter(str(path), plain(schema.empty_table()).schema, write_options=options)

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(plain(table))

    def close(self) -> None:
        self._writer.close()


class _JsonLinesWriter:
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._file = path.open("wb")

    def write(self, table: pa.Table) -> None:
        for batch in table.to_batches(max_chunksize=256 * 1024):
            self._file.write(json_lines(batch))

    def close(self) -> None:
        self._file.close()


_WRITERS: dict[str, type[_ParquetWriter] | type[_CsvWriter] | type[_JsonLinesWriter]] = {
    "parquet": _ParquetWriter,
    "csv": _CsvWriter,
    "jsonl": _JsonLinesWriter,
}


def plain(table: pa.Table) -> pa.Table:
    """The table without dictionary encoding and without lists: what a text file can hold."""
    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        elif pa.types.is_list(column.type):
            column = pc.binary_join(column.cast(pa.list_(pa.string())), "; ")
        columns.append(column)
    return pa.table(columns, names=table.column_names)


def tab_separated(table: pa.Table) -> Iterator[str]:
    """The table as text for a pipe, piece by piece: a header, tabs between the fields, nothing quoted."""
    yield "\t".join(table.column_names) + "\n"
    for batch in plain(table).to_batches(max_chunksize=64 * 1024):
        cells = [pc.replace_substring_regex(c.cast(pa.string()), r"[\x00-\x1f\x7f]", " ") for c in batch.columns]
        lines = pc.binary_join_element_wise(*cells, "\t", null_handling="replace", null_replacement="")
        yield "".join(f"{line}\n" for line in lines.to_pylist())


def json_lines(batch: pa.RecordBatch) -> bytes:
    """One JSON object per row, built column by column."""
    if not batch.num_rows:
        return b""
    cells = []
    for position, (field, column) in enumerate(zip(batch.schema, batch.columns, strict=True)):
        lead = ("{" if position == 0 else ", ") + json.dumps(field.name) + ": "
        cells += [lead, _json_values(column)]
    lines = pc.binary_join_element_wise(*cells, "}\n", "")
    return b"".join(part for part in lines.cast(pa.binary()).to_pylist())


def _json_values(column: pa.Array) -> pa.Array:
    """The values of a column as JSON text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        words = _json_values(column.dictionary)
        decoded = pa.DictionaryArray.from_arrays(column.indices, words).dictionary_decode()
        return decoded.fill_null("null")
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(pa.string()).fill_null("null")
    return pa.array(
        [json.dumps(value, ensure_ascii=False, default=str) for value in column.to_pylist()], pa.string()
    )


class Folder:
    """A directory of tables in the making. Leaving it without an error gives it its name; with one, it is
    gone."""

    def __init__(self, target: Path, form: str) -> None:
        if form not in FORMATS:
            raise InputError("format", f"format {form} is none of {', '.join(FORMATS)}")
        self.target = target
        self.form = form
        self._writers: dict[str, tuple[TableWriter, pa.Schema]] = {}
        _refuse_foreign(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self.path = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        except OSError as error:
            raise InputError("out", f"cannot write to {target}: {error.strerror}") from error

    def write(self, name: str, table: pa.Table) -> None:
        """Append rows to a table; the first piece fixes its columns."""
        with self.writable():
            if name not in self._writers:
                path = self.path / f"{name}.{self.form}"
                path.parent.mkdir(exist_ok=True)
                self._writers[name] = (_WRITERS[self.form](path, table.schema), table.schema)
            writer, schema = self._writers[name]
            if table.num_rows:
                same = table.schema.equals(schema)
                writer.write(table if same else table.select(schema.names).cast(schema))

    def note(self, name: str, content: Any) -> None:
        """A small JSON file beside the tables."""
        with self.writable():
            (self.path / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self.writable() if kind is None else suppress(OSError, pa.ArrowException):
                for writer, _ in self._writers.values():
                    writer.close()
                if kind is None:
                    _replace(self.path, self.target)
        finally:
            shutil.rmtree(self.path, ignore_errors=True)

    @contextmanager
    def writable(self) -> Iterator[None]:
        """A full disk, or one that is gone, is one clear message."""
        try:
            yield
        except OSError as problem:
            reason = os.strerror(problem.errno) if problem.errno else str(problem)
            raise InputError("out", f"cannot write to {self.target}: {reason}") from problem


def _refuse_foreign(target: Path) -> None:
    """An existing directory may be replaced only if it is the result of an earlier run."""
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError("out", f"{target} exists and is no directory")
    files = list(target.iterdir())
    foreign = [f.name for f in files if f.name not in _LEFT_BEHIND and f.suffix not in _LEFT_BEHIND]
    if files and not (target / SUMMARY).is_file():
        foreign = [f.name for f in files]
    if foreign:
        raise InputError(
            "out",
            f"{target} exists and holds other files, such as {sorted(foreign)[0]}",
            "choose another directory",
        )


def _replace(made: Path, target: Path) -> None:
    """Give the new directory its name; the earlier one of that name goes only after it has been moved
    away."""
    made.chmod(0o755)
    if not target.exists():
        made.rename(target)
        return
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-old-", dir=target.parent) as old:
        target.rename(Path(old) / "result")
        made.rename(target)
