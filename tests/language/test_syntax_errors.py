"""What is said about clauses that cannot be read, and that the others are read all the same."""

from __future__ import annotations

import pytest

from thalweg.language.diagnostics import CODES, Diagnostic, ProgramError, Severity, page, register, render
from thalweg.language.parser import parse, read
from thalweg.language.rules import Clause
from thalweg.language.terms import Compound, Span


def names(text: str) -> list[str]:
    """The heads of the clauses that could be read."""
    heads = [s.head for s in read(text)[0].statements if isinstance(s, Clause)]
    return [h.functor if isinstance(h, Compound) else getattr(h, "name", "?") for h in heads]


@pytest.mark.parametrize(
    ("text", "code", "column", "help_"),
    [
        ("p(X) :- q(X) r(X).", "TW007", 14, "put a comma between them"),
        ("p(two words).", "TW007", 7, "one quoted atom"),
        ("a :- [3] maybe p.", "TW007", 16, "`sometime`, `always` or `at(T)`"),
        ("a :- [3 furlong] sometime p.", "TW007", 9, "`[3 min]`"),
        ("p(X :- q(X).", "TW005", 1, "close it with `)`"),
        ("p(X)) :- q(X).", "TW005", 5, "remove it"),
        ("p([X) :- q(X).", "TW005", 5, "write `]`"),
        ("P(x).", "TW009", 1, "write `p(` or `'P'(`"),
        ("a : b.", "TW020", 1, "write `:-` or `if` between head and body"),
        ("a : - b(X).", "TW020", 1, "write `:-` or `if` between head and body"),
        ("a :- b, !c(X).", "TW007", 10, "write `not` for `!`"),
        ("fi(a=b, a=c, 5x).", "TW007", 15, "one of the units"),
        ("fi(a=b, a=c, 5 mins ago).", "TW007", 16, "one of the units"),
        ("a <- b.", "TW008", 3, "write `:-` or `if`"),
        ("a :- X <= 3.", "TW008", 8, "write `=<`"),
        ("a :- X != 3.", "TW008", 8, "write `\\=`"),
        ("a :- X => 3.", "TW008", 8, "write `>=`"),
        ("a :- b & c.", "TW008", 8, "write `,`"),
        ("a :- b | c.", "TW007", 8, "write `;`"),
        ("a :- b, .", "TW007", 9, None),
        ("a :- b,, c.", "TW007", 8, "remove the comma"),
        ("foo().", "TW007", 5, "without brackets: `foo`"),
        ("a :- b :- c.", "TW003", 8, "full stop"),
        ("a :- X < Y < Z.", "TW007", 12, "brackets"),
        ("p('abc).", "TW004", 3, "close it with `'`"),
        ("a. /* b", "TW004", 4, "close it with `*/`"),
        ("a.b.", "TW001", 2, "a space or a new line"),
        ("p(\x00).", "TW001", 3, None),
        ("p(a)", "TW003", 5, "end the clause with `.`"),
        (".", "TW020", 1, None),
        ("a if sometime b.", "TW007", 15, "over which window"),
        ("p('\ue000').", "TW001", 3, None),
        ("p(T', T).", "TW001", 4, "write `T1` for `T'`"),
        ("p(T', T, T'').", "TW001", 4, "write `T1` for `T'`"),
        ("p(T0, T'') :- q(T0).", "TW001", 8, "write `T1` for `T'`"),
        ("on :- ⊞3 ◇ request.", "TW001", 7, "square brackets before its operator"),
        ("on :- [3] ◇ request.", "TW001", 11, "write `sometime`"),
        ("on :- [3] □ request.", "TW001", 11, "write `always`"),
        ("@T on :- request.", "TW001", 1, "write `at(T) atom`"),
        ("malf(X, T)?", "TW001", 11, "`query p(X, T).`"),
        ("a :- b ∨ c.", "TW001", 8, "write `;`"),
        ("a :- X − 1 > 2.", "TW001", 8, "write `-`"),
        ("p(‘a b’).", "TW001", 3, "write `'`"),
        ("p(a,\u00a0b).", "TW001", 5, "write an ordinary space"),
        ("\u200bp(a).", "TW001", 1, "cannot be seen"),
        ("ﬁ(a=1, a=2, 3).", "TW001", 1, "write `fi`"),
        ("p(ﬂuent).", "TW001", 3, "write `fluent`"),
        ("p(f(ﬂuent), X).", "TW001", 5, "write `fluent`"),
        ("conﬁrm(X).", "TW001", 1, "write `confirm(X)`"),
    ],
)
def test_a_mistake_is_located_and_explained(text: str, code: str, column: int, help_: str | None) -> None:
    _, diagnostics = read(text)
    found = diagnostics[0]
    assert (found.code, found.span.line, found.span.column) == (code, 1, column)
    assert found.severity is Severity.ERROR
    if help_ is None:
        assert found.suggestion is None
    else:
        assert help_ in (found.suggestion or "")


