"""The operator table, and how a flat run of operands and operators becomes a term.

The grammar leaves a run such as ``X - 1 > Y`` flat; `resolve` builds the tree by priority, as Prolog does,
with one stack and no recursion. `MAX_DEPTH` bounds every term that leaves this module.
"""

from __future__ import annotations

from collections.abc import Sequence as Run
from typing import NamedTuple

from thalweg.language.diagnostics import Refused
from thalweg.language.terms import Atom, Compound, Sequence, Span, Term

MAX_DEPTH = 100

DECLARE = "\ue000"
"""Marks functors that no program can write: declarations, and what LARS writes with windows and words between terms.
So a name with brackets behind it, ``over(X)``, is never taken for one of these."""
WINDOW_AFTER, WINDOW_BEFORE, AT_ATOM = DECLARE + "a [w]", DECLARE + "[w] a", DECLARE + "at(t) a"
BETWEEN = ("in", "over", "sometime", "always", "at", "hop")
"""Words of windows and declarations that stand between terms."""
IN, OVER, SOMETIME, ALWAYS, AT, HOP = (DECLARE + word for word in BETWEEN)
BY = DECLARE + "# by"


DIRECTIVE_WORDS = frozenset(["dynamic", "discontiguous", "multifile", "table", "module_transparent"])
"""Words that may stand before their argument right after the ``:-`` of a directive."""


class Operator(NamedTuple):
    """Priority (a higher one binds looser) and the highest priority allowed on each side."""

    priority: int
    left: int
    right: int


def _xfx(priority: int) -> Operator:
    return Operator(priority, priority - 1, priority - 1)


def _yfx(priority: int) -> Operator:
    return Operator(priority, priority, priority - 1)


def _xfy(priority: int) -> Operator:
    return Operator(priority, priority - 1, priority)


COMPARISONS = frozenset(
    ["=", "\\=", "==", "\\==", "<", ">", "=<", ">=", "=:=", "=\\=", "is", "@<", "@>", "@=<", "@>="]
)

INFIX: dict[str, Operator] = {
    **{op: _xfx(700) for op in (*COMPARISONS, "=..", IN)},
    OVER: _xfx(650),
    **{op: _xfx(600) for op in (SOMETIME, ALWAYS, AT, HOP, BY)},
    ":": _xfy(550),
    **{op: _yfx(500) for op in ("+", "-", "/\\", "\\/", "xor")},
    **{op: _yfx(400) for op in ("*", "/", "//", "mod", "rem", "div", "rdiv", "<<", ">>")},
    "**": _xfx(200),
    "^": _xfy(200),
}

DECLARING = ("event", "state", "fluent", "points", "query", "tick", "program")

PREFIX: dict[str, Operator] = {
    ":-": Operator(1200, 0, 1199),
    **{op: Operator(1150, 0, 1150) for op in DIRECTIVE_WORDS},
    **{DECLARE + op: Operator(1150, 0, 999) for op in DECLARING},
    "\\+": Operator(900, 0, 900),
    "-": Operator(200, 0, 200),
    "+": Operator(200, 0, 200),
    "\\": Operator(200, 0, 200),
}

RESERVED_WORDS = frozenset([*BETWEEN, "if", "not", "is", "mod", "rem", "div", "rdiv", "xor"])
"""Names that are quoted when they stand for themselves."""

CONNECTIVES = {":-": 1200, ";": 1100, "->": 1050, ",": 1000}
"""What separates literals and clauses; they build n-ary terms, in this order of looseness."""


class Mark:
    """An operator or bracket in a run, where it stands."""

    __slots__ = ("span", "type", "value")
    # the parser borrows a position from the last token for its own end marker
    start_pos = line = column = end_line = end_column = end_pos = 0

    def __init__(self, type: str, value: str, span: Span) -> None:
        self.type = type
        self.value = value
        self.span = span


Item = Term | Mark


def shown(value: str) -> str:
    """The value of a mark, or a functor, as it is written."""
    return value.removeprefix(DECLARE)


def join(first: Span, last: Span) -> Span:
    """The span from the beginning of one to the end of another."""
    return Span(first.source, first.line, first.column, last.end_line, last.end_column)


def split(run: Run[Item], separator: str) -> list[Run[Item]]:
    """The parts of a run between separators of one kind."""
    parts: list[Run[Item]] = []
    start = 0
    for position, item in enumerate(run):
        if item.__class__ is Mark and item.value == separator and item.type == "INFIX":
            parts.append(run[start:position])
            start = position + 1
    parts.append(run[start:])
    return parts


def connect(run: Run[Item]) -> Term:
    """The term of a whole clause or of what stands in round brackets, connectives included."""
    first = run[0]
    if isinstance(first, Mark) and PREFIX[first.value].priority > 1000:
        inner = connect(run[1:])
        return Compound(first.value, (inner,), join(first.span, inner.span))
    found = {item.value for item in run if item.__class__ is Mark and item.type == "INFIX"}
    for connective in CONNECTIVES:
        if connective in found:
            return _connected(run, connective)
    return resolve(run)


