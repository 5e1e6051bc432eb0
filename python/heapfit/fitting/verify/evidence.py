# SPDX-License-Identifier: Apache-2.0
"""The size that a heap's recordings tell once fresh runs have passed: more of them, less margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heapfit.comparison.incumbents.heap_plans import heap_of_plan
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.margin import MarginBasis, margin_kind
from heapfit.fitting.incumbent import size_incumbent
from heapfit.fitting.options import FitOptions
from heapfit.forecast.load import Load
from heapfit.importers import ImportOptions, open_any
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import PlanFile
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import load_trace


def size_by_runs(plan: PlanFile, recordings: Sequence[Path]) -> PlanFile:
    """The plan in the region for these recordings: what all need of its heap, and their margin.

    By the rule of `fit` (docs/margin.md), changes of the program included. The plan itself where
    that is no less, or where the recordings are too few to carry an answer; equal ones are one.
    """
    heap = heap_of_plan(plan)
    with scratch_folder() as scratch:
        traces = [
            open_any(one, ImportOptions(), scratch, name=str(number))
            for number, one in enumerate(recordings)
        ]
        loaded = [*map(load_trace, {content_hash(one): one for one in traces}.values())]
        known = MarginBasis(Load.of([one.profile for one in loaded]), margin_kind(plan.plan, False))
        needs = measure(heap, loaded, base=plan.base_alignment)
        if needs.most is None or not known.is_enough:
            return plan
        _, size, _, _ = size_incumbent(
            needs, loaded, known=known, options=FitOptions(peak=plan.peak)
        )
    region = heap.set_to(size.region)
    sized = replace(
        plan, region=region, r_safe=heap.set_to(size.r_safe), u_max=size.u_max, margin=size.margin
    )
    return sized if region < (plan.region or 0) else plan
