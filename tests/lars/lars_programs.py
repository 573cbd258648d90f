"""Random LARS programs and streams, and the way to run them here and by the reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

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
from thalweg.reference.lars_terms import text

Fact = tuple[int, str, tuple[int | float | str, ...]]
"""Time, name and arguments of an input atom."""


# --------------------------------------------------------------------------- streams


def term(fact: Fact) -> Term:
    _, name, args = fact
    terms = tuple(Atom(a) if isinstance(a, str) else Number(a) for a in args)
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


class Choose:
    """Where random choices come from: Hypothesis, or a random number generator for long runs."""

    def __init__(self, source: st.DrawFn | Random) -> None:
        self.source = source

    def number(self, low: int, high: int) -> int:
        if isinstance(self.source, Random):
            return self.source.randint(low, high)
        return self.source(st.integers(low, high))

    def pick(self, items: Sequence[str]) -> str:
        return items[self.number(0, len(items) - 1)]


def window(choose: Choose, kinds: tuple[str, ...], inner: str) -> str:
    kind = choose.pick(kinds)
    past, future = choose.number(0, 3), choose.number(0, 3)
    shape = choose.pick(["past", "past", "future", "both"])
    sizes = {"past": f"{past}", "future": f"+{future}", "both": f"{past}, +{future}"}[shape]
    if kind == "hop":
        return f"[{sizes} hop {choose.number(2, 3)}]"
    if kind == "tuple":
        return f"[{past} #]" if shape != "both" else f"[{past} #, +{future + 1} #]"
    if kind == "partition" and "X" in inner:
        return f"[{past} # by X]"
    return f"[{sizes}]"


def atom(choose: Choose, names: tuple[str, ...]) -> str:
    name, arity = choose.pick(names).split("/")
    args = [choose.pick(["X", "X", "Y", "1", "_"]) for _ in range(int(arity))]
    return f"{name}({', '.join(args)})" if args else name


def literal(choose: Choose, below: tuple[str, ...], same: tuple[str, ...], form: Draw) -> str:
    """Windows look at lower predicates; plain atoms may be of the same level."""
    kind = choose.pick(["plain", *form.modes, *form.modes])
    if kind == "plain":
        return atom(choose, below + same)
    inner = atom(choose, below)
    shown = {"sometime": "sometime", "always": "always", "at": "at(T)"}[kind]
    return f"{window(choose, form.windows, inner)} {shown} {inner}"


def rule(choose: Choose, level: int, form: Draw) -> str:
    """A rule for a predicate of a level; about half of them pass the check."""
    below = INPUTS + 2 * tuple(n for names in LEVELS[:level] for n in names)
    same = LEVELS[level]
    name, arity = choose.pick(same).split("/")
    body = [literal(choose, below, same, form) for _ in range(choose.number(1, 2))]
    body += [f"not {literal(choose, below, (), form)}" for _ in range(choose.number(0, 1))]
    if form.loops and choose.number(0, 3):
        body.append(f"not {atom(choose, same)}")
    if form.aggregates and choose.number(0, 5) == 0:
        function = choose.pick(["count", "sum", "min", "max"])
        counted = choose.pick(["q(N)", "r(X, N)", "r(N, X)"])
        body.append(f"M = {function}(N) over {window(choose, form.windows, counted)} {counted}")
        body.append(choose.pick(["M > 1", "M < 2", "M = 2"]))
    if choose.number(0, 4) == 0:
        body.append(choose.pick(["X > 1", "X \\= Y", "T > 3", "X =< Y"]))
    head = f"{name}({choose.pick(['X', 'X', '1', 'Y'])})" if arity == "1" else name
    if "at" in form.heads and choose.number(0, 2) == 0:
        head = f"at(T{choose.pick(['', '+1', '+2', '-1'])}) {head}"
    return f"{head} if {', '.join(body)}."


def choice(choose: Choose, level: int, form: Draw) -> str:
    """Two rules that exclude each other."""
    below = INPUTS + tuple(n for names in LEVELS[:level] for n in names)
    left, right = (f"{n.split('/')[0]}(X)" if n.endswith("1") else n[0] for n in LEVELS[level])
    guard = f"{window(choose, ('time',), 'p')} sometime {atom(choose, ('p/1', 'q/1')).replace('_', 'X')}"
    extra = literal(choose, below, (), form)
    return f"{left} if {guard}, not {right}.\n{right} if {guard}, {extra}, not {left}."


def readable(source: str) -> Program | None:
    """The program, where it is one."""
    try:
        program = thalweg.parse(source)
    except thalweg.ProgramError:
        return None
    return None if has_errors(check(program)) else program


def program_of(choose: Choose, form: Draw) -> Program:
    """A program that passes the check; rules that do not are drawn again a few times, then left out."""
    kept = ["program lars."]
    if form.facts and choose.number(0, 3) == 0:
        kept.append("p(2). q(1).")
    for level in range(len(LEVELS)):
        for _ in range(choose.number(1 if level == 0 else 0, 2)):
            for _ in range(5):
                pair = form.loops and choose.number(0, 2) == 0
                candidate = (choice if pair else rule)(choose, level, form)
                if readable("\n".join([*kept, candidate])) is not None:
                    kept.append(candidate)
                    break
    program = readable("\n".join(kept))
    assert program is not None
    return program


def stream_of(choose: Choose, names: tuple[str, ...] = INPUTS, last: int = 7, most: int = 24) -> list[Fact]:
    """Input atoms, each at most once at a point."""
    found: dict[Fact, None] = {}
    for _ in range(choose.number(0, most)):
        name, arity = choose.pick(names).split("/")
        args = tuple(choose.number(1, 2) for _ in range(int(arity)))
        found[choose.number(0, last), name, args] = None
    return list(found)


@st.composite
def programs(draw: st.DrawFn, form: Draw) -> Program:
    return program_of(Choose(draw), form)


@st.composite
def streams(draw: st.DrawFn, names: tuple[str, ...] = INPUTS, last: int = 7, most: int = 24) -> list[Fact]:
    return stream_of(Choose(draw), names, last, most)


def heads(answer_heads: Iterable[tuple[int, tuple[int | None, Term]]]) -> Answer:
    """Heads of a reference answer as points and texts."""
    return frozenset((at, text(a)) for _, (at, a) in answer_heads)
