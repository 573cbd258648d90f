"""The stepping reference: inertia, bodies, cycles, delayed effects, known instances, interval expressions."""

from __future__ import annotations

import pytest

from thalweg import parse
from thalweg.reference.bodies import UnsafeRule
from thalweg.reference.events import NoFixpoint, Trace, run
from thalweg.reference.snapshot import SameTimeCycle
from thalweg.testing.comparison import assert_same_timeline
from thalweg.testing.tables import stream, timeline

ON_OFF = """
    initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
    terminatedAt(f(X)=true, T) :- happensAt(g(X), T).
"""


def trace(rules: str, rows: str, until: int = 50, *, start: int = 0, tick: int = 1) -> Trace:
    return run(parse(rules), stream(rows), until=until, start=start, tick=tick)


def gives(rules: str, rows: str, expected: str, until: int = 50, *, start: int = 0, tick: int = 1) -> None:
    found = trace(rules, rows, until, start=start, tick=tick).timeline()
    assert_same_timeline(timeline(expected), found, names=("expected", "found"))


# --------------------------------------------------------------------------- inertia


def test_an_effect_starts_one_point_later_and_ends_at_the_termination_point() -> None:
    gives(ON_OFF, "e(a) 3\ng(a) 7", "f(a)=true [4,8)")


def test_initiation_and_termination_at_one_point_leave_nothing() -> None:
    gives(ON_OFF, "e(a) 3 9\ng(a) 3", "f(a)=true [10,..)")
    gives(ON_OFF, "e(b) 5 9\ng(b) 9", "f(b)=true [6,10)")


def test_two_values_initiated_at_one_point_leave_neither() -> None:
    rules = "initiatedAt(loc(X)=V, T) :- happensAt(go(X, V), T)."
    gives(rules, "go(a,home) 2 9\ngo(a,work) 9", "loc(a)=home [3,10)")


def test_re_initiation_and_idle_termination_change_nothing() -> None:
    gives(ON_OFF, "e(a) 3 5\ng(a) 1 8 9", "f(a)=true [4,9)")


def test_another_value_ends_the_first_but_a_termination_starts_none() -> None:
    rules = ON_OFF + "initiatedAt(f(X)=false, T) :- happensAt(h(X), T)."
    gives(rules, "e(a) 3\nh(a) 6\ne(a) 9\ng(a) 12", "f(a)=true [4,7) [10,13)\nf(a)=false [7,10)")


def test_an_open_value_in_a_termination_ends_every_value() -> None:
    rules = """
        initiatedAt(loc(X)=V, T) :- happensAt(go(X, V), T).
        terminatedAt(loc(X)=_, T) :- happensAt(leave(X), T).
    """
    gives(rules, "go(a,home) 2\ngo(a,work) 5\nleave(a) 8", "loc(a)=home [3,6)\nloc(a)=work [6,9)")


def test_initially_holds_from_the_start_of_the_stream_on() -> None:
    rules = ON_OFF + "initially(f(X)=true) :- good(X). good(a). good(b)."
    gives(rules, "g(a) 8", "f(a)=true [5,9)\nf(b)=true [5,..)", start=5)


def test_two_initial_values_leave_neither() -> None:
    gives("initially(s=on). initially(s=off). initiatedAt(s=on, T) :- happensAt(e, T).", "e 3", "s=on [4,..)")


# --------------------------------------------------------------------------- bodies


def test_bodies_read_the_state_before_the_effects_of_the_same_point() -> None:
    rules = ON_OFF + "initiatedAt(seen(X)=true, T) :- happensAt(e(X), T), holdsAt(f(X)=true, T)."
    gives(rules, "e(a) 3 6", "f(a)=true [4,..)\nseen(a)=true [7,..)")


def test_a_variable_under_a_negation_only_is_existential_there() -> None:
    rules = "initiatedAt(alone(X)=true, T) :- happensAt(e(X), T), \\+ happensAt(h(X, Y), T)."
    gives(rules, "e(a) 3\nh(a,b) 3\ne(b) 3", "alone(b)=true [4,..)")


