# SPDX-License-Identifier: Apache-2.0
"""The files of core that an allocator needs, found by following its includes.

    core/include/hfit/*.h  ->  hfit/*.h        core/src/**/*.{c,h}  ->  src/**/*.{c,h}

They lie beside the extension, installed by the build that compiled them into it: the C that was
measured is the C that is copied. Two files are made instead: hfit/stamp.h, which core does not
have, identifies this version of core; hfit/plan_of_build.h, core's own being for
any plan, names the one there is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from shutil import copytree

from heapfit import _engine
from heapfit.errors import HeapfitError, os_error_reason
from heapfit.generate.names import Text

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
_MEMBER = re.compile(r"\(\*(\w+)\)\(")  # a pointer to a function
_CONTRACT = re.compile(r"^#define HFIT_CONTRACT (\d+)$", re.MULTILINE)
STAMP = "hfit/stamp.h"
PLAN_OF_BUILD = "hfit/plan_of_build.h"
_GENERATED = {STAMP, PLAN_OF_BUILD}
_FOLDERS = {  # in a generated folder: in core or baselines
    "hfit": "include/hfit",
    "baselines": "include/baselines",
    "src": "src",
}


def core_folder() -> Path:
    """The folder of the installed copy of core."""
    return Path(_engine.__file__).parent / "core"


@cache
def core_text(name: str) -> str:
    """The text of a core file by its name in a generated folder, such as src/tiling/tlsf.c."""
    folder, _, file = name.partition("/")
    places = [one / _FOLDERS[folder] / file for one in _source_folders()]
    return _read(next(filter(Path.exists, places), places[0]))


def _source_folders() -> tuple[Path, Path]:
    """The installed copies of core and of the baselines, which only `heapfit run` compiles."""
    return core_folder(), core_folder().with_name("baselines")


@cache
def core_stamp() -> Text:
    """Eight hexadecimal digits that differ when any file of core does."""
    digest = hashlib.sha256()
    for path in sorted(core_folder().rglob("*.[ch]")):
        digest.update(f"{path.relative_to(core_folder()).as_posix()}\0{_read(path)}\0".encode())
    return Text(digest.hexdigest()[:8])


def recorder_texts(names: Iterable[str] = ("record.c", "record.h")) -> dict[str, str]:
    """Files of the recorder by name: those that a heap calls."""
    return {name: _read(_recorder_folder() / name) for name in names}


def sink_texts() -> dict[str, str]:
    """The sinks of the recorder, by file name; a program builds one of them."""
    sinks = _recorder_folder() / "sinks"
    return {f"sinks/{path.name}": _read(path) for path in sorted(sinks.glob("*.[ch]"))}


def copy_recorder(folder: Path) -> None:
    """Copies the whole recorder, with its adapters and build files, and the licence."""
    copytree(_recorder_folder(), folder, dirs_exist_ok=True)
    (folder / "LICENSE").write_text(licence(), "utf-8")


def _recorder_folder() -> Path:
    return Path(_engine.__file__).parent / "recorder"


def preload_folder() -> Path:
    """The folder with the sources of what is preloaded into Linux programs."""
    return Path(_engine.__file__).parent / "preload"


def licence() -> str:
    """The licence that core's files are under."""
    return _read(core_folder() / "LICENSE")


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        reason = os_error_reason(error)
        raise HeapfitError(f"{path}: cannot be read: {reason} (install heapfit again)") from error


def find_includes(text: str) -> list[str]:
    """The names of the core files that a C text includes."""
    names = _INCLUDE.findall(text)
    return [name for name in names if name.partition("/")[0] in _FOLDERS and name not in _GENERATED]


def collect_core_files(sources: Iterable[str], wrapper: str) -> dict[str, str]:
    """Sources of core, and every header these or `wrapper` include: texts by name."""
    left = [*sources, *find_includes(wrapper)]
    texts: dict[str, str] = {}
    while left:
        name = left.pop()
        if name not in texts:
            texts[name] = core_text(name)
            left += find_includes(texts[name])
    return dict(sorted(texts.items()))


def source_names(allocators: Iterable[str]) -> list[Text]:
    """The sources of allocators, as names in a generated folder."""
    return [Text(_source_name(allocator)) for allocator in allocators]


def _source_name(allocator: str) -> str:
    """The name of an allocator's source in a generated folder."""
    sources = [
        source.relative_to(folder).as_posix()
        for folder in _source_folders()
        for source in folder.glob(f"src/**/{allocator}.c")
    ]
    if len(sources) != 1:
        raise HeapfitError(f"{core_folder()}: has no {allocator}.c (install heapfit again)")
    return sources[0]


def header_of(allocator: str) -> Text:
    """The header of an allocator, as a name in a generated folder."""
    is_shipped = (core_folder() / f"include/hfit/{allocator}.h").exists()
    return Text(f"{'hfit' if is_shipped else 'baselines'}/{allocator}.h")


def operation_names() -> list[Text]:
    """The members of hfit_operations, in their order."""
    _, _, rest = core_text("hfit/contract.h").partition("typedef struct hfit_operations {")
    body, _, _ = rest.partition("} hfit_operations;")
    return [Text(name) for name in _MEMBER.findall(body)]


def contract_number() -> int:
    """The value of HFIT_CONTRACT in this core."""
    match = _CONTRACT.search(core_text("hfit/version.h"))
    if match is None:
        raise HeapfitError(f"{core_folder()}: has no HFIT_CONTRACT (install heapfit again)")
    return int(match.group(1))
