"""Formatting a file: canonical statements, with the file's comments and its grouping by blank lines."""

from __future__ import annotations

from pathlib import Path

from thalweg.language.clauses import Clauses, read_clauses
from thalweg.language.declarations import tick_seconds
from thalweg.language.diagnostics import ProgramError, has_errors
from thalweg.language.includes import Library, included
from thalweg.language.parser import assemble, first_answer, kind_of_clauses
from thalweg.language.printer import Printer
from thalweg.language.reader import Reader
from thalweg.language.rules import Kind
from thalweg.language.terms import Term

_ANY_TICK = 1e-9
"""A length of time-points of which every duration that is written is a whole number."""


def format_text(text: str, source: str = "<text>") -> str:
    """The canonical form of a program text; raises `ProgramError` where it has errors.

    Comments stay where they are: before a clause, after it on its line, or, from inside it, before it.
    """
    clauses = read_clauses(text, source)
    return _formatted(text, clauses.terms, [clauses])


def format_file(text: str, path: Path) -> str:
    """The canonical form of a file's text. Its includes stay, and tell the tick and the kind of the program."""
    library = Library()
    terms = library.read(path)
    source = str(path)
    of_others = [clauses for name, clauses in library.clauses.items() if name != source]
    return _formatted(text, terms, [read_clauses(text, source), *of_others])


def _formatted(text: str, terms: list[Term], texts: list[Clauses]) -> str:
    """The text of the first of the texts of a program, given the terms of all of them."""
    tick, kind = first_answer(tick_seconds, terms), kind_of_clauses(terms, texts)
    if tick is None and kind is not Kind.LARS:  # where windows show their lengths in units once there is a tick
        tick = _ANY_TICK
    source = texts[0].source
    clauses = read_clauses(text, source, tick)
    _, diagnostics = assemble(clauses.terms, [clauses], [], kind)
    diagnostics = [d for d in diagnostics if d.code != "TW030"]
    if has_errors(diagnostics):
        raise ProgramError(diagnostics, {source: text})
    return _Layout(text, clauses, tick, kind).formatted()


class _Layout:
    def __init__(self, text: str, clauses: Clauses, tick: float | None, kind: Kind) -> None:
        self.text = text
        self.clauses = clauses
        self.printer = Printer(tick)
        self.reader = Reader(kind)
        self.lines: list[str] = []

    def formatted(self) -> str:
        position = 0
        comments = self.clauses.comments
        shown = 0
        for term, (start, end) in zip(self.clauses.terms, self.clauses.places, strict=True):
            while shown < len(comments) and comments[shown][0] < start:
                position = self._comment(comments[shown], position)
                shown += 1
            self._blank(position, start)
            while shown < len(comments) and comments[shown][0] < end:
                self._comment(comments[shown], comments[shown][0])
                shown += 1
            statement = None if included(term) else self.reader.read(term)
            printed = self.printer.statement(statement) if statement else f"{self.printer.clause(term)}."
            self.lines.append(printed)
            position = end
            while shown < len(comments) and "\n" not in self.text[end : comments[shown][0]]:
                self.lines[-1] += f"  {self.text[slice(*comments[shown])].rstrip()}"
                position = comments[shown][1]
                shown += 1
        for comment in comments[shown:]:
            position = self._comment(comment, position)
        return "\n".join(self.lines) + "\n" if self.lines else ""

    def _comment(self, place: tuple[int, int], position: int) -> int:
        self._blank(position, place[0])
        self.lines.append(self.text[slice(*place)].rstrip())
        return place[1]

    def _blank(self, position: int, start: int) -> None:
        """Keep one blank line where there was at least one."""
        if self.lines and position < start and self.text[position:start].count("\n") > 1:
            self.lines.append("")
