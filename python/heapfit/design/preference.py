# SPDX-License-Identifier: Apache-2.0
"""The measure by which a heap is picked among those that no other beats."""

from enum import StrEnum


class Preference(StrEnum):
    """The measure that is to be least; but for BUILD, the names are measures.Measure's."""

    RAM = "ram"
    BUILD = "build"  # the least RAM for the recorded build, whatever its changes take
    TIME = "time"
    FLASH = "flash"
