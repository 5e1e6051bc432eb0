# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, driven over its debugging pipe: no port, no other package.

messages to it | file descriptor 3, from it | 4; each is JSON and ends in a zero byte
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

PATIENCE = 60  # seconds for an answer, on a busy machine


class Chromium:
    """A browser; as a context it ends with its block."""

    def __init__(self, profile: Path, width: int = 1400, height: int = 900) -> None:
        self._to_it, self._from_it, self._process = _start(profile, (width, height))
        self._left = b""
        self._number = 0
        self.messages: list[str] = []  # of the console and of exceptions
        self.requests: list[str] = []  # what the page asked for beside itself
        targets = self._ask("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self._ask("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_: object) -> None:
        self._ask("Browser.close")
        self._process.wait(PATIENCE)
        os.close(self._to_it)
        os.close(self._from_it)

    def ask(self, method: str, **parameters: object) -> dict:
        """The answer to a command of the page."""
        return self._ask(method, self._session, **parameters)

    def open(self, page: Path) -> None:
        """Loads a file and waits until it is there."""
        self.messages.clear()
        self.requests.clear()
        self.run("window.isLeft = true")  # a page may be opened anew: not that one is waited for
        self.ask("Page.navigate", url=page.as_uri())
        self.wait_for("!window.isLeft && document.readyState === 'complete'")

    def run(self, script: str) -> object:
        """The value of an expression; what it promises, once it is there."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.02)

    def move(self, x: float, y: float) -> None:
        """The mouse, to a point of the window; the page has heard of it."""
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self._draw()

    def press(self, key: str, code: int) -> None:
        """A key; `code` is the Windows one."""
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            given = {"type": kind, "key": key, "windowsVirtualKeyCode": code}
            self.ask("Input.dispatchKeyEvent", **given, **(text if kind == "keyDown" else {}))

    def resize(self, width: int, height: int, *, is_phone: bool = False) -> None:
        """Of the window, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics)

    def prefer(self, scheme: str) -> None:
        """light or dark; the page is drawn so."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.ask("Emulation.setEmulatedMedia", features=[feature])
        self._draw()

    def picture(self, **clip: float) -> bytes:
        """A PNG of the whole page, or of a part of it: x, y, width, height."""
        part = {"clip": {"scale": 1, **clip}} if clip else {}
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True, **part)
        return base64.b64decode(answer["data"])

    def pdf(self) -> bytes:
        """As it would be printed on A4."""
        answer = self.ask("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(answer["data"])

    def _draw(self) -> None:
        """Two frames: what the first hears of stands in the second."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _ask(self, method: str, session: str | None = None, **parameters: object) -> dict:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to_it, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer)

    def _next(self) -> dict:
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._from_it], [], [], PATIENCE)
            assert ready, "Chromium does not answer"
            some = os.read(self._from_it, 1 << 20)
            assert some, "Chromium ended"
            self._left += some
        message, self._left = self._left.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event: dict) -> None:
        told = event.get("params", {})
        if event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.messages.append(json.dumps(told)[:500])
        elif event["method"] == "Log.entryAdded":
            self.messages.append(told["entry"]["text"])
        elif event["method"] == "Network.requestWillBeSent":
            url = told["request"]["url"]
            if told["type"] != "Document" and not url.startswith(("data:", "blob:")):
                self.requests.append(url)


def _start(profile: Path, size: tuple[int, int]) -> tuple[int, int, subprocess.Popen]:
    """The browser with the two ends of its pipes."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program, "scripts/install-packages test installs chromium"
    its_in, to_it = os.pipe()
    from_it, its_out = os.pipe()
    words = [
        *(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *("--remote-debugging-pipe", "--no-first-run", "--disable-background-networking"),
        *(f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", "about:blank"),
    ]
    shell = ["bash", "-c", f'exec "$@" 3<&{its_in} 4>&{its_out}', "bash", *words]
    process = subprocess.Popen(
        shell, pass_fds=(its_in, its_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(its_in)
    os.close(its_out)
    return to_it, from_it, process
