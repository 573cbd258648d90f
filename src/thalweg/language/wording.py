"""Numbers of things as one says them, and texts as one can show them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """So many of something; the plural has an s unless it is given.

    >>> counted(1, "row"), counted(0, "row"), counted(1200, "query time"), counted(2, "entity", "entities")
    ('1 row', '0 rows', '1,200 query times', '2 entities')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def tallied(sizes: Mapping[str, int]) -> str:
    """Tables by name with their numbers of rows; of one row the name says no more than one.

    >>> tallied({"timeline": 2, "changes": 1, "open": 0})
    '2 timeline, 1 change, 0 open'
    """
    return ", ".join(counted(number, name.removesuffix("s"), name) for name, number in sizes.items())


def visible(text: str) -> str:
    """The text without what would steer a terminal or break a drawing: control characters as their pictures,
    and nothing that turns the direction of writing.

    >>> visible("a\\nb")
    'a\N{SYMBOL FOR LINE FEED}b'
    """

    def picture(found: re.Match[str]) -> str:
        return chr(0x2400 + ord(found[0])) if found[0] < " " else "\N{REPLACEMENT CHARACTER}"

    return _CONTROL.sub(picture, text)


def breadth(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, marks above others none.

    >>> breadth("door"), breadth("\N{CJK UNIFIED IDEOGRAPH-9580}"), breadth("u\N{COMBINING DIAERESIS}")
    (4, 2, 1)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


def padded(text: str, columns: int) -> str:
    """The text with blanks behind it up to so many columns."""
    return text + " " * (columns - breadth(text))
