"""From raw AIS messages to what vessels do: critical points computed in Spark, then recognition."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from stories import rows_of

from thalweg import spark as ts
from thalweg.runs import run

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
MARITIME = ROOT / "examples" / "maritime"
REAL = Path(os.environ.get("THALWEG_AIS", ROOT.parent / "shared" / "data" / "ais_us_2022-01-03.csv.gz"))
"""Messages of the files of MarineCadastre, where there are any."""


@pytest.fixture(scope="module")
def ais() -> Any:
    sys.path.insert(0, str(MARITIME))
    import ais as module

    yield module
    sys.path.remove(str(MARITIME))


def test_a_fleet_is_recognised_from_its_messages(spark: Any, ais: Any) -> None:
    """Of ten vessels one lies in port, one falls silent, and two meet at sea."""
    messages = ais.messages(spark.createDataFrame(ais.fleet(20, 120), ais.SCHEMA)).cache()
    points = ais.critical_points(messages).cache()
    background = [MARITIME / "background.ec", ais.register(messages, ais.WATERS)]
    options = {"background": background, "window": "2h", "step": "15m"}
    embedded = run(MARITIME / "rules.ec", points.toArrow(), **options).arrow["timeline"]
    found = ts.recognise(points, MARITIME / "rules.ec", shards=2, **options)
    columns = embedded.column_names
    timeline = rows_of(found.timeline.toArrow(), columns)
    assert timeline == rows_of(embedded, columns)
    named = {(row[0], row[1]) for row in timeline}
    for ten in (0, 10):
        vessels = [f"m{367000000 + ten + i}" for i in range(4)]
        assert (f"stopped({vessels[0]})", "nearPorts") in named
        assert (f"gap({vessels[1]})", "farFromPorts") in named
        assert (f"rendezVous({vessels[2]},{vessels[3]})", "true") in named
    assert not [fluent for fluent, _ in named if "m367000009" in fluent and fluent.startswith(("gap", "rendezVous"))]
    assert found.rejected.count() == 0


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason=f"there is no {REAL.name}")
def test_real_messages_give_the_tables_of_an_embedded_run(spark: Any, ais: Any) -> None:
    messages = ais.messages(spark.read.option("header", True).csv(str(REAL))).cache()
    points = ais.critical_points(messages).cache()
    background = [MARITIME / "background.ec", ais.register(messages, ais.WATERS)]
    options = {"background": background, "window": "20m", "step": "5m"}
    embedded = run(MARITIME / "rules.ec", points.toArrow(), **options).arrow["timeline"]
    found = ts.recognise(points, MARITIME / "rules.ec", shards=2, **options)
    assert embedded.num_rows > 1000
    assert rows_of(found.timeline.toArrow(), embedded.column_names) == rows_of(embedded, embedded.column_names)
