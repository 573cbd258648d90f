"""Shapes: templates compiled for the online part. Variables are column numbers, constants are codes.

A row of a shape is a partial answer. Which columns it has depends only on its *mask*, the set of positive premises
that it has met; what is to be computed when a premise is met is worked out once per mask.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from thalweg.analysis.temporal import Signature, Time
from thalweg.analysis.types import NAMED
from thalweg.answers.background import EQUAL, ORDERS, UNEQUAL
from thalweg.answers.bounds import order
from thalweg.answers.codec import Bools, Codec, Floats, values
from thalweg.answers.datalog import Test, TimedAtom
from thalweg.answers.plans import Plan
from thalweg.answers.safety import bound_variables, computed, open_variables
from thalweg.answers.templates import Template
from thalweg.columns import computing
from thalweg.columns.symbols import numbers
from thalweg.language.terms import Atom, Compound, Number, Term, Variable, variables
from thalweg.protocol import Ints

Columns = list[Ints | None]
"""A column per variable of the shape; None where the variable is not bound yet."""


class Slot(NamedTuple):
    """An argument: a column, or a code when `column` is negative."""

    column: int
    code: int = 0


@dataclass(frozen=True, slots=True)
class Positive:
    """An input atom that must arrive `offset` after the answer's time."""

    predicate: Signature
    offset: int
    constants: tuple[tuple[int, int], ...]
    """(argument, code): the argument must be this constant."""
    columns: tuple[tuple[int, int], ...]
    """(argument, column): the first place of every variable."""
    repeats: tuple[tuple[int, int], ...]
    """(argument, argument): the places of one variable must be equal."""
    atom: TimedAtom = field(compare=False)

    @property
    def variables(self) -> frozenset[int]:
        return frozenset(column for _, column in self.columns)


@dataclass(frozen=True, slots=True)
class Negative:
    """A negated atom `offset` after the answer's time; `key` gives the variables of the query that decides it
    (`decided` after that time at the latest)."""

    query: int
    offset: int
    decided: int
    key: tuple[Slot, ...]
    atom: TimedAtom = field(compare=False)

    @property
    def variables(self) -> frozenset[int]:
        return frozenset(slot.column for slot in self.key if slot.column >= 0)


