"""Terms to body literals.

The predicates of the Event Calculus, of interval expressions and of LARS get a literal of their own; everything else
is a call. What only makes sense in a language that is executed is refused, with what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from thalweg.language.diagnostics import Refused, Severity
from thalweg.language.operators import COMPARISONS, DECLARE, IN, OVER, names_atom
from thalweg.language.rules import (
    Absent,
    Affects,
    Allen,
    Body,
    Boundary,
    Call,
    Combine,
    Compare,
    Duration,
    Edge,
    Effect,
    Either,
    FindAll,
    Happens,
    Holds,
    HoldsFor,
    Kind,
    Literal,
    Pair,
    Windowed,
)
from thalweg.language.terms import Atom, Compound, Sequence, Term, Variable, signature
from thalweg.language.windows import aggregate, is_function, over_nothing, windowed
from thalweg.language.wording import counted

MAX_BODY_DEPTH = 50
"""How deep negations and alternatives may be nested in each other."""
ALLEN = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
_ALLEN_MODES = ("source", "target", "union", "intersection", "relative_complement", "relative_complement_inverse")
_ALLEN_SIDES = {"lhs": "source", "rhs": "target"}
"""Other names of modes."""
_EDGES = {"start": Edge.START, "startI": Edge.START, "end": Edge.END, "endI": Edge.END}
DURATIONS = {"intDurGreater": ">", "intDurLess": "<", "intDurAtLeast": ">=", "intDurAtMost": "=<"}

FORMS = {
    "happensAt": "happensAt(event(X), T)",
    **{word: f"{word}(fluent(X)=value, T)" for word in ("holdsAt", "initiatedAt", "terminatedAt")},
    "holdsFor": "holdsFor(fluent(X)=value, I)",
    "initially": "initially(fluent(X)=value)",
    "fi": "fi(fluent(X)=value, fluent(X)=other, 600)",
    "ft": "ft(fluent(X)=value, 600)",
    "p": "p(fluent(_)=value)",
    **{word: f"{word}([I1, I2], I)" for word in ("union_all", "intersect_all", "complement_all")},
    "relative_complement_all": "relative_complement_all(I1, [I2, I3], I)",
    **{word: f"{word}(I1, 600, I)" for word in DURATIONS},
    "allen": "allen(before, I1, I2, source, I)",
    "findall": "findall(X, holdsAt(fluent(X)=value, T), L)",
}
"""How heads and conditions of event descriptions are written."""

_AGGREGATES = "collect with `findall(X, ..., L)` and use `length(L, N)`, `sum_list`, `max_list` or `min_list`"
_STATE = "say what starts and ends it with `initiatedAt` and `terminatedAt` rules"
_OUTPUT = "results are written as tables; remove it"
_CONTROL = "write one rule for each case, with the condition or its negation in its body"


def _procedural(predicates: str, instead: str) -> dict[tuple[str, int], str]:
    """Predicates written ``name/arity,arity``, and what to write instead."""
    pairs = (word.rsplit("/", 1) for word in predicates.split())
    return {(name, int(arity)): instead for name, arities in pairs for arity in arities.split(",")}


PROCEDURAL = {
    **_procedural("assert/1,2 asserta/1,2 assertz/1,2 retract/1 retractall/1 abolish/1,2", _STATE),
    **_procedural("nb_setval/2 b_setval/2 nb_getval/2 b_getval/2 flag/3 recorda/2,3 recordz/2,3 erase/1", _STATE),
    **_procedural("format/1,2,3 write/1,2 writeln/1,2 print/1,2 nl/0,1 tab/1,2 put_char/1,2", _OUTPUT),
    **_procedural("write_canonical/1,2 writeq/1,2 read/1,2 see/1 tell/1 told/0 seen/0", _OUTPUT),
    **_procedural("open/3,4 close/1,2 consult/1 halt/0,1", _OUTPUT),
    **_procedural("setof/3 bagof/3 aggregate_all/3,4 aggregate/3,4", _AGGREGATES),
    **_procedural("forall/2 foreach/2", "write `\\+ (condition, \\+ conclusion)`"),
    **_procedural("call/1,2,3,4,5,6,7,8 once/1 ignore/1 apply/2 catch/3 throw/1", "write the literal itself"),
    **_procedural("maplist/2,3,4,5,6,7 foldl/4,5,6,7", "write the literal itself"),
    **_procedural("var/1 nonvar/1 ground/1 copy_term/2 functor/3 arg/3 =../2", "write one rule for each form"),
    **_procedural("repeat/0 ->/2 *->/2", _CONTROL),
}
"""Predicates that only make sense when a program is executed, and what to write instead. With other numbers of
arguments their names are free: ``flag(vessel, country)``."""


_KEPT = ("ProcessedIE", "ProcessedSDFluent", "ProcessedSimpleFluent")
COMPILED = frozenset(
    ["happensAtIE", "happensAtEv", "holdsForSDFluent", "holdsAtCyclic"]
    + [word + kept for word in ("happensAt", "holdsAt", "holdsFor") for kept in _KEPT]
)
"""What RTEC's compiler writes for the words of the language."""


