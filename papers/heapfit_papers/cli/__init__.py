# SPDX-License-Identifier: Apache-2.0
"""The commands that the papers add to `heapfit`."""

from types import MappingProxyType
from typing import Final

# What each command does, by its module: `heapfit --help` prints it without importing the command.
SUMMARIES: Final = MappingProxyType(
    {
        "reproduce": "Measure every row of the papers again and show which published figures "
        "come out.",
        "slotbuf": "Run the slot-buffer benchmark of Cebeci 2019 and show the free list it leaves.",
    }
)
