"""Stream stratification, and everything else that is checked about a LARS program before it runs.

Extended atoms are ordered: a head stands at least as high as each atom of its body, ``at(u) a`` as high as ``a``, a
window atom strictly above the atom inside it. A cycle with a strict step is refused, with its predicates
named. Loops through negation inside a stratum are legal; such predicates are *chosen* by search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from thalweg.analysis.bodies import literals
from thalweg.analysis.order import strong_components
from thalweg.analysis.places import follows, given, matches_alone, with_free_places
from thalweg.analysis.types import FUNCTIONS
from thalweg.analysis.wording import listed, sig, text
from thalweg.language.diagnostics import Code, Diagnostic, Severity, register
from thalweg.language.program import Program
from thalweg.language.rules import (
    Absent,
    Aggregate,
    Call,
    Clause,
    Compare,
    Either,
    FindAll,
    Literal,
    Windowed,
)
from thalweg.language.terms import (
    NOWHERE,
    Atom,
    Compound,
    Number,
    Sequence,
    Span,
    Term,
    Variable,
    arguments,
    is_ground,
    signature,
    variables,
)

Predicate = tuple[str, int]

register(
    Code(
        "TW401",
        "not stream-stratified",
        "A window looks at atoms that depend on the window itself. Such a program has no order of evaluation: a window "
        "atom must stand strictly above the atom inside it. Break the cycle, for instance by reading an input instead "
        "of a derived atom in one of its windows.",
    ),
    Code(
        "TW402",
        "an atom that moves itself through time",
        "A rule derives an atom at another point from itself without a window, as in `at(T+1) p if at(T) p`: "
        "that never ends. Put a window or a bound between them, or derive from input.",
    ),
    Code(
        "TW403",
        "a choice",
        "These predicates depend on each other through negation, so that several answer streams or none may "
        "exist. The previous choice is kept while it is valid. Large loops are solved by clingo "
        "(`pip install thalweg[lars]`).",
    ),
    Code(
        "TW404",
        "the time of a background fact",
        "A background fact holds at every point, so `at(T)` of it has no finite set of values for `T`. Bind `T` with "
        "another literal, or drop the `at`.",
    ),
    Code(
        "TW405",
        "a literal that LARS does not have",
        "Bodies of LARS rules are made of atoms, at-atoms, window atoms, aggregates over windows, comparisons and "
        "their negations. Disjunctions are written as two rules, `findall` as an aggregate.",
    ),
    Code(
        "TW406",
        "a term with structure",
        "Arguments, and what is compared, are constants, variables or arithmetic. Write `p(f, X)` instead of "
        "`p(f(X))`.",
    ),
    Code(
        "TW407",
        "an aggregate over background facts",
        "A background fact holds at every point and would be counted once for each of them. Use a rule that derives "
        "the atom once.",
    ),
    Code(
        "TW408",
        "a partition by something that is not an argument",
        "The variables after `by` must be arguments of the atom behind the window: `[3 # by X] sometime p(X, Y)`.",
    ),
    Code(
        "TW409",
        "input is kept for ever",
        "An at-atom without a window can ask for any past point, so that nothing can be forgotten. Give it a window: "
        "`[10m] at(T) p`.",
    ),
)


@dataclass(frozen=True, slots=True)
class Edge:
    """`head` reads `atom` in the statement `rule`."""

    head: Predicate
    atom: Predicate
    rule: int
    strict: bool
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Strata:
    """`components`: predicates that depend on each other, lower ones first. `chosen`: those with a loop through
    negation. `background`: predicates with facts; `derived`: predicates with rules."""

    components: tuple[frozenset[Predicate], ...]
    chosen: frozenset[Predicate]
    background: frozenset[Predicate]
    derived: frozenset[Predicate]
    edges: tuple[Edge, ...]
    cycles: tuple[tuple[Edge, ...], ...] = ()


def rules(program: Program) -> Iterator[tuple[int, Clause]]:
    """The clauses with a body, with their places in the program."""
    for index, statement in enumerate(program.statements):
        if isinstance(statement, Clause) and statement.body:
            yield index, statement


def atom_of(literal: Literal) -> Term | None:
    """The atom that a literal speaks about, if it does."""
    match literal:
        case Call(goal):
            return goal
        case Windowed(atom) | Aggregate(atom=atom):
            return atom
        case _:
            return None


def stratify(program: Program) -> Strata:
    """Order the predicates of the program."""
    edges: list[Edge] = []
    derived: dict[Predicate, None] = {}
    for index, rule in rules(program):
        head = signature(rule.head)
        derived[head] = None
        for literal in rule.body:
            atom = atom_of(literal)
            if atom is None:
                continue
            strict = isinstance(literal, Aggregate) or (
                isinstance(literal, Windowed) and literal.window is not None
            )
            negated = bool(getattr(literal, "negated", False))
            edges.append(Edge(head, signature(atom), index, strict, negated, literal.span))
    successors: dict[Predicate, list[Predicate]] = {}
    for edge in edges:
        successors.setdefault(edge.head, []).append(edge.atom)
    nodes = dict.fromkeys([*derived, *(e.atom for e in edges)])
    components = [frozenset(c) for c in strong_components(nodes, successors)]
    place = {p: i for i, c in enumerate(components) for p in c}
    inside = [e for e in edges if place[e.head] == place[e.atom]]
    looped = {place[e.head] for e in inside if e.negated}
    return Strata(
        tuple(components),
        frozenset(p for i in looped for p in components[i]),
        frozenset(signature(s.head) for s in program.statements if isinstance(s, Clause) and not s.body),
        frozenset(derived),
        tuple(edges),
        tuple(_cycle(e, inside) for e in inside if e.strict),
    )


def _cycle(edge: Edge, inside: list[Edge]) -> tuple[Edge, ...]:
    """A shortest way from the edge's atom back to its head, the edge first."""
    ways: dict[Predicate, tuple[Edge, ...]] = {edge.atom: ()}
    queue = [edge.atom]
    for node in queue:
        for other in inside:
            if other.head == node and other.atom not in ways:
                ways[other.atom] = (*ways[node], other)
                queue.append(other.atom)
    return (edge, *ways.get(edge.head, ()))


