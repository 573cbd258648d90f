"""Rule bodies as goals, and the one way to solve them: plain resolution with negation by failure.

A body is read into alternatives (disjunctions are multiplied out), each a tuple of goals. A goal that needs a value
that is not there yet waits for the others, so the order in which a body is written does not matter. A negated
condition waits for the variables it shares with positive ones; a variable that occurs under the negation only is
existential there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from thalweg.language import rules as language
from thalweg.language.terms import Sequence
from thalweg.reference.arithmetic import Test, Unbound, compare
from thalweg.reference.terms import Reader, Subst, Term, Var, is_ground, order_key, resolve, unify, variables


class UnsafeRule(ValueError):
    """The positive conditions of a rule leave a variable without a value."""


@dataclass(frozen=True)
class Fact:
    """A condition that the world answers: `kind` is happens, holds, start, end, initiatedAt, terminatedAt, holdsFor or
    call; `terms` are its arguments, a pair being two of them."""

    kind: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Absence:
    """No way to make one of the alternatives true."""

    alternatives: tuple[Goals, ...]
    waits: frozenset[Var] = frozenset()


@dataclass(frozen=True)
class Collect:
    """findall: one item for each way to make the alternatives true, in the standard order of terms."""

    template: Term
    alternatives: tuple[Goals, ...]
    result: Term
    waits: frozenset[Var] = frozenset()


Goal = Fact | Test | Absence | Collect
Goals = tuple[Goal, ...]


class World(Protocol):
    """What facts are answered from."""

    def answers(self, fact: Fact, subst: Subst) -> Iterable[Subst]:
        """Every way to make the fact true; raises `Unbound` where it needs more values."""


# --------------------------------------------------------------------------- reading


def disjuncts(body: language.Body) -> tuple[language.Body, ...]:
    """The body with its disjunctions multiplied out."""
    alternatives: list[language.Body] = [()]
    for literal in body:
        choices: list[language.Body] = [(literal,)]
        if isinstance(literal, language.Either):
            choices = [flat for alternative in literal.alternatives for flat in disjuncts(alternative)]
        alternatives = [(*before, *choice) for before in alternatives for choice in choices]
    return tuple(alternatives)


def interval_bodies(rule: language.IntervalRule) -> tuple[language.Body, ...]:
    """The alternatives of a `holdsFor` rule; none where it says that there are no intervals: rules are united."""
    return () if rule.intervals == Sequence(()) else disjuncts(rule.body)


def read_body(body: language.Body, reader: Reader) -> tuple[Goals, ...]:
    """The alternatives of a body as goals."""
    return tuple(read_goals(flat, reader) for flat in disjuncts(body))


def read_goals(body: language.Body, reader: Reader) -> Goals:
    """The goals of a body without disjunctions at its top."""
    return _with_waits([_read(literal, reader) for literal in body])


def _read(literal: language.Literal, reader: Reader) -> Goal:
    read = reader.term
    goal: Goal
    match literal:
        case language.Happens(event, time):
            goal = Fact("happens", (read(event), read(time)))
        case language.Holds(pair, time):
            goal = Fact("holds", (read(pair.fluent), read(pair.value), read(time)))
        case language.Boundary(edge, pair, time):
            goal = Fact(edge.value, (read(pair.fluent), read(pair.value), read(time)))
        case language.Affects(effect, pair, time):
            goal = Fact(effect.value, (read(pair.fluent), read(pair.value), read(time)))
        case language.HoldsFor(pair):
            goal = Fact("holdsFor", (read(pair.fluent), read(pair.value)))
        case language.Call(term):
            goal = Fact("call", (read(term),))
        case language.Compare(op, left, right):
            goal = Test(op, read(left), read(right))
        case language.Absent(body):
            goal = Absence(read_body(body, reader))
        case language.FindAll(template, body, result):
            goal = Collect(read(template), read_body(body, reader), read(result))
        case _:
            raise NotImplementedError(f"{literal!r} has no meaning in an event description")
    return Absence(((goal,),)) if getattr(literal, "negated", False) else goal


def goal_variables(goal: Goal) -> frozenset[Var]:
    """Every variable that occurs in the goal."""
    match goal:
        case Fact(_, terms):
            found = [v for term in terms for v in variables(term)]
        case Test(_, left, right):
            found = [*variables(left), *variables(right)]
        case Absence(alternatives):
            found = [v for goals in alternatives for inner in goals for v in goal_variables(inner)]
        case Collect(template, alternatives, result):
            found = [v for goals in alternatives for inner in goals for v in goal_variables(inner)]
            found += [*variables(template), *variables(result)]
    return frozenset(found)


def _bound_by(goal: Goal) -> frozenset[Var]:
    match goal:
        case Fact():
            return goal_variables(goal)
        case Test("=" | "is"):
            return goal_variables(goal)
        case Collect(result=result):
            return frozenset(variables(result))
    return frozenset()


def _with_waits(goals: list[Goal]) -> Goals:
    """The goals, negations and findalls told which variables the other goals will bind."""
    result: list[Goal] = []
    for index, goal in enumerate(goals):
        others = frozenset(v for i, other in enumerate(goals) if i != index for v in _bound_by(other))
        match goal:
            case Absence(alternatives):
                goal = Absence(alternatives, goal_variables(goal) & others)
            case Collect(template, alternatives, found):
                inner = goal_variables(Absence(alternatives)) | frozenset(variables(template))
                goal = Collect(template, alternatives, found, inner & others)
        result.append(goal)
    return tuple(result)


# --------------------------------------------------------------------------- solving


def solve(alternatives: Iterable[Goals], subst: Subst, world: World) -> Iterator[Subst]:
    """Every way to make one of the alternatives true."""
    for goals in alternatives:
        yield from _solve(goals, subst, world)


def _solve(goals: Goals, subst: Subst, world: World) -> Iterator[Subst]:
    if not goals:
        yield subst
        return
    for index, goal in enumerate(goals):
        try:
            answers = list(_answers(goal, subst, world))
        except Unbound:
            continue
        rest = goals[:index] + goals[index + 1 :]
        for answer in answers:
            yield from _solve(rest, answer, world)
        return
    raise Unbound(goals)


def _answers(goal: Goal, subst: Subst, world: World) -> Iterable[Subst]:
    match goal:
        case Fact():
            return world.answers(goal, subst)
        case Test():
            return compare(goal, subst)
        case Absence(alternatives, waits):
            _require(waits, subst)
            return () if any(True for _ in solve(alternatives, subst, world)) else (subst,)
        case Collect():
            _require(goal.waits, subst)
            extended = unify(goal.result, _collected(goal, subst, world), subst)
            return () if extended is None else (extended,)


def _require(waits: frozenset[Var], subst: Subst) -> None:
    if not all(is_ground(resolve(variable, subst)) for variable in waits):
        raise Unbound(waits)


def _collected(goal: Collect, subst: Subst, world: World) -> Term:
    """The list of a findall. Two ways that bind every variable of the body alike are one way."""
    names = sorted(goal_variables(Absence(goal.alternatives)), key=lambda v: (v.name, v.number))
    ways = {
        tuple(resolve(name, answer) for name in names): resolve(goal.template, answer)
        for answer in solve(goal.alternatives, subst, world)
    }
    return ("[]", *sorted(ways.values(), key=order_key))
