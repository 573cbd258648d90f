"""Frames and steps: a rule body as a short list of set-at-a-time steps over a table of bindings.

A frame holds one row per partial solution: its time, the codes of the bound variables, which driver row it came from
and that row's cause. A step filters, joins or binds; the same steps run on the state before and after a change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from thalweg.columns.ragged import Version
from thalweg.columns.symbols import SymbolTable, as_floats, numbers
from thalweg.events.moves import Block
from thalweg.events.stores import EventStore, FactStore, FluentStore
from thalweg.language.rules import Edge, Effect
from thalweg.language.terms import Compound, Number, Term, Variable
from thalweg.protocol import Ints, Mask

TIME, ORIGIN, CAUSE = "@time", "@origin", "@cause"


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

    __slots__ = ("_lazy", "_length", "_own", "_parent", "_rows")

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
        self._length = len(time)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> Ints:
        found = self._own.get(name)
        if found is None:
            self._own[name] = found = self._fetch(name)
        return found

    def _fetch(self, name: str) -> Ints:
        """A column that the frame does not hold itself."""
        if name in self._lazy:
            return self._lazy[name]()
        if self._parent is None:
            if name != ORIGIN:
                raise KeyError(name)
            return np.arange(self._length)
        if self._rows is None:
            return self._parent[name]
        column = self._parent[name]
        return constant(column[0], len(self._rows)) if is_constant(column) else column[self._rows]

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
            if len(at) == self._length:
                return self.extend({})
        else:
            at = rows.astype(np.int64, copy=False)
        out = Frame.__new__(Frame)
        out._own, out._lazy, out._parent, out._rows, out._length = {}, {}, self, at, len(at)
        return out

    def extend(self, columns: dict[str, Ints], lazy: Mapping[str, Callable[[], Ints]] | None = None) -> Frame:
        """The same rows with more columns, some of them made when they are first asked for."""
        out = Frame.__new__(Frame)
        out._own, out._lazy, out._parent, out._rows = dict(columns), lazy or {}, self, None
        out._length = self._length
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


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument of a literal: a constant's code, a bound variable, or a variable that the literal binds."""

    code: int = 0
    name: str | None = None
    binds: bool = False

    def column(self, frame: Frame) -> Ints:
        return np.full(len(frame), self.code) if self.name is None else frame[self.name]


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


@dataclass(slots=True)
class EventStep:
    """``[not] happensAt``: rows of an index at the frame's time."""

    store: EventStore
    match: Match
    negated: bool

    def run(self, frame: Frame, reader: Reader) -> Frame:
        index = self.store.index(self.match.positions)
        keys = self.match.keys(frame)
        if self.negated and self.match.binds_once:
            rows = index.absent(keys, frame.time, reader.version(self.store))
            return frame.take(rows) if len(rows) < len(frame) else frame
        ids = index.keys.find(keys, len(frame))
        at, which = index.lists.ranges(ids, frame.time, frame.time + 1, reader.version(self.store))
        pool = index.lists.pool
        if self.negated:
            which = self.match.extend(_numbered(frame), which, lambda p: pool[:, 1 + p][at]).origin
            keep = np.ones(len(frame), np.bool_)
            keep[which] = False
            return frame.take(keep)
        return self.match.extend(frame, which, lambda p: pool[:, 1 + p][at])


def _numbered(frame: Frame) -> Frame:
    """The frame with its own row numbers as origin."""
    return frame.extend({ORIGIN: np.arange(len(frame))})


