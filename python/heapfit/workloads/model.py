# SPDX-License-Identifier: Apache-2.0
"""Models for resampling a recording: its objects in the order of their requests.

    kept     an object that lives longer than a quarter of the phase it is born in: as it was
    drawn    all others, in blocks of consecutive requests

Times are counted in requests: an object born as request i that is freed before request j lives
j - i. The lifetime of a drawn object that the recording cut off is one of those that were not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit.errors import HeapfitError
from heapfit.trace.chains import Chains
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import FREE, RESIZE, is_allocation
from heapfit.trace.stored import REPLAYED, Trace
from heapfit.workloads.phases import phase_starts

Integers = NDArray[np.int64]

COLUMNS = ("op", "object", "size", "alignment", "thread", "site")
_IN_MEMORY = (*REPLAYED, "site")
LEAST_REQUESTS = 256
_FOREVER = 1 << 40
_KEPT_SHARE = 4  # of a phase is what an object outlives that is kept
_LIFETIMES_OF_A_BLOCK = 4
_MOST_BLOCKS = 16  # of a recording at least, so that there is a choice
_SHORTEST_BLOCK = 32  # requests
_IMPUTING_SEED = 1


@dataclass(frozen=True, slots=True)
class Model:
    """A recording prepared for resampling. Arrays by request, some by resampled object."""

    columns: dict[str, NDArray[Any]]  # of the recording
    births: Integers  # event of each request
    deaths: Integers  # requests before it is freed; _FOREVER
    freed_at: Integers  # event of the free, beyond the last without one
    resizes: Integers  # events, by object
    first_resize: Integers  # of each object, and the end
    drawn: Integers  # requests that are drawn
    ends: Integers  # of each drawn object: drawn requests before it is freed
    live: Integers  # bytes of drawn objects before each drawn request
    phases: tuple[int, ...]  # first drawn request of each
    block: int  # drawn requests
    chains: Chains  # of the recording's call sites

    @property
    def requests(self) -> int:
        """The number of requests."""
        return len(self.births)

    @property
    def kept(self) -> int:
        """The number of objects that are not resampled."""
        return self.requests - len(self.drawn)

    def sizes(self) -> Integers:
        """Sizes of the objects that are resampled."""
        return self.columns["size"][self.births[self.drawn]].astype(np.int64)


def fit_model(recording: Trace | LoadedTrace) -> Model:
    """The model of a recording; HeapfitError if it is too short.

    One in memory has no threads, nor have runs drawn from it.
    """
    if isinstance(recording, LoadedTrace):
        (columns,) = recording.batches(_IN_MEMORY)
        return _model(columns, recording.trace)
    batches = list(recording.batches(COLUMNS))
    columns = {name: np.concatenate([batch[name] for batch in batches]) for name in COLUMNS}
    return _model(columns, recording)


def _model(columns: dict[str, NDArray[Any]], trace: Trace) -> Model:
    is_birth = is_allocation(columns["op"])
    births = np.flatnonzero(is_birth)
    if len(births) < LEAST_REQUESTS:
        raise HeapfitError(
            f"{trace.path}: {len(births)} requests are too few to resample "
            f"({LEAST_REQUESTS} at least)"
        )
    clock = np.cumsum(is_birth, dtype=np.int64)
    deaths, freed_at = _deaths(columns, clock, len(births))
    lives = deaths - np.arange(len(births))
    block = _block(lives)
    sizes = columns["size"][births].astype(np.int64)
    starts = phase_starts(sizes, _live(sizes, deaths), block)
    is_kept = _is_kept(columns, lives, starts)
    drawn = np.flatnonzero(~is_kept)
    if len(drawn) < 2 * block:
        raise HeapfitError(
            f"{trace.path}: nearly all of its objects outlive its phases, so none are left "
            "to resample"
        )
    lives = _impute_lifetimes(lives, sizes, drawn)
    ends = _count_drawn_requests(drawn, lives, len(births))
    resizes, first_resize = _resizes(columns, len(births))
    return Model(
        columns=columns,
        births=births,
        deaths=deaths,
        freed_at=freed_at,
        resizes=resizes,
        first_resize=first_resize,
        drawn=drawn,
        ends=ends,
        live=_live(sizes[drawn], ends),
        phases=_phases_of_drawn(drawn, starts, block),
        block=block,
        chains=trace.chains,
    )


def _deaths(columns: dict[str, NDArray[Any]], clock: Integers, births: int) -> tuple[Any, Any]:
    """The requests before each object's free, and the event of the free."""
    frees = np.flatnonzero(columns["op"] == FREE)
    deaths, freed_at = np.full(births, _FOREVER, np.int64), np.full(births, len(clock))
    objects = columns["object"][frees]
    deaths[objects], freed_at[objects] = clock[frees], frees
    return deaths, freed_at


