# SPDX-License-Identifier: Apache-2.0
"""The call sites of a recording by function and line, from the programs that made it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from heapfit.importers.source_lines import places_in
from heapfit.trace.loaded import LoadedTrace


def site_names(loaded: LoadedTrace, programs: Sequence[Path]) -> dict[int, str]:
    """A text for each site that one of the programs knows; a chain has its direct caller's.

    HeapfitError if a program cannot be read.
    """
    if not programs:
        return {}
    chains = loaded.trace.chains
    callers = {
        site: chains[site][0] if site in chains else site
        for site in np.unique(loaded.sites).tolist()
    }
    places = places_in(programs, set(callers.values()))
    return {
        site: places[caller].description for site, caller in callers.items() if caller in places
    }
