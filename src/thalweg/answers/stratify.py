"""T-stratification (Proposition 14), on the temporal dependency graph folded by predicate.

An edge from p to q carries a sign and the step in time from p's time to q's. The unfolded graph has a path through
infinitely many negative edges exactly when the folded one has a closed walk with a negative edge whose steps add up
to zero or more: it can then be walked forever without leaving the timeline. A walk that goes back in time ends at
its beginning. The folded graph is finite, also where the unfolded one is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from thalweg.analysis.order import strong_components
from thalweg.analysis.temporal import Signature
from thalweg.answers.datalog import Datalog, Rule, TimedAtom

ANY_TIME = 1 << 40
"""The step to an atom at an unrelated time: it can be as far ahead as one likes."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """`rule` makes `source` depend on `target`, which lies `step` later."""

    source: Signature
    target: Signature
    step: int
    negative: bool
    rule: Rule

    def __str__(self) -> str:
        moved = (
            "at any time"
            if self.step >= ANY_TIME
            else "at the same time"
            if not self.step
            else f"{self.step:+d}"
        )
        return f"{self.source[0]} needs {'not ' if self.negative else ''}{self.target[0]} {moved}"


def dependencies(datalog: Datalog) -> list[Dependency]:
    """The folded temporal dependency graph."""
    found = []
    for predicate, rules in datalog.rules.items():
        for rule in rules:
            for atom in rule.body:
                if isinstance(atom, TimedAtom):
                    found.append(
                        Dependency(predicate, atom.predicate, _step(rule.head, atom), atom.negated, rule),
                    )
    return found


def _step(head: TimedAtom, atom: TimedAtom) -> int:
    if (
        head.time is not None
        and atom.time is not None
        and head.time.variable == atom.time.variable is not None
    ):
        return atom.time.offset - head.time.offset
    return ANY_TIME if atom.time is not None else 0


def negative_walk(edges: Iterable[Dependency]) -> tuple[Dependency, ...] | None:
    """A closed walk that proves the program not T-stratified, or None when it is."""
    known = list(edges)
    nodes = sorted({e.source for e in known} | {e.target for e in known})
    component: dict[Signature, int] = {}
    for number, members in enumerate(strong_components(nodes, _successors(known))):
        component.update(dict.fromkeys(members, number))
    for edge in known:
        if edge.negative and component[edge.source] == component[edge.target]:
            inside = [
                e for e in known if component[e.source] == component[e.target] == component[edge.source]
            ]
            walk = _closing(edge, inside)
            if walk is not None:
                return walk
    return None


def _successors(edges: Iterable[Dependency]) -> dict[Signature, list[Signature]]:
    found: dict[Signature, list[Signature]] = {}
    for edge in edges:
        found.setdefault(edge.source, []).append(edge.target)
    return found


def _closing(edge: Dependency, inside: list[Dependency]) -> tuple[Dependency, ...] | None:
    """The walk from the edge's target back to its source that goes furthest ahead, if it closes at zero or more.

    Longest paths by Bellman and Ford; a cycle that gains time can be repeated, so it closes any walk.
    """
    best: dict[Signature, tuple[int, tuple[Dependency, ...]]] = {edge.target: (edge.step, (edge,))}
    nodes = {e.source for e in inside}
    for _ in range(len(nodes) + 1):
        if edge.source in best and best[edge.source][0] >= 0:
            return best[edge.source][1]
        changed = False
        for e in inside:
            if e.source not in best:
                continue
            length, path = best[e.source]
            if e.target not in best or length + e.step > best[e.target][0]:
                best[e.target] = (length + e.step, (*path, e))
                changed = True
        if not changed:
            return None
    return best[edge.source][1]
