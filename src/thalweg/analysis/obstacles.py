"""Why a program, or a part of it, cannot be cut into shards, where its keys alone do not tell.

`analysis.keys` looks at what rules join on. A few things look further than any join: known instances over which a
variable ranges, initiations inside a running interval, a choice that is made for the whole stream.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.dependencies import Node, dependencies
from thalweg.analysis.keys import Keys, plain
from thalweg.analysis.roles import named
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Aggregate,
    Allen,
    Boundary,
    Call,
    Clause,
    Combine,
    Compare,
    Delayed,
    Duration,
    DynamicDomain,
    EffectRule,
    EventRule,
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
from thalweg.language.terms import Compound, Term, Variable, signature, variables


def obstacle_of(program: Program, keys: Keys) -> str | None:
    """Why the program runs as one shard; None where it need not."""
    match program.kind:
        case Kind.EVENTS:
            return _of_events(program, keys)
        case Kind.ANSWERS:
            if _negated(program):
                return "answers with negated premises may rest on what no shard has seen"
            if not _cleanly(keys):
                return _why(keys)
            return None if _asked(program) <= set(keys.stages[0].members) else "a query asks about facts"
        case Kind.LARS:
            if _negative_loop(program):
                return "rules that negate each other choose one answer stream for all"
            return None if _cleanly(keys) else _why(keys)


def _cleanly(keys: Keys) -> bool:
    """One stage by one argument, and every row has it."""
    return keys.partitioned and all(route.parts for route in keys.stages[0].routes)


def _why(keys: Keys) -> str:
    reasons = [stage.obstacle.reason for stage in keys.stages if stage.obstacle is not None]
    return next((reason for reason in reasons if reason), "its rules join on different arguments")


# --------------------------------------------------------------------------- events and fluents


def head_of(statement: Statement) -> Node | None:
    """The event or fluent that a statement says something about."""
    return next((node for node, _ in _heads(statement)), None)


def _heads(statement: Statement) -> Iterator[tuple[Node, Term]]:
    match statement:
        case EffectRule(_, pair) | IntervalRule(pair) | Initially(pair) | Delayed(pair) | Postponable(pair):
            if named(pair.fluent):
                yield Node("fluent", *signature(pair.fluent)), pair.fluent
        case EventRule(event) if named(event):
            yield Node("event", *signature(event)), event
        case _:
            pass


def reads_of(statement: Statement) -> Iterator[Node]:
    return (node for node, _ in _reads(statement))


def _reads(statement: Statement) -> Iterator[tuple[Node, Term]]:
    for place in literals(body_of(statement)):
        match place.literal:
            case Happens(event) if named(event):
                yield Node("event", *signature(event)), event
            case Holds(pair) | Boundary(_, pair) | Affects(_, pair) | HoldsFor(pair) if named(pair.fluent):
                yield Node("fluent", *signature(pair.fluent)), pair.fluent
            case _:
                pass


def is_temporal(literal: Literal) -> bool:
    """True for a literal that reads events or fluents."""
    return isinstance(literal, Happens | Holds | Boundary | Affects | HoldsFor)


def _of_events(program: Program, keys: Keys) -> str | None:
    where: dict[Node, int] = {}
    for index, stage in enumerate(keys.stages):
        for node in {plain(node) for node in stage.members}:
            if node in where:
                return f"the values of {node.name} are computed by different keys"
            where[node] = index
    deep = {node for statement in program.statements for node in _deep(statement)}
    seen = {node for statement in program.statements for node in _seen(statement, where)}
    sighted = _from_first_sight(program)
    for statement in program.statements:
        found = _of_statement(statement, where, deep) or _of_known(statement, seen)
        found = found or _of_edges(statement, where, sighted)
        if found is not None:
            return found
    return None


def _seen(statement: Statement, where: Mapping[Node, int]) -> Iterator[Node]:
    """The fluent of a rule that a derived event of another stage sets off. That event shows nobody; in this stage it
    would be one of the input, which does."""
    head = head_of(statement)
    if isinstance(statement, EffectRule) and head is not None:
        for place in literals(statement.body):
            match place.literal:
                case Happens(event) if named(event) and not place.negated:
                    node = Node("event", *signature(event))
                    if where.get(node, where.get(head)) != where.get(head):
                        yield head


def _of_known(statement: Statement, seen: Collection[Node]) -> str | None:
    """Why a statement needs to know who has been seen, where stages see others."""
    match statement:
        case EffectRule(_, pair) | Initially(pair) if head_of(statement) in seen:
            free = {v.name for term in (pair.fluent, pair.value) for v in variables(term)} - _of_body(statement)
            if free:
                return f"in {signature(pair.fluent)[0]}, {min(free)} ranges over all that is known"
        case IntervalRule(pair) if named(pair.fluent):
            bound = bound_by(statement)
            for literal in statement.body:
                match literal:
                    case HoldsFor(read) if named(read.fluent) and Node("fluent", *signature(read.fluent)) in seen:
                        free = _of_pair(literal) - bound
                        if free:
                            unsure = min(free).partition(" ")[0]
                            return f"in {signature(pair.fluent)[0]}, {unsure} ranges over all that is known"
    return None


def _of_body(statement: Statement) -> set[str]:
    """The variables of a statement's conditions; each ``_`` is one of its own."""
    terms = [term for place in literals(body_of(statement)) for term in literal_terms(place.literal)]
    return {v.name for term in terms for v in variables(term)} - {"_"}


