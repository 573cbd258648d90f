"""Long streams of changes: a small program of all kinds under insertions, late ones, retractions and re-insertions.

    python -m thalweg.testing.stress [--steps 1000000] [--seed 0]

Every row is one *change step*. The incremental reasoner and the one that recomputes every window take the same rows; at
every query time their changes must be the same, and what the reasoner holds must stop growing.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from thalweg import parse
from thalweg.events.reasoner import Reasoner
from thalweg.protocol import Ints, Revision, Rows

PROGRAM = """
initiatedAt(on(X)=true, T) :- happensAt(e(X), T), not holdsAt(off(X)=true, T).
initiatedAt(off(X)=true, T) :- happensAt(g(X), T), holdsAt(on(X)=true, T).
terminatedAt(on(X)=true, T) :- happensAt(g(X), T).
terminatedAt(off(X)=true, T) :- happensAt(h(X), T).
initiatedAt(mode(X)=hot, T) :- happensAt(h(X), T).
initiatedAt(mode(X)=cold, T) :- happensAt(g(X), T), not happensAt(e(X), T).
fi(mode(X)=hot, mode(X)=mild, 30).
p(mode(_)=hot).
happensAt(spark(X), T) :- happensAt(start(mode(X)=hot), T), holdsAt(on(X)=true, T).
initiatedAt(lit(X)=true, T) :- happensAt(spark(X), T).
terminatedAt(lit(X)=true, T) :- happensAt(end(near(X)=true), T).
holdsFor(some(X)=true, I) :- holdsFor(on(X)=true, I1), holdsFor(near(X)=true, I2), union_all([I1, I2], I).
holdsFor(calm(X)=true, I) :-
    holdsFor(some(X)=true, I1), holdsFor(lit(X)=true, I2), relative_complement_all(I1, [I2], I).
holdsFor(long(X)=true, I) :- holdsFor(calm(X)=true, I1), intDurGreater(I1, 25, I).
"""
NAMES = ("e", "g", "h", "near")
NEAR = 3
ENTITIES = 40
STEP, OVERLAP = 50, 6
INSERT, LATE, RETRACT, AGAIN, TWICE = range(5)
SHARES = (0.45, 0.2, 0.17, 0.1, 0.08)


@dataclass(slots=True)
class Stream:
    """Makes the rows of one query time after the other. Columns of a fact: name, entity, start, end."""

    rng: np.random.Generator
    number: int = 0
    there: Ints = field(default_factory=lambda: np.empty((0, 4), np.int64))
    gone: Ints = field(default_factory=lambda: np.empty((0, 4), np.int64))

    def next(self, query: int, count: int) -> tuple[list[Rows], Ints]:
        """So many rows that arrive by the query time, in no particular order; and what each does."""
        kinds = self.rng.choice(len(SHARES), count, p=SHARES)
        low = query - OVERLAP * STEP + 1
        facts = np.empty((count, 4), np.int64)
        facts[:, 0] = self.rng.integers(0, len(NAMES), count)
        facts[:, 1] = self.rng.integers(0, ENTITIES, count)
        fresh = self.rng.integers(query - STEP + 1, query + 1, count)
        delays = self.rng.integers(1, (OVERLAP - 1) * STEP + 20, count)
        facts[:, 2] = np.where(kinds == LATE, np.maximum(1, query - STEP - delays), fresh)
        facts[:, 3] = facts[:, 2] + self.rng.integers(1, 60, count)
        for kind, known in ((RETRACT, self.there), (TWICE, self.there), (AGAIN, self.gone)):
            mine = np.flatnonzero(kinds == kind)
            if len(known):
                facts[mine] = known[self.rng.integers(0, len(known), len(mine))]
        signs = np.where(kinds == RETRACT, -1, 1)
        self._remember(facts, kinds, low)
        return self._rows(facts, signs, query), kinds

    def _remember(self, facts: Ints, kinds: Ints, low: int) -> None:
        """What later rows may retract or insert again: about what has been said lately."""
        self.there = np.concatenate([self.there, facts[kinds != RETRACT]])
        self.gone = np.concatenate([self.gone, facts[kinds == RETRACT]])
        self.there = self.there[self.there[:, 2] > low]
        self.gone = self.gone[self.gone[:, 2] > low]

    def _rows(self, facts: Ints, signs: Ints, query: int) -> list[Rows]:
        arrivals = self.rng.integers(query - STEP + 1, query + 1, len(facts))
        numbers = np.arange(self.number, self.number + len(facts))
        self.number += len(facts)
        entities = pa.array([f"x{i}" for i in range(ENTITIES)])
        batch = []
        for at, name in enumerate(NAMES):
            mine = np.flatnonzero(facts[:, 0] == at)
            codes = pa.array(facts[mine, 1].astype(np.int32))
            batch.append(
                Rows(
                    name=name,
                    op=signs[mine].astype(np.int8),
                    arrival=arrivals[mine],
                    time=facts[mine, 2],
                    row=numbers[mine],
                    args=(pa.DictionaryArray.from_arrays(codes, entities),),
                    end=facts[mine, 3] if at == NEAR else None,
                    value=pa.repeat("true", len(mine)) if at == NEAR else None,
                )
            )
        return batch


@dataclass(slots=True)
class Stress:
    """What a run went through: change steps, rows of `changes`, rejected rows, and the size of the state over time."""

    steps: int = 0
    changes: int = 0
    rejected: int = 0
    sizes: list[int] = field(default_factory=list)


def stress(*, steps: int, seed: int, per_query: int = 1000) -> Stress:
    """Raises AssertionError where the two paths differ, or where the state goes on growing."""
    program = parse(PROGRAM)
    quick = Reasoner(program, window=OVERLAP * STEP, step=STEP)
    slow = Reasoner(program, window=OVERLAP * STEP, step=STEP, recompute=True)
    stream, found, query = Stream(np.random.default_rng(seed)), Stress(), 0
    every = max(1, steps // per_query // 40)
    while found.steps < steps:
        query += STEP
        rows, _ = stream.next(query, per_query)
        quick.accept(rows)
        slow.accept(rows)
        mine, theirs = quick.advance(query), slow.advance(query)
        for name in ("changes", "events", "open", "rejected"):
            assert _told(mine, name) == _told(theirs, name), f"{name} differ at {query}, seed {seed}"
        found.steps += per_query
        found.changes += mine["changes"].num_rows
        found.rejected += mine["rejected"].num_rows
        if (found.steps // per_query) % every == 0:
            found.sizes.append(len(quick.snapshot()))
    late = found.sizes[len(found.sizes) // 4 :]
    assert len(late) < 4 or max(late[len(late) // 2 :]) < 1.5 * max(late[: len(late) // 2]), f"grows: {late}"
    return found


def _told(revision: Revision, name: str) -> list[tuple[object, ...]]:
    table = revision[name]
    columns = [table[c].to_pylist() for c in table.column_names if c != "cause"]
    return sorted(zip(*columns, strict=True), key=repr)


def main() -> int:
    parser = argparse.ArgumentParser(description="Change steps without end: both ways of evaluating must agree.")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-query", type=int, default=1000)
    options = parser.parse_args()
    began = time.process_time()
    found = stress(steps=options.steps, seed=options.seed, per_query=options.per_query)
    print(
        f"{found.steps} change steps agree: {found.changes} changes, {found.rejected} rows rejected, "
        f"state {found.sizes[0]} to {found.sizes[-1]} bytes, {time.process_time() - began:.0f} s of CPU"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
