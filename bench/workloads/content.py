"""Routers that cache content: requests with a parameter that drifts, and a small network of nodes that fetch from each
other. One list of facts (name, arguments) for each tick."""

from __future__ import annotations

import random
from collections.abc import Iterator

Fact = tuple[str, tuple[int, ...]]

RING = 11
"""Nodes of the network."""
PAIRS = (*((i, (i + 1) % RING) for i in range(RING)), (1, 10), (2, 8), (3, 7))
EDGES = tuple(sorted({edge for a, b in PAIRS for edge in ((a, b), (b, a))}))


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
