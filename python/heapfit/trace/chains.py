# SPDX-License-Identifier: Apache-2.0
"""Call sites that stand for a chain of callers, stored in the metadata, as their names repeat.

The column `site` has one number for the whole chain. Where a plan names direct callers, what has
been recorded in chains is found by the innermost of each:

    site of an event --> chain (caller, its caller, ...) --> tag of the chain, else of the caller
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.errors import HeapfitError

Chains: TypeAlias = Mapping[int, tuple[int, ...]]  # by site: its callers, innermost first
Sites: TypeAlias = Mapping[int, int]  # the tag of each call site that has one

DEPTH = 4  # callers of a chain: SITE_DEPTH of recorder/site.h
_LIMIT = 1 << 32


def tags_of(called_from: NDArray[Any], sites: Sites, chains: Chains) -> NDArray[np.uint16]:
    """The tag of each request by the site it was called from; 0 where that has none."""
    every = sites_with_tags(sites, chains)
    known = np.array(sorted(every), np.uint32)
    tags = np.array([every[site] for site in known.tolist()], np.uint16)
    places = np.minimum(np.searchsorted(known, called_from), len(known) - 1)
    return np.where(known[places] == called_from, tags[places], np.uint16(0))


def sites_with_tags(sites: Sites, chains: Chains) -> dict[int, int]:
    """The tags of the sites that have one, and of the chains that begin with such a site.

    >>> sites_with_tags({7: 1}, {100: (7, 8), 101: (9, 8)})
    {100: 1, 7: 1}
    """
    return {
        **{name: sites[chain[0]] for name, chain in chains.items() if chain[0] in sites},
        **sites,
    }


def callers_of(called_from: NDArray[np.uint32], chains: Chains) -> NDArray[np.uint32]:
    """The direct caller of each request: the innermost of its chain, or the site itself."""
    distinct, which = np.unique(called_from, return_inverse=True)
    direct = [chains[site][0] if site in chains else site for site in distinct.tolist()]
    return np.array(direct, np.uint32)[which]


def join_chains(each: Sequence[Chains]) -> dict[int, tuple[int, ...]]:
    """The chains of several recordings of one build."""
    return {name: chain for chains in each for name, chain in chains.items()}


def parse_chains(metadata: bytes | None) -> dict[int, tuple[int, ...]]:
    """The chains in a trace's metadata, none if it has none; HeapfitError if they are damaged."""
    return {name: tuple(chain) for name, chain in _parse(metadata, "chains", _is_chain).items()}


def parse_names(metadata: bytes | None) -> dict[int, str]:
    """What the source itself calls sites and tasks, likewise."""
    return _parse(metadata, "names", lambda text: isinstance(text, str))


def _parse(metadata: bytes | None, what: str, is_sound: Callable[[Any], bool]) -> dict[int, Any]:
    try:
        stored = {int(name): value for name, value in json.loads(metadata or b"{}").items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        stored = {-1: None}
    if not all(_is_hash(name) and is_sound(value) for name, value in stored.items()):
        raise HeapfitError(f"its {what} of callers are damaged (import the source again)")
    return stored


def caller_metadata(callers: Chains | Mapping[int, str]) -> bytes:
    """Chains or names as metadata that `parse_chains` or `parse_names` reads."""
    return json.dumps(dict(callers)).encode()


def _is_chain(chain: object) -> bool:
    return isinstance(chain, list) and 0 < len(chain) <= DEPTH and all(map(_is_hash, chain))


def _is_hash(value: object) -> bool:
    return type(value) is int and 0 < value < _LIMIT
