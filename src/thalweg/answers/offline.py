"""From a program to a plan: P_Q of every query, auxiliary queries for negated atoms, bounds, refusals.

What has no bound is refused here, with the rule that makes it so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from thalweg.analysis.temporal import Signature, Time
from thalweg.answers.background import known_operator, stream_dependent, unbound_in_background
from thalweg.answers.datalog import Rule, Test, TimedAtom, read
from thalweg.answers.plans import LooseTemplate, Plan, QueryPlan, TimeGroup, bounded
from thalweg.answers.resolve import Resolver, Step, Unbounded, pattern_at, total_shift
from thalweg.answers.safety import bound_variables, open_variables, unbound_in_head, unsafe
from thalweg.answers.stratify import dependencies, negative_walk
from thalweg.answers.templates import (
    Substitution,
    Template,
    general_pattern,
    instantiate,
    minimal,
    pattern_of,
    readable,
    rename_template,
    subsumes,
)
from thalweg.language.diagnostics import Code, Diagnostic, ProgramError, Severity, has_errors, register
from thalweg.language.program import Program
from thalweg.language.terms import NOWHERE, Number, Span, Term, Variable, variables

CLOCK = "~"
"""The time on which premises at given times hang; no variable is called that."""

register(
    Code(
        "TW305",
        "not T-stratified",
        "An atom would depend on its own negation, directly or through others, without going back in time. Such a "
        "program may have no meaning. The message shows the circle; moving one of its conditions to an earlier time "
        "(`T-1`) breaks it.",
    ),
    Code(
        "TW306",
        "a variable that nothing binds",
        "Every variable of a head, of a comparison and of a negated atom must occur in a positive atom of the rule. A "
        "variable of the head may also stand in negated atoms only: it then ranges over everything that is not "
        "excluded, but only if each negated atom has all such variables or none, no other variable is involved, and no "
        "rule for the negated atom makes two of them equal. In a fact only the time may be a variable.",
    ),
    Code(
        "TW307",
        "a negation that is never decided",
        "A negated atom whose premises have times of their own can always still become true, so its negation is never "
        "known. Tie the times together.",
    ),
    Code(
        "TW308",
        "answers without a deadline",
        "The rule relates times that are not tied to each other, so a half-met answer may wait forever. It runs only "
        "with an explicit horizon, after which what waits is dropped.",
    ),
    Code(
        "TW309",
        "a recursion without end",
        "The query needs input over an unlimited stretch of time (for instance `s(X, T+1) :- s(X, T).`), or through an "
        "unlimited number of steps. No finite set of premises stands for it. Bound the recursion: name the steps, or "
        "start it anew from the input.",
    ),
    Code(
        "TW310",
        "too many alternatives",
        "The query resolves to thousands of alternative sets of premises, or to sets of more than 62. Split the query.",
    ),
    Code(
        "TW311",
        "an unknown comparison",
        "Comparisons are `<`, `=<`, `>`, `>=`, `=:=`, `=\\=`, `=`, `\\=`, `==`, `\\==` and `is`.",
    ),
)


def check(program: Program) -> list[Diagnostic]:
    """Everything that is wrong with a program, and what it should know about its bounds."""
    return _Planning(program).run()[1]


def plan(program: Program) -> Plan:
    """The plan of a program; raises `ProgramError` with all findings when there is none."""
    made, found = _Planning(program).run()
    if made is None or has_errors(found):
        raise ProgramError([d for d in found if d.severity is Severity.ERROR], program.sources)
    return made


def kept_input(program: Program) -> dict[Signature, int | None] | None:
    """For how many time-points the facts of each input predicate wait for others, themselves or in an answer that is
    consulted; None for one of them: for the horizon of the run, or without end. None at all when the program is
    refused."""
    made, found = _Planning(program).run()
    if made is None or has_errors(found):
        return None
    waits = [
        max(query.keep, query.delay) - premise.time.offset
        for query in made.queries
        for premise in (p for t in query.templates for p in t.positive)
        if premise.time is not None
    ]
    delays = [query.delay for query in made.queries]
    combined = [(t, t.wait(delays)) for q in made.queries for t in q.loose]
    longest = max([*waits, *(wait for _, wait in combined if wait is not None)], default=0)
    kept: dict[Signature, int | None] = dict.fromkeys(made.datalog.inputs, longest)
    for loose in (t for t, wait in combined if wait is None):
        kept.update(dict.fromkeys((p.predicate for g in loose.groups for p in g.premises), None))
    return kept


def _place(rule: Rule) -> str:
    return "the head of the rule and nowhere in its body" if rule.body else "a fact, where only a time may be left open"


def is_connected(template: Template) -> bool:
    """True when all its times hang on the time of the head."""
    if template.time is None or template.time.variable is None:
        return not any(p.time is not None for p in template.premises) and template.time is not None
    return all(p.time is None or p.time.variable == template.time.variable for p in template.premises)


class _Planning:
    """Collects findings; later steps run only where earlier ones left something to work on."""

    def __init__(self, program: Program) -> None:
        self.datalog, self.found = read(program)
        self.tables: dict[TimedAtom, list[Template]] = {}
        self.abstracted: set[Signature] = set()

    def run(self) -> tuple[Plan | None, list[Diagnostic]]:
        self._rules()
        walk = negative_walk(dependencies(self.datalog))
        if walk is not None:
            self._error(
                "TW305",
                f"{walk[0].source[0]} depends on its own negation",
                next(e.rule.span for e in walk if e.negative),
                [str(e) for e in walk],
                "let one of these conditions speak about an earlier time",
            )
        if has_errors(self.found):
            return None, self.found
        try:
            self.resolver = Resolver(self.datalog)
            self._settle_patterns()
            for goal in self.datalog.queries:
                self._table(pattern_of(goal))
        except Unbounded as problem:
            self._unbounded(problem)
            return None, self.found
        made = self._plan()
        return (None if has_errors(self.found) else made), self.found

    def _error(
        self, code: str, message: str, span: Span, notes: Iterable[str] = (), suggestion: str | None = None
    ) -> None:
        self.found.append(Diagnostic(code, Severity.ERROR, message, span, tuple(notes), suggestion))

    def _rules(self) -> None:
        """What can be said about a rule by itself."""
        later = stream_dependent(self.datalog)
        for predicate, rules in self.datalog.rules.items():
            rigid = predicate not in self.datalog.temporal and predicate not in later
            for rule in rules:
                for name in unbound_in_head(rule):
                    self._error("TW306", f"{name} stands in {_place(rule)}", rule.span)
                for name in unbound_in_background(rule) if rigid and rule.body else ():
                    if name not in unbound_in_head(rule):
                        message = f"{name} is bound by no positive atom, and the rule is evaluated before the stream"
                        self._error("TW306", message, rule.span)
                for test in rule.body:
                    if isinstance(test, Test) and not known_operator(test):
                        self._error(
                            "TW311", f"`{test.op}` is not a comparison of Temporal Datalog", test.span
                        )

    def _unbounded(self, problem: Unbounded) -> None:
        span = problem.rule.span if problem.rule is not None else NOWHERE
        if not problem.cycle:
            self._error("TW310", problem.message, span)
            return
        self._error(
            "TW309",
            f"{problem.cycle[0].source.predicate[0]} needs itself without end",
            span,
            [recursion_shape(problem.cycle)],
            "bound the recursion, or let a rule start it anew from the input",
        )

    # -- auxiliary queries

    def _table(self, pattern: TimedAtom) -> list[Template]:
        """P_Q of a pattern with negated atoms that are decided offline taken out."""
        if pattern not in self.tables:
            self.tables[pattern] = []
            self.tables[pattern] = minimal(
                self._decided(t) for t in self._possible(self.resolver.table(pattern))
            )
        return self.tables[pattern]

    def _possible(self, templates: Iterable[Template]) -> Iterator[Template]:
        for template in templates:
            if not any(p.negated and p.time is not None and self._always(p) for p in template.premises):
                yield template

    def _always(self, atom: TimedAtom) -> bool:
        """True when the atom needs nothing at all: its negation is hopeless (Example 18)."""
        wanted = Template(
            atom.args, atom.time, (), (), ((atom.time.variable, atom.time.offset),) if atom.time else ()
        )
        return any(
            not known.premises and not known.tests and subsumes(known, wanted)
            for known in self.resolver.table(self._auxiliary(atom))
        )

    def _decided(self, template: Template) -> Template:
        """The template without negated atoms that nothing can make true."""
        kept = tuple(
            p
            for p in template.premises
            if not (p.negated and p.time is not None and not self.resolver.table(self._auxiliary(p)))
        )
        return replace(template, premises=kept)

    def _auxiliary(self, atom: TimedAtom) -> TimedAtom:
        positive = replace(atom, negated=False)
        if atom.predicate in self.abstracted:
            return general_pattern(atom.predicate, atom.time is not None)
        return pattern_of(positive)

    def _settle_patterns(self) -> None:
        """Keep the constants of negated atoms, or open them where that gives fewer tables (Examples 17 and 18)."""
        while True:
            self.tables.clear()
            patterns: dict[Signature, set[TimedAtom]] = {}
            for pattern in self._reachable():
                patterns.setdefault(pattern.predicate, set()).add(pattern)
            worse = [
                p
                for p, found in patterns.items()
                if p not in self.abstracted and self._opening_pays(p, found)
            ]
            if not worse:
                return
            self.abstracted.update(worse)

    def _opening_pays(self, predicate: Signature, patterns: set[TimedAtom]) -> bool:
        if len(patterns) < 2:
            return False
        try:
            opened = self.resolver.table(general_pattern(predicate, predicate in self.datalog.temporal))
        except Unbounded:
            return False
        return sum(len(self.resolver.table(p)) for p in patterns) > len(opened)

    def _reachable(self) -> list[TimedAtom]:
        """The patterns of all auxiliary queries that the main ones need."""
        found: dict[TimedAtom, None] = {}
        waiting = [t for goal in self.datalog.queries for t in self._table(pattern_of(goal))]
        while waiting:
            template = waiting.pop()
            for premise in template.negative:
                pattern = self._auxiliary(premise)
                if pattern not in found:
                    found[pattern] = None
                    waiting += self._table(pattern)
        return list(found)

    # -- the plan

    def _plan(self) -> Plan:
        queries: list[QueryPlan] = []
        for goal in self.datalog.queries:
            queries.append(_named(goal, self._table(pattern_of(goal)), main=True))
        decided_by: dict[TimedAtom, int] = {}
        for pattern in self._reachable():
            decided_by[pattern] = len(queries)
            queries.append(_named(_letters(pattern), self._table(pattern), main=False))
        for query in queries:
            self._safe(query)
        if not has_errors(self.found):
            for number in range(len(self.datalog.queries)):
                queries[number] = self._loosened(queries[number], queries)
        made = Plan(self.datalog, self.resolver.background, tuple(queries), decided_by, {})
        return made if has_errors(self.found) else bounded(made)

    def _safe(self, query: QueryPlan) -> None:
        for template in query.templates:
            span = template.rules[0].span if template.rules else query.span
            for message in unsafe(template):
                self._error("TW306", message, span, [f"in {query.name} if {template}"])
            for premise in template.negative:
                for message in self._equal_in_general(template, premise):
                    self._error("TW306", message, span, [f"in {query.name} if {template}"])
            for premise in template.rigid:
                if premise.negated and premise.predicate in self.resolver.timeless:
                    self._error(
                        "TW307", f"`{premise}` is never decided", span, ["it depends on the whole stream"]
                    )
            if not is_connected(template) and not query.main:
                self._error(
                    "TW307", f"`not {query.name}` is never decided", span, [f"{query.name} if {template}"]
                )

    def _equal_in_general(self, template: Template, premise: TimedAtom) -> Iterator[str]:
        """Two open variables that the negated atom's rules make one: which pairs are excluded cannot be listed."""
        free = set(open_variables(template))
        for known in self._table(self._auxiliary(premise)):
            by_name: dict[str, set[str]] = {}
            for arg, term in zip(premise.args, known.head, strict=True):
                if isinstance(arg, Variable) and isinstance(term, Variable) and arg.name in free:
                    by_name.setdefault(term.name, set()).add(arg.name)
            for name in open_variables(known):
                if len(tied := sorted(by_name.get(name, ()))) > 1:
                    yield f"`{premise}` excludes equal {' and '.join(tied)} in general, which cannot be listed"

    def _loosened(self, query: QueryPlan, queries: list[QueryPlan]) -> QueryPlan:
        """The query with its unconnected templates taken apart; their groups become queries of their own."""
        loose = []
        for template in query.templates:
            for asked in () if is_connected(template) else self._asked(query, template):
                span = template.rules[0].span if template.rules else query.span
                groups = list(self._groups(query, asked, span, queries))
                loose.append(LooseTemplate(asked, tuple(groups)))
                if loose[-1].needs_horizon:
                    self._deadline_warning(query, asked, span)
        connected = tuple(t for t in query.templates if is_connected(t))
        return replace(query, templates=connected, loose=tuple(loose))

    def _asked(self, query: QueryPlan, template: Template) -> Iterator[Template]:
        """The template, of a query about one time at that time."""
        time = template.time
        if query.at is None or time is None or time == Time(None, query.at):
            yield template
        elif time.variable is not None:
            at = Test("=:=", Variable(time.variable), Number(query.at))
            yield from self.resolver.finished(replace(template, tests=(*template.tests, at)))

    def _groups(
        self, query: QueryPlan, template: Template, span: Span, queries: list[QueryPlan]
    ) -> Iterator[TimeGroup]:
        own = template.time.variable if template.time is not None else None
        times = {p.time.variable for p in template.premises if p.time is not None}
        if own is not None and own not in times:
            self._error("TW306", f"the time {own} of the answer is bound by no positive atom", span)
        for variable in sorted(times, key=lambda v: (v is None, v != own, v or "")):
            premises = tuple(
                p for p in template.premises if p.time is not None and p.time.variable == variable
            )
            bound = {v.name for p in premises if not p.negated for a in p.args for v in variables(a)}
            if len(times) == 1:
                bound = bound_variables(template)
            if all(p.negated for p in premises):
                self._error("TW306", f"the time {variable or 'given'} is bound by no positive atom", span)
            where = "at another time only" if len(times) > 1 else "by no positive atom"
            for premise in (p for p in premises if p.negated):
                for name in sorted({v.name for a in premise.args for v in variables(a)} - bound):
                    self._error("TW306", f"{name} in `{premise}` is bound {where}", span)
            yield TimeGroup(variable, len(queries), premises)
            queries.append(
                _group_query(query, template, variable, premises, sorted(bound))
                if len(times) > 1
                else _only_group(query, template, variable)
            )

    def _deadline_warning(self, query: QueryPlan, template: Template, span: Span) -> None:
        times = ", ".join(template.time_variables())
        self.found.append(
            Diagnostic(
                "TW308",
                Severity.WARNING,
                f"answers to {query.name} have no deadline: {times} can be as far apart as the stream is long",
                span,
                suggestion="run it with a horizon",
            )
        )


