"""Until when a label lasts, where it rests on the point of a head without one or on a choice that is not made ahead.

The stores know of such a label what the next ticks bring. An end among these is right; whether and when a label changes
after them follows from the condition on the tick that its rules say, as far as that can be known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from thalweg.columns.symbols import as_floats
from thalweg.language.rules import Windowed
from thalweg.language.terms import Compound, Number, Variable, arguments, signature
from thalweg.lars.choice import Choice, Naming
from thalweg.lars.compile import Compiler, Network
from thalweg.lars.conditions import Condition
from thalweg.lars.diagonal import Diagonal
from thalweg.lars.extended import View
from thalweg.lars.foresight import LOOKS, Foresight
from thalweg.lars.labels import FOREVER
from thalweg.lars.literals import Written
from thalweg.lars.stratify import Predicate
from thalweg.lars.symbolic import Unknown
from thalweg.lars.turning import Change, next_change
from thalweg.lars.unfolding import Unfolding, above
from thalweg.protocol import Ints

Bools = npt.NDArray[np.bool_]
Ending = tuple[Ints, Bools | None]
"""The last ticks for which something lasts, and whether they are exact (None: all of them) or it lasts at least so
long."""


class Ends:
    """Ends of labels. `predict`: choices are made for all ticks that are known."""

    def __init__(
        self,
        compiler: Compiler,
        choices: list[Choice],
        weighs: set[str],
        naming: Naming,
        *,
        predict: bool,
    ) -> None:
        network = compiler.network
        self._unfolding = Unfolding(network, compiler.codes, compiler.start)
        self._foresight = Foresight(compiler, choices, self._unfolding, weighs, naming)
        self._predict = predict
        self._texts = compiler.codes.symbols
        self._pins = pins(network)
        relaxed = [o for c in choices for o in c.ground.operators]
        self._points = [o for o in (*network.operators, *relaxed) if isinstance(o, Diagonal)]
        self._undecided: dict[str, list[Choice]] = {}
        for choice in [] if predict else choices:
            for name in above(network, {s.name for s in choice.stores}):
                self._undecided.setdefault(name, []).append(choice)

    def renew(self) -> None:
        """The stores have changed."""
        self._foresight.renew()

    def rests_on_points(self, view: View) -> bool:
        """Does an extended atom depend on the points of heads without one?"""
        return view.store.name in self._unfolding.moving

    def _known(self, name: str) -> int:
        """The last tick of which a store knows everything."""
        found = [c.decided for c in self._undecided.get(name, ())]
        if name in self._unfolding.moving:
            found += [o.done for o in self._points if o.done is not None]
        return min(found, default=FOREVER)

    def exact(self, view: View, keys: Ints, ticks: Ints, is_in: Bools, until: Ints) -> Ending:
        """The last ticks for which extended atoms that are in (or out) at a tick remain so without further input;
        `until` is what the store knows."""
        known = self._known(view.store.name) if len(keys) else FOREVER
        if known == FOREVER:
            return until, None
        found, certain = until.copy(), np.ones(len(until), np.bool_)
        asked = self._over(view, keys, ticks, is_in, np.flatnonzero(until >= known), found)
        if len(asked):
            self._unfolding.since = int(ticks.min())
        said: dict[tuple[Condition, int, bool], Change] = {}
        for k in asked.tolist():
            asks = partial(self._condition, view, keys[k].tolist())
            found[k], certain[k] = self._end(asks, int(ticks[k]), bool(is_in[k]), known, said)
        return found, certain

    def blank(self, choice: Choice, loops: Ints, ticks: Ints, is_in: Bools, until: Ints) -> Ending:
        """The same for the lack of an answer; `loops` are codes of texts."""
        name = choice.stores[0].name
        known = self._known(name)
        if known == FOREVER:
            return until, None
        found, certain = until.copy(), np.ones(len(until), np.bool_)
        self._unfolding.since = int(ticks.min(initial=FOREVER))
        for k in np.flatnonzero(until >= known).tolist():
            asks = partial(self._foresight.blank, name, self._texts.texts[int(loops[k])])
            found[k], certain[k] = self._end(asks, int(ticks[k]), bool(is_in[k]), known, {})
        return found, certain

    def _end(
        self,
        condition: Callable[[], Condition],
        tick: int,
        truth: bool,
        known: int,
        said: dict[tuple[Condition, int, bool], Change],
    ) -> tuple[int, bool]:
        """The last tick for which a condition that is asked for remains what it is; and whether that is exact."""
        sight = known
        for look in range(LOOKS if self._predict else 0):
            self._foresight.look(look, known)
            try:
                asked = (condition(), tick, truth)
            except Unknown:
                break
            if asked not in said:
                said[asked] = next_change(*asked)
            change, horizon = said[asked], self._foresight.horizon
            if change.tick <= horizon:
                return change.tick - (change.tick < FOREVER), change.known
            if horizon <= sight and look > 1:
                break
            sight = max(sight, horizon)
        return sight, False

    def _over(self, view: View, keys: Ints, ticks: Ints, is_in: Bools, asked: Ints, found: Ints) -> Ints:
        """Those of the asked that are not over: a head that says its tick is in at no other, so it never comes back."""
        pin = self._pins.get((view.predicate, view.pointed))
        if view.literal is not None or pin is None:
            return asked
        only = as_floats(keys[asked, pin[0]]) - pin[1]
        over = ~is_in[asked] & (only <= ticks[asked])
        found[asked[over]] = FOREVER
        return asked[~over]

    def _condition(self, view: View, key: list[int]) -> Condition:
        if view.literal is not None:
            return self._unfolding.window_atom(view.literal, key)
        return self._unfolding.head(view.predicate, view.pointed, key)


def pins(network: Network) -> dict[tuple[Predicate, bool], tuple[int, float]]:
    """For predicates (with or without a point) all of whose heads say the tick at which they are derived: the column
    that does, and how much is added to the tick there."""
    found: dict[tuple[Predicate, bool], tuple[int, float]] = {}
    for predicate, bodies in network.written.items():
        for pointed in (False, True):
            said = [_pinned(w, network) for w in bodies if (w.clause.at is not None) == pointed]
            common = set.intersection(*said) if said else set()
            if common:
                found[predicate, pointed] = min(common)
    return found


def _pinned(written: Written, network: Network) -> set[tuple[int, float]]:
    present = {
        x.time.name
        for x in written.literals
        if isinstance(x, Windowed) and not x.negated and isinstance(x.time, Variable)
        if stands_now(network, signature(x.atom))
    }
    clause, found = written.clause, set()
    for column, term in enumerate([*arguments(clause.head), *([clause.at] if clause.at is not None else [])]):
        match term:
            case Variable(name) if name in present:
                found.add((column, 0.0))
            case Compound("+", (Variable(name), Number(k))) if name in present:
                found.add((column, float(k)))
            case _:
                pass
    return found


def stands_now(network: Network, predicate: Predicate) -> bool:
    """True where all that there is of a predicate are heads without a point."""
    others = (network.ahead, network.inputs, network.facts)
    return predicate in network.plain and not any(predicate in table for table in others)
