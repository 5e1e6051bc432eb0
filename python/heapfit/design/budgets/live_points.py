# SPDX-License-Identifier: Apache-2.0
"""The moments at which a trace is at its fullest: U(t) and P_i(t) where requests turn into frees.

Sizes are rounded up to the alignment. Between two such moments nothing is live that is not live at
the later one or the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.trace.operations import find_next_events, is_end

Ints: TypeAlias = NDArray[np.int64]


def live_points(
    events: _engine.EventArray, sizes: Sequence[int], alignment: int, most: int
) -> tuple[Ints, Ints]:
    """The fullest moments of a trace, at most `most`, for `sizes` that are whole alignments.

    U(t) in bytes, and P_i(t), a row for each moment with a column for each size.

    >>> import tempfile, pathlib
    >>> from heapfit.workloads.synthetic import generate_workload, parse_workload
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spec = parse_workload("phase_shift:pairs=3", 1)
    ...     shift = generate_workload(spec, pathlib.Path(folder) / "t.parquet")
    ...     live, blocks = live_points(shift.events(), [448, 512], 8, 100)
    >>> live.tolist(), blocks.tolist()
    ([1536, 1728], [[3, 0], [0, 3]])
    """
    born, dead = _find_changes(events, alignment)
    live = np.cumsum(born - dead)
    kept = _find_peaks(live, most)
    changes = ((born == size).astype(np.int64) - (dead == size) for size in sizes)
    columns = [np.cumsum(one)[kept] for one in changes]
    return live[kept], np.array(columns, np.int64).reshape(-1, len(kept)).T


def _find_changes(events: _engine.EventArray, alignment: int) -> tuple[Ints, Ints]:
    """The rounded sizes that become live and cease to be live with each event; 0: none."""
    ops, objects, asked = events.ops(), events.objects(), events.sizes().astype(np.int64)
    rounded = -(-np.maximum(asked, 1) // alignment) * alignment
    born = np.where(is_end(ops, asked), 0, rounded)
    dead = np.zeros(len(born) + 1, np.int64)
    dead[find_next_events(objects)] = born  # behind the last: never
    return born, dead[:-1]


def _find_peaks(live: Ints, most: int) -> Ints:
    """The events at which live bytes peak; of more than `most` the fullest of each stretch."""
    falls = np.append(live[1:] < live[:-1], True)
    peaks = np.flatnonzero(falls & (np.append(0, live[:-1]) < live))
    if len(peaks) <= most:
        return peaks
    stretch = np.arange(len(peaks)) * most // len(peaks)
    order = np.lexsort((-live[peaks], stretch))
    firsts = np.append(True, np.diff(stretch[order]) > 0)
    return np.sort(peaks[order[firsts]])
