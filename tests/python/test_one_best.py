# SPDX-License-Identifier: Apache-2.0
"""fit, design and front name one plan and one least region for a recording."""

import json
from pathlib import Path

import pytest
from small_traces import heapfit

from heapfit.compare.verdict import chosen_row
from heapfit.design.plan_files import design
from heapfit.fit_result import FitOptions
from heapfit.fitting.choice import choose_for_one
from heapfit.front.design_front import compare_all
from heapfit.front.space import configurations
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

RECORDINGS = ("m4-1", "tcc-1", "cmark-2")
TRACES = Path(__file__).parents[2] / "examples/recordings/traces"


def named(row):
    return row.name, row.r_safe, row.heap_size.region


@pytest.mark.parametrize("recording", RECORDINGS)
def test_three_commands_name_one_least_region(recording, tmp_path):
    trace = Trace.open(TRACES / f"{recording}.parquet")
    fitted = choose_for_one(trace, recording, FitOptions())
    designed = design(trace, recording, tmp_path).comparison
    loaded = load_trace(trace)
    front = compare_all(loaded, configurations(loaded))
    assert named(chosen_row(designed)) == named(fitted.winner) == named(chosen_row(front))
    assert any(row.is_searched_further for row in front.rows)


def test_the_commands_print_it(tmp_path):
    trace = str(TRACES / f"{RECORDINGS[0]}.parquet")
    told = {}
    for command in ("design", "front"):
        done = heapfit(command, trace, "-o", command, "--json", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        told[command] = json.loads(done.stdout)["least"]
    done = heapfit("fit", trace, "-o", "fit", folder=tmp_path)
    assert told["design"] == told["front"]
    assert f"Set the heap to {told['front']['region']:,} B" in done.stdout
