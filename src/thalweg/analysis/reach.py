"""What can happen? Values that nothing produces, rules that can never apply, pairs that never end, rules
twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.nearest import Names
from thalweg.analysis.roles import Entities, EntityKind, may_equal, pair_of
from thalweg.analysis.types import FUNCTIONS
from thalweg.analysis.wording import listed, pair_text, place, sig, text
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Body,
    Boundary,
    Call,
    Clause,
    Combine,
    Compare,
    Declare,
    Delayed,
    Effect,
    EffectRule,
    EventRule,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Initially,
    IntervalRule,
    Literal,
    Pair,
    Role,
    Statement,
    literal_terms,
)
from thalweg.language.terms import (
    Atom,
    Compound,
    Number,
    Span,
    Term,
    Variable,
    is_ground,
    signature,
    variables,
)

Signature = tuple[str, int]


@dataclass(slots=True)
class _Fluent:
    """What the program says about one fluent."""

    produced: dict[Term, Span] = field(default_factory=dict)
    initiated: dict[Term, Span] = field(default_factory=dict)
    open_production: bool = False
    terminated: set[Term] = field(default_factory=set)
    open_termination: bool = False
    read: set[Term] = field(default_factory=set)
    open_read: bool = False
    declared: tuple[Term, ...] = ()
    computed: bool = False


def _survey(program: Program) -> dict[Signature, _Fluent]:
    fluents: dict[Signature, _Fluent] = defaultdict(_Fluent)
    for statement in program.statements:
        match statement:
            case EffectRule(effect, pair):
                fluent = fluents[signature(pair.fluent)]
                fluent.computed = True
                if effect is Effect.INITIATES:
                    _produce(fluent, pair, initiated=True)
                elif is_ground(pair.value):
                    fluent.terminated.add(pair.value)
                else:
                    fluent.open_termination = True
            case Initially(pair):
                _produce(fluents[signature(pair.fluent)], pair, initiated=True)
            case IntervalRule(pair):
                _produce(fluents[signature(pair.fluent)], pair, initiated=False)
            case Delayed(source, target):
                fluent = fluents[signature(source.fluent)]
                _mark(source.value, fluent.terminated)
                fluent.open_termination |= not is_ground(source.value)
                if target is not None:
                    _produce(fluents[signature(target.fluent)], target, initiated=True)
            case Declare(role, name, arguments, values) if role is not Role.EVENT:
                fluent = fluents[name, len(arguments)]
                fluent.declared = (*fluent.declared, *values)
            case _:
                pass
        if not isinstance(statement, Grounding):
            for where in literals(body_of(statement)):
                _read(where.literal, fluents)
    return fluents


def _produce(fluent: _Fluent, pair: Pair, *, initiated: bool) -> None:
    fluent.computed = True
    if not is_ground(pair.value):
        fluent.open_production = True
        return
    fluent.produced.setdefault(pair.value, pair.value.span)
    if initiated:
        fluent.initiated.setdefault(pair.value, pair.value.span)


def _mark(value: Term, into: set[Term]) -> None:
    if is_ground(value):
        into.add(value)


def _read(literal: Literal, fluents: dict[Signature, _Fluent]) -> None:
    match literal:
        case Holds(pair) | Boundary(_, pair) | Affects(_, pair) | HoldsFor(pair):
            fluent = fluents[signature(pair.fluent)]
            _mark(pair.value, fluent.read)
            fluent.open_read |= not is_ground(pair.value)
        case _:
            pass


def check_reach(program: Program, known: Entities) -> Iterator[Diagnostic]:
    """Everything about what can and cannot happen in an event description."""
    fluents = _survey(program)
    yield from _declared_values(program, fluents)
    yield from _never_ending(fluents)
    yield from _never_used(fluents)
    yield from _unreachable(program, known, fluents)
    yield from _about_nobody(program)
    yield from _without_value(program, fluents)
    yield from check_twice(program)


# --------------------------------------------------------------------------- instances


def _about_nobody(program: Program) -> Iterator[Diagnostic]:
    """Determined fluents of which nothing says whom a variable of the head stands for."""
    told = [pair_of(s.entity) for s in program.statements if isinstance(s, Grounding)]
    fluents = [pair.fluent for pair in told if pair is not None]
    fluents += [pair.fluent for s in program.statements for pair in _pairs(s) if not _left_open(s, pair)]
    named: dict[Signature, set[Term]] = {}
    for fluent in fluents:
        named.setdefault(signature(fluent), set()).add(fluent)
    for statement in program.statements:
        if not isinstance(statement, IntervalRule):
            continue
        mine = statement.pair.fluent
        if any(may_equal(mine, x) for x in named.get(signature(mine), ())):
            continue
        for variable in _left_open(statement, statement.pair):
            pair = pair_text(statement.pair)
            message = f"nothing says whom `{variable.name}` stands for: `{pair}` holds for nobody"
            help_ = f"write `grounding({pair}) :- ...`, or bind it with a fact"
            yield Diagnostic("TW210", Severity.WARNING, message, variable.span, (), help_)
            break


def _without_value(program: Program, fluents: dict[Signature, _Fluent]) -> Iterator[Diagnostic]:
    """Groundings of a fluent that name no value."""
    for statement in program.statements:
        if isinstance(statement, Grounding) and pair_of(statement.entity) is None:
            key = signature(statement.entity)
            if key in fluents and fluents[key].computed:
                message = f"{sig(*key)} is a fluent: its grounding names a value, and this one says nothing"
                help_ = f"write `grounding({text(statement.entity)}=...)`, with `_` for every value"
                yield Diagnostic("TW021", Severity.WARNING, message, statement.entity.span, (), help_)


def _left_open(statement: Statement, pair: Pair) -> list[Variable]:
    """The variables of a head that no condition mentions."""
    body = [term for place in literals(body_of(statement)) for term in literal_terms(place.literal)]
    said = {variable.name for term in body for variable in variables(term)}
    return [variable for variable in variables(pair.fluent) if variable.anonymous or variable.name not in said]


# --------------------------------------------------------------------------- values


def _pairs(statement: Statement) -> Iterator[Pair]:
    match statement:
        case EffectRule(_, pair) | Initially(pair) | IntervalRule(pair):
            yield pair
        case Delayed(source, target):
            yield source
            if target is not None:
                yield target
        case _:
            pass
    for where in literals(body_of(statement)):
        match where.literal:
            case Holds(pair) | Boundary(_, pair) | Affects(_, pair) | HoldsFor(pair):
                yield pair
            case _:
                pass


def _declared_values(program: Program, fluents: dict[Signature, _Fluent]) -> Iterator[Diagnostic]:
    if not any(fluent.declared for fluent in fluents.values()):
        return
    for statement in program.statements:
        for pair in _pairs(statement):
            declared = fluents[signature(pair.fluent)].declared
            if declared and is_ground(pair.value) and pair.value not in declared:
                message = f"`{text(pair.value)}` is not a declared value of `{text(pair.fluent)}`"
                help_ = (
                    _nearest_value(pair.value, declared)
                    or f"declared are {listed([text(v) for v in declared])}"
                )
                yield Diagnostic("TW121", Severity.ERROR, message, pair.value.span, (), help_)


def _nearest_value(value: Term, among: tuple[Term, ...]) -> str | None:
    if not isinstance(value, Atom):
        return None
    nearest = Names((other.name for other in among if isinstance(other, Atom)), 4).nearest(value.name)
    return f"did you mean `{nearest}`?" if nearest else None


def _never_ending(fluents: dict[Signature, _Fluent]) -> Iterator[Diagnostic]:
    for (name, arity), fluent in fluents.items():
        if fluent.open_termination or fluent.open_production or len(fluent.initiated) != 1:
            continue
        ((value, span),) = fluent.initiated.items()
        if value not in fluent.terminated:
            shown = f"{name}({', '.join('_' * arity)})={text(value)}" if arity else f"{name}={text(value)}"
            message = f"nothing ends `{shown}`: once initiated it holds for ever"
            yield Diagnostic("TW202", Severity.HINT, message, span)


def _never_used(fluents: dict[Signature, _Fluent]) -> Iterator[Diagnostic]:
    for (name, arity), fluent in fluents.items():
        if fluent.open_read or not fluent.read or len(fluent.initiated) < 2:
            continue
        for value, span in fluent.initiated.items():
            used = value in fluent.read or value in fluent.terminated or value == Atom("false")
            if not used and not (fluent.declared and value not in fluent.declared):
                message = f"no rule reads the value `{text(value)}` of `{name}/{arity}`, others are read"
                yield Diagnostic("TW203", Severity.HINT, message, span)


# --------------------------------------------------------------------------- unreachable rules


def _unreachable(
    program: Program, known: Entities, fluents: dict[Signature, _Fluent]
) -> Iterator[Diagnostic]:
    inputs = {entity.key[1:] for entity in known.of_kind(EntityKind.FLUENT) if entity.is_input}
    for statement in program.statements:
        found = contradiction(body_of(statement)) or _reads_nothing(statement, fluents, inputs)
        if found is not None:
            span, why, *help_ = found
            message = f"this rule can never apply: {why}"
            yield Diagnostic("TW204", Severity.WARNING, message, span, (), help_[0] if help_ else None)


def _needed(statement: Statement) -> Iterator[tuple[Pair, str]]:
    """The pairs that must be able to hold for the statement to have an effect, and what is said if they
    cannot."""
    match statement:
        case EffectRule(Effect.TERMINATES, pair) | Delayed(pair):
            yield pair, "is never initiated"
        case Grounding(entity) if (pair_ := pair_of(entity)) is not None:
            yield pair_, "never holds"
        case _:
            pass
    if isinstance(statement, IntervalRule) and _is_only_part(statement):
        return
    for literal in body_of(statement):
        match literal:
            case Holds(pair, _, False) | Boundary(_, pair, _, False) | HoldsFor(pair):
                yield pair, "never holds"
            case Affects(Effect.INITIATES, pair, _, False):
                yield pair, "is never initiated"
            case _:
                pass


def _reads_nothing(
    statement: Statement, fluents: dict[Signature, _Fluent], inputs: set[Signature]
) -> tuple[Span, str, str | None] | None:
    for pair, how in _needed(statement):
        fluent = fluents[signature(pair.fluent)]
        if signature(pair.fluent) in inputs or fluent.open_production or pair.value in fluent.produced:
            continue
        if fluent.produced and not is_ground(pair.value):
            continue
        if fluent.declared and pair.value not in fluent.declared:
            continue
        if not fluent.produced:
            return pair.fluent.span, f"`{pair_text(pair)}` {how}", _other_fluent(signature(pair.fluent), fluents)
        return pair.value.span, f"`{pair_text(pair)}` {how}", _other_value(pair, tuple(fluent.produced))
    return None


def _other_fluent(this: Signature, fluents: dict[Signature, _Fluent]) -> str | None:
    """The fluent that may have been meant: one of this name, or of a near name and as many arguments."""
    name, arity = this
    made = [other for other, fluent in fluents.items() if fluent.produced]
    same = min((other for other in made if other[0] == name), key=lambda other: abs(other[1] - arity), default=None)
    near = Names((other[0] for other in made if other[1] == arity), 4).nearest(name)
    meant = same or (near and (near, arity))
    return f"did you mean {sig(*meant)}?" if meant else None


def _other_value(pair: Pair, produced: tuple[Term, ...]) -> str | None:
    nearest = _nearest_value(pair.value, produced)
    if nearest is not None:
        return nearest
    return f"the values of `{text(pair.fluent)}` are {listed([text(value) for value in produced])}"


def _is_only_part(statement: IntervalRule) -> bool:
    """True when an empty list of intervals does not make the result empty (a union, a complement)."""
    return any(isinstance(literal, Combine) and literal.op != "intersect_all" for literal in statement.body)


# --------------------------------------------------------------------------- contradictions inside a body


def contradiction(body: Body) -> tuple[Span, str] | None:
    """Why the conditions cannot all be true, and where; None when nothing is seen."""
    positive: dict[Literal, None] = {}
    values: dict[Term, Pair] = {}
    for literal in body:
        if isinstance(literal, Happens | Holds | Boundary | Affects | Call):
            if replace(literal, negated=not literal.negated) in positive:
                return literal.span, "two of its conditions are opposites"
            positive[literal] = None
        if isinstance(literal, Holds) and not literal.negated and is_ground(literal.pair.value):
            other = values.setdefault(literal.pair.fluent, literal.pair)
            if other.value != literal.pair.value:
                both = f"`{text(other.value)}` and `{text(literal.pair.value)}`"
                return literal.span, f"`{text(other.fluent)}` cannot be both {both}"
    return _impossible_numbers(body)


_TESTS = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "=<": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "=:=": lambda a, b: a == b,
    "=\\=": lambda a, b: a != b,
}
_MIRROR = {"<": ">", ">": "<", "=<": ">=", ">=": "=<", "=:=": "=:="}


def _impossible_numbers(body: Body) -> tuple[Span, str] | None:
    """Comparisons with numbers that no value satisfies."""
    low: dict[str, tuple[float, bool]] = {}
    high: dict[str, tuple[float, bool]] = {}
    for literal in body:
        if not isinstance(literal, Compare) or literal.negated:
            continue
        left, right, op = literal.left, literal.right, literal.op
        if isinstance(left, Number) and isinstance(right, Number) and op in _TESTS:
            if not _TESTS[op](left.value, right.value):
                return literal.span, f"`{text(left)} {op} {text(right)}` is false"
            continue
        if left == right and op in ("<", ">", "=\\=", "\\=", "\\==") and not _has_anonymous(left):
            return literal.span, f"`{text(left)} {op} {text(right)}` is false"
        if isinstance(left, Number) and isinstance(right, Variable) and op in _MIRROR:
            left, right, op = right, left, _MIRROR[op]
        if isinstance(left, Variable) and isinstance(right, Number) and not left.anonymous:
            _narrow(left.name, op, right.value, low, high)
            bottom, top = low.get(left.name), high.get(left.name)
            if bottom and top and (bottom[0] > top[0] or (bottom[0] == top[0] and (bottom[1] or top[1]))):
                return literal.span, f"no number `{left.name}` satisfies its comparisons"
    return None


def _has_anonymous(term: Term) -> bool:
    return (isinstance(term, Compound) and term.functor not in FUNCTIONS) or (
        isinstance(term, Variable) and term.anonymous
    )


def _narrow(
    name: str, op: str, value: float, low: dict[str, tuple[float, bool]], high: dict[str, tuple[float, bool]]
) -> None:
    """Bounds are (number, strict); the tighter one is kept."""
    if op in (">", ">=", "=:="):
        low[name] = max(low.get(name, (value, op == ">")), (value, op == ">"))
    if op in ("<", "=<", "=:="):
        bound = (value, op == "<")
        old = high.get(name, bound)
        high[name] = bound if (bound[0], not bound[1]) < (old[0], not old[1]) else old


# --------------------------------------------------------------------------- twice


def check_twice(program: Program) -> Iterator[Diagnostic]:
    """Rules that stand in the program more than once; facts may."""
    seen: dict[Statement, Statement] = {}
    for statement in program.statements:
        if isinstance(statement, EffectRule | EventRule | IntervalRule | Delayed) or (
            isinstance(statement, Clause) and statement.body
        ):
            first = seen.setdefault(statement, statement)
            if first is not statement:
                message = "this rule stands in the program twice"
                yield Diagnostic(
                    "TW205", Severity.WARNING, message, statement.span, (f"first at {place(first.span)}",)
                )
