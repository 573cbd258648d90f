"""Examples 1 to 20 of the seed, step by step, all tables of Example 20 included."""

from __future__ import annotations

import pytest
from answers_definition21 import Definition21, Literal
from answers_support import facts, ground_schematic

from thalweg import ProgramError, parse
from thalweg.answers.datalog import read
from thalweg.answers.offline import check, plan
from thalweg.answers.reasoner import Reasoner
from thalweg.answers.stratify import dependencies, negative_walk
from thalweg.reference.answers import Assumption, Evolutions, Fact

TURBINES = """
query malf(X, T).
flag(X, T) :- temp(X, high, T).
cool(X, T+1) :- flag(X, T), flag(X, T+1).
shdn(X, T+1) :- cool(X, T), flag(X, T+1).
malf(X, T-2) :- shdn(X, T).
"""

HOSPITAL = """
query risk(X, T).
gvs(X, T) :- gcm(X, T), gbol(X, T).
st(X, us, T+1) :- bca(X, T+2).
st(X, us, T+1) :- not gvs(X, T), not st(X, us, T).
st(X, ic, T+1) :- not gvs(X, T), st(X, us, T).
risk(X, T) :- st(X, ic, T+2).
"""

ONE_TURBINE = TURBINES.replace("temp(X, high, T)", "temp(X, T)")
"""The reference tries every stream, so it gets the program without the readings that do not matter."""


def temp(time: int, device: str = "wt25") -> Fact:
    return Fact("temp", (device,), time)


def assumed(*given: Fact) -> frozenset[Assumption]:
    return frozenset(Assumption(f) for f in given)


def rows(revision: object, table: str) -> list[tuple[object, ...]]:
    """(answer, evidence, needed) of a table."""
    found = revision[table].to_pylist()  # type: ignore[index]
    return sorted((r["answer"], tuple(r["evidence"]), tuple(r.get("needed", ()))) for r in found)


# --------------------------------------------------------------------------- wind turbines: Examples 1 to 5, 9, 10


def test_example_1_a_malfunction_is_known_two_time_points_later() -> None:
    reasoner = Reasoner(parse(TURBINES))
    for time in range(3):
        reasoner.accept(facts(("temp", "wt25", "high", time)))
        answers = reasoner.advance(time)["answers"].to_pylist()
        assert [(a["X"], a["time"]) for a in answers] == ([("wt25", 0)] if time == 2 else [])


def test_example_2_hypothetical_answers_by_definition_5() -> None:
    world = Evolutions(parse(ONE_TURBINE), ["wt25"], 3)
    malf = Fact("malf", ("wt25",), 0)
    assert assumed(temp(1), temp(2)) in world.hypothetical(malf, [temp(0)], 0)
    assert assumed(temp(2)) in world.hypothetical(malf, [temp(0), temp(1)], 1)
    assert frozenset() in world.hypothetical(malf, [temp(0), temp(1), temp(2)], 2)
    later = Fact("malf", ("wt25",), 1)
    assert world.hypothetical(later, [], 0) == {assumed(temp(1), temp(2), temp(3))}
    assert world.hypothetical(later, [], 1) == set()


def test_an_answer_at_a_time_to_come_is_open_from_its_first_reading_on() -> None:
    """What the seed says of the shutdown of wt25 at 2, before its Definition 4."""
    reasoner = Reasoner(parse(TURBINES.replace("query malf", "query shdn")))
    reasoner.accept(facts(("temp", "wt25", "high", 0)))
    needed = ("temp(wt25, high, 1)", "temp(wt25, high, 2)")
    assert rows(reasoner.advance(0), "open") == [("shdn(wt25, 2)", ("temp(wt25, high, 0)",), needed)]


def test_example_3_supported_answers_by_definition_6() -> None:
    world = Evolutions(parse(ONE_TURBINE), ["wt25"], 3)
    malf = Fact("malf", ("wt25",), 0)
    assert world.supported(malf, [temp(0)], 0) == {(assumed(temp(1), temp(2)), assumed(temp(0)))}
    assert world.supported(malf, [temp(0), temp(1)], 1) == {(assumed(temp(2)), assumed(temp(0), temp(1)))}
    assert world.supported(Fact("malf", ("wt25",), 1), [temp(0)], 0) == set()


