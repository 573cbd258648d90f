"""Labels as a table: every window atom and head with whether it is in, and until when without further input.

labels   atom, status, from, to, exact: `status` is ``in`` (since the tick `from`, through `to`; null for ever) or
         ``out`` (through `to`, the tick before it comes in; null for ever). `exact` is false where that lasts at least
         so long, and nobody knows how much longer. Atoms with arguments are listed while they are in
         or will be (those that rest on points of heads to come, while they are in); those without are always listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from thalweg.columns.symbols import as_floats
from thalweg.language.printer import Printer
from thalweg.language.rules import Windowed
from thalweg.language.terms import signature
from thalweg.lars.labels import FOREVER
from thalweg.lars.store import Store
from thalweg.lars.stratify import Predicate
from thalweg.lars.texts import Texts

if TYPE_CHECKING:
    from thalweg.lars.ends import Ends

LABELS = pa.schema(
    [("atom", pa.string()), ("status", pa.string()), ("from", pa.int64()), ("to", pa.int64()), ("exact", pa.bool_())]
)
Label = tuple[str, str, int | None, int | None, bool]


@dataclass(frozen=True, slots=True)
class View:
    """The store of an extended atom: what stands before the atom, whether the tuples end with a point, and the window
    atom, where it is one."""

    store: Store
    prefix: str
    predicate: Predicate
    pointed: bool
    literal: Windowed | None = None


def window_view(store: Store, literal: Windowed, tick: float | None) -> View:
    """The view that a window literal reads."""
    window = "" if literal.window is None else Printer(tick).window(literal.window)
    prefix = window if literal.mode == "at" else f"{window} {literal.mode}"
    return View(store, prefix, signature(literal.atom), literal.mode == "at", literal)


def labels_table(
    views: Iterable[View], now: int, texts: Texts, kinds: dict[Predicate, tuple[str, ...]], ends: Ends
) -> pa.Table:
    """The labels of all views at a tick, in the order of their texts."""
    rows: dict[str, Label] = {}
    for view in views:
        for row in _labels(view, now, texts, kinds[view.predicate], ends):
            rows.setdefault(row[0], row)
    if not rows:
        return LABELS.empty_table()
    columns = zip(*(rows[text] for text in sorted(rows)), strict=True)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, LABELS, strict=True)], schema=LABELS)


def _labels(view: View, now: int, texts: Texts, kinds: tuple[str, ...], ends: Ends) -> Iterable[Label]:
    pieces = view.store.live(now)
    pieces = pieces[np.unique(pieces[:, 0], return_index=True)[1]]
    if ends.rests_on_points(view) and (kinds or view.pointed):
        pieces = pieces[pieces[:, 1] <= now]
    keys = view.store.keys[pieces[:, 0]]
    if not len(pieces) and not kinds and not view.pointed:
        pieces, keys = np.array([[0, FOREVER + 1, FOREVER]]), np.empty((1, 0), np.int64)
    is_in = pieces[:, 1] <= now
    last_known = np.where(is_in, pieces[:, 2], pieces[:, 1] - 1)
    until, exact = ends.exact(view, keys, np.full(len(keys), now), is_in, last_known)
    exact = np.ones(len(until), np.bool_) if exact is None else exact
    atoms = texts.atoms(view.predicate[0], kinds, keys).to_pylist()
    points = as_floats(keys[:, -1]).astype(np.int64).tolist() if view.pointed else [None] * len(atoms)
    columns = atoms, points, pieces[:, 1].tolist(), until.tolist(), exact.tolist()
    for atom, point, first, last, certain in zip(*columns, strict=True):
        status = ("in", first) if first <= now else ("out", None)
        yield _joined(view.prefix, atom, point), *status, None if last >= FOREVER else last, certain


def _joined(prefix: str, atom: str, point: int | None) -> str:
    return " ".join([*([prefix] if prefix else []), *([f"at({point})"] if point is not None else []), atom])
