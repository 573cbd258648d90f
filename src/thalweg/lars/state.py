"""Snapshots of the reasoner: stores and operators, rows that wait, and the input that is retained."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from thalweg.columns.sealing import ForeignState
from thalweg.lars.admission import Admission, Part
from thalweg.lars.packing import pack, unpack
from thalweg.lars.retained import Kept
from thalweg.protocol import Ints

if TYPE_CHECKING:
    from thalweg.lars.reasoner import Reasoner

VERSION = 3
"""Of snapshots; another version is refused."""


def arrays_of(reasoner: Reasoner) -> dict[str, Ints]:
    """Every array of the state."""
    arrays = {"now": np.array([reasoner._now], np.int64), **reasoner._engine.state()}
    for (name, arity), parts in reasoner._admission.waiting.items():
        arrays[f"waiting/{name}/{arity}"] = np.concatenate([p.rows for p in parts])
    retained = reasoner._retained
    if retained is not None:
        retained.trim(reasoner.first_revisable, reasoner._network)
        arrays |= {f"retained/{key}": rows for key, rows in retained.state().items()}
    return arrays


def used_symbols(arrays: dict[str, Ints]) -> Iterator[Ints]:
    """The ids of the symbols in the arrays of a state, among other numbers: of odd codes, and of loops without an
    answer, which are ids themselves."""
    for name, array in arrays.items():
        if array.dtype.kind == "i":
            yield array[(array & 1) == 1] >> 1
            if name.endswith("/blank/keys"):
                yield array


def taken(reasoner: Reasoner) -> bytes:
    """The complete state."""
    arrays, retained = arrays_of(reasoner), reasoner._retained
    header = {
        "version": VERSION,
        "program": _fingerprint(reasoner),
        "fed": sorted(map(list, reasoner._fed)),
        "symbols": reasoner._codes.symbols.state(),
        "clean": sorted([*p] for p, parts in reasoner._admission.waiting.items() if all(x.clean for x in parts)),
        "rejected": [[t, r.tolist(), why, detail] for t, r, why, detail in reasoner._admission.rejected.parts],
    }
    if retained is not None:
        header["retained"] = [retained.begin, sorted([*p, tick] for p, tick in retained.since.items())]
    return pack(header, arrays)


def put_back(reasoner: Reasoner, state: bytes) -> None:
    """Put a state into a reasoner that was made for the same program and settings."""
    header, arrays = unpack(state, VERSION)
    if header["program"] != _fingerprint(reasoner):
        raise ForeignState("the snapshot belongs to another program, or to other settings")
    reasoner._fed = frozenset((name, arity) for name, arity in header["fed"])
    reasoner._codes.symbols.restore(header["symbols"])
    reasoner._codes.forget_tags()
    reasoner._texts.forget()
    reasoner._build()
    reasoner._admission = Admission(reasoner._codes, reasoner._network.kinds, reasoner.start, reasoner.lateness)
    reasoner._now = int(arrays["now"][0])
    reasoner._engine.restore(arrays)
    for key, rows in _under(arrays, "waiting/").items():
        name, arity = key.rsplit("/", 1)
        reasoner._admission.put((name, int(arity)), Part(rows, [name, int(arity)] in header["clean"], False))
    for tick, rows_of, reason, detail in header["rejected"]:
        reasoner._admission.rejected.add(tick, np.array(rows_of, np.int64), reason, detail)
    reasoner._rebuild_calendars()
    if reasoner._retained is not None:
        begin, since = header.get("retained", [reasoner._now + 1, []])
        reasoner._retained = Kept(begin)
        reasoner._retained.since = {(name, arity): tick for name, arity, tick in since}
        reasoner._retained.restore(_under(arrays, "retained/"))


def _fingerprint(reasoner: Reasoner) -> str:
    """Tells programs and settings apart."""
    told = (reasoner.program.statements, reasoner.lateness, reasoner.start, reasoner._predict)
    return sha256(repr(told).encode()).hexdigest()


def _under(arrays: dict[str, Ints], prefix: str) -> dict[str, Ints]:
    return {k[len(prefix) :]: v for k, v in arrays.items() if k.startswith(prefix)}