def test_the_order_of_conditions_does_not_matter() -> None:
    rules = """
        limit(5).
        initiatedAt(fast(X)=true, T) :- S > L, \\+ holdsAt(calm(X)=true, T), limit(L), happensAt(v(X, S), T).
        initiatedAt(calm(X)=true, T) :- happensAt(e(X), T).
    """
    gives(rules, "v(a,3) 2\nv(a,9) 4\ne(b) 4\nv(b,9) 6", "fast(a)=true [5,..)\ncalm(b)=true [5,..)")


def test_start_and_end_are_one_before_the_first_point_and_the_last_point() -> None:
    rules = (
        ON_OFF
        + """
        happensAt(begins(X), T) :- happensAt(start(f(X)=true), T).
        happensAt(ends(X), T) :- happensAt(end(f(X)=true), T).
    """
    )
    assert trace(rules, "e(a) 3\ng(a) 7").events() == {("begins(a)", 3), ("ends(a)", 7)}


def test_what_holds_from_the_start_has_no_start_event() -> None:
    rules = ON_OFF + "initially(f(a)=true). happensAt(begins(X), T) :- happensAt(start(f(X)=true), T)."
    assert trace(rules, "g(a) 7\ne(a) 9").events() == {("begins(a)", 9)}


def test_an_initiation_in_a_body_is_seen_at_the_same_point() -> None:
    rules = (
        ON_OFF
        + """
        initiatedAt(other(X)=true, T) :- initiatedAt(f(X)=true, T).
        terminatedAt(other(X)=true, T) :- terminatedAt(f(X)=true, T).
    """
    )
    gives(rules, "e(a) 3\ng(a) 7", "f(a)=true [4,8)\nother(a)=true [4,8)")


def test_derived_events_trigger_rules_at_the_same_point() -> None:
    rules = (
        ON_OFF
        + """
        happensAt(d(X), T) :- happensAt(e(X), T), holdsAt(f(X)=true, T).
        initiatedAt(twice(X)=true, T) :- happensAt(d(X), T).
    """
    )
    gives(rules, "e(a) 3 6", "f(a)=true [4,..)\ntwice(a)=true [7,..)")


def test_findall_counts_what_holds() -> None:
    rules = (
        ON_OFF
        + """
        initiatedAt(n=N, T) :- happensAt(tick, T), findall(X, holdsAt(f(X)=true, T), L), length(L, N).
    """
    )
    gives(
        rules,
        "e(a) 3\ne(b) 5\ntick 1 6\ng(a) 7\ntick 9",
        "f(a)=true [4,8)\nf(b)=true [6,..)\nn=0 [2,7)\nn=2 [7,10)\nn=1 [10,..)",
    )


def test_a_sum_adds_equal_items_of_different_solutions() -> None:
    rules = """
        initiatedAt(load(X)=N, T) :- happensAt(v(X, N), T).
        initiatedAt(total=S, T) :- happensAt(tick, T), findall(N, holdsAt(load(X)=N, T), L), sum_list(L, S).
    """
    found = trace(rules, "v(a,3) 1\nv(b,3) 2\ntick 4").timeline()
    assert found["total", "6"] == [(5, None)]


def test_numbers_compare_by_value_however_they_are_written() -> None:
    rules = "initiatedAt(big(X)=true, T) :- happensAt(v(X, 12), T)."
    gives(rules, "v(a,12.0) 3\nv(b,0012) 4\nv(c,12.5) 5", "big(a)=true [4,..)\nbig(b)=true [5,..)")


def test_comparing_what_is_no_number_is_false() -> None:
    rules = "initiatedAt(big(X)=true, T) :- happensAt(v(X, N), T), N > 3."
    gives(rules, "v(a,much) 3\nv(b,4) 3", "big(b)=true [4,..)")


