# SPDX-License-Identifier: Apache-2.0
"""A program of this machine run on a plan's heap: out of memory where the device would be.

    plan --> generated C + recorder/preload.c --> library, preloaded --> program
                                                        |
                                        a file that both map: events, first refusal

The library sees the calls that the recorder sees, so its first refusal is the event of `check`.
Blocks themselves stay the C library's, since code for this machine may need 16-byte alignment.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, region_of_plan
from heapfit.comparison.trial import Refusal
from heapfit.errors import HeapfitError
from heapfit.external_tool import run, wait_for
from heapfit.generate import write_heap_sources
from heapfit.generate.core_files import preload_folder
from heapfit.importers.preload import OWN_BITS, find_program, preload_first, recorder_settings
from heapfit.importers.processes import pad_path
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.programs.executable import read_executable
from heapfit.programs.source_lines import places_in
from heapfit.trace.chains import DEPTH, Chains

_RUN = struct.Struct("<20Q")  # hfit_run of recorder/planned_heap.h
_BEGUN, _NO_REGION = 1, 2
_SOURCES = ("preload", "planned_heap", "next_heap", "site")
_FLAGS = (
    *("-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin", "-pthread"),
    *("-ftls-model=initial-exec", "-static-libgcc"),
    *("-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-DHFIT_PLANNED_HEAP"),
)


@dataclass(frozen=True, slots=True)
class HostRun:
    """A program's run on a plan's heap, and the first request that ran out of memory."""

    program: str
    plan: PlanFile
    region: int  # bytes
    pointer_bits: int  # of the program
    status: int | None  # its exit status; below 0: a signal, negated; None: ended as it hung
    seconds: float
    events: int  # that were served, as a recording counts them
    peak: int  # most live bytes
    refused: int  # requests that ran out of memory
    first: Refusal | None
    last: Refusal | None  # without its free blocks
    site: int  # the recorder's hash of the first one's caller; 0: unknown
    last_site: int
    caller: str | None = None  # the first one's, by function and line where the program has it

    @property
    def holds(self) -> bool:
        """True if the program ended with status 0 and never ran out of memory."""
        return self.status == 0 and self.refused == 0


@dataclass(frozen=True, slots=True)
class PlannedProgram:
    """A program, and the library of the plan's heap to load before it."""

    plan: PlanFile
    command: tuple[str, ...]
    program: Path
    bits: int
    preload: Mapping[str, str]  # the variable that loads the heap
    depth: int  # callers of each request, as they are recorded
    folder: Path  # for the file that a run is known by

    def run(self, region: int | None = None, seconds: float | None = None) -> HostRun:
        """Runs the program in a region, the plan's by default.

        `seconds`: a limit, after which it is taken to hang; with one its output is dropped.
        """
        size = (self.plan.region if region is None else region) or 0
        file = self.folder / "run"
        self.write_request(file, region_of_plan(self.plan, size))
        begun = time.monotonic()
        status = self._wait(
            {**os.environ, **self.preload, **recorder_settings(pad_path(file), self.depth)}, seconds
        )
        return self.read_run(file, size, status, time.monotonic() - begun)

    def write_request(self, file: Path, region: int) -> None:
        """Writes the file that this process's child maps (recorder/planned_heap.h)."""
        file.write_bytes(_RUN.pack(region, os.getpid(), *[0] * 18))

    def read_run(self, file: Path, region: int, status: int | None, seconds: float) -> HostRun:
        """The run of which the file tells; HeapfitError if it never began."""
        result = _RUN.unpack(file.read_bytes())[2:]
        if result[0] != _BEGUN:
            raise HeapfitError(self._explain_no_run(result[0], region))
        first, last = result[6:12], result[12:18]
        return HostRun(
            program=self.program.name,
            plan=self.plan,
            region=region,
            pointer_bits=result[1],
            status=status,
            seconds=seconds,
            events=result[2],
            peak=result[4],
            refused=result[5],
            first=Refusal(*first[:5]) if result[5] else None,
            last=Refusal(*last[:5]) if result[5] else None,
            site=first[5],
            last_site=last[5],
        )

    def name_sites(self, sites: Collection[int], chains: Chains | None = None) -> dict[int, str]:
        """The place in the program of each call site, or of its innermost caller known there."""
        callers = {site: (chains or {}).get(site, (site,)) for site in sites if site}
        places = places_in([self.program], {one for each in callers.values() for one in each})
        return {
            site: next((places[one].description for one in each if one in places), f"{site:08x}")
            for site, each in callers.items()
        }

    def _wait(self, environment: dict[str, str], seconds: float | None) -> int | None:
        """The exit status; None if it took longer than the limit."""
        output = None if seconds is None else subprocess.DEVNULL
        with _reopen_input() as stdin:
            return wait_for(
                self.command, seconds, env=environment, stdin=stdin, stdout=output, stderr=output
            )

    def _explain_no_run(self, state: int, region: int) -> str:
        if state == _NO_REGION:
            return f"{self.plan.name}: its heap cannot be made in {region:,} B (give a larger one)"
        return f"{self.program}: did not load the heap (is it confined, or a script of another?)"