def test_examples_4_and_5_the_open_answer_and_the_template_behind_it() -> None:
    made = plan(parse(TURBINES))
    assert [str(t) for t in made.queries[0].templates] == [
        "{temp(X, high, T), temp(X, high, T+1), temp(X, high, T+2)}"
    ]
    reasoner = Reasoner(parse(TURBINES))
    reasoner.accept(facts(("temp", "wt25", "high", 0), ("temp", "wt25", "high", 1)))
    reasoner.advance(0)
    assert (
        "malf(wt25, 0)",
        ("temp(wt25, high, 0)", "temp(wt25, high, 1)"),
        ("temp(wt25, high, 2)",),
    ) in rows(reasoner.advance(1), "open")


def test_example_9_the_schematic_answers_at_each_time_point() -> None:
    reasoner = Reasoner(parse(TURBINES))
    stamp = "temp(wt25, high, {})".format
    expected = {
        0: [("malf(wt25, 0)", (stamp(0),), (stamp(1), stamp(2)))],
        1: [
            ("malf(wt25, 0)", (stamp(0), stamp(1)), (stamp(2),)),
            ("malf(wt25, 1)", (stamp(1),), (stamp(2), stamp(3))),
        ],
        2: [
            ("malf(wt25, 1)", (stamp(1), stamp(2)), (stamp(3),)),
            ("malf(wt25, 2)", (stamp(2),), (stamp(3), stamp(4))),
        ],
        3: [],
    }
    for time, standing in expected.items():
        if time < 3:
            reasoner.accept(facts(("temp", "wt25", "high", time)))
        revision = reasoner.advance(time)
        assert rows(revision, "open") == standing
        certain = [("malf(wt25, 0)", (stamp(0), stamp(1), stamp(2)), ())] if time == 2 else []
        assert rows(revision, "answers") == certain


def test_example_10_an_answer_does_not_wait_for_an_earlier_one() -> None:
    reasoner = Reasoner(parse(TURBINES + "malf(X, T) :- temp(X, 'n/a', T)."))
    given = [("temp", "wt25", "high", 0), ("temp", "wt25", "high", 1), ("temp", "wt42", "n/a", 1)]
    reasoner.accept(facts(*given))
    reasoner.advance(0)
    revision = reasoner.advance(1)
    assert rows(revision, "answers") == [("malf(wt42, 1)", ("temp(wt42, 'n/a', 1)",), ())]
    assert (
        "malf(wt25, 0)",
        ("temp(wt25, high, 0)", "temp(wt25, high, 1)"),
        ("temp(wt25, high, 2)",),
    ) in rows(revision, "open")


# --------------------------------------------------------------------------- traps: Examples 6, 7, 8


def test_example_6_a_premise_that_is_not_needed_is_not_kept() -> None:
    made = plan(parse("query r(X, T). r(a, T) :- p(a, T). r(a, T) :- p(a, T), q(a, T)."))
    assert [str(t) for t in made.queries[0].templates] == ["{p(a, T)}"]


def test_example_7_an_endless_recursion_is_refused_with_its_rule_and_shape() -> None:
    text = "query s(X, T).\ns(X, T+1) :- s(X, T).\ns(X, T) :- r(X, T).\n"
    (found,) = check(parse(text))
    assert (found.code, found.span.line) == ("TW309", 2)
    assert found.notes == ("s(X, T) needs s(X, T-1), which needs s(X, T-2), and so on",)
    with pytest.raises(ProgramError, match="TW309"):
        Reasoner(parse(text))


DEFECTS = "query defective(X, T). defective(X, 0) :- temp(X, high, T1), temp(X, 'n/a', T2)."


def test_example_8_unrelated_times_are_open_without_a_deadline() -> None:
    reasoner = Reasoner(parse(DEFECTS), horizon=10)
    reasoner.accept(facts(("temp", "wt25", "high", 0)))
    (standing,) = reasoner.advance(0)["open"].to_pylist()
    assert (standing["X"], standing["time"], standing["decided_by"]) == ("wt25", 0, None)
    assert (standing["evidence"], standing["needed"]) == (["temp(wt25, high, 0)"], ["temp(wt25, 'n/a', T2)"])
    reasoner.accept(facts(("temp", "wt25", "n/a", 7)))
    assert rows(reasoner.advance(7), "answers") == [
        ("defective(wt25, 0)", ("temp(wt25, high, 0)", "temp(wt25, 'n/a', 7)"), ())
    ]


def test_example_8_is_refused_without_a_horizon() -> None:
    assert [d.code for d in check(parse(DEFECTS))] == ["TW308"]
    with pytest.raises(ProgramError, match="TW308"):
        Reasoner(parse(DEFECTS))


