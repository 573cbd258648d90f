"""P_Q as text: what every query hangs on, when it is decided, how long input is kept for it."""

from __future__ import annotations

from collections.abc import Iterable

from thalweg.analysis.temporal import Time
from thalweg.answers.datalog import text
from thalweg.answers.offline import plan
from thalweg.answers.plans import Plan, QueryPlan
from thalweg.answers.templates import Template
from thalweg.language.program import Program
from thalweg.language.terms import Term
from thalweg.language.wording import counted


def describe(program: Program) -> str:
    """The plan of a program; raises `ProgramError` when there is none.

    >>> from thalweg import parse
    >>> print(describe(parse("query r(T). p(T) :- s(T), s(T+1). r(T) :- not p(T).")))
    Open answers
      r(T): decided by T+1, input kept for 1 time-point
        if not p(T)
      p(T), to decide its negation: decided by T+1, input kept for 1 time-point
        if s(T), s(T+1)
    """
    return describe_plan(plan(program))


def describe_plan(made: Plan) -> str:
    """The plan as indented lines, user's queries first."""
    lines = ["Open answers"]
    groups = {group.query for query in made.queries for loose in query.loose for group in loose.groups}
    for number, query in enumerate(made.queries):
        if number in groups:
            continue
        role = "" if query.main else ", to decide its negation"
        lines.append(f"  {query.name}{role}: {_bounds(made, query)}")
        templates = [*query.templates, *(loose.template for loose in query.loose)]
        lines += [f"    {_template(query, template)}" for template in templates] or ["    never"]
    return "\n".join(lines)


def _bounds(made: Plan, query: QueryPlan) -> str:
    delays = [q.delay for q in made.queries]
    if any(loose.needs_horizon for loose in query.loose):
        return "no deadline, input kept for the horizon"
    if any(loose.wait(delays) is None for loose in query.loose):
        return "no deadline, input kept without end"
    kept = counted(query.horizon, "time-point")
    after = [loose.delay(delays) if loose.given(delays) is None else None for loose in query.loose]
    known = [delay for delay in after if delay is not None]
    if len(known) < len(after):
        decided = f"an open answer is decided within {kept}" if query.horizon else "decided at once"
        return f"can come true at any time, {decided}, input kept for {kept}"
    time = query.goal.time.variable if query.goal.time is not None else None
    decided = f"decided by {Time(time, max(query.delay, *known, 0))}" if time is not None else "decided at once"
    return f"{decided}, input kept for {kept}"


def _template(query: QueryPlan, template: Template) -> str:
    given = [
        f"{arg} = {value}"
        for arg, value in zip(_texts(query.goal.args), _texts(template.head), strict=True)
        if arg != value
    ]
    if template.time != query.goal.time and template.time is not None:
        given.append(f"{query.goal.time} = {template.time}")
    body = str(template)[1:-1] or "always"
    where = f" with {', '.join(given)}" if given else ""
    return f"{'if ' if body != 'always' else ''}{body}{where}"


def _texts(terms: Iterable[Term]) -> list[str]:
    return [text(term) for term in terms]
