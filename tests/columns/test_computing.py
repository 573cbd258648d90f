"""The functions of arithmetic over columns, against those of the definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thalweg.analysis.types import COMPUTED
from thalweg.columns.compiled import part
from thalweg.columns.computing import FUNCTIONS, computed, quotient, quotients, rounded
from thalweg.language.rules import Kind
from thalweg.reference.arithmetic import NoNumber, evaluate

number = st.one_of(
    st.integers(-20, 20).map(float),
    st.integers(-(2**53), 2**53).map(float),
    st.sampled_from([0.1, -0.1, 0.5, 2.5, -2.5, 1e300, 1e-300, 0.49999999999999994]),
    st.floats(-1e6, 1e6, allow_nan=False),
)
ROUNDED = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "**", "^"}
"""Functions that libraries of mathematics round each in its way, where the last digit counts."""


@pytest.mark.parametrize("kind", Kind)
def test_whatever_a_kind_of_program_computes_has_a_function(kind: Kind) -> None:
    assert COMPUTED[kind] <= FUNCTIONS.keys()


@pytest.mark.parametrize(("name", "arity"), sorted(FUNCTIONS))
@given(left=number, right=number)
@example(left=5.0, right=0.0)
@example(left=-8.0, right=0.5)
@example(left=2.0, right=5000.0)
@example(left=1e300, right=1e300)
@example(left=4503599627370497.0, right=3.0)
@example(left=1.0, right=0.1)
@example(left=5.3, right=0.1)
@example(left=9007199254740991.0, right=-2.0)
def test_columns_are_computed_as_the_definition_computes(name: str, arity: int, left: float, right: float) -> None:
    given_ = [left, right][:arity]
    found = computed(name, *(np.array([x, 1.0]) for x in given_))[0]
    try:
        expected = float(evaluate((name, *given_)))
    except NoNumber:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(expected, rel=1e-14 if name in ROUNDED else 0, abs=0)


@given(number)
@example(0.5)
@example(-0.5)
@example(0.49999999999999994)
@example(4503599627370497.0)
def test_of_two_nearest_whole_numbers_the_one_further_from_zero_is_taken(x: float) -> None:
    whole = math.floor(abs(Fraction(x)) + Fraction(1, 2))
    assert rounded(np.array([x]))[0] == math.copysign(whole, x)


@given(number, number.filter(bool))
@example(1.0, 0.1)
def test_the_compiled_functions_are_those_of_columns(x: float, y: float) -> None:
    assert part(rounded)(x) == rounded(np.array([x]))[0]
    with np.errstate(all="ignore"):
        whole = quotient(np.array([x]), np.array([y]))[0]
        assert quotients(np.array([x]), np.array([y]))[0] == pytest.approx(whole, rel=0, abs=0, nan_ok=True)
    assert part(quotient)(x, y) == pytest.approx(whole, rel=0, abs=0, nan_ok=True)
