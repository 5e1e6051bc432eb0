# SPDX-License-Identifier: Apache-2.0
"""A snapshot: the heaps of a memory image at one moment, stored as JSON (docs/image.md).

It is a list of what was live then; no size of a heap follows from it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.images.find import find_heaps
from heapfit.images.memory import open_memory
from heapfit.images.references import mark_references
from heapfit.images.structs import name_structs
from heapfit.images.walk import DumpedHeap
from heapfit.importers.boots import cut_boots, read_frames
from heapfit.importers.formats import FRAMES, SNAPSHOT
from heapfit.importers.stream import read_chunks
from heapfit.json_records import DAMAGED, restore_record
from heapfit.outputs.file import write_file
from heapfit.outputs.scratch import scratch_folder
from heapfit.programs.source_lines import places_in

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The heaps of one moment."""

    source: str  # the dump
    heaps: tuple[DumpedHeap, ...]
    notes: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        """Stores it at `path`, which appears whole or not at all."""
        write_file(path, json.dumps({SNAPSHOT: _VERSION, **asdict(self)}).encode())


def read_image(
    dump: Path, program: Path, at: int | None = None, log: Path | None = None
) -> Snapshot:
    """The heaps in a core dump of a program, or in raw memory that lies `at` an address.

    Who asked for a block is told by the recorder's `log` of frames of the same run, which has call
    sites. HeapfitError if a file cannot be read, or the dump holds no heap that is known.
    """
    memory = open_memory(dump, program, at)
    heaps, missing = find_heaps(memory)
    if not heaps:
        raise HeapfitError(
            f"{dump}: holds no heap: "
            + ("; ".join(missing) or f"{program.name} has the symbols of none (docs/image.md)")
            + "".join(f"; {one}" for one in memory.notes)
        )
    mark_references(
        memory,
        heaps,
        name_structs(program, memory, heaps) | (_find_askers(log, program) if log else {}),
    )
    lost = sum(
        bytes_lost
        for start, end in memory.sections
        for bytes_lost in [end - start - len(memory.words(start, end)) * memory.pointer]
        if bytes_lost > 2 * memory.pointer  # beside those before and behind whole words
    )
    note = f"{lost:,} B of data and bss were not captured: blocks may be referenced from there"
    return Snapshot(dump.name, tuple(heaps), (*missing, *memory.notes, *[note] * (lost > 0)))


def _find_askers(log: Path, program: Path) -> dict[int, str]:
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


def open_snapshot(path: Path) -> Snapshot | None:
    """The snapshot stored at `path`; None if it is another file; HeapfitError if it is damaged."""
    start = f'{{"{SNAPSHOT}": {_VERSION},'
    if not path.is_file() or not next(read_chunks(path), b"").startswith(start.encode()):
        return None
    try:
        restored: Snapshot = restore_record(Snapshot, json.loads(path.read_bytes()))
    except DAMAGED as error:
        raise HeapfitError(f"{path}: is a damaged snapshot (import the dump again)") from error
    return restored
