# SPDX-License-Identifier: Apache-2.0
"""The languages and platforms that a plan's C code is generated for."""

from enum import StrEnum
from typing import TypeVar

from heapfit.errors import HeapfitError


class Language(StrEnum):
    """The languages a heap can be called from."""

    C = "c"
    CXX = "c++"
    RUST = "rust"


class Platform(StrEnum):
    """The platforms that a heap can be generated for."""

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


_Target = TypeVar("_Target", Language, Platform)


def find_target(kind: type[_Target], name: str) -> _Target:
    """The language or platform of this name; HeapfitError if there is none."""
    try:
        return kind(name)
    except ValueError:
        word = kind.__name__.lower()
        raise HeapfitError(f"{word} {name[:40]!a}: must be one of {', '.join(kind)}") from None
