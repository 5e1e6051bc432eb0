# SPDX-License-Identifier: Apache-2.0
"""Synthetic workloads: traces made from a model and a seed, equal on every machine.

docs/evidence/workloads.md lists them with their parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.values import parse_values
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.origin import STANDARD_SEED, WorkloadSpec
from heapfit.trace.stored import BATCH, Trace, TraceInfo, write_trace


def parse_workload(text: str, seed: int = STANDARD_SEED) -> WorkloadSpec:
    """Parses "NAME" or "NAME:PARAMETER=VALUE,...".

    >>> parse_workload("t2_w1:limit=3,events=500").parameters
    {'limit': 3, 'events': 500}
    """
    name, _, settings = text.partition(":")
    spec = WorkloadSpec(name, seed, parse_values(text, settings, "PARAMETER"))
    spec.source()
    return spec


def is_workload(text: str) -> bool:
    """True if the text begins with the name of a workload, as in "t2_w1:limit=3"."""
    return text.partition(":")[0] in {info.name for info in _engine.workloads()}


def generate_workload(
    spec: WorkloadSpec, path: Path, progress: Progress = ignore_progress
) -> Trace:
    """Stores the workload's events at `path`, which appears whole or not at all."""
    step = f"generate {spec.name}"
    source = spec.source()
    values = " ".join(f"{name}={value}" for name, value in source.parameters.items())
    info = TraceInfo(
        program=spec.label,
        source=f"synthetic workload {spec.name}, seed {spec.seed}: {values}",
        pointer_bits=32,  # the sizes are the model's on any machine; 32 bit is what heaps are for
    )
    progress(step, 0.0)
    origin = replace(spec, parameters=source.parameters)  # all, whatever is standard later
    trace = write_trace(path, _batches(source), info, made_from=origin)
    progress(step, 1.0)
    return trace


def spec_of(trace: Trace) -> WorkloadSpec | None:
    """The workload that made a stored trace; None if no known workload did."""
    if trace.origin is None:
        return None
    try:
        trace.origin.source()
    except HeapfitError:  # a workload or parameter of another version
        return None
    return trace.origin


def generate_events(spec: WorkloadSpec) -> _engine.EventArray:
    """The workload's events in memory."""
    events = _engine.EventArray()
    for columns in _batches(spec.source()):
        events.append(columns["op"], columns["object"], columns["size"], columns["alignment"])
    return events


def _batches(source: _engine.WorkloadSource) -> Iterator[dict[str, NDArray[Any]]]:
    while True:
        columns = source.take(BATCH)
        if len(columns["op"]) == 0:
            return
        yield columns
