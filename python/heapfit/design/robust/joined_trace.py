# SPDX-License-Identifier: Apache-2.0
"""Several traces as one, to train a plan on all of them at once.

They follow each other, and what one leaves live is freed before the next begins:

    trace 1 | frees of the rest | trace 2 | frees of the rest | ...

So the most of anything (live bytes, blocks of a size, of a range of sizes) is its most in any of
them. Budgets allowed on the joined trace are those allowed at every point of every trace: a free
gives back as many bytes as the block counted for, so no release adds a limit of its own. Requests
keep their call sites, which are equal in every run of one build.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from heapfit.trace.chains import join_chains
from heapfit.trace.operations import FREE, is_allocation, is_end
from heapfit.trace.stored import Trace, TraceInfo, write_trace
from heapfit.trace.table_file import Columns


def join_traces(path: Path, traces: Sequence[Trace]) -> Trace:
    """Stores the traces at `path`, one after the other and without times."""
    widths = {trace.info.pointer_bits for trace in traces}
    kinds = {trace.info.kind for trace in traces}
    info = TraceInfo(
        source=f"{len(traces)} traces, one after the other",
        pointer_bits=widths.pop() if len(widths) == 1 else 0,
        kind=kinds.pop() if len(kinds) == 1 else "heap",
    )
    chains = join_chains([trace.chains for trace in traces])
    return write_trace(path, _batches(traces), info, lambda: chains)


def _batches(traces: Sequence[Trace]) -> Iterator[Columns]:
    born = 0
    for trace in (one for one in traces if one.info.events):
        batches = list(trace.batches(("op", "object", "size", "alignment", "site")))
        whole = {name: np.concatenate([one[name] for one in batches]) for name in batches[0]}
        count = int(np.count_nonzero(is_allocation(whole["op"])))
        is_live = np.zeros(count, np.bool_)
        # Of several events of one object the last counts.
        is_live[whole["object"]] = ~is_end(whole["op"], whole["size"])
        left = np.flatnonzero(is_live)
        yield {**whole, "object": whole["object"] + born}
        if len(left) > 0:
            yield {"op": np.full(len(left), FREE), "object": left + born}
        born += count
