# SPDX-License-Identifier: Apache-2.0
"""Embedded systems, and their settings for recordings or captures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from heapfit.comparison.incumbents.heap import make_system_heap
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS, find_system
from heapfit.errors import HeapfitError
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Place, Request, Workload, read_workload
from heapfit.importers import ImportOptions
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sizing.demand import require_queue
from heapfit.sizing.run_out import check_admission
from heapfit.sizing.settings import (
    Assumption,
    Form,
    Settings,
    SettingsOptions,
    describe_sources,
    override_assumptions,
)
from heapfit.sizing.systems.buffer_chains import NETX, NIMBLE, OPENTHREAD
from heapfit.sizing.systems.heap_settings import size_heap_setting, size_object_pools
from heapfit.sizing.systems.lwip import LWIP
from heapfit.sizing.systems.system import (
    Captures,
    HeapSetting,
    ObjectPools,
    System,
)
from heapfit.sizing.systems.whole_buffers import MATTER, RIOT, TINYUSB, ZEPHYR_BLUETOOTH
from heapfit.sizing.systems.zephyr import ZEPHYR

# portable/MemMang/heap_4.c
_FREERTOS = System(
    "FreeRTOS heap_4",
    Form.DEFINE,
    packets=None,
    heap=HeapSetting(
        "configTOTAL_HEAP_SIZE",
        "none: every project sets it",
        "Add stacks and queues of tasks that the recordings do not hold.",
        (
            Assumption("alignment", 8, "portBYTE_ALIGNMENT in bytes", "most 32-bit ports"),
            Assumption(
                "block_link",
                SYSTEM_HEAPS["heap_4"]["header"],
                "sizeof(BlockLink_t), aligned, in bytes",
                "heap_4.c with 32-bit pointers",
            ),
        ),
        lambda known: make_system_heap(
            "heap_4",
            known["alignment"],
            header=known["block_link"],
            rest=known["block_link"] + 1,
        ),
    ),
)
SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        "lwip": LWIP,
        "zephyr": ZEPHYR,
        "zephyr-bluetooth": ZEPHYR_BLUETOOTH,
        "nimble": NIMBLE,
        "openthread": OPENTHREAD,
        "netx": NETX,
        "riot": RIOT,
        "tinyusb": TINYUSB,
        "matter": MATTER,
        "freertos": _FREERTOS,
    }
)
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
    check_admission(options.admission)
    name = find_system(name)
    if name not in SYSTEMS:
        raise HeapfitError(f"settings: '{name}' must be one of {', '.join(SYSTEMS)}")
    with scratch_folder() as folder:
        place = Place(Path(folder) / "result", Path(folder))
        fit_options = FitOptions(
            importing=import_options or ImportOptions(), most_events=sys.maxsize
        )
        stages = WeightedProgress(progress, _FORETOLD)
        workload = read_workload(sources, Request(place, fit_options, stages=stages))
        for one in workload.recordings:
            require_queue(one.source, one.trace, fit_options.importing.queue)
        return _size(name, workload, options, stages.part("size"))


def _size(name: str, workload: Workload, options: SettingsOptions, progress: Progress) -> Settings:
    system = SYSTEMS[name]
    traces = [one.trace for one in workload.recordings]
    are_packets = {one.info.kind == "packets" for one in traces}
    if len(are_packets) > 1:
        raise HeapfitError("settings: captures and recordings of a heap cannot be sized together")
    way = system.packets if True in are_packets and system.packets else system.heap
    if way is None:
        raise HeapfitError(
            f"{traces[0].path}: {system.title}'s messages are packets: give a capture, not a "
            "heap's trace"
        )
    assumptions = override_assumptions(way.assumptions, options.assume, name)
    known = {one.name: one.value for one in assumptions}
    if isinstance(way, HeapSetting):
        sized = size_heap_setting(way, workload, options, known, progress)
    elif isinstance(way, ObjectPools):
        sized = size_object_pools(way, traces, options, progress)
    else:
        sized = way.size(Captures(traces, options, progress), known)
    return Settings(
        system=system.title,
        form=system.form,
        admission=options.admission,
        settings=sized.settings,
        memory=sized.memory,
        choices=sized.choices,
        assumptions=assumptions,
        remarks=(*workload.warnings(), *sized.remarks),
        source=describe_sources([(one.source, one.trace.info) for one in workload.recordings]),
    )
