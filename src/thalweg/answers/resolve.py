"""Offline resolution: the set P_Q of a query, by SLD-resolution with tables.

A table holds the templates of one atom pattern (constants kept, variables numbered, the time open). A pattern that
occurs again, at any time, uses the table instead of a new derivation. Patterns that need each other are iterated
together until nothing new and minimal comes; where that does not end, P_Q is infinite and the recursion is reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn, TypeGuard

from thalweg.analysis.order import strong_components
from thalweg.answers.background import (
    EQUAL,
    Background,
    Row,
    atoms,
    background,
    constant_of,
    decide,
    given,
    matches,
    stream_dependent,
)
from thalweg.answers.bounds import order
from thalweg.answers.datalog import Datalog, Rule, Test, TimedAtom
from thalweg.answers.templates import (
    UNLIMITED,
    Effort,
    Exhausted,
    Substitution,
    Template,
    as_time,
    contradictory,
    instantiate,
    minimal,
    pattern_of,
    rename_rule,
    rename_template,
    subsumes,
)
from thalweg.language.terms import Term, Variable, is_ground, variables

ROUNDS = 5
"""How many rounds a recursive group may grow, beyond one per member, before its P_Q counts as infinite."""
RECURSIVE_LIMIT = 32
LIMIT = 4000
"""How many templates one pattern may have, in a recursion and otherwise."""
RECURSIVE_EFFORT = 150_000
"""How many premises may be looked at while a recursive group is made minimal: most of a second. Programs that people
write and that end need a hundredth of it, the worst of many random ones half."""
RECURSIVE_PREMISES = 24
PREMISES = 62
"""How many premises a template may have, in a recursion and otherwise: they are bits of a 64-bit word online."""


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a recursion: the rule by which a pattern needs another, and by how much time moves."""

    rule: Rule
    source: TimedAtom
    target: TimedAtom
    shift: int | None


Goal = tuple[TimedAtom | Test, TimedAtom | None]
"""A condition of a body and, where rules define it, the pattern whose table it uses: the one that the head alone
gives, so that answers of its siblings do not split the table."""


