"""Scenes before a camera: `python generate.py --scenes 1000 --forms parquet --out big`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from workloads import activity
from workloads.command import Made, Sizes, generator

SIZES = {
    "scenes": (3, "how many scenes there are, of two people each"),
}


def make(sizes: Sizes, seed: int) -> Made:
    """The stream of these sizes and the facts that go with it."""
    scenes = activity.Scenes(int(sizes["scenes"]), seed)
    return activity.scenes_of(scenes), activity.facts(scenes)


if __name__ == "__main__":
    generator("People and objects.", make, sizes=SIZES, facts_file="scene.ec")
