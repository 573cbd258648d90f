"""Points in a journal against dictionaries of counts and timelines made from all points."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from column_lists import ints
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.columns import ragged as lists_of_rows
from thalweg.columns.journal import REMOVED
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.timelines import GREET, INITIATE, OPEN, TERMINATE, TERMINATE_ALL, rebuild

Point = tuple[int, int, int]
"""Time, kind, value."""
Interval = tuple[int, int, int]
TICK = 2
WINDOW = 80


def after(held: int | None, points: list[Point]) -> int | None:
    """What holds after the points of one time."""
    started = {v for _, kind, v in points if kind <= INITIATE}
    ended = {v for _, kind, v in points if kind == TERMINATE}
    over = any(kind == TERMINATE_ALL for _, kind, _ in points)
    if held is not None and not over and held not in ended and started <= {held}:
        return held
    return started.pop() if len(started) == 1 and not over and not started <= ended else None


def timeline(points: list[Point]) -> list[Interval]:
    """The intervals that all points of an instance make."""
    found: list[Interval] = []
    held, since = None, 0
    for time in sorted({p[0] for p in points}):
        now = after(held, [p for p in points if p[0] == time])
        if now != held:
            if held is not None:
                found.append((since, time + TICK, held))
            held, since = now, time + TICK
    return found if held is None else [*found, (since, int(OPEN), held)]


def drawn(
    rng: np.random.Generator, query: int, late: float, there: list[dict[Point, int]]
) -> list[tuple[int, Point, int]]:
    """Points that come to a query, and some that go."""
    found = []
    for _ in range(int(rng.integers(1, 40))):
        i = int(rng.integers(0, len(there)))
        low = query - WINDOW if rng.random() < late else query - 10
        kind = int(rng.choice([GREET, INITIATE, INITIATE, INITIATE, TERMINATE, TERMINATE, TERMINATE_ALL]))
        value = 0 if kind == TERMINATE_ALL else int(rng.integers(1, 3))
        found.append((i, (int(rng.integers(low // TICK + 1, query // TICK + 1)) * TICK, kind, value), 1))
    for i, mine in enumerate(there):
        live = [p for p in mine if p[0] > query - WINDOW]
        if live and rng.random() < 0.2:
            found.append((i, live[int(rng.integers(0, len(live)))], -1))
    return found


def parts(changes: list[tuple[int, Point, int]]) -> list[tuple[np.ndarray, np.ndarray, int, np.ndarray]]:
    """Points by what they are, as a unit finds them."""
    found = []
    for kind, sign in sorted({(p[1], sign) for _, p, sign in changes}):
        some = [(i, p) for i, p, s in changes if (p[1], s) == (kind, sign)]
        code = kind if sign > 0 else kind - REMOVED
        found.append((ints([i for i, _ in some]), ints([p[0] for _, p in some]), code, ints([p[2] for _, p in some])))
    return found


def live(ragged: Ragged) -> list[list[list[int]]]:
    ragged.live()
    rows, owners = ragged.everything(Version.NOW)
    return [rows[owners == i].tolist() for i in range(ragged.count)]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**30), st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.5]), st.sampled_from([3, 64]))
def test_timelines_follow_from_the_points_that_a_journal_tells(seed: int, count: int, late: float, chunks: int) -> None:
    rng = np.random.default_rng(seed)
    points, timelines = Ragged(4), Ragged(3, clock=1)
    there: list[dict[Point, int]] = [{} for _ in range(count)]
    for ragged in (points, timelines):
        ragged.ensure(count)
    with patch.object(lists_of_rows, "CHUNKS", chunks):
        for query in range(WINDOW, 6 * WINDOW, 10):
            changes = drawn(rng, query, late, there)
            touched, starts, ends, first, last, until, found = points.note(parts(changes), timelines, TICK)
            for i, point, sign in changes:
                there[i][point] = there[i].get(point, 0) + sign
            there = [{p: n for p, n in mine.items() if n} for mine in there]
            for k, i in enumerate(touched.tolist()):
                expected = [[*p, n] for p, n in sorted(there[i].items()) if first[k] <= p[0] <= until[k]]
                assert found[starts[k] : ends[k]].tolist() == expected
            new = rebuild(starts, ends, found, timelines.table, timelines.pool, touched, first, last, until, TICK)
            timelines.replace(*new, points.expiry)
            timelines.commit()
            points.commit()
            points.expire(query - WINDOW)
            told = [[row for row in mine if row[1] > points.expiry] for mine in live(timelines)]
            assert told == [[list(x) for x in timeline(list(p)) if x[1] > points.expiry] for p in there]
            if rng.random() < 0.1:
                kept = [[[*p, n] for p, n in sorted(mine.items()) if p[0] > points.expiry] for mine in there]
                assert live(points) == kept
        assert len(points.journal) <= max(chunks, WINDOW // 10 + 2)


def test_a_journal_keeps_the_room_of_what_has_expired() -> None:
    points, timelines = Ragged(4), Ragged(3, clock=1)
    for ragged in (points, timelines):
        ragged.ensure(100)
    ids = np.arange(100)
    for query in range(0, 5000, 10):
        points.note([(ids, np.full(100, query), INITIATE, np.full(100, 1))], timelines, 1)
        points.commit()
        points.expire(query - 100)
    assert len(points.journal) <= 12
    assert len(points.journal.notes) <= 5000
