# SPDX-License-Identifier: Apache-2.0
"""A generated folder's files for platforms: they call the heap or build it.

The C of the heap stays as it is. A platform's files are templates in templates/PLATFORM; each says
at its head what it does for that platform.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from heapfit.errors import HeapfitError
from heapfit.generate.tables import HeapDesign
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


def _make_lock_form(title: str, name: str) -> PlatformForm:
    """The form of a system that only needs a lock."""
    file = f"{name}_lock_hfit.h"
    return PlatformForm(title, {file: f"{name}/{file}.j2"})


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
    Platform.THREADX: _make_lock_form("ThreadX", "threadx"),
    Platform.NUTTX: _make_lock_form("NuttX", "nuttx"),
    Platform.RIOT: _make_lock_form("RIOT", "riot"),
    Platform.MBED: _make_lock_form("Mbed OS", "mbed"),
    Platform.CMAKE: PlatformForm("CMake", _CMAKE),
    Platform.MESON: PlatformForm("Meson", {"meson.build": "meson/meson.build.j2"}),
    Platform.CONAN: PlatformForm("Conan", _CMAKE | {"conanfile.py": "conan/conanfile.py.j2"}),
    Platform.PLATFORMIO: PlatformForm("PlatformIO", {"library.json": "platformio/library.json.j2"}),
    Platform.ARDUINO: PlatformForm(
        "Arduino", {"library.properties": "arduino/library.properties.j2"}, is_one_file=True
    ),
    Platform.GDB: PlatformForm("GDB", {"heap_gdb.py": "gdb/heap_gdb.py.j2"}),
    Platform.ONE_FILE: PlatformForm("One file", {}, is_one_file=True),
}


def platform_templates(platforms: Iterable[Platform], *, is_pools_alone: bool) -> dict[str, str]:
    """The templates of the platforms' own files by file name, for a plan of pools alone or not.

    HeapfitError if two of them have different files of one name.
    """
    found: dict[str, str] = {}
    for platform in platforms:
        form = FORMS[platform]
        for name, template in (form.files | (form.pool_files if is_pools_alone else {})).items():
            if found.setdefault(name, template) != template:
                raise HeapfitError(
                    f"platform {platform.value}: its {name} collides with that of another platform "
                    "(generate two folders)"
                )
    return found


def require_sized_frees(design: HeapDesign, platforms: Iterable[Platform]) -> None:
    """HeapfitError if the plan's heap needs a block's size at free and a platform has none."""
    for platform in platforms:
        function = FORMS[platform].frees_without_size
        if function and design.needs_size:
            raise HeapfitError(
                f"plan {design.plan_name}: {design.plan.allocator} needs sized deallocation, "
                f"but {FORMS[platform].title}'s {function} passes no size "
                "(choose a plan of another allocator)"
            )
