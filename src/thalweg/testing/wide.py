"""Random event descriptions that say things in more ways than those of `programs`.

Names that need quotes, numbers as individuals, older forms of rules, background rules that compute, lists, negations
and disjunctions in each other, values that are variables, several delayed effects of one pair, the time-point as an
argument, determined fluents with conditions. A program is written freely and not always legal: `wide_scenario` passes
over those that the checker refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from thalweg import parse
from thalweg.analysis.checker import check
from thalweg.language.diagnostics import Severity
from thalweg.language.program import Program
from thalweg.reference.description import Description
from thalweg.reference.events import Row
from thalweg.reference.intervals import MODES
from thalweg.reference.terms import Ground
from thalweg.testing.streams import TIDY, Mess, Scenario, histories

Individuals = tuple[tuple[str, Ground], ...]
"""Three individuals, as rules write them and as data has them."""
INDIVIDUALS: tuple[Individuals, ...] = (
    (("a", "a"), ("b", "b"), ("c", "c")),
    (("'North Sea'", "North Sea"), ("a", "a"), ("'it''s'", "it's")),
    (("1", 1), ("2", 2), ("10", 10)),
    (("-3", -3), ("0.5", 0.5), ("a", "a")),
    (("'B'", "B"), ("aB_1", "aB_1"), ("7", 7)),
    (("'x(y)'", "x(y)"), ("'in'", "in"), ("''", "")),
    (("'über'", "über"), ("'a\\nb'", "a\nb"), ("'if'", "if")),
)
NUMBERS = (1, 3, 4.5, 7, -2, 0, 10)
PLACES = ("home", "work")
EVENTS = {"e": "x", "g": "x", "h": "xx", "v": "xn", "go": "xp", "k": "", "w": "nn", "m": "xxn", "'Go!'": "x"}
"""Input events and the sorts of their arguments: individual, number, place."""
INPUTS: dict[str, tuple[str, tuple[Ground, ...]]] = {
    "near": ("xx", ("true",)),
    "mode": ("x", ("on", "off")),
    "walk": ("x", ("true",)),
    "level": ("x", (1, 3, 4.5, -2)),
    "alarm": ("", ("true",)),
}
"""Input fluents: the sorts of their arguments, and their values; `walk` arrives as points."""
DECLARATIONS = (
    "collectIntervals(mode(_)=on).",
    "collectIntervals(mode(_)=off).",
    "fluent level(a).",
    "fluent alarm.",
)
BACKGROUND = """
good({0}). good({2}). linked({0}, {1}). linked({1}, {2}). linked({2}, {2}).
weight({0}, 3). weight({1}, 4.5). weight({1}, -2). wait({0}, 3). wait({1}, 5).
limit(4). limit(2.5). next(true, off, 2). next(off, true, 4). next(low, mid, 2). next(mid, high, 3). next(low, high, 5).
at_home({0}, home). at_home({1}, work). zone(home, 0, 3). zone(work, 3.5, 8). box(in({0}), {1}). box(in({1}), {2}).
big(X) :- weight(X, W), W > 3.
apart(X, Y, D) :- D is abs(X - Y).
turn(A, B, C) :- D is abs(A - B) mod 360, C is min(D, 360 - D).
class(S, low) :- S < 3.
class(S, high) :- S >= 3, S < 7.
class(S, top) :- \\+ S < 7.
friend(X, Y) :- linked(X, Y) ; linked(Y, X).
ally(X, Y) :- linked(X, Y).
ally(X, Y) :- linked(Y, X), good(Y).
lonely(X) :- good(X), \\+ linked(X, _).
same(X, X).
equal(X, Y) :- X = Y.
either(X) :- (good(X) ; big(X)).
half(X, R) :- R is floor(X / 2).
root(X, R) :- X >= 0, R is sqrt(X * X).
where(S, P) :- zone(P, Lo, Hi), S >= Lo, S =< Hi.
nowhere(S) :- \\+ where(S, _).
two(X, Y) :- linked(X, Z), linked(Z, Y).
self(X) :- linked(X, X).
never(X) :- good(X), fail.
""".strip()
VALUES = (("true",), ("true", "off"), ("low", "mid", "high"), ("true", "false"), ("1", "2"), ("'On'", "-1"))
ALLEN = ("before", "meets", "overlaps", "starts", "finishes", "during", "equal")
DURATIONS = ("intDurGreater", "intDurLess", "intDurAtLeast", "intDurAtMost")


def wide_program(rng: Random) -> tuple[str, Individuals]:
    """The text of a random event description, and the individuals that it speaks of."""
    writer = _Writer(rng)
    return writer.text(), writer.individuals


def wide_scenario(rng: Random, *, size: int = 40, times: int = 30) -> Scenario:
    """A legal program, a stream for it, and a window, a step and a start that need not fit the tick or each other."""
    while True:
        text, individuals = wide_program(rng)
        program = parse(text)
        if all(diagnostic.severity is not Severity.ERROR for diagnostic in check(program)):
            break
    tick = rng.choice((1, 1, 1, 1, 2, 3))
    mess = rng.choice((Mess(), TIDY, Mess(late=40, duplicate=20, retract=40, early=10)))
    rows = _rows(rng, program, individuals, size=rng.randint(1, size), times=times, mess=mess)
    step = rng.choice((2, 3, 5, 7, 10, 20, 1)) * rng.choice((tick, 1))
    window = step + rng.choice((0, 8, 15, times + 40, 3, 1, 0)) * rng.choice((tick, 1))
    start = tick * rng.choice((0, 0, 0, -5, 3, -1))
    rng.shuffle(rows)
    stretched = tuple(_stretched(rng, row, tick) for row in rows)
    return Scenario(text, stretched, window, step, start=start, end=tick * (times + 8), tick=tick)


# --------------------------------------------------------------------------- rows


def _rows(
    rng: Random, program: Program, individuals: Individuals, *, size: int, times: int, mess: Mess
) -> list[Row]:
    """Rows of the program's inputs, numbered from 1, with times from 0 on; some intervals are empty."""
    description = Description(program)
    some = [ground for _, ground in individuals][: rng.choice((1, 2, 2, 3))]
    events = [name for name, sorts in EVENTS.items() if (name.strip("'"), len(sorts)) in description.input_events]
    fluents = [name for name, (sorts, _) in INPUTS.items() if (name, len(sorts)) in description.read]
    events = rng.sample(events, min(len(events), rng.randint(2, 6)))

    def arguments(sorts: str) -> tuple[Ground, ...]:
        among: dict[str, Sequence[Ground]] = {"x": some, "n": NUMBERS, "p": PLACES}
        return tuple(rng.choice(among[sort]) for sort in sorts)

    def row(time: int) -> Row:
        if not events or (fluents and rng.randrange(100) < 30):
            name = rng.choice(fluents)
            sorts, values = INPUTS[name]
            found = Row(name=name, args=arguments(sorts), time=time, arrival=time, value=rng.choice(values))
            end = None if rng.randrange(100) < 15 else time + rng.randint(0, 10)
            return replace(found, shape="point") if name == "walk" else replace(found, shape="interval", end=end)
        name = rng.choice(events)
        return Row(name=name.strip("'"), args=arguments(EVENTS[name]), time=time, arrival=time)

    several = range(size if events or fluents else 0)
    rows = [one for _ in several for one in histories(rng, row(rng.randint(0, times)), mess)]
    return [replace(one, number=number) for number, one in enumerate(rows, start=1)]


