"""Random programs of all three kinds, as data: what the printer must print and the parser read back."""

from __future__ import annotations

from hypothesis import strategies as st

from thalweg.language.operators import BETWEEN, RESERVED_WORDS, names_atom
from thalweg.language.program import Program
from thalweg.language.rules import (
    Absent,
    Affects,
    Aggregate,
    Allen,
    Argument,
    Boundary,
    Call,
    Clause,
    Combine,
    Compare,
    Declare,
    Delayed,
    Duration,
    DynamicDomain,
    Edge,
    Effect,
    EffectRule,
    Either,
    EventRule,
    FindAll,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    Ignored,
    Initially,
    IntervalRule,
    Kind,
    Literal,
    Pair,
    Postponable,
    Query,
    Role,
    Statement,
    Tick,
    Window,
    Windowed,
)
from thalweg.language.terms import Atom, Compound, Number, Sequence, Term, Variable

_RESERVED = {
    *"initiatedAt terminatedAt holdsAt holdsFor happensAt initially initiates terminates fi ft p grounding".split(),
    *"dynamicDomain collectIntervals points buildFromPoints union_all intersect_all complement_all allen".split(),
    *"relative_complement_all findall maxDuration maxDurationUE cachingOrder index event start end at not in".split(),
    *"sometime always over hop is mod if".split(),
}
plain_names = st.from_regex(r"[a-z][a-zA-Z0-9_]{0,6}", fullmatch=True)
safe_names = st.one_of(
    plain_names.filter(lambda n: n not in _RESERVED).map(lambda n: n + "_x"), st.sampled_from(BETWEEN)
)
odd_names = st.text(st.characters(exclude_categories=["Cs", "Co"]), max_size=6)
names = st.one_of(
    plain_names, odd_names, st.sampled_from(["at", "if", "not", "mod", "in", "[]", "{}", "!", "tick"])
)
variable_names = st.one_of(st.from_regex(r"[A-Z_][a-zA-Z0-9_]{0,3}", fullmatch=True), st.just("_"))

atoms = st.builds(Atom, names)
numbers = st.builds(
    Number,
    st.one_of(
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != int(x)),
    ),
)
variables = st.builds(Variable, variable_names)
_ARITHMETIC = ["+", "-", "*", "/", "//", "mod", "**", "^", "rem", "/\\", "<<", ":", "="]


