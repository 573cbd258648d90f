"""What is reported of a cell: the certain answers, and the open ones that are supported and not superseded.

An open answer is reported when it has evidence, when nothing certain has the same substitution, and when no other
one with the same substitution needs a proper subset of what it needs; what values make the same counts once. An answer
about everybody but some has the substitutions of all whom it means: it makes open ones about any of them superfluous,
and certain ones that come later; of two about everybody but some the one whose exceptions are a part of the other's
does so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from thalweg.analysis.temporal import Time
from thalweg.answers.blocks import DEAD, Block
from thalweg.answers.codec import STAR, Bools
from thalweg.answers.groups import Blocks, Group, has_head, time_values, without
from thalweg.answers.kernels import distinct
from thalweg.answers.shapes import Shape
from thalweg.answers.stars import among, exceptions, head_keys, open_places, spoken_for, starred_rows
from thalweg.answers.ties import Tie, alike, merging_ties, repeats, tied_values, ties_of
from thalweg.language.terms import Term, Variable
from thalweg.protocol import Ints

Report = dict[tuple[int, ...], tuple[Group, Block]]
"""Rows by the key of their block and the bits."""


class Everybody:
    """Who is meant by the answers of a cell about everybody but some."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def meant(self, group: Group, rows: Block) -> list[tuple[tuple[int, ...], frozenset[tuple[int, ...]]]]:
        """For each row the substitution, and the constants that are excepted."""
        shape = group.shape
        heads = [tuple(key) for key in head_keys(shape, rows).tolist()]
        return list(zip(heads, exceptions(shape, self._blocks[group.key], rows), strict=True))

    def spoken_for(self, group: Group, rows: Block, other: Group, others: Block) -> Bools:
        """Which rows are about somebody whom an answer of another group about everybody but some means."""
        if not other.shape.open:
            return np.zeros(rows.length, np.bool_)
        return spoken_for(group.shape, rows, other.shape, others, self._blocks[other.key])

    def keys(self, group: Group, rows: Block) -> Ints:
        """The substitution of every row, and a number for who is excepted."""
        keys, starred = head_keys(group.shape, rows), starred_rows(group.shape, rows)
        number = np.zeros(rows.length, np.int64)
        if starred.any():
            pattern = _pattern(group.shape)
            meant = self.meant(group, rows.take(starred))
            number[starred] = [_salt(f"{pattern}{sorted(excepted)}") for _, excepted in meant]
        return np.column_stack([keys, number])


def _pattern(shape: Shape) -> tuple[int, ...]:
    """Which places of the head are open, and which of them are the same variable."""
    places = open_places(shape)
    return tuple(places.index(slot.column) if slot.column in places else -1 for slot in shape.head)


def report(shapes: Mapping[int, Shape], blocks: Blocks, everybody: Everybody | None = None) -> Report:
    """What a user sees of a cell."""
    groups: Report = {}
    for (number, mask, *place), block in sorted(blocks.items(), key=lambda item: item[0]):
        for group, rows in _groups(shapes[number], mask, block, *place):
            groups[*group.key, group.bits] = (group, rows)
    if len(groups) < 2 and not any(g.is_certain or alike(g, met=False) for g, _ in groups.values()):
        return groups
    return _without_superseded(groups, everybody or Everybody(blocks))


def _groups(
    shape: Shape, mask: int, block: Block, place: int | None = None
) -> Iterator[tuple[Group, Block]]:
    if not shape.negatives:
        group = Group(shape, mask, 0, place)
        if group.is_supported or group.is_certain:
            yield group, block
        return
    alive = (block.bits & DEAD) == 0
    for bits in np.unique(block.bits[alive] & shape.discharged).tolist():
        group = Group(shape, mask, int(bits), place)
        if group.is_supported or group.is_certain:
            chosen = alive & ((block.bits & shape.discharged) == bits)
            yield group, block if chosen.all() else block.take(chosen)


def _without_superseded(groups: Report, everybody: Everybody) -> Report:
    """Certain answers in the order in which they become so, then the open ones that add something."""
    kept: Report = {}
    certain = [(key, group, rows) for key, (group, rows) in groups.items() if group.is_certain]
    for key, group, rows in sorted(certain, key=lambda one: (*_known(one[1].shape), one[0])):
        rows = rows.take(distinct(everybody.keys(group, rows)))
        for other, others in list(kept.values()):
            rows = without(rows, _covered(group, rows, other, others, everybody))
            if other.is_judged:
                rows = without(rows, everybody.spoken_for(group, rows, other, others))
        if rows.length:
            kept[key] = (group, rows)
    answered = list(kept.values())
    merging = [(g, r) for g, r in groups.values() if not g.is_certain and alike(g, met=False)]
    shown: dict[object, list[Ints]] = {}
    for key, (group, rows) in groups.items():
        if group.is_certain:
            continue
        headed = has_head(group)
        better = [(g, r, tie) for g, r in groups.values() for tie in ties_of(g, group)] if headed else []
        for other, others, tie in (*better, *((g, r, ()) for g, r in answered)):
            if headed:
                rows = without(rows, _covered(group, rows, other, others, everybody, tie))
            if not tie and other.is_judged:
                rows = without(rows, everybody.spoken_for(group, rows, other, others))
        for other, others in merging if headed else []:
            for tie in merging_ties(other, group):
                gone = _covered(group, rows, other, others, everybody, tie)
                rows = without(rows, gone & ~repeats(group, rows)) if gone.any() else rows
        rows = _not_shown_yet(group, rows, shown)
        if rows.length:
            kept[key] = (group, rows)
    return kept


