"""Terms to statements: which clause is which rule or declaration, and which literal says what.

One `Reader` per program. It never raises: a clause that has no meaning here leaves a diagnostic that says what to
write instead, and the rest is read.
"""

from __future__ import annotations

from collections.abc import Callable

from thalweg.language.bodies import DURATIONS, BodyReader
from thalweg.language.declarations import declaration, declared_pair
from thalweg.language.diagnostics import Diagnostic, Refused, Severity
from thalweg.language.operators import AT, AT_ATOM, DECLARE, DIRECTIVE_WORDS, names_atom
from thalweg.language.rules import (
    Body,
    Call,
    Clause,
    Compare,
    Delayed,
    DynamicDomain,
    Effect,
    EffectRule,
    EventRule,
    Grounding,
    Happens,
    Ignored,
    Initially,
    IntervalRule,
    Kind,
    Literal,
    Postponable,
    Role,
    Statement,
)
from thalweg.language.terms import Atom, Compound, Number, Term, Variable, signature, variables

IGNORED = {
    ("cachingOrder", 1), ("cachingOrder", 2), ("cachingOrder2", 2), ("index", 2), ("indexOf", 2), ("event", 1),
    ("inputEntity", 1), ("outputEntity", 1), ("internalEntity", 1), ("simpleFluent", 1), ("sDFluent", 1),
    ("needsGrounding", 3), ("collectGrounds", 2), ("dgrounded", 2), ("buildFromPoints2", 1), ("cyclic", 1),
    ("collectIntervals2", 2), ("preProcessing", 1), ("calculationOrder", 1),
}  # fmt: skip
"""Declarations of older systems that carry no meaning here."""

_DIRECTIVES = {
    *DIRECTIVE_WORDS, "use_module", "set_prolog_flag", "style_check", "ensure_loaded", "module", "license",
}  # fmt: skip

_OLD_DEADLINES = {
    "maxDuration": "write `fi(F=V, F=V2, R).` and `p(F=V).`",
    "maxDurationUE": "write `fi(F=V, F=V2, R).`",
}


