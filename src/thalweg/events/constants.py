"""Numbers that background facts give to a rule once for all: ``threshold(underWayMin, Min)``, where one fact fits.

Such a variable has the same value in every solution, so a rule is compiled with the number in its place. Then a test
on it needs nothing but the driver's rows and comes first, and nothing is looked up while the stream runs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from thalweg.columns.symbols import as_floats
from thalweg.events.forms import Fact, Flat, PointRule, SpanRule, Test, names, rebuild
from thalweg.events.relations import Substitution, apply
from thalweg.events.sorts import Coder
from thalweg.events.stores import FactStore
from thalweg.language.terms import Number, Variable

Rule = TypeVar("Rule", PointRule, SpanRule)


def with_numbers(rule: Rule, facts: dict[str, FactStore], coder: Coder) -> Rule:
    """The rule with variables replaced that stand for one number. Literals that mention none of them are the same
    objects as before."""
    scope = id(rule)
    while True:
        for x in [x for x in _body(rule) if isinstance(x, Fact) and not x.negated]:
            binding = _numbers(x, rule, facts, coder, scope)
            if binding:
                rule = _put(rule, x, binding)
                break
        else:
            return rule


def _body(rule: PointRule | SpanRule) -> tuple[Flat, ...]:
    """The literals among which facts and tests are."""
    return rule.tests if isinstance(rule, SpanRule) else rule.body


def _put(rule: Rule, fact: Fact, binding: Substitution) -> Rule:
    """The rule without the fact and with what it binds in place."""
    put = partial(apply, binding=binding)

    def literal(x: Flat) -> Flat:
        if not names((x,)) & binding.keys():
            return x
        rewritten = rebuild(x, put)
        assert isinstance(rewritten, Fact | Test)
        return rewritten

    body = tuple(literal(x) for x in _body(rule) if x is not fact)
    args = tuple(map(put, rule.args))
    if isinstance(rule, SpanRule):
        steps = tuple(rebuild(step, put) for step in rule.steps)
        return replace(rule, tests=body, steps=steps, args=args, value=put(rule.value))
    value = None if rule.value is None else put(rule.value)
    return replace(rule, body=body, args=args, value=value)


def _numbers(
    fact: Fact, rule: PointRule | SpanRule, facts: dict[str, FactStore], coder: Coder, scope: int
) -> Substitution:
    """What a fact says about its variables, where these are numbers that only facts and tests speak of and one fact
    fits; otherwise nothing."""
    free = {t.name: i for i, t in enumerate(fact.args) if isinstance(t, Variable)}
    if not free or len(free) < sum(isinstance(t, Variable) for t in fact.args):
        return {}
    if not all(coder.sorts.numeric(("var", scope, name)) for name in free):
        return {}
    elsewhere = names([x for x in _body(rule) if not isinstance(x, Fact | Test)])
    if isinstance(rule, SpanRule):
        elsewhere |= names([*(x for _, x in rule.inputs), *rule.gates])
    else:
        elsewhere |= {rule.time}
    if free.keys() & elsewhere:
        return {}
    store = facts[fact.relation]
    given = tuple(i for i, t in enumerate(fact.args) if not isinstance(t, Variable))
    codes = [coder.constant(fact.args[i], ("fact", fact.relation, i), rule.span) for i in given]
    found = np.arange(store.rows.count)
    if given:
        found = store.match(given, [np.full(1, code) for code in codes], 1)[0]()
    if len(found) != 1:
        return {}
    return {name: Number(float(as_floats(store.rows.keys[found[0], i : i + 1])[0])) for name, i in free.items()}
