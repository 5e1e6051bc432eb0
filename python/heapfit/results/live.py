# SPDX-License-Identifier: Apache-2.0
"""The page of a recording while it is made, by the code of every other heap map."""

from __future__ import annotations

from contextlib import AbstractContextManager

from heapfit.comparison.heap_map import HeapMap, map_live
from heapfit.outputs.served_page import serve_page
from heapfit.results.document import Document
from heapfit.results.html import render
from heapfit.results.number_text import count, marked, size
from heapfit.results.packed_map import pack_map
from heapfit.results.parts import HeapMap as MapPart
from heapfit.trace.live import LiveHeap


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


def serve_live(heap: LiveHeap, port: int) -> AbstractContextManager[int]:
    """Serves the page of what was recorded until then; gives the port."""
    return serve_page(
        port,
        lambda progress: map_live(heap, progress),
        lambda drawn, path: render(live_page(drawn, heap.plan.allocator, path == "/paused")),
        {"/": True, "/paused": False},
    )
