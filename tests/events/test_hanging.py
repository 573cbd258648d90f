"""Delayed effects and domains that fill up: what is refused, and where that is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from thalweg import parse
from thalweg.cli.main import app
from thalweg.events.reasoner import Reasoner
from thalweg.language.diagnostics import ProgramError

DOMAINS = """
dynamicDomain(dom(_)). dynamicDomain(rich(_)).
grounding(e(X)) :- dom(X).
grounding(pays(X)) :- rich(X).
initiatedAt(f(X)=mid, T) :- happensAt(e(X), T).
able(X) :- rich(X).
age(a, 5).
"""
HIGH = "grounding(f(X)=high) :- dom(X).\n"
SAME = "grounding(f(X)=mid) :- dom(X).\n" + HIGH
ALLOWED = {
    "no domain": "fi(f(X)=mid, f(X)=high, 3).",
    "the same domain for both values": SAME + "fi(f(X)=mid, f(X)=high, 3).",
    "a body that asks for it once more": SAME
    + "fi(f(X)=mid, f(X)=high, 3) :- dom(X), age(X, _).\np(f(X)=mid) :- dom(X).",
    "a target of which less is asked": HIGH
    + "grounding(f(X)=mid) :- dom(X), rich(X).\nfi(f(X)=mid, f(X)=high, 3).",
    "a value that is not wanted": "grounding(f(X)=mid) :- dom(X).\nfi(f(X)=mid, f(X)=high, 3).",
    "somebody of the domain, as in the grounding": "grounding(f(X)=mid) :- dom(X), rich(Y).\n"
    "grounding(f(X)=high) :- dom(X), rich(Z).\nft(f(X)=mid, 3) :- rich(W).",
}
REFUSED = {
    "somebody of a domain": ("fi(f(X)=mid, f(X)=high, 3) :- dom(Y), Y = b.", "dom(_)"),
    "its own instance without a grounding": ("ft(f(X)=mid, 3) :- dom(X).", "dom(_)"),
    "another domain for the target": (
        "grounding(f(X)=mid) :- dom(X).\ngrounding(f(X)=high) :- rich(X).\nfi(f(X)=mid, f(X)=high, 3).",
        "rich(_)",
    ),
    "one of two groundings asks for less": (
        SAME + "grounding(f(X)=mid) :- age(X, _).\nfi(f(X)=mid, f(X)=high, 3).",
        "dom(_)",
    ),
    "who is not in a domain": (SAME + r"ft(f(X)=mid, 3) :- \+ rich(X).", "rich(_)"),
    "a rule over a domain": (SAME + "ft(f(X)=mid, 3) :- able(X).", "rich(_)"),
    "what can be put off": (SAME + "ft(f(X)=mid, 3).\np(f(X)=mid) :- rich(X).", "rich(_)"),
}


@pytest.mark.parametrize("about", ALLOWED)
def test_a_delayed_effect_may_ask_what_its_pair_was_asked(about: str) -> None:
    Reasoner(parse(DOMAINS + ALLOWED[about]), window=10, step=5)


@pytest.mark.parametrize("about", REFUSED)
def test_a_delayed_effect_must_not_ask_more_of_a_domain_that_fills_up(about: str) -> None:
    text, domain = REFUSED[about]
    with pytest.raises(ProgramError, match="hangs on who is in") as refused:
        Reasoner(parse(DOMAINS + text), window=10, step=5)
    (diagnostic,) = refused.value.diagnostics
    assert domain in diagnostic.message and diagnostic.span.line > 7


def test_check_says_so_too(tmp_path: Path) -> None:
    rules = tmp_path / "rules.ec"
    rules.write_text(DOMAINS + "ft(f(X)=mid, 3) :- dom(X).\n")
    told = CliRunner().invoke(app, ["check", str(rules)])
    assert told.exit_code == 1
    assert "rules.ec:8:1: error[TW290]" in told.output
    rules.write_text(DOMAINS + ALLOWED["no domain"])
    assert CliRunner().invoke(app, ["check", str(rules)]).exit_code == 0
