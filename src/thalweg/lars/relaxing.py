"""Two copies of the network of a choice in which operators stand: what may be in, and what is in for sure.

What may be in is what rules and operators give when negated literals of the loop are left out. `always`, windows that
count atoms (they count input) and points of heads say more when there is more, so that nothing is
missed; of aggregates every value is kept that some of the atoms give. What is sure follows without any negated literal.
"""

from __future__ import annotations

from dataclasses import replace

from thalweg.lars.aggregates import Aggregated
from thalweg.lars.always import Always
from thalweg.lars.compile import Network
from thalweg.lars.components import Zone, zones
from thalweg.lars.counting import TupleAlways, TupleWindow
from thalweg.lars.diagonal import Diagonal
from thalweg.lars.folding import LAST, SURE, Fold
from thalweg.lars.operators import Operator
from thalweg.lars.rule import Reads, Rule
from thalweg.lars.store import Store

Copies = dict[int, Store]
"""Stores by the id of the store that they copy."""


class Relaxed:
    """The copies of a zone; `parts` keep them, lower ones first."""

    def __init__(self, zone: Zone) -> None:
        self._may: Copies = {id(s): Store(f"may {s.name}", s.width) for s in zone.stores}
        self._sure: Copies = {id(s): Store(f"sure {s.name}", s.width) for s in zone.stores}
        self._folds: dict[str, Fold] = {}
        self._windows: dict[int, TupleWindow] = {}
        network = Network(stores={s.name: s for s in (*self._may.values(), *self._sure.values())})
        for rule in zone.rules:
            network.rules.append(_copied(rule, self._may))
            if not any(r.negated and id(r.store) in self._sure for r in rule.reads):
                network.rules.append(_copied(rule, self._sure))
        for operator in sorted(zone.operators, key=lambda o: isinstance(o, TupleAlways)):
            self._copy(operator, network)
        self.stores = list(network.stores.values())
        self.operators = network.operators
        for rule in network.rules:
            network.stores |= {r.store.name: r.store for r in rule.reads}
        for operator in network.operators:
            network.stores |= {s.name: s for s in operator.reads}
        self.parts = [p for p in zones(network) if not isinstance(p, Zone)]

    @property
    def folds(self) -> list[Fold]:
        return list(self._folds.values())

    def may(self, store: Store) -> Store:
        """What may be in a store of the zone."""
        return self._may[id(store)]

    def sure(self, store: Store) -> Store:
        """Some of what is in a store of the zone in every answer."""
        return self._sure[id(store)]

    def fold(self, aggregate: Store) -> Fold:
        """The steps of an aggregate."""
        return self._folds[aggregate.name]

    def _copy(self, operator: Operator, network: Network) -> None:
        may, sure = self._may[id(operator.writes)], self._sure[id(operator.writes)]
        match operator:
            case Diagonal(reads=(plain,)):
                network.operators.append(Diagonal(self._may[id(plain)], may))
            case Always(reads=sources, window=window):
                copies = tuple(self._may.get(id(s), s) for s in sources)
                network.operators.append(Always(copies, window, may, runs=False))
            case TupleWindow(ahead=Store() as ahead):
                self._windows[id(operator)] = operator.copy(self._may[id(ahead)], may)
                network.operators += [self._windows[id(operator)], operator.copy(self._sure[id(ahead)], sure)]
            case TupleAlways(window=window, occurrences=occurrences):
                counting = self._windows.get(id(window), window)
                network.operators.append(TupleAlways(counting, self._may[id(occurrences)], may))
            case Aggregated():
                self._fold(operator, network)
            case _:
                raise TypeError(f"{operator.writes.name} cannot be part of a choice")

    def _fold(self, operator: Aggregated, network: Network) -> None:
        occurrences = operator.reads[0]
        fold = Fold(operator, self._may[id(occurrences)], self._sure[id(occurrences)])
        self._folds[operator.writes.name] = fold
        network.stores[fold.writes.name] = fold.writes
        network.operators.append(fold)
        every = tuple(range(fold.writes.width))
        for kind in (LAST, SURE):
            head = (*every[: fold.groups], every[-1])
            reads, constants = [Reads(fold.writes, every)], {fold.kind: kind}
            network.rules.append(
                Rule(self._may[id(operator.writes)], head, reads, constants=constants, slots=len(every))
            )


def _copied(rule: Rule, copies: Copies) -> Rule:
    """The rule over copies, without its negated literals over what is copied."""
    reads = [
        replace(r, store=copies.get(id(r.store), r.store))
        for r in rule.reads
        if not (r.negated and id(r.store) in copies)
    ]
    return Rule(copies[id(rule.head)], rule.head_slots.tolist(), reads, rule.tests, rule.constants, len(rule.base))
