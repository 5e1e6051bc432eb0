# SPDX-License-Identifier: Apache-2.0
"""Rows of allocators that heapfit did not write: plug-ins, and crates of Rust by name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heapfit.bounds.trace_bounds import quick_bounds
from heapfit.league.recordings import LeagueRecording
from heapfit.league.rows import PLAIN, PLUGIN, SIZED, UNSIZED, LeagueRow
from heapfit.league.stamps import plugin_stamp
from heapfit.plugin import INCLUDE, Built, Plugin, PluginRow, measure, plugin_of
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class PluginJob:
    """A job: one plug-in, built, on one recording."""

    built: Built
    recording: LeagueRecording
    alignment: int


def crates(bits: int) -> list[Plugin]:
    """The crates that have an adapter in this package; cargo fetches them."""
    folders = sorted((INCLUDE / "crates").iterdir())
    return [plugin_of(folder, bits) for folder in folders if (folder / "Cargo.toml").exists()]


def entrant_name(plugin: Plugin) -> str:
    """A plug-in's name in letters that every table and page takes, marked if it is of 64 bit.

    >>> entrant_name(Plugin("my heap<1>", ()))
    'my_heap_1_'
    """
    name = re.sub(r"[^A-Za-z0-9._-]", "_", plugin.name)
    return name if plugin.bits == 32 else f"{name} ({plugin.bits} bit)"


def plugin_rows(job: PluginJob) -> list[LeagueRow]:
    """The one row of a job; with faults it names them, and has the figures that are known."""
    loaded = load_trace(Trace.open(job.recording.path), job.alignment)
    measured = measure(job.built, loaded.trace, job.alignment)
    return [
        LeagueRow(
            recording=job.recording.name,
            content=job.recording.content,
            recorded_bits=loaded.trace.info.pointer_bits,
            events=job.recording.events,
            alignment=job.alignment,
            kind=PLUGIN,
            entrant=entrant_name(job.built.plugin),
            interface=SIZED if measured.is_sized else UNSIZED,
            bits=measured.bits,
            learned=PLAIN,
            learned_from="",
            u_max=measured.u_max,
            packing=quick_bounds(loaded).packing,
            r_min=measured.r_min,
            r_safe=measured.r_safe,
            step=measured.step,
            accesses=measured.accesses_per_operation,
            instructions=None,
            code=None,
            stack=None,
            worst_case="",
            faults="; ".join(sorted({fault.name for fault in measured.faults})),
            note=_note(measured),
            events_replayed=measured.events_replayed,
            stamp=plugin_stamp(job.built),
        )
    ]


def _note(measured: PluginRow) -> str:
    if measured.faults:
        return str(measured.faults[0])
    return "" if measured.r_safe else "no region is safe"
