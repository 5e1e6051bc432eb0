# SPDX-License-Identifier: Apache-2.0
"""Learns from which end of the top `tailored` serves each call site, after the size classes.

Blocks of one size may live long if one function asks for them and briefly if another does. The
sites that ask most get a tag each; what carries a tag is cut from the end that the tag's bit says,
the rest by size class as before:

    bit   0 ... 63        64         65      66     ...   95
          size classes    (no tag)   tag 1   tag 2        tag 31

The start is each tag at the end where the classes put most of its bytes. Orders of lifetime are
tried next, then single bits are turned over, as for classes, which has to save half a percent of
U_max: less did not hold on other runs (decision 14).

Where chains of callers were recorded, both are tried: the direct caller alone, of which more is
known, and the chain, where that saves as much again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heapfit.design.placement.class_lifetimes import (
    CLASSES,
    class_lifetimes,
    classes_of_sizes,
    cuts,
)
from heapfit.design.placement.learned import TAG_BITS, PlacedLayout, PlacementSearch
from heapfit.plan.plan import MOST_TAGS, Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.blocks import Blocks, blocks_of
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import may_be_tagged

_LEAST = 200  # a climb has to save U_max over this: decision 14


def busiest_sites(loaded: LoadedTrace) -> dict[int, int]:
    """A tag for each of the busiest call sites, in that order; empty if none is known.

    Of requests that can carry a tag: of blocks that are not aligned, up to the first resize.
    """
    if len(loaded.sites) == 0:
        return {}
    is_tagged = may_be_tagged(loaded.events.ops())[blocks_of(loaded).starts]
    asked_at = loaded.sites[blocks_of(loaded).starts][is_tagged]
    sites, counts = np.unique(asked_at[asked_at > 0], return_counts=True)
    busiest = sites[np.argsort(-counts, kind="stable")][:MOST_TAGS].tolist()
    return {site: tag for tag, site in enumerate(busiest, 1)}


def learn_sites(
    loaded: LoadedTrace,
    start: PlacedLayout,
    most_events: int,
    seed: int = 1,
    progress: Progress = ignore_progress,
) -> tuple[PlacedLayout | None, int]:
    """The best found from `start`, with sites, and the events replayed for it.

    None if the trace has fewer than two sites.
    """
    depths = [loaded.reduce_to_callers(), loaded] if loaded.trace.chains else [loaded]
    each = [_learn_with_sites(depth, start, most_events, seed, progress) for depth in depths]
    found = [placed for placed, _ in each if placed is not None]
    best = next((placed for placed in found if not _is_saved(loaded, placed, found[-1])), None)
    return best, sum(replayed for _, replayed in each)


def _learn_with_sites(
    loaded: LoadedTrace, start: PlacedLayout, most_events: int, seed: int, progress: Progress
) -> tuple[PlacedLayout | None, int]:
    """The best found with the trace's own sites, None if they are too few; and events replayed."""
    sites = busiest_sites(loaded)
    if len(sites) < 2:
        return None, 0
    # Tags belong to the events of all runs together, so that it is learned on these.
    tagged = replace(loaded, events=loaded.events.tagged(loaded.tags(sites)), fleet=None, found={})
    search = _SiteSearch(tagged, most_events, seed, progress)
    guessed, climbed = search.run_from(start, sites)
    if guessed is None or climbed is None or _is_saved(loaded, guessed, climbed):
        return climbed, search.replayed
    return guessed, search.replayed


def _is_saved(loaded: LoadedTrace, before: PlacedLayout, after: PlacedLayout) -> bool:
    """True if `after` saves enough over `before` to hold on other runs."""
    return before.region - after.region >= loaded.profile.u_max // _LEAST


class _SiteSearch(PlacementSearch):
    """A search among plans with the sites of one trace."""

    def run_from(
        self, start: PlacedLayout, sites: Mapping[int, int]
    ) -> tuple[PlacedLayout | None, PlacedLayout | None]:
        """Learns the ends of tags, and again of size classes, from those of `start`.

        The best before the climb, and behind it.
        """
        blocks = blocks_of(self._loaded)
        tags = _tags_of_blocks(self._loaded, sites, blocks)
        scalars = {**start.layout.scalars, "tags": len(sites)}
        layout = replace(start.layout, scalars=scalars, sites=dict(sites))
        classes = start.high
        self._try(layout, classes | _tags_by_class(blocks, tags, classes, layout))
        for by_site in sorted(set(_guesses(blocks, tags))):
            for by_class in sorted({0, classes}):
                if self._has_work():
                    self._try(layout, by_class | by_site)
        self._misses = 0
        guessed = self.best
        found, _ = class_lifetimes(blocks, layout)
        self._climb([*found, *(TAG_BITS + tag for tag in sites.values())])
        return guessed, self.best


def _tags_of_blocks(
    loaded: LoadedTrace, sites: Mapping[int, int], blocks: Blocks
) -> NDArray[np.uint16]:
    """The tag of each block's request; 0 where the block was resized, or is aligned."""
    tags = np.where(may_be_tagged(loaded.events.ops()), loaded.tags(sites), np.uint16(0))
    return tags[blocks.starts]


def _tags_by_class(blocks: Blocks, tags: NDArray[np.uint16], classes: int, layout: Plan) -> int:
    """The bits of the tags whose bytes the classes cut from the end for the greater part."""
    class_is_high = np.array([classes >> size_class & 1 for size_class in range(CLASSES)], bool)
    is_high = class_is_high[classes_of_sizes(blocks.sizes, layout)]
    weights = np.maximum(blocks.sizes, 1).astype(float)
    high = np.bincount(tags, weights * is_high, MOST_TAGS + 1)
    every = np.bincount(tags, weights, MOST_TAGS + 1)
    return sum(1 << (TAG_BITS + tag) for tag in np.flatnonzero(2 * high > every).tolist() if tag)


def _guesses(blocks: Blocks, tags: NDArray[np.uint16]) -> Iterator[int]:
    """Sets of tags: the first of an order by mean life, and by the share live at the peak."""
    each = np.bincount(tags, minlength=MOST_TAGS + 1)
    is_there = blocks.are_live_at(blocks.peak)
    known = [tag for tag in np.flatnonzero(each).tolist() if tag]
    for values in (blocks.ends - blocks.starts, is_there):
        mean = np.bincount(tags, values, MOST_TAGS + 1) / np.maximum(each, 1)
        order = sorted(known, key=lambda tag: (mean[tag], tag))
        for cut in cuts(len(order)):
            yield sum(1 << (TAG_BITS + tag) for tag in order[:cut])
