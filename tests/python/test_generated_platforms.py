# SPDX-License-Identifier: Apache-2.0
"""What is generated for a platform does there what the platform's own heap does."""

import json
import re
import resource
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from core_names import core_names, macros_in, names_in, write_platform
from generated_code import (
    HERE,
    NO_MEMSET,
    PLANS,
    ROOT,
    STRICT,
    compile_objects,
    plan_file,
    run_with_heap,
)

from grid import ALL, thin
from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan import Plan, Pool

pytestmark = pytest.mark.usefixtures("unmeasured")
STAND_INS = ROOT / "tests/target/platforms"
HOSTED = ("gcc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", NO_MEMSET)
MORE = ("best_fit", "segregated_fit", "address_first_fit", "good_fit", "class_pools_of_stacks")
LWIP = ("-D_POSIX_C_SOURCE=200809L", "-isystem/usr/include/lwip")


def generated(
    folder: Path, platform: str, plan: Plan, is_one_file: bool = False, records: bool = False
) -> Path:
    kinds = (platform,) * (platform != "none") + ("one-file",) * is_one_file
    generate(plan_file(plan), folder / "code", options=GenerateOptions(kinds, records=records))
    return folder / "code"


def compiled(code: Path, program: Path, *options: str) -> Path:
    """A program of the whole folder and one source more."""
    sources = [program, *sorted(code.glob("*.c")), *sorted(code.glob("src/*/*.c"))]
    made = code.parent / "program"
    command = [*HOSTED, *options, f"-I{code}", f"-I{STAND_INS}", *map(str, sources)]
    subprocess.run([*command, "-o", str(made)], check=True)
    return made


@pytest.mark.parametrize("name", ["first_fit", "tlsf", "budgeted"])
def test_a_heap_for_freertos_does_what_heap_4_does(tmp_path: Path, name: str) -> None:
    code = generated(tmp_path, "freertos", PLANS[name])
    subprocess.run(
        [compiled(code, HERE / "platform_freertos.c", "-fsanitize=undefined")], check=True
    )


