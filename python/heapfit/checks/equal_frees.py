# SPDX-License-Identifier: Apache-2.0
"""A log without addresses: which of equal blocks a free meant, and what that can cost.

Live bytes are the same whichever was freed; what a heap needs is not. Of the two readings, the
oldest freed first and the newest, the one that needs more is stored.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.importers import ImportOptions, import_file, open_trace
from heapfit.trace.loaded import STANDARD_ALIGNMENT
from heapfit.trace.stored import Trace

_HEAP = "heap_4"


def settle_equal_frees(
    log: Path, trace: Trace, options: ImportOptions
) -> tuple[Trace, tuple[str, ...]]:
    """The trace of the reading that needs more memory, and a note with both needs.

    `trace` was imported from the log by these options; it is replaced where the other needs more.
    Of a log with addresses it is returned as it is.
    """
    own = options.own_lines
    if own is None or own.has_addresses:
        return trace, ()
    newest = replace(options, own_lines=replace(own, frees_newest=True))
    with open_trace(log, newest) as other:
        needs = measure(find_heap(_HEAP, STANDARD_ALIGNMENT), (trace, other)).memories
    oldest, newest_first = (math.inf if one is None else one for one in needs)
    told = ["more than 4 GiB" if one is None else f"{one:,} B" for one in needs]
    kept, which = trace, "oldest"
    if newest_first > oldest:
        kept, which = import_file(log, trace.path, newest), "newest"
    return kept, (
        f"Paired by size: which of equal blocks was freed is not told. {_HEAP} needs {told[0]} "
        f"if the oldest was, {told[1]} if the newest was; the trace frees the {which}.",
    )
