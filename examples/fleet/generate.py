"""Vehicles on their trips: `python generate.py --vehicles 2000 --events 2000000 --out big`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from workloads import fleet
from workloads.command import Made, Sizes, generator

SIZES = {
    "events": (300, "how many rows"),
    "vehicles": (3, "how many vehicles there are"),
}


def make(sizes: Sizes, seed: int) -> Made:
    """The stream of these sizes and the facts that go with it."""
    vans = fleet.Fleet(int(sizes["vehicles"]), seed)
    return fleet.generate(vans, events=int(sizes["events"])), fleet.facts(vans)


if __name__ == "__main__":
    generator("Vehicles.", make, sizes=SIZES, facts_file="vehicles.ec")
