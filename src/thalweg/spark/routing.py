"""Rows to shards, in Spark: which rows a stage reads, and the shuffle that brings each to its shard.

A shuffled row has the columns of the input, and the columns below. Rows of the stream have no content; messages
of earlier stages have nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.spark.given import column_of, plain
from thalweg.spark.keying import elsewhere, key_column, place_column, shards_column
from thalweg.spark.settings import Settings
from thalweg.spark.stages import first_readers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from thalweg.spark.keying import Route

ROW = "_thalweg_row"
SHARD = "_thalweg_shard"
ARRIVAL = "_thalweg_arrival"
"""The time-point before which a row does not arrive, where rows are sorted by it."""
MESSAGE = {"stage": "int", "shard": "int", "kind": "string", "content": "binary"}
"""What stages send: rows for a shard of a later stage, or a note for the driver."""
MESSAGE_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in MESSAGE.items())
_PREFIX = "_thalweg_"


def message_column(name: str) -> str:
    """The name of a message's column among the columns of rows."""
    return f"{_PREFIX}{name}"


def numbered(df: DataFrame, settings: Settings, row: str | None) -> DataFrame:
    """The columns that are read, and a row number: the user's, or one that Spark gives, unique in the batch. The same
    for every batch, so that Spark compiles it once. Constants are plain: what a stage is told of them by another one
    is to be the same text."""
    from pyspark.sql import functions as F

    number: Column
    if row is not None:
        number = column_of(row).cast("bigint")
    else:
        given = F.monotonically_increasing_id()
        number = F.shiftright(given, 33) * 2**27 + given % 2**33 + 1
    when = set(settings.header.when)
    columns = [
        column_of(name) if name in when else plain(column_of(name), df.schema[name].dataType).alias(name)
        for name in settings.header.needed(settings.shapes)
    ]
    return df.select(*columns, number.alias(ROW))


def first_number(batch: int, row: str | None) -> int:
    """What to add to the row numbers of a batch, so that rows of different batches differ."""
    return 0 if row is not None else (batch % 2**22) << 40


def knocks(spark: SparkSession, settings: Settings) -> DataFrame:
    """A message without rows for each shard of the first stage, in its partition: Spark does not run a stage on nothing
    at all."""
    from pyspark.sql import functions as F

    columns = {"stage": F.lit(0), "shard": F.col("id"), "kind": F.lit("rows"), "content": F.lit(b"")}
    shards = settings.stages[0].shards
    return spark.range(0, shards, 1, shards).select(
        *(columns[name].cast(kind).alias(name) for name, kind in MESSAGE.items())
    )


def knocked(messages: DataFrame) -> DataFrame:
    """The messages of `knocks` as the first stage gets them: they are where they belong."""
    return _arriving(messages, 1).drop(SHARD)


def shuffled(df: DataFrame | None, settings: Settings, stage: int, messages: DataFrame | None) -> DataFrame:
    """The rows that a stage reads and the messages for it, each in the partition of its shard. At least one of the two
    is there."""
    plan = settings.stages[stage]
    if df is None or (messages is not None and not plan.inputs):
        assert messages is not None
        return _arriving(messages, plan.shards).repartitionById(plan.shards, SHARD).drop(SHARD)
    if len(settings.stages) > 1:
        df = _read_by(df, settings, stage)
    if messages is None and not _to_many(settings, stage):
        return df.repartitionById(plan.shards, _place(df, settings, stage))
    placed = _placed(df, settings, stage)
    if messages is not None:  # they come first: the tasks of the stage before run in this union, under its numbers
        placed = _arriving(messages, plan.shards).unionByName(placed, allowMissingColumns=True)
    return placed.repartitionById(plan.shards, SHARD).drop(SHARD)


def overlapping(settings: Settings) -> bool:
    """True where some row is read more than once: by several stages, or by several shards."""
    names = [name for stage in settings.stages for name in stage.inputs]
    return len(names) > len(set(names)) or any(_to_many(settings, i) for i in range(len(settings.stages)))


def _arriving(messages: DataFrame, shards: int) -> DataFrame:
    """Messages under the names they have among rows; what is for later stages goes along with some shard."""
    from pyspark.sql import functions as F

    named = [F.col(name).alias(message_column(name)) for name in MESSAGE if name != "shard"]
    return messages.select(
        *named, F.col("shard").alias(message_column("to")), (F.col("shard") % shards).alias(SHARD)
    )


