"""A changed program takes over from another one.

A new reasoner sees the retained rows again. Answers are not inertial, so that is all it takes: what holds at a tick
follows from what the windows see there, and from the choice before. The ticks that late rows may still revise, the
last one at least, are evaluated again, choices as close as possible to what was told; what was said about earlier ones
is final. The difference to what was told of these ticks is reported as changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from thalweg.analysis.types import NUMBER
from thalweg.lars.admission import ROW, Part
from thalweg.lars.choice import Choice
from thalweg.lars.codes import Bools
from thalweg.lars.labels import FOREVER
from thalweg.lars.retained import Kept, counts
from thalweg.lars.store import Store
from thalweg.lars.stratify import Predicate
from thalweg.lars.tables import Blank, Found, Output, no_answer_table, standing
from thalweg.protocol import CannotGoOn, Ints, Revision

if TYPE_CHECKING:
    from thalweg.language.program import Program
    from thalweg.lars.reasoner import Reasoner

Spans = list[tuple[int, int]]
Told = dict[tuple[int, ...], Spans]
"""From when to when tuples were in."""


def changed(old: Reasoner, program: Program) -> Reasoner:
    """A reasoner for the program that has seen the retained rows of another, with what `revise` tells."""
    if old._retained is None:
        raise CannotGoOn("this reasoner does not keep its input; make it with retain=True")
    new = type(old)(
        program,
        lateness=old.lateness,
        models=old._models,
        start=old.start,
        blocks=old._blocks,
        predict=old._predict,
        answers=old._with_answers,
        labels=old._with_labels,
        retain=True,
    )
    first = old.first_revisable
    old._retained.trim(first, old._network)
    new._retained = _begun(new, old, old._retained)
    for predicate, parts in old._retained.rows.items():
        _hand_over(new, old, predicate, parts)
    for predicate, waiting in old._admission.waiting.items():
        _hand_over(new, old, predicate, [part.rows for part in waiting])
    new.replay(old._now)
    new._admission.rejected = old._admission.rejected
    if new._engine.choices and old._now >= old.start:
        _stay_close(new, old, first)
    new._revision = _corrections(new, old, first)
    return new


def _begun(new: Reasoner, old: Reasoner, kept: Kept) -> Kept:
    """What the new reasoner retains, before any row: it knows what the old one knew, of what both read."""
    found = Kept(kept.begin)
    for predicate in new._network.kinds:
        known = predicate in old._network.kinds
        found.since[predicate] = kept.complete_from(predicate) if known else old._now + 1
    return found


def _hand_over(new: Reasoner, old: Reasoner, predicate: Predicate, parts: list[Ints]) -> None:
    """Let rows of the old reasoner wait in the new one, if it reads them."""
    if predicate not in new._network.kinds:
        return
    if predicate not in new._fed:
        new._open_input(predicate)
    rows = np.concatenate(parts)
    arguments, good = _recoded(rows[:, ROW + 1 : -1], predicate, new, old)
    rows[:, ROW + 1 : -1] = arguments
    new._admission.put(predicate, Part(rows[good], False, False))


def _recoded(keys: Ints, predicate: Predicate, new: Reasoner, old: Reasoner) -> tuple[Ints, Bools]:
    """Tuples as the new reasoner codes them, and which of them it can have; a point after the arguments is a number."""
    found, good = np.empty_like(keys), np.ones(len(keys), np.bool_)
    theirs, mine = (*old._network.kinds[predicate], NUMBER), (*new._network.kinds[predicate], NUMBER)
    for c in range(keys.shape[1]):
        found[:, c], fine = old._codes.recoded(np.ascontiguousarray(keys[:, c]), theirs[c], new._codes, mine[c])
        good &= fine
    return found, good


# --------------------------------------------------------------------------- choices


def _stay_close(new: Reasoner, old: Reasoner, first: int) -> None:
    """Choose again from a tick on, preferring what was told of it."""
    before = {(o.predicate, o.pointed): o for o in old._outputs}
    told: dict[int, Ints] = {}
    for output in new._outputs:
        known = before.get((output.predicate, output.pointed))
        if known is not None:
            pieces = known.store.live(first)
            keys = known.store.keys[pieces[pieces[:, 1] <= first, 0]]
            keys, good = _recoded(keys, output.predicate, new, old)
            told[id(output.store)] = np.ascontiguousarray(keys[good])
    moment = new._moment
    moment.horizon, moment.target = first, new._now
    for part in new._engine.parts:
        if isinstance(part, Choice):
            part.prefer({n: told[id(s)] for n, s in enumerate(part.stores) if id(s) in told}, moment)
        else:
            part.update(moment)
    new._ends.renew()
    new._flips(new._now, new._now)
    new._blank_flips(new._now, new._now)
    new._engine.end_round()


# --------------------------------------------------------------------------- corrections


def _corrections(new: Reasoner, old: Reasoner, first: int) -> Revision:
    """What the changed program says differently about the ticks from `first` on."""
    tables: dict[str, pa.Table] = {}
    before = {(o.predicate, o.pointed): o for o in old._outputs}
    found = [_difference(o, before.pop((o.predicate, o.pointed), None), new, old, first) for o in new._outputs]
    ended = [_ended(o, old, first) for o in before.values()]
    changes = [
        new._pages.changes([f for f in found if len(f.rows)], new._network.kinds),
        old._pages.changes([f for f in ended if len(f.rows)], old._network.kinds),
    ]
    tables["changes"] = pa.concat_tables(changes)
    if new._blanks or old._blanks:
        blank = _blank_difference(new, old, first)
        texts = new._codes.symbols.texts
        tables["no_answer"] = no_answer_table(blank, texts, known_ends=not new._blocks)
    notes = _unknown(new, old, first)
    if new._models != 1:
        tables["models"] = new.models(new._models)
        notes.append(f"`models` tells the answer streams of tick {new._now} again")
    if new._with_answers:
        tables["answers"] = new.answers()
    if new._with_labels:
        tables["labels"] = new.labels()
    rejected = new.advance(new._now)["rejected"]
    return Revision({**tables, "rejected": rejected}, tuple(notes))


def _told(store: Store, keys: Ints, pieces: Ints, first: int, now: int) -> Told:
    """When tuples were in, as far as was told of the ticks from `first` on; `keys` are those of the pieces."""
    found: Told = {}
    for key, (_, lo, hi) in zip(map(tuple, keys.tolist()), pieces.tolist(), strict=True):
        if lo <= now:
            found.setdefault(key, []).append((max(lo, first), min(hi, now)))
    return found


def _of_store(store: Store, first: int, now: int) -> Told:
    pieces = store.live(first)
    return _told(store, store.keys[pieces[:, 0]], pieces, first, now)


def _without(spans: Spans, others: Spans) -> Iterator[tuple[int, int]]:
    """The parts of spans that are in none of the others; both are sorted."""
    for lo, hi in spans:
        for other_lo, other_hi in others:
            if other_hi < lo or other_lo > hi:
                continue
            if lo < other_lo:
                yield lo, other_lo - 1
            lo = other_hi + 1
        if lo <= hi:
            yield lo, hi


def _rows(before: Told, after: Told, now: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Differences as tuples with (0, op, query time, from, to, until); what lasts has no end."""
    for key in sorted({*before, *after}):
        was, is_now = before.get(key, []), after.get(key, [])
        for op, spans in ((-1, _without(was, is_now)), (1, _without(is_now, was))):
            for lo, hi in spans:
                end = FOREVER if hi == now else hi
                yield key, [0, op, now, lo, end, end]


