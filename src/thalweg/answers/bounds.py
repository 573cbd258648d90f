"""What comparisons say together: chains of them bound values that are not known yet.

``E > D, E < 5`` has no solution once D is 7, and with ``U > T, U =< T+2`` the time U is known up to two time-points.
The sides of comparisons are the nodes of a graph whose edges say how far one may lie above another; the closure of
its edges has every chain. Times are whole numbers with an offset, integers are distances from zero, any other side is
a node as it stands, so that nothing is rounded which the comparisons themselves do not round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from thalweg.answers.background import ORDERS, number_of
from thalweg.answers.datalog import Test
from thalweg.language.terms import EXACT, Compound, Number, Term, Variable, is_ground, variables

Distance = tuple[int, int]
"""``(c, 0)``: at most c above; ``(c, -1)``: less than c above. Smaller pairs say more."""
_ABOVE = {">": True, ">=": True, "<": False, "=<": False, "=:=": None, "is": None}
_CONTRARY = {">": "=<", ">=": "<", "<": ">=", "=<": ">"}


@dataclass(frozen=True, slots=True)
class Node:
    """A side of a comparison without its offset; `term` is None for zero."""

    term: Term | None
    whole: bool = field(compare=False)
    """True for times and for zero: whole numbers, to which others can be added."""

    def names(self) -> frozenset[str]:
        """The variables in it."""
        return frozenset(() if self.term is None else (v.name for v in variables(self.term)))


ZERO = Node(None, True)


@dataclass(frozen=True, slots=True)
class Order:
    """How far a node may lie above another, by pairs of nodes; `is_possible` is false where the comparisons exclude
    each other."""

    said: dict[tuple[Node, Node], Distance]
    distances: dict[tuple[Node, Node], Distance]
    is_possible: bool

    def above(self, name: str) -> Iterator[tuple[Node, Distance]]:
        """The nodes that a time variable lies at most so far above."""
        own = Node(Variable(name), True)
        for (upper, lower), distance in self.distances.items():
            if upper == own and lower != own:
                yield lower, distance

    def implied(self) -> Iterator[Test]:
        """The comparisons that follow from several others and can be told before them."""
        for (upper, lower), distance in self.distances.items():
            if upper != lower and distance < self.said.get((upper, lower), (distance[0] + 1, 0)):
                test = _test(upper, lower, distance)
                if test is not None:
                    yield test


def order(tests: Iterable[Test], times: Collection[str], spread: int | None = None) -> Order:
    """What the tests say together; with a `spread`, no two times are further apart than that."""
    return _order(tuple(tests), frozenset(times), spread)


@lru_cache(maxsize=4096)
def _order(tests: tuple[Test, ...], times: frozenset[str], spread: int | None) -> Order:
    said: dict[tuple[Node, Node], Distance] = {}

    def note(upper: Node, lower: Node, distance: Distance) -> None:
        if upper.whole and lower.whole and distance[1]:
            distance = distance[0] - 1, 0
        said[upper, lower] = min(distance, said.get((upper, lower), distance))

    for test in tests:
        for upper, lower, distance in _edges(test, times):
            note(upper, lower, distance)
    for node in {n for pair in said for n in pair}:
        value = number_of(node.term) if node.term is not None and is_ground(node.term) else None
        if value is not None and abs(value) < EXACT:
            below, strict = int(value // 1), 0 if value.is_integer() else -1
            note(node, ZERO, (below - strict, strict))
            note(ZERO, node, (-below, strict))
    if spread is not None:
        for one in times:
            for other in times - {one}:
                note(Node(Variable(one), True), Node(Variable(other), True), (spread, 0))
    found = _closure(said)
    possible = all(d >= (0, 0) for (upper, lower), d in found.items() if upper == lower)
    return Order(said, found, possible)


def _closure(said: dict[tuple[Node, Node], Distance]) -> dict[tuple[Node, Node], Distance]:
    found = dict(said)
    nodes = list(dict.fromkeys(n for pair in said for n in pair))
    for middle in nodes:
        uppers = [(u, d) for u in nodes if (d := found.get((u, middle))) is not None]
        lowers = [(w, d) for w in nodes if (d := found.get((middle, w))) is not None]
        for upper, first in uppers:
            for lower, second in lowers:
                far = first[0] + second[0], min(first[1], second[1])
                if upper.whole and lower.whole and far[1]:
                    far = far[0] - 1, 0
                if (upper, lower) not in found or far < found[upper, lower]:
                    found[upper, lower] = far
    return found


def _edges(test: Test, times: Collection[str]) -> Iterator[tuple[Node, Node, Distance]]:
    op = test.op
    if op not in _ABOVE or (op not in ORDERS and op != "is"):
        return
    left, right = _linear(test.left, times), _linear(test.right, times)
    if test.negated:
        if left is None or right is None or op not in _CONTRARY:
            return  # a comparison of what is no number is false, and its negation true
        op = _CONTRARY[op]
    pair = _pair(left, right) if left is not None and right is not None else None
    if pair is None:
        (upper, up), (lower, low) = _side(test.left, left), _side(test.right, right)
        pair = upper, lower, low - up
    upper, lower, far = pair
    is_above, strict = _ABOVE[op], -1 if op in "<>" else 0
    if is_above is not True:
        yield upper, lower, (far, strict)
    if is_above is not False:
        yield lower, upper, (-far, strict)


Linear = tuple[dict[str, int], int]
"""Times with their factors, and a number."""


def _linear(term: Term, times: Collection[str]) -> Linear | None:
    """A term as a sum of times and integers; None where it is something else."""
    match term:
        case Number(value) if float(value).is_integer() and abs(value) < EXACT:
            return {}, int(value)
        case Variable(name) if name in times:
            return {name: 1}, 0
        case Compound("+" | "-" as sign, (one, other)):
            left, right = _linear(one, times), _linear(other, times)
            if left is None or right is None:
                return None
            return _sum(left, right, 1 if sign == "+" else -1)
        case Compound("-", (one,)):
            only = _linear(one, times)
            return None if only is None else _sum(({}, 0), only, -1)
        case _:
            return None


def _sum(left: Linear, right: Linear, sign: int) -> Linear:
    factors = dict(left[0])
    for name, factor in right[0].items():
        factors[name] = factors.get(name, 0) + sign * factor
    return {n: f for n, f in factors.items() if f}, left[1] + sign * right[1]


def _pair(left: Linear, right: Linear) -> tuple[Node, Node, int] | None:
    """``left - right`` as one time above another or zero; None where more of them are in it."""
    factors, number = _sum(left, right, -1)
    above = [n for n, f in factors.items() if f == 1]
    below = [n for n, f in factors.items() if f == -1]
    if len(above) > 1 or len(below) > 1 or len(above) + len(below) < len(factors):
        return None
    upper, lower = (Node(Variable(names[0]), True) if names else ZERO for names in (above, below))
    return upper, lower, -number


def _side(term: Term, linear: Linear | None) -> tuple[Node, int]:
    """A side as a node and an offset."""
    if linear is not None and list(linear[0].values()) in ([], [1]):
        names = list(linear[0])
        return (Node(Variable(names[0]), True) if names else ZERO), linear[1]
    return Node(term, False), 0


def _test(upper: Node, lower: Node, distance: Distance) -> Test | None:
    """``upper - lower`` at most so much, as a comparison; None where that would have to be rounded."""
    far, strict = distance
    op = "<" if strict else "=<"
    if upper.term is None or lower.term is None:
        left: Term = Number(-far) if upper.term is None else upper.term
        right: Term = Number(far) if lower.term is None else lower.term
        return None if upper.term is None and lower.term is None else Test(op, left, right)
    if not far:
        return Test(op, upper.term, lower.term)
    if lower.whole:
        return Test(op, upper.term, Compound("+", (lower.term, Number(far))))
    if upper.whole:
        return Test(op, Compound("+", (upper.term, Number(-far))), lower.term)
    return None


