"""Temporal Datalog and LARS programs, and how the kind of a program is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import thalweg
from thalweg.language.diagnostics import ProgramError
from thalweg.language.operators import BETWEEN
from thalweg.language.parser import read
from thalweg.language.printer import to_text
from thalweg.language.rules import Aggregate, Call, Clause, Compare, Kind, Literal, Query, Window, Windowed
from thalweg.language.terms import Atom, Compound, Number, Variable, signature

T, X, Y = Variable("T"), Variable("X"), Variable("Y")
A = Atom("a")


def literal(text: str) -> Literal:
    program = thalweg.parse(f"program lars. tick 6s. h :- {text}.")
    rule = program.statements[-1]
    assert isinstance(rule, Clause)
    (found,) = rule.body
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[3m] sometime a", Windowed(A, "sometime", Window("time", 30))),
        ("[3m] always a", Windowed(A, "always", Window("time", 30))),
        ("[3m] at(T) a", Windowed(A, "at", Window("time", 30), T)),
        ("at(T) a", Windowed(A, "at", None, T)),
        ("at(T+1) p(X)", Windowed(Compound("p", (X,)), "at", None, Compound("+", (T, Number(1))))),
        ("[+5m] sometime a", Windowed(A, "sometime", Window("time", 0, 50))),
        ("[3m, +5m] sometime a", Windowed(A, "sometime", Window("time", 30, 50))),
        ("[10m hop 5m] always a", Windowed(A, "always", Window("time", 100, 0, 50))),
        ("[20 #] sometime a", Windowed(A, "sometime", Window("tuple", 20))),
        ("[20 #, +5 #] sometime a", Windowed(A, "sometime", Window("tuple", 20, 5))),
        (
            "[5 # by X, Y] sometime p(X, Y)",
            Windowed(Compound("p", (X, Y)), "sometime", Window("partition", 5, by=(X, Y))),
        ),
        ("not [3] sometime a", Windowed(A, "sometime", Window("time", 3), negated=True)),
        (
            "N = count(X) over [5m] p(X)",
            Aggregate("count", X, Compound("p", (X,)), Window("time", 50), Variable("N")),
        ),
        # the ASCII form of Ticker
        ("a [3 min]", Windowed(A, "sometime", Window("time", 30))),
        ("a [3 m]", Windowed(A, "sometime", Window("time", 30))),
        ("a [12 s]", Windowed(A, "sometime", Window("time", 2))),
        ("a in [3 min]", Windowed(A, "sometime", Window("time", 30))),
        ("a always [12 sec]", Windowed(A, "always", Window("time", 2))),
        ("a always in [12 sec]", Windowed(A, "always", Window("time", 2))),
        ("a at T [3]", Windowed(A, "at", Window("time", 3), T)),
        ("a at T in [3 #]", Windowed(A, "at", Window("tuple", 3), T)),
        ("a at T+1 [3]", Windowed(A, "at", Window("time", 3), Compound("+", (T, Number(1))))),
        ("a at T", Windowed(A, "at", None, T)),
        ("a [3 #]", Windowed(A, "sometime", Window("tuple", 3))),
        ("X != Y", Compare("\\=", X, Y)),
        ("X <= Y", Compare("=<", X, Y)),
        ("not a", Call(A, negated=True)),
    ],
)
def test_each_window_form_has_one_meaning(text: str, expected: Literal) -> None:
    assert literal(text) == expected


def test_heads_may_say_when() -> None:
    ours = thalweg.parse("at(T+3) e :- [3] at(T) b.")
    ticker = thalweg.parse("e at T+3 :- b at T [3].")
    assert ours == ticker
    (rule,) = ours.statements
    assert isinstance(rule, Clause) and rule.at == Compound("+", (T, Number(3))) and rule.head == Atom("e")


@pytest.mark.parametrize(
    "text",
    [
        "a if [] sometime b.",
        "a if [3, 4] always b.",
        "a if [3] b.",
        "a if [-3] sometime b.",
        "a if [3 #, +5] sometime b.",
        "a if [3 hop 0] sometime b.",
        "a if [3 # hop 2] sometime b.",
        "a if [3 # by x] sometime b(x).",
        "a if N = avg(X) over [5] p(X).",
        "a if N = count(X) over p(X), [3] sometime b.",
        "a if N > count(X) over [5] p(X).",
        "a if not N = count(X) over [5] p(X).",
        "a if [3] sometime X.",
    ],
)
def test_malformed_windows_are_refused(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        thalweg.parse(text)
    assert [d.code for d in caught.value.diagnostics] == ["TW033"]


def test_windows_do_not_stand_inside_terms() -> None:
    for text in ["p([3] a).", "a if b([3] sometime c), [1] sometime d.", "a if q(x at T) [3 #], r(b [3])."]:
        assert any(d.code in ("TW007", "TW033") for d in read(text)[1]), text


@pytest.mark.parametrize("word", BETWEEN)
def test_a_word_with_brackets_behind_it_is_a_name(word: str) -> None:
    p = Compound(word, (X,))
    assert literal(f"{word}(X)") == Call(p)
    assert literal(f"not '{word}'(X)") == Call(p, negated=True)
    assert literal(f"[3] sometime {word}(X)") == Windowed(p, "sometime", Window("time", 3))
    assert literal(f"[3] always {word}(X)") == Windowed(p, "always", Window("time", 3))
    assert literal(f"at(T) {word}(X)") == Windowed(p, "at", None, T)
    assert literal(f"[3] at(T) {word}(X)") == Windowed(p, "at", Window("time", 3), T)
    assert literal(f"{word}(X) [3]") == Windowed(p, "sometime", Window("time", 3))
    assert literal(f"{word}(X) in [3]") == Windowed(p, "sometime", Window("time", 3))
    assert literal(f"{word}(X) always [3]") == Windowed(p, "always", Window("time", 3))
    assert literal(f"{word}(X) at T [3]") == Windowed(p, "at", Window("time", 3), T)
    assert literal(f"N = count(X) over [3] {word}(X)") == Aggregate("count", X, p, Window("time", 3), Variable("N"))
    for head in (f"{word}(X)", f"at(T) {word}(X)", f"{word}(X, Y)", f"'{word}'"):
        program = thalweg.parse(f"program lars. {head} if q(X, Y, T).")
        assert thalweg.parse(to_text(program)) == program
        (rule,) = program.statements
        assert isinstance(rule, Clause) and isinstance(rule.head, Atom | Compound) and signature(rule.head)[0] == word


def test_words_are_names_of_other_programs_too() -> None:
    assert not read("query at(X, T). at(X, T) :- in(X, T), not over(X, T).")[1]
    program, diagnostics = read("event at(x). state in(x) in {a, b}. initiatedAt(in(X)=a, T) :- happensAt(at(X), T).")
    assert not diagnostics
    assert thalweg.parse(to_text(program)) == program


_NOWHERE = ["X in Y", "[3] in X", "p(X in Y)", "p(x at y)", "p([1 hop 2])", "3 over 4", "a # by b"]


@pytest.mark.parametrize("text", _NOWHERE)
@pytest.mark.parametrize("kind", Kind)
def test_words_between_terms_mean_nothing_outside_windows(text: str, kind: Kind) -> None:
    for clause in (f"h(X) :- q(X), {text}.", f"{text} :- q(X).", f"{text}."):
        found = [d for d in read(f"program {kind}. {clause}")[1] if d.severity == "error"]
        assert found and all("\ue000" not in d.message for d in found), clause


def test_temporal_datalog_has_a_query_and_time_arguments() -> None:
    program = thalweg.parse("query malf(X, T).\nmalf(X, T-2) :- shdn(X, T), not ok(X, T), X \\= b.")
    assert program.kind is Kind.ANSWERS
    query, rule = program.statements
    assert query == Query(Compound("malf", (X, T)))
    assert isinstance(rule, Clause)
    assert rule.head == Compound("malf", (X, Compound("-", (T, Number(2)))))
    assert rule.body[1] == Call(Compound("ok", (X, T)), negated=True)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("dom(a).", Kind.EVENTS),
        ("initiatedAt(f=v, T) :- happensAt(e, T).", Kind.EVENTS),
        ("s(X, T+1) :- s(X, T).", Kind.ANSWERS),
        ("query p(X, T).", Kind.ANSWERS),
        ("a if [3] sometime b.", Kind.LARS),
        ("at(T) a if b.", Kind.LARS),
        ("a [3] .", Kind.LARS),
        ("program lars. a if b.", Kind.LARS),
        ("program answers. p(a, 3).", Kind.ANSWERS),
        ("program events. role(A, B) :- person(A), B is A mod 10.", Kind.EVENTS),
        ("at(home, X) :- person(X).", Kind.EVENTS),
    ],
)
def test_the_kind_is_told_from_what_the_program_uses(text: str, kind: Kind) -> None:
    assert read(text)[0].kind is kind


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("initiatedAt(f=v, T) :- happensAt(e, T), [3] sometime b.", 45),
        ("query p(X, T). initiatedAt(f=v, T) :- happensAt(e, T).", 1),
        ("program lars. a if holdsAt(f=v, T).", 20),
    ],
)
def test_two_kinds_in_one_program_are_an_error(text: str, column: int) -> None:
    _, diagnostics = read(text)
    assert ("TW032", column) in [(d.code, d.span.column) for d in diagnostics]


def test_the_bus_and_tram_program_is_read_whole() -> None:
    program = thalweg.parse(
        """
        tick 6s.
        at(T+3m) expBusM if [3m] at(T) busG, on.
        at(T+5m) expTrM if [5m] at(T) tramB, on.
        on if [1m] sometime request.
        takeBusM if [+5m] sometime expBusM, not takeTrM, not [3m] sometime jam.
        takeTrM if [+5m] sometime expTrM, not takeBusM.
        """
    )
    assert program.kind is Kind.LARS
    assert len(program.statements) == 6
    assert "at(T+3m) expBusM :-\n    [3m] at(T) busG,\n    on." in str(program)


@pytest.mark.parametrize(("suffix", "kind"), [("lars", Kind.LARS), ("tdl", Kind.ANSWERS), ("ec", Kind.EVENTS)])
def test_where_nothing_shows_the_kind_the_name_of_the_file_does(tmp_path: Path, suffix: str, kind: Kind) -> None:
    path = tmp_path / f"loop.{suffix}"
    path.write_text("a(X, When) :- b(X, When).\n")
    program = thalweg.load(path)
    assert program.kind is kind
    assert thalweg.parse(to_text(program)).kind is kind
