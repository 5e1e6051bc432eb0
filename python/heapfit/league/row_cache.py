# SPDX-License-Identifier: Apache-2.0
"""A cache of measured rows, by the key of all that decides them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.league.rows import LeagueRow, row_from_dict, row_to_dict
from heapfit.outputs.file import stage_file
from heapfit.outputs.ours import allow_replacing


@dataclass(frozen=True, slots=True)
class RowCache:
    """A folder with a file for each job that was ever done."""

    folder: Path

    def rows(self, key: str) -> list[LeagueRow] | None:
        """The rows of a job; None if they are not stored, or can no longer be read."""
        try:
            text = self._file(key).read_text(encoding="utf-8")
            return [row_from_dict(values) for values in json.loads(text)]
        except (OSError, ValueError, TypeError, AttributeError):
            return None

    def store(self, key: str, rows: Sequence[LeagueRow]) -> None:
        """Stores the rows of a job, whole or not at all; a damaged file is replaced."""
        text = json.dumps([row_to_dict(row) for row in rows], indent=0)
        with allow_replacing(), stage_file(self._file(key)) as staging:
            staging.write_text(text, encoding="utf-8")

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"
