"""Statically determined fluents and input fluents: interval expressions over the timelines of other fluents.

A rule is evaluated per *binding* of its variables. When an input's timeline changes, the bindings that read it are
found by joining with the instances of the fluents that the rule cannot do without; the touched heads are computed
anew from the whole lists in the window, and what lies before the window stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from thalweg.columns import spans
from thalweg.columns.keys import KeyTable
from thalweg.columns.ragged import Ragged, Version, distinct, group_starts
from thalweg.columns.timelines import OPEN
from thalweg.events.frames import Frame, Reader, Slot, Step, run_steps, value_of
from thalweg.events.stores import TIME, Access, FluentStore
from thalweg.events.units import NOW, Clock, FluentUnit, cause_by_id
from thalweg.language.terms import Term
from thalweg.protocol import Ints, Mask

# --------------------------------------------------------------------------- expressions


@dataclass(slots=True)
class Leaf:
    """The intervals of a pair. `slots` include the value when it is part of the store's key."""

    store: FluentStore
    slots: tuple[Slot, ...]
    value: Slot | None
    known: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """The instance of each binding, -1 where it is not known yet."""

    def lists(self, frame: Frame) -> spans.Batch:
        offsets, lengths, _, _ = self.store.lists.view(Version.NOW)
        values = np.zeros(len(frame), np.int64) if self.value is None else self.value.column(frame)
        return spans.with_value(offsets, lengths, self.store.lists.pool, self.ids(frame), values)

    def ids(self, frame: Frame) -> Ints:
        """The instances that the bindings of a frame (its origin) read, -1 where there is none."""
        bindings = frame.origin
        most = int(bindings.max()) + 1 if len(bindings) else 0
        if most > len(self.known):
            known = np.full(max(most, 2 * len(self.known)), -1)
            known[: len(self.known)] = self.known
            self.known = known
        found = self.known[bindings]
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            some = frame.take(unknown) if len(unknown) < len(frame) else frame
            found[unknown] = self.store.find([s.column(some) for s in self.slots], len(unknown))
            self.known[bindings[unknown]] = found[unknown]
        return found

    def instances(self) -> FluentStore:
        return self.store


@dataclass(slots=True)
class Apply:
    """n-ary union (0), intersection (1), or the first input minus the others (2)."""

    op: int
    inputs: tuple[Node, ...]


@dataclass(slots=True)
class Complement:
    """From the stream's start on, all that is in none of the inputs."""

    inputs: tuple[Node, ...]


@dataclass(slots=True)
class Whole:
    """The whole intervals of an expression, remembered per binding so that no window edge cuts them."""

    node: Node
    memory: Ragged = field(default_factory=lambda: Ragged(3, clock=1))
    keeps_past: bool = False


@dataclass(slots=True)
class Lasting:
    """Intervals filtered by duration; op as in `spans.by_length`."""

    op: int
    node: Node
    bound: Term


@dataclass(slots=True)
class Related:
    """Intervals in an Allen relation; mode source, target or union."""

    relation: int
    left: Whole
    right: Whole
    mode: str


Node = Leaf | Apply | Complement | Whole | Lasting | Related


def leaves(node: Node) -> list[Leaf]:
    """The pairs that an expression reads."""
    match node:
        case Leaf():
            return [node]
        case Apply(_, inputs) | Complement(inputs):
            return [leaf for child in inputs for leaf in leaves(child)]
        case Whole(child) | Lasting(_, child, _):
            return leaves(child)
        case Related(_, left, right, _):
            return leaves(left) + leaves(right)


def required(node: Node) -> list[Leaf]:
    """The leaves without which the expression is empty."""
    match node:
        case Leaf():
            return [node]
        case Apply(0, inputs):
            sets = [required(child) for child in inputs]
            return [leaf for leaf in sets[0] if all(any(leaf is x for x in s) for s in sets[1:])] if sets else []
        case Apply(1, inputs):
            return [leaf for child in inputs for leaf in required(child)]
        case Apply(_, inputs):
            return required(inputs[0])
        case Complement():
            return []
        case Whole(child) | Lasting(_, child, _):
            return required(child)
        case Related(_, left, right, _):
            return required(left) + required(right)


# --------------------------------------------------------------------------- rules


