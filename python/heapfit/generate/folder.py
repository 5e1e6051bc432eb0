# SPDX-License-Identifier: Apache-2.0
"""A generated folder appears whole or not at all, and replaces nothing that somebody else wrote.

heapfit.sha256 lists every file with its hash. A folder may be replaced if it is empty, or if it
holds just what its list says, object files aside, and in a crate what cargo builds. Files that are
listed may differ where that is allowed (--force); no other is ever removed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.outputs import ours
from heapfit.outputs.folder import stage_folder
from heapfit.plugin.sources import CRATE

MANIFEST = "heapfit.sha256"
_LINE = re.compile(r"([0-9a-f]{64})  ([\w./-]+)")
_BUILT = {".o", ".a", ".d", ".su"}
_BUILT_BY_CARGO = {"Cargo.lock", "target"}  # the latter is a folder


@contextlib.contextmanager
def stage_code_folder(folder: Path) -> Iterator[Path]:
    """A folder to write to, which becomes `folder` at the end and vanishes on any exception."""
    require_our_code(folder)
    goes = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    with stage_folder(folder, lambda _: None, goes) as staging:
        yield staging
        _write_manifest(staging)


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Writes files by their names, which may be in folders."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="")


def _write_manifest(folder: Path) -> None:
    lines = [f"{ours.hash_file(path)}  {path.relative_to(folder)}\n" for path in list_files(folder)]
    (folder / MANIFEST).write_text("".join(lines), encoding="utf-8")


def list_files(folder: Path) -> list[Path]:
    """All files below a folder, links to folders included, in order."""
    return sorted(one for one in folder.rglob("*") if one.is_symlink() or not one.is_dir())


def require_our_code(folder: Path) -> None:
    """HeapfitError if the folder holds what `generate` did not write, or what was edited since."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise HeapfitError(f"{folder}: is not a folder (choose another place for the code)")
    if not folder.is_dir():
        return
    listed = _read_manifest(folder)
    for path in list_files(folder):
        place = path.relative_to(folder)
        name = str(place)
        is_cargos = CRATE in listed and place.parts[0] in _BUILT_BY_CARGO
        if name == MANIFEST or path.suffix in _BUILT or is_cargos:
            continue
        if name not in listed:
            raise HeapfitError(
                f"{path}: was not written by heapfit generate (move it away, or choose another "
                "folder for the code)"
            )
        ours.require_no_link(path)
        if not ours.is_forced() and ours.hash_file(path) != listed[name]:
            raise HeapfitError(
                f"{path}: was edited after it was generated (keep what you need and delete it, or "
                "give --force)"
            )


def _read_manifest(folder: Path) -> dict[str, str]:
    """The hash of each file by name, from the folder's manifest; empty if it has none."""
    try:
        lines = (folder / MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {match[2]: match[1] for match in map(_LINE.fullmatch, lines) if match}