def test_a_free_head_variable_ranges_over_the_instances_seen_so_far() -> None:
    rules = """
        initiatedAt(f(X, Y)=true, T) :- happensAt(h(X, Y), T).
        terminatedAt(f(X, Y)=true, T) :- happensAt(e(X), T).
    """
    gives(
        rules,
        "h(a,b) 1\nh(a,c) 2\nh(b,c) 3\ne(a) 5",
        "f(a,b)=true [2,6)\nf(a,c)=true [3,6)\nf(b,c)=true [4,..)",
    )


def test_grounding_says_which_instances_are_wanted() -> None:
    rules = """
        initiatedAt(both(X, Y)=true, T) :- happensAt(e(X), T), happensAt(e(Y), T).
        grounding(both(X, Y)=true) :- dom(X), dom(Y), X @< Y.
        dom(a). dom(b).
    """
    gives(rules, "e(a) 2\ne(b) 2\ne(c) 2", "both(a,b)=true [3,..)")


def test_background_rules_compute_from_bound_arguments() -> None:
    rules = """
        apart(A, B, D) :- E is abs(A - B), D is min(E, 360 - E).
        initiatedAt(turn(X)=true, T) :- happensAt(h(X, A, B), T), apart(A, B, D), D > 15.
    """
    gives(rules, "h(a,350,10) 3\nh(b,0,10) 3", "turn(a)=true [4,..)")


def test_an_unsafe_rule_is_an_error_and_not_an_empty_result() -> None:
    with pytest.raises(UnsafeRule):
        trace("initiatedAt(f=true, T) :- happensAt(e, T), X > 3.", "e 1")


def test_the_text_of_an_instance_quotes_what_needs_it() -> None:
    rules = "initiatedAt(per(close(C, M))=V, T) :- happensAt(go(C, M, V), T)."
    rows = [*stream("go(c,m,home) 1")]
    program = parse(rules)
    moved = [rows[0].__class__(name="go", args=("c", "North Sea", "it's"), time=2, arrival=2)]
    found = run(program, rows + moved, until=5, start=0).timeline()
    assert set(found) == {("per(close(c,m))", "home"), ("per(close(c,'North Sea'))", "'it\\'s'")}


# --------------------------------------------------------------------------- cycles

VOTING = """
    initiatedAt(status(M)=proposed, T) :- happensAt(propose(P, M), T), holdsAt(status(M)=null, T).
    initiatedAt(status(M)=voting, T) :- happensAt(second(S, M), T), holdsAt(status(M)=proposed, T).
    initiatedAt(status(M)=voted, T) :- happensAt(close_ballot(C, M), T), holdsAt(status(M)=voting, T).
    initiatedAt(status(M)=null, T) :- happensAt(declare(C, M, R), T), holdsAt(status(M)=voted, T).
"""


def test_the_published_narrative_of_a_vote_gives_its_intervals() -> None:
    gives(
        VOTING + "initially(status(m)=proposed).",
        """
        second(s,m)                1
        close_ballot(c,m)          3
        declare(c,m,not_carried)   5
        propose(p,m)               7 9
        """,
        """
        status(m)=proposed   [0,2) [8,..)
        status(m)=voting     [2,4)
        status(m)=voted      [4,6)
        status(m)=null       [6,8)
        """,
    )


def test_initially_reaches_an_individual_just_before_it_is_first_seen() -> None:
    rules = VOTING + "initially(status(_)=null)."
    gives(rules, "propose(p,m) 5", "status(m)=null [5,6)\nstatus(m)=proposed [6,..)")


def test_a_toggle_works() -> None:
    rules = """
        initiatedAt(lamp(X)=on, T) :- happensAt(e(X), T), \\+ holdsAt(lamp(X)=on, T).
        initiatedAt(lamp(X)=off, T) :- happensAt(e(X), T), holdsAt(lamp(X)=on, T).
    """
    gives(rules, "e(a) 2 4 4 7", "lamp(a)=on [3,5) [8,..)\nlamp(a)=off [5,8)")