# --------------------------------------------------------------------------- the check


def check(program: Program) -> list[Diagnostic]:
    """What the LARS reasoner has to say about a program; safety and types are checked for all kinds elsewhere."""
    found = [d for index, rule in rules(program) for d in _forms(rule)]
    if found:
        return found
    strata = stratify(program)
    return [
        *_strict_cycles(strata),
        *_moving(program, strata),
        *(d for _, rule in rules(program) for d in _background(rule, strata)),
        *_choices(strata),
        *_unbounded(program, strata),
    ]


def _forms(rule: Clause) -> Iterator[Diagnostic]:
    for literal in rule.body:
        if not isinstance(literal, Call | Compare | Windowed | Aggregate):
            what = {
                Either: "a disjunction",
                Absent: "the negation of a conjunction",
                FindAll: "`findall`",
            }.get(type(literal), "this literal")
            message = f"{what} cannot stand in the body of a LARS rule"
            yield Diagnostic("TW405", Severity.ERROR, message, literal.span)
    for atom in (rule.head, *(a for p in literals(rule.body) if (a := atom_of(p.literal)) is not None)):
        for argument in arguments(atom):
            if _structured(argument):
                message = f"`{text(argument)}` in `{text(atom)}` has structure"
                yield Diagnostic("TW406", Severity.ERROR, message, getattr(argument, "span", NOWHERE))
    for literal in (x for x in rule.body if isinstance(x, Compare)):
        for side in (literal.left, literal.right):
            if _structured(side):
                message = f"`{text(side)}` has structure, and is compared as a whole"
                yield Diagnostic("TW406", Severity.ERROR, message, getattr(side, "span", literal.span))
    for literal in (x for x in rule.body if isinstance(x, Aggregate)):
        for argument in (a for a in arguments(literal.atom) if isinstance(a, Compound) and not _structured(a)):
            if not follows(argument, arguments(literal.atom)):
                message = f"`{text(argument)}` in `{text(literal.atom)}` does not follow from its other arguments"
                suggestion = f"compute it before, `V = {text(argument)}`, and aggregate over `V`"
                yield Diagnostic("TW406", Severity.ERROR, message, literal.span, (), suggestion)
    for literal in rule.body:
        window = getattr(literal, "window", None)
        atom_here = atom_of(literal)
        if window is not None and atom_here is not None:
            for by in window.by:
                if by not in arguments(atom_here):
                    message = f"`{text(by)}` is not an argument of `{text(atom_here)}`"
                    yield Diagnostic("TW408", Severity.ERROR, message, literal.span)