def _known(shape: Shape) -> tuple[int, bool]:
    """How long after its time an answer about everybody is certain at the latest, and one about somebody at the
    earliest: what has been told is not taken back because of what becomes certain later. At one time the former come
    first. A negation may be known before the time that it speaks of."""
    premises = [p.offset for p in shape.positives]
    if shape.open:
        premises += [n.decided for n in shape.negatives]
    return max(premises, default=0), not shape.open


def _covered(
    group: Group, rows: Block, other: Group, others: Block, everybody: Everybody, ties: Sequence[Tie] = ()
) -> Bools:
    """Which rows have the substitution of one of the others, with times as the ties say, and mean nobody whom that one
    does not mean."""
    if not rows.length or not others.length:
        return np.zeros(rows.length, np.bool_)
    mine, theirs = head_keys(group.shape, rows), head_keys(other.shape, others)
    if ties:
        mine = np.column_stack([mine, *tied_values(rows, ties, 1)])
        theirs = np.column_stack([theirs, *tied_values(others, ties, 0)])
    found = among(mine, theirs)
    starred = np.flatnonzero(found & starred_rows(group.shape, rows))
    if len(starred):
        meant: dict[tuple[int, ...], list[frozenset[tuple[int, ...]]]] = {}
        if _pattern(group.shape) == _pattern(other.shape):
            for head, excepted in everybody.meant(other, others):
                meant.setdefault(head, []).append(excepted)
        own = everybody.meant(group, rows.take(starred))
        found[starred] = [any(e <= excepted for e in meant.get(head, ())) for head, excepted in own]
    return found


def _not_shown_yet(group: Group, rows: Block, shown: dict[object, list[Ints]]) -> Block:
    """Rows of another alternative that say the same, for the same answer and with the same premises, are left out."""
    if not group.shape.has_twins or not rows.length:
        return rows
    alike = shown.setdefault(_signature(group), [])
    keys = _row_keys(group, rows)
    if alike:
        gone = among(keys, np.concatenate(alike))
        rows, keys = without(rows, gone), keys[~gone]
    alike.append(keys)
    return rows


@lru_cache(maxsize=4096)
def _signature(group: Group) -> tuple[object, ...]:
    """What two rows must have in common to say the same: the predicates and times of what is met and missing."""
    sides = (group.evidence(), group.needed())
    shown = str if not group.shape.gathered else lambda _: ""
    return tuple(tuple(sorted((a.negated, a.predicate, shown(a.time)) for a in side)) for side in sides)


def _row_keys(group: Group, rows: Block) -> Ints:
    """Answer, evidence and needed premises of every row, as numbers that are equal when these are."""
    sums = [np.zeros(rows.length, np.uint64) for _ in range(2)]
    for side, atoms in enumerate((group.evidence(), group.needed())):
        for atom in atoms:
            times = _times(group, rows, atom.time)
            written = atom.time if times is None else None
            mixed = np.full(rows.length, _salt(f"{side}{atom.negated}{atom.predicate}{written}"), np.uint64)
            if times is not None:
                mixed = _mixed(mixed, times)
            for arg in atom.args:
                mixed = _mixed(mixed, _argument_codes(group, rows, arg))
            sums[side] += mixed
    head = head_keys(group.shape, rows)
    return np.column_stack([head, *(s.view(np.int64) for s in sums)])


def _times(group: Group, rows: Block, time: Time | None) -> Ints | None:
    """A premise's time in every row, where rows of several times stand together and it is known."""
    column = group.shape.time_column(time)
    if not group.shape.gathered or time is None or (column is None and time.variable is not None):
        return None
    if column is not None and rows.columns[column] is None:
        return None
    return time_values(rows, column) + time.offset


def _argument_codes(group: Group, rows: Block, arg: Term) -> Ints:
    if isinstance(arg, Variable):
        column = rows.columns[group.shape.names.index(arg.name)]
        return np.full(rows.length, STAR, np.int64) if column is None else column
    return np.full(rows.length, group.shape.codes[arg], np.int64)


def _mixed(state: npt.NDArray[np.uint64], codes: Ints) -> npt.NDArray[np.uint64]:
    state = (state ^ codes.view(np.uint64)) * np.uint64(0xFF51AFD7ED558CCD)
    return state ^ (state >> np.uint64(32))


def _salt(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1
