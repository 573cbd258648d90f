"""Instances as they are written, ``per(close(c,m),'North Sea')``, taken apart and put together."""

from __future__ import annotations

import re
from typing import Any

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_HOLE = re.compile(r"'(?:[^'\\]|\\.)*'|(?<=[(,])_(?=[,)])", re.DOTALL)
"""A hole, or what stands in quotes and is none."""
_PLAIN = re.compile(r"[a-z][A-Za-z0-9_]*\Z", re.ASCII)
NUMERAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\Z", re.ASCII)
"""A field of the data that is a number."""


def apart(instance: str) -> tuple[str, list[str]]:
    """Name and arguments of an instance, as they are written.

    >>> apart("per(close(c,m),'North Sea')"), apart("on"), apart("'a (b'(c)")
    (('per', ['close(c,m)', "'North Sea'"]), ('on', []), ("'a (b'", ['c']))
    """
    quoted = _QUOTED.match(instance)
    bracket = instance.find("(", quoted.end() if quoted else 0)
    if bracket < 0 or not instance.endswith(")"):
        return instance, []
    return instance[:bracket], split_arguments(instance[bracket + 1 : -1])


def split_arguments(text: str) -> list[str]:
    """The arguments of an instance, as they are written.

    >>> split_arguments("m1,'a, b',f(x,y)")
    ['m1', "'a, b'", 'f(x,y)']
    """
    if "'" not in text and "(" not in text and "[" not in text:
        return [part.strip() for part in text.split(",")]
    parts, depth, start, quoted, escaped = [], 0, 0, False, False
    for place, character in enumerate(text):
        if quoted:
            quoted = escaped or character != "'"
            escaped = character == "\\" and not escaped
        elif character == "'":
            quoted = True
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


def around_holes(name: str) -> tuple[str, ...]:
    """What stands before, between and behind the holes of a relation's name.

    >>> around_holes("per(close_ballot(_,m),_)"), around_holes("'f(_)'(_)"), around_holes("on")
    (('per(close_ballot(', ',m),', ')'), ("'f(_)'(", ')'), ('on',))
    """
    parts, start = [], 0
    for found in _HOLE.finditer(name):
        if found[0] == "_":
            parts.append(name[start : found.start()])
            start = found.end()
    return (*parts, name[start:])


def unquoted(text: str) -> str:
    """A constant as data: without its quotes.

    >>> unquoted("'North Sea'"), unquoted("m1")
    ('North Sea', 'm1')
    """
    if len(text) < 2 or not (text.startswith("'") and text.endswith("'")):
        return text
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def standard_order(text: str) -> tuple[Any, ...]:
    """The place of a constant, as it is written, in the standard order of terms: numbers by value, then names by
    alphabet, then terms by the number of their arguments, by name, by arguments. A list is a term of its first item and
    the list of the others.

    >>> sorted(["g(a)", "f(a,b)", "'Z'", "[z]", "b", "f(b)", "f(10)", "f(9)", "12", "-3.5"], key=standard_order)
    ['-3.5', '12', "'Z'", 'b', 'f(9)', 'f(10)', 'f(b)', 'g(a)', '[z]', 'f(a,b)']
    """
    if NUMERAL.match(text):
        return 0, int(text) if text.lstrip("+-").isdecimal() else float(text)
    if text.endswith("]") and text != "[]":
        place: tuple[Any, ...] = standard_order("[]")
        for item in reversed(split_arguments(text[1:-1])):
            place = 2, 2, "[|]", standard_order(item), place
        return place
    name, args = apart(text) if text.endswith(")") else (text, [])
    return (2, len(args), unquoted(name), *map(standard_order, args)) if args else (1, unquoted(text))


def quoted(name: str) -> str:
    """A name as it is written in instances, the same whether it comes from rules or from data. (In rules, words with a
    meaning of their own have quotes too, and letters of other alphabets need none: `printer.atom_text`.)

    >>> quoted("North Sea"), quoted("m1"), quoted("in"), quoted("7")
    ("'North Sea'", 'm1', 'in', "'7'")
    """
    return name if _PLAIN.match(name) else "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
