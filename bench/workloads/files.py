"""Streams and facts to files: one headed table per name (CSV or Parquet), or one RTEC-style CSV.

The headed tables have the columns ``name, time, arrival`` and one per argument; input fluents have
``name, start, end, value, arrival`` and one per argument. The RTEC-style file has a row
``name|arrival|occurrence|arguments...`` per event and ``name|arrival|start|end|value|arguments...`` per
interval; fluents given at points (`points`) have ``name|arrival|time|value|arguments...``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from workloads.columns import Stream, Table, arrow

Fact = tuple[str | int | float, ...]


def headed(name: str, rows: Table) -> pa.Table:
    """One name as an Arrow table with the columns the reader knows."""
    columns: dict[str, pa.Array] = {
        "name": pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), [name])
    }
    if rows.end is None:
        columns["time"] = pa.array(rows.time)
    else:
        columns["start"], columns["end"] = pa.array(rows.time), pa.array(rows.end)
    if rows.value is not None:
        columns["value"] = rows.value.arrow()
    columns["arrival"] = pa.array(rows.arrival)
    columns |= {argument: arrow(column) for argument, column in rows.args.items()}
    return pa.table(columns)


def write_parquet(stream: Stream, folder: Path) -> list[Path]:
    """``<name>.parquet`` for each name."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.parquet" for name in stream]
    for path, (name, rows) in zip(paths, stream.items(), strict=True):
        pa.parquet.write_table(headed(name, rows), path)
    return paths


def write_repeated(stream: Stream, folder: Path, times: int, shift: int) -> None:
    """``<name>.parquet`` for each name: the stream so many times, each time later by `shift`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in stream.items():
        table = headed(name, rows)
        moments = [column for column in ("time", "start", "end", "arrival") if column in table.column_names]
        with pa.parquet.ParquetWriter(folder / f"{name}.parquet", table.schema) as writer:
            for k in range(times):
                later = table
                for column in moments:
                    place = table.column_names.index(column)
                    later = later.set_column(place, column, pc.add(table.column(column), k * shift))
                writer.write_table(later)


def write_csv(stream: Stream, folder: Path) -> list[Path]:
    """``<name>.csv`` for each name, with a header line."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.csv" for name in stream]
    options = pa.csv.WriteOptions(quoting_style="none")
    for path, (name, rows) in zip(paths, stream.items(), strict=True):
        pa.csv.write_csv(headed(name, rows), path, options)
    return paths


def _lines(name: str, rows: Table) -> pa.Array:
    fields: list[pa.Array] = [pa.array(rows.arrival), pa.array(rows.time)]
    if rows.end is not None:
        fields.append(pa.array(rows.end))
    if rows.value is not None:
        fields.append(rows.value.arrow())
    fields += [arrow(column) for column in rows.args.values()]
    texts = [field.cast(pa.string()) for field in fields]
    return pc.binary_join_element_wise(pa.scalar(name), *texts, "|")


def write_rtec(stream: Stream, path: Path) -> Path:
    """One ``|``-separated file, in the order of arrival."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = pa.concat_arrays([_lines(name, rows) for name, rows in stream.items()])
    times = np.concatenate([rows.time for rows in stream.values()])
    arrivals = np.concatenate([rows.arrival for rows in stream.values()])
    ordered = lines.take(pa.array(np.lexsort((times, arrivals))))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in ordered.to_pylist())
    return path


def write_facts(path: Path, title: str, facts: Iterable[Fact]) -> Path:
    """Background knowledge: one ground fact per line, ``(predicate, argument, ...)``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"% {title}\n")
        file.writelines(f"{render(fact)}\n" for fact in facts)
    return path


def render(fact: Fact) -> str:
    """``('agenda', 'm0', 'k0')`` as ``agenda(m0, k0).``"""
    predicate, *arguments = fact
    return f"{predicate}({', '.join(str(argument) for argument in arguments)})."


def write_all(stream: Stream, folder: Path, forms: Sequence[str]) -> list[Path]:
    """The stream in each of the forms ``parquet``, ``csv`` and ``rtec``, below `folder`."""
    written: list[Path] = []
    if "parquet" in forms:
        written += write_parquet(stream, folder / "parquet")
    if "csv" in forms:
        written += write_csv(stream, folder / "csv")
    if "rtec" in forms:
        written.append(write_rtec(stream, folder / "events.csv"))
    return written
