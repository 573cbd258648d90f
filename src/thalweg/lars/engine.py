"""Rounds: a change of the input goes through the network, component by component, and only what it touches is
redone."""

from __future__ import annotations

import numpy as np

from thalweg.lars.choice import Choice, Naming
from thalweg.lars.compile import Network, same_order
from thalweg.lars.components import Component, Zone, zones
from thalweg.lars.counting import TupleWindow
from thalweg.lars.diagonal import Diagonal
from thalweg.lars.labels import FOREVER
from thalweg.lars.operators import Moment, Operator
from thalweg.lars.rule import Rule
from thalweg.lars.store import NOTHING, Store
from thalweg.protocol import Ints


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
                choice = Choice(zone, weighs, naming, predict=predict)
                self.parts += [*choice.ground.parts, choice]
            else:
                self.parts.append(zone)
        self.choices = [p for p in self.parts if isinstance(p, Choice)]
        own = [s for c in self.choices for s in (*c.ground.own_stores, c.blank)]
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

    def compact(self, horizon: int, *, always: bool = False) -> dict[int, Ints]:
        """Between rounds: drop what is over, or `always` see to it; the new ids of the stores that were packed, by the
        store's id."""
        renamed = {id(s): r for s in self.stores if (r := s.compact(horizon, always=always)) is not None}
        for choice in self.choices:
            if id(choice.possible) in renamed or id(choice.instances) in renamed:
                choice.renamed()
        return renamed

    # ------------------------------------------------------------------ state

    def state(self) -> dict[str, Ints]:
        """Everything that must be kept."""
        found: dict[str, Ints] = {}
        for name, store in self._kept().items():
            found |= {f"store/{name}/{k}": v for k, v in store.state().items()}
        for name, part in self._stateful().items():
            found |= {f"part/{name}/{k}": v for k, v in part.state().items()}
        return found

    def restore(self, state: dict[str, Ints]) -> None:
        """Take back what `state` gave."""
        for name, store in self._kept().items():
            store.restore(_under(state, f"store/{name}/"))
        for name, part in self._stateful().items():
            part.restore(_under(state, f"part/{name}/"))

    def _kept(self) -> dict[str, Store]:
        """All stores but those that choices keep themselves."""
        return self.network.stores | {s.name: s for c in self.choices for s in c.ground.relaxed_stores}

    def _stateful(self) -> dict[str, Operator | Choice]:
        operators = [*self.network.operators, *(o for c in self.choices for o in c.ground.operators)]
        found: dict[str, Operator | Choice] = {o.writes.name: o for o in operators}
        return found | {f"choice {c.stores[0].name}": c for c in self.choices}

    def take_over(self, old: Engine) -> None:
        """Continue from the stores of another network of the same program; what it did not have is derived."""
        known = old.network.stores
        for name, store in self.network.stores.items():
            if name in known:
                store.adopt(known[name])
        before = {o.writes.name: o.state() for o in old.network.operators}
        for operator in self.network.operators:
            known_state = before.get(operator.writes.name, before.get(same_order(operator.writes.name)))
            if known_state is not None:
                operator.restore(known_state)
        inside = {id(part) for choice in self.choices for part in choice.ground.parts}
        for part in self.parts:
            if isinstance(part, Choice):
                _fill(part.looping, known)
                self._found_anew(part, old)
            elif isinstance(part, Component) and id(part) not in inside:
                _fill(part.rules, known)
            elif isinstance(part, Diagonal) and part.writes.name not in known and id(part) not in inside:
                part.update(self.moment)  # heads that were read as they are stand at points from now on
        self.end_round()

    def _found_anew(self, choice: Choice, old: Engine) -> None:
        """The ground program of a choice, from everything that is known below it."""
        before = {o.writes.name: o for c in old.choices for o in c.ground.operators}
        for store in choice.ground.outer:
            store.change(store.live(-FOREVER), NOTHING)
        for part in choice.ground.parts:
            if isinstance(part, Component):
                part.start(self.moment)
                continue
            if isinstance(part, Diagonal | TupleWindow) and part.writes.name in before:
                part.restore(before[part.writes.name].state())
            part.update(self.moment)
            if isinstance(part, TupleWindow):  # what it counts may be known already, and all of it is news here
                part.relabel(self.moment)
                part.writes.change(part.writes.live(-FOREVER), NOTHING)
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