@dataclass(slots=True)
class SpanPlan:
    """One rule: its expression, the variables of a binding, how to find bindings from a changed leaf, and the head."""

    node: Node
    variables: tuple[str, ...]
    head: tuple[Slot, ...]
    joins: list[tuple[Leaf, list[tuple[FluentStore, tuple[Slot, ...]]], list[Step]]]
    gates: list[Leaf]
    alone: list[Step]
    start: int
    tick: int
    bindings: KeyTable = field(init=False)
    heads: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    by_head: Access = field(default_factory=lambda: Access((0,)))
    flips: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    started: bool = False
    one_each: bool = True
    """Every binding has a head of its own, with the same number."""

    def __post_init__(self) -> None:
        self.bindings = KeyTable(len(self.variables))

    def touched(self, store: FluentStore, query: int) -> tuple[Ints, Ints]:
        """Bindings whose inputs changed, or whose running intervals reach a length; with causes."""
        found: list[tuple[Ints, Ints]] = []
        for leaf, joins, steps in self.joins:
            stretches = leaf.store.stretches
            if not stretches:
                continue
            ids = distinct(stretches.ids)
            causes = cause_by_id(ids, stretches.ids, stretches.causes)
            frame = self._bound(leaf, joins, steps, ids, causes)
            if len(frame):
                found.append((self._intern(store, frame), _given(frame.cause)))
        late = np.flatnonzero(self.flips[: self.bindings.count] <= query + self.tick)
        if len(late):
            found.append((late, np.full(len(late), TIME)))
        if not self.variables and not self.started:
            self.started = True
            frame = Frame(np.full(1, NOW), {}, np.zeros(1, np.int64), np.full(1, TIME))
            frame = run_steps(self.alone, frame, Reader(before=False))
            found.append((self._intern(store, frame), np.full(len(frame), TIME)))
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def _bound(
        self,
        leaf: Leaf,
        joins: list[tuple[FluentStore, tuple[Slot, ...]]],
        steps: list[Step],
        ids: Ints,
        causes: Ints,
    ) -> Frame:
        """The bindings that instances of a leaf take part in."""
        frame = self._from_leaf(leaf, ids, causes)
        for other, slots in joins:
            frame = _join(frame, other, slots)
        return run_steps(steps, frame, Reader(before=False))

    def bind_all(self, store: FluentStore) -> None:
        """Know the bindings of all instances there are, for a rule that comes after them."""
        for leaf, joins, steps in self.joins:
            ids = np.arange(leaf.store.instances.count)
            self._intern(store, self._bound(leaf, joins, steps, ids, np.full(len(ids), TIME)))

    def _from_leaf(self, leaf: Leaf, ids: Ints, causes: Ints) -> Frame:
        keys = leaf.store.instances.keys[ids]
        keep = np.ones(len(ids), np.bool_)
        columns: dict[str, Ints] = {}
        for i, slot in enumerate(leaf.slots):
            if slot.name is None:
                keep &= keys[:, i] == slot.code
            elif slot.name in columns:
                keep &= keys[:, i] == columns[slot.name]
            else:
                columns[slot.name] = np.ascontiguousarray(keys[:, i])
        return Frame(np.full(len(ids), NOW), columns, np.arange(len(ids)), causes).take(keep)

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
        keys = self.bindings.keys[bindings]
        columns = {v: np.ascontiguousarray(keys[:, i]) for i, v in enumerate(self.variables)}
        return Frame(np.full(len(bindings), NOW), columns, bindings)

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

    def reset_index(self) -> None:
        """After a snapshot was put in."""
        self.by_head = Access((0,))
        self.one_each = bool((self.heads == np.arange(len(self.heads))).all())
        for leaf in (*leaves(self.node), *self.gates):
            leaf.known = leaf.known[:0]

    def evaluate(self, bindings: Ints, clock: Clock) -> spans.Batch:
        """The result's lists, one per binding."""
        self.flips[bindings] = OPEN
        frame = self.frame(bindings)
        offsets, lengths, pool = self._lists(self.node, frame, bindings, clock)
        for gate in self.gates:
            ids = gate.ids(frame)
            lengths = np.where(gate.store.covering(ids, frame.time, Version.NOW) >= 0, lengths, 0)
        return offsets, lengths, pool

    def _lists(self, node: Node, frame: Frame, bindings: Ints, clock: Clock) -> spans.Batch:
        match node:
            case Leaf():
                return node.lists(frame)
            case Apply(op, inputs):
                result = self._lists(inputs[0], frame, bindings, clock)
                for child in inputs[1:]:
                    result = spans.combine(op, *result, *self._lists(child, frame, bindings, clock))
                return result
            case Complement(inputs):
                n = len(frame)
                result = np.arange(n), np.ones(n, np.int64), np.repeat([[self.start, OPEN]], n, axis=0)
                for child in inputs:
                    result = spans.combine(spans.DIFFERENCE, *result, *self._lists(child, frame, bindings, clock))
                return result
            case Whole():
                return self._remember(node, self._lists(node.node, frame, bindings, clock), bindings, clock)
            case Lasting(op, child, bound):
                lists = self._lists(child, frame, bindings, clock)
                limits = value_of(bound, frame)
                limits = np.floor(limits) if op in (0, 3) else np.ceil(limits)
                found = spans.by_length(op, *lists, limits.astype(np.int64), clock.query + self.tick)
                offsets, lengths, pool, flips = found
                self.flips[bindings] = np.minimum(self.flips[bindings], flips)
                return offsets, lengths, pool
            case Related(relation, left, right, mode):
                a = self._lists(left, frame, bindings, clock)
                b = self._lists(right, frame, bindings, clock)
                picks = {"source": (0,), "target": (1,), "union": (0, 1)}[mode]
                parts = [spans.allen(relation, pick, *a, *b, self.tick) for pick in picks]
                return parts[0] if len(parts) == 1 else spans.combine(spans.UNION, *parts[0], *parts[1])

    def _remember(self, node: Whole, lists: spans.Batch, bindings: Ints, clock: Clock) -> spans.Batch:
        memory = node.memory
        memory.ensure(self.bindings.count)
        expiry = -(2**62) if node.keeps_past else clock.final
        _graft(memory, bindings, lists, clock.final, expiry)
        return memory.offsets[2][bindings], memory.lengths[2][bindings], memory.pool

    def memories(self) -> list[Ragged]:
        """What the rule's whole-interval operators remember."""

        def of(node: Node) -> list[Ragged]:
            match node:
                case Leaf():
                    return []
                case Apply(_, inputs) | Complement(inputs):
                    return [m for child in inputs for m in of(child)]
                case Whole(child, memory):
                    return [memory, *of(child)]
                case Lasting(_, child, _):
                    return of(child)
                case Related(_, left, right, _):
                    return of(left) + of(right)

        return of(self.node)


