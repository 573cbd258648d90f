"""Why an answer of Temporal Datalog is certain, or open, or possible without any evidence yet, or neither.

A question is written as the atom, ``malf(wt25, 3)``, of a query or of any other predicate; ``malf(wt25, 3) @ 5`` asks
as of clock time 5 instead of the end. What is certain or open rests on one instance of a rule, down to rows of the
input and, for what is open, to what must still come. What is neither has failing rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from thalweg.analysis.temporal import Time
from thalweg.answers.datalog import Condition, Rule, Test, TimedAtom, is_projection, read
from thalweg.answers.resolve import Resolver, Unbounded
from thalweg.answers.templates import Substitution, pattern_of, rename_rule
from thalweg.explain.history import Given
from thalweg.explain.proofs import Proof, Prover, plain, point, rule_text, shown
from thalweg.explain.tree import Node, Part
from thalweg.explain.world import place
from thalweg.io.errors import InputError, did_you_mean
from thalweg.language.diagnostics import ProgramError
from thalweg.language.parser import parse
from thalweg.language.rules import Query
from thalweg.language.terms import Atom, Number, Term, arguments, is_ground, signature
from thalweg.language.wording import counted
from thalweg.reference.terms import Ground, Var

if TYPE_CHECKING:
    from thalweg.result import Result

LEVELS = 3
"""How many levels of failing rules are shown."""
HINT = "write it like 'malf(wt25, 3)', or 'malf(wt25, 3) @ 5' as of clock time 5"


class Asked:
    """A result of Temporal Datalog with its input, to be asked about."""

    def __init__(self, result: Result) -> None:
        from thalweg.plans import prepare

        if result.origin is None or result.input_is_spent():
            raise InputError(
                "question", "the input of this result cannot be read again", "give it as a file or table"
            )
        self.plan = prepare(result.program, result.origin.events, result.origin.options)
        self.datalog, _ = read(self.plan.program)
        self._resolver = Resolver(self.datalog)
        self._rows = [part for chunk, _ in self.plan.feed for part in chunk.rows]
        self._rejected = {
            (r["source"], r["row"]) for r in result.arrow["rejected"].select(["source", "row"]).to_pylist()
        }
        last = result.summary().last_query_time
        self.last = self.plan.schedule.start if last is None else last
        given = result.origin.options.lateness
        self._lateness = 0 if given is None else self.plan.clock.duration(given, "lateness")
        self._provers: dict[int, Prover] = {}

    def prover(self, clock: int) -> Prover:
        """What can be proven at a clock time."""
        if clock not in self._provers:
            given = Given(self._rows, self.plan, self._rejected, clock)
            lookup = _Rows(given, clock)
            start = self.plan.schedule.start + 1
            self._provers[clock] = Prover(self._resolver, lookup, start, clock, self._lateness)
        return self._provers[clock]

    def question(self, written: str) -> tuple[TimedAtom, int]:
        """The atom that a text asks about, and the clock time as of which."""
        stated, at, when = written.rpartition("@") if "@" in written else (written, "", "")
        clock = self.plan.clock.point(when.strip(), "the clock time") if at else self.last
        if clock > self.last:
            raise InputError("question", f"{clock} lies after the end of the result, {self.last}")
        try:
            found = parse(f"program answers. query {stated.strip().rstrip('.')}.")
        except ProgramError as error:
            raise InputError("question", f"cannot read {stated.strip()}", HINT) from error
        goals = [s.goal for s in found.statements if isinstance(s, Query)]
        if len(goals) != 1 or len(found.statements) != 1:
            raise InputError("question", f"'{stated.strip()}' is not one atom", HINT)
        (goal,) = goals
        atom = self._atom(goal)
        try:
            self._resolver.table(pattern_of(atom))
        except Unbounded as error:
            raise InputError("question", f"{shown(atom)} cannot be asked about", error.message) from error
        return atom, clock

    def _atom(self, goal: Term) -> TimedAtom:
        predicate, args = signature(goal), arguments(goal)
        known = self.datalog.inputs | self.datalog.rules.keys()
        if predicate not in known:
            listed = sorted(f"{name}/{arity}" for name, arity in known if not is_projection((name, arity)))
            wanted = f"{predicate[0]}/{predicate[1]}"
            message = f"the program has no {wanted}{did_you_mean(wanted, listed)}"
            raise InputError("question", message, f"it has {', '.join(listed)}")
        if not all(map(is_ground, args)):
            raise InputError("question", "the question has variables", "name the constants that are meant")
        if predicate not in self.datalog.temporal:
            return TimedAtom(predicate, args, None)
        *plain, time = args
        if not isinstance(time, Number) or not float(time.value).is_integer():
            raise InputError("question", f"the last argument of {predicate[0]} is a time", HINT)
        return TimedAtom(predicate, tuple(plain), Time(None, int(time.value)))


class _Rows:
    """Looks up known rows for a prover."""

    def __init__(self, given: Given, clock: int) -> None:
        self._given = given
        self._clock = clock

    def __call__(
        self, atom: TimedAtom, time: int | None
    ) -> Iterator[tuple[tuple[Term, ...], int, Node]]:
        name, wanted = atom.predicate[0], [_pattern(a, i) for i, a in enumerate(atom.args)]
        pattern = (name, *wanted) if wanted else name
        if time is None:
            found = self._given.events(pattern, self._clock, 1000)
        else:
            found = self._given.at(pattern, time) if time <= self._clock else []
        for fact in found:
            args = fact.term[1:] if isinstance(fact.term, tuple) else ()
            row = self._given.place(fact)
            leaf = Node(Part.INPUT, f"{row.fact} at {fact.start}", time=fact.start, place=row)
            yield tuple(map(_term, args)), fact.start, leaf


def _pattern(term: Term, number: int) -> Ground | Var:
    """An argument as input rows are asked for it; a variable stands for anything."""
    if isinstance(term, Number):
        return int(term.value) if float(term.value).is_integer() else float(term.value)
    return term.name if isinstance(term, Atom) else Var(f"A{number}")


def _term(value: Ground) -> Term:
    return Number(value) if isinstance(value, (int, float)) else Atom(str(value))


# --------------------------------------------------------------------------- why


def why(asked: Asked, written: str) -> Node:
    """Why an atom is certain, or open, or possible."""
    atom, clock = asked.question(written)
    prover = asked.prover(clock)
    proof = prover.best(atom)
    if proof is None:
        raise InputError("question", f"{shown(atom)} is neither certain nor possible at {clock}", "ask why not")
    return _with_doubts(_headed(proof, atom, clock, prover.has_evidence(proof)), prover)


def _with_doubts(node: Node, prover: Prover) -> Node:
    """The tree with what fails in the rules of the atoms that are not true."""
    atom = prover.excluded.get(node.text) if node.part is Part.NEGATION else None
    if atom is not None:
        return replace(node, children=tuple(_Doubts(prover).candidates(atom, 1)))
    return replace(node, children=tuple(_with_doubts(child, prover) for child in node.children))


def _headed(proof: Proof, atom: TimedAtom, clock: int, supported: bool) -> Node:
    (node,) = proof.nodes
    if proof.is_certain:
        return replace(node, text=f"{shown(atom)} is certain at {clock}") if node.part is Part.ATOM else node
    if node.part is Part.NEEDED:
        return node
    needs = f"{counted(len(proof.needs), 'condition')} still needed"
    status = f"open at {clock}:" if supported else f"possible at {clock}, nothing of it has come:"
    return replace(node, text=f"{shown(atom)} is {status} {needs}")


def holds(asked: Asked, written: str) -> bool:
    """True when an atom is certain, open, or possible."""
    atom, clock = asked.question(written)
    return asked.prover(clock).is_possible(atom)


# --------------------------------------------------------------------------- why not


def why_not(asked: Asked, written: str) -> Node:
    """Why an atom is neither certain nor possible: for each rule that could make it true, what fails."""
    atom, clock = asked.question(written)
    prover = asked.prover(clock)
    if prover.is_possible(atom):
        raise InputError("question", f"{shown(atom)} is certain or possible at {clock}", "ask why")
    children = tuple(_Doubts(prover).candidates(atom, LEVELS))
    said = f"{shown(atom)} is not true at {clock}: {prover.absence(atom)}"
    return Node(Part.NEGATION, said, children, point(atom.time))


class _Doubts:
    """Finds the rule instances that came closest."""

    def __init__(self, prover: Prover) -> None:
        self.prover = prover

    def candidates(self, atom: TimedAtom, levels: int) -> Iterator[Node]:
        """A node per rule whose head is like the atom."""
        for rule in self.prover.datalog.rules.get(atom.predicate, ()):
            renamed = rename_rule(rule)
            by = Substitution.empty()
            if not by.unify_atoms(renamed.head, atom):
                continue
            met, failing = self._furthest(renamed, Proof(by, ()))
            nodes = [*met.nodes, *([self._failing(failing, met.by, levels)] if failing is not None else ())]
            if failing is None:
                nodes.append(Node(Part.FAILS, f"an atom of it lies before {self.prover.start}, the start"))
            if is_projection(atom.predicate):
                yield from nodes
            else:
                yield Node(Part.CANDIDATE, rule_text(rule), tuple(nodes), source=place(rule.span))

    def _furthest(self, rule: Rule, start: Proof) -> tuple[Proof, Condition | None]:
        """The most conditions that are met together or may still be, and the first that fails after them."""
        best: tuple[int, Proof, Condition | None] = (-1, start, None)

        def go(body: list[Condition], so_far: Proof) -> None:
            nonlocal best
            condition = self.prover.first(body, so_far.by) if body else None
            if len(so_far.nodes) > best[0]:
                best = len(so_far.nodes), so_far, condition
            if condition is None:
                return
            rest = [c for c in body if c is not condition]
            for proof in self.prover.condition(condition, so_far.by, rule.times, open_too=True):
                both = so_far.followed(proof)
                if both is not None:
                    go(rest, both)

        go(list(rule.body), start)
        return best[1], best[2]

    def _failing(self, condition: Condition, by: Substitution, levels: int) -> Node:
        if isinstance(condition, Test):
            return Node(Part.FAILS, f"{plain(str(by.test(condition)))}: it is false")
        atom = by.atom(replace(condition, negated=False))
        if condition.negated:
            proof = self.prover.best(atom)
            return Node(
                Part.FAILS, f"not {shown(atom)}: it is true", proof.nodes if proof else (), point(atom.time)
            )
        below = tuple(self.candidates(atom, levels - 1)) if levels > 1 else ()
        return Node(Part.FAILS, f"{shown(atom)}: {self.prover.absence(atom)}", below, point(atom.time))
