"""Are the names right? Unknown and misspelt ones, one name with two arities or roles, contradictory
declarations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.nearest import Names, distance, fold
from thalweg.analysis.roles import BUILTINS, Entities, Entity, EntityKind, Part, named
from thalweg.analysis.wording import listed, pair_text, place, sig, text
from thalweg.language.bodies import DURATIONS
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.program import Program
from thalweg.language.rules import (
    Affects,
    Aggregate,
    Boundary,
    Call,
    Clause,
    Declare,
    DynamicDomain,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Kind,
    Literal,
    Pair,
    Role,
    Tick,
    Windowed,
)
from thalweg.language.terms import NOWHERE, Atom, Compound, Span, Term, Variable, is_ground, signature
from thalweg.language.wording import counted

CONDITIONS = {
    **dict.fromkeys(("happensAt", "holdsAt", "holdsFor", "initiatedAt", "terminatedAt"), 2),
    **dict.fromkeys(("union_all", "intersect_all", "complement_all"), 2),
    **dict.fromkeys(("findall", "relative_complement_all", *DURATIONS), 3),
    "allen": 5,
}
"""Words with which conditions of event descriptions begin, and how many arguments they have."""
OTHER_WORDS = {
    **dict.fromkeys(("intersection_all", "intersection", "intersect"), "intersect_all"),
    **dict.fromkeys(("union", "unite_all"), "union_all"),
    **dict.fromkeys(("complement", "not_all"), "complement_all"),
    **dict.fromkeys(("relative_complement", "difference", "minus", "subtract"), "relative_complement_all"),
    **dict.fromkeys(("intDurGreaterThan", "intDurMore"), "intDurGreater"),
    **dict.fromkeys(("intDurLessThan", "intDurSmaller"), "intDurLess"),
}
"""What people write for words of event descriptions, where the spelling is too far away to be a slip."""
HEADS = {"initiatedAt": 2, "terminatedAt": 2, "happensAt": 2, "holdsFor": 2, "initially": 1}
"""Words with which rules of event descriptions begin."""
ABOUT_PAIRS = (
    "statements about such a pair begin with `initiatedAt`, `terminatedAt`, `holdsFor`, `initially`, `fi`, `ft`, "
    "`p` or `grounding`"
)


def check_names(program: Program, known: Entities) -> Iterator[Diagnostic]:
    """Everything that is wrong with names."""
    grounded = _grounded(program)
    uses = _Uses(program)
    yield from _unknown_predicates(program, known, uses)
    if program.kind is Kind.EVENTS:
        yield from _misspelt_heads(program, known, uses)
    yield from _two_arities(known, grounded, uses)
    yield from _two_roles(known, uses)
    yield from _misspelt(program, known, grounded, uses)
    yield from _only_grounded(program, known, uses)


class _Uses:
    """Where each entity is read: its spans, in order."""

    def __init__(self, program: Program) -> None:
        self.spans: dict[tuple[str, str, int], list[Span]] = defaultdict(list)
        self.in_grounding: set[tuple[str, str, int]] = set()
        only_grounding: dict[tuple[str, str, int], bool] = {}
        for statement in program.statements:
            grounding = isinstance(statement, Grounding)
            for where in literals(body_of(statement)):
                found = read_entity(where.literal)
                if found is not None and named(found[1]):
                    key = (found[0], *signature(found[1]))
                    self.spans[key].append(found[1].span)
                    only_grounding[key] = only_grounding.get(key, True) and grounding
        self.in_grounding = {key for key, only in only_grounding.items() if only}

    def of(self, entity: Entity) -> list[Span]:
        return self.spans.get((str(entity.key.kind), entity.name, entity.arity), [])

    def first(self, entity: Entity) -> Span:
        spans = self.of(entity)
        return spans[0] if spans else entity.span


def read_entity(literal: Literal) -> tuple[str, Term] | None:
    """Kind and term of the entity that a literal reads."""
    match literal:
        case Happens(event):
            return "event", event
        case Holds(pair) | Boundary(_, pair) | Affects(_, pair) | HoldsFor(pair):
            return "fluent", pair.fluent
        case Call(goal):
            return "predicate", goal
        case Windowed(atom) | Aggregate(_, _, atom):
            return "predicate", atom
        case _:
            return None


def _grounded(program: Program) -> set[tuple[str, str, int]]:
    """The entities that a grounding mentions."""
    found = set()
    for statement in program.statements:
        if isinstance(statement, Grounding) and named(statement.entity):
            name, arity = signature(statement.entity)
            if name == "=" and arity == 2:
                fluent = statement.entity.args[0]  # type: ignore[union-attr]
                if named(fluent):
                    found.add(("fluent", *signature(fluent)))
            else:
                found.add(("event", name, arity))
    return found


# --------------------------------------------------------------------------- unknown predicates


def _unknown_predicates(program: Program, known: Entities, uses: _Uses) -> Iterator[Diagnostic]:
    unknown = [entity for entity in known.of_kind(EntityKind.PREDICATE) if entity.part is Part.UNKNOWN]
    if not unknown:
        return
    defined = [entity for entity in known.of_kind(EntityKind.PREDICATE) if entity.part is not Part.UNKNOWN]
    words = CONDITIONS if program.kind is Kind.EVENTS else {}
    names = Names([*(entity.name for entity in defined), *(name for name, _ in BUILTINS), *words])
    arities: dict[str, set[int]] = defaultdict(set)
    for name, arity in (*((entity.name, entity.arity) for entity in defined), *BUILTINS, *words.items()):
        arities[name].add(arity)
    any_facts = any(isinstance(statement, Clause) for statement in program.statements)
    for entity in unknown:
        suggestion = _predicate_suggestion(entity, known, names, arities)
        certain = any_facts and ("predicate", entity.name, entity.arity) not in uses.in_grounding
        severity = Severity.ERROR if certain or suggestion else Severity.WARNING
        notes: tuple[str, ...] = ()
        if not any_facts and not suggestion:
            notes = ("no background knowledge was given; `--background FILE` adds some",)
        elif not suggestion:
            suggestion = "give its facts, in this file or with `--background FILE`, or correct its name"
        message = f"nothing defines the predicate {sig(entity.name, entity.arity)}"
        yield Diagnostic("TW101", severity, message, uses.first(entity), notes, suggestion)


def _predicate_suggestion(
    entity: Entity, known: Entities, names: Names, arities: dict[str, set[int]]
) -> str | None:
    for kind, reading in ((EntityKind.EVENT, "happensAt({}, T)"), (EntityKind.FLUENT, "holdsAt({}=..., T)")):
        if known.get(kind, entity.name, entity.arity) is not None:
            shown = f"{entity.name}(...)" if entity.arity else entity.name
            return f"`{entity.name}` is {_a(kind)}: write `{reading.format(shown)}`"
    if entity.name in arities:
        return f"did you mean {listed([sig(entity.name, n) for n in sorted(arities[entity.name])])}?"
    nearest = names.nearest(entity.name) or OTHER_WORDS.get(entity.name)
    if nearest is None or nearest not in arities:
        return None
    best = entity.arity if entity.arity in arities[nearest] else min(arities[nearest])
    return f"did you mean {sig(nearest, best)}?"


def _misspelt_heads(program: Program, known: Entities, uses: _Uses) -> Iterator[Diagnostic]:
    """Facts and rules that nothing reads, with nearly the name of a word of the language, or with an
    argument that is a fluent and its value."""
    words = Names(HEADS)
    for entity in known.of_kind(EntityKind.PREDICATE):
        if entity.part is not Part.BACKGROUND or uses.of(entity):
            continue
        nearest = words.nearest(entity.name)
        message = f"nothing reads the predicate {sig(entity.name, entity.arity)}"
        if nearest is not None:
            help_ = f"did you mean {sig(nearest, HEADS[nearest])}?"
            yield Diagnostic("TW104", Severity.ERROR, message, entity.span, (), help_)
        elif any(_has_pair(program.statements[rule]) for rule in entity.rules):
            message = f"{message}, which is about a fluent and its value"
            yield Diagnostic("TW104", Severity.WARNING, message, entity.span, (), ABOUT_PAIRS)


def _has_pair(statement: object) -> bool:
    match statement:
        case Clause(Compound(_, args)):
            return any(isinstance(arg, Compound) and signature(arg) == ("=", 2) for arg in args)
        case _:
            return False


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


# --------------------------------------------------------------------------- arities and roles


def _certain(entity: Entity, grounded: set[tuple[str, str, int]]) -> bool:
    """True when somebody said that the entity exists: a rule, a fact, a declaration, a grounding."""
    return (
        not entity.is_input
        or entity.declared is not None
        or (str(entity.key.kind), entity.name, entity.arity) in grounded
    )


def _two_arities(known: Entities, grounded: set[tuple[str, str, int]], uses: _Uses) -> Iterator[Diagnostic]:
    groups: dict[tuple[str, str], list[Entity]] = defaultdict(list)
    for entity in known:
        if (
            entity.part is not Part.UNKNOWN
            and entity.part is not Part.BACKGROUND
            and entity.part is not Part.DOMAIN
        ):
            groups[str(entity.key.kind), entity.name].append(entity)
    for (kind, name), group in groups.items():
        if len(group) < 2:
            continue
        doubtful = [entity for entity in group if not _certain(entity, grounded)]
        trusted = [entity for entity in group if _certain(entity, grounded)]
        if not doubtful:
            continue
        others = trusted or [max(group, key=lambda entity: (len(uses.of(entity)), -uses.first(entity).line))]
        reference = others[0]
        for entity in doubtful:
            if entity is reference:
                continue
            many = listed([str(other.arity) for other in others])
            message = f"the {kind} `{name}` has {counted(entity.arity, 'argument')} here and {many} elsewhere"
            notes = (f"{sig(name, reference.arity)} at {place(_where(reference, uses))}",)
            severity, help_ = Severity.WARNING, f"did you mean {sig(name, reference.arity)}?"
            if kind != EntityKind.PREDICATE:
                severity, help_ = Severity.ERROR, f"{help_} Where both are meant, declare both"
            yield Diagnostic("TW102", severity, message, uses.first(entity), notes, help_)


def _where(entity: Entity, uses: _Uses) -> Span:
    if entity.declared is not None:
        return entity.declared.span
    return entity.span if entity.rules else uses.first(entity)


def _two_roles(known: Entities, uses: _Uses) -> Iterator[Diagnostic]:
    for event in known.of_kind(EntityKind.EVENT):
        fluent = known.get(EntityKind.FLUENT, event.name, event.arity)
        if fluent is None or not (event.is_input or fluent.is_input):
            continue
        if event.declared is not None and fluent.declared is not None:
            continue
        wrong, right = (event, fluent) if event.is_input and not event.declared else (fluent, event)
        if not uses.of(wrong):
            continue
        if wrong.key.kind == EntityKind.EVENT:
            help_ = f"for the moment it begins write `happensAt(start({_shape(right)}=...), T)`"
        else:
            help_ = f"events are read with `happensAt({_shape(right)}, T)`"
        one, other = _a(wrong.key.kind), _a(right.key.kind)
        message = f"{sig(wrong.name, wrong.arity)} is read as {one} here, and is {other} elsewhere"
        notes = (f"{other} at {place(right.span)}",)
        yield Diagnostic("TW103", Severity.ERROR, message, uses.first(wrong), notes, help_)


def _shape(entity: Entity) -> str:
    return f"{entity.name}({', '.join('_' * entity.arity)})" if entity.arity else entity.name


# --------------------------------------------------------------------------- misspelt inputs


def _misspelt(
    program: Program, known: Entities, grounded: set[tuple[str, str, int]], uses: _Uses
) -> Iterator[Diagnostic]:
    for kind in EntityKind:
        if kind is EntityKind.PREDICATE and program.kind is Kind.EVENTS:
            continue
        group = [entity for entity in known.of_kind(kind) if entity.part is not Part.UNKNOWN]
        suspects = [e for e in group if e.is_input and not _certain(e, grounded)]
        if not suspects:
            continue
        strict = any(e.is_input and _certain(e, grounded) for e in group)
        trusted = [e for e in group if _certain(e, grounded)]
        certain_names, suspect_names = Names(e.name for e in trusted), Names(e.name for e in suspects)
        first_uses = {e.name: (-len(uses.of(e)), uses.first(e)[1:]) for e in suspects}
        for entity in suspects:
            nearest = certain_names.nearest(entity.name)
            same = nearest is not None and fold(nearest) == fold(entity.name)
            severity = Severity.ERROR if strict or same else Severity.WARNING
            if nearest is None:
                nearest = _rival(entity, suspect_names, first_uses)
                severity = Severity.WARNING
            if nearest is None:
                continue
            best = next(e for e in group if e.name == nearest)
            yield Diagnostic(
                "TW104",
                severity,
                f"nothing defines the {kind} {sig(entity.name, entity.arity)}, so it is taken as input",
                uses.first(entity),
                (),
                f"did you mean {sig(nearest, best.arity)}? If not, declare it: `{_declaration(entity)}`"
                if program.kind is Kind.EVENTS
                else f"did you mean {sig(nearest, best.arity)}?",
            )


def _only_grounded(program: Program, known: Entities, uses: _Uses) -> Iterator[Diagnostic]:
    """Groundings of what no rule reads or computes. Input that nobody reads is often listed with the rest, and may
    fill a dynamic domain; it is told of where its name is nearly that of something else. (Where that is input which
    nothing declares, `_misspelt` tells of it.)"""
    fills = any(isinstance(statement, DynamicDomain) for statement in program.statements)
    for kind in (EntityKind.EVENT, EntityKind.FLUENT):
        group = known.of_kind(kind)
        sure = Names(e.name for e in group if e.declared is not None or not e.is_input)
        for entity in group:
            if not entity.is_input or entity.declared is not None or uses.of(entity):
                continue
            nearest = sure.nearest(entity.name)
            if nearest is None and (kind is EntityKind.EVENT or fills):
                continue
            yield Diagnostic(
                "TW211",
                Severity.HINT if nearest is None else Severity.WARNING,
                f"no rule reads or computes the {kind} {sig(entity.name, entity.arity)}, which is grounded here",
                entity.span,
                (),
                "read it in a rule, or leave the grounding out"
                if nearest is None
                else f"did you mean {sig(nearest, next(e.arity for e in group if e.name == nearest))}?",
            )


def _rival(entity: Entity, names: Names, first_uses: Mapping[str, tuple[int, tuple[int, ...]]]) -> str | None:
    """Another input that nothing declares, one slip away, and used more often or earlier."""
    other = names.nearest(entity.name)
    if other is None or distance(fold(entity.name), fold(other)) > 1:
        return None
    return other if first_uses[other] < first_uses[entity.name] else None


def _declaration(entity: Entity) -> str:
    args = f"({', '.join(chr(ord('a') + i % 26) for i in range(entity.arity))})" if entity.arity else ""
    return f"{entity.key.kind} {entity.name}{args}."


# --------------------------------------------------------------------------- declarations


def check_declarations(program: Program, known: Entities) -> Iterator[Diagnostic]:
    """Declarations against each other and against the rules."""
    yield from _contradictions(program)
    for entity in known:
        if entity.declared is not None:
            yield from _declared(entity, program)
    yield from _mixed_pairs(known)


def _contradictions(program: Program) -> Iterator[Diagnostic]:
    seen: dict[tuple[str, int], Declare] = {}
    tick: Tick | None = None
    for statement in program.statements:
        if isinstance(statement, Tick):
            if tick is not None and tick.seconds != statement.seconds:
                message = "the length of a time-point is declared twice, differently"
                yield Diagnostic(
                    "TW150", Severity.ERROR, message, statement.span, (f"first at {place(tick.span)}",)
                )
            tick = tick or statement
        if not isinstance(statement, Declare):
            continue
        key = (statement.name, len(statement.arguments))
        first = seen.setdefault(key, statement)
        reason = _contradiction(first, statement)
        if reason is not None:
            message = f"{sig(*key)} is declared twice: {reason}"
            yield Diagnostic(
                "TW150", Severity.ERROR, message, statement.span, (f"first at {place(first.span)}",)
            )


def _contradiction(first: Declare, second: Declare) -> str | None:
    if first is second:
        return None
    if first.role is not second.role:
        return f"as {first.role} and as {second.role}"
    for one, other in zip(first.arguments, second.arguments, strict=True):
        if one.type and other.type and one.type != other.type:
            return f"`{other.name}` is {one.type} and {other.type}"
    if first.role is Role.STATE and set(first.values) != set(second.values):
        return "with different values"
    return None


def _declared(entity: Entity, program: Program) -> Iterator[Diagnostic]:
    declared = entity.declared
    assert declared is not None
    name = sig(entity.name, entity.arity)
    if declared.role is not Role.STATE and entity.rules:
        rule = program.statements[entity.rules[0]]
        message = f"{name} is declared as input ({declared.role}), and rules compute it"
        yield Diagnostic("TW151", Severity.ERROR, message, declared.span, (f"a rule at {place(rule.span)}",))
    elif declared.role is Role.STATE and not entity.rules:
        message = f"the state {name} is declared, and no rule computes it"
        help_ = "for a fluent that arrives with the input write `fluent` instead of `state`"
        yield Diagnostic("TW151", Severity.WARNING, message, declared.span, (), help_)
    elif not entity.uses and not entity.rules and declared.span != NOWHERE:
        yield Diagnostic("TW207", Severity.HINT, f"no rule reads {name}", declared.span)


def _mixed_pairs(known: Entities) -> Iterator[Diagnostic]:
    """The same value of a fluent under inertia and as an interval expression."""
    for entity in known.of_kind(EntityKind.FLUENT):
        if not entity.mixed:
            continue
        simple = [value for value, part in entity.values if part is Part.SIMPLE]
        for value, part in entity.values:
            if part is not Part.DETERMINED:
                continue
            clash = next((other for other in simple if _same(value, other)), None)
            if clash is not None:
                shown = pair_text(Pair(_any_instance(entity), value if is_ground(value) else clash))
                message = f"`{shown}` has both effect rules and a `holdsFor` rule"
                yield Diagnostic(
                    "TW152",
                    Severity.ERROR,
                    message,
                    value.span,
                    (f"effect rule for `={text(clash)}` at {place(clash.span)}",),
                )
                break


def _same(left: Term, right: Term) -> bool:
    return isinstance(left, Variable) or isinstance(right, Variable) or left == right


def _any_instance(entity: Entity) -> Term:
    if not entity.arity:
        return Atom(entity.name)
    return Compound(entity.name, tuple(Variable("_") for _ in range(entity.arity)))
