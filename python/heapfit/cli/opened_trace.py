# SPDX-License-Identifier: Apache-2.0
"""A source opened for one command: a stored trace as it is, anything else made for the time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from heapfit.progress import Progress

if TYPE_CHECKING:
    from heapfit.importers import ImportOptions
    from heapfit.trace.stored import Trace


@contextmanager
def opened_trace(source: Path, options: ImportOptions, progress: Progress) -> Iterator[Trace]:
    """The source's trace; one that had to be imported is gone afterwards."""
    from heapfit.importers import open_any

    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        yield open_any(source, options, Path(folder), progress)
