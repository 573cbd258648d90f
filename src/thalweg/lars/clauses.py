"""One clause of the program as rules of the network: variables become slots, comparisons become tests (`comparisons`).

An aggregate that may be over nothing makes two rules of one (with a result, and with none and 0); so does an at-atom
of a predicate that has background facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from thalweg.analysis.places import matches_alone, moved_variable, outside, places, with_free_places
from thalweg.analysis.types import NUMBER, SYMBOL
from thalweg.language.rules import Aggregate, Call, Clause, Compare, Literal, Windowed, literal_terms
from thalweg.language.terms import (
    Number,
    Term,
    Variable,
    arguments,
    signature,
    variables,
)
from thalweg.lars.aggregates import Aggregated
from thalweg.lars.comparisons import Comparisons, Placed, Unsupported
from thalweg.lars.literals import (
    Elsewhere,
    Extra,
    InBackground,
    NoFact,
    Nothing,
    Unmatched,
    Written,
    groups_of,
    positioned,
    renamed,
)
from thalweg.lars.present import without_points
from thalweg.lars.rule import Option, Reads, Rule, Test, within
from thalweg.lars.store import Store
from thalweg.lars.windows import NO_CLIP, inside
from thalweg.protocol import Ints

if TYPE_CHECKING:
    from thalweg.lars.compile import Compiler


@dataclass(slots=True)
class Body:
    """A rule in the making. Slots of constants come first, so they are numbered at the end: until then constants
    are negative."""

    names: dict[str, int] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    reads: list[Reads] = field(default_factory=list)
    pending: list[Placed] = field(default_factory=list)

    def place(self, slot: int) -> int:
        """Where a slot is in the end."""
        return -slot - 2 if slot < -1 else slot if slot == -1 else slot + len(self.constants)


class RuleCompiler:
    """Compiles one clause."""

    def __init__(self, compiler: Compiler, index: int, clause: Clause) -> None:
        self.compiler = compiler
        self.index = index
        self.clause = with_free_places(clause)
        self._count = 0

    def run(self) -> None:
        """Add the rules of the clause to the network."""
        if signature(self.clause.head) in self.compiler.same:
            same = self.compiler.head(signature(self.clause.head), pointed=self.clause.at is not None)
            self._write(self.clause.body, (same,))
            return
        self.clause = without_points(self.clause, self.compiler.stands_now)
        self.clause = replace(self.clause, body=tuple(map(self._timeless, self.clause.body)))
        head = self.compiler.head(signature(self.clause.head), pointed=self.clause.at is not None)
        for body in self._variants():
            self._write(body, self._rule(body, head, self.index))

    def fill(self, view: Store) -> None:
        """Let the clause fill a view of its head."""
        self.clause = replace(self.clause, body=tuple(map(self._timeless, self.clause.body)))
        for body in self._variants():
            self._rule(body, view, None)

    def add(self, body: tuple[Literal | Extra, ...], head: Store) -> None:
        """Add the rule with another body to the network."""
        self._rule(body, head, self.index)

    def _write(self, literals: tuple[Literal | Extra, ...], stores: tuple[Store | None, ...]) -> None:
        written = self.compiler.network.written.setdefault(signature(self.clause.head), [])
        written.append(Written(self.index, self.clause, literals, stores))

    def _timeless(self, literal: Literal) -> Literal:
        """``[w] at(T) a`` with a time that nothing else asks for is ``[w] sometime a``."""
        if (
            not isinstance(literal, Windowed)
            or literal.window is None
            or not isinstance(literal.time, Variable)
        ):
            return literal
        terms = [self.clause.head, literal.atom, *([self.clause.at] if self.clause.at is not None else [])]
        terms += [t for other in self.clause.body if other is not literal for t in literal_terms(other)]
        if literal.time.name != "_" and any(v.name == literal.time.name for t in terms for v in variables(t)):
            return literal
        return replace(literal, mode="sometime", time=None)

    # ------------------------------------------------------------------ variants

    def _variants(self) -> Iterator[tuple[Literal | Extra, ...]]:
        """Bodies that together say what the clause says."""
        choices: list[list[tuple[Literal | Extra, ...]]] = []
        for literal in self.clause.body:
            choices.append(self._alternatives(literal))
        bodies: list[tuple[Literal | Extra, ...]] = [()]
        for options in choices:
            bodies = [(*body, *option) for body in bodies for option in options]
        yield from bodies

    def _alternatives(self, literal: Literal) -> list[tuple[Literal | Extra, ...]]:
        if isinstance(literal, Aggregate) and literal.function in ("count", "sum") and self._grouped(literal):
            return [(literal,), (Nothing(literal), Compare("=", literal.result, Number(0)))]
        if isinstance(literal, Call | Windowed) and matches_alone(self.clause, literal):
            return [(self._unmatched(literal),)]
        if isinstance(literal, Windowed) and literal.mode == "at" and self._on_background(literal):
            if not literal.negated:
                return [(literal,), (InBackground(literal),)]
            return [(literal, NoFact(self._apart(literal))), (literal, Elsewhere(literal))]
        return [(literal,)]

    def _unmatched(self, literal: Call | Windowed) -> Unmatched:
        asked, used = replace(literal, negated=False), outside(self.clause)
        own = dict.fromkeys(v.name for t in places(asked) for v in variables(t))
        name = f"matching {self.index} {self.clause.body.index(literal)}"
        return Unmatched(name, asked, self._source(asked), tuple(n for n in own if n in used and n != "_"))

    def _source(self, literal: Call | Windowed) -> Store:
        """The store that a literal reads."""
        if isinstance(literal, Call):
            return self.compiler.now(signature(literal.goal))
        return self.compiler.view(literal)

    def _grouped(self, literal: Aggregate) -> bool:
        """Are the groups of the aggregate bound by other literals?"""
        bound: set[str] = set()
        for other in self.clause.body:
            if isinstance(other, Call | Windowed) and not other.negated:
                terms = arguments(other.goal if isinstance(other, Call) else other.atom)
                if isinstance(other, Windowed) and other.time is not None:
                    terms = (*terms, other.time)
                for term in terms:
                    name = term.name if isinstance(term, Variable) else moved_variable(term)
                    bound |= {name} if name is not None else set()
        return set(groups_of(self.clause, literal)) <= bound

    def _apart(self, literal: Windowed) -> Windowed:
        """The literal with new names for the variables that occur in it alone."""
        others = [x for x in self.clause.body if x is not literal]
        terms = [
            self.clause.head,
            *(t for x in others for t in literal_terms(x)),
            *([literal.time] if literal.time else []),
        ]
        used = {v.name for t in terms for v in variables(t)}
        return replace(literal, atom=renamed(literal.atom, used))

    def _on_background(self, literal: Windowed) -> bool:
        return signature(literal.atom) in self.compiler.strata.background

    # ------------------------------------------------------------------ one rule

    def _rule(
        self, literals: tuple[Literal | Extra, ...], head: Store, origin: int | None
    ) -> tuple[Store | None, ...]:
        """Add the rule to the network; the stores that its literals read."""
        body, self._count = Body(), 0
        kinds = self.compiler.kinds_of(signature(self.clause.head))
        slots = [self._slot(body, t, k) for t, k in zip(arguments(self.clause.head), kinds, strict=True)]
        if self.clause.at is not None:
            slots.append(self._slot(body, self.clause.at, NUMBER))
            self._whole(body, slots[-1])
        stores = tuple(self._literal(body, literal) for literal in literals)
        self.compiler.network.rules.append(self._finished(body, head, slots, origin))
        return stores

    def _finished(self, body: Body, head: Store, slots: list[int], origin: int | None = None) -> Rule:
        """The rule that a body has become: constants have the first slots."""
        place = body.place
        reads = [replace(r, slots=tuple(map(place, r.slots))) for r in body.reads]
        tests = [make(place) for make in body.pending]
        constants = {place(slot): code for code, slot in body.constants.items()}
        return Rule(head, map(place, slots), reads, tests, constants, len(constants) + self._count, origin)

    def _fresh(self) -> int:
        self._count += 1
        return self._count - 1

    def _kind(self, variable: Variable) -> str:
        return self.compiler.types.variable(self.index, variable.name)

    def _tests(self, body: Body) -> Comparisons:
        return Comparisons(partial(self._slot, body), self._kind, self.compiler.codes)

    def _slot(self, body: Body, term: Term, kind: str) -> int:
        """The slot of a term in an argument position; expressions get one of their own and a test."""
        match term:
            case Variable("_"):
                return -1
            case Variable(name):
                if name not in body.names:
                    body.names[name] = self._fresh()
                return body.names[name]
            case _ if kind == NUMBER and not isinstance(term, Number):
                slot = self._fresh()
                body.pending.append(self._tests(body).equation(slot, term))
                return slot
            case _:
                code = self.compiler.codes.constant(term, kind)
                return body.constants.setdefault(code, -2 - len(body.constants))

    def _literal(self, body: Body, literal: Literal | Extra) -> Store | None:
        """Add a literal to the body; the store that it reads, if any."""
        store: Store | None = None
        match literal:
            case Call(goal, negated):
                store = self._read(body, self._source(literal), goal, (), negated)
            case Windowed(atom, _, _, time, negated):
                store = self._read(body, self._source(literal), atom, () if time is None else (time,), negated)
            case Unmatched():
                store = self._matched(literal)
                slots = [self._slot(body, Variable(n), SYMBOL) for n in literal.shared]
                body.reads.append(Reads(store, tuple(slots), negated=True))
            case Aggregate():
                store, groups = self._aggregate(literal)
                slots = [self._slot(body, Variable(n), SYMBOL) for n in groups]
                slots.append(self._slot(body, literal.result, NUMBER))
                body.reads.append(Reads(store, tuple(slots)))
            case Nothing(aggregate):
                store, groups = self._aggregate(aggregate)
                slots = [self._slot(body, Variable(n), SYMBOL) for n in groups]
                body.reads.append(Reads(store, (*slots, -1), negated=True))
            case InBackground(windowed):
                store = self._read(body, self._facts(windowed), windowed.atom, (), False)
                self._point_in(body, windowed, outside=False)
            case NoFact(windowed):
                store = self._read(body, self._facts(windowed), windowed.atom, (), True)
            case Elsewhere(windowed):
                self._point_in(body, windowed, outside=True)
            case Compare():
                body.pending.append(self._tests(body).compare(literal))
            case _:
                raise Unsupported("this literal has no meaning in LARS", self.clause.head)
        return store

    def _matched(self, literal: Unmatched) -> Store:
        """A view of what agrees with an atom that computes with variables of its own."""
        store, new = self.compiler.store(literal.name, len(literal.shared))
        if new:
            outer, self._count, body = self._count, 0, Body()
            slots = [self._slot(body, Variable(n), SYMBOL) for n in literal.shared]
            self._literal(body, literal.asked)
            self.compiler.network.rules.append(self._finished(body, store, slots))
            self._count = outer
        return store

    def _facts(self, windowed: Windowed) -> Store:
        found = self.compiler.facts(signature(windowed.atom))
        assert found is not None
        return found

    def _read(self, body: Body, store: Store, atom: Term, extra: tuple[Term, ...], negated: bool) -> Store:
        kinds = (*self.compiler.kinds_of(signature(atom)), *(NUMBER for _ in extra))
        slots = [self._slot(body, t, k) for t, k in zip((*arguments(atom), *extra), kinds, strict=True)]
        body.reads.append(Reads(store, tuple(slots), negated=negated))
        return store

    def _point_in(self, body: Body, windowed: Windowed, *, outside: bool) -> None:
        """The ticks whose window holds (or does not hold) the bound point of an at-atom."""
        assert windowed.time is not None
        slot = self._slot(body, windowed.time, NUMBER)
        window = windowed.window
        if window is not None and window.kind != "time":
            raise Unsupported("a background fact at a time in a window that counts atoms", windowed.atom)
        clip = NO_CLIP if window is None else inside(window, 0)
        self._clip(body, slot, clip, outside)

    def _whole(self, body: Body, slot: int) -> None:
        """A head's point must lie on the timeline."""
        self._clip(body, slot, NO_CLIP, False)

    def _clip(self, body: Body, slot: int, clip: Ints, outside: bool) -> None:
        start = self.compiler.start

        def make(place: Callable[[int], int]) -> Test:
            where = place(slot)
            return Test((Option(frozenset({where}), None, within(where, clip, start, outside=outside)),))

        body.pending.append(make)

    # ------------------------------------------------------------------ aggregates

    def _aggregate(self, literal: Aggregate) -> tuple[Store, list[str]]:
        """The store of an aggregate's results (groups, value), and the names of the groups."""
        compiler = self.compiler
        groups = groups_of(self.clause, literal)
        name = f"aggregate {self.index} {self.clause.body.index(literal)}"
        store, new = compiler.store(name, len(groups) + 1)
        if not new:
            return store, groups
        window = positioned(literal.window, literal.atom)
        occurrences = compiler.occurrences(signature(literal.atom), window)
        scratch = Store(f"groups of {name}", len(groups))
        outer, self._count = self._count, 0
        body = Body()
        heads = [self._slot(body, Variable(n), SYMBOL) for n in groups]
        self._read(body, occurrences, literal.atom, (Variable("a point"),), False)
        value = self._fresh()
        if literal.function == "count":
            body.pending.append(self._tests(body).equation(value, Number(1)))
        else:
            body.pending.append(self._tests(body).equation(value, literal.template))
        pattern, self._count = self._finished(body, scratch, heads), outer
        compiler.network.operators.append(
            Aggregated(literal.function, occurrences, scratch, pattern, body.place(value), store)
        )
        return store, groups
