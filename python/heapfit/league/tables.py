# SPDX-License-Identifier: Apache-2.0
"""The files of a league: every row, and the stamps of what was measured.

league.parquet   a column for each field of a row; the stamps are in its metadata
league.csv       the same rows
league.json      the stamps: versions, flags, hashes of code and of recordings
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from heapfit.league.rows import FIELDS, row_to_dict
from heapfit.league.run import League
from heapfit.outputs.file import stage_file

SCHEMA_VERSION: Final = 2
_METADATA_KEY: Final = b"heapfit league"
_TEXTS: Final = (
    *("recording", "content", "kind", "entrant", "interface", "learned", "learned_from"),
    *("worst_case", "faults", "note", "stamp"),
)
_RATIOS: Final = ("accesses", "instructions")


def collect_stamps(league: League) -> dict[str, Any]:
    """The stamps for JSON: versions, code and recordings, but no time."""
    return {
        "schema_version": SCHEMA_VERSION,
        "heapfit": league.version,
        "entrants": [
            {"name": one.name, "stamp": one.stamp, "made_with": list(one.made_with)}
            for one in league.entrants
        ],
        "recordings": {one.name: one.content for one in league.recordings},
    }


def save_league(league: League, folder: Path) -> tuple[Path, ...]:
    """Writes the three files; each appears whole or not at all."""
    paths = tuple(folder / f"league.{ending}" for ending in ("parquet", "csv", "json"))
    for path, write in zip(paths, (_write_parquet, _write_csv, _write_json), strict=True):
        with stage_file(path) as staging:
            write(league, staging)
    return paths


def _write_parquet(league: League, path: Path) -> None:
    rows = [row_to_dict(row) for row in league.rows]
    stamps = json.dumps(collect_stamps(league), separators=(",", ":")).encode()
    table = pa.Table.from_pylist(rows, schema=_schema().with_metadata({_METADATA_KEY: stamps}))
    pq.write_table(table, path)


def _schema() -> pa.Schema:
    kinds = {
        name: pa.string() if name in _TEXTS else pa.float64() if name in _RATIOS else pa.int64()
        for name in FIELDS
    }
    return pa.schema(list(kinds.items()))


def _write_csv(league: League, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row_to_dict(row) for row in league.rows)


def _write_json(league: League, path: Path) -> None:
    path.write_text(json.dumps(collect_stamps(league), indent=2) + "\n", encoding="utf-8")
