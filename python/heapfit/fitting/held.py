# SPDX-License-Identifier: Apache-2.0
"""Whether runs are served by the region that is to be set: those recorded, and others like them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from heapfit.compare.today.requests import as_served, requests_of
from heapfit.compare.trial import runs_in
from heapfit.errors import HeapfitError
from heapfit.fit_result import Held
from heapfit.fitting.choice import Choice
from heapfit.progress import Progress
from heapfit.trace.stored import Trace
from heapfit.workloads.draw import draw_trace
from heapfit.workloads.model import Model, fit_model

DRAWN = 16  # runs in all, from the recordings by turns
MOST_EVENTS = 2_000_000  # of a recording to draw from: it takes 200 bytes of memory an event
_SEED = 1
_STEP = "replay recorded and drawn runs"


def held_by(choice: Choice, traces: Sequence[Trace], progress: Progress) -> Held:
    """One replay of each run in the answer's region; nothing is chosen by it."""
    progress(_STEP, 0.0)
    refused = sum(not _runs(choice, trace) for trace in traces)
    events = sum(trace.info.events for trace in traces)
    drawn = drawn_refused = 0
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        for trace in _drawn(traces, Path(folder)):
            drawn += 1
            drawn_refused += not _runs(choice, trace)
            events += trace.info.events
            trace.path.unlink()
            progress(_STEP, drawn / DRAWN)
    progress(_STEP, 1.0)
    return Held(len(traces), refused, drawn, drawn_refused, events)


def _drawn(traces: Sequence[Trace], folder: Path) -> Iterator[Trace]:
    """One at a time; none from recordings that are too short or too long to draw from."""
    models = [(trace, model) for trace in traces if (model := _model(trace)) is not None]
    if not models:
        return
    for i in range(DRAWN):
        trace, model = models[i % len(models)]
        seed = _SEED + i // len(models)
        yield draw_trace(model, seed, folder / f"drawn-{i}.parquet", trace.info)


def _model(trace: Trace) -> Model | None:
    if trace.info.events > MOST_EVENTS:
        return None
    try:
        return fit_model(trace)
    except HeapfitError:
        return None


def _runs(choice: Choice, trace: Trace) -> bool:
    region, kept, base = choice.answer.size.region, choice.answer.kept, trace.largest_alignment
    if kept is None:
        plan = choice.winner.plan
        return runs_in(plan, trace.events(plan.sites), region, max(base, plan.alignment))
    served = as_served(kept, requests_of(trace)).engine()
    return runs_in(kept.plan, served, kept.region(region), base)