def _compounds(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    several = st.lists(terms, min_size=1, max_size=3).map(tuple)
    functors = names.filter(lambda n: n not in (",", ";", ":-", "->"))
    return st.one_of(
        st.builds(Compound, functors, several),
        st.builds(Compound, st.sampled_from(_ARITHMETIC), st.tuples(terms, terms)),
        st.builds(Compound, st.sampled_from(["-", "+", "\\"]), st.tuples(terms)),
        st.builds(Compound, st.sampled_from([",", ";"]), st.lists(terms, min_size=2, max_size=3).map(tuple)),
        st.builds(Sequence, st.lists(terms, max_size=3).map(tuple)),
        st.builds(Sequence, several, terms),
    )


terms = st.recursive(st.one_of(atoms, numbers, variables), _compounds, max_leaves=6)
simple_terms = st.one_of(st.builds(Atom, plain_names), numbers, variables)
calls = st.one_of(
    st.builds(Atom, safe_names),
    st.builds(Compound, safe_names, st.lists(terms, min_size=1, max_size=3).map(tuple)),
)
pairs = st.builds(Pair, calls, simple_terms)
comparisons = st.sampled_from(
    ["=", "\\=", "==", "\\==", "<", ">", "=<", ">=", "=:=", "=\\=", "is", "@<", "@>="]
)


plain_literals: st.SearchStrategy[Literal] = st.one_of(
    st.builds(Call, calls, st.booleans()),
    st.builds(Compare, comparisons, terms, terms, st.booleans()),
)
event_literals: st.SearchStrategy[Literal] = st.one_of(
    plain_literals,
    st.builds(Happens, calls, variables, st.booleans()),
    st.builds(Holds, pairs, variables, st.booleans()),
    st.builds(Boundary, st.sampled_from(Edge), pairs, variables, st.booleans()),
    st.builds(Affects, st.sampled_from(Effect), pairs, variables, st.booleans()),
)
interval_literals: st.SearchStrategy[Literal] = st.one_of(
    st.builds(HoldsFor, pairs, variables),
    st.builds(
        Combine,
        st.sampled_from(["union_all", "intersect_all", "complement_all"]),
        st.lists(variables, max_size=3).map(tuple),
        variables,
    ),
    st.builds(Combine, st.just("relative_complement_all"), st.tuples(variables), variables, variables),
    st.builds(
        Allen,
        st.sampled_from(["before", "meets"]),
        variables,
        variables,
        st.sampled_from(["source", "union"]),
        variables,
    ),
    st.builds(Duration, st.sampled_from([">", "<", ">=", "=<"]), variables, numbers, variables),
)


def bodies(literals: st.SearchStrategy[Literal], min_size: int = 0) -> st.SearchStrategy[tuple[Literal, ...]]:
    """Conjunctions, with alternatives and absence inside."""

    def widen(inner: st.SearchStrategy[Literal]) -> st.SearchStrategy[Literal]:
        some = st.lists(inner, min_size=1, max_size=2).map(tuple)
        many = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(
            st.builds(Either, st.lists(some, min_size=2, max_size=3).map(tuple)),
            st.builds(Absent, many),
            st.builds(FindAll, terms, some, variables),
        )

    return st.lists(st.recursive(literals, widen, max_leaves=4), min_size=min_size, max_size=4).map(tuple)


_arguments = st.lists(
    st.builds(
        Argument,
        st.one_of(plain_names, variable_names),
        st.sampled_from(["", "symbol", "int", "float", "number"]),
    ),
    max_size=3,
).map(tuple)
_declared = names.filter(lambda n: n not in RESERVED_WORDS and names_atom(Compound(n, (Atom("a"),))))
_values = st.lists(simple_terms, max_size=3).map(tuple)

event_statements: st.SearchStrategy[Statement] = st.one_of(
    st.builds(EffectRule, st.sampled_from(Effect), pairs, variables, bodies(event_literals)),
    st.builds(EventRule, calls, variables, bodies(event_literals)),
    st.builds(IntervalRule, pairs, variables, bodies(interval_literals)),
    st.builds(Initially, pairs, bodies(plain_literals)),
    st.builds(Delayed, pairs, st.one_of(st.none(), pairs), simple_terms, bodies(plain_literals)),
    st.builds(Postponable, pairs, bodies(plain_literals)),
    st.builds(Clause, calls, bodies(plain_literals)),
    st.builds(Declare, st.just(Role.EVENT), _declared, _arguments),
    st.builds(
        Declare, st.sampled_from([Role.STATE, Role.FLUENT, Role.POINTS]), _declared, _arguments, _values
    ),
    st.builds(Grounding, calls, bodies(plain_literals)),
    st.builds(DynamicDomain, calls.filter(lambda c: isinstance(c, Compound))),
    st.builds(Ignored, st.builds(Compound, st.just("cachingOrder"), st.tuples(terms)), st.just(False)),
)

_sizes = st.integers(0, 1000)
windows = st.one_of(
    st.builds(Window, st.just("time"), _sizes, _sizes, st.integers(1, 50)),
    st.builds(Window, st.just("tuple"), _sizes, _sizes),
    st.builds(
        Window, st.just("partition"), _sizes, by=st.lists(variables, min_size=1, max_size=2).map(tuple)
    ),
)
lars_literals: st.SearchStrategy[Literal] = st.one_of(
    plain_literals,
    st.builds(Windowed, calls, st.sampled_from(["sometime", "always"]), windows, negated=st.booleans()),
    st.builds(Windowed, calls, st.just("at"), st.one_of(st.none(), windows), terms, st.booleans()),
    st.builds(Aggregate, st.sampled_from(["count", "sum", "min", "max"]), terms, calls, windows, variables),
)
lars_statements: st.SearchStrategy[Statement] = st.one_of(
    st.builds(Clause, calls, bodies(lars_literals), st.one_of(st.none(), terms)),
    st.builds(Tick, st.sampled_from([0.001, 0.1, 1.0, 6.0, 60.0, 7.5])),
)
answer_statements: st.SearchStrategy[Statement] = st.one_of(
    st.builds(Clause, calls, bodies(plain_literals)), st.builds(Query, calls)
)


def _programs(kind: Kind, statements: st.SearchStrategy[Statement]) -> st.SearchStrategy[Program]:
    return st.builds(Program, st.just(kind), st.lists(statements, max_size=5).map(_one_tick).map(tuple))


def _one_tick(statements: list[Statement]) -> list[Statement]:
    ticks = [s for s in statements if isinstance(s, Tick)]
    return [s for s in statements if not isinstance(s, Tick) or s is ticks[0]]


programs = st.one_of(
    _programs(Kind.EVENTS, event_statements),
    _programs(Kind.LARS, lars_statements),
    _programs(Kind.ANSWERS, answer_statements),
)
