# SPDX-License-Identifier: Apache-2.0
"""Pages that readers walk through: their bash blocks run in order, their Python blocks as doctests,
their C is compiled beside a generated heap; figures in bold stand in what the commands print."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import heapfit

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BOLD = re.compile(r"\*\*([^*]+)\*\*")
C_FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Os", "-c"]
# What FreeRTOS declares of its own functions, as far as the guide needs it.
FREERTOS = """
#include <stdbool.h>
#include <stddef.h>
void *pvPortMalloc(size_t size);
void vPortFree(void *block);
void *pvPortCalloc(size_t count, size_t size);
size_t xPortGetMinimumEverFreeHeapSize(void);
void vTaskSuspendAll(void);
long xTaskResumeAll(void);
"""
# What a program that wraps malloc is linked with: the wrappers are declared by nobody else.
WRAPPED = """
#include <stdlib.h>
int main(void) {
    char *block = malloc(40);
    block = realloc(block, 80);
    free(block);
    return block == NULL || calloc(2, 8) == NULL;
}
"""


def blocks(page: str, kind: str) -> list[str]:
    """The page's blocks of a kind, in order."""
    return [text for one, text in BLOCK.findall((ROOT / page).read_text()) if one == kind]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated heap."""
    made = tmp_path_factory.mktemp("heap") / "code"
    heapfit.generate_code(ROOT / "examples/check/plan.toml", made)
    return made


@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/guides/linux-program.md"])
def test_the_commands_of_a_page_run_in_their_order(page: str, folder: Path) -> None:
    script = "set -eu\n" + "".join(blocks(page, "bash"))
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": programs, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = BOLD.findall(BLOCK.sub("", (ROOT / page).read_text()))
    assert [words for words in told if words not in done.stdout] == []


@pytest.mark.parametrize("page", ["docs/answers.md", "docs/guides/data-tools.md"])
@pytest.mark.usefixtures("folder")
def test_the_python_of_a_page_gives_what_it_shows(page: str) -> None:
    code = "\n".join(blocks(page, "python"))
    test = doctest.DocTestParser().get_doctest(code, {}, page, str(ROOT / page), 0)
    assert len(test.examples) > 3
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_c_of_the_freertos_guide_compiles_beside_a_generated_heap(
    code: Path, folder: Path
) -> None:
    (source,) = blocks("docs/guides/freertos.md", "c")
    (folder / "port.c").write_text(source)
    (folder / "FreeRTOS.h").write_text(FREERTOS)
    (folder / "task.h").write_text("")
    subprocess.run(["gcc", *C_FLAGS, f"-I{code}", "-I.", "port.c"], check=True)


def test_the_c_of_the_bare_metal_guide_serves_malloc(code: Path, folder: Path) -> None:
    (source,) = blocks("docs/guides/bare-metal.md", "c")
    (wrap,) = re.findall(r"LDFLAGS \+= (\S+)", (ROOT / "docs/guides/bare-metal.md").read_text())
    (folder / "port.c").write_text(source)
    (folder / "main.c").write_text(WRAPPED)
    sources = ["port.c", "main.c", *map(str, [*code.glob("*.c"), *code.glob("src/*/*.c")])]
    subprocess.run(
        ["gcc", "-O0", "-fno-builtin", wrap, f"-I{code}", "-o", "main", *sources], check=True
    )
    assert subprocess.run(["./main"], check=False).returncode == 0
    assert (
        "app_malloc"
        in subprocess.run(["nm", "main"], check=True, capture_output=True, text=True).stdout
    )
