"""Random LARS programs that use more of the language, over streams of more kinds of values.

Texts that need quotes, numbers below zero and between whole ones, heads with two arguments and with computed ones,
points that are numbers or values, at-atoms without a window, windows by several variables, computations and negated
tests; rows twice, late, too late, taken back and put in again; timelines that begin elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from lars_programs import Fact, readable

from thalweg.language.program import Program
from thalweg.lars.stratify import stratify

INPUTS = ("a/0", "b/0", "p/1", "q/1", "r/2")
LEVELS = (("c/0", "c/1", "d/1"), ("e/0", "f/1", "k/2"), ("g/0", "h/1", "h/2"))
WORDS: tuple[str, ...] = ("ann", "Bob B", "it's", "a,b", "B", "")
NUMBERS: tuple[int | float, ...] = (1, 2, 2, 9, 10, -3, 1.5, 0)
WRITTEN = ("'Bob B'", "ann", "'it''s'", "''", "10", "2", "-3", "1.5")
Row = tuple[Fact, int, int]
"""A fact, when it arrives, and whether it comes (1) or goes (-1)."""


@dataclass
class Wide:
    """Writes the rules of one program."""

    random: Random
    loops: bool = False
    computing: float = 0.06
    """How many arguments are computed."""
    used: list[str] = field(default_factory=list)

    def pick(self, *items: str) -> str:
        return self.random.choice(items)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def window(self, atom: str) -> str:
        random = self.random
        past, future = random.randint(0, 4), random.randint(0, 3)
        sizes = self.pick(f"{past}", f"{past}", f"+{future}", f"{past}, +{future}")
        names = [n for n in ("X", "Y") if n in atom]
        kind = self.pick("time", "time", "hop", "tuple", "partition")
        if kind == "hop":
            return f"[{sizes} hop {random.randint(2, 4)}]"
        if kind == "tuple":
            return self.pick(f"[{past} #]", f"[{past} #]", f"[{past} #, +{future + 1} #]")
        if kind == "partition" and names:
            return f"[{past} # by {', '.join(names if self.chance(0.5) else names[:1])}]"
        return f"[{sizes}]"

    def argument(self) -> str:
        if self.chance(self.computing):
            return self.pick("X + 1", "Y - 2", "1 + X", "X * 2", "X mod 2", "2 + 7", "X + Y")
        return self.pick("X", "X", "X", "Y", "Y", "_", self.pick(*WRITTEN))

    def atom(self, names: tuple[str, ...]) -> str:
        name, arity = self.pick(*names).split("/")
        args = [self.argument() for _ in range(int(arity))]
        return f"{name}({', '.join(args)})" if args else name

    def literal(self, names: tuple[str, ...], same: tuple[str, ...] = ()) -> str:
        kind = self.pick("plain", "sometime", "sometime", "always", "at", "at", "bare")
        if kind == "plain":
            return self.atom(names + same)
        inner = self.atom(names)
        if kind == "at":
            point = self.pick("T", "T", "T", "T+1", "T-2", "3", "0", "Y")
            return f"{self.window(inner)} at({point}) {inner}"
        if kind == "bare":
            return f"at({self.pick('T', 'T+1', '2', 'S')}) {inner}"
        return f"{self.window(inner)} {kind} {inner}"

    def test(self) -> str:
        return self.pick(
            "X > 1", "not X > 1", "X \\= Y", "X = Y", "T > 3", "X =< Y", "T mod 2 = 0", "Z = X * 2", "Z is X + T",
            "X @< Y", "X @>= 'C'", "not X = 'Bob B'", "X \\== ann", "Z = 'Bob B'", "T - X > 1", "X / 2 < 1", "X =\\= 2",
            "Z = T // 2", "3 > 2", "Y = 1.5",
        )  # fmt: skip

    def aggregate(self) -> list[str]:
        function = self.pick("count", "count", "sum", "min", "max")
        counted = self.pick("q(N)", "q(N)", "r(X, N)", "r(Y, N)", "r(_, N)", "d(N)", "k(X, N)")
        if self.chance(self.computing):
            counted = self.pick("r(N * 2, N)", "r(N, N + 1)", "k(N, N * 2)", "r(X, N + 1)", "r(N mod 2, N)")
        value = self.pick("N", "N", "N * 2", "N - 1")
        if function == "count":
            value = "N"
        tests = self.pick("M > 1", "M < 2", "M = 2", "M >= 0", "")
        found = f"M = {function}({value}) over {self.window(counted)} {counted}"
        return [found, tests] if tests else [found]

    def rule(self, level: int) -> str:
        below = INPUTS + 2 * tuple(n for names in LEVELS[:level] for n in names)
        same = LEVELS[level]
        name, arity = self.pick(*same).split("/")
        body = [self.literal(below, same) for _ in range(self.random.randint(0 if self.chance(0.1) else 1, 2))]
        recursive = any(n.split("/")[0] == literal.split("(")[0] for n in same for literal in body)
        body += [f"not {self.literal(below)}" for _ in range(self.random.randint(0, 1))]
        if self.loops and self.chance(0.7):
            body.append(f"not {self.atom(same)}")
        if self.chance(0.2):
            body += self.aggregate()
        if self.chance(0.35):
            body.append(self.test())
        if not body:
            body = ["true"]
        values = ["X", "X", "Y", self.pick(*WRITTEN)]
        if not recursive:
            values += [v for v in ("T", "Z", "M", "S") if any(v in literal for literal in body)] * 2
            values += ["X + 1", "Y * 2", "T - 1"]
        args = [self.pick(*values) for _ in range(int(arity))]
        head = f"{name}({', '.join(args)})" if args else name
        if self.chance(0.3):
            head = f"at({self.pick('T', 'T', 'T+1', 'T+2', 'T-1', '4', 'S', 'T+X', 'Y')}) {head}"
        self.random.shuffle(body)
        return f"{head} if {', '.join(body)}."

    def choice(self, level: int) -> list[str]:
        """Two rules that exclude each other."""
        guard = self.pick("[2] sometime p(X)", "[3] sometime q(X)", "r(X, _)", "[1] at(T) p(X)", "[2 #] sometime q(X)")
        below = INPUTS + tuple(n for names in LEVELS[:level] for n in names)
        one, other = self.pick("c(X) d(X)", "d(X) c(1)", "c d(X)").split() if level == 0 else ("f(X)", "e")
        extra = f", {self.literal(below)}" if self.chance(0.5) else ""
        return [f"{one} if {guard}, not {other}.", f"{other} if {guard}{extra}, not {one}."]

    def program(self) -> Program:
        kept = ["program lars."]
        if self.chance(0.3):
            kept.append(self.pick("p(2).", "q(1). q(10).", "r('Bob B', 2). r(ann, -3).", "b.", "d(ann)."))
        for level in range(len(LEVELS)):
            for _ in range(self.random.randint(1 if level == 0 else 0, 2)):
                for _ in range(8):
                    both = self.loops and level < 2 and self.chance(0.3)
                    rules = self.choice(level) if both else [self.rule(level)]
                    if readable("\n".join([*kept, *rules])) is not None:
                        kept += rules
                        break
        program = readable("\n".join(kept))
        assert program is not None
        return program


def stream_of(
    random: Random, program: Program, start: int, last: int, kinds: dict[tuple[str, int], tuple[str, ...]]
) -> list[Row]:
    """Rows about what the program reads, some of it derived as well."""
    strata = stratify(program)
    read = sorted({e.atom for e in strata.edges} - strata.derived)
    names = 4 * read + sorted(strata.derived)
    rows: list[Row] = []
    words, numbers = random.sample(WORDS, 3), random.sample(NUMBERS, 4)
    for _ in range(random.choice([0, 3, 6, 12, 20]) if names else 0):
        name, arity = random.choice(names)
        args = tuple(
            random.choice(numbers) if kind == "number" or random.random() < 0.4 else random.choice(words)
            for kind in kinds[name, arity]
        )
        first = random.randint(start, last)
        for time in range(first, first + random.choice([1, 1, 1, 2, 4])):
            rows += _life(random, (time, name, args))
    random.shuffle(rows)
    return rows


def _life(random: Random, fact: Fact) -> list[Row]:
    came = fact[0] + random.choice([0, 0, 0, 0, -1, 1, 2, 3])
    found = [(fact, came, 1)]
    if random.random() < 0.1:
        found.append((fact, came + random.randint(0, 2), 1))
    if random.random() < 0.25:
        went = came + random.randint(0, 3)
        found.append((fact, went, -1))
        if random.random() < 0.4:
            found.append((fact, went + random.randint(0, 2), 1))
    return found