def _connected(run: Run[Item], connective: str) -> Term:
    """Split at the loosest connective; there are four levels, so this recursion is shallow."""
    parts = split(run, connective)
    if connective == ":-" and len(parts) > 2:
        again = [item for item in run if isinstance(item, Mark) and item.value == ":-"][1]
        raise Refused(
            "TW003", "a second `:-` in one clause", again.span, "end the clause before it with a full stop"
        )
    inner = resolve if connective == "," else connect
    terms = tuple([inner(part) for part in parts])
    return Compound(connective, terms, join(terms[0].span, terms[-1].span))


def arguments(run: Run[Item]) -> tuple[Term, ...]:
    """The terms between the commas of an argument list or list."""
    if len(run) == 1:
        return (resolve(run),)
    for item in run:
        if item.__class__ is Mark and item.value in (":-", ";", "->", "|"):
            raise Refused(
                "TW007",
                f"`{item.value}` inside an argument",
                item.span,
                "put the argument in brackets of its own",
            )
    return tuple(resolve(part) for part in split(run, ","))


def resolve(run: Run[Item]) -> Term:
    """The term of a run of operands and operators below the connectives.

    >>> from thalweg.language.terms import Atom
    >>> a = Atom("a")
    >>> resolve([a, Mark("INFIX", "+", a.span), a, Mark("INFIX", "*", a.span), a]).functor
    '+'
    """
    if len(run) == 1:
        only = run[0]
        assert not isinstance(only, Mark)
        return only
    if len(run) == 3:
        left, mark, right = run
        if (
            not isinstance(left, Mark)
            and isinstance(mark, Mark)
            and not isinstance(right, Mark)
            and mark.value in INFIX
        ):
            return Compound(mark.value, (left, right), join(left.span, right.span))
    return _climb(run)


def _climb(run: Run[Item]) -> Term:
    """Shunting yard: `pending` holds the operators whose right side is not complete."""
    output: list[tuple[Term, int]] = []
    pending: list[tuple[Mark, Operator, bool]] = []
    operand_expected = True
    for item in run:
        if not isinstance(item, Mark):
            output.append((item, 0))
            operand_expected = False
        elif operand_expected:
            pending.append((item, _known(PREFIX, item), True))
        else:
            operator = _known(INFIX, item)
            while pending and _reduces(pending[-1], operator):
                _apply(pending.pop(), output)
            pending.append((item, operator, False))
            operand_expected = True
    while pending:
        _apply(pending.pop(), output)
    term, priority = output[0]
    if priority > 999:
        raise Refused("TW007", "this cannot stand inside a clause", term.span)
    return term


def _known(table: dict[str, Operator], mark: Mark) -> Operator:
    operator = table.get(mark.value)
    if operator is None:
        advice = "write `;` between alternatives" if mark.value == "|" else None
        raise Refused("TW007", f"`{shown(mark.value)}` cannot stand here", mark.span, advice)
    return operator


def _reduces(top: tuple[Mark, Operator, bool], incoming: Operator) -> bool:
    """True when the operator on the stack takes what is there before the incoming one."""
    above = top[1]
    if above.priority == incoming.priority:
        return above.right < incoming.priority
    return above.priority < incoming.priority


def _apply(top: tuple[Mark, Operator, bool], output: list[tuple[Term, int]]) -> None:
    mark, operator, prefix = top
    right, right_priority = output.pop()
    if right_priority > operator.right:
        raise _not_associative(mark)
    if prefix:
        output.append((Compound(mark.value, (right,), join(mark.span, right.span)), operator.priority))
        return
    left, left_priority = output.pop()
    if left_priority > operator.left:
        raise _not_associative(mark)
    output.append((Compound(mark.value, (left, right), join(left.span, right.span)), operator.priority))


def _not_associative(mark: Mark) -> Refused:
    return Refused(
        "TW007",
        f"`{shown(mark.value)}` cannot be chained with the operator next to it",
        mark.span,
        "use brackets, or two literals with a comma between them",
    )


def depth_exceeds(term: Term, limit: int) -> bool:
    """True when the term is nested deeper than the limit; without recursion."""
    level: list[Term] = [term]
    for _ in range(limit):
        below: list[Term] = []
        for t in level:
            if isinstance(t, Compound):
                below.extend(t.args)
            elif isinstance(t, Sequence):
                below.extend(t.items)
                if t.rest is not None:
                    below.append(t.rest)
        if not below:
            return False
        level = below
    return True


_NOT_NAMES = (
    frozenset(INFIX) | frozenset(PREFIX) | frozenset(CONNECTIVES) | {"{}", "not"}
) - DIRECTIVE_WORDS


def names_atom(term: Term) -> bool:
    """True for what can be a predicate or a fluent: a name, with or without arguments, and no operator."""
    match term:
        case Atom(name):
            return name != "!"
        case Compound(functor, _):
            return functor not in _NOT_NAMES and not functor.startswith(DECLARE)
        case _:
            return False
