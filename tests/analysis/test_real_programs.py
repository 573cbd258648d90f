"""Programs that are right get no errors: the event cases, the examples, and the rules of the literature."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.analysis import check
from thalweg.analysis.checker import check_read
from thalweg.analysis.report import analyse, describe, facts
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.parser import parse, read, read_files

ROOT = Path(__file__).parent.parent.parent
CASES = sorted((ROOT / "tests" / "cases" / "events").glob("*/rules*.ec"))
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*/*.ec") if path.name != "background.ec")


def serious(found: list[Diagnostic]) -> list[str]:
    return [f"{d.code} {d.message}" for d in found if d.severity in (Severity.ERROR, Severity.WARNING)]


@pytest.mark.parametrize("rules", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_event_case_has_no_errors_and_no_warnings(rules: Path) -> None:
    background = rules.with_name("background.ec")
    program, reading = read_files(rules, *([background] if background.exists() else []))
    assert serious(check_read(program, reading)) == []
    assert describe(analyse(program))


@pytest.mark.parametrize("rules", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_example_has_no_errors_and_no_warnings(rules: Path) -> None:
    more = [rules.with_name("background.ec"), *sorted((rules.parent / "sample").glob("*.ec"))]
    program, reading = read_files(rules, *(path for path in more if path.exists()))
    assert serious(check_read(program, reading)) == []
    assert describe(analyse(program))


VOTING = r"""
initially(status(_)=null).
initiatedAt(status(M)=proposed, T) :- happensAt(propose(_P, M), T), holdsAt(status(M)=null, T).
initiatedAt(status(M)=voting, T) :- happensAt(second(_S, M), T), holdsAt(status(M)=proposed, T).
initiatedAt(status(M)=voted, T) :- happensAt(close_ballot(_C, M), T), holdsAt(status(M)=voting, T).
initiatedAt(status(M)=null, T) :- happensAt(declare(_C, M, _R), T), holdsAt(status(M)=voted, T).
fi(status(M)=proposed, status(M)=null, 10).
initiatedAt(voted(Ag, M)=Vote, T) :- happensAt(vote(Ag, M, Vote), T), holdsAt(status(M)=voting, T).
initiatedAt(voted(_Ag, M)=null, T) :- happensAt(start(status(M)=null), T).
holdsFor(pow(close_ballot(C, M))=true, I) :- role_of(C, chair), holdsFor(status(M)=voting, I).
initiatedAt(sanctioned(C)=true, T) :- happensAt(close_ballot(C, M), T), \+ holdsAt(pow(close_ballot(C, M))=true, T).
ft(sanctioned(_C)=true, 4).
role_of(c, chair).
"""

REFUELLING = r"""
initiatedAt(gap(V)=nearPorts, T) :- happensAt(gap_start(V), T), holdsAt(withinArea(V, nearPorts)=true, T).
initiatedAt(gap(V)=farFromPorts, T) :- happensAt(gap_start(V), T), \+ holdsAt(withinArea(V, nearPorts)=true, T).
terminatedAt(gap(V)=_, T) :- happensAt(gap_end(V), T).
initiatedAt(withinArea(V, Type)=true, T) :- happensAt(entersArea(V, A), T), areaType(A, Type).
terminatedAt(withinArea(V, Type)=true, T) :- happensAt(leavesArea(V, A), T), areaType(A, Type).
terminatedAt(withinArea(V, _Type)=true, T) :- happensAt(gap_start(V), T).
holdsFor(rendezVous(V1, V2)=true, I) :- holdsFor(proximity(V1, V2)=true, I1), holdsFor(gap(V1)=farFromPorts, I2),
    holdsFor(gap(V2)=farFromPorts, I3), union_all([I2, I3], I4), relative_complement_all(I1, [I4], I5),
    intDurGreater(I5, 240, I).
areaType(a1, nearPorts).
"""

TURBINES = """
malf(X, T-2) :- shdn(X, T).
shdn(X, T) :- flag(X, T), flag(X, T+1), flag(X, T+2).
flag(X, T) :- temp(X, high, T).
query malf(X, T).
"""

HOSPITAL = """
gvs(X, T) :- gcm(X, T), gbol(X, T).
st(X, us, T+1) :- bca(X, T+2).
st(X, us, T+1) :- not gvs(X, T), not st(X, us, T).
st(X, ic, T+1) :- not gvs(X, T), st(X, us, T).
risk(X, T) :- st(X, ic, T+2).
query risk(X, T).
"""

BUS_AND_TRAM = """
tick 6s.
at(T+3m) expBusM :- [3m] at(T) busG, on.
at(T+5m) expTrM :- [5m] at(T) tramB, on.
on :- [1m] sometime request.
takeBusM :- [+5m] sometime expBusM, not takeTrM, not [3m] sometime jam.
takeTrM :- [+5m] sometime expTrM, not takeBusM.
"""


@pytest.mark.parametrize("text", [VOTING, REFUELLING, TURBINES, HOSPITAL, BUS_AND_TRAM])
def test_rules_of_the_literature_have_no_errors_and_no_warnings(text: str) -> None:
    program = parse(text)
    assert serious(check(program)) == []
    assert facts(analyse(program))["kind"] == program.kind


MUTATIONS = st.tuples(
    st.sampled_from([VOTING, REFUELLING, TURBINES, HOSPITAL, BUS_AND_TRAM]),
    st.integers(0, 2000),
    st.integers(0, 12),
    st.text("abXYT_()[],.:-=\\+ 'happensAt0123", max_size=8),
)


@given(MUTATIONS)
def test_the_checker_answers_whatever_could_be_read(mutation: tuple[str, int, int, str]) -> None:
    text, at, removed, inserted = mutation
    at %= len(text)
    program, reading = read(text[:at] + inserted + text[at + removed :], "mutated.ec")
    found = check_read(program, reading)
    assert all(isinstance(diagnostic, Diagnostic) for diagnostic in found)
    describe(analyse(program))
