"""Processes of their own: spark-submit with the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
JOB = """
import sys
import thalweg
from pyspark.sql import SparkSession
from thalweg import spark as ts

spark = SparkSession.builder.getOrCreate()

def where(batches):
    import pyarrow as pa
    import thalweg
    for _ in batches:
        yield pa.record_batch([pa.array([thalweg.__file__])], names=["file"])

df = spark.createDataFrame([("press", 3, "a"), ("press", 12, "b")], "name string, time bigint, x string")
rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
tables = ts.recognise(df, rules, window=10, step=10, shards=2, out=sys.argv[1])
files = [r[0] for r in spark.range(1).mapInArrow(where, "file string").collect()]
assert ".whl" in thalweg.__file__ and "thalweg.zip" in files[0], files
print("found", sorted(tuple(r) for r in tables.timeline.collect()))
"""


def run(command: list[str], timeout: int = 280, **environment: str) -> str:
    known = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=known)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def test_spark_submit_runs_with_the_wheel(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    run([*pip, str(ROOT)])
    (wheel,) = tmp_path.glob("thalweg-*.whl")
    (tmp_path / "job.py").write_text(JOB)
    submit = str(Path(sys.executable).parent / "spark-submit")
    command = [submit, "--master", "local[2]", "--py-files", str(wheel), str(tmp_path / "job.py")]
    own = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": "", "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    told = run([*command, str(tmp_path / "out")], **own)
    assert "found [('on(a)', 'true', 4, None), ('on(b)', 'true', 13, None)]" in told
