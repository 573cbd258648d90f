"""Timelines as charts, SVG and text, and the command that draws them."""

from __future__ import annotations

import json
import re
import shlex
import struct
import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise
from math import dist
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from timelines import EVIL, RULES, many_lanes, small_run
from typer.testing import CliRunner

import thalweg
from thalweg.cli.main import app
from thalweg.language.wording import breadth
from thalweg.show.lanes import REVISED, WITHDRAWN, chart, name_and_arguments, natural
from thalweg.show.palette import PALETTE
from thalweg.show.timeline import Picture
from thalweg.show.timeline_page import embedded
from thalweg.show.timeline_svg import _fitting, _length


def test_lanes_stand_together_by_entity_events_first() -> None:
    lanes = small_run().timeline(only=["lamp", "fan"]).chart.lanes
    assert [(lane.entity, lane.label) for lane in lanes] == [
        ("fan", "events"),
        ("fan", "on(fan)"),
        ("fan", "status(fan)"),
        ("lamp", "events"),
        ("lamp", "on(lamp)"),
        ("lamp", "status(lamp)"),
    ]


def test_what_a_late_row_changed_is_marked() -> None:
    drawn = small_run().timeline().chart
    flags = {
        (drawn.lanes[lane].label, start): flag
        for lane, start, flag in zip(
            drawn.bars.lane.tolist(), drawn.bars.start.tolist(), drawn.bars.flags.tolist(), strict=True
        )
    }
    assert flags["on(lamp)", 4] == REVISED
    assert flags["on(fan)", 9] == WITHDRAWN
    assert flags["status(lamp)", 4] == 0


def test_pending_countdowns_are_in_the_picture() -> None:
    drawn = small_run().timeline(only="lamp").chart
    assert [(drawn.lanes[p.lane].label, p.since, p.due, drawn.keys[p.key]) for p in drawn.pending] == [
        ("status(lamp)", 16, 24, "cold")
    ]


def test_the_svg_is_well_formed_whatever_the_names_are() -> None:
    root = ElementTree.fromstring(small_run().timeline().svg)
    assert root.tag.endswith("svg")
    assert not [e for e in root.iter() if e.tag.endswith(("script", "img"))]
    assert any(EVIL in (e.text or "").replace("\\'", "'") for e in root.iter())


def test_the_data_of_a_page_cannot_end_its_block() -> None:
    page = small_run().timeline().html
    assert page.count("</script>") == 2
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert block is not None
    assert EVIL in json.loads(block[1])["lanes"][0]["entity"].replace("\\'", "'")


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&lt;", "\u2028", "\U0001f600"])
def test_embedded_text_comes_back_unchanged(text: str) -> None:
    assert json.loads(embedded(text)) == text
    assert not set(embedded(text)) & set("<>&\u2028")


def test_the_terminal_shows_a_letter_per_value() -> None:
    lines = small_run().timeline(only="status(lamp)", inputs=False).text(width=60).splitlines()
    assert lines[0].split() == ["4", "24"]
    assert re.fullmatch(r"status\(lamp\) w+c+w+>", lines[2])
    assert lines[-1] == "c cold  w warm"


def test_a_long_name_of_an_entity_is_cut_to_the_width_and_long_times_stand_on_two_lines() -> None:
    rules = "tick 1m. initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    rows = [{"name": "press", "time": "2026-03-02T08:00Z", "x": "lamp" * 50}]
    lines = thalweg.run(rules, rows, window=60, step=60).timeline().text(width=60).splitlines()
    assert max(map(len, lines)) <= 60
    assert [line.strip() for line in lines[:2]] == ["2026-03-02T08:00Z", "2026-03-02T08:01Z"]
    assert lines[2].startswith("lamplamp")
    assert lines[2].endswith("…")


def test_a_drawing_of_nothing_says_so() -> None:
    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    picture = thalweg.run(rules, [], window=10, step=10).timeline()
    assert picture.text() == "nothing holds, and nothing happens"


