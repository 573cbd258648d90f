"""A first look at Parquet files that reads no row: their footers say how many there are, and the least and the
greatest value of every column.

This holds where a DataFrame is made of Parquet files, no row left out or added, and its times are integers that stand
in the files; other columns may be computed. Where the start is given, the times of arrival are enough. Otherwise there
is no answer, and Spark has to look at the rows. Where all columns stand in the files, of simple types that Spark and
Arrow read alike, the shards can read the files themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from thalweg.spark.parquet import MOST_SHARDS, Files, Piece
from thalweg.spark.settings import Settings
from thalweg.spark.survey import Survey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_FILES = 100
"""Footers are read one after the other; of more files Spark looks at the rows, side by side."""
WORDS_PER_ROW = 2
"""Bytes of different words per row up to which they are few."""
MOST_WORDS = 1_100_000
"""Bytes of different words that a column has at most, where all of its texts are stored as numbers of them: writers
that come to so many, store the other texts as they are."""
NUMBER = 21 / 8
"""Bytes that the number of a word takes at most, and whether there is one."""
_AS_WORDS = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}
"""The encodings of words, of numbers for them, and of which rows have one."""
_SIMPLE: dict[str, tuple[pa.DataType, ...]] = {
    "string": (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())),
    "bigint": (pa.int64(),),
    "int": (pa.int32(),),
    "smallint": (pa.int16(),),
    "tinyint": (pa.int8(),),
    "double": (pa.float64(),),
    "float": (pa.float32(),),
    "boolean": (pa.bool_(),),
}
"""Types of Spark that Arrow reads as these."""
_PLAIN_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
"""Not what is derived from it: of tables in other formats the files may hold rows that are deleted."""


@dataclass(frozen=True, slots=True)
class Footers:
    """What the footers of a batch say. `files` is for shards that read the batch themselves; None: they cannot."""

    survey: Survey
    files: Files | None


def read_footers(df: DataFrame, settings: Settings, row: str | None, plan: Any = None) -> Footers | None:
    """What the footers tell of a DataFrame; None where they do not tell how many rows there are, and when. `row` is the
    column with row numbers. `plan` is the logical plan of the DataFrame, where it does not know it itself."""
    if not may_tell(df, settings):
        return None
    plan = df._jdf.queryExecution().optimizedPlan() if plan is None else plan
    found = _parquet(plan)
    if found is None:
        return None
    files, columns = found
    if any(name not in columns for name in _looked_at(settings)):
        return None
    return footers_of(files, df, columns, settings, row)


def may_tell(df: DataFrame, settings: Settings) -> bool:
    """True where the least and the greatest times are all that has to be known of these rows."""
    from pyspark.sql.types import IntegralType

    whole = all(isinstance(df.schema[name].dataType, IntegralType) for name in _looked_at(settings))
    return whole and settings.max_ahead is None


def footers_of(
    files: Iterable[str],
    df: DataFrame,
    columns: dict[str, str],
    settings: Settings,
    row: str | None,
    stamps: Mapping[str, pa.DataType] | None = None,
) -> Footers | None:
    """What the footers of these files tell; `columns` says what those of the DataFrame are called there, `stamps` which
    of them are microseconds, and of which type."""
    try:
        groups = [group for file in files for group in _groups(file)]
    except (OSError, pa.ArrowException):  # a store that Spark knows, or a key, and Arrow does not
        return None
    return _told(_Footing(df, columns, settings, row, stamps or {}), groups)


@dataclass(frozen=True, slots=True)
class _Footing:
    """What has to be known to understand footers."""

    df: DataFrame
    columns: dict[str, str]
    settings: Settings
    row: str | None
    stamps: Mapping[str, pa.DataType]

    def spans(self, group: _Group, names: Iterable[str]) -> list[tuple[int, int]]:
        """The least and the greatest time-points in each of these columns that has any."""
        found = []
        for name in names:
            told = group.said[self.columns[name]]
            if told.has_min_max:
                found.append((self._point(name, told.min), self._point(name, told.max)))
        return found

    def _point(self, name: str, value: int) -> int:
        return value // self.settings.plan.clock.micros if name in self.stamps else value

    def tells(self, group: _Group, name: str) -> bool:
        """True where the footer knows all time-points of a column."""
        told = group.said.get(self.columns[name])
        if told is None or not told.has_min_max:
            return told is not None and bool(told.null_count == group.size)
        if type(told.min) is not int:  # dates in the files, which Spark was told to read as integers
            return False
        farthest = self.settings.plan.clock.farthest
        ((low, high),) = self.spans(group, [name])
        return -farthest <= low and high <= farthest  # beyond is no time: look at the rows


def _looked_at(settings: Settings) -> list[str]:
    """The columns that tell how far the clock goes and, where that is not given, where it starts."""
    return _arriving(settings) if settings.options["start"] is not None else list(dict.fromkeys(settings.header.when))


def _arriving(settings: Settings) -> list[str]:
    """The columns that tell when rows arrive."""
    header = settings.header
    found = [header.arrival] if header.arrival is not None else [header.time, header.start]
    return [name for name in found if name is not None]


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group and what its footer says of its columns; of those that are stored as words and numbers for them, how
    many bytes the words take."""

    file: str
    number: int
    size: int
    schema: pa.Schema
    said: dict[str, Any]
    words: dict[str, int]

    def fills(self, column: str) -> bool:
        """True where each row has a value."""
        told = self.said[column]
        return bool(told.has_null_count and told.null_count == 0)


