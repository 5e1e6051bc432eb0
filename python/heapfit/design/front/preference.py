# SPDX-License-Identifier: Apache-2.0
"""What one configuration of a front is picked for."""

from enum import StrEnum


class Preference(StrEnum):
    """The measure that is to be least; the names are those of measures.Measure."""

    RAM = "ram"
    TIME = "time"
    FLASH = "flash"
    ENERGY = "energy"
