"""Numbers in quotes: names that no field of the data is equal to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thalweg.analysis.bodies import terms_of
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.instances import NUMERAL
from thalweg.language.program import Program
from thalweg.language.rules import Statement
from thalweg.language.terms import Atom, Compound, Sequence, Term

_SUSPECT = re.compile(r"'[-+]?\.?\d[^']*'", re.ASCII)


def check_quotes(program: Program) -> Iterator[Diagnostic]:
    """One warning for all of them, at the first. Most programs have none, which a look at the text tells."""
    if not any(_SUSPECT.search(text) for text in program.sources.values()):
        return
    found = [atom for statement in program.statements for atom in _numbers(statement)]
    if found:
        name = found[0].name
        notes = (f"and {len(found) - 1} more",) if len(found) > 1 else ()
        message = f"`'{name}'` is a name, and fields of the data that look like numbers are numbers"
        yield Diagnostic("TW209", Severity.WARNING, message, found[0].span, notes, f"write `{name}` without quotes")


def _numbers(statement: Statement) -> Iterator[Atom]:
    """The names of a statement that look like numbers."""
    for term in terms_of(statement):
        yield from _within(term)


def _within(term: Term) -> Iterator[Atom]:
    match term:
        case Atom(name) if NUMERAL.match(name):
            yield term
        case Compound(_, args):
            for argument in args:
                yield from _within(argument)
        case Sequence(items):
            for item in items:
                yield from _within(item)
