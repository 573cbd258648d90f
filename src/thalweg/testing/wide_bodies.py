"""Bodies of the rules of wide programs: conditions, and the variables they bind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thalweg.testing.wide_words import EVENTS, Fluent, term_text

if TYPE_CHECKING:
    from thalweg.testing.wide_programs import Writer

_NEGATIONS = ("not ", "\\+ ", "\\+ ")
_COMPUTED = (
    "({a} * 2 + 1) mod 5", "abs({a}) - {b}", "min({a}, {b})", "{a} / 2", "{a} // 2", "floor({a}) rem 3", "-{a}",
    "- {a} + {b}", "{a} / {b}", "round({a} / 3)", "sqrt({a})", "{a} ** 2", "max({a}, pi)", "truncate({a} / 2) div 2",
    "2 - 1 - {a}", "({a} - 1) * -1",
)  # fmt: skip


@dataclass
class Body:
    """A body while it is written: its conditions, and the variables they bind, with their sorts."""

    writer: Writer
    rank: int
    conditions: list[str] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng, self.chance, self.fresh = self.writer.rng, self.writer.chance, self.writer.fresh

    def inner(self) -> Body:
        """A body inside of this one: what it binds is not bound outside."""
        return Body(self.writer, self.rank, [], dict(self.bound))

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

    def _before(self) -> list[Fluent]:
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
        return f"happensAt({term_text(name, self._arguments(sorts, fresh, binds=binds))}, T)"

    def _pair(self, kind: str, fluent: Fluent, fresh: int, *, binds: bool) -> str:
        value = self.writer.value(fluent)
        if fluent.open and self.chance(35):
            value = self._argument(fluent.open, 60, binds=binds)
        elif binds and self.chance(4):
            value = self.fresh("V")
        pair = f"{term_text(fluent.name, self._arguments(fluent.sorts, fresh, binds=binds))}={value}"
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

    def _found(self, fluent: Fluent) -> list[str]:
        """What findall finds, counted or added up."""
        names = {self.fresh(): sort for sort in fluent.sorts}
        given = [self._given(name, sort) for name, sort in names.items()]
        own = {name: sort for name, sort in names.items() if name in given}
        value = self.writer.value(fluent)
        if fluent.open == "n" and self.chance(60):
            value = self.fresh("V")
            own[value] = "n"
        source = f"holdsAt({term_text(fluent.name, given)}={value}, T)"
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
