"""What is reported of a cell: the certain answers, and the open ones that are supported and not superseded.

An open answer is reported when it has evidence, when nothing certain has the same substitution, and when no other
one with the same substitution needs a proper subset of what it needs; what values make the same counts once. An answer
about everybody but some has the substitutions of all whom it means: it makes open ones about any of them superfluous,
and certain ones that come later; of two about everybody but some the one whose exceptions are a part of the other's
does so. What a step changed is the difference between the reports of before and after.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from thalweg.analysis.temporal import Time
from thalweg.answers.blocks import DEAD, Block
from thalweg.answers.codec import STAR, Bools, values
from thalweg.answers.datalog import Test, TimedAtom
from thalweg.answers.kernels import distinct
from thalweg.answers.shapes import Comparison, Computation, Operation, Rigid, Shape, Slot, is_implied
from thalweg.answers.stars import among, exceptions, head_keys, open_places, spoken_for, starred_rows
from thalweg.columns.keys import matrix
from thalweg.language.terms import Term, Variable
from thalweg.protocol import Ints


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that have met the same premises: one shape, one mask, one set of discharged negations. `place` keeps rows of
    different cells apart where these have exceptions of their own."""

    shape: Shape
    mask: int
    bits: int
    place: int | None = None

    @property
    def key(self) -> tuple[int, ...]:
        """The block that the rows are from."""
        own = self.shape.number, self.mask
        return own if self.place is None else (*own, self.place)

    @property
    def is_certain(self) -> bool:
        return self.mask == self.shape.full and self.bits == self.shape.discharged

    @property
    def is_supported(self) -> bool:
        return bool(self.mask or self.bits)

    @property
    def is_judged(self) -> bool:
        """False where a negation counts as met of which some are still excepted."""
        return not self.bits & ~self.shape.ground_negatives(self.mask)

    def evidence(self) -> list[TimedAtom]:
        """The premises that are met, by time."""
        return _by_time(self.shape.premises(self.mask, self.bits, True))

    def needed(self) -> list[TimedAtom]:
        """The premises that are still missing, by time."""
        return _by_time(self.shape.premises(self.mask, self.bits, False))

    def tests(self) -> list[Test]:
        """The comparisons and computations that wait for values."""
        return [o.test for o in self._waiting() if isinstance(o, (Comparison, Computation))]

    def background(self) -> list[TimedAtom]:
        """The background atoms that wait for values."""
        return [o.atom for o in self._waiting() if isinstance(o, Rigid)]

    def _waiting(self) -> list[Operation]:
        done = self.shape.closure(self.mask)[0]
        return [o for i, o in enumerate(self.shape.operations) if i not in done and not is_implied(o)]


def _by_time(atoms: list[TimedAtom]) -> list[TimedAtom]:
    return sorted(atoms, key=lambda a: a.time.offset if a.time is not None else 0)


Blocks = Mapping[tuple[int, ...], Block]
"""The blocks of a cell by shape and mask; of several cells also by place."""
Report = dict[tuple[int, ...], tuple[Group, Block]]
"""Rows by the key of their block and the bits."""
Tie = tuple[Slot, Slot, int | None]
"""The value in a place of one row must be that in a place of another, or a time that lies so far after it."""


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


def report(shapes: Mapping[int, Shape], blocks: Blocks) -> Report:
    """What a user sees of a cell."""
    return _report(shapes, blocks, Everybody(blocks))


def _report(shapes: Mapping[int, Shape], blocks: Blocks, everybody: Everybody) -> Report:
    groups: Report = {}
    for (number, mask, *place), block in sorted(blocks.items(), key=lambda item: item[0]):
        for group, rows in _groups(shapes[number], mask, block, *place):
            groups[*group.key, group.bits] = (group, rows)
    if len(groups) < 2 and not any(g.is_certain or alike(g, met=False) for g, _ in groups.values()):
        return groups
    return _without_superseded(groups, everybody)


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
            rows = _drop(rows, _covered(group, rows, other, others, everybody))
            if other.is_judged:
                rows = _drop(rows, everybody.spoken_for(group, rows, other, others))
        if rows.length:
            kept[key] = (group, rows)
    answered = list(kept.values())
    merging = [(g, r) for g, r in groups.values() if not g.is_certain and alike(g, met=False)]
    shown: dict[object, list[Ints]] = {}
    for key, (group, rows) in groups.items():
        if group.is_certain:
            continue
        headed = _has_head(group)
        better = [(g, r, tie) for g, r in groups.values() for tie in _ties(g, group)] if headed else []
        for other, others, tie in (*better, *((g, r, ()) for g, r in answered)):
            if headed:
                rows = _drop(rows, _covered(group, rows, other, others, everybody, tie))
            if not tie and other.is_judged:
                rows = _drop(rows, everybody.spoken_for(group, rows, other, others))
        for other, others in merging if headed else []:
            for tie in _merging_ties(other, group):
                gone = _covered(group, rows, other, others, everybody, tie)
                rows = _drop(rows, gone & ~_repeats(group, rows)) if gone.any() else rows
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
        mine = np.column_stack([mine, *_tied_values(rows, ties, 1)])
        theirs = np.column_stack([theirs, *_tied_values(others, ties, 0)])
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
        rows, keys = _drop(rows, gone), keys[~gone]
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


