# SPDX-License-Identifier: Apache-2.0
"""Results as a Parquet file; docs/scenario-schema.md lists the columns."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow.parquet as pq

from heapfit import _engine
from heapfit.outputs.file import stage_file
from heapfit.simulation.simulate import SimulationResult

SCHEMA = 1


def write_table(path: Path, simulation: SimulationResult) -> None:
    """Writes all results to `path`, which appears whole or not at all."""
    origin = {
        "schema": SCHEMA,
        "heapfit": _engine.version,
        "scenario": simulation.scenario.name,
        "run": asdict(simulation.scenario.run),
    }
    table = simulation.to_arrow().replace_schema_metadata({b"heapfit": json.dumps(origin).encode()})
    with stage_file(path) as staging:
        pq.write_table(table, staging)
