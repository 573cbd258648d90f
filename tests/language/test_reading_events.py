"""Event descriptions: every form that users of RTEC write, read as what it says."""

from __future__ import annotations

import pytest

import thalweg
from thalweg.language.diagnostics import ProgramError, Severity
from thalweg.language.parser import read
from thalweg.language.rules import (
    Absent,
    Affects,
    Allen,
    Argument,
    Boundary,
    Call,
    Clause,
    Combine,
    Compare,
    Declare,
    Delayed,
    Duration,
    DynamicDomain,
    Edge,
    Effect,
    EffectRule,
    Either,
    EventRule,
    FindAll,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Ignored,
    Initially,
    IntervalRule,
    Kind,
    Pair,
    Postponable,
    Role,
    Statement,
    Tick,
)
from thalweg.language.terms import Atom, Compound, Number, Sequence, Term, Variable

T, X, L, N = Variable("T"), Variable("X"), Variable("L"), Variable("N")
TRUE = Atom("true")


def only(text: str) -> Statement:
    (statement,) = thalweg.parse(text).statements
    return statement


def term(text: str) -> Term:
    """The argument of a fact."""
    statement = only(f"p({text}).")
    assert isinstance(statement, Clause) and isinstance(statement.head, Compound)
    (argument,) = statement.head.args
    return argument


def f(functor: str, *args: Term) -> Compound:
    return Compound(functor, args)


def test_an_initiation_rule_has_its_pair_time_and_literals() -> None:
    rule = only("initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ holdsAt(g(X)=true, T).")
    body = (Happens(f("e", X), T), Holds(Pair(f("g", X), TRUE), T, negated=True))
    assert rule == EffectRule(Effect.INITIATES, Pair(f("f", X), TRUE), T, body)


def test_if_and_not_say_the_same_as_the_signs() -> None:
    words = thalweg.parse("initiatedAt(f=v, T) if happensAt(e, T), not holdsAt(g=v, T).")
    signs = thalweg.parse("initiatedAt(f=v, T) :- happensAt(e, T), \\+ holdsAt(g=v, T).")
    brackets = thalweg.parse("initiatedAt(f=v, T) :- happensAt(e, T), not(holdsAt(g=v, T)).")
    assert words == signs == brackets


def test_the_four_argument_form_loses_its_bounds() -> None:
    four = "terminatedAt(f=v, T1, T, T2) :- happensAt(e, T), T1 =< T, T < T2, holdsAt(g=v, T)."
    assert only(four) == only("terminatedAt(f=v, T) :- happensAt(e, T), holdsAt(g=v, T).")
    literal = only("initiatedAt(a=v, T) :- initiatedAt(b=v, T1, T, T2).")
    assert isinstance(literal, EffectRule)
    assert literal.body == (Affects(Effect.INITIATES, Pair(Atom("b"), Atom("v")), T),)


def test_initiates_is_an_initiation_with_its_event_first() -> None:
    assert only("initiates(e(X), f(X)=true, T) :- ok(X).") == only(
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), ok(X)."
    )
    assert only("terminates(g(X), f(X)=true, _T).") == only(
        "terminatedAt(f(X)=true, _T) :- happensAt(g(X), _T)."
    )


@pytest.mark.parametrize(
    ("name", "edge"), [("start", "start"), ("startI", "start"), ("end", "end"), ("endI", "end")]
)
def test_the_ends_of_intervals_are_boundary_events(name: str, edge: str) -> None:
    rule = only(f"happensAt(d(X), T) :- happensAt({name}(f(X)=true), T).")
    assert rule == EventRule(f("d", X), T, (Boundary(Edge(edge), Pair(f("f", X), TRUE), T),))


def test_start_of_something_that_is_no_pair_is_an_ordinary_event() -> None:
    rule = only("initiatedAt(f=v, T) :- happensAt(start(engine), T).")
    assert isinstance(rule, EffectRule)
    assert rule.body == (Happens(f("start", Atom("engine")), T),)


