"""Proofs in Temporal Datalog at a clock time: what is certain, what may still come true, and on what it rests.

Whether an atom is certain, possible or neither follows from its P_Q: sets of input and negated atoms, finitely many. A
proof shows the rules as they are written, from the head down to rows of the input, along what is certain or possible.
What is known is the rows that have arrived; what lies after the closed time may still come. A negated atom holds when
nothing can prove its atom any more, and may hold as long as nothing has. Programs are T-stratified, so asking ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from thalweg.analysis.order import strong_components
from thalweg.analysis.temporal import Signature, Time
from thalweg.answers.background import EQUAL, atoms, decide, given, matches
from thalweg.answers.bounds import order
from thalweg.answers.datalog import Condition, Rule, Test, TimedAtom, is_projection
from thalweg.answers.resolve import ROUNDS, Resolver
from thalweg.answers.stratify import dependencies
from thalweg.answers.templates import APART, Substitution, pattern_of, rename_rule, rename_template, time_term
from thalweg.explain.tree import Node, Part
from thalweg.explain.world import place
from thalweg.language.terms import Number, Term, Variable, is_ground

Above = tuple[tuple[str, TimedAtom], ...]
"""The atoms that something is to prove, outermost first, with their patterns."""
Lookup = Callable[[TimedAtom, int | None], Iterator[tuple[tuple[Term, ...], int, Node]]]
"""The known rows like an input atom at a time (None: at any), each with its arguments, time and leaf."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What makes something true: the substitution, the nodes, and the literals that are still needed."""

    by: Substitution
    nodes: tuple[Node, ...]
    needs: frozenset[str] = frozenset()

    @property
    def is_certain(self) -> bool:
        return not self.needs

    def followed(self, other: Proof) -> Proof | None:
        """Both together; None where one needs what the other excludes."""
        needs = self.needs | other.needs
        if any(n.startswith("not ") and n[4:] in needs for n in needs):
            return None
        return Proof(other.by, self.nodes + other.nodes, needs)


