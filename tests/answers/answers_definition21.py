"""Definition 21 of the seed, word for word, over ground atoms: the tables of Examples 19 and 20 come from here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from thalweg.answers.datalog import TimedAtom
from thalweg.answers.plans import Plan
from thalweg.answers.templates import Template
from thalweg.language.terms import Atom, Variable


@dataclass(frozen=True)
class Literal:
    """A ground literal."""

    name: str
    args: tuple[str, ...]
    time: int
    negated: bool = False

    def __str__(self) -> str:
        return ("not " if self.negated else "") + f"{self.name}({', '.join([*self.args, str(self.time)])})"

    @property
    def atom(self) -> Literal:
        return Literal(self.name, self.args, self.time)


@dataclass(frozen=True)
class Tuple:
    """A generalized hypothetical answer: the ground goal, its evidence, its hypotheses."""

    goal: Literal
    evidence: frozenset[Literal]
    hypotheses: frozenset[Literal]

    def shown(self) -> tuple[str, frozenset[str], frozenset[str]]:
        return str(self.goal), frozenset(map(str, self.evidence)), frozenset(map(str, self.hypotheses))


Family = dict[int, set[Tuple]]


class Definition21:
    """S and B of every query, step by step."""

    def __init__(self, plan: Plan, constants: list[str]) -> None:
        self.plan = plan
        self.constants = constants
        self.now = -1
        self.s: Family = {i: set() for i in range(len(plan.queries))}
        self.b: Family = {}
        self.by_substep: dict[tuple[int, str], set[Tuple]] = {}

    def step(self, facts: Iterable[Literal]) -> None:
        """One time-point with its slice of the stream."""
        self.now += 1
        slice_ = set(facts)
        self.by_substep = {}
        self.b = {i: self._two(i, slice_) | self._three(i, slice_) for i in self.s}
        self.s = {i: set(found) for i, found in self.b.items()}
        while self._four():
            pass

    def _two(self, query: int, slice_: set[Literal]) -> set[Tuple]:
        found = set()
        for t in self.s[query]:
            due = {h for h in t.hypotheses if not h.negated and h.time == self.now}
            if due <= slice_:
                found.add(Tuple(t.goal, t.evidence | due, t.hypotheses - due))
        return found

    def _three(self, query: int, slice_: set[Literal]) -> set[Tuple]:
        found: set[Tuple] = set()
        for template in self.plan.queries[query].templates:
            offsets = [p.time.offset for p in template.premises if p.time is not None]
            for goal, premises in self._instances(query, template):
                earliest = min(offsets, default=0)
                first = {p for p in premises if p.time == goal.time + earliest}
                positive = {p for p in first if not p.negated}
                if positive and positive <= slice_:
                    self._add(query, "3(a)", Tuple(goal, frozenset(positive), premises - positive), found)
                if goal.time == self.now and not positive:
                    self._add(query, "3(b)", Tuple(goal, frozenset(), premises), found)
                if goal.time == self.now and all(p.time > self.now for p in premises):
                    self._add(query, "3(c)", Tuple(goal, frozenset(), premises), found)
        return found

    def _add(self, query: int, substep: str, tuple_: Tuple, found: set[Tuple]) -> None:
        self.by_substep.setdefault((query, substep), set()).add(tuple_)
        found.add(tuple_)

    def _instances(self, query: int, template: Template) -> Iterable[tuple[Literal, frozenset[Literal]]]:
        names = template.variables()
        goal = self.plan.queries[query].goal
        for values in itertools.product(self.constants, repeat=len(names)):
            given = dict(zip(names, values, strict=True))
            for time in range(-3, self.now + 4):
                head = Literal(goal.predicate[0], tuple(_constant(a, given) for a in template.head), time)
                premises = frozenset(_ground(p, given, time) for p in template.premises)
                if time >= 0 and all(p.time >= 0 for p in premises):
                    yield head, premises

    def _four(self) -> bool:
        """One application of R; True when something changed."""
        everything = [(i, t) for i, found in self.s.items() for t in found]
        answered = {t.goal for _, t in everything if not t.hypotheses}
        possible = {t.goal for _, t in everything}
        for i, t in everything:
            for h in t.hypotheses:
                if h.negated and h.atom in answered:
                    self.s[i].discard(t)
                    return True
                if h.negated and h.time <= self.now and h.atom not in possible:
                    self.s[i].discard(t)
                    self.s[i].add(Tuple(t.goal, t.evidence | {h}, t.hypotheses - {h}))
                    return True
        return False


def _constant(term: object, given: dict[str, str]) -> str:
    if isinstance(term, Variable):
        return given[term.name]
    assert isinstance(term, Atom)
    return term.name


def _ground(atom: TimedAtom, given: dict[str, str], time: int) -> Literal:
    assert atom.time is not None
    args = tuple(_constant(a, given) for a in atom.args)
    return Literal(atom.predicate[0], args, time + atom.time.offset, atom.negated)
