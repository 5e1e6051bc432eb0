# SPDX-License-Identifier: Apache-2.0
"""OpenThread: OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS and OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE.

Names and standards: src/core/config/misc.h. A message is a chain of buffers: each has a pointer to
the next, the first the message's metadata too (src/core/common/message.hpp).
"""

from __future__ import annotations

from collections.abc import Mapping

from heapfit.errors import HeapfitError
from heapfit.progress import Progress
from heapfit.sizing.buffers import Layout, least_memory, size_buffers
from heapfit.sizing.settings import (
    Assumption,
    BufferChoice,
    Form,
    Setting,
    Settings,
    SettingsOptions,
    override_assumptions,
)
from heapfit.trace.stored import Trace

ASSUMPTIONS = (
    Assumption(
        "metadata",
        48,
        "sizeof(Buffer::Metadata) in bytes",
        "inferred from message.hpp for 32-bit pointers, an FTD and at most 32 children",
    ),
    Assumption("pointer", 4, "sizeof(otMessageBuffer) in bytes", "message.hpp, 32-bit pointers"),
    Assumption(
        "reserved", 0, "kept before a message for headers, in bytes", "depends on the sender"
    ),
)
_STANDARD_BUFFER = 128  # 32 * sizeof(void *)
_TRIED = (80, 96, 112, _STANDARD_BUFFER, 160, 192, 256)


def settings_for(trace: Trace, options: SettingsOptions, progress: Progress) -> Settings:
    """Sizes OpenThread's settings from packets: IPv6 messages as the node holds them."""
    known = override_assumptions(ASSUMPTIONS, options.assume, "openthread")
    if trace.info.kind != "packets":
        raise HeapfitError(
            f"{trace.path}: OpenThread's messages are packets: give a capture, not a heap's trace"
        )
    least = known["metadata"].value + known["pointer"].value
    sizes = [size for size in _TRIED if size > least + 8]
    if not sizes:
        raise HeapfitError(
            f"assume: metadata={known['metadata'].value} leaves no room in a buffer of "
            f"{_TRIED[-1]} bytes"
        )
    pools = size_buffers(
        trace, [_layout(size, known) for size in sizes], options.admission, progress
    )
    best = least_memory(pools)
    return Settings(
        system="OpenThread",
        form=Form.DEFINE,
        admission=options.admission,
        settings=(
            Setting(
                "OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE",
                best.layout.buffer_size,
                "32 * sizeof(void *), so 128",
                None,
                "Needs the least RAM of the sizes compared, for whole messages.",
            ),
            Setting(
                "OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS",
                best.run_out.count,
                "44",
                best.run_out,
                "Buffers of all messages at once.",
            ),
        ),
        memory=best.memory,
        choices=tuple(
            BufferChoice(pool.layout.buffer_size, pool.run_out.count, pool.memory) for pool in pools
        ),
        assumptions=tuple(known.values()),
        remarks=(
            "MLE, CoAP and other control messages that the capture does not hold come on top",
            "without use where OPENTHREAD_CONFIG_MESSAGE_USE_HEAP_ENABLE is 1",
        ),
    )


def _layout(size: int, known: Mapping[str, Assumption]) -> Layout:
    later = size - known["pointer"].value
    first = later - known["metadata"].value
    return Layout(size, first, later, known["reserved"].value, size)
