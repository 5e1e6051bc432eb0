# SPDX-License-Identifier: Apache-2.0
"""Who asked for the blocks of a dumped heap, by the recording of the same run."""

from __future__ import annotations

from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.importers.boots import cut_boots, read_frames
from heapfit.importers.formats import FRAMES
from heapfit.importers.source_lines import places_in
from heapfit.outputs.scratch import scratch_folder


def find_askers(log: Path, program: Path) -> dict[int, str]:
    """The function and line that asked last for a block at each address (its lower 32 bits).

    Of the last boot in the log: the dump was made in it. HeapfitError if the log is none of frames,
    has no call sites, or the program has not the code that they are in.
    """
    with scratch_folder() as scratch:
        reader, columns = read_frames(cut_boots(log, FRAMES, scratch)[-1])
    sites = columns["site"][columns["size"] > 0]
    places = places_in([program], {int(site) for site in sites if site})
    if not places:
        raise HeapfitError(f"{log}: tells no call sites of {program.name} (docs/on-target.md)")
    return {
        at: places[site].description if site in places else ""
        for at, site in zip(reader.addresses.tolist(), sites.tolist(), strict=False)
    }
