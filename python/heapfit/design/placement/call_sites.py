# SPDX-License-Identifier: Apache-2.0
"""The requests of each call site of a recording, and how long their blocks live.

A call site is where a program calls its allocator, with a hash that is equal in every run of one
build (recorder/site.c). Only requests that can carry a tag are looked at: blocks that are not
aligned, up to the first time they are resized.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heapfit.trace.blocks import blocks_of
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import may_be_tagged


@dataclass(frozen=True, slots=True)
class CallSite:
    """The requests from one call site of the program."""

    site: int  # the recorder's hash of it
    requests: int
    least: int  # bytes, of one request
    most: int
    live_at_peak: int  # bytes, where the trace's live bytes are U_max
    mean_life: float  # events


def call_sites(loaded: LoadedTrace) -> tuple[CallSite, ...]:
    """The recorded call sites, busiest first, which is the order in which they get tags."""
    blocks = blocks_of(loaded)
    if len(loaded.sites) == 0:
        return ()
    site_of = np.where(may_be_tagged(loaded.events.ops()), loaded.sites, 0)[blocks.starts]
    is_there = blocks.are_live_at(blocks.peak)
    lives = blocks.ends - blocks.starts
    sites = []
    for site in np.unique(site_of[site_of > 0]).tolist():
        own = site_of == site
        sizes = blocks.sizes[own]
        sites.append(
            CallSite(
                site,
                len(sizes),
                int(sizes.min()),
                int(sizes.max()),
                int(sizes[is_there[own]].sum()),
                float(lives[own].mean()),
            )
        )
    return tuple(sorted(sites, key=lambda call_site: (-call_site.requests, call_site.site)))