def _given(causes: Ints | None) -> Ints:
    assert causes is not None
    return causes


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


def _graft(lists: Ragged, ids: Ints, new: spans.Batch, final: int, expiry: int) -> None:
    offsets, lengths, _, _ = lists.view(Version.NOW)
    lists.replace(ids, *spans.graft(offsets, lengths, lists.pool, ids, *new, final), expiry)


# --------------------------------------------------------------------------- units


class SpanUnit(FluentUnit):
    """A determined fluent: the union of its rules."""

    def __init__(self, store: FluentStore, plans: Sequence[SpanPlan]) -> None:
        super().__init__([store])
        self.store = store
        self.plans = list(plans)
        self._found: list[tuple[Ints, Ints]] = []

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        for plan in self.plans:
            bindings, causes = plan.touched(self.store, clock.query)
            if clock.recompute and after.first_round:
                bindings = np.arange(plan.bindings.count)
                causes = np.full(len(bindings), TIME)
            if len(bindings):
                self._found.append((plan.heads[bindings], causes))
        return bool(self._found)

    def apply(self, clock: Clock, *, round: bool) -> bool:
        nothing = np.empty(0, np.int64)
        if not self._found:
            self.announce(clock, Version.LAST, [(nothing, nothing)])
            return False
        every = np.concatenate([f[0] for f in self._found])
        heads = distinct(every)
        causes = cause_by_id(heads, every, np.concatenate([f[1] for f in self._found]))
        self._found = []
        new = self._evaluate(heads, clock)
        _graft(self.store.lists, heads, new, clock.final, clock.final)
        self.note(0, heads, causes)
        return self.announce(clock, Version.LAST, [(heads, causes)])

    def _evaluate(self, heads: Ints, clock: Clock) -> spans.Batch:
        """The lists of the heads: every rule's, united."""
        owners: list[Ints] = []
        batches: list[spans.Batch] = []
        for plan in self.plans:
            bindings = distinct(plan.of_heads(heads))
            owners.append(plan.heads[bindings])
            batches.append(plan.evaluate(bindings, clock))
        if len(batches) == 1 and len(owners[0]) == len(heads):
            order = np.argsort(owners[0], kind="stable")
            offsets, lengths, pool = batches[0]
            return offsets[order], lengths[order], pool
        shifts = np.cumsum([0, *(len(b[2]) for b in batches[:-1])])
        owner = np.concatenate(owners)
        offsets = np.concatenate([b[0] + s for b, s in zip(batches, shifts, strict=True)])
        lengths = np.concatenate([b[1] for b in batches])
        pool = np.concatenate([b[2][:, :2] for b in batches])
        order = np.argsort(owner, kind="stable")
        starts = group_starts(owner[order])
        return spans.unite_groups(starts, offsets[order], lengths[order], pool)

    def commit_memories(self, final: int) -> None:
        for plan in self.plans:
            for memory in plan.memories():
                memory.commit()