def _only_group(query: QueryPlan, template: Template, variable: str | None) -> QueryPlan:
    """All premises hang on one time, which is not the answer's: the answers are those of this query."""
    clock = Time(variable or CLOCK)
    premises = tuple(p if p.time is None else replace(p, time=clock.shifted(p.time.offset)) for p in template.premises)
    floors = tuple((clock.variable, offset) for v, offset in template.floors if v == variable)
    args = query.goal.args
    goal = TimedAtom((f"{query.goal.predicate[0]} at {variable or 'fixed times'}", len(args) + 1), args, clock)
    part = replace(template, time=clock, premises=premises, floors=floors)
    return QueryPlan(goal, (part,), False, 0 if variable is None else None, span=query.span)


def _group_query(
    query: QueryPlan,
    template: Template,
    variable: str | None,
    premises: tuple[TimedAtom, ...],
    bound: list[str],
) -> QueryPlan:
    """Premises at fixed times hang on time 0 of a clock of their own."""
    time = Time(variable or CLOCK)
    tied = tuple(replace(p, time=Time(time.variable, p.time.offset)) for p in premises if p.time is not None)
    head: tuple[Term, ...] = tuple(Variable(name) for name in bound)
    floors = tuple((time.variable, offset) for v, offset in template.floors if v == variable)
    goal = TimedAtom((f"{query.goal.predicate[0]} at {variable or 'fixed times'}", len(head) + 1), head, time)
    part = Template(head, time, tied, (), floors, template.rules)
    return QueryPlan(goal, (part,), False, 0 if variable is None else None, span=query.span)


