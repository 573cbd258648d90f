"""Dependency graphs: what is drawn, where it stands, and that nothing from a program escapes into markup."""

from __future__ import annotations

import time
import xml.etree.ElementTree as xml
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.language.parser import parse
from thalweg.show.graph import Graph, graph
from thalweg.show.graph_layout import crossings, layout

PROTOCOL = r"""
initially(status(_)=null).
initiatedAt(status(M)=proposed, T) :- happensAt(propose(M), T), holdsAt(status(M)=null, T).
initiatedAt(status(M)=null, T) :- happensAt(reset(M), T).
fi(status(M)=proposed, status(M)=null, 10).
initiatedAt(busy(M)=true, T) :- happensAt(start(status(M)=proposed), T), \+ holdsAt(free(M)=true, T).
terminatedAt(busy(M)=true, T) :- happensAt(reset(M), T).
initiatedAt(free(M)=true, T) :- happensAt(reset(M), T), \+ holdsAt(busy(M)=true, T).
terminatedAt(free(M)=true, T) :- happensAt(propose(M), T).
holdsFor(any(M)=true, I) :- holdsFor(busy(M)=true, I1), holdsFor(free(M)=true, I2), union_all([I1, I2], I).
"""


def box(drawn: Graph, title: str) -> int:
    return next(index for index, found in enumerate(drawn.boxes) if found.title == title)


def test_boxes_stand_in_layers_and_cycles_are_marked() -> None:
    drawn = graph(parse(PROTOCOL))
    layers = {found.title: found.layer for found in drawn.boxes}
    assert layers == {"propose/1": 0, "reset/1": 0, "status/1": 1, "busy/1": 2, "free/1": 2, "any/1": 3}
    groups = {found.title: found.group for found in drawn.boxes}
    assert groups["busy/1"] == groups["free/1"] != 0
    assert groups["status/1"] not in (0, groups["busy/1"])
    assert groups["any/1"] == 0


def test_delayed_and_negated_arrows_are_told_apart() -> None:
    drawn = graph(parse(PROTOCOL))
    arrows = {(drawn.boxes[a.source].title, drawn.boxes[a.target].title): a for a in drawn.arrows}
    assert arrows["status/1", "status/1"].delayed
    assert arrows["free/1", "busy/1"].negated and not arrows["free/1", "busy/1"].positive
    assert not arrows["propose/1", "status/1"].negated


def test_the_svg_is_well_formed_and_shows_every_box_and_arrow() -> None:
    drawn = graph(parse(PROTOCOL))
    root = xml.fromstring(drawn.svg)
    space = "{http://www.w3.org/2000/svg}"
    assert len([g for g in root.iter(f"{space}g") if g.get("data-key")]) == len(drawn.boxes)
    paths = [p for p in root.iter(f"{space}path") if p.get("data-from")]
    assert len(paths) == len(drawn.arrows)
    assert any("delayed" in str(p.get("class")) for p in paths)
    assert "prefers-color-scheme: dark" in drawn.svg


def test_nothing_from_the_program_escapes_into_markup() -> None:
    nasty = "'</title><script>alert(1)</script>\"&'"
    drawn = graph(
        parse(
            f"initiatedAt({nasty}(X)={nasty}, T) :- happensAt({nasty}(X), T).\nfi({nasty}(X)={nasty}, {nasty}(X)=b, 3)."
        )
    )
    xml.fromstring(drawn.svg)
    for text in (drawn.svg, drawn.html, drawn._repr_html_()):
        assert "<script>alert" not in text
        assert "&lt;script&gt;" in text
    assert "<script>" not in drawn.mermaid
    assert '\\"&' in drawn.dot


def test_the_page_loads_nothing_from_elsewhere() -> None:
    page = graph(parse(PROTOCOL)).html.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in page
    assert "src=" not in page