def _drop(rows: Block, gone: Bools) -> Block:
    return rows.take(~gone) if gone.any() else rows


def _has_head(group: Group) -> bool:
    bound = group.shape.bound(group.mask) | group.shape.open
    return all(slot.column < 0 or slot.column in bound for slot in group.shape.head)


@lru_cache(maxsize=4096)
def _ties(one: Group, other: Group) -> tuple[tuple[Tie, ...], ...]:
    """The ways in which a row of `one` can need a proper part of what a row of `other` with the same substitution
    needs. In a cell all rows have one time; otherwise each way ties times and arguments of the two rows. Where values
    make two premises of a row the same, rows can be parts of each other: the one with fewer premises stays."""
    if one.is_certain or not _has_head(one) or _waits_for_values(one) or _size(one) >= _size(other):
        return ()
    if not one.shape.gathered:
        less = _needs(one)
        if len(less) == len(one.needed()) and (less <= _needs(other) or one.shape.open):
            return ((),) if less <= _needs(other) else ()
    return _in_order(ties for ties, _ in _embedded(one.needed(), one, other, _same_time(one, other)))


@lru_cache(maxsize=4096)
def _merging_ties(one: Group, other: Group) -> tuple[tuple[Tie, ...], ...]:
    """The ways in which a row of `one` can need a proper part although it has as many premises: values make some of
    them the same. Those of the other row must all be different."""
    if not _has_head(one) or _waits_for_values(one) or _size(one) < _size(other):
        return ()
    if not all(_has_values(one, atom) for atom in one.needed()):
        return ()
    found = _embedded(one.needed(), one, other, _same_time(one, other))
    return _in_order(ties for ties, used in found if len(used) < len(other.needed()))


def _in_order(found: Iterable[frozenset[Tie]]) -> tuple[tuple[Tie, ...], ...]:
    return tuple(tuple(sorted(ties, key=str)) for ties in sorted(set(found), key=str))


def _repeats(group: Group, rows: Block) -> Bools:
    """Which rows need one and the same atom twice."""
    found = np.zeros(rows.length, np.bool_)
    for _, same in repeated(group, rows, met=False):
        found |= same
    return found


def repeated(group: Group, rows: Block, *, met: bool) -> Iterator[tuple[int, Bools]]:
    """Premises, met or missing, that values may make the same as an earlier one, and the rows in which they do."""
    for place, ties in alike(group, met=met):
        sides = zip(_tied_values(rows, ties, 0), _tied_values(rows, ties, 1), strict=True)
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


def _tied_values(rows: Block, ties: Sequence[Tie], side: int) -> list[Ints]:
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


def time_values(rows: Block, column: int | None) -> Ints:
    """The times in a column; 0 where there is none, or none known."""
    codes = None if column is None else rows.columns[column]
    return np.zeros(rows.length, np.int64) if codes is None else values(codes).astype(np.int64)


# --------------------------------------------------------------------------- differences


@dataclass(frozen=True, slots=True)
class Change:
    """Rows that came (+1) or went (-1); `labels` says why, one of LABELS per row."""

    group: Group
    rows: Block
    op: int
    labels: Ints


LABELS = ("opened", "advanced", "certain", "dropped", "met", "withdrawn")
OPENED, ADVANCED, CERTAINLY, DROPPED, MET, WITHDRAWN = range(6)


