"""Every activity of the maritime hierarchy is seen in one of two samples; the second is judged by the definition."""

from __future__ import annotations

import csv

from example_folders import about, example

import thalweg
from thalweg.reference.description import Description
from thalweg.reference.events import Row, run
from thalweg.reference.terms import constant

MARITIME = example("maritime")
DISTRESS = MARITIME.folder / "sample" / "distress.csv"


def test_a_tanker_speeds_drifts_and_runs_aground() -> None:
    with DISTRESS.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter="|"))
    rows = [
        Row(name=name, args=tuple(map(constant, args)), time=int(time), arrival=int(arrival), number=number)
        for number, (name, arrival, time, *args) in enumerate(lines)
    ]
    trace = run(MARITIME.program(), rows, until=10_800, start=0)
    judged = [(*pair, *interval) for pair, found in trace.timeline().items() for interval in found]
    result = thalweg.run(MARITIME.program(), str(DISTRESS), window=14_400, step=3600, start=0, end=10_800)
    found = [tuple(row.values()) for row in result.arrow["timeline"].to_pylist()]
    assert sorted(found, key=str) == sorted(judged, key=str)
    assert {
        ("speedGreaterThanMax(v3)", "true", 401, 901),
        ("adrift(v3)", "true", 901, 2401),
        ("drifting(v3)", "true", 901, 2401),
        ("beforeAground(v3)", "near", 3601, 9001),
        ("aground(v3)", "near", 3601, 9001),
    } <= set(found)


def test_no_activity_of_the_hierarchy_is_missing_from_the_samples() -> None:
    result = thalweg.run(MARITIME.program(), str(DISTRESS), window=14_400, step=3600, start=0, end=10_800)
    seen = {fluent.partition("(")[0] for fluent, *_ in about(MARITIME.golden(), ())}
    seen |= {row["fluent"].partition("(")[0] for row in result.arrow["timeline"].to_pylist()}
    assert {name for name, _ in Description(MARITIME.program()).outputs} == seen
