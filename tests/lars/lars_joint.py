"""Random LARS programs in which one choice rests on another through a whole window: `always`, windows that count
atoms, aggregates, and points of heads that are chosen."""

from __future__ import annotations

from random import Random

from lars_programs import Fact, readable

from thalweg.language.program import Program
from thalweg.lars.stratify import stratify

TIMES = ("1", "1", "1", "2", "+1", "1, +1", "1 hop 2", "2 hop 2", "1, +1 hop 3", "+2 hop 2")
COUNTS = ("0 #", "1 #", "2 #", "3 #", "1 #, +1 #", "0 #, +1 #")
LOWER = (
    ("c if {g}, not d.", "d if {g}, not c."),
    ("c(X) if {gx}, not d(X).", "d(X) if {gx}, not c(X)."),
    ("c(X) if {gx}, not d.", "d if {g}, not c(1)."),
    ("at(T+{k}) c if [{n}] at(T) a, not d.", "d if {g}, not c."),
    ("at(T) c(X) if [{n}] at(T) p(X), not d.", "d if {gx}, not c(1)."),
    ("at(T) c if [{n}] at(T) p(_), not at(T) d.", "at(T) d if [{n}] at(T) p(_), not at(T) c."),
    ("at(T) c if [{n}] at(T) a, not d.", "d if {g}, not c.", "at(T+1) c if [{n}] at(T) p(1)."),
    ("at(T) c(X) if [{n}] at(T) p(X), not d(X).", "d(X) if {gx}, not at(T) c(X), [0] at(T) p(X)."),
    ("at(T) c(X) if [{n}] at(T) p(X), not at(T) d(X).", "at(T) d(X) if [{n}] at(T) p(X), not at(T) c(X)."),
    ("at(T+{k}) c if [{n}] at(T) a, not at(T+{k}) d.", "at(T+{k}) d if [{n}] at(T) a, not at(T+{k}) c."),
    ("c if {g}, not d.", "d if {g}, not c.", "at(T-1) c if [{n}] at(T) b, not d."),
    ("c(X) if {gx}, not d(X).", "d(X) if {gx}, not c(X).", "at(T+1) c(X) if [1] at(T) q(X)."),
    ("c if {g}, not d.", "d if {g}, not c.", "c if [2] sometime q(2), not c."),
)
"""Choices; what they choose is called c and d."""
UPPER = (
    ("e if {over}, not f.", "f if {g}, not e."),
    ("e if not {plainly}, not f.", "f if {g}, not e."),
    ("e(X) if {overx}, not f(X).", "f(X) if {gx}, not e(X)."),
    ("e if {over}, not f.", "f if {over2}, not e."),
    ("e if {over}, not e."),
    ("e if {over}, not f.", "f if not e.", "g if {over2}."),
    ("m if {over}.", "e if not m, not f.", "f if {g}, not e."),
    ("m(X) if {overx}.", "e if [2] sometime m(X), not f.", "f if {g}, not e."),
    ("at(T+1) e if [1] at(T) a, {over}, not f.", "f if {g}, not [+2] sometime e."),
)


def guard(random: Random, inner: str) -> str:
    forms = ["[{n}] sometime " + inner, "[{n}] sometime " + inner, inner]
    return random.choice(forms)


def window(random: Random, atom: str, kinds: tuple[str, ...]) -> str:
    kind = random.choice(kinds)
    if kind == "partition" and "(X)" in atom:
        return f"{random.randint(0, 2)} # by X"
    return random.choice(COUNTS if kind in ("count", "partition") else TIMES)


def chosen(random: Random, lower: tuple[str, ...], *, variable: bool) -> str | None:
    """An atom of the lower choice."""
    arities = {name: f"{name}(X)" in lower[0] + lower[1] for name in "cd"}
    names = [n for n in "ccd" if not variable or arities[n]]
    if not names:
        return None
    name = random.choice(names)
    return f"{name}({'X' if variable else random.choice(['1', '2', '_'])})" if arities[name] else name


