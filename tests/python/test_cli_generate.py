# SPDX-License-Identifier: Apache-2.0
"""`heapfit generate`, as typed; what it writes is tested in test_generate.py."""

import subprocess
from pathlib import Path

import pytest
from small_traces import bimodal, heapfit, heapfit_json

ROOT = Path(__file__).parents[2]
HEAP = """
#include <stdlib.h>
void *pvPortMalloc(size_t size) { return malloc(size); }
void *pvPortCalloc(size_t count, size_t size) { return calloc(count, size); }
void vPortFree(void *block) { free(block); }
"""
USER = """
#include "adapters/one_heap.h"
#include "sinks/sinks.h"
#include <stdio.h>
void vTaskSuspendAll(void) {}
BaseType_t xTaskResumeAll(void) { return 0; }
uint32_t xTaskGetTickCountFromISR(void) { return 0; }
int main(void) {
    hfit_character_sink out = {.put = putchar};
    void *first = pvPortMalloc(10);
    vPortFree(pvPortCalloc(2, 20));
    vPortFree(first);
    hfit_record_close_frame(&hfit_one_heap);
    return hfit_record_drain(&hfit_one_heap, hfit_record_to_characters, &out) ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generate")
    bimodal(folder / "packets.heap", events=400, pointer_bits=64)
    heapfit_json("fit", "packets.heap", "--plans", ".", folder=folder)
    return folder


def test_the_files_written_are_printed(folder):
    done = heapfit("generate", "tlsf.toml", "-o", "heap", folder=folder)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {
        str(path.relative_to(folder)) for path in (folder / "heap").rglob("*") if path.is_file()
    }


def test_a_plan_of_a_64_bit_recording_is_warned_of(folder):
    done = heapfit("generate", "tlsf.toml", "-o", "warned", folder=folder)
    assert done.stderr.startswith("recorded on 64 bit: sizes on a 32-bit target will differ")
    (warning,) = heapfit_json("generate", "tlsf.toml", "-o", "json", folder=folder)["warnings"]
    assert warning.startswith("recorded on 64 bit")


def test_the_recorder_alone_is_written_with_its_builds(folder):
    """CMake links a program of FreeRTOS's names with each call wrapped, by one line of its own."""
    done = heapfit("generate", "--record", "-o", "recorder", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "recorder/zephyr/module.yml" in done.stdout.split()
    (folder / "heap.c").write_text(HEAP)
    (folder / "main.c").write_text(USER)
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C)\nadd_subdirectory(recorder)\n"
        f"include_directories({ROOT}/tests/target/platforms)\n"
        "add_executable(user main.c heap.c recorder/sinks/characters.c)\n"
        "target_link_libraries(user PRIVATE heapfit_record_freertos)\n"
        "target_compile_definitions(user PRIVATE configTOTAL_HEAP_SIZE=4096)\n"
    )
    subprocess.run(["cmake", "-GNinja", "-S.", "-Bbuild"], cwd=folder, check=True)
    subprocess.run(["cmake", "--build", "build"], cwd=folder, check=True)
    frames = subprocess.run([folder / "build/user"], capture_output=True, check=True).stdout
    (folder / "run.frames").write_bytes(frames)
    done = heapfit("import", "run.frames", folder=folder)
    assert done.stdout.startswith("run.frames.parquet: 4 events of firmware, FreeRTOS")


def test_neither_plan_nor_recorder_is_a_usage_error(folder):
    done = heapfit("generate", "--record", folder=folder)
    assert done.returncode == 2
    assert "give PLAN; or --record and -o" in done.stderr