@dataclass
class Prover:
    """Proves atoms of one program from the rows known at a clock time. `start` is the first time-point."""

    resolver: Resolver
    lookup: Lookup
    start: int
    clock: int
    lateness: int = 0
    _certain: dict[str, bool] = field(default_factory=dict)
    _possible: dict[str, bool] = field(default_factory=dict)
    excluded: dict[str, TimedAtom] = field(default_factory=dict)
    """The atoms behind the nodes that say that something is not true."""
    _asked_up_to: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.datalog = self.resolver.datalog
        edges: dict[Signature, list[Signature]] = {}
        for d in dependencies(self.datalog):
            edges.setdefault(d.source, []).append(d.target)
        self._recursive = {
            p
            for part in strong_components(sorted(edges), edges)
            for p in part
            if len(part) > 1 or p in edges.get(p, ())
        }

    @property
    def closed(self) -> int:
        """Up to this time everything has come that will."""
        return self.clock - self.lateness

    # ------------------------------------------------------------------ asking

    def is_certain(self, atom: TimedAtom) -> bool:
        """True when the rows that are known make the atom true, whatever comes."""
        return self._known(self._certain, atom, open_too=False)

    def is_possible(self, atom: TimedAtom) -> bool:
        """True when the atom is true or may still come true."""
        return self._known(self._possible, atom, open_too=True)

    def _known(self, memory: dict[str, bool], atom: TimedAtom, *, open_too: bool) -> bool:
        if atom.time is not None and atom.time.variable is None and atom.time.offset < self.start:
            return False
        key = shown(atom)
        if key not in memory:
            self._ask_earlier(atom)
            memory[key] = next(self._met(atom, open_too), None) is not None
        return memory[key]

    def _met(self, atom: TimedAtom, open_too: bool) -> Iterator[Proof]:
        """The sets of premises of an atom that are met, or may still be."""
        if not self.resolver.is_resolved(atom):
            yield from self.prove(atom, Substitution.empty(), open_too=open_too)
            return
        for template in map(rename_template, self.resolver.table(pattern_of(atom))):
            by = Substitution.empty()
            if by.unify_times(template.time, atom.time) and all(map(by.unify, template.head, atom.args)):
                body: list[Condition] = [*template.premises, *template.tests]
                times = frozenset(template.time_variables())
                for proof in self._body(body, times, Proof(by, ()), open_too, ()):
                    if not self._can_be_met(body, times, proof.by):
                        continue
                    floors = [proof.by.time(Time(name, low)) for name, low in template.floors]
                    if all(t.variable is not None or t.offset >= self.start for t in floors):
                        yield proof

    def _ask_earlier(self, atom: TimedAtom) -> None:
        """Where atoms depend on earlier ones like them, these are asked first, so that no question goes deep."""
        if atom.predicate not in self._recursive or atom.time is None or atom.time.variable is not None:
            return
        like = shown(replace(atom, time=Time("T")))
        first = self._asked_up_to.get(like, self.start)
        self._asked_up_to[like] = max(first, atom.time.offset)
        for time in range(first, atom.time.offset):
            at = replace(atom, time=Time(None, time))
            self.is_possible(at)
            self.is_certain(at)

    def best(self, atom: TimedAtom) -> Proof | None:
        """A proof without needs, or else of the open ones, of those with evidence first, the one that needs least."""
        certain = next(self.prove(atom, Substitution.empty(), open_too=False), None)
        if certain is not None:
            return certain
        return min(
            self.prove(atom, Substitution.empty(), open_too=True),
            key=lambda p: (not self.has_evidence(p), len(p.needs)),
            default=None,
        )

    def has_evidence(self, proof: Proof) -> bool:
        """True when something that the proof rests on is known of the stream: a row, or that none can come any more."""
        inside = [node for top in proof.nodes for node in top]
        absent = [self.excluded[n.text] for n in inside if n.part is Part.NEGATION and n.text in self.excluded]
        speaks = self.datalog.inputs | self.resolver.timeless | self.datalog.rules.keys() & self.datalog.temporal
        return any(n.part is Part.INPUT for n in inside) or any(atom.predicate in speaks for atom in absent)

    # ------------------------------------------------------------------ proving

    def prove(
        self, atom: TimedAtom, by: Substitution, *, open_too: bool, above: Above = ()
    ) -> Iterator[Proof]:
        """The proofs of a positive atom; with `open_too`, also those that need what may still come."""
        atom = by.atom(atom)
        if atom.time is None and not self.resolver.is_resolved(atom):
            for found in matches(atom, self.resolver.background.get(atom.predicate, frozenset()), by):
                said = shown(found.atom(atom))
                yield Proof(found, (Node(Part.BACKGROUND, f"{said} is known beforehand"),))
            return
        if atom.predicate in self.datalog.inputs:
            yield from self._rows(atom, by, open_too)
        inside = (*above, (shown(atom), pattern_of(atom)))
        if self._is_new(inside) and self._is_worth(atom, open_too):
            for rule in self.datalog.rules.get(atom.predicate, ()):
                yield from self._by_rule(rule, atom, by, open_too, inside)

    def _is_new(self, path: Above) -> bool:
        """False where a proof would go in circles: an atom in its own proof, or at ever other times more often than
        its P_Q took to be found."""
        said, pattern = path[-1]
        again = [one for one, like in path[:-1] if like == pattern]
        return said not in again and len(again) <= ROUNDS + len(self._recursive)

    def _is_worth(self, atom: TimedAtom, open_too: bool) -> bool:
        """True when rules can lead to a proof."""
        if not self.resolver.is_resolved(atom):
            return atom.predicate in self.datalog.rules
        return self.is_possible(atom) if open_too else self.is_certain(atom)

    def _rows(self, atom: TimedAtom, by: Substitution, open_too: bool) -> Iterator[Proof]:
        time = atom.time
        assert time is not None
        known = False
        for args, at, leaf in self.lookup(atom, time.offset if time.variable is None else None):
            found = by.copy()
            if found.unify_times(time, Time(None, at)) and all(map(found.unify, atom.args, args)):
                known = True
                yield Proof(found, (leaf,))
        is_ground_now = time.variable is None and all(is_ground(a) for a in atom.args)
        if open_too and not (known and is_ground_now) and (time.variable is not None or time.offset > self.closed):
            deadline = "" if time.variable is not None else f", by {time.offset + self.lateness}"
            leaf = Node(Part.NEEDED, f"{shown(atom)} may still come{deadline}", time=point(time))
            yield Proof(by, (leaf,), frozenset({shown(atom)}))

    def _by_rule(
        self, rule: Rule, atom: TimedAtom, by: Substitution, open_too: bool, above: Above
    ) -> Iterator[Proof]:
        renamed = rename_rule(rule)
        found = by.copy()
        if not found.unify_atoms(renamed.head, atom) or not self._exists(renamed, found):
            return
        for proof in self._body(list(renamed.body), renamed.times, Proof(found, ()), open_too, above):
            if not self._exists(renamed, proof.by) or not self._can_be_met(renamed.body, renamed.times, proof.by):
                continue
            if is_projection(atom.predicate):
                yield proof
                continue
            said = shown(proof.by.atom(atom))
            part = Part.ATOM if proof.is_certain else Part.OPEN
            if rule.body:
                step = Node(Part.RULE, rule_text(rule), proof.nodes, source=place(rule.span))
                node = Node(part, said, (step,), point(proof.by.atom(atom).time))
            else:
                node = Node(Part.BACKGROUND, f"{said} is a fact of the program", source=place(rule.span))
            yield Proof(proof.by, (node,), proof.needs)

    def _exists(self, rule: Rule, by: Substitution) -> bool:
        """An instance of a rule exists when none of its atoms lies before the start."""
        times = [by.time(a.time) for a in (rule.head, *atoms(rule.body)) if a.time is not None]
        return all(t.variable is not None or t.offset >= self.start for t in times)

    def _can_be_met(self, body: Iterable[Condition], times: frozenset[str], by: Substitution) -> bool:
        """False when the comparisons exclude each other, or what would still have to come would have to come by now."""
        unknown = {t.variable for name in times if (t := by.time(Time(name))).variable is not None}
        tests = [by.test(c) for c in body if isinstance(c, Test)]
        if not tests or not (unknown or any(not _is_ready(test) for test in tests)):
            return True
        rows = [c for c in body if isinstance(c, TimedAtom) and not c.negated and c.time is not None]
        coming = [by.time(c.time) for c in rows if c.time is not None and not self.resolver.is_resolved(c)]
        later = [Test(">", time_term(t), Number(self.closed)) for t in coming if t.variable is not None]
        return order([*tests, *later], {name for name in unknown if name is not None}).is_possible

    def _body(
        self,
        body: list[Condition],
        times: frozenset[str],
        so_far: Proof,
        open_too: bool,
        above: Above,
    ) -> Iterator[Proof]:
        if not body:
            yield so_far
            return
        condition = self.first(body, so_far.by)
        rest = [c for c in body if c is not condition]
        for proof in self.condition(condition, so_far.by, times, open_too, above):
            both = so_far.followed(proof)
            if both is not None:
                yield from self._body(rest, times, both, open_too, above)

    def first(self, body: list[Condition], by: Substitution) -> Condition:
        """Tests whose values are known come first, then positive atoms, then the rest."""
        for test in body:
            if isinstance(test, Test) and _is_ready(by.test(test)):
                return test
        return next((c for c in body if isinstance(c, TimedAtom) and not c.negated), body[0])

    def condition(
        self,
        condition: Condition,
        by: Substitution,
        times: frozenset[str],
        open_too: bool,
        above: Above = (),
    ) -> Iterator[Proof]:
        """The proofs of one condition of a body."""
        if isinstance(condition, Test):
            yield from _tested(by.test(condition), by, times, open_too)
        elif condition.negated:
            proof = self._negated(by.atom(replace(condition, negated=False)), by, open_too)
            if proof is not None:
                yield proof
        else:
            yield from self.prove(condition, by, open_too=open_too, above=above)

    # ------------------------------------------------------------------ negation

    def _negated(self, atom: TimedAtom, by: Substitution, open_too: bool) -> Proof | None:
        said = f"not {shown(atom)}"
        if not self.is_possible(atom):
            leaf = Node(Part.NEGATION, f"{said}: {self.absence(atom)}", time=point(atom.time))
            self.excluded[leaf.text] = atom
            return Proof(by, (leaf,))
        open_variables = any(not is_ground(a) for a in atom.args)
        if open_too and (open_variables or not self.is_certain(atom)):
            leaf = Node(Part.NEEDED, f"{said}: it may still come true", time=point(atom.time))
            return Proof(by, (leaf,), frozenset({said}))
        return None

    def absence(self, atom: TimedAtom) -> str:
        """Why nothing can make an atom true any more."""
        if atom.time is None or atom.time.variable is not None:
            return "nothing makes it true"
        if atom.time.offset < self.start:
            return f"the stream begins at {self.start}"
        if atom.predicate in self.datalog.inputs and not self.datalog.is_derived(atom.predicate):
            return "no such row, and none can come any more"
        return "nothing can make it true any more"


