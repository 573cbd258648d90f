"""The plan of a program as data, and its bounds.

The *delay* of a query says how long after its time an answer is decided at the latest; `keep` says how long after its
time an answer is still consulted by others; the *horizon* of a query says how long a fact of the input must be kept
for it. All three come from the templates alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from thalweg.analysis.temporal import Signature, Time
from thalweg.answers.background import Background
from thalweg.answers.bounds import Order, order
from thalweg.answers.datalog import Datalog, TimedAtom
from thalweg.answers.templates import Template, general_pattern, pattern_of
from thalweg.language.terms import NOWHERE, Span, Variable


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """The premises that share a time variable (None: times given as numbers), decided by a query of their own."""

    variable: str | None
    query: int
    premises: tuple[TimedAtom, ...]


@dataclass(frozen=True, slots=True)
class LooseTemplate:
    """A template whose times are not tied to the answer's: an answer is a combination of answers to its groups, or
    where there is only one group, an answer to that."""

    template: Template
    groups: tuple[TimeGroup, ...]

    @property
    def is_single(self) -> bool:
        """True when all premises hang on one time; the answers are those of the only group."""
        return len(self.groups) == 1

    @property
    def times(self) -> tuple[str, ...]:
        """The time variables of the groups."""
        return tuple(group.variable for group in self.groups if group.variable is not None)

    def order(self, spread: int | None = None) -> Order:
        """What the comparisons say about the times; with a `spread`, none are further apart."""
        return order(self.template.tests, self.times, spread)

    def apart(self) -> dict[tuple[str, str], int]:
        """How far one time may lie after another, where the comparisons bound it."""
        known = self.order()
        found = {}
        for time in self.times:
            for node, (far, _) in known.above(time):
                if isinstance(node.term, Variable) and node.whole:
                    found[time, node.term.name] = far
        return found

    @property
    def needs_horizon(self) -> bool:
        """True when something may wait for a time that is not tied to it."""
        return len(self.apart()) < len(self.times) * (len(self.times) - 1)

    def delay(self, delays: Sequence[int]) -> int | None:
        """How long after its time an answer is decided, where its premises are not at given times; None where that is
        not bounded."""
        time, apart = self.template.time, {**self.apart(), **{(t, t): 0 for t in self.times}}
        own = time.variable if time is not None else ""
        tied = [(apart.get((g.variable, own or "")), g.query) for g in self.groups if g.variable is not None]
        known = [far + delays[query] for far, query in tied if far is not None]
        return max(known, default=0) if len(known) == len(tied) else None

    def given(self, delays: Sequence[int]) -> int | None:
        """The time by which the premises at given times are decided; None where there are none."""
        return max((delays[g.query] for g in self.groups if g.variable is None), default=None)

    def wait(self, delays: Sequence[int]) -> int | None:
        """For how long a fact waits for others; None where that is not bounded."""
        if len(self.groups) < 2:
            return 0
        if self.needs_horizon or len(self.times) < len(self.groups):
            return None
        own = {g.variable: g for g in self.groups}
        lowest = {g.variable: min(p.time.offset for p in g.premises if p.time is not None) for g in self.groups}
        return max(far + delays[own[late].query] - lowest[early] for (late, early), far in self.apart().items())


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """One query with its P_Q. `main` queries are the user's; the others decide negated atoms.

    `at` is set when the query asks for one time only. `loose` are the templates whose times are not all tied to the
    answer's; they have no deadline, and `delay` does not speak of them.
    """

    goal: TimedAtom
    templates: tuple[Template, ...]
    main: bool
    at: int | None = None
    delay: int = 0
    keep: int = 0
    horizon: int = 0
    loose: tuple[LooseTemplate, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The goal as text; it names the query in all tables."""
        at = Time(None, self.at) if self.at is not None else self.goal.time
        return str(replace(self.goal, time=at))


@dataclass(frozen=True, slots=True)
class Plan:
    """What the online part needs to know about a program."""

    datalog: Datalog
    background: Background
    queries: tuple[QueryPlan, ...]
    decided_by: Mapping[TimedAtom, int]
    fact_keep: Mapping[Signature, int]

    def query_of(self, negated: TimedAtom) -> int:
        """Which query decides a negated atom."""
        pattern = pattern_of(negated)
        if pattern in self.decided_by:
            return self.decided_by[pattern]
        return self.decided_by[general_pattern(negated.predicate, negated.time is not None)]


def bounded(made: Plan) -> Plan:
    """The plan with delays, and how long facts and answers are kept."""
    delays = _delays(made)
    keep = list(delays)
    facts: dict[Signature, int] = {}
    for number, query in enumerate(made.queries):
        for premise in (p for t in query.templates for p in t.premises if p.time is not None):
            assert premise.time is not None
            needed = delays[number] - premise.time.offset
            if premise.negated:
                target = made.query_of(replace(premise, negated=False))
                keep[target] = max(keep[target], needed)
            else:
                facts[premise.predicate] = max(facts.get(premise.predicate, 0), needed)
    queries = tuple(
        replace(q, delay=delays[i], keep=keep[i], horizon=_horizon(made, i, delays))
        for i, q in enumerate(made.queries)
    )
    return replace(made, queries=queries, fact_keep=facts)


def _delays(made: Plan) -> list[int]:
    """The least solution of: an answer is decided when its last premise is."""
    delays = [0] * len(made.queries)
    for _ in range(len(delays) + 2):
        after = [
            max((_template_delay(made, t, delays) for t in q.templates), default=0) for q in made.queries
        ]
        if after == delays:
            break
        delays = after
    return delays


def _template_delay(made: Plan, template: Template, delays: list[int]) -> int:
    latest = [p.time.offset for p in template.positive if p.time is not None] or [0]
    for premise in template.negative:
        assert premise.time is not None
        latest.append(premise.time.offset + delays[made.query_of(replace(premise, negated=False))])
    return max(latest)


def _horizon(made: Plan, start: int, delays: list[int]) -> int:
    """How long a fact must be kept for the query and those that decide its negated atoms."""
    seen, waiting, longest = {start}, [start], 0
    while waiting:
        number = waiting.pop()
        for premise in (p for t in made.queries[number].templates for p in t.premises if p.time is not None):
            assert premise.time is not None
            if premise.negated:
                target = made.query_of(replace(premise, negated=False))
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
            longest = max(longest, delays[number] - premise.time.offset)
        for loose in made.queries[number].loose:
            longest = max(longest, loose.wait(delays) or 0)
            seen |= {group.query for group in loose.groups}
            waiting += [group.query for group in loose.groups]
    return longest
