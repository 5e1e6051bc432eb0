# SPDX-License-Identifier: Apache-2.0
"""The origin of a trace that is no recording, stored in its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from heapfit.errors import HeapfitError


class Maker(StrEnum):
    """The kind of program that made the events."""

    WORKLOAD = "workload"  # a synthetic one: name, seed and parameters make the same events again


@dataclass(frozen=True, slots=True)
class Origin:
    """The maker of a trace, and what it was made from."""

    maker: Maker
    seed: int
    name: str = ""  # of a workload
    parameters: Mapping[str, int] = field(default_factory=dict)  # likewise


def parse_origin(metadata: bytes | None) -> Origin | None:
    """The origin in a trace's metadata, None for recordings; HeapfitError if it is damaged."""
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
    """The origin as metadata that `parse_origin` reads."""
    return json.dumps(asdict(origin)).encode()
