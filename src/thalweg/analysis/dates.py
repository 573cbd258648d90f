"""Dates in rules: they are computed, and times of rules are numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time

from thalweg.analysis.bodies import terms_of
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.program import Program
from thalweg.language.terms import Compound, Sequence, Span, Term

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def check_dates(program: Program) -> Iterator[Diagnostic]:
    """A warning for each date. Most programs have none, which a look at the text tells."""
    if not any(_DATE.search(text) for text in program.sources.values()):
        return
    for statement in program.statements:
        for term in terms_of(statement):
            for span, day in _within(term, program):
                yield _found(span, day, program)


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


def _within(term: Term, program: Program) -> Iterator[tuple[Span, date]]:
    """The dates of a term, with their places."""
    match term:
        case Compound("-", _) if (day := _written(term.span, program)) is not None:
            yield term.span, day
        case Compound(_, parts) | Sequence(parts):
            for part in parts:
                yield from _within(part, program)


def _written(span: Span, program: Program) -> date | None:
    """The date that stands at a place of the text."""
    lines = program.sources.get(span.source, "").split("\n")
    if span.line != span.end_line or not 0 < span.line <= len(lines):
        return None
    text = lines[span.line - 1][span.column - 1 : span.end_column - 1]
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None