def test_interval_rules_have_interval_literals() -> None:
    rule = only(
        "holdsFor(s(X)=true, I) :- holdsFor(a(X)=v, I1), holdsFor(b=v, I2), I1 \\= [], union_all([I1, I2], I3),"
        " relative_complement_all(I3, [I2], I4), intDurGreater(I4, 240, I5), allen(before, I5, I1, union, I)."
    )
    i = [Variable(f"I{n}") for n in range(6)]
    assert isinstance(rule, IntervalRule)
    assert rule.body == (
        HoldsFor(Pair(f("a", X), Atom("v")), i[1]),
        HoldsFor(Pair(Atom("b"), Atom("v")), i[2]),
        Compare("\\=", i[1], Sequence(())),
        Combine("union_all", (i[1], i[2]), i[3]),
        Combine("relative_complement_all", (i[2],), i[4], i[3]),
        Duration(">", i[4], Number(240), i[5]),
        Allen("before", i[5], i[1], "union", Variable("I")),
    )


def test_delays_domains_and_declarations_are_read() -> None:
    program = thalweg.parse(
        """
        initially(s(_)=null) :- motion(M).
        fi(s(M)=a, s(M)=b, 4). ft(s(M)=b, D) :- dur(D). p(s(_)=a).
        grounding(s(M)=a) :- motion(M). dynamicDomain(motion(_)). points(walk(_)=true).
        collectIntervals(near(_,_)=true).
        event velocity(vessel: symbol, speed: float). state status(motion) in {null, proposed}. fluent close(a, b).
        tick 1s.
        """
    )
    types = [type(s) for s in program.statements]
    assert types == [Initially, Delayed, Delayed, Postponable, Grounding, DynamicDomain, *[Declare] * 5, Tick]
    points, intervals, event, state, fluent = program.statements[6:11]
    assert points == Declare(Role.POINTS, "walk", (Argument("_", ""),), (TRUE,))
    assert intervals == Declare(Role.FLUENT, "near", (Argument("_", ""),) * 2, (TRUE,))
    assert event == Declare(
        Role.EVENT, "velocity", (Argument("vessel", "symbol"), Argument("speed", "float"))
    )
    assert state == Declare(Role.STATE, "status", (Argument("motion", ""),), (Atom("null"), Atom("proposed")))
    assert fluent == Declare(Role.FLUENT, "close", (Argument("a", ""), Argument("b", "")))
    assert program.tick_seconds == 1.0


def test_findall_alternatives_and_absence_hold_bodies() -> None:
    rule = only(
        "initiatedAt(n=N, T) :- happensAt(tick, T), findall(X, (holdsAt(f(X)=true, T), ok(X)), L), length(L, N),"
        " (N > 2 ; N < 1, X = a), \\+ (p(X), q(X))."
    )
    assert isinstance(rule, EffectRule)
    _, found, length, either, absent = rule.body
    assert found == FindAll(X, (Holds(Pair(f("f", X), TRUE), T), Call(f("ok", X))), L)
    assert length == Call(f("length", L, N))
    greater, less = Compare(">", N, Number(2)), Compare("<", N, Number(1))
    assert either == Either(((greater,), (less, Compare("=", X, Atom("a")))))
    assert absent == Absent((Call(f("p", X)), Call(f("q", X))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-3", Number(-3)),
        ("- 3", f("-", Number(3))),
        ("1 - 3", f("-", Number(1), Number(3))),
        ("1 -3", f("-", Number(1), Number(3))),
        ("1.5e3", Number(1500.0)),
        ("0x1F", Number(31)),
        ("0'a", Number(97)),
        ("1_000", Number(1000)),
        ("'North Sea'", Atom("North Sea")),
        ("'don''t'", Atom("don't")),
        ("'a\\nb\\x41\\'", Atom("a\nbA")),
        ('"a text"', Atom("a text")),
        ("[]", Sequence(())),
        ("[a|R]", Sequence((Atom("a"),), Variable("R"))),
        ("per(close(C))", f("per", f("close", Variable("C")))),
        ("1 + 2 * 3", f("+", Number(1), f("*", Number(2), Number(3)))),
        ("1 - 2 - 3", f("-", f("-", Number(1), Number(2)), Number(3))),
        ("2 ^ 3 ^ 4", f("^", Number(2), f("^", Number(3), Number(4)))),
        ("-X ** 2", f("-", f("**", X, Number(2)))),
        ("(a, b)", f(",", Atom("a"), Atom("b"))),
        ("X mod 2", f("mod", X, Number(2))),
        ("mod", Atom("mod")),
        ("a:b", f(":", Atom("a"), Atom("b"))),
        ("{a, b}", f("{}", Atom("a"), Atom("b"))),
        ("état", Atom("état")),
        ("X<-1", f("<", X, Number(-1))),
    ],
)
def test_terms_are_read_as_prolog_reads_them(text: str, expected: Term) -> None:
    assert term(text) == expected


