"""What the analyses share of graphs: strongly connected components, and what some nodes lead to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def strong_components(nodes: Iterable[T], successors: Mapping[T, Iterable[T]]) -> list[list[T]]:
    """Tarjan's algorithm without recursion; a component comes after those it reaches."""
    order: dict[T, int] = {}
    low: dict[T, int] = {}
    stack: list[T] = []
    on_stack: set[T] = set()
    found: list[list[T]] = []
    for start in nodes:
        if start in order:
            continue
        order[start] = low[start] = len(order)
        stack.append(start)
        on_stack.add(start)
        work = [(start, iter(successors.get(start, ())))]
        while work:
            node, following = work[-1]
            for successor in following:
                if successor not in order:
                    order[successor] = low[successor] = len(order)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(successors.get(successor, ()))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], order[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    found.append(component)
    return found


def reached(nodes: Iterable[T], successors: Mapping[T, Iterable[T]]) -> set[T]:
    """All that some nodes lead to, themselves included.

    >>> sorted(reached(["b"], {"a": ["b"], "b": ["c"], "c": ["b"]}))
    ['b', 'c']
    """
    found: set[T] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += successors.get(node, ())
    return found
