# SPDX-License-Identifier: Apache-2.0
"""Rows that were measured before, by the key of all that decides them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.league.rows import LeagueRow, from_plain, to_plain
from heapfit.outputs.file import staged_file
from heapfit.outputs.ours import replacing_all


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder with a file for each job that was ever done."""

    folder: Path

    def rows(self, key: str) -> list[LeagueRow] | None:
        """What a job came to; None if it is not there, or cannot be read any more."""
        try:
            text = self._file(key).read_text(encoding="utf-8")
            return [from_plain(values) for values in json.loads(text)]
        except (OSError, ValueError, TypeError, AttributeError):
            return None

    def keep(self, key: str, rows: Sequence[LeagueRow]) -> None:
        """The file appears whole or not at all; a damaged one is replaced."""
        text = json.dumps([to_plain(row) for row in rows], indent=0)
        with replacing_all(), staged_file(self._file(key)) as staging:
            staging.write_text(text, encoding="utf-8")

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"
