# SPDX-License-Identifier: Apache-2.0
"""Embedded systems, and their settings for recordings or captures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heapfit.comparison.incumbents.heap_names import find_system
from heapfit.errors import HeapfitError
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Place, Request, Workload, read_workload
from heapfit.importers import ImportOptions
from heapfit.importers.packets import find_devices
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sizing.demand import require_queue
from heapfit.sizing.run_out import check_admission
from heapfit.sizing.settings import (
    Settings,
    SettingsOptions,
    describe_sources,
    override_assumptions,
)
from heapfit.sizing.systems.facts import SYSTEMS, standard_assumptions
from heapfit.sizing.systems.heap_settings import size_from_heap
from heapfit.sizing.systems.packets import size_packets

_LEAST_MTU, _MTU = 68, 1500  # bytes: of any link (RFC 791), of Ethernet
_VERBS = {"to": "receives", "from": "sends"}
_FORETOLD = {"import": 0.2, "read": 0.2, "size": 0.6}  # seconds, measured on the lwIP example
__all__ = ["SYSTEMS", "SettingsOptions", "settings_for"]


def settings_for(
    name: str,
    sources: Sequence[Path],
    options: SettingsOptions,
    import_options: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> Settings:
    """The settings of a system, or a system's heap, for all of the recordings or captures.

    Recordings with equal requests count as one, as in a fit.
    """
    check_admission(options.admission, may_be_all=True)
    name = find_system(name)
    if name not in SYSTEMS:
        raise HeapfitError(f"settings: '{name}' must be one of {', '.join(SYSTEMS)}")
    importing, told = _choose_side(sources, import_options or ImportOptions(), options)
    importing = replace(importing, largest_packet=max(options.assume.get("mtu", _MTU), _LEAST_MTU))
    with scratch_folder() as folder:
        place = Place(Path(folder) / "result", Path(folder))
        fit_options = FitOptions(importing=importing, most_events=sys.maxsize)
        stages = WeightedProgress(progress, _FORETOLD)
        workload = read_workload(sources, Request(place, fit_options, stages=stages))
        for one in workload.recordings:
            require_queue(one.source, one.trace, importing.queue)
        sized = _size(name, workload, options, stages.part("size"))
    return replace(sized, remarks=(*told, *sized.remarks))


def _choose_side(
    sources: Sequence[Path], importing: ImportOptions, options: SettingsOptions
) -> tuple[ImportOptions, Sequence[str]]:
    """What a device receives of captures that hold both directions, and what to say of it."""
    queue, side = importing.queue, "from" if options.assume.get("sent") else "to"
    devices = None if queue is None or "=" in queue else find_devices(sources)
    if devices is None:
        return importing, ()
    choices = [f"--queue {queue},{side}={device}" for device in devices or ["ADDRESS"]]
    if len(devices) != 1:
        return importing, (
            "BOTH DIRECTIONS ARE COUNTED, which is too much. Name your device to count what it "
            f"{_VERBS[side]}: {' or '.join(choices)}",
        )
    told = f"only packets that {devices[0]} {_VERBS[side]} are counted: it is at an end of all"
    return replace(importing, queue=choices[0].split()[1]), (told,)


def _size(name: str, workload: Workload, options: SettingsOptions, progress: Progress) -> Settings:
    system = SYSTEMS[name]
    traces = [one.trace for one in workload.recordings]
    are_packets = {one.info.kind == "packets" for one in traces}
    if len(are_packets) > 1:
        raise HeapfitError("settings: captures and recordings of a heap cannot be sized together")
    facts = (True in are_packets and system.get("packets")) or system.get("heap")
    if facts is None:
        raise HeapfitError(
            f"{traces[0].path}: {system['title']}'s messages are packets: give a capture, not a "
            "heap's trace"
        )
    assumptions = override_assumptions(standard_assumptions(facts), options.assume, name)
    known = {one.name: one.value for one in assumptions}
    if "parts" in facts:
        sized = size_packets(
            facts, traces, admission=options.admission, known=known, progress=progress
        )
    else:
        sized = size_from_heap(facts, workload, options, known, progress)
    return Settings(
        system=system["title"],
        form=system["form"],
        admission=options.admission,
        settings=sized.settings,
        memory=sized.memory,
        choices=sized.choices,
        assumptions=assumptions,
        remarks=(*workload.warnings(), *sized.remarks),
        source=describe_sources([(one.source, one.trace.info) for one in workload.recordings]),
    )
