"""The one tree that every explanation is: a statement, what it rests on, and at the leaves rows of the input."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from thalweg.language.wording import visible


class Part(StrEnum):
    """What a node of an explanation is."""

    INTERVAL = "interval"  # a pair holds in an interval
    EVENT = "event"  # a derived event happens
    RULE = "rule"  # an instance of a rule whose body is true
    INPUT = "input"  # a row of the input
    INITIALLY = "initially"  # it holds from the start
    INERTIA = "inertia"  # nothing has ended it
    DELAYED = "delayed"  # a delayed effect that was not cancelled
    ENDED = "ended"  # how an interval ended
    NEGATION = "negation"  # something is not the case
    EXPRESSION = "expression"  # intervals that were combined
    BACKGROUND = "background"  # a fact that follows from background knowledge
    TEST = "test"  # a comparison
    COLLECTED = "collected"  # what a findall has found
    AGAIN = "again"  # explained elsewhere in the tree, or a cycle
    FAILS = "fails"  # a condition that is not true
    CANDIDATE = "candidate"  # an instance of a rule whose body is not true
    CHANGE = "change"  # a change of the result
    ATOM = "atom"  # a derived atom that is certain
    OPEN = "open"  # a derived atom that may still come true
    NEEDED = "needed"  # what must still come for it
    UNEXPLAINED = "unexplained"  # no rule was found that says so


@dataclass(frozen=True, slots=True)
class Place:
    """A row of the input: where it stands, what it says, and when."""

    source: str
    row: int
    fact: str
    time: int
    end: int | None = None
    number: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.row}"


@dataclass(frozen=True, slots=True, repr=False)
class Node:
    """A statement with what it rests on. `source` is where the rule stands, `place` the row of an input leaf."""

    part: Part
    text: str
    children: tuple[Node, ...] = ()
    time: int | None = None
    source: str = ""
    place: Place | None = None

    def __iter__(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for child in self.children:
            yield from child

    def leaves(self) -> list[Place]:
        """The rows of the input that the explanation rests on, each once, in the order of time."""
        found = {node.place for node in self if node.place is not None}
        return sorted(found, key=lambda place: (place.time, place.number))

    # ------------------------------------------------------------------ shown

    @property
    def line(self) -> str:
        """The node in one line; control characters are shown, not sent."""
        where = f"  [{self.place or self.source}]" if self.place or self.source else ""
        return visible(f"{self.text}{where}")

    def __str__(self) -> str:
        return "\n".join(self._lines("", ""))

    __repr__ = __str__

    def _lines(self, first: str, rest: str) -> Iterator[str]:
        yield first + self.line
        for i, child in enumerate(self.children):
            last = i == len(self.children) - 1
            head, body = ("\u2514\u2500 ", "   ") if last else ("\u251c\u2500 ", "\u2502  ")
            yield from child._lines(rest + head, rest + body)

    def outline(self) -> dict[str, Any]:
        """Lines and what is below them, for a page that folds."""
        below = [child.outline() for child in self.children]
        return {"text": self.line, "children": below} if below else {"text": self.line}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        found: dict[str, Any] = {"part": self.part.value, "text": self.text}
        if self.time is not None:
            found["time"] = self.time
        if self.source:
            found["source"] = self.source
        if self.place is not None:
            place = self.place
            found["input"] = {
                "source": place.source,
                "row": place.row,
                "fact": place.fact,
                "time": place.time,
            }
            if place.end is not None:
                found["input"]["end"] = place.end
        if self.children:
            found["children"] = [child.to_dict() for child in self.children]
        return found

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2)

    def to_html(self) -> str:
        """Nested lists that fold; everything is escaped."""
        return f'<ul class="thalweg-why">{self._item()}</ul>'

    def _item(self) -> str:
        where = (
            f" <small>{html.escape(visible(str(self.place or self.source)))}</small>"
            if self.place or self.source
            else ""
        )
        text = f"<span>{html.escape(visible(self.text))}</span>{where}"
        kind = html.escape(self.part.value)
        if not self.children:
            return f'<li class="{kind}">{text}</li>'
        below = "".join(child._item() for child in self.children)
        return f'<li class="{kind}"><details open><summary>{text}</summary><ul>{below}</ul></details></li>'

    def _repr_html_(self) -> str:
        return self.to_html()


_MOMENT = re.compile(r"\b(at|from|to|before|after|since|time|until) (\d+)\b")


def with_dates(node: Node, written: Callable[[int], str]) -> Node:
    """The same tree with its time-points written by the function, where texts say when."""
    said = _MOMENT.sub(lambda found: f"{found[1]} {written(int(found[2]))}", node.text)
    return replace(node, text=said, children=tuple(with_dates(child, written) for child in node.children))
