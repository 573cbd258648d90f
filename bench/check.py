"""How long parsing and checking take, and whether they grow linearly: `python bench/check.py [RULES]`.

The program is made of protocols like the voting one (cyclic, delayed), layered states with arithmetic and
background knowledge, and interval expressions, all with names of their own.
"""

from __future__ import annotations

import sys
import time

from thalweg.analysis import check
from thalweg.analysis.report import analyse
from thalweg.language.parser import read

BLOCK = """
initially(status{n}(_)=null).
initiatedAt(status{n}(M)=proposed, T) :- happensAt(propose{n}(P, M), T), holdsAt(status{n}(M)=null, T),
    member_of(P, chair).
initiatedAt(status{n}(M)=voting, T) :- happensAt(second{n}(_S, M), T), holdsAt(status{n}(M)=proposed, T).
initiatedAt(status{n}(M)=null, T) :- happensAt(declare{n}(_C, M), T), holdsAt(status{n}(M)=voting, T).
fi(status{n}(M)=proposed, status{n}(M)=null, 10).
initiatedAt(fast{n}(V)=true, T) :- happensAt(velocity{n}(V, S, H), T), limit(V, L), S > L, \\+ happensAt(gap{n}(V), T),
    angle(S, H, D), D > 15.
terminatedAt(fast{n}(V)=true, T) :- happensAt(velocity{n}(V, S, _), T), limit(V, L), S =< L.
initiatedAt(alarm{n}(V)=near, T) :- happensAt(start(fast{n}(V)=true), T), holdsAt(status{m}(V)=voting, T).
terminatedAt(alarm{n}(V)=_, T) :- happensAt(end(fast{n}(V)=true), T).
holdsFor(both{n}(V)=true, I) :- holdsFor(fast{n}(V)=true, I1), holdsFor(alarm{n}(V)=near, I2),
    intersect_all([I1, I2], I3), intDurGreater(I3, 60, I).
"""
RULES_PER_BLOCK = 10
BACKGROUND = """
angle(A, B, D) :- D is abs(A - B).
limit(a, 12.5). limit(b, 20).
member_of(x, chair).
"""
LIMIT_SECONDS = 5.0
RATIO_LIMIT = 2.5


def program_text(rules: int) -> str:
    """A program of about so many rules."""
    blocks = max(1, rules // RULES_PER_BLOCK)
    return BACKGROUND + "".join(BLOCK.format(n=n, m=max(0, n - 1) // 7) for n in range(blocks))


def measure(rules: int) -> tuple[float, float, float]:
    """CPU seconds of parsing, checking and the other analyses; the program has no errors and no warnings."""
    text = program_text(rules)
    begin = time.process_time()
    program, reading = read(text, "bench.ec")
    parsed = time.process_time()
    found = check(program)
    checked = time.process_time()
    analyse(program)
    analysed = time.process_time()
    wrong = [d for d in (*reading, *found) if d.severity in ("error", "warning")]
    assert not wrong, wrong[:3]
    return parsed - begin, checked - parsed, analysed - checked


def main(rules: int) -> None:
    measure(rules // 20)
    totals = []
    for size in (rules // 2, rules, rules * 2):
        parsing, checking, analysing = measure(size)
        totals.append(parsing + checking)
        print(
            f"{size:>7} rules: parse {parsing:.2f} s, check {checking:.2f} s, together {totals[-1]:.2f} s; "
            f"keys, layers and horizon {analysing:.2f} s"
        )
    growth = max(totals[1] / totals[0], totals[2] / totals[1])
    print(f"parse and check of {rules} rules: {totals[1]:.2f} s (limit {LIMIT_SECONDS} s)")
    print(f"twice the rules cost {growth:.2f} times (limit {RATIO_LIMIT})")
    if totals[1] > LIMIT_SECONDS or growth > RATIO_LIMIT:
        raise SystemExit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
