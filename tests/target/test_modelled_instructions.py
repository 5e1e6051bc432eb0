# SPDX-License-Identifier: Apache-2.0
"""The model of instructions on a trace that had no part in it, counted on the emulated board."""

import pytest
import recordings

from harness.board import BOARDS
from harness.codes import SHIPPED_BUILD
from harness.image import link_shipped_image, replay_design
from harness.packed_trace import pack
from harness.replay import count_shipped
from harness.workbench import Workbench
from heapfit import _engine
from heapfit.comparison.costs.heap_costs import estimate_costs, find_code
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.placement.sites import busiest_sites
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace

M4 = BOARDS["cortex-m4"]
ROOM = 0.02  # of another compiler's whims, beside what was found on traces left out
BASE = 16
PLANS = [Plan("tlsf"), Plan("best_fit"), Plan("first_fit", {"list": 1}), Plan("tailored")]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.allocator)
def test_what_ships_takes_as_many_instructions_as_modelled(
    workbench: Workbench, tmp_path, plan: Plan
) -> None:
    check_model(workbench, plan, load_trace(recordings.recording("packets", tmp_path, events=1500)))


@pytest.mark.parametrize("layout", range(3))
def test_a_request_that_passes_its_call_site_takes_what_is_modelled(
    workbench: Workbench, tmp_path, layout: int
) -> None:
    loaded = load_trace(recordings.recording("lwip-echo", tmp_path, events=1500))
    sites = busiest_sites(loaded)
    ends = {"layout": layout, "ends": 2, "high_0": 0, "high_1": 0xFFFF}
    without = check_model(workbench, Plan("tailored", ends), loaded)
    scalars = {**ends, "tags": len(sites), "tag_high": 0xAAAA}
    plan = Plan("tailored", scalars, sites=sites)
    assert find_code(Heap("", plan)) != find_code(Heap("", Plan("tailored", ends)))
    assert check_model(workbench, plan, loaded) < 1.1 * without


def check_model(workbench: Workbench, plan: Plan, loaded: LoadedTrace) -> float:
    """Compares what is counted with the model; instructions of a malloc in the mean."""
    region = _engine.Trial(plan.engine(), loaded.events_for(plan), BASE).scan().r_safe
    assert region is not None
    image = link_shipped_image(
        workbench, M4, SHIPPED_BUILD, replay_design(plan, region, BASE, True)
    )
    calls = count_shipped(image, pack(loaded.trace, plan.sites), workbench.plugin)
    counted = calls.of("alloc", "free")["instructions"]
    heap = Heap(plan.allocator, plan)
    costs, code = estimate_costs(heap, loaded, region), find_code(heap)
    assert code is not None
    mean_off, longest_off = code.mean_off, code.longest_off
    assert mean_off is not None and longest_off is not None
    assert costs.mean == pytest.approx(counted.mean(), rel=mean_off[1] + ROOM)
    assert costs.longest == pytest.approx(counted.max(), rel=longest_off[1] + ROOM)
    return float(calls.of("alloc")["instructions"].mean())
