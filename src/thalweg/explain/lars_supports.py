"""The supports of a label at one tick, as a tree.

What is in rests on one rule whose body is true, down to rows of the input, and never on itself; what is out, on a
literal that fails in every rule. Truth is that of the definition, on the answer stream of the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from thalweg.explain.history import Fact
from thalweg.explain.tree import Node, Part
from thalweg.explain.world import place
from thalweg.language.printer import Printer
from thalweg.language.rules import Aggregate, Call, Clause, Compare, Literal, Window, Windowed
from thalweg.language.terms import Number, Term, Variable, is_ground, signature
from thalweg.reference.lars_search import rules_of
from thalweg.reference.lars_streams import Stream, pick
from thalweg.reference.lars_terms import Bindings, evaluate, match_term, substitute, text
from thalweg.reference.lars_truth import given_names, head_of, in_order, instances, shared_names, solutions

if TYPE_CHECKING:
    from thalweg.explain.lars import Answered

SHOWN = 12
"""Occurrences of an `always` or an aggregate that are explained one by one."""
_VALUE = "the value"
"""The name of a variable that no program has."""
_MIRRORED = {"<": ">", ">": "<", "=<": ">=", ">=": "=<", "=": "=", "=:=": "=:=", "==": "==", "is": "is"}
Where = tuple[int, Term]
"""A ground atom at a point."""


@dataclass
class Tick:
    """Explains at one tick. What has been explained is not repeated."""

    known: Answered
    tick: int
    stream: Stream
    inputs: dict[Where, Fact]
    answers: dict[Where, tuple[int, int | None]]

    def __post_init__(self) -> None:
        self._done: dict[Where, Node] = {}

    @cached_property
    def _printer(self) -> Printer:
        return Printer(self.known.program.tick_seconds)

    # ------------------------------------------------------------------ why

    def holds(self, literal: Literal) -> bool:
        return next(solutions(literal, self.stream, self.tick, {}, frozenset()), None) is not None

    def why(self, literal: Call | Windowed) -> Node:
        """Why a literal that is true is true."""
        bound = next(solutions(literal, self.stream, self.tick, {}, frozenset()))
        return self._literal(literal, bound, frozenset(), frozenset()) or _unexplained(
            self._shown(literal, bound)
        )

    def _atom(self, where: Where, above: frozenset[Where]) -> Node | None:
        """Why an atom is there; None where it would rest on itself."""
        point, atom = where
        if where in self.inputs:
            place = self.known.given.place(self.inputs[where])
            return Node(Part.INPUT, f"{text(atom)} at {point}", time=point, place=place)
        if atom in self.stream.background:
            return Node(Part.BACKGROUND, f"{text(atom)} is a background fact")
        said = self._said(where)
        if where in self._done:
            return Node(Part.AGAIN, f"{said}, as above", time=self.tick)
        if where in above:
            return None
        for rule, bound in self._firing(where):
            children = self._body(rule, bound, above | {where})
            if children is not None:
                node = self._rule(Part.RULE, rule, children)
                self._done[where] = Node(Part.INTERVAL, said, (node,), self.tick)
                return self._done[where]
        return None

    def _firing(self, where: Where) -> Iterator[tuple[Clause, Bindings]]:
        """Rule instances that derive an atom at a point."""
        point, atom = where
        for rule in rules_of(self.known.program):
            if signature(rule.head) == signature(atom) and (rule.at is not None or point == self.tick):
                plain = match_term(rule.head, atom, {})
                for bound in instances(rule, self.stream, self.tick, plain or {}):
                    if head_of(rule, bound, self.stream.low) == (None if rule.at is None else point, atom):
                        yield rule, bound

    def _body(self, rule: Clause, bound: Bindings, above: frozenset[Where]) -> tuple[Node, ...] | None:
        nodes = []
        for literal in rule.body:
            node = self._literal(literal, bound, shared_names(rule, literal), above)
            if node is None:
                return None
            nodes.append(node)
        return tuple(nodes)

    def _literal(
        self, literal: Literal, bound: Bindings, shared: frozenset[str], above: frozenset[Where]
    ) -> Node | None:
        """Why a literal of a rule is true; None where it rests on what is being explained."""
        if _negated(literal):
            return Node(
                Part.NEGATION, f"not {self._shown(literal, bound)}: {self._absence(literal)}", time=self.tick
            )
        match literal:
            case Call(goal):
                return self._first(
                    [w for w in self._matching(self.stream, goal, bound) if w[0] == self.tick], above
                )
            case Windowed(atom, "always", Window() as window):
                return self._always(literal, window, atom, bound, above)
            case Windowed(window=window):
                return self._occurrence(literal, window, bound, above)
            case Aggregate(atom=atom, window=window):
                picked = pick(self.stream, window, self.tick, atom)
                outer = {name: value for name, value in bound.items() if name in shared}
                found = sorted(self._matching(picked, atom, outer), key=_order)
                shown = self._shown(literal, bound)
                said = shown if found else f"{shown}: {self._absence(literal)}"
                return self._collected(Part.COLLECTED, said, found, above)
            case _:
                return Node(Part.TEST, self._shown(literal, bound), time=self.tick)

    def _occurrence(
        self, literal: Windowed, window: Window | None, bound: Bindings, above: frozenset[Where]
    ) -> Node | None:
        """`sometime` and `at`: an occurrence in the window, and until when the window keeps it."""
        picked = self.stream if window is None else pick(self.stream, window, self.tick, literal.atom)
        found = self._matching(picked, literal.atom, bound)
        if literal.time is not None:
            found = [w for w in found if match_term(literal.time, Number(w[0]), bound) is not None]
        for where in found:
            node = self._atom(where, above)
            if node is not None and window is not None:
                shown = self._shown(literal, bound) + self._kept(window, where)
                return Node(Part.EXPRESSION, shown, (node,), self.tick)
            if node is not None:
                return node
        return None

    def _always(
        self, literal: Windowed, window: Window, pattern: Term, bound: Bindings, above: frozenset[Where]
    ) -> Node | None:
        """An atom that is there at every point of the window."""
        picked = pick(self.stream, window, self.tick, pattern)
        last = self.tick if picked.high is None else picked.high
        said = f"{self._shown(literal, bound)}: at every point from {picked.low} to {last}"
        for atom in dict.fromkeys(atom for _, atom in self._matching(picked, pattern, bound)):
            if atom in self.stream.background:
                return self._atom((self.tick, atom), above)
            found = [(point, atom) for point in range(picked.low, last + 1)]
            if all(picked.holds(*where) for where in found):
                node = self._collected(Part.EXPRESSION, said, found, above)
                if node is not None:
                    return node
        return None

    def _collected(self, part: Part, said: str, found: list[Where], above: frozenset[Where]) -> Node | None:
        nodes = [self._atom(where, above) for where in found[:SHOWN]]
        if any(node is None for node in nodes):
            return None
        more = [Node(part, f"and {len(found) - SHOWN:,} more")] if len(found) > SHOWN else []
        return Node(part, said, (*(n for n in nodes if n is not None), *more), self.tick)

    def _first(self, found: list[Where], above: frozenset[Where]) -> Node | None:
        return next((node for where in found if (node := self._atom(where, above)) is not None), None)

    def _matching(self, stream: Stream, pattern: Term, bound: Bindings) -> list[Where]:
        """Occurrences of a pattern in a stream, rows of the input first; background stands at the tick."""
        found = [
            w for w in stream.facts if stream.has_point(w[0]) and match_term(pattern, w[1], bound) is not None
        ]
        found += [(self.tick, a) for a in stream.background if match_term(pattern, a, bound) is not None]
        return sorted(found, key=lambda w: (w not in self.inputs, *_order(w)))

    # ------------------------------------------------------------------ why not

    def why_not(self, literal: Call | Windowed) -> Node:
        """Why a literal that is not true is not: for each rule that could derive it, the literal that fails."""
        said = (
            f"{self._shown(literal, {})} is not in the answer stream at {self.tick}: {self._absence(literal)}"
        )
        atom = literal.goal if isinstance(literal, Call) else literal.atom
        nodes = tuple(self._candidates(atom))
        return Node(Part.NEGATION, said, nodes, self.tick)

    def _candidates(self, atom: Term) -> Iterator[Node]:
        for rule in rules_of(self.known.program):
            plain = match_term(rule.head, substitute(atom, {}), {})
            if signature(rule.head) != signature(atom) or plain is None:
                continue
            plain = {name: value for name, value in plain.items() if is_ground(value)}
            held, failing, bound = self._furthest(rule, plain)
            nodes = [n for x in held if (n := self._literal(x, bound, shared_names(rule, x), frozenset()))]
            if failing is not None:
                nodes.append(self._failing(rule, failing, bound))
            yield self._rule(Part.CANDIDATE, rule, tuple(nodes))

    def _furthest(self, rule: Clause, plain: Bindings) -> tuple[list[Literal], Literal | None, Bindings]:
        """The most literals of a body, in order of evaluation, that are true together, and the one after them."""
        best: tuple[list[Literal], Literal | None, Bindings] = ([], None, plain)
        literals = in_order(rule)

        def go(i: int, bound: Bindings) -> None:
            nonlocal best
            if i >= len(best[0]) and (best[1] is None or i > len(best[0])):
                best = list(literals[:i]), literals[i] if i < len(literals) else None, bound
            if i == len(literals):
                return
            shared, given = shared_names(rule, literals[i]), given_names(rule.body)
            found = solutions(literals[i], self.stream, self.tick, bound, shared, given)
            if _negated(literals[i]):
                if next(found, None) is None:
                    go(i + 1, bound)
                return
            for more in found:
                go(i + 1, more)

        go(0, plain)
        return best

    def _failing(self, rule: Clause, literal: Literal, bound: Bindings) -> Node:
        shown = self._shown(literal, bound)
        if isinstance(literal, Aggregate):
            return self._other_values(rule, literal, bound)
        if isinstance(literal, Compare) and not literal.negated:
            return Node(Part.FAILS, f"{shown}: it is false{_lacking(rule, literal, bound)}", time=self.tick)
        if not _negated(literal):
            return Node(Part.FAILS, f"{shown}: {self._absence(literal)}", time=self.tick)
        node = self._literal(_positive(literal), bound, frozenset(), frozenset())
        return Node(Part.FAILS, f"not {shown}: it is true", () if node is None else (node,), self.tick)

    def _other_values(self, rule: Clause, literal: Aggregate, bound: Bindings) -> Node:
        """What an aggregate that is not what was wanted is instead, over what; of groups, the first ones."""
        shown, shared = self._shown(literal, bound), shared_names(rule, literal)
        free = replace(literal, result=Variable(_VALUE))
        given = given_names(rule.body)
        found = list(islice(solutions(free, self.stream, self.tick, bound, shared | {_VALUE}, given), SHOWN))
        if not found:
            return Node(Part.FAILS, f"{shown}: {self._absence(literal)}", time=self.tick)
        nodes = []
        for each in found:
            wanted = {name: value for name, value in each.items() if name != _VALUE}
            node = self._literal(replace(literal, result=each[_VALUE]), wanted, shared, frozenset())
            nodes += [node] if node is not None else []
        result = substitute(literal.result, bound)
        if len(found) > 1 or not isinstance(result, Number):
            return Node(Part.FAILS, f"{shown}: it is something else", tuple(nodes), self.tick)
        value = evaluate(found[0][_VALUE], {})
        said = f"{shown}: it is {text(found[0][_VALUE])}{_short_of(literal.function, '=', result.value - value)}"
        return Node(Part.FAILS, said, tuple(below for node in nodes for below in node.children), self.tick)

    # ------------------------------------------------------------------ words

    def _said(self, where: Where) -> str:
        point, atom = where
        shown = text(atom) if point == self.tick else f"at({point}) {text(atom)}"
        if where not in self.answers:
            return f"{shown} is in the answer stream at {self.tick}"
        first, last = self.answers[where]
        return f"{shown} is in the answer stream from {first} {'on' if last is None else f'to {last}'}"

    def _shown(self, literal: Literal, bound: Bindings) -> str:
        return self._printer.literal(_filled(_positive(literal), bound))

    def _rule(self, part: Part, rule: Clause, children: tuple[Node, ...]) -> Node:
        """A rule in one line, over what its body rests on."""
        return Node(part, " ".join(self._printer.statement(rule).split()), children, self.tick, place(rule.span))

    def _absence(self, literal: Literal) -> str:
        """Where nothing like a literal was found."""
        match literal:
            case Windowed(atom, mode, Window() as window):
                span = self._span(window, atom)
                return f"not at every point {span}" if mode == "always" else f"none {span}"
            case Aggregate(atom=atom, window=window):
                return f"none {self._span(window, atom)}"
            case Call():
                return f"nothing says so at {self.tick}"
            case Compare():
                return "it is false"
            case _:
                return "nothing like it"

    def _span(self, window: Window, atom: Term) -> str:
        picked = pick(self.stream, window, self.tick, atom)
        return f"from {picked.low} {'on' if picked.high is None else f'to {picked.high}'}"

    def _kept(self, window: Window, where: Where) -> str:
        """Until when a window keeps an occurrence, without further input."""
        ends = [end for end in (self.answers.get(where, (0, None))[1],) if end is not None]
        if window.kind == "time" and where[1] not in self.stream.background:
            ends.append((where[0] + window.past) // window.hop * window.hop + window.hop - 1)
        return f", through {min(ends)}" if ends else ""


def _negated(literal: Literal) -> bool:
    return isinstance(literal, Call | Windowed | Compare) and literal.negated


def _positive(literal: Literal) -> Literal:
    """The literal without its negation."""
    match literal:
        case Call() | Windowed() | Compare():
            return replace(literal, negated=False)
        case _:
            return literal


def _filled(literal: Literal, bound: Bindings) -> Literal:
    """The literal with the values of its variables."""
    match literal:
        case Call(goal):
            return replace(literal, goal=substitute(goal, bound))
        case Windowed(atom, time=time):
            return replace(
                literal, atom=substitute(atom, bound), time=None if time is None else substitute(time, bound)
            )
        case Compare(left=left, right=right):
            return replace(literal, left=substitute(left, bound), right=substitute(right, bound))
        case Aggregate(atom=atom, result=result):
            return replace(literal, atom=substitute(atom, bound), result=substitute(result, bound))
        case _:
            return literal


def _lacking(rule: Clause, literal: Compare, bound: Bindings) -> str:
    """By how much a comparison with the result of an aggregate fails."""
    sides = [(literal.left, literal.op, literal.right), (literal.right, _MIRRORED.get(literal.op, ""), literal.left)]
    functions = {x.result: x.function for x in rule.body if isinstance(x, Aggregate)}
    for result, op, other in sides:
        if isinstance(result, Variable) and result in functions:
            try:
                return _short_of(functions[result], op, evaluate(other, bound) - evaluate(result, bound))
            except ValueError:
                return ""
    return ""


def _short_of(function: str, op: str, missing: float) -> str:
    """What is missing, or too much, for a result to be so; nothing where that says no more than the numbers.

    >>> _short_of("count", ">", 0), _short_of("count", "=", -2), _short_of("sum", ">=", 8)
    (', 1 more is needed', ', 2 too many', ', 8 too little')
    """
    if op not in _MIRRORED:
        return ""
    if function == "count" and missing == int(missing):
        missing = int(missing) + {">": 1, "<": -1}.get(op, 0)
        needed = f", {missing:,} more {'is' if missing == 1 else 'are'} needed"
        return needed if missing > 0 else f", {-missing:,} too many"
    if not missing:
        return ""
    return f", {abs(missing):g} too {'little' if missing > 0 else 'much'}"


def _order(where: Where) -> tuple[int, str]:
    return -where[0], text(where[1])


def _unexplained(said: str) -> Node:
    return Node(Part.UNEXPLAINED, f"{said}: no rule was found that says so")
