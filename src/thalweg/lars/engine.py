"""Rounds: a change of the input goes through the network, component by component, and only what it touches is redone.

Within a component deletions come first: everything that may have rested on what went away is struck, then what still
has another derivation is put back, then insertions are followed to the end. The difference is the
component's change, which the components above start from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from thalweg.analysis.order import strong_components
from thalweg.lars.choice import Choice, Naming
from thalweg.lars.compile import Network
from thalweg.lars.labels import FOREVER
from thalweg.lars.operators import Moment, Operator
from thalweg.lars.rule import Frame, Rule
from thalweg.lars.store import NOTHING, Store
from thalweg.protocol import Ints


@dataclass(slots=True)
class _Use:
    """Literal `place` of a rule."""

    rule: Rule
    place: int
    store: Store
    negated: bool


class Component:
    """Stores whose rules depend on each other, or a single one."""

    def __init__(self, stores: Iterable[Store], rules: Iterable[Rule]) -> None:
        self.stores = list(stores)
        self.rules = list(rules)
        inside = {id(s) for s in self.stores}
        uses = [_Use(r, i, x.store, x.negated) for r in self.rules for i, x in enumerate(r.reads)]
        self.outer = [u for u in uses if id(u.store) not in inside]
        self.inner = [u for u in uses if id(u.store) in inside]
        self._came: dict[int, list[Ints]] = {}
        self._gone: dict[int, list[Ints]] = {}

    def update(self, moment: Moment) -> None:
        """Follow the changes of the stores below."""
        plus: list[_Use] = []
        minus: list[_Use] = []
        for use in self.outer:
            store = use.store
            if store.plus is not NOTHING:
                (minus if use.negated else plus).append(use)
            if store.minus is not NOTHING:
                (plus if use.negated else minus).append(use)
        if not plus and not minus:
            return
        self._came, self._gone = {}, {}
        if minus:
            self._strike(minus)
            self._put_back(moment)
        self._insert(plus, moment)
        for store in self.stores:
            came, gone = self._came.get(id(store)), self._gone.get(id(store))
            if came or gone:
                store.settle(came or [], gone or [])

    def start(self, moment: Moment) -> None:
        """The first round: rules without positive literals hold from the start of the timeline."""
        self._came, self._gone = {}, {}
        for rule in self.rules:
            if all(r.negated for r in rule.reads):
                self._absorb(rule, rule.from_nothing(moment.start), moment)
        self._insert([u for u in self.outer if not u.negated and len(u.store.plus)], moment)
        for store in self.stores:
            if self._came.get(id(store)):
                store.settle(self._came[id(store)], [])

    # ------------------------------------------------------------------ deletions

    def _strike(self, uses: list[_Use]) -> None:
        """Take away whatever may have rested on what went away."""
        fresh: list[tuple[Store, Ints]] = []
        for use in uses:
            fresh += self._strike_heads(use, use.store.plus if use.negated else use.store.minus)
        while fresh:
            store, pieces = fresh.pop()
            for use in self.inner:
                if use.store is store:
                    fresh += self._strike_heads(use, pieces)

    def _strike_heads(self, use: _Use, pieces: Ints) -> list[tuple[Store, Ints]]:
        rule = use.rule
        if rule.copies is not None:
            reads = rule.reads[0]
            gone = rule.head.strike(reads.store.changed_keys, pieces, rule.copies, reads.window)
        else:
            rows, found = rule.from_literal(use.place, pieces, ghosts=True)
            if not len(found):
                return []
            gone = rule.head.strike(rows, found, rule.head_slots)
        if not len(gone):
            return []
        self._gone.setdefault(id(rule.head), []).append(gone)
        return [(rule.head, gone)]

    def _put_back(self, moment: Moment) -> None:
        """Restore what has another derivation."""
        for rule in self.rules:
            for gone in self._gone.get(id(rule.head), ()):
                self._absorb(rule, rule.from_head(gone), moment)

    # ------------------------------------------------------------------ insertions

    def _absorb(self, rule: Rule, frame: Frame, moment: Moment) -> Ints:
        rows, pieces = frame
        if not len(pieces):
            return NOTHING
        came = rule.head.absorb(rows, pieces, rule.head_slots, moment.horizon)
        if len(came):
            self._came.setdefault(id(rule.head), []).append(came)
        return came

    def _insert(self, uses: list[_Use], moment: Moment) -> None:
        for use in uses:
            self._add(use, use.store.minus if use.negated else use.store.plus, moment)
        if not self.inner:
            return
        done = {id(s): 0 for s in self.stores}
        while True:
            fresh = [
                (store, pieces)
                for store in self.stores
                for pieces in self._came.get(id(store), [])[done[id(store)] :]
            ]
            if not fresh:
                return
            done = {id(s): len(self._came.get(id(s), ())) for s in self.stores}
            for store, pieces in fresh:
                for use in self.inner:
                    if use.store is store:
                        self._add(use, pieces, moment)

    def _add(self, use: _Use, pieces: Ints, moment: Moment) -> None:
        rule = use.rule
        if rule.copies is None:
            self._absorb(rule, rule.from_literal(use.place, pieces, ghosts=False), moment)
            return
        reads = rule.reads[0]
        came = rule.head.absorb(reads.store.changed_keys, pieces, rule.copies, moment.horizon, reads.window)
        if len(came):
            self._came.setdefault(id(rule.head), []).append(came)


class Engine:
    """A network in working order. `weighs`: names of stores whose atoms count as choices; `predict`: choices are made
    for all ticks that are known, not only for the current one."""

    def __init__(
        self, network: Network, moment: Moment, weighs: set[str], naming: Naming, *, predict: bool
    ) -> None:
        self.network = network
        self.moment = moment
        self.parts: list[Component | Operator | Choice] = []
        for zone in zones(network):
            if isinstance(zone, Zone):
                choice = Choice(zone.stores, zone.rules, weighs, naming, predict=predict)
                self.parts += [Component([choice.instances, choice.possible], choice.rules), choice]
            else:
                self.parts.append(zone)
        self.choices = [p for p in self.parts if isinstance(p, Choice)]
        own = [s for c in self.choices for s in (c.possible, c.instances, c.blank)]
        self.stores = [*network.stores.values(), *own]

    def start(self, facts: dict[Store, Ints]) -> None:
        """The first round: background facts and rules without positive literals."""
        for store, rows in facts.items():
            pieces = np.column_stack(
                [np.arange(len(rows)), np.full(len(rows), self.moment.start), np.full(len(rows), FOREVER)]
            )
            store.change(store.absorb(rows, pieces, np.arange(store.width), self.moment.horizon), NOTHING)
        for part in self.parts:
            if isinstance(part, Component):
                part.start(self.moment)
            else:
                part.update(self.moment)

    def run(self, after: Choice | None = None) -> None:
        """A round: the inputs (or the choice) have their changes; afterwards every store has its own."""
        first = 0 if after is None else self.parts.index(after) + 1
        for part in self.parts[first:]:
            part.update(self.moment)

    def end_round(self) -> None:
        """Forget the changes and the ghosts of the round."""
        for store in self.stores:
            if store.plus is not NOTHING or store.minus is not NOTHING or store.haunted:
                store.end_round()

    def compact(self, horizon: int) -> dict[int, Ints]:
        """Between rounds: drop what is over; the new ids of the stores that were packed, by the store's id."""
        renamed = {id(s): r for s in self.stores if (r := s.compact(horizon)) is not None}
        for choice in self.choices:
            if id(choice.possible) in renamed or id(choice.instances) in renamed:
                choice.renamed()
        return renamed

    # ------------------------------------------------------------------ state

    def state(self) -> dict[str, Ints]:
        """Everything that must be kept."""
        found: dict[str, Ints] = {}
        for name, store in self.network.stores.items():
            found |= {f"store/{name}/{k}": v for k, v in store.state().items()}
        for name, part in self._stateful().items():
            found |= {f"part/{name}/{k}": v for k, v in part.state().items()}
        return found

    def restore(self, state: dict[str, Ints]) -> None:
        """Take back what `state` gave."""
        for name, store in self.network.stores.items():
            store.restore(_under(state, f"store/{name}/"))
        for name, part in self._stateful().items():
            part.restore(_under(state, f"part/{name}/"))

    def _stateful(self) -> dict[str, Operator | Choice]:
        found: dict[str, Operator | Choice] = {o.writes.name: o for o in self.network.operators}
        return found | {f"choice {c.stores[0].name}": c for c in self.choices}

    def take_over(self, old: Engine) -> None:
        """Continue from the stores of another network of the same program; what it did not have is derived."""
        known = old.network.stores
        for name, store in self.network.stores.items():
            if name in known:
                store.adopt(known[name])
        before = {o.writes.name: o.state() for o in old.network.operators}
        for operator in self.network.operators:
            if operator.writes.name in before:
                operator.restore(before[operator.writes.name])
        for place, part in enumerate(self.parts):
            if isinstance(part, Choice):
                _fill(part.looping, known)
                self._found_anew(part, self.parts[place - 1], old)
            elif isinstance(part, Component):
                _fill(part.rules, known)

    def _found_anew(self, choice: Choice, relaxed: Component | Operator | Choice, old: Engine) -> None:
        """The ground program of a choice, from everything that is known below it."""
        assert isinstance(relaxed, Component)
        for store in choice.outer:
            store.change(store.live(-FOREVER), NOTHING)
        relaxed.start(self.moment)
        place = self.choices.index(choice)
        if place < len(old.choices):
            choice.blank.adopt(old.choices[place].blank)
        choice.renamed()
        choice.update(self.moment)
        self.end_round()


