"""Terms of the reference as text, and text as terms."""

from __future__ import annotations

from thalweg.language.instances import apart, split_arguments, unquoted
from thalweg.reference.arithmetic import Test
from thalweg.reference.bodies import Absence, Collect, Fact, Goal
from thalweg.reference.terms import LIST, Ground, Subst, Term, Var, constant, is_ground, resolve, text

_OPERATORS = ("mod", "rem", "div")
"""Names that stand between what they compute with, as signs do."""


def ground(written: str) -> Ground:
    """The term that results write like this.

    >>> ground("voted('North Sea',3)"), ground("'-'(a,b)")
    (('voted', 'North Sea', 3), ('-', 'a', 'b'))
    """
    written = written.strip()
    if written.startswith("'") and written.endswith("'") and len(written) > 1:
        return unquoted(written)
    if written.startswith("[") and written.endswith("]"):
        return (LIST, *map(ground, split_arguments(written[1:-1]) if len(written) > 2 else []))
    name, arguments = apart(written)
    return (unquoted(name), *(ground(argument) for argument in arguments)) if arguments else constant(written)


def worded(term: Term, subst: Subst) -> str:
    """A term as text; a variable without a value by its name."""
    term = resolve(term, subst)
    if isinstance(term, Var):
        return "_" if not term.name[:1].isalpha() else term.name.split("/")[0]
    if is_ground(term):
        return text(term)
    if term[0] == LIST:
        return "[" + ",".join(worded(item, subst) for item in term[1:]) + "]"
    return f"{text(term[0])}({','.join(worded(argument, subst) for argument in term[1:])})"


def _side(term: Term, subst: Subst, *, inner: bool = False) -> str:
    """A side of a comparison: a computation as one writes it, with the values of its variables."""
    if not isinstance(term, tuple) or term[0] in (LIST, "="):
        return worded(term, subst)
    if term[0] not in _OPERATORS and term[0][:1].isalpha():
        return f"{text(term[0])}({','.join(_side(argument, subst) for argument in term[1:])})"
    if len(term) != 3:
        return worded(term, subst)
    left, right = (_side(argument, subst, inner=True) for argument in term[1:])
    return f"({left} {term[0]} {right})" if inner else f"{left} {term[0]} {right}"


def pair_text(fluent: Term, value: Term, subst: Subst | None = None) -> str:
    return f"{worded(fluent, subst or {})}={worded(value, subst or {})}"


def goal_text(goal: Goal, subst: Subst) -> str:
    """A condition as one would say it."""
    match goal:
        case Fact("happens", (event, _)):
            return worded(event, subst)
        case Fact("call", (term,)):
            return worded(term, subst)
        case Fact("holds" | "holdsFor", (fluent, value, *_)):
            return pair_text(fluent, value, subst)
        case Fact(kind, (fluent, value, *_)):
            return f"{kind}({pair_text(fluent, value, subst)})"
        case Test(op, left, right):
            return f"{_side(left, subst)} {op} {_side(right, subst)}"
        case Absence(alternatives):
            inner = [", ".join(goal_text(g, subst) for g in goals) for goals in alternatives]
            return "no " + " or ".join(
                f"({part})" if "," in part and len(goals) > 1 else part
                for part, goals in zip(inner, alternatives, strict=True)
            )
        case Collect(template, alternatives, result):
            inner = [", ".join(goal_text(g, subst) for g in goals) for goals in alternatives]
            return f"all {worded(template, subst)} with {' or '.join(inner)}: {worded(result, subst)}"
    raise AssertionError(goal)
