# SPDX-License-Identifier: Apache-2.0
"""The platforms and languages that a plan's C code is generated for."""

from enum import StrEnum

from heapfit.errors import HeapfitError


class Platform(StrEnum):
    """The platforms that a heap can be generated for, and the languages that call it beside C."""

    FREERTOS = "freertos"
    LWIP = "lwip"
    MALLOC = "malloc"
    ZEPHYR = "zephyr"
    ESP_IDF = "esp-idf"
    THREADX = "threadx"
    NUTTX = "nuttx"
    RIOT = "riot"
    MBED = "mbed"
    CMAKE = "cmake"
    MESON = "meson"
    CONAN = "conan"
    PLATFORMIO = "platformio"
    ARDUINO = "arduino"
    GDB = "gdb"
    ONE_FILE = "one-file"
    GUARD = "guard"
    CXX = "c++"
    RUST = "rust"


def find_platform(name: str) -> Platform:
    """The platform of this name; HeapfitError if there is none."""
    try:
        return Platform(name)
    except ValueError:
        known = ", ".join(Platform)
        raise HeapfitError(f"platform {name[:40]!a}: must be one of {known}") from None
