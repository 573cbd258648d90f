"""Buses and trams: `python generate.py --vehicles 1000 --events 1000000 --forms parquet --out big`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from workloads import transport
from workloads.command import Made, Sizes, generator

SIZES = {
    "events": (120, "how many rows"),
    "vehicles": (2, "how many vehicles there are"),
    "roughness": (0.3, "how often a driver accelerates, brakes or turns too sharply"),
}


def make(sizes: Sizes, seed: int) -> Made:
    """The stream of these sizes and the facts that go with it."""
    lines = transport.Lines(int(sizes["vehicles"]), sizes["roughness"], seed)
    return transport.generate(lines, events=int(sizes["events"])), ()


if __name__ == "__main__":
    generator("Buses and trams.", make, sizes=SIZES)