Note = Callable[[str, Severity, str, Term, str | None], None]


class BodyReader:
    """Reads bodies for one kind of program."""

    def __init__(self, kind: Kind, note: Note) -> None:
        self.kind = kind
        self._note = note
        self._depth = 0
        self._readers: dict[str, Callable[[Compound, bool], Literal]] = {"findall": self._find_all}
        if kind is Kind.EVENTS:
            self._readers |= {
                "happensAt": self._happens,
                "holdsAt": self._holds,
                "holdsFor": self._holds_for,
                "initiatedAt": self._affects,
                "terminatedAt": self._affects,
                "union_all": self._combine,
                "intersect_all": self._combine,
                "complement_all": self._combine,
                "relative_complement_all": self._combine,
                "allen": self._allen,
                **dict.fromkeys(ALLEN, self._allen_by_name),
                **dict.fromkeys(DURATIONS, self._duration),
            }

    # ------------------------------------------------------------------ structure

    def body_of(self, clause: Compound) -> Body:
        """The literals of a rule, without the cuts that have nothing to cut."""
        head, body = clause.args
        goals = _goals(body)
        guarded = isinstance(head, Compound) and head.functor == "holdsFor"
        kept = [goal for i, goal in enumerate(goals) if not self._drops_cut(goals, i, guarded)]
        return self._conjunction(kept, body)

    def _drops_cut(self, goals: list[Term], position: int, guarded: bool) -> bool:
        """A cut at the end of a rule, or in a ``holdsFor`` rule after the check that intervals are not empty."""
        goal = goals[position]
        if not (isinstance(goal, Atom) and goal.name == "!" and position > 0):
            return False
        if position == len(goals) - 1:
            message = "the cut at the end of the rule is dropped: every rule whose body is true applies"
        elif guarded and _checks_emptiness(goals[position - 1]):
            message = "the cut is dropped: the intervals of all rules for one pair are united"
        else:
            return False
        self._note("TW025", Severity.NOTE, message, goal, None)
        return True

    def read(self, term: Term) -> Body:
        """The literals of a conjunction, in order."""
        return self._conjunction(_goals(term), term)

    def _conjunction(self, goals: list[Term], term: Term) -> Body:
        if self._depth >= MAX_BODY_DEPTH:
            raise Refused("TW006", f"bodies nested more than {MAX_BODY_DEPTH} deep", term.span)
        self._depth += 1
        literals: list[Literal] = []
        refused: list[Refused] = []
        for goal in goals:
            try:
                literals.append(self._literal(goal, False))
            except Refused as refusal:
                refused.append(refusal)
        self._depth -= 1
        if refused:
            raise Refused.together(refused)
        return tuple(literals)

    def _literal(self, term: Term, negated: bool) -> Literal:
        if isinstance(term, Compound):
            functor = term.functor
            reader = self._readers.get(functor)
            if reader is not None:
                return reader(term, negated)
            if functor in COMPARISONS and len(term.args) == 2:
                return self._compare(term, negated)
            structure = _STRUCTURE.get(functor)
            if structure is not None:
                return structure(self, term, negated)
            if functor.startswith(DECLARE):
                return self._windowed(term, negated)
        self.refuse_procedural(term)
        if names_atom(term):
            return Call(term, negated, span=term.span)
        if isinstance(term, Variable):
            raise Refused("TW034", f"the variable `{term.name}` cannot stand for a literal", term.span)
        raise Refused("TW034", "this is not a literal", term.span)

    def _not(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 1)
        inner = term.args[0]
        if isinstance(inner, Compound) and inner.functor in (",", ";", "\\+", "not", "findall"):
            return Absent(self.read(inner), span=term.span)
        literal = self._literal(inner, True)
        if isinstance(literal, HoldsFor | Combine | Allen | Duration):
            raise Refused(
                "TW034",
                "intervals cannot be negated",
                term.span,
                "use `complement_all` or `relative_complement_all`",
            )
        return literal

    def _either(self, term: Compound, negated: bool) -> Literal:
        return Either(tuple(self.read(part) for part in term.args), span=term.span)

    def _if_then(self, term: Compound, negated: bool) -> Literal:
        raise Refused(
            "TW024",
            "if-then-else chooses by order of execution, which rules do not have",
            term.span,
            _CONTROL,
        )

    def _second_neck(self, term: Compound, negated: bool) -> Literal:
        raise Refused(
            "TW007", "a rule inside the body of a rule", term.span, "end the first rule with a full stop"
        )

    def _compare(self, term: Compound, negated: bool) -> Literal:
        left, right = term.args
        if isinstance(right, Compound) and right.functor == OVER:
            if self.kind is not Kind.LARS:
                raise Refused("TW032", "windows belong to LARS programs", right.span)
            if negated:
                raise Refused(
                    "TW033", "an aggregate cannot be negated", term.span, "compare its result instead"
                )
            return aggregate(term, left, right)
        if self.kind is Kind.LARS and term.functor in ("=", "is") and is_function(right):
            raise over_nothing(right)
        return Compare(term.functor, left, right, negated, span=term.span)

    def _windowed(self, term: Compound, negated: bool) -> Literal:
        if self.kind is not Kind.LARS:
            if term.functor == IN:
                advice = "write `in(X, Y)` if it is a predicate; for one of several values write one rule for each"
                raise Refused("TW034", "`in` cannot stand between terms here", term.span, advice)
            raise Refused("TW032", "windows belong to LARS programs", term.span)
        literal = windowed(term)
        return Windowed(literal.atom, literal.mode, literal.window, literal.time, negated, span=term.span)

    def _find_all(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 3)
        template, goal, result = term.args
        if negated:
            raise Refused("TW034", "`findall` always has one solution; it cannot be negated", term.span)
        return FindAll(template, self.read(goal), result, span=term.span)

    def refuse_procedural(self, term: Term) -> None:
        """Raise for predicates that only make sense when executed."""
        if not isinstance(term, Atom | Compound):
            return
        name = signature(term)[0]
        if name == "!":
            raise Refused(
                "TW024", "a cut chooses by order of execution, which rules do not have", term.span, _CONTROL
            )
        if name in COMPILED and self.kind is Kind.EVENTS:
            message = f"`{name}` is what RTEC's compiler makes of a rule"
            raise Refused("TW024", message, term.span, "give the event description as it was before it was compiled")
        if signature(term) in PROCEDURAL and self.kind is Kind.EVENTS:
            raise Refused(
                "TW024",
                f"`{name}` only makes sense in a program that is executed",
                term.span,
                PROCEDURAL[signature(term)],
            )

    # ------------------------------------------------------------------ the Event Calculus

    def arity(self, term: Compound, *allowed: int) -> None:
        """Raise unless the term has one of the allowed numbers of arguments."""
        if len(term.args) not in allowed:
            wanted = " or ".join([*map(str, allowed[:-1]), counted(allowed[-1], "argument")])
            message = f"`{term.functor}` has {wanted}, not {len(term.args)}"
            form = FORMS.get(term.functor)
            raise Refused("TW022", message, term.span, f"write it as `{form}`" if form else None)

    def pair(self, term: Term) -> Pair:
        """The pair of a term ``F=V``."""
        if isinstance(term, Compound) and term.functor == "=" and len(term.args) == 2:
            fluent, value = term.args
            if names_atom(fluent):
                return Pair(fluent, value)
            raise Refused(
                "TW021",
                "the fluent of a pair must be named",
                fluent.span,
                "write it as `name(Arguments)=value`",
            )
        compared = term.functor if isinstance(term, Compound) and term.functor in ("==", "=:=", "is") else None
        raise Refused(
            "TW021",
            "a fluent-value pair `fluent=value` is expected here",
            term.span,
            f"write `=` for `{compared}`" if compared else "write for instance `...=true`",
        )

    def event_literal(
        self, event: Term, time: Term, whole: Term, negated: bool = False
    ) -> Happens | Boundary:
        """The literal of ``happensAt(event, time)``."""
        if isinstance(event, Compound) and event.functor in _EDGES and len(event.args) == 1:
            inner = event.args[0]
            if isinstance(inner, Compound) and inner.functor == "=":
                return Boundary(_EDGES[event.functor], self.pair(inner), time, negated, span=whole.span)
        if names_atom(event):
            return Happens(event, time, negated, span=whole.span)
        raise Refused("TW023", "an event must be named", event.span, "write it as `name(Arguments)`")

    def _happens(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 2)
        return self.event_literal(term.args[0], term.args[1], term, negated)

    def _holds(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 2)
        return Holds(self.pair(term.args[0]), term.args[1], negated, span=term.span)

    def _affects(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 2, 4)
        time = term.args[1 if len(term.args) == 2 else 2]
        return Affects(Effect(term.functor), self.pair(term.args[0]), time, negated, span=term.span)

    def _holds_for(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 2)
        return HoldsFor(self.pair(term.args[0]), term.args[1], span=term.span)

    def _combine(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 3 if term.functor == "relative_complement_all" else 2)
        *base, inputs, result = term.args
        if not isinstance(inputs, Sequence) or inputs.rest is not None:
            raise Refused(
                "TW023", f"`{term.functor}` expects a list of intervals such as `[I1, I2]`", inputs.span
            )
        return Combine(term.functor, inputs.items, result, base[0] if base else None, span=term.span)

    def _allen(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 5)
        relation, left, right, mode, result = term.args
        if not (isinstance(relation, Atom) and relation.name in ALLEN):
            raise Refused("TW023", f"an Allen relation is one of {', '.join(ALLEN)}", relation.span)
        if not _is_allen_mode(mode):
            raise Refused(
                "TW023", f"the result of an Allen relation is one of {', '.join(_ALLEN_MODES)}", mode.span
            )
        kept = _ALLEN_SIDES.get(mode.name, mode.name)
        return Allen(relation.name, left, right, kept, result, span=term.span)

    def _allen_by_name(self, term: Compound, negated: bool) -> Literal:
        """``during(A, B, source, R)``; a predicate of that name without a mode is background knowledge."""
        if len(term.args) != 4 or not _is_allen_mode(term.args[2]):
            return Call(term, negated, span=term.span)
        return self._allen(Compound("allen", (Atom(term.functor), *term.args), term.span), negated)

    def _duration(self, term: Compound, negated: bool) -> Literal:
        self.arity(term, 3)
        intervals, bound, result = term.args
        if isinstance(bound, Atom | Sequence):
            raise Refused("TW023", "a duration is a number of time-points or a variable", bound.span)
        return Duration(DURATIONS[term.functor], intervals, bound, result, span=term.span)


def _is_allen_mode(term: Term) -> TypeGuard[Atom]:
    return isinstance(term, Atom) and term.name in (*_ALLEN_MODES, *_ALLEN_SIDES)


def _goals(term: Term) -> list[Term]:
    """The goals of a conjunction, those in brackets of their own included."""
    goals: list[Term] = []
    waiting = [term]
    while waiting:
        goal = waiting.pop()
        if isinstance(goal, Compound) and goal.functor == ",":
            waiting.extend(reversed(goal.args))
        else:
            goals.append(goal)
    return goals


def _checks_emptiness(goal: Term) -> bool:
    """True for ``\\+ I = []`` and ``I \\= []``."""
    if isinstance(goal, Compound) and goal.functor in ("\\+", "not") and len(goal.args) == 1:
        goal = goal.args[0]
        functor = "="
    else:
        functor = "\\="
    return isinstance(goal, Compound) and goal.functor == functor and Sequence(()) in goal.args


_STRUCTURE: dict[str, Callable[[BodyReader, Compound, bool], Literal]] = {
    "\\+": BodyReader._not,
    "not": BodyReader._not,
    ";": BodyReader._either,
    "->": BodyReader._if_then,
    ":-": BodyReader._second_neck,
}
