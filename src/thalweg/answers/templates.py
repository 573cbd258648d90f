"""Templates: the elements of P_Q, with the operations that resolution needs (renaming, unification, subsumption).

A template says: the query holds for `head` at `time` if all `premises` and `tests` hold. Premises are input atoms,
negated atoms and rigid atoms. `floors` keeps, per time variable, the lowest offset that occurred anywhere in the
derivation: atoms before the beginning of the stream do not exist, also those that were resolved away.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from thalweg.analysis.temporal import Signature, Time, time_of
from thalweg.answers.datalog import Rule, Test, TimedAtom
from thalweg.language.terms import Compound, Number, Term, Variable, variables

TRIES = 100
"""How many steps are taken to find out that one template makes another superfluous."""


class Exhausted(Exception):
    """More effort than was allowed."""


@dataclass(slots=True)
class Effort:
    """How many premises may still be looked at."""

    left: int

    def spend(self, much: int) -> None:
        """Count some of them."""
        self.left -= much
        if self.left < 0:
            raise Exhausted


UNLIMITED = Effort(2**62)

Floors = tuple[tuple[str | None, int], ...]
"""Lowest offset by time variable; None stands for the times given as numbers."""


@dataclass(frozen=True, slots=True)
class Template:
    """One way to make a query true. `rules` are the rules it was resolved with, outermost first."""

    head: tuple[Term, ...]
    time: Time | None
    premises: tuple[TimedAtom, ...]
    tests: tuple[Test, ...] = ()
    floors: Floors = ()
    rules: tuple[Rule, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        body = ", ".join([*map(str, self.premises), *map(str, self.tests)])
        return "{" + body + "}"

    @property
    def positive(self) -> tuple[TimedAtom, ...]:
        """The input atoms."""
        return tuple(p for p in self.premises if not p.negated and p.time is not None)

    @property
    def negative(self) -> tuple[TimedAtom, ...]:
        """The negated atoms with a time."""
        return tuple(p for p in self.premises if p.negated and p.time is not None)

    @property
    def rigid(self) -> tuple[TimedAtom, ...]:
        """The background atoms, negated ones included."""
        return tuple(p for p in self.premises if p.time is None)

    def variables(self) -> list[str]:
        """The object variables, head first, in order of appearance."""
        terms = [*self.head, *(a for p in self.premises for a in p.args)]
        names = [v.name for term in terms for v in variables(term)]
        times = set(self.time_variables())
        for test in self.tests:
            names += [
                v.name for side in (test.left, test.right) for v in variables(side) if v.name not in times
            ]
        return list(dict.fromkeys(names))

    def time_variables(self) -> list[str]:
        """The time variables, the head's first."""
        times = [self.time, *(p.time for p in self.premises)]
        return list(dict.fromkeys(t.variable for t in times if t is not None and t.variable is not None))


# --------------------------------------------------------------------------- substitutions


