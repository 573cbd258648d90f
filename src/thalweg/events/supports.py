"""What it takes for a rule of a determined fluent to say something."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.events.forms import SpanRule, names
from thalweg.language.rules import Allen, Combine, Duration
from thalweg.language.terms import Term, Variable


def indispensable(rule: SpanRule) -> set[str]:
    """The inputs without which the result is empty, by the names of their interval variables."""
    return _support(rule, {name: {name} for name, _ in rule.inputs})


def covered(rule: SpanRule) -> set[str]:
    """The variables that are named by whatever makes the result non-empty."""
    return _support(rule, {name: names((x,)) for name, x in rule.inputs})


def present(rule: SpanRule) -> set[str]:
    """The variables that are named by what holds at each point of the result."""
    return _support(rule, {name: names((x,)) for name, x in rule.inputs}, related=set.intersection)


def _support(
    rule: SpanRule, of_input: dict[str, set[str]], related: Callable[[set[str], set[str]], set[str]] = set.union
) -> set[str]:
    """What a non-empty result implies, when a non-empty input implies of_input; `related` says it of two sides."""
    steps = {x.result.name: x for x in rule.steps if isinstance(x.result, Variable)}

    def of(term: Term) -> set[str]:
        if not isinstance(term, Variable):
            return set()
        if term.name in of_input:
            return of_input[term.name]
        match steps.get(term.name):
            case Combine("union_all", parts) if parts:
                return set.intersection(*(of(p) for p in parts))
            case Combine("intersect_all", parts):
                return set().union(*(of(p) for p in parts))
            case Combine("relative_complement_all", _, base=base) if base is not None:
                return of(base)
            case Duration(_, intervals):
                return of(intervals)
            case Allen(_, left, right):
                return related(of(left), of(right))
            case _:
                return set()

    return of(Variable(rule.result))
