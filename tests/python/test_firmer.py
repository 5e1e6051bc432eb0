# SPDX-License-Identifier: Apache-2.0
"""What a finer alignment would save: told where it is half a percent, and known cheaply if not."""

import random

import pytest
from small_traces import load_lines

from heapfit import _engine
from heapfit.fitting.assessment import suggest_next_recordings
from heapfit.fitting.choosing import choose
from heapfit.fitting.options import FitOptions
from heapfit.progress import ignore_progress


def slots(sizes: list[int]) -> list[str]:
    """Blocks of these sizes in turn taken and given back at random, some 60 KiB at most."""
    draw, live, born = random.Random(1), [], 0
    lines = list[str]()
    for _ in range(4000):
        if live and draw.random() < len(live) / 3000:
            lines.append(f"f {live.pop(draw.randrange(len(live)))}")
        else:
            lines.append(f"a {born} {draw.choice(sizes)}")
            live.append(born)
            born += 1
    return lines


@pytest.mark.parametrize(
    ("sizes", "saves"), [([12, 13, 20, 21, 26, 36, 44], True), ([16, 24, 64], False)]
)
def test_a_finer_alignment_is_told_where_it_saves(tmp_path, sizes, saves):
    loaded = load_lines(tmp_path / "slots.heap", slots(sizes))
    options = FitOptions()
    choice = choose([loaded], ["slots"], options=options)
    ways, events = suggest_next_recordings(choice, options, ignore_progress)
    told = [way for way in ways if "--alignment" in way]
    plan, winner = choice.winner.plan, choice.winner
    assert winner.r_safe is not None
    finer = _engine.Plan(plan.allocator, plan.scalars | {"alignment": 4})
    search = _engine.Trial(finer, choice.shown.events_for(plan)).scan()
    assert search.r_safe is not None
    saved = 1 - search.r_safe / winner.r_safe
    assert (saved >= 0.005) == saves
    expected = f"--alignment 4 saves {100 * saved:.1f} % if no block needs 8"
    assert told == ([expected] if saves else [])
    assert saves or 0 < events <= len(choice.shown.events)
