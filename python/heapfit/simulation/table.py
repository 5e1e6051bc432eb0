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
from heapfit.outputs.file import file_aside
from heapfit.simulation.metrics import METRICS
from heapfit.simulation.simulate import Result, SimulationResult

SCHEMA = 1


def write_table(path: Path, simulation: SimulationResult) -> None:
    """Writes all results to `path`, which appears whole or not at all."""
    rows = [row for result in simulation.results for row in _rows(result)]
    table = pa.table({name: [row[name] for row in rows] for name in rows[0]})
    origin = {
        "schema": SCHEMA,
        "heapfit": _engine.version,
        "scenario": simulation.scenario.name,
        "run": asdict(simulation.scenario.run),
    }
    table = table.replace_schema_metadata({b"heapfit": json.dumps(origin).encode()})
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
        estimate = result.estimates.get(name)
        yield {
            **shared,
            "metric": name,
            "mean": None if estimate is None else estimate.mean,
            "half_width": None if estimate is None else estimate.half_width,
            "exact": result.exact.get(name),
        }
