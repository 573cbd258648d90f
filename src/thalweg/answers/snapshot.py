"""The state of a reasoner as bytes: a header in JSON, then arrays in a fixed order.

The same calls give the same bytes. A snapshot of another program, lateness, horizon or start is refused. Agendas and
remembered looks are not stored: they follow from the blocks.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.answers.blocks import Block, Facts
from thalweg.answers.codec import SYMBOL, Codec
from thalweg.answers.gathered import Answered
from thalweg.answers.inbox import coded_from, coded_matrix
from thalweg.answers.retained import Kept, Unasked
from thalweg.columns.sealing import ForeignState, opened, sealed
from thalweg.columns.symbols import SymbolTable
from thalweg.protocol import Ints

if TYPE_CHECKING:
    from thalweg.answers.reasoner import Reasoner

KIND = b"thalweg answers 3"


def identity(reasoner: Reasoner) -> str:
    """A digest of everything that a state depends on besides the input."""
    shown = repr((str(reasoner.program), reasoner.lateness, reasoner.horizon, reasoner.start))
    return hashlib.sha256(shown.encode()).hexdigest()


def _taken(reasoner: Reasoner) -> tuple[dict[str, Any], list[Ints]]:
    """The complete state: what goes into the header, and arrays of which that tells the numbers."""
    arrays: list[Ints] = []

    def put(array: Ints) -> int:
        arrays.append(np.ascontiguousarray(array, np.int64))
        return len(arrays) - 1

    engine, inbox = reasoner.engine, reasoner.inbox
    header: dict[str, Any] = {
        "identity": identity(reasoner),
        "clock": engine.clock,
        "symbols": reasoner.codec.symbols.state(),
        "cells": [
            [
                [time, *_blocks(cell.blocks, put)]
                for time, cell in sorted(cells.items())
                if cell.blocks or engine.lateness  # what was killed may come back by a retraction
            ]
            for cells in engine.cells
        ],
        "facts": [
            [*p, t, f.length, put(f.rows())] for (p, t), f in sorted(engine.facts.items(), key=lambda i: i[0])
        ],
        "pending": [[*p, put(coded_matrix(c))] for p, parts in sorted(inbox.pending.items()) for c in parts],
        "rejected": put(inbox.rejected.rows),
        "reasons": inbox.rejected.reasons,
        "loose": [loose.state(put) for loose in engine.loose],
        "answered": [gathered.state(put) for _, gathered in sorted(engine.gathered.items())],
        "known": engine.known_from,
        "final": engine.final,
        "unasked": [[name, *unasked.state(engine.closed)] for name, unasked in sorted(reasoner.unasked.items())],
    }
    retained = reasoner._retained
    if retained is not None:
        retained.trim(engine.closed)
        header["begin"] = retained.begin
        header["since"] = [[*p, time] for p, time in sorted(retained.since.items())]
        header["retained"] = [
            [*p, put(coded_matrix(c))] for p, parts in sorted(retained.rows.items()) for c in parts
        ]
    return header, arrays


def pack(reasoner: Reasoner) -> bytes:
    """The complete state."""
    header, arrays = _taken(reasoner)
    out = io.BytesIO()
    text = json.dumps(header, sort_keys=True).encode()
    out.write(len(text).to_bytes(8, "little"))
    out.write(text)
    for array in arrays:
        np.lib.format.write_array(out, array, version=(1, 0), allow_pickle=False)
    return sealed(KIND, (out.getvalue(),))


def forget_texts(reasoner: Reasoner) -> None:
    """Forget the texts that nothing refers to. The reasoner goes on from its own state with a codec of its own: tables
    that were not read yet are written by the old one."""
    header, arrays = _taken(reasoner)
    symbols = reasoner.codec.symbols.copy()
    symbols.forget(array - SYMBOL for array in arrays)
    _put(reasoner, {**header, "symbols": symbols.state()}, [array.copy() for array in arrays])


def _blocks(blocks: Any, put: Any) -> list[list[Any]]:
    found = []
    for (number, mask), block in sorted(blocks.items()):
        columns = [None if c is None else put(c) for c in block.columns]
        found.append([number, mask, block.length, columns, put(block.bits)])
    return found


def unpack(reasoner: Reasoner, state: bytes) -> None:
    """Put a state into a reasoner that was made for the same program and settings."""
    view = opened(KIND, state, "open answers")
    at = 8 + int.from_bytes(view[:8], "little")
    header = json.loads(bytes(view[8:at]))
    if header["identity"] != identity(reasoner):
        raise ForeignState("the snapshot belongs to another program, lateness, horizon or start")
    if reasoner.engine.gathered and "answered" not in header:
        raise ForeignState("the snapshot is of an earlier version, which kept the answers to this program otherwise")
    source = io.BytesIO(view[at:])
    arrays: list[Ints] = []
    while source.tell() < len(source.getbuffer()):
        arrays.append(np.lib.format.read_array(source, allow_pickle=False))
    _put(reasoner, header, arrays)


def _put(reasoner: Reasoner, header: dict[str, Any], arrays: list[Ints]) -> None:
    symbols = SymbolTable()
    symbols.restore(header["symbols"])
    reasoner.begin(Codec(symbols))
    engine, inbox = reasoner.engine, reasoner.inbox
    engine.clock = header["clock"]
    engine.closed = engine.clock - engine.lateness
    for query, cells in enumerate(header["cells"]):
        for time, *blocks in cells:
            engine.adopt(query, time, {(b[0], b[1]): _block(b, arrays) for b in blocks})
    for name, arity, time, length, rows in header["facts"]:
        engine.facts[(name, arity), time] = Facts([c.copy() for c in arrays[rows].T], length)
    for name, arity, rows in header["pending"]:
        inbox.pending.setdefault((name, arity), []).append(coded_from(arrays[rows]))
    inbox.rejected.rows = arrays[header["rejected"]]
    inbox.rejected.reasons = [(reason, detail) for reason, detail in header["reasons"]]
    for loose, kept in zip(engine.loose, header["loose"], strict=True):
        loose.adopt(kept, arrays)
    for query, keys in header.get("answered", []):
        engine.gathered[query].answered = Answered(arrays[keys])
    engine.known_from = header.get("known", engine.known_from)
    engine.final = header.get("final", engine.final)
    reasoner.unasked = {name: Unasked(*told) for name, *told in header.get("unasked", [])}
    engine.decisions.recall()
    if reasoner._retained is not None:
        _put_back(reasoner._retained, header, arrays, engine.clock)


def _put_back(retained: Kept, header: dict[str, Any], arrays: list[Ints], clock: int) -> None:
    """The retained rows; a state from before there were any knows nothing of the past."""
    retained.begin = header.get("begin", clock + 1)
    retained.since = {(name, arity): time for name, arity, time in header.get("since", [])}
    for name, arity, rows in header.get("retained", []):
        retained.add((name, arity), coded_from(arrays[rows]))


def _block(stored: list[Any], arrays: list[Ints]) -> Block:
    _, _, length, columns, bits = stored
    return Block(length, [None if c is None else arrays[c] for c in columns], arrays[bits])
