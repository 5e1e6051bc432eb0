# SPDX-License-Identifier: Apache-2.0
"""The emulated boards: a processor, the compiler for it, and the machine that runs it."""

from __future__ import annotations

from dataclasses import dataclass

_QUIET = ("-display", "none", "-monitor", "none", "-serial", "none", "-parallel", "none")


@dataclass(frozen=True, slots=True)
class Board:
    """A processor we build for and the QEMU machine we run it on."""

    name: str
    tools: str  # prefix of the compiler and the binary tools
    flags: tuple[str, ...]  # of the compiler, to choose the processor
    rust: str  # the target of Rust's compiler
    start: str  # source in target/board
    memories: str  # linker script in target/board
    emulator: str  # program
    machine: tuple[str, ...]  # and its options


_RUST = {
    "cortex-m0": "thumbv6m-none-eabi",
    "cortex-m3": "thumbv7m-none-eabi",
    "cortex-m4": "thumbv7em-none-eabi",
}


def _cortex(name: str, processor: str, memories: str, machine: str) -> Board:
    return Board(
        name=name,
        tools="arm-none-eabi-",
        flags=(f"-mcpu={processor}", "-mthumb"),
        rust=_RUST[processor],
        start="start_arm.c",
        memories=memories,
        emulator="qemu-system-arm",
        machine=("-M", machine, *_QUIET),
    )


_RV32IMAC = Board(
    name="rv32imac",
    tools="riscv64-unknown-elf-",
    # With "_zicsr" in -march gcc 12 links the libgcc of another processor.
    flags=("-march=rv32imac", "-misa-spec=2.2", "-mabi=ilp32", "-msmall-data-limit=0"),
    rust="riscv32imac-unknown-none-elf",
    start="start_riscv.c",
    memories="virt.ld",
    emulator="qemu-system-riscv32",
    machine=("-M", "virt", "-bios", "none", *_QUIET),
)

# A Cortex-M3 runs all that is built for an M0, and its board has the memory that the M0's lacks.
BOARDS = {
    board.name: board
    for board in (
        _cortex("cortex-m4", "cortex-m4", "mps2.ld", "mps2-an386"),
        _cortex("cortex-m0", "cortex-m0", "mps2.ld", "mps2-an385"),
        _RV32IMAC,
    )
}
CORTEX_M3 = _cortex("cortex-m3", "cortex-m3", "mps2.ld", "mps2-an385")
MICROBIT = _cortex("microbit", "cortex-m0", "microbit.ld", "microbit")
