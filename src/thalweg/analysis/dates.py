"""Dates in rules: they are computed, and times of rules are numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time

from thalweg.analysis.bodies import terms_of
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.program import Program
from thalweg.language.terms import Compound, Sequence, Span, Term

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LENGTH = len("2026-03-02")


Places = dict[tuple[str, int, int], date]
"""Dates by the source, the line and the column at which they begin."""


def check_dates(program: Program) -> Iterator[Diagnostic]:
    """A warning for each date. Most programs have none, which a look at the text tells."""
    places = _places(program)
    if not places:
        return
    for statement in program.statements:
        for term in terms_of(statement):
            for span, day in _within(term, places):
                yield _found(span, day, program)


def _places(program: Program) -> Places:
    """What looks like a date in the text, comments included."""
    found: Places = {}
    for source, text in program.sources.items():
        for number, line in enumerate(text.split("\n"), start=1) if _DATE.search(text) else ():
            for match in _DATE.finditer(line):
                with suppress(ValueError):
                    found[source, number, match.start() + 1] = date.fromisoformat(match[0])
    return found


def _found(span: Span, day: date, program: Program) -> Diagnostic:
    tick = program.tick_seconds
    moment = int(datetime.combine(day, time(), UTC).timestamp() // (tick or 1))
    computed = day.year - day.month - day.day
    known = "" if tick else ", with a tick of one second"
    return Diagnostic(
        "TW213",
        Severity.WARNING,
        f"`{day}` is computed, and is {computed}",
        span,
        (),
        f"times are numbers in rules: for the beginning of that day (UTC) write `{moment}`{known}",
    )


def _within(term: Term, places: Places) -> Iterator[tuple[Span, date]]:
    """The dates of a term, with their places."""
    match term:
        case Compound("-", _, span) if (day := _written(span, places)) is not None:
            yield span, day
        case Compound(_, parts) | Sequence(parts):
            for part in parts:
                yield from _within(part, places)


def _written(span: Span, places: Places) -> date | None:
    """The date that stands at a place of the text, and nothing else."""
    whole = span.line == span.end_line and span.end_column - span.column == _LENGTH
    return places.get((span.source, span.line, span.column)) if whole else None
