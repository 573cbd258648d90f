"""Ctrl-C while Spark starts: one line, and no Java that stays."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import py4j.java_gateway
import pytest
from pyspark import SparkContext, java_gateway

from thalweg.spark.starting import no_java_left, quiet_py4j

WAITING = ["sleep", "60"]


@pytest.fixture
def children() -> Iterator[set[psutil.Process]]:
    """The processes that there are before a test; those that it leaves are ended."""
    before = set(psutil.Process().children())
    yield before
    for left in set(psutil.Process().children()) - before:
        left.kill()
        left.wait()


@pytest.mark.parametrize("answered", [False, True])
def test_a_start_that_is_broken_off_ends_java_and_another_one_may_follow(
    monkeypatch: pytest.MonkeyPatch, children: set[psutil.Process], answered: bool
) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_jvm", None)
    with pytest.raises(KeyboardInterrupt), no_java_left():
        java_gateway.Popen(WAITING)
        if answered:
            SparkContext._gateway = SparkContext._jvm = object()
        raise KeyboardInterrupt
    assert set(psutil.Process().children()) == children
    assert SparkContext._gateway is SparkContext._jvm is None
    assert java_gateway.Popen is subprocess.Popen


def test_a_java_that_runs_already_stays_when_a_session_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    running = object()
    monkeypatch.setattr(SparkContext, "_gateway", running)
    with pytest.raises(KeyboardInterrupt), no_java_left():
        raise KeyboardInterrupt
    assert SparkContext._gateway is running


def test_an_interruption_waits_until_java_is_known(
    monkeypatch: pytest.MonkeyPatch, children: set[psutil.Process]
) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_jvm", None)
    with pytest.raises(KeyboardInterrupt), no_java_left():
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        java_gateway.Popen(WAITING, preexec_fn=lambda: time.sleep(1))
    assert set(psutil.Process().children()) == children


def test_what_py4j_raises_it_does_not_print_too(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    root = logging.Logger("root")
    root.addHandler(handler := logging.Handler())
    monkeypatch.setattr(handler, "emit", lambda record: heard.append(record.getMessage()))
    monkeypatch.setattr(logging, "getLogger", lambda: root)
    quiet_py4j()
    for place, message in ((py4j.java_gateway.__file__, "Exception while sending command."), (__file__, "mine")):
        root.handle(root.makeRecord("root", logging.ERROR, place, 1, message, (), None))
    assert heard == ["mine"]


def javas(parent: int) -> list[psutil.Process]:
    """The processes in which a command starts Spark."""
    found = []
    for child in psutil.Process(parent).children():
        with suppress(psutil.NoSuchProcess):  # some are gone by now, or will be in a moment
            found += [child] if "deploy.SparkSubmit" in " ".join(child.cmdline()) else []
    return found


@pytest.mark.spark
def test_a_command_that_is_interrupted_while_spark_starts_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text("initiatedAt(f(X)=true, T) :- happensAt(e(X), T).\n")
    (tmp_path / "events.csv").write_text("e|3|3|a\n")
    line = "run rules.ec -i events.csv --window 20 --step 10 --engine spark --out result"
    with subprocess.Popen(
        [sys.executable, "-m", "thalweg", *line.split()], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as command:
        while not (java := javas(command.pid)):
            assert command.poll() is None
            time.sleep(0.05)
        command.send_signal(signal.SIGINT)
        said = command.communicate(timeout=60)[1].splitlines()
    assert command.returncode in (130, -signal.SIGINT)
    assert [text for text in said if not text.startswith("WARNING: Using incubator")] == [
        "interrupted; nothing was written"
    ]
    assert not psutil.wait_procs(java, timeout=20)[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events.csv", "rules.ec"]
