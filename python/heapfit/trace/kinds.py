# SPDX-License-Identifier: Apache-2.0
"""Kinds of files that commands take and write, and views of a recording."""

from enum import StrEnum

# When a packet's buffer is freed, if that is not said: all of 1,000 packets in order.
STANDARD_QUEUE = "fill-drain:1000"


class SourceKind(StrEnum):
    """Kinds of files that commands take."""

    RECORDING = "a recording"
    CAPTURE = "a packet capture"
    PLAN = "a plan"
    SCENARIO = "a scenario"
    PROGRAM = "a program"
    IMAGE = "a program for another processor"
    SOURCE = "C source"
    UNKNOWN = "unknown"  # which its reader tells more of


class Export(StrEnum):
    """Formats of other people's tools."""

    FOLDED = "folded"  # stacks as lines: flame graphs, speedscope
    PERFETTO = "perfetto"  # a trace for ui.perfetto.dev
    PPROF = "pprof"  # a heap profile, gzipped


class View(StrEnum):
    """Views of a recording's blocks."""

    PEAK = "peak"  # live at the peak
    HELD = "held"  # live at the end
    LATER = "later"  # born after the start-up, and live at the end
    TEMPORARY = "temporary"  # gone with the next call of the task that asked for it
    TASKS = "tasks"  # live at the peak, by the task that asked for it
    MEMORIES = "memories"  # live at the peak, by the memory that it lies in
