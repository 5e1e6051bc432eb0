# SPDX-License-Identifier: Apache-2.0
"""Kinds of files that commands take."""

from enum import StrEnum

# When a packet's buffer is freed, if that is not said: all of 1,000 packets in order.
STANDARD_QUEUE = "fill-drain:1000"


class Kind(StrEnum):
    """Kinds of files that commands take."""

    RECORDING = "a recording"
    CAPTURE = "a packet capture"
    PLAN = "a plan"
    SCENARIO = "a scenario"
    PROGRAM = "a program"
    IMAGE = "a program for another processor"
    UNKNOWN = "unknown"  # which its reader tells more of
