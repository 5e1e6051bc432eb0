# SPDX-License-Identifier: Apache-2.0
"""A source opened for one command: a stored trace as it is, anything else made for the time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heapfit.importers import ImportOptions, open_any
from heapfit.progress import Progress
from heapfit.trace.stored import Trace


@contextmanager
def opened_trace(source: Path, options: ImportOptions, progress: Progress) -> Iterator[Trace]:
    """The source's trace; one that had to be imported is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        yield open_any(source, options, Path(folder), progress)
