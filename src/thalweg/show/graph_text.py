"""A dependency graph as text for other tools: DOT and Mermaid."""

from __future__ import annotations

import json
from collections import defaultdict

from thalweg.show.graph import Arrow, Box, Graph


def _layers(graph: Graph) -> dict[int, list[int]]:
    layers: dict[int, list[int]] = defaultdict(list)
    for index, box in enumerate(graph.boxes):
        layers[box.layer].append(index)
    return dict(sorted(layers.items()))


def layer_title(layer: int) -> str:
    return f"layer {layer}" if layer else "input"


# --------------------------------------------------------------------------- DOT


def dot(graph: Graph) -> str:
    """Text for Graphviz."""
    lines = ["digraph thalweg {", "  rankdir=LR;", '  node [fontname="monospace", shape=box];']
    for layer, members in _layers(graph).items():
        lines += [
            f"  subgraph cluster_{layer} {{",
            f"    label={_quoted(layer_title(layer))};",
            "    color=gray;",
        ]
        lines += [f"    n{index} [{_dot_box(graph.boxes[index])}];" for index in members]
        lines.append("  }")
    lines += [f"  n{arrow.source} -> n{arrow.target}{_dot_arrow(arrow)};" for arrow in graph.arrows]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _dot_box(box: Box) -> str:
    label = box.title + (f"\n{box.detail}" if box.detail else "")
    attributes = {"label": _quoted(label), "tooltip": _quoted(box.about)}
    styles = ["rounded"] if box.is_event else []
    if box.is_input:
        styles.append("dashed")
    if box.group:
        styles.append("filled")
        attributes["fillcolor"] = '"#ffe3b8"'
    if styles:
        attributes["style"] = _quoted(",".join(styles))
    return ", ".join(f"{name}={value}" for name, value in attributes.items())


def _dot_arrow(arrow: Arrow) -> str:
    attributes = []
    if arrow.delayed:
        attributes.append("style=dashed")
    if arrow.negated:
        attributes.append("color=firebrick")
        attributes.append("arrowhead=normaltee" if arrow.positive else "arrowhead=tee")
    return f" [{', '.join(attributes)}]" if attributes else ""


# --------------------------------------------------------------------------- Mermaid


def mermaid(graph: Graph) -> str:
    """Text for Mermaid."""
    lines = ["flowchart LR"]
    for layer, members in _layers(graph).items():
        lines.append(f"  subgraph layer{layer}[{json.dumps(layer_title(layer))}]")
        lines += [f"    n{index}{_mermaid_box(graph.boxes[index])}" for index in members]
        lines.append("  end")
    lines += [f"  n{arrow.source} {_mermaid_arrow(arrow)} n{arrow.target}" for arrow in graph.arrows]
    cyclic = [f"n{index}" for index, box in enumerate(graph.boxes) if box.group]
    if cyclic:
        lines += [
            "  classDef cyclic fill:#ffe3b8,stroke:#b36b00,color:#222",
            f"  class {','.join(cyclic)} cyclic",
        ]
    return "\n".join(lines) + "\n"


def _mermaid_box(box: Box) -> str:
    label = _escaped(box.title) + (f"<br/>{_escaped(box.detail)}" if box.detail else "")
    return f'(["{label}"])' if box.is_event else f'["{label}"]'


def _escaped(value: str) -> str:
    """Mermaid reads entities with `#`; everything that could end or change a label is written as one."""
    return "".join(c if c.isalnum() or c in " _/=.," else f"#{ord(c)};" for c in value)


def _mermaid_arrow(arrow: Arrow) -> str:
    if arrow.only_delayed:
        return "-. later .->"
    if arrow.negated:
        return '-- "not" -->' if not arrow.positive else '-- "and not" -->'
    return "-->"
