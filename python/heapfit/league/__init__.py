# SPDX-License-Identifier: Apache-2.0
"""Allocators compared over a set of recordings: ours, baselines, and those of others.

    recordings --> jobs, each with a key of all that decides it --> rows, cached by that key
               --> standings --> Parquet, CSV and a page

No result depends on when or how fast it was made: the same inputs, tools and flags give the
same bytes.
"""

from heapfit.league.recordings import LeagueRecording, OpeningOptions, open_recordings
from heapfit.league.rows import LeagueRow, Standing, standings_of
from heapfit.league.run import League, LeagueOptions, run_league
from heapfit.league.tables import save_league

__all__ = [
    "League",
    "LeagueOptions",
    "LeagueRecording",
    "LeagueRow",
    "OpeningOptions",
    "Standing",
    "open_recordings",
    "run_league",
    "save_league",
    "standings_of",
]
