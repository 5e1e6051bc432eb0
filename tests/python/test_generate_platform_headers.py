# SPDX-License-Identifier: Apache-2.0
"""A platform's headers define what they like: no name of core's meets them, in any form of a heap.

The platform here has every name that core's src/ defines, as a function or a macro of its own.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from core_names import core_names, macros_in, names_in, write_platform
from generated_code import NO_MEMSET, PLANS, ROOT, plan_file

from grid import thin
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan import Plan

pytestmark = pytest.mark.usefixtures("unmeasured")

STAND_INS = ROOT / "tests/target/platforms"
STRICT = ("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Wconversion", "-Werror", NO_MEMSET)
LWIP = ("-D_POSIX_C_SOURCE=200809L", "-isystem/usr/include/lwip")
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


def generated(
    folder: Path, platform: str, plan: Plan, is_one_file: bool, records: bool = False
) -> Path:
    options = GenerateOptions(
        (platform,) * (platform != "none") + ("one-file",) * is_one_file,
        records=records,
    )
    generate(plan_file(plan), folder / "code", options=options)
    return folder / "code"


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
    command = [*STRICT, f'-D{macro}="{header}"', *includes, "-fsyntax-only", *sources]
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


def test_a_source_of_core_that_sees_a_platform_is_told(tmp_path: Path) -> None:
    code = generated(tmp_path, "zephyr", PLANS["tlsf"], False)
    source = code / "src/tiling/tlsf.c"
    source.write_text(f"#include <zephyr/kernel.h>\n{source.read_text()}")
    assert meetings(code, "zephyr")[1] == {"tlsf.c"}


def test_a_lock_in_the_header_that_core_sees_is_refused(tmp_path: Path) -> None:
    code = generated(tmp_path, "none", PLANS["tlsf"], False)
    (code / "my_config.h").write_text("#define APP_HEAP_LOCK() ((void)0)\n")
    command = [*STRICT, '-DHFIT_CONFIG_FILE="my_config.h"', "-I.", "-fsyntax-only", "app_heap.c"]
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
    command = [*STRICT, f"-I{tmp_path}", f"-I{STAND_INS}", "-I.", "-fsyntax-only"]
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
    subprocess.run([*STRICT, *named, f"-I{code}", *sources, "-o", tmp_path / "main"], check=True)
    subprocess.run([tmp_path / "main"], check=True)