@dataclass(slots=True)
class Substitution:
    """What variables stand for. Time variables stand for times, all others for constants or variables."""

    terms: dict[str, Term]
    times: dict[str, Time]

    @classmethod
    def empty(cls) -> Substitution:
        return cls({}, {})

    def copy(self) -> Substitution:
        return Substitution(dict(self.terms), dict(self.times))

    def term(self, term: Term) -> Term:
        while isinstance(term, Variable) and term.name in self.terms:
            term = self.terms[term.name]
        return term

    def time(self, time: Time) -> Time:
        while time.variable is not None and time.variable in self.times:
            time = self.times[time.variable].shifted(time.offset)
        return time

    def expression(self, term: Term) -> Term:
        """Substitute inside a test, where time variables may stand as numbers."""
        match term:
            case Variable(name) if name in self.times:
                return time_term(self.time(Time(name)))
            case Variable():
                return self.term(term)
            case Compound(functor, args):
                return Compound(functor, tuple(self.expression(a) for a in args), term.span)
            case _:
                return term

    def atom(self, atom: TimedAtom) -> TimedAtom:
        time = self.time(atom.time) if atom.time is not None else None
        return replace(atom, args=tuple(self.term(a) for a in atom.args), time=time)

    def test(self, test: Test) -> Test:
        return replace(test, left=self.expression(test.left), right=self.expression(test.right))

    def floors(self, floors: Iterable[tuple[str | None, int]]) -> Floors:
        lowest: dict[str | None, int] = {}
        for variable, offset in floors:
            time = self.time(Time(variable, offset))
            lowest[time.variable] = min(time.offset, lowest.get(time.variable, time.offset))
        return tuple(sorted(lowest.items(), key=lambda item: item[0] or ""))

    # -- unification: there are no function symbols, so it is union of variables

    def unify(self, left: Term, right: Term) -> bool:
        left, right = self.term(left), self.term(right)
        if left == right:
            return True
        if isinstance(left, Variable):
            self.terms[left.name] = right
            return True
        if isinstance(right, Variable):
            self.terms[right.name] = left
            return True
        return False

    def unify_times(self, left: Time | None, right: Time | None) -> bool:
        if left is None or right is None:
            return left is right
        left, right = self.time(left), self.time(right)
        if left.variable is not None and left.variable != right.variable:
            self.times[left.variable] = right.shifted(-left.offset)
            return True
        if right.variable is not None and left.variable is None:
            self.times[right.variable] = left.shifted(-right.offset)
            return True
        return left.offset == right.offset

    def unify_atoms(self, left: TimedAtom, right: TimedAtom) -> bool:
        """Left variables are replaced by right ones where there is a choice."""
        return (
            left.predicate == right.predicate
            and self.unify_times(left.time, right.time)
            and all(self.unify(a, b) for a, b in zip(left.args, right.args, strict=True))
        )


def time_term(time: Time) -> Term:
    """A time as a term inside an expression."""
    if time.variable is None:
        return Number(time.offset)
    variable = Variable(time.variable)
    return Compound("+", (variable, Number(time.offset))) if time.offset else variable


# --------------------------------------------------------------------------- renaming

_fresh = itertools.count(1)
APART = "~"
"""Separates a variable's own name from the number that keeps it apart from others."""


def _renaming(names: Iterable[str], times: Iterable[str]) -> Substitution:
    """Every variable gets a number of its own: two that share a stem stay two."""
    return Substitution({n: Variable(_apart(n)) for n in names}, {t: Time(_apart(t)) for t in times})


def _apart(name: str) -> str:
    return f"{name.split(APART)[0]}{APART}{next(_fresh)}"


def rename_rule(rule: Rule) -> Rule:
    """The rule with variables that occur nowhere else."""
    atoms = [rule.head, *(c for c in rule.body if isinstance(c, TimedAtom))]
    names = {v.name for atom in atoms for arg in atom.args for v in variables(arg)}
    for test in rule.body:
        if isinstance(test, Test):
            names |= {v.name for side in (test.left, test.right) for v in variables(side)}
    apart = _renaming(names - rule.times, rule.times)
    body = tuple(apart.atom(c) if isinstance(c, TimedAtom) else apart.test(c) for c in rule.body)
    times = frozenset(str(apart.times[t].variable) for t in rule.times)
    return replace(rule, head=apart.atom(rule.head), body=body, times=times)


def rename_template(template: Template) -> Template:
    """The template with variables that occur nowhere else."""
    times = set(template.time_variables()) | {v for v, _ in template.floors if v is not None}
    return instantiate(template, _renaming(template.variables(), times))


def instantiate(template: Template, by: Substitution) -> Template:
    """The template under a substitution, repeated premises removed."""
    return Template(
        tuple(by.term(t) for t in template.head),
        by.time(template.time) if template.time is not None else None,
        tuple(dict.fromkeys(by.atom(p) for p in template.premises)),
        tuple(dict.fromkeys(by.test(t) for t in template.tests)),
        by.floors(template.floors),
        template.rules,
    )


