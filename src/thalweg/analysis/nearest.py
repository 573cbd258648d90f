"""Did you mean ...? Names that are nearly the same as another.

Two names are near when they differ by one typing slip (a letter missing, added, changed, or two swapped),
two slips for long names, or only in case and underscores. Names that differ in their digits (``zone1``,
``zone2``) are not.
"""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST = 5
_LONG = 9
_FEW = 2000


def distance(left: str, right: str, limit: int = 3) -> int:
    """Edit distance with swaps of neighbours (optimal string alignment), or `limit` if it is not below.

    >>> distance("gap_strat", "gap_start"), distance("abc", "xyz")
    (1, 3)
    """
    if abs(len(left) - len(right)) >= limit:
        return limit
    before_last: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) >= limit:
            return limit
        before_last, last = last, row
    return min(last[-1], limit)


def fold(name: str) -> str:
    """The name without what is easily confused: case and underscores."""
    return name.replace("_", "").lower()


def near(left: str, right: str, shortest: int = SHORTEST) -> bool:
    """True when one name may be a slip for the other; names below `shortest` letters never are."""
    if left == right:
        return False
    if fold(left) == fold(right):
        return True
    if _digits(left) != _digits(right) or min(len(left), len(right)) < shortest:
        return False
    allowed = 2 if min(len(left), len(right)) >= _LONG else 1
    return distance(left, right, allowed + 1) <= allowed


def _digits(name: str) -> str:
    return "" if name.isalpha() else "".join(filter(str.isdigit, name))


class Names:
    """An index of names that answers which of them are near a given one, without comparing with all."""

    def __init__(self, names: Iterable[str], shortest: int = SHORTEST) -> None:
        self.shortest = shortest
        self.names = sorted(set(names))
        self.slips = 2 if len(self.names) <= _FEW else 1
        self.index: dict[tuple[str, str], list[str]] = {}
        for name in self.names:
            for shortened in self._keys(name):
                self.index.setdefault(shortened, []).append(name)

    def _keys(self, name: str) -> set[tuple[str, str]]:
        """The digits, with the name and with what is left of it after deleting up to `slips` letters; names
        that are near meet in such a rest."""
        rests = {name, fold(name)}
        once = [name[:i] + name[i + 1 :] for i in range(len(name))]
        rests.update(once)
        if self.slips == 2 and len(name) >= _LONG - 2:
            rests.update(rest[:i] + rest[i + 1 :] for rest in once for i in range(len(rest)))
        digits = _digits(name)
        return {(digits, rest) for rest in rests}

    def nearest(self, name: str) -> str | None:
        """The most similar other name that is near; the first in the alphabet among equals."""
        meeting = {other for key in self._keys(name) for other in self.index.get(key, ())}
        candidates = {other for other in meeting if near(name, other, self.shortest)}
        return min(candidates, key=lambda other: (distance(fold(name), fold(other)), other), default=None)
