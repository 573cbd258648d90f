"""Where the boxes of a layered graph go: columns by layer, rows by the barycentre of the neighbours.

Sugiyama's method in three steps. Arrows over several columns get bends, one per source and
column between. Rows are
ordered by sweeping over the columns, each row going where its neighbours are on average, members of a cycle
together; the order with the fewest crossings wins. Then rows get coordinates that keep arrows straight.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SWEEPS = 12
ROW = 18.0
NEAR = 7.0
BEND = 6.0


@dataclass(slots=True)
class Item:
    """A box or a bend in a column; `group` holds members of a cycle together."""

    column: int
    height: float
    group: int = 0
    box: int | None = None
    y: float = 0.0
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Layout:
    """Items with their vertical centres, the columns in order, and per arrow the items it passes."""

    items: list[Item]
    columns: list[list[int]]
    routes: list[list[int]]


def layout(
    layers: Sequence[int], heights: Sequence[float], groups: Sequence[int], arrows: Sequence[tuple[int, int]]
) -> Layout:
    """Place boxes with these layers, heights and groups; arrows are pairs of boxes, the second in a higher layer."""
    used = sorted(set(layers))
    column_of = {layer: position for position, layer in enumerate(used)}
    items = [
        Item(column_of[layer], height, group, box)
        for box, (layer, height, group) in enumerate(zip(layers, heights, groups, strict=True))
    ]
    bends: dict[tuple[int, int], int] = {}
    routes = [_route(items, bends, source, target) for source, target in arrows]
    columns: list[list[int]] = [[] for _ in used]
    for index, item in enumerate(items):
        columns[item.column].append(index)
    placed = Layout(items, columns, routes)
    _order(placed)
    _rows(placed)
    return placed


def _route(items: list[Item], bends: dict[tuple[int, int], int], source: int, target: int) -> list[int]:
    """The items an arrow passes, left to right. Where it crosses columns it shares its bends with the other arrows
    of its source, so that they run together until they part."""
    route = [source]
    for column in range(items[source].column + 1, items[target].column):
        if (source, column) not in bends:
            bends[source, column] = len(items)
            items.append(Item(column, BEND))
        route.append(bends[source, column])
    route.append(target)
    for left, right in pairwise(route):
        if right not in items[left].after:
            items[left].after.append(right)
            items[right].before.append(left)
    return route


def _distance(upper: Item, lower: Item) -> float:
    """From centre to centre; bends may come close to each other."""
    gap = ROW if upper.box is not None and lower.box is not None else NEAR
    return upper.height / 2 + gap + lower.height / 2


# --------------------------------------------------------------------------- order


def _order(placed: Layout) -> None:
    best, fewest = [list(column) for column in placed.columns], crossings(placed)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        order = range(len(placed.columns)) if forward else range(len(placed.columns) - 1, -1, -1)
        for column in order:
            _sort_column(placed, column, forward)
        found = crossings(placed)
        if found < fewest:
            best, fewest = [list(column) for column in placed.columns], found
        if fewest == 0:
            break
    placed.columns[:] = best


def _sort_column(placed: Layout, column: int, forward: bool) -> None:
    """Sort a column by the mean position of the neighbours in the one before (or after); groups stay together."""
    around = placed.columns[max(column - 1, 0) : column + 2]
    rank = {index: place for members in around for place, index in enumerate(members)}
    here = placed.columns[column]
    means: dict[int, float] = {}
    for index in here:
        item = placed.items[index]
        neighbours = item.before if forward else item.after
        if neighbours:
            means[index] = sum(rank[n] for n in neighbours) / len(neighbours)
        else:
            means[index] = float(rank[index]) if item.before or item.after else float("inf")
    totals: dict[int, list[float]] = {}
    for index in here:
        if placed.items[index].group:
            totals.setdefault(placed.items[index].group, []).append(means[index])
    block = {group: sum(values) / len(values) for group, values in totals.items()}

    def place(index: int) -> tuple[float, int, float, int]:
        group = placed.items[index].group
        return block.get(group, means[index]) if group else means[index], group, means[index], rank[index]

    here.sort(key=place)


def crossings(placed: Layout) -> int:
    """How many pairs of arrow pieces between neighbouring columns cross."""
    total = 0
    for column in placed.columns[:-1]:
        following = {
            index: place for place, index in enumerate(placed.columns[placed.items[column[0]].column + 1])
        }
        ends = [
            place for index in column for place in sorted(following[n] for n in placed.items[index].after)
        ]
        seen: list[int] = []
        for place in ends:
            total += len(seen) - bisect_left(seen, place + 1)
            insort(seen, place)
    return total


# --------------------------------------------------------------------------- coordinates


def _rows(placed: Layout) -> None:
    """Vertical centres: first stacked, then moved towards the neighbours as far as the order allows."""
    for column in placed.columns:
        members = [placed.items[index] for index in column]
        members[0].y = members[0].height / 2
        for upper, lower in pairwise(members):
            lower.y = upper.y + _distance(upper, lower)
    tallest = max((_bottom(placed, column) for column in placed.columns), default=0.0)
    for column in placed.columns:
        shift = (tallest - _bottom(placed, column)) / 2
        for index in column:
            placed.items[index].y += shift
    for sweep in range(SWEEPS):
        order = placed.columns if sweep % 2 == 0 else placed.columns[::-1]
        for column in order:
            _relax(placed, column, forward=sweep % 2 == 0)
    top = min((item.y - item.height / 2 for item in placed.items), default=0.0)
    for item in placed.items:
        item.y -= top


def _bottom(placed: Layout, column: list[int]) -> float:
    last = placed.items[column[-1]]
    return last.y + last.height / 2


def _relax(placed: Layout, column: list[int], *, forward: bool) -> None:
    """Move the rows of a column to the mean of their neighbours, keeping order and distance: blocks that would overlap
    are merged and share the mean of their wishes (pool adjacent violators)."""
    items = placed.items
    offset = 0.0
    blocks: list[tuple[float, float, list[tuple[int, float]]]] = []
    previous: Item | None = None
    for index in column:
        item = items[index]
        if previous is not None:
            offset += _distance(previous, item)
        neighbours = (item.before if forward else item.after) or item.before + item.after
        if neighbours:
            start = sum(items[n].y for n in neighbours) / len(neighbours) - offset
        else:
            start = blocks[-1][0] if blocks else item.y
        weight = 4.0 if item.box is None else 1.0 if neighbours else 0.01
        blocks.append((start, weight, [(index, offset)]))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            last, before = blocks.pop(), blocks.pop()
            total = before[1] + last[1]
            mean = (before[0] * before[1] + last[0] * last[1]) / total
            blocks.append((mean, total, before[2] + last[2]))
        previous = item
    for start, _, members in blocks:
        for index, distance in members:
            items[index].y = start + distance
