"""Whatever the text, the parser answers with a program and diagnostics: no exception, no hang."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.language.diagnostics import has_errors, render
from thalweg.language.layout import format_text
from thalweg.language.parser import parse, read

ROOT = Path(__file__).parents[2]
SEEDS = [
    path.read_text(encoding="utf-8")[:1500]
    for path in sorted([*ROOT.glob("tests/cases/events/*/rules.ec"), *ROOT.glob("examples/*/rules.*")])
] + [
    "tick 6s.\nat(T+3m) e if [3m] at(T) b, not [+5m] sometime c, N = count(X) over [5 # by X] p(X).\n"
    "x :- a always [3 min], b [20 #], c at T in [30 sec], [10m hop 5m] always q.\na at T+3 :- b.\n",
    "query malf(X,T).\nmalf(X, T-2) :- shdn(X, T), not 'Foo bar'(X), X > -3, Y is 3 mod 2 ** 4.\n",
    ":- dynamic a/1, b/2.\nevent velocity(vessel: symbol, speed: float).\nstate s(m) in {null, -1, 'A b'}.\n"
    'p("abc\\n", 0\'c, 0x1F, [a,b|T], {x}, -(-(1)), - 1, 1.5e3, a:b:c).\n'
    "a :- b, \\+ (c, (d;e,f)), findall(X-Y, (p(X),q(Y)), L), !.\n",
]
PIECES = [
    *"( ) [ ] { } , . :- \\+ = - + | ; -> ! _ X ' \" % /* */ 0' 1e9 # \\ / a [3] 5m at(T) foo( # by".split(
        " "
    ),
    *[
        " not ",
        " if ",
        " at ",
        " always ",
        " sometime ",
        " over ",
        " in ",
        " is ",
        " hop ",
        "holdsAt",
        "\n",
        ". ",
    ],
    *[
        "\x00",
        "\ud800",
        "é",
        "É",
        "٣",
        "\ue000",
        "tick 1s. ",
        "query ",
        "event ",
        "program lars. ",
        ":- dynamic ",
    ],
]
LIMIT = 2.0
"""Seconds for one small text; it takes milliseconds."""


def examine(text: str | bytes) -> None:
    begin = time.process_time()
    program, diagnostics = read(text, "fuzz")
    render(diagnostics, program.sources).encode()
    for diagnostic in diagnostics:
        assert diagnostic.code.startswith("TW0")
        assert diagnostic.span.line >= 1 and diagnostic.span.column >= 1
    if not has_errors(diagnostics):
        assert parse(str(program)) == program
        again = text if isinstance(text, str) else text.decode("utf-8-sig")
        assert parse(format_text(again)).statements == program.statements
    assert time.process_time() - begin < LIMIT


@given(st.binary(max_size=300))
def test_arbitrary_bytes_give_only_diagnostics(data: bytes) -> None:
    examine(data)


@given(st.text(max_size=200))
def test_arbitrary_text_gives_only_diagnostics(text: str) -> None:
    examine(text)


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_arbitrary_tokens_give_only_diagnostics(text: str) -> None:
    examine(text)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A valid program with a few pieces put in, taken out or moved."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.sampled_from([0, 0, 1, 3, 20]))
        text = text[:at] + draw(st.one_of(st.just(""), st.sampled_from(PIECES))) + text[at + cut :]
    return text


@given(mutated())
def test_mutated_programs_give_only_diagnostics(text: str) -> None:
    examine(text)


DEEP = {
    "compounds": "f(" * 10_000 + "a" + ")" * 10_000 + ".",
    "brackets": "(" * 10_000 + "a" + ")" * 10_000 + ".",
    "lists": "p(" + "[" * 10_000 + "]" * 10_000 + ").",
    "list tails": "p(" + "[a|" * 10_000 + "b" + "]" * 10_000 + ").",
    "signs": "p(" + "-" * 10_000 + "1).",
    "sums": "p(" + "1+" * 10_000 + "1).",
    "powers": "p(" + "2^" * 10_000 + "2).",
    "negations": "a :- " + "\\+ " * 10_000 + "b.",
    "alternatives": "a :- " + "(b;" * 10_000 + "c" + ")" * 10_000 + ".",
    "curly brackets": "p(" + "{" * 10_000 + "a" + "}" * 10_000 + ").",
    "brackets never closed": "[" * 10_000,
    "sums in brackets": "p(" + ("(" + "1+" * 90) * 90 + "1" + ")" * 90 + ").",
    "directives": ":- " * 10_000 + "a.",
    "times": "at(T) " * 10_000 + "a.",
    "sums after a missing full stop": "a\np(" + "1+" * 10_000 + "1).",
    "rules in rules": "a :- " * 10_000 + "b.",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_deep_nesting_is_a_diagnostic(text: str) -> None:
    begin = time.process_time()
    program, diagnostics = read(text)
    assert has_errors(diagnostics)
    assert len(program.statements) <= text.count("\n")
    assert time.process_time() - begin < LIMIT


LONG = {
    "arguments": "p(" + "a, " * 50_000 + "a).",
    "literals": "a :- " + "b, " * 20_000 + "c.",
    "alternatives": "a :- " + "b ; " * 20_000 + "c.",
    "white space": "a" + " " * 500_000 + ".",
    "empty lines": "\n" * 500_000,
    "comment": "%" * 500_000,
    "comments": "/**/" * 100_000,
    "a name": "p('" + "a" * 500_000 + "').",
    "quotes": "'" * 100_001,
    "full stops": "a." * 10_000,
    "digits": "p(" + "9" * 100_000 + ").",
    "unclosed comments": "/*" * 100_000,
    "missing full stops": "foo(a)\n" * 20_000,
    "errors in one line": "p(a b). " * 5_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_long_texts_take_linear_time(text: str) -> None:
    begin = time.process_time()
    program, diagnostics = read(text)
    render(diagnostics, program.sources)
    assert time.process_time() - begin < 5 * LIMIT


def test_the_deepest_allowed_terms_can_be_printed_compared_and_hashed() -> None:
    text = "p(" + "f(" * 97 + "a" + ")" * 97 + ")."
    program = parse(text)
    assert parse(str(program)) == program
    assert hash(program.statements[0]) == hash(parse(text).statements[0])
    assert len(repr(program.statements)) > 1000
    nested = "program events. a :- " + "\\+ (c, " * 49 + "b" + ")" * 49 + "."
    assert parse(str(parse(nested))) == parse(nested)
    assert sys.getrecursionlimit() == 1000
