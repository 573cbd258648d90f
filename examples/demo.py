"""What `make demo` runs: a committee votes, and the rules say what that means.

Reads 70 events (proposals, seconds, votes, ballots closed, outcomes declared) and prints how each motion went, who
was sanctioned for what and why, and what is still to come. Needs nothing but the core of Thalweg.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import thalweg
from thalweg.columns.compiled import told_of_compiling

VOTING = Path(__file__).parent / "voting"
OUT = Path("out")
ASKED = "sanctioned(a3,seconded_own_motion) @ 170"


def main() -> None:
    program = thalweg.load(VOTING / "rules.ec", VOTING / "background.ec", VOTING / "sample" / "roster.ec")
    with told_of_compiling(lambda: print("Compiling kernels, once for this machine: about a minute", flush=True)):
        result = thalweg.run(program, VOTING / "sample" / "events.csv", window=200, step=100, start=0, end=800)
    timeline = result["timeline"].to_pylist()
    print(f"A committee votes: {result.summary().rows} events, {len(timeline)} intervals of what holds when.\n")
    print("Two motions, from nothing (null) through proposed and voting to voted:")
    print(result.timeline(only=["status", "ballot"], inputs=False).text())
    print("\nSanctions, some of them:")
    show([row for row in timeline if row["fluent"].startswith("sanctioned(")][:6])
    print(f"\nWhy? {ASKED}")
    print(result.why(ASKED))
    print("\nStill to come at 800:")
    for row in result["open"].to_pylist():
        value = f"becomes {row['value']}" if row["value"] is not None else "ends"
        print(f"  {row['fluent']} {value} at {row['due']}")
    OUT.mkdir(exist_ok=True)
    drawn = result.timeline(title="A committee votes").save(OUT / "voting-timeline.html")
    print(f"\nAll of it as a picture, click to see why: {drawn}")
    print(f"The rules as a picture: {program.graph().save(OUT / 'voting.html')}")
    print("Your own data: docs/tutorial.md")


def show(rows: list[dict[str, Any]]) -> None:
    """Intervals, one a line, in the order of time."""
    for row in sorted(rows, key=lambda r: (r["start"], r["fluent"])):
        end = f"to {row['end']:>4}" if row["end"] is not None else "and still holds"
        value = "" if row["value"] == "true" else f" = {row['value']}"
        print(f"  {row['fluent'] + value:<42} from {row['start']:>4} {end}")


if __name__ == "__main__":
    main()
