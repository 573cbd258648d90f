"""Open answers by brute force: Definitions 5, 6, 19 and 20 over a small domain and a short timeline.

Every possible evolution of the stream (every subset of the input atoms over the given constants and times) is
written down, and the program's model is computed in all of them at once. A hypothetical answer is then a minimal set
of literals about the future that makes the goal true in every evolution that agrees with the history; evidence is a
minimal set of literals of the history that makes it true together with the hypotheses, whatever else happened.

A rule instance exists when all its atoms have times in ``[0, end]``.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.analysis.temporal import Time
from thalweg.answers.datalog import Datalog, Rule, Test, TimedAtom, read
from thalweg.language.program import Program
from thalweg.language.terms import Atom, Compound, Number, Term, Variable
from thalweg.reference.arithmetic import CONSTANTS, NoNumber, evaluate

Constant = str | int | float
Bools = npt.NDArray[np.bool_]
Binding = Mapping[str, Constant]


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """A ground atom; `time` is -1 for rigid predicates."""

    name: str
    args: tuple[Constant, ...]
    time: int

    def __str__(self) -> str:
        inside = [str(a) for a in self.args] + ([str(self.time)] if self.time >= 0 else [])
        return f"{self.name}({', '.join(inside)})"


@dataclass(frozen=True, slots=True, order=True)
class Assumption:
    """A ground literal of the input: the fact arrives, or it does not."""

    fact: Fact
    holds: bool = True

    def __str__(self) -> str:
        return str(self.fact) if self.holds else f"not {self.fact}"


Assumptions = frozenset[Assumption]


@dataclass(frozen=True, slots=True)
class GroundRule:
    """A rule instance; comparisons have been decided."""

    head: Fact
    positive: tuple[Fact, ...]
    negative: tuple[Fact, ...]


# --------------------------------------------------------------------------- grounding

_COMPARE: dict[str, Callable[[Constant, Constant], bool]] = {
    "<": operator.lt, ">": operator.gt, "=<": operator.le, ">=": operator.ge, "=:=": operator.eq, "=\\=": operator.ne,
    "=": operator.eq, "==": operator.eq, "\\=": operator.ne, "\\==": operator.ne, "is": operator.eq,
}  # fmt: skip


def value_of(term: Term, binding: Binding) -> Constant:
    """The constant that a term stands for under a binding."""
    match term:
        case Atom(name):
            return name
        case Number(value):
            return value
        case Variable(name):
            return binding[name]
        case Compound(functor, args):
            return evaluate((functor, *(value_of(a, binding) for a in args)))
        case _:
            raise ValueError(f"cannot evaluate {term}")


def _holds(test: Test, binding: Binding) -> bool:
    try:
        left, right = value_of(test.left, binding), value_of(test.right, binding)
        if test.op in {"<", ">", "=<", ">=", "=:=", "=\\=", "is"}:
            left, right = evaluate(left), evaluate(right)
        elif isinstance(test.left, Compound) or isinstance(test.right, Compound):
            left, right = (CONSTANTS.get(str(side), side) for side in (left, right))
    except NoNumber:
        return test.negated  # there is no value to compare
    return _COMPARE[test.op](left, right) != test.negated


def _time(time: Time | None, binding: Binding) -> int:
    if time is None:
        return -1
    return time.offset if time.variable is None else int(binding[time.variable]) + time.offset


def _fact(atom: TimedAtom, binding: Binding) -> Fact:
    return Fact(atom.predicate[0], tuple(value_of(a, binding) for a in atom.args), _time(atom.time, binding))


def _rule_variables(rule: Rule) -> tuple[list[str], list[str]]:
    atoms = [rule.head, *(c for c in rule.body if isinstance(c, TimedAtom))]
    plain = {a.name for atom in atoms for a in atom.args if isinstance(a, Variable)}
    times = {atom.time.variable for atom in atoms if atom.time is not None and atom.time.variable is not None}
    return sorted(plain), sorted(times)


def ground(datalog: Datalog, constants: Iterable[Constant], end: int) -> Iterator[GroundRule]:
    """Every instance of every rule whose atoms lie on the timeline and whose comparisons hold."""
    domain = list(constants)
    span = range(-_reach(datalog), end + _reach(datalog) + 1)
    for rule in itertools.chain.from_iterable(datalog.rules.values()):
        plain, times = _rule_variables(rule)
        atoms = [c for c in rule.body if isinstance(c, TimedAtom)]
        tests = [c for c in rule.body if isinstance(c, Test)]
        for values in itertools.product(*([domain] * len(plain)), *([span] * len(times))):
            binding = dict(zip([*plain, *times], values, strict=True))
            stamped = [a for a in (rule.head, *atoms) if a.time is not None]
            if all(0 <= _time(a.time, binding) <= end for a in stamped) and all(
                _holds(t, binding) for t in tests
            ):
                yield GroundRule(
                    _fact(rule.head, binding),
                    tuple(_fact(a, binding) for a in atoms if not a.negated),
                    tuple(_fact(a, binding) for a in atoms if a.negated),
                )


def _reach(datalog: Datalog) -> int:
    """How far a rule's time variable can lie from its atoms."""
    offsets = [
        abs(atom.time.offset)
        for rule in itertools.chain.from_iterable(datalog.rules.values())
        for atom in (rule.head, *(c for c in rule.body if isinstance(c, TimedAtom)))
        if atom.time is not None and atom.time.variable is not None
    ]
    return max(offsets, default=0)


# --------------------------------------------------------------------------- models


