"""Changes go to a database through the sink's callback, a real PostgreSQL or the Derby that comes with Spark: exactly
once, also when a batch comes again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stories import rows_of, short_traffic

from thalweg import spark as ts
from thalweg.io.errors import InputError
from thalweg.spark import sinks

pytestmark = pytest.mark.spark

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
DRIVER = Path("/usr/share/java/postgresql.jar")
"""The JDBC driver of the Debian package libpostgresql-jdbc-java."""
PORT = 54329


def _as_postgres(command: list[str]) -> None:
    """PostgreSQL does not run as root."""
    given = ["runuser", "-u", "postgres", "--", *command] if os.getuid() == 0 else command
    subprocess.run(given, check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not SERVERS:
        pytest.skip("the Debian package postgresql is not installed")
    if not DRIVER.exists():
        pytest.skip("the Debian package libpostgresql-jdbc-java is not installed")
    place = Path("/var/tmp") / f"thalweg-postgresql-{os.getpid()}"
    place.mkdir()
    if os.getuid() == 0:
        shutil.chown(place, "postgres")
    server = str(SERVERS[-1])
    options = f"-p {PORT} -c listen_addresses=127.0.0.1 -c unix_socket_directories={place}"
    try:
        _as_postgres([server, "-D", str(place / "data"), "-o", "-A trust -U town", "initdb"])
        _as_postgres([server, "-D", str(place / "data"), "-o", options, "-l", str(place / "log"), "-w", "start"])
        yield f"jdbc:postgresql://127.0.0.1:{PORT}/postgres"
        _as_postgres([server, "-D", str(place / "data"), "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(place, ignore_errors=True)


def test_a_database_gets_every_change_once(spark: Any, database: str, tmp_path: Path) -> None:
    spark.sql(f"ADD JAR {DRIVER}")
    story = short_traffic()
    schema = spark.createDataFrame(story.rows.slice(0, 1)).schema
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    sdf = reader.parquet(str(story.write(tmp_path / "in", 2)))
    sink = sinks.jdbc(database, "changes", user="town", driver="org.postgresql.Driver")
    running = ts.stream(
        sdf,
        story.program,
        checkpoint=tmp_path / "c",
        trigger="available",
        row="nr",
        shards=2,
        sinks={"changes": sink},
        **story.options,
    )
    running.wait()
    first = running.pipeline.outputs.table("changes", 0)
    sink(first, 0)  # as after a crash between the commit and its note
    table = spark.read.format("jdbc").option("url", database).option("dbtable", "changes")
    found = table.option("user", "town").option("driver", "org.postgresql.Driver").load()
    expected = story.embedded()["changes"]
    assert rows_of(found.drop("batch").toArrow(), expected.column_names) == rows_of(expected, expected.column_names)
    assert found.select("batch").distinct().count() >= 2


def test_a_batch_that_comes_again_replaces_its_rows_where_names_are_written_in_capitals(
    spark: Any, tmp_path: Path
) -> None:
    spark.sparkContext._jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "log"))
    url = "jdbc:derby:memory:town;create=true"
    sink = sinks.jdbc(url, "counted")
    for size, batch in ((2, 0), (3, 1), (4, 0)):
        sink(spark.range(size), batch)
    found = spark.read.format("jdbc").option("url", url).option("dbtable", "counted").load()
    assert sorted((row.batch, row.id) for row in found.collect()) == [
        *((0, number) for number in range(4)),
        *((1, number) for number in range(3)),
    ]
    spark.range(1).write.format("jdbc").option("url", url).option("dbtable", "other").save()
    with pytest.raises(InputError, match="other of the database has no column `batch`"):
        sinks.jdbc(url, "other")(spark.range(1), 0)
