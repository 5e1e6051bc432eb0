# SPDX-License-Identifier: Apache-2.0
"""What a file is, by its content, and what to do with one that is given where another is meant."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from heapfit.errors import HeapfitError
from heapfit.importers.formats import CORE_DUMP, FORMATS, LOG, STORED_MAGIC
from heapfit.importers.source import read_calls
from heapfit.importers.stream import ByteStream
from heapfit.plan.plan_file import KIND
from heapfit.plan.toml_table import read_document
from heapfit.store_file import StoreFile
from heapfit.trace.kinds import SourceKind

# What may stand for a kind beside itself; all else is refused with the advice below.
_STAND_INS: Final = MappingProxyType(
    {SourceKind.RECORDING: SourceKind.CAPTURE, SourceKind.PROGRAM: SourceKind.IMAGE}
)
_ADVICE: Final[Mapping[SourceKind, str]] = MappingProxyType(
    {
        SourceKind.RECORDING: "heapfit fit {path} makes a plan and its C code from it",
        SourceKind.CAPTURE: "heapfit size {path} sizes pools for it, heapfit fit {path} a heap",
        SourceKind.PLAN: "heapfit check RECORDING --plan {path} checks a recording against it, "
        "heapfit generate {path} makes its C code",
        SourceKind.SCENARIO: "heapfit simulate {path} simulates its traffic, "
        "heapfit size {path} sizes pools for it",
        SourceKind.PROGRAM: "heapfit record -- {program} makes a recording of it",
        SourceKind.IMAGE: "heapfit record --qemu {path} makes a recording of it",
        SourceKind.SOURCE: "compile it; heapfit record -- PROGRAM makes a recording of the program",
    }
)
_INCLUDE: Final = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"]", re.MULTILINE)
_ELF, _SCRIPT = b"\x7fELF", b"#!"
_HOSTS: Final = (3, 62)  # e_machine of programs for i386 and x86-64
_LOADER: Final = b"/ld-"  # in the name of what loads a Linux program


def classify_file(path: Path) -> SourceKind:
    """What a file is; of what is no plain file, such as a pipe, nothing is read.

    >>> classify_file(Path("/bin/sh")).name
    'PROGRAM'
    """
    if not path.is_file():
        return SourceKind.UNKNOWN
    try:
        with ByteStream(path) as stream:
            head = stream.head
    except HeapfitError:
        return SourceKind.UNKNOWN
    if head.startswith((_ELF, _SCRIPT)) and not re.match(CORE_DUMP, head):
        return _classify_program(head)
    if head.startswith(STORED_MAGIC):
        return SourceKind.RECORDING
    known = next((one for one in FORMATS if one.matches(head)), None)
    if known is None or (known is LOG and not read_calls(head, None)):  # a word that looks like one
        return SourceKind.SOURCE if _INCLUDE.search(head) else _classify_document(path)
    return SourceKind.CAPTURE if known.name == "packets" else SourceKind.RECORDING


def require_kind(path: Path, *wanted: SourceKind) -> Path:
    """The path of a file that may be any of these; HeapfitError says what another is good for.

    A file of a store is looked at where it is read.
    """
    if isinstance(path, StoreFile):
        return path
    kind = classify_file(path)
    if kind is SourceKind.UNKNOWN and not path.exists() and shutil.which(str(path)):
        kind = SourceKind.PROGRAM
    is_taken = any(kind in (one, _STAND_INS.get(one)) for one in wanted)
    if kind is not SourceKind.UNKNOWN and not is_taken:
        raise HeapfitError(f"{path}: is {kind} ({advise(path, kind)})")
    return path


def advise(path: Path, kind: SourceKind) -> str:
    """What a file of this kind is good for.

    >>> advise(Path("a b.heap"), SourceKind.RECORDING)
    "heapfit fit 'a b.heap' makes a plan and its C code from it"
    """
    is_found = "/" in str(path) or not path.exists()  # as a shell finds a program
    program = str(path) if is_found else f"./{path}"
    return _ADVICE[kind].format(path=shlex.quote(str(path)), program=shlex.quote(program))


def is_path(word: str) -> bool:
    """True if a word, which may be a name with values behind a colon, is a path.

    >>> is_path("run.heap"), is_path("out/run"), is_path("tlsf:probes=3")
    (True, True, False)
    """
    return "/" in word or "." in word.partition(":")[0] or Path(word).exists()


def _classify_program(head: bytes) -> SourceKind:
    machine = int.from_bytes(head[18:20], "little" if head[5:6] == b"\x01" else "big")
    is_foreign = head.startswith(_ELF) and machine not in _HOSTS and _LOADER not in head
    return SourceKind.IMAGE if is_foreign else SourceKind.PROGRAM


def _classify_document(path: Path) -> SourceKind:
    try:
        document = read_document(path, KIND)
    except HeapfitError:
        return SourceKind.UNKNOWN
    tables = {"plan": SourceKind.PLAN, "traffic": SourceKind.SCENARIO}
    return next((kind for name, kind in tables.items() if name in document), SourceKind.UNKNOWN)
