"""The explanations that a page carries: trees by the index of a bar, in which what several say stands once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from thalweg.show.lanes import WITHDRAWN, Chart, withdrawals

if TYPE_CHECKING:
    from thalweg.explain.tree import Node
    from thalweg.result import Result

_INCLUDE = re.compile(r"^:-\s*\['?([^'\]]+)'?\]", re.MULTILINE)
MOST_NODES = 400_000
"""A page carries no more distinct nodes than this."""


@dataclass
class Explanations:
    """Nodes, each a line and the numbers of the nodes below it, and which node explains which bar."""

    nodes: list[list[Any]] = field(default_factory=list)
    of: dict[int, int] = field(default_factory=dict)
    _known: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def add(self, tree: Node) -> int:
        """The number of the tree's root; equal trees have one number."""
        key = (tree.line, *(self.add(child) for child in tree.children))
        number = self._known.setdefault(key, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(list(key))
        return number

    def as_data(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "of": {str(bar): node for bar, node in self.of.items()}}


def explained(result: Result, drawn: Chart, most: int) -> Explanations:
    """The explanations of the first bars: why it holds or, of a withdrawn one, why it was withdrawn. Input is not
    explained, it is given."""
    found = Explanations()
    gone = withdrawals(result.arrow) if (drawn.bars.flags & WITHDRAWN).any() else {}
    for bar in range(len(drawn.bars)):
        if len(found.of) >= most or len(found.nodes) >= MOST_NODES:
            break
        lane = drawn.lanes[int(drawn.bars.lane[bar])]
        value, start = drawn.values[int(drawn.bars.key[bar])], int(drawn.bars.start[bar])
        if lane.given:
            continue
        if drawn.bars.flags[bar] & WITHDRAWN:
            tree = result.why_changed(gone[lane.label, value, start, int(drawn.bars.end[bar])])
        else:
            tree = result.why(f"{lane.label}={value} @ {start}")
        found.of[bar] = found.add(tree)
    return found


def command(result: Result) -> str:
    """The command that explains an interval of this result, with ``{}`` for what is asked."""
    if result.origin is None:
        return "thalweg explain RULES --input FILE --window W --step S '{}'"
    given, options = result.origin.events, result.origin.options
    files = given if isinstance(given, list | tuple) else [given]
    rules, *others = _given(result.program.sources) or ["RULES"]
    words = ["thalweg explain", quote(rules), *(f"--background {quote(file)}" for file in others)]
    words += [f"--input {quote(str(f)) if isinstance(f, str | Path) else 'FILE'}" for f in files]
    for name in ("window", "step", "start", "end", "tick"):
        chosen = getattr(options, name)
        words += [f"--{name} {quote(str(chosen))}"] if chosen is not None else []
    return " ".join([*words, "'{}'"])


def _given(sources: Mapping[str, str]) -> list[str]:
    """The files of a program without those that others include."""
    included = {Path(name).stem for text in sources.values() for name in _INCLUDE.findall(text)}
    return [str(file) for file in sources if Path(file).stem not in included]
