"""Kernels for folding: rows in the order of their pair and start, and what is left of each start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.columns import recycling
from thalweg.columns.compiled import kernel, njit, part
from thalweg.protocol import Ints, Ops

Codes = npt.NDArray[np.int32]


class Left(NamedTuple):
    """Intervals: the ranks of their major and minor texts, starts and ends. Before the place `final` stand those that
    are final, from the place `rest` on the others, the last one first. `wrong` is 0, or the count of an interval that
    is neither there once nor not there."""

    major: Codes
    minor: Codes
    start: Ints
    end: Ints
    final: int
    rest: int
    wrong: int


Columns = tuple[Codes, Codes, Ints, Ints]
"""Where what is left is written: majors, minors, starts and ends."""
Reached = tuple[int, int, int]
"""`final`, `rest` and `wrong` so far."""


@kernel
def _runs(majors: Codes, minors: Codes, starts: Ints, heads: Codes) -> int:
    """Where runs of rows of one pair in the order of their starts begin, and where the last one ends; returns how many
    places these are."""
    n = 0
    for k in range(len(starts)):
        if k == 0 or majors[k] != majors[k - 1] or minors[k] != minors[k - 1] or starts[k] < starts[k - 1]:
            heads[n] = k
            n += 1
    heads[n] = len(starts)
    return n + 1


@njit(cache=True)
def _by_rank(codes: Codes, ranks: Codes, heads: Codes, runs: Codes) -> tuple[Codes, Ints]:
    """The runs by the ranks of their codes, those of one rank as they stood; and where each rank ends. Linear."""
    place = np.zeros(len(ranks) + 1, np.int64)
    for r in runs:
        place[ranks[codes[heads[r]]] + 1] += 1
    for rank in range(len(ranks)):
        place[rank + 1] += place[rank]
    found = np.empty(len(runs), np.int32)
    for r in runs:
        rank = ranks[codes[heads[r]]]
        found[place[rank]] = r
        place[rank] += 1
    return found, place


@part
def _pair(
    minors: Codes, ranks: Codes, starts: Ints, heads: Codes, order: Codes, k: int, stop: int
) -> tuple[int, bool]:
    """Where the runs of the pair at place k end, at `stop` at most; and whether they follow each other in time."""
    end, in_order = k + 1, True
    while end < stop and ranks[minors[heads[order[end]]]] == ranks[minors[heads[order[k]]]]:
        in_order &= starts[heads[order[end]]] >= starts[heads[order[end - 1] + 1] - 1]
        end += 1
    return end, in_order


@njit(cache=True)
def _sorted_rows(starts: Ints, heads: Codes, runs: Codes) -> Codes:
    """The rows of the runs of one pair in the order of their starts."""
    size = 0
    for r in runs:
        size += heads[r + 1] - heads[r]
    rows = np.empty(size, np.int32)
    n = 0
    for r in runs:
        for row in range(heads[r], heads[r + 1]):
            rows[n] = row
            n += 1
    return rows[np.argsort(starts[rows], kind="mergesort")]


def net_rows(
    majors: Codes,
    major_ranks: Codes,
    minors: Codes,
    minor_ranks: Codes,
    starts: Ints,
    ends: Ints,
    ops: Codes,
    signs: Ops,
    last: int,
) -> Left:
    """What insertions (sign 1) and deletions (-1) leave of each (major, minor, start), in the order of the ranks. Codes
    point into ranks, ops into signs. The end of what is left is the sum of the signed ends; what ends by `last` is
    final.

    Linear where the rows of a pair come in the order of their starts, as those of consecutive windows do; runs of them
    are moved as a whole.
    """
    size = len(starts)
    major, minor, heads = (recycling.empty(length, np.int32) for length in (size, size, size + 1))
    out = major, minor, recycling.empty(size, np.int64), recycling.empty(size, np.int64)
    columns = majors, major_ranks, minors, minor_ranks, starts, ends, ops, signs
    return Left(*out, *_net(*columns, last, heads, out))


@part
def _left(
    count: int,
    until: int,
    since: int,
    major: int,
    minor: int,
    last: int,
    out: Columns,
    so_far: Reached,
) -> Reached:
    """Write down what is left of one start."""
    (majors, minors, starts, ends), (final, rest, wrong) = out, so_far
    if count == 1:
        if until <= last:
            place = final
            final += 1
        else:
            rest -= 1
            place = rest
        majors[place], minors[place], starts[place], ends[place] = major, minor, since, until
    elif count != 0:
        wrong = count
    return final, rest, wrong


@kernel
def _fold_in_order(
    majors: Codes,
    major_ranks: Codes,
    minors: Codes,
    minor_ranks: Codes,
    starts: Ints,
    ends: Ints,
    ops: Codes,
    signs: Ops,
    last: int,
    heads: Codes,
    order: Codes,
    borders: Ints,
    k: int,
    out: Columns,
    so_far: Reached,
) -> tuple[int, Reached]:
    """Fold pairs from the run at place k on, as long as the runs of each follow each other in time. Returns the place
    of the first run of a pair of which they do not, and how far it came."""
    while k < len(order):
        its_major = major_ranks[majors[heads[order[k]]]]
        its_minor = minor_ranks[minors[heads[order[k]]]]
        stop, in_order = _pair(minors, minor_ranks, starts, heads, order, k, borders[its_major])
        if not in_order:
            break
        since, count, until = starts[heads[order[k]]], 0, 0
        for n in range(k, stop):
            for row in range(heads[order[n]], heads[order[n] + 1]):
                if starts[row] != since:
                    so_far = _left(count, until, since, its_major, its_minor, last, out, so_far)
                    since, count, until = starts[row], 0, 0
                sign = signs[ops[row]]
                count += sign
                until += sign * ends[row]
        so_far = _left(count, until, since, its_major, its_minor, last, out, so_far)
        k = stop
    return k, so_far


@kernel
def _fold_rows(
    rows: Codes,
    its_major: int,
    its_minor: int,
    starts: Ints,
    ends: Ints,
    ops: Codes,
    signs: Ops,
    last: int,
    out: Columns,
    so_far: Reached,
) -> Reached:
    """Fold the rows of one pair, which are in the order of their starts."""
    since, count, until = starts[rows[0]], 0, 0
    for row in rows:
        if starts[row] != since:
            so_far = _left(count, until, since, its_major, its_minor, last, out, so_far)
            since, count, until = starts[row], 0, 0
        sign = signs[ops[row]]
        count += sign
        until += sign * ends[row]
    return _left(count, until, since, its_major, its_minor, last, out, so_far)


@njit(cache=True)
def _net(
    majors: Codes,
    major_ranks: Codes,
    minors: Codes,
    minor_ranks: Codes,
    starts: Ints,
    ends: Ints,
    ops: Codes,
    signs: Ops,
    last: int,
    heads: Codes,
    out: Columns,
) -> Reached:
    """`net_rows` into arrays that are given."""
    heads = heads[: _runs(majors, minors, starts, heads)]
    runs = np.arange(len(heads) - 1).astype(np.int32)
    order, borders = _by_rank(majors, major_ranks, heads, _by_rank(minors, minor_ranks, heads, runs)[0])
    changes = starts, ends, ops, signs, last
    k, so_far = 0, (0, len(starts), 0)
    while True:
        k, so_far = _fold_in_order(
            majors, major_ranks, minors, minor_ranks, *changes, heads, order, borders, k, out, so_far
        )
        if k == len(order):
            return so_far
        row = heads[order[k]]
        its_major, its_minor = major_ranks[majors[row]], minor_ranks[minors[row]]
        stop, _ = _pair(minors, minor_ranks, starts, heads, order, k, borders[its_major])
        rows = _sorted_rows(starts, heads, order[k:stop])
        so_far = _fold_rows(rows, its_major, its_minor, *changes, out, so_far)
        k = stop


@njit(cache=True)
def fill_missing(valid: npt.NDArray[np.uint8], offset: int, filler: int, values: Ints) -> None:
    """Write the filler where the bits of an Arrow column, from the offset on, say that there is no value."""
    for k in range(len(values)):
        if not (valid[(offset + k) >> 3] >> np.uint8((offset + k) & 7)) & 1:
            values[k] = filler