@dataclass(slots=True)
class HoldsStep:
    """``[not] holdsAt``, and ``start``/``end`` where `edge` is given. `value` is None when it is part of the key."""

    store: FluentStore
    match: Match
    value: Slot | None
    negated: bool
    tick: int
    edge: Edge | None = None
    shift: int = 0

    def _instances(self, frame: Frame) -> Ints:
        """The instance that each row asks for, -1 where unknown."""
        names = [(i, slot.name) for i, slot in enumerate(self.match.slots) if slot.name is not None]
        if len(names) == 1 and len(self.match.slots) > 1:
            (position, name), slots = names[0], self.match.slots
            constants = tuple((i, slot.code) for i, slot in enumerate(slots) if slot.name is None)
            return self.store.find_by(constants, position, frame[name])
        return self.store.find(self.match.keys(frame), len(frame))

    def run(self, frame: Frame, reader: Reader) -> Frame:
        store = self.store
        if self.match.complete:
            times = frame.time + self.shift if self.shift else frame.time
            rows, values = self._hits(frame, None, self._instances(frame), times, reader, negated=self.negated)
            out = frame.take(rows) if len(rows) < len(frame) else frame
            if self._binds and not self.negated:
                assert self.value is not None and self.value.name is not None
                return out.bind(self.value.name, values)
            return out
        ids, which = store.match(self.match.positions, self.match.keys(frame), len(frame))
        rows, values = self._hits(frame, which, ids, frame.time[which] + self.shift, reader, negated=False)
        ids, which = ids[rows], which[rows]
        if self.negated:
            found = self.match.extend(_numbered(frame), which, lambda p: store.instances.column(p, ids))
            keep = np.ones(len(frame), np.bool_)
            keep[found.origin] = False
            return frame.take(keep)
        slots = self.match.slots
        if self._binds:
            assert self.value is not None
            last = len(slots)
            return Match((*slots, self.value)).extend(
                frame, which, lambda p: values if p == last else store.instances.column(p, ids)
            )
        return self.match.extend(frame, which, lambda p: store.instances.column(p, ids))

    @property
    def _binds(self) -> bool:
        return self.value is not None and self.value.binds

    def _hits(
        self, frame: Frame, which: Ints | None, ids: Ints, times: Ints, reader: Reader, *, negated: bool
    ) -> tuple[Ints, Ints]:
        """Positions of the instances for which the literal is true (or is not), and the values there."""
        wanted = np.empty(0, np.int64)
        if self.value is not None and not self.value.binds:
            wanted = np.full(1, self.value.code)
            if self.value.name is not None:
                wanted = frame[self.value.name] if which is None else frame[self.value.name][which]
                wanted = np.full(1, wanted[0]) if is_constant(wanted) else np.ascontiguousarray(wanted)
        version = reader.version(self.store)
        if self.edge is None:
            return self.store.holding(ids, times, wanted, version, negated=negated, values=self._binds)
        at = self.store.edge_at(ids, times, self.edge, self.tick, version)
        pool = self.store.lists.pool
        hit = at >= 0
        if len(wanted):
            hit &= pool[:, 2][at] == wanted
        rows = np.flatnonzero(hit != negated)
        return rows, pool[:, 2][at[rows]]


@dataclass(slots=True)
class EffectStep:
    """``[not] initiatedAt/terminatedAt`` as a body literal: the points of another pair at the frame's time."""

    store: FluentStore
    match: Match
    value: Slot
    effect: Effect
    negated: bool
    every: bool = False

    def run(self, frame: Frame, reader: Reader) -> Frame:
        store, n = self.store, len(frame)
        if self.match.complete:
            ids, which = store.find(self.match.keys(frame), n), np.arange(n)
        else:
            ids, which = store.match(self.match.positions, self.match.keys(frame), n)
        times = frame.time[which]
        at, nth = store.points.ranges(ids, times, times + 1, reader.version(store))
        rows = store.points.pool[at]
        ids, which = ids[nth], which[nth]
        keep = rows[:, 1] == (0 if self.effect is Effect.INITIATES else 2 if self.every else 1)
        if not self.value.binds:
            keep &= rows[:, 2] == self.value.column(frame)[which]
        ids, which, values = ids[keep], which[keep], rows[keep, 2]
        slots = (*self.match.slots, self.value)
        last = len(slots) - 1
        found = Match(slots).extend(
            _numbered(frame) if self.negated else frame,
            which,
            lambda p: values if p == last else store.instances.column(p, ids),
        )
        if not self.negated:
            if self.match.complete and not self.value.binds:
                mask = np.zeros(n, np.bool_)
                mask[which] = True
                return frame.take(mask)
            return found
        mask = np.ones(n, np.bool_)
        mask[found.origin] = False
        return frame.take(mask)


class Matched:
    """Facts that agree with some columns, and the frame row of each (None: exactly one for every row, in order). Their
    arguments are fetched when first asked for and then shared by all rules."""

    __slots__ = ("_columns", "_facts", "_keys", "_store", "which")

    def __init__(self, store: FactStore, positions: tuple[int, ...], keys: list[Ints], length: int) -> None:
        self._keys = keys  # kept, so that their identity stands for this match
        self._store = store
        self._facts, self.which = store.match(positions, keys, length)
        self._columns: dict[int, Ints] = {}

    def column(self, position: int) -> Ints:
        found = self._columns.get(position)
        if found is None:
            found = self._columns[position] = self._store.rows.column(position, self._facts)
        return found


