"""All that can be said about a program before it runs, in one go: `check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec

from thalweg.analysis import codes as _codes  # noqa: F401  registers the explanations
from thalweg.analysis.bodies import body_of, head_terms, literals
from thalweg.analysis.dates import check_dates
from thalweg.analysis.dependencies import Cycle, Dependencies, Node, dependencies
from thalweg.analysis.names import check_declarations, check_names
from thalweg.analysis.nearest import near
from thalweg.analysis.present import check_present
from thalweg.analysis.quotes import check_quotes
from thalweg.analysis.reach import check_reach, check_twice
from thalweg.analysis.roles import entities, may_equal, named
from thalweg.analysis.safety import Safety, occurrences, safety
from thalweg.analysis.shape import check_shape
from thalweg.analysis.types import COMPUTED, FUNCTIONS, Types, infer
from thalweg.analysis.wording import listed, place, sig, text
from thalweg.language.diagnostics import Diagnostic, ProgramError, Severity, has_errors
from thalweg.language.pause import collection_paused
from thalweg.language.program import Program
from thalweg.language.rules import (
    Absent,
    Aggregate,
    Call,
    Clause,
    Compare,
    Duration,
    HoldsFor,
    IntervalRule,
    Kind,
    Literal,
    Statement,
    Windowed,
    literal_terms,
)
from thalweg.language.terms import Compound, Span, Term, Variable, arguments, signature, variables

REASONER_CHECKS = {
    Kind.EVENTS: "thalweg.events.domains",
    Kind.ANSWERS: "thalweg.answers.offline",
    Kind.LARS: "thalweg.lars.stratify",
}
"""Modules whose `check(program)` knows what their reasoner can run."""


PARTIAL = frozenset({"TW101", "TW104", "TW202", "TW203", "TW204", "TW207", "TW208", "TW210", "TW211"})
"""What cannot be said of a program of which parts could not be read."""


def check_read(program: Program, reading: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings of reading and of checking together. Where parts of the text could not be read, what may
    only follow from the missing parts is left out."""
    reading = list(reading)
    found = check(program)
    if has_errors(reading):
        found = [diagnostic for diagnostic in found if diagnostic.code not in PARTIAL]
    return in_order([*reading, *found])


@collection_paused()
def check(program: Program) -> list[Diagnostic]:
    """Everything that is wrong or doubtful about the program, in the order of the text.

    Reading errors are not repeated: `language.parser.read` has reported them.
    """
    known = entities(program)
    found = dependencies(program, known)
    types = infer(program)
    safe = safety(program)
    diagnostics = [
        *check_names(program, known),
        *check_declarations(program, known),
        *_safety(program, safe),
        *_shared_negations(program),
        *_shared_aggregates(program),
        *check_present(program),
        *_types(types),
        *_computations(program),
        *check_quotes(program),
        *check_dates(program),
    ]
    if program.kind is Kind.EVENTS:
        diagnostics += check_shape(program)
        diagnostics += check_reach(program, known)
        diagnostics += _cycles(program, found)
        diagnostics += _recursion(program, safe)
        if not has_errors(diagnostics):
            diagnostics += _reasoner(program)
    else:
        diagnostics += check_twice(program)
        said = _reasoner(program)
        if program.kind is Kind.ANSWERS and not has_errors(said):  # its reasoner knows better what is bound
            diagnostics = [diagnostic for diagnostic in diagnostics if diagnostic.code != "TW110"]
        diagnostics += _not_said_yet(said, diagnostics)
    return in_order(diagnostics)


def refuse_errors(program: Program) -> None:
    """Raise `ProgramError` with all that is wrong with the program, if anything is; a program is checked once.

    >>> from thalweg.language.parser import parse
    >>> refuse_errors(parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."))
    """
    if program._sound:
        return
    wrong = [diagnostic for diagnostic in check(program) if diagnostic.severity is Severity.ERROR]
    if wrong:
        raise ProgramError(wrong, program.sources)
    trusted(program)


def trusted(program: Program) -> Program:
    """The program, which has been checked, here or elsewhere: it is not checked again."""
    object.__setattr__(program, "_sound", True)
    return program


