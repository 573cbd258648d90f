"""Windows below the step (`allow_gaps`): what lies between them is too late, whenever it came."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import thalweg
from thalweg.events.reasoner import Reasoner
from thalweg.reference.events import Row
from thalweg.reference.windowed import replay
from thalweg.testing.engines import replay_with

LAMPS = """
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
holdsFor(lit(X)=true, I) :- holdsFor(on(X)=true, I1), holdsFor(power(X)=up, I2), intersect_all([I1, I2], I).
"""


@st.composite
def _lamp_rows(draw: st.DrawFn) -> list[Row]:
    """Rows that come early, late, twice and are taken back, about few facts."""
    found = []
    for number in range(1, draw(st.integers(1, 14)) + 1):
        time, arrival = draw(st.sampled_from([3, 5, 8, 13, 17, 18, 25])), draw(st.integers(1, 30))
        op = draw(st.sampled_from([1, 1, 1, -1]))
        if draw(st.integers(0, 3)):
            name = draw(st.sampled_from(["press", "release"]))
            found.append(Row(name=name, args=("a",), time=time, arrival=arrival, op=op, number=number))
        else:
            end = draw(st.sampled_from([None, time + 1, time + 6]))
            told = {"shape": "interval", "value": "up", "end": end}
            found.append(Row(name="power", args=("a",), time=time, arrival=arrival, op=op, number=number, **told))
    return found


@given(rows=_lamp_rows(), window=st.integers(1, 9), cut=st.integers(0, 14))
def test_with_gaps_between_windows_every_row_has_the_fate_that_the_definition_gives_it(
    rows: list[Row], window: int, cut: int
) -> None:
    program = thalweg.parse(LAMPS)
    expected = replay(program, rows, window=window, step=10, start=0, end=40, allow_gaps=True)
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    found = replay_with(
        Reasoner, program, rows, window=window, step=10, start=0, end=40, allow_gaps=True, batches=parts
    )
    assert [sorted((r.row, r.reason) for r in q.rejected) for q in expected] == [sorted(q.rejected) for q in found]
    assert [q.timeline for q in expected] == [q.timeline for q in found]


def test_of_equal_rows_that_come_early_and_lie_in_a_gap_the_first_is_too_late() -> None:
    """A second insertion changes nothing: not what is rejected either, whatever else is taken back."""
    program = thalweg.parse(LAMPS)
    twice = [Row(name="press", args=("a",), time=13, arrival=5, number=number) for number in (7, 4)]
    other = [Row(name="press", args=("b",), time=19, arrival=k, op=op, number=k) for k, op in ((2, 1), (3, -1))]
    for rows in (twice, twice + other, other + twice):
        results = replay_with(Reasoner, program, rows, window=4, step=10, start=0, end=20, allow_gaps=True)
        assert [set(result.rejected) for result in results] == [set(), {(4, "too-late")}]
