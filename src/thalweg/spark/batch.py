"""Recognition over a static DataFrame: everything at once, the tables of an embedded run."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.io.errors import InputError
from thalweg.io.times import Duration, Point
from thalweg.language.program import Program
from thalweg.plans import Options, as_program
from thalweg.spark.engine import SparkEngine
from thalweg.spark.files import Directory
from thalweg.spark.given import given_columns, refuse_foreign, told_apart
from thalweg.spark.landing import Landing
from thalweg.spark.outputs import Outputs
from thalweg.spark.pipeline import Pipeline
from thalweg.spark.sessions import carry_package
from thalweg.spark.settings import settings_of
from thalweg.spark.tables import Tables, refuse_hidden, tables_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def recognise(
    df: DataFrame,
    program: Program | str | Path,
    *,
    window: Duration | None = None,
    step: Duration | None = None,
    start: Point | None = None,
    end: Point | None = None,
    tick: Duration | None = None,
    background: Sequence[str | Path] | str | Path = (),
    lateness: Duration | None = None,
    horizon: Duration | None = None,
    models: int | str | None = None,
    query: str | None = None,
    recompute: bool = False,
    allow_gaps: bool = False,
    on_error: str = "reject",
    event: str | None = None,
    row: str | None = None,
    max_ahead: Duration | None = None,
    shards: int | None = None,
    out: str | Path | None = None,
) -> Tables:
    """Run a program over a DataFrame and return its tables as DataFrames, the same as `thalweg.run` gives.

    The columns of `df` are those of any table with named columns (docs/input.md): ``name, time, arrival, start, end,
    value, op``, and arguments; `from_columns` makes them from others. `event` is the name of all rows where there is no
    column `name`. `row` names a column with row numbers, by which causes and rejected rows are told; without it they
    are numbered by Spark. `shards` is the number of reasoners that work side by side, one per core without it. `out` is
    where the tables are written, a directory that all workers see; without it, a temporary one.
    """
    refuse_foreign(df)
    if df.isStreaming:
        raise InputError("input", "this DataFrame is a streaming one", "use stream")
    spark = df.sparkSession
    carry_package(spark)
    options = Options(
        window, step, start, end, tick, lateness, horizon, models, query, recompute, allow_gaps, on_error
    )
    settings = settings_of(
        as_program(program, background),
        options,
        given_columns(df, row),
        shards=spark.sparkContext.defaultParallelism if shards is None else shards,
        event=event,
        max_ahead=max_ahead,
    )
    told_apart(df, settings, row)
    refuse_hidden(spark, settings)
    outputs = Outputs(Directory(str(out) if out is not None else _temporary()), settings.kind, spark)
    outputs.replace()
    pipeline = Pipeline(settings, outputs, SparkEngine(spark, row, landing=Landing.beside(outputs.directory)))
    pipeline.whole(df)
    return tables_of(spark, outputs.directory, pipeline.settings, stream=False)


def _temporary() -> str:
    """A directory that is gone when the process ends."""
    path = tempfile.mkdtemp(prefix="thalweg-tables-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path
