"""Vessels on their voyages: `python generate.py --vessels 5000 --events 5000000 --out big`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from workloads import maritime
from workloads.command import Made, Sizes, generator

SIZES = {
    "events": (1600, "how many rows"),
    "vessels": (8, "how many vessels there are"),
    "paired": (0.75, "share of the vessels that meet another one at sea"),
    "departure": (30, "by when all vessels have left port, in minutes"),
}


def make(sizes: Sizes, seed: int) -> Made:
    """The stream of these sizes and the facts that go with it."""
    waters = maritime.Waters(int(sizes["vessels"]), sizes["paired"], seed, int(sizes["departure"]))
    return maritime.generate(waters, events=int(sizes["events"])), maritime.facts(waters)


if __name__ == "__main__":
    generator("Vessels and areas.", make, sizes=SIZES, facts_file="register.ec")
