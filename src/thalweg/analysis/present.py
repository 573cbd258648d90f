"""Windows over atoms that rules derive for the present point only (LARS).

What a rule ``high if ...`` derives is there at the point at which it is derived, and a tick later only if it can be
derived again: it is no state with a past. A window that looks back for it sees the present point, and nothing else
but input of that name.
"""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.analysis.bodies import body_of, literals
from thalweg.analysis.roles import named
from thalweg.analysis.wording import place
from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.program import Program
from thalweg.language.rules import Clause, Kind, Windowed
from thalweg.language.terms import signature

Signature = tuple[str, int]


def check_present(program: Program) -> Iterator[Diagnostic]:
    """Windows of several points over what rules derive at one."""
    if program.kind is not Kind.LARS:
        return
    present = _present(program)
    for statement in program.statements:
        for found in literals(body_of(statement)):
            literal = found.literal
            if not isinstance(literal, Windowed) or literal.mode not in ("always", "sometime"):
                continue
            window = literal.window
            if window is None or window.kind != "time" or not (window.past or window.future):
                continue
            if not named(literal.atom) or signature(literal.atom) not in present:
                continue
            name, rule = signature(literal.atom)[0], present[signature(literal.atom)]
            sees = f"`{name}` is derived for the present point only, and this window looks for it at others"
            notes = (f"it is derived at {place(rule.span)}; what was derived a tick ago is gone unless derived again",)
            help_ = f"look into a window over input, or say when it is true: `at(T) {name} if [...] at(T) ...`"
            severity = Severity.WARNING if literal.mode == "always" else Severity.HINT
            yield Diagnostic("TW214", severity, sees, literal.span, notes, help_)


def _present(program: Program) -> dict[Signature, Clause]:
    """The predicates all of whose rules have a plain head and a body, each with its first rule."""
    first: dict[Signature, Clause] = {}
    elsewhere: set[Signature] = set()
    for statement in program.statements:
        if isinstance(statement, Clause) and named(statement.head):
            if statement.body and statement.at is None:
                first.setdefault(signature(statement.head), statement)
            else:
                elsewhere.add(signature(statement.head))
    return {key: rule for key, rule in first.items() if key not in elsewhere}
