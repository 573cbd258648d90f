"""Kernels for folding: rows in the order of their pair and start, and what is left of each start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

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


@njit(cache=True)
def _by_rank(codes: Codes, ranks: Codes, order: Codes) -> Codes:
    """The rows of `order` by the ranks of their codes, those of one rank as they stood. Linear."""
    place = np.zeros(len(ranks) + 1, np.int64)
    for k in range(len(codes)):
        place[ranks[codes[k]] + 1] += 1
    for r in range(len(ranks)):
        place[r + 1] += place[r]
    found = np.empty(len(order), np.int32)
    for k in range(len(order)):
        rank = ranks[codes[order[k]]]
        found[place[rank]] = order[k]
        place[rank] += 1
    return found


@njit(cache=True)
def _pair(majors: Codes, minors: Codes, starts: Ints, order: Codes, k: int) -> int:
    """Where the rows of the pair at place `k` end; they are brought into the order of their starts."""
    major, minor = majors[order[k]], minors[order[k]]
    stop, latest, in_order = k + 1, starts[order[k]], True
    while stop < len(order):
        row = order[stop]
        if majors[row] != major or minors[row] != minor:
            break
        in_order &= starts[row] >= latest
        latest = starts[row]
        stop += 1
    if not in_order:
        rows = order[k:stop].copy()
        order[k:stop] = rows[np.argsort(starts[rows], kind="mergesort")]
    return stop


@njit(cache=True)
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

    Linear where the rows of a pair come in the order of their starts, as those of consecutive windows do.
    """
    size = len(starts)
    order = np.empty(size, np.int32)
    for k in range(size):
        order[k] = k
    if len(minor_ranks) > 1:
        order = _by_rank(minors, minor_ranks, order)
    order = _by_rank(majors, major_ranks, order)
    major, minor = np.empty(size, np.int32), np.empty(size, np.int32)
    start, end = np.empty(size, np.int64), np.empty(size, np.int64)
    final, rest, k, stop, wrong = 0, size, 0, 0, 0
    while k < size:
        if k == stop:
            stop = _pair(majors, minors, starts, order, k)
        row, count, until = order[k], 0, 0
        while k < stop and starts[order[k]] == starts[row]:
            sign = signs[ops[order[k]]]
            count += sign
            until += sign * ends[order[k]]
            k += 1
        if count < 0 or count > 1:
            wrong = count
        if count != 1:
            continue
        if until <= last:
            place = final
            final += 1
        else:
            rest -= 1
            place = rest
        major[place], minor[place] = major_ranks[majors[row]], minor_ranks[minors[row]]
        start[place], end[place] = starts[row], until
    return Left(major, minor, start, end, final, rest, wrong)
