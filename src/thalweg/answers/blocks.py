"""Blocks of partial answers and the joins that move them: facts meet rows, rows gain columns.

A block holds all rows of one shape, one answer time and one mask. Blocks are never changed in place, so that a
revision can look at the blocks of before and after.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thalweg.answers.codec import STAR, Bools, Codec
from thalweg.answers.kernels import Index, Statuses, distinct, first, index, members, pairs
from thalweg.answers.shapes import (
    Apart,
    Columns,
    Comparison,
    Computation,
    Evaluation,
    Places,
    Positive,
    Rigid,
    Shape,
    is_implied,
)
from thalweg.columns.keys import matrix
from thalweg.columns.symbols import numbers
from thalweg.language.terms import Compound
from thalweg.protocol import Ints

Witness = dict[int, list[tuple[Shape, int, "Block"]]]
"""Per negated premise, the blocks (with shape and mask) of the query that decided it."""

DEAD = 1 << 62
"""Bit of a row that is excluded but must be remembered: it is an exception to a row with a star."""

IMPOSSIBLE, OPEN, CERTAIN = 0, 1, 2


@dataclass(slots=True, eq=False)
class Block:
    """`length` rows; `bits` says which negated premises are discharged. `seen` remembers, per negated premise, the
    state of its query at the last look; `witness`, where it was judged before its variables were bound, the blocks
    that decided it: the constants in them are exceptions."""

    length: int
    columns: Columns
    bits: Ints
    seen: dict[int, object] = field(default_factory=dict)
    index: Index | None = None
    witness: Witness = field(default_factory=dict)

    def take(self, rows: Ints | Bools) -> Block:
        """Some of the rows."""
        bits = self.bits[rows]
        return self.but([None if c is None else c[rows] for c in self.columns], bits)

    def but(self, columns: Columns, bits: Ints) -> Block:
        """Rows made from these: nothing has been seen of them, what was judged early stays so."""
        return Block(len(bits), columns, bits, witness=self.witness)

    def with_bits(self, bits: Ints) -> Block:
        """The same rows with other bits; what was seen stays seen."""
        return Block(self.length, self.columns, bits, self.seen, self.index, self.witness)

    def statuses(self, shape: Shape, mask: int) -> Statuses:
        """CERTAIN where nothing is missing, IMPOSSIBLE where a row is an excluded exception, else OPEN."""
        if mask != shape.full:
            base = np.full(self.length, OPEN, np.int8)
        else:
            done = (self.bits & shape.discharged) == shape.discharged
            base = np.where(done, np.int8(CERTAIN), np.int8(OPEN))
        if shape.open:
            base[(self.bits & DEAD) != 0] = IMPOSSIBLE
        return base


def start_block(shape: Shape) -> Block:
    """The one row that has met nothing yet."""
    columns: Columns = [None] * len(shape.names)
    for column in shape.open:
        columns[column] = np.array([STAR], np.int64)
    return Block(1, columns, np.zeros(1, np.int64))


def concatenated(blocks: list[Block]) -> Block:
    """Blocks of one shape and mask as one."""
    if len(blocks) == 1:
        return blocks[0]
    columns: Columns = []
    for parts in zip(*(b.columns for b in blocks), strict=True):
        known = [p for p in parts if p is not None]
        columns.append(np.concatenate(known) if known else None)
    witness: Witness = {}
    for block in blocks:
        witness |= block.witness
    bits = np.concatenate([b.bits for b in blocks])
    return Block(len(bits), columns, bits, witness=witness)


class Facts:
    """The facts of one predicate at one time, with the selections and indexes that premises asked for."""

    __slots__ = ("_indexes", "_selections", "args", "length")

    def __init__(self, args: list[Ints], length: int) -> None:
        self.args = args
        self.length = length
        self._selections: dict[object, Facts] = {}
        self._indexes: dict[tuple[int, ...], Index] = {}

    def rows(self) -> Ints:
        """All arguments as a matrix."""
        return matrix(self.args, self.length) if self.args else np.empty((self.length, 0), np.int64)

    def selection(self, premise: Positive) -> Facts:
        """The facts that have the premise's constants and repetitions."""
        if not premise.constants and not premise.repeats:
            return self
        wanted = (premise.constants, premise.repeats)
        if wanted not in self._selections:
            tests = [self.args[position] == code for position, code in premise.constants]
            tests += [self.args[one] == self.args[other] for one, other in premise.repeats]
            keep = tests[0] if len(tests) == 1 else np.logical_and.reduce(tests)
            self._selections[wanted] = self.take(np.flatnonzero(keep))
        return self._selections[wanted]

    def take(self, rows: Ints | Bools) -> Facts:
        """Some of the facts."""
        args = [a[rows] for a in self.args]
        length = (
            len(args[0]) if args else int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
        )
        return Facts(args, length)

    def index(self, positions: tuple[int, ...]) -> Index:
        """A hash index on some arguments."""
        if positions not in self._indexes:
            self._indexes[positions] = index(matrix([self.args[p] for p in positions], self.length))
        return self._indexes[positions]

    def contains(self, other: Facts) -> Bools:
        """Which of the other facts are among these."""
        if not self.args:
            return np.full(other.length, self.length > 0)
        return first(self.index(tuple(range(len(self.args)))), other.rows()) >= 0


