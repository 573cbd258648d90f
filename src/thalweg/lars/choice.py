"""Choices: predicates that depend on each other through negation, solved tick by tick on the ground part.

The ground program (`grounding`) is kept by change propagation like any other store. At a tick the previous answer is
tested first; groups of instances for which it is no longer stable are searched.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice, product
from typing import Protocol

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.lars.components import Zone
from thalweg.lars.grounding import Grounding
from thalweg.lars.labels import FOREVER, HI, LO, NEXT
from thalweg.lars.operators import Moment
from thalweg.lars.solving import Bools, Group, groups, least_model, split
from thalweg.lars.store import Store
from thalweg.protocol import Ints

_STRATA = 8
"""How often what follows from a choice through whole windows is looked at again before a search."""


class Naming(Protocol):
    """How atoms and loops are named."""

    def atom(self, store: Store, key: Ints) -> tuple[str, int | None]:
        """The text of an atom of a store, and its point."""

    def loop(self, text: str) -> int:
        """A code for the text of a loop."""


@njit(cache=True)
def _active(lab: Ints, nodes: Ints, among: Ints, t: int, out: Ints) -> tuple[int, int]:
    """Those of some tuples that are in at t, and the next tick at which that changes."""
    n = 0
    following = FOREVER
    for k in range(len(among)):
        i = among[k]
        lo = lab[i, LO]
        hi = lab[i, HI]
        at = lab[i, NEXT]
        while lo <= hi:
            if lo > t:
                following = min(following, lo)
                break
            if hi >= t:
                out[n] = i
                n += 1
                following = min(following, hi + 1)
                break
            if at < 0:
                break
            lo = nodes[at, 0]
            hi = nodes[at, 1]
            at = nodes[at, 2]
    return n, following


@njit(cache=True)
def _unstable(
    heads: Ints, bodies: Ints, which: Ints, previous: Bools, weighs: Bools, roots: Ints, again: int, out: Bools
) -> Ints:
    """Roots of the groups in which the previous answer, as far as it can still be derived, is not stable; `out` is the
    least model under it. What follows from what is chosen, and is not itself chosen, may have become another: it is
    looked at `again` so often."""
    assumed = np.zeros(len(previous), np.bool_)
    for k in range(len(which)):
        assumed[heads[which[k]]] = previous[heads[which[k]]]
    for _ in range(again):
        least_model(heads, bodies, which, assumed, out)
        same = True
        for k in range(len(which)):
            a = heads[which[k]]
            if assumed[a] != out[a] and not weighs[a]:
                assumed[a] = out[a]
                same = False
        if same:
            break
        for k in range(len(which)):
            out[heads[which[k]]] = False
    least_model(heads, bodies, which, assumed, out)
    bad = np.zeros(len(roots), np.bool_)
    for k in range(len(which)):
        a = heads[which[k]]
        if out[a] != assumed[a]:
            bad[roots[a]] = True
    return np.flatnonzero(bad)


@njit(cache=True)
def _follow(
    lab: Ints, nodes: Ints, heads: Ints, bodies: Ints, among: Ints, truth: Bools, t: int, limit: int, out: Ints
) -> tuple[int, int, bool]:
    """From a tick on, for as long as the previous answer, as far as it can still be derived, is stable: labels (atom,
    from, to) into `out`, the answer into `truth`. How many labels; the next tick that has to be looked at; and whether
    there is one up to the limit."""
    n = 0
    which = np.empty(len(among), np.int64)
    while True:
        active, following = _active(lab, nodes, among, t, which)
        if n + active > len(out):
            return n, t, True
        assumed = np.zeros(len(truth), np.bool_)
        model = np.zeros(len(truth), np.bool_)
        for k in range(active):
            assumed[heads[which[k]]] = truth[heads[which[k]]]
        least_model(heads, bodies, which[:active], assumed, model)
        for k in range(active):
            if model[heads[which[k]]] != truth[heads[which[k]]]:
                return n, t, True
        truth[:] = model
        for k in range(active):
            a = heads[which[k]]
            if model[a]:
                model[a] = False
                out[n, 0] = a
                out[n, 1] = t
                out[n, 2] = following if following == FOREVER else following - 1
                n += 1
        if following > limit:
            return n, following, False
        t = following


class Choice:
    """A part of the network whose rules loop through negation. `weighs`: stores whose atoms count as choices."""

    def __init__(self, zone: Zone, weighs: set[str], naming: Naming, *, predict: bool) -> None:
        self.stores = zone.stores
        self.looping = zone.rules
        self.predict = predict
        self._naming = naming
        self._known_texts: dict[int, tuple[str, int | None]] = {}
        self.ground = Grounding(zone, weighs)
        self.possible, self.instances = self.ground.possible, self.ground.instances
        self.blank = Store(f"no answer {zone.stores[0].name}", 1)
        self._next = FOREVER

    @property
    def decided(self) -> int:
        """The last tick up to which the answers are those of the ground program."""
        return self._next if self._next == FOREVER else self._next - 1

    def forget(self) -> None:
        """Begin anew: no ground program, no answer."""
        for store in (self.possible, self.instances, self.blank):
            store.forget()
        self._next = FOREVER
        self.renamed()

    def renamed(self) -> None:
        """Ids have changed."""
        self._known_texts.clear()
        self.ground.renamed()

    # ------------------------------------------------------------------ evaluation

    def update(self, moment: Moment) -> None:
        """Follow the ground program, which has its change, from the first tick at which it differs."""
        changed = np.concatenate([self.instances.plus, self.instances.minus])
        first = max(moment.horizon, int(changed[:, 1].min())) if len(changed) else FOREVER
        if not self.predict:
            first = self._next = min(self._next, first)
            if first > moment.target:
                return
        if first == FOREVER:
            return
        self.ground.resolve()
        among = self._touched(np.unique(changed[:, 0]), first) if self.predict else None
        if among is None or not self._evaluate(first, moment, among):
            self._evaluate(first, moment, None)

    def prefer(self, told: dict[int, Ints], moment: Moment) -> None:
        """Choose from the horizon on, as if the answer before had been another: tuples by the number of their store."""
        self.ground.resolve()
        truth = np.zeros(len(self.possible), np.bool_)
        for number, keys in told.items():
            truth[self._atoms_of(number, keys)] = True
        self._evaluate(moment.horizon, moment, None, truth)

    def _touched(self, changed: Ints, first: int) -> Ints | None:
        """The instances, from a tick on, of groups in which some changed; None where groups are not independent because
        there is no answer at some tick."""
        if len(self.blank.live(first)):
            return None
        which = np.unique(np.concatenate([self.instances.live(first)[:, 0], changed]))
        roots = groups(self.ground.heads, self.ground.bodies, which, len(self.possible))
        found: Ints = which[np.isin(roots[self.ground.heads[which]], roots[self.ground.heads[changed]])]
        return found

    def _evaluate(self, first: int, moment: Moment, among: Ints | None, before: Bools | None = None) -> bool:
        """Choose from a tick on, for some groups of instances or for all; false where some are not enough: there is no
        answer at some tick. `before`: the answer to stay close to, where it is not that of the tick before."""
        limit = FOREVER - 1 if self.predict else moment.target
        truth = self._truth_at(first - 1) if before is None else before
        which = np.arange(len(self.instances)) if among is None else among
        out = np.empty(len(which), np.int64)
        stretch = np.empty((16 * len(which) + 64, 3), np.int64)
        atoms: list[Ints] = []
        blank: list[tuple[int, int, int]] = []
        t = first
        while True:
            lab, nodes = self.instances.lab, self.instances.nodes
            n, t, more = _follow(lab, nodes, self.ground.heads, self.ground.bodies, which, truth, t, limit, stretch)
            atoms.append(stretch[:n].copy())
            if not more:
                following = t
                break
            n, following = _active(lab, nodes, which, t, out)
            truth, loop = self._solve(out[:n], truth)
            end = following - (following < FOREVER)
            if loop is not None:
                if among is not None:
                    return False
                blank.append((self._naming.loop(loop), t, end))
            true = np.flatnonzero(truth)
            atoms.append(np.stack([true, np.full(len(true), t), np.full(len(true), end)], axis=1))
            if following > limit:
                break
            t = following
        self._next = following
        self._put(np.concatenate(atoms), first, None if among is None else np.unique(self.ground.heads[among]))
        if among is None:
            self._put_blank(np.array(blank, np.int64).reshape(len(blank), 3), first)
        return True

    def _solve(self, which: Ints, previous: Bools) -> tuple[Bools, str | None]:
        """The answer for the active instances, closest to the previous one; or none, with the loop to blame."""
        truth = np.zeros(len(previous), np.bool_)
        roots = groups(self.ground.heads, self.ground.bodies, which, len(previous))
        weighs = self._weighing()
        again = _STRATA if self.ground.operators else 0
        wanted = _unstable(self.ground.heads, self.ground.bodies, which, previous, weighs, roots, again, truth)
        for instances, members in split(self.ground.heads, self.ground.bodies, which, roots, wanted):
            model = self._group(instances, members, previous, weighs).best()
            if model is None:
                return np.zeros(len(previous), np.bool_), self._shown(members)
            truth[members] = model
        return truth, None

    def _weighing(self) -> Bools:
        """Which atoms count as choices."""
        found: Bools = np.array(self.ground.weighs)[self.possible.keys[: len(self.possible), 0]]
        return found

    def _group(self, instances: Ints, members: Ints, previous: Bools, weighs: Bools) -> Group:
        order = partial(self._places, instances)
        return Group(self.ground.heads, self.ground.bodies, instances, members, previous, weighs, order)

    def _places(self, instances: Ints) -> Ints:
        """Where instances stand in the order of rules and heads; those without a choice in their head come last."""
        rules, heads = self.instances.keys[instances, 0].tolist(), self.ground.heads[instances].tolist()
        keys = [self._place(rule, head) for rule, head in zip(rules, heads, strict=True)]
        rank = {key: i for i, key in enumerate(sorted(set(keys)))}
        return np.array([rank[key] for key in keys], np.int64)

    def _place(self, rule: int, head: int) -> tuple[int, str, int]:
        origin = self.ground.origin(rule)
        if origin is None or not self.ground.weighs[int(self.possible.keys[head, 0])]:
            return (1 << 60, "", 0)
        text, point = self._text(head)
        return (origin, text, -1 if point is None else point)

    def _text(self, atom: int) -> tuple[str, int | None]:
        if atom not in self._known_texts:
            key = self.possible.keys[atom]
            store = self.stores[int(key[0])]
            self._known_texts[atom] = self._naming.atom(store, key[1 : 1 + store.width])
        return self._known_texts[atom]

    def _shown(self, members: Ints) -> str:
        weighing = [a for a in members.tolist() if self.ground.weighs[int(self.possible.keys[a, 0])]]
        texts = sorted({self._text(a)[0] for a in weighing})
        return ", ".join(texts[:6]) + (f" and {len(texts) - 6} more" if len(texts) > 6 else "")

    def _truth_at(self, t: int) -> Bools:
        """Which atoms were in at a tick."""
        truth = np.zeros(len(self.possible), np.bool_)
        for number, store in enumerate(self.stores):
            pieces = store.live(t)
            ids = np.unique(pieces[pieces[:, 1] <= t, 0])
            if len(ids):
                truth[self._atoms_of(number, store.keys[ids])] = True
        size = len(self.possible)
        return truth if len(truth) == size else np.concatenate([truth, np.zeros(size - len(truth), np.bool_)])

    def _atoms_of(self, number: int, keys: Ints) -> Ints:
        full = np.zeros((len(keys), self.possible.width), np.int64)
        full[:, 0] = number
        full[:, 1 : 1 + keys.shape[1]] = keys
        found = self.possible.find(full)
        return found[found >= 0]

    def _put_blank(self, blank: Ints, first: int) -> None:
        ids = self.blank.ids(np.ascontiguousarray(blank[:, :1]))
        self.blank.assign(ids, blank[:, 1], blank[:, 2], first)

    def _put(self, atoms: Ints, first: int, among: Ints | None = None) -> None:
        """Give the stores their labels from the first tick on: of some atoms, or of all."""
        numbers = self.possible.keys[atoms[:, 0], 0]
        for number, store in enumerate(self.stores):
            mine, some = atoms[numbers == number], None
            if among is not None:
                keys = self._keys_of(number, store, among)
                some = store.ids(keys)
                if not len(some):
                    continue
            keys = np.ascontiguousarray(self.possible.keys[mine[:, 0], 1 : 1 + store.width])
            store.assign(store.ids(keys), mine[:, 1], mine[:, 2], first, some)

    def _keys_of(self, number: int, store: Store, atoms: Ints) -> Ints:
        keys = self.possible.keys[atoms]
        return np.ascontiguousarray(keys[keys[:, 0] == number, 1 : 1 + store.width])

    # ------------------------------------------------------------------ other answers

    def next_change(self, t: int) -> int:
        """The first tick after t at which the ground program is another one."""
        out = np.empty(len(self.instances), np.int64)
        _, following = _active(self.instances.lab, self.instances.nodes, np.arange(len(self.instances)), t, out)
        return int(min(following, self._next if self._next > t else FOREVER))

    def models(self, t: int, most: int) -> Iterator[Ints]:
        """The true atoms of every answer at a tick, at most that many where that is not 0."""
        out = np.empty(len(self.instances), np.int64)
        n, _ = _active(self.instances.lab, self.instances.nodes, np.arange(len(self.instances)), t, out)
        which, nothing = out[:n].copy(), np.zeros(len(self.possible), np.bool_)
        roots = groups(self.ground.heads, self.ground.bodies, which, len(nothing))
        every, weighs = np.unique(roots[self.ground.heads[which]]), self._weighing()
        choices = [
            [members[row] for row in self._group(instances, members, nothing, weighs).models(most)]
            for instances, members in split(self.ground.heads, self.ground.bodies, which, roots, every)
        ]
        found = (np.concatenate([*parts, np.empty(0, np.int64)]) for parts in product(*choices))
        return islice(found, most) if most else found

    def pretend(self, atoms: Ints, t: int) -> None:
        """Let exactly these atoms be in at a tick, and none after it."""
        self._put(np.stack([atoms, np.full(len(atoms), t), np.full(len(atoms), t)], axis=1), t)

    def held(self, t: int) -> list[Ints]:
        """The labels of the stores from a tick on, for `give_back`."""
        return [store.live(t) for store in self.stores]

    def give_back(self, labels: list[Ints], t: int) -> None:
        """End a pretence."""
        for store, pieces in zip(self.stores, labels, strict=True):
            store.assign(pieces[:, 0], pieces[:, 1], pieces[:, 2], t)

    # ------------------------------------------------------------------ snapshots

    def state(self) -> dict[str, Ints]:
        found = {f"possible/{k}": v for k, v in self.possible.state().items()}
        found |= {f"instances/{k}": v for k, v in self.instances.state().items()}
        found |= {f"blank/{k}": v for k, v in self.blank.state().items()}
        return {**found, "next": np.array([self._next], np.int64)}

    def restore(self, state: dict[str, Ints]) -> None:
        for name, store in (
            ("possible", self.possible),
            ("instances", self.instances),
            ("blank", self.blank),
        ):
            store.restore({k[len(name) + 1 :]: v for k, v in state.items() if k.startswith(f"{name}/")})
        self._next = int(state["next"][0])
        self.renamed()
