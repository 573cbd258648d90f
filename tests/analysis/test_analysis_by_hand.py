"""Analyses asked of programs that are built by hand, without the parser."""

from __future__ import annotations

from thalweg.analysis.dependencies import Node, dependencies
from thalweg.analysis.roles import Entities, Part, entities
from thalweg.analysis.types import infer
from thalweg.language.program import Program
from thalweg.language.rules import (
    Boundary,
    Call,
    Clause,
    Combine,
    Compare,
    Delayed,
    Duration,
    Edge,
    Effect,
    EffectRule,
    EventRule,
    Happens,
    Holds,
    HoldsFor,
    IntervalRule,
    Kind,
    Literal,
    Pair,
    Statement,
)
from thalweg.language.terms import Atom, Compound, Number, Term, Variable

T, X, Y, V, IS, I1, I2 = (Variable(name) for name in ("T", "X", "Y", "V", "I", "I1", "I2"))
TRUE = Atom("true")


def term(name: str, *args: Term) -> Term:
    return Compound(name, args) if args else Atom(name)


def pair(name: str, *args: Term, value: Term = TRUE) -> Pair:
    return Pair(term(name, *args), value)


def initiates(target: Pair, *body: Literal) -> EffectRule:
    return EffectRule(Effect.INITIATES, target, T, body)


def program(*statements: Statement) -> Program:
    return Program(Kind.EVENTS, statements)


def part(known: Entities, kind: str, name: str) -> Part:
    entity = known.get(kind, name, 1)
    assert entity is not None
    return entity.part


def test_a_name_that_is_read_and_not_defined_is_an_input() -> None:
    known = entities(
        program(
            initiates(pair("f", X), Happens(term("e", X), T), Holds(pair("walk", X), T), Call(term("ok", X)))
        )
    )
    assert part(known, "event", "e") is Part.INPUT_EVENT
    assert part(known, "fluent", "walk") is Part.INPUT_FLUENT
    assert part(known, "fluent", "f") is Part.SIMPLE
    assert part(known, "predicate", "ok") is Part.UNKNOWN


def test_a_fluent_may_be_simple_for_one_value_and_determined_for_another() -> None:
    near, far, somewhere = Atom("near"), Atom("far"), Atom("somewhere")
    mixed = program(
        initiates(pair("gap", X, value=near), Happens(term("e", X), T)),
        initiates(pair("gap", X, value=far), Happens(term("g", X), T)),
        IntervalRule(
            pair("gap", X, value=somewhere),
            IS,
            (
                HoldsFor(pair("gap", X, value=near), I1),
                HoldsFor(pair("gap", X, value=far), I2),
                Combine("union_all", (I1, I2), IS),
            ),
        ),
    )
    known = entities(mixed)
    assert known.pair_parts(pair("gap", X, value=near)) == (Part.SIMPLE,)
    assert known.pair_parts(pair("gap", X, value=somewhere)) == (Part.DETERMINED,)
    assert known.pair_parts(pair("gap", X, value=V)) == (Part.SIMPLE, Part.DETERMINED)
    order = [component.members for component in dependencies(mixed).components]
    assert order == [(Node("fluent", "gap", 1),), (Node("fluent", "gap", 1, somewhere),)]
    assert not dependencies(mixed).cycles


def test_a_position_is_a_number_when_a_shared_variable_is_compared_as_one() -> None:
    types = infer(
        program(
            initiates(
                pair("fast", X),
                Happens(term("velocity", X, V), T),
                Call(term("limit", Y)),
                Compare(">", V, Y),
            ),
            initiates(pair("speed", X, value=V), Happens(term("velocity", X, V), T)),
            Clause(term("limit", Number(5))),
        )
    )
    assert types.argument("event", "velocity", 2, 1) == "number"
    assert types.argument("event", "velocity", 2, 0) == "symbol"
    assert types.value("speed", 1) == "number"
    assert types.background("limit", 1, 0) == "number"
    assert types.variable(0, "V") == "number"
    assert types.variable(1, "V") == "number"
    assert not types.clashes


