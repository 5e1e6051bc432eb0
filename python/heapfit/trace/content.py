# SPDX-License-Identifier: Apache-2.0
"""A hash of what decides a replay, so that a plan knows the trace it was made from."""

from __future__ import annotations

import hashlib

from heapfit.trace.stored import Trace

_COLUMNS = {"op": "<u1", "object": "<u4", "size": "<u8", "alignment": "<u4"}


def content_hash(trace: Trace) -> str:
    """ "sha256:..." over the operations, objects, sizes and alignments in order.

    Equal for two recordings that ask for the same; times, threads, sites and the way the file was
    written do not count.
    """
    hashes = {name: hashlib.sha256() for name in _COLUMNS}
    for batch in trace.batches(tuple(_COLUMNS)):
        for name, kind in _COLUMNS.items():
            hashes[name].update(batch[name].astype(kind, copy=False).tobytes())
    together = hashlib.sha256(b"".join(one.digest() for one in hashes.values()))
    return f"sha256:{together.hexdigest()}"
