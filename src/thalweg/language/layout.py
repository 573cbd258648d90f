"""Formatting a file: canonical statements, with the file's comments and its grouping by blank lines."""

from __future__ import annotations

from thalweg.language.clauses import Clauses, read_clauses
from thalweg.language.declarations import tick_seconds
from thalweg.language.diagnostics import ProgramError, has_errors
from thalweg.language.includes import included
from thalweg.language.parser import first_answer, kind_of_clauses, read
from thalweg.language.printer import Printer
from thalweg.language.reader import Reader


def format_text(text: str, source: str = "<text>") -> str:
    """The canonical form of a program text; raises `ProgramError` where it has errors.

    Comments stay where they are: before a clause, after it on its line, or, from inside it, before it.
    """
    _, diagnostics = read(text, source)
    if has_errors(d for d in diagnostics if d.code != "TW030"):
        raise ProgramError(diagnostics, {source: text})
    tick = first_answer(tick_seconds, read_clauses(text, source).terms)
    clauses = read_clauses(text, source, tick)
    return _Layout(text, clauses, tick).formatted()


class _Layout:
    def __init__(self, text: str, clauses: Clauses, tick: float | None) -> None:
        self.text = text
        self.clauses = clauses
        self.printer = Printer(tick)
        self.reader = Reader(kind_of_clauses(clauses.terms, [clauses]))
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
