"""Kernels for folding: rows in the order of their pair and start, and what is left of each start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import njit
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
def _runs(majors: Codes, minors: Codes, starts: Ints, heads: Codes) -> Codes:
    """Where runs of rows of one pair in the order of their starts begin, and where the last one ends."""
    n = 0
    for k in range(len(starts)):
        if k == 0 or majors[k] != majors[k - 1] or minors[k] != minors[k - 1] or starts[k] < starts[k - 1]:
            heads[n] = k
            n += 1
    heads[n] = len(starts)
    return heads[: n + 1]


@njit(cache=True)
def _by_rank(codes: Codes, ranks: Codes, heads: Codes) -> tuple[Codes, Ints]:
    """The runs by the ranks of their codes, those of one rank as they stood; and where each rank ends. Linear."""
    place = np.zeros(len(ranks) + 1, np.int64)
    for r in range(len(heads) - 1):
        place[ranks[codes[heads[r]]] + 1] += 1
    for rank in range(len(ranks)):
        place[rank + 1] += place[rank]
    found = np.empty(len(heads) - 1, np.int32)
    for r in range(len(heads) - 1):
        rank = ranks[codes[heads[r]]]
        found[place[rank]] = r
        place[rank] += 1
    return found, place


@njit(cache=True)
def _by_minor(minors: Codes, ranks: Codes, heads: Codes, order: Codes, k: int, stop: int) -> None:
    """Bring the runs at the places from k to stop into the order of the ranks of their minors: linear where that is
    one, else for each."""
    lowest = highest = ranks[minors[heads[order[k]]]]
    for n in range(k + 1, stop):
        rank = ranks[minors[heads[order[n]]]]
        lowest, highest = min(lowest, rank), max(highest, rank)
    if lowest == highest:
        return
    runs = order[k:stop].copy()
    rank, to = lowest, k
    while to < stop:
        higher = highest
        for r in runs:
            mine = ranks[minors[heads[r]]]
            if mine == rank:
                order[to] = r
                to += 1
            elif mine > rank:
                higher = min(higher, mine)
        rank = higher


@njit(cache=True)
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
    major, minor, heads = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size + 1, np.int32)
    start, end = np.empty(size, np.int64), np.empty(size, np.int64)
    columns = majors, major_ranks, minors, minor_ranks, starts, ends, ops, signs
    final, rest, wrong = _net(*columns, last, heads, major, minor, start, end)
    return Left(major, minor, start, end, final, rest, wrong)


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
    major: Codes,
    minor: Codes,
    start: Ints,
    end: Ints,
) -> tuple[int, int, int]:
    """`net_rows` into arrays that are given; large ones from NumPy take less time to get than a kernel's own."""
    heads = _runs(majors, minors, starts, heads)
    order, borders = _by_rank(majors, major_ranks, heads)
    unsorted = np.empty(0, np.int32)
    final, rest, k, group, wrong = 0, len(starts), 0, 0, 0
    while k < len(order):
        its_major = major_ranks[majors[heads[order[k]]]]
        if k == group:
            group = borders[its_major]
            _by_minor(minors, minor_ranks, heads, order, k, group)
        its_minor = minor_ranks[minors[heads[order[k]]]]
        stop, in_order = _pair(minors, minor_ranks, starts, heads, order, k, group)
        rows = unsorted if in_order else _sorted_rows(starts, heads, order[k:stop])
        row, end_of_run, n = heads[order[k]], heads[order[k] + 1], 0
        if not in_order:
            row, end_of_run = rows[0], rows[0]
        since, count, until = starts[row], 0, 0
        while True:
            sign = signs[ops[row]]
            count += sign
            until += sign * ends[row]
            if in_order:  # the next row of the run, or the first of the next run
                row += 1
                if row == end_of_run:
                    k += 1
                    if k < stop:
                        row, end_of_run = heads[order[k]], heads[order[k] + 1]
                done = k == stop
            else:
                n += 1
                done = n == len(rows)
                row = row if done else rows[n]
            if not done and starts[row] == since:
                continue
            if count < 0 or count > 1:
                wrong = count
            if count == 1:
                if until <= last:
                    place = final
                    final += 1
                else:
                    rest -= 1
                    place = rest
                major[place], minor[place], start[place], end[place] = its_major, its_minor, since, until
            if done:
                break
            since, count, until = starts[row], 0, 0
        k = stop
    return final, rest, wrong


@njit(cache=True)
def fill_missing(valid: npt.NDArray[np.uint8], offset: int, filler: int, values: Ints) -> None:
    """Write the filler where the bits of an Arrow column, from the offset on, say that there is no value."""
    for k in range(len(values)):
        if not (valid[(offset + k) >> 3] >> np.uint8((offset + k) & 7)) & 1:
            values[k] = filler
