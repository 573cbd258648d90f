"""Measurements of a ward: `python generate.py --patients 1000 --days 60 --seed 3 --out days.csv --ward ward.tdl`.

Most patients have good signs on most days; some fall ill for a few days, and the laboratory reports a part of them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

WARD = ("john", "gus", "mary", "ann", "omar")


def days(ward: tuple[str, ...], length: int, seed: int) -> Iterator[tuple[str, int, str]]:
    """Rows (name, day, patient)."""
    rng = random.Random(seed)
    ill = dict.fromkeys(ward, 0)
    for day in range(length):
        for patient in ward:
            if ill[patient] == 0 and rng.random() < 0.1:
                ill[patient] = rng.randint(1, 4)
            good = 0.25 if ill[patient] else 0.97
            for sign in ("gcm", "gbol"):
                if rng.random() < good:
                    yield sign, day, patient
            if ill[patient] and day >= 2 and rng.random() < 0.3:
                yield "bca", day, patient
            ill[patient] = max(0, ill[patient] - 1)


def main() -> None:
    """Write a stream, and with `--ward` the patients that go with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--patients", type=int, default=0, help="how many; without it, the five of background.tdl"
    )
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--out", default="sample/days.csv")
    parser.add_argument("--ward", help="write the patients as background facts")
    given = parser.parse_args()
    ward = tuple(f"p{i}" for i in range(given.patients)) if given.patients else WARD
    with open(given.out, "w", encoding="utf-8") as out:
        out.writelines(
            f"{name}|{day}|{day}|{patient}\n" for name, day, patient in days(ward, given.days, given.seed)
        )
    if given.ward:
        with open(given.ward, "w", encoding="utf-8") as out:
            out.writelines(f"patient({name}).\n" for name in ward)


if __name__ == "__main__":
    main()
