"""Frames: a rule body is a short list of set-at-a-time steps over a table of bindings.

A frame holds one row per partial solution: its time, the codes of the bound variables, which driver row it came from
and that row's cause. A step filters, joins or binds; the same steps run on the state before and after a change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from thalweg.columns.ragged import Version
from thalweg.events.moves import Block
from thalweg.events.stores import FactStore, FluentStore
from thalweg.protocol import Ints, Mask

TIME, ORIGIN, CAUSE = "@time", "@origin", "@cause"

NOW = np.int64(2**62)
"""A time at which a timeline shows its latest state; used where no rule time exists."""


def constant(code: int, length: int) -> Ints:
    """A column with one code in every row, which takes no room."""
    column: Ints = np.ndarray((length,), np.int64, np.array([code], np.int64), strides=(0,))
    column.flags.writeable = False
    return column


def is_constant(column: Ints) -> bool:
    """Was the column made by `constant`?"""
    return column.strides == (0,) and len(column) > 0


class Frame:
    """Bindings as columns, one row per partial solution; `origin` is the driver row of each.

    A frame made from another by `take` remembers which rows it keeps and fetches a column when it is asked for, so
    columns that nobody reads cost nothing.
    """

    __slots__ = ("_lazy", "_own", "_parent", "_rows", "length")

    def __init__(
        self, time: Ints, columns: dict[str, Ints], origin: Ints | None = None, cause: Ints | None = None
    ) -> None:
        self._own = {**columns, TIME: time}
        if origin is not None:
            self._own[ORIGIN] = origin
        if cause is not None:
            self._own[CAUSE] = cause
        self._lazy: Mapping[str, Callable[[], Ints]] = {}
        self._parent: Frame | None = None
        self._rows: Ints | None = None
        self.length = len(time)

    @classmethod
    def timeless(
        cls, origin: Ints, columns: dict[str, Ints], lazy: Mapping[str, Callable[[], Ints]] | None = None
    ) -> Frame:
        """A frame at no particular time."""
        out = cls.__new__(cls)
        out._own, out._parent, out._rows, out.length = {**columns, ORIGIN: origin}, None, None, len(origin)
        out._lazy = {TIME: partial(np.full, out.length, NOW), **(lazy or {})}
        return out

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, name: str) -> Ints:
        found = self._own.get(name)
        if found is None:
            self._own[name] = found = self._fetch(name)
        return found

    def _fetch(self, name: str) -> Ints:
        """A column that the frame does not hold itself."""
        lazy, rows = self._lazy.get(name), self._rows
        if lazy is not None:
            return lazy()
        if self._parent is None:
            if name != ORIGIN:
                raise KeyError(name)
            return np.arange(self.length)
        column = self._parent[name]
        if rows is None:
            return column
        return constant(column[0], len(rows)) if is_constant(column) else column[rows]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._lazy or (self._parent is not None and name in self._parent)

    def names(self) -> set[str]:
        """The bound variables and the frame's own columns."""
        return self._own.keys() | self._lazy.keys() | (self._parent.names() if self._parent is not None else {ORIGIN})

    @property
    def time(self) -> Ints:
        return self[TIME]

    @property
    def origin(self) -> Ints:
        return self[ORIGIN]

    @property
    def cause(self) -> Ints | None:
        return self[CAUSE] if CAUSE in self else None

    def take(self, rows: Ints | Mask) -> Frame:
        """The frame with only these rows (positions or mask), in this order."""
        if rows.dtype == np.bool_:
            at: Ints = rows.nonzero()[0]
            if len(at) == self.length:
                return self.extend({})
        else:
            at = rows.astype(np.int64, copy=False)
        out = Frame.__new__(Frame)
        out._own, out._lazy, out._parent, out._rows, out.length = {}, {}, self, at, len(at)
        return out

    def extend(self, columns: dict[str, Ints], lazy: Mapping[str, Callable[[], Ints]] | None = None) -> Frame:
        """The same rows with more columns, some of them made when they are first asked for."""
        out = Frame.__new__(Frame)
        out._own, out._lazy, out._parent, out._rows = dict(columns), lazy or {}, self, None
        out.length = self.length
        return out

    def bind(self, name: str, column: Ints) -> Frame:
        return self.extend({name: column})


def concat(frames: Sequence[Frame]) -> Frame:
    """Frames with the same columns, one after the other."""
    joined = {name: np.concatenate([f[name] for f in frames]) for name in frames[0].names()}
    time, origin, cause = joined.pop(TIME), joined.pop(ORIGIN), joined.pop(CAUSE, None)
    return Frame(time, joined, origin, cause)


@dataclass(slots=True)
class Others:
    """Rows of a driver that a change touches beside those of a block: the rows, their causes, and the causes of the
    block's rows, where the change gives them larger ones. The block is kept, so that its identity stands for it."""

    beside: Block
    block: Block
    causes: Ints
    raised: Ints | None


class Matched:
    """Facts that agree with some columns, and the frame row of each (None: exactly one for every row, in order). Their
    arguments are fetched when first asked for and then shared by all rules."""

    __slots__ = ("_columns", "_facts", "_fetch", "_keys", "_store", "which")

    def __init__(self, store: FactStore, positions: tuple[int, ...], keys: list[Ints], length: int) -> None:
        self._keys = keys  # kept, so that their identity stands for this match
        self._store = store
        self._fetch, self.which = store.match(positions, keys, length)
        self._facts: Ints | None = None
        self._columns: dict[int, Ints] = {}

    def column(self, position: int) -> Ints:
        found = self._columns.get(position)
        if found is None:
            if self._facts is None:
                self._facts = self._fetch()
            found = self._columns[position] = self._store.rows.column(position, self._facts)
        return found


