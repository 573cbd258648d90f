"""Routers that cache content: requests with a parameter that drifts, and a small network of nodes that fetch from each
other. One list of facts (name, arguments) for each tick; the programs themselves are in examples/content_caching."""

from __future__ import annotations

import random
from collections.abc import Iterator

Fact = tuple[str, tuple[int, ...]]

RING = 11
"""Nodes of the network."""
PAIRS = (*((i, (i + 1) % RING) for i in range(RING)), (1, 10), (2, 8), (3, 7))
EDGES = tuple(sorted({edge for a, b in PAIRS for edge in ((a, b), (b, a))}))


STRATEGY_ASP = """
high(T) :- alpha(V, T), V >= 18.
mid(T) :- alpha(V, T), V >= 12, V < 18.
low(T) :- alpha(V, T), V < 12.
lfu :- high(T) : tick(T).
lru :- mid(T) : tick(T).
fifo :- low(T) : tick(T); live(_).
done :- lfu.
done :- lru.
done :- fifo.
random :- not done.
"""
RETRIEVAL_ASP = """
need(I, N) :- request(I, N, _).
avail(I, N) :- cache(I, N, _).
source(I, N, M) :- need(I, N), not avail(I, N), avail(I, M), reach(N, M).
get(I, N, M) :- source(I, N, M), not skip(I, N, M).
skip(I, N, M) :- source(I, N, M), get(I, N, O), M != O.
skip(I, N, M) :- source(I, N, M), source(I, N, O), M != O, quality(M, L), quality(O, B), L < B.
reach(N, M) :- link(N, M).
reach(N, M) :- reach(N, V), link(V, M), V != M, N != M.
off(M) :- down(M, _), down(M, T) : tick(T).
link(N, M) :- edge(N, M), not off(M).
quality(N, L) :- measured(N, L, _), not worse(N, L).
worse(N, L) :- measured(N, L, _), measured(N, S, _), S < L.
"""
"""The two programs of the example in the language of clingo, over the facts of one window with their ticks."""


def facts_text(facts: list[Fact], t: int) -> str:
    """The facts of a tick for clingo, and the tick."""
    return " ".join(f"{name}({','.join(map(str, (*args, t)))})." for name, args in facts) + f" tick({t})."


def network() -> str:
    """The edges as background facts."""
    return "".join(f"edge({a}, {b}).\n" for a, b in EDGES)


def parameters(ticks: int, *, stay: int, seed: int) -> Iterator[list[Fact]]:
    """One `alpha` at each tick; it stays in one range for about `stay` ticks, with some stray values, and now and then
    a real-time stream is `live`."""
    rng = random.Random(seed)
    ranges = ((0, 11), (12, 17), (18, 30))
    here = rng.choice(ranges)
    for _ in range(ticks):
        if rng.random() < 1 / stay:
            here = rng.choice(ranges)
        low, high = here if rng.random() > 0.005 else (0, 30)
        found: list[Fact] = [("alpha", (rng.randint(low, high),))]
        if rng.random() < 0.03:
            found.append(("live", ()))
        yield found


def requests(ticks: int, *, items: int, window: int, seed: int) -> Iterator[list[Fact]]:
    """Requests, caches that are filled, measured quality of nodes (some in each window) and nodes that are down."""
    rng = random.Random(seed)
    for _ in range(ticks):
        found: list[Fact] = [
            ("request", (item, rng.randrange(RING))) for item in range(1, items + 1) if rng.random() < 0.1
        ]
        if rng.random() < 0.1:
            found.append(("cache", (rng.randint(1, items), rng.randrange(RING))))
        found += [("measured", (node, rng.randint(0, 2))) for node in range(RING) if rng.random() < 5 / window]
        if rng.random() < 0.1:
            found.append(("down", (rng.randrange(RING),)))
        yield found
