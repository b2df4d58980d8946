# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its own pipe: no driver, no network, no port.

It speaks the DevTools protocol on two file descriptors, a message of JSON and a zero byte each way.
"""

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

_ANSWER_S = 30


class Browser:
    """One page in one browser. `problems` are console errors and exceptions, `requests` what the
    page asked for apart from itself."""

    def __init__(self, profile: Path) -> None:
        program = shutil.which("chromium")
        assert program is not None, "chromium is missing: tools/setup test"
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # The browser has the pipe as 3 and 4, whatever its numbers are here.
        line = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", line, "chromium", program, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._number = 0
        self._session = ""
        self.problems: list[str] = []
        self.requests: list[str] = []

    def __enter__(self) -> "Browser":
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        made = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = made["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._write)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one message."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        for answer in self._messages():
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
        raise AssertionError(f"{method}: the browser ended")

    def _messages(self) -> Iterator[dict[str, Any]]:
        """What the browser says; events are noted on the way."""
        while True:
            while b"\0" not in self._rest:
                more = os.read(self._read, 1 << 20)
                if not more:
                    return
                self._rest += more
            text, _, self._rest = self._rest.partition(b"\0")
            message = json.loads(text)
            self._note(message.get("method"), message.get("params", {}))
            yield message

    def _note(self, method: str | None, event: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(event["exceptionDetails"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.problems.append(event["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning"):
            self.problems.append(json.dumps(event["args"]))

    def open(
        self, page: Path, *, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> float:
        """Load a page and wait until it is drawn; seconds that took."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media="", features=features)
        self.requests.clear()
        self.problems.clear()
        start = time.monotonic()
        self.ask("Page.navigate", url=page.resolve().as_uri())
        while self.run("document.documentElement?.dataset.drawn ?? ''") != "yes":
            assert time.monotonic() - start < _ANSWER_S, f"{page} was not drawn: {self.problems}"
            time.sleep(0.01)
        took = time.monotonic() - start
        self.requests.remove(page.resolve().as_uri())
        return took

    def run(self, script: str) -> Any:
        """The value of a script, awaited."""
        done = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
            userGesture=True,
        )  # fmt: skip
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """A key, as a person presses one."""
        key_is = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **key_is)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **key_is)

    def picture(self, *, whole: bool = False) -> bytes:
        """What is seen, or the whole page, as PNG."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    def printed(self) -> bytes:
        """The page on paper, as PDF."""
        made = self.ask("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(made["data"])


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    with Browser(profile) as opened:
        yield opened