@contextmanager
def _reopen_input() -> Iterator[int | None]:
    """The standard input from its beginning, if it is a file; else as it is."""
    try:
        file = os.open("/dev/stdin", os.O_RDONLY) if Path("/dev/stdin").is_file() else None
    except OSError:
        file = None
    try:
        yield file
    finally:
        if file is not None:
            os.close(file)


@contextmanager
def prepare_program(
    plan: PlanFile | Path | str, command: Sequence[str], depth: int = 1
) -> Iterator[PlannedProgram]:
    """Compiles a plan's heap for a program; HeapfitError if there is no compiler.

    Of a system's own heap it is the algorithm that replays it, asked as the system is.
    """
    plan_file = plan if isinstance(plan, PlanFile) else load_plan(Path(plan))
    program = find_program(command)
    executable = read_executable(program)
    if executable is not None and executable.is_musl:
        raise HeapfitError(f"{program}: is a program of musl (build it for glibc to run it)")
    bits = executable.bits if executable else OWN_BITS
    with scratch_folder() as folder, ExitStack() as stack:
        preload = preload_first(_compile_heap(plan_file, folder, bits), stack)
        path = executable.path if executable else program
        used = DEPTH if plan_file.plan.sites else depth
        yield PlannedProgram(plan_file, tuple(command), path, bits, preload, used, folder)


def _compile_heap(plan: PlanFile, folder: Path, bits: int) -> Path:
    heap = heap_of_plan(plan)
    design = write_heap_sources(replace(plan, region=region_of_plan(plan)), folder, "run")
    sites = ", ".join(f"{{0x{site:08x}, {tag}}}" for site, tag in plan.plan.sites.items())
    compiler = next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        raise HeapfitError("cc: not found: the heap is compiled for this machine (install gcc)")
    own = preload_folder()
    sources = [*sorted(folder.rglob("*.c")), *(own / f"{name}.c" for name in _SOURCES)]
    defined = [
        *(["-DHFIT_SIZED_FREES"] if design.needs_size else []),
        *([f"-DHFIT_SITE_TAGS={sites}"] if sites else []),
        *([] if heap.is_ours else _define_heap(heap)),
    ]
    library = folder / "libheapfit_run.so"
    width = [] if bits == OWN_BITS else [f"-m{bits}"]  # an option that not every compiler has
    flags = [*width, *_FLAGS, *defined, f"-I{folder}", f"-I{own}", "-include", "run_heap.h"]
    try:
        run([compiler, *flags, *map(str, sources), "-o", str(library), "-ldl"], folder)
    except HeapfitError as error:
        hint = " (a 32-bit program: install gcc-multilib)" if bits == 32 else ""
        raise HeapfitError(f"the heap cannot be compiled{hint}: {error}") from error
    return library


def _define_heap(heap: Heap) -> list[str]:
    """The options of the compiler that make the library ask as a system does."""
    unit = heap.plan.alignment
    asks = (heap.resizes.name, heap.least, heap.mark % 256, unit, 2**24 if heap.aligns else unit)
    return [f"-DHFIT_SYSTEM_HEAP={', '.join(map(str, asks))}", "-DHFIT_MARKS=0"]


def run_program(
    plan: PlanFile | Path | str, command: Sequence[str], region: int | None = None
) -> HostRun:
    """Runs a program on a plan's heap, in a region of the plan's size or of `region` bytes."""
    with prepare_program(plan, command) as program:
        done = program.run(region)
        return replace(done, caller=program.name_sites([done.site]).get(done.site))