def test_no_two_times_on_an_axis_overlap() -> None:
    drawn = Picture(chart({"timeline": pa.table(LONG)}), "long").svg
    marks = [(float(x), len(label)) for x, label in re.findall(r'class="soft" x="([0-9.]+)" y="14">([0-9]+)<', drawn)]
    assert len(marks) > 2
    assert all(x + 6 * long < following for (x, long), (following, _) in pairwise(marks))


LONG = {"fluent": ["on(a)", "on(b)"], "value": ["true"] * 2, "start": [5, 4 * 10**17], "end": [5 * 10**17, None]}
"""Intervals whose times have eighteen digits."""


def test_many_lanes_are_cut_in_the_drawing_and_it_says_so() -> None:
    picture = Picture(chart(many_lanes(lanes=300, intervals=2)), "many")
    assert "and 100 more lanes" in picture.svg
    assert "... 260 more lanes" in picture.text()


def test_more_intervals_than_the_limit_are_noted() -> None:
    drawn = chart(many_lanes(lanes=3, intervals=10), limit=25)
    assert len(drawn.bars) == 25
    assert drawn.notes == ("the first 25 of 30 intervals are drawn",)


def test_input_that_does_not_count_is_not_drawn() -> None:
    rules = """
        fluent near(x).
        initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
        holdsFor(close(X)=true, I) :- holdsFor(near(X)=true, I)."""
    rows = [
        {"name": "press", "time": 3, "arrival": 3, "x": "taken_back"},
        {"name": "press", "time": 3, "arrival": 12, "x": "taken_back", "op": "-"},
        {"name": "press", "time": 4, "arrival": 38, "x": "too_late"},
        {"name": "press", "time": 5, "arrival": 5, "x": "told"},
        {"name": "press", "time": 6, "arrival": 60, "x": "after_the_end"},
        {"name": "near", "start": 5, "end": 9, "arrival": 9, "x": "a"},
        {"name": "near", "start": 5, "end": 9, "arrival": 15, "x": "a", "op": "-"},
        {"name": "near", "start": 5, "end": 8, "arrival": 15, "x": "a"},
    ]
    drawn = thalweg.run(rules, rows, window=20, step=10, end=40).timeline().chart
    assert list(drawn.marks.text) == ["press(told)"]
    bars = zip(drawn.bars.lane.tolist(), drawn.bars.start.tolist(), drawn.bars.end.tolist(), strict=True)
    assert [bar[1:] for bar in bars if drawn.lanes[bar[0]].label == "near(a)"] == [(5, 8)]


def test_input_points_are_as_long_as_the_tick() -> None:
    rules = "points(walk(_)=true). holdsFor(strolls(X)=true, I) :- holdsFor(walk(X)=true, I)."
    rows = [{"name": "walk", "time": time, "x": "a"} for time in (40, 80)]
    drawn = thalweg.run(rules, rows, window=400, step=400, tick=40).timeline().chart
    bars = zip(drawn.bars.start.tolist(), drawn.bars.end.tolist(), strict=True)
    assert set(bars) == {(40, 80), (80, 120), (40, 120)}


def test_what_was_withdrawn_while_it_held_is_drawn_up_to_the_query_time_that_withdrew_it() -> None:
    bars = small_run().timeline().chart.bars
    gone = (bars.flags & WITHDRAWN).astype(bool)
    # on(fan) is found from 9 on at query time 10, and the release that arrives at 18 takes that back at 20
    assert (9, 20) in set(zip(bars.start[gone].tolist(), bars.end[gone].tolist(), strict=True))
    assert (bars.end[gone] <= 20).all()


def test_an_empty_result_has_a_picture() -> None:
    picture = Picture(chart({"timeline": pa.table({})}), "nothing")
    assert ElementTree.fromstring(picture.svg) is not None
    assert picture.text()


