"""Makes docs/picture.png: the timelines of the voting example in Chromium, one interval chosen.

    python docs/picture.py            # to docs/picture.png
    python docs/picture.py FILE       # to another file, for looking at it first

It is stored, as not everybody has Chromium: make it anew when the page of timelines looks different.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import thalweg

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "show"))

from chromium import Browser  # noqa: E402

LANES = ["lapsed", "sanctioned(a1,*)", "ballot(m0)", "outcome(m0)", "status(m0)"]
CHOSEN = "status(m0)", 630
WIDTH, HEIGHT = 1000, 733


def draw(target: Path) -> None:
    """Run the example, open its page, choose an interval, and store what is seen."""
    folder = ROOT / "examples" / "voting"
    program = thalweg.load(*(folder / name for name in ("rules.ec", "background.ec", "sample/roster.ec")))
    result = thalweg.run(program, str(folder / "sample/events.csv"), window=200, step=100, start=0, end=800)
    picture = result.timeline(only=LANES, title="A committee votes", inputs=False)
    with tempfile.TemporaryDirectory() as place:
        page = picture.save(Path(place) / "picture.html")
        browser = Browser(Path(place) / "profile")
        try:
            size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
            browser.call("Emulation.setDeviceMetricsOverride", **size)
            browser.open(page)
            browser.click(*_where(browser, *CHOSEN))
            target.write_bytes(browser.screenshot())
        finally:
            browser.close()


def _where(browser: Browser, label: str, time: int) -> list[float]:
    """Where a time of a lane is on the page."""
    found: list[float] = browser.evaluate(
        f"(() => {{ const r = thalweg.rows().find(r => r.lane && r.lane.label === '{label}');"
        "const box = document.getElementById('canvas').getBoundingClientRect();"
        f"return [box.x + thalweg.x({time}), box.y + 30 + r.y + r.h / 2]; }})()"
    )
    return found


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "picture.png")
