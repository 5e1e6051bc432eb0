# SPDX-License-Identifier: Apache-2.0
"""A generated folder's files for platforms and for other languages: they call the heap or build it.

The C of the heap stays as it is. A platform's files are templates in templates/PLATFORM; each says
at its head what it does for that platform.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from heapfit.plan.targets import Platform


@dataclass(frozen=True, slots=True)
class PlatformForm:
    """The files and properties that a platform, or a form of a folder, needs of it."""

    title: str  # as its users write it
    files: dict[str, str]  # names, and the templates they are filled from
    pool_files: dict[str, str] = field(
        default_factory=dict
    )  # likewise, of plans that are pools alone
    is_one_file: bool = False  # it compiles the sources of one folder alone
    counts: bool = False  # its functions report figures that only a heap with counts has
    frees_without_size: str = ""  # its function that frees a block whose size it does not know


_CMAKE = {"CMakeLists.txt": "cmake/CMakeLists.txt.j2"}
FORMS = {
    Platform.FREERTOS: PlatformForm(
        "FreeRTOS",
        {"heap_hfit.c": "freertos/heap_hfit.c.j2"},
        counts=True,
        frees_without_size="vPortFree",
    ),
    Platform.LWIP: PlatformForm(
        "lwIP",
        {
            "lwipopts_hfit.h": "lwip/lwipopts_hfit.h.j2",
            "lwip_lock_hfit.h": "lwip/lwip_lock_hfit.h.j2",
        },
        pool_files={"lwippools.h": "lwip/lwippools.h.j2"},
        frees_without_size="mem_free",
    ),
    Platform.MALLOC: PlatformForm(
        "The C library", {"malloc_hfit.c": "malloc/malloc_hfit.c.j2"}, frees_without_size="free"
    ),
    Platform.ZEPHYR: PlatformForm(
        "Zephyr",
        {
            f"zephyr/{name}": f"zephyr/{name}.j2"
            for name in (
                "CMakeLists.txt",
                "Kconfig",
                "module.yml",
                "zephyr_hfit.c",
                "zephyr_lock_hfit.h",
            )
        },
    ),
    Platform.ESP_IDF: PlatformForm(
        "ESP-IDF",
        {
            name: f"esp_idf/{name}.j2"
            for name in (
                "CMakeLists.txt",
                "idf_component.yml",
                "esp_idf_hfit.c",
                "esp_idf_lock_hfit.h",
            )
        },
    ),
    # Systems that only need a lock.
    **{
        one: PlatformForm(title, {f"{one}_lock_hfit.h": f"{one}/{one}_lock_hfit.h.j2"})
        for one, title in (
            (Platform.THREADX, "ThreadX"),
            (Platform.NUTTX, "NuttX"),
            (Platform.RIOT, "RIOT"),
            (Platform.MBED, "Mbed OS"),
        )
    },
    Platform.CMAKE: PlatformForm("CMake", _CMAKE),
    Platform.MESON: PlatformForm("Meson", {"meson.build": "meson/meson.build.j2"}),
    Platform.CONAN: PlatformForm("Conan", _CMAKE | {"conanfile.py": "conan/conanfile.py.j2"}),
    Platform.PLATFORMIO: PlatformForm("PlatformIO", {"library.json": "platformio/library.json.j2"}),
    Platform.ARDUINO: PlatformForm(
        "Arduino", {"library.properties": "arduino/library.properties.j2"}, is_one_file=True
    ),
    Platform.GDB: PlatformForm("GDB", {"heap_gdb.py": "gdb/heap_gdb.py.j2"}),
    Platform.ONE_FILE: PlatformForm("One file", {}, is_one_file=True),
    Platform.GUARD: PlatformForm("The guard", {}, is_one_file=True, counts=True),
    # The same heap under a language's own names; {} is the prefix.
    Platform.CXX: PlatformForm("C++", {"{}_heap.hpp": "heap.hpp.j2", "{}_new.cpp": "new.cpp.j2"}),
    Platform.RUST: PlatformForm(
        "Rust", {"Cargo.toml": "Cargo.toml.j2", "build.rs": "build.rs.j2", "lib.rs": "lib.rs.j2"}
    ),
}
