"""Texts as words and numbers for them: each different text once, in the order of first sight, and for every row which
one it is. Where there are many short ones, Arrow takes two or three times as long; of long ones, about the same.

A text of up to seven letters is one number, which is compared in one step; of longer ones the letters are compared when
their hashes agree.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.columns.compiled import T, kernel, owned, part
from thalweg.columns.texts import Indices
from thalweg.protocol import Ints

Eights = npt.NDArray[np.uint64]
"""Letters, eight by eight."""
FEW = 1 << 12
"""Places for words to begin with; a power of two."""
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_LONG = np.uint64(0xFF << 56)


@part
def _eight(letters: Eights, at: int, end: int) -> np.uint64:
    """The letters from `at` on, eight at most, as one number."""
    first, shift = np.uintp(at) >> np.uintp(3), (np.uint64(at) & np.uint64(7)) << np.uint64(3)
    high = (letters[first + np.uintp(1)] << np.uint64(1)) << (np.uint64(63) - shift)
    found: np.uint64 = (letters[first] >> shift) | high
    if end - at < 8:
        found &= (np.uint64(1) << (np.uint64(end - at) << np.uint64(3))) - np.uint64(1)
    return found


@part
def _mixed(key: np.uint64) -> np.uint64:
    key = (key ^ (key >> np.uint64(29))) * _PRIME
    return key ^ (key >> np.uint64(32))


@part
def _key(letters: Eights, start: int, end: int) -> np.uint64:
    """A text of up to seven letters as a number, or the hash of a longer one; no two texts of different kinds agree."""
    size = end - start
    if size < 8:
        return _eight(letters, start, end) | (np.uint64(size) << np.uint64(56))
    found = np.uint64(size)
    for at in range(start, end, 8):
        found = (found ^ _eight(letters, at, end)) * _PRIME
        found ^= found >> np.uint64(32)
    return found | _LONG


@part
def _same(letters: Eights, start: int, end: int, spelled: Eights, at: int) -> bool:
    """Is a text the word that is spelled there: so many letters, and these, eight by eight?"""
    if spelled[np.uintp(at)] != np.uint64(end - start):
        return False
    for k in range(start, end, 8):
        at += 1
        if spelled[np.uintp(at)] != _eight(letters, k, end):
            return False
    return True


@part
def _spell(letters: Eights, start: int, end: int, spelled: Eights, at: int) -> int:
    """Write a word there; returns where the next one goes."""
    spelled[at] = end - start
    for k in range(start, end, 8):
        at += 1
        spelled[at] = _eight(letters, k, end)
    return at + 1


@part
def _place(
    key: np.uint64,
    letters: Eights,
    start: int,
    end: int,
    keys: Eights,
    spelled: Eights,
    where: Indices,
    places: Indices,
) -> np.uint64:
    """The place of the word that is the same as a text, or one that is free. A place holds a word's number, or -1; of
    each word there is the key, and where it is spelled if it is long."""
    last = np.uint64(len(places) - 1)
    place = _mixed(key) & last
    while places[place] >= 0:
        number = np.uintp(places[place])
        if keys[number] == key and (key < _LONG or _same(letters, start, end, spelled, where[number])):
            break
        place = (place + np.uint64(1)) & last
    return place


@kernel
def _number(
    row: int,
    count: int,
    ends: Indices,
    letters: Eights,
    first: Indices,
    keys: Eights,
    spelled: Eights,
    where: Indices,
    places: Indices,
    out: Indices,
) -> tuple[int, int]:
    """Number the texts from `row` on, of which so many different ones are known; returns how far it went, which is not
    to the end where `places` are half full, and how many are known then. `where` has one more than words are known: the
    end of what is spelled."""
    while row < len(out) and 2 * count < len(places):
        start, end = ends[row], ends[row + 1]
        key = _key(letters, start, end)
        place = _place(key, letters, start, end, keys, spelled, where, places)
        if places[place] < 0:
            places[place] = count
            keys[count], first[count] = key, row
            free = where[count]
            count += 1
            where[count] = free if key < _LONG else _spell(letters, start, end, spelled, free)
        out[row] = places[place]
        row += 1
    return row, count


@kernel
def _look_up(
    ends: Indices, letters: Eights, keys: Eights, spelled: Eights, where: Indices, places: Indices, out: Indices
) -> None:
    """For each text the number of the word that is the same, -1 where there is none."""
    for row in range(len(out)):
        start, end = ends[row], ends[row + 1]
        key = _key(letters, start, end)
        out[row] = places[_place(key, letters, start, end, keys, spelled, where, places)]


@kernel
def _put(keys: Eights, places: Indices) -> None:
    """Give words their places, all of which are free."""
    last = np.uint64(len(places) - 1)
    for number in range(len(keys)):
        place = _mixed(keys[number]) & last
        while places[place] >= 0:
            place = (place + np.uint64(1)) & last
        places[place] = number


def _letters(texts: pa.Array) -> tuple[Indices, Eights] | None:
    """Where each of some texts (`string`) begins and the last one ends, and their letters; None where there are none,
    or one is missing."""
    _, offsets, data = texts.buffers()
    if not len(texts) or texts.null_count:
        return None
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.empty((ends[-1] + 7) // 8 + 1, np.uint64)
    letters[-2:] = 0
    if data is not None:
        letters.view(np.uint8)[: ends[-1]] = np.frombuffer(data, np.uint8)[: ends[-1]]
    return ends, letters


def _room(ends: Indices) -> Eights:
    """Room for all texts, should they be different words: memory that is not written to is not taken."""
    return np.empty(int(ends[-1] - ends[0]) // 8 + 2 * len(ends), np.uint64)


class Wordbook:
    """Different texts (`string`) that others are looked up among.

    >>> Wordbook(pa.array(["ship", "tug"])).look_up(pa.array(["tug", "ferry", "ship"]))
    array([ 1, -1,  0], dtype=int32)
    """

    def __init__(self, words: pa.Array) -> None:
        self.words = words
        given, size = _letters(words), len(words)
        self._keys: Eights = np.empty(size, np.uint64)
        self._places: Indices = np.full(1 << (2 * size).bit_length(), -1, np.int32)
        self._where: Indices = np.zeros(size + 1, np.int32)
        self._spelled: Eights = np.empty(0, np.uint64)
        if given is not None:
            ends, letters = given
            self._spelled = _room(ends)
            known = self._keys, self._spelled, self._where, self._places
            _number(0, 0, ends, letters, np.empty(size, np.int32), *known, np.empty(size, np.int32))

    def look_up(self, texts: pa.Array) -> Indices:
        """For each text its place among the words, -1 where it is none of them; no text is missing."""
        found: Indices = np.full(len(texts), -1, np.int32)
        given = _letters(texts)
        if given is not None:
            ends, letters = given
            _look_up(ends, letters, self._keys, self._spelled, self._where, self._places, found)
        return found


def worded(texts: pa.Array) -> pa.DictionaryArray:
    """A column of texts (`string`) as words, by first sight, and numbers for them."""
    size, given = len(texts), _letters(texts)
    if given is None:
        return texts.dictionary_encode()
    ends, letters = given
    out = np.empty(size, np.int32)
    places: Indices = np.full(FEW, -1, np.int32)
    keys: Eights = np.empty(0, np.uint64)
    first: Indices = np.empty(0, np.int32)
    spelled, where = _room(ends), np.zeros(1, np.int32)
    row = count = 0
    while True:
        most = len(places) // 2
        keys, first, where = _enlarged(keys, most), _enlarged(first, most), _enlarged(where, most + 1)
        row, count = _number(row, count, ends, letters, first, keys, spelled, where, places, out)
        if row == size:
            break
        places = np.full(4 * len(places), -1, np.int32)
        _put(keys[:count], places)
    return pa.DictionaryArray.from_arrays(pa.array(out), texts.take(pa.array(first[:count])), safe=False)


def word_numbers(column: pa.DictionaryArray, nothing: int) -> Indices:
    """For each row the number of its word; `nothing` where there is none."""
    codes = column.indices.fill_null(nothing) if column.null_count else column.indices
    found: Indices = codes.cast(pa.int32()).to_numpy(zero_copy_only=False)
    return found


@kernel
def _count(numbers: Indices, rows: Ints, group: Indices, counts: Ints) -> None:
    for k in range(len(rows)):
        counts[np.uintp(group[np.uintp(numbers[np.uintp(rows[k])])])] += 1


@kernel
def _divide(numbers: Indices, rows: Ints, group: Indices, ends: Ints, out: Ints) -> None:
    """Put rows into their groups, from what is free of each."""
    for k in range(len(rows)):
        of = np.uintp(group[np.uintp(numbers[np.uintp(rows[k])])])
        out[np.uintp(ends[of])] = rows[k]
        ends[of] += 1


def divided(numbers: Indices, group: Indices, groups: int, among: Ints | None = None) -> tuple[Ints, Ints]:
    """The rows, those of one group after the other and in order within it, and where each group begins and the last
    one ends. `group`: that of each word; `among`: the rows to look at.

    >>> divided(np.array([2, 0, 1, 0], np.int32), np.array([1, 0, 1], np.int32), 2)
    (array([2, 0, 1, 3]), array([0, 1, 4]))
    """
    rows = np.arange(len(numbers)) if among is None else owned(among)
    counts = np.zeros(groups, np.int64)
    _count(numbers, rows, group, counts)
    bounds = np.zeros(groups + 1, np.int64)
    np.cumsum(counts, out=bounds[1:])
    found = np.empty(len(rows), np.int64)
    _divide(numbers, rows, group, bounds[:-1].copy(), found)
    return found, bounds


@kernel
def _renumber(numbers: Indices, rows: Ints, place: Indices, words: Indices, out: Indices) -> int:
    """Number the words of some rows by first sight; how many there are."""
    count = 0
    for k in range(len(rows)):
        row = np.uintp(rows[k])
        word = np.uintp(numbers[row])
        if place[word] < 0:
            place[word] = count
            words[np.uintp(count)] = numbers[row]
            count += 1
        out[row] = place[word]
    return count


def renumbered(numbers: Indices, size: int, among: Ints | None = None) -> tuple[Indices, Indices]:
    """Numbers for the words that stand in the rows, of so many, and which these are. `among`: the rows to look at; the
    others may have any number.

    >>> renumbered(np.array([7, 3, 7], np.int32), 9)
    (array([0, 1, 0], dtype=int32), array([7, 3], dtype=int32))
    """
    rows = np.arange(len(numbers)) if among is None else owned(among)
    out = np.zeros(len(numbers), np.int32)
    words = np.empty(size, np.int32)
    count = _renumber(numbers, rows, np.full(size, -1, np.int32), words, out)
    return out, words[:count]


def _enlarged(some: npt.NDArray[T], size: int) -> npt.NDArray[T]:
    found = np.empty(size, some.dtype)
    found[: len(some)] = some
    return found
