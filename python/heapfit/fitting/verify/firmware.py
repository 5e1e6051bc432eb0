# SPDX-License-Identifier: Apache-2.0
"""A user's firmware: built with a heap in it, and run in an emulator."""

from __future__ import annotations

import math
import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from elftools.elf.elffile import ELFFile

from heapfit import external_tool
from heapfit.errors import HeapfitError
from heapfit.importers.target_log import Emulation, TargetRecording, record_emulated, run_emulated
from heapfit.programs.source_lines import places_in
from heapfit.progress import Progress, ignore_progress

_REPORT = re.compile(r"'heapfit: (.*)'")  # of a heap of `generate --for guard`
_CALLER = re.compile(r"by (0x[0-9a-f]+)")
_LOADED = 2  # SHF_ALLOC
_RUN = "{run}"
_RECORD = "{record}"
_TIMES = 5  # the time of the slowest run, after which another is taken to hang
_LEAST_SECONDS, _UNKNOWN_SECONDS = 60.0, 600.0  # that it has at least; while no run has ended
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(slots=True)
class Firmware:
    """The command that builds an image, and how the image is run.

    In the words of `build`, {code} stands for the folder of the heap's C, {record} for 1 where
    requests are to be recorded, else for nothing, {region} for the bytes of the heap; there and in
    the image's own arguments, {run} for the run's number. Without {record} the C records itself.
    NAME=VALUE before the command goes to its environment, as a shell has it.
    """

    build: str  # a command; no shell reads it
    emulation: Emulation
    slowest: float = 0.0  # seconds, of the runs that ended by themselves; 0: none has

    _values: dict[str, str] = field(default_factory=dict, init=False)  # of the image that is meant

    @property
    def has_recorder(self) -> bool:
        """True if the build adds a recorder itself; otherwise the heap's C has to record."""
        return _RECORD in self.build

    @property
    def limit(self) -> float:
        """Seconds after which a run is ended: as the user says, or five times the slowest."""
        most = max(_LEAST_SECONDS, _TIMES * self.slowest) if self.slowest else _UNKNOWN_SECONDS
        return self.emulation.seconds or most

    def make(self, code: Path | None, is_recorded: bool, region: int) -> None:
        """Builds the image, with the heap in `code` or the firmware's own of `region` bytes.

        Where the command has a {run}, each run builds its own. HeapfitError with what the command
        said last if it fails.
        """
        folder = "" if code is None else str(code.resolve())
        self._values = {"code": folder, "record": "1" * is_recorded, "region": str(region)}
        if _RUN not in self.build:
            self._build(self._values)

    def _build(self, values: Mapping[str, str]) -> None:
        words = _fill_in(shlex.split(self.build), values)
        assigned = []
        while len(words) > 1 and _ASSIGNMENT.match(words[0]):
            assigned.append(words.pop(0).split("=", 1))
        external_tool.run(words, Path.cwd(), math.inf, environment=dict(assigned))
        if not self.emulation.image.is_file():
            raise HeapfitError(f"{self.emulation.image}: the build did not make it")

    def record(
        self, run: int, output: Path, progress: Progress = ignore_progress
    ) -> TargetRecording:
        """Records one run of an image; stores its trace at `output`, its log in the same folder."""
        log, began = output.with_suffix(".frames"), time.monotonic()
        recorded = record_emulated(self._prepare(run), output, progress, log)
        if recorded.is_interrupted:
            raise KeyboardInterrupt
        self._note_time(recorded.status, began)
        return recorded

    def run(self, run: int) -> tuple[str, int | None]:
        """How one run of an image without the recorder ends: in words, and its status."""
        began = time.monotonic()
        words, status = run_emulated(self._prepare(run))
        self._note_time(status, began)
        return words, status

    def measure_flash(self, run: int) -> int:
        """Bytes that a run's image loads: code, constants and what variables begin with."""
        self._prepare(run)
        with self.emulation.image.open("rb") as file:
            return sum(
                section["sh_size"]
                for section in ELFFile(file).iter_sections()
                if section["sh_flags"] & _LOADED and section["sh_type"] != "SHT_NOBITS"
            )

    def name_misuse(self, run: int) -> str | None:
        """What a run over a heap that names misuse says, by function and line; None: nothing."""
        words, _ = self.run(run)
        report = _REPORT.search(words)
        if report is None:
            return None
        callers = {int(one, 16) for one in _CALLER.findall(report[1])}
        places = places_in([self.emulation.image], callers)
        names = {f"by {site:#x}": f"by {place.description}" for site, place in places.items()}
        return _CALLER.sub(lambda one: names.get(one[0], one[0]), report[1])

    def _note_time(self, status: int | None, began: float) -> None:
        if status is not None:
            self.slowest = max(self.slowest, time.monotonic() - began)

    def _prepare(self, run: int) -> Emulation:
        """The image of this run, built first if it is this run's alone."""
        if _RUN in self.build:
            self._build(self._values | {"run": str(run)})
        words = _fill_in(list(self.emulation.arguments), {"run": str(run)})
        return replace(self.emulation, arguments=tuple(words), seconds=self.limit)


def _fill_in(words: list[str], values: Mapping[str, str]) -> list[str]:
    """The words with each {name} replaced; other braces stay.

    >>> _fill_in(["make", "HEAP={code}", "{x}"], {"code": "out/code"})
    ['make', 'HEAP=out/code', '{x}']
    """
    for name, value in values.items():
        words = [word.replace(f"{{{name}}}", value) for word in words]
    return words
