"""Numbers of things, and texts on a terminal."""

from __future__ import annotations

import pytest

from thalweg import parse
from thalweg.language.wording import breadth, counted, padded, tallied, visible

GATE = "\N{CJK UNIFIED IDEOGRAPH-9580}"


def test_one_of_something_has_no_plural() -> None:
    assert [counted(n, "row") for n in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    assert [counted(n, "entity", "entities") for n in (1, 2)] == ["1 entity", "2 entities"]


def test_tables_are_counted_by_their_names() -> None:
    assert tallied({"timeline": 2, "changes": 1, "open": 0}) == "2 timeline, 1 change, 0 open"


def test_what_would_steer_a_terminal_is_shown() -> None:
    assert visible("a\x1b[1m\n") == "a\N{SYMBOL FOR ESCAPE}[1m\N{SYMBOL FOR LINE FEED}"
    assert visible("\x7f\u202e") == 2 * "\N{REPLACEMENT CHARACTER}"


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert [breadth(text) for text in ("door", GATE, "u\N{COMBINING DIAERESIS}")] == [4, 2, 1]
    assert padded(GATE, 4) == f"{GATE}  "


def test_a_program_shows_itself_in_a_line_and_prints_as_its_text() -> None:
    program = parse("p(a). p(b).")
    assert repr(program) == "<events program of 2 statements>"
    assert str(program) == "p(a).\np(b).\n"


def test_what_is_no_text_is_no_program() -> None:
    with pytest.raises(TypeError, match="a program is a text, not NoneType; `load` takes a path"):
        parse(None)  # type: ignore[arg-type]
