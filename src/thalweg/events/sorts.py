"""Which columns hold numbers and which hold symbols, on the normal form.

Positions that meet in a variable form a class; a class is numeric when a member takes part in arithmetic, is a count or
is declared a number. `analysis.types` answers the same question for people, on the program as written.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import numpy as np

from thalweg.analysis.types import COMPUTED, INFINITE
from thalweg.columns.symbols import SymbolTable, number, number_text
from thalweg.events.background import FactColumn, constant_of
from thalweg.events.forms import (
    EdgeAt,
    EffectAt,
    EventAt,
    Fact,
    Flat,
    HoldsAt,
    Missing,
    Normal,
    PostponeRule,
    StartRule,
    Test,
    Total,
)
from thalweg.events.relations import refuse
from thalweg.language.rules import Duration, Kind
from thalweg.language.terms import NOWHERE, Atom, Compound, Number, Span, Term, Variable
from thalweg.protocol import Ints

NUMERIC = frozenset(["<", ">", "=<", ">=", "=:=", "=\\=", "is"])
Node = Hashable


class Sorts:
    """Union-find over positions and variables, with a mark on numeric classes."""

    def __init__(self, normal: Normal) -> None:
        self._parent: dict[Node, Node] = {}
        self._numeric: set[Node] = set()
        self._marks: list[Node] = []
        for scope, heads, body in scopes(normal):
            for kind, name, terms in heads:
                self._terms(scope, kind, name, terms)
            self._body(scope, body)
        for name, arity in normal.fluents.items():
            if name.startswith("values "):
                for i in range(arity):
                    self._join(("fluent", name, i), ("fluent", name.removeprefix("values "), i))
                self._join(("value", name, 0), ("value", name.removeprefix("values "), 0))
        for d in normal.delays:
            self._mark(("term", id(d), d.delay), id(d))
        for s in normal.spans:
            for step in s.steps:
                if isinstance(step, Duration):
                    self._mark(("term", id(s), step.bound), id(s))
        for relation, table in normal.facts.items():
            for i in range(len(table.rows[0])):
                self._find(("fact", relation, i))
        for name, declared in normal.declared.items():
            kind = "event" if declared.role.value == "event" else "fluent"
            for i, argument in enumerate(declared.arguments):
                if argument.type in ("int", "float", "number"):
                    self._marks.append((kind, name, i))
        self._numeric = {self._find(n) for n in self._marks}

    def numeric(self, node: Node) -> bool:
        """True when the position or variable holds numbers."""
        return self._find(node) in self._numeric

    def _find(self, node: Node) -> Node:
        parents = self._parent
        parent = parents.setdefault(node, node)
        while (above := parents[parent]) != parent:
            parents[node] = above  # every way is half as long the next time
            node, parent = parent, above
        return parent

    def _join(self, a: Node, b: Node) -> None:
        self._parent[self._find(a)] = self._find(b)

    def _terms(self, scope: int, kind: str, name: str, terms: Iterable[Term]) -> None:
        for i, t in enumerate(terms):
            node = (kind, name, i)
            self._find(node)
            if isinstance(t, Variable):
                self._join(node, ("var", scope, t.name))
            elif isinstance(t, Compound) and t.functor in "+-*/":
                self._marks.append(node)
                self._mark(("term", scope, t), scope)

    def _mark(self, node: tuple[str, int, Term], scope: int) -> None:
        """Every variable of an arithmetic term is a number."""
        stack = [node[2]]
        while stack:
            match stack.pop():
                case Variable(name):
                    self._marks.append(("var", scope, name))
                case Compound(_, args):
                    stack.extend(args)

    def _body(self, scope: int, body: Iterable[Flat]) -> None:
        for x in body:
            match x:
                case EventAt(relation, args, _):
                    self._terms(scope, "event", relation, args)
                case (
                    HoldsAt(fluent, args, value, _, _)
                    | EdgeAt(_, fluent, args, value, _)
                    | EffectAt(_, fluent, args, value, _, _)
                ):
                    self._terms(scope, "fluent", fluent, args)
                    self._terms(scope, "value", fluent, (value,))
                case Fact(relation, args, _):
                    self._terms(scope, "fact", relation, args)
                case Test(op, left, right, _):
                    self._test(scope, op, left, right)
                case Total(function, template, inner, result):
                    self._body(scope, inner)
                    self._mark(("term", scope, result), scope)
                    if function != "count":
                        self._mark(("term", scope, template), scope)
                case Missing(bodies):
                    for inner in bodies:
                        self._body(scope, inner)

    def _test(self, scope: int, op: str, left: Term, right: Term) -> None:
        arithmetic = any(isinstance(t, Compound) and t.functor in ARITHMETIC for t in (left, right))
        if op in NUMERIC or arithmetic:
            self._mark(("term", scope, left), scope)
            self._mark(("term", scope, right), scope)
        elif isinstance(left, Variable) and isinstance(right, Variable) and not op.startswith("@"):
            self._join(("var", scope, left.name), ("var", scope, right.name))


ARITHMETIC = frozenset(name for name, _ in COMPUTED[Kind.EVENTS])


def scopes(normal: Normal) -> Iterable[tuple[int, list[tuple[str, str, tuple[Term, ...]]], tuple[Flat, ...]]]:
    """Every rule as (scope id, head positions, body)."""
    for p in normal.points:
        if p.value is None:
            yield id(p), [("event", p.relation, p.args)], p.body
        else:
            yield id(p), [("fluent", p.relation, p.args), ("value", p.relation, (p.value,))], p.body
    for s in normal.spans:
        inputs = (*(x for _, x in s.inputs), *s.gates)
        yield id(s), [("fluent", s.fluent, s.args), ("value", s.fluent, (s.value,))], inputs + s.tests
    conditionals: list[StartRule | PostponeRule] = [*normal.starts, *normal.postpones]
    for q in conditionals:
        yield id(q), [("fluent", q.fluent, q.args), ("value", q.fluent, (q.value,))], q.body
    for d in normal.delays:
        heads = [("fluent", d.fluent, d.args), ("value", d.fluent, (d.value,))]
        if d.target is not None:
            heads.append(("value", d.fluent, (d.target,)))
        yield id(d), heads, d.body
    for found in normal.wanted.values():
        for w in found:
            kind = "event" if w.relation in normal.events and w.relation not in normal.fluents else "fluent"
            heads = [(kind, w.relation, w.args)]
            if w.value is not None:
                heads.append(("value", w.relation, (w.value,)))
            yield id(w), heads, w.body


class Coder:
    """Constants of the program as codes, by the sort of the place where they stand."""

    def __init__(self, sorts: Sorts, symbols: SymbolTable) -> None:
        self.sorts = sorts
        self.symbols = symbols

    def constant(self, term: Term, node: Node, span: Span = NOWHERE) -> int:
        """The code of a constant in a position."""
        if self.sorts.numeric(node):
            if term == Atom(INFINITE):
                return number(math.inf)
            if not isinstance(term, Number):
                raise refuse(f"{constant_of(term)} stands where a number is expected", span, "write a number")
            return number(term.value)
        return self.symbols.add(constant_of(term))

    def facts(self, column: FactColumn, node: Node, span: Span = NOWHERE) -> Ints:
        """The codes of the facts' constants in one position."""
        if not self.sorts.numeric(node):
            return self.symbols.add_all(column.texts)[column.which]
        codes = [self.constant(term, node, span) for term in column.constants]
        return np.array(codes, np.int64)[column.which]

    def text(self, code: int, node: Node) -> str:
        """The text of a code."""
        if self.sorts.numeric(node):
            return number_text(float(np.int64(code).view(np.float64)))
        return self.symbols.texts[code]
