"""The rules of wide programs: effects, delays, derived events, interval expressions, groundings."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from thalweg.reference.intervals import MODES
from thalweg.testing.wide_bodies import Body
from thalweg.testing.wide_words import (
    ALLEN,
    BACKGROUND,
    DECLARATIONS,
    DURATIONS,
    EVENTS,
    INDIVIDUALS,
    INPUTS,
    PLACES,
    VALUES,
    Fluent,
    rule_text,
    term_text,
)


class Writer:
    """Writes one program: input, background knowledge, fluents and derived events in ranks, groundings."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.individuals = rng.choice(INDIVIDUALS)
        self.are_numbers = all(isinstance(ground, int | float) for _, ground in self.individuals)
        self.rules: list[str] = []
        self.fluents = [
            Fluent(name, sorts, tuple(map(str, values)), "input", -1, "n" if name == "level" else "")
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

    def value(self, fluent: Fluent) -> str:
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
        fluent = Fluent(name, sorts, values, "simple", rank, open_)
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

    def _effect(self, effect: str, fluent: Fluent, value: str) -> None:
        body = Body(self, fluent.rank)
        body.fill()
        arguments = [body.head_argument(sort) for sort in fluent.sorts]
        if effect == "terminatedAt" and (self.chance(40) if fluent.open else self.chance(12)):
            value = "_"
        elif fluent.open:
            value = "T" if fluent.open == "n" and self.chance(10) else body.bound_or_new(fluent.open)
        pair, conditions = f"{term_text(fluent.name, arguments)}={value}", body.conditions
        first, event = conditions[0], conditions[0].removeprefix("happensAt(").removesuffix(", T)")
        if first == f"happensAt({event}, T)" and self.chance(15):
            old = term_text(effect.replace("edAt", "es"), (event, pair, "T"))
            self.rules.append(rule_text(old, conditions[1:]))
        elif self.chance(8):
            self.rules.append(rule_text(f"{effect}({pair}, T1, T, T2)", [*conditions, "T1 =< T", "T < T2"]))
        else:
            if self.chance(15):
                self.rng.shuffle(conditions)
            self.rules.append(rule_text(f"{effect}({pair}, T)", conditions, self.rng.choice((":-", "if"))))

    def _delays(self, fluent: Fluent) -> None:
        names = [f"A{i}" for i in range(len(fluent.sorts))]
        term = term_text(fluent.name, names)
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
                self.rules.append(f"p({term_text(fluent.name, ['_'] * len(names))}={value}).")

    def _delay(self, fluent: Fluent, term: str, value: str, person: str) -> None:
        amount, conditions = str(self.rng.randint(1, 7)), list[str]()
        if person and self.chance(20):
            amount, conditions = "D", [f"wait({person}, D)"]
        elif self.chance(10):
            amount, conditions = "D", ["limit(E)", "D is floor(E) * 2"]
        elif person and self.chance(15):
            conditions = [f"good({person})"]
        others = [other for other in fluent.values if other != value]
        if not others or self.chance(30):
            self.rules.append(rule_text(f"ft({term}={value}, {amount})", conditions))
        else:
            target = self.rng.choice(others)
            self.rules.append(rule_text(f"fi({term}={value}, {term}={target}, {amount})", conditions))

    def _initially(self, fluent: Fluent) -> None:
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
        self.rules.append(rule_text(f"initially({term_text(fluent.name, names)}={value})", conditions))

    def _derived_event(self, rank: int) -> None:
        body = Body(self, rank + 1)
        body.fill()
        sorts = self.rng.choice(("", "x", "xx", "xn"))
        arguments = [body.bound_or_new(sort) for sort in sorts]
        self.rules.append(rule_text(f"happensAt({term_text(f'd{rank}', arguments)}, T)", body.conditions))
        self.derived[f"d{rank}"] = sorts, rank + 1

    # ------------------------------------------------------------------- determined fluents

    def _determined(self, rank: int) -> None:
        sorts, any_value = self.rng.choice(("", "x", "x", "xx")), self.chance(15)
        for _ in range(1 + self.chance(25)):
            self._interval_rule(f"f{rank}", [f"A{i}" for i in range(len(sorts))], "V" if any_value else "true")
        values = ("true", "on", "3") if any_value else ("true",)
        self.fluents.append(Fluent(f"f{rank}", sorts, values, "determined", rank))

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
            conditions.append(f"holdsFor({term_text(source.name, arguments)}={asked}, {pool[-1]})")
        conditions += self._about(people, bound)
        whole = self.chance(35)
        steps = self.rng.randint(int(whole), 3)
        judged = self.rng.sample(range(steps), self.rng.choice((1, 1, min(2, steps)))) if whole else ()
        for step in range(steps):
            result = self.interval()
            conditions += self._judgement(pool, result) if step in judged else [self._operation(pool, result)]
            pool.append(result)
        if self.chance(10):
            conditions.append(f"{pool[-1]} \\= []")
        head = [person if person in bound else self.constant("x") for person in people]
        self.rules.append(rule_text(f"holdsFor({term_text(name, head)}={value}, {pool[-1]})", conditions))

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
        entity = term_text(name, names) + ("" if value is None else f"={value}")
        self.rules.append(rule_text(f"grounding({entity})", conditions))
