"""Short texts for diagnostics and reports: terms, signatures, lists of things."""

from __future__ import annotations

from collections.abc import Sequence as Items

from thalweg.language.rules import Pair
from thalweg.language.terms import Atom, Compound, Number, Sequence, Term, Variable

_INFIX = frozenset(["=", "+", "-", "*", "/", "//", "mod", "rem", "**", "^"])
_LONGEST = 60


def text(term: Term) -> str:
    """The term as one would write it, shortened where it is long."""
    written = _text(term, 0)
    return written if len(written) <= _LONGEST else written[: _LONGEST - 3] + "..."


def _text(term: Term, depth: int) -> str:
    if depth > 8:
        return "..."
    match term:
        case Atom(name):
            return name if _is_plain(name) else "'" + name.replace("'", "''") + "'"
        case Number(value):
            return str(value)
        case Variable(name):
            return name
        case Compound(functor, (left, right)) if functor in _INFIX:
            return f"{_text(left, depth + 1)}{functor}{_text(right, depth + 1)}"
        case Compound(functor, args):
            return f"{_text(Atom(functor), depth)}({', '.join(_text(a, depth + 1) for a in args)})"
        case Sequence(items, rest):
            tail = "" if rest is None else f"|{_text(rest, depth + 1)}"
            return f"[{', '.join(_text(item, depth + 1) for item in items)}{tail}]"


def _is_plain(name: str) -> bool:
    return name.isidentifier() and name[0].islower()


def pair_text(pair: Pair) -> str:
    return f"{text(pair.fluent)}={text(pair.value)}"


def sig(name: str, arity: int) -> str:
    """``velocity/4``, in back-quotes."""
    return f"`{name}/{arity}`"


def listed(things: Items[str], most: int = 6) -> str:
    """``a, b and c``; long lists are shortened."""
    if len(things) > most:
        return f"{', '.join(things[:most])} and {len(things) - most} more"
    return " and ".join(filter(None, [", ".join(things[:-1]), things[-1]])) if things else ""


def place(span: tuple[str, int, int, int, int]) -> str:
    """``rules.ec:3:5``."""
    source, line, column, *_ = span
    return f"{source or '<program>'}:{line}:{column}"
