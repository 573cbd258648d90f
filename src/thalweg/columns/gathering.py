"""Each id once: what its rows come to together.

Ids stand for instances; causes are numbers of rows, `TIME` where there is none.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.columns.sorting import distinct_ids
from thalweg.protocol import Ints

TIME = -1
"""The cause of what changed only because the window moved."""


def runs(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Positions starts[i] .. starts[i] + sizes[i] - 1 for every i: the i of each, and the position."""
    owners = np.repeat(np.arange(len(starts)), sizes)
    return owners, np.arange(len(owners)) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)


@njit(cache=True)
def _place(sorted_ids: Ints, wanted: int, near: int) -> int:
    """Where an id stands, looking first at a place and at the one after it; the length where it does not."""
    n = len(sorted_ids)
    if near < n and sorted_ids[near] == wanted:
        return near
    if near + 1 < n and sorted_ids[near + 1] == wanted:
        return near + 1
    lo, hi = 0, n
    while lo < hi:
        mid = (lo + hi) >> 1
        if sorted_ids[mid] < wanted:
            lo = mid + 1
        else:
            hi = mid
    return lo if lo < n and sorted_ids[lo] == wanted else n


@njit(cache=True)
def _positions(sorted_ids: Ints, ids: Ints) -> Ints:
    """Where each id stands among those that are not much fewer than the largest of them."""
    places = np.empty(sorted_ids[-1] + 1, np.int32)
    for k in range(len(sorted_ids)):
        places[sorted_ids[k]] = k
    out = np.empty(len(ids), np.int64)
    for k in range(len(ids)):
        out[k] = places[ids[k]]
    return out


@njit(cache=True)
def _hulls(ids: Ints, lows: Ints, highs: Ints, causes: Ints) -> Ints:
    once = distinct_ids(ids)
    dense = len(once) > 0 and once[-1] < 8 * len(ids)
    positions = _positions(once, ids) if dense else once[:0]
    out = np.empty((4, len(once)), np.int64)
    out[0] = once
    low, high, cause = out[1], out[2], out[3]
    known = np.zeros(len(once), np.bool_)
    at = 0
    for k in range(len(ids)):
        at = positions[k] if len(positions) else _place(once, ids[k], at)
        if not known[at]:
            known[at] = True
            low[at], high[at], cause[at] = lows[k], highs[k], causes[k]
            continue
        low[at] = min(low[at], lows[k])
        high[at] = max(high[at], highs[k])
        cause[at] = max(cause[at], causes[k])
    return out


def hulls(ids: Ints, lows: Ints, highs: Ints, causes: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Each id once, ascending, with its least low, its greatest high and its largest cause."""
    once, low, high, cause = _hulls(ids, lows, highs, causes)
    return once, low, high, cause


@njit(cache=True)
def _largest(wanted: Ints, ids: Ints, causes: Ints, out: Ints) -> None:
    if wanted[-1] < 8 * len(ids):
        places = np.full(wanted[-1] + 1, -1, np.int32)
        for k in range(len(wanted)):
            places[wanted[k]] = k
        for k in range(len(ids)):
            if causes[k] != TIME and ids[k] < len(places) and places[ids[k]] >= 0:
                at = places[ids[k]]
                out[at] = max(out[at], causes[k])
        return
    at = 0
    for k in range(len(ids)):
        if causes[k] == TIME:
            continue
        found = _place(wanted, ids[k], at)
        if found < len(wanted):
            at = found
            out[at] = max(out[at], causes[k])


def cause_by_id(wanted: Ints, ids: Ints, causes: Ints | None) -> Ints:
    """The largest cause of each of some ascending ids."""
    found = np.empty(len(wanted), np.int64)
    found.fill(TIME)
    if len(wanted) and causes is not None and causes.strides != (0,):
        _largest(wanted, ids, causes, found)
    return found
