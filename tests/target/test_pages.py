# SPDX-License-Identifier: Apache-2.0
"""What a reader copies from the pages about boards, taken from there and run as it stands.

A firmware is made of the page's lines alone and of what the page says is the reader's (pages/), and
counts only if its events arrive. FreeRTOS is the kernel's own sources, ARM_CM3, where
HEAPFIT_FREERTOS names a clone; else a kernel of ours that starts as that one does.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from harness import sources
from harness.board import CORTEX_M3
from harness.emulator import emulate
from harness.image import Image
from heapfit.comparison.costs.heap_costs import find_code
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.external_tool import run
from heapfit.fitting.verify.firmware import Firmware
from heapfit.importers.target_log import Emulation
from heapfit.programs.source_lines import places_in
from heapfit.trace.stored import Trace
from program import run_heapfit

ROOT = sources.root()
PAGES = ROOT / "tests/target/pages"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`]+)`")
STEPS, SMALLEST = 300, 1001  # pages/app.h
RAM = 0x20000000
PLAN = """region = 32768
base_alignment = 8
pointer_bits = 32
[plan]
allocator = "tlsf"
alignment = 8
"""
ON_TARGET = "docs/on-target.md"
BARE = "docs/guides/bare-metal.md"
CRASHES = "docs/crashes.md"
COSTS = "docs/costs.md"
EVIDENCE = "docs/evidence/on-target.md"
SITES = "-DHFIT_RECORD_CALL_SITES=1"
PAGES_TO_COPY = [
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/guides").glob("*.md")),
    *(ON_TARGET, "docs/generate.md", CRASHES),
]
# What runs the code to copy, by words of it: a test below, or who else does. Commands are run by
# tests/repository/test_console_blocks.py.
WHO_RUNS = {
    "mbed-core-flags": "cmake_lines_for_mbed_build",
    "cc -I$R": "guide_for_stm32h7_link",
    "(void)hfit_record_drain": "lines_for_newlib_record",
    "APP_HEAP_SECTION": "tests/python/test_generated_platforms.py",
    "APP_HEAP_LOCK_FILE": "tests/python/test_generated_platforms.py",
    "_start_task(&hfit_one_heap, hfit_record_to_characters": "lines_for_freertos_record",
    "heapfit_recorder/adapters/freertos.c": "lines_for_freertos_record",
    "heapfit_recorder/sinks/characters.c heapfit_recorder": "lines_for_freertos_record",
    "target_link_libraries(app PRIVATE heapfit_record": "lines_for_freertos_record",
    "add_subdirectory(heapfit_recorder)": "lines_for_freertos_record",
    "--wrap=pvPortMalloc": "lines_for_freertos_record",
    "-Iheapfit_recorder -DHFIT_RECORD_CONFIG_FILE": "lines_for_freertos_record",
    "hfit_record_close_frame(&hfit_one_heap);": "lines_for_freertos_record",
    "static hfit_": "lines_for_freertos_record",
    "static uint8_t": "lines_for_freertos_record",
    "--wrap=_malloc_r": "lines_for_newlib_record",
    "#define HFIT_RECORD_TICK": "lines_for_newlib_record",
    "my_recorder.h": "lines_for_newlib_record",
    "my_memory_of": "function_of_ones_own_names_its_caller",
    "*my_alloc(": "function_of_ones_own_names_its_caller",
    "-DHFIT_RECORD_CALL_SITES=1": "function_of_ones_own_names_its_caller",
    "malloc-heap/*.c": "lines_for_a_fitted_heap_build_and_serve",
    "freertos-heap/*.c": "lines_for_a_fitted_heap_build_and_serve",
    "freertos-heap/sinks": "lines_for_a_fitted_heap_build_and_serve",
    "wildcard heap/*.c": "planted_faults_are_named",
    "my_print": "takes_the_options_of_its_page",
    "-DAPP_HEAP_": "takes_the_options_of_its_page",
    "-DHFIT_QUARANTINE": "takes_the_options_of_its_page",
    "section =": "guide_for_stm32h7_link",
    ".dtcm_heap (NOLOAD)": "guide_for_stm32h7_link",
    "app_memories.h": "guide_for_stm32h7_link",
    "-DAPP_AXI_REGION": "guide_for_stm32h7_link",
    "hfit_record_to_esp_idf_console": "c_for_esp_idf_compiles",
    "heap_caps_malloc_prefer": "c_for_esp_idf_compiles",
    "Serial.printf": "c_for_arduino_prints",
    "__wrap_malloc": "c_for_arduino_prints",
    "-Wl,--wrap=malloc": "c_for_arduino_prints",
    "west build": "in Zephyr itself, by hand: docs/evidence/on-target.md",
    "EXTRA_ZEPHYR_MODULES": "in Zephyr itself, by hand: docs/evidence/on-target.md",
    "CONFIG_": "in Zephyr and ESP-IDF, by hand: docs/evidence/on-target.md",
    "zephyr_compile_definitions(": "in Zephyr itself, by hand: docs/evidence/on-target.md",
    "tcpdump -i": "the reader's network",
    "ctest --preset": "the whole of it in CI: Makefile",
    "a 0 24": "tests/python/test_importers.py",
    "HFIT_RECORD_SYSTEM=HFIT_RECORD_LWIP": "in lwIP itself, by hand: docs/evidence/on-target.md",
    "HFIT_RECORD_RING_SIZE=": "tests/python/test_frames.py",
    "void *operator new": "tests/target/test_recorder_adapters.py",
    "HFIT_ANY_PLAN": "tests/python/test_generate.py",
    "HFIT_ON_MISUSE": "tests/python/test_generated_platforms.py",
    "HFIT_RANDOM": "tests/python/test_generated_platforms.py",
    "HFIT_SAFETY=3": "tests/python/test_generated_platforms.py",
}


def page(name: str) -> str:
    return (ROOT / name).read_text()


def block(name: str, holds: str, kind: str = "c") -> str:
    """The page's one block of this kind with these words."""
    (found,) = [text for one, text in BLOCK.findall(page(name)) if one == kind and holds in text]
    return found