def names_elsewhere(settings: Settings, stage: int) -> set[str]:
    """The names that other stages read, and this one does not."""
    names = {name.name for name in settings.stages[stage].inputs}
    return {name.name for name in first_readers(settings.stages)} - names


def _read_by(df: DataFrame, settings: Settings, stage: int) -> DataFrame:
    """The rows of names that the stage reads; the first stage also gets the rows that none reads."""

    column = settings.header.name
    names = {name.name for name in settings.stages[stage].inputs}
    if column is None:
        return df if settings.event in names else df.limit(0)
    others = names_elsewhere(settings, stage)
    name = column_of(column).cast("string")  # of any type: what is no name is rejected
    if stage == 0:
        return df.where(~name.isin(sorted(others)) | name.isNull()) if others else df
    return df.where(name.isin(sorted(names)))


# --------------------------------------------------------------------------- places


def routes_of(settings: Settings, stage: int) -> dict[str, list[Route]]:
    """The routes of each name, whatever its number of arguments."""
    found: dict[str, list[Route]] = {}
    for name, routes in settings.stages[stage].inputs.items():
        known = found.setdefault(name.name, [])
        known.extend(route for route in routes if route not in known)
    return found


def _to_many(settings: Settings, stage: int) -> bool:
    """True where some row goes to more than one shard."""
    plan = settings.stages[stage]
    return plan.shards > 1 and any(
        len(routes) > 1 or any(len(elsewhere(plan.grid, route.parts)) > 1 for route in routes)
        for routes in routes_of(settings, stage).values()
    )


def key_names(settings: Settings, name: str, route: Route) -> tuple[str, ...] | None:
    """The columns with the key of rows of a name; None where the input has none for it."""
    header = settings.header
    found = []
    for (position,) in route.positions:
        shape = next(s for arity, s in settings.shapes.by_name[name].items() if arity > position)
        columns = header.arguments(shape) or header.free
        if position >= len(columns):
            return None
        found.append(columns[position])
    return tuple(found)


def _keys(df: DataFrame, names: tuple[str, ...]) -> list[Column]:
    return [key_column(column_of(name), df.schema[name].dataType) for name in names]


def _place(df: DataFrame, settings: Settings, stage: int) -> Column:
    """The one shard of each row. Names whose key stands in the same columns share one expression."""
    from pyspark.sql import functions as F

    plan = settings.stages[stage]
    if plan.shards == 1:
        return F.lit(0)
    groups: dict[tuple[tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for name, routes in routes_of(settings, stage).items():
        if routes:
            columns = key_names(settings, name, routes[0]) or ()
            groups.setdefault((columns, routes[0].parts), []).append(name)
    places = {
        key: place_column(plan.grid, routes_of(settings, stage)[names[0]][0], _keys(df, key[0]))
        if key[0]
        else F.lit(0)
        for key, names in groups.items()
    }
    return _by_name(settings, [(groups[key], place) for key, place in places.items()], F.lit(0))


def _by_name(settings: Settings, cases: list[tuple[list[str], Column]], otherwise: Column) -> Column:
    from pyspark.sql import functions as F

    if len(cases) < 2:
        return cases[0][1] if cases else otherwise
    if settings.header.name is None:
        return next((place for names, place in cases if settings.event in names), otherwise)
    name = column_of(settings.header.name).cast("string")
    column: Column = F.when(name.isin(cases[0][0]), cases[0][1])
    for names, place in cases[1:]:
        column = column.when(name.isin(names), place)
    return column.otherwise(otherwise)


def _placed(df: DataFrame, settings: Settings, stage: int) -> DataFrame:
    """The rows with their shard, once for each shard they go to."""
    from pyspark.sql import functions as F

    if not _to_many(settings, stage):
        return df.withColumn(SHARD, _place(df, settings, stage))
    grid = settings.stages[stage].grid
    cases = []
    for name, routes in routes_of(settings, stage).items():
        columns = [key_names(settings, name, route) for route in routes]
        known = [(r, _keys(df, names)) for r, names in zip(routes, columns, strict=True) if names is not None]
        if known and len(known) == len(routes):
            cases.append(([name], shards_column(grid, known)))
    return df.withColumn(SHARD, F.explode(_by_name(settings, cases, F.array(F.lit(0)))))
