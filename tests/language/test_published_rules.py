"""The rules of the published papers are read, checked without errors, and printed back."""

from __future__ import annotations

import pytest

import thalweg
from thalweg.language.diagnostics import Severity
from thalweg.language.rules import Kind

VOTING = """
initially(status(_)=null).
initiatedAt(status(M)=proposed, T1, T, T2) :-
    happensAt(propose(P, M), T), T1 =< T, T < T2,
    holdsAt(status(M)=null, T).
initiatedAt(status(M)=voting, T1, T, T2) :-
    happensAt(second(S, M), T), T1 =< T, T < T2,
    holdsAt(status(M)=proposed, T).
initiatedAt(status(M)=voted, T1, T, T2) :-
    happensAt(close_ballot(C, M), T), T1 =< T, T < T2,
    holdsAt(status(M)=voting, T).
initiatedAt(status(M)=null, T1, T, T2) :-
    happensAt(declare(C, M, R), T), T1 =< T, T < T2,
    holdsAt(status(M)=voted, T).
initiatedAt(voted(Ag, M)=Vote, T1, T, T2) :-
    happensAt(vote(Ag, M, Vote), T), T1 =< T, T < T2,
    holdsAt(status(M)=voting, T).
"""
GAPS = """
initiatedAt(gap(Vessel)=nearPorts, T) :-
    happensAt(gap_start(Vessel), T),
    holdsAt(withinArea(Vessel, nearPorts)=true, T).
initiatedAt(gap(Vessel)=farFromPorts, T) :-
    happensAt(gap_start(Vessel), T),
    not holdsAt(withinArea(Vessel, nearPorts)=true, T).
terminatedAt(gap(Vessel)=nearPorts, T) :-
    happensAt(gap_end(Vessel), T).
terminatedAt(gap(Vessel)=farFromPorts, T) :-
    happensAt(gap_end(Vessel), T).
"""
RENDEZVOUS = """
holdsFor(rendezVous(Vessel1, Vessel2)=true, I) :-
    holdsFor(proximity(Vessel1, Vessel2)=true, Ip),
    holdsFor(lowSpeed(Vessel1)=true, Il1),
    holdsFor(lowSpeed(Vessel2)=true, Il2),
    holdsFor(stopped(Vessel1)=farFromPorts, Is1),
    holdsFor(stopped(Vessel2)=farFromPorts, Is2),
    union_all([Il1, Is1], I1),
    union_all([Il2, Is2], I2),
    intersect_all([I1, I2, Ip], I).
"""
REFUELLING = """
initiatedAt(refuelOpportunity(V)=true, T) :-
    happensAt(closeToGas(V), T),
    holdsAt(highSpeed(V)=true, T),
    happensAt(fuelLevel(V, L), T),
    threshold(V, fuel, Vtank), L < Vtank/2.
terminatedAt(refuelOpportunity(V)=true, T) :-
    happensAt(fuelLevel(V, L), T),
    threshold(V, fuel, Vtank), L >= Vtank/2.
threshold(v1, fuel, 80).
"""
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
BUS_AND_TRAM = """
tick 6s.
at(T+3m) expBusM if [3m] at(T) busG, on.
at(T+5m) expTrM if [5m] at(T) tramB, on.
on if [1m] sometime request.
takeBusM if [+5m] sometime expBusM, not takeTrM, not [3m] sometime jam.
takeTrM if [+5m] sometime expTrM, not takeBusM.
"""
PUBLISHED = {
    "voting": (VOTING, Kind.EVENTS, 6),
    "gaps": (GAPS, Kind.EVENTS, 4),
    "rendezvous": (RENDEZVOUS, Kind.EVENTS, 1),
    "refuelling": (REFUELLING, Kind.EVENTS, 3),
    "turbines": (TURBINES, Kind.ANSWERS, 5),
    "hospital": (HOSPITAL, Kind.ANSWERS, 6),
    "bus and tram": (BUS_AND_TRAM, Kind.LARS, 6),
}


@pytest.mark.parametrize(("text", "kind", "statements"), PUBLISHED.values(), ids=PUBLISHED.keys())
def test_published_rules_are_read_checked_and_printed_back(text: str, kind: Kind, statements: int) -> None:
    program = thalweg.parse(text)
    assert program.kind is kind
    assert len(program.statements) == statements
    assert [d for d in program.check() if d.severity is Severity.ERROR] == []
    assert thalweg.parse(str(program)) == program


def test_a_checked_program_draws_its_graph() -> None:
    graph = thalweg.parse(VOTING).graph()
    assert "status" in graph._repr_html_()
