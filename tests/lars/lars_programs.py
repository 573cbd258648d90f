"""Random LARS programs and streams, and the way to run them here and by the reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import thalweg
from thalweg.analysis.checker import check
from thalweg.language.diagnostics import has_errors
from thalweg.language.program import Program
from thalweg.language.terms import Atom, Compound, Number, Term
from thalweg.lars.reasoner import Reasoner
from thalweg.protocol import Rows
from thalweg.reference.lars import text

Fact = tuple[int, str, tuple[int | str, ...]]
"""Time, name and arguments of an input atom."""


# --------------------------------------------------------------------------- streams


def term(fact: Fact) -> Term:
    _, name, args = fact
    terms = tuple(Number(a) if isinstance(a, int) else Atom(a) for a in args)
    return Compound(name, terms) if terms else Atom(name)


def batch(facts: Iterable[Fact], arrivals: Iterable[int] | None = None, ops: Iterable[int] | None = None) -> list[Rows]:
    """Facts as rows by name and arity; `row` counts through the given order."""
    listed = list(facts)
    when = list(arrivals) if arrivals is not None else [f[0] for f in listed]
    op = list(ops) if ops is not None else [1] * len(listed)
    names = dict.fromkeys((f[1], len(f[2])) for f in listed)
    found = []
    for name, arity in names:
        places = [i for i, f in enumerate(listed) if (f[1], len(f[2])) == (name, arity)]
        args = tuple(pa.array([str(listed[i][2][c]) for i in places]) for c in range(arity))
        found.append(
            Rows(
                name,
                np.array([op[i] for i in places], np.int8),
                np.array([when[i] for i in places], np.int64),
                np.array([listed[i][0] for i in places], np.int64),
                np.array(places, np.int64),
                args,
            )
        )
    return found


Answer = frozenset[tuple[int | None, str]]


def current(reasoner: Reasoner) -> Answer:
    """The answer stream that the reasoner stands at: points (None: now) and texts of atoms."""
    return frozenset((r["at"], r["atom"]) for r in reasoner.answers().to_pylist())


def lasting(reasoner: Reasoner) -> dict[tuple[int | None, str], int | None]:
    """Until when each atom of the answer is in without further input."""
    return {(r["at"], r["atom"]): r["to"] for r in reasoner.answers().to_pylist()}


class Timeline:
    """Folds changes: for each atom the ticks at which it was in."""

    def __init__(self) -> None:
        self.ticks: dict[tuple[int | None, str], set[int]] = {}
        self.open: dict[tuple[int | None, str], bool] = {}
        self.now = -1

    def apply(self, changes: pa.Table, now: int) -> None:
        events: dict[int, list[dict[str, object]]] = {}
        for row in changes.to_pylist():
            events.setdefault(row["query_time"], []).append(row)
        for tick in range(self.now + 1, now + 1):
            for row in events.get(tick, ()):
                self._one(row, tick)
            for key, is_open in self.open.items():
                if is_open:
                    self.ticks.setdefault(key, set()).add(tick)
        self.now = now

    def _one(self, row: dict[str, object], tick: int) -> None:
        key = (row["at"], row["atom"])
        first, last = row["from"], row["to"]
        assert isinstance(first, int)
        end = tick - 1 if last is None else last
        assert isinstance(end, int)
        span = set(range(first, end + 1))
        held = self.ticks.setdefault(key, set())  # type: ignore[arg-type]
        if row["op"] == "insert":
            assert not held & span, (row, held)
            held |= span
        else:
            assert span <= held, (row, held)
            held -= span
        if last is None:
            self.open[key] = row["op"] == "insert"  # type: ignore[index]

    def at(self, tick: int) -> Answer:
        return frozenset(key for key, ticks in self.ticks.items() if tick in ticks)


# --------------------------------------------------------------------------- programs

INPUTS = ("a/0", "b/0", "p/1", "q/1", "r/2")
LEVELS = (("c/0", "d/1"), ("e/0", "f/1"), ("g/0", "h/1"))


@dataclass(frozen=True)
class Draw:
    """Which forms a generated program may use."""

    loops: bool = False
    windows: tuple[str, ...] = ("time", "hop", "tuple", "partition")
    modes: tuple[str, ...] = ("sometime", "always", "at")
    aggregates: bool = True
    facts: bool = True
    heads: tuple[str, ...] = ("plain", "at")


@st.composite
def window(draw: st.DrawFn, kinds: tuple[str, ...], atom: str) -> str:
    kind = draw(st.sampled_from(kinds))
    past, future = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    shape = draw(st.sampled_from(["past", "future", "both"]))
    sizes = {"past": f"{past}", "future": f"+{future}", "both": f"{past}, +{future}"}[shape]
    if kind == "hop":
        return f"[{sizes} hop {draw(st.integers(2, 3))}]"
    if kind == "tuple":
        return f"[{past} #]" if shape != "both" else f"[{past} #, +{future + 1} #]"
    if kind == "partition" and "X" in atom:
        return f"[{past} # by X]"
    return f"[{sizes}]"


@st.composite
def atom(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    name, arity = draw(st.sampled_from(names)).split("/")
    args = [draw(st.sampled_from(["X", "X", "Y", "1", "_"])) for _ in range(int(arity))]
    return f"{name}({', '.join(args)})" if args else name


@st.composite
def literal(draw: st.DrawFn, below: tuple[str, ...], same: tuple[str, ...], form: Draw) -> str:
    """Windows look at lower predicates; plain atoms may be of the same level."""
    kind = draw(st.sampled_from(["plain", *form.modes, *form.modes]))
    if kind == "plain":
        found = draw(atom(below + same))
    else:
        inner = draw(atom(below))
        frame = draw(window(form.windows, inner))
        shown = {"sometime": "sometime", "always": "always", "at": "at(T)"}[kind]
        found = f"{frame} {shown} {inner}"
    return found


@st.composite
def rule(draw: st.DrawFn, level: int, form: Draw) -> str:
    below = INPUTS + tuple(n for names in LEVELS[:level] for n in names)
    same = LEVELS[level]
    name, arity = draw(st.sampled_from(same)).split("/")
    positive = [draw(literal(below, same, form)) for _ in range(draw(st.integers(1, 2)))]
    upper = same if form.loops else ()
    negative = [f"not {draw(literal(below, upper, form))}" for _ in range(draw(st.integers(0, 1 + form.loops)))]
    body = positive + negative
    if form.aggregates and draw(st.integers(0, 5)) == 0:
        function = draw(st.sampled_from(["count", "sum", "min", "max"]))
        counted = draw(st.sampled_from(["q(N)", "r(X, N)", "r(N, X)"]))
        body.append(f"M = {function}(N) over {draw(window(form.windows, counted))} {counted}")
        body.append(draw(st.sampled_from(["M > 1", "M < 2", "M = 2"])))
    if draw(st.integers(0, 4)) == 0:
        body.append(draw(st.sampled_from(["X > 1", "X \\= Y", "T > 3", "X =< Y"])))
    head = f"{name}({draw(st.sampled_from(['X', 'X', '1', 'Y']))})" if arity == "1" else name
    if "at" in form.heads and draw(st.integers(0, 2)) == 0:
        head = f"at(T{draw(st.sampled_from(['', '+1', '+2', '-1']))}) {head}"
    return f"{head} if {', '.join(body)}."


def readable(source: str) -> Program | None:
    """The program, where it is one."""
    try:
        program = thalweg.parse(source)
    except thalweg.ProgramError:
        return None
    return None if has_errors(check(program)) else program


@st.composite
def programs(draw: st.DrawFn, form: Draw) -> Program:
    """Programs that pass the check; a rule that does not is left out."""
    kept = ["program lars."]
    if form.facts and draw(st.booleans()):
        kept.append("p(2). q(1).")
    for level in range(len(LEVELS)):
        for _ in range(draw(st.integers(1 if level == 0 else 0, 2))):
            for _ in range(4):
                candidate = draw(rule(level, form))
                if readable("\n".join([*kept, candidate])) is not None:
                    kept.append(candidate)
                    break
    program = readable("\n".join(kept))
    assert program is not None
    return program


@st.composite
def streams(draw: st.DrawFn, names: tuple[str, ...] = INPUTS, last: int = 7, most: int = 9) -> list[Fact]:
    """Input atoms, each at most once at a point."""

    @st.composite
    def fact(draw: st.DrawFn) -> Fact:
        name, arity = draw(st.sampled_from(names)).split("/")
        args = tuple(draw(st.integers(1, 2)) for _ in range(int(arity)))
        return draw(st.integers(0, last)), name, args

    return draw(st.lists(fact(), max_size=most, unique=True))


def heads(answer_heads: Iterable[tuple[int, tuple[int | None, Term]]]) -> Answer:
    """Heads of a reference answer as points and texts."""
    return frozenset((at, text(a)) for _, (at, a) in answer_heads)
