"""LARS: windows, windowed atoms and aggregates, in our own syntax and in the ASCII form of Ticker.

Ours: ``[3m] sometime a``, ``[3m] always a``, ``[3m] at(T) a``, ``at(T) a``. Ticker's: ``a [3 min]``,
``a always [3 min]``, ``a at T [3 min]``, ``a at T``. Both are read into the same literals.
"""

from __future__ import annotations

from thalweg.language.diagnostics import Refused
from thalweg.language.operators import (
    ALWAYS,
    AT,
    AT_ATOM,
    BY,
    COMPARISONS,
    DECLARE,
    HOP,
    IN,
    OVER,
    SOMETIME,
    WINDOW_AFTER,
    WINDOW_BEFORE,
    names_atom,
    shown,
)
from thalweg.language.rules import Aggregate, Window, Windowed
from thalweg.language.terms import Atom, Compound, Number, Sequence, Term, Variable

FUNCTIONS = ("count", "sum", "min", "max")


def _malformed(message: str, term: Term, suggestion: str | None = None) -> Refused:
    return Refused("TW033", message, term.span, suggestion)


def windowed(term: Compound) -> Windowed:
    """The literal of a windowed atom or an at-atom."""
    left, right = term.args
    if isinstance(right, Compound) and right.functor == WINDOW_AFTER and right.args[0] == Atom("in"):
        right = right.args[1]
    match term.functor:
        case functor if functor == IN:
            if not isinstance(right, Sequence):
                raise _malformed("after `in` a window is expected", right)
            if isinstance(left, Compound) and left.functor == AT:
                return Windowed(_atom(left.args[0]), "at", window(right), left.args[1], span=term.span)
            return Windowed(_atom(left), "sometime", window(right), span=term.span)
        case functor if functor in (SOMETIME, ALWAYS):
            mode = shown(functor)
            if isinstance(left, Sequence):
                return Windowed(_atom(right), mode, window(left), span=term.span)
            if isinstance(right, Sequence):
                return Windowed(_atom(left), mode, window(right), span=term.span)
            raise _malformed(f"`{mode}` needs a window", term, f"write `[3m] {mode} atom`")
        case functor if functor == AT:
            time, after = _split_time(right)
            return Windowed(_atom(left), "at", window(after) if after else None, time, span=term.span)
        case functor if functor == AT_ATOM:
            return Windowed(_atom(right), "at", None, left, span=term.span)
        case functor if functor == WINDOW_AFTER:
            assert isinstance(right, Sequence)
            return Windowed(_atom(left), "sometime", window(right), span=term.span)
        case functor if functor == WINDOW_BEFORE:
            assert isinstance(left, Sequence)
            if isinstance(right, Compound) and right.functor == AT_ATOM:
                return Windowed(_atom(right.args[1]), "at", window(left), right.args[0], span=term.span)
            raise _malformed(
                "a window without `sometime`, `always` or `at(T)`",
                term,
                "write for instance `[3m] sometime atom`",
            )
        case functor:
            advice = "name the result of an aggregate: `N = count(X) over [5m] p(X)`" if functor == OVER else None
            raise _malformed(f"`{shown(functor)}` cannot stand here", term, advice)


def is_function(term: Term) -> bool:
    """True for ``count(X)`` and the like."""
    return isinstance(term, Compound) and term.functor in FUNCTIONS and len(term.args) == 1


def over_nothing(function: Term) -> Refused:
    """What is said of an aggregate without a window and an atom."""
    message = "an aggregate says over which window and atom"
    return _malformed(message, function, "write `N = count(X) over [5m] p(X)`")


def aggregate(whole: Compound, result: Term, over: Compound) -> Aggregate:
    """The literal of ``N = count(X) over [5m] p(X)``."""
    function, scope = over.args
    if whole.functor not in ("=", "is"):
        raise _malformed(
            "the result of an aggregate is named with `=`", whole, "write `N = count(X) over [5m] p(X)`"
        )
    if not (isinstance(function, Compound) and is_function(function)):
        example = "write `N = count(X) over [5m] p(X)`"
        raise _malformed(f"an aggregate is one of {', '.join(FUNCTIONS)} of one term", function, example)
    if not (isinstance(scope, Compound) and scope.functor == WINDOW_BEFORE):
        raise _malformed("after `over` a window and an atom are expected", scope, "write `over [5m] p(X)`")
    frame, atom = scope.args
    assert isinstance(frame, Sequence)
    return Aggregate(function.functor, function.args[0], _atom(atom), window(frame), result, span=whole.span)


def _atom(term: Term) -> Term:
    if names_atom(term):
        return term
    raise _malformed("a window is followed by an atom", term)


def _split_time(term: Term) -> tuple[Term, Sequence | None]:
    """Takes the window off the end of a time term: ``T+1 [5]`` is read as ``T + (1 [5])``."""
    spine: list[Compound] = []
    while isinstance(term, Compound) and term.functor in ("+", "-") and len(term.args) == 2:
        spine.append(term)
        term = term.args[1]
    frame: Sequence | None = None
    if isinstance(term, Compound) and term.functor == WINDOW_AFTER:
        term, after = term.args
        assert isinstance(after, Sequence)
        frame = after
    for above in reversed(spine):
        term = Compound(above.functor, (above.args[0], term), above.span)
    return term, frame


