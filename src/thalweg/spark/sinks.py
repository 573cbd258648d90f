"""Sinks: where the tables of a stream go besides Parquet. A sink gets (DataFrame, batch number); called again with the
same number, it replaces what it wrote for it before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from thalweg.io.errors import InputError
from thalweg.spark.outputs import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BATCH = "batch"


def files(path: str, format: str = "parquet", **options: str) -> Sink:
    """Files in any format of Spark (``orc``, ``csv``, ``json``, ``parquet``), one partition per batch."""

    def write(df: DataFrame, batch: int) -> None:
        # not `partitionBy`: of no rows Spark would write nothing, and leave there what is to be replaced
        df.write.format(format).mode("overwrite").options(**options).save(f"{path.rstrip('/')}/{BATCH}={batch}")

    return write


def jdbc(url: str, table: str, **properties: str) -> Sink:
    """A table of a database, with a column `batch`; it is made by the first batch. The rows of a batch are deleted and
    written again, so that a crash in between does no harm. The driver must be on Spark's class path."""

    def write(df: DataFrame, batch: int) -> None:
        from pyspark.sql import functions as F

        with _connection(df.sparkSession, url, properties) as connection:
            column = _batch_column(df.sparkSession, url, table, connection)
            if column is not None:
                _execute(connection, f"DELETE FROM {table} WHERE {column} = {int(batch)}")
        written = df.withColumn(BATCH, F.lit(batch)).write.format("jdbc").mode("append")
        written.option("url", url).option("dbtable", table).options(**properties).save()

    return write


def _batch_column(spark: Any, url: str, table: str, connection: Any) -> str | None:
    """The column with the batch as the database writes it; None where there is no such table. Where something else is
    the matter, Spark gets no answer either: it tries to make the table, and that says what it is."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    dialect = spark.sparkContext._jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(url)
    try:
        about = connection.prepareStatement(dialect.getSchemaQuery(table)).executeQuery().getMetaData()
    except Py4JJavaError:
        if not connection.getAutoCommit():
            connection.rollback()
        return None
    for name in (str(about.getColumnName(i + 1)) for i in range(about.getColumnCount())):
        if name.lower() == BATCH:
            return str(dialect.quoteIdentifier(name))
    raise InputError("sinks", f"the table {table} of the database has no column `{BATCH}`", "add it, of whole numbers")


def _execute(connection: Any, statement: str) -> None:
    connection.createStatement().executeUpdate(statement)
    if not connection.getAutoCommit():
        connection.commit()


@contextmanager
def _connection(spark: Any, url: str, properties: dict[str, str]) -> Iterator[Any]:
    """A connection to the database, through the driver that Spark has loaded."""
    jvm = spark.sparkContext._jvm
    if "driver" in properties:
        registry = jvm.org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry
        registry.register(properties["driver"])
        driver = registry.get(properties["driver"])
    else:
        driver = jvm.java.sql.DriverManager.getDriver(url)
    given = jvm.java.util.Properties()
    for name, value in properties.items():
        given.setProperty(name, value)
    connection = driver.connect(url, given)
    try:
        yield connection
    finally:
        connection.close()
