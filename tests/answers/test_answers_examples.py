"""The examples of open answers: golden results, and the same answers by a few lines of plain Python."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import thalweg

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RUNS = {"turbines": ("turbines.tdl", "sample/temps.csv"), "hospital": ("hospital.tdl", "sample/days.csv")}
COLUMNS = ("table", "known", "answer", "evidence", "needed", "decided_by")


def result_of(name: str) -> list[tuple[str, ...]]:
    """Everything that became certain, and what was open at the end, as in golden.csv."""
    folder = EXAMPLES / name
    rules, events = RUNS[name]
    result = thalweg.run(folder / rules, str(folder / events), background=[folder / "background.tdl"])
    rows = []
    for table, known in (("answers", "time_known"), ("open", "as_of")):
        for row in result.arrow[table].to_pylist():
            listed = ["; ".join(row.get(column) or []) for column in ("evidence", "needed")]
            deadline = row.get("decided_by")
            rows.append(
                (table, str(row[known]), row["answer"], *listed, "" if deadline is None else str(deadline))
            )
    return sorted(rows)


def stream(name: str) -> list[list[str]]:
    with open(EXAMPLES / name / RUNS[name][1], encoding="utf-8", newline="") as source:
        return list(csv.reader(source, delimiter="|"))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_an_example_gives_its_golden_result(name: str) -> None:
    with open(EXAMPLES / name / "golden.csv", encoding="utf-8", newline="") as source:
        header, *golden = csv.reader(source)
    assert tuple(header) == COLUMNS
    assert result_of(name) == sorted(map(tuple, golden))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_generator_makes_the_sample_again(name: str, tmp_path: Path) -> None:
    folder = EXAMPLES / name
    made = tmp_path / "sample.csv"
    subprocess.run([sys.executable, str(folder / "generate.py"), "--out", str(made)], check=True)
    assert made.read_bytes() == (folder / RUNS[name][1]).read_bytes()


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_readme_shows_the_command(name: str) -> None:
    rules, events = RUNS[name]
    command = f"thalweg run {rules} --background background.tdl --input {events}"
    assert command in (EXAMPLES / name / "README.md").read_text(encoding="utf-8")


def certain(name: str, predicate: str) -> set[str]:
    return {row[2] for row in result_of(name) if row[0] == "answers" and row[2].startswith(predicate + "(")}


def test_turbines_by_plain_python() -> None:
    limits = {"wt25": 80, "wt42": 80, "wt51": 80, "wt60": 75, "wt61": 75}
    hot, silent, serviced = set(), set(), set()
    for name, _, at, turbine, *degrees in stream("turbines"):
        if name == "temp" and float(degrees[0]) >= limits[turbine]:
            hot.add((turbine, int(at)))
        elif name != "temp":
            (silent if name == "noReading" else serviced).add((turbine, int(at)))
    three = {(x, t) for x, t in hot if (x, t + 1) in hot and (x, t + 2) in hot}
    assert certain("turbines", "malf") == {f"malf({x}, {t})" for x, t in three | (silent - serviced)}
    assert certain("turbines", "shdn") == {f"shdn({x}, {t + 2})" for x, t in three}


def test_hospital_by_plain_python() -> None:
    seen: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for name, _, day, patient in stream("hospital"):
        seen[name].add((patient, int(day)))
    good = seen["gcm"] & seen["gbol"]
    last = max(day for found in seen.values() for _, day in found)
    expected = set()
    for patient in ("john", "gus", "mary", "ann", "omar"):
        watched = {0: (patient, 1) in seen["bca"]}
        for day in range(last + 1):
            unwell = (patient, day) not in good
            watched[day + 1] = (patient, day + 2) in seen["bca"] or (unwell and not watched[day])
            if unwell and watched[day] and day >= 1:
                expected.add(f"risk({patient}, {day - 1})")
    assert certain("hospital", "risk") == expected


if __name__ == "__main__":
    for each in RUNS:
        with open(EXAMPLES / each / "golden.csv", "w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows([COLUMNS, *result_of(each)])