def readable(template: Template, taken: Sequence[str]) -> Template:
    """The template with short variable names; names in `taken` (the query's) stay as they are."""
    renaming = Substitution.empty()
    used = set(taken)
    times = {*template.time_variables(), *(v for v, _ in template.floors if v is not None)}
    for name in [*template.variables(), *sorted(times)]:
        if name in taken:
            continue
        stem = name.split(APART)[0]
        stem = stem if stem[:1].isupper() else "V"
        short = next(
            c for c in itertools.chain([stem], (f"{stem}{i}" for i in itertools.count(1))) if c not in used
        )
        used.add(short)
        if name in times:
            renaming.times[name] = Time(short)
        else:
            renaming.terms[name] = Variable(short)
    return instantiate(template, renaming)


# --------------------------------------------------------------------------- subsumption and minimality


def subsumes(general: Template, special: Template, effort: Effort = UNLIMITED) -> bool:
    """True when every answer by `special` is one by `general`: an instance of `general` has no premise that
    `special` lacks, and exists wherever `special` does."""
    return _kinds(general) <= _kinds(special) and _covers(rename_template(general), special, effort)


def _kinds(template: Template) -> set[tuple[Signature, bool, int]]:
    """Predicate, sign and offset of the premises that hang on the head's time: these have to be there."""
    own = template.time.variable if template.time is not None else None
    return {
        (p.predicate, p.negated, p.time.offset)
        for p in template.premises
        if p.time is not None and own is not None and p.time.variable == own
    }


def _covers(general: Template, special: Template, effort: Effort) -> bool:
    start = Substitution.empty()
    if not _match_times(general.time, special.time, start):
        return False
    if not all(_match(g, s, start) for g, s in zip(general.head, special.head, strict=True)):
        return False
    tests = {str(t) for t in special.tests}
    for found in _embeddings(general.premises, special.premises, start, effort):
        if all(str(found.test(t)) in tests for t in general.tests) and _reaches(
            found.floors(general.floors), special
        ):
            return True
    return False


def _reaches(floors: Floors, special: Template) -> bool:
    lowest = dict(special.floors)
    return all(offset >= lowest.get(variable, offset + 1) for variable, offset in floors)


def _match(pattern: Term, term: Term, by: Substitution) -> bool:
    if isinstance(pattern, Variable) and APART in pattern.name:
        known = by.terms.get(pattern.name)
        if known is None:
            by.terms[pattern.name] = term
            return True
        return known == term
    return pattern == term


def _match_times(pattern: Time | None, time: Time | None, by: Substitution) -> bool:
    if pattern is None or time is None:
        return pattern is time
    if pattern.variable is None or APART not in pattern.variable:
        return pattern == time
    known = by.times.get(pattern.variable)
    if known is None:
        by.times[pattern.variable] = time.shifted(-pattern.offset)
        return True
    return known.shifted(pattern.offset) == time


def _embeddings(
    patterns: Sequence[TimedAtom],
    atoms: Sequence[TimedAtom],
    by: Substitution,
    effort: Effort,
    tries: Iterator[int] | None = None,
) -> Iterator[Substitution]:
    """The ways to map the patterns into the atoms, the pattern with the fewest ways first. Gives up after many tries:
    a template that is not found to be superfluous does no harm."""
    if not patterns:
        yield by
        return
    tries = iter(range(TRIES)) if tries is None else tries
    effort.spend(len(atoms))
    chosen, ways = patterns[0], _matches(patterns[0], atoms, by)
    for pattern in patterns[1:]:
        if len(ways) < 2:
            break
        effort.spend(len(atoms))
        found = _matches(pattern, atoms, by)
        if len(found) < len(ways):
            chosen, ways = pattern, found
    rest = [p for p in patterns if p is not chosen]
    for way in ways:
        if next(tries, None) is None:
            return
        yield from _embeddings(rest, atoms, way, effort, tries)


def _matches(pattern: TimedAtom, atoms: Sequence[TimedAtom], by: Substitution) -> list[Substitution]:
    """Every way to map one pattern into the atoms."""
    time = _mapped_time(pattern.time, by)
    args = [by.terms.get(a.name, a) if isinstance(a, Variable) and APART in a.name else a for a in pattern.args]
    found = []
    for atom in atoms:
        if atom.predicate != pattern.predicate or atom.negated != pattern.negated:
            continue
        if time is not None and time != atom.time:
            continue
        if any(_differ(a, b) for a, b in zip(args, atom.args, strict=True)):
            continue
        tried = by.copy()
        if _match_times(pattern.time, atom.time, tried) and all(
            _match(p, a, tried) for p, a in zip(pattern.args, atom.args, strict=True)
        ):
            found.append(tried)
    return found


