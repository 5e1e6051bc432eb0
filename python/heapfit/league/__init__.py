# SPDX-License-Identifier: Apache-2.0
"""Allocators side by side over a set of recordings: ours, baselines, and those of others.

    recordings --> jobs, each with a key of all that decides it --> rows, kept by that key
               --> standings --> Parquet, CSV and a page

Nothing in a result tells when or how fast it was made: the same inputs, tools and flags give the
same bytes.
"""

from heapfit.league.recordings import Opening, Recording, opened_recordings
from heapfit.league.rows import LeagueRow
from heapfit.league.run import League, LeagueOptions, run_league
from heapfit.league.standings import Standing, standings_of
from heapfit.league.tables import save_league

__all__ = [
    "League",
    "LeagueOptions",
    "LeagueRow",
    "Opening",
    "Recording",
    "Standing",
    "opened_recordings",
    "run_league",
    "save_league",
    "standings_of",
]
