"""Instances as text, ``status(m1)``, taken apart: their arguments as typed columns.

The work is done once per distinct instance. Columns are named as the program declares the arguments, ``arg1,
arg2, ...`` otherwise; positions that hold numbers become int64 or float64, all others text without quotes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.roles import Entity, EntityKind, entities
from thalweg.analysis.types import Types, infer
from thalweg.io.errors import InputError, did_you_mean
from thalweg.io.fold import coded
from thalweg.io.shapes import Type
from thalweg.io.times import as_mask
from thalweg.io.typed import read_column
from thalweg.language.instances import quoted, split_arguments, unquoted
from thalweg.language.program import Program

_DEFAULT = {EntityKind.FLUENT: "timeline", EntityKind.EVENT: "events"}
_COLUMN = {EntityKind.FLUENT: "fluent", EntityKind.EVENT: "event"}


class Instances:
    """Takes apart the instances of what a program computes."""

    def __init__(self, program: Program) -> None:
        self._types = infer(program)
        outputs = [e for e in entities(program) if e.key.kind in _COLUMN and e.is_output]
        self._outputs = {entity.name: entity for entity in sorted(outputs, key=lambda entity: entity.arity)}

    @property
    def fluents(self) -> list[str]:
        """The names of the fluents that the program computes."""
        return [name for name, entity in self._outputs.items() if entity.key.kind is EntityKind.FLUENT]

    def entity(self, name: str) -> Entity:
        """The fluent or derived event of that name, which may be in quotes; of several, the one with most arguments."""
        name = unquoted(name)
        if name not in self._outputs:
            near = did_you_mean(name, self._outputs)
            raise InputError("table", f"the rules compute no {name}{near}")
        return self._outputs[name]

    def columns(self, table: pa.Table, name: str, *, whole: bool = True) -> pa.Table:
        """The rows of one fluent or derived event, its arguments in columns of their own.

        Numbers that are all integers are int64 where the table is the `whole` of them; in a piece of more, where the
        other pieces are not known, all numbers are float64.
        """
        entity = self.entity(name)
        column, written = _COLUMN[entity.key.kind], quoted(entity.name)
        instances = coded(table.column(column))
        rows = np.flatnonzero(as_mask(_named(instances.words, written))[instances.ranks])
        kept = table.take(pa.array(rows))
        found = {
            label: _typed(argument.take(pa.array(instances.ranks[rows])), kind, whole)
            for argument, label, kind in zip(
                _arguments(instances.words, written, entity.arity),
                _labels(entity),
                _kinds(entity, self._types),
                strict=True,
            )
        }
        for other in kept.column_names:
            if other != column:
                found[other] = kept.column(other).combine_chunks()
        if "value" in found:
            kind = Type(self._types.value(entity.name, entity.arity))
            found["value"] = _typed(_unquoted_column(found["value"]), kind, whole)
        leading = [c for c in ("query_time", "op") if c in found]
        return pa.table(found).select([*leading, *(c for c in found if c not in leading)])


def columns_of(
    program: Program, tables: Mapping[str, pa.Table], name: str, of: str | None = None
) -> pa.Table:
    """The rows of one fluent or derived event, from the table of that name or from the one it belongs to."""
    instances = Instances(program)
    kind = instances.entity(name).key.kind
    table = tables.get(of or _DEFAULT[kind])
    if of is not None and of not in tables:
        known = ", ".join(tables)
        raise InputError("table", f"there is no table {of}{did_you_mean(of, [*tables])}", f"there are {known}")
    if table is None or _COLUMN[kind] not in table.column_names:
        raise InputError("table", f"the table {of} has no rows of {name}")
    return instances.columns(table, name)


def _labels(entity: Entity) -> list[str]:
    declared = entity.declared.arguments if entity.declared is not None else ()
    names = [argument.name for argument in declared if argument.name != "_"]
    taken = {"value", "start", "end", "time", "query_time", "op", "cause"}
    if len(names) == entity.arity and not taken & set(names):
        return names
    return [f"arg{i + 1}" for i in range(entity.arity)]


def _kinds(entity: Entity, types: Types) -> list[Type]:
    key = entity.key
    return [Type(types.shown(key.kind, key.name, key.arity, i)) for i in range(key.arity)]


def _named(words: pa.Array, name: str) -> pa.Array:
    return pc.or_(pc.equal(words, name), pc.starts_with(words, f"{name}(")).fill_null(False)


def _arguments(words: pa.Array, name: str, arity: int) -> list[pa.Array]:
    """For each position the argument of each word, without quotes; nothing for the words of other names."""
    found: list[list[str | None]] = [[None] * len(words) for _ in range(arity)]
    places = np.flatnonzero(as_mask(_named(words, name))) if len(words) else np.empty(0, np.int64)
    for place, word in zip(places.tolist(), words.take(pa.array(places)).to_pylist(), strict=True):
        parts = split_arguments(word[len(name) + 1 : -1]) if word != name else []
        if len(parts) == arity:
            for position, part in enumerate(parts):
                found[position][place] = unquoted(part)
    return [pa.array(column, pa.string()) for column in found]


def _unquoted_column(column: pa.Array) -> pa.Array:
    words = coded(pa.chunked_array([column]))
    plain = pa.array([None if w is None else unquoted(w) for w in words.words.to_pylist()], pa.string())
    return plain.take(pa.array(words.ranks))


def _typed(column: pa.Array, kind: Type, whole: bool) -> pa.Array:
    """Numbers where all are numbers, text otherwise."""
    if kind is Type.SYMBOL:
        return column
    typed = read_column(column, Type.FLOAT if kind is Type.NUMBER and not whole else kind)
    return column if typed.mismatch.any() else typed.column
