"""Columns of arguments: symbols as dictionary-encoded text, numbers as int64 or float64.

A field that reads as a number is that number: ``0012`` is 12 where a number is expected, and the constant
``12`` where a symbol is. Integers that a float64 cannot hold exactly are out of range in number positions.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.symbols import constant_text, number_text
from thalweg.io.decoding import readable
from thalweg.io.shapes import Type
from thalweg.io.times import Mask, as_mask, cast_each, has_hexadecimals
from thalweg.language.terms import EXACT

SYMBOLS = pa.dictionary(pa.int32(), pa.string())
_INTEGER = r"^[+-]?[0-9]+$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_UNUSUAL = r"^(\+.*|[+-]?0[0-9].*|-0|.*[.eE].*)$"
_WORDS = {Type.INT: "an integer", Type.FLOAT: "a number", Type.NUMBER: "a number", Type.SYMBOL: "a constant"}


@dataclass(frozen=True, slots=True)
class Typed:
    """A column in the type its position asks for, and the rows that are not of that type: without a value,
    of another type, out of range. The column is null in exactly those rows."""

    column: pa.Array
    missing: Mask
    mismatch: Mask
    overflow: Mask

    @property
    def clean(self) -> bool:
        return not self.column.null_count


def expected(kind: Type) -> str:
    """What messages say a field should have been."""
    return _WORDS[kind]


def read_column(column: pa.Array, kind: Type) -> Typed:
    """The column in the type that is asked for."""
    if kind is Type.SYMBOL:
        return _typed(column, read_symbols(column))
    return _numbers(column, kind)


def _typed(source: pa.Array, column: pa.Array, overflow: Mask | None = None) -> Typed:
    nothing = np.zeros(len(source), np.bool_)
    if not column.null_count:
        return Typed(column, nothing, nothing, nothing)
    null = as_mask(column.is_null())
    missing = as_mask(source.is_null())
    far = nothing if overflow is None else overflow & ~missing
    return Typed(column, missing, null & ~missing & ~far, far)


# --------------------------------------------------------------------------- symbols


def read_symbols(column: pa.Array) -> pa.Array:
    """A column of constants as dictionary-encoded text; the work is done once per distinct value."""
    if not pa.types.is_dictionary(column.type):
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.string())
        column = column.dictionary_encode()
    words = _constants(column.dictionary)
    indices = column.indices
    if indices.type != pa.int32():
        indices = indices.cast(pa.int32())
    if len(words) and words.null_count:
        return pa.DictionaryArray.from_arrays(indices, words).dictionary_decode().dictionary_encode()
    return pa.DictionaryArray.from_arrays(indices, words)


_RECENT: deque[tuple[pa.Array, pa.Array]] = deque(maxlen=8)
"""Dictionaries, and their words as constants."""


def _constants(values: pa.Array) -> pa.Array:
    """The words of a dictionary; the rows of each name in a table bring the same one."""
    for known, words in tuple(_RECENT):
        if known.type == values.type and len(known) == len(values) and known.equals(values):
            return words
    words = _plain_numbers(_words(values))
    _RECENT.appendleft((values, words))
    return words


def _words(values: pa.Array) -> pa.Array:
    kind = values.type
    if pa.types.is_decimal(kind):
        return pa.array([None if x is None else _decimal_text(x) for x in values.to_pylist()], pa.string())
    if pa.types.is_floating(kind):
        numbers = values.cast(pa.float64(), safe=False).to_pylist()
        return pa.array(
            [None if x is None or math.isnan(x) else number_text(x) for x in numbers], pa.string()
        )
    return readable(values.cast(pa.string()))


def _decimal_text(value: Decimal) -> str:
    """Whole numbers of any size digit by digit; others as the nearest float, as in text."""
    return str(int(value)) if value == value.to_integral_value() else number_text(float(value))


def _plain_numbers(words: pa.Array) -> pa.Array:
    """Words that read as numbers, written the one way numbers are written: ``0012`` as ``12``."""
    numbers = pc.match_substring_regex(words, _NUMBER)
    if not pc.any(numbers).as_py():
        return words
    unusual = pc.and_(numbers, pc.match_substring_regex(words, _UNUSUAL))
    where = np.flatnonzero(as_mask(unusual.fill_null(False)))
    if not len(where):
        return words
    rewritten = pa.array(
        [constant_text(word) for word in words.take(pa.array(where)).to_pylist()], pa.string()
    )
    return pc.replace_with_mask(words, unusual, rewritten)


# --------------------------------------------------------------------------- numbers


def _numbers(column: pa.Array, kind: Type) -> Typed:
    source = column
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    family = column.type
    if pa.types.is_integer(family):
        return _from_integers(source, column, kind)
    if pa.types.is_floating(family) or pa.types.is_decimal(family):
        return _from_floats(source, column.cast(pa.float64(), safe=False), kind)
    if pa.types.is_string(family) or pa.types.is_large_string(family) or pa.types.is_string_view(family):
        return _from_text(source, column.cast(pa.string()), kind)
    target = pa.int64() if kind is Type.INT else pa.float64()
    return _typed(source, pa.nulls(len(column), target))


def _from_integers(source: pa.Array, column: pa.Array, kind: Type) -> Typed:
    target = pa.float64() if kind is Type.FLOAT else pa.int64()
    if column.type.bit_width < 64:
        return _typed(source, column.cast(target))
    far = pc.greater_equal(column, pa.scalar(EXACT, column.type)).fill_null(False)
    if pa.types.is_signed_integer(column.type):
        far = pc.or_(far, pc.less_equal(column, pa.scalar(-EXACT, column.type)).fill_null(False))
    if not pc.any(far).as_py():
        return _typed(source, column.cast(target))
    return _typed(source, pc.if_else(far, pa.scalar(None, column.type), column).cast(target), as_mask(far))


def _from_floats(source: pa.Array, column: pa.Array, kind: Type) -> Typed:
    """Floats; what is not finite is no number. Where integers are asked for, only whole ones pass."""
    column = pc.if_else(pc.is_finite(column), column, pa.scalar(None, pa.float64()))
    if kind is not Type.INT:
        return _typed(source, column)
    whole = pc.if_else(pc.equal(column, pc.floor(column)), column, pa.scalar(None, pa.float64()))
    return _from_whole(source, whole)


def _from_whole(source: pa.Array, whole: pa.Array) -> Typed:
    fits = pc.less(pc.abs(whole), float(EXACT))
    integers = pc.if_else(fits, whole, pa.scalar(None, pa.float64())).cast(pa.int64())
    return _typed(source, integers, as_mask(pc.invert(fits).fill_null(False)))


def _from_text(source: pa.Array, column: pa.Array, kind: Type) -> Typed:
    """Numbers from text: as integers if all are, as floats otherwise."""
    decimal = not has_hexadecimals(column)
    if decimal and kind is not Type.FLOAT:
        try:
            return _from_integers(source, column.cast(pa.int64()), Type.INT)
        except pa.ArrowInvalid:
            pass
    if decimal and kind is not Type.INT:
        try:
            parsed = column.cast(pa.float64())
        except pa.ArrowInvalid:
            pass
        else:
            if pc.all(pc.less(pc.abs(parsed), float(EXACT))).as_py() is not False:
                return _typed(source, parsed)
    return _from_mixed_text(source, pc.utf8_trim_whitespace(column), kind)


def _from_mixed_text(source: pa.Array, column: pa.Array, kind: Type) -> Typed:
    """Some of the text is no number, or out of range: read what can be read."""
    integers = as_mask(pc.match_substring_regex(column, _INTEGER).fill_null(False))
    numbers = as_mask(pc.match_substring_regex(column, _NUMBER).fill_null(False))
    floats = _scatter(column, numbers, pa.float64())
    whole = kind is Type.INT or (kind is Type.NUMBER and not (numbers & ~integers).any())
    exact = numbers if whole else integers
    far = numbers & (as_mask(pc.is_inf(floats).fill_null(False)) | exact & ~_small(floats))
    found = pc.if_else(pa.array(far), pa.scalar(None, pa.float64()), floats)
    if whole:
        found = pc.if_else(pc.equal(found, pc.floor(found)), found, pa.scalar(None, pa.float64())).cast(pa.int64())
    return _typed(source, found, far)


def _small(floats: pa.Array) -> Mask:
    return as_mask(pc.less(pc.abs(floats), float(EXACT)).fill_null(True))


def _scatter(column: pa.Array, mask: Mask, kind: pa.DataType) -> pa.Array:
    """The masked rows cast, all others null."""
    where = np.flatnonzero(mask)
    if not len(where):
        return pa.nulls(len(column), kind)
    parsed, _ = cast_each(column.take(pa.array(where)), kind)
    return pc.replace_with_mask(pa.nulls(len(column), kind), pa.array(mask), parsed)
