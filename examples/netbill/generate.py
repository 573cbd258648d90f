"""Traders that negotiate: `python generate.py --agents 1000 --rate 0.1 --events 1000000 --out big`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from workloads import netbill
from workloads.command import Made, Sizes, generator

SIZES = {
    "events": (60, "how many messages"),
    "agents": (4, "how many traders there are, half of them merchants"),
    "goods": (2, "how many kinds of goods there are"),
    "rate": (0.03, "negotiations that each consumer starts per time-point"),
    "non-compliance": (0.5, "how often goods or payment come late or never"),
}


def make(sizes: Sizes, seed: int) -> Made:
    """The stream of these sizes and the facts that go with it."""
    market = netbill.Market(int(sizes["agents"]), int(sizes["goods"]))
    stream = netbill.generate(
        market,
        events=int(sizes["events"]),
        rate=sizes["rate"],
        non_compliance=sizes["non-compliance"],
        seed=seed,
    )
    return stream, netbill.facts(market)


if __name__ == "__main__":
    generator("Traders.", make, sizes=SIZES, facts_file="traders.ec")