def test_comments_stand_anywhere() -> None:
    program = thalweg.parse("% one\np(a). /* two\n lines */ p(/* three */ b). % p(c).\n")
    assert [s.head for s in program.statements if isinstance(s, Clause)] == [
        f("p", Atom("a")),
        f("p", Atom("b")),
    ]


def test_old_declarations_and_directives_are_kept_and_noted_once_each() -> None:
    program, diagnostics = read(
        ":- dynamic a/1, b/2.\n:- discontiguous c/3.\ncachingOrder(a). cachingOrder(b).\ninputEntity(e(_)).\n"
        "index(e(X), X).\ncachingOrder(x(V)=true) :- vessel(V), big(V).\n"
    )
    assert all(isinstance(s, Ignored) for s in program.statements)
    assert [(d.code, d.severity) for d in diagnostics] == [("TW026", Severity.NOTE)] * 5
    assert thalweg.parse(str(program)) == program


def test_a_cut_at_the_end_is_dropped_with_a_note() -> None:
    program, diagnostics = read("tug(V, _) :- type(V, tug), !.\ntug(_, V) :- type(V, tug).")
    assert [d.code for d in diagnostics] == ["TW025"]
    assert program == thalweg.parse("program events. tug(V, _) :- type(V, tug).\ntug(_, V) :- type(V, tug).")


def test_a_cut_after_the_check_for_empty_intervals_is_dropped_with_a_note() -> None:
    program, diagnostics = read(
        "holdsFor(f(X)=true, I) :- holdsFor(g(X)=true, I1), \\+ I1 = [], !, union_all([I1], I).\n"
        "holdsFor(f(_)=true, [])."
    )
    assert [d.code for d in diagnostics] == ["TW025"]
    assert [type(s) for s in program.statements] == [IntervalRule, IntervalRule]


def test_an_initiation_before_the_stream_is_what_holds_initially() -> None:
    program, diagnostics = read(
        "initiatedAt(f(_)=full, T1, -1, T2) :- T1 =< (-1), -1 < T2.\n"
        "initiatedAt(g(X)=full, T1, -1, T2) :- T1 =< -1, -1 < T2, big(X).\nbig(a)."
    )
    assert not diagnostics
    assert program == thalweg.parse("initially(f(_)=full).\ninitially(g(X)=full) :- big(X).\nbig(a).")


def test_a_grounding_as_a_condition_of_its_own_pair_is_dropped_with_a_note() -> None:
    program, diagnostics = read(
        "fi(f(X)=on, f(X)=off, 4) :- grounding(f(X)=on).\nft(f(X)=off, R) :- grounding(f(X)=off), wait(R).\nwait(3)."
    )
    assert [d.code for d in diagnostics] == ["TW026"]
    assert program == thalweg.parse("fi(f(X)=on, f(X)=off, 4).\nft(f(X)=off, R) :- wait(R).\nwait(3).")


def test_rules_that_another_system_has_compiled_are_told_from_rules_as_they_are_written() -> None:
    _, diagnostics = read(
        "initiatedAt(on(X)=true, T1, T, T2) :- happensAtIE(press(X), T), T1 =< T, T < T2.\n"
        "holdsForSDFluent(lit(X)=true, I) :- holdsForProcessedSimpleFluent(X, on(X)=true, I)."
    )
    assert [(d.code, d.span.line) for d in diagnostics] == [("TW024", 1), ("TW024", 2)]
    assert all("before it was compiled" in (d.suggestion or "") for d in diagnostics)


def test_a_definition_of_the_known_duration_filter_is_not_used() -> None:
    program, diagnostics = read(
        "holdsFor(f=v, I) :- holdsFor(g=v, I1), intDurGreater(I1, 5, I).\n"
        "intDurGreater(A, V, B) :- findall(S, (member(S, A), (S > V -> true ; fail)), B)."
    )
    assert [d.code for d in diagnostics] == ["TW026"]
    assert isinstance(program.statements[1], Ignored)


