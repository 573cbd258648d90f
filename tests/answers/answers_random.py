"""Random Temporal Datalog programs and streams, and the checks that every one of them must pass."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
from thalweg.reference.answers import Assumption, Constant, Evolutions, Fact

ATOMS = 10
"""How many input atoms a reference universe has at most: it knows every subset of them."""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program with one query: up to five rules, shifts into past and future, negation, facts at given times."""
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
    for name in draw(st.lists(st.sampled_from(heads), max_size=2)):
        time = draw(st.integers(0, 3))
        rules.append(f"{name}({time})." if plain else f"{name}(a, {time}).")
    return f"query {atom(heads[0], 0)}.\n" + "\n".join(rules)


@dataclass
class Universe:
    """A program that the checker accepts, with all its possible streams."""

    text: str
    program: Program
    evolutions: Evolutions
    constants: list[Constant]
    end: int
    reach: dict[tuple[str, int], int]


def universe(text: str) -> Universe | None:
    """None when the program is refused or too large to be tried in full."""
    program = parse(text)
    if has_errors(check(program)):
        return None
    made = plan(program)
    inputs = len(made.datalog.inputs)
    choices: list[list[Constant]] = [["a", "b"], ["a"]] if "X" in text else [["a"]]
    for constants in choices:
        end = min(6, ATOMS // (inputs * len(constants)) - 1) if inputs else -1
        if end >= 2:
            return Universe(text, program, Evolutions(program, constants, end), constants, end, _reach(made))
    return None


class Rich:
    """Programs over two constants and up to three variables: several queries, joins, constants, background,
    comparisons and arithmetic, projections.

    Made from a seed; too large to try every stream, so streams that agree with the actual one are sampled.
    """

    ARITIES = ("e", 1), ("g", 2), ("h", 2)

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.arity = dict(self.ARITIES) | {n: self.rng.choice((0, 1, 2)) for n in "pqr"}
        self.numeric = seed % 5 == 1
        pairs = (("1", "2"), ("-1", "1.5")) if self.numeric else (("a", "b"), ("'Bob B'", "b"))
        self.constants = self.rng.choice(pairs)

    def text(self) -> str:
        rng = self.rng
        inputs = rng.choice((["e", "g"], ["e", "g", "h"]))
        heads = [rng.choice("pqr") for _ in range(rng.randint(2, 5))]
        rules = [self._rule(head, [*inputs, *inputs, *heads]) for head in heads]
        while rng.random() < 0.25:
            name = rng.choice(heads)
            rules.append(self._fact(name, rng.randint(0, 3)))
        if any("site" in rule for rule in rules):
            one, two = self.constants
            rules += [f"site({one}, north).", f"site({two}, south).", f"site({two}, north)."]
        asked = [heads[0], *(h for h in dict.fromkeys(heads[1:]) if h != heads[0] and rng.random() < 0.3)]
        return "\n".join([*map(self._query, asked), *rules])

    def _fact(self, name: str, time: int) -> str:
        args = [self.rng.choice(self.constants) for _ in range(self.arity[name])]
        return f"{name}({', '.join([*args, str(time)])})."

    def _query(self, name: str) -> str:
        asked = [
            self.rng.choice(self.constants) if self.rng.random() < 0.1 else v
            for v in "XY"[: self.arity[name]]
        ]
        return f"query {self._atom(name, 0, asked)}."

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
                rng.choice(self.constants) if rng.random() < 0.15 else rng.choice(variables)
                for _ in range(self.arity[name])
            ]
            if negated and args and rng.random() < 0.1:
                args[-1] = "_"
            atom = self._atom(name, rng.choice((-1, 0, 0, 1, 1, 2)), args, negated)
            if rng.random() < 0.06:
                atom = f"{atom[: atom.rindex('T')]}{rng.randint(0, 2)})"
            elif not negated and rng.random() < 0.08:
                atom = f"({atom} ; {self._atom(name, rng.choice((0, 1)), args[::-1])})"
            body.append(atom)
        used = [v for v in variables if any(v in literal for literal in body)] or [self.constants[0]]
        args = [
            rng.choice(self.constants) if rng.random() < 0.12 else rng.choice(used)
            for _ in range(self.arity[head])
        ]
        if len(used) > 1 and rng.random() < 0.15:
            body.append(f"{used[0]} \\= {used[1]}")
        if rng.random() < 0.12:
            body.append(f"site({used[0]}, {rng.choice(('K', 'north'))})")
        if rng.random() < 0.08:
            body.append(rng.choice(("T mod 2 =:= 0", "T > 1", "not T =:= 2")))
        if self.numeric and rng.random() < 0.6:
            body.append(self._comparison(used))
        return f"{self._atom(head, rng.choice((0, 0, 1, -1)), args)} :- {', '.join(body)}."

    def _comparison(self, used: list[str]) -> str:
        one, other = self.rng.choice(used), self.rng.choice(used)
        forms = (
            f"{one} > 1", f"{one} =< {other}", f"{one} + 1 =:= {other}", f"{one} is {other} + 1", f"{one} mod 2 =:= 0",
            f"{one} * 2 >= {other} + T", f"{one} \\= 2", f"{one} - {other} < 1", f"not {one} > {other}",
            f"{one} / 2 < 0.6",
        )  # fmt: skip
        return self.rng.choice(forms)


