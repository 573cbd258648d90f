"""Until when a label lasts, where it rests on the point of a head without one.

The stores know of such a label what the next ticks bring. An end among these is right; whether and when a label changes
after them follows from the condition on the tick that its rules say.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.columns.symbols import as_floats
from thalweg.language.rules import Windowed
from thalweg.language.terms import Compound, Number, Variable, arguments, signature
from thalweg.lars.codes import Codes
from thalweg.lars.compile import Network
from thalweg.lars.conditions import Condition
from thalweg.lars.extended import View
from thalweg.lars.labels import FOREVER
from thalweg.lars.literals import Written
from thalweg.lars.operators import Diagonal
from thalweg.lars.store import Store
from thalweg.lars.stratify import Predicate
from thalweg.lars.turning import next_change
from thalweg.lars.unfolding import Unfolding, Unknown
from thalweg.protocol import Ints


class Ends:
    """Exact ends of labels."""

    def __init__(self, network: Network, codes: Codes, start: int) -> None:
        self._unfolding = Unfolding(network, codes, start)
        self._pins = pins(network)
        self._points = [o for o in network.operators if isinstance(o, Diagonal)]

    def _known(self) -> int:
        """The last tick of which all points are known to the stores."""
        return min([FOREVER, *(o.done for o in self._points if o.done is not None)])

    def at_most(self, stores: list[Store], until: Ints) -> Ints:
        """Ends of something that rests on stores: not later than they know."""
        moving = any(s.name in self._unfolding.moving for s in stores)
        return np.minimum(until, self._known()) if moving else until

    def rests_on_points(self, view: View) -> bool:
        """Does an extended atom depend on the points of heads without one?"""
        return view.store.name in self._unfolding.moving

    def exact(
        self, view: View, keys: Ints, ticks: Ints, is_in: npt.NDArray[np.bool_], until: Ints
    ) -> Ints:
        """The last ticks for which extended atoms that are in (or out) at a tick remain so without further input;
        `until` is what the store knows."""
        if not len(keys) or not self.rests_on_points(view):
            return until
        known = self._known()
        open_ones = np.flatnonzero(until >= known)
        found = until.copy()
        open_ones = self._over(view, keys, ticks, is_in, open_ones, found)
        if not len(open_ones):
            return found
        self._unfolding.since = int(ticks.min())
        said: dict[tuple[Condition, int, bool], int] = {}
        for k in open_ones.tolist():
            try:
                condition = self._condition(view, keys[k].tolist())
            except Unknown:
                found[k] = min(known, found[k])
                continue
            asked = (condition, int(ticks[k]), bool(is_in[k]))
            if asked not in said:
                said[asked] = next_change(*asked)
            found[k] = said[asked] - (said[asked] < FOREVER)
        return found

    def _over(
        self, view: View, keys: Ints, ticks: Ints, is_in: npt.NDArray[np.bool_], asked: Ints, found: Ints
    ) -> Ints:
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
