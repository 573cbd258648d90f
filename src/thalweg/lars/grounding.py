"""The ground program of a choice, kept by change propagation, so that it is never built anew.

`instances` holds every rule instance over the atoms that could be true if all negated atoms of the loop were false,
labelled with the ticks at which everything outside the loop agrees. Where rules alone make the loop, these
atoms are in `possible`; where operators stand in it, a relaxed copy of its network knows them, and what an operator
says of chosen atoms becomes instances as well (`Wholes`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from thalweg.lars.always import Always
from thalweg.lars.components import Component, Zone
from thalweg.lars.counting import TupleAlways, TupleWindow
from thalweg.lars.diagonal import Diagonal
from thalweg.lars.folding import FIRST_IN, FIRST_OUT, LAST, NEXT_IN, NEXT_OUT, SURE
from thalweg.lars.operators import Operator
from thalweg.lars.relaxing import Relaxed
from thalweg.lars.rule import Reads, Rule, Test
from thalweg.lars.solving import PAD
from thalweg.lars.store import Store
from thalweg.lars.windows import NO_CLIP, inside
from thalweg.protocol import Ints

Shape = tuple[int, tuple[int, ...]]
"""How an atom is read off a row of slots: the number of its store, and the slots."""


@dataclass(slots=True)
class _Body:
    """An instance in the making: what it reads, and how its atoms are read off its slots."""

    head: Shape
    size: int
    positive: tuple[Shape, ...] = ()
    negative: tuple[Shape, ...] = ()
    reads: list[Reads] = field(default_factory=list)
    tests: tuple[Test, ...] = ()
    hidden: set[int] = field(default_factory=set)
    constants: dict[int, int] = field(default_factory=dict)
    origin: int | None = None

    def constant(self, value: int) -> int:
        """A new slot with that value."""
        self.constants[self.size] = value
        self.size += 1
        return self.size - 1


@dataclass(frozen=True, slots=True)
class _Template:
    """How the atoms of an instance are read off its row."""

    base: Ints
    slots: tuple[int, ...]
    head: Shape
    positive: tuple[Shape, ...]
    negative: tuple[Shape, ...]
    origin: int | None


class Grounding:
    """The instances of the rules of a zone. Atoms have ids in `possible`, whose keys begin with the number of a store
    (or of something that is no store: a projection, a step of an aggregate). `heads` and `bodies` are the atoms of the
    instances, as `solving` wants them."""

    def __init__(self, zone: Zone, weighs: set[str]) -> None:
        self.stores = zone.stores
        self._number = {id(s): k for k, s in enumerate(zone.stores)}
        self.weighs = [s.name in weighs for s in zone.stores]
        self._relaxed = Relaxed(zone) if zone.operators else None
        name = zone.stores[0].name
        width = max([s.width for s in zone.stores] + [_slots(r) for r in zone.rules])
        if self._relaxed is not None:
            width = max([width + 1, *(o.writes.width for o in self._relaxed.folds)])
        self.possible = Store(f"possible {name}", 1 + width)
        self.instances = Store(f"instances {name}", 1 + width)
        self._rules: list[Rule] = []
        self._templates: list[_Template] = []
        self._projections: dict[tuple[int, tuple[int, ...]], int] = {}
        for rule in zone.rules:
            self._relax(rule)
        for operator in zone.operators:
            self._said_by(operator)
        self.parts: list[Component | Operator] = list(self._relaxed.parts) if self._relaxed is not None else []
        self.parts.append(Component([self.instances, self.possible], self._rules))
        self.outer = _outer(zone)
        self.renamed()

    @property
    def relaxed_stores(self) -> list[Store]:
        """The stores of the relaxed copy."""
        return [] if self._relaxed is None else self._relaxed.stores

    @property
    def own_stores(self) -> list[Store]:
        """Stores that are no part of the network."""
        return [*self.relaxed_stores, self.possible, self.instances]

    @property
    def operators(self) -> list[Operator]:
        """Operators over the relaxed copy."""
        return [] if self._relaxed is None else self._relaxed.operators

    def origin(self, rule: int) -> int | None:
        """The statement that an instance, by its first column, comes from."""
        return self._templates[rule].origin

    # ------------------------------------------------------------------ the relaxed rules

    def _relax(self, rule: Rule) -> None:
        """Rules for the instances of a rule and for its head, with the loop's negated literals left out."""
        inner = [(i, r) for i, r in enumerate(rule.reads) if id(r.store) in self._number]
        negative = tuple(self._negative(rule, i) for i, r in inner if r.negated)
        body = _Body(
            head=(self._number[id(rule.head)], tuple(rule.head_slots.tolist())),
            size=len(rule.base),
            negative=negative,
            tests=rule.tests,
            hidden={s for i in range(len(rule.reads)) for s in rule.private(i)},
            constants=dict(rule.constants),
            origin=rule.origin,
        )
        named: list[Reads] = []
        for _, r in inner:
            if not r.negated:
                named.append(replace(r, slots=_all_named(r.slots, body.size)))
                body.size += r.slots.count(-1)
        body.positive = tuple((self._number[id(r.store)], r.slots) for r in named)
        body.reads = [r for r in rule.reads if id(r.store) not in self._number]
        slots = self._slots_of(body)
        body.reads += [self._source(r, body) for r in named]
        self._add(body, slots)

    def _slots_of(self, body: _Body) -> list[int]:
        return [s for s in range(body.size) if s not in body.constants and s not in body.hidden]

    def _add(self, body: _Body, slots: list[int]) -> None:
        number = body.constant(len(self._templates))
        zero = body.constant(0)
        row = [number, *slots] + [zero] * (self.instances.width - 1 - len(slots))
        self._rules.append(Rule(self.instances, row, body.reads, body.tests, body.constants, body.size))
        if self._relaxed is None:
            head = [body.constant(body.head[0]), *body.head[1]]
            head += [zero] * (self.possible.width - len(head))
            seen = (number, *slots) + (-1,) * (self.instances.width - 1 - len(slots))
            reads = [Reads(self.instances, seen)]
            self._rules.append(Rule(self.possible, head, reads, (), body.constants, body.size))
        base = np.zeros(body.size, np.int64)
        base[list(body.constants)] = list(body.constants.values())
        self._templates.append(
            _Template(base, tuple(slots), body.head, body.positive, body.negative, body.origin)
        )

    def _source(self, reads: Reads, body: _Body) -> Reads:
        """A literal over what may be in, instead of a store of the zone."""
        if self._relaxed is not None:
            return replace(reads, store=self._relaxed.may(reads.store))
        number = body.constant(self._number[id(reads.store)])
        slots = (number, *reads.slots) + (-1,) * (self.possible.width - 1 - len(reads.slots))
        window = reads.window.copy()
        window[1] += 1
        return Reads(self.possible, slots, window)

    def _negative(self, rule: Rule, i: int) -> Shape:
        """The atom of a negated literal; where columns do not matter, that of a projection."""
        reads = rule.reads[i]
        private = rule.private(i)
        store = self._number[id(reads.store)]
        kept = tuple(c for c, s in enumerate(reads.slots) if s >= 0 and s not in private)
        if len(kept) < len(reads.slots):
            store = self._projection(store, reads, private, kept)
        return store, tuple(reads.slots[c] for c in kept)

    def _projection(self, store: int, reads: Reads, private: set[int], kept: tuple[int, ...]) -> int:
        """The number of a projection of a store to some columns; equal private slots must agree."""
        shape = tuple(reads.slots.index(s) if s in private else -1 for s in reads.slots)
        key = (store, (*kept, -2, *shape))
        if key in self._projections:
            return self._projections[key]
        number = self._projections[key] = self._auxiliary()
        width = len(reads.slots)
        columns = tuple(shape[c] if shape[c] >= 0 else c for c in range(width))
        body = _Body(head=(number, kept), size=width, positive=((store, columns),))
        body.reads = [self._source(Reads(self.stores[store], columns), body)]
        self._add(body, sorted(set(columns)))
        return number

    def _auxiliary(self) -> int:
        """The number of something that is no store."""
        self.weighs.append(False)
        return len(self.weighs) - 1

    # ------------------------------------------------------------------ what operators say

    def _said_by(self, operator: Operator) -> None:
        """Instances for the tuples that an operator writes."""
        match operator:
            case Diagonal():
                self._at_their_points(operator)
            case TupleWindow():
                self._inside(operator)
            case Always():
                self._everywhere(operator.writes, operator.reads, inside(operator.window, operator.writes.width))
            case TupleAlways():
                self._everywhere(operator.writes, (operator.occurrences,), NO_CLIP)
            case _:
                self._folded(operator.writes)

    def _given(
        self, head: Shape, size: int, reads: list[Reads], positive: Iterable[Shape] = (), negative: Iterable[Shape] = ()
    ) -> None:
        """Instances over what the relaxed copy says."""
        body = _Body(head, size, tuple(positive), tuple(negative), reads)
        self._add(body, list(range(size)))

    def _at_their_points(self, operator: Diagonal) -> None:
        """A head without a point stands at the tick."""
        plain, every = operator.reads[0], tuple(range(operator.writes.width))
        reads = [Reads(self._may(operator.writes), every)]
        self._given((self._of(operator.writes), every), len(every), reads, [(self._of(plain), every[:-1])])

    def _inside(self, operator: TupleWindow) -> None:
        """Chosen atoms inside a window that counts atoms; those of the input are there anyway."""
        assert operator.ahead is not None
        every = tuple(range(operator.writes.width))
        head = (self._of(operator.writes), every)
        reads = [Reads(self._may(s), every) for s in (operator.writes, operator.ahead)]
        self._given(head, len(every), reads, [(self._of(operator.ahead), every)])
        self._given(head, len(every), [Reads(self._sure(operator.writes), every)])

    def _everywhere(self, always: Store, sources: tuple[Store, ...], clip: Ints) -> None:
        """`always`: there is no gap. A point in the window is a gap where no source has it."""
        arguments, every = tuple(range(always.width)), tuple(range(always.width + 1))
        gap, may = self._auxiliary(), Reads(self._may(always), arguments)
        inner = [s for s in sources if id(s) in self._number]
        missing = [(self._of(s), every) for s in inner]
        certain = [s if id(s) not in self._number else self._sure(s) for s in sources]
        absent = [Reads(s, every, negated=True) for s in certain]
        self._given((self._of(always), arguments), len(arguments), [may], negative=[(gap, arguments)])
        for source in inner:
            reads = [may, Reads(self._may(source), every, clip), *absent]
            self._given((gap, arguments), len(every), reads, negative=missing)

    def _folded(self, aggregate: Store) -> None:
        """The steps of an aggregate, one atom after the other."""
        assert self._relaxed is not None
        fold = self._relaxed.fold(aggregate)
        state, total = self._auxiliary(), self._of(aggregate)
        every = tuple(range(fold.writes.width))
        group, before, atom = every[: fold.groups], every[fold.before], every[fold.atom]
        start, end = every[-2], every[-1]
        here, previous = (state, (*group, *atom, end)), (state, (*group, *before, start))
        chosen, found = (self._of(fold.occurrences), atom), (total, (*group, end))
        for kind, head, positive, negative in (
            (FIRST_IN, here, [chosen], []),
            (FIRST_OUT, here, [], [chosen]),
            (NEXT_IN, here, [previous, chosen], []),
            (NEXT_OUT, here, [previous], [chosen]),
            (LAST, found, [here], []),
            (SURE, found, [], []),
        ):
            body = _Body(head, len(every), tuple(positive), tuple(negative), constants={fold.kind: kind})
            body.reads = [Reads(fold.writes, every)]
            self._add(body, self._slots_of(body))

    def _of(self, store: Store) -> int:
        return self._number[id(store)]

    def _may(self, store: Store) -> Store:
        assert self._relaxed is not None
        return self._relaxed.may(store)

    def _sure(self, store: Store) -> Store:
        assert self._relaxed is not None
        return self._relaxed.sure(store)

    # ------------------------------------------------------------------ atoms

    def renamed(self) -> None:
        """Ids have changed: read all atoms of the instances anew."""
        self.heads = np.empty(0, np.int64)
        width = max((len(t.positive) + len(t.negative) for t in self._templates), default=0)
        self.bodies = np.empty((0, max(width, 1)), np.int64)
        self.resolve()

    def resolve(self) -> None:
        """Atoms of the instances that are new."""
        known, count = len(self.heads), len(self.instances)
        if known == count:
            return
        heads = np.empty(count, np.int64)
        bodies = np.full((count, self.bodies.shape[1]), PAD, np.int64)
        heads[:known], bodies[:known] = self.heads, self.bodies
        rows = self.instances.keys[known:count]
        for number in np.unique(rows[:, 0]).tolist():
            template = self._templates[number]
            mine = np.flatnonzero(rows[:, 0] == number)
            full = np.tile(template.base, (len(mine), 1))
            full[:, list(template.slots)] = rows[mine][:, 1 : 1 + len(template.slots)]
            heads[known + mine] = self._atoms(full, template.head)
            for c, atom in enumerate((*template.positive, *template.negative)):
                ids = self._atoms(full, atom)
                bodies[known + mine, c] = ids if c < len(template.positive) else -1 - ids
        self.heads, self.bodies = heads, bodies

    def _atoms(self, rows: Ints, atom: Shape) -> Ints:
        keys = np.zeros((len(rows), self.possible.width), np.int64)
        keys[:, 0] = atom[0]
        for c, slot in enumerate(atom[1]):
            keys[:, 1 + c] = rows[:, slot]
        return self.possible.ids(keys)


def _slots(rule: Rule) -> int:
    """How many slots a rule has when every column of its literals has one."""
    return len(rule.base) + sum(r.slots.count(-1) for r in rule.reads)


def _all_named(slots: tuple[int, ...], first: int) -> tuple[int, ...]:
    """Slots with new ones, from a number on, for the columns that have none."""
    fresh = iter(range(first, first + len(slots)))
    return tuple(next(fresh) if s < 0 else s for s in slots)


def _outer(zone: Zone) -> list[Store]:
    """What is read from outside a zone."""
    within = {id(s) for s in zone.stores}
    read = [r.store for rule in zone.rules for r in rule.reads] + [s for o in zone.operators for s in o.reads]
    return list({id(s): s for s in read if id(s) not in within}.values())
