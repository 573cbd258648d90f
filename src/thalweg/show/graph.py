"""The dependency graph of a program as a picture and as text: `graph(program)`.

Boxes are fluents, events and predicates, in columns by layer, inputs first; arrows go from what is read to what reads
it. What depends on itself is coloured, delayed effects are dashed, negation ends in a bar.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from thalweg.analysis.dependencies import Dependencies, Edge, EdgeKind, Node, dependencies
from thalweg.analysis.roles import INPUT_PARTS, Entities, Part, entities
from thalweg.analysis.wording import text
from thalweg.language.pause import collection_paused
from thalweg.language.program import Program
from thalweg.language.terms import is_ground


@dataclass(frozen=True, slots=True)
class Box:
    """A node to draw. `group` numbers the cycles; 0 is none."""

    title: str
    detail: str
    part: Part
    layer: int
    group: int
    delayed: bool
    about: str

    @property
    def is_input(self) -> bool:
        return self.part in INPUT_PARTS

    @property
    def is_event(self) -> bool:
        return self.part in (Part.INPUT_EVENT, Part.DERIVED_EVENT)


@dataclass(frozen=True, slots=True)
class Arrow:
    """All edges between two boxes, given by their indexes."""

    source: int
    target: int
    positive: bool
    negated: bool
    delayed: bool
    about: str

    @property
    def only_delayed(self) -> bool:
        return self.delayed and not self.positive and not self.negated


@dataclass(frozen=True, repr=False)
class Graph:
    """A dependency graph, ready to be shown; displays itself in notebooks."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]

    def __repr__(self) -> str:
        return f"<graph of {len(self.boxes)} names and {len(self.arrows)} dependencies>"

    @cached_property
    def svg(self) -> str:
        """A picture that needs nothing else; light and dark."""
        from thalweg.show.graph_svg import svg

        return svg(self)

    @cached_property
    def html(self) -> str:
        """A page around the picture; pointing at a box shows what it reads and what reads it."""
        from thalweg.show.graph_svg import page

        return page(self)

    @property
    def dot(self) -> str:
        """Text for Graphviz."""
        from thalweg.show.graph_text import dot

        return dot(self)

    @property
    def mermaid(self) -> str:
        """Text for Mermaid."""
        from thalweg.show.graph_text import mermaid

        return mermaid(self)

    def save(self, path: str | Path) -> Path:
        """Write the graph; the ending of the name says how: .html, .svg, .dot (.gv) or .mmd (.mermaid)."""
        path = Path(path)
        path.write_text(self.as_text(path.suffix), encoding="utf-8")
        return path

    def as_text(self, suffix: str) -> str:
        """The text of a file with that ending."""
        match suffix.lower():
            case ".html" | ".htm":
                return self.html
            case ".svg":
                return self.svg
            case ".dot" | ".gv":
                return self.dot
            case ".mmd" | ".mermaid":
                return self.mermaid
            case _:
                raise ValueError(f"cannot draw a graph as {suffix or 'a file without an ending'}; {SUFFIXES}")

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg}</div>'


SUFFIXES = "known endings are .html, .svg, .dot and .mmd"


@collection_paused()
def graph(program: Program) -> Graph:
    """The dependency graph of a program."""
    known = entities(program)
    found = dependencies(program, known)
    groups, delayed = _groups(found)
    nodes = sorted(found.parts, key=lambda node: (found.layers[node], node.kind != "event"))
    index = {node: position for position, node in enumerate(nodes)}
    boxes = tuple(_box(node, found, known, groups.get(node, 0), node in delayed) for node in nodes)
    return Graph(boxes, tuple(_arrows(found, index)))


def _groups(found: Dependencies) -> tuple[dict[Node, int], set[Node]]:
    groups: dict[Node, int] = {}
    delayed: set[Node] = set()
    for component in found.components:
        if component.cyclic:
            number = max(groups.values(), default=0) + 1
            groups.update(dict.fromkeys(component.members, number))
        if component.delayed:
            delayed |= set(component.members)
    return groups, delayed


def _box(node: Node, found: Dependencies, known: Entities, group: int, delayed: bool) -> Box:
    entity = known.get(node.kind, node.name, node.arity)
    assert entity is not None
    part = found.parts[node]
    values: list[str] = []
    if node.value is None:
        ground = [value for value, own in entity.values if own is part and is_ground(value)]
        values = list(dict.fromkeys(text(value) for value in ground))
    title = f"{node.name}/{node.arity}" + ("" if node.value is None else f"={text(node.value)}")
    detail = (
        "" if values in ([], ["true"]) else " | ".join(values[:4]) + (" | ..." if len(values) > 4 else "")
    )
    about = [f"{title}: {part.value}"]
    if values:
        about.append("values: " + ", ".join(values))
    if entity.rules:
        about.append(f"{len(entity.rules)} rule{'s' if len(entity.rules) != 1 else ''}")
    if entity.span.line:
        about.append(f"first at {entity.span.source}:{entity.span.line}")
    return Box(title, detail, part, found.layers[node], group, delayed, "\n".join(about))


def _arrows(found: Dependencies, index: dict[Node, int]) -> list[Arrow]:
    between: dict[tuple[int, int], list[Edge]] = defaultdict(list)
    for edge in found.edges:
        if edge.source in index:
            between[index[edge.source], index[edge.target]].append(edge)
    arrows = []
    for (source, target), edges in between.items():
        plain = [edge for edge in edges if edge.kind is not EdgeKind.DELAYED]
        kinds = sorted({f"{'not ' if edge.negated else ''}{edge.kind.value}" for edge in edges})
        arrows.append(
            Arrow(
                source,
                target,
                positive=any(not edge.negated for edge in plain),
                negated=any(edge.negated for edge in plain),
                delayed=len(plain) < len(edges),
                about=", ".join(kinds),
            )
        )
    return arrows
