# SPDX-License-Identifier: Apache-2.0
"""Recordings as traffic: the arrivals, or only the sizes or holding times.

A recording is a stored trace or any file that can be imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.forecast.time_units import MICROSECONDS
from heapfit.importers import ImportOptions, open_any
from heapfit.outputs.scratch import scratch_folder
from heapfit.trace.operations import FREE, RESIZE

_NS_PER_US = 1000
_COLUMNS = ("op", "object", "size", "time")


def load_recording(path: Path) -> _engine.RecordedArrivals:
    """The time of each object's request, its size, and its holding time.

    HeapfitError if the file cannot be read, has a resize or no times.
    """
    columns = _read(path)
    begins, holding = _lifetimes(path, columns)
    return _engine.RecordedArrivals(
        time_ns=begins * _NS_PER_US, size=_requests(columns), holding_ns=holding
    )


def count_sizes(path: Path) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The sizes of all requests, and the number of requests of each."""
    sizes, counts = np.unique(_requests(_read(path)), return_counts=True)
    return tuple(sizes.tolist()), tuple(counts.astype(float).tolist())


def count_holding_times(path: Path) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The holding times of freed objects in seconds, and how often each occurs."""
    _, holding = _lifetimes(path, _read(path))
    ended = holding[holding != _engine.HELD_FOREVER] // _NS_PER_US
    if len(ended) == 0:
        raise HeapfitError(f"{path}: nothing is ever freed, so there are no holding times")
    times, counts = np.unique(ended, return_counts=True)
    return tuple((times / MICROSECONDS).tolist()), tuple(counts.astype(float).tolist())


@lru_cache(maxsize=4)
def _read(path: Path) -> Mapping[str, NDArray[Any]]:
    with scratch_folder() as folder:
        batches = list(open_any(path, ImportOptions(), Path(folder)).batches(_COLUMNS))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in _COLUMNS}


def _requests(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.uint64]:
    """The size of every request; 0 is served as 1."""
    sizes: NDArray[np.uint64] = columns["size"][columns["op"] != FREE].astype(np.uint64)
    return np.maximum(sizes, 1)


def _lifetimes(
    path: Path, columns: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The time of each object's request in microseconds, and its holding time in nanoseconds."""
    op, time = columns["op"], columns["time"].astype(np.uint64)
    if (op == RESIZE).any():
        raise HeapfitError(
            f"{path}: has resizes, which are not arrivals (`heapfit compare` replays them)"
        )
    if len(time) > 1 and time[0] == time[-1]:
        raise HeapfitError(f"{path}: all its events have the same time")
    freed = op == FREE
    begins = time[~freed]
    holding = np.full(len(begins), _engine.HELD_FOREVER, np.uint64)
    ended = columns["object"][freed]  # an object's number is that of its allocation
    holding[ended] = (time[freed] - begins[ended]) * _NS_PER_US
    return begins, holding
