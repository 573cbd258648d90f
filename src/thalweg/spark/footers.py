"""A first look at Parquet files that reads no row: their footers say how many there are, and the least and the
greatest value of every column.

This holds where a DataFrame is columns of Parquet files and nothing else, no row left out or added, and times are
integers. Otherwise there is no answer, and Spark has to look at the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from pyarrow import fs

from thalweg.spark.settings import Settings
from thalweg.spark.survey import Survey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_FILES = 100
"""Footers are read one after the other; of more files Spark looks at the rows, side by side."""


def footer_survey(df: DataFrame, settings: Settings) -> Survey | None:
    """The number of rows, the first time and the last arrival, where footers tell; else None."""
    from pyspark.sql.types import IntegralType

    names = list(dict.fromkeys(settings.header.when))
    whole = all(isinstance(df.schema[name].dataType, IntegralType) for name in names)
    found = _parquet(df, names) if whole and settings.max_ahead is None else None
    if found is None:
        return None
    files, columns = found
    spans = _spans(files, columns)
    if spans is None:
        return None
    rows, lows, highs = spans
    header = settings.header
    arriving = [header.arrival] if header.arrival is not None else [header.time, header.start]
    firsts = [low for name in names for low in lows[columns[name]]]
    lasts = [high for name in arriving if name is not None for high in highs[columns[name]]]
    return Survey(rows, min(firsts, default=None), max(lasts, default=None))


def _parquet(df: DataFrame, names: Sequence[str]) -> tuple[list[str], dict[str, str]] | None:
    """The Parquet files that a DataFrame consists of, and what its columns are called there."""
    plan = df._jdf.queryExecution().optimizedPlan()
    attributes = _each(plan.output())
    places = {a.name(): a.exprId().id() for a in attributes if a.name() in names}
    while plan.nodeName() == "Project":
        known = {}
        for expression in _each(plan.projectList()):
            source = expression.child() if expression.nodeName() == "Alias" else expression
            if source.nodeName() == "AttributeReference":
                known[expression.exprId().id()] = source.exprId().id()
        places = {name: known.get(place) for name, place in places.items()}
        plan = plan.child()
    if plan.nodeName() != "LogicalRelation" or plan.relation().getClass().getSimpleName() != "HadoopFsRelation":
        return None
    relation = plan.relation()
    files = list(relation.location().inputFiles())
    if relation.fileFormat().toString() != "Parquet" or len(files) > MOST_FILES:
        return None
    columns = {a.exprId().id(): a.name() for a in _each(plan.output())}
    found = {name: columns[place] for name, place in places.items() if place in columns}
    return (files, found) if len(found) == len(names) else None


def _each(sequence: Any) -> list[Any]:
    """The elements of a sequence of Scala."""
    return [sequence.apply(i) for i in range(sequence.size())]


def _spans(
    files: Sequence[str], columns: dict[str, str]
) -> tuple[int, dict[str, list[int]], dict[str, list[int]]] | None:
    """Rows, least and greatest values by column; None where a footer does not say."""
    rows = 0
    lows: dict[str, list[int]] = {name: [] for name in columns.values()}
    highs: dict[str, list[int]] = {name: [] for name in columns.values()}
    for file in files:
        store, path = fs.FileSystem.from_uri(file)
        footer = pq.read_metadata(path, filesystem=store)
        rows += footer.num_rows
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            said = {(c := group.column(i)).path_in_schema: c.statistics for i in range(group.num_columns)}
            for name in lows:
                told = said.get(name)
                if told is None or not (told.has_min_max or told.null_count == group.num_rows):
                    return None
                if told.has_min_max:
                    lows[name].append(told.min)
                    highs[name].append(told.max)
    return rows, lows, highs
