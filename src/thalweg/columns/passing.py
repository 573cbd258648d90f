"""Numbers against a bound: which rows pass, in one pass over them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import kernel
from thalweg.protocol import Ints

LESS, EQUAL, GREATER, UNDEFINED = 1, 2, 4, 8
"""What a number can be to the bound. Tests are sums of these; what is no number is undefined."""


@kernel
def _pass(values: npt.NDArray[np.float64], test: int, bound: float, out: Ints) -> int:
    n = 0
    for k in range(len(values)):
        value = values[k]
        found = int(value < bound) * LESS + int(value == bound) * EQUAL + int(value > bound) * GREATER
        out[n] = k
        n += int(test & (found if found else UNDEFINED) != 0)
    return n


def passing(values: npt.NDArray[np.float64], test: int, bound: float) -> Ints:
    """The positions of values that are to the bound what the test asks for.

    >>> passing(np.array([1.0, 2.0, 3.0]), LESS + EQUAL, 2.0)
    array([0, 1])
    """
    out = np.empty(len(values), np.int64)
    return out[: _pass(values, test, bound, out)]