def _difference(output: Output, told: Output | None, new: Reasoner, old: Reasoner, first: int) -> Found:
    """What is different about one predicate."""
    now, width = new._now, output.store.width
    before: Told = {}
    if told is not None:
        pieces = told.store.live(first)
        keys, good = _recoded(told.store.keys[pieces[:, 0]], output.predicate, new, old)
        before = _told(told.store, keys[good], pieces[good], first, now)
    listed = list(_rows(before, _of_store(output.store, first, now), now))
    keys = np.array([key for key, _ in listed], np.int64).reshape(len(listed), width)
    rows = np.array([row for _, row in listed], np.int64).reshape(len(listed), 6)
    rows[:, 0] = output.store.find(keys)
    known = rows[:, 0] >= 0
    rows[known] = standing(output.store, now, rows[known])
    exact = None
    if new._lazy and not new._blocks and len(rows):
        rows[:, 5], exact = new._ends.exact(output.view, keys, np.full(len(rows), now), rows[:, 1] > 0, rows[:, 5])
    return Found(output, keys, rows, exact)


def _ended(output: Output, old: Reasoner, first: int) -> Found:
    """What the changed program does not derive at all is out."""
    listed = list(_rows(_of_store(output.store, first, old._now), {}, old._now))
    keys = np.array([key for key, _ in listed], np.int64).reshape(len(listed), output.store.width)
    return Found(output, keys, np.array([row for _, row in listed], np.int64).reshape(len(listed), 6))


