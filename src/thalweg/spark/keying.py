"""Which shard a key belongs to: one function, once as a Spark expression and once in Python.

A shard is a place in a grid with one side per part of the reasoning key; along each side a constant lies at
``crc32(text) mod size``. Constants that the reasoners hold for one (``12``, ``12.0``, ``0012``) have one text here;
so have all bytes that are no UTF-8, and all texts with ``\\x`` in them, as which these bytes are read.
Rows that carry only some parts of the key go to every place that agrees on those: of a grid of n shards, a row
with one part of a pair goes to about the square root of n of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa

from thalweg.language.terms import EXACT
from thalweg.protocol import Ints

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

_NUMBER = r"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?"
_IS_NUMBER = re.compile(_NUMBER)
_WHOLE = r"[-+]?[0-9]+"
_IS_WHOLE = re.compile(_WHOLE)
_SIGN_AND_ZEROS = r"^[+]?(-?)0*"
"""What a large integer can be written with and without; of it only a minus counts."""
_FAR = "far"
"""Stands for all numbers beyond exactness that are not written as integers."""
_ESCAPE = "\\x"
"""Begins what is written for bytes that are no UTF-8 (`io.decoding`), and stands for all texts with such bytes."""


class Route(NamedTuple):
    """Where rows go: the arguments at `positions` are the parts `parts` of the key. A position is a path: ``(0, 1)``
    is the second argument of the compound that is the first."""

    positions: tuple[tuple[int, ...], ...]
    parts: tuple[int, ...]


Grid = tuple[int, ...]
"""How many places there are along each part of the key; an empty grid is one shard."""


def grid_of(shards: int, width: int) -> Grid:
    """The grid with the most places up to `shards`, and of those the most even one.

    >>> grid_of(6, 2), grid_of(5, 1), grid_of(7, 0)
    ((3, 2), (5,), ())
    """
    if width == 0:
        return ()
    best: Grid = (1,) * width
    for sides in product(range(1, shards + 1), repeat=width - 1):
        rest = shards // math.prod(sides)
        if rest:
            found = tuple(sorted((*sides, rest), reverse=True))
            if (math.prod(found), -sum(found)) > (math.prod(best), -sum(best)):
                best = found
    return best


@lru_cache
def strides(grid: Grid) -> tuple[int, ...]:
    """By how much the shard changes with one step along each part.

    >>> strides((3, 2))
    (2, 1)
    """
    return tuple(math.prod(grid[i + 1 :]) for i in range(len(grid)))


@lru_cache
def elsewhere(grid: Grid, parts: tuple[int, ...]) -> tuple[int, ...]:
    """What to add to the place given by some parts to reach every shard that agrees on them."""
    steps = strides(grid)
    free = [
        range(0, side * step, step)
        for i, (side, step) in enumerate(zip(grid, steps, strict=True))
        if i not in parts
    ]
    return tuple(sum(choice) for choice in product(*free))


# --------------------------------------------------------------------------- in Python


def key_text(constant: str) -> str:
    """The text that decides: of numbers the whole part, of large integers their digits.

    >>> key_text("0012"), key_text("12.0"), key_text("v12"), key_text("+012345678901234567890")
    ('12', '12', 'v12', '12345678901234567890')
    """
    if not _IS_NUMBER.fullmatch(constant):
        return _ESCAPE if _ESCAPE in constant else constant
    value = float(constant)
    if abs(value) < EXACT:
        return str(math.floor(value))
    return re.sub(_SIGN_AND_ZEROS, r"\1", constant) if _IS_WHOLE.fullmatch(constant) else _FAR


@lru_cache(maxsize=1_000_000)
def key_hash(constant: str) -> int:
    """The number that decides where a constant lies."""
    return crc32(key_text(constant).encode())


def key_hashes(values: pa.Array) -> Ints:
    """The numbers of a column of constants, text or numbers; a missing one has a number too."""
    if pa.types.is_floating(values.type):
        numbers = values.to_pylist()
        texts = [repr(n) if n is not None and math.isfinite(n) else _FAR for n in numbers]
        return np.array([key_hash(text) for text in texts], np.int64)
    from thalweg.spark.checksums import checksums

    words = values.cast(pa.string()).fill_null("")
    if not len(words):
        return np.empty(0, np.int64)
    found = checksums(words)
    other = np.flatnonzero(found < 0)
    if len(other):
        found[other] = [key_hash(text) for text in words.take(pa.array(other)).to_pylist()]
    return found


def shards_of(grid: Grid, route: Route, constants: Sequence[str]) -> list[int]:
    """The shards that a row with these key constants goes to."""
    steps = strides(grid)
    place = sum(key_hash(c) % grid[p] * steps[p] for c, p in zip(constants, route.parts, strict=True))
    return [place + further for further in elsewhere(grid, route.parts)]


# --------------------------------------------------------------------------- in Spark


def key_column(column: Column, kind: DataType) -> Column:
    """`key_text` of a column."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DecimalType, DoubleType, FloatType, IntegralType, StringType

    if isinstance(kind, IntegralType):
        return column.cast("string")
    if isinstance(kind, DoubleType | FloatType):
        number = column.cast("double")
        return F.when(F.abs(number) < EXACT, F.floor(number).cast("string")).otherwise(_FAR)
    if isinstance(kind, DecimalType):  # whole ones of any size are constants digit by digit, others as floats
        whole = F.floor(column)
        return F.when(column == whole, whole.cast("string")).otherwise(key_column(column.cast("double"), DoubleType()))
    text = column if isinstance(kind, StringType) else column.cast("string")
    number = text.try_cast("double")
    canonical = (
        F.when(F.abs(number) < EXACT, F.floor(number).cast("string"))
        .when(text.rlike(_all_of(_WHOLE)), F.regexp_replace(text, _SIGN_AND_ZEROS, "$1"))
        .otherwise(_FAR)
    )
    # Texts that begin like a number lie between "+" and ":"; no pattern is tried on the others.
    return (
        F.when(text.contains(_ESCAPE) | ~F.is_valid_utf8(text), _ESCAPE)
        .when((text < "+") | (text >= ":"), text)
        .when(text.rlike(_all_of(_NUMBER)), canonical)
        .otherwise(text)
    )


def _all_of(pattern: str) -> str:
    """A pattern for Java that the whole text must match."""
    return rf"\A(?:{pattern})\z"


def place_column(grid: Grid, route: Route, keys: Sequence[Column]) -> Column:
    """The shard of a row (without `elsewhere`), from its key columns as `key_column` makes them."""
    from pyspark.sql import functions as F

    steps = strides(grid)
    place: Column = F.lit(0)
    for key, part in zip(keys, route.parts, strict=True):
        at = F.crc32(F.coalesce(key, F.lit("")).cast("binary")) % grid[part]
        place = place + at * steps[part] if len(grid) > 1 else at
    return place.cast("int")


def shards_column(grid: Grid, routes: Iterable[tuple[Route, Sequence[Column]]]) -> Column:
    """All shards of a row, as an array."""
    from pyspark.sql import functions as F

    places = [
        place_column(grid, route, keys) + F.lit(further)
        for route, keys in routes
        for further in elsewhere(grid, route.parts)
    ]
    return F.array_distinct(F.array(*places))