def test_dot_and_mermaid_name_every_box_and_arrow() -> None:
    drawn = graph(parse(PROTOCOL))
    for index in range(len(drawn.boxes)):
        assert f"    n{index} [" in drawn.dot
        assert f"    n{index}" in drawn.mermaid
    assert drawn.dot.count("->") == len(drawn.arrows)
    assert "style=dashed" in drawn.dot
    assert "arrowhead=tee" in drawn.dot
    assert drawn.mermaid.startswith("flowchart LR\n")
    assert '-- "not" -->' in drawn.mermaid


ENDINGS = {".html": "<!DOCTYPE", ".svg": "<svg", ".dot": "digraph", ".mmd": "flow"}


@pytest.mark.parametrize(("suffix", "begin"), ENDINGS.items())
def test_the_ending_of_the_file_says_how_it_is_drawn(tmp_path: Path, suffix: str, begin: str) -> None:
    path = graph(parse(PROTOCOL)).save(tmp_path / f"out{suffix}")
    assert path.read_text(encoding="utf-8").startswith(begin)


def test_an_unknown_ending_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="known endings"):
        graph(parse(PROTOCOL)).save(tmp_path / "out.png")
    assert list(tmp_path.iterdir()) == []


def test_a_program_without_rules_draws_an_empty_picture() -> None:
    drawn = graph(parse("dom(a)."))
    assert drawn.boxes == ()
    xml.fromstring(drawn.svg)


def test_datalog_programs_are_drawn_too() -> None:
    drawn = graph(parse("malf(X, T) :- temp(X, high, T), not ok(X, T).\nquery malf(X, T)."))
    assert {found.title for found in drawn.boxes} == {"malf/2", "temp/3", "ok/2"}
    assert any(arrow.negated for arrow in drawn.arrows)


def test_boxes_of_a_column_do_not_overlap_and_cycles_stay_together() -> None:
    drawn = graph(parse(PROTOCOL))
    placed = layout(
        [found.layer for found in drawn.boxes],
        [26.0] * len(drawn.boxes),
        [found.group for found in drawn.boxes],
        [
            (a.source, a.target)
            for a in drawn.arrows
            if drawn.boxes[a.source].layer != drawn.boxes[a.target].layer
        ],
    )
    for column in placed.columns:
        for upper, lower in pairwise(placed.items[index] for index in column):
            assert lower.y - upper.y >= (lower.height + upper.height) / 2
        groups = [
            placed.items[i].group for i in column if placed.items[i].box is not None and placed.items[i].group
        ]
        assert len([g for g, following in pairwise([*groups, 0]) if g != following]) == len(set(groups))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=14),
    st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=30),
)
def test_any_layered_graph_is_placed_without_overlap(layers: list[int], pairs: list[tuple[int, int]]) -> None:
    arrows = [(a, b) for a, b in dict.fromkeys(pairs) if max(a, b) < len(layers) and layers[a] < layers[b]]
    placed = layout(layers, [20.0] * len(layers), [0] * len(layers), arrows)
    assert sorted(i for column in placed.columns for i in column) == list(range(len(placed.items)))
    for column in placed.columns:
        for upper, lower in pairwise(placed.items[index] for index in column):
            assert lower.y - upper.y >= (lower.height + upper.height) / 2 - 1e-6
    for route, (source, target) in zip(placed.routes, arrows, strict=True):
        assert (route[0], route[-1]) == (source, target)
        columns = [placed.items[i].column for i in route]
        assert columns == list(range(columns[0], columns[-1] + 1))


def test_the_order_removes_crossings_that_can_be_removed() -> None:
    placed = layout([0, 0, 0, 1, 1, 1], [20.0] * 6, [0] * 6, [(0, 5), (1, 4), (2, 3)])
    assert crossings(placed) == 0


def test_sixty_boxes_are_drawn_in_a_moment() -> None:
    rules = [
        f"initiatedAt(s{layer}_{k}(X)=true, T) :- happensAt(e{k}(X), T), "
        f"holdsAt(s{layer - 1}_{(k * 3) % 10}(X)=true, T)."
        for layer in range(1, 6)
        for k in range(10)
    ]
    program = parse("\n".join(rules))
    begin = time.process_time()
    drawn = graph(program)
    assert len(drawn.boxes) >= 60
    assert drawn.html
    assert time.process_time() - begin < 2
