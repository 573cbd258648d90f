"""From what a user names to sources: paths, directories, globs, tables of any kind, one table per event.

The format of a file is told by its suffix, and by its first lines where the suffix does not say.
"""

from __future__ import annotations

import atexit
import csv
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from thalweg.io.delimited import blocks
from thalweg.io.errors import InputError
from thalweg.io.foreign import refuse_foreign, refuse_returns
from thalweg.io.jsonl import JsonLines
from thalweg.io.keyed import column_name, special_keys
from thalweg.io.rejects import Rejects
from thalweg.io.sources import (
    HeadedFile,
    JsonLinesFile,
    ParquetFile,
    Reading,
    RowsSource,
    RtecFile,
    Source,
    TableSource,
    event_of,
    told_rows,
)
from thalweg.io.tabular import flat_columns, read_header
from thalweg.io.times import read_times
from thalweg.io.values import PLAIN, column_of
from thalweg.language.wording import visible

_COMPRESSED = {".gz", ".bz2", ".zst", ".lz4"}
_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".psv": "text",
    ".events": "text",
}
_SEPARATORS = ("|", "\t", ";", ",")
_SNIFFED = 64 * 1024
_ALIKE = ("string", "empty", "floating", "boolean", "bytes")
"""What pandas calls columns whose values are all of one kind."""
_KEYS = frozenset({"name", "time", "start"})
"""Of these a row has at least one."""
_NUMBERS = (int, float, Decimal, date)


def open_sources(events: Any, reading: Reading) -> list[Source]:
    """The sources behind what was given: a path, directory or glob, a table, a mapping from names to tables
    or paths, or a sequence of these."""
    if isinstance(events, str | Path):
        return [_open_file(path, label, reading) for path, label in expand(events)]
    if isinstance(events, Mapping):
        _refuse_columns(events)
        return [source for name, given in events.items() for source in _open_named(name, given, reading)]
    if isinstance(events, Sequence) and not _is_rows(events):
        _refuse_tuples(events)
        return [source for item in events for source in open_sources(item, reading)]
    return [_open_given(events, "input", [], reading)]


def _open_named(name: str, given: Any, reading: Reading) -> list[Source]:
    """What a name leads to in a mapping: files, or a table."""
    if isinstance(given, str | Path):
        return [_open_file(path, label, reading, name) for path, label in expand(given)]
    return [_open_given(given, name, [name], reading)]


def _is_rows(events: Sequence[Any]) -> bool:
    return bool(events) and all(isinstance(row, Mapping) and not _KEYS.isdisjoint(row) for row in events)


def _refuse_tuples(events: Sequence[Any]) -> None:
    """Rows without the names of their fields."""
    for row in events:
        if isinstance(row, list | tuple) and any(isinstance(field, _NUMBERS) for field in row):
            hint = "name its fields: [{'name': 'press', 'time': 1, 'lamp': 'a'}]"
            raise InputError("input", f"a row is a dictionary, not a {type(row).__name__}", hint)


def _refuse_columns(events: Mapping[str, Any]) -> None:
    """A row, or the columns of a table, where names lead to tables."""
    for name, given in events.items():
        if isinstance(given, _NUMBERS):
            what = f"a number ({given})" if not isinstance(given, date) else f"a date ({given})"
            hint = "a row stands in a list: [{'name': 'press', 'time': 1, 'lamp': 'a'}]"
        elif isinstance(given, list | tuple) and given and not isinstance(given[0], Mapping):
            what = f"a {type(given).__name__} of {type(given[0]).__name__}"
            hint = "a mapping leads from names of events to tables; columns are a table as pandas.DataFrame(columns)"
        else:
            continue
        raise InputError("input", f"`{name}` is {what}, not a table", hint)


# --------------------------------------------------------------------------- files


def expand(named: str | Path) -> list[tuple[Path, str]]:
    """The files that a path, directory or glob stands for, each with its label; an error where there are
    none."""
    if str(named) == "-":
        if sys.stdin is None:
            raise InputError("input", "there is no standard input: it is closed")
        return [(_spooled(sys.stdin.buffer), "standard input")]
    path = Path(named)
    if path.is_file():
        return [(path, path.name)]
    if path.is_fifo() or path.is_char_device():
        with path.open("rb") as pipe:
            return [(_spooled(pipe), str(named))]
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.is_file() and _format_of(f) and not _hidden(f, path))
        if not files:
            raise InputError(
                "input", f"{named} has no files that can be read", f"known are {', '.join(_FORMATS)}"
            )
        return [(file, str(file.relative_to(path))) for file in files]
    matches = sorted(Path(f) for f in glob.glob(str(named), recursive=True) if Path(f).is_file())
    if not matches:
        raise InputError("input", f"there is no file {named}")
    return [(file, file.name) for file in matches]


def has_format(path: Path) -> bool:
    """True where a directory would have the file read: its name tells of a format that is known."""
    return _format_of(path) is not None


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(root).parts)


def _spooled(pipe: BinaryIO) -> Path:
    """A file with what can be read only once."""
    path = _temporary()
    with path.open("wb") as file:
        shutil.copyfileobj(pipe, file)
    return path


