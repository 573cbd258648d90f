"""What the functions of arithmetic come to, a column at a time: one table for all reasoners.

A number is a float64. Where a function has no value (a division by zero, the root of a negative number, what is beyond
the range of a float64) the result is not a number.

Some functions are written for columns and, compiled as a `part` of a kernel, for single numbers alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from thalweg.language.terms import EXACT

Floats = npt.NDArray[np.float64]
_HALF = 0.49999999999999994
"""The number before a half: added to one that is a half away from the next, it reaches it, and no other does."""


def rounded(a: Floats) -> Floats:
    """The nearest whole number, of two the one further from zero."""
    return np.trunc(a + np.copysign(_HALF, a))


def quotient(a: Floats, b: Floats) -> Floats:
    """Division that rounds towards zero."""
    found: Floats = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
    return found


def quotients(a: Floats, b: Floats) -> Floats:
    """`quotient` of columns. What a division gives can be cut off, but for a whole number, to which it may have been
    rounded; not so where a number that is not too large is divided by a whole one."""
    ratio = np.asarray(a / b)
    found = np.asarray(np.trunc(ratio))
    doubtful = (found == ratio) & ((np.trunc(b) != b) | (np.abs(a) >= EXACT))
    if doubtful.any():
        left, right = np.broadcast_arrays(a, b)
        found[doubtful] = quotient(left[doubtful], right[doubtful])
    return found


def power(a: Floats, b: Floats) -> Floats:
    """A power; of what is not a number there is none."""
    found: Floats = a**b + 0.0 * a + 0.0 * b
    return found


FUNCTIONS: Mapping[tuple[str, int], Callable[..., Floats]] = {
    ("+", 2): np.add,
    ("-", 2): np.subtract,
    ("*", 2): np.multiply,
    ("/", 2): np.divide,
    ("//", 2): quotients,
    ("div", 2): np.floor_divide,
    ("mod", 2): np.mod,
    ("rem", 2): np.fmod,
    ("min", 2): np.minimum,
    ("max", 2): np.maximum,
    ("**", 2): power,
    ("^", 2): power,
    ("atan2", 2): np.arctan2,
    ("+", 1): np.positive,
    ("-", 1): np.negative,
    ("abs", 1): np.abs,
    ("sign", 1): np.sign,
    ("floor", 1): np.floor,
    ("ceiling", 1): np.ceil,
    ("truncate", 1): np.trunc,
    ("round", 1): rounded,
    ("integer", 1): rounded,
    ("float", 1): np.positive,
    ("sqrt", 1): np.sqrt,
    ("sin", 1): np.sin,
    ("cos", 1): np.cos,
    ("tan", 1): np.tan,
    ("asin", 1): np.arcsin,
    ("acos", 1): np.arccos,
    ("atan", 1): np.arctan,
    ("exp", 1): np.exp,
    ("log", 1): np.log,
}
"""Names and numbers of arguments, as in `thalweg.analysis.types.COMPUTED`, and the functions of columns."""
_CHOOSING = frozenset({"min", "max"})
"""Functions that give one of their arguments, which may be infinite."""


def computed(name: str, *columns: npt.ArrayLike) -> Floats:
    """A function of columns, or of single numbers; not a number where it has no value."""
    with np.errstate(all="ignore"):
        found: Floats = np.asarray(FUNCTIONS[name, len(columns)](*map(np.asarray, columns)))
    if name not in _CHOOSING and not np.isfinite(found).all():
        found = np.where(np.isfinite(found), found, np.nan)
    return found
