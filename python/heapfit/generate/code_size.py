# SPDX-License-Identifier: Apache-2.0
"""How many bytes of ROM a generated folder's code takes, by the compilers that are here."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.generate.names import Text, printable

_FREESTANDING = ("-std=c11", "-ffreestanding", "-Os", "-fno-asynchronous-unwind-tables", "-fno-pie")
_GCC_ONLY = "-fno-tree-loop-distribute-patterns"
_LINK = ("-nostdlib", "-static", "-no-pie", "-Wl,--gc-sections", "-Wl,--entry=0")
_FUNCTION = re.compile(r"(\w+)\([^()]*\);$", re.MULTILINE)
_CODE_SECTION = re.compile(r"^\.text\S* +(\d+)", re.MULTILINE)
_PATIENCE = 60  # seconds for one command


@dataclass(frozen=True, slots=True)
class CodeSize:
    """What one compiler made of all functions of the generated header."""

    compiler: Text
    target: Text  # options that choose the processor; empty: the compiler's own
    code: int  # bytes of instructions, without tables


@dataclass(frozen=True, slots=True)
class _Compiler:
    command: str
    size_command: str
    target: tuple[str, ...] = ()


_COMPILERS = (
    _Compiler("arm-none-eabi-gcc", "arm-none-eabi-size", ("-mcpu=cortex-m4", "-mthumb")),
    _Compiler("cc", "size"),
)


def measure(folder: Path, header: Path) -> list[CodeSize]:
    """One figure for each compiler that is here and can link the folder; nothing is left in it."""
    functions = _FUNCTION.findall(header.read_text(encoding="utf-8"))
    found = (_measure(compiler, folder, functions) for compiler in _COMPILERS)
    return [size for size in found if size is not None]


def _measure(compiler: _Compiler, folder: Path, functions: Sequence[str]) -> CodeSize | None:
    with tempfile.TemporaryDirectory(prefix="heapfit-") as scratch:
        image = Path(scratch) / "image"
        try:
            about = _run(folder, compiler.command, "--version").splitlines()[0]
            machine = _run(folder, compiler.command, "-dumpmachine").strip()
            own_options = () if "clang" in about else (_GCC_ONLY,)
            _run(
                folder,
                compiler.command,
                *(*compiler.target, *_FREESTANDING, *own_options),
                *("-ffunction-sections", "-fdata-sections", "-I."),
                *(str(source.relative_to(folder)) for source in sorted(folder.rglob("*.c"))),
                *(*_LINK, *(f"-Wl,-u,{function}" for function in functions), "-o", str(image)),
            )
            sections = _run(folder, compiler.size_command, "-A", str(image))
        except (OSError, subprocess.SubprocessError):
            return None
    code = sum(int(size) for size in _CODE_SECTION.findall(sections))
    return CodeSize(printable(f"{about}, {machine}"), Text(" ".join(compiler.target)), code)


def _run(folder: Path, *command: str) -> str:
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"LC_ALL": "C"},
        check=True,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
    ).stdout
