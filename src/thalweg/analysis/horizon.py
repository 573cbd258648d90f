"""How long must input be kept, and is memory bounded?

Event descriptions: an input row is kept while it lies in the window, because late events may still revise
what it caused; what lies before is carried as the running state, as pending countdowns (at most the
largest delay) and as the whole intervals that duration filters and Allen relations look at. Datalog: from
the earliest to the latest premise of an answer. LARS: as far as the windows over an atom reach back.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.delays import largest_delay
from thalweg.analysis.dependencies import Dependencies, Node, dependencies
from thalweg.analysis.roles import INPUT_PARTS, named
from thalweg.language.program import Program
from thalweg.language.rules import (
    Aggregate,
    Allen,
    Call,
    Clause,
    Duration,
    Kind,
    Windowed,
)
from thalweg.language.terms import Compound, Number, Term, Variable, arguments, signature


@dataclass(frozen=True, slots=True)
class Retention:
    """How long rows of one input are kept: `ticks` beyond their time (None: without end) and, for event
    descriptions, one window more. `readers` are the entities whose rules read it."""

    node: Node
    ticks: int | None
    readers: tuple[Node, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Horizon:
    """Retention per input; `window`: the window of the run is added; `largest_delay`: the longest
    countdown, None when it comes from background rules; `unbounded`: statements that make memory grow
    without end."""

    inputs: tuple[Retention, ...]
    window: bool
    largest_delay: int | None = 0
    unbounded: tuple[int, ...] = ()

    @property
    def bounded(self) -> bool:
        return not self.unbounded


def horizon(program: Program, found: Dependencies | None = None) -> Horizon:
    """How long the inputs of the program must be kept."""
    found = found or dependencies(program)
    match program.kind:
        case Kind.EVENTS:
            return _events(program, found)
        case Kind.ANSWERS:
            return _answers(program, found)
        case Kind.LARS:
            return _lars(program, found)


def _readers(found: Dependencies) -> dict[Node, tuple[Node, ...]]:
    readers: dict[Node, dict[Node, None]] = {
        node: {} for node, part in found.parts.items() if part in INPUT_PARTS
    }
    for edge in found.edges:
        if edge.source in readers:
            readers[edge.source][edge.target] = None
    return {node: tuple(reading) for node, reading in readers.items()}


# --------------------------------------------------------------------------- event descriptions


def _events(program: Program, found: Dependencies) -> Horizon:
    inputs = tuple(Retention(node, 0, reading, _why(node)) for node, reading in _readers(found).items())
    unbounded = tuple(
        index
        for index, statement in enumerate(program.statements)
        if any(
            isinstance(p.literal, Allen) and p.literal.relation == "before"
            for p in literals(body_of(statement))
        )
    )
    return Horizon(inputs, True, largest_delay(program), unbounded)


def _why(node: Node) -> str:
    if node.kind == "fluent":
        return "while a part of the interval lies in the window"
    return "while it lies in the window, where late rows may revise results"


def largest_duration(program: Program) -> int | None:
    """The longest bound of a duration filter; None where it is not written in the rule."""
    bounds = [
        place.literal.bound
        for statement in program.statements
        for place in literals(body_of(statement))
        if isinstance(place.literal, Duration)
    ]
    if not all(isinstance(bound, Number) for bound in bounds):
        return None
    return max((int(bound.value) for bound in bounds if isinstance(bound, Number)), default=0)


# --------------------------------------------------------------------------- temporal Datalog


def time_offset(time: Term) -> int | None:
    """The `k` of ``T+k``; None for a number or anything else that is not relative."""
    match time:
        case Variable():
            return 0
        case Compound("+", (Variable(), Number(k))) | Compound("+", (Number(k), Variable())):
            return int(k)
        case Compound("-", (Variable(), Number(k))):
            return -int(k)
        case _:
            return None


def _answers(program: Program, found: Dependencies) -> Horizon:
    """Premises of an answer at `T` lie between ``T+low`` and ``T+high``; input waits for the latest of them. Where
    the reasoner can plan the program it knows better: negation may go back in time for ever and memory not."""
    why = "until the latest premise of an answer that needs it is decided"
    planned = _planned(program)
    if planned is not None:
        kept = tuple(
            Retention(node, planned.get((node.name, node.arity), 0), reading, why)
            for node, reading in _readers(found).items()
        )
        return Horizon(kept, False, 0, ())
    spread: dict[Node, tuple[int, int] | None] = {
        node: (0, 0) for node, part in found.parts.items() if part in INPUT_PARTS
    }
    endless: list[int] = []
    for component in found.components:
        own = set(component.members)
        shifting = [index for index in component.rules if _shifts(program, index, own)]
        endless += shifting
        spread.update(dict.fromkeys(own, None if shifting else _spread(program, component.rules, spread)))
    known = [ends for ends in spread.values() if ends is not None]
    reach = None if len(known) < len(spread) else max((high - low for low, high in known), default=0)
    inputs = tuple(
        Retention(node, reach, reading, why)
        for node, reading in _readers(found).items()
    )
    return Horizon(inputs, False, 0, tuple(endless))


def _planned(program: Program) -> dict[tuple[str, int], int | None] | None:
    """How long the reasoner keeps each input; None where it is not there or has no plan."""
    module = "thalweg.answers.offline"
    if find_spec(module) is None:
        return None
    kept: dict[tuple[str, int], int | None] | None = import_module(module).kept_input(program)
    return kept


def _atoms(program: Program, index: int) -> tuple[Term, list[Term]]:
    clause = program.statements[index]
    assert isinstance(clause, Clause)
    goals = [place.literal.goal for place in literals(clause.body) if isinstance(place.literal, Call)]
    return clause.head, [goal for goal in goals if named(goal)]


def _shifts(program: Program, index: int, own: set[Node]) -> bool:
    """True when the rule reads its own component at another time-point."""
    head, goals = _atoms(program, index)
    here = time_offset(arguments(head)[-1]) if arguments(head) else 0
    return any(
        Node("predicate", *signature(goal)) in own
        and (time_offset(arguments(goal)[-1]) if arguments(goal) else 0) != here
        for goal in goals
    )


def _spread(
    program: Program, rules: tuple[int, ...], spread: dict[Node, tuple[int, int] | None]
) -> tuple[int, int] | None:
    """Earliest and latest premise of the rules' heads, relative to them; None where there is no latest."""
    lows, highs = [], []
    for index in rules:
        head, goals = _atoms(program, index)
        start = time_offset(arguments(head)[-1]) if arguments(head) else 0
        for goal in goals:
            node = Node("predicate", *signature(goal))
            if node in spread:
                ends = spread[node]
                if ends is None:
                    return None
                delta = (time_offset(arguments(goal)[-1]) or 0 if arguments(goal) else 0) - (start or 0)
                lows.append(ends[0] + delta)
                highs.append(ends[1] + delta)
    return min(lows, default=0), max(highs, default=0)


# --------------------------------------------------------------------------- LARS


def _lars(program: Program, found: Dependencies) -> Horizon:
    reach: dict[Node, int | None] = {}
    for statement in program.statements:
        for place in literals(body_of(statement)):
            literal = place.literal
            if isinstance(literal, Windowed | Aggregate) and named(literal.atom):
                node = Node("predicate", *signature(literal.atom))
                reach[node] = _further(reach.get(node, 0), _window_reach(literal))
    inputs = tuple(
        Retention(node, reach.get(node, 0), reading, "as far as the windows over it reach back")
        for node, reading in _readers(found).items()
    )
    return Horizon(inputs, False)


def _window_reach(literal: Windowed | Aggregate) -> int | None:
    """How many ticks back a window looks; None for one that counts atoms, or for none at all."""
    window = literal.window
    if window is None or window.kind != "time":
        return None
    return window.past + window.hop - 1


def _further(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)
