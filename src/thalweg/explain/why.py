"""Why a pair holds, or an event happens, at a time-point: the tree from the interval down to rows of the input."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from thalweg.explain.history import Fact as Row
from thalweg.explain.tree import Node, Part
from thalweg.explain.wording import goal_text, pair_text
from thalweg.explain.world import At, Known, firing, matched
from thalweg.language.rules import Allen, Combine, Duration
from thalweg.reference.arithmetic import Test, Unbound
from thalweg.reference.bodies import Absence, Collect, Fact, Goal, Goals, solve
from thalweg.reference.description import DeterminedRule, EffectRule
from thalweg.reference.intervals import Interval, Intervals, contains
from thalweg.reference.state import Pair
from thalweg.reference.terms import (
    EMPTY,
    Ground,
    Subst,
    is_ground,
    resolve,
    signature,
    text,
    unify,
    unify_all,
)

DEEPEST = 40
"""How far down an explanation goes; below, a node says what to ask."""


class Explainer:
    """Explanations of one run. `ends` says whether the end of the interval that was asked for is explained too."""

    def __init__(self, known: Known, *, ends: bool = True) -> None:
        self.known = known
        self._ends = ends
        self._explained: set[object] = set()

    # ------------------------------------------------------------------ pairs

    def holds(self, pair: Pair, time: int, depth: int = 0) -> Node:
        """Why a pair that holds at the time does."""
        interval = _around(self.known.intervals(pair), time)
        if interval is None:
            return Node(Part.UNEXPLAINED, f"{pair_text(*pair)} does not hold at {time}", time=time)
        said = f"{pair_text(*pair)} holds {span_text(interval)}"
        again = self._again((pair, interval), said, time, depth)
        if again is not None:
            return again
        if not self.known.is_output(pair[0]):
            return self._given(pair, interval, time, said)
        if self.known.is_determined(pair):
            return self._determined(pair, interval, time, said, depth)
        return self._simple(pair, interval, time, said, depth)

    def _again(self, key: object, said: str, time: int, depth: int) -> Node | None:
        """A node without children, where this has been explained already or the tree is deep enough."""
        if key in self._explained:
            return Node(Part.AGAIN, f"{said} (as above)", time=time)
        if depth > DEEPEST:
            return Node(Part.AGAIN, f"{said} (ask for it to see more)", time=time)
        self._explained.add(key)
        return None

    def _given(self, pair: Pair, interval: Interval, time: int, said: str) -> Node:
        """An input fluent: the rows that make the interval up to the time."""
        rows = [
            f for f in self.known.given.stretches(*pair) if contains([interval], f.since) and f.since <= time
        ]
        here = [f for f in rows if contains([(f.since, f.end)], time)] or rows
        return Node(Part.INTERVAL, said, tuple(map(self._row, here)), time)

    def _row(self, row: Row) -> Node:
        place = self.known.given.place(row)
        when = (
            f"at {row.start}"
            if row.value is None
            else f"from {row.start} " + ("on" if row.end is None else f"to {row.end}")
        )
        return Node(Part.INPUT, f"{place.fact} {when}", time=row.start, place=place)

    def _simple(self, pair: Pair, interval: Interval, time: int, said: str, depth: int) -> Node:
        start, end = interval
        children = [*self.initiation(pair, start - self.known.tick, depth + 1)]
        if not children:
            children.append(
                Node(Part.UNEXPLAINED, f"no rule was found that initiates it at {start - self.known.tick}")
            )
        if time > start:
            children.append(Node(Part.INERTIA, self._goes_on(time), time=time))
        if end is not None and self._ends and depth == 0:
            children.append(self.ended(pair, end, depth + 1))
        return Node(Part.INTERVAL, said, tuple(children), time)

    def _goes_on(self, time: int) -> str:
        last = self.known.last
        if time > last + self.known.tick:
            return f"nothing has ended it up to {last}, the last query time"
        return f"nothing ends it before {time}"

    # ------------------------------------------------------------------ effects

    def initiation(self, pair: Pair, time: int, depth: int) -> Iterable[Node]:
        """What initiates a pair at a time-point: rules, delayed effects, `initially`."""
        found = [
            *self._by_rules("initiatedAt", pair, time, depth),
            *self._by_delay("initiatedAt", pair, time, depth),
        ]
        yield from found
        rule = self.known.once(("initially", pair, time), lambda: At(self.known, time).initially(pair))
        if rule is not None and (time < self.known.start or not found):
            said = f"initially {pair_text(*pair)}"
            shown = tuple(self._shown(pair, time + self.known.tick)) if time >= self.known.start else ()
            yield Node(Part.INITIALLY, said, shown, time, self.known.place_of(rule))

    def _shown(self, pair: Pair, time: int) -> Iterable[Node]:
        """The rows that show an instance for the first time."""
        rows = self.known.given.beginning(time)
        for row in rows:
            event = row.value is None
            pairs = self.known.domains.triggered([row.term]) if event else {(row.term, None)}
            facts = self.known.domains.shown(
                [row.term] if event else [], [] if event else [(row.term, row.value)]
            )
            if (pair[0], None) in pairs or facts:
                yield self._row(row)

    def termination(self, pair: Pair, time: int, depth: int) -> Iterable[Node]:
        """What breaks a pair at a time-point: terminations, and initiations of other values."""
        yield from self._by_rules("terminatedAt", pair, time, depth)
        yield from self._by_delay("terminatedAt", pair, time, depth)
        for other in dict.fromkeys(self._others(pair, time)):
            yield from self.initiation(other, time, depth)

    def _others(self, pair: Pair, time: int) -> Iterable[Pair]:
        fluent, value = pair
        found = [p for p, (start, _) in self.known.timelines.of(fluent) if start == time + self.known.tick]
        world = At(self.known, time)
        for rule in self.known.description.effects.get(("initiatedAt", signature(fluent)), ()):
            for _, answer in firing(rule, fluent, rule.value, world):
                found.append((fluent, resolve(rule.value, answer)))
        delayed = {
            resolve(rule.target[1], subst)
            for rule in self.known.description.delayed
            if rule.target is not None and (subst := unify(rule.fluent, fluent, EMPTY)) is not None
        }
        found += [(fluent, other) for other in delayed if is_ground(other)]
        return [p for p in found if p[1] != value and not self.known.is_determined(p)]

    def ended(self, pair: Pair, end: int, depth: int) -> Node:
        """Why an interval of a simple fluent ended."""
        time = end - self.known.tick
        causes = [*self.termination(pair, time, depth + 1)]
        if not causes:
            causes = [Node(Part.UNEXPLAINED, f"no rule was found that ends it at {time}", time=time)]
        return Node(Part.ENDED, f"{pair_text(*pair)} ended at {time}", tuple(causes), time)

    def _by_rules(self, effect: str, pair: Pair, time: int, depth: int) -> Iterable[Node]:
        world = At(self.known, time)
        for rule in self.known.description.effects.get((effect, signature(pair[0])), ()):
            fired = self.known.once((id(rule), pair, time), partial(_fired, rule, pair, world))
            if fired is not None:
                yield self._instance(rule, effect, pair, fired, time, depth)

    def _instance(
        self, rule: EffectRule, effect: str, pair: Pair, fired: tuple[Goals, Subst], time: int, depth: int
    ) -> Node:
        verb = "initiated" if effect == "initiatedAt" else "terminated"
        body = self._body(*fired, time, depth + 1)
        said = f"{pair_text(*pair)} {verb} at {time}"
        return Node(Part.RULE, said, body, time, self.known.place_of(rule))

    def _by_delay(self, effect: str, pair: Pair, time: int, depth: int) -> Iterable[Node]:
        known = self.known
        ends = known.once((effect, pair, time), lambda: [*At(known, time).countdowns(effect, *pair)])
        for rule, source, _, since in ends:
            begun = known.once(("begun", source, since), partial(At(known, since).initiates, source))
            if not begun or not self._survives(source, since, time):
                continue
            said = (
                f"{pair_text(*pair)} {'initiated' if effect == 'initiatedAt' else 'terminated'} at {time}: "
            )
            said += f"{time - since} after {pair_text(*source)} at {since}, not cancelled"
            again = self._again(("delayed", source, since), said, time, depth)
            below = () if again is not None else tuple(self.initiation(source, since, depth + 1))
            yield Node(Part.DELAYED, said, below, time, self.known.place_of(rule))

    def _survives(self, source: Pair, since: int, time: int) -> bool:
        """True when no timeline shows that the pair was broken after `since` and before `time`."""
        tick = self.known.tick
        if any(end is not None and since + tick < end <= time for _, end in self.known.intervals(source)):
            return False
        others = self.known.timelines.of(source[0])
        begun = [p for p, (start, _) in others if p[1] != source[1] and since + tick < start <= time]
        return all(self.known.is_determined(pair) for pair in begun)

    # ------------------------------------------------------------------ events

    def happens(self, event: Ground, time: int, depth: int = 0) -> Node:
        """Why an event happens: a row, or a rule."""
        if signature(event) not in self.known.description.derived:
            rows = self.known.given.at(event, time)
            if not rows:
                return Node(Part.UNEXPLAINED, f"{text(event)} does not happen at {time}", time=time)
            return self._row(rows[0])
        said = f"{text(event)} happens at {time}"
        again = self._again((event, time), said, time, depth)
        if again is not None:
            return again
        world = At(self.known, time)
        instances = []
        for rule in self.known.description.event_rules:
            subst = unify_all((rule.time, rule.event), (time, event), EMPTY)
            if subst is None:
                continue
            fired = _first(rule.alternatives, subst, world)
            if fired is not None:
                body = self._body(*fired, time, depth + 1)
                instances.append(
                    Node(Part.RULE, f"{text(event)} at {time}", body, time, self.known.place_of(rule))
                )
        found = instances or [
            Node(Part.UNEXPLAINED, f"no rule was found for {text(event)} at {time}", time=time)
        ]
        return Node(Part.EVENT, said, tuple(found), time)

    # ------------------------------------------------------------------ bodies

    def _body(self, goals: Goals, answer: Subst, time: int, depth: int) -> tuple[Node, ...]:
        return tuple(node for goal in goals for node in self._goal(goal, answer, time, depth))

    def _goal(self, goal: Goal, answer: Subst, time: int, depth: int) -> Iterable[Node]:
        match goal:
            case Fact("happens", (event, _)):
                yield self.happens(resolve(event, answer), time, depth)
            case Fact("holds", (fluent, value, _)):
                yield self.holds((resolve(fluent, answer), resolve(value, answer)), time, depth)
            case Fact("call"):
                yield Node(Part.BACKGROUND, goal_text(goal, answer), time=time)
            case Fact(kind, (fluent, value, *_)):
                yield self._edge(kind, (resolve(fluent, answer), resolve(value, answer)), time, depth)
            case Test():
                yield Node(Part.TEST, goal_text(goal, answer), time=time)
            case Absence():
                yield self._absent(goal, answer, time, depth)
            case Collect(alternatives=alternatives):
                ways = [*solve(alternatives, answer, At(self.known, time))]
                below = [
                    n for way in ways for goals in alternatives for n in self._true(goals, way, time, depth)
                ]
                yield Node(Part.COLLECTED, goal_text(goal, answer), tuple(below), time)

    def _true(self, goals: Goals, way: Subst, time: int, depth: int) -> Iterable[Node]:
        """The body of one way of a findall, where it is this alternative that is true."""
        world = At(self.known, time)
        if _first((goals,), way, world) is not None:
            yield from self._body(goals, way, time, depth + 1)

    def _edge(self, kind: str, pair: Pair, time: int, depth: int) -> Node:
        """`start`, `end`, `initiatedAt` and `terminatedAt` as conditions."""
        said = f"{kind}({pair_text(*pair)}) at {time}"
        again = self._again((kind, pair, time), said, time, depth)
        if again is not None:
            return again
        simple = signature(pair[0]) in self.known.description.simple
        match kind:
            case "initiatedAt":
                below = [*self.initiation(pair, time, depth + 1)]
            case "terminatedAt":
                below = [
                    *self._by_rules(kind, pair, time, depth + 1),
                    *self._by_delay(kind, pair, time, depth + 1),
                ]
            case "start":
                below = [self.holds(pair, time + self.known.tick, depth + 1)]
            case _ if simple:
                below = [
                    self.holds(pair, time, depth + 1),
                    self.ended(pair, time + self.known.tick, depth + 1),
                ]
            case _:
                below = [
                    self.holds(pair, time, depth + 1),
                    *self._no_longer(pair, time + self.known.tick, depth),
                ]
        return Node(Part.INTERVAL, said, tuple(below), time)

    def _no_longer(self, pair: Pair, time: int, depth: int) -> Iterable[Node]:
        """Of a determined fluent that ends: what its rules combine, after the end."""
        for rule in self.known.description.determiners.get(signature(pair[0]), ()):
            subst = matched(rule.fluent, rule.value, pair)
            for answer in () if subst is None else solve((rule.goals,), subst, At(self.known, time)):
                below = self._combined(rule, answer, None, time, depth + 1)
                said = f"{pair_text(*pair)} does not hold at {time}"
                yield Node(Part.NEGATION, said, below, time, self.known.place_of(rule))
                return

    def _absent(self, goal: Absence, answer: Subst, time: int, depth: int) -> Node:
        said = f"{goal_text(goal, answer)} at {time}"
        below: list[Node] = []
        for goals in goal.alternatives:
            for inner in goals:
                match inner:
                    case Fact("holds", (fluent, value, _)):
                        pair = resolve(fluent, answer), resolve(value, answer)
                        if all(map(is_ground, pair)):
                            below += self._over(pair, time, depth + 1)
                            below += self._uncombined(pair, time, depth + 1)
        return Node(Part.NEGATION, said, tuple(below), time)

    def _over(self, pair: Pair, time: int, depth: int) -> Iterable[Node]:
        """How a simple fluent that held before a time ended."""
        if signature(pair[0]) not in self.known.description.simple or self.known.is_determined(pair):
            return
        past = [end for _, end in self.known.intervals(pair) if end is not None and end <= time]
        if past and self._again(("over", pair, past[-1]), "", time, depth) is None:
            yield self.ended(pair, past[-1], depth)

    def _uncombined(self, pair: Pair, time: int, depth: int) -> Iterable[Node]:
        """Of a determined fluent that does not hold: what its rule combines, at that time."""
        if signature(pair[0]) not in self.known.description.determiners:
            return
        if self._again(("uncombined", pair, time), "", time, depth) is None:
            for node in self._no_longer(pair, time, depth):
                yield from node.children

    # ------------------------------------------------------------------ determined fluents

    def _determined(self, pair: Pair, interval: Interval, time: int, said: str, depth: int) -> Node:
        rows = []
        for rule in self.known.description.determiners[signature(pair[0])]:
            subst = matched(rule.fluent, rule.value, pair)
            for answer in () if subst is None else solve((rule.goals,), subst, At(self.known, time)):
                here = _around(self.result(rule, answer), time)
                if here is not None:
                    here = max(here[0], interval[0]), here[1]
                    below = self._combined(rule, answer, here, time, depth + 1)
                    operation = f"{pair_text(*pair)} by {_operations(rule)}: {span_text(here)}"
                    rows.append(Node(Part.EXPRESSION, operation, below, time, self.known.place_of(rule)))
                    break
        found_rows = rows or [
            Node(Part.UNEXPLAINED, f"no rule was found for {pair_text(*pair)} at {time}", time=time)
        ]
        return Node(Part.INTERVAL, said, tuple(found_rows), time)

    def result(self, rule: DeterminedRule, answer: Subst) -> Intervals:
        """What an instance of a rule gives, of whom it may know."""
        return rule.intervals(
            answer,
            lambda fluent, value: self.known.intervals((fluent, value)),
            since=self.known.start,
            until=self.known.last + self.known.tick,
            tick=self.known.tick,
        )

    def _combined(
        self, rule: DeterminedRule, answer: Subst, here: Interval | None, time: int, depth: int
    ) -> tuple[Node, ...]:
        """What each operand is at the time; where whole intervals count, the interval nearest to the result."""
        nodes = []
        for fluent, value in rule.leaves.values():
            pair = resolve(fluent, answer), resolve(value, answer)
            intervals = self.known.intervals(pair)
            if contains(intervals, time):
                nodes.append(self.holds(pair, time, depth))
            elif rule.whole and here is not None and intervals:
                nearest = min(intervals, key=lambda i: abs(i[0] - here[0]))
                nodes.append(self.holds(pair, nearest[0], depth))
            else:
                below = tuple(self._over(pair, time, depth + 1))
                nodes.append(Node(Part.NEGATION, f"{pair_text(*pair)} does not hold at {time}", below, time))
        calls = [goal for goal in rule.goals if not (isinstance(goal, Fact) and goal.kind == "holdsFor")]
        return (*nodes, *(n for goal in calls for n in self._goal(goal, answer, time, depth)))


def _operations(rule: DeterminedRule) -> str:
    names = [op.relation if isinstance(op, Allen) else _named(op) for op in rule.operations.values()]
    return ", ".join(names) or "the same intervals"


def _named(operation: Combine | Duration) -> str:
    return operation.op if isinstance(operation, Combine) else f"duration {operation.op}"


def _fired(rule: EffectRule, pair: Pair, world: At) -> tuple[Goals, Subst] | None:
    """The first way in which a rule has its effect on the pair."""
    return next(firing(rule, *pair, world), None)


def _first(alternatives: tuple[Goals, ...], subst: Subst, world: At) -> tuple[Goals, Subst] | None:
    """The first alternative that is true, with its answer."""
    for goals in alternatives:
        try:
            answer = next(iter(solve((goals,), subst, world)), None)
        except Unbound:
            continue
        if answer is not None:
            return goals, answer
    return None


def _around(intervals: Intervals, time: int) -> Interval | None:
    return next((i for i in intervals if contains([i], time)), None)


def span_text(interval: Interval) -> str:
    """``from 5 to 8``, ``from 5 on``."""
    start, end = interval
    return f"from {start} on" if end is None else f"from {start} to {end}"
