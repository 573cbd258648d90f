"""Streams for the router: `python generate.py --ticks 10000 --items 5 --out streams` writes parameters.csv (for
strategy.lars) and requests.csv (for retrieval.lars), and network.lars, the edges between the nodes."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from workloads import content


def write(path: Path, stream: Iterable[list[content.Fact]]) -> None:
    """One row per fact: name, arrival, time, arguments."""
    with path.open("w", encoding="utf-8") as out:
        for t, facts in enumerate(stream):
            out.writelines("|".join(map(str, (name, t, t, *args))) + "\n" for name, args in facts)


def main() -> None:
    """Write both streams and the network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=int, default=300)
    parser.add_argument("--items", type=int, default=2, help="how many contents there are")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("sample"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "parameters.csv", content.parameters(given.ticks, stay=60, seed=given.seed))
    stream = content.requests(given.ticks, items=given.items, window=20, seed=given.seed)
    write(given.out / "requests.csv", stream)
    (given.out / "network.lars").write_text("program lars.\n" + content.network(), encoding="utf-8")


if __name__ == "__main__":
    main()
