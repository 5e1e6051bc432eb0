# SPDX-License-Identifier: Apache-2.0
"""A generated heap keeps windows of live bytes, and `forecast` reads what it prints of them."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from generated_code import HERE, PLANS, compile_objects, plan_file

from heapfit.errors import HeapfitError
from heapfit.forecast.extremes import sample_maxima
from heapfit.forecast.log.outlook import Finding, find_outlook
from heapfit.forecast.log.reading import read_log
from heapfit.forecast.log.states import Clock
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan import Plan
from program import call_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")

REGION = 40_000
COUNTED = GenerateOptions(counts=True)
MOST_TEXT = 160  # bytes
ARM = "arm-none-eabi-"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("windows"), Plan("tailored"), REGION)


def build(folder: Path, plan: Plan, region: int) -> Path:
    generate(plan_file(plan, region), folder / "code", options=COUNTED)
    flags = ["-DAPP_HEAP_WINDOWS", "-fsanitize=undefined"]
    objects = compile_objects(folder / "code", folder / "made", *flags)
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", *flags, f"-I{folder / 'code'}"]
    source = [str(HERE / "generated_windows.c"), *map(str, objects)]
    subprocess.run([*command, *source, "-o", str(folder / "windows")], check=True)
    return folder / "windows"


def run(program: Path, *words: str) -> str:
    return subprocess.run(
        [program, *words], check=True, timeout=300, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize("calls", ["1", "47", "48", "49", "95", "96", "97", "20000"])
def test_windows_hold_what_a_list_of_all_calls_has(program, calls):
    assert run(program, calls).startswith("heap windows 40000 1 ")


def test_a_region_above_64_kib_is_counted_in_larger_units(tmp_path):
    dump = run(build(tmp_path, PLANS["tlsf"], 1_000_000), "5000")
    assert dump.startswith("heap windows 1000000 16 ")


def test_the_forecast_from_windows_is_that_from_events(program, tmp_path):
    printed = run(program, "100000", "live")
    (tmp_path / "device.log").write_text(printed.partition("\n")[0])
    outlook = find_outlook(read_log(tmp_path / "device.log"))
    live = np.array(printed.splitlines()[1:], np.int64)
    settled = live[len(live) // 10 :]
    peaks = settled[len(settled) % 48 :].reshape(48, -1).max(axis=1)
    (reserve,) = [one for one in outlook.reserves if one.times == 10]
    assert outlook.finding is Finding.STEADY
    assert REGION - reserve.free == pytest.approx(sample_maxima(peaks).level(480, 0.1), rel=0.1)
    assert outlook.log.clock is Clock.CALLS


def test_windows_that_grow_get_a_number_of_calls(tmp_path):
    pairs = " ".join(f"{10_000 + 100 * i}-{8_000 + 100 * i}" for i in range(48))
    (tmp_path / "device.log").write_text(f"boot\nheap windows 40000 1 40 3 10: {pairs}\n")
    outlook = find_outlook(read_log(tmp_path / "device.log"))
    assert outlook.finding is Finding.FALLS
    assert outlook.decline is not None
    assert outlook.run_out is not None
    assert outlook.decline.rate * 1024 == pytest.approx(100)
    assert outlook.run_out.after == pytest.approx((40_000 - 13_900) / 100 * 1024, rel=0.01)


@pytest.mark.parametrize(
    ("dump", "why"),
    [
        ("40000 1 3 0 0: 5-4 5-4", "3 are full, and 2 are here (print all)"),
        ("40000 1 0 0 0: 5-4", "0 are full"),
        ("40000 0 1 0 0: 5-4", "make no sense"),
        ("40000 1 1 0 32: 5-4", "make no sense"),
        ("9999999999 1 1 0 0: 5-4", "make no sense"),
        ("40000 1 1 0 0: 4-5", "window 1 has more live bytes than the region"),
        ("400 1 1 0 0: 500-4", "window 1 has more live bytes than the region"),
    ],
)
def test_a_broken_dump_is_rejected_with_its_line(tmp_path, dump, why):
    (tmp_path / "device.log").write_text(f"boot\nheap windows {dump}\n")
    with pytest.raises(HeapfitError, match=r"device\.log: line 2: heap windows") as error:
        read_log(tmp_path / "device.log")
    assert why in str(error.value)


def test_the_command_names_the_region_that_would_do(program, tmp_path):
    (tmp_path / "device.log").write_text(run(program, "50000"))
    done = call_heapfit("forecast", str(tmp_path / "device.log"))
    assert done.returncode == 0
    assert "10 times as long: 9 of 10 such runs leave" in done.stdout
    assert "of the region would do" in done.stdout.replace("\n", " ")


def test_windows_take_at_most_160_bytes_of_code(tmp_path):
    generate(plan_file(PLANS["tlsf"], REGION), tmp_path, options=COUNTED)

    def text(*flags: str) -> int:
        command = [
            f"{ARM}gcc",
            "-std=c11",
            "-Os",
            "-mcpu=cortex-m4",
            "-mthumb",
            *flags,
            "-ffunction-sections",
        ]
        source = [f"-I{tmp_path}", "-c", str(tmp_path / "app_heap.c"), "-o", str(tmp_path / "o")]
        subprocess.run([*command, "-Wall", "-Wextra", "-Werror", *source], check=True)
        size = [f"{ARM}size", str(tmp_path / "o")]
        printed = subprocess.run(size, check=True, capture_output=True, text=True).stdout
        return int(printed.splitlines()[1].split()[0])

    assert 0 < text("-DAPP_HEAP_WINDOWS") - text() <= MOST_TEXT
