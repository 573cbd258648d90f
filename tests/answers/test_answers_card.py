"""Open answers as cards."""

from __future__ import annotations

from answers_support import facts

import thalweg
from thalweg import parse
from thalweg.answers.card import Card, cards
from thalweg.answers.reasoner import Reasoner


def test_a_card_ticks_the_evidence_greys_the_needed_and_names_the_deadline() -> None:
    card = Card("malf(wt25, 0)", ("temp(wt25, high, 0)",), ("temp(wt25, high, 1)",), 2)
    html = card._repr_html_()
    assert "✓ temp(wt25, high, 0)" in html
    assert "○ temp(wt25, high, 1)" in html
    assert "decided by 2" in html


def test_a_card_escapes_what_it_shows() -> None:
    html = Card("p('<b>', 0)", (), ("q('&', 1)",), 1, "X != '<i>'")._repr_html_()
    assert "<b>'" not in html and "&lt;b&gt;" in html
    assert "&amp;" in html and "&lt;i&gt;" in html


def test_an_answer_without_deadline_says_so() -> None:
    assert Card("p(a, 0)", ("q(a, 0)",), ("r(a, T2)",)).status == "no deadline"


def test_cards_are_made_from_the_tables_of_a_revision() -> None:
    reasoner = Reasoner(parse("query warm(X, T). warm(X, T) :- temp(X, high, T), temp(X, high, T+1)."))
    reasoner.accept(facts(*(("temp", f"d{i}", "high", 0) for i in range(15))))
    revision = reasoner.advance(0)
    shown = cards(revision["open"], limit=4)
    assert (len(shown.cards), shown.more) == (4, 11)
    assert "and 11 more" in shown._repr_html_() and "and 11 more" in str(shown)
    assert str(shown.cards[0]).splitlines() == [
        "warm(d0, 0)  (decided by 1)",
        "  ✓ temp(d0, high, 0)",
        "  ○ temp(d0, high, 1)",
    ]


def test_a_result_shows_its_open_answers_as_cards_in_a_notebook() -> None:
    text = "query p(X, T). p(X, T) :- e(X, T), f(X, T+2)."
    shown = thalweg.run(text, [{"name": "e", "time": 3, "x": "<ann>"}])._repr_html_()
    assert "<b>p(&#x27;&lt;ann&gt;&#x27;, 3)</b>" in shown
    assert "decided by 5" in shown and "○ f(" in shown


def test_what_is_told_of_an_answer_about_everybody_names_the_exceptions() -> None:
    result = thalweg.run("query free(X, T). free(X, T) :- not busy(X, T).", [{"name": "busy", "time": 0, "x": "ann"}])
    _, told = result.main()
    assert told.select(["answer", "where"]).to_pylist() == [{"answer": "free(X, 0)", "where": "X != ann"}]
