"""Until when a label lasts, where it rests on the point of a head without one.

The stores know of such a label what the next ticks bring. An end among these is right; whether and when a label changes
after them follows from the condition on the tick that its rules say.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.lars.codes import Codes
from thalweg.lars.compile import Network
from thalweg.lars.conditions import Condition
from thalweg.lars.extended import View
from thalweg.lars.labels import FOREVER
from thalweg.lars.operators import Diagonal
from thalweg.lars.turning import next_change
from thalweg.lars.unfolding import Unfolding, Unknown
from thalweg.protocol import Ints


class Ends:
    """Exact ends of labels."""

    def __init__(self, network: Network, codes: Codes, start: int) -> None:
        self._unfolding = Unfolding(network, codes, start)
        self._points = [o for o in network.operators if isinstance(o, Diagonal)]

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
        known = min([FOREVER, *(o.done for o in self._points if o.done is not None)])
        open_ones = np.flatnonzero(until >= known)
        found = until.copy()
        self._unfolding.since = int(ticks.min())
        said: dict[tuple[Condition, int, bool], int] = {}
        for k in open_ones.tolist():
            try:
                condition = self._condition(view, keys[k].tolist())
            except Unknown:
                continue
            asked = (condition, int(ticks[k]), bool(is_in[k]))
            if asked not in said:
                said[asked] = next_change(*asked)
            found[k] = said[asked] - (said[asked] < FOREVER)
        return found

    def _condition(self, view: View, key: list[int]) -> Condition:
        if view.literal is not None:
            return self._unfolding.window_atom(view.literal, key)
        return self._unfolding.head(view.predicate, view.pointed, key)