@dataclass(slots=True)
class FactStep:
    """``[not]`` a background fact."""

    store: FactStore
    match: Match
    negated: bool

    alone: Ints | None = None
    """Where only constants are given: the facts that agree with them, the same for every row."""

    def run(self, frame: Frame, reader: Reader) -> Frame:
        slots = [self.match.slots[p] for p in self.match.positions]
        if all(slot.name is None for slot in slots):
            if self.alone is None:
                self.alone = self.store.match(self.match.positions, [np.full(1, s.code) for s in slots], 1)[0]
            alone = self.alone
            if not len(alone):
                return frame if self.negated else self.match.extend(frame, alone, lambda p: alone)
            if len(self.alone) == 1 and not self.negated:
                keys = self.store.rows.keys[self.alone[0]]
                return self.match.extend(frame, None, lambda p: constant(keys[p], len(frame)))
        found = self._matched(slots, frame, reader)
        if self.negated:
            rows = self.match.extend(_numbered(frame), found.which, found.column)
            keep = np.ones(len(frame), np.bool_)
            keep[rows.origin] = False
            return frame.take(keep)
        return self.match.extend(frame, found.which, found.column)

    def _matched(self, slots: list[Slot], frame: Frame, reader: Reader) -> Matched:
        """The facts for the frame's rows; what another rule has found for the same columns is used again."""
        columns = self.match.keys(frame)
        same = [(s.name is None, s.code if s.name is None else id(c)) for s, c in zip(slots, columns, strict=True)]
        key = (id(self.store), len(frame), self.match.positions, *same)
        found = reader.matches.get(key)
        if found is None:
            found = reader.matches[key] = Matched(self.store, self.match.positions, columns, len(frame))
        return found


# --------------------------------------------------------------------------- arithmetic and tests

Floats = npt.NDArray[np.float64]

_FUNCTIONS: dict[str, Callable[..., Floats]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": lambda a, b: np.trunc(a / b),
    "mod": np.mod,
    "rem": np.fmod,
    "min": np.minimum,
    "max": np.maximum,
    "**": np.power,
    "^": np.power,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceiling": np.ceil,
    "round": lambda a: np.trunc(a + np.copysign(0.5, a)),
    "truncate": np.trunc,
    "integer": lambda a: np.trunc(a + np.copysign(0.5, a)),
    "float": lambda a: a,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
}
_NAMED = {"pi": np.pi, "e": np.e, "inf": np.inf}

_ORDERINGS: dict[str, Callable[..., Mask]] = {
    "<": np.less,
    ">": np.greater,
    "=<": np.less_equal,
    ">=": np.greater_equal,
    "=:=": np.equal,
    "=\\=": np.not_equal,
    "@<": np.less,
    "@>": np.greater,
    "@=<": np.less_equal,
    "@>=": np.greater_equal,
    "=": np.equal,
    "==": np.equal,
    "\\=": np.not_equal,
    "\\==": np.not_equal,
    "is": np.equal,
}


_UNLIKE = ("=\\=", "\\=", "\\==")
"""Orderings that NaN, which is like nothing, would satisfy."""


Operand = Callable[[Frame], Floats | float]
"""An arithmetic term as a function of the frame: one number where it is the same for all rows."""


def value_of(term: Term, frame: Frame) -> Floats:
    """An arithmetic term over the frame; rows where it is undefined are NaN."""
    return every_row(operand(term)(frame), frame)


def every_row(found: Floats | float, frame: Frame) -> Floats:
    """What an operand comes to, for each row."""
    return np.full(len(frame), found) if np.ndim(found) == 0 else np.asarray(found)


def operand(term: Term) -> Operand:
    """The function of an arithmetic term; rows where it is undefined are NaN."""
    match term:
        case Number(value):
            return _always(float(value))
        case Variable(name):
            return partial(_numbers_of, name)
        case Compound("-", (only,)):
            inner = operand(only)
            return lambda frame: -inner(frame)
        case Compound("+", (only,)):
            return operand(only)
        case Compound(functor, args):
            return partial(_computed, _FUNCTIONS[functor], [operand(a) for a in args])
        case _:
            return _always(_NAMED[term.name])  # type: ignore[union-attr]


def _always(value: float) -> Operand:
    return lambda _: value


def _numbers_of(name: str, frame: Frame) -> Floats | float:
    column = frame[name]
    return float(as_floats(column[:1])[0]) if is_constant(column) else as_floats(column)


def _computed(function: Callable[..., Floats], operands: Sequence[Operand], frame: Frame) -> Floats:
    with np.errstate(all="ignore"):
        return function(*(np.asarray(x(frame)) for x in operands))