# --------------------------------------------------------------------------- hospital: Examples 11 to 16


def test_examples_11_to_14_the_hospital_is_t_stratified() -> None:
    datalog, problems = read(parse(HOSPITAL))
    assert not problems
    edges = {(e.source[0], e.target[0], e.step, e.negative) for e in dependencies(datalog)}
    assert edges == {
        ("gvs", "gcm", 0, False),
        ("gvs", "gbol", 0, False),
        ("st", "bca", 1, False),
        ("st", "gvs", -1, True),
        ("st", "st", -1, True),
        ("st", "st", -1, False),
        ("risk", "st", 2, False),
    }
    assert negative_walk(dependencies(datalog)) is None


def test_examples_12_and_14_the_strata_of_the_hospital() -> None:
    """A stratum is what reads, of what is not in an earlier one, nothing by a negation on any path."""
    datalog, _ = read(parse(HOSPITAL))
    edges = dependencies(datalog)
    left = {(name, t) for name in ("gcm", "gbol", "gvs", "bca", "st", "risk") for t in range(8)}
    strata = []
    while left:
        reads = {
            node: {((e.target[0], node[1] + e.step), e.negative) for e in edges if e.source[0] == node[0]}
            for node in left
        }
        above = {node for node in left if any(negative and to in left for to, negative in reads[node])}
        while more := {n for n in left - above if any(to in above for to, _ in reads[n])}:
            above |= more
        strata.append(left - above)
        left = above
    inputs = {(name, t) for name in ("gcm", "gbol", "gvs", "bca") for t in range(8)}
    assert strata[0] - {("risk", 6), ("risk", 7)} == inputs | {("st", 0)}  # what they read lies beyond
    assert strata[1] == {("st", 1)}
    assert strata[2:] == [{("st", t + 2), ("risk", t)} for t in range(6)]


def patient(name: str, time: int) -> Fact:
    return Fact(name, ("john",), time)


def test_example_15_hypotheses_with_negation_by_definitions_19_and_20() -> None:
    """The seed's laboratory never reports before 2; here that is a hypothesis like any other."""
    world = Evolutions(parse(HOSPITAL), ["john"], 3)
    risk = patient("risk", 0)
    absent = Assumption(patient("gcm", 1), False)
    silent = frozenset({absent, Assumption(patient("bca", 1), False)})
    assert silent in world.hypothetical(risk, [], 0)
    assert (silent, frozenset({Assumption(patient("gbol", 0), False)})) in world.supported(risk, [], 0)
    good = [patient("gbol", 0), patient("gcm", 0)]
    hypotheses = frozenset({Assumption(patient("bca", 2)), absent})
    assert hypotheses in world.hypothetical(risk, good, 0)
    assert not any(h == hypotheses for h, _ in world.supported(risk, good, 0))


def test_example_16_p_q_of_the_hospital_and_its_auxiliary_queries() -> None:
    shown = {q.name: {str(t) for t in q.templates} for q in plan(parse(HOSPITAL)).queries}
    assert shown == {
        "risk(X, T)": {
            "{not gvs(X, T+1), bca(X, T+2)}",
            "{not gvs(X, T+1), not gvs(X, T), not st(X, us, T)}",
        },
        "gvs(X, T)": {"{gcm(X, T), gbol(X, T)}"},
        "st(X, us, T)": {"{bca(X, T+1)}", "{not gvs(X, T-1), not st(X, us, T-1)}"},
    }


# --------------------------------------------------------------------------- constants: Examples 17 and 18


def test_example_17_constants_are_opened_where_that_gives_one_table_instead_of_three() -> None:
    text = "query q(T). q(T) :- not p(c1, T). q(T) :- not p(c2, T). q(T) :- not p(c3, T). p(X, T) :- r(X, T)."
    assert [q.name for q in plan(parse(text)).queries] == ["q(T)", "p(X, T)"]


def test_example_18_constants_are_kept_where_they_decide_the_query_offline() -> None:
    made = plan(parse("query q(c, T). q(X, T) :- not p(X, T). p(c, T). p(X, T) :- r(X, T)."))
    assert [(q.name, q.templates) for q in made.queries] == [("q(c, T)", ())]


# --------------------------------------------------------------------------- Example 19


NEVER_TWICE = "query r(T). p(T) :- s(T), s(T+1). r(T) :- not p(T)."


