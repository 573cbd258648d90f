"""Which variables of rules and templates are bound, and which nothing says anything about."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.answers.background import EQUAL
from thalweg.answers.datalog import Rule, Test, TimedAtom
from thalweg.answers.templates import Template
from thalweg.language.terms import Variable, variables


def unbound_in_head(rule: Rule) -> list[str]:
    """Variables of the head of a rule that the body does not mention; a fact may be about all times."""
    mentioned: set[str] = set()
    for condition in rule.body:
        terms = condition.args if isinstance(condition, TimedAtom) else (condition.left, condition.right)
        mentioned |= {v.name for term in terms for v in variables(term)}
        if (
            isinstance(condition, TimedAtom)
            and condition.time is not None
            and condition.time.variable is not None
        ):
            mentioned.add(condition.time.variable)
    head = [v.name for term in rule.head.args for v in variables(term)]
    if rule.body and rule.head.time is not None and rule.head.time.variable is not None:
        head.append(rule.head.time.variable)
    return [name for name in dict.fromkeys(head) if name not in mentioned]


def bound_variables(template: Template) -> set[str]:
    """Variables that positive premises or computations bind."""
    bound = {v.name for p in template.premises if not p.negated for a in p.args for v in variables(a)}
    bound |= set(template.time_variables())
    growing = True
    while growing:
        growing = False
        for test in template.tests:
            target = computed(test, bound)
            if target is not None and target not in bound:
                bound.add(target)
                growing = True
    return bound


def computed(test: Test, bound: set[str]) -> str | None:
    """The variable that the test gives a value to, once everything else in it is bound."""
    if test.negated or test.op not in EQUAL or not isinstance(test.left, Variable):
        return None
    return test.left.name if all(v.name in bound for v in variables(test.right)) else None


def open_variables(template: Template) -> list[str]:
    """Head variables that only negated atoms restrict, or nothing at all."""
    bound = bound_variables(template)
    return list(dict.fromkeys(v.name for t in template.head for v in variables(t) if v.name not in bound))


def unsafe(template: Template) -> Iterator[str]:
    """What is wrong with the variables of a template, in sentences."""
    bound = bound_variables(template)
    free = set(open_variables(template))
    for test in template.tests:
        for variable in (v for side in (test.left, test.right) for v in variables(side)):
            if variable.name not in bound:
                yield f"{variable.name} is compared in `{test}` and bound by no positive atom"
    for premise in (p for p in template.premises if p.negated):
        names = {v.name for a in premise.args for v in variables(a)}
        for name in sorted(names - bound - free):
            yield f"{name} stands in `{premise}` only, and is bound by no positive atom"
        if free and names & free and not free <= names:
            yield f"`{premise}` restricts only some of the open variables {', '.join(sorted(free))}"
        if premise.time is None and names & free:
            yield f"{', '.join(sorted(names & free))} is restricted by background facts only under a negation"
    heads = {v.name for t in template.head for v in variables(t)}
    others = {
        v.name for p in template.premises if not p.negated for a in p.args for v in variables(a)
    } - heads
    if free and others:
        yield f"{', '.join(sorted(free))} is bound by no positive atom, next to {', '.join(sorted(others))}"