@dataclass(slots=True)
class AssignStep:
    """``X is expression`` or ``X = expression`` with X unbound; undefined results have no solution."""

    name: str
    term: InitVar[Term]
    _value: Operand = field(init=False)

    def __post_init__(self, term: Term) -> None:
        self._value = operand(term)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        values = every_row(self._value(frame), frame)
        defined = np.isfinite(values)
        if not defined.all():
            frame, values = frame.take(defined), values[defined]
        return frame.bind(self.name, numbers(values))


@dataclass(slots=True)
class CopyStep:
    """``X = Y`` or ``X = constant`` with X unbound."""

    name: str
    slot: Slot

    def run(self, frame: Frame, reader: Reader) -> Frame:
        return frame.bind(self.name, self.slot.column(frame))


@dataclass(slots=True)
class CompareStep:
    """A numeric comparison; undefined values make it false."""

    op: str
    left: InitVar[Term]
    right: InitVar[Term]
    negated: bool
    _sides: tuple[Operand, Operand] = field(init=False)

    def __post_init__(self, left: Term, right: Term) -> None:
        self._sides = operand(left), operand(right)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        left, right = (side(frame) for side in self._sides)
        keep = np.asarray(_ORDERINGS[self.op](left, right))
        if self.op in _UNLIKE:
            keep = keep & ~(np.isnan(left) | np.isnan(right))
        if keep.ndim == 0:
            keep = np.full(len(frame), keep)
        return frame.take(~keep if self.negated else keep)


@dataclass(slots=True)
class SameStep:
    """Equality and standard order of constants."""

    op: str
    left: Slot
    right: Slot
    negated: bool
    symbols: SymbolTable | None = None

    def run(self, frame: Frame, reader: Reader) -> Frame:
        left, right = self.left.column(frame), self.right.column(frame)
        if self.symbols is not None:
            ranks = self.symbols.ranks()
            left, right = ranks[left], ranks[right]
        keep = _ORDERINGS[self.op](left, right)
        return frame.take(~keep if self.negated else keep)


@dataclass(slots=True)
class TimeStep:
    """Binds the rule's time variable as a number, where a test or the head reads it."""

    name: str

    def run(self, frame: Frame, reader: Reader) -> Frame:
        return frame.bind(self.name, numbers(frame.time.astype(np.float64)))


@dataclass(slots=True)
class Unequal:
    """A test between constants of different sorts: never equal."""

    holds: bool

    def run(self, frame: Frame, reader: Reader) -> Frame:
        return frame if self.holds else frame.take(np.zeros(len(frame), np.bool_))


# --------------------------------------------------------------------------- inner bodies


def run_steps(steps: Sequence[Step], frame: Frame, reader: Reader) -> Frame:
    """The frame after all steps; stops early when nothing is left."""
    for step in steps:
        frame = step.run(frame, reader)
    return frame


@dataclass(slots=True)
class MissingStep:
    """``\\+ (body)``, or with `negated` false "some solution"."""

    bodies: list[list[Step]]
    negated: bool

    def run(self, frame: Frame, reader: Reader) -> Frame:
        found = np.zeros(len(frame), np.bool_)
        for steps in self.bodies:
            found[run_steps(steps, _numbered(frame), reader).origin] = True
        return frame.take(~found if self.negated else found)


@dataclass(slots=True)
class TotalStep:
    """findall with length, sum_list, min_list or max_list."""

    function: str
    steps: list[Step]
    template: Term
    name: str | None
    wanted: Term

    def run(self, frame: Frame, reader: Reader) -> Frame:
        inner = run_steps(self.steps, _numbered(frame), reader)
        n = len(frame)
        counts = np.bincount(inner.origin, minlength=n).astype(np.float64)
        if self.function == "count":
            totals = counts
        else:
            values = value_of(self.template, inner)
            if self.function == "sum":
                totals = np.bincount(inner.origin, weights=values, minlength=n).astype(np.float64)
            else:
                totals = np.full(n, np.inf if self.function == "min" else -np.inf)
                ufunc = np.minimum if self.function == "min" else np.maximum
                ufunc.at(totals, inner.origin, values)
                frame, totals = frame.take(counts > 0), totals[counts > 0]
        if self.name is not None:
            return frame.bind(self.name, numbers(totals))
        return frame.take(totals == value_of(self.wanted, frame))


@dataclass(slots=True)
class EitherStep:
    """One of several ways to run a literal (a fluent that is kept in two stores)."""

    ways: list[Step]

    def run(self, frame: Frame, reader: Reader) -> Frame:
        return concat([way.run(frame, reader) for way in self.ways])
