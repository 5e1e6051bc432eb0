# SPDX-License-Identifier: Apache-2.0
"""Recording firmware that has `recorder/target` in it: over a serial line, or in an emulator.

What comes over a line is kept beside the trace, since a device may not say it twice.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapfit import _engine
from heapfit.errors import HeapfitError, first_line, require_linux
from heapfit.importers import import_frames
from heapfit.importers.followed import FollowedFrames, Listener, ignore_recording
from heapfit.outputs import ours
from heapfit.programs.executable import explain_elf_errors
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.stored import Trace

_FRAMES = "heapfit.frames"  # recorder/target/sinks/semihosting.c writes there
_UART = "uart.log"
_ARM, _RISCV = 40, 243  # the machine in an ELF header
# Emulator, and the machine it has if none is asked for.
_EMULATORS = {_ARM: ("qemu-system-arm", "mps2-an385"), _RISCV: ("qemu-system-riscv32", "virt")}
_MONITOR, _CONSOLE = "monitor", "console.log"
_QUIET = (
    "-display",
    "none",
    "-monitor",
    f"unix:{_MONITOR},server=on,wait=off",
    "-parallel",
    "none",
)
_SILENT = "(never drained, drained before the sink was ready, or given a sink that is not static"
_LOOK = 1.0  # seconds between looks at a run
_LOOKS_EACH = 0.25  # s, for the end of the time
_STATUS = re.compile(rb"XPSR=([0-9a-f]{8})")
_FAULTS = range(2, 7)  # Armv7-M, "Exception number definition": NMI, HardFault to UsageFault
_OUTPUT = re.compile(
    rb"^(?!qemu-system-|Timer with period).*?([ -~]{4,})[\r\n]*$", re.MULTILINE
)  # not QEMU's


@dataclass(frozen=True, slots=True)
class TargetRecording:
    """The trace of a target's frames, and how the recording ended."""

    trace: Trace
    ending: str  # in words
    log: Path | None = None  # where the bytes that came are kept
    status: int | None = None  # the image's, if it ended by itself
    is_interrupted: bool = False  # by Ctrl-C; not over a serial line, where that ends a recording


@dataclass(frozen=True, slots=True)
class Emulation:
    """How an image is run."""

    image: Path
    arguments: tuple[str, ...] = ()  # of its command line, by semihosting
    machine: str = ""  # of QEMU [mps2-an385 for Arm, virt for RISC-V], then its own options
    seconds: float | None = None  # after which it is ended; None: when it ends, or by Ctrl-C
    is_heard: bool = True  # its console is heapfit's stderr; else nobody's


def log_of_line(output: Path) -> Path:
    """Where the bytes that come over a line are kept, beside the trace."""
    return output.with_suffix(".frames")


def record_serial(
    device: Path | str,
    rate: int,
    seconds: float | None,
    output: Path | str,
    progress: Progress = ignore_progress,
) -> TargetRecording:
    """Listens to a device until the time is over, by Ctrl-C, or until it goes, and imports that."""
    output = Path(output)
    ours.require_folder(output)
    log = log_of_line(output)
    ours.require_replaceable(log)
    ending = listen(str(device), rate, log, seconds)
    ours.mark_ours(log)
    ours.add_output(log)
    if not _engine.has_frame(log.read_bytes()):
        raise HeapfitError(f"{device}: {ending}, and no frames came at {rate:,} baud {_SILENT})")
    return TargetRecording(import_frames(log, output, progress), ending, log)


def record_emulated(
    emulation: Emulation,
    output: Path | str,
    progress: Progress = ignore_progress,
    log: Path | None = None,
    listener: Listener = ignore_recording,
) -> TargetRecording:
    """Runs an image in QEMU and imports the frames it wrote to a file or to its first UART.

    What it wrote is kept at `log`, if one is named.
    """
    output = Path(output)
    ours.require_folder(output)
    command = _command(emulation)
    with tempfile.TemporaryDirectory(prefix="heapfit-") as name:
        folder = Path(name)
        logs = (folder / _FRAMES, folder / _UART)
        with listener(FollowedFrames(*logs)):
            words, status, is_interrupted = _run(command, folder, emulation)
        written = [file for file in logs if file.is_file() and _engine.has_frame(file.read_bytes())]
        if not written:
            raise HeapfitError(
                f"{emulation.image}: {words} and wrote no frames {_SILENT}, or of a heap without "
                "a recorder)"
            )
        trace = import_frames(written[0], output, progress)
        if log is not None:
            shutil.copyfile(written[0], log)
        return TargetRecording(trace, words, log, status, is_interrupted)


def run_emulated(emulation: Emulation) -> tuple[str, int | None]:
    """How an image ends that records nothing: in words, and the status if it ended by itself."""
    command = _command(emulation)
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        words, status, is_interrupted = _run(command, Path(folder), emulation)
    if is_interrupted:
        raise KeyboardInterrupt
    return words, status


