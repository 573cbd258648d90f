"""What an atom says of now: its rules unfolded into a condition on the tick.

A head without a point stands at the tick of evaluation, so what a rule computes from such a point (`T mod 7`, a head
``q(T)``) is a function of now, and so is the truth of all that rests on it: without further input everything
else has a label that is known to its end. `Unfolding` follows the rules down to such labels, with points and what is
computed from them as expressions over now, and gives the condition under which an atom is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from thalweg.analysis.types import NUMBER
from thalweg.columns.symbols import as_floats, number
from thalweg.language.rules import Aggregate, Call, Compare, Literal, Window, Windowed
from thalweg.language.terms import (
    Atom,
    Compound,
    Number,
    Term,
    Variable,
    arguments,
    is_ground,
    signature,
    variables,
)
from thalweg.lars.codes import Codes
from thalweg.lars.compile import Network
from thalweg.lars.conditions import (
    NOW,
    Condition,
    Expression,
    Within,
    compared,
    computed,
    every,
    no,
    some,
)
from thalweg.lars.literals import Elsewhere, Extra, InBackground, NoFact, Nothing, Written, groups_of
from thalweg.lars.operators import Diagonal
from thalweg.lars.store import Store
from thalweg.lars.stratify import Predicate

Value = int | Expression
"""The code of a symbol, or a number that may depend on now."""
Bound = dict[str, Value]
Found = tuple[Bound, Condition]

_SAME = {"div": "//", "^": "**", "integer": "round"}
_OPPOSITE = {"<": ">=", ">=": "<", ">": "=<", "=<": ">", "=:=": "=\\=", "=\\=": "=:="}
_ORDER = {"@<": "<", "@>": ">", "@=<": "=<", "@>=": ">="}
_LONGEST = 4096
"""Windows of `always` with more points than this are not written out."""


class Unknown(Exception):
    """The condition cannot be written down: a choice, a recursion, an aggregate or a window that counts atoms rests on
    the point of a head."""


class Occurrence(NamedTuple):
    """A tuple at a point, and when it is there."""

    values: tuple[Value, ...]
    point: Expression
    condition: Condition


class Unfolding:
    """Conditions of the atoms of a network. `since`: labels count from this tick on."""

    def __init__(self, network: Network, codes: Codes, start: int) -> None:
        self.network = network
        self.codes = codes
        self.start = float(start)
        self.since = start
        self.moving = moving_stores(network)
        self._open: set[Predicate] = set()

    # ------------------------------------------------------------------ questions

    def head(self, predicate: Predicate, pointed: bool, key: Iterable[int]) -> Condition:
        """When a head (with its point as the last number of the key, where it has one) is in."""
        values = self._values(key, (*self.network.kinds[predicate], *([NUMBER] if pointed else [])))
        known = values[:-1] if pointed else values
        found = [
            every([o.condition, *(self._same(a, b) for a, b in zip(o.values, known, strict=True)),
                   *([compared("=:=", o.point, _numeric(values[-1]))] if pointed else [])])
            for o in self._derived(predicate, pointed, known)
        ]  # fmt: skip
        return some(found)

    def window_atom(self, literal: Windowed, key: Iterable[int]) -> Condition:
        """When a window atom is in."""
        predicate = signature(literal.atom)
        names = [Variable(f"argument {i}") for i in range(predicate[1])]
        time = Variable("point") if literal.mode == "at" else None
        atom = Compound(predicate[0], tuple(names)) if names else literal.atom
        terms = [*names, *([time] if time is not None else [])]
        values = self._values(key, (*self.network.kinds[predicate], NUMBER)[: len(terms)])
        bound = {v.name: value for v, value in zip(terms, values, strict=True)}
        asked = Windowed(atom, literal.mode, literal.window, time)
        return some(c for _, c in self._moving(asked, bound))

    def _values(self, key: Iterable[int], kinds: Iterable[str]) -> tuple[Value, ...]:
        return tuple(_value(code, kind) for code, kind in zip(key, kinds, strict=False))

    # ------------------------------------------------------------------ rules

    def _atoms(self, predicate: Predicate, known: tuple[Value | None, ...]) -> Iterator[Occurrence]:
        """Everything that there is of a predicate, except background facts."""
        network = self.network
        for pointed, table in ((False, network.plain), (True, network.ahead)):
            store = table.get(predicate)
            if store is not None and store.name in self.moving:
                yield from self._derived(predicate, pointed, known)
            elif store is not None:
                yield from self._stored(predicate, store, known, pointed)
        if predicate in network.inputs:
            yield from self._stored(predicate, network.inputs[predicate], known, True)

    def _stored(
        self, predicate: Predicate, store: Store, known: tuple[Value | None, ...], pointed: bool
    ) -> Iterator[Occurrence]:
        kinds = (*self.network.kinds[predicate], *([NUMBER] if pointed else []))
        for values, label in self._rows(store, kinds, known):
            yield Occurrence(values[:-1] if pointed else values, _numeric(values[-1]) if pointed else NOW, label)

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
        if predicate in self._open:
            raise Unknown
        self._open.add(predicate)
        try:
            for written in self.network.written.get(predicate, ()):
                if (written.clause.at is not None) == pointed:
                    yield from list(self._instances(written, known))
        finally:
            self._open.discard(predicate)

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
            values = tuple(self._term(term, kind, found) for term, kind in terms)
            checks = [self._same(a, b) for a, b in zip(values, known, strict=True) if b is not None]
            point: Expression = NOW
            if clause.at is not None:
                point = self._number(clause.at, found)
                checks.append(self._on_timeline(point))
            condition = every([condition, *checks])
            if condition is not False:
                yield Occurrence(values, point, condition)

    def _body(
        self,
        body: tuple[tuple[Literal | Extra, Store | None], ...],
        written: Written,
        bound: Bound,
        condition: Condition,
    ) -> Iterator[Found]:
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
                yield from self._compare(literal, bound)
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
        known = tuple(self._known(t, k, bound) for t, k in zip(terms, kinds, strict=True))
        for values, label in self._rows(store, kinds, known):
            found = self._match(terms, kinds, values, bound)
            if found[1] is not False:
                yield found[0], every([found[1], label])

    def _moving(self, literal: Call | Windowed, bound: Bound) -> Iterator[Found]:
        """A literal over what depends on now."""
        atom = literal.goal if isinstance(literal, Call) else literal.atom
        predicate, terms = signature(atom), arguments(atom)
        kinds = self.network.kinds[predicate]
        window = literal.window if isinstance(literal, Windowed) else None
        if window is not None and window.kind != "time":
            raise Unknown
        at = isinstance(literal, Windowed) and literal.mode == "at"
        if not at:
            yield from self._facts(atom, bound)
        known = tuple(self._known(t, k, bound) for t, k in zip(terms, kinds, strict=True))
        occurrences = list(self._atoms(predicate, known))
        if isinstance(literal, Windowed) and literal.mode == "always":
            assert window is not None
            occurrences = self._at_every_point(occurrences, window)
        for values, point, condition in occurrences:
            found, agrees = self._match(terms, kinds, values, bound)
            if at:
                assert isinstance(literal, Windowed) and literal.time is not None
                found, timely = self._match((literal.time,), (NUMBER,), (point,), found)
                agrees = every([agrees, timely])
            if isinstance(literal, Call):
                place = compared("=:=", point, NOW)
            else:
                place = True if literal.mode == "always" else _inside(window, point)
            yield found, every([agrees, condition, place])

    def _at_every_point(self, occurrences: list[Occurrence], window: Window) -> list[Occurrence]:
        """What is in at every point of the window that lies on the timeline."""
        if window.past + window.future > _LONGEST:
            raise Unknown
        found: list[Occurrence] = []
        for values in dict.fromkeys(o.values for o in occurrences):
            same = [
                (o.point, every([o.condition, *(self._same(a, b) for a, b in zip(o.values, values, strict=True))]))
                for o in occurrences
            ]
            points = [computed("+", _base(window), float(k)) for k in range(-window.past, window.future + 1)]
            held = [
                some([compared("<", p, self.start), *(every([c, compared("=:=", u, p)]) for u, c in same)])
                for p in points
            ]
            nowhere = compared("<", points[-1], self.start)
            found.append(Occurrence(values, NOW, every([no(nowhere), *held])))
        return found

    def _facts(self, atom: Term, bound: Bound) -> Iterator[Found]:
        store = self.network.facts.get(signature(atom))
        if store is not None:
            yield from self._matching(store, arguments(atom), self.network.kinds[signature(atom)], bound)

    def _in_window(self, windowed: Windowed, bound: Bound) -> Condition:
        assert windowed.time is not None
        point = self._number(windowed.time, bound)
        return every([self._on_timeline(point), _inside(windowed.window, point)])

    def _on_timeline(self, point: Expression) -> Condition:
        return every([compared(">=", point, self.start), compared("=:=", computed("floor", point), point)])

    def _aggregate(
        self, literal: Aggregate, store: Store | None, written: Written, bound: Bound, result: tuple[Term, ...]
    ) -> Iterator[Found]:
        if store is None or store.name in self.moving:
            raise Unknown
        names = groups_of(written.clause, literal)
        inner, kinds = arguments(literal.atom), self.network.kinds[signature(literal.atom)]
        places = [next(i for i, t in enumerate(inner) if n in {v.name for v in variables(t)}) for n in names]
        yield from self._matching(
            store, (*map(Variable, names), *result), (*(kinds[i] for i in places), NUMBER), bound
        )

    # ------------------------------------------------------------------ terms

    def _compare(self, literal: Compare, bound: Bound) -> Iterator[Found]:
        op, left, right = literal.op, literal.left, literal.right
        equal = op in ("=", "==", "is")
        if equal and not literal.negated:
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Variable) and one.name not in bound:
                    yield {**bound, one.name: self._either(other, bound)}, True
                    return
        if op in _OPPOSITE or op in _ORDER or equal or op in ("\\=", "\\=="):
            a, b = self._either(left, bound, right), self._either(right, bound, left)
            if isinstance(a, int) or isinstance(b, int):
                yield bound, self._symbols(op, a, b) != literal.negated
                return
            numeric = _ORDER.get(op, "=:=" if equal else "=\\=" if op.startswith("\\") else op)
            yield bound, compared(_OPPOSITE[numeric] if literal.negated else numeric, a, b)
            return
        raise Unknown

    def _symbols(self, op: str, left: Value, right: Value) -> bool:
        if op in _ORDER:
            a, b = self.codes.ranks(np.array([left, right])).tolist()
            return bool({"@<": a < b, "@>": a > b, "@=<": a <= b, "@>=": a >= b}[op])
        return (left == right) == (op in ("=", "==", "is"))

    def _either(self, term: Term, bound: Bound, other: Term | None = None) -> Value:
        """The value of a side of a comparison: a constant is a number where the other side is one."""
        if isinstance(term, Variable):
            if term.name not in bound:
                raise Unknown
            return bound[term.name]
        if isinstance(term, Number | Compound | Atom) and not _is_symbol(term, other, bound):
            return self._number(term, bound)
        return self.codes.constant(term, "symbol")

    def _known(self, term: Term, kind: str, bound: Bound) -> Value | None:
        """The value of an argument, where it has one."""
        if any(v.name not in bound for v in variables(term)):
            return None
        return self._term(term, kind, bound)

    def _term(self, term: Term, kind: str, bound: Bound) -> Value:
        match term:
            case Variable(name) if name in bound:
                return bound[name]
            case Variable():
                raise Unknown
            case _ if kind == NUMBER:
                return self._number(term, bound)
            case _:
                return self.codes.constant(term, kind)

    def _number(self, term: Term, bound: Bound) -> Expression:
        match term:
            case Number(value):
                return float(value)
            case Variable(name) if name in bound:
                return _numeric(bound[name])
            case Atom("pi"):
                return 3.141592653589793
            case Compound(functor, args):
                return computed(_SAME.get(functor, functor), *(self._number(a, bound) for a in args))
            case _:
                raise Unknown

    def _match(
        self, terms: Iterable[Term], kinds: Iterable[str], values: Iterable[Value], bound: Bound
    ) -> Found:
        """Bindings under which terms equal values, and the condition that remains."""
        conditions: list[Condition] = []
        for term, kind, value in zip(terms, kinds, values, strict=True):
            match term:
                case Variable("_"):
                    continue
                case Variable(name) if name not in bound:
                    bound = {**bound, name: value}
                case Compound("+" | "-" as op, (Variable(name), Number(k))) if name not in bound:
                    back = computed("-" if op == "+" else "+", _numeric(value), float(k))
                    bound = {**bound, name: back}
                case _:
                    conditions.append(self._same(self._term(term, kind, bound), value))
        return bound, every(conditions)

    def _same(self, left: Value, right: Value | None) -> Condition:
        if right is None:
            return True
        if isinstance(left, int) or isinstance(right, int):
            return left == right
        return compared("=:=", left, right)


def _value(code: int, kind: str) -> Value:
    return float(as_floats(np.array([code]))[0]) if kind == NUMBER else code


def _numeric(value: Value) -> Expression:
    if isinstance(value, int):
        raise Unknown
    return value


def _is_symbol(term: Term, other: Term | None, bound: Bound) -> bool:
    """Is a side of a comparison that is no variable a constant, because the other side is one?"""
    if isinstance(term, Compound) and not is_ground(term):
        return False
    if isinstance(other, Variable) and other.name in bound:
        return isinstance(bound[other.name], int)
    return isinstance(term, Atom)


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


def _base(window: Window) -> Expression:
    return NOW if window.hop == 1 else computed("-", NOW, computed("mod", NOW, float(window.hop)))


def _inside(window: Window | None, point: Expression) -> Condition:
    """Is the point inside the window?"""
    if window is None:
        return True
    first = computed("-", _base(window), float(window.past))
    last = computed("+", _base(window), float(window.future))
    return every([compared(">=", point, first), compared("=<", point, last)])


def moving_stores(network: Network) -> set[str]:
    """The names of stores that rest on the points of heads without one."""
    above: dict[str, set[str]] = {}
    for rule in network.rules:
        for reads in rule.reads:
            above.setdefault(reads.store.name, set()).add(rule.head.name)
    for operator in network.operators:
        for store in operator.reads:
            above.setdefault(store.name, set()).add(operator.writes.name)
    found: set[str] = set()
    waiting = [o.writes.name for o in network.operators if isinstance(o, Diagonal)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += above.get(name, ())
    return found
