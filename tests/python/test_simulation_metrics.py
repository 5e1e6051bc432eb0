# SPDX-License-Identifier: Apache-2.0
"""Metrics against values worked out by hand, and their definitions against the page."""

from dataclasses import replace

import pytest

from heapfit.simulation.metrics import METRICS, Observation, overhead_ratio

SEEN = Observation(
    region=1000,
    capacity=800,
    requests=10,
    admitted=9,
    requested_bytes=500,
    admitted_bytes=400,
    live=200.0,
    used=260.0,
    external=30.0,
    external_peak=90,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bandwidth_admission", 0.8),
        ("request_admission", 0.9),
        ("memory_utilisation", 0.2),
        ("pool_utilisation", 0.25),
        ("combined_utility", 0.16),
        ("internal_fragmentation", 60.0),
        ("external_fragmentation", 30.0),
        ("external_fragmentation_peak", 90.0),
    ],
)
def test_a_metric_is_as_by_hand(name, value):
    assert METRICS[name].of(SEEN) == pytest.approx(value)


def test_what_has_no_whole_has_no_share():
    nothing = replace(SEEN, requests=0, requested_bytes=0, capacity=0)
    for name in ("bandwidth_admission", "request_admission", "pool_utilisation",
                 "combined_utility"):  # fmt: skip
        assert METRICS[name].of(nothing) is None


def test_overhead_is_over_what_can_be_handed_out():
    assert overhead_ratio(1000, 800) == 0.25
    assert overhead_ratio(1000, 0) is None