def spans(name: str) -> list[str]:
    """What stands as code in the page's sentences and cells."""
    return SPAN.findall(BLOCK.sub("", page(name)))


def row(name: str, first: str) -> list[list[str]]:
    """The code in each cell of the page's row that begins so, without the first."""
    (line,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", page(name), re.MULTILINE)
    return [SPAN.findall(cell) for cell in line.split("|")]


def split_block(text: str) -> tuple[str, str]:
    """What stands before any function, and the statements, which the page says stand in one."""
    is_statement = re.compile(r"^(\(void\))?hfit_\w+\(")
    lines = text.splitlines()
    inside = [line for line in lines if is_statement.match(line)]
    return "\n".join(line for line in lines if line not in inside), "\n".join(inside)


SINKS = {
    name: row(ON_TARGET, f"`sinks/{name}.c`")
    for name in ("characters", "semihosting", "debugger_ring", "memory")
}


def with_sink(text: str, sink: str) -> str:
    """The page's lines for a UART, with the function, the context and the lines of another sink."""
    if sink == "characters":
        return text
    (function, context), declared = SINKS[sink][0], SINKS[sink][1]
    text = re.sub(r"^static hfit_character_sink .*$", "\n".join(declared), text, flags=re.M)
    return text.replace("hfit_record_to_characters, &uart", f"{function}, {context}").replace(
        "sinks/characters.c", f"sinks/{sink}.c"
    )


IS_CODE = re.compile(  # a span that is more than a name: a flag, a setting, a line of C or Make
    r"^(-D\w+=|-Wl,--wrap|CFLAGS|SOURCES|LDFLAGS|LIBS|build_\w+ = |target_|add_\w+\(|west "
    r"|CONFIG_\w+=|#define|zephyr_compile|hfit_\w+\(.*;$|static |void \*operator|void my_)"
    r"|^-DHFIT_ANY_PLAN$|\.c>"
)


def to_copy() -> dict[tuple[str, str], str]:
    """Each block and each span of code of these pages that is no command of heapfit's."""
    shown = {}
    for name in PAGES_TO_COPY:
        for kind, text in BLOCK.findall(page(name)):
            is_run = kind in ("sh", "bash", "python")  # test_console_blocks.py, test_front_door.py
            is_shown = re.match(r"(\$ )?(heapfit|python|Leak|Replace)", text)
            if not is_run and not is_shown:
                shown[name, text] = text
        shown.update({(name, one): one for one in spans(name) if IS_CODE.search(one)})
    return shown


def test_whatever_is_to_be_copied_is_run_or_says_where() -> None:
    """Each by the first words of the table that it has; no row is left over."""
    runs = [next((one for one in WHO_RUNS if one in text), text) for text in to_copy().values()]
    assert {one for one in runs if one not in WHO_RUNS} == set()
    assert set(WHO_RUNS) == set(runs)
    tests = [name for name in globals() if name.startswith("test_")]
    here = {one for one, who in WHO_RUNS.items() if any(who in test for test in tests)}
    others = {who.split(": ")[-1] for one, who in WHO_RUNS.items() if one not in here}
    assert [one for one in others if "/" in one and not (ROOT / one).exists()] == []
    counted = (len(runs), sum(one in here for one in runs))
    (told,) = re.findall(r"Of the (\d+) blocks and lines of code (\d+) are", page(EVIDENCE))
    assert counted == tuple(map(int, told))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project in which `heapfit generate --record` has written the recorder."""
    for command in {recorder_command(name) for name in (ON_TARGET, BARE)}:
        heapfit(*shlex.split(command)[1:], folder=tmp_path)
    return tmp_path


def recorder_command(name: str) -> str:
    """How a page writes the recorder, into the folder that its lines name."""
    return next(one for one in spans(name) if "generate --record -o" in one)


def heapfit(*words: str, folder: Path) -> str:
    done = run_heapfit(*words, folder=folder, environment=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


FLAGS = f"-mcpu=cortex-m3 -mthumb -Os -g -std=gnu11 -Wall -I{PAGES} -I{ROOT}/target"
BOARD = [
    *(PAGES / "board.c", ROOT / "target/board/start.c", ROOT / "target/board/semihost.c"),
    ROOT / "target/recording/sbrk.c",
]
LINKED = (
    f"-nostartfiles --specs=nano.specs -L{ROOT}/target/board -T{CORTEX_M3.memories} "
    "-Wl,--gc-sections -Wl,--no-warn-rwx-segments"
)


def kernel() -> tuple[str, list[Path]]:
    """The includes and the sources of FreeRTOS."""
    clone = os.environ.get("HEAPFIT_FREERTOS")
    if clone is None:
        return f"-I{PAGES}/config -I{PAGES}/kernel", [
            PAGES / f"kernel/{one}.c" for one in ("kernel", "heap_4")
        ]
    here, port = Path(clone), Path(clone, "portable/GCC/ARM_CM3")
    parts = ("tasks.c", "list.c", "queue.c", "portable/MemMang/heap_4.c")
    includes = f"-I{PAGES}/config -I{here}/include -I{port}"
    return includes, [port / "port.c", *(here / part for part in parts)]


def freertos_project(folder: Path, sink: str, options: str = "") -> tuple[str, str, str]:
    """Writes main.c of the page's lines; flags, sources and linker options of the reader's own."""
    declared, started = split_block(with_sink(block(ON_TARGET, "_start_task(&hfit_one"), sink))
    (end,) = [one for one in spans(ON_TARGET) if one.startswith("hfit_record_close")]
    (folder / "main.c").write_text(
        f'#include "app.h"\n#include <FreeRTOS.h>\n#include <task.h>\n{declared}\n'
        f"void before_the_end(void) {{\n{end}\n}}\n"
        f"int main(void) {{\n{started}\napp_start();\nvTaskStartScheduler();\nreturn 1;\n}}\n"
    )
    includes, kernels = kernel()
    own = ["main.c", *map(str, [PAGES / "tasks.c", *BOARD, *kernels])]
    return f"{FLAGS} {includes} {options}", " ".join(own), LINKED


def by_make(folder: Path, sink: str, flags: str, code: str, linked: str) -> None:
    (lines,) = row(ON_TARGET, "Make")
    text = with_sink("\n".join(lines), sink)
    (folder / "Makefile").write_text(
        f"CFLAGS = {flags}\nSOURCES = {code}\nLDFLAGS = {linked}\n{text}\n"
        "app.elf:\n\tarm-none-eabi-gcc $(CFLAGS) $(SOURCES) $(LDFLAGS) -o $@\n"
    )
    subprocess.run(["make", "-s"], cwd=folder, check=True)


def by_cmake(
    folder: Path, sink: str, flags: str, code: str, linked: str, library: str = "freertos"
) -> None:
    """A C library's needs no task: its program drains."""
    (lines,) = row(ON_TARGET, "CMake")
    assert library == "freertos" or f"_{library}" in lines
    text = with_sink("\n".join(line for line in lines if "(" in line), sink)
    if library != "freertos":
        text = text.replace("heapfit_record_freertos", f"heapfit_record_{library}")
        text = re.sub(r" \S+/freertos_task.c", "", text)
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nset(CMAKE_SYSTEM_NAME Generic)\n"
        "set(CMAKE_C_COMPILER arm-none-eabi-gcc)\n"
        "set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\nproject(app C)\n"
        f"add_executable(app {code})\nset_target_properties(app PROPERTIES SUFFIX .elf)\n"
        f"separate_arguments(flags UNIX_COMMAND [[{flags}]])\nadd_compile_options(${{flags}})\n"
        f"separate_arguments(linked UNIX_COMMAND [[{flags} {linked}]])\n"
        f"target_compile_options(app PRIVATE ${{flags}})\n"
        f"target_link_options(app PRIVATE ${{linked}})\n{text}\n"
    )
    subprocess.run(["cmake", "-S", ".", "-B", "."], cwd=folder, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", "."], cwd=folder, check=True, capture_output=True)


def by_platformio(folder: Path, sink: str, flags: str, code: str, linked: str) -> None:
    """As PlatformIO reads its two lines: flags of all, and sources named from src."""
    ((own, sources_of),) = row(ON_TARGET, "PlatformIO")
    filters = re.findall(r"\+<\.\./([^>]+)>", sources_of)
    assert len(filters) == 3
    (lines,) = row(ON_TARGET, "Make")
    defined = shlex.split(lines[0])[-1]
    page_flags = [*own.partition("= ")[2].split(), defined]
    sinks = f"{recorder_command(ON_TARGET).split()[-1]}/sinks"
    files = [*filters, f"{sinks}/{sink}.c", f"{sinks}/freertos_task.c"]
    command = ["arm-none-eabi-gcc", *flags.split(), *page_flags, *code.split(), *files]
    subprocess.run([*command, *linked.split(), "-o", "app.elf"], cwd=folder, check=True)


def sizes(trace: Trace) -> list[int]:
    """The sizes that were asked for, in order."""
    columns = next(trace.batches(("op", "size")))
    return [int(size) for op, size in zip(columns["op"], columns["size"], strict=True) if op == 0]


def recorded(folder: Path, sink: str) -> Trace:
    """What arrives of a run: by the emulator, or out of RAM as a probe or a debugger reads it."""
    if sink in ("characters", "semihosting"):
        words = ("record", "--qemu", "app.elf", "--seconds", "60", "-o", "run.parquet")
        heapfit(*words, folder=folder)
        return Trace.open(folder / "run.parquet")
    image = Image(folder / "app.elf", CORTEX_M3)
    emulate(image)
    address, size = image.symbols["up" if sink == "debugger_ring" else "bytes"]
    start = address - RAM
    (folder / "log.bin").write_bytes((folder / "ram.bin").read_bytes()[start : start + size])
    heapfit("import", "log.bin", "-o", "run.parquet", folder=folder)
    return Trace.open(folder / "run.parquet")


@pytest.mark.parametrize(
    ("build", "sink"),
    [*((by_make, sink) for sink in SINKS), (by_cmake, "characters"), (by_platformio, "characters")],
)
def test_the_lines_for_freertos_record_every_request(
    folder: Path, build: Callable[..., None], sink: str
) -> None:
    build(folder, sink, *freertos_project(folder, sink))
    trace = recorded(folder, sink)
    assert sizes(trace)[-STEPS:] == [*range(SMALLEST, SMALLEST + STEPS)]
    assert [note for note in trace.info.notes if "other text" not in note] == []


def test_the_recorder_is_not_in_the_recording(folder: Path) -> None:
    """The tasks of the program and of the kernel are; that of the recorder never.

    So the events are those of an image without its task, whose ring is drained at the end.
    """
    asked, told = [], []
    for is_static, has_task in ((0, True), (1, True), (0, False), (1, False)):
        options = f"-DconfigSUPPORT_STATIC_ALLOCATION={is_static}"
        project = freertos_project(folder, "semihosting", options)
        if not has_task:
            text = re.sub(
                r"^hfit_record_start_task.*$", "", (folder / "main.c").read_text(), flags=re.M
            )
            drained = (
                "hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL);\n}\nint main"
            )
            (folder / "main.c").write_text(text.replace("}\nint main", drained))
        by_make(folder, "semihosting", *project)
        trace = recorded(folder, "semihosting")
        asked.append(sizes(trace))
        said = json.loads(heapfit("fit", "run.parquet", "--now", "heap_4", "--json", folder=folder))
        told.append(said["fits"][0]["now"]["heaps"])
        (folder / "app.elf").unlink()
    assert asked[0][-STEPS:] == [*range(SMALLEST, SMALLEST + STEPS)]
    assert set(asked[0][:-STEPS:2]) <= {1024, 512}  # the stacks of the program and the idle task
    assert (asked[:2], told[:2]) == (asked[2:], told[2:])


@pytest.mark.parametrize(
    ("system", "options", "ring"),
    [
        ("tasks", "", 6144),
        *((system, SITES, 9216) for system in ("tasks", "loop", "shadows")),
    ],
)
def test_half_of_the_ring_loses_no_event_of_the_example(
    tmp_path: Path, system: str, options: str, ring: int
) -> None:
    """So the ring is twice as large as any burst there; and no block is given twice."""
    assert f"{ring:,} B" in page(ON_TARGET)
    trace = recorded_firmware(tmp_path, system, f"{options} -DHFIT_RECORD_RING_SIZE={ring // 2}")
    assert trace.info.events > 40_000
    assert trace.info.notes == ()


def test_a_ring_that_is_too_small_is_told_with_the_blocks_given_twice(tmp_path: Path) -> None:
    trace = recorded_firmware(tmp_path, "tasks", f"{SITES} -DHFIT_RECORD_RING_SIZE=1024")
    missing, twice, *_ = trace.info.notes
    assert re.match(r"[1-9][\d,]* events are missing in .* double HFIT_RECORD_RING_SIZE", missing)
    assert re.search(r"[1-9][\d,]* blocks in all, taken as freed", twice)


def recorded_firmware(folder: Path, system: str, options: str) -> Trace:
    """20 seconds of the example's firmware, drained where nothing else is to be done."""
    words = (f"SYSTEM={system}", "RECORD=1", f"OPTIONS={options}", f"BUILD={folder}")
    subprocess.run(["make", "-s", "-C", str(ROOT / "examples/firmware"), *words], check=True)
    machine = ("--machine", "-icount shift=6,sleep=off")
    run_of = ("record", "--qemu", "firmware.elf", *machine, "-o", "run.parquet", "--", "1", "20")
    heapfit(*run_of, folder=folder)
    return Trace.open(folder / "run.parquet")


def loop_project(folder: Path, declared: str, looped: str, end: str) -> str:
    """Writes main.c with a main loop of the application's; the sources of the reader's own."""
    (folder / "main.c").write_text(
        f'#include "app.h"\n{declared}\n'
        "int main(void) {\nfor (int i = 0; i < APP_STEPS; i++) {\n"
        f"app_step(i);\n{looped}\n}}\n{end}\napp_end();\n}}\n"
    )
    return " ".join(["main.c", *map(str, [PAGES / "loop.c", *BOARD])])


def makefile(folder: Path, code: str, lines: str, options: str = "") -> None:
    (folder / "Makefile").write_text(
        f"CFLAGS = {FLAGS} {options}\nSOURCES = {code}\nLDFLAGS = {LINKED}\n{lines}\n"
        "app.elf:\n\tarm-none-eabi-gcc $(CFLAGS) $(SOURCES) $(LDFLAGS) -o $@\n"
    )
    subprocess.run(["make", "-s"], cwd=folder, check=True)


def bare_parts() -> tuple[str, str, str]:
    """What is declared, done in the loop, and done at the end, by the guide for bare metal."""
    declared, looped = split_block(block(BARE, "hfit_record_drain"))
    (closed,) = [one for one in spans(BARE) if one.startswith("hfit_record_close")]
    return declared, looped, f"{closed};\n{looped}"


def test_the_lines_for_newlib_record_every_request_and_the_time(folder: Path) -> None:
    clock = [one for one in spans(BARE) if one.startswith("#define HFIT_RECORD_TICK")]
    (folder / "my_recorder.h").write_text("#include <app.h>\n" + "\n".join(clock) + "\n")
    (named,) = [one for one in spans(BARE) if one.startswith("-DHFIT_RECORD_CONFIG_FILE")]
    code = loop_project(folder, *bare_parts())
    makefile(folder, code, block(BARE, "--wrap=_malloc_r", "text"), f"-I. {named}")
    trace = recorded(folder, "characters")
    assert sizes(trace)[-STEPS:] == [*range(SMALLEST, SMALLEST + STEPS)]
    assert 2048 not in sizes(trace)  # the recorder's stack
    assert trace.info.notes == ()
    (times,) = [batch["time"] for batch in trace.batches(("time",))]
    assert times[-1] == 1000 * (STEPS - 1)  # my_ticks counts the steps, as milliseconds


def test_a_function_of_ones_own_names_its_caller(folder: Path) -> None:
    """The page's my_alloc, and its header for a Cortex-M7's memories."""
    (folder / "my_recorder.h").write_text("#include <stdint.h>\n" + block(ON_TARGET, "my_memory"))
    own = "#include <stdlib.h>\n" + block(ON_TARGET, "*my_alloc(")
    declared, looped, end = bare_parts()
    kept = "void *kept;\n__attribute__((noinline)) void keep(void) {\nkept = my_alloc(77);\n}"
    code = loop_project(folder, f"{declared}\n{own}\n{kept}", f"keep();\n{looped}", end)
    (config,) = [one for one in spans(ON_TARGET) if "my_recorder.h" in one]
    (flag,) = re.findall(r"CFLAGS \+= (-DHFIT_RECORD_CALL_SITES=1)", page(ON_TARGET))
    makefile(folder, code, block(BARE, "--wrap=_malloc_r", "text"), f"-I. {config} {flag}")
    trace = recorded(folder, "characters")
    columns = next(trace.batches(("size", "site", "served", "op")))
    is_own = (columns["size"] == 77) & (columns["op"] == 0)
    assert is_own.sum() == STEPS
    assert set(columns["served"][is_own].tolist()) == {
        16 | 128
    }  # the board's RAM lies at the page's DTCM
    places = places_in([folder / "app.elf"], set(columns["site"][is_own].tolist()))
    assert {place.function for place in places.values()} == {"keep"}


@pytest.mark.parametrize("name", ["malloc", "freertos"])
def test_the_lines_for_a_fitted_heap_build_and_serve(folder: Path, name: str) -> None:
    """By a plan's C, which records itself where the guide has lines for that."""
    guide = {"malloc": BARE, "freertos": "docs/guides/freertos.md"}[name]
    (command,) = [
        line for line in block(guide, "heapfit generate", "sh").splitlines() if name in line
    ]
    (folder / "plan.toml").write_text(PLAN)
    words = shlex.split(command)[1:]
    lines = block(guide, f"{name}-heap/*.c", "text")
    if name == "malloc":
        heapfit(*words, folder=folder)
        makefile(folder, loop_project(folder, "", "", ""), lines)
        emulate(Image(folder / "app.elf", CORTEX_M3))
        return
    heapfit(*words, "--record", folder=folder)
    flags, code, _ = freertos_project(folder, "characters")
    text = (folder / "main.c").read_text()
    text = text.replace("hfit_one_heap", "app_heap_recorder")
    (folder / "main.c").write_text(text.replace("adapters/one_heap.h", "app_heap.h"))
    lines += block(guide, "freertos-heap/sinks", "text")
    code = " ".join(one for one in code.split() if not one.endswith("heap_4.c"))
    makefile(folder, code, lines, flags.removeprefix(FLAGS))
    trace = recorded(folder, "characters")
    assert sizes(trace)[-STEPS:] == [*range(SMALLEST, SMALLEST + STEPS)]
    assert 2048 not in sizes(trace)  # the recorder's stack
    assert trace.info.notes == ()


PLANTED = {
    "w": 5,
    "l": 5,
    "o": 8,
    "d": 7,
    "r": 5,
    "j": 5,
    "f": 2,
    "u": 4,
}  # planted faults of each kind
SAYS = {
    "w": "written after its free",
    "l": "written after its free",
    "o": "beyond its end",
    "r": "read after its free: a pointer from it was followed",
    "j": "read after its free: a pointer from it was followed",
    "f": "read after its free: a pointer from it was freed or resized",
    "u": "written just before it",
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    """The planted program on a heap that names misuse, by the lines of the page on crashes."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "plan.toml").write_text(PLAN)
    (command,) = block(CRASHES, "--for malloc", "sh").splitlines()
    heapfit(*shlex.split(command)[1:], folder=folder)
    code = " ".join(map(str, [PAGES / "planted.c", *BOARD]))
    makefile(folder, code, block(CRASHES, "heap/*.c", "text"))
    return Firmware("true", Emulation(folder / "app.elf", ("{kind}", "{run}"), is_heard=False))


def misuse(firmware: Firmware, kind: str, number: int) -> str | None:
    arguments = (kind, "{run}")
    return replace(
        firmware, emulation=replace(firmware.emulation, arguments=arguments)
    ).name_misuse(number)


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same program on this machine, whose pointers have 64 bits."""
    folder = tmp_path_factory.mktemp("hosted")
    (folder / "plan.toml").write_text(PLAN.replace("alignment = 8", "alignment = 16"))
    (command,) = block(CRASHES, "--for malloc", "sh").splitlines()
    heapfit(*shlex.split(command)[1:], "--region", "4M", folder=folder)
    (lines,) = re.findall(r"^CFLAGS  \+= (.*)$", block(CRASHES, "heap/*.c", "text"), re.M)
    code = map(str, [PAGES / "planted.c", *(folder / "heap").glob("*.c")])
    flags = ["-g", "-O1", "-no-pie", "-fno-builtin", *lines.split()]
    run(["gcc", *flags, *code, "-o", "program"], folder)
    return folder / "program"


def misuse_here(program: Path, kind: str, number: int) -> str | None:
    done = subprocess.run([program, kind, str(number)], capture_output=True, text=True, check=False)
    told = done.stderr
    for site in set(re.findall(r"by (0x\w+)", told)):
        function, line = run(["addr2line", "-fe", str(program), site], program.parent).splitlines()
        told = told.replace(f"by {site}", f"by {function}, {Path(line).name}")
    # The trap, but where the program itself faults.
    assert done.returncode == {"c": 0, "r": -11, "j": -11}.get(kind, -4), done.stderr
    return told or None


@pytest.mark.parametrize("place", ["board", "host"])
def test_planted_faults_are_named_and_clean_programs_are_not(
    guarded: Firmware, hosted: Path, place: str
) -> None:
    find = partial(misuse, guarded) if place == "board" else partial(misuse_here, hosted)
    missed = []
    for kind, number in (
        (kind, number) for kind, count in PLANTED.items() for number in range(count)
    ):
        said = find(kind, number) or ""
        by_whom = "asked by asks, planted.c" in said or (kind == "o" and "by plant, " in said)
        is_named = kind not in ("r", "j") or (kind, place) == ("r", "board")
        by_whom &= is_named or "followed by plant, planted.c" in said
        how = SAYS.get(kind, "freed or resized again")
        is_freed = kind in ("o", "u") or "freed by gives, planted.c" in said
        if not (by_whom and how in said and is_freed):
            missed.append((kind, number, said))
    assert missed == []
    assert [number for number in range(10) if find("c", number) is not None] == []


def test_a_heap_that_names_misuse_takes_the_options_of_its_page(hosted: Path) -> None:
    """What prints and what stops are the reader's; fewer blocks are known, more wait."""
    options = [one for one in spans(CRASHES) if re.match(r"-D(APP_HEAP|HFIT_QUARANTINE=1000)", one)]
    (declared,) = [one for one in spans(CRASHES) if one.startswith("void my_print")]
    assert len(options) == 4
    (hosted.parent / "own.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        f"{declared} {{ fputs(text, stdout); fflush(stdout); }}\n"
        "void my_stop(void) { _Exit(7); }\n"
    )
    code = map(str, [PAGES / "planted.c", *(hosted.parent / "heap").glob("*.c"), "own.c"])
    (lines,) = re.findall(r"^CFLAGS  \+= (.*)$", block(CRASHES, "heap/*.c", "text"), re.M)
    flags = ["-g", "-O1", "-no-pie", "-fno-builtin", *lines.split()]
    run(["gcc", *flags, *options, *code, "-o", "own"], hosted.parent)
    done = subprocess.run(
        [hosted.parent / "own", "d", "0"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (7, "")
    assert "freed or resized again" in done.stdout


@pytest.fixture(scope="module")
def camera(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example that the guide for ESP32 builds and runs, by the lines of its page."""
    top = tmp_path_factory.mktemp("camera")
    for part in ("recorder/target", "examples/memories"):
        shutil.copytree(ROOT / part, top / part)
    script = block("docs/guides/esp32-psram.md", "cc -I$R", "text")
    subprocess.run(["bash", "-euc", script], cwd=top / "examples/memories", check=True)
    return top / "examples/memories"


def test_the_last_lines_of_the_guide_for_psram_run_in_order(camera: Path) -> None:
    script = block("docs/guides/esp32-psram.md", "heapfit check next.frames", "text")
    (made,) = re.findall(r"\./camera .*frames", script)
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    said = subprocess.run(
        ["bash", "-euc", f"{made}\n{script}"],
        cwd=camera,
        env={**os.environ, "PATH": programs},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "internal: set it to" in said
    (camera / "plan.toml").unlink()  # another guide writes its own


def test_the_sections_and_the_c_of_the_guide_for_stm32h7_link(camera: Path) -> None:
    guide = "docs/guides/stm32h7.md"
    for line in (block(guide, "heapfit place", "text"), block(guide, "heapfit generate", "text")):
        heapfit(*shlex.split(line)[1:], folder=camera)
        plan = camera / "plan.toml"
        (name, section) = block(guide, "section =", "toml").splitlines()[1:]
        plan.write_text(plan.read_text().replace(name, f"{name}\n{section}"))
        plan.write_text(
            plan.read_text().replace('name = "axi"', 'name = "axi"\nsection = ".axi_heap"')
        )
    (camera / "app.ld").write_text(
        "MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 2M\n"
        "DTCMRAM (rw) : ORIGIN = 0x20000000, LENGTH = 128K\n"
        "RAM_D1 (rw) : ORIGIN = 0x24000000, LENGTH = 512K }\n"
        "ENTRY(main)\nSECTIONS { .text : { *(.text*) *(.rodata*) } > FLASH\n"
        f"{block(guide, '.dtcm_heap (NOLOAD)', 'text')}\n"
        ".bss : { *(.data*) *(.bss*) *(COMMON) } > RAM_D1 }\n"
    )
    declared, *statements = block(guide, "app_memories.h").strip().splitlines()
    (camera / "main.c").write_text(
        f"{declared}\n#include <stdint.h>\nstruct session {{ int state; }};\nint main(void) {{\n"
        + "\n".join(statements)
        + "\nreturn frame == 0 || session == 0 || app_memory_of(frame) != APP_AXI;\n}\n"
    )
    sources_of_heap = [*map(str, (camera / "heap").rglob("*.c"))]
    flags = (
        "-mcpu=cortex-m7 -mthumb -Os -ffreestanding -fno-tree-loop-distribute-patterns -nostdlib"
    )

    def linked(*options: str) -> dict[str, tuple[int, int]]:
        run(
            [
                *("arm-none-eabi-gcc", *flags.split(), "-Iheap", "main.c", *sources_of_heap),
                *("-Tapp.ld", "-Wl,--fatal-warnings", "-Wl,--no-warn-rwx-segments", "-lgcc"),
                *(*options, "-o", "app.elf"),
            ],
            camera,
        )
        return Image(camera / "app.elf", CORTEX_M3).symbols

    symbols = linked()
    assert symbols["app_dtcm_region"][0] == 0x20000000
    assert symbols["app_axi_region"][0] >= 0x24000000
    (taken,) = [one for one in spans(guide) if one.startswith("-DAPP_AXI_REGION")]
    assert "app_axi_region" not in linked(*shlex.split(taken))


@pytest.mark.parametrize(
    ("holds", "made"),
    [
        ("adapters/one_heap.h", ("--record",)),
        ("app_heap.h", ("plan.toml", "--for", "esp-idf", "--record")),
    ],
)
def test_the_c_for_esp_idf_compiles(tmp_path: Path, holds: str, made: tuple[str, ...]) -> None:
    """With declarations of our own in place of its headers: ESP-IDF is not here."""
    (tmp_path / "plan.toml").write_text(PLAN)
    heapfit("generate", *made, "-o", "folder", folder=tmp_path)
    declared, started = split_block(block("docs/guides/zephyr-esp-idf.md", holds))
    inside = block("docs/guides/esp32-psram.md", "heap_caps_malloc_prefer")
    program = (
        f"{declared}\n#include <esp_idf_heap.h>\n#include <esp_heap_caps.h>\n"
        f"void *node;\nvoid *made(size_t size);\nvoid *made(size_t size) {{\n{inside}"
        f"return node;\n}}\nvoid app_main(void);\nvoid app_main(void) {{\n{started}\n}}\n"
    )
    (tmp_path / "main.c").write_text(program)
    includes = ("-Ifolder", f"-I{ROOT}/tests/target/platforms")
    flags = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-DESP_PLATFORM")
    sources_of_task = ["main.c", "folder/sinks/freertos_task.c", "folder/sinks/esp_idf_console.c"]
    run(["gcc", *flags, *includes, "-fsyntax-only", *sources_of_task], tmp_path)


ARDUINO = """#include <cstdio>
struct {
    template <typename... A> void printf(const char *form, A... a) { std::printf(form, a...); }
} Serial;
struct {
    unsigned free = 200000;
    unsigned getFreeHeap() const { return free; }
    unsigned getMaxAllocHeap() const { return free / 2; }
    unsigned getMinFreeHeap() const { return free - 2000; }
} ESP;
int main() {
    for (int minute = 0; minute < 60; minute++, ESP.free -= 24) {
%s
    }
}
"""


def test_the_c_for_arduino_prints_each_call(tmp_path: Path) -> None:
    """With the linker's options of the page, and printf in place of the ROM's."""
    guide = "docs/guides/arduino-esp32.md"
    options = next(one for one in spans(guide) if one.startswith("-Wl,--wrap=malloc"))
    (tmp_path / "esp_rom_sys.h").write_text("#include <stdio.h>\n#define esp_rom_printf printf\n")
    calls = "int main(void) { for (int i = 1; i < 99; i++) free(malloc(i)); }"
    code = f"#include <stdlib.h>\n{block(guide, '__wrap_malloc')}{calls}\n"
    (tmp_path / "app.c").write_text(code)
    run(["gcc", "-I.", "-fno-builtin", "app.c", *shlex.split(options), "-o", "app"], tmp_path)
    (tmp_path / "heap.log").write_text(run(["./app"], tmp_path))
    told = "\n".join(block(guide, "Serial.printf").splitlines())
    (tmp_path / "minute.cpp").write_text(ARDUINO % told)
    run(["g++", "minute.cpp", "-o", "minute"], tmp_path)
    (tmp_path / "device.log").write_text(run(["./minute"], tmp_path))
    (command,) = block(guide, "heapfit forecast", "text").splitlines()
    assert "Free memory falls by 2" in heapfit(*shlex.split(command)[1:], folder=tmp_path)
    commands = block(guide, "heapfit import heap.log", "text").replace("\\\n", "").splitlines()
    for command in commands:
        heapfit(*shlex.split(command)[1:], folder=tmp_path)
    assert sizes(Trace.open(tmp_path / "run.parquet")) == [*range(1, 99)]


@pytest.mark.parametrize("library", ["newlib", "picolibc"])
def test_the_cmake_lines_for_a_c_library_record_every_request(folder: Path, library: str) -> None:
    code = loop_project(folder, *bare_parts())
    linked = LINKED
    if library == "picolibc":
        heap = "-Wl,--defsym=__heap_start=0x20040000,--defsym=__heap_end=0x20050000"
        linked = LINKED.replace("--specs=nano.specs", f"--specs=picolibc.specs {heap}")
    flags = FLAGS + (" --specs=picolibc.specs" if library == "picolibc" else "")
    by_cmake(folder, "characters", flags, code, linked, library)
    trace = recorded(folder, "characters")
    assert sizes(trace)[-STEPS:] == [*range(SMALLEST, SMALLEST + STEPS)]


def test_the_cmake_lines_for_mbed_build(tmp_path: Path) -> None:
    """With a library of its name and the header of ours in place of Mbed OS."""
    (tmp_path / "plan.toml").write_text(PLAN)
    words = ("plan.toml", "--for", "mbed", "--for", "cmake", "-o", "app_heap")
    heapfit("generate", *words, folder=tmp_path)
    lines = block("docs/generate.md", "mbed-core-flags", "cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(app C)\n"
        "add_library(mbed-core-flags INTERFACE)\n"
        f"target_include_directories(mbed-core-flags INTERFACE {ROOT}/tests/target/platforms)\n"
        f"{lines}"
    )
    run(["cmake", "-S", ".", "-B", "build"], tmp_path)
    run(["cmake", "--build", "build"], tmp_path)
    (made,) = (tmp_path / "build").rglob("*.a")
    assert "core_util_critical_section_enter" in run(["nm", str(made)], tmp_path)


def text_of(folder: Path) -> int:
    """Bytes of an image's code and constants, which it then has no more."""
    listing = run(["arm-none-eabi-size", "app.elf"], folder)
    (folder / "app.elf").unlink()
    return int(listing.splitlines()[1].split()[0])


def test_the_flash_that_the_page_tells_is_what_is_linked(folder: Path) -> None:
    """To the larger of 10 % and 32 B: of the whole recorder, task and sink included."""
    (told,) = re.findall(
        r"^\| flash that .* \| ([\d,]+) B; .* ([\d,]+) B \|$", page(ON_TARGET), re.M
    )
    flags, code, _ = freertos_project(folder, "characters", "-ffunction-sections")
    main = (folder / "main.c").read_text()
    plain = re.sub(
        r"^(#include \"(adapters|sinks)|static hfit|hfit_record).*$", "", main, flags=re.M
    )
    (folder / "main.c").write_text(plain)
    makefile(folder, code, "", flags.removeprefix(FLAGS))
    before = text_of(folder)
    for sink, bytes_told in zip(("characters", "semihosting"), told, strict=True):
        by_make(folder, sink, *freertos_project(folder, sink, "-ffunction-sections"))
        grown = text_of(folder) - before
        assert abs(int(bytes_told.replace(",", "")) - grown) <= max(0.1 * grown, 32), grown


IMAGES = {  # of docs/costs.md: what is changed in each row, from which heap to which
    "`examples/firmware`, loop": ("loop", "heap_4", "tailored"),
    "the same": ("loop", "heap_4", "tlsf"),
    "`examples/firmware`, tasks": ("tasks", "heap_4", "good_fit"),
    "`examples/firmware`, shadows": ("shadows", "heap_4", "address_first_fit"),
    "a loop of the tests on newlib-nano": ("", "newlib-nano", "tlsf"),
}


@pytest.mark.parametrize("image", IMAGES)
def test_the_flash_that_is_told_of_a_heap_is_what_an_image_grows_by(
    folder: Path, image: str
) -> None:
    """To the larger of 10 % and 32 B, beside that of the heap that it has."""
    system, had, has = IMAGES[image]
    now, ours = (find_code(find_heap(name, 8)) for name in (had, has))
    assert now is not None
    assert ours is not None
    told = ours.size + find_heap(had, 8).drop_in - now.size
    grown = grow_firmware(folder, system, has) if system else grow_loop(folder)
    assert abs(told - grown) <= max(0.1 * grown, 32), grown
    (row,) = re.findall(rf"^\| {image} .* \| \+([\d,]+) \| \+([\d,]+) \|$", page(COSTS), re.M)
    on_page = [int(one.replace(",", "")) for one in row]
    assert on_page[1] == told
    assert abs(on_page[0] - grown) <= 32, grown


def grow_firmware(folder: Path, system: str, allocator: str) -> int:
    """Bytes of text that the example takes more over a plan's heap than over its own."""
    (folder / "plan.toml").write_text(PLAN.replace("tlsf", allocator))
    heapfit("generate", "plan.toml", "--for", "freertos", "-o", "code", folder=folder)
    found = []
    for heap in ("own", folder / "code"):
        words = (f"SYSTEM={system}", f"HEAP={heap}", f"BUILD={folder}")
        subprocess.run(["make", "-s", "-C", str(ROOT / "examples/firmware"), *words], check=True)
        (folder / "firmware.elf").rename(folder / "app.elf")
        found.append(text_of(folder))
    return found[1] - found[0]


def grow_loop(folder: Path) -> int:
    """The same of the main loop on a C library, by the same flags."""
    (folder / "plan.toml").write_text(PLAN)
    heapfit("generate", "plan.toml", "--for", "malloc", "-o", "malloc-heap", folder=folder)
    code, found = loop_project(folder, "", "", ""), []
    lines_of_page = block(BARE, "malloc-heap/*.c", "text")
    flags = "\n".join(re.findall(r"^CFLAGS .*$", lines_of_page, re.M))
    for lines in (flags, lines_of_page):
        makefile(folder, code, lines, "-ffunction-sections")
        found.append(text_of(folder))
    return found[1] - found[0]