def test_durations_become_ticks_wherever_a_number_can_stand() -> None:
    program = thalweg.parse("fi(f=a, f=b, 10m). tick 2s. limit(1h, 500ms).".replace("500ms", "4s"))
    delayed, _, limit = program.statements
    assert isinstance(delayed, Delayed) and delayed.delay == Number(300)
    assert isinstance(limit, Clause) and limit.head == f("limit", Number(1800), Number(2))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fi(f=a, f=b, 10m).", "TW011"),
        ("tick 7s. fi(f=a, f=b, 10m).", "TW011"),
        ("tick 5.", "TW031"),
        ("initiatedAt(f, T) :- happensAt(e, T).", "TW021"),
        ("initiatedAt(F=v, T) :- happensAt(e, T).", "TW021"),
        ("initiatedAt(f=v) :- happensAt(e, T).", "TW022"),
        ("holdsAt(f=v, T) :- happensAt(e, T).", "TW023"),
        ("initiatedAt(f=v, T) :- happensAt(E, T).", "TW023"),
        ("happensAt(start(f=v), T) :- happensAt(e, T).", "TW023"),
        ("holdsFor(f=v, I) :- holdsFor(g=v, I1), union_all(I1, I).", "TW023"),
        ("holdsFor(f=v, I) :- \\+ holdsFor(g=v, I).", "TW034"),
        ("initiatedAt(f=v, T) :- happensAt(e, T), assert(x).", "TW024"),
        ("initiatedAt(f=v, T) :- happensAt(e, T), (a -> b ; c).", "TW024"),
        ("initiatedAt(f=v, T) :- happensAt(e, T), !, a.", "TW024"),
        ("initiatedAt(f=v, T) :- happensAt(e, T), setof(X, p(X), L).", "TW024"),
        ("maxDuration(f=a, f=b, 5).", "TW024"),
        (":- initialization(main).", "TW027"),
        (":- ['other'].", "TW030"),
        ("event e(x: text).", "TW031"),
        ("state s in a.", "TW031"),
        ("3 :- a.", "TW020"),
        ("a :- b + c.", "TW034"),
        ("p(99999999999999999999).", "TW010"),
        ("p(1e999).", "TW010"),
    ],
)
def test_what_has_no_meaning_is_refused_with_its_code(text: str, code: str) -> None:
    with pytest.raises(ProgramError) as caught:
        thalweg.parse(text)
    errors = [d for d in caught.value.diagnostics if d.severity is Severity.ERROR]
    assert [d.code for d in errors] == [code]
    assert errors[0].span.line == 1


@pytest.mark.parametrize("fact", ["flag(v1, dk).", "open(shop, 9).", "arg(x).", "call.", "print(a, b, c)."])
def test_the_name_of_a_procedure_is_free_for_facts_with_other_arguments(fact: str) -> None:
    assert not list(read(f"program events. {fact}")[1])


def test_every_refused_literal_of_a_body_is_reported() -> None:
    _, diagnostics = read("a :- assert(b), \\+ (format(x), write(y)), c -> d.")
    assert [d.span.column for d in diagnostics if d.code == "TW024"] == [6]
    _, diagnostics = read("a :- assert(b), \\+ (format(x), write(y)), c.")
    assert [d.span.column for d in diagnostics if d.code == "TW024"] == [6, 21, 32]


def test_every_term_and_statement_knows_where_it_stands() -> None:
    program = thalweg.parse("% first\n  initiatedAt(f(X)=true, T) :-\n    happensAt(e(X, 12), T).", "a.ec")
    (rule,) = program.statements
    assert isinstance(rule, EffectRule)
    assert (rule.span.source, rule.span.line, rule.span.column, rule.span.end_line) == ("a.ec", 2, 3, 3)
    happens = rule.body[0]
    assert isinstance(happens, Happens) and isinstance(happens.event, Compound)
    assert (happens.event.args[1].span.column, happens.event.args[1].span.end_column) == (20, 22)
    assert program.kind is Kind.EVENTS