def distinct_facts(args: list[Ints], length: int) -> Facts:
    """Facts without repetitions, in order."""
    if not args:
        return Facts([], min(length, 1))
    keep = distinct(matrix(args, length))
    return Facts(args, length) if keep.all() else Facts(args, length).take(keep)


def meet(shape: Shape, mask: int, block: Block, number: int, facts: Facts) -> tuple[Block, Block | None]:
    """Rows of the block joined with the facts for premise `number`: the rows that met one, and those that stay.

    A row whose premise was ground and is there moves; a row whose premise still has variables stays as well,
    because other facts may come. None stays: every row moved.
    """
    facts = facts.selection(shape.positives[number])
    shared, fresh = shape.sides_of(mask, number)
    if fresh or not facts.length:
        return _extended(block, facts, shared, fresh), block
    if not shared:
        return block, None
    hit = first(facts.index(tuple(p for p, _ in shared)), _key(block, [c for _, c in shared])) >= 0
    return (block, None) if hit.all() else (block.take(hit), block.take(~hit))


def moved(shape: Shape, mask: int, block: Block, number: int, facts: Facts) -> Block:
    """Only the rows that met a fact, where those that stay need not be kept."""
    facts = facts.selection(shape.positives[number])
    shared, fresh = shape.sides_of(mask, number)
    if fresh or not facts.length:
        return _extended(block, facts, shared, fresh)
    if not shared:
        return block
    hit = members(facts.index(tuple(p for p, _ in shared)), _key(block, [c for _, c in shared]))
    return block if len(hit) == block.length else block.take(hit)


def _extended(block: Block, facts: Facts, shared: Places, fresh: Places) -> Block:
    """Rows with the columns that facts bring."""
    if not facts.length:
        return block.take(np.empty(0, np.int64))
    if shared:
        left, right = pairs(facts.index(tuple(p for p, _ in shared)), _key(block, [c for _, c in shared]))
    else:
        left = np.repeat(np.arange(block.length), facts.length)
        right = np.tile(np.arange(facts.length), block.length)
    return _gain(block, left, facts, right, fresh)


def _key(block: Block, columns: list[int]) -> Ints:
    parts = [c for c in (block.columns[i] for i in columns) if c is not None]
    return matrix(parts, block.length) if parts else np.empty((block.length, 0), np.int64)


def _gain(block: Block, left: Ints, facts: Facts, right: Ints, fresh: Places) -> Block:
    alone = block.length == 1
    columns: Columns = [None if c is None else c[left] for c in block.columns]
    for position, column in fresh:
        columns[column] = (
            facts.args[position] if alone and len(right) == facts.length else facts.args[position][right]
        )
    return block.but(columns, block.bits[left])