@pytest.mark.parametrize("second", [True, False])
def test_example_19_a_negation_is_discharged_or_kills(second: bool) -> None:
    reasoner = Reasoner(parse(NEVER_TWICE))
    assert rows(reasoner.advance(0), "answers") == [("r(0)", ("not p(0)",), ())]
    reasoner.accept(facts(("s", 1)))
    revision = reasoner.advance(1)
    assert rows(revision, "answers") == []
    assert ground_schematic(reasoner, 0, []) >= {("r(1)", frozenset(), frozenset({"not p(1)"}))}
    assert ground_schematic(reasoner, 1, []) == {("p(1)", frozenset({"s(1)"}), frozenset({"s(2)"}))}
    if second:
        reasoner.accept(facts(("s", 2)))
    answers = rows(reasoner.advance(2), "answers")
    assert (("r(1)", ("not p(1)",), ()) in answers) == (not second)


# --------------------------------------------------------------------------- Example 20

PATIENTS = ["john", "gus"]
SLICES = {0: [("gcm", "gus")], 1: [("bca", "john"), ("gcm", "gus")], 2: [("gcm", "gus"), ("gbol", "gus")]}
RISK, GVS, ST = 0, 1, 2


def ground(goal: str, evidence: str, hypotheses: str) -> set[tuple[str, frozenset[str], frozenset[str]]]:
    """A tuple of the seed's tables; X stands for both patients."""
    found = set()
    for who in PATIENTS if "X" in goal + evidence + hypotheses else [""]:
        given = [part.replace("X", who) for part in (goal, evidence, hypotheses)]
        found.add((given[0], *(frozenset(filter(None, part.split("; "))) for part in given[1:])))
    return found


def union(
    *parts: set[tuple[str, frozenset[str], frozenset[str]]],
) -> set[tuple[str, frozenset[str], frozenset[str]]]:
    return set().union(*parts)


def risk_by_analysis(t: int) -> set[tuple[str, frozenset[str], frozenset[str]]]:
    return ground(f"risk(X, {t})", "", f"bca(X, {t + 2}); not gvs(X, {t + 1})")


def risk_by_signs(t: int) -> set[tuple[str, frozenset[str], frozenset[str]]]:
    return ground(f"risk(X, {t})", "", f"not gvs(X, {t + 1}); not gvs(X, {t}); not st(X, us, {t})")


GUS_0 = ground("risk(gus, 0)", "not gvs(gus, 0); not gvs(gus, 1); not st(gus, us, 0)", "")
ST_JOHN_0 = ground("st(john, us, 0)", "bca(john, 1)", "")
ST_GUS_1 = ground("st(gus, us, 1)", "not gvs(gus, 0); not st(gus, us, 0)", "")
JOHN_1 = ground("risk(john, 1)", "not gvs(john, 1)", "not gvs(john, 2); not st(john, us, 1)")
"""At time 1 the seed's table discharges ``not st(john, us, 1)`` by 4(b), although its own S of ST still holds
``[T := 1], {BCA(X, 2)}``: the laboratory may still report john at 2. By the definition it stays a hypothesis; at time 2
both agree again."""

B = {
    (0, RISK): union(risk_by_analysis(0), risk_by_signs(0)),
    (0, GVS): set(),
    (0, ST): ground("st(X, us, 0)", "", "bca(X, 1)"),
    (1, RISK): union(
        risk_by_analysis(0),
        ground("risk(X, 0)", "not gvs(X, 0)", "not gvs(X, 1); not st(X, us, 0)"),
        risk_by_analysis(1),
        risk_by_signs(1),
    ),
    (1, GVS): set(),
    (1, ST): union(
        ground("st(X, us, 1)", "", "not gvs(X, 0); not st(X, us, 0)"),
        ST_JOHN_0,
        ground("st(X, us, 1)", "", "bca(X, 2)"),
    ),
    (2, RISK): union(GUS_0, risk_by_analysis(1), JOHN_1, risk_by_analysis(2), risk_by_signs(2)),
    (2, GVS): ground("gvs(gus, 2)", "gcm(gus, 2); gbol(gus, 2)", ""),
    (2, ST): union(
        ST_GUS_1,
        ST_JOHN_0,
        ground("st(X, us, 2)", "", "not gvs(X, 1); not st(X, us, 1)"),
        ground("st(X, us, 2)", "", "bca(X, 3)"),
    ),
}

