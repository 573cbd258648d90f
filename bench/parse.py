"""How long does it take to parse and check programs of 1,000 to 20,000 rules? Linear growth is expected.

python bench/parse.py [rules ...]
"""

from __future__ import annotations

import sys
import time

import thalweg
from thalweg.events.reasoner import Reasoner

_RULES = """\
initiatedAt(gap{n}(Vessel)=nearPorts, T) :-
    happensAt(gap_start{n}(Vessel), T),
    holdsAt(withinArea{n}(Vessel, nearPorts)=true, T).
initiatedAt(gap{n}(Vessel)=farFromPorts, T) :-
    happensAt(gap_start{n}(Vessel), T),
    \\+ holdsAt(withinArea{n}(Vessel, nearPorts)=true, T).
terminatedAt(gap{n}(Vessel)=_Value, T) :-
    happensAt(gap_end{n}(Vessel), T).
initiatedAt(withinArea{n}(Vessel, Type)=true, T) :-
    happensAt(entersArea{n}(Vessel, Area), T),
    areaType(Area, Type).
terminatedAt(withinArea{n}(Vessel, Type)=true, T) :-
    happensAt(leavesArea{n}(Vessel, Area), T),
    areaType(Area, Type).
initiatedAt(highSpeed{n}(Vessel)=true, T) :-
    happensAt(velocity{n}(Vessel, Speed, _, _), T),
    thresholds(maxSpeed, Max), Speed > Max * 2 - 1,
    not happensAt(gap_start{n}(Vessel), T).
terminatedAt(highSpeed{n}(Vessel)=true, T) :-
    happensAt(velocity{n}(Vessel, Speed, _, _), T),
    thresholds(maxSpeed, Max), Speed =< Max.
terminatedAt(highSpeed{n}(Vessel)=true, T) :-
    happensAt(start(gap{n}(Vessel)=nearPorts), T).
holdsFor(suspicious{n}(V1, V2)=true, I) :-
    holdsFor(highSpeed{n}(V1)=true, I1),
    holdsFor(gap{n}(V2)=farFromPorts, I2),
    intersect_all([I1, I2], If), intDurGreater(If, 240, I).
grounding(gap{n}(Vessel)=nearPorts) :- vessel(Vessel).
"""
"""Ten rules of the maritime kind."""


def program_text(rules: int) -> str:
    """A program of that many rules, with the facts they use."""
    facts = "thresholds(maxSpeed, 48.6).\nareaType(a1, nearPorts).\nvessel(v1).\n"
    return facts + "".join(_RULES.format(n=n) for n in range(rules // 10))


def main(sizes: list[int]) -> None:
    print(f"{'rules':>8} {'parse s':>9} {'check s':>9} {'us per rule':>12} {'reasoner s':>11} {'another s':>10}")
    for size in sizes:
        text = program_text(size)
        begin = time.process_time()
        program = thalweg.parse(text)
        parsed = time.process_time()
        program.check()
        end = time.process_time()
        Reasoner(program, window=100, step=100)
        planned = time.process_time()
        Reasoner(program, window=100, step=100)
        again = time.process_time()
        told = f"{size:>8} {parsed - begin:>9.2f} {end - parsed:>9.2f} {(end - begin) / size * 1e6:>12.0f}"
        print(f"{told} {planned - end:>11.2f} {again - planned:>10.2f}", flush=True)


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [1_000, 2_000, 5_000, 10_000, 20_000])
