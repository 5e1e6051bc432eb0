# SPDX-License-Identifier: Apache-2.0
"""The command line: one file per command; main.py lists them."""

from types import MappingProxyType
from typing import Final

# What each command does, by its module: `heapfit --help` prints it without importing the command.
SUMMARIES: Final = MappingProxyType(
    {
        "fit": "Fit a heap: print the size to set, and write the best plan, its C code and a "
        "report.",
        "check": "Check that new recordings still run in a plan's heap, and show what grew.",
        "verify": "Run firmware on the fitted heap and fit again from its recordings, until fresh "
        "runs pass.",
        "generate": "Write the C code of a plan: constant tables, a thin wrapper, the allocator.",
        "record": "Run a program and record its heap requests, or read what a target recorded.",
        "import_": "Turn recordings or packet captures into stored traces.",
        "workload": "Write a synthetic workload as a stored trace; one seed gives one trace.",
        "profile": "Show sizes, lifetimes and live bytes of a trace, and what they suggest.",
        "sites": "Show the call sites of a recording: their sizes, lifetimes and source lines.",
        "compare": "Rank allocators and plans by the smallest region in which each serves a trace.",
        "bounds": "Show the least that any heap needs for a trace, and allocators' worst cases.",
        "adversary": "Search for requests within a trace's limits that exhaust a plan's heap.",
        "allocators": "List the allocators: origin, tunables, worst case, overhead of a block.",
        "size": "Size pools to serve a share of requests, and show how often they run out.",
        "settings": "Print a system's settings to copy, of pools with their chance to run out.",
        "simulate": "Simulate a scenario's traffic on its schemes, with confidence intervals and "
        "closed forms.",
    }
)