def advance(shape: Shape, before: int, after: int, block: Block, time: int, codec: Codec) -> Block:
    """What the new mask makes possible: background joins, computations, tests; negated premises that became
    ground by it must be judged anew."""
    already = set(shape.closure(before)[0]) if before >= 0 else set()
    for number in shape.closure(after)[0]:
        if number in already or not block.length:
            continue
        operation = shape.operations[number]
        if isinstance(operation, Rigid):
            block = _join_rigid(block, operation)
            continue
        if is_implied(operation) and any(block.columns[c] is None for c in operation.reads):
            continue  # what it is about has been compared, and is not kept
        if isinstance(operation, Apart):
            block = _differing(block, operation)
            continue
        stamps = block.columns[shape.stamp] if shape.stamp is not None else None
        here = Evaluation(
            shape, block.columns, np.full(block.length, time) if stamps is None else stamps, codec
        )
        if isinstance(operation, Comparison):
            keep = here.holds(operation.test)
            block = block if keep.all() else block.take(keep)
        elif isinstance(operation, Computation):
            block = _compute(block, operation, here)
    if shape.operations and block.length:
        block = _without_spent(shape, after, block)
    newly = shape.ground_negatives(after) & ~(shape.ground_negatives(before) if before >= 0 else 0)
    if newly and shape.negatives:
        block = block.but(block.columns, block.bits & ~np.int64(newly))
        block.witness = {j: w for j, w in block.witness.items() if not newly >> j & 1}
    return block


def _differing(block: Block, operation: Apart) -> Block:
    keep = np.zeros(block.length, np.bool_)
    for pair in operation.pairs:
        left, right = (s.code if s.column < 0 else block.columns[s.column] for s in pair)
        keep |= left != right
    return block if keep.all() else block.take(keep)


def _without_spent(shape: Shape, mask: int, block: Block) -> Block:
    """Rows that differ only in what nothing looks at any more are one row."""
    spent = [c for c in shape.spent(mask) if block.columns[c] is not None]
    if not spent:
        return block
    columns: Columns = [None if i in spent else c for i, c in enumerate(block.columns)]
    block = block.but(columns, block.bits)
    known = [c for c in columns if c is not None]
    keep = distinct(matrix([*known, block.bits], block.length))
    return block if keep.all() else block.take(keep)


def _compute(block: Block, operation: Computation, here: Evaluation) -> Block:
    value = here.floats(operation.test.right) if _is_arithmetic(operation) else None
    codes = numbers(value) if value is not None else here.codes(operation.test.right)
    columns = list(block.columns)
    columns[operation.target] = codes
    computed = block.but(columns, block.bits)
    if value is not None and not np.isfinite(value).all():
        return computed.take(np.isfinite(value))
    return computed


def _is_arithmetic(operation: Computation) -> bool:
    return operation.test.op == "is" or isinstance(operation.test.right, Compound)


def _join_rigid(block: Block, rigid: Rigid) -> Block:
    known = [i for i, s in enumerate(rigid.args) if s.column < 0 or block.columns[s.column] is not None]
    fresh = [(i, s.column) for i, s in enumerate(rigid.args) if i not in known]
    rows = _consistent(rigid.rows, fresh)
    key = _rigid_key(block, rigid, known)
    if rigid.negated or not fresh:
        hit = (
            first(index(np.ascontiguousarray(rows[:, known])), key) >= 0
            if known
            else np.full(block.length, len(rows) > 0)
        )
        return block.take(hit != rigid.negated)
    if known:
        left, right = pairs(index(np.ascontiguousarray(rows[:, known])), key)
    else:
        left = np.repeat(np.arange(block.length), len(rows))
        right = np.tile(np.arange(len(rows)), block.length)
    columns: Columns = [None if c is None else c[left] for c in block.columns]
    for position, column in fresh:
        columns[column] = rows[right, position]
    return block.but(columns, block.bits[left])


def _consistent(rows: Ints, fresh: list[tuple[int, int]]) -> Ints:
    """Rows whose repeated new variables agree."""
    places: dict[int, int] = {}
    keep = np.ones(len(rows), np.bool_)
    for position, column in fresh:
        if column in places:
            keep &= rows[:, places[column]] == rows[:, position]
        places.setdefault(column, position)
    return rows if keep.all() else rows[keep]


def _rigid_key(block: Block, rigid: Rigid, known: list[int]) -> Ints:
    parts: list[Ints] = []
    for i in known:
        slot = rigid.args[i]
        column = block.columns[slot.column] if slot.column >= 0 else None
        parts.append(np.full(block.length, slot.code, np.int64) if column is None else column)
    return matrix(parts, block.length) if parts else np.empty((block.length, 0), np.int64)