def test_reading_goes_on_after_every_error() -> None:
    text = "a.\nb( .\nc.\nd :- e f.\ng.\n'h.\ni.\nj(X.\nk.\n"
    assert names(text) == ["a", "c", "g", "i", "k"]
    assert [d.span.line for d in read(text)[1]] == [2, 4, 6, 8]


def test_the_clauses_on_both_sides_of_a_missing_full_stop_are_read() -> None:
    text = "a(x) :- b(x)\nc(x) :- d(x).\ne.\n"
    assert names(text) == ["a", "c", "e"]
    (found,) = read(text)[1]
    assert (found.code, found.span.line, found.span.column) == ("TW003", 1, 13)


def test_several_missing_full_stops_are_all_found() -> None:
    assert [(d.code, d.span.line) for d in read("a(x)\nb(x)\nc(x).")[1]] == [("TW003", 1), ("TW003", 2)]


def test_one_clause_may_have_several_foreign_operators() -> None:
    assert [d.span.column for d in read("a :- X <= 3, Y != 4, not Z <> 5.")[1]] == [8, 16, 28]


def test_bytes_that_are_not_utf8_are_reported_where_they_are() -> None:
    program, (found,) = read(b"a.\nb('\xff').\nc.\n", "x.ec")
    assert (found.code, found.span.line, found.span.column) == ("TW002", 2, 4)
    assert len(program.statements) == 3


def test_a_byte_order_mark_and_foreign_line_ends_do_not_matter() -> None:
    assert parse("\ufeffa.\r\nb.\r\n") == parse("a.\nb.\n")
    _, diagnostics = read("a.\r\nb c.\r\n", "x.ec")
    assert render(diagnostics, {"x.ec": "a.\r\nb c.\r\n"}).splitlines()[1:3] == ["  2 | b c.", "    |   ^"]


def test_an_error_shows_the_line_and_a_caret() -> None:
    with pytest.raises(ProgramError) as caught:
        parse("ok(a).\np(X) :- q(X) r(X, Y).\n", "rules.ec")
    assert str(caught.value) == (
        "rules.ec:2:14: error[TW007]: expected `,`, an operator or `.` between `q(...)` and `r(...)`\n"
        "  2 | p(X) :- q(X) r(X, Y).\n"
        "    |              ^^^^^^^\n"
        "    = help: put a comma between them, or a full stop if a new clause begins"
    )


def test_a_long_line_is_cut_around_the_place() -> None:
    text = "p(" + "a, " * 2000 + "b c" + ", a" * 2000 + ")."
    _, diagnostics = read(text, "x.ec")
    _, shown, carets = render(diagnostics, {"x.ec": text}).splitlines()[:3]
    assert len(shown) < 180
    assert shown[carets.index("^")] == "c"


def test_notes_and_places_unknown_render_too() -> None:
    found = Diagnostic("TW001", Severity.HINT, "something", notes=("a fact",), suggestion="do this")
    assert render([found]) == "hint[TW001]: something\n    = note: a fact\n    = help: do this"
    elsewhere = Diagnostic("TW001", Severity.ERROR, "x", Span("gone.ec", 3, 1, 3, 2))
    assert render([elsewhere], {}) == "gone.ec:3:1: error[TW001]: x"
    assert elsewhere.as_json()["line"] == 3


def test_a_code_has_one_meaning() -> None:
    register(CODES["TW001"])
    with pytest.raises(ValueError, match="registered twice"):
        register(type(CODES["TW001"])("TW001", "another", "meaning"))
    assert page(CODES["TW001"]).startswith("# TW001: unexpected character\n\n")
