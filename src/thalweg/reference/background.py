"""Background knowledge: facts and rules, and predicates over lists; by plain SLD resolution."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from thalweg.language import rules as language
from thalweg.reference.arithmetic import Unbound
from thalweg.reference.bodies import Fact, Goals, read_body, solve
from thalweg.reference.terms import (
    EMPTY,
    LIST,
    Ground,
    Reader,
    Signature,
    Subst,
    Term,
    Var,
    is_ground,
    number,
    resolve,
    signature,
    unify,
    variables,
)


def _items(term: Term) -> tuple[Ground, ...]:
    if not is_ground(term):
        raise Unbound(term)
    return term[1:] if isinstance(term, tuple) and term[0] == LIST else ()


def _sum(items: tuple[Ground, ...]) -> Ground | None:
    return number(float(sum(items))) if all(isinstance(i, (int, float)) for i in items) else None


def _extreme(choose: Callable[..., float]) -> Callable[[tuple[Ground, ...]], Ground | None]:
    return lambda items: choose(items) if items and _sum(items) is not None else None


_LIST_VALUES: dict[str, Callable[[tuple[Ground, ...]], Ground | None]] = {
    "length": len,
    "sum_list": _sum,
    "sumlist": _sum,
    "max_list": _extreme(max),
    "min_list": _extreme(min),
}


def _builtin(goal: Term) -> Iterator[Ground] | None:
    """The true instances of a built-in goal, or None where the predicate is not built in."""
    match goal:
        case "true":
            return iter([goal])
        case (("length" | "sum_list" | "sumlist" | "max_list" | "min_list") as name, items, _):
            value = _LIST_VALUES[name](_items(items))
            return iter([] if value is None else [(name, items, value)])
        case ("member", _, items):
            return iter([("member", item, items) for item in _items(items)])
    return None


# --------------------------------------------------------------------------- resolution


class Knowledge:
    """The background clauses of a program. Also a world of its own, in which nothing happens and nothing holds."""

    def __init__(self, clauses: Iterable[language.Clause], reader: Reader) -> None:
        self._clauses: dict[Signature, list[tuple[Term, tuple[Goals, ...]]]] = {}
        self._copies = itertools.count(1)
        for clause in clauses:
            head = reader.term(clause.head)
            self._clauses.setdefault(signature(head), []).append((head, read_body(clause.body, reader)))

    def with_facts(self, facts: Iterable[Ground]) -> Knowledge:
        """The same knowledge and some more facts: the extensions of dynamic domains."""
        more = Knowledge((), Reader())
        more._copies = self._copies
        more._clauses = {key: list(clauses) for key, clauses in self._clauses.items()}
        for fact in facts:
            more._clauses.setdefault(signature(fact), []).append((fact, ((),)))
        return more

    def heads(self) -> list[Term]:
        """What the clauses are about."""
        return [head for clauses in self._clauses.values() for head, _ in clauses]

    def answers(self, fact: Fact, subst: Subst) -> Iterator[Subst]:
        if fact.kind != "call":
            return
        goal = resolve(fact.terms[0], subst)
        instances = _builtin(goal)
        for instance in instances if instances is not None else self._instances(goal):
            extended = unify(goal, instance, subst)
            if extended is not None:
                yield extended

    def _instances(self, goal: Term) -> Iterator[Term]:
        """The true instances of a goal. Each clause is solved in a world of variables of its own: the goal's
        variables are renamed on the way in, those that are left in the answer on the way out."""
        question = self._renamed(goal)
        for head, alternatives in self._clauses.get(signature(goal), ()):
            entered = unify(head, question, EMPTY)
            if entered is None:
                continue
            for answer in solve(alternatives, entered, self):
                yield self._renamed(resolve(question, answer))

    def _renamed(self, term: Term) -> Term:
        fresh = {variable: Var("/", next(self._copies)) for variable in variables(term)}
        return resolve(term, fresh)