def _mapped_time(time: Time | None, by: Substitution) -> Time | None:
    """The time that a pattern's time stands for, where that is known."""
    if time is None or time.variable is None or APART not in time.variable:
        return time
    known = by.times.get(time.variable)
    return None if known is None else known.shifted(time.offset)


def _differ(pattern: Term, term: Term) -> bool:
    return pattern != term and not (isinstance(pattern, Variable) and APART in pattern.name)


def condensed(template: Template, effort: Effort = UNLIMITED) -> Template:
    """The template without premises that another instance of the rest already gives."""
    shrinking = True
    while shrinking:
        shrinking = False
        for premise in template.premises:
            if not any(_could_stand_for(other, premise) for other in template.premises):
                continue
            rest = replace(template, premises=tuple(p for p in template.premises if p != premise))
            if _mentions_head(rest, template) and _covers(rename_template(template), rest, effort):
                template, shrinking = rest, True
                break
    return template


def _could_stand_for(other: TimedAtom, premise: TimedAtom) -> bool:
    """A quick look whether one premise may be an instance of another."""
    return (
        other is not premise
        and other.predicate == premise.predicate
        and other.negated == premise.negated
        and (other.time == premise.time or _floats(premise.time))
        and all(isinstance(p, Variable) or p == o for p, o in zip(premise.args, other.args, strict=True))
    )


def _floats(time: Time | None) -> bool:
    return time is not None and time.variable is not None and APART in time.variable


def _mentions_head(rest: Template, template: Template) -> bool:
    """Dropping a premise must not leave a variable of the head or of a test without one."""
    kept = {v.name for p in rest.premises if not p.negated for a in p.args for v in variables(a)}
    had = {v.name for p in template.premises if not p.negated for a in p.args for v in variables(a)}
    wanted = {v.name for t in template.head for v in variables(t)}
    wanted |= {v.name for t in template.tests for side in (t.left, t.right) for v in variables(side)}
    return (wanted & had) <= kept


def minimal(templates: Iterable[Template], effort: Effort = UNLIMITED) -> list[Template]:
    """The templates that no other one makes superfluous, in order."""
    kept: list[Template] = []
    for template in templates:
        template = condensed(template, effort)
        if contradictory(template) or any(subsumes(other, template, effort) for other in kept):
            continue
        kept = [other for other in kept if not subsumes(template, other, effort)] + [template]
    return kept


def contradictory(template: Template) -> bool:
    """True when an atom is both required and excluded."""
    wanted = {(p.predicate, p.args, p.time) for p in template.premises if not p.negated}
    return any((p.predicate, p.args, p.time) in wanted for p in template.premises if p.negated)


def pattern_of(atom: TimedAtom) -> TimedAtom:
    """The atom up to renaming of variables, at time ``T``: what repetition is detected on."""
    names: dict[str, Term] = {}
    args: list[Term] = []
    for arg in atom.args:
        if isinstance(arg, Variable):
            arg = names.setdefault(arg.name, Variable(f"A{len(names)}"))
        args.append(arg)
    return TimedAtom(atom.predicate, tuple(args), Time("T") if atom.time is not None else None)


def general_pattern(predicate: Signature, temporal: bool) -> TimedAtom:
    """The pattern of a predicate with all arguments open."""
    width = predicate[1] - (1 if temporal else 0)
    return TimedAtom(
        predicate, tuple(Variable(f"A{i}") for i in range(width)), Time("T") if temporal else None
    )


def as_time(term: Term, times: frozenset[str]) -> Time | None:
    """A side of an equation, when it is a time term over a time variable or a whole number."""
    time = time_of(term)
    if time is None or (time.variable is not None and time.variable not in times):
        return None
    return time
