"""Into which stages a program falls, by which arguments each is split, and what prevents it."""

from __future__ import annotations

from thalweg.analysis.dependencies import Node
from thalweg.analysis.keys import Keys, Route, reasoning_keys
from thalweg.language.parser import parse

ENTITY = r"""
initiatedAt(within(V, A)=true, T) :- happensAt(enters(V, A), T).
terminatedAt(within(V, A)=true, T) :- happensAt(leaves(V, A), T).
terminatedAt(within(V, _)=true, T) :- happensAt(gap_start(V), T).
initiatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S < 5, \+ holdsAt(within(V, port)=true, T).
terminatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S >= 5.
"""


def keys(text: str) -> Keys:
    return reasoning_keys(parse(text))


def positions(found: Keys, stage: int = 0) -> dict[str, tuple[tuple[int, ...], ...]]:
    return {route.node.name: route.positions for route in found.stages[stage].routes}


def test_rules_that_join_on_one_entity_form_one_stage() -> None:
    found = keys(ENTITY)
    assert found.partitioned
    assert positions(found) == dict.fromkeys(
        ("within", "enters", "leaves", "gap_start", "slow", "velocity"), ((0,),)
    )


def test_a_relation_follows_in_a_stage_keyed_by_the_pair() -> None:
    found = keys(
        ENTITY
        + "holdsFor(meet(V1, V2)=true, I) :- holdsFor(near(V1, V2)=true, I0), holdsFor(slow(V1)=true, I1), "
        "holdsFor(slow(V2)=true, I2), intersect_all([I0, I1, I2], I)."
    )
    assert [stage.width for stage in found.stages] == [1, 2]
    routes = set(found.stages[1].routes)
    slow = Node("fluent", "slow", 1)
    assert Route(slow, ((0,),), (0,)) in routes
    assert Route(slow, ((0,),), (1,)) in routes
    assert Route(Node("fluent", "near", 2), ((0,), (1,)), (0, 1)) in routes
    assert Route(Node("fluent", "meet", 2), ((0,), (1,)), (0, 1)) in routes


def test_a_pair_that_nothing_relates_runs_as_one_shard_and_the_rule_is_named() -> None:
    found = keys(
        ENTITY
        + "holdsFor(meet(V1, V2)=true, I) :- holdsFor(slow(V1)=true, I1), holdsFor(slow(V2)=true, I2), "
        "intersect_all([I1, I2], I)."
    )
    last = found.stages[-1]
    assert last.width == 0
    assert last.obstacle is not None
    assert last.obstacle.rule == 5
    assert "relates V1 and V2" in last.obstacle.reason


def test_a_count_over_all_entities_has_no_key() -> None:
    found = keys(
        "initiatedAt(on(X)=true, T) :- happensAt(e(X), T).\n"
        "initiatedAt(count=N, T) :- happensAt(tick, T), findall(X, holdsAt(on(X)=true, T), L), length(L, N)."
    )
    assert [stage.width for stage in found.stages] == [1, 0]
    assert found.stages[1].obstacle is not None
    assert found.stages[1].obstacle.rule == 1


def test_an_input_without_the_key_is_sent_everywhere() -> None:
    found = keys(
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\nterminatedAt(on(X)=true, T) :- happensAt(reset, T)."
    )
    assert found.partitioned
    assert positions(found)["reset"] == ()
    assert positions(found)["press"] == ((0,),)


def test_an_event_about_one_entity_that_ends_all_states_is_also_sent_everywhere() -> None:
    found = keys(
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\nterminatedAt(on(X)=true, T) :- happensAt(press(_), T)."
    )
    assert found.partitioned
    assert {route.positions for route in found.stages[0].routes if route.node.name == "press"} == {
        (),
        ((0,),),
    }


def test_an_input_may_be_routed_by_two_arguments() -> None:
    found = keys(
        "initiatedAt(sent(X)=true, T) :- happensAt(msg(X, _), T).\n"
        "terminatedAt(sent(X)=true, T) :- happensAt(msg(_, X), T)."
    )
    assert found.partitioned
    assert {r.positions for r in found.stages[0].routes if r.node.name == "msg"} == {((0,),), ((1,),)}


