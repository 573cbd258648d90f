"""The promise of a reasoning key: a program run in shards, stage by stage, gives what it gives in one piece.

The reference runs every shard with the rows that the routes send there; a shard keeps the results whose key is its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from thalweg.analysis.dependencies import Node
from thalweg.analysis.keys import Route, Stage, plain, reasoning_keys
from thalweg.language.parser import parse
from thalweg.language.program import Program
from thalweg.language.rules import (
    Clause,
    Declare,
    Delayed,
    DynamicDomain,
    EffectRule,
    EventRule,
    Grounding,
    Initially,
    IntervalRule,
    Postponable,
    Statement,
)
from thalweg.language.terms import signature
from thalweg.reference.events import Row, run
from thalweg.reference.terms import Ground

LAST = 14
UNTIL = 40
SHARDS = 3
BASE = [
    "initiatedAt(a(X)=true, T) :- happensAt(e(X), T).",
    "terminatedAt(a(X)=true, T) :- happensAt(g(X), T).",
    "dom(p). dom(q).",
]
POOL = [
    "initiatedAt(b(X)=true, T) :- happensAt(h(X, _), T), holdsAt(a(X)=true, T).",
    "terminatedAt(b(X)=true, T) :- happensAt(h(_, X), T).",
    "terminatedAt(b(X)=true, T) :- happensAt(reset, T), \\+ happensAt(e(X), T).",
    "initiatedAt(c(X, Y)=true, T) :- happensAt(h(X, Y), T), holdsAt(a(X)=true, T), \\+ holdsAt(a(Y)=true, T).",
    "terminatedAt(c(X, _)=true, T) :- happensAt(g(X), T).",
    "initially(d(_)=low).",
    "initially(v(X)=on) :- dom(X).",
    "terminatedAt(v(X)=on, T) :- happensAt(g(X), T).",
    "initiatedAt(d(X)=high, T) :- happensAt(start(a(X)=true), T).",
    "initiatedAt(d(X)=low, T) :- happensAt(end(a(X)=true), T), \\+ happensAt(e(X), T).",
    "fi(d(X)=high, d(X)=low, 3).",
    "holdsFor(u(X)=true, I) :- holdsFor(a(X)=true, I1), holdsFor(d(X)=high, I2), union_all([I1, I2], I).",
    "holdsFor(m(X, Y)=true, I) :- holdsFor(near(X, Y)=true, I0), holdsFor(a(X)=true, I1), holdsFor(a(Y)=true, I2), "
    "intersect_all([I0, I1, I2], I).",
    "holdsFor(o(X, Y)=true, I) :- holdsFor(m(X, Y)=true, I1), holdsFor(near(X, Y)=true, I2), "
    "relative_complement_all(I2, [I1], I).",
    "holdsFor(n(X, Y)=true, I) :- holdsFor(a(X)=true, I1), holdsFor(a(Y)=true, I2), intersect_all([I1, I2], I).",
    "happensAt(ring(X), T) :- happensAt(start(b(X)=true), T).",
    "initiatedAt(loud(X)=true, T) :- happensAt(ring(X), T).",
    "initiatedAt(count=N, T) :- happensAt(e(_), T), findall(X, holdsAt(a(X)=true, T), L), length(L, N).",
    "initiatedAt(w(Y)=true, T) :- happensAt(h(X, Y), T), \\+ holdsAt(a(X)=true, T).",
    "initiatedAt(z(X)=true, T) :- (happensAt(e(X), T) ; happensAt(h(_, X), T)).",
    "initiatedAt(k(X)=true, T) :- dom(X), happensAt(reset, T), \\+ happensAt(e(X), T).",
    "terminatedAt(k(_)=true, T) :- happensAt(e(_), T).",
    "initiatedAt(s(X)=yes, T) :- happensAt(e(X), T), \\+ holdsAt(t(X)=yes, T).",
    "initiatedAt(t(X)=yes, T) :- happensAt(g(X), T), holdsAt(s(X)=yes, T).",
    "initiatedAt(s(X)=no, T) :- happensAt(h(X, _), T), holdsAt(t(X)=yes, T).",
]

people = st.sampled_from("pqrs")
times = st.integers(1, LAST)
events = st.one_of(
    st.builds(
        lambda name, x, t: Row(name=name, args=(x,), time=t, arrival=t), st.sampled_from("eg"), people, times
    ),
    st.builds(lambda x, y, t: Row(name="h", args=(x, y), time=t, arrival=t), people, people, times),
    st.builds(lambda t: Row(name="reset", time=t, arrival=t), times),
    st.builds(
        lambda x, y, t, d: Row(
            name="near", args=(x, y), time=t, arrival=t, shape="interval", value="true", end=t + d
        ),
        people,
        people,
        times,
        st.integers(1, 6),
    ),
)


@dataclass(frozen=True)
class Results:
    """Intervals of pairs and times of derived events."""

    intervals: frozenset[tuple[Ground, Ground, int, int | None]]
    events: frozenset[tuple[Ground, int]]


def results(program: Program, rows: list[Row], wanted: set[Node]) -> Results:
    trace = run(program, rows, until=UNTIL, start=0)
    intervals = {
        (fluent, value, start, end)
        for (fluent, value), pieces in trace.intervals().items()
        if node_of("fluent", fluent) in wanted
        for start, end in pieces
    }
    derived = {
        (event, record.time)
        for record in trace.records
        for event in record.derived
        if node_of("event", event) in wanted
    }
    return Results(frozenset(intervals), frozenset(derived))


def node_of(kind: str, term: Ground) -> Node:
    return Node(kind, str(term[0]), len(term) - 1) if isinstance(term, tuple) else Node(kind, str(term), 0)


def at(term: Ground, path: tuple[int, ...]) -> Ground:
    for index in path:
        assert isinstance(term, tuple)
        term = term[index + 1]
    return term


def head(statement: Statement) -> Node | None:
    match statement:
        case EffectRule(_, pair) | IntervalRule(pair) | Initially(pair) | Delayed(pair) | Postponable(pair):
            return Node("fluent", *signature(pair.fluent))
        case EventRule(event):
            return Node("event", *signature(event))
        case _:
            return None


def rules_of(program: Program, members: set[Node]) -> Program:
    keep = (Clause, Declare, DynamicDomain, Grounding)
    return replace(
        program, statements=tuple(s for s in program.statements if isinstance(s, keep) or head(s) in members)
    )


def shard_of(key: tuple[Ground, ...]) -> int:
    return sum(ord(c) for part in key for c in str(part)) % SHARDS


def routed(row: Row, routes: list[Route], width: int, keys: set[tuple[Ground, ...]]) -> set[int]:
    """The shards that a row goes to."""
    shards: set[int] = set()
    for route in routes:
        parts = {part: at(row.term, path) for part, path in zip(route.parts, route.positions, strict=True)}
        if not parts:
            return set(range(SHARDS))
        if len(parts) == width:
            shards.add(shard_of(tuple(parts[i] for i in range(width))))
        else:
            shards |= {
                shard_of(key) for key in keys if all(key[part] == value for part, value in parts.items())
            }
    return shards


def run_stage(program: Program, stage: Stage, rows: list[Row]) -> Results:
    members = {plain(node) for node in stage.members}
    part = rules_of(program, members)
    if stage.width == 0:
        return results(part, rows, members)
    by_node: dict[Node, list[Route]] = {}
    for route in stage.routes:
        by_node.setdefault(route.node, []).append(route)
    own = {route.node: route.positions for route in stage.routes if route.node in members}

    def routes(row: Row) -> list[Route]:
        return by_node.get(node_of("event" if row.shape == "event" else "fluent", row.term), [])

    keys = {
        tuple(at(row.term, path) for path in route.positions)
        for row in rows
        for route in routes(row)
        if len(route.parts) == stage.width
    }
    found = Results(frozenset(), frozenset())
    for shard in range(SHARDS):
        here = [row for row in rows if shard in routed(row, routes(row), stage.width, keys)]
        got = results(part, here, members)

        def kept(kind: str, term: Ground, shard: int = shard) -> bool:
            return shard_of(tuple(at(term, path) for path in own[node_of(kind, term)])) == shard

        found = Results(
            found.intervals | {i for i in got.intervals if kept("fluent", i[0])},
            found.events | {e for e in got.events if kept("event", e[0])},
        )
    return found


def as_rows(found: Results) -> list[Row]:
    """Results of a stage as input of the next."""
    rows = []
    for fluent, value, start, end in found.intervals:
        name, args = (fluent[0], fluent[1:]) if isinstance(fluent, tuple) else (fluent, ())
        rows.append(
            Row(name=str(name), args=args, time=start, arrival=start, shape="interval", value=value, end=end)
        )
    for event, time in found.events:
        name, args = (event[0], event[1:]) if isinstance(event, tuple) else (event, ())
        rows.append(Row(name=str(name), args=args, time=time, arrival=time))
    return rows


@given(st.sets(st.sampled_from(POOL), max_size=8), st.lists(events, max_size=22))
def test_a_program_in_shards_gives_what_it_gives_in_one_piece(rules: set[str], rows: list[Row]) -> None:
    program = parse("\n".join([*BASE, *(rule for rule in POOL if rule in rules)]))
    found = reasoning_keys(program)
    members = {plain(node) for stage in found.stages for node in stage.members}
    whole = results(program, rows, members)
    intervals: set[tuple[Ground, Ground, int, int | None]] = set()
    happened: set[tuple[Ground, int]] = set()
    for stage in found.stages:
        got = run_stage(program, stage, rows)
        rows = rows + as_rows(got)
        intervals |= got.intervals
        happened |= got.events
    assert intervals == whole.intervals
    assert happened == whole.events


def test_the_pool_has_programs_of_every_kind() -> None:
    found = reasoning_keys(parse("\n".join([*BASE, *POOL])))
    assert {stage.width for stage in found.stages} == {0, 1, 2}
