# SPDX-License-Identifier: Apache-2.0
"""A hash of what decides a replay, so that a plan knows the trace it was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from heapfit.trace.stored import Trace

_COLUMNS = {"op": "<u1", "object": "<u4", "size": "<u8", "alignment": "<u4"}


class ContentHash:
    """Hashes the batches of one trace in order; columns that no replay depends on are ignored."""

    def __init__(self) -> None:
        self._hashes = {name: hashlib.sha256() for name in _COLUMNS}

    def take(self, batch: Mapping[str, NDArray[Any]]) -> None:
        """Hashes the next batch."""
        for name, kind in _COLUMNS.items():
            self._hashes[name].update(batch[name].astype(kind, copy=False).tobytes())

    def digest(self) -> str:
        """ "sha256:..." of all batches so far."""
        together = hashlib.sha256(b"".join(one.digest() for one in self._hashes.values()))
        return f"sha256:{together.hexdigest()}"


def content_hash(trace: Trace) -> str:
    """ "sha256:..." over the operations, objects, sizes and alignments in order.

    Equal for two recordings that ask for the same; times, threads, sites and the way the file was
    written do not count.
    """
    content = ContentHash()
    for batch in trace.batches(tuple(_COLUMNS)):
        content.take(batch)
    return content.digest()
