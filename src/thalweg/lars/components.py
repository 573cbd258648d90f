"""The parts of a network in their order: components of rules, and zones of choice.

Within a component deletions come first: everything that may have rested on what went away is struck, then what still
has another derivation is put back, then insertions are followed to the end. The difference is the
component's change, which the components above start from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from thalweg.analysis.order import strong_components
from thalweg.lars.compile import Network
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


# --------------------------------------------------------------------------- order


@dataclass(frozen=True, slots=True)
class Zone:
    """Stores, rules and operators that loop through negation, or stand between two such loops."""

    stores: list[Store]
    rules: list[Rule]
    operators: list[Operator]


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
        writing = [operators[n] for n in names if n in operators]
        if looping:
            yield Zone(stores, mine, writing)
            continue
        if mine:
            yield Component(stores, mine)
        yield from writing


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
