"""Stable models of a small ground program, by counting or by clingo.

A ground program is a list of rule instances: the atom of the head, and a row of body atoms, positive ones as they are
and negated ones as -1 - atom, filled up with `PAD`. Instances that share no atom are solved apart from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import njit
from thalweg.protocol import Ints, PartMissing

PAD = np.iinfo(np.int64).max
Bools = npt.NDArray[np.bool_]
_GUESSES = 10
"""Up to so many atoms under negation all ways to set them are tried; beyond, clingo searches."""


class SolverMissing(PartMissing):
    """A loop through negation is too large to be solved by trying, and clingo is not installed."""

    def __init__(self, atoms: int) -> None:
        super().__init__(
            f"a loop through negation with {atoms} negated atoms needs the answer-set solver clingo, which is not "
            "installed: pip install thalweg[lars]"
        )


@njit(cache=True)
def least_model(heads: Ints, bodies: Ints, which: Ints, assumed: Bools, out: Bools) -> None:
    """The least model of the given instances when negated atoms have the assumed values. `out` must be all false on
    the atoms concerned."""
    changed = True
    while changed:
        changed = False
        for k in range(len(which)):
            i = which[k]
            if out[heads[i]]:
                continue
            good = True
            for c in range(bodies.shape[1]):
                b = bodies[i, c]
                if b == PAD:
                    break
                if b >= 0:
                    if not out[b]:
                        good = False
                        break
                elif assumed[-1 - b]:
                    good = False
                    break
            if good:
                out[heads[i]] = True
                changed = True


@njit(cache=True)
def _root(parent: Ints, a: int) -> int:
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


@njit(cache=True)
def groups(heads: Ints, bodies: Ints, which: Ints, atoms: int) -> Ints:
    """For each atom the root of its group: instances join their head with those body atoms that some instance can
    derive."""
    derivable = np.zeros(atoms, np.bool_)
    for k in range(len(which)):
        derivable[heads[which[k]]] = True
    parent = np.arange(atoms)
    for k in range(len(which)):
        i = which[k]
        a = _root(parent, heads[i])
        for c in range(bodies.shape[1]):
            b = bodies[i, c]
            if b == PAD:
                break
            b = b if b >= 0 else -1 - b
            if derivable[b]:
                r = _root(parent, b)
                if r != a:
                    parent[r] = a
    for a in range(atoms):
        parent[a] = _root(parent, a)
    return parent


@njit(cache=True)
def _guesses(bodies: Ints, which: Ints, derivable: Bools) -> Ints:
    """The derivable atoms that occur under negation."""
    found = np.empty(len(which) * bodies.shape[1] + 1, np.int64)
    n = 0
    for k in range(len(which)):
        for c in range(bodies.shape[1]):
            b = bodies[which[k], c]
            if b == PAD:
                break
            if b < 0 and derivable[-1 - b]:
                known = False
                for q in range(n):
                    if found[q] == -1 - b:
                        known = True
                        break
                if not known:
                    found[n] = -1 - b
                    n += 1
    return found[:n]


@njit(cache=True)
def _try_all(heads: Ints, bodies: Ints, which: Ints, members: Ints, guesses: Ints, atoms: int) -> Bools:
    """All stable models over the members of a group, one per row."""
    assumed = np.zeros(atoms, np.bool_)
    model = np.zeros(atoms, np.bool_)
    found = np.empty((4, len(members)), np.bool_)
    n = 0
    for mask in range(1 << len(guesses)):
        for g in range(len(guesses)):
            assumed[guesses[g]] = (mask >> g) & 1 == 1
        for m in members:
            model[m] = False
        least_model(heads, bodies, which, assumed, model)
        good = True
        for g in guesses:
            if model[g] != assumed[g]:
                good = False
                break
        if good:
            if n == len(found):
                more = np.empty((2 * n, len(members)), np.bool_)
                more[:n] = found
                found = more
            for m in range(len(members)):
                found[n, m] = model[members[m]]
            n += 1
    return found[:n]


@dataclass(frozen=True, slots=True)
class Group:
    """Instances that depend on each other: `which` of the program, over the atoms `members`. `order` gives for each
    instance the place of its rule and head among all of them; `weighs` says which members count as changes."""

    heads: Ints
    bodies: Ints
    which: Ints
    members: Ints
    previous: Bools
    weighs: Bools
    order: Callable[[], Ints]

    def models(self, most: int) -> Bools:
        """Stable models, one per row over the members; at most that many where that is not 0."""
        derivable = np.zeros(len(self.previous), np.bool_)
        derivable[self.heads[self.which]] = True
        guesses = _guesses(self.bodies, self.which, derivable)
        if len(guesses) <= _GUESSES:
            found: Bools = _try_all(
                self.heads, self.bodies, self.which, self.members, guesses, len(self.previous)
            )
            return found[:most] if most else found
        return _Clingo(self, len(guesses)).enumerate(most)

    def best(self) -> Bools | None:
        """The model with the fewest changes; then the one in which an earlier rule applies. None where there is
        none."""
        derivable = np.zeros(len(self.previous), np.bool_)
        derivable[self.heads[self.which]] = True
        guesses = _guesses(self.bodies, self.which, derivable)
        if len(guesses) > _GUESSES:
            return _Clingo(self, len(guesses)).best()
        found: Bools = _try_all(
            self.heads, self.bodies, self.which, self.members, guesses, len(self.previous)
        )
        if not len(found):
            return None
        before, weighs = self.previous[self.members], self.weighs[self.members]
        changes = ((found != before) & weighs).sum(axis=1)
        found = found[changes == changes.min()]
        if len(found) > 1:
            order = self.order()
            found = found[[max(range(len(found)), key=lambda i: self._applying(found[i], order).tobytes())]]
        chosen: Bools = found[0]
        return chosen

    def _applying(self, model: Bools, order: Ints) -> Bools:
        """For each place in the order, whether a rule applies there in a model."""
        truth = np.zeros(len(self.previous), np.bool_)
        truth[self.members] = model
        bodies = self.bodies[self.which]
        positive = (bodies >= 0) & (bodies != PAD)
        values = truth[np.where(positive, bodies, np.where(bodies < 0, -1 - bodies, 0))]
        holds = np.where(bodies == PAD, True, values == positive).all(axis=1)
        places = np.zeros(order.max(initial=0) + 1, np.bool_)
        places[order[holds]] = True
        return places


class _Clingo:
    """A group given to clingo as ground rules."""

    def __init__(self, group: Group, size: int) -> None:
        try:
            import clingo
        except ImportError:
            raise SolverMissing(size) from None
        self.group = group
        self.clingo = clingo

    def _control(self, options: list[str]) -> tuple[object, dict[int, int]]:
        control = self.clingo.Control(["--warn=none", *options])
        derivable = set(self.group.heads[self.group.which].tolist())
        literal: dict[int, int] = {}
        with control.backend() as backend:
            for atom in sorted(derivable):
                literal[atom] = backend.add_atom(self.clingo.Function("a", [self.clingo.Number(atom)]))
            for i in self.group.which.tolist():
                body = [b for b in self.group.bodies[i].tolist() if b != PAD]
                if any(b >= 0 and b not in derivable for b in body):
                    continue
                signs = [
                    literal[b] if b >= 0 else -literal[-1 - b] for b in body if b >= 0 or -1 - b in derivable
                ]
                backend.add_rule([literal[int(self.group.heads[i])]], signs)
        return control, literal

    def enumerate(self, most: int) -> Bools:
        """Stable models, sorted so that the result does not depend on the solver."""
        control, _ = self._control([f"--models={most}"])
        found = self._solve(control)
        return np.array(sorted(found.tolist()), np.bool_).reshape(len(found), len(self.group.members))

    def best(self) -> Bools | None:
        """One optimal model: fewest changes first, then each (rule, head) in its order."""
        group = self.group
        control, literal = self._control(["--opt-mode=opt", "--heuristic=Domain"])
        order = group.order()
        places = int(order.max(initial=-1)) + 1
        with control.backend() as backend:  # type: ignore[attr-defined]
            costs = [
                (-literal[a] if group.previous[a] else literal[a], 1)
                for a in group.members.tolist()
                if group.weighs[a] and a in literal
            ]
            backend.add_minimize(places + 1, costs)
            applies = [backend.add_atom() for _ in range(places)]
            for i, place in zip(group.which.tolist(), order.tolist(), strict=True):
                body = [b for b in group.bodies[i].tolist() if b != PAD]
                if not any(b >= 0 and b not in literal for b in body):
                    signs = [
                        literal[b] if b >= 0 else -literal[-1 - b]
                        for b in body
                        if b >= 0 or -1 - b in literal
                    ]
                    backend.add_rule([applies[place]], signs)
            for place, atom in enumerate(applies):
                backend.add_minimize(places - place, [(-atom, 1)])
            kinds = self.clingo.backend.HeuristicType
            for sign, _ in costs:
                backend.add_heuristic(abs(sign), kinds.True_ if sign < 0 else kinds.False_, 1, 1, [])
        found = self._solve(control)
        return found[-1] if len(found) else None

    def _solve(self, control: object) -> Bools:
        place = {a: i for i, a in enumerate(self.group.members.tolist())}
        rows: list[Bools] = []

        def keep(model: object) -> None:
            row = np.zeros(len(place), np.bool_)
            for symbol in model.symbols(atoms=True):  # type: ignore[attr-defined]
                row[place[symbol.arguments[0].number]] = True
            rows.append(row)

        control.solve(on_model=keep)  # type: ignore[attr-defined]
        return np.array(rows, np.bool_).reshape(len(rows), len(place))


def split(heads: Ints, bodies: Ints, which: Ints, roots: Ints, wanted: Ints) -> Iterator[tuple[Ints, Ints]]:
    """For each wanted root the instances and the members of its group."""
    mine = roots[heads[which]]
    for root in wanted.tolist():
        instances = which[mine == root]
        members = np.unique(heads[instances])
        yield instances, members
