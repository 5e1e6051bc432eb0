# SPDX-License-Identifier: Apache-2.0
"""Trials of plans that differ in what is cut from the end: what is known is what a replay tells."""

import random
from pathlib import Path

import pytest

from heapfit import _engine
from heapfit.design.placement.class_lifetimes import CLASSES
from heapfit.design.placement.remembered import TrialCache
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace


def phases(path: Path, seed: int) -> Path:
    """Each phase asks for sizes that none asked for before, resized now and then."""
    draw, live, born = random.Random(seed), [], 0
    lines = ["# heap-events 1", "# pointer_bits 32"]
    for phase in range(1, 9):
        sizes = [draw.randrange(1, 12 * phase * phase) for _ in range(4)]
        for _ in range(150):
            choice = draw.random()
            if live and choice < len(live) / 120:
                lines.append(f"f {live.pop(draw.randrange(len(live)))}")
            elif live and choice < 0.2:
                lines.append(f"r {draw.choice(live)} {draw.choice(sizes)}")
            else:
                lines.append(f"a {born} {draw.choice(sizes)}")
                live.append(born)
                born += 1
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module", params=[1, 2])
def loaded(request, tmp_path_factory) -> LoadedTrace:
    folder = tmp_path_factory.mktemp("phases")
    return load_trace(
        open_any(phases(folder / "phases.heap", request.param), ImportOptions(), folder)
    )


LAYOUTS = [
    Plan(allocator, {"alignment": alignment, **more})
    for alignment in (4, 8, 16)
    for allocator, more in (
        ("tailored", {}),
        ("tailored", {"hole_limit": 4}),
        ("tailored", {"layout": 1}),
        ("tailored", {"layout": 2}),
        ("tailored", {"index": 1}),
        ("sized", {}),
    )
    if not (alignment == 4 and more.get("layout") == 2)
]


def with_ends(layout: Plan, high: int) -> Plan:
    words = {"ends": 2, "high_0": high & 0xFFFFFFFF, "high_1": high >> 32}
    return Plan(layout.allocator, layout.scalars | words)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_what_is_known_of_a_plan_is_what_its_replay_tells(loaded, layout):
    remembered, draw = TrialCache(loaded), random.Random(1)
    u_max, known, high = loaded.profile.u_max, 0, 0
    for _ in range(300):
        high ^= 1 << draw.randrange(CLASSES)
        plan = with_ends(layout, high) if draw.random() < 0.9 else layout
        region = round(u_max * draw.choice([0.9, 1.05, 1.15, 1.3])) // 8 * 8
        told = remembered.run(plan, region)
        alone = _engine.Trial(plan.engine(), loaded.events).run(region)
        assert (told.runs, told.is_region) == (alone.runs, alone.is_region)
        assert (told.reach, told.events) == (alone.reach, alone.events)
        known += told.known > 0
    assert 20 < known < 280