def _fill(rules: list[Rule], known: dict[str, Store]) -> None:
    """Fill views that are new from what they copy."""
    for rule in rules:
        if rule.head.name not in known and rule.copies is not None:
            reads = rule.reads[0]
            pieces = reads.store.live(-FOREVER)
            rule.head.absorb(reads.store.keys, pieces, rule.copies, -FOREVER, reads.window)


def _under(arrays: dict[str, Ints], prefix: str) -> dict[str, Ints]:
    return {k[len(prefix) :]: v for k, v in arrays.items() if k.startswith(prefix)}


# --------------------------------------------------------------------------- order


@dataclass(frozen=True, slots=True)
class Zone:
    """Stores and rules that loop through negation, or stand between two such loops."""

    stores: list[Store]
    rules: list[Rule]


def zones(network: Network) -> Iterator[Component | Operator | Zone]:
    """Components, operators and zones of choice, each after what it reads."""
    below: dict[str, set[str]] = {name: set() for name in network.stores}
    rules: dict[str, list[Rule]] = {}
    for rule in network.rules:
        below[rule.head.name] |= {r.store.name for r in rule.reads}
        rules.setdefault(rule.head.name, []).append(rule)
    operators = {o.writes.name: o for o in network.operators}
    for name, operator in operators.items():
        below[name] |= {s.name for s in operator.reads}
    for names, looping in _merged(strong_components(network.stores, below), below, rules):
        mine = [r for n in names for r in rules.get(n, ())]
        stores = [network.stores[n] for n in names]
        if looping:
            yield Zone(stores, mine)
        elif mine:
            yield Component(stores, mine)
        yield from (operators[n] for n in names if n in operators)


def _merged(
    groups: list[list[str]], below: dict[str, set[str]], rules: dict[str, list[Rule]]
) -> Iterator[tuple[list[str], bool]]:
    """Groups of names, lower ones first, those made one that stand between two loops through negation; and whether
    they loop."""
    place = {n: i for i, names in enumerate(groups) for n in names}
    loops = {
        i
        for i, names in enumerate(groups)
        for n in names
        for r in rules.get(n, ())
        if any(x.negated and place[x.store.name] == i for x in r.reads)
    }
    reads = [{place[b] for n in names for b in below[n]} - {i} for i, names in enumerate(groups)]
    under: list[set[int]] = []
    for direct in reads:
        under.append(direct.union(*(under[i] for i in direct)))
    tied: dict[int, set[int]] = {i: set(r) for i, r in enumerate(reads)}
    for top in loops:
        for bottom in under[top] & loops:
            between = {i for i in under[top] if bottom in under[i]}
            for i in (*between, bottom):
                tied[i].add(top)
    for members in strong_components(range(len(groups)), tied):
        yield [n for i in sorted(members) for n in groups[i]], any(i in loops for i in members)
