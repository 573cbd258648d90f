"""Makes a failing scenario small: drops rows and rules as long as it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from thalweg.language.diagnostics import ProgramError
from thalweg.testing.streams import Scenario


def shrunk(scenario: Scenario, fails: Callable[[Scenario], bool]) -> Scenario:
    """A scenario that still fails and from which no single row, rule or condition can be dropped.

    `fails` must be true for the scenario; a program that is refused does not count as failing.
    """
    while True:
        smaller = next((s for s in _smaller(scenario) if _fails(s, fails)), None)
        if smaller is None:
            return scenario
        scenario = smaller


def _fails(scenario: Scenario, fails: Callable[[Scenario], bool]) -> bool:
    try:
        return fails(scenario)
    except (ProgramError, ValueError, NotImplementedError):
        return False


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    rows, rules = scenario.rows, scenario.text.splitlines()
    for size in (len(rows) // 2, len(rows) // 4, 1):
        for at in range(0, len(rows), size or 1):
            yield replace(scenario, rows=rows[:at] + rows[at + (size or 1) :])
    for at in range(len(rules)):
        yield replace(scenario, text="\n".join(rules[:at] + rules[at + 1 :]))
    for at, rule in enumerate(rules):
        for shorter in _shorter(rule):
            yield replace(scenario, text="\n".join([*rules[:at], shorter, *rules[at + 1 :]]))


def _shorter(rule: str) -> Iterator[str]:
    """The rule without one of its conditions."""
    head, arrow, body = rule.partition(" :- ")
    conditions = _conditions(body.rstrip("."))
    for at in range(len(conditions) if len(conditions) > 1 else 0):
        yield f"{head}{arrow}{', '.join(conditions[:at] + conditions[at + 1 :])}."


def _conditions(body: str) -> list[str]:
    """The conditions of a body, split at its outermost commas."""
    parts, depth = [""], 0
    for character in body:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
