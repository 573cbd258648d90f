"""Order of ids and rows: sorted by id and time, grouped, each once.

Ids are dense, so counting beats comparing; what is already in order is left as it is.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel, njit, part
from thalweg.protocol import Ints


@part
def compared(a: Ints, b: Ints, width: int) -> int:
    """-1, 0 or 1: the order of two rows by their first columns."""
    for c in range(width):
        if a[c] < b[c]:
            return -1
        if a[c] > b[c]:
            return 1
    return 0


@njit(cache=True)
def group_starts(ids: Ints) -> Ints:
    """Where each run of equal ids starts, and the length at the end."""
    n = len(ids)
    count = 0
    for i in range(n):
        if i == 0 or ids[i] != ids[i - 1]:
            count += 1
    out = np.empty(count + 1, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or ids[i] != ids[i - 1]:
            out[count] = i
            count += 1
    out[count] = n
    return out


@njit(cache=True)
def _distinct(ids: Ints) -> Ints:
    """Distinct dense ids in ascending order: one pass over a table of marks, or over the runs if already sorted."""
    n = len(ids)
    ordered = True
    top = np.int64(-1)
    for k in range(n):
        if k > 0 and ids[k] < ids[k - 1]:
            ordered = False
        if ids[k] > top:
            top = ids[k]
    out = np.empty(n, np.int64)
    m = 0
    if ordered:
        for k in range(n):
            if k == 0 or ids[k] != ids[k - 1]:
                out[m] = ids[k]
                m += 1
        return out[:m]
    marks = np.zeros(top + 1, np.bool_)
    for k in range(n):
        marks[ids[k]] = True
    for i in range(top + 1):
        if marks[i]:
            out[m] = i
            m += 1
    return out[:m]


@njit(cache=True)
def distinct_ids(ids: Ints) -> Ints:
    """Distinct ids, ascending; by a table of marks unless they are few of very many."""
    if len(ids) > 0 and ids.max() > 64 * len(ids) + 4096:
        return np.unique(ids)
    return _distinct(ids)


def distinct(ids: Ints) -> Ints:
    """Distinct dense ids, ascending."""
    return ids if len(ids) < 2 else distinct_ids(ids)


@kernel
def _sorted_already(ids: Ints, rows: Ints, width: int) -> bool:
    for i in range(1, len(ids)):
        if ids[i] < ids[i - 1] or (ids[i] == ids[i - 1] and compared(rows[i - 1], rows[i], width) > 0):
            return False
    return True


@njit(cache=True)
def _settle_ties(ids: Ints, rows: Ints, width: int, order: Ints) -> None:
    """Insertion-sort rows by the remaining columns where id and first column tie; the rest is in order. `order` says
    where the rows come from, and follows them."""
    for i in range(1, len(ids)):
        if ids[i] != ids[i - 1] or rows[i, 0] != rows[i - 1, 0] or compared(rows[i - 1], rows[i], width) <= 0:
            continue
        held, origin = rows[i].copy(), order[i]
        j = i - 1
        while j >= 0 and ids[j] == ids[i] and compared(rows[j], held, width) > 0:
            rows[j + 1], order[j + 1] = rows[j], order[j]
            j -= 1
        rows[j + 1], order[j + 1] = held, origin


@njit(cache=True)
def _order(ids: Ints, times: Ints, count: int) -> Ints:
    """Positions by (id, time), stable: counting sort by id, then a merge of the ascending runs of each id. Linear in
    rows and ids, times a logarithm of the runs per id."""
    n = len(ids)
    ends = np.zeros(count + 1, np.int64)
    for k in range(n):
        ends[ids[k] + 1] += 1
    for i in range(count):
        ends[i + 1] += ends[i]
    order = np.empty(n, np.int64)
    for k in range(n):
        i = ids[k]
        order[ends[i]] = k
        ends[i] += 1
    spare = np.empty(n, np.int64)
    runs = np.empty(n + 1, np.int64)
    lo = 0
    for i in range(count):
        hi = ends[i]
        n_runs = 0
        for k in range(lo, hi):
            if k == lo or times[order[k]] < times[order[k - 1]]:
                runs[n_runs] = k
                n_runs += 1
        runs[n_runs] = hi
        while n_runs > 1:
            left = 0
            for r in range(0, n_runs, 2):
                a, a_end = runs[r], runs[r + 1]
                runs[left] = a
                left += 1
                if r + 1 == n_runs:
                    continue
                b, b_end = runs[r + 1], runs[r + 2]
                to = a
                for k in range(a, a_end):
                    spare[k] = order[k]
                while a < a_end and b < b_end:
                    if times[order[b]] < times[spare[a]]:
                        order[to] = order[b]
                        b += 1
                    else:
                        order[to] = spare[a]
                        a += 1
                    to += 1
                while a < a_end:
                    order[to] = spare[a]
                    a += 1
                    to += 1
            runs[left] = hi
            n_runs = left
        lo = hi
    return order


def order_by(ids: Ints, times: Ints) -> Ints:
    """Positions by (id, time), stable."""
    count = int(ids.max()) + 1
    if count <= 4 * len(ids) + 1024:
        return _order(ids, times, count)
    low = int(times.min())
    span = int(times.max()) - low + 1
    if span * count < 2**62:
        return np.argsort(ids * span + (times - low), kind="stable")
    return np.lexsort([times, ids])


def sort_changes(ids: Ints, rows: Ints) -> tuple[Ints, Ints, Ints | None]:
    """Rows sorted by (id, all columns but the last), and where each comes from; None: they were in order."""
    width = rows.shape[1] - 1
    if len(ids) < 2 or _sorted_already(ids, rows, width):
        return ids, rows, None
    order = order_by(ids, np.ascontiguousarray(rows[:, 0]))
    ids, rows = ids[order], rows[order]
    _settle_ties(ids, rows, width, order)
    return ids, rows, order
