# SPDX-License-Identifier: Apache-2.0
"""The plan file that a fit writes: of the fitted heap, or of the heap that is kept."""

from __future__ import annotations

from dataclasses import replace

from heapfit.comparison.incumbents.heap_plans import make_heap_plan
from heapfit.fitting.choice import Choice
from heapfit.fitting.options import FitOptions
from heapfit.plan.plan_file import PlanFile


def writes_code(choice: Choice, options: FitOptions) -> bool:
    """True if the fitted heap is written, as C and as the plan."""
    return choice.answer.kept is None or options.code


def plan_to_write(choice: Choice, options: FitOptions) -> PlanFile:
    """The fitted heap's plan, or that of the heap that is kept, in bytes of its setting."""
    kept, fitted, size = choice.answer.kept, choice.plan_file, choice.answer.size
    if kept is None or writes_code(choice, options):
        return fitted
    plan = make_heap_plan(kept, kept.set_to(size.region))
    if kept.tolerance is None:  # an allocator of ours, which can be generated
        plan = replace(plan, heap="", setting="")
    return replace(
        plan,
        r_safe=kept.set_to(size.r_safe),
        base_alignment=max(plan.base_alignment, fitted.base_alignment),
        u_max=fitted.u_max,
        pointer_bits=fitted.pointer_bits,
        trained_on=fitted.trained_on,
        peak=fitted.peak,
        margin=size.margin,
    )
