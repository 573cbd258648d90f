"""Rules of determined fluents, one by one: which bindings a change touches, and what they come to there.

A rule is evaluated per *binding* of its variables. When an input's timeline changes, the bindings that read it are
found by joining with the instances of the fluents that the rule cannot do without, together with the *stretch*
[low, high) in which the inputs changed. Union, intersection and difference are decided point by point, so they are
evaluated in that stretch only; where durations of whole intervals are judged, it is widened to the intervals that it
meets; rules with Allen relations, and with durations of what hangs on other durations, which look at any distance,
are evaluated in the whole window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from thalweg.columns import spans
from thalweg.columns.gathering import TIME, hulls, runs
from thalweg.columns.keys import KeyTable
from thalweg.columns.lengths import by_length
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.slabs import LENGTH, OFFSET
from thalweg.columns.timelines import OPEN
from thalweg.events.bindings import Known, Owners
from thalweg.events.expressions import (
    Apply,
    Complement,
    Lasting,
    Leaf,
    Node,
    Related,
    Where,
    Whole,
    leaves,
    within,
)
from thalweg.events.frames import NOW, Asked, Frame, Reader, Slot, Step, run_steps
from thalweg.events.moves import NEVER
from thalweg.events.stores import Access, FluentStore
from thalweg.events.units import Clock, instance_frame
from thalweg.protocol import Ints

MODES = {
    "source": (spans.UNION, (0,)),
    "target": (spans.UNION, (1,)),
    "union": (spans.UNION, (0, 1)),
    "intersection": (spans.INTERSECTION, (0, 1)),
    "relative_complement": (spans.DIFFERENCE, (0, 1)),
    "relative_complement_inverse": (spans.DIFFERENCE, (1, 0)),
}
"""What an Allen relation keeps: which sides, and how they are combined."""
Joins = list[tuple[FluentStore, tuple[Slot, ...]]]
"""Other fluents that bind the variables of a rule, with their arguments."""


@dataclass(slots=True)
class Touched:
    """Bindings (or heads) that a change touches, why, and in which stretch; one may occur several times."""

    ids: Ints
    causes: Ints
    lows: Ints
    highs: Ints

    @classmethod
    def everywhere(cls, ids: Ints) -> Touched:
        """Evaluated anew in the whole window, because of time."""
        n = len(ids)
        return cls(ids, np.full(n, TIME), np.full(n, NEVER), np.full(n, OPEN))

    @classmethod
    def together(cls, parts: Sequence[Touched]) -> Touched:
        nothing = np.empty(0, np.int64)
        if len(parts) == 1:
            return cls(parts[0].ids, np.ascontiguousarray(parts[0].causes), parts[0].lows, parts[0].highs)
        return cls(
            np.concatenate([nothing, *(p.ids for p in parts)]),
            np.concatenate([nothing, *(p.causes for p in parts)]),
            np.concatenate([nothing, *(p.lows for p in parts)]),
            np.concatenate([nothing, *(p.highs for p in parts)]),
        )


@dataclass(slots=True)
class SpanPlan:
    """One rule: its expression, the variables of a binding, how to find bindings from a changed leaf, and the head."""

    node: Node
    variables: tuple[str, ...]
    head: tuple[Slot, ...]
    joins: list[tuple[Leaf, Joins, list[Step]]]
    gates: list[Leaf]
    alone: list[Step] | None
    """How to find all bindings, where no fluent has a part in that: they are there from the start of the stream on."""
    start: int
    tick: int
    bindings: KeyTable = field(init=False)
    heads: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    by_head: Access = field(default_factory=lambda: Access((0,)))
    flips: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    started: bool = False
    one_each: bool = True
    """Every binding has a head of its own, with the same number."""
    owners: Owners = field(default_factory=Owners)
    known: dict[int, Known] = field(default_factory=dict)
    """The bindings of the instances of a leaf."""
    far: bool = field(init=False)
    """Looks at intervals at any distance."""
    judges_lengths: bool = field(init=False)
    memories: list[Ragged] = field(init=False)
    """What the rule's whole-interval operators remember."""
    needed: dict[int, list[Asked]] = field(init=False)
    """The other fluents that an instance of a leaf needs, where it says all variables by itself."""

    def __post_init__(self) -> None:
        parts = list(within(self.node))
        self.bindings = KeyTable(len(self.variables))
        self.far = any(isinstance(part, Related) or (isinstance(part, Whole) and part.judges_lengths) for part in parts)
        self.judges_lengths = any(isinstance(part, Lasting) for part in parts)
        self.memories = [part.memory for part in parts if isinstance(part, Whole)]
        self.needed = {
            id(leaf): [Asked(other, slots) for other, slots in joins]
            for leaf, joins, steps in self.joins
            if not steps and {slot.name for slot in leaf.slots} - {None} == set(self.variables) != set()
        }

    def stores(self) -> Iterator[FluentStore]:
        """The fluents that the rule combines."""
        return (leaf.store for leaf, _, _ in self.joins)

    def due(self, last: int) -> bool:
        """Is there anything to do even if none of them changed?"""
        return self._begins() or (self.judges_lengths and len(self._turning(last)) > 0)

    def _begins(self) -> bool:
        """Are there bindings to find before anything happens?"""
        return self.alone is not None and not self.started

    def _turning(self, last: int) -> Ints:
        """Bindings whose running intervals reach a length."""
        return (self.flips[: self.bindings.count] <= last + self.tick).nonzero()[0]

    def touched(self, store: FluentStore, last: int) -> Touched:
        """Bindings whose inputs changed, or whose running intervals reach a length; with causes and stretches."""
        found: list[Touched] = []
        known = self.bindings.count
        for leaf, joins, steps in self.joins:
            stretches = leaf.store.stretches
            if not stretches:
                continue
            ids, lows, highs, causes = stretches.ids, stretches.froms, stretches.tos, stretches.causes
            if not stretches.single:
                ids, lows, highs, causes = hulls(ids, lows, highs, causes)
            if self.far or any(leaf is gate for gate in self.gates):
                lows, highs = np.full(len(ids), NEVER), np.full(len(ids), OPEN)
            which, bindings = self._taking_part(store, leaf, joins, steps, ids)
            if which is not None:
                ids, causes, lows, highs = ids[which], causes[which], lows[which], highs[which]
            if len(bindings):
                if stretches.pairs is not None and leaf.value is not None:
                    causes = stretches.pairs.cause_of(ids, leaf.value.column(self.frame(bindings)))
                if self.bindings.count > known:
                    new = bindings >= known
                    lows, highs = np.where(new, NEVER, lows), np.where(new, OPEN, highs)
                found.append(Touched(bindings, causes, lows, highs))
        if self.judges_lengths:
            late = self._turning(last)
            if len(late):
                lows = np.full(len(late), NEVER if self.far else last)
                found.append(Touched(late, np.full(len(late), TIME), lows, np.full(len(late), OPEN)))
        if self._begins():
            assert self.alone is not None
            self.started = True
            frame = Frame(np.full(1, NOW), {}, np.zeros(1, np.int64), np.full(1, TIME))
            frame = run_steps(self.alone, frame, Reader(before=False))
            found.append(Touched.everywhere(self._intern(store, frame)))
        return Touched.together(found)

    def doubted(self, store: FluentStore) -> tuple[Ints, Ints]:
        """Heads that read what a query time saw otherwise at the point after it, and these points."""
        heads, points = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for leaf, joins, steps in self.joins:
            late = leaf.store.hindsight
            for point in np.unique(late.points):
                ids = late.ids[late.points == point]
                _, bindings = self._taking_part(store, leaf, joins, steps, ids)
                heads.append(self.heads[bindings])
                points.append(np.full(len(bindings), point))
        return np.concatenate(heads), np.concatenate(points)

    def _taking_part(
        self, store: FluentStore, leaf: Leaf, joins: Joins, steps: list[Step], ids: Ints
    ) -> tuple[Ints | None, Ints]:
        """The bindings that instances of a leaf take part in, and which instance each has (None: each has one). Those
        of an instance are found once, and again when the other fluents that they need have more instances."""
        needed = self.needed.get(id(leaf))
        if needed is not None:
            return self._directly(store, leaf, needed, ids)
        table = self.known.get(id(leaf))
        if table is None:
            table = self.known[id(leaf)] = Known()
        table.renew(sum(other.instances.count for other, _ in joins))
        unknown = table.unknown(ids, leaf.store.instances.count)
        if len(unknown):
            frame = self._bound(leaf, joins, steps, unknown)
            bindings = self._intern(store, frame) if len(frame) else frame.origin
            order = np.argsort(frame.origin, kind="stable")
            table.add(unknown, np.bincount(frame.origin, minlength=len(unknown)), bindings[order])
        return table.of(ids)

    def _directly(self, store: FluentStore, leaf: Leaf, needed: list[Asked], ids: Ints) -> tuple[Ints | None, Ints]:
        """`_taking_part` where an instance says all variables: it has one binding if there is what it needs."""
        frame = instance_frame(leaf.store, leaf.slots, ids)
        for asked in needed:
            there = (asked.ids(frame) >= 0).nonzero()[0]
            if len(there) < frame.length:
                frame = frame.take(there)
        bindings = self._intern(store, frame) if frame.length else ids[:0]
        return None if frame.length == len(ids) else frame.origin, bindings

    def _bound(self, leaf: Leaf, joins: Joins, steps: list[Step], ids: Ints) -> Frame:
        """The bindings that instances of a leaf take part in; `origin` counts the ids."""
        frame = instance_frame(leaf.store, leaf.slots, ids)
        for other, slots in joins:
            frame = _join(frame, other, slots)
        return run_steps(steps, frame, Reader(before=False))

    def bind_all(self, store: FluentStore) -> None:
        """Know the bindings of all instances there are, for a rule that comes after them."""
        for leaf, joins, steps in self.joins:
            self._intern(store, self._bound(leaf, joins, steps, np.arange(leaf.store.instances.count)))

    def _intern(self, store: FluentStore, frame: Frame) -> Ints:
        before = self.bindings.count
        ids = self.bindings.intern([frame[v] for v in self.variables], len(frame))
        count = self.bindings.count
        if count > before:
            if count > len(self.flips):
                room = np.full(max(count, 2 * len(self.flips)), OPEN)
                room[: len(self.flips)] = self.flips
                self.flips = room
            new = np.arange(before, count)
            fresh = self.frame(new)
            heads = store.intern([s.column(fresh) for s in self.head], len(new))
            self.one_each &= bool((heads == new).all())
            self.heads = np.concatenate([self.heads, heads])
        return ids

    def frame(self, bindings: Ints) -> Frame:
        lazy = {v: partial(self.bindings.column, i, bindings) for i, v in enumerate(self.variables)}
        return Frame.timeless(bindings, {}, lazy)

    def binding_of(self, heads: Ints) -> Ints | None:
        """The binding of each head, -1 where there is none; None where a head may have several."""
        return np.where(heads < len(self.heads), heads, -1) if self.one_each else self.owners.of(heads, self.heads)

    def of_heads(self, heads: Ints) -> Ints:
        """All bindings of these heads."""
        if self.one_each:
            return heads[heads < len(self.heads)]
        table = self.by_head
        if table.seen < len(self.heads):
            new = np.arange(table.seen, len(self.heads))
            keys = table.keys.intern([self.heads[new]], len(new))
            table.lists.ensure(table.keys.count)
            table.lists.merge(keys, np.column_stack([new, np.ones(len(new), np.int64)]))
            table.lists.commit()
            table.seen = len(self.heads)
        return table.match([heads], len(heads))[0]

    def bindings_of(self, heads: Ints) -> tuple[Ints, Ints]:
        """All bindings of heads, of which some may be the same, and whose each is: the place in `heads`."""
        once, places = np.unique(heads, return_inverse=True)
        bindings = self.of_heads(once)
        owners = once.searchsorted(self.heads[bindings])
        sizes = np.bincount(owners, minlength=len(once))
        which, at = runs((np.cumsum(sizes) - sizes)[places], sizes[places])
        return which, bindings[np.argsort(owners, kind="stable")][at]

    def keep(self, bindings: Ints, heads: Ints) -> None:
        """Forget all bindings but these, in this order; `heads` are the new numbers of all heads."""
        known = self.bindings.count
        for memory in self.memories:
            memory.ensure(known)
            memory.keep(bindings)
        self.bindings.keep(bindings)
        self.flips = self.flips[bindings]
        self.heads = heads[self.heads[bindings]]
        self.reset_index()

    def reset_index(self) -> None:
        """After the numbers of bindings and heads have changed."""
        self.by_head = Access((0,))
        self.owners = Owners()
        self.known = {}
        self.one_each = bool((self.heads == np.arange(len(self.heads))).all())
        for leaf in (*leaves(self.node), *self.gates):
            leaf.known = leaf.known[:0]

    def where(self, bindings: Ints, lows: Ints, highs: Ints) -> Where:
        return Where(bindings, self.frame(bindings), lows.copy(), highs.copy())

    def prepare(self, where: Where, clock: Clock) -> None:
        """Renew what whole-interval operators remember in the stretches, and widen these to whatever that changes. Of
        new bindings they remember all that is there. When a length is reached that was judged for this memory is known
        from here on, and `evaluate` adds what it judges itself."""
        self.flips[where.bindings[where.highs == OPEN]] = OPEN
        for memory in self.memories[:1]:
            where.lows[where.bindings >= memory.count] = NEVER
        self._prepare(self.node, where, clock)
        np.maximum(where.lows, clock.first, out=where.lows)

    def _prepare(self, node: Node, where: Where, clock: Clock) -> None:
        match node:
            case Leaf():
                return
            case Apply(_, inputs) | Complement(inputs):
                for child in inputs:
                    self._prepare(child, where, clock)
            case Whole(child):
                self._prepare(child, where, clock)
                self._remember(node, where, self._lists(child, where, clock), clock)
            case Lasting(_, child, _):
                self._prepare(child, where, clock)
                self._reach(child, where)
            case Related(_, left, right, _):
                self._prepare(left, where, clock)
                self._prepare(right, where, clock)

    def _reach(self, node: Node, where: Where) -> None:
        match node:
            case Leaf():
                node.reach(where)
            case Whole(_, memory):
                zeros = np.zeros_like(where.lows)
                spans.reach(memory.table, memory.pool, where.bindings, zeros, where.lows, where.highs)
            case Lasting(_, child, _):
                self._reach(child, where)
            case _:
                raise TypeError(node)

    def _remember(self, node: Whole, where: Where, lists: spans.Batch, clock: Clock) -> None:
        new = where.bindings >= node.memory.count
        node.memory.ensure(self.bindings.count)
        expiry = NEVER if node.keeps_past else clock.final
        lows = where.lows
        if not node.judges_lengths:
            lows = np.where(new, lows, np.maximum(lows, clock.first))
        replace_stretches(node.memory, where.bindings, lows, where.highs, lists, expiry)

    def evaluate(self, where: Where, clock: Clock) -> spans.Batch:
        """The result's lists, one per binding, right within the stretches."""
        offsets, lengths, pool = self._lists(self.node, where, clock)
        frame = where.frame
        for gate in self.gates:
            rows, _ = gate.store.holding(
                gate.ids(frame), frame.time, np.empty(0, np.int64), Version.NOW, negated=True
            )
            lengths = lengths.copy()
            lengths[rows] = 0
        return offsets, lengths, pool

    def _lists(self, node: Node, where: Where, clock: Clock) -> spans.Batch:
        match node:
            case Leaf():
                return node.lists(where)
            case Apply(op, inputs):
                result = self._lists(inputs[0], where, clock)
                for child in inputs[1:]:
                    result = spans.combine(op, *result, *self._lists(child, where, clock))
                return result
            case Complement(inputs):
                n = len(where.lows)
                whole = np.column_stack([np.maximum(where.lows, self.start), np.maximum(where.highs, self.start)])
                result = np.arange(n), (whole[:, 0] < whole[:, 1]).astype(np.int64), whole
                for child in inputs:
                    result = spans.combine(spans.DIFFERENCE, *result, *self._lists(child, where, clock))
                return result
            case Whole():
                return self._whole(node, where, clock)
            case Lasting(op, child):
                lists = self._whole(child, where, clock)
                queries = clock.start, clock.step, clock.tick
                found = by_length(op, *lists, node.bounds(where.frame), clock.last + self.tick, *queries)
                offsets, lengths, pool, flips = found
                self.flips[where.bindings] = np.minimum(self.flips[where.bindings], flips)
                return offsets, lengths, pool
            case Related(relation, left, right, mode):
                a = self._whole(left, where, clock)
                b = self._whole(right, where, clock)
                op, picks = MODES[mode]
                parts = [spans.allen(relation, pick, *a, *b, self.tick) for pick in picks]
                return parts[0] if len(parts) == 1 else spans.combine(op, *parts[0], *parts[1])

    def _whole(self, node: Node, where: Where, clock: Clock) -> spans.Batch:
        """All whole intervals that meet or touch the stretches; of rules that look far, all there are."""
        match node:
            case Leaf():
                return node.lists(where, whole=True)
            case Whole(_, memory):
                table, pool = memory.table, memory.pool
                if self.far:
                    offsets, lengths = (table[where.bindings, c].astype(np.int64) for c in (OFFSET, LENGTH))
                    return offsets, lengths, pool
                zeros = np.zeros_like(where.lows)
                return spans.with_value(table, pool, where.bindings, zeros, where.lows, where.highs, True)
            case _:
                return self._lists(node, where, clock)


def _join(frame: Frame, store: FluentStore, slots: tuple[Slot, ...]) -> Frame:
    """Bind the variables of a leaf to its known instances."""
    bound = tuple(i for i, s in enumerate(slots) if s.name is None or s.name in frame)
    ids, which = store.match(bound, [slots[i].column(frame) for i in bound], len(frame))
    out = frame.take(which)
    for i, slot in enumerate(slots):
        if i in bound:
            continue
        assert slot.name is not None
        column = store.instances.column(i, ids)
        if slot.name in out:
            keep = out[slot.name] == column
            out, ids = out.take(keep), ids[keep]
        else:
            out = out.bind(slot.name, column)
    return out


def replace_stretches(lists: Ragged, ids: Ints, lows: Ints, highs: Ints, new: spans.Batch, expiry: int) -> None:
    """Put the new lists in the place of what the lists `ids` have in [lows[k], highs[k])."""
    highs = np.maximum(lows, highs)
    lists.replace(ids, *spans.splice(lists.table, lists.pool, ids, lows, highs, *new), expiry)