def test_a_plan_of_less_alignment_than_freertos_has_is_not_compiled(tmp_path: Path) -> None:
    code = generated(tmp_path, "freertos", Plan("tlsf", {"alignment": 4}))
    command = ["gcc", "-fsyntax-only", f"-I{code}", f"-I{STAND_INS}", str(code / "heap_hfit.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "portBYTE_ALIGNMENT is larger than the plan's alignment" in done.stderr


def test_a_platform_that_frees_without_sizes_takes_no_plan_that_needs_them(tmp_path: Path) -> None:
    with pytest.raises(HeapfitError, match="sized needs sized deallocation, but FreeRTOS's"):
        generated(tmp_path, "freertos", Plan("sized"))


def built_with_random_calls(code: Path, platform: str, options: tuple[str, ...]) -> Path:
    """generated_random.c with a generated folder, by the platform's names."""
    config = ("-DHFIT_ON_MISUSE=misuse_told", f"-I{STAND_INS}", *options)
    more = ("-DCONFIG_APP_HEAP_K_MALLOC", f"-DBY_{platform.upper()}", f"-I{code}")
    objects = compile_objects(code, code.parent / "objects", *config)
    files = [HERE / "generated_random.c", *code.glob("zephyr/*.c"), *objects]
    made = code.parent / "program"
    command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", NO_MEMSET, *config, *more]
    subprocess.run([*command, *map(str, files), "-o", str(made)], check=True)
    return made


# The address sanitizer maps 16 TB, which a limited address space has not, as that of mutants.
IS_LIMITED = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
SANITIZED = "-fsanitize=undefined" if IS_LIMITED else "-fsanitize=undefined,address"

RANDOM = list(
    product(
        ("freertos", "lwip", "malloc", "zephyr"),
        ("tlsf", "first_fit", "tailored", "class_pools", "budgeted", *MORE),
        (("-m64", SANITIZED, "-g1"), ("-m32", "-O2")),
    )
)


@pytest.mark.parametrize(("platform", "name", "options"), RANDOM if ALL else RANDOM[41::21])
def test_random_calls_by_a_platforms_names_do_as_a_model(
    tmp_path: Path, platform: str, name: str, options: tuple[str, ...]
) -> None:
    code = generated(tmp_path, platform, PLANS.get(name, Plan(name)))
    if platform == "malloc":  # the address sanitizer asks for memory before the heap is made
        options = tuple(word.replace(",address", "") for word in options)
    program = built_with_random_calls(code, platform, options)
    for seed in range(1, 41 if ALL else 2):
        subprocess.run([program, str(seed), "50000" if ALL else "3000"], check=True)


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_lwip_asks_the_generated_heap(tmp_path: Path, version: str) -> None:
    """By Debian's headers, which are 2.1's; of 2.2 the names alone."""
    code = generated(tmp_path, "lwip", PLANS["tlsf"])
    settings = "#define NO_SYS 0\n#define MEM_ALIGNMENT 8\n#define SYS_LIGHTWEIGHT_PROT 1\n"
    (code / "lwipopts.h").write_text(f'{settings}#include "lwipopts_hfit.h"\n')
    (code / "arch").mkdir()
    options = ['-DAPP_HEAP_LOCK_FILE="lwip_lock_hfit.h"', *LWIP]
    options += ["-DHFIT_LWIP_2_1"] if version == "2.1" else []
    subprocess.run([compiled(code, HERE / "platform_lwip.c", *options)], check=True)


def test_lwips_own_pools_are_the_plans(tmp_path: Path) -> None:
    """By Debian's headers: as many pools, of these sizes and counts, from the smallest."""
    plan = Plan("budgeted", pools=(Pool(40, 16, True), Pool(100, 8, True)))
    code = generated(tmp_path, "lwip", plan)
    settings = "#define NO_SYS 1\n#define MEM_ALIGNMENT 8\n#define HFIT_LWIP_POOLS\n"
    (code / "lwipopts.h").write_text(f'{settings}#include "lwipopts_hfit.h"\n')
    (code / "pools.c").write_text(
        f'#include "{HERE / "lwip_sanity.h"}"\n'
        '#include "lwip/memp.h"\n#include "lwip/priv/memp_priv.h"\n'
        "const unsigned found[][2] = {\n#define LWIP_MEMPOOL(name, num, size, desc)\n"
        "#define LWIP_MALLOC_MEMPOOL_START\n#define LWIP_MALLOC_MEMPOOL_END\n"
        "#define LWIP_MALLOC_MEMPOOL(num, size) {num, size},\n"
        '#include "lwip/priv/memp_std.h"\n};\n#include <stdio.h>\n'
        "_Static_assert(MEMP_POOL_LAST - MEMP_POOL_FIRST + 1 == sizeof found / sizeof found[0], "
        '"lwIP counts them");\n'
        "int main(void) {\nfor (unsigned i = 0; i < sizeof found / sizeof found[0]; i++) "
        'printf("%u %u ", found[i][0], found[i][1]);\nreturn 0;\n}\n'
    )
    made = tmp_path / "pools"
    subprocess.run(["gcc", *LWIP, f"-I{code}", code / "pools.c", "-o", made], check=True)
    printed = subprocess.run([made], check=True, capture_output=True, text=True).stdout.split()
    pools = sorted((pool.size, pool.count) for pool in plan.pools)
    assert [int(word) for word in printed] == [
        number for size, count in pools for number in (count, size)
    ]
    assert not (generated(tmp_path / "other", "lwip", PLANS["budgeted"]) / "lwippools.h").exists()


@pytest.mark.parametrize("option", ["MEM_STATS", "MEMP_OVERFLOW_CHECK"])
def test_an_option_of_lwip_that_changes_sizes_is_an_error(tmp_path: Path, option: str) -> None:
    code = generated(tmp_path, "lwip", PLANS["tlsf"])
    (code / "options.c").write_text(
        f'#define MEMP_MEM_MALLOC 1\n#define {option} 1\n#include "lwipopts_hfit.h"\n'
    )
    command = ["gcc", "-fsyntax-only", "options.c"]
    done = subprocess.run(command, cwd=code, capture_output=True, text=True, check=False)
    assert f"{option} makes each request larger" in done.stderr
    as_recorded = [*command, "-DHFIT_LWIP_AS_RECORDED"]
    subprocess.run(as_recorded, cwd=code, check=True)


@pytest.mark.parametrize(
    ("platform", "lock", "sources"),
    [
        ("zephyr", "zephyr/zephyr_lock_hfit.h", ["app_heap.c", "zephyr/zephyr_hfit.c"]),
        ("esp-idf", "esp_idf_lock_hfit.h", ["app_heap.c", "esp_idf_hfit.c"]),
        ("threadx", "threadx_lock_hfit.h", ["app_heap.c"]),
        ("nuttx", "nuttx_lock_hfit.h", ["app_heap.c"]),
        ("riot", "riot_lock_hfit.h", ["app_heap.c"]),
        ("mbed", "mbed_lock_hfit.h", ["app_heap.c"]),
    ],
)
def test_a_platforms_lock_and_start_fit_its_declarations(
    tmp_path: Path, platform: str, lock: str, sources: list[str]
) -> None:
    code = generated(tmp_path, platform, PLANS["tlsf"])
    command = [*HOSTED, f'-DAPP_HEAP_LOCK_FILE="{lock}"', "-I.", f"-I{STAND_INS}", "-fsyntax-only"]
    subprocess.run([*command, *sources], cwd=code, check=True)


@pytest.mark.parametrize("platform", ["zephyr", "esp-idf", "cmake", "meson", "platformio"])
def test_a_build_file_names_every_source_and_no_other(tmp_path: Path, platform: str) -> None:
    code = generated(tmp_path, platform, PLANS["budgeted"])
    folder = code / "zephyr" if platform == "zephyr" else code
    (text,) = [
        (folder / name).read_text()
        for name in ("CMakeLists.txt", "meson.build", "library.json")
        if (folder / name).is_file()
    ]
    assert platform != "platformio" or not json.loads(text)["build"]["libArchive"]
    named = {(folder / name).resolve() for name in re.findall(r"[\w./]+\.c\b", text)}
    assert named == set(code.rglob("*.c"))


def test_cmake_builds_the_heap_with_its_platform(tmp_path: Path) -> None:
    options = GenerateOptions(platforms=("cmake", "malloc"))
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=options)
    (tmp_path / "main.c").write_text(
        '#include "app_heap.h"\n#include <string.h>\n'
        "int main(void) { /* only the C library asks */\n"
        "    const bool is_made = app_heap_check(); /* before two threads ask first */\n"
        '    return is_made && app_usable_size(strdup("a name")) >= 7 ? 0 : 1;\n'
        "}\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C)\nadd_subdirectory(code)\n"
        "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE app_heap)\n"
    )
    subprocess.run(["cmake", "-GNinja", "-S.", "-Bbuild"], cwd=tmp_path, check=True)
    subprocess.run(["cmake", "--build", "build"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "build/user"], check=True)


def test_two_platforms_with_one_file_are_told(tmp_path: Path) -> None:
    options = GenerateOptions(platforms=("cmake", "esp-idf"))
    with pytest.raises(HeapfitError, match=r"esp-idf: its CMakeLists\.txt collides with"):
        generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=options)


