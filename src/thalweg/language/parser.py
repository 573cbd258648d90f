"""Text to Program: the front door of the language.

`read` never raises: whatever is wrong comes back as diagnostics, beside the program of everything that could be
understood. `parse` and `load` raise `ProgramError` when there are errors.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from thalweg.language.clauses import Clauses, read_clauses
from thalweg.language.declarations import header, tick_seconds
from thalweg.language.diagnostics import Diagnostic, ProgramError, Refused, has_errors
from thalweg.language.includes import Library, decode
from thalweg.language.kinds import accepted, kind_of, mixed
from thalweg.language.pause import collection_paused
from thalweg.language.program import Program
from thalweg.language.reader import Reader
from thalweg.language.rules import Kind
from thalweg.language.terms import Span, Term

_Found = TypeVar("_Found")


@collection_paused()
def read(text: str | bytes, source: str = "<text>") -> tuple[Program, list[Diagnostic]]:
    """The program of a text, and everything that is wrong with it. Never raises."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    decoded, diagnostics = decode(data, source)
    clauses = read_clauses(decoded, source)
    tick = first_answer(tick_seconds, clauses.terms)
    if tick is not None:
        clauses = read_clauses(decoded, source, tick)
    return assemble(clauses.terms, [clauses], diagnostics)


@collection_paused()
def read_files(path: str | Path, *background: str | Path) -> tuple[Program, list[Diagnostic]]:
    """The program of a rule file, its includes and its background files, and everything that is wrong."""
    paths = [Path(path), *map(Path, background)]
    library = Library()
    terms = [term for p in paths for term in library.read(p)]
    tick = first_answer(tick_seconds, terms)
    if tick is not None:
        library = Library(tick)
        terms = [term for p in paths for term in library.read(p)]
    return assemble(terms, list(library.clauses.values()), library.diagnostics)


def parse(text: str, source: str = "<text>") -> Program:
    """The program of a text.

    >>> parse("dom(a). dom(b).").statements[1].head
    Compound(functor='dom', args=(Atom(name='b'),))
    """
    if not isinstance(text, str | bytes):
        raise TypeError(f"a program is a text, not {type(text).__name__}; `load` takes a path")
    return _checked(*read(text, source))


def load(path: str | Path, *background: str | Path) -> Program:
    """The program of a rule file, its includes and its background files: ``load("rules.ec", "facts.ec")``.

    Raises `ProgramError` where it cannot be read; `parse` takes the text itself.
    """
    return _checked(*read_files(path, *background))


def _checked(program: Program, diagnostics: list[Diagnostic]) -> Program:
    if has_errors(diagnostics):
        raise ProgramError(diagnostics, program.sources)
    return program


def first_answer(question: Callable[[Term], _Found | None], terms: list[Term]) -> _Found | None:
    """The first answer to the question; malformed declarations are reported when they are read."""
    for term in terms:
        try:
            answer = question(term)
        except Refused:
            continue
        if answer is not None:
            return answer
    return None


def assemble(
    terms: list[Term], texts: list[Clauses], diagnostics: list[Diagnostic], kind: Kind | None = None
) -> tuple[Program, list[Diagnostic]]:
    """The program of these clauses, and what is wrong; its kind follows from them where it is not given."""
    diagnostics = [*diagnostics, *(d for clauses in texts for d in clauses.diagnostics)]
    kind = kind_of_clauses(terms, texts) if kind is None else kind
    diagnostics = [d for d in diagnostics if not accepted(kind, d)]
    if not has_errors(diagnostics):
        diagnostics += mixed(kind, _signals(texts))
    reader = Reader(kind)
    statements = tuple([s for s in map(reader.read, terms) if s is not None])
    sources = MappingProxyType({clauses.source: clauses.text for clauses in texts})
    return Program(kind, statements, sources), _in_order([*diagnostics, *reader.diagnostics], texts)


def kind_of_clauses(terms: list[Term], texts: list[Clauses]) -> Kind:
    """The kind of the program of these clauses."""
    source = texts[0].source if texts else ""
    return kind_of(terms, _signals(texts), first_answer(header, terms), source)


def _signals(texts: list[Clauses]) -> dict[str, Span]:
    signals: dict[str, Span] = {}
    for clauses in texts:
        for kind, span in clauses.signals.items():
            signals.setdefault(kind, span)
    return signals


def _in_order(diagnostics: list[Diagnostic], texts: list[Clauses]) -> list[Diagnostic]:
    """By file, in the order of reading, and by place."""
    rank = {clauses.source: number for number, clauses in enumerate(texts)}
    return sorted(diagnostics, key=lambda d: (rank.get(d.span.source, -1), d.span.line, d.span.column))
