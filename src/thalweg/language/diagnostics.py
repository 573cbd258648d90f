"""Diagnostics: what is wrong with a program, where, and what to write instead.

A diagnostic is data; `render` is the only place that turns it into text. Every code has an entry in
`CODES`, from which its page under docs/errors is generated. Codes: TW0xx text and clauses, TW1xx and
TW2xx analysis, TW3xx open answers, TW4xx LARS, TW5xx input and runs. The rooms that own the higher ranges
add their entries with `register`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from thalweg.language.terms import NOWHERE, Span


class Severity(StrEnum):
    """How much a diagnostic matters; only an error keeps a program from running."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: `notes` add facts, `suggestion` says what to write instead."""

    code: str
    severity: Severity
    message: str
    span: Span = NOWHERE
    notes: tuple[str, ...] = ()
    suggestion: str | None = None

    def as_json(self) -> dict[str, object]:
        """A plain dictionary for tools."""
        span = self.span
        return {
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "source": span.source,
            "line": span.line,
            "column": span.column,
            "end_line": span.end_line,
            "end_column": span.end_column,
            "notes": list(self.notes),
            "suggestion": self.suggestion,
        }


class ProgramError(Exception):
    """A program that cannot be used; `diagnostics` says everything that is wrong with it."""

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, str] | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = dict(sources or {})
        super().__init__(render(self.diagnostics, self.sources))


