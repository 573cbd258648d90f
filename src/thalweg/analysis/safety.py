"""Is every variable bound? A rule is safe when its variables are bound by positive literals.

A literal *gives* variables (an event, a state, a fact) or *needs* them first (a comparison, the right side
of ``is``). The order of the literals does not matter: they are taken as they become possible. A variable
that occurs only under one negation is existential there. A head variable that occurs nowhere in the body
ranges over the known instances of the fluent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from thalweg.analysis.bodies import body_of, head_terms, literals
from thalweg.analysis.modes import Modes, modes, names
from thalweg.analysis.places import (
    computes,
    given,
    matches_alone,
    moved_variable,
    with_free_places,
    with_places,
)
from thalweg.analysis.roles import named, pair_of
from thalweg.language.program import Program
from thalweg.language.rules import (
    Absent,
    Affects,
    Aggregate,
    Allen,
    Body,
    Boundary,
    Call,
    Clause,
    Combine,
    Compare,
    Delayed,
    Duration,
    DynamicDomain,
    Effect,
    EffectRule,
    Either,
    EventRule,
    FindAll,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Initially,
    IntervalRule,
    Kind,
    Literal,
    Postponable,
    Query,
    Statement,
    Windowed,
    literal_terms,
)
from thalweg.language.terms import Term, Variable, arguments, signature, variables


@dataclass(frozen=True, slots=True)
class Unsafe:
    """A variable that nothing binds, at the place where a value is needed."""

    statement: int
    variable: Variable
    where: str


@dataclass(frozen=True, slots=True)
class Single:
    """A variable that occurs once in its statement; `free` when it ranges over the instances of the head's
    fluent."""

    statement: int
    variable: Variable
    free: bool


@dataclass(frozen=True, slots=True)
class Safety:
    """What is not bound, what occurs once, and the background predicates that call themselves."""

    unsafe: tuple[Unsafe, ...]
    singles: tuple[Single, ...]
    modes: Modes


# --------------------------------------------------------------------------- what a literal needs and gives


def _needs(literal: Literal, known: Modes) -> list[Term]:
    """The terms whose variables must be bound before the literal can be evaluated."""
    match literal:
        case Compare("is", _, right, negated):
            return [literal.left, right] if negated else [right]
        case Compare(_, left, right):
            return [left, right]
        case Call(goal):
            args = arguments(goal)
            return [args[index] for index in known.needed(goal)]
        case Combine(_, inputs, _, base):
            return [*inputs, *([base] if base is not None else [])]
        case Allen(_, left, right):
            return [left, right]
        case Duration(_, intervals, bound):
            return [intervals, bound]
        case _:
            return []


def _gives(literal: Literal, known: Modes) -> list[Term]:
    """The terms whose variables the literal binds, once it is evaluated."""
    match literal:
        case Happens(event, time, negated):
            return [] if negated else [event, time]
        case Boundary(_, pair, time, negated) | Affects(_, pair, time, negated):
            return [] if negated else [pair.fluent, pair.value, time]
        case Holds(pair, _, negated):
            return [] if negated else [pair.fluent, pair.value]
        case HoldsFor(pair, intervals):
            return [pair.fluent, pair.value, intervals]
        case Call(goal, negated):
            return [] if negated else known.given(goal)
        case Compare("is", left, _, negated):
            return [] if negated else [left]
        case Compare("=", left, right, negated):
            return [] if negated else [left, right]
        case (
            FindAll(_, _, result)
            | Combine(_, _, result)
            | Allen(_, _, _, _, result)
            | Duration(_, _, _, result)
        ):
            return [result]
        case Windowed(atom, _, _, time, negated):
            return [] if negated else [atom, *([time] if time is not None else [])]
        case _:
            return []


def _results(literal: Literal, known: Modes) -> set[str]:
    """The variables that a literal gives and does not need."""
    needed = {name for term in _needs(literal, known) for name in names(term)}
    return {name for term in _gives(literal, known) for name in names(term)} - needed


def _ready(literal: Literal, bound: set[str], known: Modes) -> bool:
    if isinstance(literal, Compare) and literal.op == "=" and not literal.negated:
        return _bound(literal.left, bound, computes(literal.right)) or _bound(
            literal.right, bound, computes(literal.left)
        )
    return all(names(term) <= bound and not _anonymous(term) for term in _needs(literal, known))


def _bound(side: Term, bound: set[str], other_computes: bool) -> bool:
    return not other_computes and names(side) <= bound and not _anonymous(side)


def _anonymous(term: Term) -> bool:
    return any(variable.name == "_" for variable in variables(term))


# --------------------------------------------------------------------------- bodies


def bind(body: Body, bound: set[str], known: Modes) -> list[tuple[Variable, str]]:
    """Add to `bound` what the body binds; return the variables that are needed and not bound, each with
    the place. What would follow once those are bound is not reported as well."""
    pending = list(body)
    problems: list[tuple[Variable, str]] = []
    progress = True
    while pending and progress:
        progress = False
        waiting: list[Literal] = []
        for literal in pending:
            if isinstance(literal, Either):
                before = len(bound)
                problems_inside = _alternatives(literal, bound, known)
                progress |= len(bound) > before
                if problems_inside:
                    waiting.append(literal)
            elif isinstance(literal, FindAll | Absent):
                if isinstance(literal, FindAll):
                    progress |= not names(literal.result) <= bound
                    bound |= names(literal.result)
                waiting.append(literal)
            elif isinstance(literal, Aggregate):
                bound |= names(literal.result) | (given(arguments(literal.atom)) - names(literal.template))
                progress = True
            elif _ready(literal, bound, known):
                progress = True
                for term in _gives(literal, known):
                    bound |= names(term)
            else:
                waiting.append(literal)
        pending = waiting
        if not any(not isinstance(literal, FindAll | Absent) for literal in pending):
            break
    stuck = _stuck(pending, bound, known)
    for literal in pending:
        problems += _problems(literal, bound, known)
    bound |= stuck
    return [problem for problem in problems if problem[0].name not in stuck] or problems


def _stuck(pending: list[Literal], bound: set[str], known: Modes) -> set[str]:
    """The variables that the pending literals would bind, once what they need is bound; also through an ``=``
    with such a variable on one side."""
    stuck = {name for literal in pending for name in _results(literal, known)}
    equations = [literal for literal in pending if isinstance(literal, Compare) and literal.op == "="]
    before = -1
    while len(stuck) > before:
        before = len(stuck)
        for literal in equations:
            if _ready(literal, bound | stuck, known):
                stuck |= {name for term in _gives(literal, known) for name in names(term)} - bound
    return stuck


def _alternatives(literal: Either, bound: set[str], known: Modes) -> list[tuple[Variable, str]]:
    """Bind what every alternative binds."""
    problems: list[tuple[Variable, str]] = []
    common: set[str] | None = None
    for alternative in literal.alternatives:
        own = set(bound)
        problems += bind(alternative, own, known)
        common = own if common is None else common & own
    bound |= common or set()
    return problems


def _problems(literal: Literal, bound: set[str], known: Modes) -> list[tuple[Variable, str]]:
    match literal:
        case Either():
            return _alternatives(literal, set(bound), known)
        case Absent(body):
            return bind(body, set(bound), known)
        case FindAll(template, body):
            own = set(bound)
            problems = bind(body, own, known)
            return problems + [(v, "the findall template") for v in _missing([template], own)]
        case _:
            return [(variable, _place(literal)) for variable in _missing(_needs(literal, known), bound)]


def _missing(terms: Iterable[Term], bound: set[str]) -> Iterator[Variable]:
    for term in terms:
        for variable in variables(term):
            if variable.name == "_" or variable.name not in bound:
                yield variable


def _place(literal: Literal) -> str:
    match literal:
        case Compare("is", Variable(name)) if name.startswith(_COMPUTED):
            return "an argument or a point that is computed"
        case Compare(op):
            return f"a comparison with `{op}`" if op != "is" else "a computation with `is`"
        case Call(goal):
            return f"an argument from which `{getattr(goal, 'functor', 'it')}` computes"
        case _:
            return "an interval operation"


# --------------------------------------------------------------------------- statements


def _head_needs(statement: Statement) -> tuple[list[Term], str]:
    """The terms of a head that the body must bind, and how to call the place."""
    match statement:
        case EffectRule(effect, pair) if effect is Effect.INITIATES:
            return [pair.value], "the initiated value"
        case EventRule(event):
            return [event], "the derived event"
        case IntervalRule(pair, intervals):
            return [pair.value, intervals], "the head"
        case Initially(pair):
            return [pair.value], "the initial value"
        case Delayed(_, target, delay):
            return [
                delay,
                *([target.value, target.fluent] if target is not None else []),
            ], "the delayed effect"
        case _:
            return [], ""


def _statement(
    statement: Statement, known: Modes, kind: Kind, grounded: set[tuple[str, int]]
) -> list[tuple[Variable, str]]:
    body = body_of(statement)
    datalog = kind is not Kind.EVENTS
    bound: set[str] = set()
    if isinstance(statement, Delayed):
        bound |= names(statement.source.fluent) | names(statement.source.value)
    if isinstance(statement, Postponable):
        bound |= names(statement.pair.fluent) | names(statement.pair.value)
    if isinstance(statement, Clause) and not datalog:
        bound |= names(statement.head)
    problems = bind(_solvable(statement) if kind is Kind.LARS else body, bound, known)
    if kind is Kind.ANSWERS:
        bound |= _schematic(body)
    if isinstance(statement, Clause) and datalog:
        place = "the head" if body else "a fact"
        return problems + [(v, place) for v in _missing(head_terms(statement), bound)]
    terms, place = _head_needs(statement)
    problems += [(variable, place) for variable in _missing(terms, bound)]
    return problems + _half_bound_head(statement, body, bound, grounded)


_COMPUTED = "computed "
"""Begins the names of variables that stand for computations; no variable of a program has a space in it."""


def _solvable(statement: Statement) -> Body:
    """The body of a LARS rule with the computations in its atoms apart, where they bind nothing: ``V + k`` gives `V`
    a value, other computations need theirs, and under a negation nothing is given."""
    if not isinstance(statement, Clause):
        return body_of(statement)
    clause, found = with_free_places(statement), list[Literal]()
    for place, literal in enumerate(clause.body):
        if isinstance(literal, Call | Windowed) and not matches_alone(clause, literal):
            found += _apart(literal, place)
        else:
            found.append(literal)
    return tuple(found)


def _apart(literal: Call | Windowed, place: int) -> list[Literal]:
    """An atom, and the computations that were in it."""
    computations: list[Literal] = []

    def instead(term: Term) -> Term:
        if not computes(term) or (moved_variable(term) is not None and not literal.negated):
            return term
        name = Variable(f"{_COMPUTED}{place} {len(computations)}")
        computations.append(Compare("is", name, term))
        return name

    return [with_places(literal, instead), *computations]


def _schematic(body: Body) -> set[str]:
    """The variables of negated atoms: open answers keep them as schemes, with the constants that are excluded."""
    negated = [literal for literal in body if isinstance(literal, Call) and literal.negated]
    return {v.name for literal in negated for v in variables(literal.goal)}


def _half_bound_head(
    statement: Statement, body: Body, bound: set[str], grounded: set[tuple[str, int]]
) -> list[tuple[Variable, str]]:
    """Head variables that do occur in the body, but nowhere that binds them. Where a grounding says which
    instances are wanted, they range over those."""
    if not isinstance(statement, EffectRule | IntervalRule | Initially):
        return []
    if signature(statement.pair.fluent) in grounded:
        return []
    wanted = [v for v in variables(statement.pair.fluent) if v.name != "_" and v.name not in bound]
    if isinstance(statement, EffectRule) and statement.effect is Effect.TERMINATES:
        wanted += [v for v in variables(statement.pair.value) if v.name != "_" and v.name not in bound]
    if not wanted:
        return []
    in_body = {
        v.name for place in literals(body) for term in literal_terms(place.literal) for v in variables(term)
    }
    return [(variable, "the head") for variable in wanted if variable.name in in_body]


def _unbound_in_clause(clause: Clause, known: Modes) -> set[str]:
    """The head variables of a background rule that its body cannot bind by itself: what it needs from its
    caller."""
    head = names(clause.head)
    given: set[str] = set()
    while True:
        bound = set(given)
        more = {variable.name for variable, _ in bind(clause.body, bound, known)} & head - given
        if not more:
            return given | (head - bound)
        given |= more


def occurrences(statement: Statement) -> Iterator[Variable]:
    """Every named variable of the statement, once per occurrence."""
    for term in head_terms(statement):
        yield from variables(term)
    for place in literals(body_of(statement)):
        for term in literal_terms(place.literal):
            yield from variables(term)


def _singles(index: int, statement: Statement) -> Iterator[Single]:
    found = [variable for variable in occurrences(statement) if not variable.name.startswith("_")]
    count = Counter(variable.name for variable in found)
    if 1 not in count.values():
        return
    if isinstance(statement, Delayed):
        found = [variable for variable in found if variable.name not in names(statement.source.fluent)]
    free = (
        names(statement.pair.fluent)
        if isinstance(statement, EffectRule | Initially | IntervalRule)
        else set()
    )
    for variable in found:
        if count[variable.name] == 1:
            yield Single(index, variable, variable.name in free)


def _grounded_fluents(program: Program) -> set[tuple[str, int]]:
    pairs = [pair_of(s.entity) for s in program.statements if isinstance(s, Grounding)]
    return {signature(pair.fluent) for pair in pairs if pair is not None and named(pair.fluent)}


def safety(program: Program) -> Safety:
    """The unsafe variables and the variables used once, of all statements."""
    known = modes(program, _unbound_in_clause)
    grounded = _grounded_fluents(program)
    unsafe: list[Unsafe] = []
    singles: list[Single] = []
    for index, statement in enumerate(program.statements):
        if isinstance(statement, Grounding):
            continue
        seen: set[str] = set()
        for variable, where in _statement(statement, known, program.kind, grounded):
            if variable.name not in seen:
                seen.add(variable.name)
                unsafe.append(Unsafe(index, variable, where))
        if not isinstance(statement, Query | Postponable | DynamicDomain):
            singles.extend(
                single for single in _singles(index, statement) if single.variable.name not in seen
            )
    return Safety(tuple(unsafe), tuple(singles), known)