def test_a_determined_fluent_may_stand_in_a_cycle_with_a_simple_one() -> None:
    rules = """
        initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ holdsAt(busy(X)=true, T).
        terminatedAt(f(X)=true, T) :- happensAt(e(X), T), holdsAt(busy(X)=true, T).
        initiatedAt(k(X)=true, T) :- happensAt(g(X), T).
        terminatedAt(k(X)=true, T) :- happensAt(h(X), T).
        holdsFor(busy(X)=true, I) :- holdsFor(f(X)=true, I1), holdsFor(k(X)=true, I2), union_all([I1, I2], I).
    """
    gives(
        rules,
        "e(a) 2 5\ng(a) 7\ne(a) 9\nh(a) 11\ne(a) 13",
        "f(a)=true [3,6) [14,..)\nk(a)=true [8,12)\nbusy(a)=true [3,6) [8,12) [14,..)",
    )


def test_a_circle_at_one_time_point_is_an_error() -> None:
    rules = """
        initiatedAt(f=true, T) :- happensAt(start(g=true), T).
        initiatedAt(g=true, T) :- happensAt(start(f=true), T).
        initiatedAt(g=true, T) :- happensAt(e, T).
    """
    with pytest.raises(SameTimeCycle):
        trace(rules, "e 3")


# --------------------------------------------------------------------------- delayed effects

DELAYED = ON_OFF + "fi(f(X)=true, f(X)=false, 5)."


def test_the_worked_example_of_delayed_effects() -> None:
    gives(
        DELAYED,
        "e(a) 2 4 11 14 18 30 38\ng(a) 13 35",
        """
        f(a)=true    [3,8) [12,14) [15,20) [31,36) [39,44)
        f(a)=false   [8,12) [20,31) [36,39) [44,..)
        """,
    )


def test_the_worked_example_of_postponable_delayed_effects() -> None:
    found = trace(DELAYED + "\np(f(_)=true).", "e(a) 2 4 11 14 19 30 38\ng(a) 13 35").timeline()
    expected = timeline("f(a)=true [3,10) [12,14) [15,25) [31,36) [39,44)")
    assert found["f(a)", "true"] == expected["f(a)", "true"]


def test_a_termination_at_the_deadline_does_not_stop_the_delayed_effect() -> None:
    gives(DELAYED, "e(a) 2\ng(a) 7", "f(a)=true [3,8)\nf(a)=false [8,..)")


def test_a_future_termination_leaves_no_value() -> None:
    gives(ON_OFF + "ft(f(X)=true, 4).", "e(a) 2 4 20", "f(a)=true [3,7) [21,25)")


def test_of_two_delayed_effects_of_a_pair_the_sooner_cancels_the_later() -> None:
    rules = ON_OFF + "fi(f(X)=true, f(X)=false, 5). ft(f(X)=true, 3)."
    gives(rules, "e(a) 2", "f(a)=true [3,6)")
    rules = ON_OFF + "fi(f(X)=true, f(X)=false, 3). ft(f(X)=true, 5)."
    gives(rules, "e(a) 2", "f(a)=true [3,6)\nf(a)=false [6,..)")


def test_an_initiation_that_is_broken_at_its_own_point_starts_a_countdown() -> None:
    gives(DELAYED, "e(a) 2\ng(a) 2", "f(a)=false [8,..)")


def test_chains_of_delayed_effects_go_round() -> None:
    rules = """
        initiatedAt(light=red, T) :- happensAt(e, T).
        fi(light=red, light=green, 4). fi(light=green, light=amber, 3). fi(light=amber, light=red, 1).
    """
    gives(
        rules,
        "e 1",
        "light=red [2,6) [10,14) [18,..)\nlight=green [6,9) [14,17)\nlight=amber [9,10) [17,18)",
        until=20,
    )