S = {
    (0, RISK): union(
        risk_by_analysis(0), ground("risk(X, 0)", "not gvs(X, 0)", "not gvs(X, 1); not st(X, us, 0)")
    ),
    (0, GVS): set(),
    (0, ST): ground("st(X, us, 0)", "", "bca(X, 1)"),
    (1, RISK): union(ground("risk(X, 0)", "not gvs(X, 1)", "bca(X, 2)"), GUS_0, risk_by_analysis(1), JOHN_1),
    (1, GVS): set(),
    (1, ST): union(ST_GUS_1, ST_JOHN_0, ground("st(X, us, 1)", "", "bca(X, 2)")),
    (2, RISK): union(
        GUS_0,
        ground("risk(john, 1)", "not gvs(john, 2)", "bca(john, 3)"),
        ground("risk(john, 1)", "not gvs(john, 1); not st(john, us, 1); not gvs(john, 2)", ""),
        risk_by_analysis(2),
    ),
    (2, GVS): ground("gvs(gus, 2)", "gcm(gus, 2); gbol(gus, 2)", ""),
    (2, ST): union(
        ST_GUS_1,
        ST_JOHN_0,
        ground("st(john, us, 2)", "not gvs(john, 1); not st(john, us, 1)", ""),
        ground("st(X, us, 2)", "", "bca(X, 3)"),
    ),
}

SUBSTEPS = {
    (0, RISK, "3(b)"): union(risk_by_analysis(0), risk_by_signs(0)),
    (0, RISK, "3(c)"): risk_by_analysis(0),
    (0, ST, "3(c)"): ground("st(X, us, 0)", "", "bca(X, 1)"),
    (1, ST, "3(a)"): ST_JOHN_0,
    (1, RISK, "3(b)"): union(risk_by_analysis(1), risk_by_signs(1)),
    (1, ST, "3(b)"): ground("st(X, us, 1)", "", "not gvs(X, 0); not st(X, us, 0)"),
    (1, RISK, "3(c)"): risk_by_analysis(1),
    (1, ST, "3(c)"): ground("st(X, us, 1)", "", "bca(X, 2)"),
    (2, GVS, "3(a)"): ground("gvs(gus, 2)", "gcm(gus, 2); gbol(gus, 2)", ""),
}


def test_example_20_the_definition_gives_the_tables_of_the_seed() -> None:
    """Steps 2 and 3 (with their substeps) and step 4, at 0, 1 and 2."""
    definition = Definition21(plan(parse(HOSPITAL)), PATIENTS)
    for time, slice_ in SLICES.items():
        definition.step(Literal(name, (who,), time) for name, who in slice_)
        for query in (RISK, GVS, ST):
            assert {t.shown() for t in definition.b[query]} == B[time, query]
            assert {t.shown() for t in definition.s[query]} == S[time, query]
        for (at, query, substep), expected in SUBSTEPS.items():
            if at == time:
                assert {t.shown() for t in definition.by_substep[query, substep]} == expected


def test_example_20_the_reasoner_keeps_the_schematic_answers_of_the_seed() -> None:
    """All of S that can still matter; what is decided and no longer consulted is forgotten."""
    reasoner = Reasoner(parse(HOSPITAL))
    for time, slice_ in SLICES.items():
        reasoner.accept(facts(*((name, who, time) for name, who in slice_)))
        reasoner.advance(time)
        for query in (RISK, GVS, ST):
            kept = {
                t
                for t in S[time, query]
                if int(t[0].rstrip(")").split(", ")[-1]) + reasoner.engine.retire[query] > time
            }
            assert ground_schematic(reasoner, query, PATIENTS) == kept


def test_example_20_answers_and_open_answers_as_reported() -> None:
    reasoner = Reasoner(parse(HOSPITAL))
    reported = []
    for time, slice_ in SLICES.items():
        reasoner.accept(facts(*((name, who, time) for name, who in slice_)))
        revision = reasoner.advance(time)
        reported.append([(a["answer"], a["where"]) for a in revision["answers"].to_pylist()])
    assert reported == [[], [("risk(X, 0)", "X != john")], [("risk(john, 1)", None)]]
    standing = {(o["answer"], o["where"]): o for o in revision["open"].to_pylist()}
    john = standing["risk(X, 1)", "X != gus"]
    assert (john["evidence"], john["needed"], john["decided_by"]) == (["not gvs(X, 2)"], ["bca(X, 3)"], 3)
