"""Loading files: includes, background knowledge, ticks, and what goes wrong with files."""

from __future__ import annotations

from pathlib import Path

import pytest

import thalweg
from thalweg.language.diagnostics import ProgramError
from thalweg.language.parser import read_files
from thalweg.language.rules import Clause, Delayed, Kind
from thalweg.language.terms import Number


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.ec").write_text(text, encoding="utf-8")


def facts(program: thalweg.Program) -> list[str]:
    return [str(s.head) for s in program.statements if isinstance(s, Clause)]


def test_included_files_stand_in_their_places(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    write(tmp_path, rules="a.\n:- ['more/middle'].\nd.\n")
    write(tmp_path / "more", middle="b.\n:- [end].\n", end="c.\n")
    program = thalweg.load(tmp_path / "rules.ec")
    assert facts(program) == ["Atom(name='a')", "Atom(name='b')", "Atom(name='c')", "Atom(name='d')"]
    assert {Path(source).name for source in program.sources} == {"rules.ec", "middle.ec", "end.ec"}


def test_background_files_belong_to_the_program(tmp_path: Path) -> None:
    write(
        tmp_path,
        rules="initiatedAt(f=v, T) :- happensAt(e, T), dom(T1).",
        facts="dom(1).",
        more="s(X, T) :- t(X, T).",
    )
    program = thalweg.load(tmp_path / "rules.ec", tmp_path / "facts.ec", tmp_path / "more.ec")
    assert program.kind is Kind.EVENTS
    assert len(program.statements) == 3


def test_one_tick_serves_all_files(tmp_path: Path) -> None:
    write(tmp_path, rules=":- include(setup).\nfi(f=a, f=b, 1m).\n", setup="tick 10s.\n")
    delayed = thalweg.load(tmp_path / "rules.ec").statements[1]
    assert isinstance(delayed, Delayed) and delayed.delay == Number(6)


def test_files_that_include_each_other_are_an_error(tmp_path: Path) -> None:
    write(tmp_path, one=":- [two].\n", two=":- [one].\na.\n")
    program, (found,) = read_files(tmp_path / "one.ec")
    assert found.code == "TW029"
    assert "one.ec -> two.ec -> one.ec" in found.message
    assert Path(found.span.source).name == "two.ec"
    assert len(program.statements) == 1


def test_a_file_may_be_included_twice_from_different_places(tmp_path: Path) -> None:
    write(tmp_path, rules=":- [x, y].\n", x=":- [z].\n", y=":- [z].\n", z="a.\n")
    assert len(thalweg.load(tmp_path / "rules.ec").statements) == 2


def test_a_missing_include_is_reported_where_it_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, rules="a.\n:- ['gone'].\nb.\n")
    program, (found,) = read_files(tmp_path / "rules.ec")
    assert (found.code, found.span.line) == ("TW028", 2)
    assert len(program.statements) == 2


def test_a_missing_include_that_lies_beside_the_file_is_pointed_out(tmp_path: Path) -> None:
    write(tmp_path, rules=":- ['data/facts'].\n:- ['data/gone'].\n", facts="a.\n")
    _, (moved, gone) = read_files(tmp_path / "rules.ec")
    assert "`facts.ec` lies beside it" in (moved.suggestion or "")
    assert "--background" in (gone.suggestion or "")


def test_a_missing_file_is_a_program_error(tmp_path: Path) -> None:
    with pytest.raises(ProgramError) as caught:
        thalweg.load(tmp_path / "gone.ec")
    assert [d.code for d in caught.value.diagnostics] == ["TW028"]


def test_errors_come_in_the_order_of_files_and_lines(tmp_path: Path) -> None:
    write(tmp_path, rules="a b.\n:- [more].\nc d.\n", more="e f.\ng h.\n")
    _, diagnostics = read_files(tmp_path / "rules.ec")
    assert [(Path(d.span.source).name, d.span.line) for d in diagnostics] == [
        ("rules.ec", 1),
        ("rules.ec", 3),
        ("more.ec", 1),
        ("more.ec", 2),
    ]
