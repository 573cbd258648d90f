"""Sinks: where the tables of a stream go besides Parquet. A sink gets (DataFrame, batch number); called again with the
same number, it replaces what it wrote for it before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

        spark = df.sparkSession
        reader = spark.read.format("jdbc").option("url", url).options(**properties)
        if _exists(reader, table):
            _execute(spark, url, properties, f"DELETE FROM {table} WHERE {BATCH} = {int(batch)}")
        written = df.withColumn(BATCH, F.lit(batch)).write.format("jdbc").mode("append")
        written.option("url", url).option("dbtable", table).options(**properties).save()

    return write


def _exists(reader: Any, table: str) -> bool:
    try:
        reader.option("dbtable", table).load()
    except Exception as error:  # a driver's own exception says that there is no such table
        if "exist" in str(error):
            return False
        raise
    return True


def _execute(spark: Any, url: str, properties: dict[str, str], statement: str) -> None:
    """Run a statement in the database, through the driver that Spark has loaded."""
    gateway = spark.sparkContext._gateway
    java = gateway.jvm.java
    if "driver" in properties:
        registry = gateway.jvm.org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry
        registry.register(properties["driver"])
        driver = registry.get(properties["driver"])
    else:
        driver = java.sql.DriverManager.getDriver(url)
    given = java.util.Properties()
    for name, value in properties.items():
        given.setProperty(name, value)
    connection = driver.connect(url, given)
    try:
        prepared = connection.createStatement()
        prepared.executeUpdate(statement)
        if not connection.getAutoCommit():
            connection.commit()
    finally:
        connection.close()
