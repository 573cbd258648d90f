"""The timeline page in a real browser: drawn, moved by keyboard and mouse, searched, and safe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from chromium import CHROMIUM, Browser
from timelines import many_lanes, small_run

from thalweg.show.lanes import chart
from thalweg.show.timeline import Picture

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


@pytest.fixture
def small(browser: Browser, tmp_path: Path) -> Browser:
    browser.open(small_run().timeline().save(tmp_path / "small.html"))
    return browser


def test_the_page_draws_and_asks_for_nothing(small: Browser, tmp_path: Path) -> None:
    assert small.problems() == []
    assert [url for url in small.requests() if not url.startswith("file:")] == []
    assert len(small.requests()) == 1
    assert small.evaluate("thalweg.drawn") >= 8
    assert len(small.screenshot()) > 10_000


def test_a_name_that_looks_like_markup_stays_text(small: Browser) -> None:
    assert small.evaluate("document.querySelectorAll('main b, main img').length") == 0
    assert small.evaluate("window.stolen === undefined")
    assert small.evaluate("thalweg.data.lanes.some(l => l.entity.includes('</script>'))")
    small.evaluate("document.getElementById('search').focus()")
    small.type("stolen")
    small.press("Escape")
    small.press("ArrowDown")
    small.press("ArrowDown")
    assert "stolen" in small.evaluate("document.getElementById('detail').textContent")
    assert small.evaluate("document.querySelectorAll('#detail img, #detail script').length") == 0


def test_no_script_but_the_page_s_own_can_run(small: Browser) -> None:
    small.evaluate(
        "{const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)}"
    )
    assert small.evaluate("window.ran === undefined")


def test_times_of_many_digits_are_exact_and_do_not_overlap(browser: Browser, tmp_path: Path) -> None:
    times = {"start": [5, 4 * 10**17], "end": [5 * 10**17, None]}
    table = pa.table({"fluent": ["on(a)", "on(b)"], "value": ["true"] * 2, **times})
    browser.open(Picture(chart({"timeline": table}), "long").save(tmp_path / "long.html"))
    labels = browser.evaluate("thalweg.labels()")
    assert len(labels) > 2
    assert all(label.strip("0") in ("", *"123456789", "15", "25", "35", "45") for label in labels)
    assert browser.problems() == []


def test_keys_zoom_pan_and_walk_through_intervals(small: Browser) -> None:
    span = "thalweg.view.to - thalweg.view.from"
    before, start = small.evaluate(span), small.evaluate("thalweg.view.from")
    small.press("+")
    assert small.evaluate(span) < before
    small.press("ArrowRight")
    assert small.evaluate("thalweg.view.from") > start
    small.press("0")
    assert small.evaluate(span) == pytest.approx(before)
    for _ in range(9):
        small.press("ArrowDown")
    small.press("n")
    said = small.evaluate("document.getElementById('live').textContent")
    assert said.startswith("status(lamp) = "), said
    small.press("Enter")
    assert small.evaluate(span) < before
    small.press("Escape")
    assert small.evaluate("document.getElementById('detail').hidden")


def test_searching_keeps_the_matching_lanes(small: Browser) -> None:
    small.press("/")
    small.type("lamp on")
    lanes = "thalweg.rows().filter(r => r.lane).map(r => r.lane.label)"
    assert small.evaluate(lanes) == ["on(lamp)"]
    small.press("Escape")
    assert len(small.evaluate(lanes)) == small.evaluate("thalweg.data.lanes.length")


def test_pressing_a_value_in_the_legend_hides_it(small: Browser) -> None:
    drawn = small.evaluate("thalweg.drawn")
    small.evaluate("[...document.querySelectorAll('#legend button')].find(b => b.textContent === 'warm').click()")
    small.settle()
    assert small.evaluate("thalweg.drawn") < drawn


def test_a_click_on_an_interval_shows_it(small: Browser) -> None:
    place = small.evaluate(
        "(() => { const r = thalweg.rows().find(r => r.lane && r.lane.label === 'on(lamp)');"
        "const box = document.getElementById('canvas').getBoundingClientRect();"
        "const i = thalweg.data.bars.from[r.lane.index];"
        "return [box.x + thalweg.x(thalweg.data.bars.start[i] + .5), box.y + 30 + r.y + r.h / 2]; })()"
    )
    small.click(*place)
    text = small.evaluate("document.getElementById('detail').textContent")
    assert "on(lamp) = true" in text and "revised" in text
    assert "press(lamp) at 3" in text, "the click shows why"


def test_explanations_with_names_like_markup_stay_text(small: Browser) -> None:
    shown = small.evaluate(
        "(() => { const texts = []; for (const node of thalweg.data.why.nodes) texts.push(node[0]);"
        "return texts.filter(t => t.includes('</script>')).length; })()"
    )
    assert shown > 0
    for _ in range(4):
        small.press("ArrowDown")
        small.press("n")
        assert small.evaluate("document.querySelectorAll('#detail img, #detail script').length") == 0
    assert small.evaluate("window.stolen === undefined")


def test_a_hundred_thousand_intervals_are_drawn_within_a_frame_or_two(browser: Browser, tmp_path: Path) -> None:
    drawn = chart(many_lanes(lanes=200, intervals=500), last=60_000)
    assert len(drawn.bars) == 100_000
    browser.open(Picture(drawn, "many").save(tmp_path / "many.html"))
    slowest = 0.0
    for key in ["+", "+", "ArrowRight", "+", "+", "+", "PageDown", "PageDown", "-", "-", "0"]:
        browser.press(key)
        slowest = max(slowest, browser.evaluate("(thalweg.draw(), thalweg.milliseconds)"))
    assert slowest < 250, f"a frame took {slowest} ms"
    assert browser.evaluate("thalweg.drawn") < 60_000


def test_one_crowded_lane_is_drawn_by_the_pixel(browser: Browser, tmp_path: Path) -> None:
    browser.open(Picture(chart(many_lanes(lanes=1, intervals=100_000)), "one").save(tmp_path / "one.html"))
    assert 0 < browser.evaluate("thalweg.drawn") < 3_000
    assert browser.evaluate("(thalweg.draw(), thalweg.milliseconds)") < 100


def test_an_empty_result_is_a_page_too(browser: Browser, tmp_path: Path) -> None:
    browser.open(Picture(chart({"timeline": pa.table({})}), "nothing").save(tmp_path / "empty.html"))
    assert browser.problems() == []


def test_nanosecond_times_are_written_exactly(browser: Browser, tmp_path: Path) -> None:
    start = 1_700_000_000_000_000_001
    table = pa.table({"fluent": ["f(a)"], "value": ["true"], "start": [start], "end": [start + 10]})
    browser.open(Picture(chart({"timeline": table}), "late").save(tmp_path / "late.html"))
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    assert str(start) in browser.evaluate("document.getElementById('live').textContent")


def test_the_button_saves_what_is_seen_without_complaint(small: Browser) -> None:
    small.evaluate(
        "window.saved = 0; HTMLAnchorElement.prototype.click = function () { window.saved = this.download; };"
        "document.getElementById('png').click()"
    )
    for _ in range(40):
        small.settle()
        if small.evaluate("window.saved"):
            break
    assert small.evaluate("window.saved") == "timeline.png"
    assert small.problems() == []


def test_a_title_that_looks_like_markup_stays_text(browser: Browser, tmp_path: Path) -> None:
    title = "<img src=x onerror='window.stolen=2'></title><script>window.stolen=3</script>"
    browser.open(small_run().timeline(title=title, explained=0).save(tmp_path / "title.html"))
    assert browser.evaluate("window.stolen === undefined")
    assert browser.evaluate("document.querySelector('h1').textContent") == title
    assert browser.problems() == []


def test_everything_can_be_reached_by_the_keyboard(small: Browser) -> None:
    names = small.evaluate(
        "[...document.querySelectorAll('button, input, canvas, summary')].filter(e => e.tabIndex < 0).map(e => e.id)"
    )
    assert names == []
    small.press("?")
    assert small.evaluate("document.getElementById('help').open")
    small.evaluate("document.getElementById('help').close()")
    small.press("ArrowDown")
    small.press("ArrowDown")
    small.press("n")
    assert "holds from" in small.evaluate("document.getElementById('detail').textContent")


def test_numbers_are_grouped_and_what_invites_to_search_is_not_cut_off(browser: Browser, tmp_path: Path) -> None:
    browser.open(Picture(chart(many_lanes(lanes=2, intervals=5_000)), "two").save(tmp_path / "two.html"))
    assert "10,000 intervals" in browser.evaluate("document.getElementById('count').textContent")
    room = (
        "(() => { const s = document.getElementById('search'), c = document.createElement('canvas').getContext('2d');"
        " c.font = getComputedStyle(s).font; return s.clientWidth - 42 - c.measureText(s.placeholder).width })()"
    )
    assert browser.evaluate(room) >= 0
