"""Terms as relations: a name with holes and what fills them. Nested compounds are part of the name, so that
``per(close_ballot(C,M))`` is the relation ``per(close_ballot(_,_))`` of C and M.

Replacing variables and making terms equal are here too, and the error for what the event reasoner cannot do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from thalweg.language.diagnostics import Code, Diagnostic, ProgramError, Severity, register
from thalweg.language.instances import around_holes, quoted
from thalweg.language.terms import NOWHERE, Atom, Compound, Number, Span, Term, Variable, variables
from thalweg.language.terms import Sequence as ListTerm

register(
    Code(
        "TW290",
        "beyond the event reasoner",
        "The rule is understood but uses a construct in a way that the event reasoner cannot evaluate. The message "
        "says which, and what to write instead.",
    )
)


def refuse(message: str, span: Span, help: str | None = None) -> ProgramError:
    """The error for what the event reasoner cannot do."""
    return ProgramError([Diagnostic("TW290", Severity.ERROR, message, span, (), help)])


def flatten(term: Term, span: Span = NOWHERE) -> tuple[str, tuple[Term, ...]]:
    """A relation's name with holes, and what fills them.

    >>> flatten(Compound("per", (Compound("vote", (Variable("V"), Atom("m"))),)))
    ('per(vote(_,_))', (Variable(name='V'), Atom(name='m')))
    """
    holes: list[Term] = []

    def skeleton(part: Term) -> str:
        if isinstance(part, Compound) and part.functor not in "+-*/":
            return f"{quoted(part.functor)}({','.join(skeleton(a) for a in part.args)})"
        if isinstance(part, ListTerm):
            raise refuse("an argument is a constant, a variable or a term, not a list", span)
        match part:
            case Compound("-", (Number(value),), span_):
                part = Number(-value, span_)
        if isinstance(part, Compound) and any(True for _ in variables(part)):
            raise refuse(f"an argument is not computed: {part}", span, "give the result a name: `Y is X + 1`")
        holes.append(part)
        return "_"

    match term:
        case Atom(name):
            return quoted(name), ()
        case Compound(functor, args):
            return f"{quoted(functor)}({','.join(skeleton(a) for a in args)})", tuple(holes)
        case _:
            raise refuse(f"a name with arguments is expected here, not {term}", span)


@cache
def open_name(functor: str, arity: int) -> str:
    """The name of a relation whose arguments are all holes."""
    return quoted(functor) + (f"({','.join('_' * arity)})" if arity else "")


def holes(name: str) -> int:
    """How many arguments a relation's name has room for.

    >>> holes("per(close_ballot(_,_))")
    2
    """
    return len(around_holes(name)) - 1


Substitution = dict[str, Term]


def apply(term: Term, binding: Mapping[str, Term]) -> Term:
    """The term with variables replaced, all the way."""
    match term:
        case Variable(name):
            seen = binding.get(name)
            return term if seen is None else apply(seen, binding)
        case Compound(functor, args, span):
            return Compound(functor, tuple(apply(a, binding) for a in args), span)
        case ListTerm(items, rest, span):
            return ListTerm(
                tuple(apply(a, binding) for a in items), None if rest is None else apply(rest, binding), span
            )
        case _:
            return term


def unify(a: Term, b: Term, binding: Substitution) -> bool:
    """Make two terms equal by binding variables (in place); False when that is impossible."""
    stack = [(a, b)]
    while stack:
        x, y = (apply(t, binding) for t in stack.pop())
        if isinstance(x, Variable):
            if x != y:
                binding[x.name] = y
        elif isinstance(y, Variable):
            binding[y.name] = x
        elif isinstance(x, Compound) and isinstance(y, Compound):
            if x.functor != y.functor or len(x.args) != len(y.args):
                return False
            stack.extend(zip(x.args, y.args, strict=True))
        elif isinstance(x, Number) and isinstance(y, Number):
            if x.value != y.value:
                return False
        elif x != y:
            return False
    return True
