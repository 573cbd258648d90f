"""What an atom says of now: its rules unfolded into a condition on the tick.

A head without a point stands at the tick of evaluation, so what a rule computes from such a point (`T mod 7`, a head
``q(T)``) is a function of now, and so is the truth of all that rests on it: without further input everything
else has a label that is known to its end. `Unfolding` follows the rules down to such labels, with points and what is
computed from them as expressions over now, and gives the condition under which an atom is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from thalweg.analysis.order import reached
from thalweg.analysis.types import NUMBER
from thalweg.columns.symbols import number
from thalweg.language.rules import Aggregate, Call, Compare, Literal, Window, Windowed
from thalweg.language.terms import Compound, Term, Variable, arguments, signature, variables
from thalweg.lars.codes import Codes
from thalweg.lars.compile import Network, counted_name
from thalweg.lars.components import Zone, zones
from thalweg.lars.conditions import (
    NOW,
    Condition,
    Expression,
    Within,
    compared,
    computed,
    every,
    exists,
    no,
    some,
)
from thalweg.lars.counting import TupleWindow
from thalweg.lars.diagonal import Diagonal
from thalweg.lars.gathering import (
    Member,
    Occurrence,
    aggregated,
    at_every_point,
    counted,
    counted_at_every_point,
    distinct,
    inside,
)
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
)
from thalweg.lars.store import Store
from thalweg.lars.stratify import Predicate
from thalweg.lars.symbolic import Bound, Found, Terms, Unknown, Value, numeric, same, value_of
from thalweg.lars.windows import first_seeing

Body = tuple[tuple[Literal | Extra, Store | None], ...]
"""Literals, each with the store that it reads, if any."""
Row = tuple[tuple[Value, ...], Condition]
"""A tuple whose numbers may depend on now, and when it is there."""
Foreseen = Callable[[str], Iterable[tuple[tuple[int, ...], Condition]]]
"""The tuples of a store that cannot be unfolded, and when they are in; Unknown where that is not known either."""


class Unfolding:
    """Conditions of the atoms of a network. `since`: labels count from this tick on. `opaque`: stores of heads that
    depend on themselves, of which `foreseen` tells."""

    def __init__(self, network: Network, codes: Codes, start: int) -> None:
        self.network = network
        self.start = float(start)
        self.since = start
        self.moving = moving_stores(network)
        self.opaque: set[str] = set()
        self.foreseen: Foreseen = _nothing
        self._terms = Terms(codes)
        self._points = {o.writes.name: o.reads[0].name for o in network.operators if isinstance(o, Diagonal)}
        self._readers = {
            store.name: (w, x)
            for bodies in network.written.values()
            for w in bodies
            for x, store in zip(w.literals, w.stores, strict=True)
            if store is not None
        }
        self._counting = {o.writes.name: o for o in network.operators if isinstance(o, TupleWindow)}

    # ------------------------------------------------------------------ questions

    def head(self, predicate: Predicate, pointed: bool, key: Iterable[int]) -> Condition:
        """When a head (with its point as the last number of the key, where it has one) is in."""
        values = self._values(key, (*self.network.kinds[predicate], *([NUMBER] if pointed else [])))
        known = values[:-1] if pointed else values
        found = [
            every([o.condition, *(same(a, b) for a, b in zip(o.values, known, strict=True)),
                   *([compared("=:=", o.point, numeric(values[-1]))] if pointed else [])])
            for o in self._derived(predicate, pointed, known)
        ]  # fmt: skip
        return some(found)

    def window_atom(self, literal: Windowed, key: Iterable[int]) -> Condition:
        """When a window atom is in."""
        asked, terms = _general(literal)
        values = self._values(key, (*self.network.kinds[signature(literal.atom)], NUMBER)[: len(terms)])
        bound = {v.name: value for v, value in zip(terms, values, strict=True)}
        return some(c for _, c in self._moving(asked, bound))

    def part(self, written: Written, body: Body, names: Iterable[str]) -> list[Row]:
        """The values that a part of a body gives variables, and when it does."""
        return _real((tuple(found[n] for n in names), c) for found, c in self._body(body, written, {}, True))

    def content(self, name: str) -> list[Row]:
        """The tuples of a store that is read, and when they are there."""
        return _real(self._content(name))

    def _content(self, name: str) -> Iterator[Row]:
        for pointed, table in ((False, self.network.plain), (True, self.network.ahead)):
            for predicate, store in table.items():
                if store.name == name:
                    for o in self._derived(predicate, pointed, (None,) * predicate[1]):
                        yield (*o.values, *([o.point] if pointed else [])), o.condition
                    return
        if name in self._points:
            yield from (((*values, NOW), c) for values, c in self._content(self._points[name]))
            return
        written, literal = self._readers[name]
        if isinstance(literal, Aggregate | Nothing):
            aggregate = literal.aggregate if isinstance(literal, Nothing) else literal
            for group, total, c in aggregated(
                aggregate.function, self._members(aggregate, groups_of(written.clause, aggregate))
            ):
                yield (*group, total), c
        elif isinstance(literal, Call | Windowed):
            asked, terms = _general(literal)
            for found, c in self._moving(asked, {}):
                yield tuple(found[v.name] for v in terms), c
        elif isinstance(literal, Unmatched):
            for found, c in self._reading(literal.asked, literal.source, {}):
                yield tuple(found[name] for name in literal.shared), c
        else:
            raise Unknown

    def _values(self, key: Iterable[int], kinds: Iterable[str]) -> tuple[Value, ...]:
        return tuple(value_of(code, kind) for code, kind in zip(key, kinds, strict=False))

    # ------------------------------------------------------------------ rules

    def _atoms(self, predicate: Predicate, known: tuple[Value | None, ...]) -> Iterator[Occurrence]:
        """Everything that there is of a predicate, except background facts."""
        yield from self._heads(predicate, known)
        if predicate in self.network.inputs:
            yield from self._stored(predicate, self.network.inputs[predicate], known, True)

    def _heads(self, predicate: Predicate, known: tuple[Value | None, ...]) -> Iterator[Occurrence]:
        """What there is of a predicate because rules say so."""
        for pointed, table in ((False, self.network.plain), (True, self.network.ahead)):
            store = table.get(predicate)
            if store is not None and store.name in self.moving:
                yield from self._derived(predicate, pointed, known)
            elif store is not None:
                yield from self._stored(predicate, store, known, pointed)

    def _stored(
        self, predicate: Predicate, store: Store, known: tuple[Value | None, ...], pointed: bool
    ) -> Iterator[Occurrence]:
        kinds = (*self.network.kinds[predicate], *([NUMBER] if pointed else []))
        for values, label in self._rows(store, kinds, known):
            yield Occurrence(values[:-1] if pointed else values, numeric(values[-1]) if pointed else NOW, label)

    def _rows(
        self, store: Store, kinds: tuple[str, ...], known: tuple[Value | None, ...]
    ) -> Iterator[tuple[tuple[Value, ...], Condition]]:
        """The tuples of a store that may agree with what is known of their columns."""
        pieces = store.live(self.since)
        for column, value in enumerate(known):
            if isinstance(value, int | float):
                code = value if isinstance(value, int) else number(value)
                pieces = pieces[store.keys[pieces[:, 0], column] == code]
        starts = np.flatnonzero(np.diff(pieces[:, 0], prepend=-1))
        for part in np.split(pieces, starts[1:]) if len(pieces) else ():
            label = Within(tuple((int(s), int(e)) for _, s, e in part.tolist()))
            yield self._values(store.keys[part[0, 0]].tolist(), kinds), label

    def _derived(
        self, predicate: Predicate, pointed: bool, known: tuple[Value | None, ...]
    ) -> Iterator[Occurrence]:
        """What the rules of a predicate derive."""
        store = (self.network.ahead if pointed else self.network.plain)[predicate]
        if store.name in self.opaque:
            kinds = (*self.network.kinds[predicate], *([NUMBER] if pointed else []))
            for key, label in self.foreseen(store.name):
                values = self._values(key, kinds)
                if any(b is not None and same(a, b) is False for a, b in zip(values, known, strict=False)):
                    continue
                yield Occurrence(values[:-1] if pointed else values, numeric(values[-1]) if pointed else NOW, label)
            return
        for written in self.network.written.get(predicate, ()):
            if (written.clause.at is not None) == pointed:
                yield from self._instances(written, known)

    def _instances(self, written: Written, known: tuple[Value | None, ...]) -> Iterator[Occurrence]:
        clause = written.clause
        kinds = self.network.kinds[signature(clause.head)]
        bound: Bound = {}
        for term, value in zip(arguments(clause.head), known, strict=True):
            if isinstance(term, Variable) and value is not None:
                bound.setdefault(term.name, value)
        body = tuple(zip(written.literals, written.stores, strict=True))
        for found, condition in self._body(body, written, bound, True):
            terms = zip(arguments(clause.head), kinds, strict=True)
            values = tuple(self._terms.term(term, kind, found) for term, kind in terms)
            checks = [same(a, b) for a, b in zip(values, known, strict=True) if b is not None]
            checks += [exists(v) for v in values if not isinstance(v, int)]
            point: Expression = NOW
            if clause.at is not None:
                point = self._terms.number(clause.at, found)
                checks.append(self._on_timeline(point))
            condition = every([condition, *checks])
            if condition is not False:
                yield Occurrence(values, point, condition)

    def _body(self, body: Body, written: Written, bound: Bound, condition: Condition) -> Iterator[Found]:
        """The ways in which all literals agree with the bindings."""
        if condition is False:
            return
        if not body:
            yield bound, condition
            return
        place = next((i for i, (x, _) in enumerate(body) if _is_ready(x, bound)), 0)
        literal, store = body[place]
        rest = body[:place] + body[place + 1 :]
        for found, more in self._literal(literal, store, written, bound):
            yield from self._body(rest, written, found, every([condition, more]))

    # ------------------------------------------------------------------ literals

    def _literal(
        self, literal: Literal | Extra, store: Store | None, written: Written, bound: Bound
    ) -> Iterator[Found]:
        match literal:
            case Compare():
                yield from self._terms.compare(literal, bound)
            case Call(_, negated) | Windowed(_, _, _, _, negated):
                assert store is not None
                found = self._reading(literal, store, bound)
                yield from [(bound, no(some([c for _, c in found])))] if negated else found
            case Aggregate():
                yield from self._aggregate(literal, store, written, bound, (literal.result,))
            case Nothing(aggregate):
                anonymous = (Variable("_"),)
                rows = self._aggregate(aggregate, store, written, bound, anonymous)
                yield bound, no(some([c for _, c in rows]))
            case InBackground(windowed):
                for found_one, more in self._facts(windowed.atom, bound):
                    yield found_one, every([more, self._in_window(windowed, found_one)])
            case NoFact(windowed):
                yield bound, no(some([c for _, c in self._facts(windowed.atom, bound)]))
            case Elsewhere(windowed):
                yield bound, no(self._in_window(windowed, bound))
            case Unmatched(_, asked, source):
                yield bound, no(some([c for _, c in self._reading(asked, source, bound)]))
            case _:
                raise Unknown

    def _reading(self, literal: Call | Windowed, store: Store, bound: Bound) -> Iterator[Found]:
        """A literal taken positively."""
        if store.name in self.moving:
            yield from self._moving(literal, bound)
            return
        atom = literal.goal if isinstance(literal, Call) else literal.atom
        time = literal.time if isinstance(literal, Windowed) else None
        terms = (*arguments(atom), *([time] if time is not None else []))
        kinds = (*self.network.kinds[signature(atom)], *([NUMBER] if time is not None else []))
        yield from self._matching(store, terms, kinds, bound)

    def _matching(
        self, store: Store, terms: tuple[Term, ...], kinds: tuple[str, ...], bound: Bound
    ) -> Iterator[Found]:
        known = tuple(self._terms.known(t, k, bound) for t, k in zip(terms, kinds, strict=True))
        for values, label in self._rows(store, kinds, known):
            found = self._terms.match(terms, kinds, values, bound)
            if found[1] is not False:
                yield found[0], every([found[1], label])

    def _moving(self, literal: Call | Windowed, bound: Bound) -> Iterator[Found]:
        """A literal over what depends on now."""
        atom = literal.goal if isinstance(literal, Call) else literal.atom
        terms, kinds = arguments(atom), self.network.kinds[signature(atom)]
        time = literal.time if isinstance(literal, Windowed) and literal.mode == "at" else None
        if time is None:
            seen: Condition = True
            if isinstance(literal, Windowed) and literal.window is not None:
                seen = compared(">=", NOW, float(first_seeing(literal.window, int(self.start))))
            for found, agrees in self._facts(atom, bound):
                yield found, every([agrees, seen])
        known = tuple(self._terms.known(t, k, bound) for t, k in zip(terms, kinds, strict=True))
        for values, point, condition in self._occurring(literal, known):
            if time is None:
                found, agrees = self._terms.match(terms, kinds, values, bound)
            else:
                found, agrees = self._terms.match((*terms, time), (*kinds, NUMBER), (*values, point), bound)
            yield found, every([agrees, condition])

    def _occurring(self, literal: Call | Windowed, known: tuple[Value | None, ...]) -> list[Occurrence]:
        """What a literal speaks of, except background facts: inside its window, or now."""
        if isinstance(literal, Call):
            found = self._atoms(signature(literal.goal), known)
            return [o._replace(condition=every([o.condition, compared("=:=", o.point, NOW)])) for o in found]
        predicate, window = signature(literal.atom), literal.window
        if window is not None and window.kind != "time":
            return self._counted(literal, positioned(window, literal.atom), known)
        found = self._atoms(predicate, known)
        if literal.mode == "always":
            assert window is not None
            return at_every_point(list(found), window, self.start)
        return [o._replace(condition=every([o.condition, inside(window, o.point)])) for o in found]

    def _counted(
        self, literal: Windowed, window: Window, known: tuple[Value | None, ...]
    ) -> list[Occurrence]:
        """What is inside a window that counts atoms: input as the window says, heads while their point is inside."""
        predicate = signature(literal.atom)
        counting = self._counting[counted_name(predicate, window)]
        kinds = (*self.network.kinds[predicate], NUMBER)
        found = []
        for row, first, last in zip(*(column.tolist() for column in counting.inside()), strict=True):
            values = self._values(row, kinds)
            found.append(Occurrence(values[:-1], numeric(values[-1]), Within(((first, last),))))
        for o in self._heads(predicate, known):
            found.append(o if o.point is NOW else counted(o, counting, self.start))
        if literal.mode == "always":
            return counted_at_every_point(found, counting, self.since, self.start)
        return found

    def _facts(self, atom: Term, bound: Bound) -> Iterator[Found]:
        store = self.network.facts.get(signature(atom))
        if store is not None:
            yield from self._matching(store, arguments(atom), self.network.kinds[signature(atom)], bound)

    def _in_window(self, windowed: Windowed, bound: Bound) -> Condition:
        assert windowed.time is not None
        point = self._terms.number(windowed.time, bound)
        return every([self._on_timeline(point), inside(windowed.window, point)])

    def _on_timeline(self, point: Expression) -> Condition:
        return every([compared(">=", point, self.start), compared("=:=", computed("floor", point), point)])

    def _aggregate(
        self, literal: Aggregate, store: Store | None, written: Written, bound: Bound, result: tuple[Term, ...]
    ) -> Iterator[Found]:
        assert store is not None
        names = groups_of(written.clause, literal)
        inner, kinds = arguments(literal.atom), self.network.kinds[signature(literal.atom)]
        places = [next(i for i, t in enumerate(inner) if n in {v.name for v in variables(t)}) for n in names]
        terms, shape = (*map(Variable, names), *result), (*(kinds[i] for i in places), NUMBER)
        if store.name not in self.moving:
            yield from self._matching(store, terms, shape, bound)
            return
        for group, total, condition in aggregated(literal.function, self._members(literal, names)):
            found, agrees = self._terms.match(terms, shape, (*group, total), bound)
            yield found, every([agrees, condition])

    def _members(self, literal: Aggregate, names: list[str]) -> list[Member]:
        """What an aggregate ranges over, by the variables that make its groups."""
        terms, kinds = arguments(literal.atom), self.network.kinds[signature(literal.atom)]
        anywhere = Windowed(literal.atom, "at", literal.window, Variable("a point"))
        found = []
        for values, _, condition in distinct(self._occurring(anywhere, (None,) * len(terms))):
            bound, agrees = self._terms.match(terms, kinds, values, {})
            value = 1.0 if literal.function == "count" else self._terms.number(literal.template, bound)
            found.append(Member(tuple(bound[n] for n in names), value, every([agrees, condition])))
        return [m for m in found if m.condition is not False]


def _general(literal: Call | Windowed) -> tuple[Call | Windowed, list[Variable]]:
    """A literal with a variable for each argument and for the point of an at-atom."""
    atom = literal.goal if isinstance(literal, Call) else literal.atom
    name, arity = signature(atom)
    terms = [Variable(f"argument {i}") for i in range(arity)]
    general = Compound(name, tuple(terms)) if terms else atom
    if isinstance(literal, Call):
        return Call(general, False), terms
    window = None if literal.window is None else positioned(literal.window, literal.atom)
    time = Variable("point") if literal.mode == "at" else None
    return Windowed(general, literal.mode, window, time), [*terms, *([time] if time is not None else [])]


def _real(rows: Iterable[Row]) -> list[Row]:
    """Rows that may be there, while their numbers exist."""
    found = [(values, every([c, *(exists(v) for v in values if not isinstance(v, int))])) for values, c in rows]
    return [row for row in found if row[1] is not False]


def _nothing(name: str) -> Iterable[tuple[tuple[int, ...], Condition]]:
    raise Unknown


def _is_ready(literal: Literal | Extra, bound: Bound) -> bool:
    """Can a literal be taken now? Positive ones always, tests when their variables have values, negation last."""
    match literal:
        case Compare(op, left, right, negated):
            free = [[v.name for v in variables(t) if v.name not in bound] for t in (left, right)]
            assigns = op in ("=", "==", "is") and not negated
            if assigns and isinstance(left, Variable) and not free[1]:
                return True
            if assigns and isinstance(right, Variable) and not free[0]:
                return True
            return not free[0] and not free[1]
        case Call(_, negated) | Windowed(_, _, _, _, negated):
            return not negated
        case Aggregate():
            return True
        case InBackground(windowed):
            return windowed.time is not None and all(v.name in bound for v in variables(windowed.time))
        case _:
            return False


def moving_stores(network: Network) -> set[str]:
    """The names of stores that rest on the points of heads without one."""
    return above(network, {o.writes.name for o in network.operators if isinstance(o, Diagonal)})


def above(network: Network, names: set[str]) -> set[str]:
    """The names of the stores that rest on some, with these. What is chosen together is there or not together: all
    of it rests on what some of it does."""
    readers: dict[str, set[str]] = {}
    for zone in zones(network):
        if isinstance(zone, Zone):
            together = {s.name for s in zone.stores}
            for name in together:
                readers.setdefault(name, set()).update(together)
    for rule in network.rules:
        for reads in rule.reads:
            readers.setdefault(reads.store.name, set()).add(rule.head.name)
    for operator in network.operators:
        for store in operator.reads:
            readers.setdefault(store.name, set()).add(operator.writes.name)
    return reached(names, readers)
