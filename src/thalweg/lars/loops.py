"""Rules that depend on themselves, taken out of their network, so that a copy of them can be run ahead of time.

Of each body the part that rests on the points of heads is unfolded as a whole: it becomes one literal, over a store of
what the rest of the rule needs to know. Everything else outside the loop is read as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from thalweg.analysis.types import NUMBER
from thalweg.columns.symbols import as_floats
from thalweg.language.rules import Aggregate, Call, Clause, Compare, Literal, Windowed, literal_terms
from thalweg.language.terms import Atom, Compound, Term, Variable, arguments, signature, variables
from thalweg.lars.choice import Naming
from thalweg.lars.clauses import RuleCompiler
from thalweg.lars.compile import Compiler
from thalweg.lars.engine import Engine
from thalweg.lars.labels import FOREVER
from thalweg.lars.literals import (
    Elsewhere,
    Extra,
    InBackground,
    NoFact,
    Nothing,
    Unmatched,
    Written,
    groups_of,
)
from thalweg.lars.operators import Moment
from thalweg.lars.store import NOTHING, Store
from thalweg.lars.unfolding import Body
from thalweg.lars.windows import NONE
from thalweg.protocol import Ints

Piece = tuple[tuple[int, ...], int, int]
"""A tuple, and ticks from when to when it is in."""
State = frozenset[tuple[str, tuple[int, ...]]]
"""What is in at a tick: tuples by the name of their store."""


class Entangled(Exception):
    """The loop cannot be taken out of its network."""


class Outer(NamedTuple):
    """A part of a body, and the variables whose values the rest of the rule needs."""

    written: Written
    body: Body
    needed: tuple[str, ...]


class _Split(NamedTuple):
    """A rule whose body is in two: what is unfolded as a whole, and the rest."""

    clause: Clause
    outer: Body
    rest: Body
    needed: tuple[str, ...]


# --------------------------------------------------------------------------- bodies in two


def names(literal: Literal | Extra) -> set[str]:
    """The variables of a literal."""
    match literal:
        case Nothing(aggregate):
            terms = literal_terms(aggregate)
        case InBackground(windowed) | NoFact(windowed) | Elsewhere(windowed):
            terms = literal_terms(windowed)
        case Unmatched(shared=shared):
            terms = tuple(map(Variable, shared))
        case _:
            terms = literal_terms(literal)
    return {v.name for t in terms for v in variables(t) if v.name != "_"}


def _gives(literal: Literal | Extra) -> bool:
    """Does a literal bind its variables by itself?"""
    return isinstance(literal, Aggregate) or (isinstance(literal, Call | Windowed) and not literal.negated)


def split(written: Written, own: set[str], moving: set[str]) -> _Split:
    """The literals outside a loop that hang together with something that moves, with all that is bound by them alone;
    and the rest."""
    body: Body = tuple(zip(written.literals, written.stores, strict=True))
    outside = [x for x in body if x[1] is None or x[1].name not in own]
    taken = [x for x in outside if _gives(x[0]) and x[1] is not None and x[1].name in moving]
    while True:
        reached = set[str]().union(*(names(x) for x, _ in taken))
        more = [x for x in outside if x not in taken and (_gives(x[0]) or isinstance(x[0], Compare))]
        more = [x for x in more if names(x[0]) & reached]
        if not more:
            break
        taken += more
    bound = _bound(taken)
    taken = [x for x in outside if (x in taken and names(x[0]) <= bound) or (x not in taken and _tests(x, body, bound))]
    outer = tuple(taken) if any(_gives(x) for x, _ in taken) else ()
    rest = tuple(x for x in body if x not in outer)
    if not outer:
        return _Split(written.clause, (), rest, ())
    values = _Values(bound)
    clause = replace(
        written.clause,
        head=values.named(written.clause.head),
        at=None if written.clause.at is None else values.name(written.clause.at),
    )
    rest = tuple((values.in_literal(x), store) for x, store in rest)
    outer += tuple((Compare("=", variable, term), None) for term, variable in values.found.items())
    terms = [clause.head, *([clause.at] if clause.at is not None else [])]
    wanted = {v.name for t in terms for v in variables(t)}.union(*(names(x) for x, _ in rest))
    computed = {v.name for v in values.found.values()}
    return _Split(clause, outer, rest, tuple(sorted((bound | computed) & wanted)))


class _Values:
    """Names for what is computed from bound variables, so that the rest of a rule needs the results only."""

    def __init__(self, bound: set[str]) -> None:
        self._bound = bound
        self.found: dict[Term, Variable] = {}

    def name(self, term: Term) -> Term:
        """The term, or a variable for what it computes."""
        inside = {v.name for v in variables(term)}
        if isinstance(term, Compound) and inside and inside <= self._bound:
            return self.found.setdefault(term, Variable(f"value {len(self.found)}"))
        return term

    def named(self, atom: Term) -> Term:
        """The same for the arguments of an atom."""
        return Compound(atom.functor, tuple(map(self.name, atom.args))) if isinstance(atom, Compound) else atom

    def in_literal(self, literal: Literal | Extra) -> Literal | Extra:
        """The same for the arguments of a literal."""
        match literal:
            case Call(goal):
                return replace(literal, goal=self.named(goal))
            case Windowed(atom, _, _, time) if time is not None:
                return replace(literal, atom=self.named(atom), time=self.name(time))
            case Windowed(atom):
                return replace(literal, atom=self.named(atom))
            case _:
                return literal


def _bound(body: Iterable[tuple[Literal | Extra, Store | None]]) -> set[str]:
    """The variables that literals give values, comparisons with one unknown side included."""
    literals = [x for x, _ in body]
    bound = set[str]().union(*(names(x) for x in literals if _gives(x)))
    while True:
        more = set[str]()
        for x in literals:
            if isinstance(x, Compare) and x.op in ("=", "==", "is") and not x.negated:
                for one, other in ((x.left, x.right), (x.right, x.left)):
                    if isinstance(one, Variable) and {v.name for v in variables(other)} <= bound:
                        more.add(one.name)
        if more <= bound:
            return bound
        bound |= more


def _tests(literal: tuple[Literal | Extra, Store | None], body: Body, bound: set[str]) -> bool:
    """Can a literal that gives nothing be decided from what is bound? Variables of its own do not matter."""
    x = literal[0]
    if _gives(x) or isinstance(x, Compare):
        return False
    shared = names(x) & set[str]().union(*(names(other) for other, _ in body if other is not x))
    return bool(bound) and shared <= bound


# --------------------------------------------------------------------------- the loop


class Loop:
    """A copy of the rules of some stores. `outers`: what is read and has to be unfolded, by the name of the store that
    takes it; `moved`: stores of the network that do; the other sources are read as they are."""

    def __init__(
        self, compiler: Compiler, own: set[str], moving: set[str], weighs: set[str], naming: Naming
    ) -> None:
        self._main = compiler.network.stores
        self._sub = compiler.apart()
        self._own = own
        self._of: dict[str, str] = {}
        self.outers: dict[str, Outer] = {}
        self._inside_out(compiler, moving)
        network = self._sub.network
        if network.operators:
            raise Entangled
        heads = {r.head.name for r in network.rules}
        self.sources = {n: s for n, s in network.stores.items() if n not in heads and n not in self.outers}
        self.moved = {n for n in self.sources if self._of.get(n, n) in moving}
        self._clipped = {r.store.name for rule in network.rules for r in rule.reads if r.window[0] != NONE}
        self._names = _Names(naming, {id(s): self._main[n] for n, s in network.stores.items() if n in self._main})
        self.engine = Engine(network, Moment(0, 0, 0), weighs, self._names, predict=False)

    def original(self, name: str) -> str:
        """The name, in the network, of what a source copies."""
        return self._of.get(name, name)

    def _inside_out(self, compiler: Compiler, moving: set[str]) -> None:
        """The rules, with one literal for all that is unfolded."""
        tables = (compiler.network.plain, False), (compiler.network.ahead, True)
        for table, pointed in tables:
            for predicate, store in table.items():
                for written in compiler.network.written.get(predicate, ()) if store.name in self._own else ():
                    if (written.clause.at is not None) == pointed:
                        self._rule(written, split(written, self._own, moving))

    def _rule(self, written: Written, parts: _Split) -> None:
        sub, clause = self._sub, parts.clause
        literals: list[Literal | Extra] = []
        if parts.outer:
            kinds = tuple(NUMBER for _ in parts.needed)
            atom, name = self._named(f"outside {len(self.outers)}", [Variable(n) for n in parts.needed], kinds)
            self.outers[name] = Outer(written, parts.outer, parts.needed)
            literals.append(Call(atom, False))
        for literal, store in parts.rest:
            inner = store is None or store.name in self._own
            literals.append(literal if inner else self._read(literal, store, written))
        if any(isinstance(x, InBackground | NoFact | Elsewhere) for x in literals):
            raise Entangled
        head = sub.head(signature(clause.head), pointed=clause.at is not None)
        RuleCompiler(sub, written.index, clause).add(tuple(literals), head)

    def _read(self, literal: Literal | Extra, store: Store | None, written: Written) -> Literal:
        """A literal over a store that is read as it is."""
        assert store is not None
        kinds_of = self._sub.network.kinds
        negated = isinstance(literal, Nothing | Unmatched)
        match literal:
            case Call(goal, negated):
                terms, kinds = arguments(goal), kinds_of[signature(goal)]
            case Windowed(atom, _, _, time, negated):
                terms, kinds = arguments(atom), kinds_of[signature(atom)]
                if time is not None:
                    terms, kinds = (*terms, time), (*kinds, NUMBER)
            case Aggregate() | Nothing():
                aggregate = literal.aggregate if isinstance(literal, Nothing) else literal
                groups = groups_of(written.clause, aggregate)
                result = Variable("_") if negated else aggregate.result
                kinds = (*(self._sub.types.variable(written.index, n) for n in groups), NUMBER)
                terms = (*map(Variable, groups), result)
            case Unmatched(shared=shared):
                terms = tuple(map(Variable, shared))
                kinds = tuple(self._sub.types.variable(written.index, n) for n in shared)
            case _:
                raise Entangled
        atom, name = self._named(f"read {len(self._of)}", terms, kinds)
        self._of[name] = store.name
        return Call(atom, negated)

    def _named(self, name: str, terms: Iterable[Term], kinds: tuple[str, ...]) -> tuple[Term, str]:
        """An atom of a predicate that has no rules, and the name of its store."""
        listed = tuple(terms)
        predicate = (name, len(listed))
        store = self._sub.given(predicate, kinds)
        return (Compound(name, listed) if listed else Atom(name)), store.name

    # ------------------------------------------------------------------ running ahead

    def last_end(self, after: int) -> int:
        """The last tick at which something that does not move changes by itself."""
        ends = [after]
        for name in self.sources.keys() - self.moved:
            store = self._main[self.original(name)]
            pieces = store.live(after)
            ends += pieces[:, 1:][pieces[:, 1:] < FOREVER].tolist()
            if name in self._clipped:
                ends += as_floats(store.keys[pieces[:, 0], -1]).astype(np.int64).tolist()
        return max(ends)

    @property
    def is_steady(self) -> bool:
        """Do the rules look at now only through what they read, or at points that are known?"""
        return self._clipped <= self.sources.keys() - self.moved

    def run(self, start: int, after: int, last: int, read: dict[str, tuple[Ints, Ints]]) -> None:
        """Follow the rules from a tick on; `read` gives rows and pieces for what moves."""
        engine = self.engine
        engine.moment = Moment(start, after + 1, last)
        for name, copy in engine.network.stores.items():
            if name in read:
                copy.forget()
                rows, pieces = read[name]
                copy.change(copy.absorb(rows, pieces, np.arange(copy.width), after + 1), NOTHING)
            elif name in self.sources:
                copy.adopt(self._main[self.original(name)])
                copy.change(copy.live(after + 1), NOTHING)
            else:
                copy.forget()
        self._names.loops.clear()
        for choice in engine.choices:
            choice.forget()
            for copy in choice.stores:
                _stand(self._main[copy.name], copy, after)
        engine.start({})
        engine.end_round()

    def states(self, ticks: Iterable[int]) -> list[State]:
        """What has been chosen at ticks."""
        stores = [s for choice in self.engine.choices for s in choice.stores]
        return [
            frozenset(
                (s.name, tuple(s.keys[i].tolist()))
                for s in stores
                for i, first, last in s.live(t).tolist()
                if first <= t <= last
            )
            for t in ticks
        ]

    def pieces(self, name: str) -> Iterable[Piece]:
        """The labels of one of its stores."""
        return pieces_of(self.engine.network.stores[name])

    def blank(self) -> Iterable[tuple[str, int, int]]:
        """From when to when there is no answer, with the text of the loop to blame."""
        texts = {code: text for text, code in self._names.loops.items()}
        for choice in self.engine.choices:
            for key, first, last in pieces_of(choice.blank):
                yield texts[key[0]], first, last


class _Names:
    """Names for the copies of stores."""

    def __init__(self, naming: Naming, of: dict[int, Store]) -> None:
        self._naming, self._of = naming, of
        self.loops: dict[str, int] = {}

    def atom(self, store: Store, key: Ints) -> tuple[str, int | None]:
        return self._naming.atom(self._of[id(store)], key)

    def loop(self, text: str) -> int:
        return self.loops.setdefault(text, len(self.loops))


def pieces_of(store: Store) -> Iterable[Piece]:
    """The labels of a store."""
    for i, first, last in store.live(-FOREVER).tolist():
        yield tuple(store.keys[i].tolist()), first, last


def _stand(store: Store, copy: Store, tick: int) -> None:
    """Let what is in at a tick be in there and nowhere else."""
    pieces = store.live(tick)
    pieces = pieces[pieces[:, 1] <= tick]
    pieces[:, 1:] = tick
    copy.absorb(store.keys, pieces, np.arange(copy.width), tick)