def _groups(file: str) -> Iterator[_Group]:
    store, path = fs.FileSystem.from_uri(file)
    footer = pq.read_metadata(path, filesystem=store)
    schema = footer.schema.to_arrow_schema()
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        columns = [group.column(i) for i in range(group.num_columns)]
        said = {column.path_in_schema: column.statistics for column in columns}
        stored = [column for column in columns if _stored_as_words(column, group.num_rows)]
        words = {c.path_in_schema: c.data_page_offset - c.dictionary_page_offset for c in stored}
        yield _Group(file, number, group.num_rows, schema, said, words)


def _stored_as_words(column: Any, rows: int) -> bool:
    """True where all texts of a column are numbers of words, as far as its size tells. Where a writer gave that up on
    the way, reading them as words takes two or three times as long as reading them as texts."""
    return (
        column.has_dictionary_page
        and _AS_WORDS.issuperset(column.encodings)
        and column.total_uncompressed_size <= MOST_WORDS + NUMBER * rows
    )


def _told(about: _Footing, groups: Sequence[_Group]) -> Footers | None:
    settings, columns = about.settings, about.columns
    when, arrivals = _looked_at(settings), _arriving(settings)
    if not all(about.tells(group, name) for group in groups for name in when):
        return None
    arrival = settings.header.arrival
    if arrival is not None and not all(group.fills(columns[arrival]) for group in groups):
        return None  # some rows arrive when they happen
    firsts = [low for group in groups for low, _ in about.spans(group, when)]
    lasts = [high for group in groups for _, high in about.spans(group, arrivals)]
    rows = sum(group.size for group in groups)
    seen = Survey(rows, min(firsts, default=None), max(lasts, default=None))
    if not _readable(about, groups):
        return Footers(seen, None)
    needed = {name: columns[name] for name in settings.header.needed(settings.shapes)}
    number = None if about.row is None else columns[about.row]
    pieces = _by_arrival(about, groups, arrivals)
    return Footers(seen, Files(pieces, needed, number, _worded(groups, needed.values()), tuple(about.stamps.items())))


def _worded(groups: Sequence[_Group], columns: Iterable[str]) -> tuple[str, ...]:
    """The columns of texts that are stored as words and numbers for them, and with few words for their rows: to look up
    many in every row group takes longer than to look at the rows."""
    texts = [name for name in columns if groups and groups[0].schema.field(name).type in _SIMPLE["string"]]
    return tuple(
        name
        for name in texts
        if all(name in group.words for group in groups)
        and sum(group.words[name] for group in groups) < WORDS_PER_ROW * sum(group.size for group in groups)
    )


def _readable(about: _Footing, groups: Sequence[_Group]) -> bool:
    """True where the shards can read the files themselves."""
    df, columns, settings = about.df, about.columns, about.settings
    needed = [*settings.header.needed(settings.shapes), *([about.row] if about.row is not None else [])]
    if not are_simple(df, needed, settings) or any(name not in columns for name in needed):
        return False
    kinds = {columns[name]: _SIMPLE[df.schema[name].dataType.simpleString()] for name in needed}
    schemas = {id(group.schema): group.schema for group in groups}.values()
    return all(
        schema.get_field_index(name) >= 0 and schema.field(name).type in kind
        for schema in schemas
        for name, kind in kinds.items()
    )


def are_simple(df: DataFrame, needed: Iterable[str], settings: Settings) -> bool:
    """True where few shards read columns of types that Arrow reads from files as Spark does."""
    few = max(stage.shards for stage in settings.stages) <= MOST_SHARDS
    return few and all(df.schema[name].dataType.simpleString() in _SIMPLE for name in needed)


def _by_arrival(about: _Footing, groups: Sequence[_Group], arrivals: Sequence[str]) -> tuple[Piece, ...]:
    """The row groups by their first arrival: rows without one come first."""
    found: list[Piece] = []
    before = 0
    for group in groups:
        spans = about.spans(group, arrivals)
        earliest, latest = min((low for low, _ in spans), default=None), max((high for _, high in spans), default=None)
        found.append(Piece(group.file, group.number, before, group.size, earliest, latest))
        before += group.size
    return tuple(sorted(found, key=lambda p: (p.earliest is not None, p.earliest or 0, p.before)))


def _parquet(plan: Any) -> tuple[list[str], dict[str, str]] | None:
    """The Parquet files that a plan consists of, and what its columns are called there. A question to Java takes a
    tenth of a millisecond, so the columns of all nodes are asked for at once."""
    last = plan
    while last.nodeName() == "Project":
        last = last.child()
    if last.nodeName() != "LogicalRelation" or last.relation().getClass().getSimpleName() != "HadoopFsRelation":
        return None
    relation = last.relation()
    files = sorted(relation.location().inputFiles())
    parquet = relation.fileFormat().getClass().getName() == _PLAIN_PARQUET
    if not parquet or relation.partitionSchema().length() or len(files) > MOST_FILES:
        return None
    return files, stored_names(json.loads(plan.toJSON()))


def stored_names(nodes: Sequence[dict[str, Any]]) -> dict[str, str]:
    """What the columns of a plan are called in the files below it, those that stand there: the plan is projections, the
    uppermost first, and at last the relation, as Spark writes them in JSON."""
    *projections, relation = nodes
    found = {_number(column[0]): column[0]["name"] for column in relation["output"]}
    named = {name: name for name in found.values()}
    for projection in reversed(projections):
        kept = {}
        named = {}
        for first, *rest in projection["projectList"]:
            source = rest[0] if first["class"].endswith(".Alias") else first
            if source["class"].endswith(".AttributeReference") and _number(source) in found:
                kept[_number(first)] = named[first["name"]] = found[_number(source)]
        found = kept
    return named


def _number(expression: dict[str, Any]) -> int:
    number: int = expression["exprId"]["id"]
    return number
