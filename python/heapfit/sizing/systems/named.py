# SPDX-License-Identifier: Apache-2.0
"""Sizes of a heap's requests that the user knows by name: a pool of its own for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heapfit.errors import HeapfitError
from heapfit.progress import Progress
from heapfit.sizing.demand import Assign, Integers, measure_demands
from heapfit.sizing.run_out import least_count
from heapfit.sizing.settings import Setting, SettingsOptions
from heapfit.trace.stored import Trace


def size_named_settings(
    traces: Sequence[Trace],
    options: SettingsOptions,
    standards: Mapping[str, str],
    progress: Progress,
) -> tuple[tuple[Setting, int], ...]:
    """The setting of each named size, with the size."""
    sizes = sorted(options.named)
    if not sizes:
        return ()
    demands = measure_demands(traces, len(sizes), _assign_exact_sizes(sizes), progress)
    pools = []
    for size, demand in zip(sizes, demands, strict=True):
        if demand.requests == 0:
            raise HeapfitError(f"name: no recording asks for {size} bytes ({options.named[size]})")
        name, run_out = options.named[size], least_count(demand, options.admission)
        why = f"Blocks of {size} bytes at once."
        pools.append(
            (
                Setting(name, run_out.count, standards.get(name, "see the system"), run_out, why),
                size,
            )
        )
    return tuple(pools)


def _assign_exact_sizes(sizes: list[int]) -> Assign:
    """A pool for each of the sizes, ascending, and none for any other."""
    known = np.array(sizes, dtype=np.int64)

    def assign(requests: Integers) -> tuple[Integers, Integers]:
        pool = np.minimum(np.searchsorted(known, requests), len(known) - 1)
        pool = np.where(known[pool] == requests, pool, -1)
        return pool, np.ones(len(requests), dtype=np.int64)

    return assign
