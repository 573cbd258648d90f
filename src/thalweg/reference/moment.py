"""One time-point: the state there, what happens, and the state one point later.

A `Moment` has three snapshots: now; next, as it is before anybody new is met there; then, with those that are.
Everything that happens in between is computed when it is first asked for. A `start` or `end` is one that next and then
agree on: what newcomers bring at the next point has not happened at this one, and what they prevent there has not
either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from thalweg.reference.arithmetic import Unbound
from thalweg.reference.bodies import Fact, Goal, UnsafeRule, solve
from thalweg.reference.description import EffectRule, EventRule
from thalweg.reference.snapshot import ANY, Memo, Snapshot, Whole, may_equal
from thalweg.reference.state import Countdown, Domains, Input, Pair, State, settled, shown
from thalweg.reference.terms import (
    EMPTY,
    Ground,
    Signature,
    Subst,
    Term,
    Var,
    is_ground,
    resolve,
    signature,
    unify,
    unify_all,
)


class Moment:
    """Everything at one time-point; also the world in which the rule bodies of that point are solved."""

    def __init__(
        self,
        domains: Domains,
        input_: Input,
        whole: Whole,
        time: int,
        state: State,
        held: frozenset[Pair] | None = None,
    ) -> None:
        self.domains = domains
        self.description = domains.description
        self.input = input_
        self.whole = whole
        self.time = time
        self.state = state
        self._memo = Memo()
        self.now = Snapshot(domains, input_, whole, time, state, held=held)
        self.next = Snapshot(
            domains,
            input_,
            whole,
            time + input_.tick,
            state,
            values=self._next_values,
            affected=self.affected,
        )

    @cached_property
    def met(self) -> State:
        """The state with those that the input shows one point later."""
        return shown(self.domains, self.state, self.input, self.time + self.input.tick)

    @cached_property
    def then(self) -> Snapshot:
        """What holds one point later, newcomers included."""
        after = self.time + self.input.tick
        world = self.domains, self.input, self.whole
        return Snapshot(*world, after, self.met, values=self._then_values, affected=self.affected)

    # what the world answers

    def answers(self, fact: Fact, subst: Subst) -> Iterator[Subst]:
        if fact.kind == "call":
            yield from self.domains.knowledge(self.state).answers(fact, subst)
            return
        first = resolve(fact.terms[0], subst)
        if isinstance(first, Var):
            raise UnsafeRule(f"{fact} names no event or fluent")
        facts = self._facts(fact.kind, first, resolve(fact.terms[1], subst))
        asked = tuple(resolve(term, subst) for term in fact.terms[:-1])
        if all(map(is_ground, asked)):
            facts = [asked] if asked in facts else []
        for answer in facts:
            extended = unify_all(fact.terms, (*answer, self.time), subst)
            if extended is not None:
                yield extended

    def _facts(self, kind: str, term: Term, value: Term) -> Collection[tuple[Ground, ...]]:
        key = signature(term)
        match kind:
            case "happens":
                return [(event,) for event in self.happening(key)]
            case "holds":
                return self.now.holding(key, value)
            case "start":
                begun = self.next.holding(key, value) - self.now.holding(key, value)
                return begun & self.then.holding(key, value) if begun else begun
            case "end":
                ended = self.now.holding(key, value) - self.next.holding(key, value)
                return ended - self.then.holding(key, value) if ended else ended
            case "initiatedAt":
                return self.initiated(key, value)
            case "terminatedAt":
                return set(self._with_values(self.terminated(key, value), value))
        raise NotImplementedError(f"no condition {kind!r} at a time-point")

    def _with_values(self, pairs: Iterable[Pair], value: Term) -> Iterator[Pair]:
        """Terminations of every value, as terminations of the value asked for or of those that hold."""
        for fluent, ended in pairs:
            if ended is not None:
                yield fluent, ended
            elif is_ground(value):
                yield fluent, value
            else:
                yield from (pair for pair in self.now.holding(signature(fluent)) if pair[0] == fluent)

    # events

    def happening(self, key: Signature) -> frozenset[Ground]:
        """The events of a name at this point, input or derived."""
        if key not in self.description.derived:
            return frozenset(e for e in self.input.events.get(self.time, ()) if signature(e) == key)
        return self._memo(("event", key), lambda: frozenset(self._derived(key)))

    def _derived(self, key: Signature) -> Iterator[Ground]:
        for rule in self.description.event_rules:
            if signature(rule.event) == key:
                yield from self._events_of(rule)

    def _events_of(self, rule: EventRule) -> Iterator[Ground]:
        for answer, state in self._solutions(rule):
            event = resolve(rule.event, answer)
            if not is_ground(event):
                raise UnsafeRule(f"derived event {event} has variables without a value")
            if self.domains.wants_event(event, state):
                yield event

    def all_derived(self) -> frozenset[Ground]:
        return frozenset(event for key in self.description.derived for event in self.happening(key))

    def _solutions(self, rule: EventRule | EffectRule) -> Iterator[tuple[Subst, State]]:
        """Each solution with the state that says who is wanted: where a start of input is read, that of its first
        point, since the input tells of somebody there."""
        subst = unify(rule.time, self.time, EMPTY)
        if subst is None:
            return
        for goals in rule.alternatives:
            state = self.met if any(map(self._starts_input, goals)) else self.state
            try:
                yield from ((answer, state) for answer in solve((goals,), subst, self))
            except Unbound as problem:
                raise UnsafeRule(f"variables of {rule} are bound by no positive condition") from problem

    def _starts_input(self, goal: Goal) -> bool:
        match goal:
            case Fact("start", (fluent, *_)):
                return signature(fluent) in self.description.input_fluents
        return False

    # effects

    def _fires(self, rule: EffectRule) -> frozenset[Pair]:
        """The effects of one rule at this point."""
        return frozenset((fluent, value) for fluent, value, seen in self._effects(rule) if seen)

    def _effects(self, rule: EffectRule) -> frozenset[tuple[Ground, Ground | None, bool]]:
        """The same, each with whether rules see it: not the end of all values by one that is named and not wanted."""
        return self._memo(("rule", id(rule)), lambda: frozenset(self._effects_of(rule)))

    def _effects_of(self, rule: EffectRule) -> Iterator[tuple[Ground, Ground | None, bool]]:
        for answer, state in self._solutions(rule):
            for extended in self.domains.instances(rule.fluent, answer, self.state, self._determined):
                fluent, value = resolve(rule.fluent, extended), resolve(rule.value, extended)
                if is_ground(value) and self.domains.wants_pair((fluent, value), state):
                    yield fluent, value, True
                elif rule.effect == "initiatedAt" and not is_ground(value):
                    raise UnsafeRule(f"the value of {fluent} in an initiation has none")
                elif not is_ground(value) and self.domains.wants_instance(fluent, state):
                    yield fluent, None, True
                elif rule.effect == "initiatedAt" and self.domains.displaces((fluent, value), state):
                    yield fluent, None, False

    def _determined(self, key: Signature) -> Iterable[Pair]:
        """The instances that rules of determined values of a fluent know."""
        return self.now.known(key, ANY) if key in self.description.determined else ()

    def _by_rules(self, effect: str, key: Signature, value: Term) -> set[Pair]:
        possible = [r for r in self.description.effects.get((effect, key), ()) if may_equal(r.value, value)]
        return {pair for rule in possible for pair in self._fires(rule)}

    def initiated(self, key: Signature, value: Term = ANY) -> set[Pair]:
        """The pairs of a fluent that are initiated, by rules or by delayed effects."""
        delayed = {(c.pair[0], c.target) for c in self.fired(key) if c.target is not None}
        return self._by_rules("initiatedAt", key, value) | delayed

    def terminated(self, key: Signature, value: Term = ANY) -> set[Pair]:
        """The pairs that are terminated, by rules or by delayed effects."""
        delayed = {c.pair for c in self.fired(key) if c.target is None}
        return self._by_rules("terminatedAt", key, value) | delayed

    def _displaced(self, key: Signature) -> set[Pair]:
        """The ends of all values of instances of which a rule initiates a value that is named and not wanted."""
        rules = self.description.effects.get(("initiatedAt", key), ())
        return {(fluent, None) for rule in rules for fluent, _, seen in self._effects(rule) if not seen}

    def _broken(self, key: Signature) -> set[Pair]:
        """What ends at this point other than by an initiation that is seen."""
        return self.terminated(key) | self._displaced(key)

    def fired(self, key: Signature) -> frozenset[Countdown]:
        """The delayed effects of this point."""
        due = {c for c in self.state.countdowns if c.due == self.time and signature(c.pair[0]) == key}
        return self._memo(("due", key), lambda: self._decided(key, due)) if due else frozenset()

    def _decided(self, key: Signature, due: set[Countdown]) -> frozenset[Countdown]:
        """Which of the due countdowns fire: all, but those that are postponed by an initiation at this very point.

        That initiation may itself be the delayed effect of another countdown due now. What is not postponed for
        certain and does not fire for certain (a circle of such countdowns) does not fire.
        """
        fired = {c for c in due if not c.postponable}
        undecided = due - fired
        initiated = self._by_rules("initiatedAt", key, ANY) if undecided else set()
        while True:
            certain = initiated | {(c.pair[0], c.target) for c in fired}
            possible = certain | {(c.pair[0], c.target) for c in undecided}
            fire = {c for c in undecided if c.pair not in possible}
            postponed = {c for c in undecided if c.pair in certain}
            if not fire and not postponed:
                return frozenset(fired)
            fired |= fire
            undecided -= fire | postponed

    def all_effects(self) -> tuple[frozenset[Pair], frozenset[Pair]]:
        """All initiations and terminations of this point."""
        keys = self.description.simple
        return (
            frozenset(pair for key in keys for pair in self.initiated(key)),
            frozenset(pair for key in keys for pair in self._broken(key)),
        )

    def busy(self) -> bool:
        """True when anything happens at this point."""
        return bool(self.input.events.get(self.time)) or any(self.all_effects())

    def affected(self, key: Signature) -> set[Pair]:
        """What rules and delayed effects have an effect on, as rules see it."""
        return self.initiated(key) | self.terminated(key) if key in self.description.simple else set()

    def _next_values(self, key: Signature) -> set[Pair]:
        """The simple fluents of a signature one point later."""
        values = {f: v for f, v in self.state.values.items() if signature(f) == key}
        initiated, terminated = frozenset(self.initiated(key)), frozenset(self._broken(key))
        state = State(values=values, domain=self.state.domain)
        after, _ = settled(self.domains, state, self.time, initiated, terminated)
        return set(after.items())

    def _then_values(self, key: Signature) -> set[Pair]:
        """The same, with those that ``initially`` sets there."""
        touched = self.state.touched | {fluent for fluent, _ in self.affected(key)}
        fresh = self.domains.initial(self.met) - self.state.initial
        reached = frozenset(pair for pair in fresh if signature(pair[0]) == key and pair[0] not in touched)
        state = replace(self.met, values=dict(self._next_values(key)), countdowns=frozenset())
        after, _ = settled(self.domains, state, self.time, reached, frozenset())
        return set(after.items())