@dataclass(slots=True)
class Held:
    """Instances that agree with some columns and the frame row of each; of those that hold at the row's time, where
    they stand and their values. The columns are kept, so that their identity stands for this."""

    columns: list[Ints]
    ids: Ints
    which: Ints
    rows: Ints
    values: Ints


@dataclass(slots=True)
class Reader:
    """Says which version of a store a step reads: now, or before the change that is being propagated."""

    before: bool
    first_round: bool = True
    inside: frozenset[int] = frozenset()
    memo: dict[tuple[int, str], tuple[Block, Frame]] = field(default_factory=dict)
    """Frames of step prefixes that several rules share, by the identity of the driver block, which is kept."""
    touched: dict[tuple[object, ...], Others] = field(default_factory=dict)
    """Rows that changes touch, shared by rules with the same driver and the same triggers."""
    matches: dict[tuple[object, ...], Matched] = field(default_factory=dict)
    """Facts for columns that several rules share, by the identity of the columns."""
    held: dict[tuple[object, ...], Held] = field(default_factory=dict)
    """What fluents hold for columns that several literals share, by the identity of the columns."""

    def sees(self, store: object) -> bool:
        """Is the store's change part of what is being propagated? After the first round only inner changes are."""
        return self.first_round or id(store) in self.inside

    def version(self, store: object) -> Version:
        if not self.before:
            return Version.NOW
        if id(store) in self.inside:
            return Version.LAST
        return Version.BASE if self.first_round else Version.NOW


class Step(Protocol):
    """One step of a body."""

    def run(self, frame: Frame, reader: Reader) -> Frame: ...

    def moved(self) -> bool:
        """May it say something else after the changes that are being propagated than before?"""


class Fixed:
    """Steps that read nothing that changes."""

    __slots__ = ()

    def moved(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument of a literal: a constant's code, a bound variable, or a variable that the literal binds."""

    code: int = 0
    name: str | None = None
    binds: bool = False

    def column(self, frame: Frame) -> Ints:
        if self.name is not None:
            return frame[self.name]
        column = np.empty(frame.length, np.int64)
        column.fill(self.code)
        return column


@dataclass(slots=True)
class Match:
    """How a literal's slots meet the columns of a relation."""

    slots: tuple[Slot, ...]
    positions: tuple[int, ...] = field(init=False)
    complete: bool = field(init=False)
    binds_once: bool = field(init=False)
    """Are the variables that the literal binds all different?"""

    def __post_init__(self) -> None:
        self.positions = tuple(i for i, s in enumerate(self.slots) if not s.binds)
        self.complete = len(self.positions) == len(self.slots)
        bound = [slot.name for slot in self.slots if slot.binds]
        self.binds_once = len(set(bound)) == len(bound)

    def keys(self, frame: Frame) -> list[Ints]:
        """The columns of the bound slots."""
        return [self.slots[p].column(frame) for p in self.positions]

    def extend(self, frame: Frame, which: Ints | None, column: Callable[[int], Ints]) -> Frame:
        """The frame's rows `which` (None: all of them), with the binding slots taken from column(position). A variable
        that the literal binds twice must agree with itself."""
        new: dict[str, int] = {}
        again: list[tuple[int, int]] = []
        for i, slot in enumerate(self.slots):
            if not slot.binds:
                continue
            assert slot.name is not None
            if slot.name in new:
                again.append((new[slot.name], i))
            else:
                new[slot.name] = i
        out = frame if which is None else frame.take(which)
        out = out.extend({}, {name: partial(column, i) for name, i in new.items()})
        if not again:
            return out
        agree = np.ones(len(out), np.bool_)
        for one, other in again:
            agree &= column(one) == column(other)
        return out.take(agree)


class Asked:
    """The instances that a literal asks for, whose arguments are all given."""

    __slots__ = ("_alone", "_slots", "_store")

    def __init__(self, store: FluentStore, slots: tuple[Slot, ...]) -> None:
        self._store, self._slots = store, slots
        self._alone: tuple[tuple[tuple[int, int], ...], int, str] | None = None
        """The constants, and where the only variable stands, if there are constants and one variable."""
        named = [(i, slot.name) for i, slot in enumerate(slots) if slot.name is not None]
        if len(named) == 1 and len(slots) > 1:
            constants = tuple((i, slot.code) for i, slot in enumerate(slots) if slot.name is None)
            self._alone = constants, *named[0]

    def ids(self, frame: Frame) -> Ints:
        """The instance of each row, -1 where unknown."""
        if self._alone is not None:
            constants, position, name = self._alone
            return self._store.find_by(constants, position, frame[name])
        return self._store.find([slot.column(frame) for slot in self._slots], frame.length)


def run_steps(steps: Sequence[Step], frame: Frame, reader: Reader) -> Frame:
    """The frame after all steps; stops early when nothing is left."""
    for step in steps:
        frame = step.run(frame, reader)
    return frame
