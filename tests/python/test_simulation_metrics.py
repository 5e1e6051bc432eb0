# SPDX-License-Identifier: Apache-2.0
"""Metrics against values worked out by hand, and their definitions against the page."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from heapfit.simulation.metrics import METRICS, OVERHEAD_RATIO, Observation, overhead_ratio

PAGE = Path(__file__).resolve().parents[2] / "docs/simulation.md"
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


def test_every_metric_is_tried_above():
    assert len(METRICS) == 8


def test_what_has_no_whole_has_no_share():
    nothing = replace(SEEN, requests=0, requested_bytes=0, capacity=0)
    for name in ("bandwidth_admission", "request_admission", "pool_utilisation",
                 "combined_utility"):  # fmt: skip
        assert METRICS[name].of(nothing) is None


def test_overhead_is_over_what_can_be_handed_out():
    assert overhead_ratio(1000, 800) == 0.25
    assert overhead_ratio(1000, 0) is None


def test_the_page_has_every_definition():
    page = re.sub(r"\s+", " ", PAGE.read_text())
    for metric in METRICS.values():
        assert f"**{metric.title}**: {metric.definition}" in page
    assert OVERHEAD_RATIO.partition(": ")[2] in page