def _command(emulation: Emulation) -> list[str]:
    require_linux(f"{emulation.image}: an emulated board")
    image = emulation.image.resolve()
    emulator, machine = _EMULATORS[_machine_of(emulation.image)]
    if shutil.which(emulator) is None:
        raise HeapfitError(f"{emulator}: not found (install QEMU's system emulators)")
    given = "".join(
        f",arg={word.replace(',', ',,')}" for word in (image.name, *emulation.arguments)
    )
    has_name = re.match(r"\w", emulation.machine)
    asked = emulation.machine if has_name else f"{machine} {emulation.machine}"
    return [
        *(
            emulator,
            *(("-bios", "none") if machine == "virt" else ()),
            "-M",
            *asked.split(),
            *_QUIET,
        ),
        *("-serial", f"file:{_UART}"),
        *("-semihosting-config", f"enable=on,target=native{given}"),
        *("-kernel", str(image)),
    ]


def _machine_of(image: Path) -> int:
    """The machine number in the header of an ELF file."""
    with explain_elf_errors(image), image.open("rb") as file:
        head = file.read(20)
    machine = struct.unpack_from("<H", head, 18)[0] if head.startswith(b"\x7fELF\x01") else 0
    if machine not in _EMULATORS:
        raise HeapfitError(
            f"{image}: is not a 32-bit Arm or RISC-V image (give the linked ELF file)"
        )
    return int(machine)


def _run(command: Sequence[str], folder: Path, how: Emulation) -> tuple[str, int | None, bool]:
    """Runs the emulator to its end; Ctrl-C reaches it, too, and ends it.

    How it ended, the image's status if it ended by itself, and whether it was interrupted.
    """
    with (
        (folder / _CONSOLE).open("wb") as said,
        subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if how.is_heard else said,
        ) as emulator,
    ):
        try:
            words, status = _wait(emulator, folder, how.seconds)
        except KeyboardInterrupt:
            emulator.terminate()
            return "was interrupted", None, True
    return words + ("" if status == 0 else _last_output(folder)), status, False


def _wait(
    emulator: subprocess.Popen[bytes], folder: Path, seconds: float | None
) -> tuple[str, int | None]:
    """Waits until an image ends, its time is over, or two looks find it in a fault's handler."""
    faults, began = 0, time.monotonic()
    while faults < 2:
        left = _LOOK if seconds is None else began + seconds - time.monotonic()
        if left <= 0:
            emulator.terminate()
            return f"was ended after {seconds:g} s", None
        with suppress(subprocess.TimeoutExpired):
            status = emulator.wait(min(left, _LOOK))
            return f"ended with status {status}", status
        faults = faults + 1 if _is_in_fault(folder) else 0
    emulator.terminate()
    return "stays in the handler of a fault", None


def _is_in_fault(folder: Path) -> bool:
    """True if the processor handles a fault, which the emulator's monitor tells of Arm's."""
    said = b""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as monitor:
        monitor.settimeout(_LOOK)
        monitor.connect(str(folder / _MONITOR))
        monitor.sendall(b"info registers\n")
        while not (found := _STATUS.search(said)) and (more := monitor.recv(4096)):
            said += more
        return found is not None and int(found[1], 16) & 0x1FF in _FAULTS
    return False


def _last_output(folder: Path) -> str:
    """What an image printed last, as a clause; nothing if it printed no text."""
    texts = [
        _OUTPUT.findall(log.read_bytes())
        for log in (folder / _CONSOLE, folder / _UART)
        if log.is_file()
    ]
    said = next((lines[-1:] for lines in texts if lines), [])
    named = [line for lines in texts for line in lines if line.startswith(b"heapfit: ")]
    return "".join(f", after {line[:250].decode()!r}" for line in named[:1] or said)


def listen(line: str, rate: int, log: Path, seconds: float | None) -> str:
    """Writes what comes over a line to `log`; the result says how that ended.

    It ends after `seconds`, by Ctrl-C, or when the device goes. HeapfitError if there is no line.
    """
    end = float("inf") if seconds is None else time.monotonic() + seconds
    with _open_line(line, rate) as port, log.open("wb", buffering=0) as kept:
        try:
            while time.monotonic() < end and (said := _read(port)) is not None:
                kept.write(said)
        except KeyboardInterrupt:
            return "interrupted"
        return "the device was removed" if time.monotonic() < end else "the time limit was reached"


def _read(port: Any) -> bytes | None:  # noqa: ANN401 (pyserial has no types)
    """What has come, which may be nothing for a while; None where the other end is gone."""
    try:
        return bytes(port.read(port.in_waiting or 1))
    except OSError:
        return None


def _open_line(line: str, rate: int) -> Any:  # noqa: ANN401 (likewise)
    # Nothing but a recording over a line waits for it to be loaded.
    import serial.tools.list_ports

    try:
        return serial.serial_for_url(line, rate, timeout=_LOOKS_EACH)
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else first_line(error)
        known = ", ".join(port.device for port in serial.tools.list_ports.comports())
        raise HeapfitError(
            f"{line}: is no serial line that opens at {rate:,} baud: {reason} "
            f"(lines of this machine: {known or 'none'})"
        ) from error
