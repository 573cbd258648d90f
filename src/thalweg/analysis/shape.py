"""Is each rule of the right shape? An event in every effect rule, one time-point, literals that belong
there, delays that make sense."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.delays import Facts, delay_facts, delay_terms
from thalweg.analysis.roles import named
from thalweg.analysis.wording import pair_text, place, text
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Allen,
    Body,
    Boundary,
    Clause,
    Combine,
    Delayed,
    Duration,
    EffectRule,
    Either,
    EventRule,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Initially,
    IntervalRule,
    Literal,
    Pair,
    Postponable,
    Statement,
)
from thalweg.language.terms import Compound, Number, Span, Term, Variable, signature, variables

Signature = tuple[str, int]
POINTWISE = (Happens, Holds, Boundary, Affects)
INTERVALS = (HoldsFor, Combine, Allen, Duration)


def check_shape(program: Program) -> Iterator[Diagnostic]:
    """Everything that is wrong with the shape of rules of an event description."""
    for statement in program.statements:
        match statement:
            case EffectRule() | EventRule():
                yield from _one_time(statement)
                yield from _misplaced(
                    statement.body, INTERVALS, "looks at intervals, the rule at one time-point"
                )
                if not _has_event(statement.body) and not _is_fact(statement):
                    yield _no_event(statement)
            case IntervalRule(_, _, body):
                yield from _misplaced(body, POINTWISE, "looks at one time-point, the rule at intervals")
            case Initially(_, body) | Delayed(_, _, _, body) | Postponable(_, body) | Grounding(_, body):
                yield from _misplaced(body, (*POINTWISE, *INTERVALS), "has no place in a rule without time")
            case Clause(_, body):
                help_ = "background rules know no time: write it into the rules that need it, or derive an event"
                why = "has no place in a background rule"
                yield from _misplaced(body, (*POINTWISE, *INTERVALS), why, help_)
            case _:
                pass
    yield from _delays(program)


# --------------------------------------------------------------------------- events and times


def _has_event(body: Body) -> bool:
    return any(map(_is_event, body))


def _is_event(literal: Literal) -> bool:
    match literal:
        case Happens(_, _, negated) | Boundary(_, _, _, negated) | Affects(_, _, _, negated):
            return not negated
        case Either(alternatives):
            return all(map(_has_event, alternatives))
        case _:
            return False


def _is_fact(statement: EffectRule | EventRule) -> bool:
    return isinstance(statement, EventRule) and not statement.body and isinstance(statement.time, Number)


def _no_event(statement: EffectRule | EventRule) -> Diagnostic:
    what = "an effect rule" if isinstance(statement, EffectRule) else "the rule of a derived event"
    events = [
        where for where in literals(statement.body) if isinstance(where.literal, Happens | Boundary | Affects)
    ]
    notes: tuple[str, ...] = ()
    if events:
        all_negated = all(where.negated for where in events)
        notes = (
            ("a negated event does not say when the rule applies",)
            if all_negated
            else ("one alternative has none",)
        )
    held = next(
        (w.literal.pair for w in literals(statement.body) if isinstance(w.literal, Holds) and not w.negated),
        None,
    )
    help_ = f"for the moment it begins write `happensAt(start({pair_text(held)}), T)`" if held else None
    message = f"{what} without a positive event"
    span = statement.pair.fluent.span if isinstance(statement, EffectRule) else statement.event.span
    return Diagnostic("TW111", Severity.ERROR, message, span, notes, help_)


def _one_time(statement: EffectRule | EventRule) -> Iterator[Diagnostic]:
    """Every literal of the rule is read at the time of the head."""
    time = statement.time
    if not isinstance(time, Variable):
        if not (isinstance(time, Number) and not statement.body):
            help_ = "write a variable; later effects are delayed effects, `fi` and `ft`"
            yield Diagnostic(
                "TW112", Severity.ERROR, "the time of a head is a variable", time.span, (), help_
            )
        return
    for where in literals(statement.body):
        literal = where.literal
        if isinstance(literal, POINTWISE) and literal.time != time:
            message = f"this is read at {_time_text(literal.time)}, the rule applies at `{time.name}`"
            help_ = f"write `{time.name}`"
            yield Diagnostic("TW112", Severity.ERROR, message, _span_of(literal.time, literal), (), help_)


def _time_text(time: Term) -> str:
    return "another, unnamed time" if isinstance(time, Variable) and time.anonymous else f"`{text(time)}`"


def _span_of(term: Term, literal: Literal) -> Span:
    return term.span if term.span.line else literal.span


def _misplaced(
    body: Body, forbidden: tuple[type, ...], why: str, help_: str | None = None
) -> Iterator[Diagnostic]:
    for where in literals(body):
        if isinstance(where.literal, forbidden):
            yield Diagnostic("TW113", Severity.ERROR, f"this literal {why}", where.literal.span, (), help_)


# --------------------------------------------------------------------------- delayed effects


def _delays(program: Program) -> Iterator[Diagnostic]:
    facts = delay_facts(program)
    sources: list[Pair] = []
    for statement in program.statements:
        if isinstance(statement, Delayed):
            sources.append(statement.source)
            yield from _delay(statement, facts)
            yield from _target(statement)
    named_sources = {signature(pair.fluent) for pair in sources if named(pair.fluent)}
    for statement in program.statements:
        if isinstance(statement, Postponable) and named(statement.pair.fluent):
            of_fluent = signature(statement.pair.fluent) in named_sources
            if not of_fluent or not any(_overlap(statement.pair, source) for source in sources):
                message = f"no delayed effect begins with `{pair_text(statement.pair)}`"
                yield Diagnostic("TW208", Severity.WARNING, message, statement.span)


def _overlap(left: Pair, right: Pair) -> bool:
    return signature(left.fluent) == signature(right.fluent) and (
        isinstance(left.value, Variable) or isinstance(right.value, Variable) or left.value == right.value
    )


def _delay(statement: Delayed, facts: Facts) -> Iterator[Diagnostic]:
    for term in delay_terms(statement, facts):
        wrong = _wrong_delay(term)
        if wrong is not None:
            notes = (
                ()
                if term is statement.delay
                else (f"it is the delay of the rule at {place(statement.span)}",)
            )
            message = f"a delay is a positive integer, not {wrong}"
            yield Diagnostic("TW140", Severity.ERROR, message, term.span, notes)


def _wrong_delay(term: Term) -> str | None:
    match term:
        case Number(value):
            return None if value > 0 and value == int(value) else f"`{value}`"
        case Compound("-", (Number(value),)):
            return f"`-{value}`"
        case Variable() | Compound():
            return None
        case _:
            return f"`{text(term)}`"


def _target(statement: Delayed) -> Iterator[Diagnostic]:
    source, target = statement.source, statement.target
    if target is None:
        return
    anonymous = any(variable.anonymous for variable in variables(source.fluent))
    if source.fluent != target.fluent or anonymous:
        message = f"the target is `{text(target.fluent)}`, the source `{text(source.fluent)}`"
        help_ = f"let a rule react: `happensAt(start({pair_text(source)}), T)`"
        if _alike(source, target):
            help_ = "write the same fluent with the same variables in both"
        yield Diagnostic("TW141", Severity.ERROR, message, target.fluent.span, (), help_)
    elif source.value == target.value:
        message = f"`{pair_text(source)}` is already the value"
        yield Diagnostic("TW142", Severity.ERROR, message, target.value.span)


def _alike(source: Pair, target: Pair) -> bool:
    return (
        named(source.fluent) and named(target.fluent) and signature(source.fluent) == signature(target.fluent)
    )


def rule_name(statement: Statement) -> str:
    """A short text for a rule, by its head."""
    match statement:
        case EffectRule(effect, pair):
            return f"{effect.value}({pair_text(pair)})"
        case EventRule(event):
            return f"happensAt({text(event)})"
        case IntervalRule(pair):
            return f"holdsFor({pair_text(pair)})"
        case Initially(pair):
            return f"initially({pair_text(pair)})"
        case Delayed(source):
            return f"delayed effect of {pair_text(source)}"
        case Clause(head):
            return text(head)
        case _:
            return type(statement).__name__.lower() if not body_of(statement) else "rule"
