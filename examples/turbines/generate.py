"""Readings of a wind park: `python generate.py --turbines 1000 --steps 100 --seed 7 --out temps.csv --park park.tdl`.

Each turbine's temperature wanders; now and then it runs hot for a few readings, or sends none, sometimes
because it is in for maintenance.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

PARK = {"wt25": "offshore", "wt42": "offshore", "wt51": "offshore", "wt60": "onshore", "wt61": "onshore"}


def readings(park: dict[str, str], steps: int, seed: int) -> Iterator[tuple[str, int, str, str]]:
    """Rows (name, time, turbine, degrees); degrees is empty where there is no reading."""
    rng = random.Random(seed)
    hot = dict.fromkeys(park, 0)
    for time in range(steps):
        for turbine in park:
            if rng.random() < 0.03:
                yield "noReading", time, turbine, ""
                if rng.random() < 0.5:
                    yield "maintenance", time, turbine, ""
                continue
            if hot[turbine] == 0 and rng.random() < 0.08:
                hot[turbine] = rng.randint(1, 5)
            degrees = rng.gauss(84, 3) if hot[turbine] else rng.gauss(62, 4)
            hot[turbine] = max(0, hot[turbine] - 1)
            yield "temp", time, turbine, f"{degrees:.1f}"


def main() -> None:
    """Write a stream, and with `--park` the turbines that go with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--turbines", type=int, default=0, help="how many; without it, the five of background.tdl"
    )
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--out", default="sample/temps.csv")
    parser.add_argument("--park", help="write the turbines as background facts")
    given = parser.parse_args()
    models = ("offshore", "onshore")
    park = {f"wt{i}": models[i % 2] for i in range(given.turbines)} if given.turbines else PARK
    with open(given.out, "w", encoding="utf-8") as out:
        for name, time, turbine, degrees in readings(park, given.steps, given.seed):
            out.write("|".join([name, str(time), str(time), turbine, *([degrees] if degrees else [])]) + "\n")
    if given.park:
        with open(given.park, "w", encoding="utf-8") as out:
            out.writelines(f"turbine({name}, {model}).\n" for name, model in park.items())
            out.write("limit(offshore, 80).\nlimit(onshore, 75).\n")


if __name__ == "__main__":
    main()
