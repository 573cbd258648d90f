"""Files: reading them as UTF-8, and following ``:- ['other_file'].``"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from pathlib import Path

from thalweg.language.clauses import Clauses, read_clauses
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.terms import NOWHERE, Atom, Compound, Sequence, Span, Term

_ENDINGS = ("", ".ec", ".lars", ".pl", ".prolog")


@dataclass(slots=True)
class Library:
    """The files of one program, read with one tick. `clauses` holds each file once, in the order of reading."""

    tick: float | None = None
    clauses: dict[str, Clauses] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def read(self, path: Path, asked_by: Span = NOWHERE, reading: tuple[Path, ...] = ()) -> list[Term]:
        """The clause terms of a file with its includes in their places."""
        resolved = path.resolve()
        if resolved in reading:
            chain = " -> ".join(p.name for p in (*reading[reading.index(resolved) :], resolved))
            self._report("TW029", f"files include each other: {chain}", asked_by)
            return []
        clauses = self._clauses(path, asked_by)
        if clauses is None:
            return []
        terms: list[Term] = []
        for term in clauses.terms:
            names = included(term)
            if not names:
                terms.append(term)
            for name in names:
                terms += self.read(_find(path, name), term.span, (*reading, resolved))
        return terms

    def _clauses(self, path: Path, asked_by: Span) -> Clauses | None:
        source = str(path)
        if source not in self.clauses:
            try:
                data = path.read_bytes()
            except OSError as error:
                reason = (error.strerror or "it cannot be read").lower()
                self._report("TW028", f"cannot read `{source}`: {reason}", asked_by, _elsewhere(path, asked_by))
                return None
            text, problems = decode(data, source)
            self.diagnostics += problems
            self.clauses[source] = read_clauses(text, source, self.tick)
        return self.clauses[source]

    def _report(self, code: str, message: str, span: Span, help_: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(code, Severity.ERROR, message, span, suggestion=help_))


def _elsewhere(path: Path, asked_by: Span) -> str | None:
    """What to do about an include that is not there."""
    if asked_by == NOWHERE:
        return None
    beside = _find(Path(asked_by.source), path.name)
    if beside.is_file():
        return f"names are relative to the file that includes: `{beside.name}` lies beside it"
    return "names are relative to the file that includes; or leave it out and give the file with `--background`"


def included(term: Term) -> list[str]:
    """The file names of an include directive; none for any other clause."""
    if not (isinstance(term, Compound) and term.functor == ":-" and len(term.args) == 1):
        return []
    goal = term.args[0]
    if (
        isinstance(goal, Compound)
        and goal.functor in ("include", "consult", "ensure_loaded")
        and len(goal.args) == 1
    ):
        goal = goal.args[0]
        if isinstance(goal, Atom):
            return [goal.name]
    if (
        isinstance(goal, Sequence)
        and goal.rest is None
        and all(isinstance(item, Atom) for item in goal.items)
    ):
        return [item.name for item in goal.items if isinstance(item, Atom)]
    return []


def _find(including: Path, name: str) -> Path:
    """The file an include names, relative to the file that includes it."""
    wanted = including.parent / name
    for ending in (*_ENDINGS, including.suffix):
        candidate = wanted.with_name(wanted.name + ending) if wanted.name else wanted
        if candidate.is_file():
            return candidate
    return wanted


def decode(data: bytes, source: str) -> tuple[str, list[Diagnostic]]:
    """The text of a file; bytes that are not UTF-8 are replaced and reported."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode(), []
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        span = Span(source, line, column, line, column + 1)
        message = f"byte 0x{data[error.start]:02X} is not UTF-8"
        found = Diagnostic("TW002", Severity.ERROR, message, span, suggestion="save the file as UTF-8")
        return data.decode(errors="replace"), [found]
