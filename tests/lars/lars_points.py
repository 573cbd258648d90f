"""Random LARS programs that compute with the points of heads, some of which last long or for ever."""

from __future__ import annotations

from random import Random

from lars_programs import Fact, readable

from thalweg.language.program import Program
from thalweg.lars.stratify import stratify

LONG = (
    "p if [{n}] sometime a.",
    "p if not [{k}] sometime b.",
    "p(X) if [{n}] sometime q(X).",
    "p(X) if [{n}] sometime q(X), not [{k}] sometime b.",
    "at(T+{k}) p if [{n}] at(T) a.",
)
WINDOWS = ("0", "1", "3", "2, +1", "+2", "3 hop 2", "2 hop 3", "1, +1 hop 3")
LEVELS = "ruv"
ABOVE = (
    "o if p, not x.",
    "o if [0] at(T) x, T mod 5 < 3.",
    "o(T mod 4) if [1] at(T) t(1, 3).",
    "o if t(1, 1), not [2] sometime b.",
    "o(N) if N = count(Y) over [0] x(Y).",
    "o if [2 #] sometime x.",
    "o if y, s(N), N > 3.",
)
"""Rules over what `entangled` makes."""


def value(random: Random) -> str:
    """An expression over the point T."""
    m, k = random.choice([2, 3, 7, 50, 700, 1500]), random.randint(1, 2000)
    forms = ["T", "T", f"T + {k}", f"T mod {m}", f"T // {m}", "T * T", f"abs(T - {k})", f"min(T, {k})"]
    forms += [f"(T // {m}) mod {random.randint(2, 4)}", f"T * {random.randint(2, 4)} mod {m}"]
    return random.choice(forms)


def comparison(random: Random, names: list[str]) -> str:
    other = random.choice([str(random.randint(0, 8)), str(random.randint(0, 3000)), *names])
    return f"{value(random)} {random.choice(['<', '>=', '=:=', '=', '>'])} {other}"


def positive(random: Random, below: str) -> str:
    """A literal that may bring in another point or value."""
    forms = ["[{n}] sometime q(X)", "[{n}] at(S) a", "[{n}] at(T) q(X)", "[{n}] at(T-{k}) q(X)"]
    forms += ["X = count(Y) over [{n}] q(Y)", "[2 #] at(S) q(X)", "[{n}] sometime q(X), X = max(Z) over [{n}] q(Z)"]
    return random.choice(forms + [f"{c}(X)" for c in below] + [f"[2] at(S) {c}" for c in below])


def rule(random: Random, level: int) -> str:
    below = LEVELS[:level]
    atom = random.choice(["p", "p", "p(X)", *below, *(f"{c}(X)" for c in below)])
    mode = random.choice(["at(T)"] * 6 + ["sometime", "always"])
    body = [f"[{random.choice(WINDOWS)}] {mode} {atom}"]
    if random.random() < 0.3:
        body.append(positive(random, below))
    names = [n for n in "XS" if any(f"({n})" in x for x in body)]
    timed = any("(T" in x for x in body)
    if timed and random.random() < 0.75:
        body += [comparison(random, names) for _ in range(random.randint(1, 2))]
    if random.random() < 0.25:
        forms = ["b", "[{n}] at(T) a", "[3] sometime b"]
        forms += [f"{c}{arg}" for c in below for arg in ("", "(X)", "(T)")] + [f"[2] at(T) {c}" for c in below]
        body.append(f"not {random.choice(forms)}")
    name = LEVELS[level]
    head = random.choice([name, name, f"{name}(X)", f"{name}({value(random)})"])
    point = f"at(T{random.choice(['', '+1', '+3', '-1'])}) " if timed and random.random() < 0.2 else ""
    return f"{point}{head} if {', '.join(body)}."


EDGES = ("e(1, 2)", "e(2, 3)", "e(3, 1)")
COUNTING = ("1 #", "2 #", "1 #, +1 #", "0 #")


