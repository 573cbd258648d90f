"""Dense ids for tuples of int64: the table behind ground instances and join indexes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import kernel, njit, owned, part
from thalweg.columns.texts import Indices
from thalweg.protocol import Ints


@njit(cache=True)
def _slot(keys: Ints, table: Ints, row: Ints, width: int) -> int:
    """Where the row stands in the open-addressing table, or the free slot where it would."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for c in range(width):
        h ^= np.uint64(row[c])
        h *= np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    mask = np.uint64(len(table) - 1)
    slot = int(np.int64(h & mask))
    while table[slot] != 0:
        held = table[slot] - 1
        same = True
        for c in range(width):
            if keys[held, c] != row[c]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & int(np.int64(mask))
    return slot


@njit(cache=True)
def _intern(keys: Ints, count: int, table: Ints, rows: Ints, first: int, out: Ints) -> tuple[int, int]:
    """Ids of rows from `first` on, adding unknown ones, until done or full. Returns the new count and how far
    it came. Linear."""
    n, width = rows.shape
    for i in range(first, n):
        if i > 0:
            same = True
            for c in range(width):
                if rows[i, c] != rows[i - 1, c]:
                    same = False
                    break
            if same:
                out[i] = out[i - 1]
                continue
        slot = _slot(keys, table, rows[i], width)
        if table[slot] == 0:
            if count == len(keys):
                return count, i
            for c in range(width):
                keys[count, c] = rows[i, c]
            count += 1
            table[slot] = count
        out[i] = table[slot] - 1
    return count, n


@njit(cache=True)
def _find(keys: Ints, table: Ints, rows: Ints, out: Ints) -> None:
    """Ids of rows, -1 where unknown. Linear."""
    n, width = rows.shape
    for i in range(n):
        if i > 0:
            same = True
            for c in range(width):
                if rows[i, c] != rows[i - 1, c]:
                    same = False
                    break
            if same:
                out[i] = out[i - 1]
                continue
        slot = _slot(keys, table, rows[i], width)
        out[i] = table[slot] - 1


@njit(cache=True)
def _rehash(keys: Ints, count: int, table: Ints) -> None:
    width = keys.shape[1]
    for i in range(count):
        table[_slot(keys, table, keys[i], width)] = i + 1


