"""Vessels on their voyages: `python generate.py --vessels 5000 --events 5000000 --out big`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from workloads import maritime
from workloads.command import Made, Sizes, generator

SIZES = {
    "events": (400, "how many rows"),
    "vessels": (6, "how many vessels there are"),
    "paired": (0.7, "share of the vessels that meet another one at sea"),
}


def make(sizes: Sizes, seed: int) -> Made:
    """The stream of these sizes and the facts that go with it."""
    waters = maritime.Waters(int(sizes["vessels"]), sizes["paired"], seed)
    return maritime.generate(waters, events=int(sizes["events"])), maritime.facts(waters)


if __name__ == "__main__":
    generator("Vessels and areas.", make, sizes=SIZES, facts_file="register.ec")
