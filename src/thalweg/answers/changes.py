"""What a step changed: the difference between the reports of before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from thalweg.answers.blocks import Block
from thalweg.answers.codec import Bools
from thalweg.answers.groups import Blocks, Group, without
from thalweg.answers.report import Everybody, Report, report
from thalweg.answers.shapes import Shape
from thalweg.answers.stars import among
from thalweg.columns.keys import matrix
from thalweg.protocol import Ints


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
    old, new = report(shapes, before, everybody[0]), report(shapes, after, everybody[1])
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
        found = report(shapes, full, everybody) if full else {}
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
                rows = without(rows, among(everybody.keys(group, rows), answered))
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
