"""Text to clauses of tokens, in one scan.

The scan finds clause ends itself, so that a broken clause never spoils the next. Simple terms, and compounds
of simple terms such as ``gap(Vessel)``, leave here complete: they are one token each. Everything that can be
said about a clause without its structure is checked here: characters, quotes, brackets, nesting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from thalweg.language.constants import duration, number, seconds, unescape
from thalweg.language.diagnostics import Diagnostic, Refused, Severity
from thalweg.language.foreign import FOREIGN, LIGATURE, LIGATURES, PRINTED
from thalweg.language.operators import BETWEEN, BY, DECLARE, DIRECTIVE_WORDS, MAX_DEPTH, PREFIX, Mark
from thalweg.language.terms import Atom, Compound, Number, Span, Term, Variable

_SIMPLE = r"[ \t]*+(?:[A-Z_a-z]\w*+|-?[0-9]++(?:\.[0-9]++)?+)[ \t]*+"
_FLAT = rf"[ \t]*+[a-z]\w*+\({_SIMPLE}(?:,{_SIMPLE})*+\)[ \t]*+"
_ARGUMENT = rf"(?:{_FLAT}|{_SIMPLE})(?:=(?![=<@\\:.>]){_SIMPLE})?+"
_SHORT_UNIT = r"(?:ms|s|m|h|d|w)\b"
_LONG_UNIT = (
    r"[ ]?(?:(?:msec|millisecond|sec|second|min|minute|hour|day|week)s?+|ms|s|m|h|d|w)\b"
    r"(?=[ ]*+(?:[\],)]|hop))"
)
_ESCAPED = r"\\x[0-9a-fA-F]++\\?+|\\[0-7]++\\|\\.|\\\n"
_TOKEN = re.compile(
    rf"""[ \t\r\n\f\v]*+(?:
      (?P<flat>(?!at\()[a-z]\w*+\({_ARGUMENT}(?:,{_ARGUMENT})*+\))
    | (?P<functor>[^\W\d_A-Z]\w*+\()
    | (?P<name>[^\W\d_A-Z]\w*+)
    | (?P<variable>[A-Z_]\w*+)
    | (?P<comma>,)
    | (?P<close>[)\]}}])
    | (?P<open>[(\[{{])
    | (?P<duration>[0-9]++(?:\.[0-9]++)?(?:{_SHORT_UNIT}|{_LONG_UNIT}))
    | (?P<number>0'(?:\\.|''|[^\\\n'])|0x[0-9a-fA-F]++|0o[0-7]++|0b[01]++
        |[0-9]++(?:_[0-9]++)*+(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)
    | (?P<end>\.(?=[\s%]|\Z))
    | (?P<dot>\.)
    | (?P<comment>%[^\n]*+|/\*(?s:.*?)\*/)
    | (?P<open_comment>/\*)
    | (?P<by>\#[ \t]*+by\b)
    | (?P<symbol>:-|-->|->|<->|<-(?![0-9(])|<=>|=>|=:=|=\\=|=\.\.|==|=<|=@=|=|\\==|\\=|\\\+|\\/|\\|/\\|//|/
        |\*\*|\*|@=<|@>=|@<|@>|>=|>>|>|<=|<<|<>|<|!=|!|:=|:|\+|-|\^|\#|&&|&|\|\||\||;|≤|≥|≠|←|¬|∧|→)
    | (?P<quoted>'(?:[^'\\\n]|''|{_ESCAPED})*+'\(?+)
    | (?P<string>"(?:[^"\\\n]|""|{_ESCAPED})*+")
    | (?P<eof>\Z)
    | (?P<bad>.)
    )""",
    re.VERBOSE,
)
_PART = re.compile(r"([a-z]\w*+)\(|([A-Z_a-z]\w*+)|(-?[0-9]++(?:\.[0-9]++)?+)|([=)])")

_KEYWORDS = frozenset("event state fluent points query tick program".split())
_KEYWORD_FOLLOWS = re.compile(r"[ \t\r\n]+(?!(?:if|is|in|at|always|sometime|over|mod)\b(?!\())[\w']")
_INFIX_WORDS = {
    **{word: word for word in ("is", "mod", "rem", "div", "rdiv", "xor")},
    **{word: DECLARE + word for word in BETWEEN},
}
"""Words that stand between terms, and the functors that they make."""
_EVENT_WORDS = frozenset("initiatedAt terminatedAt holdsAt holdsFor happensAt initially".split())
_STARTS = frozenset("flat functor variable number duration open quoted string".split())
_INFIX_SYMBOLS = frozenset(
    r":- -> =:= =\= =.. == =< = \== \= \/ /\ // / ** * @=< @>= @< @> >= >> > << < : ^ | ; ,".split()
)
_WORD = re.compile(r"\w")
FLAT_DEPTH = 4
"""How deep a term can be that leaves here as one token."""
_OPENING = {"(": "LPAR", "[": "LBRACK", "{": "LBRACE"}
_CLOSING = {"LPAR": ")", "LBRACK": "]", "LBRACE": "}"}


class Operand:
    """A complete simple term, as a token."""

    __slots__ = ("term",)
    type = "OPERAND"
    value = ""
    # the parser borrows a position from the last token for its own end marker
    start_pos = line = column = end_line = end_column = end_pos = 0

    def __init__(self, term: Term) -> None:
        self.term = term

    @property
    def span(self) -> Span:
        return self.term.span


Token = Operand | Mark


@dataclass(slots=True)
class RawClause:
    """The tokens of one clause. `broken`: something has been reported that makes it useless to parse it."""

    tokens: list[Token] = field(default_factory=list)
    start: int = 0
    end: int = 0
    full_stop: Span | None = None
    broken: bool = False
    operators: int = 0
    deepest: int = 0
    brackets: list[Mark] = field(default_factory=list)
    sign_end: int = -1
    """Where a sign that stands before its operand ends."""
    window: Span | None = None
    """Where the clause shows that it is one of LARS, if its syntax is right."""
    worded: bool = False
    """Does a word of windows and declarations stand between terms?"""

    def open(self, bracket: Mark) -> None:
        self.tokens.append(bracket)
        self.brackets.append(bracket)
        self.deepest = max(self.deepest, len(self.brackets))


class Scanner:
    """One scan over one text. `clauses` yields them; the diagnostics, comments and signals fill up meanwhile.

    `signals` says where each kind of program first shows."""

    def __init__(self, text: str, source: str, tick: float | None) -> None:
        self.text = text
        self.source = source
        self.tick = tick
        self.diagnostics: list[Diagnostic] = []
        self.comments: list[tuple[int, int]] = []
        self.signals: dict[str, Span] = {}

    def clauses(self) -> Iterator[RawClause]:
        """Every clause of the text in order, broken ones included."""
        text, source = self.text, self.source
        line_starts = iter([m.end() for m in re.finditer("\n", text)] + [len(text) + 2])
        line, line_start, next_line = 1, 0, next(line_starts)
        clause = RawClause()
        append = clause.tokens.append
        after = False  # does the token before end an operand?
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup or ""
            start, end = match.span(kind)
            while start >= next_line:
                line_start = next_line
                line += 1
                next_line = next(line_starts)
            span = Span(source, line, start - line_start + 1, line, end - line_start + 1)
            if not clause.tokens:
                clause.start = start
            if after and kind in _STARTS:
                clause.window = clause.window or span
            if kind == "flat":
                self._spell(clause, text[start:end], span)
                append(Operand(self._flat(text[start:end], span)))
                after = True
            elif kind == "comma":
                append(Mark("INFIX", ",", span))
                after = False
            elif kind == "variable" and text[end : end + 1] != "(":
                self._spell(clause, text[start:end], span)
                append(Operand(Variable(text[start:end], span)))
                after = True
            elif kind in ("end", "dot"):
                if kind == "dot":
                    self._stray_full_stop(span)
                self._finish(clause, span)
                clause.end = end
                yield clause
                clause = RawClause()
                append = clause.tokens.append
                after = False
            elif kind == "eof":
                break
            elif kind == "comment":
                self.comments.append((start, end))
            elif kind == "open_comment":
                self._report("TW004", "this comment is never closed", span, "close it with `*/`")
                break
            else:
                after = _HANDLERS[kind](self, clause, text[start:end], span, after, end)
        if clause.tokens:
            self._end_of_text(clause)
            yield clause

    # ------------------------------------------------------------------ reports

    def _report(self, code: str, message: str, span: Span, suggestion: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(code, Severity.ERROR, message, span, suggestion=suggestion))

    def _break(
        self, clause: RawClause, code: str, message: str, span: Span, suggestion: str | None = None
    ) -> None:
        """Report the first thing that makes a clause useless to parse."""
        if not clause.broken:
            self._report(code, message, span, suggestion)
        clause.broken = True

    def _finish(self, clause: RawClause, full_stop: Span) -> None:
        clause.full_stop = full_stop
        if clause.deepest > MAX_DEPTH:
            message = f"nested {clause.deepest} deep, more than {MAX_DEPTH}"
            self._break(clause, "TW006", message, clause.tokens[0].span)
        elif clause.brackets:
            opened = clause.brackets[-1]
            shown = opened.value if opened.type in _CLOSING else f"{opened.value}("
            advice = f"close it with `{_CLOSING.get(opened.type, ')')}` before the full stop"
            self._break(clause, "TW005", f"`{shown}` is never closed", opened.span, advice)

    def _stray_full_stop(self, span: Span) -> None:
        message = "a full stop that is not followed by white space"
        self._report("TW001", message, span, "put a space or a new line after it")

    def _end_of_text(self, clause: RawClause) -> None:
        last = clause.tokens[-1].span
        clause.end = len(self.text)
        here = Span(self.source, last.end_line, last.end_column, last.end_line, last.end_column + 1)
        if not clause.broken:
            self._report("TW003", "the last clause has no full stop", here, "end the clause with `.`")
        self._finish(clause, here)

    # ------------------------------------------------------------------ tokens
    # Each handler takes the token's text and span, whether an operand ends before it, and where it ends in the
    # text; it returns whether an operand ends with it.

    def _flat(self, word: str, span: Span) -> Term:
        """A compound of simple terms, flat compounds and pairs of these, such as most literals are."""
        source, line, column, _, _ = span
        functors: list[tuple[str, int]] = []
        arguments: list[list[Term]] = [[]]
        left: Term | None = None
        for match in _PART.finditer(word):
            kind = match.lastindex
            first, last = match.span()
            if kind == 1:
                functors.append((match[1], first))
                arguments.append([])
            elif kind == 4:
                if match[4] == "=":
                    left = arguments[-1].pop()
                    continue
                name, first = functors.pop()
                self._see(name, span)
                place = Span(source, line, column + first, line, column + last)
                compound = Compound(name, tuple(arguments.pop()), place)
                arguments[-1].append(compound)
            else:
                place = Span(source, line, column + first, line, column + last)
                text = match[0]
                term: Term
                if kind == 3:
                    term = self._number_term(text, place)
                elif text[0].isupper() or text[0] == "_":
                    term = Variable(text, place)
                else:
                    term = Atom(text, place)
                if left is not None:
                    place = Span(source, line, left.span.column, line, column + last)
                    term = Compound("=", (left, term), place)
                    left = None
                arguments[-1].append(term)
        return arguments[0][0]

    def _see(self, name: str, span: Span) -> None:
        if name in _EVENT_WORDS and "events" not in self.signals:
            self.signals["events"] = span

    def _number_term(self, text: str, span: Span) -> Number:
        try:
            return number(text, span)
        except Refused as refused:
            self.diagnostics.append(refused.diagnostics[0])
            return Number(0, span)

    def _number(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        if clause.sign_end == end - len(text) and clause.tokens[-1].value == "-":
            clause.tokens.pop()
            text = "-" + text
            span = Span(span.source, span.line, span.column - 1, span.line, span.end_column)
        clause.tokens.append(Operand(self._number_term(text, span)))
        return True

    def _duration(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        declares_tick = len(clause.tokens) == 1 and clause.tokens[0].value == DECLARE + "tick"
        try:
            if declares_tick:
                length, written = seconds(text, span)
                value = Number(float(length), span, written)
            else:
                value = duration(text, self.tick, span)
        except Refused as refused:
            self.diagnostics.append(refused.diagnostics[0])
            value = Number(1, span)  # no zero: where a delay stands, that would be the next mistake
        clause.tokens.append(Operand(value))
        return True

    def _functor(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        name = text[:-1]
        self._spell(clause, name, span)
        self._see(name, span)
        clause.open(Mark("AT" if name == "at" else "FUNCTOR", name, span))
        return False

    def _capital(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        """A variable right before a bracket."""
        message = f"`{text}` begins with a capital, so it is a variable and has no arguments"
        self._break(clause, "TW009", message, span, f"write `{text[0].lower() + text[1:]}(` or `'{text}'(`")
        clause.tokens.append(Operand(Variable(text, span)))
        return True

    def _open(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        clause.open(Mark(_OPENING[text], text, span))
        return False

    def _close(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        clause.tokens.append(Mark("CLOSE", text, span))
        if not clause.brackets:
            advice = "remove it, or open a bracket before it"
            self._break(clause, "TW005", f"`{text}` closes nothing", span, advice)
            return True
        opened = clause.brackets.pop()
        expected = _CLOSING.get(opened.type, ")")
        if text != expected:
            place = f"line {opened.span.line}, column {opened.span.column}"
            message = f"`{text}` closes the bracket of {place}"
            self._break(clause, "TW005", message, span, f"write `{expected}`")
        return True

    def _word(self, clause: RawClause, word: str, span: Span, after: bool, end: int) -> bool:
        """An unquoted name; some are operators where an operator can stand."""
        mark = self._word_mark(clause, word, span, after, end)
        if mark is not None:
            clause.tokens.append(mark)
            clause.operators += 1
            return False
        self._spell(clause, word, span)
        clause.tokens.append(Operand(Atom(word, span)))
        return True

    def _spell(self, clause: RawClause, name: str, span: Span) -> None:
        """Report letters that are printed as one."""
        if not name.isascii() and (found := LIGATURE.search(name)):
            written = LIGATURE.sub(lambda match: LIGATURES[match[0]], name)
            message = f"`{found[0]}` is one character here, a ligature"
            self._break(clause, "TW001", message, span, f"write `{written}`")

    def _prime(self, clause: RawClause, span: Span, end: int) -> None:
        """Report a quote that stands right behind a name, as in the ``T'`` of papers."""
        name = re.findall(r"\w+\Z", self.text[:end])[0]
        self._break(clause, "TW001", "a name cannot have a prime", span, f"write `{name}1` for `{name}'`")

    def _word_mark(self, clause: RawClause, word: str, span: Span, after: bool, end: int) -> Mark | None:
        tokens = clause.tokens
        if after:
            if word == "if":
                return Mark("INFIX", ":-", span)
            clause.worded = clause.worded or word in BETWEEN
            if word not in _INFIX_WORDS or (word in BETWEEN and word != "in"):
                clause.window = clause.window or span
            if word in _INFIX_WORDS:
                return Mark("INFIX", _INFIX_WORDS[word], span)
        elif word == "not":
            return Mark("PREFIX", "\\+", span)
        elif not tokens and word in _KEYWORDS and _KEYWORD_FOLLOWS.match(self.text, end):
            if word == "query":
                self.signals.setdefault("answers", span)
            return Mark("PREFIX", DECLARE + word, span)
        elif word in DIRECTIVE_WORDS and len(tokens) == 1 and tokens[0].value == ":-":
            return Mark("PREFIX", word, span)
        return None

    def _symbol(self, clause: RawClause, symbol: str, span: Span, after: bool, end: int) -> bool:
        if symbol == "!":
            clause.tokens.append(Operand(Atom("!", span)))
            return True
        if symbol == "#" and after and isinstance(clause.tokens[-1], Operand):
            counted = clause.tokens.pop()
            assert isinstance(counted, Operand)
            whole = Span(span.source, counted.span.line, counted.span.column, span.end_line, span.end_column)
            clause.tokens.append(Operand(Compound("#", (counted.term,), whole)))
            clause.operators += 1
            return True
        symbol = self._native(clause, symbol, span, after)
        clause.operators += 1
        if symbol in ("+", "-"):
            clause.tokens.append(Mark("SIGN", symbol, span))
            clause.sign_end = -1 if after else end
        elif symbol in _INFIX_SYMBOLS and (symbol != ":-" or clause.tokens):
            clause.tokens.append(Mark("INFIX", symbol, span))
        elif symbol in PREFIX:
            clause.tokens.append(Mark("PREFIX", symbol, span))
        else:
            advice = "a comment begins with `%`" if symbol in ("#", "--") else None
            self._break(clause, "TW001", f"`{symbol}` cannot stand here", span, advice)
        return False

    def _native(self, clause: RawClause, symbol: str, span: Span, after: bool) -> str:
        """The operator that stands for one of another language, which is reported."""
        if symbol == "¬":
            self._report("TW008", "`¬` is not an operator of this language", span, "write `not` or `\\+`")
            return "\\+"
        if symbol not in FOREIGN or not after:
            return symbol
        meant, advice = FOREIGN[symbol]
        self._report("TW008", f"`{symbol}` is not an operator of this language", span, advice)
        if symbol == "=>" and not any(token.value == ":-" for token in clause.tokens):
            return ":-"
        return meant

    def _by(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        clause.tokens.append(Mark("INFIX", BY, span))
        clause.worded = True
        clause.operators += 1
        return False

    def _quoted(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        start = end - len(text)
        if _WORD.match(self.text, start - 1) and after:
            self._prime(clause, span, start)
        is_functor = text.endswith("(")
        name = unescape(text[1 : -2 if is_functor else -1], "'")
        if DECLARE in name:
            self._break(clause, "TW001", f"a name cannot contain U+{ord(DECLARE):04X}", span)
        if is_functor:
            clause.open(Mark("FUNCTOR", name, span))
            return False
        clause.tokens.append(Operand(Atom(name, span)))
        return True

    def _string(self, clause: RawClause, text: str, span: Span, after: bool, end: int) -> bool:
        clause.tokens.append(Operand(Atom(unescape(text[1:-1], '"'), span)))
        return True

    def _bad(self, clause: RawClause, char: str, span: Span, after: bool, end: int) -> bool:
        start = end - 1
        if char == "'" and after and _WORD.match(self.text, start - 1):
            self._prime(clause, span, start)
        elif char in "'\"":
            message = "this quote is never closed on its line"
            self._break(clause, "TW004", message, span, f"close it with `{char}`")
        else:
            shown = f"`{char}`" if char.isprintable() else f"U+{ord(char):04X}"
            self._break(clause, "TW001", f"unexpected character {shown}", span, PRINTED.get(char))
        return after


_HANDLERS = {
    "functor": Scanner._functor,
    "close": Scanner._close,
    "name": Scanner._word,
    "symbol": Scanner._symbol,
    "number": Scanner._number,
    "duration": Scanner._duration,
    "open": Scanner._open,
    "quoted": Scanner._quoted,
    "string": Scanner._string,
    "variable": Scanner._capital,
    "by": Scanner._by,
    "bad": Scanner._bad,
}
