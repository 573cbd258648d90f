"""From a program to a network: stores, the rules between them, and the operators that rules cannot express.

For a predicate p there are at most four sources: `in` (input, with its point), `ahead` (heads ``at(u) p``, with their
point), `plain` (heads ``p``) and `facts` (background). Literals read views of them: `now`, `some`, `at`, `always` and
aggregates, each a store of its own. A view is filled by rules whose one literal is cut to the ticks at which
a point counts, so views follow insertions and deletions like anything else.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import dataclass, field, replace

from thalweg.analysis.types import NUMBER, SYMBOL, Types, infer
from thalweg.columns.symbols import number
from thalweg.language.program import Program
from thalweg.language.rules import Clause, Literal, Window, Windowed
from thalweg.language.terms import Number, Term, Variable, arguments, signature
from thalweg.lars.always import Always
from thalweg.lars.clauses import RuleCompiler
from thalweg.lars.counting import Cut, TupleAlways, TupleWindow
from thalweg.lars.diagonal import Diagonal
from thalweg.lars.extended import View, window_view
from thalweg.lars.literals import Written, positioned
from thalweg.lars.operators import Operator
from thalweg.lars.present import ahead_of_now
from thalweg.lars.rule import Reads, Rule, since
from thalweg.lars.store import Store
from thalweg.lars.stratify import Predicate, Strata, rules, stratify
from thalweg.lars.texts import Texts
from thalweg.lars.windows import NO_CLIP, at_point, first_seeing, inside
from thalweg.protocol import Ints

ALL_TIME = None
"""How far back a predicate is read: for ever."""

_INPUT = "input "


@dataclass(slots=True)
class Network:
    """The dataflow of a program. `inputs` take occurrences; `outputs` are what rules derive (with a point or not)."""

    stores: dict[str, Store] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    inputs: dict[Predicate, Store] = field(default_factory=dict)
    kept: set[Predicate] = field(default_factory=set)
    reach: dict[Predicate, int | None] = field(default_factory=dict)
    plain: dict[Predicate, Store] = field(default_factory=dict)
    ahead: dict[Predicate, Store] = field(default_factory=dict)
    facts: dict[Predicate, Store] = field(default_factory=dict)
    views: list[View] = field(default_factory=list)
    written: dict[Predicate, list[Written]] = field(default_factory=dict)
    kinds: dict[Predicate, tuple[str, ...]] = field(default_factory=dict)


class Compiler:
    """Makes the network of a program. `fed`: predicates that get input; `revisable`: input may come late or be taken
    back."""

    def __init__(
        self, program: Program, texts: Texts, *, start: int, fed: frozenset[Predicate], revisable: bool
    ) -> None:
        self.program = program
        self.texts = texts
        self.codes = texts.codes
        self.start = start
        self.fed = fed
        self.revisable = revisable
        self.strata: Strata = stratify(program)
        self.types: Types = infer(program)
        self.network = Network()
        self.at_rules = {signature(r.head) for _, r in rules(program) if r.at is not None}
        self.same = copied_windows(program)
        self.plain_rules = {signature(r.head) for _, r in rules(program) if r.at is None}
        self.moving: dict[Predicate, list[tuple[int, int, Clause]]] = {}
        for index, rule in rules(program):
            if (found := ahead_of_now(rule, self.stands_now)) is not None:
                self.moving.setdefault(signature(rule.head), []).append((index, *found))

    def run(self) -> Network:
        """The whole network."""
        for predicate in self.fed:
            self._source("in", predicate, 1)
        for index, rule in rules(self.program):
            RuleCompiler(self, index, rule).run()
        for predicate, store in self.network.inputs.items():
            if self._must_keep(predicate):
                self.network.kept.add(predicate)
            store.delta_rows = None
        return self.network

    def apart(self) -> Compiler:
        """For some rules of the same program, in a network of their own."""
        other = copy(self)
        other.network = Network(kinds=dict(self.network.kinds))
        return other

    # ------------------------------------------------------------------ sources

    def given(self, predicate: Predicate, kinds: tuple[str, ...]) -> Store:
        """The source of a predicate that is not in the program: it is filled from outside."""
        self.network.kinds[predicate] = kinds
        self.strata = replace(self.strata, background=self.strata.background | {predicate})
        return self._source("facts", predicate, 0)

    def kinds_of(self, predicate: Predicate) -> tuple[str, ...]:
        """Number or symbol, for each argument."""
        name, arity = predicate
        if predicate not in self.network.kinds:
            self.network.kinds[predicate] = tuple(
                NUMBER
                if NUMBER
                in (self.types.background(name, arity, i), self.types.argument("event", name, arity, i))
                else SYMBOL
                for i in range(arity)
            )
        return self.network.kinds[predicate]

    def store(self, name: str, width: int) -> tuple[Store, bool]:
        """The store of that name, and whether it is new."""
        found = self.network.stores.get(name)
        if found is None:
            found = self.network.stores[name] = Store(name, width)
            return found, True
        return found, False

    def _source(self, role: str, predicate: Predicate, extra: int) -> Store:
        name, arity = predicate
        self.kinds_of(predicate)
        if role in ("plain", "ahead") and predicate in self.same:
            found = self.view(self.same[predicate])
        else:
            found, _ = self.store(f"{role} {name}/{arity}", arity + extra)
        table = {"in": "inputs", "ahead": "ahead", "plain": "plain", "facts": "facts"}[role]
        getattr(self.network, table)[predicate] = found
        return found

    def pointed(self, predicate: Predicate) -> list[Store]:
        """Sources that carry a point."""
        found = [self._source("in", predicate, 1)] if predicate in self.fed else []
        return found + ([self._source("ahead", predicate, 1)] if predicate in self.at_rules else [])

    def plain(self, predicate: Predicate) -> Store | None:
        return self._source("plain", predicate, 0) if predicate in self.plain_rules else None

    def facts(self, predicate: Predicate) -> Store | None:
        return self._source("facts", predicate, 0) if predicate in self.strata.background else None

    def head(self, predicate: Predicate, *, pointed: bool) -> Store:
        return self._source("ahead", predicate, 1) if pointed else self._source("plain", predicate, 0)

    def stands_now(self, predicate: Predicate) -> bool:
        """True where all that there is of a predicate are heads without a point."""
        return predicate in self.plain_rules - self.at_rules - self.fed - self.strata.background

    def _must_keep(self, predicate: Predicate) -> bool:
        """Must input be stored, or is it enough that the views have seen it?"""
        return (
            self.revisable or predicate in self.at_rules | self.plain_rules or predicate in self.network.kept
        )

    def looks_back(self, predicate: Predicate, ticks: int | None) -> None:
        """Note how long an occurrence of the predicate matters."""
        known = self.network.reach.get(predicate, 0)
        self.network.reach[predicate] = None if known is None or ticks is None else max(known, ticks)

    def copy(self, source: Store, target: Store, columns: int, clip: Ints = NO_CLIP) -> None:
        """A rule that fills a view from the first columns of a source."""
        slots = range(source.width)
        self.network.rules.append(
            Rule(target, range(columns), [Reads(source, tuple(slots), clip)], slots=source.width)
        )

    def _copy_facts(self, facts: Store, view: Store, window: Window) -> None:
        """Background facts are in wherever the window has a point."""
        first, columns = first_seeing(window, self.start), tuple(range(facts.width))
        tests = [since(first)] if first > self.start else []
        self.network.rules.append(Rule(view, columns, [Reads(facts, columns)], tests, slots=facts.width))

    # ------------------------------------------------------------------ views

    def view(self, literal: Windowed) -> Store:
        """The store of a window atom."""
        found = self._viewed(literal)
        self.network.views.append(window_view(found, literal, self.program.tick_seconds))
        return found

    def _viewed(self, literal: Windowed) -> Store:
        predicate = signature(literal.atom)
        window = positioned(literal.window, literal.atom) if literal.window is not None else None
        if literal.mode == "at":
            return self.at(predicate, window)
        assert window is not None
        return (
            self.sometime(predicate, window) if literal.mode == "sometime" else self.always(predicate, window)
        )

    def now(self, predicate: Predicate) -> Store:
        """What is in at the tick of evaluation."""
        name, arity = predicate
        pointed, plain, facts = self.pointed(predicate), self.plain(predicate), self.facts(predicate)
        self.looks_back(predicate, 0)
        only = [s for s in (plain, facts) if s is not None]
        if not pointed and len(only) == 1:
            return only[0]
        view, new = self.store(f"now {name}/{arity}", arity)
        if new:
            for source in pointed:
                self.copy(source, view, arity, at_point(arity))
            for source in only:
                self.copy(source, view, arity)
        return view

    def sometime(self, predicate: Predicate, window: Window) -> Store:
        """What is in at some point of the window."""
        name, arity = predicate
        view, new = self.store(f"some {_shown(window)} {name}/{arity}", arity)
        if not new:
            return view
        plain, facts = self.plain(predicate), self.facts(predicate)
        if window.kind == "time":
            self._note(predicate, window)
            for source in self.pointed(predicate):
                self.copy(source, view, arity, inside(window, arity))
            if plain is not None and window.future >= window.hop - 1:
                self.copy(plain, view, arity)
            elif plain is not None:
                self.copy(self.diagonal(predicate), view, arity, inside(window, arity))
            for index, shift, clause in self.moving.get(predicate, ()):
                if window.hop == 1 and shift <= window.future:
                    RuleCompiler(self, index, clause).fill(view)
        else:
            self.copy(self.counted(predicate, window), view, arity)
            if plain is not None:
                self._copy_uncut(plain, view, predicate, window)
        if facts is not None:
            self._copy_facts(facts, view, window)
        return view

    def _note(self, predicate: Predicate, window: Window) -> None:
        self.looks_back(predicate, window.past + window.hop)

    def occurrences(self, predicate: Predicate, window: Window) -> Store:
        """What an aggregate ranges over: what is in at a point, with the point. Heads without one need none."""
        if window.kind != "time" or window.hop > 1 or not self.stands_now(predicate):
            return self.at(predicate, window)
        name, arity = predicate
        view, new = self.store(f"occurring {name}/{arity}", arity + 1)
        plain = self.plain(predicate)
        assert plain is not None
        if new:
            slots = tuple(range(1, arity + 1))
            self.network.rules.append(
                Rule(view, (*slots, 0), [Reads(plain, slots)], constants={0: number(0)}, slots=arity + 1)
            )
        return view

    def diagonal(self, predicate: Predicate) -> Store:
        """Plain heads with their point."""
        name, arity = predicate
        view, new = self.store(f"diagonal {name}/{arity}", arity + 1)
        plain = self.plain(predicate)
        assert plain is not None
        if new:
            self.network.operators.append(Diagonal(plain, view))
        return view

    def at(self, predicate: Predicate, window: Window | None) -> Store:
        """What is in at a point, with the point; background apart."""
        name, arity = predicate
        if window is not None and window.kind != "time":
            return self._at_counted(predicate, window)
        pointed = self.pointed(predicate)
        plain = self.plain(predicate)
        if window is None:
            self.looks_back(predicate, ALL_TIME)
            if predicate in self.fed:
                self.network.kept.add(predicate)
            if len(pointed) == 1 and plain is None:
                return pointed[0]
        elif self._confined(predicate, window):
            return self._source("ahead", predicate, 1)
        else:
            self._note(predicate, window)
        view, new = self.store(f"at {_shown(window)} {name}/{arity}", arity + 1)
        if new:
            clip = NO_CLIP if window is None else inside(window, arity)
            for source in pointed:
                self.copy(source, view, arity + 1, clip)
            if plain is not None:
                self.copy(self.diagonal(predicate), view, arity + 1, clip)
        return view

    def _confined(self, predicate: Predicate, window: Window) -> bool:
        """Are all heads with a point, and nothing else, inside the window whenever they are there? They are where a
        literal of their rules asks for the same point in a window that is not larger."""
        if predicate in self.plain_rules | self.fed or window.hop > 1:
            return False
        return all(
            any(_asks(x, rule.at, window) for x in rule.body)
            for _, rule in rules(self.program)
            if signature(rule.head) == predicate
        )

    def _at_counted(self, predicate: Predicate, window: Window) -> Store:
        counted, plain = self.counted(predicate, window), self.plain(predicate)
        if plain is None:
            return counted
        name, arity = predicate
        view, new = self.store(f"at {_shown(window)} {name}/{arity}", arity + 1)
        if new:
            self.copy(counted, view, arity + 1)
            self._copy_uncut(self.diagonal(predicate), view, predicate, window)
        return view

    def _copy_uncut(self, source: Store, view: Store, predicate: Predicate, window: Window) -> None:
        """Copy heads, without or with their point, that are not cut off as input."""
        if predicate not in self.fed:
            self.copy(source, view, view.width)
            return
        name, arity = predicate
        cut, new = self.store(f"cut {_shown(window)} {name}/{arity}", arity + 1)
        if new:
            only, _ = self.store(_INPUT + counted_name(predicate, window), arity + 1)
            operator = self._counting(predicate, window, None, only)
            self.network.operators += [operator, Cut(operator, cut)]
        if source.width == arity:
            now, new = self.store(f"cut now {_shown(window)} {name}/{arity}", arity)
            if new:
                self.copy(cut, now, arity, at_point(arity))
            cut = now
        slots = tuple(range(source.width))
        reads = [Reads(source, slots), Reads(cut, slots, negated=True)]
        self.network.rules.append(Rule(view, slots, reads, slots=source.width))

    def counted(self, predicate: Predicate, window: Window) -> Store:
        """Occurrences inside a window that counts atoms, with their point; plain heads apart."""
        _, arity = predicate
        view, new = self.store(counted_name(predicate, window), arity + 1)
        if new:
            self.looks_back(predicate, 0)
            ahead = self._source("ahead", predicate, 1) if predicate in self.at_rules else None
            self.network.operators.append(self._counting(predicate, window, ahead, view))
        return view

    def _counting(self, predicate: Predicate, window: Window, ahead: Store | None, view: Store) -> TupleWindow:
        every = [self._source("in", p, 1) for p in sorted(self.fed)]
        mine = self.network.inputs.get(predicate)
        if window.kind == "partition":
            every = [mine] if mine is not None else []
        return TupleWindow(window, every, self._texts(every), mine, ahead, view, self.texts)

    def _texts(self, stores: list[Store]) -> list[tuple[str, tuple[str, ...]]]:
        """Name and kinds of arguments of each counted input."""
        of = {id(store): predicate for predicate, store in self.network.inputs.items()}
        return [(of[id(s)][0], self.kinds_of(of[id(s)])) for s in stores]

    def always(self, predicate: Predicate, window: Window) -> Store:
        """What is in at every point of the window."""
        if window.kind == "time" and window.past == window.future == 0 and window.hop == 1:
            return self.now(predicate)
        name, arity = predicate
        view, new = self.store(f"always {_shown(window)} {name}/{arity}", arity)
        if not new:
            return view
        facts = self.facts(predicate)
        target = view
        if facts is not None:
            target, _ = self.store(f"always {_shown(window)} input {name}/{arity}", arity)
            self.copy(target, view, arity)
            self._copy_facts(facts, view, window)
        self._fill_always(predicate, window, target)
        return view

    def _fill_always(self, predicate: Predicate, window: Window, target: Store) -> None:
        if window.kind != "time":
            operator = self._operator_of(self.counted(predicate, window))
            self.network.operators.append(TupleAlways(operator, self.at(predicate, window), target))
            return
        self._note(predicate, window)
        sources = self.pointed(predicate)
        runs = window.hop == 1 and window.future == 0 and self.plain(predicate) is None
        if self.plain(predicate) is not None:
            sources.append(self.diagonal(predicate))
        if not runs:
            self.network.kept.add(predicate)
        self.network.operators.append(Always(tuple(sources), window, target, runs=runs))

    def _operator_of(self, store: Store) -> TupleWindow:
        found = next(o for o in self.network.operators if o.writes is store)
        assert isinstance(found, TupleWindow)
        return found


def _asks(literal: Literal, point: Term | None, window: Window) -> bool:
    """Does a literal ask for that point in a time window that is not larger?"""
    if not isinstance(literal, Windowed) or literal.negated or literal.window is None or literal.time != point:
        return False
    inner = literal.window
    small = inner.past <= window.past and inner.future <= window.future
    return literal.mode == "at" and isinstance(point, Variable) and inner.kind == "time" and inner.hop == 1 and small


def copied_windows(program: Program) -> dict[Predicate, Windowed]:
    """Predicates whose only rule says the same as one window atom: they share its store."""
    heads = Counter(signature(rule.head) for _, rule in rules(program))
    found: dict[Predicate, Windowed] = {}
    for _, rule in rules(program):
        if heads[signature(rule.head)] > 1 or len(rule.body) > 1 or not isinstance(rule.body[0], Windowed):
            continue
        literal = rule.body[0]
        args = (*arguments(rule.head), *([rule.at] if rule.at is not None else []))
        inside_out = (*arguments(literal.atom), *([literal.time] if literal.time is not None else []))
        names = [a.name for a in args if isinstance(a, Variable) and not a.anonymous]
        if literal.negated or literal.window is None or args != inside_out or len(set(names)) < len(args):
            continue
        if rule.at is not None and literal.time is None:  # a value need not be a point
            continue
        if literal.window.past or literal.window.future:
            found[signature(rule.head)] = literal
    shapes = Counter((signature(x.atom), x.mode, positioned_of(x)) for x in found.values())
    return {p: x for p, x in found.items() if shapes[signature(x.atom), x.mode, positioned_of(x)] == 1}


def positioned_of(literal: Windowed) -> Window:
    """The window of a literal, with places instead of names."""
    assert literal.window is not None
    return positioned(literal.window, literal.atom)


def counted_name(predicate: Predicate, window: Window) -> str:
    """The name of the store of what is inside a window that counts atoms."""
    name, arity = predicate
    return f"counted {_shown(window)} {name}/{arity}"


def same_order(name: str) -> str:
    """The store whose operator counts the same input as that of a store of input alone."""
    return name.removeprefix(_INPUT)


def _shown(window: Window | None) -> str:
    if window is None:
        return "[]"
    by = ",".join(str(v.value) for v in window.by if isinstance(v, Number))
    return f"[{window.kind} {window.past},+{window.future} hop {window.hop} by {by}]"