def changes(shapes: Mapping[int, Shape], before: Blocks, after: Blocks) -> list[Change]:
    """The difference of two reports. A row that went is *met* when one came, or stays, that continues it, otherwise
    *dropped*; a row that came is *advanced* when it continues one that was there. An answer stays certain while
    anything makes it so; another derivation of it is no change. An answer about everybody but some is withdrawn and
    comes again when the exceptions are others. One about somebody is met by what late absence makes certain of
    everybody."""
    everybody = Everybody(before), Everybody(after)
    old, new = _report(shapes, before, everybody[0]), _report(shapes, after, everybody[1])
    found = []
    for group, rows in _missing(old, new):
        labels = np.where(_continued(group, rows, new.values(), later=True), MET, DROPPED)
        found.append(Change(group, rows, -1, labels))
    for group, rows in _missing(new, old):
        labels = np.where(_continued(group, rows, old.values(), later=False), ADVANCED, OPENED)
        found.append(Change(group, rows, 1, labels))
    for group, rows in _other_answers(old, new, *everybody):
        labels = np.where(_still_meant(group, rows, new, everybody[1]), MET, WITHDRAWN)
        found.append(Change(group, rows, -1, labels))
    for group, rows in _other_answers(new, old, *reversed(everybody)):
        found.append(Change(group, rows, 1, np.full(rows.length, CERTAINLY)))
    return found


def new_answers(shapes: Mapping[int, Shape], before: Blocks, after: Blocks) -> list[Change]:
    """The certain answers that came, without looking at anything else."""
    sides = []
    for blocks in (before, after):
        full = {k: b for k, b in blocks.items() if k[1] == shapes[k[0]].full}
        everybody = Everybody(full)
        found = _report(shapes, full, everybody) if full else {}
        sides.append(({k: v for k, v in found.items() if v[0].is_certain}, everybody))
    (old, old_everybody), (new, new_everybody) = sides
    return [
        Change(group, rows, 1, np.full(rows.length, CERTAINLY))
        for group, rows in _other_answers(new, old, new_everybody, old_everybody)
    ]


def _other_answers(
    here: Report, there: Report, everybody: Everybody, everybody_there: Everybody
) -> Iterator[tuple[Group, Block]]:
    """The certain answers of one report that the other one does not have, or has with other exceptions."""
    known = [everybody_there.keys(g, rows) for g, rows in there.values() if g.is_certain]
    answered = np.concatenate(known) if known else None
    for group, rows in here.values():
        if group.is_certain:
            if answered is not None:
                rows = _drop(rows, among(everybody.keys(group, rows), answered))
            if rows.length:
                yield group, rows


def _still_meant(group: Group, rows: Block, new: Report, everybody: Everybody) -> Bools:
    """Which rows that went are about somebody whom a certain answer about everybody means."""
    found = np.zeros(rows.length, np.bool_)
    for other, others in new.values():
        if other.is_certain and other.is_judged:
            found |= everybody.spoken_for(group, rows, other, others)
    return found


def _missing(here: Report, there: Report) -> Iterator[tuple[Group, Block]]:
    """The open rows of one report that the other one does not have."""
    for key, (group, rows) in here.items():
        other = there.get(key)
        if group.is_certain:
            continue
        if other is None:
            yield group, rows
        elif other[1] is not rows:
            gone = ~among(_all_columns(rows), _all_columns(other[1]))
            if gone.any():
                yield group, rows.take(gone)


def _all_columns(rows: Block) -> Ints:
    known = [c for c in rows.columns if c is not None]
    return matrix(known, rows.length) if known else np.zeros((rows.length, 1), np.int64)


def _continued(group: Group, rows: Block, others: object, later: bool) -> Bools:
    """Which rows have a counterpart of the same shape that has met more (or less) and agrees with them."""
    found = np.zeros(rows.length, np.bool_)
    for other, candidates in others:  # type: ignore[attr-defined]
        if other.shape is not group.shape or other == group:
            continue
        small, large = (group, other) if later else (other, group)
        if small.mask & ~large.mask or small.bits & ~large.bits & _ground(large):
            continue
        shared = [
            (a, b)
            for a, b in zip(rows.columns, candidates.columns, strict=True)
            if a is not None and b is not None
        ]
        if not shared:
            found |= candidates.length > 0
            continue
        known = matrix([b for _, b in shared], candidates.length)
        found |= among(matrix([a for a, _ in shared], rows.length), known)
    return found


def _ground(group: Group) -> int:
    return group.shape.ground_negatives(group.mask)
