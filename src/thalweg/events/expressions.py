"""Interval expressions: trees over the timelines of fluents, evaluated for bindings in stretches of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from thalweg.columns import spans
from thalweg.columns.computing import Floats
from thalweg.columns.keys import look_up
from thalweg.columns.ragged import Ragged
from thalweg.columns.slabs import Places
from thalweg.events.arithmetic import value_of
from thalweg.events.frames import Frame, Slot
from thalweg.events.stores import FluentStore
from thalweg.language.terms import Number, Term
from thalweg.protocol import Ints


@dataclass(slots=True)
class Where:
    """Bindings with the stretch [low, high) in which each is to be evaluated."""

    bindings: Ints
    frame: Frame
    lows: Ints
    highs: Ints


@dataclass(slots=True)
class Leaf:
    """The intervals of a pair. `slots` include the value when it is part of the store's key."""

    store: FluentStore
    slots: tuple[Slot, ...]
    value: Slot | None

    known: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """The instance of each binding, -1 where it is not known yet."""

    def of(self, frame: Frame) -> tuple[Ragged, Ints, Ints]:
        """The lists, which of them the bindings of a frame read, and the value of the intervals that count."""
        values = np.zeros(len(frame), np.int64) if self.value is None else self.value.column(frame)
        return self.store.lists, self.ids(frame), values

    def _of(self, frame: Frame) -> tuple[Places, Ints, Ints, Ints]:
        lists, ids, values = self.of(frame)
        return lists.table, lists.pool, ids, values

    def ids(self, frame: Frame) -> Ints:
        """The instances that the bindings of a frame (its origin) read, -1 where there is none."""
        bindings = frame.origin
        found = np.empty(len(bindings), np.int64)
        if look_up(self.known, bindings, found):
            most = int(bindings.max()) + 1
            if most > len(self.known):
                known = np.full(max(most, 2 * len(self.known)), -1)
                known[: len(self.known)] = self.known
                self.known = known
            unknown = (found < 0).nonzero()[0]
            some = frame.take(unknown) if len(unknown) < frame.length else frame
            found[unknown] = self.store.find([s.column(some) for s in self.slots], len(unknown))
            self.known[bindings[unknown]] = found[unknown]
        return found

    def lists(self, where: Where, *, whole: bool = False) -> spans.Batch:
        """The intervals cut to the stretches, or `whole`: all that meet or touch them."""
        return spans.with_value(*self._of(where.frame), where.lows, where.highs, whole)

    def reach(self, where: Where) -> None:
        """Widen the stretches to the intervals that they meet or touch."""
        spans.reach(*self._of(where.frame), where.lows, where.highs)

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

    @property
    def judges_lengths(self) -> bool:
        """Does what is remembered hang on how long other intervals last, and so on what is yet to come?"""
        return any(isinstance(part, Lasting) for part in within(self.node))


@dataclass(slots=True)
class Lasting:
    """Intervals filtered by duration; op as in `lengths.lasts`."""

    op: int
    node: Node
    bound: Term
    same: Ints | None = field(init=False, default=None)
    """The bound, where it is one number for all bindings."""

    def __post_init__(self) -> None:
        if isinstance(self.bound, Number):
            self.same = self._whole_numbers(np.full(1, float(self.bound.value)))

    def bounds(self, frame: Frame) -> Ints:
        """The bound of each binding, as a whole number."""
        return self._whole_numbers(value_of(self.bound, frame))

    def _whole_numbers(self, limits: Floats) -> Ints:
        return (np.floor(limits) if self.op in (0, 3) else np.ceil(limits)).astype(np.int64)


@dataclass(slots=True)
class Related:
    """Intervals in an Allen relation; mode source, target or union."""

    relation: int
    left: Whole
    right: Whole
    mode: str


Node = Leaf | Apply | Complement | Whole | Lasting | Related


def within(node: Node) -> Iterator[Node]:
    """An expression and all that it is made of, from the left."""
    yield node
    match node:
        case Leaf():
            return
        case Apply(_, inputs) | Complement(inputs):
            children: tuple[Node, ...] = inputs
        case Whole(child) | Lasting(_, child, _):
            children = (child,)
        case Related(_, left, right, _):
            children = left, right
    for child in children:
        yield from within(child)


def leaves(node: Node) -> list[Leaf]:
    """The pairs that an expression reads."""
    return [part for part in within(node) if isinstance(part, Leaf)]


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