def test_a_derived_state_of_another_entity_prevents_the_key() -> None:
    found = keys(
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\n"
        "initiatedAt(lit(X)=true, T) :- happensAt(look(X), T), holdsAt(on(_)=true, T)."
    )
    assert [stage.width for stage in found.stages] == [1, 0]
    assert found.stages[1].obstacle is not None
    assert found.stages[1].obstacle.rule == 1


def test_what_a_background_rule_reads_counts_for_the_rule_that_calls_it() -> None:
    found = keys(
        "initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\nanyone(T) :- holdsAt(on(_)=true, T).\n"
        "initiatedAt(lit(X)=true, T) :- happensAt(look(X), T), anyone(T)."
    )
    assert [stage.width for stage in found.stages] == [1, 0]


def test_a_dynamic_domain_is_filled_where_its_key_is() -> None:
    found = keys(
        "dynamicDomain(dom(_)).\ngrounding(e(_, X)) :- dom(X).\ngrounding(on(X)=true) :- dom(X).\n"
        "initially(on(_)=true).\nterminatedAt(on(X)=true, T) :- happensAt(off(X), T)."
    )
    assert found.partitioned
    assert positions(found)["e"] == ((1,),)


def test_a_domain_of_other_entities_prevents_the_key() -> None:
    found = keys(
        "dynamicDomain(dom(_)).\ngrounding(e(X)) :- dom(X).\n"
        "initiatedAt(open(M, C)=true, T) :- happensAt(start_of(M), T), dom(C)."
    )
    assert [stage.width for stage in found.stages] == [0]
    assert found.stages[0].obstacle is not None
    assert found.stages[0].obstacle.rule == 2


def test_both_alternatives_of_a_disjunction_must_join_on_the_key() -> None:
    good = keys("initiatedAt(on(X)=true, T) :- (happensAt(a(X), T) ; happensAt(b(X), T)).")
    assert good.partitioned
    bad = keys("initiatedAt(on(X)=true, T) :- dom(X), (happensAt(a(X), T) ; happensAt(b(_), T)).\ndom(c).")
    assert positions(bad).get("b") == ()


def test_arguments_inside_terms_can_be_the_key() -> None:
    found = keys(
        "initiatedAt(status(M)=open, T) :- happensAt(propose(_, M), T).\n"
        "holdsFor(pow(close(C, M))=true, I) :- holdsFor(status(M)=open, I), chair(C).\nchair(c)."
    )
    assert found.partitioned
    assert positions(found)["pow"] == ((0, 1),)
    assert positions(found)["propose"] == ((1,),)


def test_windows_that_count_atoms_cannot_be_split() -> None:
    found = keys("busy(X) :- [5 #] sometime car(X).")
    assert [stage.width for stage in found.stages] == [0]
    assert found.stages[0].obstacle is not None
    assert "counts" in found.stages[0].obstacle.reason


def test_windows_that_count_by_the_key_can_be_split() -> None:
    assert keys("busy(X) :- [5 # by X] sometime car(X), N = sum(S) over [2 # by X, S] speed(X, S), N > 3.").partitioned
    for rule in ("busy(X) :- [5 # by Y] sometime car(X, Y).", "busy(X) :- car(X), [5 # by X] always car(X)."):
        other = keys(rule)
        assert other.stages[0].obstacle is not None
        assert "counts" in other.stages[0].obstacle.reason


def test_temporal_datalog_is_split_by_an_argument_that_is_no_time() -> None:
    found = keys("malf(X, T) :- temp(X, high, T), temp(X, high, T+1).\nquery malf(X, T).")
    assert found.partitioned
    assert positions(found) == {"malf": ((0,),), "temp": ((0,),)}


def test_ten_thousand_fluents_without_arguments_take_linear_time() -> None:
    text = "\n".join(
        f"initiatedAt(f{n}=true, T) :- happensAt(e, T), holdsAt(f{n + 1}=true, T)." for n in range(3000)
    )
    found = keys(text)
    assert [stage.width for stage in found.stages] == [0]