def sampled(made: Rich, lateness: int, rng: random.Random) -> tuple[Universe, list[Arrival]] | None:
    """A stream for a program, with the evolutions that agree with it at some clock time, a few of each."""
    text = made.text()
    program = parse(text)
    if has_errors(check(program)):
        return None
    planned = plan(program)
    widest = max((len(t.variables()) for q in planned.queries for t in q.templates), default=0)
    if any(q.loose for q in planned.queries) or not planned.datalog.inputs or widest > 4:
        return None
    end = rng.choice((3, 4))
    constants: list[Constant] = [constant_of(c) for c in made.constants]
    atoms = Evolutions(program, constants, end, []).atoms
    density = rng.choice((0.1, 0.3, 0.6))
    stream = [a for atom in atoms if rng.random() < density for a in life_of(atom, lateness, rng)]
    streams, known = [], set[Fact]()
    for clock in range(end + lateness + 1):
        settle(known, stream, clock, lateness)
        free = [a for a in atoms if a.time > clock - lateness and a not in known]
        for share in (0.0, 0.1, 0.1, 0.3, 0.3, 0.6, 0.6, 0.9):
            streams += [known | {a for a in free if rng.random() < share} for _ in range(2)]
    streams.append(set(known))
    everything = [*constants, "zz", *(["north", "south"] if "site" in text else [])]
    computed = {c + more for c in constants if not isinstance(c, str) for more in (1, 2)}
    everything += sorted(computed - {*constants}) if made.numeric else []
    world = Evolutions(program, everything, end, streams)
    return Universe(text, program, world, everything, end, _reach(planned)), stream


def life_of(atom: Fact, lateness: int, rng: random.Random) -> list[Arrival]:
    latest = atom.time + lateness
    came = rng.randint(max(0, atom.time - 2) if rng.random() < 0.2 else atom.time, latest)
    found = [Arrival(came, 1, atom)]
    if rng.random() < 0.1:
        found.append(Arrival(rng.randint(came, latest), 1, atom))
    if rng.random() < 0.05:
        found.append(Arrival(rng.randint(latest + 1, latest + 2), rng.choice((1, -1)), atom))
    if came < latest and rng.random() < 0.35:
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


def settle(known: set[Fact], stream: list[Arrival], clock: int, lateness: int) -> None:
    """Add and take away what takes effect at a clock time: at its arrival, not before its time, and not too late. Of
    rows that arrive together retractions come first."""
    now = [a for a in stream if max(a.at, a.fact.time) == clock <= a.fact.time + lateness]
    for a in sorted(now, key=lambda a: (a.at, a.op)):
        (known.add if a.op > 0 else known.discard)(a.fact)


def arrivals(atoms: list[Fact], lateness: int) -> st.SearchStrategy[list[Arrival]]:
    """Some of the atoms, each arriving within the lateness, some retracted, some retracted and inserted again."""
    lives = [st.one_of(st.just([]), _lives(atom, atom.time + lateness)) for atom in atoms]
    return st.tuples(*lives).map(lambda found: [a for life in found for a in life])


