"""Generated streams: seeded, of the size asked for, sorted, steady, and the same in every form."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from thalweg.analysis import check
from thalweg.language.diagnostics import Severity
from thalweg.language.parser import parse
from workloads import catalogue, maritime, voting
from workloads.catalogue import Workload
from workloads.columns import Coded, Stream, by_arrival, delayed, first, size, to_rows
from workloads.files import write_all

WORKLOADS: dict[str, Callable[[int], Workload]] = {
    "maritime": lambda n: catalogue.maritime(events=n, vessels=50),
    "vessels": lambda n: catalogue.vessels(events=n, vessels=50),
    "voting": lambda n: catalogue.voting(events=n, agents=40, motions=30),
    "voting_acyclic": lambda n: catalogue.voting_acyclic(events=n, agents=40, motions=30),
    "netbill": lambda n: catalogue.netbill(events=n, agents=40),
    "fleet": lambda n: catalogue.fleet(events=n, vehicles=20),
    "activity": lambda n: catalogue.activity(events=n),
    "transport": lambda n: catalogue.transport(events=n, vehicles=20),
    "expressions": lambda n: catalogue.expressions(events=n, vessels=20),
}
every_workload = pytest.mark.parametrize("name", WORKLOADS)


def texts(stream: Stream) -> dict[str, list[tuple[Any, ...]]]:
    """Each table as rows of plain values."""
    return {
        name: list(
            zip(
                rows.time.tolist(),
                rows.arrival.tolist(),
                *(
                    [column.names[code] for code in column.codes]
                    if isinstance(column, Coded)
                    else column.tolist()
                    for column in rows.args.values()
                ),
                strict=True,
            )
        )
        for name, rows in stream.items()
    }


@every_workload
def test_a_workload_has_as_many_rows_as_asked_for_sorted_by_time(name: str) -> None:
    workload = WORKLOADS[name](3000)
    assert workload.events == 3000
    assert all((np.diff(rows.time) >= 0).all() for rows in workload.stream.values())


@every_workload
def test_the_same_arguments_give_the_same_stream(name: str) -> None:
    assert texts(WORKLOADS[name](2000).stream) == texts(WORKLOADS[name](2000).stream)


@every_workload
def test_the_program_of_a_workload_checks_without_errors(name: str) -> None:
    program = parse(WORKLOADS[name](500).source(), name)
    assert [d for d in check(program) if d.severity is Severity.ERROR] == []


@every_workload
def test_every_input_of_the_program_occurs_in_the_stream(name: str) -> None:
    workload = WORKLOADS[name](20_000)
    declared = {
        line.split("(")[0].split()[1] for line in workload.source().splitlines() if line.startswith("event ")
    }
    assert declared <= {event for event, rows in workload.stream.items() if len(rows)}


@pytest.mark.parametrize("name", ["maritime", "voting", "netbill", "fleet", "transport"])
def test_the_rate_is_even_up_to_the_end(name: str) -> None:
    stream = WORKLOADS[name](40_000).stream
    times = np.sort(np.concatenate([rows.time for rows in stream.values()]))
    later = times[len(times) // 2 :]
    counts, _ = np.histogram(later, bins=4)
    assert counts.min() > 0.5 * counts.max()


def test_the_acyclic_variant_of_voting_runs_on_the_same_stream_without_cycles_or_delays() -> None:
    cyclic, acyclic = WORKLOADS["voting"](2000), WORKLOADS["voting_acyclic"](2000)
    assert texts(cyclic.stream) == texts(acyclic.stream)
    assert "fi(" not in acyclic.source() and "ft(" not in acyclic.source()


def test_compliant_houses_break_no_rule() -> None:
    stream = voting.generate(voting.House(20, 10), events=3000, non_compliance=0.0)
    acts = sorted((row[0], row[3], row[2], name) for name, rows in texts(stream).items() for row in rows)
    for motion in {act[1] for act in acts}:
        mover, opened = "", 0
        voters: list[str] = []
        for time, _, agent, name in (act for act in acts if act[1] == motion):
            match name:
                case "propose":
                    mover, voters = agent, []
                case "second":
                    assert agent != mover
                    opened = time
                case "vote":
                    voters.append(agent)
                case "close_ballot":
                    assert time > opened + voting.OPEN
                    assert len(voters) == len(set(voters)) == 9


def test_a_share_of_the_rows_arrives_late_and_none_arrives_early() -> None:
    stream = maritime.generate(maritime.Waters(50), events=20_000, late=0.2)
    delays = np.concatenate(
        [rows.arrival - rows.time for name, rows in stream.items() if name != "proximity"]
    )
    assert (delays >= 0).all()
    assert 0.17 < np.count_nonzero(delays) / len(delays) < 0.23
    assert 3.5 * 3600 < delays[delays > 0].mean() < 4.5 * 3600


def test_batches_by_arrival_contain_every_row_once_and_only_what_has_arrived() -> None:
    stream = delayed(WORKLOADS["fleet"](2000).stream, 0.3, seed=5)
    total, before = 0, -1
    for query, batch in by_arrival(stream, 3600):
        for rows in batch:
            assert rows.arrival.max() <= query and rows.arrival.min() > before
            total += len(rows)
        before = query
    assert total == size(stream)


def test_cutting_a_stream_keeps_its_earliest_rows() -> None:
    stream = WORKLOADS["netbill"](1000).stream
    kept = first(stream, 300)
    assert size(kept) == 300
    last = max(int(rows.time.max()) for rows in kept.values() if len(rows))
    assert all((rows.time[len(kept[name]) :] >= last).all() for name, rows in stream.items())


def test_rows_are_numbered_without_gaps() -> None:
    numbers = np.concatenate([rows.row for rows in to_rows(WORKLOADS["transport"](500).stream)])
    assert numbers.tolist() == list(range(500))


def test_files_of_every_form_say_the_same(tmp_path: Path) -> None:
    stream = catalogue.maritime(events=1500, vessels=10).stream
    write_all(stream, tmp_path, ["rtec", "csv", "parquet"])
    with (tmp_path / "events.csv").open(newline="") as file:
        rtec = [row for row in csv.reader(file, delimiter="|") if row[0] == "velocity"]
    with (tmp_path / "csv" / "velocity.csv").open(newline="") as file:
        headed = list(csv.DictReader(file))
    parquet = pq.read_table(tmp_path / "parquet" / "velocity.parquet").to_pylist()
    expected = sorted(
        (row["time"], str(row["vessel"]), row["speed"], row["course"], row["heading"]) for row in parquet
    )
    assert sorted((int(r[2]), r[3], *map(float, r[4:])) for r in rtec) == expected
    fields = ("speed", "course", "heading")
    assert sorted((int(r["time"]), r["vessel"], *(float(r[f]) for f in fields)) for r in headed) == expected
    assert [int(r[1]) for r in rtec] == sorted(int(r[1]) for r in rtec)