def _live(sizes: Integers, ends: Integers) -> Integers:
    """Bytes before each request, of objects that end before the requests `ends`."""
    count = len(sizes)
    change = np.zeros(count + 1, np.int64)
    change[1:] = sizes
    np.subtract.at(change, np.minimum(ends, count), sizes)
    return np.cumsum(change)[:count]


def _block(lives: Integers) -> int:
    """The requests of a block: several lifetimes of nine in ten resampled objects."""
    count = len(lives)
    passing = lives[lives <= count // _KEPT_SHARE]
    long = float(np.quantile(passing, 0.9)) if len(passing) else 0.0
    most = max(_SHORTEST_BLOCK, count // _MOST_BLOCKS)
    return int(min(max(_LIFETIMES_OF_A_BLOCK * long, _SHORTEST_BLOCK, count // 1000), most))


def _is_kept(columns: dict[str, NDArray[Any]], lives: Integers, starts: list[int]) -> NDArray[Any]:
    """True for objects that outlive a quarter of their phase, or that a resize to 0 ends."""
    count = len(lives)
    own = np.arange(count)
    ends = np.array([*starts[1:], count])
    lengths = ends - np.array(starts)
    phase = np.searchsorted(ends, own, side="right")
    lived = np.minimum(lives, count - own)
    is_kept: NDArray[Any] = lived > lengths[phase] // _KEPT_SHARE
    is_emptied = (columns["op"] == RESIZE) & (columns["size"] == 0)
    is_kept[columns["object"][is_emptied]] = True
    return is_kept


def _impute_lifetimes(lives: Integers, sizes: Integers, drawn: Integers) -> Integers:
    """Lifetimes with those that the recording cut off drawn from longer ones, of the same size
    where there are any."""
    generator = np.random.default_rng(_IMPUTING_SEED)
    imputed, count = lives.copy(), len(lives)
    is_known = lives[drawn] < _FOREVER // 2
    known_lives, known_sizes = lives[drawn[is_known]], sizes[drawn[is_known]]
    for cut_off in drawn[~is_known]:
        is_longer = known_lives >= count - cut_off
        alike = known_lives[is_longer & (known_sizes == sizes[cut_off])]
        pool = alike if len(alike) else known_lives[is_longer]
        imputed[cut_off] = generator.choice(pool) if len(pool) else count - cut_off
    return imputed


def _count_drawn_requests(drawn: Integers, lives: Integers, count: int) -> Integers:
    """The ends of resampled objects in resampled requests; beyond the last, in requests."""
    ends = drawn + lives[drawn]
    inside: Integers = np.searchsorted(drawn, np.minimum(ends, count))
    inside += np.maximum(ends - count, 0)
    return inside


def _resizes(columns: dict[str, NDArray[Any]], births: int) -> tuple[Any, Any]:
    """The events of resizes by object, and where those of each object begin."""
    events = np.flatnonzero(columns["op"] == RESIZE)
    objects = columns["object"][events]
    order = np.argsort(objects, kind="stable")
    return events[order], np.searchsorted(objects[order], np.arange(births + 1))


def _phases_of_drawn(drawn: Integers, starts: list[int], block: int) -> tuple[int, ...]:
    """The starts of phases among the resampled requests; short ones join the last."""
    firsts: list[int] = [0]
    for first in np.searchsorted(drawn, starts[1:]).tolist():
        if first - firsts[-1] >= 2 * block and len(drawn) - first >= 2 * block:
            firsts.append(first)
    return tuple(firsts)