@st.composite
def _lives(draw: st.DrawFn, atom: Fact, latest: int) -> list[Arrival]:
    came = draw(st.integers(max(0, atom.time - draw(st.sampled_from([0, 0, 2]))), latest))
    found = [Arrival(came, 1, atom)]
    if latest > came and draw(st.integers(0, 2)) == 0:
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
        self.told: dict[tuple[object, ...], dict[str, Any]] = {}
        self.proven: set[tuple[str, Fact]] = set()
        self.certain: dict[Fact, bool] = {}

    def step(self, clock: int) -> None:
        """Bring in what arrives now, and check everything."""
        now = [a for a in self.stream if a.at == clock]
        for a in now:
            self.reasoner.accept(facts((a.fact.name, *a.fact.args, a.fact.time), arrival=clock, op=a.op))
        settle(self.known, self.stream, clock, self.lateness)
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
        self.proven.clear()
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
            self.proven |= {(query.name, goal) for goal in proven if query.main}
            for goal in all_of.goals(query.goal):
                alive = goal.time <= clock and goal.time + self.reasoner.engine.retire[number] > closed
                if query.main and not self.lateness and (alive or goal in proven):
                    self.certain[goal] = goal in proven
                if alive and goal.time + margin <= self.world.end:
                    missing = possible & all_of.holds(goal)
                    if goal in covered:
                        missing &= ~covered[goal]
                    assert not missing.any(), f"incomplete at {clock}: {goal} of {query.name}"

    def _check_tables(self, revision: object, clock: int) -> None:
        """Folding the changes gives the open answers; answers come no later than the delay says."""
        for row in revision["changes"].to_pylist():  # type: ignore[index]
            key = (row["query"], row["status"], row["answer"])
            key += (row["where"],) if row["status"] == "certain" else (tuple(row["evidence"]), tuple(row["needed"]))
            self.folded[key] = self.folded.get(key, 0) + (1 if row["op"] == "insert" else -1)
            self.told[key] = row
            assert self.folded[key] in (0, 1), f"changes at {clock} do not fold: {row}"
            assert self.lateness or row["change"] != "withdrawn", f"withdrawn at {clock}: {row}"
        standing = sorted(
            (r["query"], r["answer"], tuple(r["evidence"]), tuple(r["needed"]))
            for r in revision["open"].to_pylist()  # type: ignore[index]
        )
        folded = [(k[0], *k[2:]) for k, v in self.folded.items() if v and k[1] == "open"]
        assert standing == sorted(folded)  # type: ignore[type-var]
        untold = self.proven - self._told_certain()
        assert not untold, f"certain at {clock} and not told: {untold}"
        delays = {q.name: max(q.delay or 0, 0) for q in self.reasoner.plan.queries if q.main}
        for row in revision["answers"].to_pylist():  # type: ignore[index]
            assert row["time_known"] <= row["time"] + delays[row["query"]] + self.lateness
        possible = self._possible(clock)
        for table in ("answers", "open"):
            for row in revision[table].to_pylist():  # type: ignore[index]
                self._check_written(row, possible)
        self._check_undecided(revision["open"].to_pylist())  # type: ignore[index]

    def _check_undecided(self, rows: list[dict[str, Any]]) -> None:
        """No open answer is about nobody but those whom one certain answer means: nothing is needed for them."""
        told = [
            {(row["query"], goal) for goal, _ in instances(row, self.world.constants)}
            for row in (self.told[k] for k, v in self.folded.items() if v and k[1] == "certain")
        ]
        for row in rows:
            goals = {(row["query"], goal) for goal, _ in instances(row, self.world.constants)}
            if goals and row["where"] is None:
                assert not any(goals <= one for one in told), f"certain, and open: {row}"

    def _told_certain(self) -> set[tuple[str, Fact]]:
        """The certain answers by constant, as the changes tell them."""
        rows = [self.told[k] for k, v in self.folded.items() if v and k[1] == "certain"]
        return {(row["query"], goal) for row in rows for goal, _ in instances(row, self.world.constants)}

    def _check_written(self, row: dict[str, Any], possible: np.ndarray) -> None:  # type: ignore[type-arg]
        """What a table says is true of every constant that it does not except."""
        all_of = self.world.evolutions
        query = next(q for q in self.reasoner.plan.queries if q.main and q.name == row["query"])
        margin = max(query.delay or 0, self.world.reach.get(query.goal.predicate, 0))
        if row["time"] + margin <= self.world.end:
            for goal, needed in instances(row, self.world.constants):
                agree = all_of._agreeing(needed, possible)
                assert not (agree & ~all_of.holds(goal)).any(), f"{goal} does not follow: {row}"

    def check_end(self) -> None:
        """The certain answers are those of a plain evaluation of the completed stream."""
        all_of = self.world.evolutions
        actual = all_of.compatible(self.known, self.world.end)
        told = self._told_certain()
        for query in (q for q in self.reasoner.plan.queries if q.main):
            margin = max(query.delay or 0, self.world.reach.get(query.goal.predicate, 0))
            for goal in all_of.goals(query.goal):
                if goal.time + margin <= self.world.end:
                    holds = bool(all_of.holds(goal)[actual].all())
                    assert ((query.name, goal) in told) == holds, f"{goal} is {'missing' if holds else 'not true'}"
                    if goal in self.certain:
                        assert holds or not self.certain[goal], f"{goal} was certain"


