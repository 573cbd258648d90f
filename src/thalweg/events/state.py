"""Snapshots: the complete state of a reasoner as bytes, versioned, deterministic, bound to one program."""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from thalweg.columns.keys import KeyTable
from thalweg.columns.ragged import Ragged
from thalweg.columns.sealing import ForeignState, opened, sealed
from thalweg.columns.symbols import SymbolTable
from thalweg.events import past
from thalweg.events.determined import InputUnit, SpanUnit
from thalweg.events.sweeping import SweepUnit
from thalweg.events.waiting import Coded, Waiting, by_arrival, joined

if TYPE_CHECKING:
    from thalweg.events.reasoner import Reasoner

KIND = b"thalweg-events-11"
SMALL = 1024
"""Bytes below which an array is stored as it is."""
_CODEC = pa.Codec("lz4_raw")


def identity(reasoner: Reasoner) -> str:
    """What a state belongs to: the program's text and the reasoner's settings. A program with many facts is not
    printed twice."""
    if reasoner.identity is None:
        settings = (reasoner.window, reasoner.step, reasoner.start, reasoner.tick)
        reasoner.identity = hashlib.sha256(f"{reasoner.program}\n{settings}".encode()).hexdigest()
    return reasoner.identity


def memory(reasoner: Reasoner) -> dict[str, Any]:
    """Every array that stores and units remember, by a name that says whose it is."""
    found: dict[str, Any] = {}
    plan = reasoner._plan

    def ragged(name: str, lists: Ragged) -> None:
        state = lists.state()
        found[f"{name}.rows"], found[f"{name}.sizes"] = state["rows"], state["sizes"]
        found[f"{name}.expiry"] = np.array([lists.expiry])

    for name, event in plan.catalogue.events.items():
        event.primary()
        for positions, index in event.indexes.items():
            at = f"event {name} {positions}"
            found[f"{at}.keys"] = index.keys.state()
            ragged(at, index.lists)
    for kind, stores in (("simple", plan.catalogue.simple), ("determined", plan.catalogue.determined)):
        for name, store in stores.items():
            found[f"{kind} {name}.keys"] = store.instances.state()
            ragged(f"{kind} {name}.lists", store.lists)
            ragged(f"{kind} {name}.points", store.points)
    for number, unit in enumerate(plan.units()):
        at = str(number)
        match unit:
            case SweepUnit():
                found |= {f"unit {at}.{part}": array for part, array in unit.state().items()}
                ragged(f"unit {at}", unit.candidates)
            case SpanUnit():
                for k, plan_ in enumerate(unit.plans):
                    found[f"unit {at}.{k}.bindings"] = plan_.bindings.state()
                    found[f"unit {at}.{k}.heads"] = plan_.heads
                    found[f"unit {at}.{k}.flips"] = plan_.flips
                    found[f"unit {at}.{k}.started"] = np.array([plan_.started])
                    for m, lists in enumerate(plan_.memories):
                        ragged(f"unit {at}.{k}.{m}", lists)
            case InputUnit():
                ragged(f"unit {at}", unit.given)
                found[f"unit {at}.ahead"] = unit.ahead
            case _:
                pass
    found.update(past.arrays_of(reasoner))
    return found


def arrays(reasoner: Reasoner) -> dict[str, Any]:
    """Every array of the state."""
    found = memory(reasoner)
    found["rejected"] = reasoner._admission.rejected.rows
    for name, waiting in reasoner._admission.waiting.items():
        if waiting.parts:
            found[f"waiting {name}"] = by_arrival(joined(waiting.parts)).matrix()
        if waiting.early is not None:
            found[f"early {name}"] = waiting.early.matrix()
    return found


def pack(reasoner: Reasoner) -> bytes:
    """The state as bytes: a header, then arrays in a fixed order, compressed where that makes them smaller."""
    found = {**arrays(reasoner), **_fixed_texts(reasoner._plan.symbols)}
    names = sorted(found)
    stored = [_stored(found[name]) for name in names]
    symbols = reasoner._plan.symbols
    header: dict[str, Any] = {
        "identity": identity(reasoner),
        "query_time": reasoner.query_time,
        "kept": reasoner.kept,
        "seeded": bool(reasoner.query_time != reasoner.start),
        "symbols": {**symbols.state(), "texts": symbols.texts[symbols.fixed :]},
        "reasons": [*reasoner._admission.rejected.reasons],
        "arrays": [
            (name, found[name].dtype.str, found[name].shape, len(content))
            for name, content in zip(names, stored, strict=True)
        ],
    }
    text = json.dumps(header, sort_keys=True).encode()
    return sealed(KIND, (len(text).to_bytes(8, "little"), text, *stored))


def _fixed_texts(symbols: SymbolTable) -> dict[str, Any]:
    """The texts that are never forgotten as arrays."""
    texts = symbols.fixed_texts()
    if not len(texts):
        return {"fixed.ends": np.zeros(1, np.int32), "fixed.letters": np.zeros(0, np.uint8)}
    ends = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[ends[0] : ends[-1]]
    return {"fixed.ends": ends - ends[0], "fixed.letters": letters}


