# SPDX-License-Identifier: Apache-2.0
"""The caution due where requests may hold pointers of another width than the target's."""

from __future__ import annotations


def pointer_size_warning(kind: str, pointer_bits: int) -> str | None:
    """One sentence for a heap not recorded on 32 bit, None otherwise.

    >>> pointer_size_warning("packets", 0)
    """
    if kind != "heap" or pointer_bits == 32:
        return None
    recorded = f"recorded on {pointer_bits} bit" if pointer_bits else "recorded on unknown bits"
    return f"{recorded}: sizes on a 32-bit target will differ; record on the target or with -m32"
