"""The example programs check without complaint, and their samples give the golden results."""

from __future__ import annotations

import pytest
from example_folders import NAMES, about, by_reference, example, judged_slowly, parts

from thalweg.analysis import check
from thalweg.language.diagnostics import Severity
from thalweg.language.parser import load


@pytest.mark.parametrize("name", NAMES)
def test_an_example_program_checks_without_errors_or_warnings(name: str) -> None:
    found = check(example(name).program())
    assert [d for d in found if d.severity in (Severity.ERROR, Severity.WARNING)] == []


def test_the_single_vessel_program_checks_without_errors_or_warnings() -> None:
    folder = example("maritime").folder
    found = check(load(folder / "entity.ec", folder / "background.ec", folder / "sample" / "register.ec"))
    assert [d for d in found if d.severity in (Severity.ERROR, Severity.WARNING)] == []


@pytest.mark.parametrize(
    ("name", "part"),
    [pytest.param(*case, marks=[pytest.mark.slow] if judged_slowly(case[0]) else []) for case in parts()],
)
def test_the_reference_confirms_the_golden_result(name: str, part: tuple[str, ...]) -> None:
    chosen = example(name)
    assert by_reference(chosen, part) == about(chosen.golden(), part)


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_an_example_share_nothing_and_leave_nothing_out(name: str) -> None:
    chosen = example(name)
    shares = [about(chosen.golden(), part) for part in chosen.parts or ((),)]
    assert sum(map(len, shares)) == len(chosen.golden())


def test_an_unseconded_motion_lapses_and_its_mover_may_not_propose() -> None:
    golden = example("voting").golden()
    lapses = [(start, end) for fluent, _, start, end in golden if fluent == "lapsed(a1)"]
    forbidden = [start for fluent, _, start, _ in golden if fluent == "sanctioned(a1,forbidden_proposal)"]
    assert lapses[0] == (436, 556)
    assert forbidden == [494]


def test_a_second_broken_contract_suspends_the_trader() -> None:
    standing = [
        (value, start) for fluent, value, start, _ in example("netbill").golden() if "standing(c0)" in fluent
    ]
    assert sorted(standing, key=lambda pair: pair[1]) == [
        ("good", 0),
        ("warned", 132),
        ("suspended", 159),
        ("warned", 219),
    ]


def test_a_fishing_trip_goes_through_its_stages_in_order() -> None:
    trip = [
        (start, value) for fluent, value, start, _ in example("maritime").golden() if fluent == "trip(v6)"
    ]
    assert [value for _, value in sorted(trip)] == ["ended", "approaching", "trawling", "returning", "ended"]


def test_pairs_of_vessels_are_recognised_by_what_they_are() -> None:
    together = {
        fluent for fluent, *_ in example("maritime").golden() if "," in fluent and "within" not in fluent
    }
    assert together == {"tugging(v0,v1)", "pilotBoarding(v2,v3)", "rendezVous(v2,v3)", "rendezVous(v4,v5)"}


def test_an_object_left_alone_for_ten_seconds_is_abandoned() -> None:
    bag = [
        (value, start, end)
        for fluent, value, start, end in example("activity").golden()
        if "attendance" in fluent
    ]
    assert sorted(bag, key=lambda row: row[1]) == [
        ("watched", 16640, 19000),
        ("alone", 19000, 29000),
        ("abandoned", 29000, 31960),
    ]
