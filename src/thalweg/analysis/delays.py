"""The delays of `fi` and `ft`: as written, and as the facts of background knowledge give them."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.analysis.bodies import literals
from thalweg.analysis.roles import may_equal, named
from thalweg.language.program import Program
from thalweg.language.rules import Call, Clause, Delayed
from thalweg.language.terms import Number, Term, Variable, arguments, signature

Facts = dict[tuple[str, int], list[Clause]]


def delay_facts(program: Program) -> Facts:
    """The clauses of the predicates that bodies of delayed effects call."""
    found: Facts = {}
    for statement in program.statements:
        if isinstance(statement, Delayed):
            for place in literals(statement.body):
                if isinstance(place.literal, Call) and named(place.literal.goal):
                    found[signature(place.literal.goal)] = []
    for statement in program.statements if found else ():
        if isinstance(statement, Clause) and named(statement.head) and signature(statement.head) in found:
            found[signature(statement.head)].append(statement)
    return found


def delay_terms(statement: Delayed, facts: Facts) -> Iterator[Term]:
    """The delay as written, and every value that a fact gives for it."""
    yield statement.delay
    if not isinstance(statement.delay, Variable):
        return
    for place in literals(statement.body):
        if isinstance(place.literal, Call) and named(place.literal.goal):
            goal = place.literal.goal
            positions = [i for i, argument in enumerate(arguments(goal)) if argument == statement.delay]
            for fact in facts.get(signature(goal), ()) if positions else ():
                if not fact.body and may_equal(goal, fact.head):
                    yield from (arguments(fact.head)[index] for index in positions)


def largest_delay(program: Program) -> int | None:
    """The longest delay; None where it is computed by rules. 0 without delayed effects."""
    facts = delay_facts(program)
    longest = 0
    for statement in program.statements:
        if isinstance(statement, Delayed):
            values = [int(term.value) for term in delay_terms(statement, facts) if isinstance(term, Number)]
            if not values:
                return None
            longest = max(longest, *values)
    return longest