class ViewUnit(FluentUnit):
    """A simple fluent by value: each pair an instance of its own, for rules that ask for every value's intervals."""

    def __init__(self, store: FluentStore, source: FluentStore) -> None:
        super().__init__([store])
        self.store = store
        self.source = source
        self._found: tuple[Ints, Ints] | None = None

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        stretches = self.source.stretches
        if clock.recompute and after.first_round:
            ids = np.arange(self.source.instances.count)
            self._found = ids, np.full(len(ids), TIME)
        elif stretches and after.sees(self.source):
            ids = distinct(stretches.ids)
            self._found = ids, cause_by_id(ids, stretches.ids, stretches.causes)
        return self._found is not None

    def apply(self, clock: Clock, *, round: bool) -> bool:
        nothing = np.empty(0, np.int64)
        if self._found is None:
            self.announce(clock, Version.LAST, [(nothing, nothing)])
            return False
        (ids, causes), self._found = self._found, None
        rows, sizes = self.source.lists.gather(ids, Version.NOW)
        keys = self.source.instances.keys
        owner = np.repeat(np.arange(len(ids)), sizes)
        columns = [keys[ids[owner], c] for c in range(keys.shape[1])]
        pairs = self.store.intern([*columns, np.ascontiguousarray(rows[:, 2])], len(rows))
        arity = self.store.arity
        known, which = self.store.match(tuple(range(arity)), [keys[ids, c] for c in range(arity)], len(ids))
        order = np.argsort(pairs, kind="stable")
        touched, first = np.unique(known, return_index=True)
        starts = np.searchsorted(pairs[order], np.append(touched, OPEN))
        new = spans.unite_sorted(starts, rows[order])
        _graft(self.store.lists, touched, new, clock.final, clock.final)
        why = causes[which[first]]
        self.note(0, touched, why)
        return self.announce(clock, Version.LAST, [(touched, why)])


class InputUnit(FluentUnit):
    """An input fluent: intervals as they arrive, united per pair. An end that lies ahead shows when it is reached."""

    def __init__(self, store: FluentStore) -> None:
        super().__init__([store])
        self.store = store
        self.given = Ragged(3, clock=1)
        self._found: list[tuple[Ints, Ints | None]] = []
        self.ahead = np.empty((0, 2), np.int64)  # last point, instance

    def feed(self, ids: Ints, intervals: Ints, there: Ints, causes: Ints | None) -> None:
        """Intervals (start, end) that are there (1) or not (0) from this query on."""
        self.given.ensure(self.store.instances.count)
        self.given.merge(ids, np.column_stack([intervals, there]), assign=True)
        self._found.append((ids, causes))

    def present(self, ids: Ints, intervals: Ints) -> Mask:
        """Which intervals are there now."""
        self.given.ensure(self.store.instances.count)
        at, which = self.given.ranges(ids, intervals[:, 0], intervals[:, 0] + 1, Version.NOW)
        found = np.zeros(len(ids), np.bool_)
        found[which[self.given.pool[at, 1] == intervals[which, 1]]] = True
        return found

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        reached = self.ahead[:, 0] <= clock.query
        if reached.any():
            self._found.append((self.ahead[reached, 1], None))
            self.ahead = self.ahead[~reached]
        return bool(self._found)

    def apply(self, clock: Clock, *, round: bool) -> bool:
        nothing = np.empty(0, np.int64)
        if not self._found:
            self.announce(clock, Version.LAST, [(nothing, nothing)])
            return False
        ids = np.concatenate([f[0] for f in self._found])
        causes = np.concatenate([np.full(len(f[0]), TIME) if f[1] is None else f[1] for f in self._found])
        self._found = []
        touched = distinct(ids)
        why = cause_by_id(touched, ids, causes)
        rows, sizes = self.given.gather(touched, Version.NOW)
        hidden = rows[:, 1] > clock.query + clock.tick
        known = hidden & (rows[:, 1] != OPEN)
        if known.any():
            owner = np.repeat(touched, sizes)
            more = np.column_stack([rows[known, 1] - clock.tick, owner[known]])
            self.ahead = np.unique(np.concatenate([self.ahead, more]), axis=0)
        rows[hidden, 1] = OPEN
        new = spans.unite_sorted(np.concatenate([[0], np.cumsum(sizes)]), rows)
        _graft(self.store.lists, touched, new, clock.final, clock.final)
        self.note(0, touched, why)
        return self.announce(clock, Version.LAST, [(touched, why)])

    def forget(self, clock: Clock) -> None:
        super().forget(clock)
        self.given.ensure(self.store.instances.count)
        self._found.append((np.arange(self.store.instances.count), None))

    def commit_memories(self, final: int) -> None:
        self.given.expiry = final
        self.given.commit()