def _named(goal: TimedAtom, table: list[Template], main: bool) -> QueryPlan:
    """The table of the goal's pattern with the goal's own variable names."""
    at = goal.time.offset if goal.time is not None and goal.time.variable is None else None
    time = goal.time
    if time is not None:
        if at is not None or time.variable is None:
            time = Time("T")
        elif time.offset:
            time = Time(time.variable)
    shown = replace(goal, time=time)
    templates = []
    for known in table:
        apart = rename_template(known)
        by = Substitution.empty()
        if by.unify_times(apart.time, shown.time) and all(
            by.unify(a, b) for a, b in zip(apart.head, shown.args, strict=True)
        ):
            names = [v.name for a in shown.args for v in variables(a)]
            names += [time.variable] if time is not None and time.variable is not None else []
            templates.append(_timed(readable(instantiate(apart, by), names), time))
    return QueryPlan(shown, tuple(templates), main, at, span=goal.span)


def _timed(template: Template, time: Time | None) -> Template:
    """What holds at a time that is given as a number holds at any time that is it; where all other times are numbers
    too, they hang on it."""
    own = template.time.offset if template.time is not None and template.time.variable is None else None
    others = any(p.time is not None and p.time.variable is not None for p in template.premises)
    if own is None or others or time is None or time.variable is None:
        return template
    clock, far = Time(time.variable), -own
    premises = tuple(
        p if p.time is None else replace(p, time=clock.shifted(p.time.offset + far)) for p in template.premises
    )
    floors = tuple((time.variable, low + far) if v is None else (v, low) for v, low in template.floors)
    test = Test("=:=", Variable(time.variable), Number(own))
    return replace(template, time=clock, premises=premises, tests=(*template.tests, test), floors=floors)


def _letters(pattern: TimedAtom) -> TimedAtom:
    """A pattern with the usual names: X, Y, Z, then X3 and so on."""
    letters: dict[str, Term] = {}

    def letter(term: Term) -> Term:
        if not isinstance(term, Variable):
            return term
        number = len(letters)
        return letters.setdefault(term.name, Variable("XYZ"[number] if number < 3 else f"X{number}"))

    return replace(pattern, args=tuple(letter(a) for a in pattern.args))


def recursion_shape(cycle: tuple[Step, ...]) -> str:
    """``s(X, T) needs s(X, T-1), which needs s(X, T-2), and so on``."""
    first = _letters(cycle[0].source)
    shift = total_shift(cycle)
    if shift is None:
        return f"{first} needs itself at times that are not tied to its own"
    if not shift:
        return f"{first} needs {_letters(cycle[-1].target)} for ever more arguments, at the same time"
    return f"{first} needs {pattern_at(first, shift)}, which needs {pattern_at(first, 2 * shift)}, and so on"