def test_a_result_shows_its_picture_in_a_notebook() -> None:
    shown = small_run()._repr_html_()
    assert "<svg" in shown
    assert "<img" not in shown


def test_instances_are_taken_apart_and_sorted_by_number() -> None:
    assert name_and_arguments("f('a\\',b',[1,2],g(x))") == ("f", ["'a\\',b'", "[1,2]", "g(x)"])
    assert name_and_arguments("'North(Sea)'") == ("'North(Sea)'", [])
    assert sorted(["m10", "m2", "m1"], key=natural) == ["m1", "m2", "m10"]


def page_data(page: str) -> dict[str, Any]:
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert block is not None
    found: dict[str, Any] = json.loads(block[1])
    return found


def test_every_interval_of_a_page_carries_its_explanation() -> None:
    result = small_run()
    drawn = result.timeline()
    why = page_data(drawn.html)["why"]
    computed = [i for i, lane in enumerate(drawn.chart.bars.lane) if not drawn.chart.lanes[lane].given]
    assert sorted(why["of"], key=int) == [str(i) for i in computed]
    roots = [why["nodes"][node][0] for node in why["of"].values()]
    assert "on(lamp)=true holds from 4 to 7" in roots
    assert "on(fan)=true from 9 on was withdrawn at query time 20" in roots
    assert len({json.dumps(node) for node in why["nodes"]}) == len(why["nodes"]), "a node stands there twice"


def test_a_page_that_carries_fewer_explanations_says_what_to_ask(tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "events.csv").write_text("press|3|3|lamp\nrelease|9|9|lamp\n")
    result = thalweg.run(tmp_path / "rules.ec", str(tmp_path / "events.csv"), window=20, step=5)
    data = page_data(result.timeline(explained=1).html)
    assert len(data["why"]["of"]) == 1
    (ask,) = data["ask"]
    command = shlex.split(ask.replace("{}", "on(lamp) @ 5"))
    done = CliRunner().invoke(app, command[1:])
    assert done.exit_code == 0, done.output
    assert "holds from 4 to 10" in done.output