def _suffixes(path: Path) -> list[str]:
    return [s for s in (suffix.lower() for suffix in path.suffixes) if s not in _COMPRESSED]


def _format_of(path: Path) -> str | None:
    """The format that the suffix tells."""
    suffixes = _suffixes(path)
    return _FORMATS.get(suffixes[-1]) if suffixes else None


def _candidates(path: Path) -> list[str]:
    """Names that a file without a `name` column may hold: its own, that of its partition, that of its
    directory."""
    parts = [part.split("=", 1)[1] for part in path.parts[:-1] if part.startswith("name=")]
    return [path.name.split(".")[0], *reversed(parts), path.parent.name.split(".")[0]]


def _open_file(path: Path, label: str, reading: Reading, event: str | None = None) -> Source:
    """A file, whose rows are of this event where they do not say otherwise."""
    names = [event] if event is not None else _candidates(path)
    shown = str(path) if path.name == Path(label).name else label  # what is spooled has a name that says nothing
    try:
        form = _format_of(path) or _sniff(path)
        if form in ("jsonl", "text"):
            refuse_foreign(path, shown)
        match form:
            case "parquet":
                return _open_parquet(path, label, names, reading)
            case "arrow":
                return _open_arrow(path, label, names, reading)
            case "jsonl":
                return _open_jsonl(path, label, shown, names, reading)
            case _:
                return _open_text(path, label, shown, names, reading)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError("format", f"{shown} cannot be read: {reason}") from error


