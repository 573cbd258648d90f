"""Comparing results so that a difference can be read at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from thalweg.reference.intervals import Interval

Timeline = Mapping[tuple[str, str], Sequence[Interval]]


def written(intervals: Sequence[Interval]) -> str:
    """Intervals as they are written: `[3,8) [12,..)`.

    >>> written([(3, 8), (12, None)])
    '[3,8) [12,..)'
    """
    return " ".join(f"[{start},{'..' if end is None else end})" for start, end in intervals) or "nothing"


def assert_same_timeline(
    left: Timeline, right: Timeline, *, names: tuple[str, str] = ("left", "right"), context: str = ""
) -> None:
    """Fails with one line per pair whose intervals differ."""
    difference = timeline_difference(left, right, names=names)
    assert not difference, f"the timelines differ{context and ' ' + context}:\n{difference}"


def timeline_difference(
    left: Timeline, right: Timeline, *, names: tuple[str, str] = ("left", "right")
) -> str:
    """One line per pair whose intervals differ; empty when none do.

    >>> print(timeline_difference({("f(a)", "true"): [(3, 8)]}, {("f(a)", "true"): [(3, None)]}))
      f(a)=true: left [3,8), right [3,..)
    """
    lines = []
    for fluent, value in sorted(left.keys() | right.keys()):
        mine, yours = (list(side.get((fluent, value), ())) for side in (left, right))
        if mine != yours:
            lines.append(f"  {fluent}={value}: {names[0]} {written(mine)}, {names[1]} {written(yours)}")
    return "\n".join(lines)


def assert_same_rows(
    left: Iterable[object],
    right: Iterable[object],
    *,
    names: tuple[str, str] = ("left", "right"),
    context: str = "",
) -> None:
    """Fails with one line per row that only one side has. Order and repetition play no part."""
    mine, yours = set(left), set(right)
    lines = [f"  only {names[0]}: {row}" for row in sorted(map(str, mine - yours))]
    lines += [f"  only {names[1]}: {row}" for row in sorted(map(str, yours - mine))]
    assert not lines, f"the rows differ{context and ' ' + context}:\n" + "\n".join(lines)