class Unbounded(Exception):
    """P_Q is infinite (or too large); `cycle` is the recursion that makes it so."""

    def __init__(self, message: str, cycle: tuple[Step, ...] = (), rule: Rule | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.cycle = cycle
        self.rule = rule or (cycle[0].rule if cycle else None)


class Resolver:
    """The tables of one program."""

    def __init__(self, datalog: Datalog) -> None:
        self.datalog = datalog
        self.background: Background = background(datalog)
        self.timeless = stream_dependent(datalog)
        self.tables: dict[TimedAtom, list[Template]] = {}

    def is_resolved(self, atom: TimedAtom) -> bool:
        """True for atoms that rules over the stream define: they do not stay in a template."""
        if atom.time is None:
            return atom.predicate in self.timeless
        return self.datalog.is_derived(atom.predicate)

    def table(self, pattern: TimedAtom) -> list[Template]:
        """The minimal templates of a pattern, everything it needs tabled first."""
        if pattern not in self.tables:
            calls = self._call_graph(pattern)
            for component in strong_components(
                [pattern], {p: [s.target for s in steps] for p, steps in calls.items()}
            ):
                self._fill([p for p in component if p not in self.tables], calls)
        return self.tables[pattern]

    def _call_graph(self, start: TimedAtom) -> dict[TimedAtom, list[Step]]:
        calls: dict[TimedAtom, list[Step]] = {}
        waiting = [start]
        while waiting:
            pattern = waiting.pop()
            if pattern in calls or pattern in self.tables:
                continue
            calls[pattern] = list(self._steps(pattern))
            waiting += [s.target for s in calls[pattern]]
        return calls

    def _steps(self, pattern: TimedAtom) -> Iterator[Step]:
        for rule, by in self._applicable(pattern):
            for atom in atoms(rule.body):
                if self._is_call(atom):
                    called = by.atom(atom)
                    same = called.time is not None and called.time.variable == "T"
                    yield Step(
                        rule,
                        pattern,
                        pattern_of(called),
                        called.time.offset if same and called.time else None,
                    )

    def _applicable(self, pattern: TimedAtom) -> Iterator[tuple[Rule, Substitution]]:
        for rule in self.datalog.rules.get(pattern.predicate, ()):
            renamed = rename_rule(rule)
            by = Substitution.empty()
            if by.unify_atoms(renamed.head, pattern):
                yield renamed, by

    # -- filling tables

    def _fill(self, component: list[TimedAtom], calls: dict[TimedAtom, list[Step]]) -> None:
        if not component:
            return
        inside = set(component)
        recursive = any(s.target in inside for p in component for s in calls[p])
        for pattern in component:
            self.tables[pattern] = []
        rounds = ROUNDS + len(component) if recursive else 1
        effort = Effort(RECURSIVE_EFFORT) if recursive else UNLIMITED
        for _ in range(rounds):
            before = {p: self.tables[p] for p in component}
            for pattern in component:
                self.tables[pattern] = self._templates(pattern, recursive, calls, effort)
            if not recursive or all(_same(before[p], self.tables[p]) for p in component):
                return
        cycle = _cycle(component, calls)
        for pattern in component:
            del self.tables[pattern]
        raise Unbounded(
            "this recursion needs input from an unlimited stretch of time or over unlimited steps", cycle
        )

    def _templates(
        self, pattern: TimedAtom, recursive: bool, calls: dict[TimedAtom, list[Step]], effort: Effort
    ) -> list[Template]:
        limit, premises = (RECURSIVE_LIMIT, RECURSIVE_PREMISES) if recursive else (LIMIT, PREMISES)
        found: list[Template] = []
        for template in self._derive(pattern):
            if len(template.premises) > premises or len(found) > 4 * limit:
                self._too_large(pattern, calls)
            found.append(template)
        try:
            kept = minimal(found, effort)
        except Exhausted:
            self._too_large(pattern, calls)
        if len(kept) > limit:
            self._too_large(pattern, calls)
        return kept

    def _too_large(self, pattern: TimedAtom, calls: dict[TimedAtom, list[Step]]) -> NoReturn:
        members = next(
            c
            for c in strong_components([pattern], {p: [s.target for s in v] for p, v in calls.items()})
            if pattern in c
        )
        cycle = _cycle(members, calls)
        rules = self.datalog.rules.get(pattern.predicate, ())
        for member in members:
            self.tables.pop(member, None)
        what = "this recursion grows without end" if cycle else f"{pattern} resolves to too many alternatives"
        raise Unbounded(what, cycle, None if cycle else rules[0])

    def _derive(self, pattern: TimedAtom) -> Iterator[Template]:
        """One round: every rule for the pattern, with the templates known so far for what its body needs."""
        if pattern.predicate in self.datalog.inputs:
            yield Template(pattern.args, pattern.time, (pattern,), (), _floor(pattern))
        for rule, by in self._applicable(pattern):
            floors = [f for atom in (rule.head, *atoms(rule.body)) for f in _floor(atom)]
            start = Template(pattern.args, pattern.time, (), (), tuple(floors), (rule,))
            once = dict.fromkeys(rule.body)
            body = [(c, pattern_of(by.atom(c)) if self._is_call(c) else None) for c in once]
            for template, found in self._body(body, rule.times, start, by):
                yield from self.finished(instantiate(template, found))

    def _is_call(self, condition: TimedAtom | Test) -> TypeGuard[TimedAtom]:
        return isinstance(condition, TimedAtom) and not condition.negated and self.is_resolved(condition)

    def _body(
        self, body: list[Goal], times: frozenset[str], so_far: Template, by: Substitution
    ) -> Iterator[tuple[Template, Substitution]]:
        if not body:
            yield so_far, by
            return
        first, rest = body[0], body[1:]
        for template, found in self._condition(first, times, so_far, by):
            yield from self._body(rest, times, template, found)

    def _condition(
        self, goal: Goal, times: frozenset[str], so_far: Template, by: Substitution
    ) -> Iterator[tuple[Template, Substitution]]:
        condition, called = goal
        if isinstance(condition, Test):
            yield from _test(condition, times, so_far, by)
        elif called is not None:
            for known in self.tables[called]:
                yield from _expand(condition, rename_template(known), so_far, by)
        else:
            yield replace(so_far, premises=(*so_far.premises, condition)), by
            if not condition.negated and condition.time is not None:
                yield from self._given(condition, so_far, by)

    def _given(
        self, atom: TimedAtom, so_far: Template, by: Substitution
    ) -> Iterator[tuple[Template, Substitution]]:
        """Facts of the program about an input predicate."""
        for rule in self.datalog.rules.get(atom.predicate, ()):
            fact = rename_rule(rule)
            found = by.copy()
            if found.unify_atoms(fact.head, atom):
                yield replace(so_far, floors=(*so_far.floors, *_floor(fact.head))), found

    # -- what can be decided before the stream

    def finished(self, template: Template) -> Iterator[Template]:
        """The template, where it can be true, with ground tests decided and background atoms resolved where there is
        one way or none."""
        tests: list[Test] = []
        for test in template.tests:
            if is_ground(test.left) and is_ground(test.right):
                if not decide(test):
                    return
            elif _computes(test):
                value = given(test.op, test.right)
                if value is None:
                    return
                by = Substitution.empty()
                by.unify(test.left, value)
                yield from self.finished(instantiate(replace(template, tests=_without(template, test)), by))
                return
            else:
                tests.append(test)
        template = replace(template, tests=tuple(tests))
        for atom in template.rigid:
            outcome = self._background_outcome(atom)
            if outcome is None:
                continue
            rest = replace(template, premises=tuple(p for p in template.premises if p is not atom))
            for by in outcome:
                yield from self.finished(instantiate(rest, by))
            return
        times = {*template.time_variables(), *(name for name, _ in template.floors if name is not None)}
        if not contradictory(template) and order(template.tests, times).is_possible:
            yield template

    def _background_outcome(self, atom: TimedAtom) -> list[Substitution] | None:
        """No way, or the only way, in which the atom holds; None when it stays in the template."""
        rows: frozenset[Row] = self.background.get(atom.predicate, frozenset())
        if atom.negated:
            if not all(is_ground(a) for a in atom.args):
                return None
            return [] if atom.args in rows else [Substitution.empty()]
        found = list(itertools.islice(matches(atom, rows, Substitution.empty()), 2))
        return None if len(found) > 1 else found


def _floor(atom: TimedAtom) -> tuple[tuple[str | None, int], ...]:
    return () if atom.time is None else ((atom.time.variable, atom.time.offset),)


def _without(template: Template, test: Test) -> tuple[Test, ...]:
    return tuple(t for t in template.tests if t is not test)


def _computes(test: Test) -> bool:
    return test.op in EQUAL and not test.negated and isinstance(test.left, Variable) and is_ground(test.right)


def _test(
    test: Test, times: frozenset[str], so_far: Template, by: Substitution
) -> Iterator[tuple[Template, Substitution]]:
    """A test is kept; an equation between plain terms or between times is solved at once."""
    if test.op == "=" and not test.negated:
        found = by.copy()
        left, right = as_time(test.left, times), as_time(test.right, times)
        timed = {v.name for side in (test.left, test.right) for v in variables(side)} & times
        if timed and left is not None and right is not None:
            if found.unify_times(left, right):
                yield so_far, found
            return
        if not timed and _plain(test.left) and _plain(test.right):
            if found.unify(test.left, test.right):
                yield so_far, found
            return
    yield replace(so_far, tests=(*so_far.tests, test)), by


def _plain(term: Term) -> bool:
    return isinstance(term, Variable) or constant_of(term) == term


def _expand(
    atom: TimedAtom, known: Template, so_far: Template, by: Substitution
) -> Iterator[tuple[Template, Substitution]]:
    found = by.copy()
    if not found.unify_times(known.time, atom.time):
        return
    if not all(found.unify(k, a) for k, a in zip(known.head, atom.args, strict=True)):
        return
    yield (
        replace(
            so_far,
            premises=(*so_far.premises, *known.premises),
            tests=(*so_far.tests, *known.tests),
            floors=(*so_far.floors, *known.floors),
            rules=(*so_far.rules, *(r for r in known.rules if r not in so_far.rules)),
        ),
        found,
    )


def _same(before: list[Template], after: list[Template]) -> bool:
    """The tables only grow up to subsumption, so equal sizes with mutual cover mean a fixpoint."""
    return len(before) == len(after) and all(any(subsumes(b, a) for b in before) for a in after)


def _cycle(component: list[TimedAtom], calls: dict[TimedAtom, list[Step]]) -> tuple[Step, ...]:
    """A shortest recursion inside a component, one that moves time if there is any."""
    inside = set(component)
    best: tuple[Step, ...] = ()
    for start in component:
        reached: dict[TimedAtom, tuple[Step, ...]] = {start: ()}
        waiting = [start]
        while waiting:
            here = waiting.pop(0)
            for step in calls.get(here, ()):
                path = (*reached[here], step)
                if step.target == start and (not best or _rank(path) < _rank(best)):
                    best = path
                if step.target in inside and step.target not in reached:
                    reached[step.target] = path
                    waiting.append(step.target)
    return best


def _rank(path: tuple[Step, ...]) -> tuple[bool, int]:
    return total_shift(path) == 0, len(path)


def total_shift(path: tuple[Step, ...]) -> int | None:
    """By how much time moves along a recursion; None when it is not connected."""
    if any(step.shift is None for step in path):
        return None
    return sum(step.shift for step in path if step.shift is not None)


def pattern_at(pattern: TimedAtom, shift: int) -> TimedAtom:
    """The pattern some time later."""
    return replace(pattern, time=pattern.time.shifted(shift)) if pattern.time is not None else pattern
