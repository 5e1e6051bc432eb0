# SPDX-License-Identifier: Apache-2.0
"""Results as a Parquet table: a row for each metric of each scheme at each point.

docs/scenario-schema.md lists the columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from heapfit import _engine
from heapfit.atomic_file import file_aside
from heapfit.simulation.metrics import METRICS
from heapfit.simulation.simulate import Result, SimulationResult

SCHEMA = 1


def write_table(path: Path, found: SimulationResult) -> None:
    """Writes all results to `path`, which appears whole or not at all."""

    rows = [row for result in found.results for row in _rows(result)]
    table = pa.table({name: [row[name] for row in rows] for name in rows[0]})
    told = {
        "schema": SCHEMA,
        "heapfit": _engine.version,
        "scenario": found.scenario.name,
        "run": asdict(found.scenario.run),
    }
    table = table.replace_schema_metadata({b"heapfit": json.dumps(told).encode()})
    with file_aside(path) as aside:
        pq.write_table(table, aside)


def _rows(result: Result) -> Iterator[dict[str, Any]]:
    shared = {
        **result.point.values,
        "scheme": result.scheme.name,
        "allocator": result.scheme.plan.allocator,
        "region": result.scheme.region,
        "capacity": result.capacity,
        "requests": result.requests,
        "replications": len(result.observations),
    }
    for name in METRICS:
        found = result.estimates.get(name)
        yield {
            **shared,
            "metric": name,
            "mean": None if found is None else found.mean,
            "half_width": None if found is None else found.half_width,
            "exact": result.exact.get(name),
        }