def test_an_arduino_library_is_flat(tmp_path: Path) -> None:
    code = generated(tmp_path, "arduino", PLANS["tlsf"])
    assert {path.name for path in code.rglob("*.[ch]")} == {"app_heap.c", "app_heap.h"}
    rows = dict(
        line.split("=", 1) for line in (code / "library.properties").read_text().splitlines()
    )
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category"}
    assert set(rows) == needed | {"url", "architectures", "includes"}
    assert rows["includes"] == "app_heap.h"


# ---- A platform's headers define what they like: no name of core's meets them, in any form of a


GNU11 = ("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Wconversion", "-Werror", NO_MEMSET)
USERS = "user_lock.h"
LOCKS = {  # headers with a lock that the folder brings along
    "zephyr": "zephyr/zephyr_lock_hfit.h",
    "esp-idf": "esp_idf_lock_hfit.h",
    "lwip": "lwip_lock_hfit.h",
}
FORMS = [
    (platform, is_one_file)
    for is_one_file in (False, True)
    for platform in ("none", "freertos", "lwip", "malloc", "zephyr", "esp-idf")
] + [("arduino", True)]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>|(\w+))', re.MULTILINE)
OF_THE_COMPILER = {"stdbool.h", "stddef.h", "stdint.h"}


def lock_of(code: Path, platform: str) -> tuple[str, str]:
    """The macro by which the folder's own build names the lock, and the header; else a user's."""
    if platform not in LOCKS:
        return "APP_HEAP_LOCK_FILE", USERS
    files = [code / name for name in ("CMakeLists.txt", "zephyr/CMakeLists.txt", "README.md")]
    text = "".join(file.read_text() for file in files if file.is_file())
    (macro,) = re.findall(rf"(?:-D|\b)(\w+LOCK_FILE)='?\"{LOCKS[platform]}\"", text)
    return macro, LOCKS[platform]


