# SPDX-License-Identifier: Apache-2.0
"""The recorder's adapters: Debian's C libraries recorded on an emulated board; lwIP's compiled
against Debian's headers, Zephyr's and ESP-IDF's against declarations of our own."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness import sources
from harness.board import CORTEX_M3
from harness.emulator import emulate
from harness.image import Image
from heapfit.external_tool import run
from heapfit.importers import import_file
from heapfit.programs.source_lines import places_in
from heapfit.trace.operations import Op
from heapfit.trace.stored import Trace
from program import run_heapfit

FLAGS = ("-std=c11", "-Os", "-Wall", "-Wextra", "-Werror")
REENTRANT = ("_malloc_r", "_calloc_r", "_realloc_r", "_memalign_r", "_free_r")
PLAIN = ("malloc", "calloc", "realloc", "memalign", "free")
PICOLIBC = (
    "--specs=picolibc.specs",
    "-Wl,--defsym=__heap_start=0x21000000,--defsym=__heap_end=0x21010000",
)
LIBRARIES = {
    "newlib": ("newlib", REENTRANT, ()),
    "newlib-nano": ("newlib", REENTRANT, ("--specs=nano.specs",)),
    "picolibc": ("picolibc", PLAIN, PICOLIBC),
}


def libc_image(
    folder: Path,
    adapter: str,
    wrapped: tuple[str, ...],
    options: tuple[str, ...],
    program: str = "libc",
) -> Image:
    """A program of target/recording on a library's heap, recorded with call sites."""
    here = sources.root()
    recorder = ("record", "adapters/one_heap", f"adapters/{adapter}", "sinks/semihosting")
    board = (
        f"recording/{program}",
        "recording/sbrk",
        "board/start_arm",
        "board/start",
        "board/semihost",
    )
    made = folder / f"{program}.elf"
    run(
        [
            *("arm-none-eabi-gcc", *CORTEX_M3.flags, *FLAGS, "-g", "-DHFIT_RECORD_CALL_SITES=1"),
            *(f"-I{here / one}" for one in ("target", "recorder/target")),
            *(here / f"target/{name}.c" for name in board),
            *(here / f"recorder/target/{name}.c" for name in recorder),
            *("-nostartfiles", f"-L{here}/target/board", f"-T{CORTEX_M3.memories}"),
            *(f"-Wl,--wrap={name}" for name in wrapped),
            *("-Wl,--no-warn-rwx-segments", *options, "-o", made),
        ],
        folder,
    )
    return Image(made, CORTEX_M3)


ASKED = ("op", "object", "size", "alignment")


def columns_of(trace: Trace, names: tuple[str, ...] = ASKED) -> dict[str, np.ndarray]:
    return next(trace.batches(names))


def callers_of(trace: Trace, program: Path) -> set[tuple[str, int]]:
    """Each function that asks for memory, and how: the operation's number."""
    columns = columns_of(trace, ("op", "site"))
    places = places_in([program], set(columns["site"].tolist()))
    asked = zip(columns["op"].tolist(), columns["site"].tolist(), strict=True)
    known = {site: str(place.function) for site, place in places.items()}
    return {(known.get(site, ""), op) for op, site in asked if op != Op.FREE}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_librarys_heap_is_recorded_request_by_request(library: str, tmp_path: Path) -> None:
    """Also what its functions ask of each other: once, as the program asked, with its caller."""
    image = libc_image(tmp_path, *LIBRARIES[library])
    printed = emulate(image)
    (tmp_path / "asked").write_text(printed)
    asked = columns_of(import_file(tmp_path / "asked", tmp_path / "asked.parquet"))
    told = import_file(tmp_path / "heapfit.frames", tmp_path / "told.parquet")
    assert told.info.notes == ()
    assert set(asked["op"].tolist()) == {0, 1, 2, 3, 4}
    for name, column in columns_of(told).items():
        assert np.array_equal(column, asked[name]), name
    assert callers_of(told, image.path) == {
        *(("allocated", op) for op in (Op.ALLOC, Op.ZEROED, Op.ALIGNED)),
        ("step", Op.RESIZE),
    }


