"""Steps that compute and compare: numbers of whole columns, undefined where they are NaN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial

import numpy as np

from thalweg.analysis.types import NAMED
from thalweg.columns.computing import Floats, computed
from thalweg.columns.passing import EQUAL, GREATER, LESS, UNDEFINED, passing
from thalweg.columns.symbols import SymbolTable, as_floats, numbers
from thalweg.events.frames import (
    Fixed,
    Frame,
    Reader,
    Slot,
    is_constant,
)
from thalweg.language.instances import standard_order
from thalweg.language.terms import Compound, Number, Term, Variable
from thalweg.protocol import Mask

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


_TESTS = {
    "<": LESS,
    ">": GREATER,
    "=<": LESS + EQUAL,
    ">=": GREATER + EQUAL,
    **dict.fromkeys(("=:=", "=", "==", "is"), EQUAL),
    **dict.fromkeys(_UNLIKE, LESS + GREATER),
}
_SWAPPED = {"<": ">", ">": "<", "=<": ">=", ">=": "=<"}


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
        case Compound(functor, args):
            return partial(_computed, functor, [operand(a) for a in args])
        case _:
            return _always(NAMED[term.name])  # type: ignore[union-attr]


def _always(value: float) -> Operand:
    return lambda _: value


def _numbers_of(name: str, frame: Frame) -> Floats | float:
    column = frame[name]
    return float(as_floats(column[:1])[0]) if is_constant(column) else as_floats(column)


def _computed(functor: str, operands: Sequence[Operand], frame: Frame) -> Floats:
    return computed(functor, *(x(frame) for x in operands))


@dataclass(slots=True)
class AssignStep(Fixed):
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
class CopyStep(Fixed):
    """``X = Y`` or ``X = constant`` with X unbound."""

    name: str
    slot: Slot

    def run(self, frame: Frame, reader: Reader) -> Frame:
        return frame.bind(self.name, self.slot.column(frame))


def _plain(op: str, left: Term, right: Term, *, negated: bool) -> tuple[str, int, float] | None:
    """The variable, the test and the bound of a comparison of a variable with a number."""
    if isinstance(left, Number) and isinstance(right, Variable):
        op, left, right = _SWAPPED.get(op, op), right, left
    if op not in _TESTS or not isinstance(left, Variable) or not isinstance(right, Number):
        return None
    test = _TESTS[op]
    return left.name, LESS + EQUAL + GREATER + UNDEFINED - test if negated else test, float(right.value)


@dataclass(slots=True)
class CompareStep(Fixed):
    """A numeric comparison; undefined values make it false."""

    op: str
    left: InitVar[Term]
    right: InitVar[Term]
    negated: bool
    _sides: tuple[Operand, Operand] = field(init=False)
    _plain: tuple[str, int, float] | None = field(init=False)
    """A variable, the test of `passing`, and the bound, where that is all."""

    def __post_init__(self, left: Term, right: Term) -> None:
        self._sides = operand(left), operand(right)
        self._plain = _plain(self.op, left, right, negated=self.negated)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        if self._plain is not None:
            name, test, bound = self._plain
            column = frame[name]
            if not is_constant(column):
                rows = passing(as_floats(column), test, bound)
                return frame.take(rows) if len(rows) < frame.length else frame
        left, right = (side(frame) for side in self._sides)
        keep = np.asarray(_ORDERINGS[self.op](left, right))
        if self.op in _UNLIKE:
            keep = keep & ~(np.isnan(left) | np.isnan(right))
        if keep.ndim == 0:
            keep = np.full(len(frame), keep)
        return frame.take(~keep if self.negated else keep)


@dataclass(slots=True)
class SameStep(Fixed):
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
class TimeStep(Fixed):
    """Binds the rule's time variable as a number, where a test reads it."""

    name: str

    def run(self, frame: Frame, reader: Reader) -> Frame:
        return frame.bind(self.name, numbers(frame.time.astype(np.float64)))


@dataclass(slots=True)
class MixedStep(Fixed):
    """Standard order of a number, on the left, and a symbol: numbers come before everything else."""

    op: str
    left: Slot
    right: Slot
    negated: bool
    symbols: SymbolTable

    def run(self, frame: Frame, reader: Reader) -> Frame:
        ids, places = np.unique(self.right.column(frame), return_inverse=True)
        values = self.symbols.values(ids)[places]
        keep = _ORDERINGS[self.op](as_floats(self.left.column(frame)), values)
        keep = np.where(np.isnan(values), comes_first(self.op), keep)
        return frame.take(~keep if self.negated else keep)


@dataclass(slots=True)
class Settled(Fixed):
    """A test whose result is known beforehand."""

    holds: bool

    def run(self, frame: Frame, reader: Reader) -> Frame:
        return frame if self.holds else frame.take(np.zeros(len(frame), np.bool_))


def settled(op: str, left: str, right: str) -> bool:
    """What a comparison of two constants, as they are written, comes to; no numeric one."""
    if left == right:
        return op in ("=", "==", "@=<", "@>=")
    if not op.startswith("@"):
        return op in _UNLIKE
    return (standard_order(left) < standard_order(right)) == comes_first(op)


def comes_first(op: str) -> bool:
    """Does a comparison in the standard order hold where the left side comes before the right one?"""
    return op in ("@<", "@=<")
