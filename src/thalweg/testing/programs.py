"""Random event descriptions as text, over a small fixed vocabulary of input events and fluents.

A program is made of groups of fluents. A rule may read the state of earlier groups and, where cycles are
wanted, of its own; start and end, effects and derived events are only read from what stands before, so that
every program is legal.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from random import Random

from thalweg.reference.intervals import MODES

ENTITIES = ("a", "b", "c")
PLACES = ("home", "work")
EVENTS = {"e": ("x",), "g": ("x",), "h": ("x", "x"), "v": ("x", "n"), "go": ("x", "p"), "k": ()}
"""Input events and the sorts of their arguments: entity, number, place."""
INPUT_FLUENTS = {"near": ("x", "x"), "mode": ("x",), "walk": ("x",)}
INPUT_VALUES = {"near": ("true",), "mode": ("on", "off"), "walk": ("true",)}
"""Input fluents and their values; `walk` arrives as points."""
OPEN_NUMBER, OPEN_PLACE = "?n", "?p"
"""The value of a fluent whose values come from the data."""
OPEN = {OPEN_NUMBER: ("v", "n", ("3", "7", "_")), OPEN_PLACE: ("go", "p", (*PLACES, "_"))}
"""The event that brings such values, their sort, and values to ask for."""


@dataclass(frozen=True)
class Features:
    """What a random program may contain: at most `fluents` fluents, delays of at most `delay`, and each of the
    rest or not."""

    fluents: int = 4
    delay: int = 7
    negation: bool = True
    joins: bool = True
    free_heads: bool = True
    multivalued: bool = True
    open_values: bool = True
    determined: bool = True
    whole: bool = True
    derived: bool = True
    boundaries: bool = True
    affects: bool = True
    findall: bool = True
    background: bool = True
    arithmetic: bool = True
    disjunction: bool = True
    cycles: bool = True
    delays: bool = True
    initially: bool = True
    grounding: bool = True
    dynamic_domains: bool = True
    input_fluents: bool = True
    mixed: bool = False
    edges: bool = False
    told: bool = False
    """Fluents with simple and determined values, edges anywhere in a body, ``initially`` over dynamic domains: not in
    programs that must be explained to the last row."""

    @classmethod
    def all(cls) -> Features:
        """Everything."""
        return cls(mixed=True, edges=True, told=True)

    @classmethod
    def only(cls, *names: str, fluents: int = 4, delay: int = 7) -> Features:
        """Nothing but the named features."""
        flags = {field.name: field.name in names for field in fields(cls) if field.type == "bool"}
        if unknown := set(names) - set(flags):
            raise ValueError(f"no such features: {sorted(unknown)}")
        return cls(fluents=fluents, delay=delay, **flags)

    def without(self, *names: str) -> Features:
        """The same without the named features."""
        return replace(self, **dict.fromkeys(names, False))


def random_program(rng: Random, features: Features | None = None) -> str:
    """The text of a random, legal event description."""
    return _Writer(rng, features or Features()).text()


@dataclass(frozen=True)
class _Fluent:
    """A fluent of the program; `kind` is simple, determined, whole or input."""

    name: str
    sorts: tuple[str, ...]
    values: tuple[str, ...]
    kind: str
    group: int
    index: int


@dataclass(frozen=True)
class _Event:
    name: str
    sorts: tuple[str, ...]


@dataclass
class _Body:
    """A body while it is written: its conditions, and the variables they bind, with their sorts."""

    group: int
    index: int
    conditions: list[str]
    bound: dict[str, str]

    def of_sort(self, sort: str) -> list[str]:
        return [name for name, its in self.bound.items() if its == sort]


class _Writer:
    """Writes one program."""

    def __init__(self, rng: Random, features: Features) -> None:
        self.rng = rng
        self.features = features
        self.rules: list[str] = []
        self.fluents: list[_Fluent] = []
        self.events = [_Event(name, sorts) for name, sorts in EVENTS.items()]
        self._variables = 0
        self._grounded = features.grounding and self.chance(35)
        self._dynamic = self._grounded and features.dynamic_domains and self.chance(30)

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def wants(self, feature: str, percent: int) -> bool:
        """True with some chance, where the feature is on."""
        return bool(getattr(self.features, feature)) and self.chance(percent)

    def fresh(self) -> str:
        self._variables += 1
        return f"X{self._variables}"

    # ------------------------------------------------------------------- the program

    def text(self) -> str:
        if self.features.input_fluents:
            for name, sorts in INPUT_FLUENTS.items():
                self.fluents.append(_Fluent(name, sorts, INPUT_VALUES[name], "input", -1, -1))
            self.rules.append("points(walk(_)=true).")
        group = 0
        for index in range(self.rng.randint(1, self.features.fluents)):
            group += not (self.features.cycles and index and self.chance(50))
            self.fluents.append(self._fluent(index, group))
        for fluent in list(self.fluents):
            if fluent.kind == "simple":
                self._simple(fluent)
            elif fluent.kind != "input":
                self._determined(fluent)
                if len(fluent.values) > 1:
                    self._simple(replace(fluent, values=fluent.values[1:]))
            if fluent.kind != "input" and self.wants("derived", 40):
                self._derived_event(fluent)
        self.rules.extend(self._background())
        return "\n".join(self.rules) + "\n"

    def _fluent(self, index: int, group: int) -> _Fluent:
        sorts = ("x",) * self.rng.choice((0, 1, 1, 1, 1, 2))
        before = [f for f in self.fluents if f.group < group]
        values: tuple[str, ...]
        if before and self.wants("determined", 40 if index else 15):
            kind = "whole" if self.wants("whole", 35) else "determined"
            values = ("true", "off") if kind == "determined" and self.wants("mixed", 20) else ("true",)
            return _Fluent(f"f{index}", sorts, values, kind, group + (kind == "whole"), index)
        values = ("true",)
        if self.wants("multivalued", 60):
            values = self.rng.choice((("true", "false"), ("low", "mid", "high")))
        if self.wants("open_values", 15):
            values = (self.rng.choice((OPEN_NUMBER, OPEN_PLACE)),)
        return _Fluent(f"f{index}", sorts, values, "simple", group, index)

    def _background(self) -> list[str]:
        rules = ["good(a).", "good(c).", "linked(a, b).", "linked(b, c).", "delay(3).", "limit(4)."]
        rules.append("apart(X, Y, D) :- D is abs(X - Y).")
        rules.append("friend(X, Y) :- linked(X, Y).")
        rules.append("friend(X, Y) :- linked(Y, X), good(Y).")
        if self._grounded:
            rules += self._groundings()
        return rules

    def _groundings(self) -> list[str]:
        rules = [] if self._dynamic else [f"dom({entity})." for entity in self.rng.sample(ENTITIES, 2)]
        rules += ["dynamicDomain(dom(_))."] if self._dynamic else []
        for name, sorts in EVENTS.items():
            rules.append(self._grounding(name, sorts, None))
        for fluent in self.fluents:
            if fluent.kind == "input" and self._dynamic and self.chance(50):
                rules.append(self._grounding(fluent.name, fluent.sorts, "_", every=True))
            elif fluent.kind != "input" and self.chance(15):
                rules.append(self._grounding(fluent.name, fluent.sorts, "_"))
            elif fluent.kind != "input" and fluent.values[0] not in OPEN:
                values = fluent.values[:-1] if len(fluent.values) > 1 and self.chance(20) else fluent.values
                rules += [self._grounding(fluent.name, fluent.sorts, value) for value in values]
        return rules

    def _grounding(self, name: str, sorts: tuple[str, ...], value: str | None, *, every: bool = False) -> str:
        """A grounding over the domain; `every`: of all instances, which input has whether or not they are wanted."""
        variables = [f"X{i}" if sort == "x" else "_" for i, sort in enumerate(sorts)]
        body = ", ".join(f"dom(X{i})" for i, sort in enumerate(sorts) if sort == "x")
        if len(sorts) == 2 and self.chance(20) and value is not None and not every:
            body += ", X0 @< X1"
        pair = _term(name, variables) + (f"={value}" if value else "")
        return f"grounding({pair}) :- {body}." if body else f"grounding({pair})."

    # ------------------------------------------------------------------- simple fluents

    def _simple(self, fluent: _Fluent) -> None:
        for value in fluent.values:
            self._effect("initiatedAt", fluent, value)
            if self.chance(20):
                self._effect("initiatedAt", fluent, value)
        for value in fluent.values:
            if self.chance(80 if len(fluent.values) == 1 else 30):
                self._effect("terminatedAt", fluent, value)
        if fluent.values[0] not in OPEN:
            if self.wants("delays", 45):
                self._delays(fluent)
            if self.wants("initially", 25):
                self._initially(fluent)

    def _effect(self, effect: str, fluent: _Fluent, value: str) -> None:
        body = self._body(fluent)
        arguments = [self._head_argument(effect, sort, body) for sort in fluent.sorts]
        if value in OPEN:
            value = "_" if effect == "terminatedAt" else self._data_value(body, value)
        elif effect == "terminatedAt" and len(fluent.values) > 1 and self.chance(15):
            value = "_"
        head = f"{effect}({_term(fluent.name, arguments)}={value}, T)"
        self.rules.append(f"{head} :- {', '.join(body.conditions)}.")

    def _data_value(self, body: _Body, value: str) -> str:
        """A variable for an open value, bound by an event that carries data."""
        event, sort, _ = OPEN[value]
        variable, entity = self.fresh(), self._argument("x", body, fresh=40)
        body.conditions.append(f"happensAt({event}({entity}, {variable}), T)")
        body.bound[variable] = sort
        return variable

    def _head_argument(self, effect: str, sort: str, body: _Body) -> str:
        bound = body.of_sort(sort)
        if self.wants("free_heads", 12 if effect == "initiatedAt" else 20) or not bound:
            return self.fresh() if self.features.free_heads else self.rng.choice(ENTITIES)
        return self.rng.choice(bound) if self.chance(95) else self.rng.choice(ENTITIES)

    def _delays(self, fluent: _Fluent) -> None:
        arguments = [f"A{i}" for i in range(len(fluent.sorts))]
        term = _term(fluent.name, arguments)
        for value, after in zip(fluent.values, [*fluent.values[1:], fluent.values[0]], strict=True):
            if self.chance(35):
                continue
            amount, condition = str(self.rng.randint(1, self.features.delay)), ""
            if self.wants("background", 15):
                amount, condition = "D", " :- delay(D)"
            if after == value or self.chance(25):
                self.rules.append(f"ft({term}={value}, {amount}){condition}.")
            else:
                self.rules.append(f"fi({term}={value}, {term}={after}, {amount}){condition}.")
            if self.chance(50):
                self.rules.append(f"p({_term(fluent.name, ['_'] * len(arguments))}={value}).")

    def _initially(self, fluent: _Fluent) -> None:
        value = self.rng.choice(fluent.values)
        if fluent.sorts and self.wants("background", 50):
            variables = [f"A{i}" for i in range(len(fluent.sorts))]
            known = "dom" if self._dynamic and self.wants("told", 50) else "good"
            body = ", ".join(f"{known}({name})" for name in variables)
            self.rules.append(f"initially({_term(fluent.name, variables)}={value}) :- {body}.")
        else:
            self.rules.append(f"initially({_term(fluent.name, ['_'] * len(fluent.sorts))}={value}).")

    # ------------------------------------------------------------------- derived events

    def _derived_event(self, fluent: _Fluent) -> None:
        body = self._body(replace(fluent, index=fluent.index + 1))
        sorts = tuple(sort for sort in body.bound.values() if sort == "x")[:1]
        name = f"d{fluent.index}"
        arguments = [self.rng.choice(body.of_sort("x")) for _ in sorts]
        self.rules.append(f"happensAt({_term(name, arguments)}, T) :- {', '.join(body.conditions)}.")
        self.events.append(_Event(name, sorts))

    # ------------------------------------------------------------------- bodies

    def _body(self, fluent: _Fluent) -> _Body:
        """A body that begins with something that happens and goes on with conditions."""
        body = _Body(fluent.group, fluent.index, [], {})
        before = self._before(body)
        if before and self.wants("boundaries", 20):
            self._pair_condition(body, self.rng.choice(("start", "end")), self.rng.choice(before), fresh=100)
        elif [f for f in before if f.kind == "simple"] and self.wants("affects", 10):
            effect = self.rng.choice(("initiatedAt", "terminatedAt"))
            self._pair_condition(
                body, effect, self.rng.choice([f for f in before if f.kind == "simple"]), fresh=100
            )
        else:
            self._happens(body, self.rng.choice(self.events), fresh=100)
        for _ in range(self.rng.choice((0, 0, 0, 1, 1, 1, 2, 3))):
            self._condition(body)
        if self.chance(10):
            self.rng.shuffle(body.conditions)
        return body

    def _before(self, body: _Body) -> list[_Fluent]:
        """The fluents whose effects at a point do not wait for those of the rule being written."""
        return [
            f
            for f in self.fluents
            if f.kind == "input" or f.group < body.group or (f.index < body.index and f.kind == "simple")
        ]

    def _readable(self, body: _Body) -> list[_Fluent]:
        """The fluents whose state the rule may read."""
        cycles = self.features.cycles
        return [
            f
            for f in self.fluents
            if f.group < body.group or (f.group == body.group and (cycles or f.index < body.index))
        ]

    def _condition(self, body: _Body) -> None:
        readable = self._readable(body)
        choices = ["holds"] * 6 * bool(readable) + ["event"] + ["fact"] * 2 * self.features.background
        choices += ["edge"] * bool(self.features.edges and self._before(body))
        choices += ["count"] * bool(readable and self.features.findall)
        choices += ["number"] * 2 * bool(self.features.arithmetic and body.of_sort("n"))
        choices += ["either"] * bool(self.features.disjunction and body.of_sort("x"))
        match self.rng.choice(choices):
            case "holds":
                self._pair_condition(body, "holdsAt", self.rng.choice(readable), fresh=30)
            case "edge":
                edge = self.rng.choice(("start", "end"))
                self._pair_condition(body, edge, self.rng.choice(self._before(body)), fresh=30)
            case "event":
                self._happens(body, self.rng.choice(self.events), fresh=30)
            case "fact":
                self._fact(body)
            case "count":
                self._count(body, self.rng.choice(readable))
            case "number":
                self._comparison(body)
            case "either":
                body.conditions.append(f"({self._small(body)} ; {self._small(body)})")

    def _argument(self, sort: str, body: _Body, fresh: int, *, binds: bool = True) -> str:
        """A variable of the body, now and then a new one or a constant."""
        bound = body.of_sort(sort)
        if not bound or (self.features.joins and self.chance(fresh)):
            variable = self.fresh()
            if binds:
                body.bound[variable] = sort
            return variable if binds or self.chance(50) else "_"
        if sort == "x" and self.chance(8):
            return self.rng.choice(ENTITIES)
        return self.rng.choice(bound)

    def _happens(self, body: _Body, event: _Event, fresh: int) -> None:
        negated = bool(body.conditions) and self.wants("negation", 50)
        arguments = [self._argument(sort, body, fresh, binds=not negated) for sort in event.sorts]
        condition = f"happensAt({_term(event.name, arguments)}, T)"
        body.conditions.append(f"\\+ {condition}" if negated else condition)

    def _pair_condition(self, body: _Body, kind: str, fluent: _Fluent, fresh: int) -> None:
        negated = bool(body.conditions) and self.wants("negation", 40)
        arguments = [self._argument(sort, body, fresh, binds=not negated) for sort in fluent.sorts]
        pair = f"{_term(fluent.name, arguments)}={self._value(fluent)}"
        condition = f"happensAt({kind}({pair}), T)" if kind in ("start", "end") else f"{kind}({pair}, T)"
        body.conditions.append(f"\\+ {condition}" if negated else condition)

    def _value(self, fluent: _Fluent) -> str:
        """A value that is asked for."""
        value = "_" if self.chance(8) else self.rng.choice(fluent.values)
        return self.rng.choice(OPEN[value][2]) if value in OPEN else value

    def _fact(self, body: _Body) -> None:
        negation = "\\+ " if self.wants("negation", 40) else ""
        if self.chance(50):
            argument = self._argument("x", body, 0, binds=not negation)
            body.conditions.append(f"{negation}good({argument})")
        else:
            first = self._argument("x", body, 0, binds=not negation)
            second = self._argument("x", body, 60, binds=not negation)
            body.conditions.append(f"{negation}{self.rng.choice(('linked', 'friend'))}({first}, {second})")

    def _count(self, body: _Body, fluent: _Fluent) -> None:
        arguments = [self.fresh() for _ in fluent.sorts]
        if len(arguments) == 2 and body.of_sort("x") and self.chance(50):
            arguments[0] = self.rng.choice(body.of_sort("x"))
        pair = f"{_term(fluent.name, arguments)}={self._value(fluent)}"
        template, found, size = arguments[-1] if arguments else "1", self.fresh(), self.fresh()
        body.conditions.append(f"findall({template}, holdsAt({pair}, T), {found}), length({found}, {size})")
        body.conditions.append(f"{size} {self.rng.choice(('>=', '=:=', '<'))} {self.rng.randint(0, 3)}")

    def _comparison(self, body: _Body) -> None:
        number, operator = self.rng.choice(body.of_sort("n")), self.rng.choice(("<", ">", "=<", ">=", "=:="))
        choice = self.rng.randrange(3)
        if choice == 0:
            body.conditions.append(f"{number} {operator} {self.rng.choice((3, 4.5, 7))}")
        elif choice == 1 and self.features.background:
            difference, limit = self.fresh(), self.fresh()
            body.conditions.append(f"apart({number}, 5, {difference}), limit({limit})")
            body.conditions.append(f"{difference} {operator} {limit}")
        else:
            result = self.fresh()
            body.conditions.append(f"{result} is ({number} * 2 + 1) mod 5, {result} {operator} 2")

    def _small(self, body: _Body) -> str:
        """A condition on a bound variable, for a disjunction."""
        entity = self.rng.choice(body.of_sort("x"))
        readable = [f for f in self._readable(body) if len(f.sorts) == 1]
        if readable and self.chance(60):
            fluent = self.rng.choice(readable)
            return f"holdsAt({fluent.name}({entity})={self._value(fluent)}, T)"
        return f"{entity} = {self.rng.choice(ENTITIES)}"

    # ------------------------------------------------------------------- determined fluents

    def _determined(self, fluent: _Fluent) -> None:
        for _ in range(1 + self.chance(25)):
            variables = [f"A{i}" for i in range(len(fluent.sorts))]
            conditions: list[str] = []
            leaves = [self._leaf(fluent, variables, conditions) for _ in range(self.rng.randint(1, 3))]
            result = self._expression(fluent, leaves, conditions)
            used = [v for v in variables if any(v in c for c in conditions)]
            arguments = [v if v in used else self.rng.choice(ENTITIES) for v in variables]
            head = f"holdsFor({_term(fluent.name, arguments)}=true, {result})"
            self.rules.append(f"{head} :- {', '.join(conditions)}.")

    def _leaf(self, fluent: _Fluent, variables: list[str], conditions: list[str]) -> str:
        readable = [
            f
            for f in self.fluents
            if f.group < fluent.group
            or (f.group == fluent.group and f.kind == "simple" and fluent.kind != "whole")
        ]
        source = self.rng.choice(readable)
        arguments = [
            self.rng.choice(variables) if variables and self.chance(90) else self.rng.choice(("a", "_"))
            for _ in source.sorts
        ]
        intervals = self.fresh().replace("X", "I")
        conditions.append(f"holdsFor({_term(source.name, arguments)}={self._value(source)}, {intervals})")
        return intervals

    def _expression(self, fluent: _Fluent, leaves: list[str], conditions: list[str]) -> str:
        """Operations over the leaves, each result a leaf of the next."""
        whole_at = self.rng.choice(((0,), (1,), (0, 1), (0, 2))) if fluent.kind == "whole" else ()
        steps = max(2, whole_at[-1] + 1) if whole_at else self.rng.randint(1, 2)
        for step in range(steps):
            result = self.fresh().replace("X", "I")
            write = self._whole_operation if step in whole_at else self._operation
            conditions.append(write(leaves, result))
            leaves = [*leaves, result]
        return leaves[-1]

    def _operation(self, leaves: list[str], result: str) -> str:
        last = leaves[-1]
        some = [*{last, *self.rng.sample(leaves, self.rng.randint(1, len(leaves)))}]
        listed = ", ".join(sorted(some))
        match self.rng.randrange(4):
            case 0:
                return f"union_all([{listed}], {result})"
            case 1:
                return f"intersect_all([{listed}], {result})"
            case 2:
                return f"complement_all([{listed}], {result})"
            case _:
                return f"relative_complement_all({self.rng.choice(leaves)}, [{listed}], {result})"

    def _whole_operation(self, leaves: list[str], result: str) -> str:
        if self.chance(50):
            name = self.rng.choice(("intDurGreater", "intDurLess"))
            return f"{name}({leaves[-1]}, {self.rng.randint(1, 8)}, {result})"
        relation = self.rng.choice(("before", "meets", "overlaps", "starts", "finishes", "during", "equal"))
        mode = self.rng.choice(MODES)
        return f"allen({relation}, {self.rng.choice(leaves)}, {leaves[-1]}, {mode}, {result})"


def _term(name: str, arguments: list[str]) -> str:
    return f"{name}({', '.join(arguments)})" if arguments else name
