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
from thalweg.language.program import Program

_DEFAULT = {EntityKind.FLUENT: "timeline", EntityKind.EVENT: "events"}
_COLUMN = {EntityKind.FLUENT: "fluent", EntityKind.EVENT: "event"}


def columns_of(
    program: Program, tables: Mapping[str, pa.Table], name: str, of: str | None = None
) -> pa.Table:
    """The rows of one fluent or derived event, its arguments in columns of their own."""
    entity = _entity(program, name)
    table = tables.get(of or _DEFAULT[entity.key.kind])
    column = _COLUMN[entity.key.kind]
    if table is None or column not in table.column_names:
        raise InputError("table", f"the table {of} has no rows of {name}")
    instances = coded(table.column(column))
    wanted = _named(instances.words, name)
    rows = np.flatnonzero(as_mask(wanted)[instances.ranks]) if len(instances.words) else np.empty(0, np.int64)
    kept = table.take(pa.array(rows))
    arguments = _arguments(instances.words, name, entity.arity)
    types = infer(program)
    found = {
        label: _typed(argument.take(pa.array(instances.ranks[rows])), kind)
        for argument, label, kind in zip(arguments, _labels(entity), _kinds(entity, types), strict=True)
    }
    for other in kept.column_names:
        if other == column:
            continue
        values = kept.column(other).combine_chunks()
        if other == "value":
            values = _typed(_unquoted_column(values), Type(types.value(name, entity.arity)))
        found[other] = values
    leading = [c for c in ("query_time", "op") if c in found]
    return pa.table(found).select([*leading, *(c for c in found if c not in leading)])


def _entity(program: Program, name: str) -> Entity:
    outputs = [e for e in entities(program) if e.key.kind in _COLUMN and e.is_output]
    named = [entity for entity in outputs if entity.name == name]
    if not named:
        known = {entity.name for entity in outputs}
        raise InputError("table", f"the rules compute no {name}{did_you_mean(name, known)}")
    return max(named, key=lambda entity: entity.arity)


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
    return pc.or_(pc.equal(words, name), pc.starts_with(words, f"{name}("))


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


def split_arguments(text: str) -> list[str]:
    """The arguments of an instance, as they are written.

    >>> split_arguments("m1,'a, b',f(x,y)")
    ['m1', "'a, b'", 'f(x,y)']
    """
    if "'" not in text and "(" not in text and "[" not in text:
        return [part.strip() for part in text.split(",")]
    parts, depth, start, quoted, escaped = [], 0, 0, False, False
    for place, character in enumerate(text):
        if quoted:
            quoted = escaped or character != "'"
            escaped = character == "\\" and not escaped
        elif character == "'":
            quoted = True
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


def unquoted(text: str) -> str:
    """A constant as data: without its quotes.

    >>> unquoted("'North Sea'"), unquoted("m1")
    ('North Sea', 'm1')
    """
    if len(text) < 2 or not (text.startswith("'") and text.endswith("'")):
        return text
    return text[1:-1].replace("\\'", "'").replace("\\\\", "\\")


def _unquoted_column(column: pa.Array) -> pa.Array:
    words = coded(pa.chunked_array([column]))
    plain = pa.array([None if w is None else unquoted(w) for w in words.words.to_pylist()], pa.string())
    return plain.take(pa.array(words.ranks))


def _typed(column: pa.Array, kind: Type) -> pa.Array:
    """Numbers where all are numbers, text otherwise."""
    if kind is Type.SYMBOL:
        return column
    typed = read_column(column, kind)
    return column if typed.mismatch.any() else typed.column