# --------------------------------------------------------------------------- tests


def _is_ready(test: Test) -> bool:
    """True when a test can be decided, or gives its variable a value."""
    return (is_ground(test.left) and is_ground(test.right)) or _given(test) is not None


def _given(test: Test) -> tuple[str, Term] | None:
    """The variable that an equation gives a value to, and the value."""
    if test.negated or test.op not in EQUAL:
        return None
    for side, other in ((test.left, test.right), (test.right, test.left)):
        value = given(test.op, other) if is_ground(other) else None
        if isinstance(side, Variable) and value is not None:
            return side.name, value
    return None


def _tested(test: Test, by: Substitution, times: frozenset[str], open_too: bool) -> Iterator[Proof]:
    bound = _given(test)
    if is_ground(test.left) and is_ground(test.right):
        if decide(test):
            yield Proof(by, (Node(Part.TEST, plain(str(test))),))
    elif bound is not None:
        name, value = bound
        found = by.copy()
        if name not in times:
            found.terms[name] = value
        elif isinstance(value, Number) and float(value.value).is_integer():
            found.times[name] = Time(None, int(value.value))
        else:
            return
        yield Proof(found, (Node(Part.TEST, plain(str(test))),))
    elif open_too:
        yield Proof(by, (Node(Part.NEEDED, f"{plain(str(test))}, not known yet"),), frozenset({str(test)}))


# --------------------------------------------------------------------------- words


def shown(atom: TimedAtom) -> str:
    """An atom as one would write it."""
    return plain(str(atom))


def rule_text(rule: Rule) -> str:
    """A rule in one line."""
    return plain(str(rule))


def plain(text: str) -> str:
    """Without the numbers that keep variables apart."""
    return re.sub(rf"{APART}\d+", "", text)


def point(time: Time | None) -> int | None:
    """A time as a number, where it is one."""
    return None if time is None or time.variable is not None else time.offset