@dataclass(frozen=True, slots=True)
class Rigid:
    """A background atom with its rows."""

    atom: TimedAtom
    rows: Ints
    args: tuple[Slot, ...]
    negated: bool

    @property
    def variables(self) -> frozenset[int]:
        return frozenset(slot.column for slot in self.args if slot.column >= 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A test on bound columns. An `implied` one follows from others, and is of use while these wait for values."""

    test: Test
    reads: frozenset[int]
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Computation:
    """A test that gives a column its value."""

    test: Test
    target: int
    reads: frozenset[int]


@dataclass(frozen=True, slots=True)
class Apart:
    """A row that needs an atom and its negation is none: the arguments must differ somewhere."""

    pairs: tuple[tuple[Slot, Slot], ...]
    reads: frozenset[int]


Operation = Rigid | Comparison | Computation | Apart
Places = tuple[tuple[int, int], ...]
"""Pairs of an argument's position and a column."""


@dataclass(slots=True, eq=False)
class Shape:
    """One template of one query."""

    query: int
    number: int
    template: Template
    names: list[str]
    positives: tuple[Positive, ...]
    negatives: tuple[Negative, ...]
    operations: tuple[Operation, ...]
    head: tuple[Slot, ...]
    open: frozenset[int]
    """Columns of head variables that no positive premise binds."""
    floor: int
    full: int = 0
    discharged: int = 0
    first: int | None = None
    closures: dict[int, tuple[tuple[int, ...], frozenset[int]]] = field(default_factory=dict)
    judged: dict[int, int] = field(default_factory=dict)
    sides: dict[tuple[int, int], tuple[Places, Places]] = field(default_factory=dict)
    codes: dict[Term, int] = field(default_factory=dict)
    """The codes of the constants in its premises."""
    has_twins: bool = False
    """True when another alternative of the query has the same predicates at the same times."""
    stamp: int | None = None
    """The column that holds the answer's time, where rows of several times stand together."""
    clock: frozenset[int] = frozenset()
    """Columns of times that every row has from the beginning."""
    gathered: bool = False
    """True when its rows come from several cells; times are columns, also of the head."""

    def __post_init__(self) -> None:
        self.full = (1 << len(self.positives)) - 1
        self.discharged = (1 << len(self.negatives)) - 1
        self.first = min((p.offset for p in self.positives), default=None)

    def premises(self, mask: int, bits: int, met: bool) -> list[TimedAtom]:
        """The premises that are met, or those that are missing."""
        found = [p.atom for i, p in enumerate(self.positives) if bool(mask >> i & 1) == met]
        return found + [n.atom for j, n in enumerate(self.negatives) if bool(bits >> j & 1) == met]

    def closure(self, mask: int) -> tuple[tuple[int, ...], frozenset[int]]:
        """Which operations can be done when the premises of `mask` are met, in order, and what is bound then."""
        if mask not in self.closures:
            self.closures[mask] = self._closure(mask)
        return self.closures[mask]

    def bound(self, mask: int) -> frozenset[int]:
        """The columns that a row with this mask has."""
        found = self.closure(mask)[1]
        return found | self.clock if self.clock else found

    def time_column(self, time: Time | None) -> int | None:
        """The column of a time's variable; None where it has none."""
        return self.names.index(time.variable) if time is not None and time.variable in self.names else None

    def _closure(self, mask: int) -> tuple[tuple[int, ...], frozenset[int]]:
        bound: set[int] = set()
        for i, premise in enumerate(self.positives):
            if mask >> i & 1:
                bound |= premise.variables
        done: list[int] = []
        growing = True
        while growing:
            growing = False
            for i, operation in enumerate(self.operations):
                if i not in done and self._is_ready(operation, bound, mask):
                    done.append(i)
                    growing = True
                    if isinstance(operation, Computation):
                        bound.add(operation.target)
                    elif isinstance(operation, Rigid):
                        bound |= operation.variables
        if all(i in done for i, o in enumerate(self.operations) if isinstance(o, (Comparison, Computation))):
            done = [i for i in done if isinstance(self.operations[i], Apart) or not is_implied(self.operations[i])]
        return tuple(done), frozenset(bound)

    def _is_ready(self, operation: Operation, bound: set[int], mask: int) -> bool:
        if isinstance(operation, Rigid):
            if operation.negated:
                return operation.variables <= bound
            return bool(operation.variables & bound) or mask == self.full
        return operation.reads <= bound

    def sides_of(self, mask: int, number: int) -> tuple[Places, Places]:
        """Positions and columns of a premise: those that a row with this mask has, and those that a fact brings."""
        if (mask, number) not in self.sides:
            bound, columns = self.bound(mask), self.positives[number].columns
            shared = tuple((p, c) for p, c in columns if c in bound)
            self.sides[mask, number] = shared, tuple((p, c) for p, c in columns if c not in bound)
        return self.sides[mask, number]

    def spent(self, mask: int) -> frozenset[int]:
        """Bound columns that nothing looks at any more: background has been joined on them, and that is all."""
        done, bound = self.closure(mask)
        shown = {slot.column for slot in self.head}
        shown |= {c for p in self.positives for c in p.variables} | {
            c for n in self.negatives for c in n.variables
        }
        for i, operation in enumerate(self.operations):
            if i not in done and not is_implied(operation):
                shown |= operation.variables if isinstance(operation, Rigid) else operation.reads
        return bound - shown

    def due(self, mask: int) -> int | None:
        """Offset of the earliest positive premise that is still missing."""
        missing = [p.offset for i, p in enumerate(self.positives) if not mask >> i & 1]
        return min(missing, default=None)

    def ground_negatives(self, mask: int) -> int:
        """Bits of the negated premises whose variables are all bound (open ones count as bound)."""
        if mask not in self.judged:
            bound = self.bound(mask) | self.open
            self.judged[mask] = sum(1 << j for j, n in enumerate(self.negatives) if n.variables <= bound)
        return self.judged[mask]


def head_time(shape: Shape, codec: Codec) -> tuple[Slot, ...]:
    """The answer's time as one more argument of the head, where it has one."""
    time = shape.template.time
    if time is None:
        return ()
    column = shape.time_column(time)
    return (Slot(-1, codec.term(Number(time.offset))),) if column is None else (Slot(column),)


def is_implied(operation: Operation) -> bool:
    """True for what follows from the premises and the other operations."""
    return isinstance(operation, Apart) or (isinstance(operation, Comparison) and operation.implied)


# --------------------------------------------------------------------------- compiling


def compile_plan(plan: Plan, codec: Codec) -> list[list[Shape]]:
    """The shapes of every query."""
    compiled = [
        [compile_template(plan, codec, number, i, template) for i, template in enumerate(query.templates)]
        for number, query in enumerate(plan.queries)
    ]
    for shapes in compiled:
        outlines = [_outline(shape.template) for shape in shapes]
        for shape, outline in zip(shapes, outlines, strict=True):
            shape.has_twins = outlines.count(outline) > 1
    return compiled


def _outline(template: Template) -> list[tuple[bool, Signature, str]]:
    return sorted((p.negated, p.predicate, str(p.time)) for p in template.premises if p.time is not None)


def compile_template(
    plan: Plan, codec: Codec, query: int, number: int, template: Template, times: Sequence[str] = ()
) -> Shape:
    """One template as a shape; its positive premises in order of time. `times` are time variables with a column."""
    names = [*template.variables(), *times]
    place = {name: i for i, name in enumerate(names)}
    slot = _slots(place, codec)
    own = template.time.variable if template.time is not None else None
    tied = [p for p in template.positive if p.time is not None and p.time.variable == own]
    positives = sorted(tied, key=lambda p: p.time.offset if p.time is not None else 0)
    goal = plan.queries[query].goal
    head = dict(
        zip((a.name for a in goal.args if isinstance(a, Variable)), _head_terms(goal, template), strict=True)
    )
    constants = {a for p in template.premises for a in p.args if not isinstance(a, Variable)}
    return Shape(
        query,
        number,
        template,
        names,
        tuple(_positive(p, place, codec) for p in positives),
        tuple(
            _negative(plan, p, slot)
            for p in template.negative
            if p.time is not None and p.time.variable == own
        ),
        tuple(_operations(plan, template, place, codec)),
        tuple(slot(term) for term in head.values()),
        frozenset(place[name] for name in open_variables(template)),
        min((offset for variable, offset in template.floors if variable == own), default=0),
        codes={constant: codec.term(constant) for constant in constants},
    )


def _head_terms(goal: TimedAtom, template: Template) -> list[Term]:
    return [term for arg, term in zip(goal.args, template.head, strict=True) if isinstance(arg, Variable)]


def _slots(place: dict[str, int], codec: Codec) -> Callable[[Term], Slot]:
    def slot(term: Term) -> Slot:
        return Slot(place[term.name]) if isinstance(term, Variable) else Slot(-1, codec.term(term))

    return slot


def _positive(atom: TimedAtom, place: dict[str, int], codec: Codec) -> Positive:
    constants, columns, repeats = [], [], []
    seen: dict[str, int] = {}
    for position, arg in enumerate(atom.args):
        if not isinstance(arg, Variable):
            constants.append((position, codec.term(arg)))
        elif arg.name in seen:
            repeats.append((seen[arg.name], position))
        else:
            seen[arg.name] = position
            columns.append((position, place[arg.name]))
    offset = atom.time.offset if atom.time is not None else 0
    return Positive(atom.predicate, offset, tuple(constants), tuple(columns), tuple(repeats), atom)


def _negative(plan: Plan, atom: TimedAtom, slot: Callable[[Term], Slot]) -> Negative:
    number = plan.query_of(replace(atom, negated=False))
    goal = plan.queries[number].goal
    given: dict[str, Term] = {}
    for variable, arg in zip(goal.args, atom.args, strict=True):
        if isinstance(variable, Variable):
            given.setdefault(variable.name, arg)
    offset = atom.time.offset if atom.time is not None else 0
    decided = offset + plan.queries[number].delay
    return Negative(number, offset, decided, tuple(slot(term) for term in given.values()), atom)


def _operations(plan: Plan, template: Template, place: dict[str, int], codec: Codec) -> list[Operation]:
    slot = _slots(place, codec)
    found: list[Operation] = []
    for atom in template.rigid:
        rows = sorted(plan.background.get(atom.predicate, ()), key=str)
        coded = np.array([[codec.term(t) for t in row] for row in rows], np.int64).reshape(
            len(rows), len(atom.args)
        )
        found.append(Rigid(atom, coded, tuple(slot(a) for a in atom.args), atom.negated))
    bound = _given(template)
    waiting = list(template.tests)
    while waiting:
        test = next((t for t in waiting if computed(t, bound) is not None or _reads(t) <= bound), waiting[0])
        waiting.remove(test)
        target = computed(test, bound)
        reads = frozenset(place[n] for n in _reads(test) if n in place)
        if target is not None and target not in bound:
            bound.add(target)
            found.append(Computation(test, place[target], reads - {place[target]}))
        else:
            found.append(Comparison(test, reads))
    for test in order(template.tests, template.time_variables()).implied():
        found.append(Comparison(test, frozenset(place[n] for n in _reads(test) if n in place), implied=True))
    return [*found, *_apart(template, slot)]


def _apart(template: Template, slot: Callable[[Term], Slot]) -> Iterator[Apart]:
    for atom, absent in itertools.product(template.positive, template.negative):
        if (atom.predicate, atom.time) == (absent.predicate, absent.time):
            both = [(slot(a), slot(b)) for a, b in zip(atom.args, absent.args, strict=True) if a != b]
            if all(a.column >= 0 or b.column >= 0 for a, b in both):
                yield Apart(tuple(both), frozenset(s.column for pair in both for s in pair if s.column >= 0))


def _given(template: Template) -> set[str]:
    """Variables bound without computing anything."""
    return bound_variables(replace(template, tests=()))


def _reads(test: Test) -> set[str]:
    return {v.name for side in (test.left, test.right) for v in variables(side)}


# --------------------------------------------------------------------------- evaluating tests

_VECTOR_ORDER: dict[str, Callable[[Floats, Floats], Bools]] = {
    "<": np.less, ">": np.greater, "=<": np.less_equal, ">=": np.greater_equal, "=:=": np.equal,
}  # fmt: skip


class Evaluation:
    """Terms of tests over the columns of one block."""

    def __init__(self, shape: Shape, columns: Columns, time: Ints, codec: Codec) -> None:
        self.place = {name: i for i, name in enumerate(shape.names)}
        self.time_name = shape.template.time.variable if shape.template.time is not None else None
        self.columns = columns
        self.time = time
        self.codec = codec

    def codes(self, term: Term) -> Ints:
        """The codes of a term; numbers that arithmetic gives are coded like any other."""
        match term:
            case Variable(name) if name in self.place:
                column = self.columns[self.place[name]]
                assert column is not None
                return column
            case Variable() | Compound():
                return numbers(self.floats(term))
            case _:
                return np.full(len(self.time), self.codec.term(term), np.int64)

    def floats(self, term: Term) -> Floats:
        """The value of an arithmetic term, NaN where it has none."""
        match term:
            case Variable(name) if name == self.time_name and name not in self.place:
                return self.time.astype(np.float64)
            case Atom(name) if name in NAMED:
                return np.full(len(self.time), NAMED[name])
            case Compound(functor, args):
                return computing.computed(functor, *map(self.floats, args))
            case _:
                return values(self.codes(term))

    def holds(self, test: Test) -> Bools:
        """Where the test is true."""
        if test.op in ORDERS:
            left, right = self.floats(test.left), self.floats(test.right)
            known = ~(np.isnan(left) | np.isnan(right))
            order = _VECTOR_ORDER.get(test.op)
            found = known & (order(left, right) if order is not None else left != right)
        else:
            assert test.op in EQUAL or test.op in UNEQUAL
            (left_codes, left_known), (right_codes, right_known) = (
                self._side(side, test) for side in (test.left, test.right)
            )
            found = left_known & right_known & ((left_codes == right_codes) == (test.op in EQUAL))
        return ~found if test.negated else found

    def _side(self, term: Term, test: Test) -> tuple[Ints, Bools]:
        """The codes of a side of an equation, and where it has a value. Beside an expression, `pi` and the like are
        numbers."""
        computes = isinstance(test.left, Compound) or isinstance(test.right, Compound)
        named = isinstance(term, Atom) and term.name in NAMED
        if test.op == "is" or isinstance(term, Compound) or (computes and named):
            value = self.floats(term)
            return numbers(value), ~np.isnan(value)
        return self.codes(term), np.ones(len(self.time), np.bool_)
