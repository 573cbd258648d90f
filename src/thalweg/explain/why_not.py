"""Why a pair does not hold, or an event does not happen: what ended it, and the rule instances that came closest.

A candidate is an instance of a rule at a time-point at which one of the events in its body happened. Its conditions
are judged one after the other, true ones bind their variables, and those that fail are listed with the nearest time at
which they would have been true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from thalweg.explain.tree import Node, Part
from thalweg.explain.why import Explainer, span_text
from thalweg.explain.wording import goal_text, pair_text
from thalweg.explain.world import AnyRule, At, Known, matched
from thalweg.io.errors import did_you_mean
from thalweg.language.rules import Allen, Combine, Duration
from thalweg.language.terms import Variable
from thalweg.reference.arithmetic import Unbound
from thalweg.reference.bodies import Absence, Fact, Goal, Goals, solve
from thalweg.reference.description import DeterminedRule
from thalweg.reference.intervals import Interval, Intervals, contains, length
from thalweg.reference.state import Pair
from thalweg.reference.terms import (
    EMPTY,
    Ground,
    Reader,
    Subst,
    Term,
    Var,
    is_ground,
    resolve,
    signature,
    text,
    unify,
    unify_all,
)

MOST = 40
"""How many of the last events are tried for each rule."""
SHOWN = 3


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An instance of a rule: where it stands, when, and how each condition fared."""

    rule: AnyRule
    time: int
    subst: Subst
    met: tuple[Goal, ...]
    failing: tuple[Goal, ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        return (len(self.failing), -len(self.met), -self.time)


class Doubter:
    """Answers why-not questions about one run."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def holds(self, pair: Pair, time: int) -> Node:
        """Why a pair does not hold at a time."""
        said = f"{pair_text(*pair)} does not hold at {time}"
        if not self.known.is_output(pair[0]):
            return Node(Part.NEGATION, said, (self._never(pair, time),), time)
        if self.known.is_determined(pair):
            return Node(Part.NEGATION, said, tuple(self._determined(pair, time)), time)
        unknown = self._no_rule_gives(pair)
        if unknown is not None:
            return Node(Part.NEGATION, said, (unknown, *self._instead(pair, time)), time)
        children = [*self._over(pair, time)]
        since = max(
            (end for _, end in self.known.intervals(pair) if end is not None and end <= time), default=None
        )
        found: list[_Candidate] = []
        for rule in self.known.description.effects.get(("initiatedAt", signature(pair[0])), ()):
            subst = matched(rule.fluent, rule.value, pair)
            if subst is not None:
                first = self.known.start if since is None else since - self.known.tick
                found += self._candidates(
                    rule, rule.time, rule.alternatives, subst, time - self.known.tick, first
                )
        children += self._broken(found, pair)
        children += self._delayed(pair, time)
        if not children:
            children += self._instead(pair, time)
        if not children or any(c.failing for c in found):
            children += self._closest(found, f"initiate {pair_text(*pair)}")
        return Node(Part.NEGATION, said, tuple(children), time)

    def happens(self, event: Ground, time: int) -> Node:
        """Why an event does not happen at a time."""
        said = f"{text(event)} does not happen at {time}"
        if signature(event) not in self.known.description.derived:
            return Node(
                Part.NEGATION, said, (Node(Part.FAILS, self._nearest_event(event, time), time=time),), time
            )
        found: list[_Candidate] = []
        for rule in self.known.description.event_rules:
            subst = unify_all((rule.event, rule.time), (event, time), EMPTY)
            if subst is not None:
                found += [self._judged(rule, goals, subst, time) for goals in rule.alternatives]
        return Node(Part.NEGATION, said, tuple(self._closest(found, f"give {text(event)}")), time)

    # ------------------------------------------------------------------ simple fluents

    def _no_rule_gives(self, pair: Pair) -> Node | None:
        """That the fluent never has this value, with those that it may have; None where some rule may give it."""
        rules = self.known.description
        heads = [(r.fluent, r.value) for r in rules.effects.get(("initiatedAt", signature(pair[0])), ())]
        heads += [(r.fluent, r.value) for r in rules.determiners.get(signature(pair[0]), ())]
        heads += [(r.fluent, r.value) for r in rules.initially]
        heads += [r.target for r in rules.delayed if r.target is not None]
        given = [value for fluent, value in heads if unify(fluent, pair[0], EMPTY) is not None]
        if not given or any(unify(value, pair[1], EMPTY) is not None for value in given):
            return None
        values = sorted({text(value) for value in given if is_ground(value)})
        meant = did_you_mean(text(pair[1]), values)
        return Node(Part.FAILS, f"no rule gives it the value {text(pair[1])}, only {', '.join(values)}{meant}")

    def _over(self, pair: Pair, time: int) -> Iterable[Node]:
        """How it ended, where it held before."""
        past = [i for i in self.known.intervals(pair) if i[1] is not None and i[1] <= time]
        if past:
            start, end = past[-1]
            assert end is not None
            ended = Explainer(self.known).ended(pair, end, 1)
            yield Node(Part.INTERVAL, f"{pair_text(*pair)} held from {start} to {end}", (ended,), start)
        later = [start for start, _ in self.known.intervals(pair) if start > time]
        if later:
            yield Node(Part.INTERVAL, f"{pair_text(*pair)} holds later, from {later[0]}", (), later[0])

    def _instead(self, pair: Pair, time: int) -> Iterable[Node]:
        """The value that holds at the time."""
        for other, interval in self.known.timelines.of(pair[0]):
            if contains([interval], time):
                yield Node(Part.INTERVAL, f"{pair_text(*other)} holds {span_text(interval)}", (), interval[0])

    def _broken(self, found: list[_Candidate], pair: Pair) -> Iterable[Node]:
        """Initiations that were broken at their own time-point, or that rest on an edge that is none."""
        for candidate in sorted((c for c in found if not c.failing), key=lambda c: -c.time)[:SHOWN]:
            place = self.known.place_of(candidate.rule)
            causes = (*Explainer(self.known).termination(pair, candidate.time, 1),)
            edges = [goal for goal in candidate.met if isinstance(goal, Fact) and goal.kind in ("start", "end")]
            if edges and not causes:
                said = f"a rule that could initiate {pair_text(*pair)} at {candidate.time}"
                none = tuple(self._brought(goal, candidate) for goal in edges)
                yield Node(Part.CANDIDATE, said, none, candidate.time, place)
            else:
                said = f"{pair_text(*pair)} is initiated at {candidate.time}, and broken at the same point"
                yield Node(Part.ENDED, said, causes, candidate.time, place)

    def _brought(self, goal: Goal, candidate: _Candidate) -> Node:
        """An edge that a newcomer brings."""
        said = f"fails: {goal_text(goal, candidate.subst)}"
        after = candidate.time + self.known.tick
        why = f"it comes with an individual that is first seen at {after}, or with what `initially` gives it then"
        return Node(Part.FAILS, f"{said}; {why}", time=candidate.time)

    def _delayed(self, pair: Pair, time: int) -> Iterable[Node]:
        """Delayed effects that have not had their effect by the time: not yet due, or cancelled."""
        for rule, source, _, since in At(self.known, time).countdowns("initiatedAt", *pair):
            said = f"{pair_text(*pair)} comes {time - since} after an initiation of {pair_text(*source)}"
            below = self._countdown(source, time, time - since)
            yield Node(Part.CANDIDATE, said, (below,), time, self.known.place_of(rule))

    def _countdown(self, source: Pair, time: int, delay: int) -> Node:
        begun = [i for i in self.known.intervals(source) if i[0] <= time]
        if not begun:
            return Node(Part.FAILS, f"{pair_text(*source)} does not hold up to {time}")
        start, end = begun[-1]
        due = start - self.known.tick + delay
        if end is not None and end <= due:
            return Explainer(self.known).ended(source, end, 1)
        return Node(Part.FAILS, f"{pair_text(*source)} holds from {start}, so it is due at {due}")

    def _candidates(
        self,
        rule: AnyRule,
        clock: Term,
        alternatives: tuple[Goals, ...],
        subst: Subst,
        until: int,
        first: int,
    ) -> Iterator[_Candidate]:
        """Instances of the rule at the last points where one of its events happened."""
        for goals in alternatives:
            times = {until} if not any(_is_event(goal) for goal in goals) else set()
            for goal in goals:
                times |= {t for t in self._times(goal, subst, until) if t >= first}
            for time in sorted(times, reverse=True)[:MOST]:
                timed = unify(clock, time, subst)
                if timed is not None:
                    yield self._judged(rule, goals, timed, time)

    def _times(self, goal: Goal, subst: Subst, until: int) -> list[int]:
        """The last times at which what a condition asks for happened."""
        match goal:
            case Fact("happens", (event, _)):
                pattern = resolve(event, subst)
                if isinstance(pattern, Var):
                    return []
                if signature(pattern) in self.known.description.derived:
                    return sorted(t for t in self.known.derived.times(pattern) if t <= until)[-MOST:]
                return [fact.start for fact in self.known.given.events(pattern, until, MOST)]
            case Fact("start" | "end" as edge, (fluent, value, _)):
                pattern, wanted = resolve(fluent, subst), resolve(value, subst)
                ends = [
                    (start if edge == "start" else end)
                    for pair in self.known.instances(pattern, wanted)
                    if unify(wanted, pair[1], EMPTY) is not None
                    for start, end in self.known.intervals(pair)
                ]
                return sorted(
                    e - self.known.tick for e in ends if e is not None and e - self.known.tick <= until
                )[-MOST:]
        return []

    def _judged(self, rule: AnyRule, goals: Goals, subst: Subst, time: int) -> _Candidate:
        """The conditions one after the other, those first that are about events; what needs the value of a variable
        that nothing has bound fails too."""
        world = At(self.known, time)
        waiting = sorted(goals, key=lambda goal: not _is_event(goal))
        met: list[Goal] = []
        failing: list[Goal] = []
        progress = True
        while waiting and progress:
            progress = False
            for goal in [*waiting]:
                try:
                    answer = next(iter(solve(((goal,),), subst, world)), None)
                except Unbound:
                    continue
                waiting.remove(goal)
                progress = True
                if answer is None:
                    failing.append(goal)
                else:
                    met.append(goal)
                    subst = answer
        return _Candidate(rule, time, subst, tuple(met), (*failing, *waiting))

    def _closest(self, found: list[_Candidate], purpose: str) -> Iterable[Node]:
        best = sorted((c for c in found if c.failing), key=lambda c: c.rank)[:SHOWN]
        if not best:
            yield Node(Part.FAILS, f"no event has happened that could {purpose}")
        for candidate in best:
            met = [Node(Part.TEST, f"met: {goal_text(g, candidate.subst)}") for g in candidate.met]
            failing = [self._failing(goal, candidate) for goal in candidate.failing]
            said = f"a rule that could {purpose} at {candidate.time}"
            place = self.known.place_of(candidate.rule)
            yield Node(Part.CANDIDATE, said, (*failing, *met), candidate.time, place)

    def _failing(self, goal: Goal, candidate: _Candidate) -> Node:
        said = f"fails: {goal_text(goal, candidate.subst)}"
        nearest = self._nearest(goal, candidate.subst, candidate.time)
        return Node(Part.FAILS, f"{said}{'; ' if nearest else ''}{nearest}", time=candidate.time)

    # ------------------------------------------------------------------ the nearest time

    def _nearest(self, goal: Goal, subst: Subst, time: int) -> str:
        """When the condition would have been true."""
        match goal:
            case Fact("happens", (event, _)):
                pattern = resolve(event, subst)
                return "" if isinstance(pattern, Var) else self._nearest_event(pattern, time)
            case Fact("holds", (fluent, value, _)):
                pattern, wanted = resolve(fluent, subst), resolve(value, subst)
                if isinstance(pattern, Var):
                    return ""
                pairs = [
                    p for p in self.known.instances(pattern, wanted) if unify(wanted, p[1], EMPTY) is not None
                ]
                return _near([i for p in pairs for i in self.known.intervals(p)], time, "it never holds")
            case Absence(((Fact("holds", (fluent, value, _)),),)):
                pair = resolve(fluent, subst), resolve(value, subst)
                if all(map(is_ground, pair)):
                    here = [i for i in self.known.intervals(pair) if contains([i], time)]
                    return f"{pair_text(*pair)} holds from {here[0][0]}" if here else ""
        return ""

    def _nearest_event(self, pattern: Term, time: int) -> str:
        if signature(pattern) in self.known.description.derived:
            times = self.known.derived.times(pattern)
        else:
            times = [fact.start for fact in self.known.given.events(pattern, self.known.last, 10_000)]
        if not times:
            return "it never happens"
        nearest = min(times, key=lambda t: (abs(t - time), t))
        return f"nearest: at {nearest}"

    # ------------------------------------------------------------------ input and determined fluents

    def _never(self, pair: Pair, time: int) -> Node:
        return Node(
            Part.FAILS, f"input: {_near(self.known.intervals(pair), time, 'it never holds')}", time=time
        )

    def _determined(self, pair: Pair, time: int) -> Iterable[Node]:
        """Each rule with its operands at the time."""
        for rule in self.known.description.determiners[signature(pair[0])]:
            subst = matched(rule.fluent, rule.value, pair)
            if subst is None:
                continue
            answers = [*solve((rule.goals,), subst, At(self.known, time))][:SHOWN]
            place = self.known.place_of(rule)
            if not answers:
                yield Node(Part.CANDIDATE, "a rule without instances", (), time, place)
            for answer in answers:
                said = f"a rule that could give {pair_text(*pair)}"
                below = (*self._operands(rule, answer, time), *self._lost(rule, answer, pair, time))
                yield Node(Part.CANDIDATE, said, below, time, place)

    def _operands(self, rule: DeterminedRule, answer: Subst, time: int) -> Iterable[Node]:
        for fluent, value in rule.leaves.values():
            operand = resolve(fluent, answer), resolve(value, answer)
            intervals = self.known.intervals(operand)
            here = next((i for i in intervals if contains([i], time)), None)
            if here is not None:
                when = span_text(here) if rule.whole else f"at {time}"
                yield Node(Part.TEST, f"{pair_text(*operand)} holds {when}", (), time)
            else:
                near = _near(intervals, time, "it never holds")
                yield Node(Part.FAILS, f"{pair_text(*operand)} does not hold at {time}; {near}", (), time)

    def _lost(self, rule: DeterminedRule, answer: Subst, pair: Pair, time: int) -> Iterable[Node]:
        """Where whole intervals count, the operations that do not keep the one around the time; and whether nobody
        knows of the instance yet."""
        explainer = Explainer(self.known)

        def around(name: object) -> Interval | None:
            found = explainer.result(replace(rule, result=name.name), answer) if isinstance(name, Variable) else []
            return next((i for i in found if contains([i], time)), None)

        for operation in rule.operations.values():
            if isinstance(operation, Combine) or around(operation.result) is not None:
                continue
            given = around(operation.intervals if isinstance(operation, Duration) else operation.left)
            if isinstance(operation, Duration) and given is not None:
                lasts = length(given, self.known.last + self.known.tick)
                bound = text(resolve(Reader().term(operation.bound), answer))
                yield Node(Part.FAILS, f"fails: it lasts {lasts}, not {operation.op} {bound}", time=time)
            elif isinstance(operation, Allen) and (given or around(operation.right)) is not None:
                yield Node(Part.FAILS, f"fails: no interval is `{operation.relation}` another here", time=time)
        here = around(Variable(rule.result))
        if here is not None:
            first = [start for start, _ in self.known.intervals(pair) if contains([here], start) and start > time]
            when = f"before {first[0]}" if first else f"at {time}"
            yield Node(Part.FAILS, f"fails: {text(pair[0])} is not known {when}", time=time)


def _is_event(goal: Goal) -> bool:
    return isinstance(goal, Fact) and goal.kind in ("happens", "start", "end")


def _near(intervals: Intervals, time: int, otherwise: str) -> str:
    if not intervals:
        return otherwise

    def distance(interval: tuple[int, int | None]) -> int:
        start, end = interval
        return start - time if start > time else time - (end - 1) if end is not None and end <= time else 0

    return f"nearest: {span_text(min(intervals, key=distance))}"