def test_a_countdown_starts_with_initially() -> None:
    gives(
        "initially(s=on). fi(s=on, s=off, 3). initiatedAt(s=on, T) :- happensAt(e, T).",
        "e 9",
        "s=on [0,3) [10,13)\ns=off [3,10) [13,..)",
    )


def test_a_delay_comes_from_background_knowledge() -> None:
    rules = ON_OFF + "fi(f(X)=true, f(X)=false, D) :- patience(X, D). patience(a, 2). patience(b, 6)."
    gives(rules, "e(a) 1\ne(b) 1", "f(a)=true [2,4)\nf(a)=false [4,..)\nf(b)=true [2,8)\nf(b)=false [8,..)")


def test_pending_countdowns_are_open_answers() -> None:
    opened = trace(DELAYED, "e(a) 2 4\ne(b) 7", until=7).open()
    assert {(c.fluent, c.value, c.due, c.since) for c in opened} == {("f(b)", "false", 12, 7)}
    opened = trace(DELAYED, "e(a) 2 4\ne(b) 5", until=6).open()
    assert {(c.fluent, c.value, c.due, c.since) for c in opened} == {
        ("f(a)", "false", 7, 2),
        ("f(b)", "false", 10, 5),
    }
    assert {c.cancelled_by for c in opened} == {"end of f(a)=true", "end of f(b)=true"}


def test_postponable_countdowns_that_would_postpone_each_other_do_not_fire() -> None:
    rules = """
        initiatedAt(s=a, T) :- happensAt(e, T).
        initiatedAt(s=b, T) :- happensAt(e, T).
        fi(s=a, s=b, 3). fi(s=b, s=a, 3). p(s=a). p(s=b).
    """
    gives(rules, "e 2", "", until=20)


# --------------------------------------------------------------------------- interval expressions


def test_several_rules_of_a_determined_pair_are_united() -> None:
    rules = (
        ON_OFF
        + """
        holdsFor(any=true, I) :- holdsFor(f(a)=true, I).
        holdsFor(any=true, I) :- holdsFor(f(b)=true, I).
    """
    )
    gives(rules, "e(a) 1\ng(a) 5\ne(b) 3\ng(b) 9", "f(a)=true [2,6)\nf(b)=true [4,10)\nany=true [2,10)")


def test_a_fluent_that_never_held_is_empty_in_a_union() -> None:
    rules = (
        ON_OFF
        + """
        initiatedAt(k(X)=true, T) :- happensAt(h(X), T).
        holdsFor(any(X)=true, I) :- holdsFor(f(X)=true, I1), holdsFor(k(X)=true, I2), union_all([I1, I2], I).
    """
    )
    gives(
        rules, "e(a) 1\nh(b) 4", "f(a)=true [2,..)\nk(b)=true [5,..)\nany(a)=true [2,..)\nany(b)=true [5,..)"
    )


def test_a_complement_begins_where_the_instance_is_known() -> None:
    complement = "holdsFor(idle(X)=true, I) :- holdsFor(f(X)=true, I1), complement_all([I1], I)."
    gives(ON_OFF + complement, "e(a) 4\ng(a) 7", "f(a)=true [5,8)\nidle(a)=true [4,5) [8,..)")
    grounded = (
        ON_OFF + complement + "\ngrounding(idle(X)=true) :- dom(X). grounding(f(X)=true) :- dom(X). dom(a)."
    )
    gives(grounded, "e(a) 4\ng(a) 7", "f(a)=true [5,8)\nidle(a)=true [0,5) [8,..)")


def test_a_duration_filter_judges_whole_intervals() -> None:
    rules = ON_OFF + "holdsFor(long(X)=true, I) :- holdsFor(f(X)=true, I1), intDurGreater(I1, 4, I)."
    rows = "e(a) 1\ng(a) 4\ne(a) 8\ng(a) 14\ne(a) 20"
    gives(rules, rows, "f(a)=true [2,5) [9,15) [21,..)\nlong(a)=true [9,15)", until=24)
    gives(rules, rows, "f(a)=true [2,5) [9,15) [21,..)\nlong(a)=true [9,15) [21,..)", until=25)


