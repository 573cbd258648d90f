"""Delayed effects must not hang on who is told to a dynamic domain, other than by whose they are.

Which delayed effects an instance has is found out once. So what their bodies and the groundings of their targets ask of
a domain that fills up must be what the groundings of the pairs that start them have asked before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from thalweg.analysis.roles import may_equal
from thalweg.events.forms import DelayRule, Fact, Flat, PostponeRule, literals, rebuild
from thalweg.events.relations import refuse
from thalweg.language.terms import Term, Variable, variables

if TYPE_CHECKING:
    from thalweg.events.domains import Domains

Delay = DelayRule | PostponeRule
Facts = set[Fact]


def refuse_hanging(domains: Domains) -> None:
    """Refuse a program with a delayed effect for which that is not so."""
    rules: list[Delay] = [*domains.normal.delays, *domains.normal.postpones]
    for rule in rules:
        needed = _asked(domains, rule, rule.body)
        if isinstance(rule, DelayRule) and rule.target is not None:
            needed = needed.union(*_wanted(domains, rule, rule.target))
        declared = domains.is_declared(rule.fluent)
        for given in _wanted(domains, rule, rule.value) if declared else [Facts()]:
            more = sorted(needed - given, key=str)
            if more:
                raise refuse(
                    f"whether this delayed effect comes hangs on who is in {more[0].relation} when it begins, a domain "
                    "that fills up as rows come",
                    rule.span,
                    "ask for the same in every grounding of the pair that starts it, or let a rule bring the effect",
                )


def _wanted(domains: Domains, rule: Delay, value: Term) -> list[Facts]:
    """What each grounding of a pair asks of dynamic domains: the rule's instance with a value."""
    found = [w for w in domains.declaring(rule.fluent) if w.value is not None and may_equal(w.value, value)]
    return [_asked(domains, rule, domains.instance(w, (*rule.args, value))) for w in found]


def _asked(domains: Domains, rule: Delay, body: Iterable[Flat]) -> Facts:
    """What a body asks of dynamic domains, of the rule's instance or of somebody. What it denies or counts is told
    apart, as something that no grounding gives."""
    own = {v.name for term in rule.args for v in variables(term)}
    found = Facts()
    top = list(body)
    for x in literals(top):
        if isinstance(x, Fact) and x.relation in domains.normal.domains:
            same = rebuild(x, lambda term: _of(term, own))
            found.add(same if not x.negated and any(x is y for y in top) else Fact(x.relation, (), negated=True))
    return found


def _of(term: Term, own: set[str]) -> Term:
    """A term in which all variables but the rule's own are the same one."""
    return Variable("_") if any(v.name not in own for v in variables(term)) else term
