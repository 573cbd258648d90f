"""Runs random scenarios through a reasoner and the reference, and shows the first difference, made small.

python -m thalweg.testing.fuzz --cases 10000 --seed 0
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from thalweg.analysis.checker import check
from thalweg.language.diagnostics import Severity
from thalweg.reference.snapshot import SameTimeCycle
from thalweg.reference.windowed import Answer, replay
from thalweg.testing.comparison import assert_same_rows, assert_same_timeline
from thalweg.testing.engines import MakeReasoner, Result, replay_with
from thalweg.testing.programs import Features
from thalweg.testing.shrink import shrunk
from thalweg.testing.streams import Scenario, random_scenario, splits
from thalweg.testing.wide import wide_scenario

NAMES = ("reference", "reasoner")
CIRCLES = {"TW130", "TW132"}
"""Errors of programs in which something depends on itself without a step in time, or on whole intervals that depend on
it: nothing is defined for them."""


def assert_same_answers(reference: Sequence[Answer], reasoner: Sequence[Result]) -> None:
    """Fails where timelines, derived events, pending countdowns or rejected rows differ, at any query time."""
    for expected, found in zip(reference, reasoner, strict=True):
        at = f"at {expected.query_time}"
        assert_same_timeline(expected.timeline, found.timeline, names=NAMES, context=at)
        assert_same_rows(expected.events, found.events, names=NAMES, context=f"(derived events) {at}")
        pending = {(c.fluent, c.value, c.due, c.since, c.cancelled_by) for c in expected.open}
        assert_same_rows(pending, found.open, names=NAMES, context=f"(pending countdowns) {at}")
        rejected = {(r.row, r.reason) for r in expected.rejected}
        assert_same_rows(rejected, found.rejected, names=NAMES, context=f"(rejected rows) {at}")


def difference(scenario: Scenario, make: MakeReasoner, batches: int = 0) -> str:
    """How reasoner and reference differ on a scenario; empty when they agree. `batches` seeds the split."""
    expected = replay(scenario.program, scenario.rows, **scenario.settings)
    try:
        split = splits(Random(batches), scenario.rows)
        found = replay_with(make, scenario.program, scenario.rows, batches=split, **scenario.settings)
        assert_same_answers(expected, found)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return ""


def fuzz(
    make: MakeReasoner,
    *,
    cases: int,
    seed: int,
    draw: Callable[[Random], Scenario] = random_scenario,
) -> Scenario | None:
    """The first of `cases` scenarios on which the two differ, made small; None when there is none."""
    began = time.perf_counter()
    for number in range(seed, seed + cases):
        scenario = draw(Random(number))
        if any(diagnostic.code in CIRCLES for diagnostic in check(scenario.program)):
            continue
        try:
            found = difference(scenario, make, number)
        except SameTimeCycle:
            continue  # who is known at a time-point depends on what happens there
        if found:
            kind = _kind_of(found)
            small = shrunk(scenario, lambda s, kind=kind: _kind(s, make) == kind)  # type: ignore[misc]
            print(f"seed {number}: {difference(small, make) or found}\n\n{small}")
            return small
        if (number - seed + 1) % 500 == 0:
            print(f"{number - seed + 1} scenarios agree, {time.perf_counter() - began:.0f} s")
    return None


def _kind(scenario: Scenario, make: MakeReasoner) -> str:
    """The kind of difference; empty for none and for programs that are refused."""
    if any(diagnostic.severity is Severity.ERROR for diagnostic in check(scenario.program)):
        return ""
    try:
        return _kind_of(difference(scenario, make))
    except (ValueError, NotImplementedError):
        return ""


def _kind_of(difference: str) -> str:
    """What is raised, and the code of a diagnostic."""
    code = re.search(r"TW\d+", difference)
    return difference.partition(":")[0] + (code[0] if code else "")


def main() -> int:
    from thalweg.events.reasoner import Reasoner

    parser = argparse.ArgumentParser(description="Compare the event reasoner with the reference.")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", nargs="*", default=[], help="features to leave out")
    parser.add_argument("--wide", action="store_true", help="programs that say things in more ways")
    options = parser.parse_args()
    features = Features.all().without(*options.without)
    draw = wide_scenario if options.wide else partial(random_scenario, features=features)
    found = fuzz(Reasoner, cases=options.cases, seed=options.seed, draw=draw)
    if found is None:
        print(f"{options.cases} scenarios agree")
    return 0 if found is None else 1


if __name__ == "__main__":
    sys.exit(main())