def strict(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The same with warnings as errors."""
    return [
        replace(diagnostic, severity=Severity.ERROR)
        if diagnostic.severity is Severity.WARNING
        else diagnostic
        for diagnostic in diagnostics
    ]


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by place, without repetitions."""
    unique = dict.fromkeys(diagnostics)
    sources = {name: index for index, name in enumerate(dict.fromkeys(d.span.source for d in unique))}
    return sorted(unique, key=lambda d: (sources[d.span.source], d.span.line, d.span.column, d.code))


def _reasoner(program: Program) -> list[Diagnostic]:
    """What the program's own reasoner has to say, where it is there."""
    module = REASONER_CHECKS[program.kind]
    if find_spec(module) is None:
        return []
    asks: Callable[[Program], Iterable[Diagnostic]] | None = getattr(import_module(module), "check", None)
    return list(asks(program)) if asks is not None else []


def _not_said_yet(found: Iterable[Diagnostic], known: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """What a reasoner says about a statement in which an error has been found is, as a rule, the same error again."""
    errors = [d.span for d in known if d.severity is Severity.ERROR]
    for diagnostic in found:
        if not any(_lies_in(span, diagnostic.span) for span in errors):
            yield diagnostic


def _lies_in(inner: Span, outer: Span) -> bool:
    first, last = (outer.line, outer.column), (outer.end_line, outer.end_column)
    return inner.source == outer.source and first <= (inner.line, inner.column) <= last


# --------------------------------------------------------------------------- variables


def _safety(program: Program, safe: Safety) -> Iterator[Diagnostic]:
    for unsafe in safe.unsafe:
        name = "an anonymous variable" if unsafe.variable.anonymous else f"`{unsafe.variable.name}`"
        message = f"{name} is needed in {unsafe.where} and nothing binds it"
        similar = _similar_variable(program, unsafe.statement, unsafe.variable.name)
        if similar:
            help_ = f"did you mean `{similar}`?"
        elif unsafe.variable.name in _CONSTANTS:
            help_ = f"what begins with a capital is a variable: write `{unsafe.variable.name.lower()}`"
        else:
            help_ = "bind it with a positive literal: an event, a fluent or a fact"
        yield Diagnostic("TW110", Severity.ERROR, message, unsafe.variable.span, (), help_)
    for single in safe.singles:
        name = single.variable.name
        similar = _similar_variable(program, single.statement, name)
        notes = ("in this head it stands for every known instance",) if single.free else ()
        help_ = f"did you mean `{similar}`?" if similar else f"write `_{name}` if that is meant"
        yield Diagnostic(
            "TW201", Severity.WARNING, f"`{name}` occurs only once", single.variable.span, notes, help_
        )


_CONSTANTS = ("True", "TRUE", "False", "FALSE", "Yes", "No", "On", "Off", "None", "Null")
"""Variables that are meant as constants."""


def _similar_variable(program: Program, statement: int, name: str) -> str | None:
    """Another variable of the statement with nearly the same name."""
    others = {variable.name for variable in occurrences(program.statements[statement])} - {name, "_"}
    folded = {other for other in others if other.lower() == name.lower()}
    return min(folded or {other for other in others if near(name, other, 4)}, default=None)


def _shared_negations(program: Program) -> Iterator[Diagnostic]:
    """Variables that occur in several negations of a body and nowhere else."""
    for statement in program.statements:
        body = body_of(statement)
        negated = [item for item in body if isinstance(item, Absent) or getattr(item, "negated", False)]
        if len(negated) < 2:
            continue
        counts = Counter(name for item in negated for name in _variables_inside(item))
        suspects = {name for name, count in counts.items() if count > 1}
        if not suspects:
            continue
        last = {name: v for item in negated for name, v in _variables_inside(item).items()}
        elsewhere = _names_outside(statement, negated)
        for name in sorted(suspects - elsewhere):
            message = f"`{name}` occurs only under negations, in each by itself"
            help_ = "bind it with a positive literal if the same individual is meant, else write `_`"
            yield Diagnostic("TW206", Severity.WARNING, message, last[name].span, (), help_)


def _shared_aggregates(program: Program) -> Iterator[Diagnostic]:
    """Variables that an aggregate ranges over and only other aggregates of its rule have, so that all of them are made
    for each value by itself."""
    for statement in program.statements:
        aggregates = [item for item in body_of(statement) if isinstance(item, Aggregate)]
        if len(aggregates) < 2:
            continue
        elsewhere = _names_outside(statement, aggregates)
        met: dict[str, list[tuple[Aggregate, Variable]]] = {}
        for item in aggregates:
            for variable in {v.name: v for v in variables(item.atom) if not v.anonymous}.values():
                met.setdefault(variable.name, []).append((item, variable))
        for name, places in met.items():
            ranged = [x for x, _ in places if name in {v.name for v in variables(x.template)}]
            if len(places) < 2 or not ranged or name in elsewhere:
                continue
            message = f"several aggregates share `{name}`: each is made for every `{name}` by itself"
            note = f"`{ranged[0].function}` at {place(ranged[0].span)} ranges over one `{name}` at a time"
            help_ = f"rename `{name}` in one of them, or bind it with a positive literal if that is meant"
            yield Diagnostic("TW212", Severity.WARNING, message, places[-1][1].span, (note,), help_)


def _variables_inside(item: Literal) -> dict[str, Variable]:
    """The named variables of a literal and of what is nested in it."""
    terms = (term for where in literals((item,)) for term in literal_terms(where.literal))
    return {
        variable.name: variable for term in terms for variable in variables(term) if not variable.anonymous
    }


def _names_outside(statement: Statement, negated: Sequence[Literal]) -> set[str]:
    skipped = {id(item) for item in negated}
    body = tuple(item for item in body_of(statement) if id(item) not in skipped)
    terms = [*head_terms(statement), *(t for where in literals(body) for t in literal_terms(where.literal))]
    return {variable.name for term in terms for variable in variables(term)}


# --------------------------------------------------------------------------- types, cycles


def _types(types: Types) -> Iterator[Diagnostic]:
    for clash in types.clashes:
        other, *more = clash.others
        notes = [f"a number is needed because {clash.number.why}, at {place(clash.number.span)}"]
        notes += [f"{one.why}, at {place(one.span)}" for one in more[:3]]
        if len(more) > 3:
            notes.append(f"and {len(more) - 3} more")
        message = f"{other.why}, and a number is needed"
        yield Diagnostic("TW120", Severity.ERROR, message, other.span, tuple(notes))


def _computations(program: Program) -> Iterator[Diagnostic]:
    """Functions that another kind of program computes, or with another number of arguments."""
    known = COMPUTED[program.kind]
    for statement in program.statements:
        terms = [term for where in literals(body_of(statement)) for term in _computing(where.literal)]
        if program.kind is Kind.LARS and isinstance(statement, Clause):
            terms += [*arguments(statement.head), *([] if statement.at is None else [statement.at])]
        while terms:
            term = terms.pop()
            if isinstance(term, Compound) and term.functor in FUNCTIONS:
                terms += term.args
                if signature(term) not in known:
                    message = f"{sig(*signature(term))} is not computed in a program of kind `{program.kind}`"
                    help_ = f"known are {', '.join(sorted({name for name, _ in known}))}"
                    yield Diagnostic("TW120", Severity.ERROR, message, term.span, (), help_)


def _computing(literal: Literal) -> list[Term]:
    """The terms of a literal that may be expressions."""
    match literal:
        case Compare(_, left, right):
            return [left, right]
        case Aggregate(_, template):
            return [template]
        case Windowed(_, _, _, time) if time is not None:
            return [time]
        case Duration(_, _, bound):
            return [bound]
        case _:
            return []


def node_text(node: Node) -> str:
    """A node as one writes it: ``status/1``, ``gap/1=near``."""
    value = "" if node.value is None else f"={text(node.value)}"
    return f"`{node.name}/{node.arity}{value}`"


def _cycles(program: Program, found: Dependencies) -> Iterator[Diagnostic]:
    for cycle in found.cycles:
        yield _cycle(program, cycle)


def _cycle(program: Program, cycle: Cycle) -> Diagnostic:
    start = min(range(len(cycle.rules)), key=cycle.rules.__getitem__)
    rules = cycle.rules[start:] + cycle.rules[:start]
    nodes = cycle.nodes[start:] + cycle.nodes[:start]
    chain = " -> ".join(node_text(node) for node in (*nodes, nodes[0]))
    notes = tuple(
        f"{node_text(reader)} reads {node_text(node)} at {place(program.statements[rule].span)}"
        for node, reader, rule in zip(nodes, nodes[1:] + nodes[:1], rules, strict=True)
    )
    span = program.statements[rules[0]].span
    if cycle.whole:
        message = f"the cycle {chain} looks at whole intervals, which are not known yet"
        return Diagnostic("TW132", Severity.ERROR, message, span, notes)
    help_ = "let one of the rules read the state before, with `holdsAt` of a simple fluent"
    if any(_differs_by_constant(program.statements[rule]) for rule in rules):
        help_ = "what differs in a constant only is one fluent here; give each a name of its own: `close_25(A, B)`"
    return Diagnostic("TW130", Severity.ERROR, f"the cycle {chain} has no step in time", span, notes, help_)


def _differs_by_constant(statement: Statement) -> bool:
    """Does a rule make intervals of a fluent from those of the same with other constants?"""
    if not isinstance(statement, IntervalRule):
        return False
    read = [where.literal.pair.fluent for where in literals(statement.body) if isinstance(where.literal, HoldsFor)]
    fluent = statement.pair.fluent
    return any(signature(x) == signature(fluent) and not may_equal(x, fluent) for x in read)


def _calls_back(clause: Clause, group: tuple[tuple[str, int], ...]) -> bool:
    """True for a rule of the group that calls one of the group."""
    goals = [where.literal.goal for where in literals(clause.body) if isinstance(where.literal, Call)]
    return signature(clause.head) in group and any(named(goal) and signature(goal) in group for goal in goals)


def _recursion(program: Program, safe: Safety) -> Iterator[Diagnostic]:
    for group in safe.modes.recursive:
        names = listed([sig(*predicate) for predicate in group])
        first = next(s for s in program.statements if isinstance(s, Clause) and _calls_back(s, group))
        verb = "calls itself" if len(group) == 1 else "call each other"
        yield Diagnostic(
            "TW131", Severity.ERROR, f"{names} {verb}", first.span, (), "write out the facts instead"
        )
