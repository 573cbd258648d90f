"""Intervals of vessels that are reported as such, when they end: input for programs of interval expressions alone.

Each fluent of each vessel is on and off in turn, with its own typical lengths; vessels 2i and 2i+1 are near each
other now and then. Times are seconds from 0.
"""

from __future__ import annotations

import numpy as np

from workloads.columns import Column, Ints, Stream, Table, coded, filled, numbered, table, until

LASTING = {
    "stopped": (1200, 5000),
    "lowSpeed": (900, 2400),
    "gap": (1800, 9000),
    "turning": (300, 900),
    "nearPort": (3600, 9000),
    "fishingArea": (2400, 4800),
}
"""Typical seconds on and off."""
NEAR = (900, 4000)


def generate(vessels: int, *, events: int, seed: int = 1) -> Stream:
    """The earliest `events` intervals."""
    names = numbered("v", vessels)

    def sail(hours: int) -> Stream:
        rng = np.random.default_rng(seed)
        last = 3600 * hours
        stream: Stream = {}
        for name, lasting in LASTING.items():
            stream[name] = _turns(lasting, last, {"vessel": np.arange(vessels)}, names, rng)
        pairs = np.arange(0, vessels - 1, 2)
        stream["near"] = _turns(NEAR, last, {"one": pairs, "other": pairs + 1}, names, rng)
        return until(stream, last)

    return filled(sail, events, 1 + events // (4 * vessels))


def _turns(
    lasting: tuple[int, int], last: int, who: dict[str, Ints], names: tuple[str, ...], rng: np.random.Generator
) -> Table:
    """Intervals of each of them until `last` and longer."""
    shape = len(next(iter(who.values()))), 2 * last // sum(lasting) + 2
    on = rng.integers(lasting[0] // 2, 2 * lasting[0], shape)
    off = rng.integers(lasting[1] // 2, 2 * lasting[1], shape)
    end = np.cumsum(on + off, axis=1)
    args: dict[str, Column] = {
        name: coded(np.repeat(codes, shape[1]), names) for name, codes in who.items()
    }
    value = coded(np.zeros(on.size), ("true",))
    return table((end - on).reshape(-1), args, end=end.reshape(-1), value=value)