@pytest.mark.parametrize(("form", "plan"), thin(2, FORMS, ["budgeted", "class_pools"]))
def test_a_form_keeps_core_and_platform_apart_and_compiles_with_equal_names(
    tmp_path: Path, form: tuple[str, bool], plan: str
) -> None:
    platform, is_one_file = form
    code = generated(tmp_path, platform, PLANS[plan], is_one_file)
    seeing, meeting = meetings(code, platform)
    assert "app_heap.c" in seeing
    assert not meeting

    headers = write_platform(tmp_path / "platform")
    (headers / "lwipopts.h").write_text(
        "#define NO_SYS 0\n#define MEM_ALIGNMENT 8\n#define SYS_LIGHTWEIGHT_PROT 1\n"
        + ('#include "lwipopts_hfit.h"\n' if platform == "lwip" else "")
    )
    macro, header = lock_of(code, platform)
    includes = [f"-I{headers}", f"-I{STAND_INS}", "-I.", *LWIP]
    sources = sorted(str(path.relative_to(code)) for path in code.rglob("*.c"))
    command = [*GNU11, f'-D{macro}="{header}"', *includes, "-fsyntax-only", *sources]
    done = subprocess.run(command, cwd=code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def included(code: Path, name: str, lock: tuple[str, str]) -> Iterator[tuple[str, str | None]]:
    """A file of the folder and all that it includes, by name: the text, or None if it is foreign.

    Conditions are not looked at: what may be included is.
    """
    left, seen = [name], set()
    while left:
        name = left.pop()
        path = code / name
        yield name, path.read_text() if path.is_file() else None
        for quoted, angled, macro in INCLUDE.findall(path.read_text() if path.is_file() else ""):
            wanted = quoted or angled or (lock[1] if macro == lock[0] else "")
            if wanted and wanted not in seen | OF_THE_COMPILER:
                seen.add(wanted)
                left.append(wanted)


def meetings(code: Path, platform: str) -> tuple[set[str], set[str]]:
    """Units that see a header of others; those of them that define a name of core's, too."""
    lock = lock_of(code, platform)
    seeing, meeting = set(), set()
    for source in sorted(code.rglob("*.c")):
        files = dict(included(code, str(source.relative_to(code)), lock))
        if None in files.values():
            seeing.add(source.name)
            texts = [text for text in files.values() if text is not None]
            ended = set(re.findall(r"#undef (\w+)", "".join(texts)))
            if core_names() & (names_in(texts) | macros_in(texts) - ended):
                meeting.add(source.name)
    return seeing, meeting


def test_a_lock_in_the_header_that_core_sees_is_refused(tmp_path: Path) -> None:
    code = generated(tmp_path, "none", PLANS["tlsf"], False)
    (code / "my_config.h").write_text("#define APP_HEAP_LOCK() ((void)0)\n")
    command = [*GNU11, '-DHFIT_CONFIG_FILE="my_config.h"', "-I.", "-fsyntax-only", "app_heap.c"]
    done = subprocess.run(command, cwd=code, capture_output=True, text=True, check=False)
    assert "define it in the header that APP_HEAP_LOCK_FILE names" in done.stderr


def kernel_names() -> dict[str, list[str]]:
    """Names that real kernels define, by the head of their part, without what we use of them."""
    used = set(re.findall(r"\w+", "".join(path.read_text() for path in STAND_INS.rglob("*.h"))))
    parts: dict[str, list[str]] = {}
    for line in (STAND_INS / "names.txt").read_text().splitlines():
        if line.startswith("["):
            part = parts.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            part += [name for name in line.split() if name not in used]
    return parts


def write_kernel_names(header: Path) -> int:
    """A header that defines each name so that any use of it is an error, and their number."""
    macros = {name for head, names in kernel_names().items() if "macros" in head for name in names}
    inline = {name for names in kernel_names().values() for name in names} - macros
    header.write_text(
        "".join(f"#define {name} ]\n" for name in sorted(macros))
        + "".join(f"void {name}(void);\n" for name in sorted(inline))
    )
    return len(macros) + len(inline)


DRAINS = {
    "freertos": ["sinks/freertos_task.c"],
    "zephyr": ["sinks/zephyr_thread.c", "-DHFIT_DRAINED=app_heap_recorder"],
    "esp-idf": ["sinks/freertos_task.c", "sinks/esp_idf_console.c", "-DESP_PLATFORM"],
}


@pytest.mark.parametrize("platform", DRAINS)
def test_heap_and_recorder_compile_beside_the_names_of_real_kernels(
    tmp_path: Path, platform: str
) -> None:
    """Zephyr's, ESP-IDF's, FreeRTOS's and lwIP's, all at once."""
    code = generated(tmp_path, platform, PLANS["tlsf"], platform == "esp-idf", records=True)
    assert write_kernel_names(tmp_path / "kernel_names.h") > 5000
    macro, header = lock_of(code, platform)
    own = f'#include "{header}"\n' if platform in LOCKS else ""
    (tmp_path / "lock.h").write_text(f'#include "kernel_names.h"\n{own}')
    command = [*GNU11, f"-I{tmp_path}", f"-I{STAND_INS}", "-I.", "-fsyntax-only"]
    heap = [f'-D{macro}="lock.h"', '-DHFIT_RECORD_CONFIG_FILE="lock.h"', "app_heap.c"]
    subprocess.run([*command, *heap], cwd=code, check=True)
    beside = ["record.c", "sinks/characters.c", "sinks/debugger_ring.c", "sinks/memory.c"]
    beside += [str(path.relative_to(code)) for path in code.rglob("*_hfit.c")]
    config = [*DRAINS[platform], "-DCONFIG_APP_HEAP_K_MALLOC"]
    config += ["-includestdlib.h", "-includekernel_names.h"]
    subprocess.run([*command, *config, *beside], cwd=code, check=True)


HOOKS = """
#include "app_heap.h"
#include <stdint.h>
static unsigned told = 9, drawn;
void on_misuse(const void *heap, unsigned kind, const void *block);
void on_misuse(const void *heap, unsigned kind, const void *block) {
    told = heap != NULL && block != NULL ? kind : 8;
}
uint32_t random_word(const void *heap);
uint32_t random_word(const void *heap) {
    (void)heap;
    return ++drawn * 2654435761u;
}
int main(void) {
    if (!app_heap_init()) {
        return 1;
    }
    void *block = app_malloc(40);
    app_free(block);
    app_free(block);
    return told == 1 && drawn > 1 ? 0 : 2;
}
"""


@pytest.mark.parametrize("is_one_file", [False, True])
def test_a_build_names_functions_for_what_core_tells_and_asks(
    tmp_path: Path, is_one_file: bool
) -> None:
    code = generated(tmp_path, "none", PLANS["tlsf"], is_one_file)
    (tmp_path / "main.c").write_text(HOOKS)
    named = ("-DHFIT_SAFETY=3", "-DHFIT_ON_MISUSE=on_misuse", "-DHFIT_RANDOM=random_word")
    sources = [tmp_path / "main.c", *sorted(code.rglob("*.c"))]
    subprocess.run([*GNU11, *named, f"-I{code}", *sources, "-o", tmp_path / "main"], check=True)
    subprocess.run([tmp_path / "main"], check=True)


# ---- All the C of a heap in one file is the same heap


FREESTANDING = ("gcc", *STRICT)
ONE = GenerateOptions(("one-file",), counts=True)
POOLS = (Pool(40, 16, True), Pool(100, 8, True))


def plan_of(info: _engine.AllocatorInfo) -> Plan:
    kinds = {tunable.kind for tunable in info.tunables}
    shared = Plan("best_fit") if "shared" in kinds else None
    return Plan(info.name, pools=POOLS if "pools" in kinds else (), shared=shared)


WHOLE = {
    info.name: plan_of(info)
    for info in _engine.allocators()
    if info.ships and not info.in_pieces and info.name != "fixed_pool"
}
OPTIONS = (("-Os",), ("-DHFIT_SAFETY=3", "-m32"), ("-DHFIT_SAFETY=0",))


@pytest.mark.parametrize(("name", "options"), thin(3, WHOLE, OPTIONS))
def test_one_file_of_any_allocator_compiles_without_a_warning(
    tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    generate(plan_file(WHOLE[name]), tmp_path / "code", options=ONE)
    assert [path.name for path in (tmp_path / "code").rglob("*.c")] == ["app_heap.c"]
    assert {path.name for path in (tmp_path / "code").rglob("*.h")} == {"app_heap.h"}
    platform = write_platform(tmp_path / "platform")  # whose names are core's
    lock = (f"-I{platform}", '-DAPP_HEAP_LOCK_FILE="user_lock.h"')
    command = [*FREESTANDING, NO_MEMSET, *lock, *options, "-fsyntax-only", "app_heap.c"]
    subprocess.run(command, cwd=tmp_path / "code", check=True)


@pytest.mark.parametrize("name", ["tlsf", "budgeted"])
def test_one_file_serves_every_call_as_many_do(tmp_path: Path, name: str) -> None:
    generate(plan_file(PLANS[name]), tmp_path / "code", options=GenerateOptions(("one-file",)))
    config = ['-DAPP_HEAP_LOCK_FILE="generated_calls.h"', "-DHFIT_ON_MISUSE=misuse_told"]
    config += [f"-I{HERE}", "-O1"]
    run_with_heap(tmp_path / "code", HERE / "generated_calls.c", tmp_path / "made", *config)


def test_two_heaps_in_one_file_each_cannot_be_one(tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=ONE)
    command = [*FREESTANDING, "-DHFIT_ANY_PLAN", "-fsyntax-only", "app_heap.c"]
    done = subprocess.run(
        command, cwd=tmp_path / "code", capture_output=True, text=True, check=False
    )
    assert "one file is the heap of one plan" in done.stderr


def test_a_region_lies_in_the_section_that_a_build_names(tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=ONE)
    define = '-DAPP_HEAP_SECTION=".psram_bss"'
    command = [*FREESTANDING, NO_MEMSET, define, "-c", "app_heap.c", "-o", "x.o"]
    subprocess.run(command, cwd=tmp_path / "code", check=True)
    listing = subprocess.run(
        ["objdump", "-h", "x.o"], cwd=tmp_path / "code", check=True, capture_output=True, text=True
    ).stdout
    (row,) = [line.split() for line in listing.splitlines() if ".psram_bss" in line]
    assert int(row[2], 16) == 65_536


# ---- Every function of the generated header keeps its promise, whatever the arguments


CALLED = (
    ("-m32", "-O2"),
    ("-m64", SANITIZED, "-g"),
    ("-m32", "-O2", "-DHFIT_SAFETY=3"),
    ("-m64", SANITIZED, "-DHFIT_SAFETY=3"),
)


@pytest.mark.parametrize(("name", "options"), thin(4, PLANS, CALLED))
def test_a_generated_heap_survives_every_call(
    tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    generate(plan_file(PLANS[name]), tmp_path / "code")
    config = ['-DAPP_HEAP_LOCK_FILE="generated_calls.h"', "-DHFIT_ON_MISUSE=misuse_told"]
    config += [f"-I{HERE}", *options]
    run_with_heap(tmp_path / "code", HERE / "generated_calls.c", tmp_path / "made", *config)
