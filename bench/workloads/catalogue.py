"""The workloads by name: program, facts and stream in one place, ready to run.

    >>> small = maritime(events=1000, vessels=20)
    >>> small.name, small.events
    ('maritime', 1000)

`source()` is the whole program as one text; `stream` the columns, `rows()` the same for a reasoner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from thalweg.protocol import Rows
from workloads import activity as activity_scenes
from workloads import expressions as intervals
from workloads import fleet as fleets
from workloads import maritime as waters
from workloads import netbill as markets
from workloads import transport as lines
from workloads import voting as houses
from workloads.columns import Stream, size, span, to_rows
from workloads.files import Fact, render

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
HOUR = 3600
_INCLUDE = re.compile(r"^:- \['([^']+)'\]\.$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Workload:
    """A program with its facts, a stream, and a window and step that suit it."""

    name: str
    files: tuple[Path, ...]
    facts: tuple[Fact, ...]
    stream: Stream
    window: int
    step: int
    tick: int = 1

    @property
    def events(self) -> int:
        """How many rows the stream has."""
        return size(self.stream)

    @property
    def last(self) -> int:
        """The last time-point at which something happens."""
        return span(self.stream)[1]

    def source(self) -> str:
        """Rules, background knowledge and facts as one text."""
        texts = [_included(path) for path in self.files]
        return "\n".join([*texts, *(render(fact) for fact in self.facts), ""])

    def rows(self) -> list[Rows]:
        """The whole stream as insertions."""
        return to_rows(self.stream)


def _included(path: Path) -> str:
    """The text of a file with its includes in their places."""
    text = path.read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: _included(path.parent / found.group(1)), text)


def _example(name: str, *files: str) -> tuple[Path, ...]:
    return tuple(EXAMPLES / name / file for file in files)


def maritime(*, events: int, vessels: int = 5000, late: float = 0.0, seed: int = 1) -> Workload:
    """Single vessels and pairs: the full maritime hierarchy."""
    where = waters.Waters(vessels, seed=seed)
    return Workload(
        name="maritime",
        files=_example("maritime", "rules.ec", "background.ec"),
        facts=tuple(waters.facts(where)),
        stream=waters.generate(where, events=events, late=late),
        window=HOUR,
        step=HOUR,
    )


def vessels(*, events: int, vessels: int = 5000, late: float = 0.0, seed: int = 1) -> Workload:
    """Single vessels only: 22 fluents in four layers, keyed by vessel."""
    where = waters.Waters(vessels, seed=seed)
    return Workload(
        name="vessels",
        files=_example("maritime", "entity.ec", "background.ec"),
        facts=tuple(waters.facts(where)),
        stream=waters.generate(where, events=events, late=late, relations=False),
        window=HOUR,
        step=HOUR,
    )


def voting(
    *, events: int, agents: int = 1000, motions: int = 1000, non_compliance: float = 0.05, seed: int = 1
) -> Workload:
    """The voting protocol: a cycle, delayed effects, counting, and normative positions above them."""
    return _voting(_example("voting", "rules.ec"), "voting", events, agents, motions, non_compliance, seed)


def voting_acyclic(
    *, events: int, agents: int = 1000, motions: int = 1000, non_compliance: float = 0.05, seed: int = 1
) -> Workload:
    """The same stream and layers with a status that only follows the acts: no cycle, no delayed effect."""
    rules = (HERE / "voting_acyclic.ec",)
    return _voting(rules, "voting_acyclic", events, agents, motions, non_compliance, seed)


def _voting(
    rules: tuple[Path, ...],
    name: str,
    events: int,
    agents: int,
    motions: int,
    non_compliance: float,
    seed: int,
) -> Workload:
    house = houses.House(agents, motions)
    return Workload(
        name=name,
        files=(*rules, *_example("voting", "background.ec")),
        facts=tuple(houses.facts(house)),
        stream=houses.generate(house, events=events, non_compliance=non_compliance, seed=seed),
        window=100,
        step=100,
    )


def netbill(
    *, events: int, agents: int = 1000, rate: float = 0.1, non_compliance: float = 0.05, seed: int = 1
) -> Workload:
    """NetBill: contracts and suspensions in a cycle across traders, with delayed effects."""
    return _netbill(_example("netbill", "rules.ec"), "netbill", events, agents, rate, non_compliance, seed)


def netbill_acyclic(
    *, events: int, agents: int = 1000, rate: float = 0.1, non_compliance: float = 0.05, seed: int = 1
) -> Workload:
    """The same stream and layers with contracts that only follow the acts: no cycle, no delayed effect."""
    rules = (HERE / "netbill_acyclic.ec",)
    return _netbill(rules, "netbill_acyclic", events, agents, rate, non_compliance, seed)


def _netbill(
    rules: tuple[Path, ...],
    name: str,
    events: int,
    agents: int,
    rate: float,
    non_compliance: float,
    seed: int,
) -> Workload:
    market = markets.Market(agents)
    return Workload(
        name=name,
        files=(*rules, *_example("netbill", "background.ec")),
        facts=tuple(markets.facts(market)),
        stream=markets.generate(market, events=events, rate=rate, non_compliance=non_compliance, seed=seed),
        window=100,
        step=100,
    )


def fleet(*, events: int, vehicles: int = 2000, late: float = 0.0, seed: int = 1) -> Workload:
    """Fleet management: refuelling, over-speed, dangerous driving, idling."""
    vans = fleets.Fleet(vehicles, seed=seed)
    return Workload(
        name="fleet",
        files=_example("fleet", "rules.ec", "background.ec"),
        facts=tuple(fleets.facts(vans)),
        stream=fleets.generate(vans, events=events, late=late),
        window=HOUR,
        step=HOUR,
    )


def activity(*, events: int, seed: int = 1) -> Workload:
    """Human activity recognition from points, 40 ms apart."""
    scenes, stream = activity_scenes.generate(events=events, seed=seed)
    return Workload(
        name="activity",
        files=_example("activity", "rules.ec"),
        facts=tuple(activity_scenes.facts(scenes)),
        stream=stream,
        window=100_000,
        step=100_000,
        tick=40,
    )


def transport(*, events: int, vehicles: int = 1000, seed: int = 1) -> Workload:
    """City transport: interval expressions over many short intervals."""
    return Workload(
        name="transport",
        files=_example("transport", "rules.ec", "background.ec"),
        facts=(),
        stream=lines.generate(lines.Lines(vehicles, seed=seed), events=events),
        window=HOUR,
        step=HOUR,
    )


def expressions(*, events: int, vessels: int = 1000, seed: int = 1) -> Workload:
    """Interval expressions over intervals that arrive as such; no event, no simple fluent."""
    return Workload(
        name="expressions",
        files=(HERE / "expressions.ec",),
        facts=(),
        stream=intervals.generate(vessels, events=events, seed=seed),
        window=HOUR,
        step=HOUR,
    )
