# SPDX-License-Identifier: Apache-2.0
"""What is generated for a platform does there what the platform's own heap does."""

import json
import re
import subprocess
from itertools import product
from pathlib import Path

import pytest
from generated_code import HERE, NO_MEMSET, PLANS, ROOT, compile_objects, plan_file

from grid import ALL
from heapfit.errors import HeapfitError
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan import Plan, Pool

pytestmark = pytest.mark.usefixtures("unmeasured")

STAND_INS = ROOT / "tests/target/platforms"
STRICT = ("gcc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", NO_MEMSET)

MORE = ("best_fit", "segregated_fit", "address_first_fit", "good_fit", "class_pools_of_stacks")
LWIP = ("-D_POSIX_C_SOURCE=200809L", "-isystem/usr/include/lwip")


def generated(folder: Path, platform: str, plan: Plan, region: int = 16_384) -> Path:
    options = GenerateOptions(platforms=(platform,))
    generate(plan_file(plan, region), folder / "code", options=options)
    return folder / "code"


def compiled(code: Path, program: Path, *options: str) -> Path:
    """A program of the whole folder and one source more."""
    sources = [program, *sorted(code.glob("*.c")), *sorted(code.glob("src/*/*.c"))]
    made = code.parent / "program"
    command = [*STRICT, *options, f"-I{code}", f"-I{STAND_INS}", *map(str, sources)]
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


def test_an_unknown_platform_is_told(tmp_path: Path) -> None:
    with pytest.raises(HeapfitError, match="platform 'vxworks': must be one of freertos"):
        generated(tmp_path, "vxworks", PLANS["tlsf"])


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


RANDOM = list(
    product(
        ("freertos", "lwip", "malloc", "zephyr"),
        ("tlsf", "first_fit", "tailored", "class_pools", "budgeted", *MORE),
        (("-m64", "-fsanitize=undefined,address", "-g1"), ("-m32", "-O2")),
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
    command = [*STRICT, f'-DAPP_HEAP_LOCK_FILE="{lock}"', "-I.", f"-I{STAND_INS}", "-fsyntax-only"]
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


def test_a_build_file_names_the_task_that_sends_a_recording(tmp_path: Path) -> None:
    options = GenerateOptions(platforms=("freertos", "cmake"), records=True)
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=options)
    text = (tmp_path / "code/CMakeLists.txt").read_text()
    sent_by = {"record.c", "sinks/characters.c", "sinks/freertos_task.c"}
    assert sent_by < set(re.findall(r"[\w./]+\.c\b", text))


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


def test_a_readme_tells_all_that_was_typed(tmp_path: Path) -> None:
    options = GenerateOptions(platforms=("freertos", "cmake"), is_given=True)
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=options)
    page = (tmp_path / "code/README.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("    heapfit generate")]
    assert line.split()[1:] == [
        *("generate", "plan.toml", "--prefix", "app", "--for", "freertos", "--for", "cmake"),
        *("--counts", "--region-given", "-o", "THIS_FOLDER"),
    ]


@pytest.mark.parametrize("platform", ["freertos", "esp-idf", "zephyr", "malloc", "threadx", "riot"])
def test_a_readme_builds_without_the_kernel_and_says_who_makes_the_heap(
    tmp_path: Path, platform: str
) -> None:
    page = (generated(tmp_path, platform, PLANS["tlsf"]) / "README.md").read_text()
    (command,) = [line for line in page.splitlines() if line.startswith("cc ")]
    assert command.endswith(" -c app_heap.c src/*/*.c")  # others include the kernel's headers
    is_made = platform in ("freertos", "esp-idf", "zephyr", "malloc")  # by the platform's file
    assert ("would empty" in page) == is_made
    assert "and no platform below brings a lock" in page
    assert "every source" not in page  # app_heap.c alone includes the lock


def test_an_arduino_library_is_flat(tmp_path: Path) -> None:
    code = generated(tmp_path, "arduino", PLANS["tlsf"])
    assert {path.name for path in code.rglob("*.[ch]")} == {"app_heap.c", "app_heap.h"}
    rows = dict(
        line.split("=", 1) for line in (code / "library.properties").read_text().splitlines()
    )
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category"}
    assert set(rows) == needed | {"url", "architectures", "includes"}
    assert rows["includes"] == "app_heap.h"