class Refused(Exception):
    """Raised inside the front end by what cannot go on with a clause; carries what is wrong with it."""

    def __init__(self, code: str, message: str, span: Span, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = (
            Diagnostic(code, Severity.ERROR, message, span, suggestion=suggestion),
        )

    @classmethod
    def together(cls, several: Iterable[Refused]) -> Refused:
        """One exception with all that is wrong."""
        first, *others = several
        first.diagnostics += tuple(d for other in others for d in other.diagnostics)
        return first


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """True when at least one diagnostic is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


# --------------------------------------------------------------------------- rendering

_WIDTH = 160


def render(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str] | None = None) -> str:
    """Text with file:line:column, the offending line and a caret under it, one block per diagnostic.

    >>> d = Diagnostic("TW003", Severity.ERROR, "no full stop", Span("a.ec", 1, 5, 1, 6))
    >>> print(render([d], {"a.ec": "p(a)"}))
    a.ec:1:5: error[TW003]: no full stop
      1 | p(a)
        |     ^
    """
    lines_of = {name: text.split("\n") for name, text in (sources or {}).items()}
    return "\n".join(_block(d, lines_of) for d in diagnostics)


def _block(diagnostic: Diagnostic, lines_of: Mapping[str, Sequence[str]]) -> str:
    span = diagnostic.span
    place = f"{span.source or '<program>'}:{span.line}:{span.column}: " if span.line else ""
    rows = [f"{place}{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"]
    source_lines = lines_of.get(span.source)
    margin = " " * (len(str(span.line)) + 3)
    if source_lines and 1 <= span.line <= len(source_lines):
        rows += _excerpt(source_lines[span.line - 1], span)
    rows += [f"{margin}= note: {note}" for note in diagnostic.notes]
    if diagnostic.suggestion:
        rows.append(f"{margin}= help: {diagnostic.suggestion}")
    return "\n".join(rows)


def _excerpt(line: str, span: Span) -> list[str]:
    """The source line, cut to a readable width around the span, and the carets below it."""
    line = line.removesuffix("\r")
    first = span.column - 1
    last = span.end_column - 1 if span.end_line == span.line else len(line)
    cut = max(0, first - _WIDTH // 2) if len(line) > _WIDTH else 0
    shown = "".join(map(_visible, line[cut : cut + _WIDTH])).rstrip()
    carets = max(1, min(last - cut, max(len(shown), first - cut + 1)) - (first - cut))
    number = str(span.line)
    return [
        f"  {number} | {shown}",
        f"  {' ' * len(number)} | {' ' * (first - cut)}{'^' * carets}",
    ]


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character == "\t" else "\N{REPLACEMENT CHARACTER}"


# --------------------------------------------------------------------------- the registry of codes


@dataclass(frozen=True, slots=True)
class Code:
    """What a code means, in general: the text of its page in the documentation."""

    code: str
    title: str
    explanation: str


CODES: dict[str, Code] = {}


def register(*codes: Code) -> None:
    """Add entries to the registry; a code has one meaning."""
    for entry in codes:
        if CODES.get(entry.code, entry) != entry:
            raise ValueError(f"{entry.code} is registered twice with different meanings")
        CODES[entry.code] = entry


def page(code: Code) -> str:
    """The documentation page of a code, as Markdown."""
    return f"# {code.code}: {code.title}\n\n{code.explanation.strip()}\n"


register(
    Code(
        "TW001",
        "unexpected character",
        "The text contains a character that cannot stand there: a control character, a stray full stop,"
        " a back-quote, a sign that papers print (`⊞`, `T'`) or a text processor puts in (a ligature, a space that does"
        " not break). Write names with letters, digits and `_`, or put them in single quotes.",
    ),
    Code(
        "TW002",
        "the text is not UTF-8",
        "Program files are read as UTF-8. Convert the file; the place of the first byte that is not "
        "UTF-8 is given.",
    ),
    Code(
        "TW003",
        "missing full stop",
        "Every clause ends with a full stop followed by white space or the end of the file. Without it "
        "two clauses run into each other.",
    ),
    Code(
        "TW004",
        "quote or comment never closed",
        "A quoted atom ends on the line where it began; a `/*` comment needs its `*/`. To write a quote"
        " inside a quoted atom, double it: `'don''t'`.",
    ),
    Code(
        "TW005",
        "unbalanced brackets",
        "A bracket is opened and never closed in its clause, closed and never opened, or closed by "
        "another kind.",
    ),
    Code(
        "TW006",
        "nested too deeply",
        "Terms may be nested 100 deep, brackets and operators counted. Name an intermediate result with"
        " a rule of its own instead.",
    ),
    Code(
        "TW007",
        "syntax error",
        "Two things stand side by side where an operator or comma belongs between them, or an operator "
        "misses one of its sides. The message says what was expected.",
    ),
    Code(
        "TW008",
        "an operator of another language",
        "`<-`, `=>`, `<=`, `!=`, `&&` and the like are written `:-`, `>=`, `=<`, `\\=` and `,` here.",
    ),
    Code(
        "TW009",
        "a name in upper case before `(`",
        "Words that begin with a capital or `_` are variables, and a variable cannot have arguments. "
        "Begin the name with a small letter, or quote it: `'Velocity'(V, S)`.",
    ),
    Code(
        "TW010",
        "number out of range",
        "Integers must fit in 64 bits and floats must be finite.",
    ),
    Code(
        "TW011",
        "a duration needs a tick",
        "`10m` is a number of time-points only when the program says how long one lasts: `tick 1s.` The"
        " duration must be a whole number of ticks. Units: ms, s, m, h, d, w.",
    ),
    Code(
        "TW020",
        "not a clause",
        "A clause is a fact `head.` or a rule `head :- body.`; its head is a name with or without arguments "
        "(in LARS it may say when: `at(T) head`). Windows stand in bodies only.",
    ),
    Code(
        "TW021",
        "a fluent-value pair is expected",
        "`holdsAt`, `holdsFor`, `initiatedAt`, `terminatedAt`, `initially`, `fi`, `ft` and `p` speak "
        "about a pair `fluent=value`, for instance `gap(Vessel)=nearPorts`.",
    ),
    Code(
        "TW022",
        "wrong number of arguments",
        "A predicate of the language is used with a number of arguments that it does not have.",
    ),
    Code(
        "TW023",
        "wrong kind of argument",
        "An argument of a predicate of the language has the wrong form, for instance a list of "
        "intervals that is no list of variables, or an unknown Allen relation.",
    ),
    Code(
        "TW024",
        "procedural Prolog",
        "Rules here say what is true; they are not run from top to bottom. Assertion and retraction, "
        "printing, if-then-else and cuts that choose between clauses have no meaning. The message says "
        "what to write instead.",
    ),
    Code(
        "TW025",
        "a cut at the end of a rule",
        "Every rule whose body is true applies, and solutions are sets, so a cut at the end of a rule "
        "has nothing to cut: it is dropped. Where the rules below it should apply only if this one does"
        " not, give them the negated condition.",
    ),
    Code(
        "TW026",
        "a directive or declaration without effect",
        "`:- dynamic`, `:- discontiguous`, `cachingOrder`, `index` and the old-style declarations are "
        "accepted so that existing files run, and have no effect: evaluation order and storage follow "
        "from the rules.",
    ),
    Code(
        "TW027",
        "a directive that is refused",
        "Only includes (`:- ['file'].`) and the declarations of TW026 may stand after `:-`.",
    ),
    Code(
        "TW028",
        "a file that cannot be read",
        "An included or background file does not exist or cannot be read. Names are relative to the "
        "file that includes them; `.ec`, `.pl`, `.prolog` and the including file's own ending are "
        "tried.",
    ),
    Code(
        "TW029",
        "files that include each other",
        "The chain of includes comes back to a file that is being read.",
    ),
    Code(
        "TW030",
        "an include in a text without a file",
        "`parse` reads a text; it does not know where other files are. Use `load` with the file's path.",
    ),
    Code(
        "TW031",
        "a malformed declaration",
        "Declarations are written `event velocity(vessel: symbol, speed: float).`, `state "
        "status(motion) in {null, proposed}.`, `fluent proximity(a, b).`, `tick 1s.`, `query malf(X, "
        "T).` and `program events.` Types are symbol, int, float and number.",
    ),
    Code(
        "TW032",
        "two kinds of program in one",
        "A program is an event description, a Temporal Datalog program or a LARS program. Windows do "
        "not stand in event descriptions, `holdsAt` does not stand in LARS programs, and `query` "
        "belongs to Temporal Datalog.",
    ),
    Code(
        "TW033",
        "a malformed window",
        "Windows are `[3m]`, `[+5m]`, `[3m, +5m]`, `[10m hop 5m]`, `[20 #]`, `[20 #, +5 #]` and `[5 # "
        "by X]`, followed by `sometime`, `always` or `at(T)` and an atom; `N = count(X) over [5m] p(X)`"
        " aggregates over one.",
    ),
    Code(
        "TW034",
        "something that cannot stand here",
        "A literal that has no meaning in this place, for instance interval operations in Temporal Datalog.",
    ),
)
