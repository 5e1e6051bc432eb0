# SPDX-License-Identifier: Apache-2.0
"""The measure for which a configuration of the front is picked."""

from enum import StrEnum


class Preference(StrEnum):
    """The measure that is to be least; the names are those of measures.Measure."""

    RAM = "ram"
    TIME = "time"
    FLASH = "flash"
