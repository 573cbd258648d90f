"""Components that are swept: cycles across entities, edges inside a component, delayed effects, any window.

Programs are drawn from a family in which those meet: a `deal` between two, the `standing` of each, which follows from
the edges of deals and decides about new ones, and a `mark` that follows from the edges of standings.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.events.plan import plan
from thalweg.events.reasoner import Reasoner
from thalweg.events.sweeping import SweepUnit
from thalweg.testing.comparison import assert_same_timeline
from thalweg.testing.engines import Result, replay_with, to_batch
from thalweg.testing.fuzz import difference
from thalweg.testing.shrink import shrunk
from thalweg.testing.streams import Mess, Scenario, random_rows
from thalweg.testing.tables import stream, timeline

DEALS = ("agreed", "kept", "broken")
STANDINGS = ("good", "warned", "out")
SHARE = max(1, settings.default.max_examples // 4)  # type: ignore[union-attr]


def random_market(rng: Random) -> str:
    """A program of the family: two or three fluents in one component, tied by edges, conditions and countdowns."""

    def maybe(percent: int, text: str) -> str:
        return text if rng.randrange(100) < percent else ""

    def standing(who: str, percent: int = 50) -> str:
        negation = maybe(50, "\\+ ")
        return maybe(percent, f", {negation}holdsAt(standing({who})={rng.choice(STANDINGS)}, T)")

    def deal(percent: int = 50) -> str:
        negation = maybe(50, "\\+ ")
        return maybe(percent, f", {negation}holdsAt(deal(X, Y)={rng.choice((*DEALS, '_'))}, T)")

    rules = [
        f"initiatedAt(deal(X, Y)=agreed, T) :- happensAt(h(X, Y), T){standing('X', 80)}{standing('Y', 80)}{deal()}.",
        f"initiatedAt(deal(X, Y)=kept, T) :- happensAt(h(Y, X), T){deal(80)}{standing('X', 20)}.",
        maybe(40, f"terminatedAt(deal(X, Y)=_, T) :- happensAt(g(X), T), linked(X, Y){standing('Y')}."),
        maybe(50, f"initially(standing(X)={rng.choice(STANDINGS)}) :- linked(X, _)."),
    ]
    for value in STANDINGS:
        edge, which = rng.choice(("start", "end")), rng.choice((*DEALS, "_"))
        who = rng.choice(("X, Y", "Y, X", "X, _"))
        fact = maybe(30, ", linked(X, _)") + maybe(20, ", \\+ linked(X, c)") + maybe(20, ", X \\= a")
        rules.append(
            f"initiatedAt(standing(X)={value}, T) :- happensAt({edge}(deal({who})={which}), T)"
            f"{standing('X')}{maybe(30, standing('Y', 100)) if who != 'X, _' else ''}{fact}."
        )
    rules.append(maybe(40, f"terminatedAt(standing(X)=_, T) :- happensAt(e(X), T){standing('X')}."))
    if rng.randrange(100) < 60:
        edge, value = rng.choice(("start", "end")), rng.choice(STANDINGS)
        rules += [
            f"initiatedAt(mark(X)=true, T) :- happensAt({edge}(standing(X)={value}), T){standing('X')}.",
            f"terminatedAt(mark(X)=true, T) :- happensAt(e(X), T){standing('X')}.",
            f"terminatedAt(deal(X, Y)=_, T) :- happensAt(h(X, Y), T), {maybe(50, 'not ')}holdsAt(mark(X)=true, T).",
            maybe(60, f"ft(mark(_)=true, {rng.randint(1, 7)})."),
        ]
    for fluent, values in (("deal(X, Y)", DEALS), ("standing(X)", STANDINGS)):
        for value in values:
            other = rng.choice([v for v in values if v != value])
            length = rng.randint(1, 9)
            rules.append(maybe(50, f"fi({fluent}={value}, {fluent}={other}, {length})."))
            rules.append(maybe(15, f"ft({fluent}={value}, {length + 1})."))
            rules.append(maybe(30, f"p({fluent}={value})."))
    return "\n".join([*filter(None, rules), "linked(a, b).", "linked(b, c).", "linked(c, a).", ""])


def market_of(seed: int) -> Scenario:
    rng = Random(seed)
    text = random_market(rng)
    rows = random_rows(rng, parse(text), size=rng.randint(1, 30), times=24, mess=Mess())
    step = rng.choice((1, 2, 3, 5, 7, 10, 20))
    window = step + rng.choice((0, 0, 1, 3, 8, 15, 60))
    rng.shuffle(rows)
    return Scenario(text, tuple(rows), window, step, end=34)


def swept(scenario: Scenario) -> list[SweepUnit]:
    return [u for u in plan(scenario.program).units() if isinstance(u, SweepUnit) and u.chains.plans]


@settings(max_examples=SHARE, phases=[Phase.explicit, Phase.generate])
@given(st.integers(0, 2**40))
def test_fluents_that_hang_on_each_others_edges_agree_with_the_reference(seed: int) -> None:
    scenario = market_of(seed)
    if found := difference(scenario, Reasoner, seed):
        kind = found.partition(":")[0]
        small = shrunk(scenario, lambda s: difference(s, Reasoner).partition(":")[0] == kind)
        pytest.fail(f"{difference(small, Reasoner) or found}\n\n{small}")


def test_edges_inside_a_component_are_swept_and_not_repeated_in_rounds() -> None:
    drawn = [market_of(seed) for seed in range(60)]
    assert sum(bool(swept(scenario)) for scenario in drawn) > 20
    ranks = [max(unit.chains.ranks) for scenario in drawn for unit in swept(scenario)]
    assert max(ranks) == 2, "a mark that follows from a standing that follows from a deal"


def run(text: str, rows: str, *, window: int, step: int, end: int) -> Result:
    return replay_with(Reasoner, parse(text), stream(rows), window=window, step=step, end=end, start=0)[-1]


SIZES = [(w, s) for w in (1, 2, 4, 5, 6, 10, 50) for s in (1, 2, 5, 50) if s <= w]
"""Windows smaller than, equal to and larger than a delay of 5."""


@pytest.mark.parametrize(("window", "step"), SIZES)
def test_a_reinitiation_exactly_at_the_deadline_postpones_only_what_is_postponable(window: int, step: int) -> None:
    rules = """
        initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
        fi(f(X)=true, f(X)=false, 5).
    """
    rows = "e(a) 2 7 20"
    found = run(rules, rows, window=window, step=step, end=50)
    # at 7 both values are initiated: neither holds afterwards, and the new countdown brings false at 12
    assert found.timeline == {("f(a)", "true"): [(3, 8), (21, 26)], ("f(a)", "false"): [(13, 21), (26, None)]}
    found = run(rules + "p(f(_)=true).", rows, window=window, step=step, end=50)
    assert found.timeline == {("f(a)", "true"): [(3, 13), (21, 26)], ("f(a)", "false"): [(13, 21), (26, None)]}


@pytest.mark.parametrize(("window", "step"), SIZES)
def test_a_delay_for_every_value_starts_with_values_that_only_delays_bring(window: int, step: int) -> None:
    rules = """
        initiatedAt(light(X)=red, T) :- happensAt(e(X), T).
        fi(light(X)=red, light(X)=amber, 3).
        fi(light(X)=amber, light(X)=green, 4).
        ft(light(X)=_, 6).
    """
    found = run(rules, "e(a) 1", window=window, step=step, end=50)
    assert found.timeline == {
        ("light(a)", "red"): [(2, 5)],
        ("light(a)", "amber"): [(5, 9)],
        ("light(a)", "green"): [(9, 15)],
    }


@pytest.mark.parametrize(("window", "step"), SIZES)
def test_the_worked_example_of_delayed_effects_does_not_depend_on_the_window(window: int, step: int) -> None:
    rules = """
        initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
        terminatedAt(f(X)=true, T) :- happensAt(g(X), T).
        fi(f(X)=true, f(X)=false, 5).
    """
    expected = timeline("""
        f(a)=true    [3,8) [12,14) [15,20) [31,36) [39,44)
        f(a)=false   [8,12) [20,31) [36,39) [44,..)
    """)
    found = run(rules, "e(a) 2 4 11 14 18 30 38\ng(a) 13 35", window=window, step=step, end=50)
    assert_same_timeline(found.timeline, expected)


@pytest.mark.parametrize(("window", "step"), SIZES)
def test_the_published_narrative_of_a_vote_does_not_depend_on_the_window(window: int, step: int) -> None:
    rules = """
        initially(status(m)=proposed).
        initiatedAt(status(M)=proposed, T) :- happensAt(propose(P, M), T), holdsAt(status(M)=null, T).
        initiatedAt(status(M)=voting, T) :- happensAt(second(S, M), T), holdsAt(status(M)=proposed, T).
        initiatedAt(status(M)=voted, T) :- happensAt(close_ballot(C, M), T), holdsAt(status(M)=voting, T).
        initiatedAt(status(M)=null, T) :- happensAt(declare(C, M, R), T), holdsAt(status(M)=voted, T).
    """
    acts = "second(s,m) 1\nclose_ballot(c,m) 2\ndeclare(c,m,not_carried) 3\npropose(p,m) 4 5"
    expected = timeline("""
        status(m)=proposed   [0,2) [5,..)
        status(m)=voting     [2,3)
        status(m)=voted      [3,4)
        status(m)=null       [4,5)
    """)
    assert_same_timeline(run(rules, acts, window=window, step=step, end=50).timeline, expected)


def test_countdowns_that_run_are_listed_with_what_would_cancel_them() -> None:
    rules = """
        initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
        initiatedAt(g(X)=on, T) :- happensAt(e(X), T).
        fi(f(X)=true, f(X)=false, 5).
        ft(f(X)=true, 9).
        ft(g(X)=on, 30).
        p(g(_)=on).
    """
    found = run(rules, "e(a) 8 18", window=20, step=20, end=20)
    assert found.open == {
        ("f(a)", "false", 23, 18, "end of f(a)=true"),
        ("g(a)", None, 48, 18, "end of g(a)=on or initiation of g(a)=on"),
    }


def test_a_snapshot_keeps_countdowns_whose_list_of_delays_has_grown() -> None:
    rules = "initiatedAt(f(X)=V, T) :- happensAt(e(X, V), T).\nfi(f(X)=_, f(X)=off, 7).\nft(f(_)=off, 2)."
    first, second = (Reasoner(parse(rules), window=4, step=4) for _ in range(2))
    rows = stream("e(a,one) 1\ne(a,two) 6\ne(b,three) 7\ne(b,four) 20")
    first.accept(to_batch(rows[:3]))
    first.advance(8)
    second.restore(first.snapshot())
    first.accept(to_batch(rows[3:]))
    second.accept(to_batch(rows[3:]))
    told = [reasoner.advance(28)["changes"].to_pylist() for reasoner in (first, second)]
    assert told[1] == told[0]
    ended = {(row["fluent"], row["value"], row["start"], row["end"]) for row in told[1] if row["op"] == "insert"}
    assert {("f(a)", "two", 7, 14), ("f(b)", "three", 8, 15)} <= ended
