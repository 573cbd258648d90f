"""Clauses of tokens to terms: the grammar at work, and what is said when a clause does not follow it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Transformer, UnexpectedToken
from lark.lexer import Lexer

from thalweg.language.diagnostics import Diagnostic, Refused, Severity
from thalweg.language.operators import (
    AT_ATOM,
    BETWEEN,
    DECLARING,
    MAX_DEPTH,
    WINDOW_AFTER,
    WINDOW_BEFORE,
    Item,
    Mark,
    arguments,
    connect,
    depth_exceeds,
    join,
    resolve,
    shown,
    split,
)
from thalweg.language.terms import Atom, Compound, Number, Sequence, Span, Term
from thalweg.language.tokens import FLAT_DEPTH, Operand, RawClause, Scanner, Token
from thalweg.language.windows import misplaced


class _Terms(Transformer[Any, Any]):
    """Builds terms while the parser reduces; every method gets the children of its rule."""

    def start(self, c: list[Any]) -> Term:
        return connect(c[0])

    def run_operand(self, c: list[Any]) -> list[Item]:
        return [c[0].term]

    def run_one(self, c: list[Any]) -> list[Item]:
        return c

    def run_prefixed_operand(self, c: list[Any]) -> list[Item]:
        return [*c[0], c[1].term]

    def run_prefixed(self, c: list[Any]) -> list[Item]:
        return [*c[0], c[1]]

    def run_more_operand(self, c: list[Any]) -> list[Item]:
        run: list[Item] = c[0]
        run.append(c[1])
        run.append(c[2].term)
        return run

    def run_more(self, c: list[Any]) -> list[Item]:
        run: list[Item] = c[0]
        run.append(c[1])
        run.append(c[2])
        return run

    def run_more_prefixed_operand(self, c: list[Any]) -> list[Item]:
        return self.run_more_prefixed([*c[:3], c[3].term])

    def run_more_prefixed(self, c: list[Any]) -> list[Item]:
        run: list[Item] = c[0]
        run.append(c[1])
        run.extend(c[2])
        run.append(c[3])
        return run

    def mark_one(self, c: list[Any]) -> list[Item]:
        return c

    def mark_more(self, c: list[Any]) -> list[Item]:
        marks: list[Item] = c[0]
        marks.append(c[1])
        return marks

    def alone(self, c: list[Any]) -> Any:
        return c[0]

    def compound(self, c: list[Any]) -> Term:
        return Compound(c[0].value, arguments(c[1]), join(c[0].span, c[2].span))

    def bracketed(self, c: list[Any]) -> Term:
        return connect(c[1])

    def braces(self, c: list[Any]) -> Term:
        return Compound("{}", arguments(c[1]), join(c[0].span, c[2].span))

    def list_items(self, c: list[Any]) -> Term:
        span = join(c[0].span, c[2].span)
        parts = split(c[1], "|")
        if len(parts) > 2:
            raise Refused("TW007", "two `|` in one list", span)
        rest = resolve(parts[1]) if len(parts) == 2 else None
        return Sequence(arguments(parts[0]), rest, span)

    def list_empty(self, c: list[Any]) -> Term:
        return Sequence((), None, join(c[0].span, c[1].span))

    def at_operand(self, c: list[Any]) -> Term:
        return _at(c[0], c[1], c[3].term)

    def at_compound(self, c: list[Any]) -> Term:
        return _at(c[0], c[1], self.compound(c[3:]))

    def window_atom(self, c: list[Any]) -> Term:
        return Compound(WINDOW_BEFORE, (c[0], c[1]), join(c[0].span, c[1].span))

    def window_operand(self, c: list[Any]) -> Term:
        return self.window_atom([c[0], c[1].term])

    def window_compound(self, c: list[Any]) -> Term:
        return self.window_atom([c[0], self.compound(c[1:])])

    def operand_window(self, c: list[Any]) -> Term:
        return Compound(WINDOW_AFTER, (c[0].term, c[1]), join(c[0].span, c[1].span))

    def compound_window(self, c: list[Any]) -> Term:
        return Compound(WINDOW_AFTER, (self.compound(c[:3]), c[3]), join(c[0].span, c[3].span))


def _at(opened: Mark, time: list[Item], atom: Term) -> Compound:
    return Compound(AT_ATOM, (resolve(time), atom), join(opened.span, atom.span))


class _Rest:
    """The tokens from some place on, without a copy."""

    def __init__(self, tokens: list[Token], start: int) -> None:
        self.tokens = tokens
        self.start = start

    def __iter__(self) -> Iterator[Token]:
        return (self.tokens[i] for i in range(self.start, len(self.tokens)))


class _Given(Lexer):
    """Hands the parser the tokens that the scanner made."""

    def __init__(self, _: object) -> None:
        pass

    def lex(self, data: Iterable[Token]) -> Iterator[Any]:  # type: ignore[override]
        return iter(data)


@cache
def _grammar() -> Lark:
    grammar = files("thalweg.language").joinpath("clause.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=_Given, transformer=_Terms())


# --------------------------------------------------------------------------- clauses


@dataclass(frozen=True, slots=True)
class Clauses:
    """The terms of a text's clauses, what is wrong with the others, and where each kind of program shows first.

    `places` are the offsets of the clauses of `terms`, `comments` those of the comments.
    """

    source: str
    text: str
    terms: list[Term]
    places: list[tuple[int, int]]
    comments: list[tuple[int, int]]
    diagnostics: list[Diagnostic]
    signals: dict[str, Span]


def read_clauses(text: str, source: str, tick: float | None = None) -> Clauses:
    """The term of every clause that could be read, and what is wrong with the others."""
    scanner = Scanner(text, source, tick)
    terms: list[Term] = []
    places: list[tuple[int, int]] = []
    for clause in scanner.clauses():
        if clause.broken or not clause.tokens:
            if not clause.broken and clause.full_stop is not None:
                scanner.diagnostics.append(
                    Diagnostic("TW020", Severity.ERROR, "a full stop without a clause", clause.full_stop)
                )
            continue
        try:
            terms.append(_parsed(clause, clause.tokens, scanner))
            places.append((clause.start, clause.end))
        except UnexpectedToken as unexpected:
            _recover(clause, unexpected, scanner, terms)
        except Refused as error:
            scanner.diagnostics.extend(error.diagnostics)
    return Clauses(source, text, terms, places, scanner.comments, scanner.diagnostics, scanner.signals)


def _parsed(clause: RawClause, tokens: Iterable[Token], scanner: Scanner) -> Term:
    """The term of the tokens of a clause or of a part of it, checked for depth and for windows. A clause that is one
    simple term, as most facts are, needs no grammar."""
    first = clause.tokens[0]
    term: Term
    if isinstance(first, Operand) and len(clause.tokens) == 1:
        term = first.term
    else:
        term = _grammar().parser.parse(tokens)
    if clause.operators + clause.deepest + FLAT_DEPTH > MAX_DEPTH and depth_exceeds(term, MAX_DEPTH):
        raise Refused("TW006", f"nested more than {MAX_DEPTH} deep", clause.tokens[0].span)
    if clause.window is not None or clause.worded:
        _check_windows(term)
    if clause.window is not None:
        scanner.signals.setdefault("lars", clause.window)
    return term


def _check_windows(term: Term) -> None:
    wrong = misplaced(term)
    if wrong is None:
        return
    word = shown(wrong.functor)
    if word in BETWEEN:
        help_ = f"a term of that name is written `{word}(X, Y)`"
        raise Refused("TW007", f"`{word}` cannot stand inside a term", wrong.span, help_)
    message = "two terms side by side; expected `,` or an operator between them"
    raise Refused("TW007", message, wrong.args[1].span, "windows stand before atoms, not inside them")


def _recover(clause: RawClause, unexpected: UnexpectedToken, scanner: Scanner, terms: list[Term]) -> None:
    """Say what was expected; where a full stop is missing, read the clauses on both sides."""
    tokens = clause.tokens
    start = 0
    while True:
        at = next((i for i in range(start, len(tokens)) if tokens[i] is unexpected.token), len(tokens))
        if not _begins_clause(tokens, start, at):
            scanner.diagnostics.append(_explain(tokens, at, clause.full_stop))
            return
        before = tokens[at - 1].span
        here = Span(before.source, before.end_line, before.end_column, before.end_line, before.end_column + 1)
        message = f"expected `.` or an operator before line {tokens[at].span.line}"
        help_ = "end the clause with a full stop"
        scanner.diagnostics.append(Diagnostic("TW003", Severity.ERROR, message, here, suggestion=help_))
        try:
            terms.append(_parsed(clause, tokens[start:at], scanner))
            start = at
            terms.append(_parsed(clause, _Rest(tokens, start), scanner))
            return
        except UnexpectedToken as again:
            unexpected = again
        except Refused as error:
            scanner.diagnostics.extend(error.diagnostics)
            return


def _begins_clause(tokens: list[Token], start: int, at: int) -> bool:
    """Does the unexpected token look like the start of another clause?"""
    if not start < at < len(tokens):
        return False
    span, before = tokens[at].span, tokens[at - 1]
    ends_operand = isinstance(before, Operand) or before.type == "CLOSE"
    starts_operand = isinstance(tokens[at], Operand) or tokens[at].type in ("FUNCTOR", "PREFIX")
    level = sum(_NESTING.get(tokens[i].type, 0) for i in range(start, at))
    return (
        ends_operand
        and starts_operand
        and level == 0
        and span.line > before.span.end_line
        and span.column <= tokens[start].span.column
    )


_NESTING = {"FUNCTOR": 1, "LPAR": 1, "LBRACK": 1, "LBRACE": 1, "AT": 1, "CLOSE": -1}


def _shown(token: Token) -> str:
    if isinstance(token, Mark):
        return f"`{shown(token.value)}{'(' if token.type in ('FUNCTOR', 'AT') else ''}`"
    term = token.term
    match term:
        case Compound(functor, _):
            return f"`{functor}(...)`"
        case Atom(name):
            return f"`{name}`"
        case _:
            return f"`{getattr(term, 'name', None) or getattr(term, 'value', '')}`"


def _explain(tokens: list[Token], at: int, full_stop: Span | None) -> Diagnostic:
    """What was expected where the grammar met something else."""
    before = tokens[at - 1] if at > 0 else None
    token = tokens[at] if at < len(tokens) else None
    ends_operand = before is not None and (isinstance(before, Operand) or before.type == "CLOSE")
    if before is not None and token is not None and ends_operand:
        message = f"expected `,`, an operator or `.` between {_shown(before)} and {_shown(token)}"
        return Diagnostic("TW007", Severity.ERROR, message, token.span, suggestion=_missing(tokens, at))
    place = f"after {_shown(before)}" if before is not None else "at the beginning of a clause"
    if token is None:
        here = full_stop or tokens[-1].span
        return Diagnostic(
            "TW007", Severity.ERROR, f"expected a term {place}, found the end of the clause", here
        )
    message = f"expected a term {place}, found {_shown(token)}"
    return Diagnostic("TW007", Severity.ERROR, message, token.span, suggestion=_superfluous(before, token))


_JOINTS = {"and": ",", "or": ";", "iff": "if", "when": "if"}
"""Words of other languages between conditions, and what is written here."""


def _missing(tokens: list[Token], at: int) -> str:
    before, token = tokens[at - 1], tokens[at]
    earlier = tokens[at - 2] if at > 1 else None
    if isinstance(earlier, Mark) and earlier.value == "]" and _is_atom(before):
        return "after a window comes `sometime`, `always` or `at(T)`: `[3] sometime atom`"
    if isinstance(earlier, Mark) and earlier.type == "LBRACK" and _is_number(before) and _is_atom(token):
        return "a window is of so many time-points, or has a unit (`s`, `min`, `h`, `d`), or `#` for atoms: `[3 min]`"
    if isinstance(before, Operand) and before.term in (Atom("sometime"), Atom("always")):
        return "say over which window: `[3m] sometime atom`"
    if _name(token) in _JOINTS:
        return f"write `{_JOINTS[_name(token)]}` instead of `{_name(token)}`"
    if _name(before) == "!":
        return "write `not` for `!`"
    if _is_number(before) and _is_atom(token) and token.span.line == before.span.line:
        return "a duration has one of the units `ms`, `s`, `m`, `h`, `d`, `w`: `5m`"
    near = get_close_matches(_name(before), DECLARING, 1, 0.75) if at == 1 else []
    if near:
        return f"did you mean `{near[0]}`?"
    if _is_atom(before) and token.span.line == before.span.line:
        return "put a comma between them, or write one quoted atom: `'two words'`"
    return "put a comma between them, or a full stop if a new clause begins"


def _name(token: Token) -> str:
    """The name of an atom; nothing for other tokens."""
    return token.term.name if isinstance(token, Operand) and isinstance(token.term, Atom) else ""


def _is_atom(token: Token) -> bool:
    return isinstance(token, Operand) and isinstance(token.term, Atom)


def _is_number(token: Token) -> bool:
    return isinstance(token, Operand) and isinstance(token.term, Number)


def _superfluous(before: Token | None, token: Token) -> str | None:
    if before is None and token.value == "//":
        return "a comment begins with `%`"
    if before is not None and before.value == "," and token.value in (",", ":-", ")", "]"):
        return "remove the comma before it, or write what is missing"
    if token.type == "CLOSE" and before is not None and before.type == "FUNCTOR":
        return f"a name without arguments is written without brackets: `{before.value}`"
    return None
