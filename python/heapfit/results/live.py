# SPDX-License-Identifier: Apache-2.0
"""The page of a recording while it is made, by the code of every other heap map."""

from __future__ import annotations

from contextlib import AbstractContextManager

from heapfit.comparison.heap_map import HeapMap, map_live
from heapfit.drawing.document import Document
from heapfit.drawing.html import render
from heapfit.drawing.number_text import count, mark_up
from heapfit.drawing.parts import HeapMapView
from heapfit.outputs.served_page import serve_page
from heapfit.results.packed_map import pack_map
from heapfit.trace.live import FollowedRecording, LiveHeap


def live_page(heap_map: HeapMap | None, figures: str, is_paused: bool = False) -> Document:
    """The page of what was recorded so far, with the terminal's figures; None: nothing was."""
    sentence, sections = "The recording has begun: nothing was requested yet.", []
    if heap_map is not None:
        sentence = f"{figures}. {count(heap_map.events)} events so far."
        sections = [HeapMapView(pack_map(heap_map), link="")]
    place, name = ("/", "Go on") if is_paused else ("/paused", "Pause")
    return Document(
        command="record",
        title="A recording while it is made",
        sentences=(sentence,),
        remarks=(mark_up('<a href="{}">{}</a>', place, name),),
        sections=sections,
    )


def describe_live(heap: LiveHeap, recording: FollowedRecording) -> str:
    """What the last look at a recording came to, in one line."""
    growth, room, hole = heap.figures
    live = recording.reader
    found = "out of memory" if hole is None else f"largest hole {hole:,} B"
    lost = f"; {recording.lost:,} events lost" if recording.lost else ""
    needs = "needs" if heap.region is None else "in"
    return (
        f"{live.live_bytes:,} B live in {live.live_blocks:,} blocks, {growth:+,} B; "
        f"{heap.plan.allocator} {needs} {room:,} B, {found}{lost}"
    )


def _page_of(heap: LiveHeap, heap_map: HeapMap | None, is_paused: bool) -> Document:
    figures = describe_live(heap, heap.recording) if heap.recording else ""
    return live_page(heap_map, figures, is_paused)


def serve_live(heap: LiveHeap, port: int) -> AbstractContextManager[int]:
    """Serves the page of what was recorded until then; gives the port."""
    return serve_page(
        port,
        lambda progress: map_live(heap, progress),
        lambda drawn, path: render(_page_of(heap, drawn, path == "/paused")),
        {"/": True, "/paused": False},
    )