def _structured(term: Term) -> bool:
    match term:
        case Compound(functor, args):
            return not is_ground(term) and (functor not in FUNCTIONS or any(map(_structured, args)))
        case Sequence():
            return not is_ground(term)
        case Atom() | Number() | Variable():
            return False


def _strict_cycles(strata: Strata) -> Iterator[Diagnostic]:
    for cycle in strata.cycles:
        names = [sig(*e.head) for e in cycle]
        way = " reads ".join([*names, names[0]])
        message = f"this window looks at {sig(*cycle[0].atom)}, which depends on the window itself"
        yield Diagnostic("TW401", Severity.ERROR, message, cycle[0].span, (f"the cycle: {way}",))


def _moving(program: Program, strata: Strata) -> Iterator[Diagnostic]:
    place = {p: i for i, c in enumerate(strata.components) for p in c}
    for edge in strata.edges:
        rule = program.statements[edge.rule]
        assert isinstance(rule, Clause)
        if edge.strict or place[edge.head] != place[edge.atom] or rule.at is None:
            continue
        times = [x.time for x in rule.body if isinstance(x, Windowed) and signature(x.atom) == edge.atom]
        moved = {v.name for time in times if time is not None and time != rule.at for v in variables(time)}
        if moved & {v.name for v in variables(rule.at)}:
            message = f"{sig(*edge.head)} is derived at another point from itself, without a window"
            yield Diagnostic("TW402", Severity.ERROR, message, edge.span)


def _background(rule: Clause, strata: Strata) -> Iterator[Diagnostic]:
    bound: set[str] = set()
    for x in rule.body:
        if isinstance(x, Call | Windowed) and not x.negated:
            bound |= given(arguments(x.goal if isinstance(x, Call) else x.atom))
        if isinstance(x, Windowed) and x.time is not None and not x.negated:
            bound |= given([x.time]) if signature(x.atom) not in strata.background else set()
    bound |= {
        x.left.name
        for x in rule.body
        if isinstance(x, Compare) and isinstance(x.left, Variable) and x.op in ("is", "=") and not x.negated
    }
    for literal in rule.body:
        atom = atom_of(literal)
        if atom is None or signature(atom) not in strata.background:
            continue
        if isinstance(literal, Aggregate):
            message = f"{sig(*signature(atom))} has background facts, which hold at every point"
            yield Diagnostic("TW407", Severity.ERROR, message, literal.span)
        elif isinstance(literal, Windowed) and literal.time is not None:
            if literal.window is not None and literal.window.kind != "time":
                message = (
                    f"{sig(*signature(atom))} is background and has no place in a window that counts atoms"
                )
                yield Diagnostic("TW404", Severity.ERROR, message, literal.span)
            if matches_alone(with_free_places(rule), literal):
                message = f"{sig(*signature(atom))} is background and `{text(atom)}` computes with variables of its own"
                yield Diagnostic("TW404", Severity.ERROR, message, literal.span)
            open_names = [v.name for v in variables(literal.time) if v.name not in bound]
            if open_names:
                message = (
                    f"`{open_names[0]}` would range over every point: {sig(*signature(atom))} is background"
                )
                yield Diagnostic("TW404", Severity.ERROR, message, literal.span)


def _choices(strata: Strata) -> Iterator[Diagnostic]:
    for component in strata.components:
        if not component & strata.chosen:
            continue
        loop = next(e for e in strata.edges if e.negated and e.head in component and e.atom in component)
        names = listed(sorted(sig(*p) for p in component))
        message = f"{names} form a loop through negation: a choice between answer streams"
        notes = (
            ()
            if find_spec("clingo")
            else ("clingo is not installed; large loops cannot be solved without it",)
        )
        suggestion = "pip install thalweg[lars]" if notes else None
        yield Diagnostic("TW403", Severity.HINT, message, loop.span, notes, suggestion)


def _unbounded(program: Program, strata: Strata) -> Iterator[Diagnostic]:
    for _, rule in rules(program):
        for literal in rule.body:
            if not isinstance(literal, Windowed) or literal.window is not None:
                continue
            if signature(literal.atom) not in strata.derived | strata.background:
                message = f"every past {sig(*signature(literal.atom))} must be kept for this at-atom"
                suggestion = "give it a window: `[10m] at(T) ...`"
                yield Diagnostic("TW409", Severity.WARNING, message, literal.span, (), suggestion)