def _stored(array: Any) -> bytes:
    if array.nbytes >= SMALL:
        smaller: bytes = _CODEC.compress(np.ascontiguousarray(array).reshape(-1).view(np.uint8), asbytes=True)
        if len(smaller) < array.nbytes:
            return smaller
    content: bytes = array.tobytes()
    return content


def _read(content: memoryview, dtype: np.dtype[Any], shape: list[int]) -> Any:
    size = math.prod(shape) * dtype.itemsize
    whole = content if len(content) == size else _CODEC.decompress(content, size)
    return np.frombuffer(whole, dtype).reshape(shape).copy()


def unpack(reasoner: Reasoner, state: bytes) -> None:
    """Put a state into a reasoner that was made for the same program and settings."""
    view = opened(KIND, state, "an event reasoner")
    at = 8 + int.from_bytes(view[:8], "little")
    header = json.loads(bytes(view[8:at]))
    if header["identity"] != identity(reasoner):
        raise ForeignState("the snapshot belongs to another program, window, step, start or tick")
    read = {}
    for name, kind, shape, length in header["arrays"]:
        read[name] = _read(view[at : at + length], np.dtype(kind), shape)
        at += length
    fixed = pa.StringArray.from_buffers(
        len(read["fixed.ends"]) - 1, *(pa.py_buffer(read.pop(f"fixed.{part}")) for part in ("ends", "letters"))
    )
    header["symbols"]["texts"] = [*fixed.to_pylist(), *header["symbols"]["texts"]]
    _put(reasoner, header, read)


def _put(reasoner: Reasoner, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    symbols = reasoner._plan.symbols
    if header["symbols"]["texts"][: symbols.fixed] != symbols.texts[: symbols.fixed]:
        reasoner.compile(SymbolTable(header["symbols"]["texts"]))  # it took over from another program
    plan = reasoner._plan
    plan.symbols.restore(header["symbols"])
    reasoner.query_time, reasoner.kept = header["query_time"], header["kept"]
    if header["seeded"]:
        for unit in plan.units():
            if isinstance(getattr(unit, "_found", None), list):
                unit._found = []
    put_memory(reasoner, arrays)
    reasoner._admission.rejected.rows = arrays["rejected"]
    reasoner._admission.rejected.reasons = {(r, d): i for i, (r, d) in enumerate(header["reasons"])}
    reasoner._admission.waiting = {}
    for name, rows in arrays.items():
        kind, _, relation = name.partition(" ")
        if kind in ("waiting", "early"):
            waiting = reasoner._admission.waiting.setdefault(relation, Waiting())
            if kind == "early":
                waiting.early = Coded.of_matrix(rows)
            else:
                waiting.add(Coded.of_matrix(rows))
    reasoner._output.forget()


def put_memory(reasoner: Reasoner, arrays: dict[str, Any]) -> None:
    """Put what `memory` gave into the stores and units."""
    plan = reasoner._plan
    reasoner.past = past.of_arrays(arrays)

    def ragged(name: str, clock: int = 0, *, ordered: bool = True) -> Ragged:
        state = {"rows": arrays[f"{name}.rows"], "sizes": arrays[f"{name}.sizes"]}
        lists = Ragged.of(state, clock, ordered=ordered)
        lists.expiry = int(arrays[f"{name}.expiry"][0])
        return lists

    for name, event in plan.catalogue.events.items():
        event.primary()
        for positions, index in event.indexes.items():
            at = f"event {name} {positions}"
            index.keys = KeyTable.of(arrays[f"{at}.keys"])
            index.lists = ragged(at)
    for kind, stores in (("simple", plan.catalogue.simple), ("determined", plan.catalogue.determined)):
        for name, store in stores.items():
            store.instances = KeyTable.of(arrays[f"{kind} {name}.keys"])
            store.lists = ragged(f"{kind} {name}.lists", clock=1)
            store.points = ragged(f"{kind} {name}.points")
            store.forget_accesses()
    for number, unit in enumerate(plan.units()):
        at = str(number)
        match unit:
            case SweepUnit():
                prefix = f"unit {at}."
                mine = {n.removeprefix(prefix): array for n, array in arrays.items() if n.startswith(prefix)}
                unit.restore(ragged(f"unit {at}"), mine)
            case SpanUnit():
                for k, plan_ in enumerate(unit.plans):
                    plan_.bindings = KeyTable.of(arrays[f"unit {at}.{k}.bindings"])
                    plan_.heads = arrays[f"unit {at}.{k}.heads"]
                    plan_.flips = arrays[f"unit {at}.{k}.flips"]
                    plan_.started = bool(arrays[f"unit {at}.{k}.started"][0])
                    plan_.reset_index()
                    for m, lists in enumerate(plan_.memories):
                        lists.adopt(ragged(f"unit {at}.{k}.{m}", clock=1))
            case InputUnit():
                unit.given = ragged(f"unit {at}", clock=1, ordered=False)
                unit.ahead = arrays[f"unit {at}.ahead"]
            case _:
                pass
