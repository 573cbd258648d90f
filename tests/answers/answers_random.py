"""Random Temporal Datalog programs and streams, and the checks that every one of them must pass."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from answers_support import facts, ground_rows
from hypothesis import strategies as st

from thalweg import parse
from thalweg.answers.offline import check, plan
from thalweg.answers.plans import Plan
from thalweg.answers.reasoner import Reasoner
from thalweg.answers.stratify import dependencies
from thalweg.language.diagnostics import has_errors
from thalweg.language.program import Program
from thalweg.reference.answers import Evolutions, Fact

ATOMS = 10
"""How many input atoms a reference universe has at most: it knows every subset of them."""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program with one query: up to five rules, shifts into past and future, negation."""
    plain = draw(st.booleans())
    inputs = draw(st.sampled_from([("e",), ("e", "f"), ("e", "f")]))
    derived = ("p", "q", "r")

    def atom(name: str, shift: int, negated: bool = False) -> str:
        time = f"T{shift:+d}" if shift else "T"
        return ("not " if negated else "") + (f"{name}({time})" if plain else f"{name}(X, {time})")

    heads = draw(st.lists(st.sampled_from(derived), min_size=2, max_size=5))
    rules = []
    for head in heads:
        body = []
        for _ in range(draw(st.integers(1, 3))):
            name = draw(st.sampled_from([*inputs, *inputs, *heads]))
            body.append(atom(name, draw(st.sampled_from([-1, 0, 0, 1, 1, 2])), draw(st.integers(0, 9)) < 4))
        rules.append(f"{atom(head, draw(st.sampled_from([0, 0, 1, -1])))} :- {', '.join(body)}.")
    return f"query {atom(heads[0], 0)}.\n" + "\n".join(rules)


@dataclass
class Universe:
    """A program that the checker accepts, with all its possible streams."""

    text: str
    program: Program
    evolutions: Evolutions
    constants: list[str]
    end: int
    reach: dict[tuple[str, int], int]


