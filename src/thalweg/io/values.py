"""Values of Python as columns: each means what it means alone, whatever stands beside it.

Arrow chooses one type for all values of a column: beside a date, the number 8 would be a date too. Here values of
several kinds become text, each written as it would be read alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.io.decoding import decoded
from thalweg.language.terms import EXACT

_DIGITS = 76
"""Of decimals in Arrow."""
PLAIN = (str, bytes, bool, np.bool_, int, np.integer, float, np.floating, Decimal, date, np.datetime64)
"""The kinds of values that are known."""


def is_nothing(value: Any) -> bool:
    """True of what is no value of a row: none at all, no number, or several."""
    if value is None or isinstance(value, list | tuple | set | Mapping | np.ndarray):
        return True
    if isinstance(value, float | np.floating | Decimal | datetime | np.datetime64):
        return bool(value != value)  # of pandas as well
    return type(value).__name__ == "NAType"


def column_of(values: Sequence[Any]) -> pa.Array:
    """A column of one type where all values are of one kind; of text otherwise."""
    types = set(map(type, values)) - {type(None)}
    if np.datetime64 in types:
        return column_of([_moment(value) if isinstance(value, np.datetime64) else value for value in values])
    if len(types) < 2 or types == {int, float}:
        zones = {value.tzinfo for value in values if value is not None} if types == {datetime} else ()
        if len(zones) < 2 and (len(types) < 2 or not _is_rounded(values)):
            try:
                return pa.array(values)
            except (pa.ArrowException, OverflowError):
                pass
    return pa.array([None if value is None else text_of(value) for value in values], pa.string())


def _moment(value: np.datetime64) -> Any:
    """The same for Python, as exactly as it goes there."""
    return value.astype("datetime64[us]").item()


def _is_rounded(values: Sequence[Any]) -> bool:
    """Whether a whole number is too large for a float."""
    return any(isinstance(value, int) and abs(value) >= EXACT for value in values)


def text_of(value: Any) -> str:
    """A value as text that means the same.

    >>> text_of(True), text_of(Decimal("12.0")), text_of(datetime(2026, 3, 2, 8))
    ('true', '12', '2026-03-02 08:00:00.000000')
    """
    if isinstance(value, bytes):
        return decoded(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() < _DIGITS:
        return str(int(value)) if value == value.to_integral_value() else str(value)
    if isinstance(value, date):  # as Arrow writes it, in a table as well
        try:
            return str(pa.array([value]).cast(pa.string())[0])
        except pa.ArrowException:
            pass
    return str(value)
