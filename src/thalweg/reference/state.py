"""What is carried from one time-point to the next, the law of inertia, and who is known.

`settled` is SEMANTICS 1.1 and 1.5; `Domains` says which instances of a fluent are known and wanted (1.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from thalweg.reference.arithmetic import evaluate
from thalweg.reference.background import Knowledge
from thalweg.reference.bodies import Fact, solve
from thalweg.reference.description import Conditional, Description
from thalweg.reference.intervals import contains
from thalweg.reference.terms import (
    EMPTY,
    Ground,
    Signature,
    Subst,
    Term,
    Var,
    is_ground,
    order_key,
    resolve,
    signature,
    unify,
    unify_all,
)

Fluent = Ground
Pair = tuple[Fluent, Ground]
"""A fluent and its value. As an effect, value None: every value; as something known, value None: some value."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """An input interval."""

    fluent: Fluent
    value: Ground
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Input:
    """Input events by time, and input intervals."""

    events: Mapping[int, list[Ground]]
    stretches: tuple[Stretch, ...]
    tick: int = 1

    def holding(self, time: int) -> frozenset[Pair]:
        return frozenset((s.fluent, s.value) for s in self.stretches if contains([(s.start, s.end)], time))


@dataclass(frozen=True, slots=True)
class Countdown:
    """An initiation of `pair` at `since` that will have its delayed effect at `due`, unless it is cancelled."""

    pair: Pair
    target: Ground | None
    since: int
    due: int
    postponable: bool


@dataclass(frozen=True, slots=True)
class State:
    """What is carried from one time-point to the next. `seen`: instances shown so far; `touched`: fluents that a rule
    has had an effect on; `initial`: pairs that `initially` has reached; `since`: see `events`."""

    values: Mapping[Fluent, Ground] = field(default_factory=dict)
    countdowns: frozenset[Countdown] = frozenset()
    domain: frozenset[Ground] = frozenset()
    seen: frozenset[Pair] = frozenset()
    touched: frozenset[Fluent] = frozenset()
    initial: frozenset[Pair] = frozenset()
    since: Mapping[tuple[Ground, ...], int] = field(default_factory=dict)


# --------------------------------------------------------------------------- inertia


def settled(
    domains: Domains,
    state: State,
    time: int,
    initiated: frozenset[Pair],
    terminated: frozenset[Pair],
    then: State | None = None,
) -> tuple[Mapping[Fluent, Ground], frozenset[Countdown]]:
    """Values and countdowns after the effects at `time`: SEMANTICS 1.1 and 1.5, word for word. `then` has those whom
    the input has shown by the next point, where a countdown begins; without it, the state has."""

    def broken(pair: Pair) -> bool:
        fluent, value = pair
        ended = pair in terminated or (fluent, None) in terminated
        return ended or any(f == fluent and v != value for f, v in initiated)

    holding = {*state.values.items()} | initiated
    values = {fluent: value for fluent, value in holding if not broken((fluent, value))}
    running = {
        c
        for c in state.countdowns
        if c.due > time and not broken(c.pair) and not (c.postponable and c.pair in initiated)
    }
    started = {c for pair in initiated for c in domains.countdowns(pair, time, then or state)}
    return values, frozenset(running | started)


def shown(domains: Domains, state: State, input_: Input, time: int) -> State:
    """The state at a time-point with those that the input shows there."""
    happening, holding = input_.events.get(time, []), input_.holding(time)
    seen = domains.triggered(happening) | holding | {(fluent, None) for fluent, _ in holding}
    return replace(state, domain=state.domain | domains.shown(happening, holding), seen=state.seen | seen)


# --------------------------------------------------------------------------- known instances


class Domains:
    """Which instances are known and which are wanted, from background knowledge and what has been seen."""

    def __init__(self, description: Description, tick: int = 1) -> None:
        self.description = description
        self.tick = tick
        self.anchored = description.anchored
        self.grounded = {signature(g.entity) for g in description.groundings if g.value is not None}
        self.grounded_events = {signature(g.entity) for g in description.groundings if g.value is None}
        self._knowledge: dict[frozenset[Ground], Knowledge] = {}
        self._declared: dict[frozenset[Ground], frozenset[Pair]] = {}
        self.found: dict[object, list[tuple[tuple[Ground, ...], Subst]]] = {}
        """The instances of rules, remembered by `moment`."""
        self._initial: dict[tuple[frozenset[Ground], frozenset[Pair]], frozenset[Pair]] = {}
        self._initial_seen = {signature(rule.fluent) for rule in description.initially} - self.grounded

    def knowledge(self, state: State) -> Knowledge:
        """Background knowledge with the dynamic domains as far as they are filled."""
        if state.domain not in self._knowledge:
            self._knowledge[state.domain] = self.description.knowledge.with_facts(
                sorted(state.domain, key=order_key)
            )
        return self._knowledge[state.domain]

    def declared(self, state: State) -> frozenset[Pair]:
        """The pairs that grounding rules list, with value None where they leave the value open; an instance that they
        leave open is not listed."""
        if state.domain not in self._declared:
            knowledge = self.knowledge(state)
            found = {
                (resolve(g.entity, answer), resolve(g.value, answer))
                for g in self.description.groundings
                if g.value is not None
                for answer in solve(g.alternatives, EMPTY, knowledge)
            }
            self._declared[state.domain] = frozenset(
                (fluent, value if is_ground(value) else None) for fluent, value in found if is_ground(fluent)
            )
        return self._declared[state.domain]

    def wants_pair(self, pair: Pair, state: State) -> bool:
        """False for a pair of a fluent with grounding rules that none of them gives."""
        if signature(pair[0]) not in self.grounded or pair in self.declared(state):
            return True
        return self._given(*pair, state)

    def displaces(self, pair: Pair, state: State) -> bool:
        """Does a pair that is not wanted end the others? If another of its instance is wanted, and the head of a rule
        or a grounding of the fluent names its value."""
        d, (fluent, value) = self.description, pair
        heads = [(rule.fluent, rule.value) for rule in d.effect_rules]
        heads += [(rule.fluent, rule.value) for rule in d.initially]
        targets = [rule.target for rule in d.delayed if rule.target is not None]
        given = [(g.entity, g.value) for g in d.groundings if g.value is not None]
        named = (*heads, *targets, *given, *self.declared(state))
        return self.wants_instance(fluent, state) and any(v == value and _alike(f, fluent) for f, v in named)

    def wants_instance(self, fluent: Ground, state: State) -> bool:
        """False for an instance of a fluent with grounding rules no pair of which any of them gives."""
        return signature(fluent) not in self.grounded or self._given(fluent, Var("whatever value"), state)

    def wants_event(self, event: Ground, state: State) -> bool:
        return signature(event) not in self.grounded_events or self._given(event, None, state)

    def _given(self, entity: Ground, value: Term | None, state: State) -> bool:
        """Does a grounding rule give it, with this value?"""
        knowledge = self.knowledge(state)
        for g in self.description.groundings:
            subst = unify(g.entity, entity, EMPTY)
            if subst is None or (g.value is None) != (value is None):
                continue
            subst = subst if g.value is None else unify(g.value, value, subst)
            if subst is not None and any(True for _ in solve(g.alternatives, subst, knowledge)):
                return True
        return False

    def shown(self, happening: Iterable[Ground], holding: Iterable[Pair]) -> set[Ground]:
        """The facts of dynamic domains that input events and input fluents show, by their grounding rules."""
        shown = [(event, None) for event in happening] + [*holding]
        facts: set[Ground] = set()
        for g in self.description.groundings:
            calls = [goal.terms[0] for goals in g.alternatives for goal in goals if isinstance(goal, Fact)]
            dynamic = [call for call in calls if signature(call) in self.description.dynamic]
            for entity, value in shown:
                subst = unify(g.entity, entity, EMPTY) if (g.value is None) == (value is None) else None
                if subst is not None and value is not None:
                    subst = unify(g.value, value, subst)
                if subst is not None:
                    facts |= {fact for fact in (resolve(call, subst) for call in dynamic) if is_ground(fact)}
        return facts

    def triggered(self, happening: list[Ground]) -> set[Pair]:
        """The fluent instances whose rules' input events happen together, whatever the state is."""
        world = _Happening(happening)
        found: set[Pair] = set()
        for rule in self.description.effect_rules if happening else ():
            for goals in rule.triggers:
                for answer in solve((goals,), EMPTY, world) if goals else ():
                    fluent = resolve(rule.fluent, answer)
                    if is_ground(fluent):
                        found.add((fluent, None))
        return found

    def known(self, key: Signature, state: State) -> Iterable[Pair]:
        """The known instances of a simple or input fluent: those declared, with values that they have had where their
        value is left open; and those seen, of input, or where nothing is declared."""
        seen = [pair for pair in state.seen if signature(pair[0]) == key]
        declared = [pair for pair in self.declared(state) if signature(pair[0]) == key]
        if key not in self.grounded or key in self.description.input_fluents:
            return [*declared, *seen]
        return [*declared, *(pair for pair in seen if (pair[0], None) in declared and self.wants_pair(pair, state))]

    def instances(
        self, fluent: Term, subst: Subst, state: State, also: Callable[[Signature], Iterable[Pair]] = lambda key: ()
    ) -> Iterator[Subst]:
        """A head's variables that no condition binds range over the known instances, and others that are known."""
        fluent = resolve(fluent, subst)
        if is_ground(fluent):
            yield subst
            return
        key = signature(fluent)
        for instance in sorted({f for f, _ in (*self.known(key, state), *also(key))}, key=order_key):
            extended = unify(fluent, instance, subst)
            if extended is not None:
                yield extended

    def initial(self, state: State) -> frozenset[Pair]:
        """The pairs that `initially` initiates for the instances known now."""
        seen = frozenset(pair for pair in state.seen if signature(pair[0]) in self._initial_seen)
        if (state.domain, seen) not in self._initial:
            self._initial[state.domain, seen] = self._reached(state)
        return self._initial[state.domain, seen]

    def _reached(self, state: State) -> frozenset[Pair]:
        found: set[Pair] = set()
        for rule in self.description.initially:
            for answer in solve(rule.alternatives, EMPTY, self.knowledge(state)):
                for extended in self.instances(rule.fluent, answer, state):
                    found.add((resolve(rule.fluent, extended), resolve(rule.value, extended)))
        return frozenset(pair for pair in found if self.wants_pair(pair, state))

    def countdowns(self, pair: Pair, time: int, state: State) -> Iterator[Countdown]:
        """The countdowns that an initiation of the pair starts."""
        postponable = any(
            True for rule in self.description.postponable for _ in self._matches(rule, pair, state)
        )
        for rule in self.description.delayed:
            for answer in self._matches(rule, pair, state):
                target = None if rule.target is None else resolve(rule.target[1], answer)
                if target == pair[1]:
                    continue  # the target is another value
                delay = evaluate(resolve(rule.delay, answer))
                if not isinstance(delay, int) or delay < 1:
                    raise ValueError(f"the delay of {pair} is {delay}, not a positive integer")
                delay += -delay % self.tick
                if target is None or self.wants_pair((pair[0], target), state):
                    yield Countdown(pair, target, time, time + delay, postponable)

    def _matches(self, rule: Conditional, pair: Pair, state: State) -> Iterator[Subst]:
        subst = unify_all((rule.fluent, rule.value), pair, EMPTY)
        if subst is not None:
            yield from solve(rule.alternatives, subst, self.knowledge(state))


class _Happening:
    """A world in which only input events are seen."""

    def __init__(self, events: list[Ground]) -> None:
        self._events = events

    def answers(self, fact: Fact, subst: Subst) -> Iterator[Subst]:
        for event in self._events:
            extended = unify(fact.terms[0], event, subst)
            if extended is not None:
                yield extended


def _alike(left: Term, right: Term) -> bool:
    """The same fluent: of one name and number of arguments, and so all the terms in it."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return signature(left) == signature(right) and all(
            isinstance(a, tuple) == isinstance(b, tuple) and (not isinstance(a, tuple) or _alike(a, b))
            for a, b in zip(left[1:], right[1:], strict=True)
        )
    return bool(left == right)
