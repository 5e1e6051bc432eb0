# SPDX-License-Identifier: Apache-2.0
"""The command line: one file per command; main.py lists them."""

from types import MappingProxyType
from typing import Final

# What each command does, by its module: `heapfit --help` prints it without importing the command.
SUMMARIES: Final = MappingProxyType(
    {
        "fit": "Fit a heap: print the size to set, and write the best plan, its C code and a "
        "report.",
        "check": "Check that new recordings run on a plan in its region, and show what grew.",
        "verify": "Run firmware over a plan's heap, fit again from what it records, until fresh "
        "runs pass.",
        "generate": "Write the C of a plan: const tables, a thin wrapper and the allocator's own "
        "files.",
        "record": "Run a program and record what it asks of its heap, or take what a target "
        "recorded.",
        "import_": "Turn recordings or packet captures into stored traces.",
        "workload": "Write a synthetic workload as a stored trace: the same for a seed on every "
        "machine.",
        "profile": "Show sizes, lifetimes and live bytes of a trace, and what they suggest.",
        "sites": "Show the call sites of a recording: what each asks for, how long it lives, where "
        "it is.",
        "compare": "Rank allocators and plans by the smallest region in which each serves a trace.",
        "bounds": "Show what any heap needs for a trace at least, and what some allocators need at "
        "most.",
        "adversary": "Search requests within a trace's limits that break a plan, and store the "
        "worst.",
        "allocators": "List the allocators: origin, tunables, worst case, bytes a block, smallest "
        "region.",
        "size": "Size pools to admit a share of requests, and show how often they run out.",
        "settings": "Print a system's settings to copy, each with its chance to run out.",
        "simulate": "Simulate a scenario's traffic on its schemes, with confidence intervals and "
        "closed forms.",
    }
)
