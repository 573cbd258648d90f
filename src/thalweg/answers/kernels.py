"""Joins on rows of int64: chained hash indexes, membership, pairs, best status, distinct rows.

All are linear in their inputs and outputs. Rows are C-ordered matrices, one row per tuple.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import njit
from thalweg.protocol import Ints

Bools = npt.NDArray[np.bool_]
Statuses = npt.NDArray[np.int8]
Links = npt.NDArray[np.int32]


@njit(cache=True)
def _hash(rows: Ints, i: int, mask: np.uint64) -> np.int64:
    h = np.uint64(0x9E3779B97F4A7C15)
    for c in range(rows.shape[1]):
        h ^= np.uint64(rows[i, c])
        h *= np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    return np.int64(h & mask)


@njit(cache=True)
def _equal(left: Ints, i: int, right: Ints, j: int) -> bool:
    for c in range(left.shape[1]):
        if left[i, c] != right[j, c]:
            return False
    return True


@njit(cache=True)
def _build(rows: Ints, heads: Links, following: Links) -> None:
    """Chain the rows by hash; backwards, so that every chain is in order of position."""
    mask = np.uint64(len(heads) - 1)
    for i in range(len(rows) - 1, -1, -1):
        slot = _hash(rows, i, mask)
        following[i] = heads[slot]
        heads[slot] = i


@njit(cache=True)
def _first(rows: Ints, heads: Links, following: Links, probe: Ints, out: Ints) -> None:
    mask = np.uint64(len(heads) - 1)
    for i in range(len(probe)):
        j = heads[_hash(probe, i, mask)]
        while j >= 0 and not _equal(rows, j, probe, i):
            j = following[j]
        out[i] = j


@njit(cache=True)
def _members(rows: Ints, heads: Links, following: Links, probe: Ints, out: Ints) -> int:
    mask = np.uint64(len(heads) - 1)
    n = 0
    for i in range(len(probe)):
        j = heads[_hash(probe, i, mask)]
        while j >= 0 and not _equal(rows, j, probe, i):
            j = following[j]
        if j >= 0:
            out[n] = i
            n += 1
    return n


@njit(cache=True)
def _count(rows: Ints, heads: Links, following: Links, probe: Ints) -> int:
    mask = np.uint64(len(heads) - 1)
    total = 0
    for i in range(len(probe)):
        j = heads[_hash(probe, i, mask)]
        while j >= 0:
            if _equal(rows, j, probe, i):
                total += 1
            j = following[j]
    return total


@njit(cache=True)
def _pairs(rows: Ints, heads: Links, following: Links, probe: Ints, left: Ints, right: Ints) -> None:
    mask = np.uint64(len(heads) - 1)
    n = 0
    for i in range(len(probe)):
        j = heads[_hash(probe, i, mask)]
        while j >= 0:
            if _equal(rows, j, probe, i):
                left[n] = i
                right[n] = j
                n += 1
            j = following[j]


@njit(cache=True)
def _best(rows: Ints, heads: Links, following: Links, status: Statuses, probe: Ints, out: Statuses) -> None:
    mask = np.uint64(len(heads) - 1)
    for i in range(len(probe)):
        j = heads[_hash(probe, i, mask)]
        while j >= 0:
            if status[j] > out[i] and _equal(rows, j, probe, i):
                out[i] = status[j]
            j = following[j]


@njit(cache=True)
def _distinct(rows: Ints, heads: Links, following: Links, keep: Bools) -> None:
    mask = np.uint64(len(heads) - 1)
    for i in range(len(rows)):
        slot = _hash(rows, i, mask)
        j = heads[slot]
        while j >= 0 and not _equal(rows, j, rows, i):
            j = following[j]
        if j < 0:
            keep[i] = True
            following[i] = heads[slot]
            heads[slot] = i


class Index(NamedTuple):
    """Rows and their hash chains."""

    rows: Ints
    heads: Links
    following: Links


def _room(length: int) -> Links:
    return np.full(1 << max(4, (2 * length - 1).bit_length()), -1, np.int32)


def index(rows: Ints) -> Index:
    """A hash index of the rows."""
    built = Index(rows, _room(len(rows)), np.empty(len(rows), np.int32))
    _build(*built)
    return built


def first(known: Index, probe: Ints) -> Ints:
    """Position of the first indexed row equal to each probe, -1 where there is none."""
    out = np.empty(len(probe), np.int64)
    _first(*known, probe, out)
    return out


def members(known: Index, probe: Ints) -> Ints:
    """Positions of the probes that are among the indexed rows."""
    out = np.empty(len(probe), np.int64)
    return out[: _members(*known, probe, out)]


def pairs(known: Index, probe: Ints) -> tuple[Ints, Ints]:
    """All pairs (probe position, indexed position) of equal rows, by probe, then by position."""
    total = _count(*known, probe)
    left, right = np.empty(total, np.int64), np.empty(total, np.int64)
    _pairs(*known, probe, left, right)
    return left, right


def best(known: Index, status: Statuses, probe: Ints) -> Statuses:
    """The highest status among the indexed rows equal to each probe, 0 where there is none."""
    out = np.zeros(len(probe), np.int8)
    _best(*known, status, probe, out)
    return out


def distinct(rows: Ints) -> Bools:
    """True at the first occurrence of every row."""
    keep = np.zeros(len(rows), np.bool_)
    _distinct(rows, _room(len(rows)), np.empty(len(rows), np.int32), keep)
    return keep


# --------------------------------------------------------------------------- columns of rows


@njit(cache=True)
def clock_steps(
    arrival: Ints, time: Ints, clock: int, start: int, lateness: int, step: Ints
) -> bool:
    """Fill in when each row takes effect; true when none is too early or too late."""
    good = True
    for i in range(len(time)):
        step[i] = max(max(arrival[i], time[i]), clock + 1)
        good = good and start <= time[i] and step[i] <= time[i] + lateness
    return good


class Extent(NamedTuple):
    """First and last step, first and last time of some rows, and whether they retract anything."""

    first: int
    last: int
    earliest: int
    latest: int
    retracts: bool


@njit(cache=True)
def _extent(step: Ints, time: Ints, op: Ints) -> tuple[int, int, int, int, bool]:
    first, last, earliest, latest, retracts = step[0], step[0], time[0], time[0], False
    for i in range(len(step)):
        first, last = min(first, step[i]), max(last, step[i])
        earliest, latest = min(earliest, time[i]), max(latest, time[i])
        retracts = retracts or op[i] < 0
    return first, last, earliest, latest, retracts


def extent(step: Ints, time: Ints, op: Ints) -> Extent:
    """What one look at some rows tells; there is at least one."""
    return Extent(*_extent(step, time, op))