# --------------------------------------------------------------------------- windows


def window(frame: Sequence) -> Window:
    """The window of what stands in square brackets."""
    items = list(frame.items)
    if not items or frame.rest is not None:
        raise _malformed("an empty window", frame, "write its size: `[3m]`")
    first = items[0]
    if isinstance(first, Compound) and first.functor == BY:
        return _partition(first, items[1:])
    hop = 1
    last = items[-1]
    if isinstance(last, Compound) and last.functor == HOP:
        items[-1] = last.args[0]
        hop = _size(last.args[1])
        if hop < 1:
            raise _malformed("a window hops by at least one time-point", last.args[1])
    if len(items) > 2:
        raise _malformed("a window has at most a past and a future size", frame)
    sizes = [_signed(item) for item in items]
    if len({counts for _, counts, _ in sizes}) > 1 or len({future for future, _, _ in sizes}) < len(sizes):
        raise _malformed("a window has one past and one future size, of one kind", frame, "write `[3m, +5m]`")
    past = sum(size for future, _, size in sizes if not future)
    ahead = sum(size for future, _, size in sizes if future)
    if sizes[0][1]:
        if hop != 1:
            raise _malformed("a window of a number of atoms cannot hop", last)
        return Window("tuple", past, ahead)
    return Window("time", past, ahead, hop)


def _partition(first: Compound, others: list[Term]) -> Window:
    by = (first.args[1], *others)
    for term in by:
        if not isinstance(term, Variable):
            raise _malformed("a window is partitioned by variables", term)
    return Window("partition", _size(first.args[0]), 0, 1, by)


def _signed(term: Term) -> tuple[bool, bool, int]:
    """Whether a size is a future one, whether it counts atoms, and the size."""
    future = isinstance(term, Compound) and term.functor == "+" and len(term.args) == 1
    if future:
        assert isinstance(term, Compound)
        term = term.args[0]
    counts = isinstance(term, Compound) and term.functor == "#"
    if counts:
        assert isinstance(term, Compound)
        term = term.args[0]
    return future, counts, _size(term)


def _size(term: Term) -> int:
    if isinstance(term, Number) and isinstance(term.value, int) and term.value >= 0:
        return term.value
    raise _malformed("the size of a window is a whole number of time-points or atoms", term)


# --------------------------------------------------------------------------- places


def misplaced(clause: Term) -> Compound | None:
    """The first term with a window, or a word such as `sometime` between terms, that stands inside an ordinary term,
    where it has no meaning."""
    waiting: list[tuple[Term, str]] = [(clause, "literal")]
    while waiting:
        term, place = waiting.pop()
        if isinstance(term, Sequence):
            waiting.extend((item, "size" if place == "window" else "term") for item in term.items)
            if term.rest is not None:
                waiting.append((term.rest, "term"))
        elif isinstance(term, Compound):
            if _is_window_form(term) and not _may_stand(term, place):
                return term
            waiting.extend(zip(term.args, _places(term, place), strict=True))
    return None


def _is_window_form(term: Compound) -> bool:
    return term.functor.startswith(DECLARE) and len(term.args) == 2


def _may_stand(term: Compound, place: str) -> bool:
    match place:
        case "literal":
            return True
        case "time":
            return term.functor == WINDOW_AFTER
        case "size":
            return term.functor in (HOP, BY)
        case _:
            return False


def _places(term: Compound, place: str) -> list[str]:
    """What each argument of a term is, in the place where the term stands. What else is wrong with a form that stands
    for a literal is said when the literal is read."""
    arity = len(term.args)
    if place == "time" and term.functor in ("+", "-"):
        return ["term"] * (arity - 1) + ["time"]
    if _is_window_form(term):
        wanted = _INSIDE.get(term.functor, ("term", "term"))
        return ["window" if isinstance(a, Sequence) else w for a, w in zip(term.args, wanted, strict=True)]
    if place == "literal":
        if term.functor in (":-", ",", ";", "->", "\\+", "not") or term.functor.startswith(DECLARE):
            return ["literal"] * arity
        if term.functor in COMPARISONS and arity == 2:
            right = term.args[1]
            return ["term", "literal" if isinstance(right, Compound) and right.functor == OVER else "term"]
        if term.functor == "findall" and arity == 3:
            return ["term", "literal", "term"]
    return ["term"] * arity


_INSIDE = {
    SOMETIME: ("term", "time"),
    ALWAYS: ("term", "time"),
    AT: ("term", "time"),
    IN: ("literal", "term"),
    OVER: ("term", "literal"),
    WINDOW_BEFORE: ("window", "literal"),
}
"""What the arguments of a form are, where they are not just terms; in square brackets they are windows."""