def _alternate(rules: list[GroundRule], inputs: Mapping[Fact, Bools], width: int) -> dict[Fact, Bools]:
    """The alternating fixpoint, in `width` streams at once: true atoms grow, possible atoms shrink."""
    true: dict[Fact, Bools] = dict(inputs)
    while True:
        possible = _least(rules, inputs, true, width)
        grown = _least(rules, inputs, possible, width)
        if all(np.array_equal(grown[f], true.get(f, np.zeros(width, np.bool_))) for f in grown):
            return grown
        true = grown


def _least(
    rules: list[GroundRule], inputs: Mapping[Fact, Bools], assumed: Mapping[Fact, Bools], width: int
) -> dict[Fact, Bools]:
    """The least model when negation is read in `assumed`."""
    nothing = np.zeros(width, np.bool_)
    truth = {fact: column.copy() for fact, column in inputs.items()}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            holds = np.ones(width, np.bool_)
            for fact in rule.positive:
                holds &= truth.get(fact, nothing)
            for fact in rule.negative:
                holds &= ~assumed.get(fact, nothing)
            known = truth.get(rule.head, nothing)
            if (holds & ~known).any():
                truth[rule.head] = known | holds
                changed = True
    return truth


class Evolutions:
    """All streams over the given constants and times (or the `streams` given), and what the program says in each."""

    def __init__(
        self,
        program: Program,
        constants: Iterable[Constant],
        end: int,
        streams: Sequence[Collection[Fact]] | None = None,
    ) -> None:
        datalog, problems = read(program)
        if problems:
            raise ValueError("; ".join(d.message for d in problems))
        self.datalog = datalog
        self.end = end
        self.constants = list(constants)
        self.atoms = sorted(self._input_atoms(), key=str)
        if streams is None:
            if len(self.atoms) > 18:
                raise ValueError(f"{len(self.atoms)} input atoms are too many to try every stream")
            self.width = 1 << len(self.atoms)
            numbers = np.arange(self.width)
            inputs = {atom: (numbers >> i & 1).astype(np.bool_) for i, atom in enumerate(self.atoms)}
        else:
            self.width = len(streams)
            inputs = {a: np.array([a in stream for stream in streams], np.bool_) for a in self.atoms}
        self.truth = _alternate(list(ground(datalog, self.constants, end)), inputs, self.width)
        self._nothing = np.zeros(self.width, np.bool_)

    def _input_atoms(self) -> Iterator[Fact]:
        for name, arity in self.datalog.inputs:
            for args in itertools.product(self.constants, repeat=arity - 1):
                for time in range(self.end + 1):
                    yield Fact(name, args, time)

    def holds(self, fact: Fact) -> Bools:
        """In which streams the fact is true."""
        return self.truth.get(fact, self._nothing)

    def goals(self, query: TimedAtom) -> Iterator[Fact]:
        """Every ground instance of the query on the timeline."""
        plain = sorted({a.name for a in query.args if isinstance(a, Variable)})
        times = [query.time.variable] if query.time is not None and query.time.variable is not None else []
        for values in itertools.product(
            *([self.constants] * len(plain)), *([range(self.end + 1)] * len(times))
        ):
            yield _fact(query, dict(zip([*plain, *times], values, strict=True)))

    def compatible(self, history: Iterable[Fact], now: int) -> Bools:
        """The streams that agree with the history up to and including `now`."""
        known = set(history)
        agree = np.ones(self.width, np.bool_)
        for atom in self.atoms:
            if atom.time <= now:
                agree &= self.holds(atom) == (atom in known)
        return agree

    def _agreeing(self, assumptions: Iterable[Assumption], within: Bools) -> Bools:
        agree = within.copy()
        for one in assumptions:
            agree &= self.holds(one.fact) == one.holds
        return agree

    def entails(self, assumptions: Iterable[Assumption], goal: Fact, within: Bools) -> bool:
        """True when the goal holds in every stream of `within` that agrees with the assumptions."""
        return bool(self.holds(goal)[self._agreeing(assumptions, within)].all())

    def hypothetical(self, goal: Fact, history: Iterable[Fact], now: int) -> set[Assumptions]:
        """Definition 19 (and 5, where no literal is negative): the minimal sets of hypotheses for the goal."""
        within = self.compatible(history, now)
        future = [a for a in self.atoms if a.time > now]
        choices = [[None, Assumption(a, True), Assumption(a, False)] for a in future]
        sets = (frozenset(x for x in pick if x is not None) for pick in itertools.product(*choices))
        return self._minimal(sets, goal, within)

    def _minimal(self, sets: Iterable[Assumptions], goal: Fact, within: Bools) -> set[Assumptions]:
        found: set[Assumptions] = set()
        for one in sorted(sets, key=len):
            if not any(smaller <= one for smaller in found) and self.entails(one, goal, within):
                found.add(one)
        return found

    def supported(
        self, goal: Fact, history: Iterable[Fact], now: int
    ) -> set[tuple[Assumptions, Assumptions]]:
        """Definition 20 (and 6): pairs of hypotheses and evidence, the evidence really needed."""
        known = set(history)
        anywhere = np.ones(self.width, np.bool_)
        past = [Assumption(a, a in known) for a in self.atoms if a.time <= now]
        found = set()
        for hypotheses in self.hypothetical(goal, known, now):
            if self.entails(hypotheses, goal, anywhere):
                continue
            within = self._agreeing(hypotheses, anywhere)
            subsets = (frozenset(c) for n in range(len(past) + 1) for c in itertools.combinations(past, n))
            found |= {(hypotheses, evidence) for evidence in self._minimal(subsets, goal, within) if evidence}
        return found

    def certain(self, query: TimedAtom, history: Iterable[Fact], now: int) -> set[Fact]:
        """The instances of the query that are true in every evolution."""
        within = self.compatible(history, now)
        return {goal for goal in self.goals(query) if self.holds(goal)[within].all()}
