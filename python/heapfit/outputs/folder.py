# SPDX-License-Identifier: Apache-2.0
"""Folders whose contents appear together or not at all, and replace nothing of somebody else's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from heapfit.errors import HeapfitError
from heapfit.outputs import ours
from heapfit.outputs.file import explain_write_errors
from heapfit.outputs.scratch import claim_folder, drop, remove

Require: TypeAlias = Callable[[Path], None]  # HeapfitError if what lies there may not be replaced


@contextlib.contextmanager
def stage_folder(
    folder: Path, require: Require = ours.require_replaceable, goes: Sequence[str] = ()
) -> Iterator[Path]:
    """A folder to write to, which becomes `folder` at the end and is gone on any exception.

    Where `folder` is there, what was written is moved into it, other entries stay; entries
    named in `goes` go even if there are no new ones. An exception meanwhile, Ctrl-C included, puts
    back what was replaced. HeapfitError if an entry is not to be replaced; of `goes`, at once.
    """
    _require_entries(folder, goes, require)
    is_there = folder.is_dir()  # its parent may be another disk
    with explain_write_errors(folder):
        parent = folder if is_there else folder.parent
        made = _find_missing(parent)
        parent.mkdir(parents=True, exist_ok=True)
        scratch, lock = claim_folder(parent)
    try:
        new, old = scratch / "new", scratch / "old"
        new.mkdir()
        old.mkdir()
        with ours.collect_outputs(), _name_target_in_errors(folder, new):
            yield new
        names = sorted(entry.name for entry in new.iterdir())
        _require_entries(folder, [*goes, *names], require)
        if names:
            with explain_write_errors(folder):
                move_staged(new, folder, old, goes)
            if any(old.iterdir()):
                ours.add_replaced(folder)
            ours.add_output(folder)
    finally:
        drop(scratch, lock)
        _remove_empty(made)


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """A folder to fill step by step, by commands that know its path; gone on any exception.

    HeapfitError if it is there and not empty.
    """
    ours.require_no_link(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise HeapfitError(f"{folder}: is not empty (name another with -o)")
    made = _find_missing(folder)
    with explain_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for entry in folder.iterdir():
            remove(entry)
        _remove_empty(made)
        raise


def _require_entries(folder: Path, names: Sequence[str], require: Require) -> None:
    ours.require_no_link(folder)
    if folder.exists() and not folder.is_dir():
        raise HeapfitError(f"{folder}: is not a folder (choose another place)")
    for name in names:
        if not ours.is_mark(name):
            require(folder / name)


@contextlib.contextmanager
def _name_target_in_errors(folder: Path, staging: Path) -> Iterator[None]:
    """Makes errors raised inside name the final folder, not the staging folder."""
    try:
        yield
    except HeapfitError as error:
        if str(staging) not in str(error):
            raise
        raise HeapfitError(str(error).replace(str(staging), str(folder))) from error


def _find_missing(folder: Path) -> list[Path]:
    """The folders on the way to `folder`, itself included, that do not exist; the deepest first."""
    return [one for one in (folder, *folder.parents) if not one.exists()]


def _remove_empty(made: Sequence[Path]) -> None:
    """Removes the folders that are still empty."""
    for one in made:
        with contextlib.suppress(OSError):
            one.rmdir()


def move_staged(new: Path, folder: Path, old: Path, goes: Sequence[str]) -> None:
    """Makes `new` the folder; where that is there, entries take the place of their namesakes."""
    if folder.is_dir():
        exchange(new, folder, old, goes)
    else:
        new.rename(folder)


def exchange(new: Path, folder: Path, old: Path, goes: Sequence[str] = ()) -> None:
    """Moves each entry of `new` into `folder`; what had its name, or is in `goes`, into `old`."""
    made = sorted(entry.name for entry in new.iterdir())
    try:
        for name in sorted({*goes, *made}):
            if (folder / name).exists():
                (folder / name).rename(old / name)
            if name in made:
                (new / name).rename(folder / name)
    except BaseException:
        _restore(made, new, folder, old)
        raise


def _restore(made: Sequence[str], new: Path, folder: Path, old: Path) -> None:
    """Undoes an exchange, however far it came: what is no longer in `new` has been moved."""
    for name in made:
        if not (new / name).exists():
            (folder / name).rename(new / name)
    for entry in sorted(old.iterdir()):
        entry.rename(folder / entry.name)
