# SPDX-License-Identifier: Apache-2.0
"""What made a trace that is no recording: kept beside the table, as chains of callers are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from heapfit.errors import HeapfitError


class Maker(StrEnum):
    """The kind of program that made the events."""

    WORKLOAD = "workload"  # a synthetic one: name, seed and parameters make the same events again
    RESAMPLING = "resampling"  # of a recording's requests, in blocks: no evidence of another run


@dataclass(frozen=True, slots=True)
class Origin:
    """Who made a trace, and from what."""

    maker: Maker
    seed: int
    name: str = ""  # of a workload
    parameters: Mapping[str, int] = field(default_factory=dict)  # likewise


def origin_from(metadata: bytes | None) -> Origin | None:
    """As stored; HeapfitError if damaged. None: the trace has none, as recordings have."""
    if metadata is None:
        return None
    try:
        stored = Origin(**json.loads(metadata))
        origin = replace(stored, maker=Maker(stored.maker), parameters=dict(stored.parameters))
    except (ValueError, TypeError, RecursionError):
        origin = None
    if origin is None or not _is_typed(origin):
        raise HeapfitError("its origin is damaged (import the source again)")
    return origin


def _is_typed(origin: Origin) -> bool:
    numbers = (origin.seed, *origin.parameters.values())
    return type(origin.name) is str and all(type(one) is int for one in numbers)


def origin_metadata(origin: Origin) -> bytes:
    """What `origin_from` reads."""
    return json.dumps(asdict(origin)).encode()
