"""Premises that values make the same: within a row, and between two rows of which one needs a part of what the other
needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from thalweg.analysis.temporal import Time
from thalweg.answers.blocks import Block
from thalweg.answers.codec import Bools
from thalweg.answers.datalog import TimedAtom
from thalweg.answers.groups import Group, has_head, time_values
from thalweg.answers.shapes import Slot
from thalweg.language.terms import Term, Variable
from thalweg.protocol import Ints

Tie = tuple[Slot, Slot, int | None]
"""The value in a place of one row must be that in a place of another, or a time that lies so far after it."""


@lru_cache(maxsize=4096)
def ties_of(one: Group, other: Group) -> tuple[tuple[Tie, ...], ...]:
    """The ways in which a row of `one` can need a proper part of what a row of `other` with the same substitution
    needs. In a cell all rows have one time; otherwise each way ties times and arguments of the two rows. Where values
    make two premises of a row the same, rows can be parts of each other: the one with fewer premises stays."""
    if one.is_certain or not has_head(one) or _waits_for_values(one) or _size(one) >= _size(other):
        return ()
    if not one.shape.gathered:
        less = _needs(one)
        if len(less) == len(one.needed()) and (less <= _needs(other) or one.shape.open):
            return ((),) if less <= _needs(other) else ()
    return _in_order(ties for ties, _ in _embedded(one.needed(), one, other, _same_time(one, other)))


@lru_cache(maxsize=4096)
def merging_ties(one: Group, other: Group) -> tuple[tuple[Tie, ...], ...]:
    """The ways in which a row of `one` can need a proper part although it has as many premises: values make some of
    them the same. Those of the other row must all be different."""
    if not has_head(one) or _waits_for_values(one) or _size(one) < _size(other):
        return ()
    if not all(_has_values(one, atom) for atom in one.needed()):
        return ()
    found = _embedded(one.needed(), one, other, _same_time(one, other))
    return _in_order(ties for ties, used in found if len(used) < len(other.needed()))


def _in_order(found: Iterable[frozenset[Tie]]) -> tuple[tuple[Tie, ...], ...]:
    return tuple(tuple(sorted(ties, key=str)) for ties in sorted(set(found), key=str))


def repeats(group: Group, rows: Block) -> Bools:
    """Which rows need one and the same atom twice."""
    found = np.zeros(rows.length, np.bool_)
    for _, same in repeated(group, rows, met=False):
        found |= same
    return found


def repeated(group: Group, rows: Block, *, met: bool) -> Iterator[tuple[int, Bools]]:
    """Premises, met or missing, that values may make the same as an earlier one, and the rows in which they do."""
    for place, ties in alike(group, met=met):
        sides = zip(tied_values(rows, ties, 0), tied_values(rows, ties, 1), strict=True)
        yield place, np.logical_and.reduce([a == b for a, b in sides], axis=0)


@lru_cache(maxsize=4096)
def alike(group: Group, *, met: bool) -> tuple[tuple[int, tuple[Tie, ...]], ...]:
    """The places of premises, met or missing, that can be the same as an earlier one, with what must be equal."""
    atoms = group.evidence() if met else group.needed()
    known = [_has_values(group, atom) for atom in atoms]
    found = []
    for later, atom in enumerate(atoms):
        for earlier in range(later if known[later] else 0):
            before = atoms[earlier]
            if known[earlier] and (atom.negated, atom.predicate) == (before.negated, before.predicate):
                ties = _tied(before, atom, group, group, dict(_same_time(group, group)))
                if ties:
                    found.append((later, tuple(ties)))
    return tuple(found)


def _has_values(group: Group, atom: TimedAtom) -> bool:
    """True where all of an atom is known in a row, and of somebody; the time of all rows of a cell is."""
    if group.shape.gathered and atom.time is not None and _clock(group, atom.time) is None:
        return False
    slots = [_slot(group, arg) for arg in atom.args]
    return all(slot is not None and slot.column not in group.shape.open for slot in slots)


def _same_time(one: Group, other: Group) -> dict[str, object]:
    """What the time of one row stands for in another one of its cell."""
    if one.shape.gathered:
        return {}
    mine, theirs = one.shape.template.time, other.shape.template.time
    if mine is None or theirs is None or mine.variable is None:
        return {}
    return {mine.variable: Time(theirs.variable, theirs.offset - mine.offset)}


def _waits_for_values(group: Group) -> bool:
    return bool(group.tests() or group.background())


def _size(group: Group) -> tuple[int, bool]:
    return len(group.needed()), _waits_for_values(group)


def _embedded(
    needed: list[TimedAtom], one: Group, other: Group, known: dict[str, object]
) -> Iterator[tuple[frozenset[Tie], frozenset[int]]]:
    """The ways to find what one group needs among what another needs, and which of it that is. `known` says what stands
    for variables that have no value yet."""
    if not needed:
        yield frozenset(), frozenset()
        return
    for place, there in enumerate(other.needed()):
        if (there.negated, there.predicate) != (needed[0].negated, needed[0].predicate):
            continue
        also = dict(known)
        tied = _tied(needed[0], there, one, other, also)
        if tied is not None:
            for ties, used in _embedded(needed[1:], one, other, also):
                yield tied | ties, used | {place}


def _tied(
    atom: TimedAtom, there: TimedAtom, one: Group, other: Group, known: dict[str, object]
) -> frozenset[Tie] | None:
    """What must be equal for two atoms to be the same; None where they cannot be."""
    ties: set[Tie] = set()
    for mine, theirs in zip(atom.args, there.args, strict=True):
        left, right = _slot(one, mine), _slot(other, theirs)
        if left is None and isinstance(mine, Variable):
            if known.setdefault(mine.name, theirs) != theirs:
                return None
        elif left is None or right is None:
            return None
        else:
            ties.add((left, right, None))
    if atom.time is not None and there.time is not None:
        left, right = _clock(one, atom.time), _clock(other, there.time)
        if left is None and atom.time.variable is not None:
            stands_for = there.time.shifted(-atom.time.offset)
            if known.setdefault(atom.time.variable, stands_for) != stands_for:
                return None
        elif left is None or right is None:
            return None
        else:
            ties.add((left, right, there.time.offset - atom.time.offset))
    return frozenset(ties)


def _slot(group: Group, term: Term) -> Slot | None:
    """Where the value of an argument is; None where it has none yet."""
    if not isinstance(term, Variable):
        return Slot(-1, group.shape.codes[term])
    column = group.shape.names.index(term.name)
    return Slot(column) if column in group.shape.bound(group.mask) | group.shape.open else None


def _clock(group: Group, time: Time) -> Slot | None:
    """Where the value of a time is; None where it has none yet."""
    if time.variable is None:
        return Slot(-1)
    column = group.shape.time_column(time)
    return Slot(column) if column is not None and column in group.shape.bound(group.mask) else None


def tied_values(rows: Block, ties: Sequence[Tie], side: int) -> list[Ints]:
    """The values that ties compare, of the rows of one side."""
    found = []
    for *slots, far in ties:
        column, code = slots[side]
        if far is None:
            codes = rows.columns[column] if column >= 0 else None
            found.append(np.full(rows.length, code, np.int64) if codes is None else codes)
        else:
            found.append(time_values(rows, column if column >= 0 else None) + side * far)
    return found


@lru_cache(maxsize=4096)
def _needs(group: Group) -> frozenset[str]:
    """What is needed, in the variables of the query; without the premises in which other variables occur."""
    names = {slot.column: f"?{k}" for k, slot in enumerate(group.shape.head) if slot.column >= 0}
    found = set()
    for atom in group.needed():
        columns = [group.shape.names.index(a.name) if isinstance(a, Variable) else None for a in atom.args]
        if all(column is None or column in names for column in columns):
            args = [str(a) if c is None else names[c] for a, c in zip(atom.args, columns, strict=True)]
            found.add(f"{atom.negated}{atom.predicate}{args}{atom.time}")
    return frozenset(found)
