"""The input that a changed program may look at again: rows that took part and that some window can still see.

Rows are kept as `admission` codes them. A row matters as long as the program looks back to its time, and while it is
among the last ones of a window that counts atoms. What is kept follows from the rows and the tick alone, not from how
the rows were split.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.columns.retained import Retained
from thalweg.lars.admission import OP, ROW
from thalweg.lars.compile import Network
from thalweg.lars.counting import TupleWindow
from thalweg.lars.stratify import Predicate
from thalweg.protocol import Ints

Bools = npt.NDArray[np.bool_]


class Kept(Retained[Predicate, Ints]):
    """The rows that some window can still see."""

    def trim(self, first: int, network: Network) -> None:
        """Drop the rows that cannot matter at `first` or later."""
        tables = {p: np.concatenate(parts) for p, parts in sorted(self.rows.items())}
        whole = _counted_from([*tables.values()], first, [o for o in _counting(network) if not o.by])
        self.replace({p: rows[self._seen(p, rows, first, whole, network)] for p, rows in tables.items()})
        for predicate in network.kinds:
            reach = network.reach.get(predicate, 0)
            if reach is not None:
                self.since[predicate] = max(self.complete_from(predicate), first - reach)

    def _seen(self, predicate: Predicate, rows: Ints, first: int, whole: int, network: Network) -> Bools:
        """Which rows of a predicate a window sees at a tick or later; those that all input windows count begin with
        `whole`."""
        reach = network.reach.get(predicate, 0)
        if reach is None:
            return np.ones(len(rows), np.bool_)
        found: Bools = times_of(rows) >= min(first - reach, whole)
        for operator in _counting(network):
            if operator.by and operator.mine is network.inputs.get(predicate):
                found |= _last_of_groups(rows, operator, first)
        return found

    # ------------------------------------------------------------------ snapshots

    def state(self) -> dict[str, Ints]:
        """The rows, by the names of their predicates."""
        return {f"{name}/{arity}": np.concatenate(parts) for (name, arity), parts in self.rows.items()}

    def restore(self, state: dict[str, Ints]) -> None:
        """Take back what `state` gave."""
        for key, rows in state.items():
            name, arity = key.rsplit("/", 1)
            self.add((name, int(arity)), rows)


def times_of(rows: Ints) -> Ints:
    """The times of coded rows."""
    return np.ascontiguousarray(rows[:, -1]).view(np.float64).astype(np.int64)


def counts(network: Network) -> set[tuple[Predicate | None, tuple[int, ...], int]]:
    """What windows count: all input (None) or a predicate by some arguments, and how many back."""
    of = {id(store): predicate for predicate, store in network.inputs.items()}
    return {
        (of[id(o.mine)] if o.by else None, tuple(o.by), o.window.past)
        for o in _counting(network)
        if o.window.past and (not o.by or o.mine is not None)
    }


def _counting(network: Network) -> list[TupleWindow]:
    return [o for o in network.operators if isinstance(o, TupleWindow)]


def _standing(rows: Ints, first: int) -> Bools:
    """Rows before a tick, one for each fact that nothing takes back."""
    facts = rows[:, ROW + 1 :]
    _, which, inverse = np.unique(facts, axis=0, return_index=True, return_inverse=True)
    taken = np.zeros(len(which), np.bool_)
    taken[inverse.reshape(-1)[rows[:, OP] < 0]] = True
    found = np.zeros(len(rows), np.bool_)
    found[which[~taken]] = True
    return found & (times_of(rows) <= first)


def _counted_from(tables: list[Ints], first: int, windows: list[TupleWindow]) -> int:
    """The time of the earliest of the last rows that windows over all input count at a tick."""
    most = max((o.window.past for o in windows), default=0)
    if not most or not tables:
        return first
    times = np.sort(np.concatenate([times_of(rows)[_standing(rows, first)] for rows in tables]))
    return int(times[-most]) if len(times) >= most else min(int(times_of(rows).min()) for rows in tables)


def _last_of_groups(rows: Ints, operator: TupleWindow, first: int) -> Bools:
    """The rows from the n-th last one of their group on."""
    n, times = operator.window.past, times_of(rows)
    if not n:
        return times >= first
    _, group = np.unique(rows[:, [ROW + 1 + c for c in operator.by]], axis=0, return_inverse=True)
    group = group.reshape(-1)
    standing = np.flatnonzero(_standing(rows, first))
    standing = standing[np.lexsort((times[standing], group[standing]))]
    names, begins, sizes = np.unique(group[standing], return_index=True, return_counts=True)
    low = np.full(int(group.max()) + 1, np.iinfo(np.int64).min)
    many = sizes >= n
    low[names[many]] = times[standing[(begins + sizes - n)[many]]]
    found: Bools = times >= low[group]
    return found
