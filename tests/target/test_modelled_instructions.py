# SPDX-License-Identifier: Apache-2.0
"""The model of instructions on a trace that had no part in it, counted on the emulated board."""

import pytest
import recordings

from harness.board import BOARDS
from harness.codes import CALLS_BUILD
from harness.image import replay_design, replay_image
from harness.packed_trace import pack
from harness.replay import count_replay
from harness.workbench import Workbench
from heapfit import _engine
from heapfit.comparison.costs.code_label import code_label
from heapfit.comparison.costs.code_table import read_codes
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import load_trace

M4 = BOARDS["cortex-m4"]
ROOM = 0.02  # of another compiler's whims, beside what was found on traces left out
BASE = 16


@pytest.mark.parametrize("plan", [Plan("tlsf"), Plan("best_fit")], ids=lambda plan: plan.allocator)
def test_a_new_trace_is_as_far_off_as_told(workbench: Workbench, tmp_path, plan: Plan) -> None:
    loaded = load_trace(recordings.recording("packets", tmp_path, events=1500))
    region = _engine.Trial(plan.engine(), loaded.events, BASE).scan().r_safe
    assert region is not None
    image = replay_image(workbench, M4, CALLS_BUILD, replay_design(plan, region, BASE))
    _, calls = count_replay(image, plan.allocator, pack(loaded.trace), workbench.plugin)
    counted = calls.of("alloc", "free")["instructions"]
    model = read_codes()[code_label(plan)].model
    assert model.mean_off is not None and model.longest_off is not None
    told = model.estimate(_engine.call_costs(plan.engine(), loaded.events, region, BASE))
    assert told is not None
    assert told.mean == pytest.approx(counted.mean(), rel=model.mean_off.worst + ROOM)
    assert told.longest == pytest.approx(counted.max(), rel=model.longest_off.worst + ROOM)
