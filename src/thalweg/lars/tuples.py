"""Kernels that find and enter tuples: a hash table over all columns, and chains of tuples that agree on some of them.

Tuples have dense ids; `table`, `chain` and `heads` hold ids plus one, so that 0 says "none". `wanted` has a row for
each set of chains: a flag for each column that the tuples of a chain share.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import njit
from thalweg.lars.labels import COUNT, FOREVER, FREE, HI, LO, NEXT
from thalweg.protocol import Ints

Links = npt.NDArray[np.int32]
"""Ids of tuples plus one, 0 for none."""


@njit(cache=True)
def hash_row(row: Ints) -> int:
    """A spread of all columns."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for c in range(len(row)):
        h ^= np.uint64(row[c])
        h *= np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    return int(np.int64(h >> np.uint64(1)))


@njit(cache=True)
def hash_some(row: Ints, wanted: Ints, j: int) -> int:
    """A spread of the columns whose flag in row j of `wanted` is 1."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for c in range(len(row)):
        if wanted[j, c] == 1:
            h ^= np.uint64(row[c])
            h *= np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
    return int(np.int64(h >> np.uint64(1)))


@njit(cache=True)
def slot_of(keys: Ints, table: Links, row: Ints) -> int:
    """Where the row stands in the table, or the free slot where it would."""
    return slot_from(keys, table, row, hash_row(row) & (len(table) - 1))


@njit(cache=True, inline="always")
def slot_from(keys: Ints, table: Links, row: Ints, at: int) -> int:
    """The same, for a row whose hash points to the slot `at`."""
    mask = len(table) - 1
    while table[at] != 0:
        held = table[at] - 1
        same = True
        for c in range(len(row)):
            if keys[held, c] != row[c]:
                same = False
                break
        if same:
            break
        at = (at + 1) & mask
    return at


@njit(cache=True)
def enter(
    keys: Ints, lab: Ints, table: Links, meta: Ints, chain: Links, heads: Links, wanted: Ints, row: Ints
) -> int:
    """The id of a tuple, new where it was unknown. The caller has made room."""
    at = slot_of(keys, table, row)
    if table[at] != 0:
        return int(table[at]) - 1
    i: int = meta[COUNT]
    meta[COUNT] += 1
    table[at] = i + 1
    for c in range(len(row)):
        keys[i, c] = row[c]
    lab[i, LO] = 1
    lab[i, HI] = 0
    lab[i, NEXT] = -1
    link(keys, chain, heads, wanted, i, i + 1)
    return i


@njit(cache=True, inline="always")
def link(keys: Ints, chain: Links, heads: Links, wanted: Ints, first: int, after: int) -> None:
    """Put new tuples, from an id to before another, into their chains."""
    buckets = heads.shape[1] - 1
    for j in range(len(wanted)):
        for i in range(first, after):
            bucket = hash_some(keys[i], wanted, j) & buckets
            chain[i, j] = heads[j, bucket]
            heads[j, bucket] = i + 1


@njit(cache=True)
def enter_all(
    keys: Ints,
    lab: Ints,
    table: Links,
    meta: Ints,
    chain: Links,
    heads: Links,
    wanted: Ints,
    rows: Ints,
    out: Ints,
) -> None:
    for k in range(len(rows)):
        out[k] = enter(keys, lab, table, meta, chain, heads, wanted, rows[k])


@njit(cache=True)
def find(keys: Ints, table: Links, rows: Ints, out: Ints) -> None:
    for k in range(len(rows)):
        out[k] = table[slot_of(keys, table, rows[k])] - 1


@njit(cache=True)
def with_prefix(keys: Ints, chain: Links, heads: Links, wanted: Ints, j: int, rows: Ints, out: Ints) -> int:
    n = 0
    width = rows.shape[1]
    full = np.zeros(keys.shape[1], np.int64)
    for k in range(len(rows)):
        full[:width] = rows[k]
        i = heads[j, hash_some(full, wanted, j) & (heads.shape[1] - 1)] - 1
        while i >= 0:
            same = True
            for c in range(width):
                if keys[i, c] != rows[k, c]:
                    same = False
                    break
            if same:
                out[n] = i
                n += 1
            i = chain[i, j] - 1
    return n


@njit(cache=True)
def rehash(keys: Ints, table: Links, meta: Ints, chain: Links, heads: Links, wanted: Ints) -> None:
    """Fill an empty table and empty buckets with the tuples that are there, which are all different."""
    mask = len(table) - 1
    for i in range(meta[COUNT]):
        at = hash_row(keys[i]) & mask
        while table[at] != 0:
            at = (at + 1) & mask
        table[at] = i + 1
    link(keys, chain, heads, wanted, 0, meta[COUNT])


@njit(cache=True)
def drop_ended(keys: Ints, lab: Ints, nodes: Ints, meta: Ints, due: Ints, horizon: int) -> Ints:
    """Drop tuples whose labels ended before the horizon and move the others together; returns the new id of every old
    one, or -1. The table and the chains must be filled anew."""
    count = meta[COUNT]
    renamed = np.full(count, -1, np.int64)
    t = 0
    for i in range(count):
        end = lab[i, HI]
        at = lab[i, NEXT]
        while at >= 0:
            end = nodes[at, 1]
            at = nodes[at, 2]
        if lab[i, LO] > lab[i, HI] or end < horizon - 1:
            at = lab[i, NEXT]
            while at >= 0:
                following = nodes[at, 2]
                nodes[at, 2] = meta[FREE]
                meta[FREE] = at
                at = following
            continue
        renamed[i] = t
        for c in range(keys.shape[1]):
            keys[t, c] = keys[i, c]
        for c in range(3):
            lab[t, c] = lab[i, c]
        due[t] = due[i]
        t += 1
    meta[COUNT] = t
    due[t:count] = FOREVER
    return renamed
