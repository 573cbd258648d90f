"""Literals, rules and declarations: what a program is made of, once its clauses are understood.

Frozen data only. `language.reader` makes these from clauses, `language.printer` turns them back into
text, `analysis` asks questions about them and the reasoners compile them. Spans take no part in equality.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from thalweg.language.terms import NOWHERE, Span, Term


def _span() -> Span:
    return field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Pair:
    """A fluent-value pair ``F=V``."""

    fluent: Term
    value: Term


# --------------------------------------------------------------------------- literals


@dataclass(frozen=True, slots=True)
class Happens:
    """``[not] happensAt(event, time)``."""

    event: Term
    time: Term
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Holds:
    """``[not] holdsAt(fluent=value, time)``."""

    pair: Pair
    time: Term
    negated: bool = False
    span: Span = _span()


class Edge(StrEnum):
    """Which end of a maximal interval a boundary event marks."""

    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class Boundary:
    """``[not] happensAt(start(F=V), time)`` or ``end(F=V)``: first point minus one, last point.

    ``startI``/``endI`` are read as ``start``/``end``.
    """

    edge: Edge
    pair: Pair
    time: Term
    negated: bool = False
    span: Span = _span()


class Effect(StrEnum):
    """What a rule does to a pair."""

    INITIATES = "initiatedAt"
    TERMINATES = "terminatedAt"


@dataclass(frozen=True, slots=True)
class Affects:
    """``[not] initiatedAt(F=V, time)`` or ``terminatedAt(F=V, time)`` as a body literal."""

    effect: Effect
    pair: Pair
    time: Term
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """A predicate without a place in the Event Calculus: background knowledge, or, in Temporal Datalog
    and LARS programs, an ordinary atom. ``length/2``, ``sum_list/2``, ``max_list/2``, ``min_list/2`` and ``member/2``
    are calls too."""

    goal: Term
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Compare:
    """``left op right`` with op one of ``= \\= == \\== < > =< >= =:= =\\= is @< @> @=< @>=``."""

    op: str
    left: Term
    right: Term
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class FindAll:
    """``findall(template, (body), result)``; `result` is usually read by ``length(Result, N)``."""

    template: Term
    body: tuple[Literal, ...]
    result: Term
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Either:
    """``(a, b ; c)``: one of the alternatives."""

    alternatives: tuple[tuple[Literal, ...], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Absent:
    """``\\+ (a, b)``: no way to make the conjunction true. A single negated literal says so itself."""

    body: tuple[Literal, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class HoldsFor:
    """``holdsFor(F=V, I)`` in the body of a determined fluent: `intervals` is a variable."""

    pair: Pair
    intervals: Term
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Combine:
    """An interval operation. ``op`` is one of ``union_all``, ``intersect_all``, ``complement_all`` (inputs: the
    list) and ``relative_complement_all`` (`base` minus the inputs)."""

    op: str
    inputs: tuple[Term, ...]
    result: Term
    base: Term | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Allen:
    """``allen(relation, left, right, mode, result)``; mode is ``source``, ``target``, ``union``, ``intersection``,
    ``relative_complement`` or ``relative_complement_inverse``."""

    relation: str
    left: Term
    right: Term
    mode: str
    result: Term
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Duration:
    """``intDurGreater(I, D, R)`` (op ``>``), ``intDurLess`` (op ``<``), ``duration at least D`` (op ``>=``)."""

    op: str
    intervals: Term
    bound: Term
    result: Term
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Window:
    """A LARS window. ``time``: points ``[t'-past, t'+future]``, ``t' = floor(t/hop)*hop``; ``tuple``: the last
    `past` atoms and the first `future` after; ``partition``: a tuple window per value of the variables `by`."""

    kind: str
    past: int
    future: int = 0
    hop: int = 1
    by: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Windowed:
    """``[window] sometime|always|at(time) atom``; no window with mode ``at`` is a plain at-atom."""

    atom: Term
    mode: str
    window: Window | None = None
    time: Term | None = None
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``result = function(template) over [window] atom`` (LARS); function is count, sum, min or max."""

    function: str
    template: Term
    atom: Term
    window: Window
    result: Term
    span: Span = _span()


Literal = (
    Happens
    | Holds
    | Boundary
    | Affects
    | Call
    | Compare
    | FindAll
    | Either
    | Absent
    | HoldsFor
    | Combine
    | Allen
    | Duration
    | Windowed
    | Aggregate
)


