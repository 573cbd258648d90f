"""A program prints to text that parses to an equal program."""

from __future__ import annotations

from pathlib import Path

import pytest
from generated_programs import programs, terms
from hypothesis import given

import thalweg
from thalweg.language.layout import format_text
from thalweg.language.parser import read, read_files
from thalweg.language.printer import Printer, to_text
from thalweg.language.program import Program
from thalweg.language.rules import Clause
from thalweg.language.terms import Compound, Term

ROOT = Path(__file__).parents[2]
FILES = sorted(
    [*ROOT.glob("tests/cases/**/*.ec"), *ROOT.glob("examples/**/*.ec"), *ROOT.glob("examples/**/*.lars")]
)


@given(programs)
def test_a_generated_program_prints_reads_back_and_keeps_its_format(program: Program) -> None:
    text = to_text(program)
    again = thalweg.parse(text)
    assert again == program
    assert to_text(again) == text
    formatted = format_text(text)
    assert thalweg.parse(formatted).statements == program.statements
    assert format_text(formatted) == formatted


@pytest.mark.parametrize("text", ["'{'(a)", "'['(f(a), b)", "'('(a)", "'}'(a)", "[']'(f(a))]"])
def test_a_functor_may_be_a_bracket_in_quotes(text: str) -> None:
    (fact,) = thalweg.parse(f"fact({text}).").statements
    assert str(thalweg.parse(f"fact({text}).")).strip() == f"fact({text})."
    assert isinstance(fact, Clause)


def test_a_name_with_a_ligature_is_printed_in_quotes() -> None:
    program = thalweg.parse("'o\ufb03ce'('\ufb00', 'in').")
    assert thalweg.parse(str(program)) == program


@given(terms)
def test_a_generated_term_reads_back(term: Term) -> None:
    (fact,) = thalweg.parse(f"fact({Printer().term(term)}).").statements
    assert isinstance(fact, Clause) and isinstance(fact.head, Compound)
    assert fact.head.args == (term,)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_program_file_prints_and_reads_back(path: Path) -> None:
    program, diagnostics = read_files(path)
    assert [d for d in diagnostics if d.severity == "error"] == []
    assert thalweg.parse(str(program)) == program


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_formatting_every_program_file_keeps_its_statements_and_comments(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    formatted = format_text(text, str(path))
    assert format_text(formatted, str(path)) == formatted
    assert read(formatted)[0].statements == read(text)[0].statements
    for line in text.splitlines():
        if line.startswith("%"):
            assert line.rstrip() in formatted.splitlines()


def test_there_are_files_to_print() -> None:
    assert len(FILES) > 50


def test_a_program_shows_itself() -> None:
    program = thalweg.parse("initiatedAt(f(X)=true,T):-happensAt(e(X),T),\\+holdsAt(g(X)=true,T).")
    assert str(program) == (
        "initiatedAt(f(X)=true, T) :-\n    happensAt(e(X), T),\n    not holdsAt(g(X)=true, T).\n"
    )
    assert program._repr_html_().startswith("<pre>initiatedAt(f(X)=true, T) :-")


def test_units_are_kept_when_the_program_has_a_tick() -> None:
    text = "tick 1s.\nfi(f=a, f=b, 10m).\n"
    assert str(thalweg.parse(text)) == text


def test_comments_stay_where_they_are() -> None:
    text = "% about p\np(a,b). % first\n\n\n\n/* q\n   too */\nq(c) :-\n  % why\n  p(c,_).\n:- ['more'].\n% end\n"
    assert format_text(text) == (
        "% about p\np(a, b).  % first\n\n/* q\n   too */\n% why\nq(c) :-\n    p(c, _).\n:- [more].\n% end\n"
    )