def whole(random: Random, lower: tuple[str, ...], kinds: tuple[str, ...], *, variable: bool) -> str | None:
    """A literal over a whole window of the lower choice."""
    atom = chosen(random, lower, variable=variable)
    if atom is None:
        return None
    modes = [k for k in ("always", "at", "sometime", "aggregate") if k in kinds] or ["always"]
    mode = random.choice(modes)
    shape = window(random, atom, tuple(k for k in kinds if k in ("time", "count", "partition")) or ("time",))
    if mode == "aggregate":
        function = random.choice(["count", "count", "sum", "min", "max"])
        test = random.choice(["M > 1", "M < 2", "M = 1", "M >= 0", "M mod 2 = 0"])
        if "(X)" in atom and random.random() < 0.5:
            return f"[3] sometime p(X), M = count(X) over [{shape}] {atom}, {test}"
        if "(" in atom:
            inner = atom.split("(")[0]
            prefix = "" if not variable else "p(X), "
            return f"{prefix}M = {function}(N) over [{shape}] {inner}(N), {test}"
        return f"M = count(1) over [{shape}] {atom}, {test}"
    if mode == "at":
        tests = ["", f", T mod {random.randint(2, 3)} = 0", ", T > 2", f", [{random.randint(0, 2)}] at(T) a", ", not b"]
        return f"[{shape}] at(T) {atom}" + random.choice(tests)
    return f"[{shape}] {mode} {atom}"


def filled(random: Random, rules: tuple[str, ...], lower: tuple[str, ...], kinds: tuple[str, ...]) -> list[str] | None:
    over = whole(random, lower, kinds, variable=False)
    parts = {
        "{over}": over,
        "{over2}": whole(random, lower, kinds, variable=False),
        "{overx}": whole(random, lower, kinds, variable=True),
        "{plainly}": over if over is not None and "," not in over else "[1] always c",
        "{gx}": guard(random, random.choice(["p(X)", "p(X)", "q(X)"])),
        "{g}": guard(random, random.choice(["a", "b", "p(_)"])),
        "{k}": str(random.randint(0, 2)),
    }
    found = []
    for rule in rules:
        for name, text in parts.items():
            if name in rule:
                if text is None:
                    return None
                rule = rule.replace(name, text)
        while "{n}" in rule:
            rule = rule.replace("{n}", str(random.randint(0, 3)), 1)
        found.append(rule)
    return found


def program_of(random: Random, kinds: tuple[str, ...]) -> Program:
    """Two choices, one above the other."""
    while True:
        shape = random.choice(LOWER)
        below = filled(random, shape, shape, kinds)
        above = filled(random, random.choice(UPPER), shape, kinds)
        if below is None or above is None:
            continue
        program = readable("\n".join(["program lars.", *below, *above]))
        if program is not None:
            return program


KINDS = {
    "always": ("time", "always"),
    "counting": ("count", "partition", "always", "sometime"),
    "aggregates": ("time", "count", "partition", "aggregate"),
    "points": ("time", "at", "sometime"),
    "all": ("time", "count", "partition", "always", "at", "sometime", "aggregate"),
}


def case(seed: int, kind: str, last: int = 6) -> tuple[Program, list[Fact]]:
    """A program, and input for what it reads; few atoms, or the definition takes too long."""
    random = Random(seed)
    program = program_of(random, KINDS[kind])
    strata = stratify(program)
    read = sorted({e.atom for e in strata.edges} - strata.derived)
    names = 4 * read + sorted(strata.derived)
    facts: dict[Fact, None] = {}
    for _ in range(random.randint(1, 4)):
        name, arity = random.choice(names)
        first = random.randint(0, last)
        for time in range(first, first + random.choice([1, 1, 2, 3])):
            facts[time, name, tuple(random.choice([1, 1, 2]) for _ in range(arity))] = None
    return program, list(facts)
