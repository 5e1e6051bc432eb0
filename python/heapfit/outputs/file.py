# SPDX-License-Identifier: Apache-2.0
"""Files appear whole or not at all: written under a staging name in their folder, then renamed.

They replace nothing of somebody else's (heapfit.outputs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from heapfit.errors import HeapfitError, os_error_reason
from heapfit.outputs import ours
from heapfit.outputs.scratch import scratch_folder


@contextmanager
def stage_file(
    path: Path, require: Callable[[Path], None] = ours.require_replaceable
) -> Iterator[Path]:
    """A path to write to, which becomes `path` at the end and vanishes on any exception.

    Folders on the way are made, and a new one that stays empty is taken away again. HeapfitError
    at once, and at the end, if `require` finds at `path` what is not to be replaced.
    """
    require(path)
    is_new_folder = not path.parent.exists()
    try:
        with explain_write_errors(path), ExitStack() as stack:
            path.parent.mkdir(parents=True, exist_ok=True)
            staging = stack.enter_context(scratch_folder(path.parent)) / "part"
            yield staging
            ours.mark_ours(staging)
            require(path)
            if path.exists():
                ours.add_replaced(path)
            staging.replace(path)
            ours.move_mark(staging, path)
            ours.add_output(path)
    finally:
        if is_new_folder:
            with suppress(OSError):
                path.parent.rmdir()


def write_file(
    path: Path, content: bytes, require: Callable[[Path], None] = ours.require_replaceable
) -> None:
    """Writes a file, which appears whole or not at all; HeapfitError as of `stage_file`."""
    with stage_file(path, require) as staging:
        staging.write_bytes(content)


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Makes errors of the system raised inside one line about the output at `path`."""
    try:
        yield
    except OSError as error:
        reason = os_error_reason(error)
        raise HeapfitError(f"{path}: cannot be written: {reason} (choose another place)") from error
