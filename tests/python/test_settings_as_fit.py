# SPDX-License-Identifier: Apache-2.0
"""`settings` sets a system's heap as `fit --now` of the same recordings does: one number.

Of the first recording alone (of each with HEAPFIT_ALL_PAIRS=1), and of all recordings of a program
together; with HEAPFIT_CORPUS also of twelve of firmware that ran on these systems.
"""

import os
from pathlib import Path

import pytest

from grid import ALL
from heapfit.design.effort import Effort
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.sizing.systems import SettingsOptions, settings_for

pytestmark = pytest.mark.usefixtures("unmeasured")

ROOT = Path(__file__).parents[2]
CORPUS = os.environ.get("HEAPFIT_CORPUS")
HEAPS = {"freertos": "heap_4", "lwip": "lwip-mem", "zephyr": "sys_heap"}
OWN = [f"{ROOT}/examples/second-runs/traces/device-{i}.parquet" for i in (1, 2)]
FIRMWARE = [
    ("lwip", [f"{CORPUS}/firmware/lwip-httpd-{i}.parquet" for i in (1, 2, 3, 4)]),
    ("zephyr", [f"{CORPUS}/firmware/zephyr-kmalloc-{i}.parquet" for i in (1, 2)]),
    ("zephyr", [f"{CORPUS}/firmware/zephyr-listener-{i}.parquet" for i in (1, 2)]),
    ("freertos", [f"{CORPUS}/rtos/gateway-{i}.heap.gz" for i in (1, 2, 3, 4)]),
]
GROUPS = [(system, OWN) for system in HEAPS] + (FIRMWARE if CORPUS else [])
RUNS = [
    (system, [one]) for system, files in GROUPS for one in (files if ALL else files[:1])
] + GROUPS
QUICK = {"effort": Effort.QUICK}  # which decide what the fitted heap is, not this one


def name(value):
    return value if isinstance(value, str) else f"{len(value)}-{Path(value[0]).name}"


@pytest.mark.parametrize(("system", "files"), RUNS, ids=name)
def test_settings_print_the_number_of_fit(system, files, tmp_path):
    paths = [*map(Path, files)]
    today = fit(paths, tmp_path, FitOptions(now=HEAPS[system], **QUICK)).today
    size = today.costs[0].size
    found = settings_for(system, paths, SettingsOptions())
    assert found.settings[-1].value == today.heap.set_to(size.region)
    assert found.memory == size.region
    assert f"of margin ({size.margin:g} %)" in found.settings[-1].why
