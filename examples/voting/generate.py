"""Committees: `python generate.py --agents 1000 --motions 1000 --events 1000000 --out big`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from workloads import voting
from workloads.command import Made, Sizes, generator

SIZES = {
    "events": (60, "how many acts"),
    "agents": (5, "how many agents there are"),
    "seats": (5, "how many of them make a committee"),
    "motions": (2, "how many motions the agendas list"),
    "non-compliance": (0.25, "how often each rule is broken"),
}


def make(sizes: Sizes, seed: int) -> Made:
    """The stream of these sizes and the facts that go with it."""
    house = voting.House(int(sizes["agents"]), int(sizes["motions"]), int(sizes["seats"]))
    stream = voting.generate(
        house, events=int(sizes["events"]), non_compliance=sizes["non-compliance"], seed=seed
    )
    return stream, voting.facts(house)


if __name__ == "__main__":
    generator("Committees and their agendas.", make, sizes=SIZES, facts_file="roster.ec")