_LITERAL = re.compile(r"(not )?(\w+)\(([^()]*)\)")
_ANY = re.compile(r"_|V_?\d+")
_EXCEPTION = re.compile(r"\(([^()]*)\) != \(([^()]*)\)|(\w+) != ('[^']*'|[-.\w]+)")


def instances(row: dict[str, Any], constants: Sequence[Constant]) -> Iterator[tuple[Fact, list[Assumption]]]:
    """A row of `answers` or `open` over the constants: the goal, and the literals that are still needed. Rows that wait
    for a comparison or for the background are left out."""
    literals = [row["answer"], *(row.get("needed") or ())]
    read = [_LITERAL.fullmatch(text) for text in literals]
    if not all(read) or any("site(" in text for text in literals):
        return
    parts = [(m[1], m[2], [a for a in m[3].split(", ") if a]) for m in read if m is not None]
    names = sorted({a for _, _, args in parts for a in args if a[0].isupper() and not _ANY.fullmatch(a)})
    for values in itertools.product(constants, repeat=len(names)):
        given = dict(zip(names, values, strict=True))
        if _is_excepted(row["where"], given):
            continue
        found = []
        for negated, name, args in parts:
            for known in _with_all(args, given, constants):
                *plain, time = [known[a] if a in known else constant_of(a) for a in args]
                found.append(Assumption(Fact(name, tuple(plain), int(time)), not negated))
        yield found[0].fact, found[1:]


def _with_all(
    args: list[str], given: dict[str, Constant], constants: Sequence[Constant]
) -> Iterator[dict[str, Constant]]:
    """What variables stand for, with every constant for those of ``not r(_, T)``: there is none."""
    args[:] = [f"V_{place}" if a == "_" else a for place, a in enumerate(args)]
    free = sorted({a for a in args if _ANY.fullmatch(a)})
    for values in itertools.product(constants, repeat=len(free)):
        yield given | dict(zip(free, values, strict=True))


def _is_excepted(where: str | None, given: dict[str, Constant]) -> bool:
    """True when the constraints (``X != a``, ``(X, Y) != (a, b)``) exclude the values."""
    for one in _EXCEPTION.findall(where or ""):
        left, right = (one[0] or one[2]).split(", "), (one[1] or one[3]).split(", ")
        if all(given.get(name) == constant_of(value) for name, value in zip(left, right, strict=True)):
            return True
    return False


def constant_of(text: str) -> Constant:
    """A constant as it is written."""
    try:
        number = float(text)
    except ValueError:
        return text.strip("'")
    return int(number) if number.is_integer() else number


def run(world: Universe, stream: list[Arrival], lateness: int) -> Run:
    """The whole stream, checked at every step."""
    made = Run(world, stream, lateness)
    for clock in range(world.end + lateness + 1):
        made.step(clock)
    made.check_end()
    return made