def _from_first_sight(program: Program) -> dict[Node, set[Node]]:
    """The fluents that somebody may have from the moment of being first seen, which is no `start`; with those that they
    have it from."""
    found: dict[Node, set[Node]] = {}
    for statement in program.statements:
        match statement:
            case Initially(pair) if named(pair.fluent):
                if {v.name for v in variables(pair.fluent)} - _of_body(statement):
                    found.setdefault(Node("fluent", *signature(pair.fluent)), set())
            case IntervalRule(pair) if named(pair.fluent) and _brings(statement):
                found.setdefault(Node("fluent", *signature(pair.fluent)), set())
    rules = [rule for rule in program.statements if isinstance(rule, IntervalRule) and named(rule.pair.fluent)]
    size = -1
    while size != (size := sum(map(len, found.values())) + len(found)):
        for rule in rules:
            read = {node for node in reads_of(rule) if node in found}
            if read:
                above = found.setdefault(Node("fluent", *signature(rule.pair.fluent)), set())
                above.update(read, *(found[node] for node in read))
    return found


def _brings(rule: IntervalRule) -> bool:
    """Can a rule give a value to somebody who is seen for the first time, without that anything begins?"""
    told = _told(rule)
    read = [_of_pair(literal) for literal in rule.body if isinstance(literal, HoldsFor)]
    complements = any(isinstance(x, Combine) and x.op == "complement_all" for x in rule.body)
    related = any(isinstance(x, Allen) for x in rule.body) and any(names != read[0] for names in read)
    return bool(told) and (complements or related or not told <= bound_by(rule))


def _of_edges(statement: Statement, where: Mapping[Node, int], sighted: Mapping[Node, set[Node]]) -> str | None:
    """Why a statement needs to see who is first seen: it asks for the start or end of what they may have from then on.
    To another stage that would be an interval like any other."""
    here = where.get(head_of(statement) or Node("", "", 0))
    for place in literals(body_of(statement)):
        match place.literal:
            case Boundary(edge, pair) if named(pair.fluent):
                node = Node("fluent", *signature(pair.fluent))
                sources = {node, *sighted[node]} if node in sighted else set()
                if any(where.get(source, here) != here for source in sources):
                    return f"a rule reads the {edge} of {node.name}, which may hold from first sight on, by another key"
    return None


def _deep(statement: Statement) -> Iterator[Node]:
    """What a statement gives or reads with terms as arguments."""
    for node, term in [*_heads(statement), *_reads(statement)]:
        if isinstance(term, Compound) and any(isinstance(a, Compound) for a in term.args):
            yield node