def test_a_rule_may_read_whole_intervals_at_any_point_of_them() -> None:
    rules = (
        ON_OFF
        + """
        holdsFor(long(X)=true, I) :- holdsFor(f(X)=true, I1), intDurGreater(I1, 4, I).
        initiatedAt(known(X)=true, T) :- happensAt(h(X), T), holdsAt(long(X)=true, T).
    """
    )
    gives(
        rules,
        "e(a) 1\ng(a) 3\nh(a) 3\ne(a) 8\nh(a) 9\ng(a) 14",
        "f(a)=true [2,4) [9,15)\nlong(a)=true [9,15)\nknown(a)=true [10,..)",
    )


def test_a_duration_filter_that_depends_on_itself_is_an_error() -> None:
    rules = """
        initiatedAt(f=true, T) :- happensAt(e, T), \\+ holdsAt(long=true, T).
        terminatedAt(f=true, T) :- happensAt(e, T), holdsAt(long=true, T).
        holdsFor(long=true, I) :- holdsFor(f=true, I1), intDurGreater(I1, 2, I).
    """
    with pytest.raises(NoFixpoint):
        trace(rules, "e 1 3 5 6 9")


def test_allen_relations_are_computed_between_timelines() -> None:
    rules = (
        ON_OFF
        + """
        initiatedAt(k(X)=true, T) :- happensAt(h(X), T).
        terminatedAt(k(X)=true, T) :- happensAt(j(X), T).
        holdsFor(inside(X)=true, I) :-
            holdsFor(f(X)=true, I1), holdsFor(k(X)=true, I2), allen(during, I1, I2, source, I).
    """
    )
    gives(rules, "h(a) 1\ne(a) 3\ng(a) 6\nj(a) 9", "f(a)=true [4,7)\nk(a)=true [2,10)\ninside(a)=true [4,7)")


# --------------------------------------------------------------------------- input fluents


def test_input_intervals_are_read_and_have_start_and_end() -> None:
    rules = """
        initiatedAt(f(X)=true, T) :- happensAt(start(near(X, Y)=true), T).
        terminatedAt(f(X)=true, T) :- happensAt(end(near(X, Y)=true), T).
        holdsFor(pair(X, Y)=true, I) :- holdsFor(near(X, Y)=true, I).
    """
    gives(rules, "near(a,b)=true 4..9", "f(a)=true [4,9)\npair(a,b)=true [4,9)")


def test_points_are_joined_by_the_tick() -> None:
    rules = "points(walk(_)=true). holdsFor(walking(X)=true, I) :- holdsFor(walk(X)=true, I)."
    gives(
        rules, "walk(a)=true points 40 80 120 200", "walking(a)=true [40,160) [200,240)", until=400, tick=40
    )


def test_with_a_tick_an_effect_starts_one_tick_later() -> None:
    gives(ON_OFF, "e(a) 40\ng(a) 120", "f(a)=true [80,160)", until=400, tick=40)


def test_mixed_values_of_one_fluent_may_be_simple_and_determined() -> None:
    rules = ON_OFF + "holdsFor(f(X)=idle, I) :- holdsFor(f(X)=true, I1), complement_all([I1], I)."
    gives(rules, "e(a) 3\ng(a) 6", "f(a)=true [4,7)\nf(a)=idle [3,4) [7,..)")


def test_a_dynamic_domain_is_filled_by_the_stream() -> None:
    rules = """
        dynamicDomain(person(_)).
        grounding(e(X)) :- person(X).
        role(A, chair) :- person(A), X is A mod 10, X = 0.
        initiatedAt(chair(C)=true, T) :- happensAt(k, T), role(C, chair).
    """
    gives(rules, "e(10) 2\ne(11) 3\nk 5\ne(20) 6\nk 8", "chair(10)=true [6,..)\nchair(20)=true [9,..)")