class Reader:
    """Reads the clauses of one program; `diagnostics` fills up meanwhile."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.diagnostics: list[Diagnostic] = []
        self._noted: set[str] = set()
        self._bodies = BodyReader(kind, self._note)
        self._heads: dict[str, Callable[[Compound, Body, Term], Statement]] = {
            "initiatedAt": self._effect_rule,
            "terminatedAt": self._effect_rule,
            "initiates": self._old_effect_rule,
            "terminates": self._old_effect_rule,
            "happensAt": self._event_rule,
            "holdsFor": self._interval_rule,
            "initially": self._initially,
            "fi": self._future_initiation,
            "ft": self._future_termination,
            "p": self._postponable,
            "grounding": self._grounding,
            "dynamicDomain": self._dynamic_domain,
            "collectIntervals": self._input_fluent,
            "points": self._input_fluent,
            "buildFromPoints": self._input_fluent,
            "holdsAt": self._holds_at,
            "maxDuration": self._old_deadline,
            "maxDurationUE": self._old_deadline,
        }

    def _note(
        self, code: str, severity: Severity, message: str, term: Term, suggestion: str | None = None
    ) -> None:
        self.diagnostics.append(Diagnostic(code, severity, message, term.span, suggestion=suggestion))

    def _note_once(self, code: str, name: str, message: str, term: Term) -> None:
        if name not in self._noted:
            self._noted.add(name)
            self._note(code, Severity.NOTE, message, term)

    # ------------------------------------------------------------------ clauses

    def read(self, term: Term) -> Statement | None:
        """The statement of a clause; None when it has none (a header, or an error that is reported)."""
        try:
            return self._statement(term)
        except Refused as refused:
            self.diagnostics.extend(refused.diagnostics)
            return None

    def _statement(self, term: Term) -> Statement | None:
        if isinstance(term, Compound):
            if term.functor == ":-":
                if len(term.args) == 1:
                    return self._directive(term)
                head = term.args[0]
                if self.kind is Kind.EVENTS and isinstance(head, Compound) and head.functor in DURATIONS:
                    message = f"`{head.functor}` is known here; this definition is not used"
                    self._note_once("TW026", head.functor, message, head)
                    return Ignored(term, False, span=term.span)
                return self._rule(head, term, self._bodies.body_of(term))
            if term.functor.startswith(DECLARE) and len(term.args) == 1:
                return declaration(term)
        return self._rule(term, term, ())

    def _rule(self, head: Term, clause: Term, body: Body) -> Statement:
        if self.kind is Kind.EVENTS and isinstance(head, Compound):
            name = head.functor
            if (name, len(head.args)) in IGNORED:
                self._note_once("TW026", name, f"`{name}` has no effect here", head)
                return Ignored(clause, False, span=clause.span)
            reader = self._heads.get(name)
            if reader is not None:
                return reader(head, self._without_own_grounding(head, body), clause)
        return self._clause(head, clause, body)

    def _without_own_grounding(self, head: Compound, body: Body) -> Body:
        """The body without the condition that a pair of the head is wanted: only wanted pairs are computed."""
        kept: list[Literal] = []
        for literal in body:
            match literal:
                case Call(Compound("grounding", (pair,)), False) if pair in head.args:
                    message = "`grounding` as a condition has no effect here: only pairs that it gives are computed"
                    self._note_once("TW026", "grounding", message, literal.goal)
                case _:
                    kept.append(literal)
        return tuple(kept)

    def _clause(self, head: Term, clause: Term, body: Body) -> Clause:
        at: Term | None = None
        if isinstance(head, Compound) and self.kind is Kind.LARS:
            if head.functor == AT_ATOM:
                at, head = head.args
            elif head.functor == AT:
                head, at = head.args
        if not names_atom(head):
            advice = "a head is a name, with or without arguments"
            if self.kind is Kind.LARS:
                advice = "a head is an atom, or `at(T) atom`; windows stand in bodies"
            if isinstance(head, Compound) and head.functor == ":":
                advice = "write `:-` or `if` between head and body"
            raise Refused("TW020", "this cannot be the head of a rule", head.span, advice)
        self._bodies.refuse_procedural(head)
        return Clause(head, body, at, span=clause.span)

    def _directive(self, clause: Compound) -> Statement:
        goal = clause.args[0]
        name = signature(goal)[0] if isinstance(goal, Atom | Compound) else "a list"
        if name == "a list":
            message = "a text does not know where other files are; this include is not followed"
            raise Refused("TW030", message, goal.span, "use `load` with the path of the file")
        if name not in _DIRECTIVES:
            raise Refused(
                "TW027",
                f"the directive `{name}` has no meaning here",
                goal.span,
                "remove it; programs are not run as scripts",
            )
        self._note_once("TW026", ":- " + name, f"the directive `{name}` has no effect here", clause)
        return Ignored(goal, True, span=clause.span)

    # ------------------------------------------------------------------ heads of event descriptions

    def _arity(self, head: Compound, *allowed: int) -> None:
        self._bodies.arity(head, *allowed)

    def _effect_rule(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 2, 4)
        time = head.args[1 if len(head.args) == 2 else 2]
        if len(head.args) == 4:
            body = _without_bounds(body, head.args[1], head.args[3])
            if head.functor == "initiatedAt" and time == Number(-1):
                return Initially(self._bodies.pair(head.args[0]), body, span=clause.span)
        return EffectRule(Effect(head.functor), self._bodies.pair(head.args[0]), time, body, span=clause.span)

    def _old_effect_rule(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 3)
        event, pair, time = head.args
        effect = Effect.INITIATES if head.functor == "initiates" else Effect.TERMINATES
        happens = self._bodies.event_literal(event, time, event)
        return EffectRule(effect, self._bodies.pair(pair), time, (happens, *body), span=clause.span)

    def _event_rule(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 2)
        event, time = head.args
        literal = self._bodies.event_literal(event, time, event)
        if not isinstance(literal, Happens):
            raise Refused(
                "TW023",
                "the start and the end of a fluent follow from its rules; they cannot be defined",
                event.span,
            )
        return EventRule(event, time, body, span=clause.span)

    def _interval_rule(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 2)
        return IntervalRule(self._bodies.pair(head.args[0]), head.args[1], body, span=clause.span)

    def _initially(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 1)
        return Initially(self._bodies.pair(head.args[0]), body, span=clause.span)

    def _future_initiation(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 3)
        source, target, delay = head.args
        return Delayed(self._bodies.pair(source), self._bodies.pair(target), delay, body, span=clause.span)

    def _future_termination(self, head: Compound, body: Body, clause: Term) -> Statement:
        if not _is_pair(head.args[0]):
            return self._clause(head, clause, body)
        self._arity(head, 2)
        return Delayed(self._bodies.pair(head.args[0]), None, head.args[1], body, span=clause.span)

    def _postponable(self, head: Compound, body: Body, clause: Term) -> Statement:
        if not (len(head.args) == 1 and _is_pair(head.args[0])):
            return self._clause(head, clause, body)
        return Postponable(self._bodies.pair(head.args[0]), body, span=clause.span)

    def _grounding(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 1)
        entity = head.args[0]
        if _is_pair(entity):
            self._bodies.pair(entity)
        elif not names_atom(entity):
            raise Refused("TW023", "`grounding` expects an event or a pair `fluent=value`", entity.span)
        return Grounding(entity, body, span=clause.span)

    def _dynamic_domain(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 1)
        predicate = head.args[0]
        if not isinstance(predicate, Compound) or body:
            raise Refused("TW023", "`dynamicDomain` expects a predicate such as `person(_)`", predicate.span)
        return DynamicDomain(predicate, span=clause.span)

    def _input_fluent(self, head: Compound, body: Body, clause: Term) -> Statement:
        self._arity(head, 1)
        entity = head.args[0]
        if body or isinstance(entity, Variable):
            self._note_once("TW026", head.functor, f"`{head.functor}` with a body has no effect here", head)
            return Ignored(clause, False, span=clause.span)
        pair = self._bodies.pair(entity)
        role = Role.FLUENT if head.functor == "collectIntervals" else Role.POINTS
        return declared_pair(role, pair, clause)

    def _holds_at(self, head: Compound, body: Body, clause: Term) -> Statement:
        raise Refused(
            "TW023",
            "`holdsAt` cannot be defined by a rule",
            head.span,
            "write `initiatedAt` and `terminatedAt` rules, or a `holdsFor` rule over intervals",
        )

    def _old_deadline(self, head: Compound, body: Body, clause: Term) -> Statement:
        raise Refused("TW024", f"`{head.functor}` is not known here", head.span, _OLD_DEADLINES[head.functor])


def _is_pair(term: Term) -> bool:
    return isinstance(term, Compound) and term.functor == "=" and len(term.args) == 2


def _without_bounds(body: Body, *bounds: Term) -> Body:
    """The body without the comparisons that only say that the time lies between the bounds."""
    names = {bound.name for bound in bounds if isinstance(bound, Variable)}

    def bounds_time(literal: Literal) -> bool:
        if not isinstance(literal, Compare):
            return False
        return any(v.name in names for side in (literal.left, literal.right) for v in variables(side))

    return tuple(literal for literal in body if not bounds_time(literal))