def _of_statement(statement: Statement, where: Mapping[Node, int], deep: Collection[Node]) -> str | None:
    """Why a statement needs to see the whole stream. `where` is the stage of what is computed, `deep` what has terms as
    arguments: rows between stages have constants."""
    here = where.get(head_of(statement) or Node("", "", 0))
    for node in reads_of(statement):
        if node in deep and where.get(node, here) != here:
            return f"a rule reads {node.name}, whose arguments are terms, and has another key"
    match statement:
        case DynamicDomain(predicate):
            return f"the domain {signature(predicate)[0]} is filled by the whole stream"
        case Clause(_, body) if any(is_temporal(place.literal) for place in literals(body)):
            return "background rules read events or fluents"
        case IntervalRule(pair) if named(pair.fluent):
            told = _told(statement)
            free = told - bound_by(statement)
            foreign = any(where.get(node, here) != here for node in reads_of(statement))
            if free and (foreign or len(told) > 1):
                return f"in {signature(pair.fluent)[0]}, {min(free).partition(' ')[0]} ranges over all that is known"
    for place in literals(body_of(statement)):
        match place.literal:
            case Affects(_, pair) if named(pair.fluent):
                if where.get(Node("fluent", *signature(pair.fluent)), here) != here:
                    return "a rule reads the initiations of a fluent that has another key"
    return None


def _told(rule: IntervalRule) -> set[str]:
    """The variables of a rule's head, and of the pairs that it reads."""
    head = {v.name for term in (rule.pair.fluent, rule.pair.value) for v in variables(term)}
    return head.union(*(_of_pair(literal) for literal in rule.body if isinstance(literal, HoldsFor)))


def _of_pair(literal: HoldsFor) -> set[str]:
    """The variables of a pair; each ``_`` is one of its own, told by the intervals, behind a blank."""
    found = {v.name for term in (literal.pair.fluent, literal.pair.value) for v in variables(term)}
    return found - {"_"} | ({f"_ {literal.intervals}"} if "_" in found else set())


def bound_by(rule: IntervalRule) -> set[str]:
    """The variables that every instance with an interval has bound: those of pairs it cannot do without."""
    known: dict[Term, set[str]] = {}
    background: set[str] = set()

    def of(intervals: Term) -> set[str]:
        return known.get(intervals, set())

    for literal in rule.body:
        match literal:
            case HoldsFor(_, result):
                known[result] = _of_pair(literal)
            case Combine("union_all", inputs, result):
                sets = [of(given) for given in inputs]
                known[result] = set.intersection(*sets) if sets else set()
            case Combine("intersect_all", inputs, result):
                known[result] = set().union(*map(of, inputs))
            case Combine("relative_complement_all", _, result, base) if base is not None:
                known[result] = of(base)
            case Duration(_, intervals, _, result):
                known[result] = of(intervals)
            case Allen(_, left, right, _, result):
                known[result] = of(left) | of(right)
            case Call(goal, negated) if not negated:
                background |= {v.name for v in variables(goal)}
    return of(rule.intervals) | background if isinstance(rule.intervals, Variable) else background


# --------------------------------------------------------------------------- atoms


def _negated(program: Program) -> bool:
    return any(
        place.negated and not isinstance(place.literal, Compare)
        for statement in program.statements
        for place in literals(body_of(statement))
    )


def _asked(program: Program) -> set[Node]:
    return {Node("predicate", *signature(s.goal)) for s in program.statements if isinstance(s, Query)}


def _negative_loop(program: Program) -> bool:
    """True where atoms depend on each other through negation."""
    found = dependencies(program)
    group = {node: i for i, component in enumerate(found.components) for node in component.members}
    for statement in program.statements:
        if not isinstance(statement, Clause) or not named(statement.head):
            continue
        here = group.get(Node("predicate", *signature(statement.head)))
        for place in literals(statement.body):
            match place.literal:
                case Call(atom) | Windowed(atom) | Aggregate(_, _, atom) if place.negated and named(atom):
                    if here is not None and group.get(Node("predicate", *signature(atom))) == here:
                        return True
    return False
