# SPDX-License-Identifier: Apache-2.0
"""What several commands make of their options."""

from __future__ import annotations

from heapfit import _engine
from heapfit.cli.arguments import PointerBits
from heapfit.importers import ImportOptions


def import_options(
    queue: str | None, drop_unknown: bool, pointer_bits: PointerBits | None
) -> ImportOptions:
    """The options of an import, from those of a command.

    A queue is checked also where the source turns out not to be packets.
    """
    if queue is not None:
        _engine.QueueModel(queue)
    bits = int(pointer_bits) if pointer_bits else None
    return ImportOptions(drop_unknown, queue, bits)