def final(world: Universe, stream: list[Arrival], lateness: int, pace: int) -> tuple[object, ...]:
    """How things stand at the end: certain and open answers by constant. The clock moves in strides of `pace`,
    and in between the state goes through a snapshot."""
    reasoner = Reasoner(world.program, lateness)
    last = world.end + lateness
    certain: dict[tuple[str, ...], dict[str, Any]] = {}
    for before, clock in itertools.pairwise([-1, *range(pace - 1, last, pace), last]):
        for a in stream:
            if before < a.at <= clock:
                row = (a.fact.name, *a.fact.args, a.fact.time)
                reasoner.accept(facts(row, arrival=a.at, op=a.op))
        revision = reasoner.advance(clock)
        for row in revision["changes"].to_pylist():
            if row["status"] == "certain" and row["op"] == "insert":
                certain[row["query"], row["answer"], row["where"]] = row
            elif row["status"] == "certain":
                del certain[row["query"], row["answer"], row["where"]]
        resumed = Reasoner(world.program, lateness)
        resumed.restore(reasoner.snapshot())
        reasoner = resumed
    standing = set()
    for row in revision["open"].to_pylist():
        found = {(row["query"], str(g), tuple(map(str, needed))) for g, needed in instances(row, world.constants)}
        standing |= found or {(row["query"], row["answer"], (row["where"], *row["needed"]))}
    everybody = {goal for row in certain.values() for goal, _ in instances(row, world.constants)}
    return sorted(map(str, everybody)), sorted(standing, key=str)


def reordered(stream: list[Arrival], lateness: int, rng: random.Random) -> list[Arrival]:
    """Another stream with the same facts in the end, each arriving (or gone) at some other time within the lateness."""
    there = in_the_end(stream, lateness)
    found = []
    for fact in dict.fromkeys(a.fact for a in stream):
        life = life_of(fact, lateness, rng)
        if (fact in in_the_end(life, lateness)) == (fact in there):
            found += life
        elif fact in there:
            found.append(Arrival(fact.time + lateness, 1, fact))
    return found


def in_the_end(stream: list[Arrival], lateness: int) -> set[Fact]:
    """What is known after the stream."""
    known = set[Fact]()
    for clock in sorted({max(a.at, a.fact.time) for a in stream}):
        settle(known, stream, clock, lateness)
    return known


_ABSOLUTE = re.compile(r"\bT (?:mod|>|=:=)|\+ T\b|[(,] ?\d+\)")
"""What ties a program to the numbers of its times."""
_LAST = re.compile(r"(?<![\w-])(-?\d+)\)\Z")


def told_from(made: Rich, start: int, lateness: int, rng: random.Random) -> list[object] | None:
    """What a program tells of a random stream that begins at a given time, with all times counted from there. The
    reasoner is stopped once. None for programs that say which times they mean."""
    text = made.text()
    program = parse(text)
    if _ABSOLUTE.search(text) or has_errors(check(program)) or any(q.loose for q in plan(program).queries):
        return None
    found: list[object] = []
    reasoner = Reasoner(program, lateness, start=start)
    atoms = Evolutions(program, [constant_of(c) for c in made.constants], 5, []).atoms
    stream = [a for atom in atoms if rng.random() < 0.3 for a in life_of(atom, lateness, rng)]
    stop = rng.randint(0, 5)

    def moved(value: object) -> object:
        if isinstance(value, list):
            return [moved(v) for v in value]
        return _LAST.sub(lambda m: f"{int(m[1]) - start})", value) if isinstance(value, str) else value

    for clock in range(7 + lateness):
        for a in stream:
            if a.at == clock:
                row = (a.fact.name, *a.fact.args, a.fact.time + start)
                reasoner.accept(facts(row, arrival=clock + start, op=a.op))
        if clock == stop:
            resumed = Reasoner(program, lateness, start=start)
            resumed.restore(reasoner.snapshot())
            reasoner = resumed
        revision = reasoner.advance(clock + start)
        for name in ("changes", "answers", "open", "rejected"):
            for row in revision[name].to_pylist():
                told = {k: moved(v) for k, v in row.items() if k != "query"}
                for column in ("at", "as_of", "time", "time_known", "query_time", "decided_by"):
                    if told.get(column) is not None:
                        told[column] -= start
                found.append((name, clock, told))
    return found