def moving(random: Random, below: str) -> str:
    """Literals that are true at some ticks and not at others."""
    atom = random.choice(["p", "p(X)", *below])
    tests = [f"[{random.choice(['0', '3', '2 hop 3'])}] at(T) {atom}"]
    tests += [comparison(random, []) for _ in range(random.randint(0, 1))]
    return ", ".join(tests if random.random() < 0.8 else [atom])


def entangled(random: Random, below: str) -> list[str]:
    """Rules that cannot be unfolded one by one: choices, recursions, aggregates, windows that count atoms."""
    kind = random.choice(["choice", "choice", "chosen", "odd", "recursion", "aggregate", "counting"])
    one, other = (moving(random, below) for _ in range(2))
    match kind:
        case "choice":
            extra = random.choice(["", ", not [3] sometime b", ", [20] sometime a"])
            return [f"x if {one}, not y.", f"y if {other}{extra}, not x."]
        case "chosen":
            value = random.choice(["T", "X", "T mod 3", "1", "T // 50"])
            name = "p(X)" if value == "X" else "p"
            body = f"[{random.choice(['0', '2'])}] at(T) {name}, {comparison(random, [])}"
            return [f"x({value}) if {body}, not y.", f"y if {other}, not x({random.choice(['0', '1', '2'])})."]
        case "odd":
            return [f"x if {one}, not y.", f"y if {other}, not x.", f"z if {moving(random, below)}, x, not z."]
        case "recursion":
            edges = [f"{edge} if {moving(random, below)}." for edge in EDGES]
            return [*edges, "t(X, Y) if e(X, Y).", "t(X, Z) if t(X, Y), e(Y, Z)."]
        case "aggregate":
            function = random.choice(["count", "sum", "min", "max"])
            source = random.choice(["p(Y)", *(f"{c}(Y)" for c in below)])
            window = random.choice([*WINDOWS, *COUNTING])
            head, test = random.choice([("s(N)", "N >= 0"), ("s", "N mod 3 = 1"), ("s", "N > 40")])
            return [f"{head} if N = {function}(Y) over [{window}] {source}, {test}."]
        case _:
            mode = random.choice(["sometime", "always", "at(T)"])
            atom = random.choice(["p", *below, *(f"{c}(X)" for c in below)])
            tests = f", {comparison(random, [])}" if mode == "at(T)" else ""
            return [f"w if [{random.choice(COUNTING)}] {mode} {atom}{tests}."]


def filled(random: Random, form: str) -> str:
    size = random.choice([2, 20, 500, 3000, 100_000])
    return form.replace("{n}", str(size)).replace("{k}", str(random.randint(0, 6)))


def case(seed: int, *, background: bool = True, loops: bool = False) -> tuple[Program, list[Fact], int]:
    """A program, its input, and a tick after it; `loops`: with rules that cannot be unfolded one by one."""
    random = Random(seed)
    kept = ["program lars.", *(filled(random, random.choice(LONG)) for _ in range(2))]
    if readable("\n".join(kept)) is None:
        kept.pop()
    if background and random.random() < 0.2:
        kept.append(random.choice(["q(3).", "p(3).", "p."]))
    for level in range(len(LEVELS)):
        for _ in range(random.randint(1, 2)):
            for _ in range(8):
                candidate = filled(random, rule(random, level))
                if readable("\n".join([*kept, candidate])) is not None:
                    kept.append(candidate)
                    break
    for _ in range(random.randint(1, 2) if loops else 0):
        for _ in range(8):
            candidates = [filled(random, r) for r in entangled(random, LEVELS)]
            if random.random() < 0.4:
                candidates.append(filled(random, random.choice(ABOVE)))
            if readable("\n".join([*kept, *candidates])) is not None:
                kept += candidates
                break
    program = readable("\n".join(kept))
    assert program is not None
    facts: dict[Fact, None] = {}
    for _ in range(random.randint(0, 6)):
        name, time = random.choice(["a", "b", "q", "q", "p", "r"]), random.randint(0, 6)
        facts[time, name, (random.choice([0, 1, 2, 5, 60, 1200]),) if name == "q" else ()] = None
    read = {e.atom for e in stratify(program).edges}
    return program, [f for f in facts if (f[1], len(f[2])) in read], random.randint(6, 9)
