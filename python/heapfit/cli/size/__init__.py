# SPDX-License-Identifier: Apache-2.0
"""`heapfit size` and the commands of two words that begin with it."""

from types import MappingProxyType
from typing import Final

# What each command does, by its module: `heapfit --help` prints it without importing the command.
SUMMARIES: Final = MappingProxyType(
    {
        "pools": "Size a trace's pools to admit a share of requests, and show how often they run "
        "out.",
        "settings": "Print a system's settings to copy, each with its chance to run out.",
        "traffic": "Size schemes so that a share of offered traffic is admitted, least memory "
        "first.",
    }
)
