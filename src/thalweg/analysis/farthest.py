"""How far from 0 times may lie. Times are integers of 64 bits; a program to which they are numbers as well, which are
floats, takes only those that a float tells from their neighbours."""

from __future__ import annotations

from thalweg.analysis.bodies import head_terms, literals
from thalweg.analysis.shape import POINTWISE
from thalweg.analysis.temporal import Sorts, sorts_of
from thalweg.language.program import Program
from thalweg.language.rules import Call, Clause, Compare, EffectRule, EventRule, Kind, literal_terms
from thalweg.language.terms import EXACT, Term, Variable, arguments, signature, variables

FARTHEST = 4 * 10**18
"""The largest time of a row: in nanoseconds since 1970, in the year 2096. With a delay or a step added, it is still
less than what stands for no time at all."""


def farthest(program: Program) -> int:
    """The largest time that rows of the program may have.

    >>> from thalweg.language.parser import parse
    >>> farthest(parse("initiatedAt(on(X)=true, T) :- happensAt(e(X), T)."))
    4000000000000000000
    >>> farthest(parse("initiatedAt(on(X)=true, T) :- happensAt(e(X), T), T mod 10 =:= 3."))
    9007199254740991
    """
    return EXACT - 1 if program.once(_are_numbers) else FARTHEST


def too_large(limit: int) -> str:
    """What is said of times beyond the limit."""
    if limit < FARTHEST:
        return "too large: the program computes with times, exact below 2**53 (as microseconds since 1970 are)"
    return "too large: times go to 4 * 10**18 either way, and as floats to 2**53"


def _are_numbers(program: Program) -> bool:
    """True where times stand among numbers and constants, or are computed with."""
    match program.kind:
        case Kind.EVENTS:
            return any(_speaks_of_its_time(s) for s in program.statements if isinstance(s, EffectRule | EventRule))
        case Kind.ANSWERS:
            sorts = sorts_of(program)
            return any(_is_untied(clause, sorts, number) for number, clause in enumerate(sorts.clauses))
        case Kind.LARS:
            return True


def _speaks_of_its_time(rule: EffectRule | EventRule) -> bool:
    """Does the time of a rule stand elsewhere than where its head and its literals say when they are true?"""
    if not isinstance(rule.time, Variable) or rule.time.anonymous:
        return False
    terms = [*head_terms(rule)[:-1]]
    for literal, _, _ in literals(rule.body):
        found = literal_terms(literal)
        terms += found[:-1] if isinstance(literal, POINTWISE) else found
    return any(v == rule.time for term in terms for v in variables(term))


def _is_untied(clause: Clause, sorts: Sorts, number: int) -> bool:
    """Does a clause of Temporal Datalog compare or compute with a time, or read atoms at others than that of its head?
    Times that are not tied to each other are columns of their own, like constants."""
    inside = [place.literal for place in literals(clause.body)]
    tested = {v.name for x in inside if isinstance(x, Compare) for side in (x.left, x.right) for v in variables(side)}
    goals = [x.goal for x in inside if isinstance(x, Call) and signature(x.goal) in sorts.temporal]
    own = _time(clause.head)
    return bool(tested & sorts.times_of(number)) or any(_time(goal) is None or _time(goal) != own for goal in goals)


def _time(goal: Term) -> str | None:
    """The variable of an atom's last argument; None for a constant."""
    return next((v.name for v in variables(arguments(goal)[-1])), None) if arguments(goal) else None