def _stretched(rng: Random, row: Row, tick: int) -> Row:
    """The row where time-points are a tick apart; it may arrive between two, and now and then lies between two."""

    def moved(time: int) -> int:
        return tick * time + (rng.randrange(tick) if rng.randrange(40) == 0 else 0)

    end = None if row.end is None else moved(row.end)
    return replace(row, time=moved(row.time), arrival=tick * row.arrival + rng.randrange(tick), end=end)


# --------------------------------------------------------------------------- programs


@dataclass(frozen=True)
class _Fluent:
    """A fluent; `kind` is simple, determined or input; `open` is the sort of values that come from the data."""

    name: str
    sorts: str
    values: tuple[str, ...]
    kind: str
    rank: int
    open: str = ""


def _term(name: str, arguments: Sequence[str]) -> str:
    return f"{name}({', '.join(arguments)})" if arguments else name


def _rule(head: str, conditions: Sequence[str], neck: str = ":-") -> str:
    return f"{head} {neck} {', '.join(conditions)}." if conditions else f"{head}."


class _Writer:
    """Writes one program: input, background knowledge, fluents and derived events in ranks, groundings."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.individuals = rng.choice(INDIVIDUALS)
        self.are_numbers = all(isinstance(ground, int | float) for _, ground in self.individuals)
        self.rules: list[str] = []
        self.fluents = [
            _Fluent(name, sorts, tuple(map(str, values)), "input", -1, "n" if name == "level" else "")
            for name, (sorts, values) in INPUTS.items()
        ]
        self.derived: dict[str, tuple[str, int]] = {}
        self._variables = 0

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def fresh(self, stem: str = "X") -> str:
        self._variables += 1
        return self.rng.choice((f"{stem}{self._variables}", f"{stem}_{self._variables}", f"_{stem}{self._variables}"))

    def interval(self) -> str:
        self._variables += 1
        return f"I{self._variables}"

    def constant(self, sort: str) -> str:
        if sort == "x":
            return self.rng.choice(self.individuals)[0]
        return self.rng.choice(("3", "7", "4.5", "-2", "3.0", "0") if sort == "n" else PLACES)

    def value(self, fluent: _Fluent) -> str:
        """A value that is asked for."""
        if self.chance(10):
            return "_"
        return self.constant(fluent.open) if fluent.open else self.rng.choice(fluent.values)

    def text(self) -> str:
        self.rules.append(self.rng.choice(("points(walk(_)=true).", "buildFromPoints(walk(_)=true).")))
        self.rules.append(self.rng.choice(("fluent near(a, b).", "collectIntervals(near(_,_)=true).")))
        self.rules.extend(DECLARATIONS)
        self.rules.extend(BACKGROUND.format(*(written for written, _ in self.individuals)).splitlines())
        if self.are_numbers:
            self.rules.append("role(X, chair) :- Y is X mod 2, Y = 0.")
            self.rules.append("role(X, member) :- X mod 2 =:= 1.")
        for rank in range(self.rng.randint(1, 4)):
            if self.chance(30):
                self._determined(rank)
            else:
                self._simple(rank)
            if self.chance(35):
                self._derived_event(rank)
        if self.chance(25):
            self._groundings()
        if self.chance(30):
            self.rng.shuffle(self.rules)
        return "\n".join(self.rules) + "\n"

    # ------------------------------------------------------------------- simple fluents

    def _simple(self, rank: int) -> None:
        name = self.rng.choice((f"f{rank}", f"f{rank}", f"'F {rank}'"))
        sorts = self.rng.choice(("", "x", "x", "x", "xx", "xn", "xp"))
        open_ = self.rng.choice("nxp") if self.chance(20) else ""
        values = ("",) if open_ else self.rng.choice(VALUES)
        fluent = _Fluent(name, sorts, values, "simple", rank, open_)
        self.fluents.append(fluent)
        for value in values:
            for _ in range(1 + self.chance(25)):
                self._effect("initiatedAt", fluent, value)
            if self.chance(60):
                self._effect("terminatedAt", fluent, value)
        if not open_ and self.chance(45):
            self._delays(fluent)
        if not open_ and self.chance(25):
            self._initially(fluent)

    def _effect(self, effect: str, fluent: _Fluent, value: str) -> None:
        body = _Body(self, fluent.rank)
        body.fill()
        arguments = [body.head_argument(sort) for sort in fluent.sorts]
        if effect == "terminatedAt" and (self.chance(40) if fluent.open else self.chance(12)):
            value = "_"
        elif fluent.open:
            value = "T" if fluent.open == "n" and self.chance(10) else body.bound_or_new(fluent.open)
        pair, conditions = f"{_term(fluent.name, arguments)}={value}", body.conditions
        first, event = conditions[0], conditions[0].removeprefix("happensAt(").removesuffix(", T)")
        if first == f"happensAt({event}, T)" and self.chance(15):
            old = _term(effect.replace("edAt", "es"), (event, pair, "T"))
            self.rules.append(_rule(old, conditions[1:]))
        elif self.chance(8):
            self.rules.append(_rule(f"{effect}({pair}, T1, T, T2)", [*conditions, "T1 =< T", "T < T2"]))
        else:
            if self.chance(15):
                self.rng.shuffle(conditions)
            self.rules.append(_rule(f"{effect}({pair}, T)", conditions, self.rng.choice((":-", "if"))))

    def _delays(self, fluent: _Fluent) -> None:
        names = [f"A{i}" for i in range(len(fluent.sorts))]
        term = _term(fluent.name, names)
        if fluent.values[0] in ("true", "low") and len(fluent.values) > 1 and self.chance(25):
            self.rules.append(f"fi({term}=V, {term}=W, D) :- next(V, W, D).")
            self.rules.append(f"p({term}={self.rng.choice((*fluent.values, '_'))}).")
            return
        person = names[fluent.sorts.index("x")] if "x" in fluent.sorts else ""
        for value in fluent.values:
            for _ in range(self.rng.choice((0, 1, 1, 2))):
                self._delay(fluent, term, value, person)
            if person and self.chance(15):
                self.rules.append(f"p({term}={value}) :- {self.rng.choice(('good', 'big', 'self'))}({person}).")
            elif self.chance(40):
                self.rules.append(f"p({_term(fluent.name, ['_'] * len(names))}={value}).")

    def _delay(self, fluent: _Fluent, term: str, value: str, person: str) -> None:
        amount, conditions = str(self.rng.randint(1, 7)), list[str]()
        if person and self.chance(20):
            amount, conditions = "D", [f"wait({person}, D)"]
        elif self.chance(10):
            amount, conditions = "D", ["limit(E)", "D is floor(E) * 2"]
        elif person and self.chance(15):
            conditions = [f"good({person})"]
        others = [other for other in fluent.values if other != value]
        if not others or self.chance(30):
            self.rules.append(_rule(f"ft({term}={value}, {amount})", conditions))
        else:
            target = self.rng.choice(others)
            self.rules.append(_rule(f"fi({term}={value}, {term}={target}, {amount})", conditions))

    def _initially(self, fluent: _Fluent) -> None:
        names = [f"A{i}" for i in range(len(fluent.sorts))]
        value, conditions = self.rng.choice(fluent.values), list[str]()
        if self.chance(25) or not names:
            names = ["_"] * len(names)
        elif self.chance(30):
            names = [self.constant(sort) for sort in fluent.sorts]
        else:
            ways = {
                "x": ("good({})", "big({})", "friend({}, _)", f"({{}} = {self.constant('x')} ; lonely({{0}}))"),
                "n": ("limit({})", "weight(_, {})"),
                "p": ("zone({}, _, _)",),
            }
            conditions = [
                self.rng.choice(ways[sort]).replace("{0}", "{}").replace("{}", name)
                for name, sort in zip(names, fluent.sorts, strict=True)
            ]
            if fluent.sorts == "xx" and self.chance(50):
                conditions.append(self.rng.choice(("A0 \\= A1", "A0 @< A1", "\\+ linked(A0, A1)")))
        self.rules.append(_rule(f"initially({_term(fluent.name, names)}={value})", conditions))

    def _derived_event(self, rank: int) -> None:
        body = _Body(self, rank + 1)
        body.fill()
        sorts = self.rng.choice(("", "x", "xx", "xn"))
        arguments = [body.bound_or_new(sort) for sort in sorts]
        self.rules.append(_rule(f"happensAt({_term(f'd{rank}', arguments)}, T)", body.conditions))
        self.derived[f"d{rank}"] = sorts, rank + 1

    # ------------------------------------------------------------------- determined fluents

    def _determined(self, rank: int) -> None:
        sorts, any_value = self.rng.choice(("", "x", "x", "xx")), self.chance(15)
        for _ in range(1 + self.chance(25)):
            self._interval_rule(f"f{rank}", [f"A{i}" for i in range(len(sorts))], "V" if any_value else "true")
        values = ("true", "on", "3") if any_value else ("true",)
        self.fluents.append(_Fluent(f"f{rank}", sorts, values, "determined", rank))

    def _interval_rule(self, name: str, people: list[str], value: str) -> None:
        conditions: list[str] = []
        pool: list[str] = []
        bound: set[str] = set()
        for nth in range(self.rng.randint(1, 3)):
            source = self.rng.choice(self.fluents)
            arguments = [self._leaf_argument(sort, people) for sort in source.sorts]
            bound |= set(arguments) & set(people)
            asked = "V" if value == "V" and nth == 0 else self.value(source)
            pool.append(self.interval())
            conditions.append(f"holdsFor({_term(source.name, arguments)}={asked}, {pool[-1]})")
        conditions += self._about(people, bound)
        whole = self.chance(35)
        steps = self.rng.randint(int(whole), 3)
        judged = self.rng.randrange(steps) if whole else -1
        for step in range(steps):
            result = self.interval()
            conditions += self._judgement(pool, result) if step == judged else [self._operation(pool, result)]
            pool.append(result)
        if self.chance(10):
            conditions.append(f"{pool[-1]} \\= []")
        head = [person if person in bound else self.constant("x") for person in people]
        self.rules.append(_rule(f"holdsFor({_term(name, head)}={value}, {pool[-1]})", conditions))

    def _leaf_argument(self, sort: str, people: Sequence[str]) -> str:
        if sort == "x" and people and self.chance(85):
            return self.rng.choice(people)
        return self.constant("x") if sort == "x" and self.chance(50) else "_"

    def _about(self, people: Sequence[str], bound: set[str]) -> list[str]:
        """Conditions on those whom a rule is about; they may name some of them first."""
        found = []
        for person in people:
            if person not in bound and self.chance(50):
                bound.add(person)
                found.append(f"{self.rng.choice(('good', 'big', 'either'))}({person})")
            elif person in bound and self.chance(15):
                ways = ("good({})", "\\+ good({})", "linked({}, _)", "\\+ linked({}, _)", "either({})")
                found.append(self.rng.choice((*ways, f"{{}} \\= {self.constant('x')}")).replace("{}", person))
        if len(bound) == 2 and self.chance(30):
            pairs = ("A0 \\= A1", "A0 @< A1", "linked(A0, A1)", "friend(A0, A1)", "\\+ A0 = A1")
            found.append(self.rng.choice(pairs))
        return found

    def _operation(self, pool: Sequence[str], result: str) -> str:
        some = ", ".join(dict.fromkeys([*self.rng.sample(pool, self.rng.randint(1, len(pool))), pool[-1]]))
        operation = self.rng.choice(("union_all", "intersect_all", "complement_all", "relative_complement_all"))
        if operation == "relative_complement_all":
            return f"{operation}({self.rng.choice(pool)}, [{some}], {result})"
        return f"{operation}([{some}], {result})"

    def _judgement(self, pool: Sequence[str], result: str) -> list[str]:
        if self.chance(50):
            name, last = self.rng.choice(DURATIONS), pool[-1]
            if self.chance(20):
                return [f"limit(D{result})", f"{name}({last}, D{result}, {result})"]
            return [f"{name}({last}, {self.rng.choice(('3', '5', '2.5', '1', '8'))}, {result})"]
        relation, mode = self.rng.choice(ALLEN), self.rng.choice(MODES)
        return [f"allen({relation}, {self.rng.choice(pool)}, {pool[-1]}, {mode}, {result})"]

    # ------------------------------------------------------------------- groundings

    def _groundings(self) -> None:
        domain = "dom"
        if self.chance(40):
            self.rules.append("dynamicDomain(dom(_)).")
            for name, sorts in EVENTS.items():
                if "x" in sorts:
                    self._grounding(name, sorts, "dom", None)
            if self.chance(60):
                domain = "part"
                self.rules.append(f"part(X) :- dom(X), {self.rng.choice(('good(X)', chr(92) + '+ big(X)'))}.")
        else:
            self.rules += [f"dom({written})." for written, _ in self.rng.sample(self.individuals, 2)]
        for fluent in self.fluents:
            if fluent.kind != "input" and set(fluent.sorts) <= {"x"} and self.chance(70):
                values = fluent.values[:-1] if len(fluent.values) > 1 and self.chance(20) else fluent.values
                for value in ("_",) if fluent.open or self.chance(30) else values:
                    self._grounding(fluent.name, fluent.sorts, domain, value)

    def _grounding(self, name: str, sorts: str, domain: str, value: str | None) -> None:
        names = [f"X{i}" if sort == "x" else "_" for i, sort in enumerate(sorts)]
        conditions = [f"{domain}({name})" for name in names if name != "_"]
        if sorts == "xx" and value is not None:
            ways: tuple[list[str], ...] = ([], ["X0 @< X1"], ["X0 \\= X1"], ["linked(X0, X1)"])
            conditions += self.rng.choice(ways)
        entity = _term(name, names) + ("" if value is None else f"={value}")
        self.rules.append(_rule(f"grounding({entity})", conditions))


# --------------------------------------------------------------------------- bodies

_NEGATIONS = ("not ", "\\+ ", "\\+ ")
_COMPUTED = (
    "({a} * 2 + 1) mod 5", "abs({a}) - {b}", "min({a}, {b})", "{a} / 2", "{a} // 2", "floor({a}) rem 3", "-{a}",
    "- {a} + {b}", "{a} / {b}", "round({a} / 3)", "sqrt({a})", "{a} ** 2", "max({a}, pi)", "truncate({a} / 2) div 2",
    "2 - 1 - {a}", "({a} - 1) * -1",
)  # fmt: skip


@dataclass
class _Body:
    """A body while it is written: its conditions, and the variables they bind, with their sorts."""

    writer: _Writer
    rank: int
    conditions: list[str] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng, self.chance, self.fresh = self.writer.rng, self.writer.chance, self.writer.fresh

    def inner(self) -> _Body:
        """A body inside of this one: what it binds is not bound outside."""
        return _Body(self.writer, self.rank, [], dict(self.bound))

    def of_sort(self, sort: str) -> list[str]:
        return [name for name, its in self.bound.items() if its == sort]

    def fill(self) -> None:
        """Something that happens, and conditions."""
        choice, before = self.rng.randrange(100), self._before()
        simple = [fluent for fluent in before if fluent.kind == "simple"]
        if before and choice < 20:
            edge = self.rng.choice(("start", "end", "startI", "endI"))
            self.conditions.append(self._pair(edge, self.rng.choice(before), 100, binds=True))
        elif simple and choice < 30:
            effect = self.rng.choice(("initiatedAt", "terminatedAt"))
            self.conditions.append(self._pair(effect, self.rng.choice(simple), 100, binds=True))
        else:
            self.conditions.append(self._event(100, binds=True))
        for _ in range(self.rng.choice((0, 0, 1, 1, 2, 3))):
            self.conditions += self.condition(2)

    def head_argument(self, sort: str) -> str:
        if sort == "x" and (self.chance(10) or not self.of_sort("x")):
            return self.fresh() if self.chance(70) else self.writer.constant(sort)
        return self.writer.constant(sort) if self.chance(6) else self.bound_or_new(sort)

    def bound_or_new(self, sort: str) -> str:
        """A variable of the sort; where there is none, a condition more that binds one."""
        if self.of_sort(sort) and self.chance(90):
            return self.rng.choice(self.of_sort(sort))
        person, variable = self._argument("x", 40), self.fresh()
        ways = {
            "n": (f"happensAt(v({person}, {variable}), T)", f"limit({variable})", f"weight({person}, {variable})"),
            "p": (f"happensAt(go({person}, {variable}), T)", f"at_home({person}, {variable})"),
            "x": (f"happensAt(e({variable}), T)", f"good({variable})", f"linked({person}, {variable})"),
        }
        chosen = self.rng.choice(ways[sort])
        if person not in chosen and person in self.bound and not any(person in c for c in self.conditions):
            del self.bound[person]
        self.conditions.append(chosen)
        self.bound[variable] = sort
        return variable

    def condition(self, depth: int) -> list[str]:
        """A condition, as one text or several that belong together."""
        choice, negation = self.rng.randrange(100), self.rng.choice(_NEGATIONS)
        if depth and choice < 14:
            return [f"{negation}({self._nested(depth, 3)})"]
        if depth and choice < 26:
            return [f"({' ; '.join(self._nested(depth, 2) for _ in range(self.rng.choice((2, 2, 3))))})"]
        negated = self.chance(35)
        before = negation if negated else ""
        readable = [fluent for fluent in self.writer.fluents if fluent.rank <= self.rank]
        if choice < 55:
            fluent = self.rng.choice(readable)
            kinds = ["holdsAt"] * 3
            if fluent.rank < self.rank:
                kinds += ["start", "end", *(("initiatedAt", "terminatedAt") if fluent.kind == "simple" else ())]
            return [before + self._pair(self.rng.choice(kinds), fluent, 30, binds=not negated)]
        if choice < 65:
            return [before + self._event(30, binds=not negated)]
        if choice < 78:
            return [before + self._fact(binds=not negated)]
        return self._found(self.rng.choice(readable)) if choice < 85 else self._comparison(negation)

    def _nested(self, depth: int, most: int) -> str:
        body = self.inner()
        conditions = [text for _ in range(self.rng.randint(1, most)) for text in body.condition(depth - 1)]
        return ", ".join(conditions) or "true"

    def _before(self) -> list[_Fluent]:
        """The fluents whose effects at a point do not wait for those of the rule being written."""
        return [fluent for fluent in self.writer.fluents if fluent.rank < self.rank]

    def _argument(self, sort: str, fresh: int, *, binds: bool = True) -> str:
        """A variable of the body, now and then a new one, a constant or `_`."""
        if self.chance(10):
            return self.writer.constant(sort)
        if self.of_sort(sort) and not self.chance(fresh):
            return self.rng.choice(self.of_sort(sort))
        if self.chance(8 if binds else 50):
            return "_"
        variable = self.fresh()
        if binds:
            self.bound[variable] = sort
        return variable

    def _arguments(self, sorts: str, fresh: int, *, binds: bool) -> list[str]:
        found: list[str] = []
        for at, sort in enumerate(sorts):
            again = found and sorts[at - 1] == sort and found[-1] != "_" and self.chance(10)
            found.append(found[-1] if again else self._argument(sort, fresh, binds=binds))
        return found

    def _event(self, fresh: int, *, binds: bool) -> str:
        derived = {name: sorts for name, (sorts, rank) in self.writer.derived.items() if rank <= self.rank}
        name, sorts = self.rng.choice([*EVENTS.items(), *derived.items()])
        return f"happensAt({_term(name, self._arguments(sorts, fresh, binds=binds))}, T)"

    def _pair(self, kind: str, fluent: _Fluent, fresh: int, *, binds: bool) -> str:
        value = self.writer.value(fluent)
        if fluent.open and self.chance(35):
            value = self._argument(fluent.open, 60, binds=binds)
        elif binds and self.chance(4):
            value = self.fresh("V")
        pair = f"{_term(fluent.name, self._arguments(fluent.sorts, fresh, binds=binds))}={value}"
        return f"{kind}({pair}, T)" if kind.endswith("At") else f"happensAt({kind}({pair}), T)"

    def _fact(self, *, binds: bool) -> str:
        def person(fresh: int = 20) -> str:
            return self._argument("x", fresh, binds=binds)

        def new(sort: str) -> str:
            variable = self.fresh()
            if binds:
                self.bound[variable] = sort
            return variable

        choices: list[Callable[[], str]] = [
            lambda: f"{self.rng.choice(('good', 'big', 'lonely', 'either', 'self', 'never'))}({person()})",
            lambda: f"{self.rng.choice(('linked', 'friend', 'ally', 'two'))}({person()}, {person(50)})",
            lambda: f"weight({person()}, {new('n')})",
            lambda: f"at_home({person()}, {self._argument('p', 50, binds=binds)})",
            lambda: f"box(in({person()}), {person(50)})",
            lambda: f"limit({self.rng.choice(('T', '4', '_'))})",
            lambda: self.rng.choice(("true", "fail")),
        ]
        people, numbers = self.of_sort("x"), self.of_sort("n")
        if people:
            known = self.rng.choice(people)
            listed = ", ".join(self.writer.constant("x") for _ in range(self.rng.randrange(3)))
            choices += [
                lambda: f"{self.rng.choice(('same', 'equal'))}({known}, {person()})",
                lambda: f"member({known}, [{listed}])",
            ]
            if self.writer.are_numbers:
                choices += [lambda: f"role({known}, {self.rng.choice(('chair', 'member'))})"] * 2
        if numbers:
            one, other = self.rng.choice(numbers), self.rng.choice(numbers)
            choices += [
                lambda: f"{self.rng.choice(('apart', 'turn'))}({one}, {other}, {new('n')})",
                lambda: f"class({one}, {self.rng.choice(('low', 'high', 'top', 'nonsense'))})",
                lambda: f"half({one}, {new('n')})",
                lambda: f"root({one}, {other})",
                lambda: f"where({one}, {self._argument('p', 50, binds=binds)})",
                lambda: f"nowhere({one})",
            ]
        return self.rng.choice(choices)()

    def _found(self, fluent: _Fluent) -> list[str]:
        """What findall finds, counted or added up."""
        names = {self.fresh(): sort for sort in fluent.sorts}
        given = [self._given(name, sort) for name, sort in names.items()]
        own = {name: sort for name, sort in names.items() if name in given}
        value = self.writer.value(fluent)
        if fluent.open == "n" and self.chance(60):
            value = self.fresh("V")
            own[value] = "n"
        source = f"holdsAt({_term(fluent.name, given)}={value}, T)"
        people = [name for name, sort in own.items() if sort == "x"]
        if people and self.chance(25):
            ways = ("good({})", "\\+ good({})", "weight({}, W)", f"{{}} \\= {self.writer.constant('x')}")
            source = f"({source}, {self.rng.choice(ways).replace('{}', people[0])})"
        numbers = [name for name, sort in own.items() if sort == "n"]
        template, function = next(iter(own), "1"), "length"
        if numbers and self.chance(60):
            template, function = numbers[0], self.rng.choice(("sum_list", "max_list", "min_list", "sumlist"))
        listed, total, few = self.fresh("L"), self.fresh("N"), self.rng.choice("0123")
        found = f"findall({template}, {source}, {listed})"
        if self.chance(15):
            return [self.rng.choice((f"findall({template}, {source}, [])", f"{found}, {listed} \\= []"))]
        if self.chance(10):
            return [f"{found}, {function}({listed}, {few})"]
        self.bound[total] = "n"
        compared = f"{total} {self.rng.choice(('>=', '=:=', '<', '=', chr(92) + '='))} {few}"
        return [f"{found}, {function}({listed}, {total}), {compared}"]

    def _given(self, name: str, sort: str) -> str:
        """An argument inside findall: of the body around it, or one of its own."""
        if self.of_sort(sort) and self.chance(40):
            return self.rng.choice(self.of_sort(sort))
        return name if self.chance(85) else "_"

    def _comparison(self, negation: str) -> list[str]:
        numbers, people = self.of_sort("n"), self.of_sort("x")
        ways: list[str] = [f"T {self.rng.choice(('<', '>=', chr(92) + '='))} 12"]
        if numbers:
            a, b = self.rng.choice(numbers), self.rng.choice([*numbers, "3", "7", "4.5", "-2"])
            operator, result = self.rng.choice(("<", ">", "=<", ">=", "=:=", "=\\=")), self.fresh()
            same = self.rng.choice(("=", "==", "\\=", "\\=="))
            computed = self.rng.choice(_COMPUTED).format(a=a, b=b)
            ways += [f"{a} {operator} {b}", f"{negation}{a} {operator} {b}", f"{a} {same} {b}"]
            ways += [f"{result} is {computed}, {result} {operator} 2"] * 3 + [f"{computed} {operator} 2"]
        if people:
            a, b = self.rng.choice(people), self.rng.choice([*people, self.writer.constant("x")])
            operator = self.rng.choice(("=", "\\=", "==", "\\==", "@<", "@>", "@=<", "@>="))
            ways += [f"{a} {operator} {b}"] * 3 + [f"{negation}{a} {operator} {b}"]
        return [self.rng.choice(ways)]