def _sniff(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    return "jsonl" if head.lstrip().startswith(b"{") else "text"


def _open_parquet(path: Path, label: str, names: list[str], reading: Reading) -> Source:
    header = read_header(flat_columns(pq.read_schema(path)), reading.shapes, label)
    return ParquetFile(path, label, header, event_of(names, header, reading.shapes, label), reading)


def _open_arrow(path: Path, label: str, names: list[str], reading: Reading) -> Source:
    mapped = pa.memory_map(str(path))
    try:
        table = pa.ipc.open_file(mapped).read_all()
    except pa.ArrowInvalid:
        table = pa.ipc.open_stream(mapped).read_all()
    return _open_table(table, label, names, reading)


def _open_jsonl(path: Path, label: str, shown: str, names: list[str], reading: Reading) -> Source:
    first = next(blocks(path, _SNIFFED), b"")
    if not first:
        return JsonLinesFile(path, label, None, reading)
    refuse_returns(shown, first)
    reader = JsonLines(label, reading.shapes)
    table = reader.read(first, 1, Rejects(label))
    if first.strip() and not len(table.row):
        raise InputError(
            "format",
            f"{shown} cannot be read: none of its first lines is a JSON object",
            "write each row on a line of its own; jq -c '.[]' makes lines of an array, jq -c . of objects",
        )
    header = read_header(list(reader.seen), reading.shapes, label)
    return JsonLinesFile(path, label, event_of(names, header, reading.shapes, label, table.keys), reading)


def _open_text(path: Path, label: str, shown: str, names: list[str], reading: Reading) -> Source:
    first = next(blocks(path, _SNIFFED), b"")
    refuse_returns(shown, first)
    lines = [line for line in first.decode().splitlines()[:20] if line.strip()]
    tabs = "\t" if _suffixes(path)[-1:] == [".tsv"] else None
    separator = tabs or next((s for s in _SEPARATORS if lines and s in lines[0]), "|")
    heads = [line[: csv.field_size_limit()] for line in lines]
    rows = [[field.strip() for field in row] for row in csv.reader(heads, delimiter=separator)]
    if rows and _is_header(rows[0], reading):
        header = read_header(rows[0], reading.shapes, label)
        event = event_of(names, header, reading.shapes, label)
        return HeadedFile(path, label, separator, header, event, reading)
    titles = bool(rows) and _are_titles(rows[0], reading)
    if rows and not any(_is_rtec(row, reading, by_name=not titles) for row in rows):
        advice = "; if that is a header, call its columns `name` and `time`" if titles else ""
        raise InputError(
            "format",
            f"{shown} cannot be read: neither a header with a `time` column nor rows name|arrival|time|...",
            f"its first line is: {visible(lines[0][:100])}{advice}",
        )
    return RtecFile(path, label, separator, reading)


def _is_header(fields: list[str], reading: Reading) -> bool:
    """True of a line of column names; one that begins with `name` is meant as such also where it has no time."""
    names = {field.lower() for field in fields}
    meant = fields[0].lower() == "name" and fields[0] not in reading.shapes
    return (meant or bool(names & {"time", "start"})) and not any(f.lstrip("+-").isdigit() for f in fields)


def _are_titles(fields: list[str], reading: Reading) -> bool:
    """True of words none of which is a number, a date or a name that the program reads: column names, most likely."""
    words = [field.strip('"') for field in fields]
    return len(words) > 1 and all(word.isidentifier() and word not in reading.shapes for word in words)


def _is_rtec(fields: list[str], reading: Reading, by_name: bool) -> bool:
    """True of a row with two times where they belong; `by_name`, also of one with a name that the program reads."""
    if fields and fields[0] in ("+", "-"):
        fields = fields[1:]
    if by_name and fields and fields[0] in reading.shapes:
        return True
    return len(fields) >= 3 and read_times(pa.array(fields[1:3]), reading.clock).clean


# --------------------------------------------------------------------------- tables


def _open_given(given: Any, label: str, candidates: list[str], reading: Reading) -> Source:
    """A table of any kind, or a list of dictionaries."""
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return _open_rows(given, label, candidates, reading)
    return _open_table(as_arrow(given), label, candidates, reading)


def _open_rows(rows: Sequence[Mapping[Any, Any]], label: str, candidates: list[str], reading: Reading) -> Source:
    special = special_keys(reading.shapes)
    keys = dict.fromkeys(key for row in rows for key in row)
    names = dict.fromkeys(column_name(str(key), special) for key in keys)
    header = read_header(list(names), reading.shapes, label)
    pieces = told_rows(rows, reading.shapes)
    said = pieces[0].table.keys
    return RowsSource(pieces, label, event_of(candidates, header, reading.shapes, label, said), reading)


def _open_table(table: pa.Table, label: str, candidates: list[str], reading: Reading) -> Source:
    header = read_header(flat_columns(table.schema), reading.shapes, label)
    return TableSource(table, label, header, event_of(candidates, header, reading.shapes, label), reading)


def as_arrow(table: Any) -> pa.Table:
    """An Arrow table of a table of any kind. Streams that can be read only once go through a file that is
    mapped into memory, so that they may be larger than it."""
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    refusal = f"cannot read events from {type(table).__name__}"
    try:
        match type(table).__module__.split(".")[0]:
            case "pandas" if hasattr(table, "columns"):
                named = table.index.name is not None or type(table.index).__name__ == "MultiIndex"
                return _from_pandas(table.reset_index() if named else table)
            case "polars" if hasattr(table, "collect") or hasattr(table, "get_columns"):
                return _from_polars(table.collect() if hasattr(table, "collect") else table)
            case "pandas" | "polars":
                pass  # a single column
            case _ if hasattr(table, "__arrow_c_stream__"):
                return _spool(pa.RecordBatchReader.from_stream(table))
    except pa.ArrowException as error:
        raise InputError("input", f"{refusal}: {error}", "give its columns types that Arrow has") from error
    raise InputError(
        "input",
        refusal,
        "give a path, a pandas, Polars or Arrow table, a DuckDB relation, or a mapping from names to tables",
    )


def _from_pandas(frame: Any) -> pa.Table:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError("columns", f"the table has more than one column `{twice}`")
    frame = _told_plainly(frame)
    objects = [name for name in frame.columns if frame[name].dtype == object]
    mixed = {name: found for name in objects if (found := _mixed(frame[name])) is not None}
    try:
        table = pa.Table.from_pandas(frame.drop(columns=list(mixed)), preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            "columns",
            f"a column of the table holds values of different types: {error}",
            "give each column one type, for example with astype(str)",
        ) from error
    if not mixed:
        return table
    return pa.table({str(n): mixed[n] if n in mixed else table.column(str(n)) for n in frame.columns})


def _told_plainly(frame: Any) -> Any:
    """Sparse columns as full ones; those of periods and of intervals, neither times nor numbers, as text."""
    from pandas import IntervalDtype, PeriodDtype, SparseDtype

    kinds = {name: kind.subtype for name, kind in frame.dtypes.items() if isinstance(kind, SparseDtype)}
    spans = [name for name, kind in frame.dtypes.items() if isinstance(kind, PeriodDtype | IntervalDtype)]
    kinds |= dict.fromkeys(spans, "string")
    return frame.astype(kinds) if kinds else frame


def _mixed(values: Any) -> pa.Array | None:
    """A column of values of different kinds, or of integers beyond 64 bits; None where Arrow sees to it."""
    from pandas.api.types import infer_dtype

    if infer_dtype(values, skipna=True) in _ALIKE:
        return None
    known = [None if missing else value for value, missing in zip(values, values.isna(), strict=True)]
    return column_of(known) if all(value is None or isinstance(value, PLAIN) for value in known) else None


def _from_polars(frame: Any) -> pa.Table:
    """Objects of Python have no column in Arrow: those that are values become one of their own."""
    objects = [name for name, kind in frame.schema.items() if str(kind) == "Object"]
    table = frame.drop(objects).to_arrow()
    found = {name: frame[name].to_list() for name in objects}
    for name, values in found.items():
        odd = next((value for value in values if value is not None and not isinstance(value, PLAIN)), None)
        if odd is not None:
            what = f"the column `{name}` holds objects of type {type(odd).__name__}"
            raise InputError("columns", what, "give it names, numbers or times")
    return pa.table({n: column_of(found[n]) if n in found else table.column(n) for n in frame.columns})


def _spool(reader: pa.RecordBatchReader) -> pa.Table:
    path = _temporary()
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def _temporary() -> Path:
    """A new file that is gone when the process ends."""
    descriptor, name = tempfile.mkstemp(prefix="thalweg-")
    os.close(descriptor)
    atexit.register(Path(name).unlink, missing_ok=True)
    return Path(name)