def matrix(columns: Sequence[Ints], length: int) -> Ints:
    """Columns side by side as one C-ordered matrix with a row per tuple."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0]).reshape(length, 1)
    out = np.empty((length, len(columns)), np.int64)
    for c, column in enumerate(columns):
        out[:, c] = column
    return out


@njit(cache=True)
def _intern_direct(keys: Ints, count: int, direct: Indices, column: Ints, first: int, out: Ints) -> tuple[int, int]:
    """`_intern` for single small keys: direct[key] is the id plus one. Stops at a key out of range or when full."""
    for i in range(first, len(column)):
        k = column[i]
        if k < 0 or k >= len(direct):
            return count, i
        if direct[k] == 0:
            if count == len(keys):
                return count, i
            keys[count, 0] = k
            count += 1
            direct[k] = count
        out[i] = direct[k] - 1
    return count, len(column)


@njit(cache=True)
def _find_direct(direct: Indices, column: Ints, out: Ints) -> None:
    """`_find` for single small keys."""
    for i in range(len(column)):
        k = column[i]
        out[i] = direct[k] - 1 if 0 <= k < len(direct) else -1


@kernel
def _pack(columns: tuple[Ints, ...], bits: int, codes: Ints) -> bool:
    """Tuples of small numbers as one number each; False where a component does not fit."""
    limit = np.int64(1) << bits
    seen = np.int64(0)
    for i in range(len(codes)):
        code = np.int64(0)
        for c in range(len(columns)):
            seen |= columns[c][i]
            code = (code << bits) | columns[c][i]
        codes[i] = code
    return bool(0 <= seen < limit)


@part
def _home(code: int, shift: int) -> int:
    """The slot where a packed key belongs."""
    return int(np.int64((np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(shift)))


@kernel
def _intern_packed(
    keys: Ints, count: int, table: Ints, shift: int, bits: int, codes: Ints, first: int, out: Ints
) -> tuple[int, int]:
    """`_intern` for packed keys: rows of the table are (key plus one, id)."""
    mask = len(table) - 1
    width = keys.shape[1]
    for i in range(first, len(codes)):
        code = codes[i]
        if i > 0 and code == codes[i - 1]:
            out[i] = out[i - 1]
            continue
        slot = _home(code, shift)
        while table[slot, 0] != 0 and table[slot, 0] != code + 1:
            slot = (slot + 1) & mask
        if table[slot, 0] == 0:
            if count == len(keys):
                return count, i
            for c in range(width):
                keys[count, c] = (code >> (bits * (width - 1 - c))) & ((np.int64(1) << bits) - 1)
            table[slot, 0], table[slot, 1] = code + 1, count
            count += 1
        out[i] = table[slot, 1]
    return count, len(codes)


@kernel
def _find_packed(table: Ints, shift: int, codes: Ints, out: Ints) -> None:
    """`_find` for packed keys."""
    mask = len(table) - 1
    for i in range(len(codes)):
        code = codes[i]
        if i > 0 and code == codes[i - 1]:
            out[i] = out[i - 1]
            continue
        slot = _home(code, shift)
        while table[slot, 0] != 0 and table[slot, 0] != code + 1:
            slot = (slot + 1) & mask
        out[i] = table[slot, 1] if table[slot, 0] != 0 else -1


@kernel
def _rehash_packed(old: Ints, table: Ints, shift: int) -> None:
    """Slots keep their order when a table grows, so this walks through both."""
    mask = len(table) - 1
    for k in range(len(old)):
        if old[k, 0] != 0:
            slot = _home(old[k, 0] - 1, shift)
            while table[slot, 0] != 0:
                slot = (slot + 1) & mask
            table[slot, 0], table[slot, 1] = old[k, 0], old[k, 1]


@kernel
def passed_on(ids: Ints, others: Ints) -> None:
    """Put others[i] in the place of each id i that is known."""
    for k in range(len(ids)):
        if ids[k] >= 0:
            ids[k] = others[ids[k]]


@kernel
def look_up(known: Ints, at: Ints, out: Ints) -> int:
    """What is known at each place, -1 where nothing is or where the places end; returns of how many nothing is."""
    unknown = 0
    for k in range(len(at)):
        out[k] = known[at[k]] if at[k] < len(known) else -1
        unknown += int(out[k] < 0)
    return unknown


SMALL = 1 << 26
"""Single keys below this are looked up in an array; symbols are small, numbers are not."""


class KeyTable:
    """Tuples of a fixed width and their ids, in order of first sight.

    Single keys that are small, as the ids of symbols are, are kept in an array. Two to five small ones are packed into
    one number and hashed as that; anything else is hashed component by component.
    """

    def __init__(self, width: int, room: int = 16) -> None:
        self.width = width
        self.count = 0
        self._keys = np.empty((max(16, room), width), np.int64)
        self._direct: Indices | None = np.zeros(64, np.int32) if width == 1 else None
        self._bits = 62 // width if 2 <= width <= 5 else 0
        slots = 1 << (2 * max(16, room) - 1).bit_length()
        self._table = np.zeros((slots, 2) if self._bits else slots, np.int64)

    @property
    def keys(self) -> Ints:
        """The known tuples, a row per id."""
        return self._keys[: self.count]

    def column(self, position: int, ids: Ints) -> Ints:
        """One component of the tuples with these ids."""
        found: Ints = self._keys[:, position][ids]  # a column first: a pair of indices takes three times as long
        return found

    def intern(self, columns: Sequence[Ints], length: int) -> Ints:
        """Ids of the tuples, adding unknown ones."""
        out = np.empty(length, np.int64)
        done, known = 0, self.count
        if self._direct is not None:
            column = np.ascontiguousarray(columns[0])
            while done < length and self._direct is not None:
                self.count, done = _intern_direct(self._keys, self.count, self._direct, column, done, out)
                if done < length:
                    self._make_room(int(column[done]), self._wanted(known, done, length))
            if done == length:
                return out
        codes = self._packed(columns, length)
        while codes is not None and done < length:
            self.count, done = _intern_packed(
                self._keys, self.count, self._table, self._shift(), self._bits, codes, done, out
            )
            if done < length:
                self._grow(self._wanted(known, done, length))
        if done == length:
            return out
        if self._bits:
            self._bits = 0
            self._grow(len(self._keys))
        rows = matrix(columns, length)
        while done < length:
            self.count, done = _intern(self._keys, self.count, self._table, rows, done, out)
            if done < length:
                self._grow(self._wanted(known, done, length))
        return out

    def find(self, columns: Sequence[Ints], length: int) -> Ints:
        """Ids of the tuples, -1 where unknown."""
        out = np.empty(length, np.int64)
        if self._direct is not None:
            _find_direct(self._direct, np.ascontiguousarray(columns[0]), out)
            return out
        codes = self._packed(columns, length)
        if codes is not None:
            _find_packed(self._table, self._shift(), codes, out)
        elif self._bits:
            return self._find_some(columns, out)
        else:
            _find(self._keys, self._table, matrix(columns, length), out)
        return out

    def _find_some(self, columns: Sequence[Ints], out: Ints) -> Ints:
        """`find` where some keys are too large to be packed, so that they cannot be known."""
        fits = np.ones(len(out), np.bool_)
        for column in columns:
            fits &= (column >= 0) & (column < 1 << self._bits)
        out[:] = -1
        out[fits] = self.find([column[fits] for column in columns], int(fits.sum()))
        return out

    def _packed(self, columns: Sequence[Ints], length: int) -> Ints | None:
        """The keys as single numbers, where they are small enough."""
        if not self._bits:
            return None
        codes = np.empty(length, np.int64)
        alike = tuple([owned(c) for c in columns])
        return codes if _pack(alike, self._bits, codes) else None

    def _shift(self) -> int:
        return 65 - len(self._table).bit_length()

    def _wanted(self, known: int, done: int, length: int) -> int:
        """Room for a table that is full: twice what there is, or four times where half of the tuples that were done,
        of so many, were not known before."""
        often = 4 if 2 * (self.count - known) >= done else 2
        return max(2 * len(self._keys), min(often * len(self._keys), self.count + length - done))

    def _make_room(self, key: int, room: int) -> None:
        """Grow the array of small keys, or give it up for the hash table."""
        assert self._direct is not None
        if self.count == len(self._keys):
            self._grow(room)
        elif 0 <= key < SMALL:
            direct = np.zeros(max(2 * len(self._direct), key + 1), np.int32)
            direct[: len(self._direct)] = self._direct
            self._direct = direct
        else:
            self._direct = None
            self._grow(len(self._keys))

    def _grow(self, room: int) -> None:
        keys = np.empty((room, self.width), np.int64)
        keys[: self.count] = self.keys
        self._keys = keys
        if self._direct is not None:
            return
        old, slots = self._table, 1 << (2 * room - 1).bit_length()
        self._table = np.zeros((slots, 2) if self._bits else slots, np.int64)
        if self._bits:
            _rehash_packed(old, self._table, self._shift())
        else:
            _rehash(self._keys, self.count, self._table)

    def keep(self, ids: Ints) -> None:
        """Forget all tuples but those with these ids, which are numbered anew in this order. The room that the others
        took is kept for those that come next, unless it was more than was needed."""
        if len(ids) == self.count and bool((ids == np.arange(self.count)).all()):
            return
        kept = self._keys[ids]
        if len(self._keys) > 4 * max(self.count, 16):
            self.__dict__.update(KeyTable(self.width, 2 * self.count).__dict__)
        self.count = 0
        self._table[:] = 0
        if self._direct is not None:
            self._direct[:] = 0
        self.intern([kept[:, c] for c in range(self.width)], len(kept))

    def state(self) -> Ints:
        """The known tuples, for a snapshot."""
        return self.keys.copy()

    @classmethod
    def of(cls, keys: Ints) -> KeyTable:
        """A table that knows these tuples, in this order."""
        table = cls(keys.shape[1], len(keys) + 1)
        table.intern([keys[:, c] for c in range(keys.shape[1])], len(keys))
        return table


@njit(cache=True)
def _first_of_each(rows: Ints, table: Ints, out: Ints) -> None:
    """For each row, the first one that is equal to it. The table is all zero, its size a power of two above twice the
    rows. Linear."""
    width = rows.shape[1]
    for i in range(len(rows)):
        slot = _slot(rows, table, rows[i], width)
        if table[slot] == 0:
            table[slot] = i + 1
        out[i] = table[slot] - 1


def same_as(rows: Ints) -> Ints:
    """For each row, the position of the first one that is equal to it."""
    out = np.empty(len(rows), np.int64)
    _first_of_each(rows, np.zeros(1 << (2 * len(rows)).bit_length(), np.int64), out)
    return out


Hashes = npt.NDArray[np.uint64]


@njit(cache=True)
def _fold(hashes: Hashes, column: Ints) -> None:
    for i in range(len(column)):
        h = (hashes[i] ^ np.uint64(column[i])) * np.uint64(0xFF51AFD7ED558CCD)
        hashes[i] = h ^ (h >> np.uint64(32))


@kernel
def longest_run(times: Ints) -> int:
    """How many rows at most have the same time; they are in order."""
    longest = run = 1
    for k in range(1, len(times)):
        run = run * int(times[k] == times[k - 1]) + 1
        longest = max(longest, run)
    return longest


@kernel
def ascends(times: Ints) -> bool:
    """Never descending."""
    falls = 0
    for k in range(1, len(times)):
        falls += int(times[k] < times[k - 1])
    return falls == 0


@kernel
def extent(times: Ints) -> tuple[int, int]:
    """The least and the greatest of times of which there is one."""
    low = high = times[0]
    for k in range(1, len(times)):
        low, high = min(low, times[k]), max(high, times[k])
    return low, high


@kernel
def _repeats(times: Ints, hashes: Hashes, table: Ints) -> int:
    """Write over the hashes the positions of rows with the time and the hash of an earlier one; returns how many.

    The table has rows (time, hash), twice as many as rows have the same time; those of another time count as empty.
    """
    mask = np.uint64(len(table) - 1)
    n = 0
    for k in range(len(times)):
        time, code = times[k], np.int64(hashes[k])
        slot = hashes[k] & mask
        while table[slot, 0] == time and table[slot, 1] != code:
            slot = (slot + np.uint64(1)) & mask
        hashes[n] = k
        n += int(table[slot, 0] == time)
        table[slot, 0], table[slot, 1] = time, code
    return n


def each_once(columns: Sequence[Ints]) -> Sequence[Ints]:
    """The rows without those that are there before; the first column is in order."""
    times = columns[0]
    if not len(times):
        return columns
    hashes = np.empty(len(times), np.uint64)
    hashes.fill(0x9E3779B97F4A7C15)
    for column in columns[1:]:
        _fold(hashes, column)
    table = np.empty((1 << (2 * longest_run(times)).bit_length(), 2), np.int64)
    table.fill(times[0] - 1)
    repeats = _repeats(times, hashes, table)
    if not repeats:
        return columns
    near = np.flatnonzero(np.isin(times, times[hashes[:repeats].astype(np.int64)]))
    keep = np.ones(len(times), np.bool_)
    keep[near] = same_as(np.column_stack([column[near] for column in columns])) == np.arange(len(near))
    return [column[keep] for column in columns]
