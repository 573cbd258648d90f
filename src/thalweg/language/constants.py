"""Numbers, durations and quoted text: from how they are written to what they mean."""

from __future__ import annotations

import re
from fractions import Fraction

from thalweg.language.diagnostics import Refused
from thalweg.language.terms import Number, Span

UNIT_SECONDS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
    "w": Fraction(604800),
}
_UNIT_WORDS = {
    "msec": "ms",
    "millisecond": "ms",
    "sec": "s",
    "second": "s",
    "min": "m",
    "minute": "m",
    "hour": "h",
    "day": "d",
    "week": "w",
}
_AMOUNT = re.compile(r"[0-9.]+")
_INTEGER_LIMIT = 2**63
_BASES = {"0x": 16, "0o": 8, "0b": 2}

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_ESCAPES |= {"e": "\x1b", "s": " "}
_SEQUENCES = r"\\x([0-9a-fA-F]{1,6})\\?|\\u([0-9a-fA-F]{4})|\\([0-7]{1,7})\\|\\(\n)|\\(.)"
_ESCAPE = {quote: re.compile(f"({quote}{quote})|{_SEQUENCES}") for quote in "'\""}


def number(text: str, span: Span) -> Number:
    """The number of a text such as ``-12``, ``1.5e3``, ``0xFF``, ``1_000`` or ``0'c``."""
    if len(text) < 19 and text.isdecimal():
        return Number(int(text), span)
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text)
    if digits.startswith("0'"):
        code = ord(unescape(digits[2:], "'")[0])
        return Number(-code if sign else code, span)
    base = _BASES.get(digits[:2], 10)
    if base != 10:
        return Number(_bounded(sign + digits[2:], base, span), span)
    digits = digits.replace("_", "")
    if digits.isdecimal():
        return Number(_bounded(sign + digits, 10, span), span)
    value = float(sign + digits)
    if value in (float("inf"), float("-inf")):
        raise Refused("TW010", "a float that is not finite", span)
    return Number(value, span)


def _bounded(digits: str, base: int, span: Span) -> int:
    """Integers of 64 bits; the length is looked at first, since reading digits takes quadratic time."""
    if len(digits) <= 70:
        value = int(digits, base)
        if -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
            return value
    raise Refused("TW010", "an integer that does not fit in 64 bits", span)


def seconds(text: str, span: Span) -> tuple[Fraction, str]:
    """The length of a duration such as ``10m`` or ``3 min``, and its canonical text."""
    amount = _AMOUNT.match(text)
    assert amount is not None
    unit = text[amount.end() :].strip()
    unit = unit if unit in UNIT_SECONDS else _UNIT_WORDS[unit.removesuffix("s")]
    written = amount.group() + unit
    if len(written) > 30:
        raise Refused("TW010", "a duration that does not fit in 64 bits", span)
    return Fraction(amount.group()) * UNIT_SECONDS[unit], written


def duration(text: str, tick: float | None, span: Span) -> Number:
    """A duration as a number of ticks.

    >>> duration("10m", 1.0, Span("", 1, 1, 1, 4)).value
    600
    """
    length, written = seconds(text, span)
    if tick is None:
        message = f"`{written}` needs to know how long a time-point lasts"
        raise Refused("TW011", message, span, "declare it: `tick 1s.`")
    ticks = length / Fraction(repr(tick))
    if ticks.denominator != 1 or ticks >= _INTEGER_LIMIT:
        raise Refused("TW011", f"`{written}` is not a whole number of ticks of {tick:g}s", span)
    return Number(int(ticks), span, written)


def unescape(text: str, quote: str) -> str:
    """The text between quotes, with doubled quotes and backslash escapes undone."""
    if "\\" not in text and quote * 2 not in text:
        return text
    return _ESCAPE[quote].sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    doubled, hexadecimal, four, octal, newline, char = match.groups()
    if doubled is not None:
        return doubled[0]
    if newline is not None:
        return ""
    if char is not None:
        return _ESCAPES.get(char, char)
    code = int(octal, 8) if octal else int(hexadecimal or four, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\N{REPLACEMENT CHARACTER}"
