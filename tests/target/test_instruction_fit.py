# SPDX-License-Identifier: Apache-2.0
"""The fit of the model of instructions, and how far off it says that it is."""

import numpy as np
import pytest

from harness.instruction_fit import Tally, fit_line, fit_model


def tally(calls, trace="one", operation="alloc"):
    """Of calls given as (loads, stores, instructions)."""
    return Tally.from_calls(trace, operation, np.array(calls, np.int64))


def drawn(seed, base, per_load, per_store):
    draw = np.random.default_rng(seed)
    accesses = draw.integers(0, 40, (200, 2))
    return [
        (loads, stores, base + per_load * loads + per_store * stores)
        for loads, stores in accesses.tolist()
    ]


def test_the_fit_is_that_of_least_squares_where_that_is_above_zero():
    draw = np.random.default_rng(3)
    calls = [(a, b, c + int(draw.integers(0, 30))) for a, b, c in drawn(4, 30, 5, 6)]
    table = np.array(calls, float)
    features = np.column_stack([np.ones(len(table)), table[:, :2]])
    expected = np.linalg.lstsq(features, table[:, 2], rcond=None)[0]
    line = fit_line([tally(calls)])
    assert (line.base, line.per_load, line.per_store) == pytest.approx(tuple(expected), rel=1e-6)


def test_no_coefficient_is_below_zero():
    line = fit_line([tally([(loads, 10, 200 - 3 * loads) for loads in range(20)])])
    assert min(line.base, line.per_load, line.per_store) >= 0


def test_a_trace_left_out_tells_how_far_the_model_is_off():
    alike = [tally(drawn(seed, 20, 4, 7), trace=f"trace {seed}") for seed in range(3)]
    assert fit_model(alike).mean_off[1] == pytest.approx(0, abs=1e-9)
    other = tally([(a, b, 2 * c) for a, b, c in drawn(9, 20, 4, 7)], trace="other")
    assert fit_model([*alike, other]).mean_off[1] == pytest.approx(0.5, abs=1e-6)
