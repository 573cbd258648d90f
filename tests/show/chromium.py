"""A real browser for tests: headless Chromium, spoken to over two pipes, with nothing installed in between."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page in one browser; `evaluate` runs a script in it, `press` is a key on the keyboard."""

    def __init__(self, folder: Path, size: tuple[int, int] = (1200, 700)) -> None:
        assert CHROMIUM is not None
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        flags = f"--headless --no-sandbox --disable-gpu --remote-debugging-pipe --user-data-dir={folder}"
        command = f'exec "{CHROMIUM}" {flags} --window-size={size[0]},{size[1]} 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._left = b""
        self._number = 0
        self.messages: list[dict[str, Any]] = []
        target = self._call("Target.createTarget", url="about:blank")
        attached = self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    _session: str | None = None

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._call(method, **params)

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.messages.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            piece = os.read(self._in, 1 << 16)
            assert piece, "the browser has gone"
            self._left += piece
        text, self._left = self._left.split(b"\0", 1)
        return dict(json.loads(text))

    def open(self, path: Path) -> None:
        self.messages.clear()
        self.call("Page.navigate", url=path.as_uri())
        self.wait("document.readyState === 'complete' && window.thalweg && window.thalweg.milliseconds > 0")

    def wait(self, condition: str, seconds: float = 20.0) -> None:
        until = time.monotonic() + seconds
        while not self.evaluate(f"!!({condition})"):
            assert time.monotonic() < until, f"{condition} did not come true; {self.problems()}"
            time.sleep(0.05)

    def evaluate(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)
        self.settle()

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def settle(self) -> None:
        """Two frames, so that what was asked for is drawn."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def screenshot(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def problems(self) -> list[Any]:
        """Exceptions and log entries since the page was opened."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        return [m["params"] for m in self.messages if m.get("method") in kinds]

    def requests(self) -> list[str]:
        """What the page has asked for."""
        sent = [m for m in self.messages if m.get("method") == "Network.requestWillBeSent"]
        return [m["params"]["request"]["url"] for m in sent]

    def close(self) -> None:
        os.close(self._out)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        os.close(self._in)