def seen(colour: str) -> tuple[float, float, float]:
    """A colour as the eye measures it: CIELAB, in which equal distances look equally different."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.0888
    a, b, c = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * b - 16, 500 * (a - b), 200 * (b - c)


def test_colours_can_be_told_apart_and_bear_white_letters() -> None:
    assert len(PALETTE) == 24
    assert min(dist(seen(one), seen(other)) for one, other in combinations(PALETTE, 2)) > 20
    for colour in PALETTE:
        luminance = ((seen(colour)[0] + 16) / 116) ** 3
        assert 1.05 / (luminance + 0.05) > 3, colour


def test_a_png_has_the_size_of_the_drawing_times_the_scale() -> None:
    picture = small_run().timeline()
    data = picture.png(scale=1.5)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    root = ElementTree.fromstring(picture.svg)
    assert (width, height) == (1500, round(float(root.attrib["height"]) * 1.5))
    assert picture.png(dark=True) != picture.png()


def test_time_points_of_a_known_length_are_dates_in_every_picture() -> None:
    rules = "tick 1m.\ninitiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    events = [{"name": "press", "time": f"2026-03-02T{hour}:00:00Z", "x": "lamp"} for hour in ("08", "09")]
    result = thalweg.run(rules, events, window="2h", step="1h")
    picture = result.timeline()
    assert "2026-03-02T08:00Z" in picture.text()
    assert ">03-02 08:30</text>" in picture.svg and "from 2026-03-02T08:01Z still holds" in picture.svg
    assert result.why("on(lamp) @ 2026-03-02T08:30Z").text == "on(lamp)=true holds from 2026-03-02T08:01Z on"
    assert "2026-03-02T08:01Z" in repr(result)
    assert str(result.dated().to_pylist()[0]["start"]) == "2026-03-02 08:01:00+00:00"
    assert result["timeline"].to_pylist()[0]["start"] == 29540641


@pytest.mark.parametrize("ending", ["html", "svg", "txt"])
def test_run_draws_what_the_ending_says(tmp_path: Path, ending: str) -> None:
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "events.csv").write_text("press|3|3|lamp\nrelease|9|9|lamp\n")
    target = tmp_path / f"out.{ending}"
    done = CliRunner().invoke(app, _command(tmp_path, "--html", str(target)))
    assert done.exit_code == 0, done.output
    assert "on(lamp)" in target.read_text()


def test_run_refuses_an_ending_it_cannot_draw_before_it_runs(tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "events.csv").write_text("press|3|3|lamp\n")
    done = CliRunner().invoke(app, _command(tmp_path, "--html", str(tmp_path / "out.gif")))
    assert done.exit_code == 2
    assert ".svg" in done.output


def test_run_draws_on_the_terminal_and_writes_tables_at_once(tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "events.csv").write_text("press|3|3|lamp\nrelease|9|9|lamp\n")
    done = CliRunner().invoke(app, _command(tmp_path, "--chart", "--out", str(tmp_path / "tables")))
    assert done.exit_code == 0, done.output
    assert "status(lamp) " in done.output
    assert (tmp_path / "tables" / "timeline.parquet").exists()


def _command(folder: Path, *more: str) -> list[str]:
    given = ["run", str(folder / "rules.ec"), "--input", str(folder / "events.csv")]
    return [*given, "--window", "20", "--step", "5", *more]


def test_wide_characters_take_two_columns() -> None:
    rows = [{"name": "press", "time": 5, "x": name} for name in ("\N{CJK UNIFIED IDEOGRAPH-9580}" * 20, "a", "u\u0308")]
    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    result = thalweg.run(rules, rows, window=10, step=10)
    bars = [line for line in result.timeline().text().splitlines() if line.startswith("on")]
    assert len({breadth(line) for line in bars}) == 1
    told = repr(result).splitlines()[-3:]
    assert len({breadth(line[: line.index("true")]) for line in told}) == 1


def test_control_characters_in_names_steer_no_terminal_and_break_no_drawing() -> None:
    rows = [{"name": "press", "time": 5, "x": "a\x00b\x1b[31mred\nline\tend\x7f"}]
    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    picture = thalweg.run(rules, rows, window=10, step=10).timeline()
    ElementTree.fromstring(picture.svg)
    text = picture.text()
    assert "a\N{SYMBOL FOR NULL}b\N{SYMBOL FOR ESCAPE}[31mred\N{SYMBOL FOR LINE FEED}line" in text
    assert not set(text) & {"\x00", "\x1b", "\t", "\x7f"}
    assert len(text.splitlines()) == 4


def test_a_page_is_headed_by_the_rules_and_the_events(tmp_path: Path) -> None:
    (tmp_path / "lamp.ec").write_text("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).\n")
    (tmp_path / "january.csv").write_text("press|3|3|a\n")
    result = thalweg.run(tmp_path / "lamp.ec", tmp_path / "january.csv", window=10, step=10)
    assert "<h1>lamp.ec over january.csv</h1>" in result.timeline().html
    assert "<h1>mine</h1>" in result.timeline(title="mine").html
    assert re.search(r"<h1>[0-9]+ intervals of [0-9]+ lanes</h1>", small_run().timeline().html)


@pytest.mark.parametrize("room", range(10, 90, 4))
def test_a_label_in_a_drawing_is_whole_or_says_that_it_is_not(room: int) -> None:
    for text in ("moved", "sanctioned", "illicit", "WWWWWW", "東京都庁舎"):
        label = _fitting(text, room)
        assert _length(label) <= room
        assert label in ("", text) or (label.endswith("…") and text.startswith(label[:-1]) and len(label) > 2)