def universe(text: str) -> Universe | None:
    """None when the program is refused or too large to be tried in full."""
    program = parse(text)
    if has_errors(check(program)):
        return None
    made = plan(program)
    inputs = len(made.datalog.inputs)
    for constants in [["a", "b"], ["a"]] if "X" in text else [["a"]]:
        end = min(6, ATOMS // (inputs * len(constants)) - 1) if inputs else -1
        if end >= 2:
            return Universe(text, program, Evolutions(program, constants, end), constants, end, _reach(made))
    return None


class Rich:
    """Programs over two constants and up to three variables: joins, constants, background, tests, projections.

    Made from a seed; too large to try every stream, so streams that agree with the actual one are sampled.
    """

    ARITIES = ("e", 1), ("g", 2), ("h", 2)

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.arity = dict(self.ARITIES) | {n: self.rng.choice((0, 1, 2)) for n in "pqr"}

    def text(self) -> str:
        inputs = self.rng.choice((["e", "g"], ["e", "g", "h"]))
        heads = [self.rng.choice("pqr") for _ in range(self.rng.randint(2, 5))]
        rules = [self._rule(head, [*inputs, *inputs, *heads]) for head in heads]
        if any("site" in rule for rule in rules):
            rules += ["site(a, north).", "site(b, south).", "site(b, north)."]
        asked = [
            self.rng.choice("ab") if self.rng.random() < 0.1 else v for v in "XY"[: self.arity[heads[0]]]
        ]
        return f"query {self._atom(heads[0], 0, asked)}.\n" + "\n".join(rules)

    def _atom(self, name: str, shift: int, args: list[str], negated: bool = False) -> str:
        time = f"T{shift:+d}" if shift else "T"
        return ("not " if negated else "") + f"{name}({', '.join([*args, time])})"

    def _rule(self, head: str, names: list[str]) -> str:
        rng = self.rng
        variables = rng.choice((["X"], ["X", "Y"], ["X", "Y"], ["X", "Y", "Z"]))
        body = []
        for _ in range(rng.randint(1, 3)):
            name, negated = rng.choice(names), rng.random() < 0.35
            args = [
                rng.choice("ab") if rng.random() < 0.15 else rng.choice(variables)
                for _ in range(self.arity[name])
            ]
            if negated and args and rng.random() < 0.1:
                args[-1] = "_"
            body.append(self._atom(name, rng.choice((-1, 0, 0, 1, 1, 2)), args, negated))
        used = [v for v in variables if any(v in literal for literal in body)] or ["a"]
        args = [
            rng.choice("ab") if rng.random() < 0.12 else rng.choice(used) for _ in range(self.arity[head])
        ]
        if len(used) > 1 and rng.random() < 0.15:
            body.append(f"{used[0]} \\= {used[1]}")
        if rng.random() < 0.12:
            body.append(f"site({used[0]}, {rng.choice(('K', 'north'))})")
        if rng.random() < 0.08:
            body.append("T mod 2 =:= 0")
        return f"{self._atom(head, rng.choice((0, 0, 1, -1)), args)} :- {', '.join(body)}."


def sampled(text: str, lateness: int, rng: random.Random) -> tuple[Universe, list[Arrival]] | None:
    """A stream for the program, with the evolutions that agree with it at some clock time, a few of each."""
    program = parse(text)
    if has_errors(check(program)):
        return None
    made = plan(program)
    widest = max((len(t.variables()) for q in made.queries for t in q.templates), default=0)
    if any(q.loose for q in made.queries) or not made.datalog.inputs or widest > 4:
        return None
    end, constants = rng.choice((3, 4)), ["a", "b"]
    atoms = sorted(Evolutions(program, constants, end, []).atoms)
    density = rng.choice((0.1, 0.3, 0.6))
    stream = [a for atom in atoms if rng.random() < density for a in _life(atom, lateness, rng)]
    streams, known = [], set[Fact]()
    for clock in range(end + lateness + 1):
        known -= {a.fact for a in stream if a.at == clock and a.op < 0}
        known |= {a.fact for a in stream if a.at == clock and a.op > 0}
        free = [a for a in atoms if a.time > clock - lateness and a not in known]
        for share in (0.0, 0.1, 0.1, 0.3, 0.3, 0.6, 0.6, 0.9):
            streams += [known | {a for a in free if rng.random() < share} for _ in range(2)]
    streams.append(set(known))
    everything = [*constants, "zz", *(["north", "south"] if "site" in text else [])]
    world = Evolutions(program, everything, end, streams)
    return Universe(text, program, world, everything, end, _reach(made)), stream


def _life(atom: Fact, lateness: int, rng: random.Random) -> list[Arrival]:
    latest = atom.time + lateness
    came = rng.randint(atom.time, latest)
    found = [Arrival(came, 1, atom)]
    if lateness and rng.random() < 0.35:
        went = rng.randint(came, latest)
        found.append(Arrival(went, -1, atom))
        if went < latest and rng.random() < 0.5:
            found.append(Arrival(rng.randint(went + 1, latest), 1, atom))
    return found


def _reach(made: Plan) -> dict[tuple[str, int], int]:
    """How far ahead of a predicate its input can lie, as long as it is not much."""
    reach: dict[tuple[str, int], int] = {}
    for _ in range(8):
        for d in dependencies(made.datalog):
            reach[d.source] = max(reach.get(d.source, 0), min(d.step, 50) + reach.get(d.target, 0))
    return reach


@dataclass(frozen=True)
class Arrival:
    """A row of the stream: when it arrives, whether it inserts or retracts, what."""

    at: int
    op: int
    fact: Fact


def arrivals(atoms: list[Fact], lateness: int) -> st.SearchStrategy[list[Arrival]]:
    """Some of the atoms, each arriving within the lateness, some retracted, some retracted and inserted again."""
    lives = [st.one_of(st.just([]), _lives(atom, atom.time + lateness)) for atom in atoms]
    return st.tuples(*lives).map(lambda found: [a for life in found for a in life])


@st.composite
def _lives(draw: st.DrawFn, atom: Fact, latest: int) -> list[Arrival]:
    came = draw(st.integers(atom.time, latest))
    found = [Arrival(came, 1, atom)]
    if latest > atom.time and draw(st.integers(0, 2)) == 0:
        went = draw(st.integers(came, latest))
        found.append(Arrival(went, -1, atom))
        if went < latest and draw(st.booleans()):
            found.append(Arrival(draw(st.integers(went + 1, latest)), 1, atom))
    return found


class Run:
    """A reasoner run over a stream, checked at every clock step against all possible evolutions."""

    def __init__(self, world: Universe, stream: list[Arrival], lateness: int) -> None:
        self.world = world
        self.stream = stream
        self.lateness = lateness
        self.reasoner = Reasoner(world.program, lateness)
        self.known: set[Fact] = set()
        self.folded: dict[tuple[object, ...], int] = {}
        self.certain: dict[Fact, bool] = {}

    def step(self, clock: int) -> None:
        """Bring in what arrives now, and check everything."""
        now = [a for a in self.stream if a.at == clock]
        for a in now:
            self.reasoner.accept(facts((a.fact.name, *a.fact.args, a.fact.time), arrival=clock, op=a.op))
        self.known -= {a.fact for a in now if a.op < 0}
        self.known |= {a.fact for a in now if a.op > 0}
        revision = self.reasoner.advance(clock)
        self._check_rows(clock)
        self._check_tables(revision, clock)

    def _possible(self, clock: int) -> np.ndarray:  # type: ignore[type-arg]
        """The evolutions in which everything known stays, and everything closed is as it is."""
        all_of = self.world.evolutions
        found = np.ones(all_of.width, np.bool_)
        for atom in all_of.atoms:
            if atom.time <= clock - self.lateness:
                found &= all_of.holds(atom) == (atom in self.known)
            elif atom in self.known:
                found &= all_of.holds(atom)
        return found

    def _check_rows(self, clock: int) -> None:
        """Theorem 7: a row's hypotheses suffice in every evolution, and every evolution's answers have a row."""
        all_of, possible = self.world.evolutions, self._possible(clock)
        closed = clock - self.lateness
        for number, query in enumerate(self.reasoner.plan.queries):
            margin = max(query.delay or 0, self.world.reach.get(query.goal.predicate, 0))
            covered: dict[Fact, np.ndarray] = {}  # type: ignore[type-arg]
            proven = set()
            for row in ground_rows(self.reasoner, number, self.world.constants, min(clock, self.world.end)):
                if not row.needed:
                    proven.add(row.goal)
                if row.goal.time + margin <= self.world.end:
                    agree = all_of._agreeing(row.needed, possible)
                    assert not (agree & ~all_of.holds(row.goal)).any(), f"unsound at {clock}: {row}"
                    covered[row.goal] = covered.get(row.goal, np.zeros(all_of.width, np.bool_)) | agree
            for goal in all_of.goals(query.goal):
                alive = goal.time <= clock and goal.time + self.reasoner.engine.retire[number] > closed
                if number == 0 and not self.lateness and (alive or goal in proven):
                    self.certain[goal] = goal in proven
                if alive and goal.time + margin <= self.world.end:
                    missing = possible & all_of.holds(goal)
                    if goal in covered:
                        missing &= ~covered[goal]
                    assert not missing.any(), f"incomplete at {clock}: {goal} of {query.name}"

    def _check_tables(self, revision: object, clock: int) -> None:
        """Folding the changes gives the open answers; answers come no later than the delay says."""
        for row in revision["changes"].to_pylist():  # type: ignore[index]
            key = (row["status"], row["answer"])
            if row["status"] == "open":
                key += (tuple(row["evidence"]), tuple(row["needed"]))
            self.folded[key] = self.folded.get(key, 0) + (1 if row["op"] == "insert" else -1)
            assert self.folded[key] in (0, 1), f"changes at {clock} do not fold: {row}"
        standing = sorted(
            (r["answer"], tuple(r["evidence"]), tuple(r["needed"])) for r in revision["open"].to_pylist()
        )  # type: ignore[index]
        assert standing == sorted(k[1:] for k, v in self.folded.items() if v and k[0] == "open")
        delay = self.reasoner.plan.queries[0].delay or 0
        for row in revision["answers"].to_pylist():  # type: ignore[index]
            assert row["time_known"] <= row["time"] + max(delay, 0) + self.lateness

    def check_end(self) -> None:
        """The certain answers are those of a plain evaluation of the completed stream."""
        all_of, query = self.world.evolutions, self.reasoner.plan.queries[0]
        actual = all_of.compatible(self.known, self.world.end)
        margin = max(query.delay or 0, self.world.reach.get(query.goal.predicate, 0))
        reported = {k[1] for k, v in self.folded.items() if v and k[0] == "certain"}
        for goal in all_of.goals(query.goal):
            if goal.time + margin <= self.world.end:
                holds = bool(all_of.holds(goal)[actual].all())
                if str(goal) in reported:
                    assert holds, f"{goal} is not true"
                if holds and not any("X" in answer or "Y" in answer for answer in reported):
                    assert str(goal) in reported, f"{goal} is missing"
                if goal in self.certain:
                    assert holds or not self.certain[goal], f"{goal} was certain"


def run(world: Universe, stream: list[Arrival], lateness: int) -> Run:
    """The whole stream, checked at every step."""
    made = Run(world, stream, lateness)
    for clock in range(world.end + lateness + 1):
        made.step(clock)
    made.check_end()
    return made
