"""From raw AIS messages to what vessels do, on Spark.

    python ais.py --input ais.csv.gz --out result            messages from files
    python ais.py --vessels 200 --minutes 240 --out result   messages of a generated fleet

The columns that are read are MMSI, BaseDateTime, LAT, LON, SOG, COG, Heading and VesselType. Critical points are
computed per vessel in the order of event time: where a vessel falls silent, slows down, stops, turns, changes its
speed, enters and leaves areas; and from when to when two vessels are close. Then the rules of this folder run on them.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg import spark as ts

HERE = Path(__file__).resolve().parent
GAP, STOP, SLOW, TURN, SPEED_CHANGE = 600, 0.5, 5.0, 15.0, 0.25
"""Seconds of silence, knots, knots, degrees, share of the speed."""
NEAR, SLOT = 300.0, 60
"""Two vessels are close within so many metres, looked at once in so many seconds."""
METRES = 111_320.0
"""Of a degree of latitude."""
TYPES = {
    "fishing": (30,), "tug": (31, 32, 52), "pleasure": (36, 37), "pilot": (50,), "sar": (51,),
    "passenger": range(60, 70), "cargo": range(70, 80), "tanker": range(80, 90),
}  # fmt: skip


@dataclass(frozen=True)
class Area:
    """A circle of a type: its centre and its radius in metres."""

    name: str
    type: str
    lat: float
    lon: float
    radius: float


PORTS = {
    "losAngeles": (33.74, -118.24), "houston": (29.73, -95.02), "newYork": (40.67, -74.04), "miami": (25.77, -80.17),
    "newOrleans": (29.94, -90.06), "seattle": (47.60, -122.36), "norfolk": (36.93, -76.32), "savannah": (32.08, -81.08),
}  # fmt: skip
WATERS = tuple(
    Area(f"{kind}_{name}", kind, lat, lon, radius)
    for name, (lat, lon) in PORTS.items()
    for kind, radius in (("nearPorts", 8_000.0), ("nearCoast", 25_000.0))
)
GROUND = Area("fishing_bank", "fishing", 33.20, -118.90, 12_000.0)


# --------------------------------------------------------------------------- messages


def messages(df: Any) -> Any:
    """Messages as (vessel, time, lat, lon, speed, course, heading, type), one per vessel and second."""
    from pyspark.sql import functions as F

    seconds = F.unix_timestamp(F.to_timestamp("BaseDateTime"))
    named = df.select(
        F.concat(F.lit("m"), F.col("MMSI").cast("string")).alias("vessel"),
        seconds.alias("time"),
        *(F.col(n).cast("double").alias(a) for n, a in (("LAT", "lat"), ("LON", "lon"), ("SOG", "speed"))),
        F.col("COG").cast("double").alias("course"),
        F.col("Heading").cast("double").alias("heading"),
        F.col("VesselType").cast("int").alias("type"),
    )
    return named.dropna(subset=["vessel", "time", "lat", "lon", "speed"]).dropDuplicates(["vessel", "time"])


def register(ais: Any, areas: Sequence[Area]) -> str:
    """Facts about vessels and areas."""
    kinds = {code: kind for kind, codes in TYPES.items() for code in codes}
    found = {
        row["vessel"]: kinds.get(row["type"]) for row in ais.select("vessel", "type").distinct().collect()
    }
    lines = [f"vesselType({vessel}, {kind})." for vessel, kind in sorted(found.items()) if kind]
    return "\n".join([*lines, *(f"areaType({area.name}, {area.type})." for area in areas)]) + "\n"


# --------------------------------------------------------------------------- critical points


def critical_points(ais: Any, areas: Sequence[Area] = WATERS) -> Any:
    """All events and intervals that the rules read, with the columns of docs/input.md."""
    return ts.together(_of_vessels(ais), _of_areas(ais, areas), proximity(ais))


def _tracked(*by: str) -> Any:
    from pyspark.sql import Window

    return Window.partitionBy("vessel", *by).orderBy("time")


def _of_vessels(ais: Any) -> Any:
    """What follows from a vessel's messages, each with the one before it. After a silence everything begins anew."""
    from pyspark.sql import functions as F

    track = _tracked()
    seen = ais.withColumn("last", F.lag("time").over(track))
    seen = seen.withColumn("anew", F.col("last").isNull() | (F.col("time") - F.col("last") > GAP))
    for name in ("speed", "course"):
        seen = seen.withColumn(f"last_{name}", F.when(~F.col("anew"), F.lag(name).over(track)))
    share = F.abs(F.col("speed") - F.col("last_speed")) / F.greatest(F.col("last_speed"), F.lit(1.0))
    seen = seen.withColumn("changing", F.coalesce(share > SPEED_CHANGE, F.lit(False)))
    was_changing = F.when(~F.col("anew"), F.lag("changing").over(track))
    seen = seen.withColumn("was_changing", F.coalesce(was_changing, F.lit(False)))
    stop, was_stop = (F.coalesce(F.col(name) < STOP, F.lit(False)) for name in ("speed", "last_speed"))
    slow, was_slow = (
        F.coalesce((F.col(name) >= STOP) & (F.col(name) < SLOW), F.lit(False))
        for name in ("speed", "last_speed")
    )
    turned = 180 - F.abs(180 - F.abs(F.col("course") - F.col("last_course")))
    changing, was = F.col("changing"), F.col("was_changing")
    silent = F.col("anew") & F.col("last").isNotNull()
    points = [
        ("velocity", F.lit(True), "time"),
        ("gap_start", silent, "last"),
        ("gap_end", silent, "time"),
        ("stop_start", stop & ~was_stop, "time"),
        ("stop_end", was_stop & ~stop, "time"),
        ("slow_motion_start", slow & ~was_slow, "time"),
        ("slow_motion_end", was_slow & ~slow, "time"),
        ("change_in_speed_start", changing & ~was, "time"),
        ("change_in_speed_end", was & ~changing, "time"),
        ("change_in_heading", (turned > TURN) & (F.col("speed") >= 1.0), "time"),
    ]
    found = [
        F.when(when, F.struct(F.lit(name).alias("name"), F.col(at).alias("time")))
        for name, when, at in points
    ]
    each = seen.withColumn("point", F.explode(F.array_compact(F.array(*found))))
    return each.select("point.name", "point.time", "vessel", "speed", "course", "heading")