def literal_terms(literal: Literal) -> tuple[Term, ...]:
    """The terms of one literal, not of the bodies nested in it."""
    match literal:
        case Happens(event, time):
            return event, time
        case Holds(pair, time) | Boundary(_, pair, time) | Affects(_, pair, time):
            return pair.fluent, pair.value, time
        case Call(goal):
            return (goal,)
        case Compare(_, left, right):
            return left, right
        case FindAll(template, _, result):
            return template, result
        case Either() | Absent():
            return ()
        case HoldsFor(pair, intervals):
            return pair.fluent, pair.value, intervals
        case Combine(_, inputs, result, base):
            return *((base,) if base is not None else ()), *inputs, result
        case Allen(_, left, right, _, result):
            return left, right, result
        case Duration(_, intervals, bound, result):
            return intervals, bound, result
        case Windowed(atom, _, window, time):
            by = window.by if window is not None else ()
            return atom, *by, *((time,) if time is not None else ())
        case Aggregate(_, template, atom, window, result):
            return template, atom, *window.by, result
Body = tuple[Literal, ...]

# --------------------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True)
class EffectRule:
    """``initiatedAt(F=V, T) :- body`` or ``terminatedAt``. ``initiates/terminates(E, F=V, T)`` is read as one
    with ``happensAt(E, T)`` first; the 4-argument forms lose their bounds."""

    effect: Effect
    pair: Pair
    time: Term
    body: Body
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class EventRule:
    """``happensAt(E, T) :- body``: a derived event."""

    event: Term
    time: Term
    body: Body
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class IntervalRule:
    """``holdsFor(F=V, I) :- body``: a statically determined fluent."""

    pair: Pair
    intervals: Term
    body: Body
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Initially:
    """``initially(F=V) :- body``."""

    pair: Pair
    body: Body = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Delayed:
    """``fi(F=V, F=V2, R)``: `target` is the pair to initiate; ``ft(F=V, R)``: `target` is None, `source` ends."""

    source: Pair
    target: Pair | None
    delay: Term
    body: Body = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Postponable:
    """``p(F=V)``: re-initiation restarts the countdown."""

    pair: Pair
    body: Body = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Clause:
    """A fact or rule of background knowledge; in Temporal Datalog and LARS programs, any rule.

    In LARS programs the head may be ``at(T) a``: then `at` is the time term."""

    head: Term
    body: Body = ()
    at: Term | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Query:
    """``query malf(X, T).``"""

    goal: Term
    span: Span = _span()


# --------------------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a declaration, ``vessel: symbol``. Type is symbol, int, float or number; empty where it is
    left to inference."""

    name: str
    type: str


class Role(StrEnum):
    EVENT = "event"  # input event
    STATE = "state"  # fluent computed by rules, possibly with its values
    FLUENT = "fluent"  # input fluent, arrives as intervals
    POINTS = "points"  # input fluent, arrives as points joined by the tick


@dataclass(frozen=True, slots=True)
class Declare:
    """``event velocity(vessel: symbol, speed: float).``, ``state status(motion: symbol) in {null, proposed}.``,
    ``fluent proximity(a: symbol, b: symbol).``, ``points(walk(_)=true).``"""

    role: Role
    name: str
    arguments: tuple[Argument, ...]
    values: tuple[Term, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Grounding:
    """``grounding(entity) :- body``: which instances are wanted; entity is an event term or ``F=V``."""

    entity: Term
    body: Body = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class DynamicDomain:
    """``dynamicDomain(person(_))``: the predicate's extension is filled from the stream."""

    predicate: Term
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Tick:
    """``tick 1s.``: how long one time-point lasts, in seconds."""

    seconds: float
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Ignored:
    """A directive or declaration that is accepted and has no effect here, kept so that it prints back."""

    term: Term
    directive: bool
    span: Span = _span()


Statement = (
    EffectRule
    | EventRule
    | IntervalRule
    | Initially
    | Delayed
    | Postponable
    | Clause
    | Query
    | Declare
    | Grounding
    | DynamicDomain
    | Tick
    | Ignored
)


class Kind(StrEnum):
    """The three kinds of program."""

    EVENTS = "events"
    ANSWERS = "answers"
    LARS = "lars"
