"""What a reasoner is made of that depends on nothing but the program: the normal form with its hidden rules, which
relation is what, the rules by what they are about, and the facts as codes. It is found out once, and all reasoners of a
program share it.

On Spark a batch makes a reasoner per shard, and all of them would do the same work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from thalweg.columns.keys import KeyTable
from thalweg.columns.symbols import SymbolTable
from thalweg.events.bounds import BEFORE, BOTH, PAST, VIEW, hidden
from thalweg.events.compile import solve
from thalweg.events.constants import with_numbers
from thalweg.events.domains import Domains
from thalweg.events.forms import (
    Fact,
    Flat,
    Missing,
    Normal,
    PointRule,
    SpanRule,
    StartRule,
    Total,
    ended_whole,
    split_terminations,
)
from thalweg.events.normal import normalise
from thalweg.events.relations import holes
from thalweg.events.sorts import Coder, Sorts
from thalweg.events.stores import FactStore
from thalweg.language.program import Program
from thalweg.language.rules import Role


@dataclass(frozen=True, slots=True)
class Outline:
    """A program in normal form. `effects` and `happenings` are the rules of each fluent and event, `settled` the rules
    that facts give numbers to, by the identity of what they were; `seeds` are rules for what is known at the start;
    `symbols` are the texts of the facts, `facts` the facts in codes of those. Nothing of it is ever changed."""

    normal: Normal
    effects: Mapping[str, Sequence[PointRule]]
    happenings: Mapping[str, Sequence[PointRule]]
    settled: Mapping[int, PointRule | SpanRule]
    seeds: Sequence[StartRule]
    sorts: Sorts
    input_fluents: frozenset[str]
    simple: frozenset[str]
    spans: dict[str, list[SpanRule]]
    symbols: SymbolTable
    facts: dict[str, FactStore]

    def coded(self, symbols: SymbolTable | None) -> tuple[Coder, dict[str, FactStore]]:
        """Codes for a reasoner of its own, and the facts in them; with `symbols` known before, the codes are those."""
        if symbols is None:
            return Coder(self.sorts, self.symbols.copy()), self.facts
        coder = Coder(self.sorts, symbols)
        return coder, _facts(self.normal, coder)


def outline(program: Program) -> Outline:
    """The outline of a program."""
    return program.once(_outlined)


def _outlined(program: Program) -> Outline:
    normal = program.once(normalise).copy()
    every = ended_whole(normal.points)
    normal.points = [p for rule in normal.points for p in split_terminations(rule, every)]
    written = normal.points
    normal.points = [solve(p) for p in written]
    input_fluents = _input_fluents(normal)
    domains = Domains(normal, input_fluents, written)
    domains.extend()
    normal.points = [solve(p) for p in normal.points]
    for name, declared in normal.declared.items():
        if declared.role is Role.EVENT:
            normal.events.setdefault(name, len(declared.arguments))
    spans: dict[str, list[SpanRule]] = {}
    for s in normal.spans:
        spans.setdefault(s.fluent, []).append(s)
    coder = Coder(Sorts(replace(normal, starts=[*normal.starts, *domains.seeds])), SymbolTable())
    facts = _facts(normal, coder)
    effects: dict[str, list[PointRule]] = {}
    happenings: dict[str, list[PointRule]] = {}
    for p in normal.points:
        (happenings if p.effect is None else effects).setdefault(p.relation, []).append(p)
    settled: dict[int, PointRule | SpanRule] = {id(p): with_numbers(p, facts, coder) for p in normal.points}
    settled |= {id(s): with_numbers(s, facts, coder) for s in normal.spans}
    coder.symbols.expect_all()
    return Outline(
        normal,
        effects,
        happenings,
        settled,
        domains.seeds,
        coder.sorts,
        frozenset(input_fluents),
        frozenset(_simple(normal, domains.seeds)),
        spans,
        coder.symbols,
        facts,
    )


def _simple(normal: Normal, seeds: Sequence[StartRule]) -> set[str]:
    """Fluents that have a state."""
    found = {p.relation for p in normal.points if p.effect is not None}
    found |= {s.fluent for s in normal.starts} | {d.fluent for d in normal.delays} | {s.fluent for s in seeds}
    found |= {f for f in normal.fluents if hidden(f) and not f.startswith((VIEW, BOTH, PAST, BEFORE))}
    states = {n for n, d in normal.declared.items() if d.role is Role.STATE}
    return found | (states - {s.fluent for s in normal.spans})


def _input_fluents(normal: Normal) -> set[str]:
    """Fluents that are read and that no rule defines."""
    defined = {p.relation for p in normal.points if p.effect is not None} | {s.fluent for s in normal.spans}
    defined |= {s.fluent for s in normal.starts} | {d.fluent for d in normal.delays}
    declared = {n for n, d in normal.declared.items() if d.role in (Role.FLUENT, Role.POINTS)}
    states = {n for n, d in normal.declared.items() if d.role is Role.STATE}
    for n in declared | states:
        normal.fluents.setdefault(n, holes(n))
    return {f for f in normal.fluents if f not in defined and f not in states} | declared


# --------------------------------------------------------------------------- facts


def _facts(normal: Normal, coder: Coder) -> dict[str, FactStore]:
    """The background facts, by relation; those that are called and have no facts included."""
    found: dict[str, FactStore] = {}
    for name, facts in normal.facts.items():
        columns = [coder.facts(column, ("fact", name, i), facts.span) for i, column in enumerate(facts.columns)]
        table = KeyTable(len(columns))
        table.intern(columns, len(facts.rows))
        found[name] = FactStore(name, table)
    for name, arity in _called(normal):
        found.setdefault(name, FactStore(name, KeyTable(arity)))
    return found


def _called(normal: Normal) -> Iterable[tuple[str, int]]:
    """Background predicates that bodies mention, with their arities."""

    def facts(body: Sequence[Flat]) -> Iterable[tuple[str, int]]:
        for x in body:
            match x:
                case Fact(relation, args, _):
                    yield relation, len(args)
                case Missing(bodies):
                    for inner in bodies:
                        yield from facts(inner)
                case Total(_, _, inner, _):
                    yield from facts(inner)
                case _:
                    pass

    for rules in (normal.points, normal.starts, normal.delays, normal.postpones):
        for rule in rules:
            yield from facts(rule.body)
    for s in normal.spans:
        yield from facts(s.tests)