def _blank_difference(new: Reasoner, old: Reasoner, first: int) -> list[Blank]:
    """The same for the lack of an answer; loops are told apart by their texts."""
    before: Told = {}
    for choice in old._engine.choices:
        for (code,), spans in _of_store(choice.blank, first, old._now).items():
            before[(new._codes.symbols.add(old._codes.symbols.texts[code]),)] = spans
    after: Told = {}
    stores: dict[tuple[int, ...], Store] = {}
    for choice in new._engine.choices:
        missing = _of_store(choice.blank, first, new._now)
        stores |= dict.fromkeys(missing, choice.blank)
        after |= missing
    found = []
    for key, row in _rows(before, after, new._now):
        rows = np.array([row], np.int64)
        if key in stores:
            rows[:, 0] = stores[key].find(np.array([key], np.int64))
            rows = standing(stores[key], new._now, rows)
        rows[:, 0] = key[0]
        found.append((rows, None if not new._lazy else np.zeros(1, np.bool_)))
    return found


# --------------------------------------------------------------------------- what cannot be known


def _unknown(new: Reasoner, old: Reasoner, first: int) -> list[str]:
    """Sentences on input that the changed program looks at and that was not kept."""
    assert new._retained is not None
    notes = []
    fed = new._fed | old._fed
    for (name, arity), since in sorted(_missing(new, fed, first).items()):
        reach = new._network.reach.get((name, arity))
        until = "" if reach is None else f", which matters until tick {since + max(reach - 1, 0) - 1}"
        if (name, arity) in old._network.kinds:
            notes.append(f"rows of {name}/{arity} before tick {since} were not kept and count as absent{until}")
        else:
            notes.append(f"{name}/{arity} was not read before: its rows count from tick {since} on{until}")
    lost = any(new._retained.complete_from(p) > new.start for p in fed)
    kept = counts(old._network)
    for predicate, by, most in sorted(counts(new._network), key=str):
        if lost and not any(k[:2] == (predicate, by) and k[2] >= most for k in kept):
            what = "rows" if predicate is None else f"rows of {predicate[0]}/{predicate[1]}"
            notes.append(f"a window counts {most} {what} back: earlier ones were not all kept, it may see fewer")
    return notes


def _missing(new: Reasoner, fed: frozenset[Predicate], first: int) -> dict[Predicate, int]:
    """Input of which the changed program looks further back than there are rows, and from when on there are."""
    assert new._retained is not None
    found = {}
    for predicate in new._network.reach:
        reach, since = new._network.reach[predicate], new._retained.complete_from(predicate)
        oldest = new.start if reach is None else max(new.start, first - max(reach - 1, 0))
        if predicate in fed and oldest < since:
            found[predicate] = since
    return found
