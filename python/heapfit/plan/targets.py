# SPDX-License-Identifier: Apache-2.0
"""The languages and platforms that a plan's C code is generated for."""

from enum import StrEnum


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
