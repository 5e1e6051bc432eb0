# SPDX-License-Identifier: Apache-2.0
"""A page that is drawn anew when it is asked for, on the loopback interface alone.

It is drawn once for all who ask meanwhile, and asks again by itself. Whatever serves it ends with
the context: who waits, sends nothing or takes nothing holds nothing up.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Generic, TypeVar

from heapfit.errors import HeapfitError, os_error_reason
from heapfit.progress import Progress

Drawn = TypeVar("Drawn")

_LOOPBACK = "127.0.0.1"
_SOONEST = 2.0  # seconds until a page asks again
_PATIENCE = 10  # times that it took to draw: then drawing takes a tenth of the time at most


@contextmanager
def serve_page(
    port: int,
    draw: Callable[[Progress], Drawn],
    show: Callable[[Drawn, str], str],
    asks_again: Mapping[str, bool],
) -> Iterator[int]:
    """Serves the page while the body runs; yields the port, which the system chooses for 0.

    `draw` does what is shared, and is given up by an error that its progress raises; `show` makes
    the page of a path, one of `asks_again`.
    """
    drawing = _Drawing(draw)
    try:
        server = _Server((_LOOPBACK, port), _handler_of(drawing, show, asks_again))
    except OSError as error:
        reason = os_error_reason(error)
        raise HeapfitError(f"--page {port}: {reason} (choose another port)") from error
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        drawing.hang_up()
        server.server_close()  # joins what draws
        serving.join()


class _Drawing(Generic[Drawn]):
    """What is drawn by one request for all that wait for it."""

    def __init__(self, draw: Callable[[Progress], Drawn]) -> None:
        self.is_over = False  # what is being drawn is then given up
        self.asking: set[socket.socket] = set()
        self._draw = draw
        self._turn = threading.Lock()
        self._latest: tuple[float, Drawn] | None = None  # when it was done

    def latest(self) -> Drawn:
        """What was done after it was asked for; HeapfitError once all is over."""
        asked = time.monotonic()
        with self._turn:
            if self._latest is None or self._latest[0] < asked:
                self._require_time()
                drawn = self._draw(self._require_time)
                self._latest = (time.monotonic(), drawn)
            return self._latest[1]

    def hang_up(self) -> None:
        """Nothing more is read from who asks, or waited for to be taken."""
        self.is_over = True
        for one in tuple(self.asking):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _require_time(self, *_: object) -> None:
        if self.is_over:
            raise HeapfitError("the recording has ended")


class _Server(ThreadingHTTPServer):
    """Serves each request in a thread, for which server_close waits."""

    daemon_threads = False

    def handle_error(self, *_: object) -> None:
        """Prints nothing: stderr is the recording's."""


def _handler_of(
    drawing: _Drawing[Drawn], show: Callable[[Drawn, str], str], asks_again: Mapping[str, bool]
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers with the page; other hosts' names, which a foreign page may use, are refused."""

        def setup(self) -> None:
            """Begins with a connection, which may come too late."""
            super().setup()
            drawing.asking.add(self.connection)
            if drawing.is_over:
                drawing.hang_up()

        def finish(self) -> None:
            """Ends with a connection."""
            drawing.asking.discard(self.connection)
            super().finish()

        def do_GET(self) -> None:
            """Draws the page."""
            host = self.headers.get("Host", "").partition(":")[0]
            if host not in (_LOOPBACK, "localhost"):
                self.send_error(403)
            elif self.path not in asks_again:
                self.send_error(404)
            else:
                self._answer()

        def _answer(self) -> None:
            begun = time.monotonic()
            try:
                page = show(drawing.latest(), self.path).encode()
            except HeapfitError as error:
                self.send_error(503, explain=str(error))
                return
            wait = max(_SOONEST, _PATIENCE * (time.monotonic() - begun))
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.send_header("Cache-Control", "no-store")
            if asks_again[self.path]:
                self.send_header("Refresh", str(round(wait)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Prints nothing: stderr is the recording's."""

    return Handler