def test_a_symbol_where_a_number_is_needed_is_a_clash() -> None:
    types = infer(
        program(
            initiates(
                pair("fast", X),
                Happens(term("velocity", X, V), T),
                Call(term("limit", Y)),
                Compare(">", V, Y),
            ),
            Clause(term("limit", Atom("high"))),
        )
    )
    (clash,) = types.clashes
    assert clash.others[0].why == "`high` is a symbol"


def test_simple_fluents_that_read_each_other_form_one_cyclic_component() -> None:
    toggles = program(
        initiates(pair("p", X), Happens(term("e", X), T), Holds(pair("q", X), T, negated=True)),
        initiates(pair("q", X), Happens(term("g", X), T), Holds(pair("p", X), T)),
        initiates(pair("r", X), Happens(term("g", X), T), Holds(pair("q", X), T)),
    )
    first, second = dependencies(toggles).components
    assert set(first.members) == {Node("fluent", "p", 1), Node("fluent", "q", 1)}
    assert (first.cyclic, first.layer, first.rules) == (True, 1, (0, 1))
    assert (second.members, second.cyclic, second.layer) == ((Node("fluent", "r", 1),), False, 2)
    assert not dependencies(toggles).cycles


def test_a_delayed_effect_alone_is_delayed_but_not_cyclic() -> None:
    expiring = program(
        initiates(pair("f", X), Happens(term("e", X), T)),
        Delayed(pair("f", X), pair("f", X, value=Atom("false")), Number(5)),
    )
    (component,) = dependencies(expiring).components
    assert (component.cyclic, component.delayed) == (False, True)


def test_a_derived_event_that_is_caused_by_its_own_effect_is_a_cycle_without_a_step_in_time() -> None:
    (cycle,) = dependencies(
        program(
            EventRule(term("alarm", X), T, (Boundary(Edge.START, pair("f", X), T),)),
            initiates(pair("f", X), Happens(term("alarm", X), T)),
        )
    ).cycles
    assert set(cycle.nodes) == {Node("event", "alarm", 1), Node("fluent", "f", 1)}
    assert set(cycle.rules) == {0, 1}


def test_a_determined_fluent_in_a_cycle_with_a_simple_one_is_legal_and_ordered_first() -> None:
    found = dependencies(
        program(
            initiates(pair("s", X), Happens(term("e", X), T), Holds(pair("d", X), T, negated=True)),
            IntervalRule(pair("d", X), IS, (HoldsFor(pair("s", X), I1), Combine("union_all", (I1,), IS))),
        )
    )
    assert not found.cycles
    (component,) = found.components
    assert component.members == (Node("fluent", "d", 1), Node("fluent", "s", 1))


def test_a_duration_filter_inside_a_cycle_is_refused_because_it_sees_the_future() -> None:
    (cycle,) = dependencies(
        program(
            initiates(pair("s", X), Happens(term("e", X), T), Holds(pair("d", X), T, negated=True)),
            IntervalRule(pair("d", X), IS, (HoldsFor(pair("s", X), I1), Duration(">", I1, Number(5), IS))),
        )
    ).cycles
    assert cycle.whole


def test_events_read_by_a_background_rule_count_for_the_rule_that_calls_it() -> None:
    T2 = Variable("T2")
    found = dependencies(
        program(
            Clause(term("busy", X, T2), (Holds(pair("p", X), T2),)),
            initiates(pair("p", X), Happens(term("e", X), T)),
            initiates(pair("q", X), Happens(term("e", X), T), Call(term("busy", X, T))),
        )
    )
    assert [component.layer for component in found.components] == [1, 2]


def test_ten_thousand_fluents_in_a_chain_do_not_exhaust_the_stack() -> None:
    chain = program(
        *(
            initiates(pair(f"f{n}", X), Happens(term("e", X), T), Holds(pair(f"f{n + 1}", X), T))
            for n in range(10_000)
        )
    )
    assert dependencies(chain).components[-1].layer == 10_000
