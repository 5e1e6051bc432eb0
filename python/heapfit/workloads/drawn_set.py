# SPDX-License-Identifier: Apache-2.0
"""Several traces resampled from one, where no other recording exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.progress import Progress, ignore_progress
from heapfit.trace.stored import Trace
from heapfit.workloads.draw import resample_trace
from heapfit.workloads.model import fit_model

_STEP = "resample runs"
_ABOUT = 1.02
LIMITS = (
    "Resampled runs show the chance variation of the recorded load. They cannot tell of "
    "loads or phases never recorded, nor of correlations longer than a block."
)


@dataclass(frozen=True, slots=True)
class ResampledTraces:
    """The resampled traces, and what users should know of their model."""

    recorded: Trace
    traces: tuple[Trace, ...]
    seed: int  # of the first; those that follow have the next ones
    requests: int
    kept: int  # objects as they were recorded
    phases: int
    block: int  # requests


def resample_traces(
    trace: Trace, count: int, seed: int, folder: Path, progress: Progress = ignore_progress
) -> ResampledTraces:
    """Stores several traces resampled from `trace` in `folder`."""
    progress(_STEP, 0.0)
    model = fit_model(trace)
    drawn = []
    for i in range(count):
        path = folder / f"drawn-{seed + i}.parquet"
        drawn.append(resample_trace(model, seed + i, path, trace.info))
        progress(_STEP, (i + 1) / count)
    phases = len(model.phases)
    return ResampledTraces(
        trace, tuple(drawn), seed, model.requests, model.kept, phases, model.block
    )


def is_peak_repeated(recorded: int, drawn: Sequence[int]) -> bool:
    """True if the resampled traces peak about where the recorded one did.

    >>> is_peak_repeated(1000, [950, 990, 1010]), is_peak_repeated(1000, [400, 500])
    (True, False)
    """
    return min(drawn) <= recorded * _ABOUT and recorded <= max(drawn) * _ABOUT