def _of_areas(ais: Any, areas: Sequence[Area]) -> Any:
    """Where a vessel enters and leaves areas. Only vessels that are ever near an area are looked at there."""
    from pyspark.sql import functions as F

    known = F.broadcast(
        ais.sparkSession.createDataFrame(
            [(a.name, a.lat, a.lon, a.radius) for a in areas],
            "area string, alat double, alon double, radius double",
        )
    )
    distance = _metres("lat", "lon", "alat", "alon")
    inside = ais.join(known, F.abs(F.col("lat") - F.col("alat")) * METRES < 2 * F.col("radius"))
    inside = inside.withColumn("inside", distance < F.col("radius"))
    track = _tracked("area")
    silent = F.col("time") - F.lag("time").over(track) > GAP
    was = F.when(~F.coalesce(silent, F.lit(True)), F.lag("inside").over(track))
    moved = inside.withColumn("was", F.coalesce(was, F.lit(False))).where("inside != was")
    name = F.when(F.col("inside"), "entersArea").otherwise("leavesArea")
    return moved.select(name.alias("name"), "time", "vessel", "area")


def proximity(ais: Any) -> Any:
    """When two vessels are close, as intervals: both have reported in a slot of time, near each other; slots in a row
    are one interval."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    side = 2 * NEAR / METRES
    slot = F.floor(F.col("time") / SLOT)
    at = ais.withColumn("slot", slot).groupBy("vessel", "slot")
    at = at.agg(F.avg("lat").alias("lat"), F.avg("lon").alias("lon"))
    placed = at.withColumn("x", F.floor(F.col("lon") / side)).withColumn("y", F.floor(F.col("lat") / side))
    around = [
        F.struct(F.lit(dx).alias("dx"), F.lit(dy).alias("dy")) for dx in (-1, 0, 1) for dy in (-1, 0, 1)
    ]
    others = placed.withColumnsRenamed({"vessel": "other", "lat": "olat", "lon": "olon"})
    others = others.withColumn("d", F.explode(F.array(*around)))
    others = others.withColumns({"x": F.col("x") + F.col("d.dx"), "y": F.col("y") + F.col("d.dy")})
    pairs = placed.join(others, ["slot", "x", "y"]).where("vessel < other")
    near = (
        pairs.where(_metres("lat", "lon", "olat", "olon") < NEAR).select("vessel", "other", "slot").distinct()
    )
    run = F.col("slot") - F.row_number().over(Window.partitionBy("vessel", "other").orderBy("slot"))
    spans = near.withColumn("run", run).groupBy("vessel", "other", "run")
    spans = spans.agg((F.min("slot") * SLOT).alias("start"), ((F.max("slot") + 1) * SLOT).alias("end"))
    spans = spans.withColumnsRenamed({"vessel": "one"}).withColumns(
        {"value": F.lit("true"), "arrival": F.col("end")}
    )
    return spans.select(F.lit("proximity").alias("name"), "start", "end", "arrival", "value", "one", "other")


def _metres(lat: str, lon: str, other_lat: str, other_lon: str) -> Any:
    """The distance of points that are not far apart."""
    from pyspark.sql import functions as F

    north = (F.col(lat) - F.col(other_lat)) * METRES
    east = (F.col(lon) - F.col(other_lon)) * METRES * F.cos(F.radians(lat))
    return F.sqrt(north * north + east * east)


# --------------------------------------------------------------------------- a fleet


def fleet(vessels: int, minutes: int, seed: int = 7) -> list[tuple[Any, ...]]:
    """Messages of vessels off Los Angeles, one a minute. Most sail by; of ten, one stops in port, one falls silent, and
    two meet at sea, side by side and slow, for half an hour."""
    rng = random.Random(seed)
    start = 0.0, 0.0
    rows: list[tuple[Any, ...]] = []
    for number in range(vessels):
        role = ("port", "silent", "meets", "met")[number % 10] if number % 10 < 4 else "sails"
        lat, lon = 33.0 + rng.random() * 0.5, -119.5 + rng.random()
        if role == "port":
            lat, lon = 33.74, -118.24
        if role == "met":
            lat, lon = start[0] + 0.001, start[1]
        start = lat, lon
        course, speed = (
            (90.0, 12.0) if role in ("meets", "met") else (rng.random() * 360, 8 + rng.random() * 8)
        )
        for minute in range(minutes):
            knots = speed
            if role in ("meets", "met") and minutes // 3 <= minute < minutes // 3 + 30:
                knots = 2.0
            if role == "port":
                knots = 0.1 if minute > 10 else 3.0
            lat += knots * math.cos(math.radians(course)) / 60 / 60
            lon += knots * math.sin(math.radians(course)) / 60 / 60 / math.cos(math.radians(lat))
            if role == "silent" and minutes // 2 <= minute < minutes // 2 + 20:
                continue
            stamp = f"2022-01-03T{minute // 60:02d}:{minute % 60:02d}:{number % 60:02d}"
            kind = (30, 70, 80, 60, 52)[number % 5]
            rows.append((367000000 + number, stamp, lat, lon, round(knots, 1), course, course, kind))
    return rows


SCHEMA = (
    "MMSI bigint, BaseDateTime string, LAT double, LON double, SOG double, COG double, Heading double,"
    " VesselType int"
)


def recognise(raw: Any, *, areas: Sequence[Area] = WATERS, out: Path | None = None, shards: int = 2) -> Any:
    """The tables for raw messages."""
    began = time.perf_counter()
    ais = messages(raw).cache()
    points = critical_points(ais, areas).cache()
    background = [HERE / "background.ec", register(ais, areas)]
    print(f"{ais.count():,} messages, {points.count():,} critical points: {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    tables = ts.recognise(
        points, HERE / "rules.ec", background=background, window="2h", step="15m", shards=shards, out=out
    )
    print(f"recognition: {time.perf_counter() - began:.1f} s")
    return tables


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--input", help="AIS messages as CSV, one file or many")
    given.add_argument("--vessels", type=int, default=100)
    given.add_argument("--minutes", type=int, default=180)
    given.add_argument("--out", type=Path)
    options = given.parse_args()
    spark = ts.session(shards=2)
    if options.input:
        raw = spark.read.option("header", True).csv(options.input)
    else:
        raw = spark.createDataFrame(fleet(options.vessels, options.minutes), SCHEMA)
    tables = recognise(raw, areas=(*WATERS, GROUND), out=options.out)
    from pyspark.sql import functions as F

    name = F.split("fluent", r"\(")[0].alias("fluent")
    tables.timeline.groupBy(name, "value").count().orderBy("fluent", "value").show(60, truncate=False)
    print(f"rejected: {tables.rejected.count()}")


if __name__ == "__main__":
    main()
