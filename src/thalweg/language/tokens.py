"""Text to clauses of tokens, in one scan.

The scan finds clause ends itself, so that a broken clause never spoils the next. Simple terms, and compounds of
simple terms such as ``gap(Vessel)``, leave here complete: they are one token each. Everything that can be said
about a clause without its structure is checked here: characters, quotes, brackets, nesting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.operators import DECLARE, MAX_DEPTH, PREFIX, Mark
from thalweg.language.terms import Atom, Compound, Number, Span, Term, Variable

_ARGUMENT = r"[ \t]*+(?:[A-Z_a-z]\w*+|-?\d++(?:\.\d++)?+)[ \t]*+"
_UNIT = r"(?:ms|s|m|h|d|w)\b|[ ]?(?:msec|millisecond|sec|second|min|minute|hour|day|week)s?+\b(?=[ ]*+(?:[\],]|hop))"

_TOKEN = re.compile(
    rf"""[ \t\r\n\f\v]*+(?:
      (?P<flat>[a-z]\w*+\({_ARGUMENT}(?:,{_ARGUMENT})*+\))
    | (?P<functor>[^\W\d_A-Z]\w*+\()
    | (?P<name>[^\W\d_A-Z]\w*+)
    | (?P<variable>[A-Z_]\w*+)
    | (?P<comma>,)
    | (?P<close>[)\]}}])
    | (?P<open>[(\[{{])
    | (?P<duration>\d++(?:\.\d++)?(?:{_UNIT}))
    | (?P<char>0'(?:\\.|''|[^\\\n]))
    | (?P<based>0[xob][0-9a-fA-F]++)
    | (?P<number>\d++(?:_\d++)*+(?:\.\d++)?+(?:[eE][+-]?\d++)?+)
    | (?P<end>\.(?=[\s%]|\Z))
    | (?P<comment>%[^\n]*+|/\*(?s:.*?)\*/)
    | (?P<open_comment>/\*)
    | (?P<by>\#[ \t]*+by\b)
    | (?P<symbol>:-|-->|->|<->|<-(?![\d(])|<=>|=>|=:=|=\\=|=\.\.|==|=<|=@=|=|\\==|\\=|\\\+|\\/|\\|/\\|//|/|\*\*|\*
        |@=<|@>=|@<|@>|>=|>>|>|<=|<<|<>|<|!=|!|:=|:|\+|-|\^|\#|&&|&|\|\||\||;|≤|≥|≠|←|¬|∧|→)
    | (?P<quoted>'(?:[^'\\\n]|''|\\.|\\\n)*+'\(?+)
    | (?P<string>"(?:[^"\\\n]|""|\\.|\\\n)*+")
    | (?P<eof>\Z)
    | (?P<bad>.)
    )""",
    re.VERBOSE,
)
_FLAT_ARGUMENT = re.compile(r"[A-Z_a-z]\w*|-?\d+(?:\.\d+)?")

_KEYWORDS = frozenset(["event", "state", "fluent", "query", "tick", "program"])
_DIRECTIVES = frozenset(["dynamic", "discontiguous", "multifile", "table", "module_transparent"])
_KEYWORD_FOLLOWS = re.compile(r"[ \t\r\n]+(?!(?:if|is|in|at|always|sometime|over|mod)\b)[\w']")
_INFIX_WORDS = frozenset(["is", "mod", "rem", "div", "rdiv", "xor", "in", "at", "always", "sometime", "over", "hop"])
_WINDOW_WORDS = frozenset(["at", "always", "sometime", "over", "hop"])
_EVENT_WORDS = frozenset(
    "initiatedAt terminatedAt holdsAt holdsFor happensAt initially union_all intersect_all".split()
)
_STARTS = frozenset(["flat", "functor", "variable", "number", "duration", "open", "quoted", "string"])
_INFIX_SYMBOLS = frozenset(
    r":- -> =:= =\= =.. == =< = \== \= \/ /\ // / ** * @=< @>= @< @> >= >> > << < : ^ | ;".split()
)
_FOREIGN = {
    "<-": (":-", "write `:-` or `if` between head and body"),
    "←": (":-", "write `:-` or `if` between head and body"),
    "-->": (":-", "write `:-` or `if` between head and body"),
    ":=": (":-", "write `:-` between head and body, `=` between a fluent and its value, `is` for arithmetic"),
    "=>": (">=", "write `>=` to compare; a rule is written `head :- body`, head first"),
    "→": (":-", "a rule is written `head :- body`, head first"),
    "<=": ("=<", "write `=<`"),
    "≤": ("=<", "write `=<`"),
    "≥": (">=", "write `>=`"),
    "!=": ("\\=", "write `\\=`"),
    "<>": ("\\=", "write `\\=`"),
    "≠": ("\\=", "write `\\=`"),
    "=@=": ("==", "write `==`"),
    "<->": ("=", "write two rules"),
    "<=>": ("=", "write two rules"),
    "&&": (",", "write `,` between literals"),
    "&": (",", "write `,` between literals"),
    "∧": (",", "write `,` between literals"),
    "||": (";", "write `;` between alternatives, or two rules"),
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "e": "\x1b", "s": " "}
_SEQUENCES = r"\\x([0-9a-fA-F]{1,6})\\?|\\u([0-9a-fA-F]{4})|\\([0-7]{1,7})\\|\\(\n)|\\(.)"
_ESCAPE = {quote: re.compile(f"({quote}{quote})|{_SEQUENCES}") for quote in "'\""}
UNIT_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}
UNIT_SECONDS |= {"d": Fraction(86400), "w": Fraction(604800)}
_UNIT_WORDS = {"msec": "ms", "millisecond": "ms", "sec": "s", "second": "s", "min": "m", "minute": "m"}
_UNIT_WORDS |= {"hour": "h", "day": "d", "week": "w"}
_AMOUNT = re.compile(r"[\d.]+")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
INTEGER_LIMIT = 2**63


class Operand:
    """A complete simple term, as a token."""

    __slots__ = ("term",)
    type = "OPERAND"
    start_pos = line = column = end_line = end_column = end_pos = 0

    def __init__(self, term: Term) -> None:
        self.term = term

    @property
    def span(self) -> Span:
        return self.term.span


Token = Operand | Mark


@dataclass(slots=True)
class RawClause:
    """The tokens of one clause, its full stop, and whether something about it has been reported already."""

    tokens: list[Token] = field(default_factory=list)
    start: int = 0
    end: int = 0
    full_stop: Span | None = None
    broken: bool = False
    operators: int = 0
    deepest: int = 0


class Scanner:
    """One scan over one text. `clauses` yields them; `diagnostics` and `words` fill up meanwhile."""

    def __init__(self, text: str, source: str, tick: float | None) -> None:
        self.text = text
        self.source = source
        self.tick = tick
        self.diagnostics: list[Diagnostic] = []
        self.comments: list[tuple[int, int]] = []
        self.signals: dict[str, Span] = {}
        self._flat_parts: dict[str, tuple[str, list[tuple[str, int, int]]]] = {}
        self._line = 1
        self._line_start = 0

    # ------------------------------------------------------------------ places

    def span(self, start: int, end: int) -> Span:
        """The span of a token on the current line."""
        at = self._line_start - 1
        return Span(self.source, self._line, start - at, self._line, end - at)

    def _report(self, code: str, message: str, span: Span, suggestion: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(code, Severity.ERROR, message, span, suggestion=suggestion))

    def _break(self, clause: RawClause, code: str, message: str, span: Span, suggestion: str | None = None) -> None:
        if not clause.broken:
            self._report(code, message, span, suggestion)
        clause.broken = True

    # ------------------------------------------------------------------ the scan

    def clauses(self) -> Iterator[RawClause]:
        """Every clause of the text in order, broken ones included."""
        text, source = self.text, self.source
        line_starts = [m.end() for m in re.finditer("\n", text)]
        line_starts.append(len(text) + 2)
        following = iter(line_starts)
        next_line = next(following)
        line, line_start = 1, 0
        clause = RawClause()
        tokens = clause.tokens
        brackets: list[Mark] = []
        after = False  # does the token before end an operand?
        sign_end = -1  # where a sign that stands before its operand ends
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup
            start, end = match.span(kind)  # type: ignore[arg-type]
            while start >= next_line:
                line_start = next_line
                line += 1
                next_line = next(following)
            self._line, self._line_start = line, line_start
            span = Span(source, line, start - line_start + 1, line, end - line_start + 1)
            if not tokens and kind != "comment":
                clause.start = start
            if after and kind in _STARTS:
                self.signals.setdefault("lars", span)
            match kind:
                case "flat":
                    word = text[start:end]
                    if word.startswith("at("):
                        brackets.append(Mark("AT", "at", self.span(start, start + 3)))
                        tokens.append(brackets[-1])
                        inner = self._simple(word[3:-1], start + 3)
                        tokens.extend(inner)
                        tokens.append(Mark("CLOSE", ")", self.span(end - 1, end)))
                        brackets.pop()
                    else:
                        tokens.append(Operand(self._flat(word, start, span)))
                    after = True
                case "comma":
                    tokens.append(Mark("INFIX", ",", span))
                    after = False
                case "variable":
                    if text.startswith("(", end):
                        word = text[start:end]
                        self._break(
                            clause, "TW009", f"`{word}` begins with a capital, so it is a variable and has no arguments",
                            span, f"write `{word[0].lower() + word[1:]}(` or `'{word}'(`",
                        )
                    tokens.append(Operand(Variable(text[start:end], span)))
                    after = True
                case "functor":
                    word = text[start : end - 1]
                    if word in _EVENT_WORDS:
                        self.signals.setdefault("events", span)
                    brackets.append(Mark("AT" if word == "at" else "FUNCTOR", word, span))
                    tokens.append(brackets[-1])
                    after = False
                case "close":
                    self._close(clause, brackets, text[start], span)
                    after = True
                case "name":
                    after = self._word(clause, text[start:end], span, after, end)
                case "symbol":
                    if text[start:end] in "+-" and not after:
                        sign_end = end
                    after = self._symbol(clause, text[start:end], span, after)
                case "end":
                    self._finish(clause, brackets, span)
                    clause.end = end
                    yield clause
                    clause = RawClause()
                    tokens = clause.tokens
                    brackets.clear()
                    after = False
                case "number" | "based" | "char" | "duration":
                    negative = sign_end == start and kind != "duration" and tokens[-1].value == "-"  # type: ignore[union-attr]
                    if negative:
                        span = Span(source, line, span.column - 1, line, span.end_column)
                        tokens.pop()
                        clause.operators -= 1
                    tokens.append(Operand(self._number(clause, kind, text[start:end], span, negative)))
                    after = True
                case "open":
                    bracket = text[start]
                    brackets.append(Mark({"(": "LPAR", "[": "LBRACK", "{": "LBRACE"}[bracket], bracket, span))
                    tokens.append(brackets[-1])
                    after = False
                case "comment":
                    self.comments.append((start, end))
                case "quoted":
                    after = self._quoted(clause, brackets, text[start:end], span)
                case "string":
                    tokens.append(Operand(Atom(_unescape(text[start + 1 : end - 1], '"'), span)))
                    after = True
                case "by":
                    tokens.append(Mark("INFIX", "# by", span))
                    after = False
                case "open_comment":
                    self._report("TW004", "this comment is never closed", span, "close it with `*/`")
                    break
                case "eof":
                    break
                case _:
                    self._bad(clause, text[start], span)
            if len(brackets) > clause.deepest:
                clause.deepest = len(brackets)
        if tokens:
            last = tokens[-1].span
            clause.end = len(text)
            if not clause.broken:
                here = Span(source, last.end_line, last.end_column, last.end_line, last.end_column + 1)
                self._report("TW003", "the last clause has no full stop", here, "end the clause with `.`")
            self._finish(clause, brackets, None)
            yield clause

    def _finish(self, clause: RawClause, brackets: list[Mark], full_stop: Span | None) -> None:
        clause.full_stop = full_stop
        if clause.deepest > MAX_DEPTH:
            place = next((t.span for t in clause.tokens), None) or full_stop
            assert place is not None
            self._break(clause, "TW006", f"nested {clause.deepest} deep, more than {MAX_DEPTH}", place)
        elif brackets:
            opened = brackets[-1]
            shown = opened.value if opened.value in _PAIRS else f"{opened.value}("
            self._break(
                clause, "TW005", f"`{shown}` is never closed", opened.span,
                f"close it with `{_PAIRS.get(opened.value, ')')}` before the full stop",
            )

    # ------------------------------------------------------------------ tokens

    def _flat(self, word: str, start: int, span: Span) -> Compound:
        parts = self._flat_parts.get(word)
        if parts is None:
            opening = word.index("(")
            found = _FLAT_ARGUMENT.finditer(word, opening + 1)
            parts = word[:opening], [(m.group(), m.start(), m.end()) for m in found]
            self._flat_parts[word] = parts
        name, arguments = parts
        source, line = span.source, span.line
        column = span.column
        terms: list[Term] = []
        for text, first, last in arguments:
            place = Span(source, line, column + first, line, column + last)
            initial = text[0]
            if initial.isupper() or initial == "_":
                terms.append(Variable(text, place))
            elif initial.isalpha():
                terms.append(Atom(text, place))
            else:
                terms.append(self._plain_number(text, place))
        return Compound(name, tuple(terms), span)

    def _simple(self, text: str, start: int) -> list[Token]:
        """The tokens of a flat argument list, for the few names that are not ordinary functors."""
        tokens: list[Token] = []
        for m in _FLAT_ARGUMENT.finditer(text):
            span = self.span(start + m.start(), start + m.end())
            if tokens:
                tokens.append(Mark("INFIX", ",", span))
            word = m.group()
            if word[0].isupper() or word[0] == "_":
                tokens.append(Operand(Variable(word, span)))
            elif word[0].isalpha():
                tokens.append(Operand(Atom(word, span)))
            else:
                tokens.append(Operand(self._plain_number(word, span)))
        return tokens

    def _plain_number(self, text: str, span: Span) -> Number:
        if "." in text:
            return Number(self._finite(float(text), span), span)
        return Number(self._bounded(text, 10, span), span)

    def _bounded(self, digits: str, base: int, span: Span) -> int:
        """Integers of 64 bits; the length is looked at first, since reading digits is quadratic."""
        if len(digits) <= 70:
            value = int(digits, base)
            if -INTEGER_LIMIT <= value < INTEGER_LIMIT:
                return value
        self._report("TW010", "an integer that does not fit in 64 bits", span)
        return 0

    def _finite(self, value: float, span: Span) -> float:
        if value in (float("inf"), float("-inf")):
            self._report("TW010", "a float that is not finite", span)
            return 0.0
        return value

    def _number(self, clause: RawClause, kind: str, text: str, span: Span, negative: bool) -> Number:
        sign = "-" if negative else ""
        if kind == "duration":
            return self._duration(clause, text, span)
        if kind == "char":
            char = _unescape(text[2:], "'")
            return Number((-1 if negative else 1) * ord(char[0]) if char else 0, span)
        if kind == "based":
            base = {"x": 16, "o": 8, "b": 2}[text[1]]
            try:
                return Number(self._bounded(sign + text[2:], base, span), span)
            except ValueError:
                self._break(clause, "TW001", f"`{text}` is not a number in base {base}", span)
                return Number(0, span)
        digits = text.replace("_", "")
        if "." in digits or "e" in digits or "E" in digits:
            return Number(self._finite(float(sign + digits), span), span)
        return Number(self._bounded(sign + digits, 10, span), span)

    def _duration(self, clause: RawClause, text: str, span: Span) -> Number:
        amount = _AMOUNT.match(text)
        assert amount is not None
        unit = text[amount.end() :].strip()
        unit = unit if unit in UNIT_SECONDS else _UNIT_WORDS[unit.removesuffix("s")]
        written = amount.group() + unit
        if len(written) > 30:
            self._report("TW010", "a duration that does not fit in 64 bits", span)
            return Number(0, span, written)
        seconds = Fraction(amount.group()) * UNIT_SECONDS[unit]
        if len(clause.tokens) == 1 and isinstance(clause.tokens[0], Mark) and clause.tokens[0].value == DECLARE + "tick":
            return Number(float(seconds), span, written)
        if self.tick is None:
            self._report(
                "TW011", f"`{written}` needs to know how long a time-point lasts", span, "declare it: `tick 1s.`"
            )
            return Number(0, span, written)
        ticks = seconds / Fraction(repr(self.tick))
        if ticks.denominator != 1 or ticks >= INTEGER_LIMIT:
            self._report("TW011", f"`{written}` is not a whole number of ticks of {self.tick:g}s", span)
            return Number(0, span, written)
        return Number(int(ticks), span, written)

    def _close(self, clause: RawClause, brackets: list[Mark], bracket: str, span: Span) -> None:
        clause.tokens.append(Mark("CLOSE", bracket, span))
        if not brackets:
            self._break(clause, "TW005", f"`{bracket}` closes nothing", span, "remove it, or open a bracket before it")
            return
        opened = brackets.pop()
        expected = _PAIRS.get(opened.value, ")")
        if bracket != expected:
            self._break(
                clause, "TW005",
                f"`{bracket}` closes the `{opened.value}` of line {opened.span.line}, column {opened.span.column}",
                span, f"write `{expected}`",
            )

    def _word(self, clause: RawClause, word: str, span: Span, after: bool, end: int) -> bool:
        """An unquoted name; some are operators where an operator can stand. True when it ends an operand."""
        tokens = clause.tokens
        if after:
            if word == "if":
                tokens.append(Mark("INFIX", ":-", span))
                return False
            if word in _INFIX_WORDS:
                clause.operators += 1
                if word in _WINDOW_WORDS:
                    self.signals.setdefault("lars", span)
                tokens.append(Mark("INFIX", word, span))
                return False
        elif word == "not":
            clause.operators += 1
            tokens.append(Mark("PREFIX", "\\+", span))
            return False
        elif not tokens and word in _KEYWORDS and _KEYWORD_FOLLOWS.match(self.text, end):
            if word == "query":
                self.signals.setdefault("answers", span)
            tokens.append(Mark("PREFIX", DECLARE + word, span))
            return False
        elif word in _DIRECTIVES and len(tokens) == 1 and isinstance(tokens[0], Mark) and tokens[0].value == ":-":
            tokens.append(Mark("PREFIX", word, span))
            return False
        tokens.append(Operand(Atom(word, span)))
        return True

    def _symbol(self, clause: RawClause, symbol: str, span: Span, after: bool) -> bool:
        tokens = clause.tokens
        if symbol in _FOREIGN and after:
            symbol, advice = _FOREIGN[symbol]
            if symbol == ">=" and not any(isinstance(t, Mark) and t.value == ":-" for t in tokens):
                symbol = ":-"
            written = self.text[self._line_start + span.column - 1 : self._line_start + span.end_column - 1]
            self._report("TW008", f"`{written}` is not an operator of this language", span, advice)
        if symbol == "!":
            tokens.append(Operand(Atom("!", span)))
            return True
        if symbol in ("+", "-"):
            clause.operators += 1
            tokens.append(Mark("SIGN", symbol, span))
            return False
        if symbol == "#" and after:
            clause.operators += 1
            last = tokens.pop()
            if isinstance(last, Operand):
                marked = Span(last.span.source, last.span.line, last.span.column, span.end_line, span.end_column)
                tokens.append(Operand(Compound("#", (last.term,), marked)))
                return True
            tokens.append(last)
        if symbol in _INFIX_SYMBOLS and (after or symbol not in PREFIX):
            clause.operators += 1
            tokens.append(Mark("INFIX", symbol, span))
            return False
        if symbol == "¬":
            self._report("TW008", "`¬` is not an operator of this language", span, "write `not` or `\\+`")
            symbol = "\\+"
        if symbol in PREFIX:
            clause.operators += 1
            tokens.append(Mark("PREFIX", symbol, span))
            return False
        self._break(clause, "TW001", f"`{symbol}` cannot stand here", span)
        return False

    def _quoted(self, clause: RawClause, brackets: list[Mark], text: str, span: Span) -> bool:
        is_functor = text.endswith("(")
        name = _unescape(text[1 : -2 if is_functor else -1], "'")
        if DECLARE in name:
            self._break(clause, "TW001", f"a name cannot contain U+{ord(DECLARE):04X}", span)
        if is_functor:
            brackets.append(Mark("FUNCTOR", name, span))
            clause.tokens.append(brackets[-1])
            return False
        clause.tokens.append(Operand(Atom(name, span)))
        return True

    def _bad(self, clause: RawClause, char: str, span: Span) -> None:
        if char in "'\"":
            self._break(clause, "TW004", "this quote is never closed on its line", span, f"close it with `{char}`")
        elif char == ".":
            self._break(
                clause, "TW001", "a full stop that is not followed by white space", span,
                "put a space or a new line after the full stop",
            )
        else:
            shown = f"`{char}`" if char.isprintable() else f"U+{ord(char):04X}"
            self._break(clause, "TW001", f"unexpected character {shown}", span)


def _unescape(text: str, quote: str) -> str:
    if "\\" not in text and quote * 2 not in text:
        return text
    return _ESCAPE[quote].sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    doubled, hexadecimal, four, octal, newline, char = match.groups()
    if doubled is not None:
        return doubled[0]
    if newline is not None:
        return ""
    if char is not None:
        return _ESCAPES.get(char, char)
    code = int(octal, 8) if octal else int(hexadecimal or four, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\N{REPLACEMENT CHARACTER}"