@pytest.mark.usefixtures("unmeasured")
def test_a_leak_of_firmware_is_named_by_function_and_line(tmp_path: Path) -> None:
    emulate(libc_image(tmp_path, *LIBRARIES["newlib"], program="leak"))
    words = ("fit", "heapfit.frames", "--program", "leak.elf")
    done = run_heapfit(*words, folder=tmp_path, environment=os.environ)
    told = " ".join(done.stdout.split())
    assert told.startswith("Leak: cache, leak.c:35 keeps blocks: ")


@pytest.mark.parametrize(
    ("adapter", "compiler", "options"),
    [
        ("lwip", "cc", ("-I/usr/include/lwip", "-D_POSIX_C_SOURCE=200809L")),
        ("zephyr", "arm-none-eabi-gcc", ()),
        (
            "zephyr_listener",
            "arm-none-eabi-gcc",
            ("-DHFIT_RECORD_FLAGS=HFIT_RECORD_ROUNDED", "-DCONFIG_SYS_HEAP_LISTENER=1"),
        ),
        ("zephyr_attributes", "arm-none-eabi-gcc", ("-DCONFIG_HEAPFIT_RECORD_CALL_SITES=1",)),
        ("esp_idf", "arm-none-eabi-gcc", ()),
        ("esp_idf", "arm-none-eabi-gcc", ("-DCONFIG_HEAP_HAS_EXEC_HEAP",)),
        ("esp_idf_sites", "arm-none-eabi-gcc", ("-DCONFIG_HEAPFIT_RECORD_CALL_SITES=1",)),
    ],
)
def test_an_adapter_fits_its_platforms_declarations(
    adapter: str, compiler: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """With the recorder, under the platform's settings where there are some."""
    here = sources.root()
    folders = (here / "recorder/target", here / "tests/target/platforms")
    sets = here / f"recorder/target/adapters/{adapter.removesuffix('_sites')}_config.h"
    config = [f'-DHFIT_RECORD_CONFIG_FILE="{sets}"'] if sets.is_file() else []
    code = [here / f"recorder/target/{name}.c" for name in (f"adapters/{adapter}", "record")]
    includes = (f"-I{folder}" for folder in folders)
    run([compiler, *FLAGS, *includes, *options, *config, "-c", *code], tmp_path)


CXX = """
#include "adapters/one_heap.h"
#include "sinks/sinks.h"
#include <cstdio>
#include <cstdlib>
#include <new>
void *operator new(std::size_t size) {
    hfit_record_site(&hfit_one_heap, __builtin_return_address(0));
    void *block = std::malloc(size);
    hfit_record_alloc(&hfit_one_heap, block, size);
    return block;
}
static int *volatile kept;
__attribute__((noinline)) static void keep() { kept = new int(5); }
int main() {
    hfit_character_sink out = {putchar};
    keep();
    hfit_record_close_frame(&hfit_one_heap);
    return hfit_record_drain(&hfit_one_heap, hfit_record_to_characters, &out) ? 0 : 1;
}
"""


def test_operator_new_of_a_cxx_program_tells_its_caller(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(CXX)
    recorder = sources.root() / "recorder/target"
    code = ("record", "adapters/one_heap", "sinks/characters")
    options = ("-g", "-Wall", "-Wextra", "-Werror", "-DHFIT_RECORD_CALL_SITES=1", f"-I{recorder}")
    run(["cc", *options, "-c", *(recorder / f"{one}.c" for one in code)], tmp_path)
    made = [tmp_path / f"{Path(one).name}.o" for one in code]
    run(["c++", *options, "-static", "-no-pie", "main.cpp", *made, "-o", "program"], tmp_path)
    log = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, check=True).stdout
    (tmp_path / "heapfit.frames").write_bytes(log)
    told = import_file(tmp_path / "heapfit.frames", tmp_path / "told.parquet")
    assert callers_of(told, tmp_path / "program") == {("keep()", Op.ALLOC)}


def test_an_image_that_was_not_recorded_names_nothing(tmp_path: Path) -> None:
    """Its addresses lie in its code, but behind no call."""
    recorded, other = tmp_path / "recorded", tmp_path / "other"
    recorded.mkdir()
    other.mkdir()
    image = libc_image(recorded, *LIBRARIES["picolibc"])
    emulate(image)
    told = import_file(recorded / "heapfit.frames", tmp_path / "told.parquet")
    sites = set(columns_of(told, ("site",))["site"].tolist()) - {0}
    assert len(places_in([image.path], sites)) == len(sites) > 3
    assert not places_in([libc_image(other, *LIBRARIES["newlib"], program="leak").path], sites)


def test_esp_idfs_heaps_tell_who_asks(tmp_path: Path) -> None:
    """Of a static program, whose addresses are as fixed as a firmware's."""
    here = sources.root()
    adapters = [
        here / f"recorder/target/adapters/{name}.c" for name in ("esp_idf", "esp_idf_sites")
    ]
    names = {name for one in adapters for name in re.findall(r"__wrap_(\w+)", one.read_text())}
    program = ("recording_by_caps.c", "platforms/esp_idf_heap.c", "platforms/esp_idf_heap_base.c")
    run(
        [
            *("cc", *FLAGS, "-g", "-fno-builtin", "-static", "-no-pie"),
            *(f"-I{here}/{one}" for one in ("recorder/target", "tests/target/platforms")),
            *(here / f"tests/target/{one}" for one in program),
            *(here / f"recorder/target/{one}.c" for one in ("record", "adapters/one_heap")),
            "-DCONFIG_HEAPFIT_RECORD_CALL_SITES=1",
            f'-DHFIT_RECORD_CONFIG_FILE="{here}/recorder/target/adapters/esp_idf_config.h"',
            *(*adapters, *(f"-Wl,--wrap={name}" for name in names), "-o", "program"),
        ],
        tmp_path,
    )
    asked = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "heapfit.frames").write_bytes(asked.stdout)
    told = import_file(tmp_path / "heapfit.frames", tmp_path / "told.parquet")
    ways = (Op.ALLOC, Op.ZEROED, Op.RESIZE, Op.ALIGNED)
    callers = callers_of(told, tmp_path / "program")
    assert {one for one in callers if not one[0].startswith("_")} == {  # the C library's own
        *((caller, op) for caller in ("by_the_library", "by_capabilities") for op in ways),
        ("", Op.ALLOC),
    }


