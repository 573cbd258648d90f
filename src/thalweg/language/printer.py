"""Program to canonical text that parses to an equal program.

One literal per line, negation as ``not``, operators with the fewest brackets, names quoted only where needed.
Durations keep the unit they were written with when the program declares its tick.
"""

from __future__ import annotations

import html
import re
from fractions import Fraction
from typing import assert_never

from thalweg.language.constants import UNIT_SECONDS
from thalweg.language.foreign import LIGATURE
from thalweg.language.operators import (
    CONNECTIVES,
    DECLARE,
    INFIX,
    PREFIX,
    RESERVED_WORDS,
    shown,
)
from thalweg.language.program import Program
from thalweg.language.rules import (
    Absent,
    Affects,
    Aggregate,
    Allen,
    Body,
    Boundary,
    Call,
    Clause,
    Combine,
    Compare,
    Declare,
    Delayed,
    Duration,
    DynamicDomain,
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

_PLAIN = re.compile(r"[^\W\d_A-Z]\w*")
_SYMBOLS = frozenset("+-*/\\^<>=~:.?@#&$!|;")
_SPACED = frozenset(
    ["is", "mod", "rem", "div", "rdiv", "xor", "<", ">", "=<", ">=", "=:=", "=\\=", "==", "\\==", "\\="]
)
_SPACED |= {"@<", "@>", "@=<", "@>=", "=..", "<<", ">>", "/\\", "\\/", *(op for op in INFIX if op.startswith(DECLARE))}
_DURATIONS = {">": "intDurGreater", "<": "intDurLess", ">=": "intDurAtLeast", "=<": "intDurAtMost"}
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
INDENT = "    "


def to_text(program: Program) -> str:
    """The canonical text of a program."""
    printer = Printer(program.tick_seconds)
    lines = [f"program {program.kind}."] if _needs_header(program) else []
    lines += [printer.statement(statement) for statement in program.statements]
    return "\n".join(lines) + "\n" if lines else ""


def to_html(program: Program) -> str:
    """The canonical text for notebooks."""
    return f"<pre>{html.escape(to_text(program))}</pre>"


def _needs_header(program: Program) -> bool:
    """Event descriptions are recognised by their predicates; the others say what they are."""
    if program.kind is not Kind.EVENTS:
        return True
    shows = (EffectRule, EventRule, IntervalRule, Initially)
    if any(isinstance(statement, shows) for statement in program.statements):
        return False
    return any(isinstance(statement, Clause) and statement.body for statement in program.statements)


# --------------------------------------------------------------------------- terms


def atom_text(name: str) -> str:
    """A name, quoted where it has to be.

    >>> atom_text("nearPorts"), atom_text("North Sea"), atom_text("don't")
    ('nearPorts', "'North Sea'", "'don\\\\'t'")
    """
    if _PLAIN.fullmatch(name) and name not in RESERVED_WORDS and not LIGATURE.search(name):
        return name
    return "'" + "".join(map(_quoted_character, name)) + "'"


def _quoted_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\x{ord(character):x}\\"


def number_text(value: int | float) -> str:
    """A number that reads back as the same number of the same type."""
    return repr(value)


class Printer:
    """Prints terms, literals and statements; `tick` is the program's, if it has one."""

    def __init__(self, tick: float | None = None) -> None:
        self.tick = tick

    def term(self, term: Term, allowed: int = 999) -> str:
        """A term, in brackets where its operator binds looser than allowed."""
        match term:
            case Atom(name):
                return atom_text(name)
            case Variable(name):
                return name
            case Number(value):
                return term.written if term.written and self.tick is not None else number_text(value)
            case Sequence(items, rest):
                inside = ", ".join([self.term(item) for item in items])
                return f"[{inside}|{self.term(rest)}]" if rest is not None else f"[{inside}]"
            case Compound(functor, args):
                return self._compound(functor, args, allowed)
            case _:
                assert_never(term)

    def _compound(self, functor: str, args: tuple[Term, ...], allowed: int) -> str:
        if functor in CONNECTIVES and len(args) > 1:
            return f"({self._connected(functor, args)})"
        if functor == "{}":
            return "{" + ", ".join([self.term(a) for a in args]) + "}"
        if len(args) == 2 and functor in INFIX:
            text, priority = self._infix(functor, args[0], args[1]), INFIX[functor].priority
        elif len(args) == 1 and functor in ("-", "+", "\\", "\\+"):
            text, priority = self._prefix(functor, args[0]), PREFIX[functor].priority
        else:
            return f"{atom_text(functor)}({', '.join([self.term(a) for a in args])})"
        return f"({text})" if priority > allowed else text

    def _infix(self, functor: str, left: Term, right: Term) -> str:
        operator = INFIX[functor]
        first, second = self.term(left, operator.left), self.term(right, operator.right)
        if functor in _SPACED:
            return f"{first} {shown(functor)} {second}"
        return f"{first}{functor}{' ' if second[0] in _SYMBOLS else ''}{second}"

    def _prefix(self, functor: str, operand: Term) -> str:
        text = self.term(operand, PREFIX[functor].right)
        tight = functor != "\\+" and (text[0].isalpha() or text[0] in "_(['{")
        return f"{functor}{text}" if tight else f"{functor} {text}"

    def _connected(self, functor: str, args: tuple[Term, ...]) -> str:
        separator = ", " if functor == "," else f" {functor} "
        return separator.join([self.term(argument, CONNECTIVES[functor] - 1) for argument in args])

    def clause(self, term: Term) -> str:
        """A clause as it was written, without its full stop."""
        if isinstance(term, Compound) and term.functor == ":-":
            parts = [self._conjunction(part) for part in term.args]
            return f":- {parts[0]}" if len(parts) == 1 else f"{parts[0]} :- {parts[1]}"
        if isinstance(term, Compound) and term.functor.startswith(DECLARE) and len(term.args) == 1:
            return f"{term.functor.removeprefix(DECLARE)} {self._conjunction(term.args[0])}"
        return self.term(term, 1200)

    def _conjunction(self, term: Term) -> str:
        if isinstance(term, Compound) and term.functor == "," and len(term.args) > 1:
            return self._connected(",", term.args)
        if (
            isinstance(term, Compound)
            and len(term.args) == 1
            and PREFIX.get(term.functor, PREFIX["-"]).priority > 1000
        ):
            return f"{term.functor} {self._conjunction(term.args[0])}"
        return self.term(term)

    # ------------------------------------------------------------------ literals

    def pair(self, pair: Pair) -> str:
        return self._infix("=", pair.fluent, pair.value)

    def body(self, body: Body, separator: str = ", ") -> str:
        return separator.join([self.literal(literal) for literal in body])

    def literal(self, literal: Literal) -> str:
        """A body literal."""
        text = self._positive(literal)
        return f"not {text}" if getattr(literal, "negated", False) else text

    def _positive(self, literal: Literal) -> str:
        term = self.term
        match literal:
            case Happens(event, time):
                return f"happensAt({term(event)}, {term(time)})"
            case Boundary(edge, pair, time):
                return f"happensAt({edge}({self.pair(pair)}), {term(time)})"
            case Holds(pair, time):
                return f"holdsAt({self.pair(pair)}, {term(time)})"
            case Affects(effect, pair, time):
                return f"{effect}({self.pair(pair)}, {term(time)})"
            case Call(goal):
                return term(goal)
            case Compare(op, left, right):
                return f"{term(left, 699)} {op} {term(right, 699)}"
            case FindAll(template, body, result):
                return f"findall({term(template)}, {self._grouped(body)}, {term(result)})"
            case Either(alternatives):
                return f"({' ; '.join([self.body(part) for part in alternatives])})"
            case Absent(body):
                return f"not {self._grouped(body, single=False)}"
            case HoldsFor(pair, intervals):
                return f"holdsFor({self.pair(pair)}, {term(intervals)})"
            case Combine(op, inputs, result, base):
                first = f"{term(base)}, " if base is not None else ""
                return f"{op}({first}[{', '.join([term(i) for i in inputs])}], {term(result)})"
            case Allen(relation, left, right, mode, result):
                return f"allen({relation}, {term(left)}, {term(right)}, {mode}, {term(result)})"
            case Duration(op, intervals, bound, result):
                return f"{_DURATIONS[op]}({term(intervals)}, {term(bound)}, {term(result)})"
            case Windowed():
                return self._windowed(literal)
            case Aggregate(function, template, atom, window, result):
                over = f"over {self.window(window)} {term(atom)}"
                return f"{term(result, 699)} = {function}({term(template)}) {over}"
            case _:
                assert_never(literal)

    def _grouped(self, body: Body, single: bool = True) -> str:
        """A conjunction as one argument; a disjunction has brackets already."""
        text = self.body(body)
        alone = len(body) == 1 and (single or isinstance(body[0], Either))
        return text if alone else f"({text})"

    def _windowed(self, literal: Windowed) -> str:
        parts = [self.window(literal.window)] if literal.window is not None else []
        if literal.mode == "at":
            assert literal.time is not None
            parts.append(f"at({self.term(literal.time)})")
        else:
            parts.append(literal.mode)
        return " ".join([*parts, self.term(literal.atom)])

    def window(self, window: Window) -> str:
        """A window, with units where the program has a tick."""
        if window.kind == "partition":
            return f"[{window.past} # by {', '.join([self.term(t) for t in window.by])}]"
        if window.kind == "tuple":
            sizes = [f"{window.past} #"] if window.past or not window.future else []
            return f"[{', '.join([*sizes, *([f'+{window.future} #'] if window.future else [])])}]"
        sizes = [self._ticks(window.past)] if window.past or not window.future else []
        sizes += [f"+{self._ticks(window.future)}"] if window.future else []
        hop = f" hop {self._ticks(window.hop)}" if window.hop != 1 else ""
        return f"[{', '.join(sizes)}{hop}]"

    def _ticks(self, ticks: int) -> str:
        if self.tick is None or ticks == 0:
            return str(ticks)
        return duration_text(ticks * Fraction(repr(self.tick)))

    # ------------------------------------------------------------------ statements

    def statement(self, statement: Statement) -> str:
        """A statement with its full stop."""
        term = self.term
        match statement:
            case EffectRule(effect, pair, time, body):
                return self._rule(f"{effect}({self.pair(pair)}, {term(time)})", body)
            case EventRule(event, time, body):
                return self._rule(f"happensAt({term(event)}, {term(time)})", body)
            case IntervalRule(pair, intervals, body):
                return self._rule(f"holdsFor({self.pair(pair)}, {term(intervals)})", body)
            case Initially(pair, body):
                return self._rule(f"initially({self.pair(pair)})", body)
            case Delayed(source, target, delay, body):
                if target is None:
                    return self._rule(f"ft({self.pair(source)}, {term(delay)})", body)
                return self._rule(f"fi({self.pair(source)}, {self.pair(target)}, {term(delay)})", body)
            case Postponable(pair, body):
                return self._rule(f"p({self.pair(pair)})", body)
            case Clause(head, body, at):
                where = f"at({term(at)}) " if at is not None else ""
                return self._rule(where + term(head), body)
            case Query(goal):
                return f"query {term(goal)}."
            case Declare():
                return self._declaration(statement)
            case Grounding(entity, body):
                return self._rule(f"grounding({term(entity)})", body)
            case DynamicDomain(predicate):
                return f"dynamicDomain({term(predicate)})."
            case Tick(seconds):
                return f"tick {duration_text(Fraction(repr(seconds)))}."
            case Ignored(ignored, directive):
                return f":- {self._conjunction(ignored)}." if directive else f"{self.clause(ignored)}."
            case _:
                assert_never(statement)

    def _rule(self, head: str, body: Body) -> str:
        if not body:
            return f"{head}."
        return f"{head} :-\n{INDENT}{self.body(body, f',{chr(10)}{INDENT}')}."

    def _declaration(self, declare: Declare) -> str:
        arguments = ", ".join(
            [_argument_text(a.name) + (f": {a.type}" if a.type else "") for a in declare.arguments]
        )
        entity = atom_text(declare.name) + (f"({arguments})" if arguments else "")
        values = ", ".join([self.term(value) for value in declare.values])
        if (
            declare.role is Role.POINTS
            and len(declare.values) < 2
            and not any(a.type for a in declare.arguments)
        ):
            return f"points({entity}={values or '_'})."
        return f"{declare.role} {entity}" + (f" in {{{values}}}." if values else ".")


def _argument_text(name: str) -> str:
    return name if re.fullmatch(r"[A-Z_]\w*", name) else atom_text(name)


def duration_text(seconds: Fraction) -> str:
    """A duration in the largest unit that makes it a whole number; in decimal seconds otherwise.

    >>> duration_text(Fraction(180)), duration_text(Fraction(1, 10))
    ('3m', '100ms')
    """
    for unit, length in sorted(UNIT_SECONDS.items(), key=lambda item: -item[1]):
        if (seconds / length).denominator == 1:
            return f"{seconds / length}{unit}"
    return f"{float(seconds)!r}s"
