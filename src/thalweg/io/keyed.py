"""Rows that say by themselves which columns they have: lines of JSON, dictionaries of Python.

Each is read as if it were alone, whatever stands beside it. A key without a value (null), or with a list or a
structure, is none. Keys of special meaning are the same in upper and lower case. The arguments are

- those called like the declared ones, where the row has one of these, in whatever order;
- else ``arg1, arg2, ...``, where it has one of those;
- else all of its other keys, in the order in which it has them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.io.shapes import Layout, Shape, Shapes
from thalweg.io.values import column_of, is_nothing
from thalweg.protocol import Ints

CHANGE_TYPE = "_change_type"
"""What change data feeds call `op`."""
FEED = ("_commit_version", "_commit_timestamp")
"""Columns that change data feeds add, which are no arguments."""
_PLAIN = {str, int, float, bool, datetime, date}
"""The kinds of most values; of these, only a float may be nothing."""
_NUMBERED = re.compile(r"arg([1-9][0-9]{0,8})")

Choice = tuple[Shape, tuple[str | None, ...]]
"""The shape of a row and the columns of its arguments; None: the row lacks it."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of the rows of a table: row `i` has the keys ``sets[which[i]]``, in its order."""

    which: Ints
    sets: tuple[tuple[str, ...], ...]


def special_keys(shapes: Iterable[Shape]) -> tuple[str, ...]:
    """The keys that are no arguments; `start` may be one, in programs that read no intervals, of rows with a `time`."""
    layouts = {shape.layout for shape in shapes}
    ends = ("end",) if Layout.INTERVAL in layouts else ()
    values = ("value",) if layouts - {Layout.EVENT} else ()
    return ("name", "time", "arrival", "start", *ends, *values, "op")


def column_name(key: str, special: Container[str]) -> str:
    """The column of a key."""
    plain = key.strip().lower()
    if plain == CHANGE_TYPE:
        return "op"
    return plain if plain in special else key


def columns_by_key(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, pa.Array], Keys]:
    """Rows, as `rows_by_column` gives them, as columns."""
    sets: dict[tuple[str, ...], int] = {}
    which = np.fromiter((sets.setdefault(tuple(row), len(sets)) for row in rows), np.int64, len(rows))
    names = dict.fromkeys(name for keys in sets for name in keys)
    return {name: column_of([row.get(name) for row in rows]) for name in names}, Keys(which, tuple(sets))


def rows_by_column(rows: Iterable[Mapping[Any, Any]], special: Container[str]) -> list[Mapping[str, Any] | str]:
    """What each row says, by column; or what is wrong with it."""
    known: dict[tuple[Any, ...], bool] = {}
    found: list[Mapping[str, Any] | str] = []
    for row in rows:
        keys = tuple(row)
        named = known.get(keys)
        if named is None:
            named = known[keys] = all(isinstance(key, str) and column_name(key, special) == key for key in keys)
        types = set(map(type, row.values()))
        plain = named and types <= _PLAIN and (float not in types or all(value == value for value in row.values()))
        found.append(row if plain else _row_by_column(row, special))
    return found


def _row_by_column(row: Mapping[Any, Any], special: Container[str]) -> dict[str, Any] | str:
    """The same of one row, key by key."""
    found: dict[str, Any] = {}
    said: dict[str, str] = {}
    for key, value in row.items():
        if is_nothing(value):
            continue
        key = str(key)
        name = column_name(key, special)
        before = said.get(name)
        if before is not None and CHANGE_TYPE not in (key.strip().lower(), before.strip().lower()):
            return f"more than one key `{name}`: {before}, {key}"
        if before is None or key.strip().lower() != CHANGE_TYPE:
            found[name], said[name] = value, key
    return found


# --------------------------------------------------------------------------- arguments


def choices(
    keys: Keys, rows: Ints, arities: Mapping[int, Shape], special: Sequence[str]
) -> Iterator[tuple[Choice | int, Ints]]:
    """The rows of a name by what they are: a shape and columns, or a number of arguments that the name does not
    take."""
    which = keys.which[rows]
    kinds: dict[Choice | int, int] = {}
    kind_of = np.zeros(len(keys.sets), np.int64)
    for place in np.flatnonzero(np.bincount(which, minlength=len(keys.sets))):
        choice = chosen(keys.sets[place], arities, special)
        kind_of[place] = kinds.setdefault(choice, len(kinds))
    if len(kinds) == 1:
        yield next(iter(kinds)), rows
        return
    kind = kind_of[which]
    for choice, number in kinds.items():
        yield choice, rows[kind == number]


def chosen(keys: Sequence[str], arities: Mapping[int, Shape], special: Sequence[str]) -> Choice | int:
    """The shape of a row with these keys and its columns, or its number of arguments, where that is none of those that
    its name takes."""
    others = {*special, *FEED} - ({"start"} if "end" not in special and "time" in keys else set())
    free = [key for key in keys if key not in others]
    if not free and 0 in arities:
        return arities[0], ()
    named = {arity: tuple(field.name for field in shape.fields) for arity, shape in arities.items()}
    named = {arity: names for arity, names in named.items() if names and None not in names}
    whole = [arity for arity, names in named.items() if set(names) <= set(keys)]
    part = [arity for arity, names in named.items() if not free or not {*names}.isdisjoint(free)]
    if whole or part:
        arity = max(whole) if whole else max(part, key=lambda arity: (len({*named[arity]} & {*free}), -arity))
        return arities[arity], named[arity]
    numbered = {int(found[1]): key for key in free if (found := _NUMBERED.fullmatch(key.strip().lower()))}
    size = max(numbered) if numbered else len(free)
    if size not in arities:
        return size
    return arities[size], tuple(numbered.get(i) for i in range(1, size + 1)) if numbered else tuple(free)


def any_fits(keys: Keys, name: str, shapes: Shapes) -> bool:
    """True where one of the rows may be of that name."""
    special = special_keys(shapes)
    return any(isinstance(chosen(known, shapes.by_name[name], special), tuple) for known in keys.sets)
