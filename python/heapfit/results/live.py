# SPDX-License-Identifier: Apache-2.0
"""The page of a recording while it is made, served on the loopback interface alone.

It is drawn anew of all that was recorded until then, once for all who ask meanwhile, by the code of
every other heap map, and asks again by itself. With the recording all that serves it ends.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from heapfit.comparison.heap_map import HeapMap, map_live
from heapfit.errors import HeapfitError, os_error_reason
from heapfit.results.document import Document
from heapfit.results.html import render
from heapfit.results.number_text import count, marked, size
from heapfit.results.packed_map import pack_map
from heapfit.results.parts import HeapMap as MapPart
from heapfit.trace.live import LiveHeap

_LOOPBACK = "127.0.0.1"
_SOONEST = 2.0  # seconds until a page asks again
_PATIENCE = 10  # times that it took to draw: then drawing takes a tenth of the time at most


def live_page(heap_map: HeapMap | None, allocator: str, is_paused: bool = False) -> Document:
    """The page of what was recorded so far, in the heap of an allocator; None: nothing was."""
    sentence, sections = "The recording has begun: nothing was requested yet.", []
    if heap_map is not None:
        region = size(heap_map.heaps[0].own.region)
        sentence = f"{count(heap_map.events)} events so far, in {allocator} of {region}."
        sections = [MapPart(pack_map(heap_map), link="")]
    place, name = ("/", "Go on") if is_paused else ("/paused", "Pause")
    return Document(
        command="record",
        title="A recording while it is made",
        sentences=(sentence,),
        remarks=(marked('<a href="{}">{}</a>', place, name),),
        sections=sections,
    )


@contextmanager
def serve_live(heap: LiveHeap, port: int) -> Iterator[int]:
    """Serves the page while the body runs; yields the port, which the system chooses for 0."""
    drawing = _Drawing(heap)
    try:
        server = _Server((_LOOPBACK, port), _handler_of(drawing, heap.plan.allocator))
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
        server.server_close()  # joins what uses the engine
        serving.join()


class _Drawing:
    """The map of a heap, drawn by one request for all that wait for it."""

    def __init__(self, heap: LiveHeap) -> None:
        self.is_over = False  # a map that is being drawn is then given up
        self.asking: set[socket.socket] = set()
        self._heap = heap
        self._turn = threading.Lock()
        self._done = 0.0  # when the latest was
        self._latest: HeapMap | None = None

    def latest(self) -> HeapMap | None:
        """The map, done after it was asked for; HeapfitError once the recording is over."""
        asked = time.monotonic()
        with self._turn:
            if self._done < asked:
                self._require_time()
                self._latest = map_live(self._heap, self._require_time)
                self._done = time.monotonic()
            return self._latest

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


def _handler_of(drawing: _Drawing, allocator: str) -> type[BaseHTTPRequestHandler]:
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
            elif self.path not in ("/", "/paused"):
                self.send_error(404)
            else:
                self._answer()

        def _answer(self) -> None:
            is_paused, begun = self.path == "/paused", time.monotonic()
            try:
                page = render(live_page(drawing.latest(), allocator, is_paused)).encode()
            except HeapfitError as error:
                self.send_error(503, explain=str(error))
                return
            wait = max(_SOONEST, _PATIENCE * (time.monotonic() - begun))
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.send_header("Cache-Control", "no-store")
            if not is_paused:
                self.send_header("Refresh", str(round(wait)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Prints nothing: stderr is the recording's."""

    return Handler
