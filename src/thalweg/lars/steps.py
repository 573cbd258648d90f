"""The steps of a rule body over a frame of bindings.

A frame is a matrix of variable slots and pieces (row of the matrix, from, to): under the bindings of that row the
literals so far are true at those ticks. Joining intersects, negation subtracts, tests drop pieces.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit, part
from thalweg.columns.computing import power, quotient, rounded
from thalweg.lars.labels import COUNT, HI, LO, NEXT, gather, subtract
from thalweg.lars.tuples import Links, hash_some, slot_of
from thalweg.lars.windows import NONE, clip
from thalweg.protocol import Ints

_rounded, _quotient, _power = part(rounded), part(quotient), part(power)

BOUND, NEW, SKIP = range(3)
"""What a column of a literal does: must equal a slot; gives a slot its value; is not looked at."""
BY_KEY, BY_CHAIN, BY_SCAN = range(3)
"""How the tuples of a literal are found."""


@njit(cache=True)
def seed(keys: Ints, pieces: Ints, spec: Ints, window: Ints, base: Ints, rows: Ints, out: Ints) -> int:
    """Bind a literal to changed tuples (id, from, to); `base` holds the constants of the rule."""
    n = 0
    for k in range(len(pieces)):
        i = pieces[k, 0]
        s = pieces[k, 1]
        e = pieces[k, 2]
        if window[0] != NONE:
            s, e = clip(window, keys[i, window[1]], s, e)
            if s > e:
                continue
        rows[n] = base
        good = True
        for c in range(len(spec)):
            if spec[c, 0] == NEW:
                rows[n, spec[c, 1]] = keys[i, c]
            elif spec[c, 0] == BOUND and rows[n, spec[c, 1]] != keys[i, c]:
                good = False
                break
        if good:
            out[n, 0] = n
            out[n, 1] = s
            out[n, 2] = e
            n += 1
    return n


@njit(cache=True)
def _agrees(row: Ints, keys: Ints, i: int, spec: Ints) -> bool:
    """Does tuple i agree with the row? New slots of the row are filled on the way."""
    for c in range(len(spec)):
        if spec[c, 0] == NEW:
            row[spec[c, 1]] = keys[i, c]
        elif spec[c, 0] == BOUND and row[spec[c, 1]] != keys[i, c]:
            return False
    return True


@njit(cache=True)
def _firsts(
    rows: Ints, pieces: Ints, keys: Ints, table: Links, meta: Ints, heads: Links, wanted: Ints, spec: Ints,
    how: int, j: int,
) -> Ints:  # fmt: skip
    """For each piece the first tuple to look at, -1 where there is none. All of them before any is looked at: a
    processor waits as long for many places in memory as for one."""
    out = np.empty(len(pieces), np.int64)
    probe = np.empty(len(spec), np.int64)
    for k in range(len(pieces)):
        for c in range(len(spec)):
            if spec[c, 0] == BOUND:
                probe[c] = rows[pieces[k, 0], spec[c, 1]]
        if how == BY_KEY:
            out[k] = table[slot_of(keys, table, probe)] - 1
        elif how == BY_CHAIN:
            out[k] = heads[j, hash_some(probe, wanted, j) & (heads.shape[1] - 1)] - 1
        else:
            out[k] = 0 if meta[COUNT] > 0 else -1
    return out


@njit(cache=True)
def _next(chain: Links, meta: Ints, how: int, j: int, i: int) -> int:
    if how == BY_KEY:
        return -1
    if how == BY_CHAIN:
        return int(chain[i, j]) - 1
    return i + 1 if i + 1 < meta[COUNT] else -1


@njit(cache=True)
def join(
    rows: Ints,
    pieces: Ints,
    keys: Ints,
    lab: Ints,
    nodes: Ints,
    table: Links,
    meta: Ints,
    chain: Links,
    heads: Links,
    wanted: Ints,
    spec: Ints,
    window: Ints,
    how: int,
    j: int,
    ghosts: Ints,
    out_rows: Ints,
    out: Ints,
) -> int:
    """Extend each piece by the tuples that agree with it, over the common ticks.

    What the round took away counts too, where `ghosts` has a row for each tuple. Returns the number of
    pieces found; where that is more than `out` can hold the call is repeated with more room.
    """
    n = 0
    room = len(out)
    first = _firsts(rows, pieces, keys, table, meta, heads, wanted, spec, how, j)
    row = np.empty(rows.shape[1], np.int64)
    for k in range(len(pieces)):
        row[:] = rows[pieces[k, 0]]
        i = first[k]
        while i >= 0:
            if _agrees(row, keys, i, spec):
                lo = lab[i, LO]
                hi = lab[i, HI]
                at = lab[i, NEXT]
                haunted = i < len(ghosts) and ghosts[i, 0] <= ghosts[i, 1]
                while True:
                    s = max(lo, pieces[k, 1])
                    e = min(hi, pieces[k, 2])
                    if window[0] != NONE:
                        s, e = clip(window, keys[i, window[1]], s, e)
                    if s <= e:
                        if n < room:
                            out_rows[n] = row
                            out[n, 0] = n
                            out[n, 1] = s
                            out[n, 2] = e
                        n += 1
                    if at >= 0:
                        lo = nodes[at, 0]
                        hi = nodes[at, 1]
                        at = nodes[at, 2]
                    elif haunted:
                        lo = ghosts[i, 0]
                        hi = ghosts[i, 1]
                        haunted = False
                    else:
                        break
            i = _next(chain, meta, how, j, i)
    return n


@njit(cache=True)
def anti(
    rows: Ints,
    pieces: Ints,
    keys: Ints,
    lab: Ints,
    nodes: Ints,
    table: Links,
    meta: Ints,
    chain: Links,
    heads: Links,
    wanted: Ints,
    spec: Ints,
    how: int,
    j: int,
    out: Ints,
) -> int:
    """Take from each piece the ticks at which some tuple agrees with it; returns the number of pieces left.

    Where that is more than `out` can hold the call is repeated with more room.
    """
    n = 0
    room = len(out)
    first = _firsts(rows, pieces, keys, table, meta, heads, wanted, spec, how, j)
    row = np.empty(rows.shape[1], np.int64)
    left = np.empty((8, 2), np.int64)
    for k in range(len(pieces)):
        row[:] = rows[pieces[k, 0]]
        left[0, 0] = pieces[k, 1]
        left[0, 1] = pieces[k, 2]
        m = 1
        i = first[k]
        while i >= 0 and m > 0:
            if _agrees(row, keys, i, spec):
                labels = gather(lab, nodes, i)
                for q in range(len(labels)):
                    if m + 1 >= len(left):
                        more = np.empty((2 * len(left), 2), np.int64)
                        more[:m] = left[:m]
                        left = more
                    m = subtract(left, m, labels[q, 0], labels[q, 1])
            i = _next(chain, meta, how, j, i)
        for q in range(m):
            if n < room:
                out[n, 0] = pieces[k, 0]
                out[n, 1] = left[q, 0]
                out[n, 2] = left[q, 1]
            n += 1
    return n


# --------------------------------------------------------------------------- tests and computations

(
    PUSH_SLOT,
    PUSH_CONST,
    ADD,
    SUB,
    MUL,
    DIV,
    INT_DIV,
    FLOOR_DIV,
    MOD,
    POWER,
    MIN,
    MAX,
    NEG,
    ABS,
    FLOOR,
    CEILING,
    ROUND,
    TRUNCATE,
    SQRT,
    LT,
    LE,
    GT,
    GE,
    EQ,
    NE,
    SAME,
    DIFFERENT,
    ASSIGN,
    COPY,
) = range(29)
"""Instructions; the comparisons end a test, ASSIGN and COPY give a slot its value."""


@njit(cache=True)
def evaluate(rows: Ints, pieces: Ints, code: Ints, out: Ints) -> int:
    """Run (instruction, argument) pairs on each piece's row; keeps the pieces that pass. A value that does not exist
    (division by zero, root of a negative number, beyond the range of a float) is not a number: a comparison with it is
    false. The argument of a comparison is 1 where it is to be false."""
    n = 0
    stack = np.empty(len(code) + 2, np.float64)
    for k in range(len(pieces)):
        r = pieces[k, 0]
        top = 0
        good = True
        for c in range(len(code)):
            op = code[c, 0]
            arg = code[c, 1]
            if op == PUSH_SLOT:
                stack[top] = np.int64(rows[r, arg]).view(np.float64)
                top += 1
                continue
            if op == PUSH_CONST:
                stack[top] = np.int64(arg).view(np.float64)
                top += 1
                continue
            if op == SAME or op == DIFFERENT:
                same = rows[r, arg // 65536] == rows[r, arg % 65536]
                good = same if op == SAME else not same
            elif op == COPY:
                rows[r, arg // 65536] = rows[r, arg % 65536]
            elif op == ASSIGN:
                top -= 1
                value = stack[top] + 0.0
                if np.isfinite(value):
                    rows[r, arg] = np.float64(value).view(np.int64)
                else:
                    good = False
            elif op == NEG:
                stack[top - 1] = -stack[top - 1]
            elif op == ABS:
                stack[top - 1] = abs(stack[top - 1])
            elif op == FLOOR:
                stack[top - 1] = np.floor(stack[top - 1])
            elif op == CEILING:
                stack[top - 1] = np.ceil(stack[top - 1])
            elif op == ROUND:
                stack[top - 1] = _rounded(stack[top - 1])
            elif op == TRUNCATE:
                stack[top - 1] = np.trunc(stack[top - 1])
            elif op == SQRT:
                stack[top - 1] = np.sqrt(stack[top - 1]) if stack[top - 1] >= 0.0 else np.nan
            else:
                top -= 1
                a = stack[top - 1]
                b = stack[top]
                if op == ADD:
                    stack[top - 1] = a + b
                elif op == SUB:
                    stack[top - 1] = a - b
                elif op == MUL:
                    stack[top - 1] = a * b
                elif op == DIV or op == INT_DIV or op == FLOOR_DIV or op == MOD:
                    if b == 0.0:
                        stack[top - 1] = np.nan
                    elif op == DIV:
                        stack[top - 1] = a / b
                    elif op == INT_DIV:
                        stack[top - 1] = _quotient(a, b)
                    elif op == FLOOR_DIV:
                        stack[top - 1] = a // b
                    else:
                        stack[top - 1] = a % b
                elif op == POWER:
                    stack[top - 1] = _power(a, b)
                elif op == MIN:
                    stack[top - 1] = np.minimum(a, b)
                elif op == MAX:
                    stack[top - 1] = np.maximum(a, b)
                else:
                    top -= 1
                    true = (
                        (op == LT and a < b)
                        or (op == LE and a <= b)
                        or (op == GT and a > b)
                        or (op == GE and a >= b)
                        or (op == EQ and a == b)
                        or (op == NE and a < b)
                        or (op == NE and a > b)
                    )
                    good = true != (arg == 1)
                if op <= POWER and np.isinf(stack[top - 1]):
                    stack[top - 1] = np.nan
            if not good:
                break
        if good:
            out[n, 0] = r
            out[n, 1] = pieces[k, 1]
            out[n, 2] = pieces[k, 2]
            n += 1
    return n
