"""A first look at Parquet files that reads no row: their footers say how many there are, and the least and the
greatest value of every column.

This holds where a DataFrame is made of Parquet files, no row left out or added, and its times are integers that stand
in the files; other columns may be computed. Where the start is given, the times of arrival are enough. Otherwise there
is no answer, and Spark has to look at the rows. Where all columns stand in the files, of simple types that Spark and
Arrow read alike, the shards can read the files themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
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
    from pyspark.sql.types import IntegralType

    names = _looked_at(settings)
    whole = all(isinstance(df.schema[name].dataType, IntegralType) for name in names)
    if not whole or settings.max_ahead is not None:
        return None
    plan = df._jdf.queryExecution().optimizedPlan() if plan is None else plan
    found = _parquet(plan)
    if found is None:
        return None
    files, columns = found
    if any(name not in columns for name in names):
        return None
    try:
        groups = [group for file in files for group in _groups(file)]
    except (OSError, pa.ArrowException):  # a store that Spark knows, and Arrow does not
        return None
    return _told(groups, df, columns, settings, row)


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

    def span(self, column: str) -> tuple[int, int] | None:
        """The least and the greatest value; None where there is no value at all."""
        told = self.said[column]
        return (told.min, told.max) if told.has_min_max else None

    def tells(self, column: str, farthest: int) -> bool:
        told = self.said.get(column)
        if told is None or not told.has_min_max:
            return told is not None and bool(told.null_count == self.size)
        if type(told.min) is not int:  # dates in the files, which Spark was told to read as integers
            return False
        return bool(-farthest <= told.min and told.max <= farthest)  # beyond is no time: look at the rows

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


def _told(
    groups: Sequence[_Group], df: DataFrame, columns: dict[str, str], settings: Settings, row: str | None
) -> Footers | None:
    when = list(dict.fromkeys(columns[name] for name in _looked_at(settings)))
    farthest = settings.plan.clock.farthest
    if not all(group.tells(name, farthest) for group in groups for name in when):
        return None
    arrival = settings.header.arrival
    if arrival is not None and not all(group.fills(columns[arrival]) for group in groups):
        return None  # some rows arrive when they happen
    arrivals = [columns[name] for name in _arriving(settings)]
    firsts = [span[0] for group in groups for name in when if (span := group.span(name))]
    lasts = [span[1] for group in groups for name in arrivals if (span := group.span(name))]
    rows = sum(group.size for group in groups)
    seen = Survey(rows, min(firsts, default=None), max(lasts, default=None))
    if not _readable(groups, df, columns, settings, row):
        return Footers(seen, None)
    needed = {name: columns[name] for name in settings.header.needed(settings.shapes)}
    number = None if row is None else columns[row]
    return Footers(seen, Files(_by_arrival(groups, arrivals), needed, number, _worded(groups, needed.values())))


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


def _readable(
    groups: Sequence[_Group], df: DataFrame, columns: dict[str, str], settings: Settings, row: str | None
) -> bool:
    """True where the shards can read the files themselves."""
    needed = [*settings.header.needed(settings.shapes), *([row] if row is not None else [])]
    if max(stage.shards for stage in settings.stages) > MOST_SHARDS or any(n not in columns for n in needed):
        return False
    kinds = {columns[name]: _SIMPLE.get(df.schema[name].dataType.simpleString(), ()) for name in needed}
    schemas = {id(group.schema): group.schema for group in groups}.values()
    return all(
        schema.get_field_index(name) >= 0 and schema.field(name).type in kind
        for schema in schemas
        for name, kind in kinds.items()
    )


def _by_arrival(groups: Sequence[_Group], arrivals: Sequence[str]) -> tuple[Piece, ...]:
    """The row groups by their first arrival, each with the earliest arrival from there on."""
    placed: list[tuple[int | None, int, _Group]] = []
    before = 0
    for group in groups:
        lows = [span[0] for name in arrivals if (span := group.span(name))]
        placed.append((min(lows, default=None), before, group))
        before += group.size
    placed.sort(key=lambda p: (p[0] is not None, p[0] or 0, p[1]))  # rows without an arrival come first
    return tuple(Piece(g.file, g.number, start, g.size, low) for low, start, g in placed)


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
