"""A station's day: `python generate.py --minutes 600 --seed 4 --out day.csv`.

A tick is six seconds. Buses and trams pass the stops before the station, now and then there is a jam, travellers ask.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator


def day(minutes: int, seed: int) -> Iterator[tuple[str, int]]:
    """Rows (name, tick), in the order of ticks."""
    rng = random.Random(seed)
    following = {"busG": rng.randint(5, 40), "tramB": rng.randint(5, 40)}
    for tick in range(10 * minutes):
        for name, mean in (("busG", 45), ("tramB", 60)):
            if following[name] == tick:
                yield name, tick
                following[name] = tick + rng.randint(mean - 15, mean + 15)
        if rng.random() < 0.02:
            yield "request", tick
        if rng.random() < 0.003:
            yield "jam", tick


def main() -> None:
    """Write a stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--out", default="sample/day.csv")
    given = parser.parse_args()
    with open(given.out, "w", encoding="utf-8") as out:
        out.writelines(f"{name}|{tick}|{tick}\n" for name, tick in day(given.minutes, given.seed))


if __name__ == "__main__":
    main()
