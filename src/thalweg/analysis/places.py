"""The places of an atom, its arguments and its point, where something is computed: ``V + 1`` and the like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from thalweg.language.rules import Call, Clause, Literal, Windowed, literal_terms
from thalweg.language.terms import Compound, Number, Term, Variable, arguments, signature, variables


def moved_variable(term: Term) -> str | None:
    """The variable of ``V + k``, ``k + V`` or ``V - k``, which is known when the value is."""
    match term:
        case Compound("+" | "-", (Variable(name), Number())) | Compound("+", (Number(), Variable(name))):
            return name
        case _:
            return None


def with_places(literal: Call | Windowed, instead: Callable[[Term], Term]) -> Call | Windowed:
    """The literal with something else in the places of its atom."""

    def every(atom: Term) -> Term:
        return Compound(signature(atom)[0], tuple(map(instead, arguments(atom)))) if arguments(atom) else atom

    if isinstance(literal, Call):
        return replace(literal, goal=every(literal.goal))
    atom = every(literal.atom)
    return replace(literal, atom=atom, time=None if literal.time is None else instead(literal.time))


def with_free_places(clause: Clause) -> Clause:
    """The clause with ``V`` for ``V + k`` in negated atoms, where `V` stands in one place of the atom and otherwise
    only under other negations: that there is no such value says the same for both."""
    terms = [clause.head, *([clause.at] if clause.at is not None else [])]
    terms += [t for x in clause.body if not _negated_atom(x) for t in literal_terms(x)]
    outside = {v.name for t in terms for v in variables(t)}

    def freed(literal: Literal) -> Literal:
        if not isinstance(literal, Call | Windowed) or not literal.negated:
            return literal
        inside = Counter(v.name for t in literal_terms(literal) for v in variables(t))

        def free(term: Term) -> Term:
            name = moved_variable(term)
            return Variable(name) if name is not None and inside[name] == 1 and name not in outside else term

        return with_places(literal, free)

    return replace(clause, body=tuple(map(freed, clause.body)))


def _negated_atom(literal: Literal) -> bool:
    return isinstance(literal, Call | Windowed) and literal.negated