def test_zephyrs_heaps_by_attribute_tell_needs_and_the_memory_that_served(tmp_path: Path) -> None:
    """Calls of another source are wrapped, as in a build; both heaps are recorded as one."""
    here = sources.root()
    adapter = here / "recorder/target/adapters/zephyr_attributes.c"
    names = set(re.findall(r"__wrap_(\w+)", adapter.read_text()))
    program = ("recording_by_attribute.c", "platforms/zephyr/attributed_heaps.c")
    run(
        [
            *("cc", *FLAGS, f"-I{here}/recorder/target", f"-I{here}/tests/target/platforms"),
            *(here / f"tests/target/{one}" for one in program),
            *(here / f"recorder/target/{one}.c" for one in ("record", "adapters/one_heap")),
            *(f"-DCONFIG_{one}=1" for one in ("MEM_ATTR", "MEM_ATTR_HEAP", "SHARED_MULTI_HEAP")),
            f'-DHFIT_RECORD_CONFIG_FILE="{here}/recorder/target/adapters/zephyr_config.h"',
            *(adapter, *(f"-Wl,--wrap={name}" for name in names), "-o", "program"),
        ],
        tmp_path,
    )
    asked = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "heapfit.frames").write_bytes(asked.stdout)
    told = import_file(tmp_path / "heapfit.frames", tmp_path / "told.parquet")
    assert told.info.notes == ()
    table = told.to_arrow().to_pydict()
    columns = ("op", "size", "alignment", "needs", "served")
    rows = list(zip(*(table[name] for name in columns), strict=True))
    requests = [row for row in rows if row[0] != "free"]
    assert requests == [
        ("alloc", 100, 0, 0, 128),
        ("alloc", 5000, 0, 8, 0),
        ("aligned", 300, 64, 64, 64 | 128),
        ("resize", 9000, 0, 8, 0),
        ("alloc", 1500, 0, 2, 2 | 64 | 128),
        ("aligned", 64, 32, 2 | 64, 2 | 64 | 128),
        ("resize", 1600, 0, 0, 2 | 64 | 128),
        ("alloc", 40, 0, 0, 128),
    ]
    assert len(rows) - len(requests) == 6
