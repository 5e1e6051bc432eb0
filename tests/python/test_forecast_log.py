# SPDX-License-Identifier: Apache-2.0
"""Telemetry logs: twelve forms that people post are read; a date is given only with a trend.

The lines are written by hand after what is posted in public threads: the words are theirs, the
names, addresses and most numbers are not. Each sample names its thread or the source that prints.
"""

import codecs
import gzip
import json
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from declines import FALLING, LEVEL, STRAIGHT, count_findings, judge_dates
from small_traces import heapfit

from heapfit.cli.printing.console import print_text
from heapfit.drawing.parts import Line, Note
from heapfit.errors import HeapfitError
from heapfit.forecast.decline import (
    Decline,
    find_decline,
    find_end,
    is_level,
    speeds_up,
    still_falls,
    wanders,
)
from heapfit.forecast.log.outlook import Finding, Outlook, find_outlook, measure_life
from heapfit.forecast.log.reading import LONGEST_LINE, read_log
from heapfit.forecast.log.states import Clock, HeapState, TelemetryLog
from heapfit.results.forecast import forecast_parts
from program import call_heapfit

TELEMETRY = Path(__file__).parent / "telemetry"
# Free, least and largest bytes of the states in telemetry/NAME.log.
SAMPLES: dict[str, list[tuple[int, int | None, int | None]]] = {
    # espressif/esp-idf#9469: heap_caps_print_heap_info
    "esp-idf-summary": [(73808, 73400, 32768), (36944, 36536, 31744)],
    # espressif/arduino-esp32#10261: free by FreeRTOS, free and least free by ESP-IDF (components/
    # esp_system/port/esp_system_chip.c, before ESP-IDF 5 in system_api.c:
    # esp_get_minimum_free_heap_size is that of esp_get_free_heap_size)
    "esp-idf-line": [(299068, 247768, None), (251540, 152040, None)],
    # meshtastic/firmware#11660: free of total, with the change since the line before
    "esp-idf-of-total": [(118432, 96204, 65524), (118100, 96204, 65524)],
    # vPortGetHeapStats, a line for each member, as demo code prints it
    "freertos-statistics": [(20480, 15000, 18000), (20400, 14920, 17960)],
    # a shell command of an STM32 project: in KB, and in bytes behind it
    "freertos-shell": [(12288, 9216, 11264)],
    # espressif/arduino-esp32#2033: println(xPortGetFreeHeapSize()) and nothing else
    "freertos-numbers": [(248300, None, None), (247900, None, None), (247500, None, None)],
    # kernel heap (subsys/shell/modules/kernel_service/heap.c)
    "zephyr-shell": [(14320, 11184, None), (14200, 11184, None)],
    # two heaps by sys_heap_runtime_stats_get under the log's clock
    "zephyr-two-heaps": [(14320, 11184, None), (14300, 11184, None)],
    # the words before the numbers and no colon
    "zephyr-words": [(14320, 13884, None), (14220, 13784, None)],
    # esp8266/Arduino#9061: the least of each figure behind it
    "esp8266-least": [(12424, 12424, 12328), (11960, 11960, 11864)],
    # nRF24/RF24Ethernet#73: ESP.getHeapStats
    "esp8266-statistics": [(34128, None, 34128), (33400, None, 33112)],
    # esphome/issues#3320: each figure a sensor of its own
    "esp8266-sensors": [(18944, None, 16400), (18840, None, 16400)],
}


def read(folder: Path, text: str | bytes, line: str | None = None) -> TelemetryLog:
    file = folder / "device.log"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_log(file, line)


def figures(log: TelemetryLog) -> list[tuple[int, int | None, int | None]]:
    return [(one.free, one.least, one.largest) for one in log.states]


def make_log(free: np.ndarray, largest: np.ndarray | None = None) -> TelemetryLog:
    """A state a minute."""
    states = [
        HeapState(
            i + 1,
            0,
            60.0 * i,
            int(value),
            None,
            None if largest is None else int(largest[i]),
            None,
            None,
        )
        for i, value in enumerate(free)
    ]
    return TelemetryLog("made", states, Clock.UPTIME, 0, ())


def judge(free: np.ndarray, largest: np.ndarray | None = None) -> Outlook:
    return find_outlook(make_log(free, largest))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_posted_log_is_read_and_gets_no_date_from_so_few_states(name):
    log = read_log(TELEMETRY / f"{name}.log")
    assert figures(log) == SAMPLES[name]
    assert find_outlook(log).run_out is None


def test_other_heaps_of_a_log_are_named():
    log = read_log(TELEMETRY / "zephyr-two-heaps.log")
    assert log.name == "mem System Heap"
    assert [one.name for one in log.other_heaps] == ["mem Network Buffers Heap"]
    assert figures(log.other_heaps[0]) == [(3000, 2968, None)] * 2


def test_one_state_shows_fragmentation_and_no_date(tmp_path):
    # BlueAndi/Pixelix#240
    log = read(
        tmp_path,
        "21342298   DEBUG   HttpClient.cpp:878   Available heap: 109500\n"
        "21342414   ERROR   MemMon.cpp:67   Failed to allocate memory, size: 16717 bytes, "
        "caps: 0x0804\n"
        "21342415   ERROR   MemMon.cpp:68   Largest available HEAP block: 16372 bytes\n",
    )
    outlook = find_outlook(log)
    (state,) = log.states
    assert (state.free, state.largest, state.failed, state.seconds) == (
        109500,
        16372,
        16717,
        21342.298,
    )
    assert (outlook.finding, outlook.run_out) == (Finding.FRAGMENTED, None)
    assert figures(read(tmp_path, "free 109,500, largest 16,372, failed 16,717")) == [
        (109500, None, 16372)
    ]


TABLES = {
    "csv": "time,free_heap,min_free,largest_block,failed\n"
    "2026-01-01T00:00:00,1000,900,800,0\n2026-01-01T00:01:00,990,880,790,3\n",
    "semicolons": "uptime_ms;free;min;max;failed\n0;1000;900;800;0\n60000;990;880;790;3\n",
    "json": '{"uptime": 0, "heap": {"free": 1000, "min_free": 900, "max_alloc": 800}, '
    '"failed": 0}\n{"uptime": 60, "heap": {"free": 990, "min_free": 880, "max_alloc": "790"}, '
    '"failed": 3}\n',
    "prometheus": "# TYPE esp_heap_free_bytes gauge\n"
    'esp_heap_free_bytes{device="a"} 1000 1700000000000\n'
    'esp_heap_min_free_bytes{device="a"} 900 1700000000000\n'
    'esp_heap_largest_free_block_bytes{device="a"} 8e+02 1700000000000\n'
    'esp_heap_failed_total{device="a"} 0 1700000000000\n'
    'esp_heap_free_bytes{device="a"} 990 1700000060000\n'
    'esp_heap_min_free_bytes{device="a"} 880 1700000060000\n'
    'esp_heap_largest_free_block_bytes{device="a"} 790 1700000060000\n'
    'esp_heap_failed_total{device="a"} 3 1700000060000\n',
}


@pytest.mark.parametrize("form", TABLES)
def test_tables_are_read_by_their_names(tmp_path, form):
    log = read(tmp_path, TABLES[form])
    assert figures(log) == [(1000, 900, 800), (990, 880, 790)]
    assert [one.failures for one in log.states] == [0, 3]
    seconds = [one.seconds or 0.0 for one in log.states]
    assert seconds[1] - seconds[0] == 60


def test_a_line_of_a_given_form_is_read(tmp_path):
    text = "12:00:00;[HEAP];5000;4000;3000;(mon)\n12:01:00;[HEAP];4,900;3900;2 KB;(mon)\nnoise 7\n"
    log = read(tmp_path, text, "{time:s};[HEAP];{free};{least};{largest};")
    assert figures(log) == [(5000, 4000, 3000), (4900, 3900, 2048)]
    assert [one.seconds for one in log.states] == [43200, 43260]


@pytest.mark.parametrize(
    ("clock", "seconds"),
    [
        ("2026-03-01T00:00:10Z", 1_772_323_210),
        ("2026-03-01 01:00:10,5+01:00", 1_772_323_210.5),
        ("[00:01:05.250,000] <inf>", 65.25),
        ("\x1b[0;32mI (9000)", 9),
        ("[ 12000][I]", 12),
        ("21342298 DEBUG", 21_342.298),
        ("[10:00:01.5]", 36_001.5),
        ("2026-13-01T00:00:00", None),
        ("12 boots", None),
    ],
)
def test_a_clock_is_taken_off_the_line(tmp_path, clock, seconds):
    (state,) = read(tmp_path, f"{clock} heap: free 90").states
    assert (state.free, state.seconds) == (90, seconds)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Free: 2 KB, minimum free: 1.5K", (2048, 1536, None)),
        ("free 1,024 B min 512", (1024, 512, None)),
        ("free 1,024 B max 256", (1024, None, 256)),
        ("Heap: 100/200 bytes free, largest 64", (100, None, 64)),
        ("freeHeap=70 maxFreeBlock=60 tasks: 4, stack free 9", (70, None, 60)),
        ("free 80 allocated 20 max allocated 50", (80, 50, None)),
        ("12 bytes free", (12, None, None)),
    ],
)
def test_a_number_is_what_the_words_beside_it_say(tmp_path, line, shown):
    assert figures(read(tmp_path, line)) == [shown]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("free {fre}", "{fre} is no field (did you mean 'free'?)"),
        ("{free} of {free}", "{free} comes twice"),
        ("largest {largest}", "has no {free}"),
    ],
)
def test_a_line_that_says_nothing_is_rejected(tmp_path, line, why):
    with pytest.raises(HeapfitError, match=r"^--line: ") as error:
        read(tmp_path, "free 7", line)
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"free 7\0", "is a binary file"),
        (b"PK\3\4\0\0[Content_Types].xml", "is a spreadsheet (save it as CSV)"),
        (b"x" * (LONGEST_LINE + 1), "has no line of at most 4,096 B"),
        (b"hello\n", "none of its lines, 1 in all, shows free bytes"),
        (b"free: -5\nfree: nan\n", "line 1: free bytes are negative"),
        (b"free: 4294937228\n", "too large"),  # -30,068 as an unsigned number of 32 bits
        (b'{"free": NaN}\n', "no number"),
        (b"free 1e999999\n" + b"{" * 3000, "shows free bytes"),
        (b"1 of " * 800, "shows free bytes"),
        (b"1/" * 2000, "shows free bytes"),
        *(((one * 4090 + b"\n") * 3, "shows free bytes") for one in (b"[", b"-", b"=")),
    ],
)
def test_hostile_input_is_one_clear_line(tmp_path, text, why):
    file = tmp_path / "device.log"
    file.write_bytes(text)
    result = call_heapfit("forecast", str(file))
    with pytest.raises(HeapfitError) as error:
        read_log(file)
    assert result.returncode != 0
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_a_log_may_be_packed_or_of_a_windows_terminal(tmp_path):
    text = "".join(f"free {number}\r\n" for number in range(10_000))
    packed = gzip.compress(text.encode())
    for content in (codecs.BOM_UTF16_LE + text.encode("utf-16-le"), packed):
        assert len(read(tmp_path, content).states) == 10_000
    cut = read(tmp_path, packed[: len(packed) // 2])
    assert 0 < len(cut.states) < 10_000
    shown = call_heapfit("forecast", str(tmp_path / "device.log")).stderr
    assert "left out" in shown and "cut" in shown


# Of a log the first state, what is supposed, and the heap's size; or why none of it is taken.
DOUBTFUL = {
    "free 12.5 largest 8.25\n": ((12_800, None, 8_448), "KiB, since no byte has a fraction", None),
    "free 1023.5 of 2000.5\n": ((1_048_064, None, None), "KiB, since no byte", 2_048_512),
    "free 1048576.5\n": ((1_048_576, None, None), "", None),
    "internal: free 1000 largest 60\n": ((1_024_000, None, 61_440), "KiB, since there are", None),
    "internal: free 1001 largest 60\n": ((1_001, None, 60), "", None),
    "PSRAM: free 16384\n": ((1 << 24, None, None), "KiB, since there are so few", None),
    "PSRAM: free 16385\n": ((16_385, None, None), "", None),
    "used 3000 of 10000, max used 6000\n": ((7_000, 4_000, None), "", 10_000),
    "available 10000 used 3000\navailable 10000 used 3100\n": ((7_000, None, None), "", 10_000),
    "free 2048 largest 3072\n": ((2_048, None, 3_072), "", None),  # rounded to KiB, both
    "free 2000 largest 2001\n": ((2_000, None, 2_001), "", None),
    "free 100 largest 600\n" + "free 100 largest 60\n" * 9: ((100, None, 600), "", None),
    "".join(f"free 5000 heap {1000 + i}\n" for i in range(9)): ((5_000, None, None), "", None),
}
CONTRADICTIONS = {
    "free 2048 largest 3073\n": "line 1: the largest block, 3,073 B, is above the free bytes, 2,0",
    "free 2000 largest 2002\n": "line 1: the largest block, 2,002 B, is above the free bytes, 2,0",
    "free 9 minimum free 60000\n": "line 1: the least ever free, 60,000 B, is above the free bytes",
    "free 100 largest 60\n" * 8 + "free 100 largest 600\n": "line 9: the largest block, 600 B, is",
    "".join(f"free 5000 heap {1000 + i}\n" for i in range(10)): "line 10: free bytes never change, "
        "5,000 B, and what is named heap does, 1,009 B: which are free?",
    "heap used: 5000\n": "line 1: heap used 5,000: used bytes alone do not tell when memory ends "
        "(print the heap's size, too: --line 'heap used {used} of {total}')",
    "memory: 5000\n": "line 1: memory 5,000: free or used bytes? Say which: --line 'memory {free}'",
}  # fmt: skip


@pytest.mark.parametrize("text", DOUBTFUL)
def test_doubtful_figures_are_taken_with_a_note_or_as_they_stand(tmp_path, text):
    log, (first, note, region) = read(tmp_path, text), DOUBTFUL[text]
    assert (figures(log)[0], log.region) == (first, region)
    assert (note in " ".join(log.notes)) if note else not log.notes


@pytest.mark.parametrize("text", CONTRADICTIONS)
def test_figures_that_contradict_themselves_are_refused(tmp_path, text):
    with pytest.raises(HeapfitError) as error:
        read(tmp_path, text)
    assert CONTRADICTIONS[text] in str(error.value)


def test_numbers_that_are_none_are_counted_and_left_out(tmp_path):
    log = read(tmp_path, "free: 50 largest: nan\nfree: -1\nfree: 40 largest: 30\n")
    assert figures(log) == [(50, None, None), (40, None, 30)]
    assert log.invalid == 2


@pytest.mark.parametrize(
    "text",
    [
        "I (9000) h: free 50\nI (19000) h: free 40\nI (500) h: free 60\n",  # time falls
        "free 50\nfree 40\nrst:0x1 (POWERON_RESET)\nfree 60\n",  # the boot loader says so
    ],
)
def test_a_reboot_splits_the_log(tmp_path, text):
    log = read(tmp_path, text)
    assert [one.boot for one in log.states] == [0, 0, 1]
    assert len(find_outlook(log).boot) == 2


def test_midnight_and_a_full_counter_are_no_reboots(tmp_path):
    log = read(tmp_path, "23:59:30 free 50\n00:00:30 free 40\n")
    assert [one.seconds for one in log.states] == [86370, 86430]
    log = read(tmp_path, "I (4294960000) h: free 50\nI (704) h: free 40\n")
    assert log.boots == 1
    assert log.states[1].seconds == pytest.approx(4294968.0)


def test_microseconds_of_32_bit_begin_again_each_72_minutes(tmp_path):
    """4 days with a line a minute; what begins again after 50 minutes is a boot."""
    ticks = [60_000_000 * i + 5_000_000 for i in range(4 * 1440)]
    lines = [f"{one % 2**32} us: free heap {150_000 - i // 2}" for i, one in enumerate(ticks)]
    log = read(tmp_path, "\n".join(lines))
    assert (log.boots, log.states[-1].seconds) == (1, pytest.approx(4 * 86_400 - 55))
    assert find_outlook(log).finding is Finding.FALLS
    assert read(tmp_path, "\n".join(lines[:50] * 2)).boots == 2


@pytest.mark.parametrize(
    ("head", "first"),
    [
        ("=== 2026-03-01 ===\n", "2026-03-01"),
        ("Log started 2026-03-01 00:20:00\n", "2026-03-01"),
        ("Log started 2026-02-28 23:10:00\n", "2026-03-01"),
        ("=~=~=~=~= PuTTY log 2026.03.01 00:00:02 =~=~=~=~=\n", "2026-03-01"),
        ("--- 01.03.2026 ---\n", "2026-03-01"),
        ("# Sun 2026-03-01\n", "2026-03-01"),
        ("built 2026-03-01\n", None),
        ("free heap 70000 on 2026-03-01\n", None),
    ],
)
@pytest.mark.parametrize("is_daily", [False, True])
def test_a_date_in_a_line_above_is_that_of_times_of_day(tmp_path, head, first, is_daily):
    """30 hours from midnight on, or from the heading's time; each day may have its line."""
    start = datetime(2026, 3, 1, tzinfo=UTC)
    rows = [(start + timedelta(hours=i), 60_000 - 100 * i) for i in range(30)]
    lines = [f"{at:%H:%M:%S} app: free heap {free}\n" for at, free in rows]
    if is_daily and first:
        lines[24] = f"=== 2026-03-02 ===\n{lines[24]}"
    log = read(tmp_path, head + "".join(lines))
    assert log.clock is (Clock.DATE if first else Clock.DAY)
    assert log.boots == 1
    seconds = [one.seconds for one in log.states[-30:]]
    assert np.diff(seconds) == pytest.approx(np.full(29, 3600.0))
    if first:
        assert f"{datetime.fromtimestamp(seconds[0], UTC):%Y-%m-%d %H}" == f"{first} 00"


def test_a_leak_gets_the_time_when_memory_ends():
    rng = np.random.default_rng(7)
    minutes = np.arange(600)
    outlook = judge(52_000 - 20 * minutes - rng.exponential(800, 600))
    assert outlook.finding is Finding.FALLS
    assert outlook.decline is not None
    assert outlook.run_out is not None
    assert outlook.decline.rate * 60 == pytest.approx(20, rel=0.03)
    lives = [  # to the first state of fewer than 1,024 B, in other draws of what comes
        60 * (1 + int(np.argmax(free < 1024)))
        for free in 52_000 - 20 * np.arange(600, 2700) - rng.exponential(800, (99, 2100))
    ]
    assert outlook.run_out.after == pytest.approx(float(np.median(lives)), rel=0.03)
    assert outlook.run_out.earliest < outlook.run_out.after
    assert outlook.run_out.latest is not None
    assert outlook.run_out.after < outlook.run_out.latest


def test_a_leak_is_seen_through_a_cycle():
    minutes = np.arange(1200)
    outlook = judge(50_000 - 8 * minutes + 4_000 * np.sin(2 * np.pi * minutes / 100))
    assert outlook.finding is Finding.FALLS
    assert outlook.period == pytest.approx(6000, rel=0.05)
    assert outlook.decline is not None
    assert outlook.decline.rate * 60 == pytest.approx(8, rel=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_block_is_seen_through_a_cycle(seed):
    """16 days of half hours: a day's load, whose hours differ, takes of both."""
    draw = np.random.default_rng(seed)
    day = np.arange(768) / 48
    load = (1 - np.cos(2 * np.pi * day)) * draw.lognormal(0, 0.05, 16)[day.astype(int)]
    free = 90_000 - 6_000 * load + draw.normal(0, 300, len(day))
    blocks = 0.82 * free - 12_000 * load - draw.exponential(500, len(day))
    assert find_outlook(make_log(free, blocks)).finding is Finding.STEADY
    broken = find_outlook(make_log(free, blocks - 1_500 * day))
    assert broken.finding is Finding.SHRINKS and broken.run_out is not None
    lowest = blocks[-48:].min() - 1_500 * 16  # of the last day; a request of 1,024 B is assumed
    assert broken.run_out.after == pytest.approx(60 * (lowest - 1_024) / 1_500 * 48, rel=0.3)


def test_a_cycle_is_as_long_as_it_is_if_it_has_enough_states():
    def find(states: int, length: int) -> float | None:
        return judge(50_000 + 5_000 * np.sin(2 * np.pi * np.arange(states) / length)).period

    assert find(960, 96) == pytest.approx(96 * 60, rel=0.03)
    assert find(30, 8) is None and find(40, 8) == pytest.approx(8 * 60, rel=0.1)
    assert (
        find(2000, 12) == pytest.approx(find(1000, 12), rel=0.001) == pytest.approx(720, rel=0.01)
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_cycle_in_noise_is_a_day_and_not_an_hour_less(seed):
    """Noise, and one state in 25 far below, move the highest lag by more than an hour."""
    draw = np.random.default_rng(seed)
    day = np.arange(2280) * 60 / 86_400 * 5  # states five minutes apart: `judge` takes one
    free = 148_000 + 5_200 * np.cos(2 * np.pi * day) + draw.normal(0, 900, len(day))
    free -= np.where(draw.random(len(day)) < 0.04, draw.uniform(6_000, 15_000, len(day)), 0)
    assert judge(free).period == pytest.approx(86_400 / 5, rel=0.01)


@pytest.mark.parametrize(("count", "is_asked"), [(1, True), (19, True), (48, False)])
def test_more_states_are_asked_for_where_there_are_too_few(count, is_asked):
    advice = judge(np.full(count, 90_000)).advice
    assert any("more states" in one for one in advice) == is_asked


@pytest.mark.parametrize("shape", FALLING)
def test_a_fall_of_any_shape_is_named_and_ends_in_its_interval(shape):
    for count in (40, 100):
        assert count_findings(shape, count, 0.8, range(10))["falls"] >= 9
    (by_its_end, begun, _), dates = judge_dates(shape, 100, range(10))
    assert dates >= 8 and by_its_end >= 0.8 and (begun >= 0.7 or shape not in STRAIGHT)


@pytest.mark.parametrize("shape", ["line", "12 steps", "cycle", "root"])
def test_a_fall_of_a_fifth_is_named(shape):
    found = [count_findings(shape, count, 0.2, range(20))["falls"] for count in (40, 100, 300)]
    assert sum(found) >= 51 and min(found) >= 14  # of 60


def test_a_single_loss_is_no_fall():
    draw, found = np.random.default_rng(4), Counter[Finding]()
    for count in (40, 100, 300) * 10:
        lost = 20_000 * (np.arange(count) > count * draw.random())
        found[judge(100_000 - lost + draw.normal(0, 2_000, count)).finding] += 1
    assert found[Finding.FALLS] <= 8  # of 30; 17 where one loss was as good as many


def test_the_last_states_own_noise_is_in_the_latest_end():
    """Of short logs it is about as much as a state loses."""
    (by_its_end, begun, _), dates = judge_dates("line", 40, range(71000, 71050))
    assert (dates, begun) == (50, 1.0) and by_its_end >= 0.96  # 0.88 without it


@pytest.mark.parametrize("load", LEVEL)
def test_what_does_not_fall_is_said_not_to(load):
    found = count_findings(load, 300, 0.0, range(20))
    if load == "dependence 0.995":  # too short for a load that changes so slowly
        assert found["unclear"] >= 10 and found["falls"] <= 2
    else:
        assert found["falls"] == 0 and found["level"] >= 18


@pytest.mark.parametrize("is_block", [False, True])
def test_what_is_lower_at_last_for_the_first_time_cannot_be_told(capsys, is_block):
    level = 50_000 + np.random.default_rng(1).normal(0, 1_500, 60)
    lower = level - 6_000 * (np.arange(60) >= 52)
    seen = judge(level + 9_000, lower) if is_block else judge(lower)
    assert (seen.finding, seen.run_out) == (Finding.UNCLEAR, None)
    assert ("largest block" in seen.reason) == is_block
    print_text(forecast_parts(seen))
    assert "cannot be told" in (shown := capsys.readouterr().out) and "60 states" in shown


def test_what_looks_like_a_leak_is_told_of_a_fall_that_has_no_failure_alone(capsys):
    lost = 800 * np.random.default_rng(7).exponential(1, 600)
    falling = make_log(52_000 - 20 * np.arange(600) - lost)
    last = replace(falling.states[-1], failed=16_384)
    failed = replace(falling, states=[*falling.states[:-1], last])
    for log, is_told in ((falling, True), (failed, False), (make_log(52_000 - lost), False)):
        print_text(forecast_parts(find_outlook(log)))
        assert ("looks the same" in " ".join(capsys.readouterr().out.split())) == is_told


@pytest.mark.parametrize(
    ("power", "is_faster"), [(3.0, True), (0.4, False)], ids=["accelerating", "slowing"]
)
def test_the_newest_part_has_the_pace(power, is_faster, capsys):
    seen = judge(100_000 * (1 - 0.8 * (np.arange(300) / 300) ** power))
    assert seen.decline is not None and seen.run_out is not None
    assert (seen.decline.rate > seen.decline.before) == is_faster
    print_text(forecast_parts(seen))
    shown = " ".join(capsys.readouterr().out.split())
    assert "largest block is too small" not in shown
    paces = " now, ever faster: " in shown, seen.decline.now > seen.decline.rate
    assert paces == (is_faster, is_faster) and shown.count("B an hour") == 1
    left = 300 * ((1 - 1024 / 100_000) / 0.8) ** (1 / power) - 299  # minutes
    assert seen.run_out.earliest < 60 * left < (seen.run_out.latest or np.inf)
    assert ("slower than before" in shown) != is_faster


def test_a_line_in_noise_is_no_change_of_pace():
    falls = [
        judge(90_000 - 600 * np.arange(100) + np.random.default_rng(seed).normal(0, 2_000, 100))
        for seed in range(30)
    ]
    answers = [
        next(one.text for one in forecast_parts(seen) if isinstance(one, Line)) for seen in falls
    ]
    assert sum("before" in one or "ever faster" in one for one in answers) <= 2


def test_the_interval_of_a_fall_in_few_steps_is_no_hundred_times_the_life_left():
    places, widths = np.linspace(0, 1, 100), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        lost = (places[:, None] >= np.append(rng.random(11), 1.0)) @ rng.exponential(1, 12)
        seen = judge((100_000 * (1 - lost / lost[-1]) + rng.normal(0, 2_000, 100))[:90])
        if seen.run_out is not None:
            latest = seen.run_out.latest or np.inf
            widths.append((latest - seen.run_out.earliest) / (60 * 10))
    assert np.median(widths) < 25


def test_many_short_boots_are_read_together(tmp_path):
    rng = np.random.default_rng(4)
    lines = (
        f"I ({60_000 * i + 400}) app: free heap {100_000 - 6_000 * i + rng.integers(-500, 500)}\n"
        for _ in range(20)
        for i in range(15)
    )
    seen = find_outlook(read(tmp_path, "".join(lines)))
    assert (seen.finding, seen.pooled) == (Finding.FALLS, 20)
    assert seen.decline is not None and seen.run_out is not None
    assert seen.decline.low < 100 < seen.decline.high
    assert seen.run_out.earliest < (16_000 - 1024) / 100 < (seen.run_out.latest or 0)
    assert "in 20 boots alike" in call_heapfit("forecast", str(tmp_path / "device.log")).stdout


def test_the_version_that_runs_now_is_judged_by_its_own_boot(tmp_path):
    """Three versions, of which the second runs longest and does not fall, in French."""
    rng = np.random.default_rng(5)
    start, lines = datetime(2026, 3, 2), []
    for version, states, pace in (("1.0", 200, 16), ("1.1", 450, 0), ("1.2", 250, 44)):
        lines.append(f"{start:%d/%m/%Y %H:%M:%S} === demarrage, version {version}, cause: x ===\n")
        for i in range(states):
            start += timedelta(minutes=20)
            free = int(138_000 - pace * i + rng.integers(-150, 150))
            lines.append(
                f"{start:%d/%m/%Y %H:%M:%S} memoire: {free} octets disponibles "
                f"(au pire {130_000 - pace * i}), plus gros morceau {free - 28_000}\n"
            )
    log = read(tmp_path, "".join(lines))
    assert figures(log)[-1] == (free, 130_000 - 44 * 249, free - 28_000)
    seen = find_outlook(log, (20_480,))
    assert (seen.finding, seen.boot[0].boot, len(seen.boot)) == (Finding.FALLS, 2, 250)
    assert seen.run_out is not None and seen.run_out.is_block
    left = (free - 28_000 - 20_480) / 44 * 1200
    assert seen.run_out.after == pytest.approx(left, rel=0.03)
    told = next(one.text for one in forecast_parts(seen) if isinstance(one, Line))
    assert "The largest block is too small then." in told


def test_boots_of_another_version_are_left_out_where_the_log_tells_it(tmp_path):
    """2.0 ran longest and lost most; the last boot of 2.1 is shorter than half of that."""

    def boot(version: str, states: int, pace: int) -> str:
        head = f"ets Jul 29 2019 12:21:46\nI (337) app_init: App version:      {version}\n"
        return head + "".join(
            f"I ({60_000 * i}) app: up 0d{i // 60:02}h{i % 60:02} heap free {150_000 - pace * i}\n"
            for i in range(1, states)
        )

    log = read(tmp_path, boot("2.0", 600, 90) + boot("2.1", 250, 30))
    seen = find_outlook(log)
    assert seen.decline is not None and seen.pace * seen.boot[1].seconds > 0
    assert (seen.boot[0].boot, len(seen.boot)) == (1, 249)
    shown = call_heapfit("forecast", str(tmp_path / "device.log")).stdout
    assert "by 43,200 B a day" in shown and "boot 2 of 2, version 2.1." in " ".join(shown.split())
    same = find_outlook(read(tmp_path, boot("2.1", 600, 90) + boot("2.1", 250, 30)))
    assert (same.boot[0].boot, len(same.boot)) == (0, 599)
    unknown = find_outlook(read(tmp_path, boot("none", 600, 90)[60:] + boot("2.1", 250, 30)))
    assert len(unknown.boot) > 500


def test_the_largest_block_ends_with_the_free_bytes_where_what_lies_beside_it_stays():
    """Two memories, of which the second has 30,000 B; bursts hide that the block falls, too."""
    rng = np.random.default_rng(3)
    bursts = rng.integers(0, 9000, 1500) * (rng.random(1500) < 0.04)
    free = 160_000 - 2.0 * np.arange(1500) - bursts + rng.integers(-300, 300, 1500)
    log = make_log(free)
    states = [replace(one, largest=one.free - 30_000) for one in log.states]
    seen = find_outlook(replace(log, states=states), (40_000,))
    assert seen.run_out is not None and seen.run_out.is_block
    assert seen.run_out.earliest < (157_000 - 70_000) / 2 * 60
    assert seen.run_out.after == pytest.approx((157_000 - 70_000 - 4500) / 2 * 60, rel=0.1)
    apart = [replace(one, largest=41_500 + one.free // 40) for one in log.states]
    steady = find_outlook(replace(log, states=apart), (40_000,)).run_out
    assert steady is None or steady.after > 1.2 * seen.run_out.after


def test_the_date_counts_from_the_last_state_of_the_last_boot():
    first = make_log(60_000 - 100.0 * np.arange(200))
    again = [replace(one, boot=1, seconds=(one.seconds or 0) + 20_000) for one in first.states[:30]]
    run_out = find_outlook(replace(first, states=[*first.states, *again])).run_out
    assert run_out is not None
    assert run_out.after == pytest.approx((57_100 - 1024) / 100 * 60, rel=0.05)


def test_a_figure_alone_gives_a_date_or_says_why_not(tmp_path):
    def lines(words: str) -> str:
        return "".join(f"I ({60_000 * i}) {words}{600 - 5 * i}00\n" for i in range(60))

    seen = find_outlook(read(tmp_path, lines("largest free block: ")))
    assert (seen.finding, seen.run_out is not None) == (Finding.SHRINKS, True)
    with pytest.raises(HeapfitError, match="falls with every burst"):
        read(tmp_path, lines("minimum ever free heap: "))
    with pytest.raises(HeapfitError, match="too coarse"):
        read(tmp_path, "".join(f"heap usage: {20 + i}%\n" for i in range(60)))


def test_the_first_request_that_fails_is_dated():
    free = 60_000 - 100.0 * np.arange(300)
    assert [one.bytes_left for one in judge(free).run_outs] == [1024, 4096]
    log = make_log(free)
    failed = replace(log, states=[*log.states[:-1], replace(log.states[-1], failed=16_384)])
    (run_out,) = find_outlook(failed).run_outs
    assert run_out.bytes_left == 16_384
    assert run_out.after == pytest.approx((30_100 - 16_384) / 100 * 60, rel=0.05)
    dips = [replace(one, least=max(0, one.free - 5_000)) for one in log.states]
    run_out = find_outlook(replace(log, states=dips)).run_out
    assert run_out is not None and run_out.after == pytest.approx((25_100 - 1024) * 0.6, rel=0.05)
    given = find_outlook(failed, (40_000, 20_000))
    assert [(one.bytes_left, one.is_assumed) for one in given.run_outs] == [
        (20_000, False),
        (40_000, False),
    ]
    assert given.run_outs[0].after == pytest.approx((30_100 - 20_000) / 100 * 60, rel=0.05)
    assert given.fitting == [201, 300]


def test_a_size_of_ones_own_is_dated_and_counted(tmp_path):
    lines = [
        f"I ({60_000 * i}) heap: free {60_000 - 100 * i}, largest {5 + i % 2}000\n"
        for i in range(300)
    ]
    (tmp_path / "device.log").write_text("".join(lines))
    shown = heapfit("forecast", "device.log", "--sizes", "20000,5500,6K", folder=tmp_path).stdout
    shown = " ".join(shown.split())
    assert "Sizes are assumed" not in shown and "A request of 5,500 B fits in 150 of 300" in shown
    assert "A request of 20,000 B fits in 0 of 300 states." in shown
    content = json.loads(
        call_heapfit("forecast", str(tmp_path / "device.log"), "--sizes", "5500", "--json").stdout
    )
    assert (content["sizes"], content["states_that_fit"]) == ([5500], [150])
    refused = heapfit("forecast", "device.log", "--sizes", "much", folder=tmp_path)
    assert refused.returncode and "much is not a size" in refused.stderr


def test_the_largest_block_is_dated_where_it_ends_first():
    rng = np.random.default_rng(5)
    free = 50_000 - 50 * np.arange(300) + rng.normal(0, 300, 300)
    run_out = judge(free, 30_000 - 80 * np.arange(300) + rng.normal(0, 200, 300)).run_out
    assert run_out is not None and run_out.is_block
    assert run_out.earliest < (30_000 - 24_000 - 1024) / 80 * 60 < (run_out.latest or 0)


def test_the_command_answers_first_and_in_json(tmp_path):
    file = tmp_path / "device.log"
    start = datetime(2026, 3, 1, tzinfo=UTC)
    file.write_text(
        "".join(
            f"{start + timedelta(minutes=i):%Y-%m-%d %H:%M:%S} free {30_000 - 10 * i}\n"
            for i in range(100)
        )
    )
    printed = call_heapfit("forecast", str(file)).stdout
    assert printed.startswith("Free memory falls by 600 B an hour (600 to 600): a request")
    assert "about 2026-03-03 00:17" in printed.replace("\n", " ")
    content = json.loads(call_heapfit("forecast", str(file), "--json").stdout)
    assert content["finding"] == "falls"
    assert content["run_out"]["date"] == "2026-03-03 00:17"
    assert [one["bytes_left"] for one in content["run_outs"]] == [1024, 4096]
    assert content["decline"]["rate"] == pytest.approx(1 / 6)


def test_where_the_lows_are_at_nothing_no_time_is_told(tmp_path):
    rng = np.random.default_rng(7)
    minutes = np.arange(600)
    free = np.maximum(12_000 - 20 * minutes - rng.exponential(800, 600), 0).astype(int)
    lines = [f"I ({60_000 * at}) heap: free {one}\n" for at, one in zip(minutes, free, strict=True)]
    (tmp_path / "device.log").write_text("".join(lines))
    shown = heapfit("forecast", "device.log", folder=tmp_path)
    assert "at its lows nothing is free already." in " ".join(shown.stdout.split())


def test_steps_without_noise_are_counted_as_steps():
    seen = judge(100_000 - 2_000.0 * (np.arange(100) // 8))
    assert seen.decline is not None and seen.run_out is not None
    assert seen.decline.low < 250 / 60 < seen.decline.high


def test_a_block_that_shrinks_alone_is_fragmentation():
    rng = np.random.default_rng(5)
    free = 50_000 + rng.normal(0, 300, 300)
    outlook = judge(free, 40_000 - 60 * np.arange(300) + rng.normal(0, 200, 300))
    assert outlook.finding is Finding.SHRINKS
    assert outlook.run_out is not None
    assert outlook.run_out.is_block
    told = " ".join(one.text for one in forecast_parts(outlook) if isinstance(one, Line))
    assert "Free memory does not fall: it is no leak, the heap fragments." in told
    assert "cache" not in told


def test_longer_runs_are_said_only_of_windows_that_are_independent():
    noise = np.random.default_rng(2).normal(0, 1, 960)
    slow = np.convolve(noise, np.ones(60))[:960]
    assert [*judge(50_000 + 1_000 * noise).reserves] == [1, 10]
    assert judge(50_000 + 200 * slow).reserves == {}


def test_a_burst_is_told_from_a_trend():
    free = np.full(200, 50_000.0)
    free[120] = 4_000
    assert judge(free).finding is Finding.LOAD


def test_a_name_behind_a_figure_is_no_unit(tmp_path):
    (tmp_path / "log").write_text("a fh=90 hf=78 MB=11 lg=15\na fh=80 hf=76 MB=12 lg=15\n")
    asked = ("log", "--line", "hf={free} MB={any} lg={largest}")
    shown = heapfit("forecast", *asked, folder=tmp_path).stdout
    assert "Free: 76 B at last" in shown and "Largest free block: 15 B" in shown


def test_a_request_that_is_asked_for_is_answered_first(tmp_path):
    (tmp_path / "log").write_text("free 73808 largest 32768\n")
    shown = heapfit("forecast", "log", "--sizes", "36864", folder=tmp_path).stdout
    assert shown.startswith("A request of 36,864 B fits in 0 of 1 state.\n")


@pytest.mark.parametrize("until", [0.5, 0.65])
def test_what_fills_slower_and_slower_is_level_since(until):
    time = np.linspace(0, 1, 100)
    filled = (1 - np.exp(-4 * time / until)) / (1 - np.exp(-4 / until))
    for seed in range(5):
        noise = 200 * np.random.default_rng(seed).normal(size=100)
        seen = find_outlook(make_log(100_000 - 40_000 * filled + noise))
        assert (seen.finding, seen.reason) == (
            Finding.STEADY,
            "it fell at first and is level since, as what is filled once",
        )


def test_what_fell_and_may_be_level_has_no_date_beyond_ten_such_logs():
    time = np.linspace(0, 1, 40)
    for seed in range(5):
        noise = 200 * np.random.default_rng(seed).normal(size=40)
        seen = find_outlook(make_log(100_000 - 40_000 * np.minimum(1, 2 * time) + noise))
        assert (seen.finding, seen.run_outs) == (Finding.FALLS, ())
        told = " ".join(one.text for one in forecast_parts(seen) if isinstance(one, Line))
        assert "Free memory fell, and is level in the last" in " ".join(told.split())
    seen = find_outlook(make_log(100_000 - 40_000 * time))
    assert seen.run_out is not None


@pytest.mark.parametrize(("states", "share"), [(40, 0.02), (100, 0.07), (300, 0.02)])
def test_a_slow_loss_in_uneven_steps_is_neither_level_nor_ever_faster(states, share):
    """Steps that differ by chance are no bend, though a bend of them reaches far."""
    level, faster, ratios = 0, 0, []
    for seed in range(20):
        steps = np.random.default_rng(seed).uniform(0.5, 1.5, states)
        seen = find_outlook(make_log(100_000 - np.cumsum(steps) * (share / states * 100_000)))
        level += not seen.run_outs
        faster += seen.decline is not None and seen.decline.at_last > seen.decline.rate
        left = 60 * (100_000 * (1 - share) - 1024) / (share / states * 100_000)
        ratios += [one.after / left for one in seen.run_outs[:1]]
    assert level <= 3
    assert faster <= 3
    assert np.median(ratios) == pytest.approx(1, abs=0.1)


def test_a_cache_beside_a_leak_falls_slower_and_not_level():
    hours = np.arange(300) / 2
    for seed in range(5):
        noise = 300 * np.random.default_rng(seed).normal(size=300)
        free = 200_000 - 40 * hours - 30_000 * -np.expm1(-hours / 50) + noise
        seen = find_outlook(make_log(free))
        assert seen.finding is Finding.FALLS
        told = " ".join(one.text for one in forecast_parts(seen) if isinstance(one, Line))
        assert "level in the last" not in told


def test_a_leak_under_a_working_week_is_seen():
    """Five days of load by day and night, two without: the hours of a week are its phases."""
    hours = np.arange(28 * 24)
    work = (hours // 24 % 7 < 5) & (hours % 24 >= 8) & (hours % 24 < 18)
    for seed in range(4):
        noise = 500 * np.random.default_rng(seed).normal(size=len(hours))
        free = 150_000 - 80 * hours - 20_000 * work + noise
        seen = find_outlook(make_log(free))
        assert seen.finding is Finding.FALLS
        assert seen.decline is not None and seen.decline.rate * 60 == pytest.approx(80, rel=0.1)


def test_seldom_bursts_end_the_life_before_the_usual_lows_do():
    """One of 20 states has 30,000 B less. The line of the lows is at nothing half a life later."""
    lives = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        bursts = 30_000 * (random.random(1000) < 0.05)
        free = 100_000 - 100 * np.arange(1000) - bursts + random.normal(0, 500, 1000)
        life = int(np.argmax(free < 1024))
        date, left = judge(free[: life // 2]).run_out, 60 * (life - life // 2 + 1)
        assert date is not None
        lives.append((date.earliest <= left <= (date.latest or np.inf), date.after / left))
    right, after = zip(*lives, strict=True)
    assert sum(right) >= 18
    assert 0.9 < float(np.median(after)) < 1.2


@pytest.mark.parametrize(("unit", "each"), [("ms", 3_600_000), ("us", 3_600_000_000)])
def test_a_count_of_ms_or_us_as_large_as_a_date_is_none(tmp_path, unit, each):
    """From 1.4e9 ms on, 16.2 days, it was seconds since 1970, and its lines another heap's."""
    rows = [
        f"{each * i} {unit}: free heap {150_000 - 300 * i}, largest block 1000" for i in range(480)
    ]
    (tmp_path / "device.log").write_text("\n".join(rows))
    log = read_log(tmp_path / "device.log", None)
    assert (len(log.states), log.other_heaps, log.clock) == (480, [], Clock.UPTIME)


ARDUINO = "[{:8}][I][main.cpp:20] loop(): free {}"


@pytest.mark.parametrize(
    ("form", "first"),
    [(ARDUINO, 0), (ARDUINO, 100), ("[{}] free {}", 0)],
)
def test_a_count_in_brackets_as_large_as_a_date_is_none(tmp_path, form, first):
    """From 16.2 days on it was a date; beside Arduino's level also where the log begins later."""
    rows = [form.format(21_600_000 * i + 7, 200_000 - 180 * i) for i in range(first, 140)]
    (tmp_path / "device.log").write_text("\n".join(rows))
    log = read_log(tmp_path / "device.log", None)
    span = (log.states[-1].seconds or 0) - (log.states[0].seconds or 0)
    assert (log.clock, span) == (Clock.UPTIME, 21_600.0 * (139 - first))


def test_a_clock_that_is_set_is_no_count_of_ms(tmp_path):
    times = [*range(20, 36_000, 900), *range(1_764_460_020, 1_764_496_000, 900)]
    rows = [f"[{one}] free {40_000 - 100 * i}" for i, one in enumerate(times)]
    (tmp_path / "device.log").write_text("\n".join(rows))
    assert read_log(tmp_path / "device.log", None).clock is not Clock.UPTIME


@pytest.mark.parametrize("other", ["[1234567890] banner", "[1073741824] sbrk", "[ 800000001] x"])
@pytest.mark.parametrize("each", [1, 100])
def test_other_numbers_in_brackets_leave_dates_as_they_are(tmp_path, other, each):
    rows = [f"[{1_764_460_020 + 600 * i}] free heap {100_000 - 50 * i}" for i in range(100)]
    rows[::each] = [f"{other}\n{row}" for row in rows[::each]]
    (tmp_path / "device.log").write_text("\n".join(rows))
    log = read_log(tmp_path / "device.log", None)
    assert (log.clock, log.boots) == (Clock.DATE, 1)
    assert (log.states[-1].seconds or 0) - (log.states[0].seconds or 0) == 600 * 99


def test_a_count_of_ms_that_begins_where_it_may_be_a_date_is_none(tmp_path):
    rows = [f"[{3_600_000 * i + 1_470_000_000}] free {200_000 - 50 * i}" for i in range(240)]
    (tmp_path / "device.log").write_text("\n".join(rows))
    assert read_log(tmp_path / "device.log", None).clock is Clock.UPTIME


def test_a_date_in_a_line_above_is_that_of_all_devices(tmp_path):
    """Two devices that are off from the 2nd to the 4th of March."""
    rows = "".join(
        f"{'=== 2026-03-01 ===' if i == 0 else '=== 2026-03-05 ===' if i == 24 else ''}\n"
        f"{i % 24:02}:00:00 [node-1] free heap {200_000 - 50 * i}\n"
        f"{i % 24:02}:00:00 [node-2] free heap 150000\n"
        for i in range(48)
    )
    (tmp_path / "device.log").write_text(rows)
    log = read_log(tmp_path / "device.log", None)
    for one in (log, *log.other_heaps):
        assert (one.clock, len(one.states), one.boots) == (Clock.DATE, 48, 1)
        assert (one.states[-1].seconds or 0) - (one.states[0].seconds or 0) == 119 * 3600


def test_a_line_without_noise_in_few_windows_has_its_pace(tmp_path):
    rows = [f"{3600 * i} s free heap {150_000 - 40 * i} largest block 120000" for i in range(600)]
    rows[389:] = [row.replace("free heap", "b free heap") for row in rows[389:]]
    (tmp_path / "device.log").write_text("\n".join(rows))
    log = read_log(tmp_path / "device.log", None)
    for one in (log, *log.other_heaps):
        decline = find_outlook(one).decline
        assert decline is not None and decline.rate * 3600 == pytest.approx(40, rel=0.05)


def test_a_clock_that_is_set_while_it_runs_begins_as_if_always_set(tmp_path):
    begin = datetime(1970, 1, 1, tzinfo=UTC), datetime(2026, 11, 29, 10, tzinfo=UTC)
    times = [begin[i >= 5] + timedelta(minutes=i) for i in range(60)]
    lines = [f"{one:%Y-%m-%d %H:%M:%S} free {40_000 - 50 * i}" for i, one in enumerate(times)]
    (tmp_path / "device.log").write_text("\n".join(lines))
    shown = " ".join(call_heapfit("forecast", str(tmp_path / "device.log")).stdout.split())
    assert "Free memory falls by 3,000 B an hour" in shown
    assert "60 states over 59 min" in shown
    assert "about 2026-11-29 22:59" in shown


def write_states(
    file: Path, times: list[datetime], form: str, banners: tuple[int, ...] = ()
) -> None:
    """A log with a state at each time, and before some of them what a boot loader prints."""
    lines = [
        f"{'rst cause:4, boot mode:(3,6)' * (i in banners)}\n{at:{form}} free {60_000 - 10 * i}"
        for i, at in enumerate(times)
    ]
    file.write_text("\n".join(lines))


def list_times(first: datetime, count: int, seconds: int) -> list[datetime]:
    return [first + timedelta(seconds=seconds * i) for i in range(count)]


FRESH, REAL = datetime(2000, 1, 1, 0, 0, 3, tzinfo=UTC), datetime(2026, 5, 11, 9, 13, tzinfo=UTC)


@pytest.mark.parametrize("form", ["[%H:%M:%S]", "%Y-%m-%d %H:%M:%S"])
@pytest.mark.parametrize(
    ("zone", "late", "step"), [(1, 1, 300), (5.5, 3, 300), (-5, 2, 300), (-5, 4, 30), (0, 2, 1800)]
)
def test_a_clock_that_is_set_at_the_start_of_a_boot_takes_no_time(tmp_path, form, zone, late, step):
    """Forwards and backwards, in a second boot that the boot loader and the clock tell."""
    fresh = list_times(FRESH + timedelta(hours=zone % 24), late, step)
    first = [*fresh, *list_times(REAL, 60, step)]
    times = [*first, *fresh, *list_times(first[-1] + timedelta(seconds=431), 200, step)]
    write_states(tmp_path / "log", times, form, (0, len(first)))
    log = read_log(tmp_path / "log")
    boot = find_outlook(log).boot
    assert (log.boots, len(boot)) == (2, late + 200)
    assert measure_life(boot) == pytest.approx((late + 199) * step, rel=0.01)


@pytest.mark.parametrize("form", ["[%H:%M:%S]", "%Y-%m-%d %H:%M:%S"])
def test_a_clock_that_is_set_to_a_time_and_to_a_zone_takes_no_time(tmp_path, form):
    times = [FRESH, REAL, *list_times(REAL + timedelta(hours=2, seconds=10), 400, 10)]
    write_states(tmp_path / "log", times, form)
    assert measure_life(find_outlook(read_log(tmp_path / "log")).boot) == 401 * 10


@pytest.mark.parametrize(
    ("first", "gap"),
    [
        (datetime(2026, 5, 4, 10, tzinfo=UTC), timedelta(days=1)),  # at full hours, in rhythm
        (datetime(2026, 5, 4, 10, 17, 23, tzinfo=UTC), timedelta(hours=15, seconds=77)),
    ],
)
@pytest.mark.parametrize("at", [1, 5, 200])
def test_a_gap_in_a_log_is_time(tmp_path, first, gap, at):
    before = list_times(first, at, 300)
    times = [*before, *list_times(before[-1] + gap, 300, 300)]
    write_states(tmp_path / "log", times, "%Y-%m-%d %H:%M:%S")
    seen = find_outlook(read_log(tmp_path / "log"))
    assert measure_life(seen.boot) == (times[-1] - times[0]).total_seconds()


def test_lines_without_their_time_leave_the_pace_as_it_is(tmp_path):
    write_states(tmp_path / "log", list_times(REAL, 100, 60), "%Y-%m-%d %H:%M:%S")
    lines = (tmp_path / "log").read_text().splitlines()
    short = [line[20:] if i in (3, 81, 155) else line for i, line in enumerate(lines)]
    (tmp_path / "log").write_text("\n".join(short))
    seen = find_outlook(read_log(tmp_path / "log"))
    assert len(seen.boot) == 100
    assert seen.decline is not None
    assert seen.decline.rate * 60 == pytest.approx(10, rel=0.05)


def describe(seen: Outlook) -> str:
    texts = (one.text for one in forecast_parts(seen) if isinstance(one, Line))
    return " ".join(" ".join(texts).split())


LINE = make_log(60_000 - 100.0 * np.arange(300))
BUSY = make_log(50_000 + 300 * np.random.default_rng(3).normal(size=100))
SPARE = make_log(50_000 + 1_000 * np.random.default_rng(3).normal(size=960))
SHORT = "fragmented, or lies in several memories; it is not used up. No date: nothing falls."


def fail_at_last(log: TelemetryLog, **what: int) -> TelemetryLog:
    return replace(log, states=[*log.states[:-1], replace(log.states[-1], **what)])


# Of a log and the sizes asked for: facts that its answer has, and what it has not.
ANSWERS = {
    "a fall": (LINE, (), ["(--sizes gives yours).", "Free: 30,100 B at last, 45,100 B usually, "
        "30,100 B at least.", "lines 1 to 300 (made)."],
        ["block is too small", "As long again", "fits in", "Its size", "Largest free block:"]),
    "sizes": (LINE, (40_000, 20_000), ["a request of 20,000 B fails some 101 min", "at its lows a "
        "request of 40,000 B fails already.", "20,000 B fits in 300 of 300 states, by free bytes "
        "alone. Record"], ["Sizes are assumed"]),
    "faster": (make_log(100_000 - np.maximum(20 * np.arange(300), 150 * np.arange(-173, 127))), (),
        ["faster than before: a request"], ["ever faster", "slower"]),
    "a heap's size": (replace(SPARE, region=100_000, setting="TOTAL 100000"), (),
        ["As long again: 9 of 10 such runs leave 45,487 B free, so 54,513 B of the region would "
        "do. 10 times as long", "What is free counts whole bytes", "Its size: TOTAL 100000."], []),
    "none of its size": (SPARE, (), ["As long again: 9 of 10 such runs leave 45,487 B free. 10 "],
        ["whole bytes", "Its size"]),
    "low": (make_log([max(0, one.free - 47_500) for one in SPARE.states]), (),
        ["A load, not a trend: the least free was 0 B, and", "has nothing free."], ["would do"]),
    "a failure": (fail_at_last(BUSY, failed=16_384, largest=9_000), (), ["A request of 16,384 B "
        f"failed with 50,064 B free: the largest block was 9,000 B. So what is free is {SHORT}",
        "Largest free block: 9,000 B at last, 18.0 % of the free bytes."], []),
    "a failure alone": (fail_at_last(BUSY, failed=16_384), (),
        [f"failed with 50,064 B free. So what is free is {SHORT}"], ["Largest free block:"]),
    "memory used up": (fail_at_last(BUSY, failed=60_000), (), ["A request of 60,000 B failed "
        "with 50,064 B free: memory was used up, and 9,936 B more would have been enough."],
        ["fragmented", "another memory"]),
    "another memory": (fail_at_last(BUSY, failed=8_000, largest=30_000), (), ["A request of 8,000 "
        "B failed with 50,064 B free, in a block of 30,000 B: both are enough. So it was asked of "
        "another memory"], ["used up", "fragmented"]),
    "a block that falls far": (fail_at_last(make_log(np.full(60, 50_000.0), np.where(np.arange(60) %
        2, 20_000.0, 30_000.0)), failed=18_000), (), ["the largest block, 20,000 B in the nearest "
        "state, falls by up to 10,000 B between two states, and was too small. What is free is "
        "fragmented."], ["another memory"]),
    "two boots": (replace(BUSY, states=[replace(one, boot=i // 50) for i, one in
        enumerate(BUSY.states)]), (), ["50 states", "lines 51 to 100 (made): boot 2 of 2."], []),
    "damage": (replace(BUSY, damage="line 101: cut", invalid=1234), (), ["the rest is left out, "
        "from line 101: cut", "left out as negative, too large or no number: 1,234"], []),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_has_what_its_log_shows_and_no_more(name):
    log, sizes, facts, others = ANSWERS[name]
    parts = forecast_parts(find_outlook(log, sizes))
    told = " ".join(" ".join(one.text for one in parts if isinstance(one, Line | Note)).split())
    assert [fact for fact in facts if fact not in told] == []
    assert [other for other in others if other in told] == []


def test_a_pace_that_is_kept_says_how_large_a_cache_would_be():
    assert (
        "It kept this pace for 3 h: only a cache that takes more than 18,000 B, or a cycle longer "
        "than the log, looks the same."
    ) in describe(find_outlook(make_log(60_000 - 100.0 * np.arange(200))))


def test_what_falls_slower_and_slower_may_be_a_cache():
    time, kept = np.linspace(0, 1, 200), 0
    for seed in range(10):
        noise = 500 * np.random.default_rng(seed).normal(size=200)
        filled = 40_000 * np.expm1(-time / 0.5) / np.expm1(-1 / 0.5)
        kept += "It kept this pace" in describe(judge(100_000 - filled + noise))
    assert kept <= 1


def write_tasks(leak: int, *, is_stamped: bool, seed: int) -> str:
    """TizenRT's heapinfo every half an hour: a cache that is full after a third, and a leak."""
    rng, text = np.random.default_rng(seed), ""
    for i, at in enumerate(list_times(REAL, 120, 1800)):
        cache = min(60_000, 1_500 * i + int(rng.integers(0, 1_400)))
        held = {"Idle Task": 12_528, "mqtt": 5_888 + leak * i, "app main": 10_224 + cache}
        used = sum(held.values()) + 9_000
        rows = [
            f"Total                           : {960_320} (100%)",
            f"  - Allocated (Current / Peak)  : {used} (4%) / {used + 900} (5%)",
            f"  - Free (Current)              : {960_320 - used} (95%)",
            "  - Current Size (Alive Allocation) = (1) + (2) + (3)",
            "     . by Dead Threads (*) (1)        : 2272",
            "< by Alive Threads >",
            "PID |  PPID | STACK | CURR_HEAP | PEAK_HEAP | NAME",
            "----|-------|-------|-----------|-----------|----------",
            *(f"{7:3} | {3:5} | 1024 | {one} | {one + 64} | {name}" for name, one in held.items()),
        ]
        stamp = f"[{at:%Y-%m-%d %H:%M:%S}.000] " if is_stamped else ""
        text += "".join(f"{stamp}{row}\n" for row in rows)
    return text


@pytest.mark.parametrize(("encoding", "end"), [("utf-8", "\n"), ("utf-16", "\r\n")])
@pytest.mark.parametrize(("leak", "seed"), [(552, 1), (90, 2), (1_800, 3)])
def test_the_task_that_holds_more_and_more_is_named(tmp_path, leak, seed, encoding, end):
    text = write_tasks(leak, is_stamped=True, seed=seed).replace("\n", end)
    (tmp_path / "log").write_bytes(text.encode(encoding))
    shown = heapfit("forecast", "log", folder=tmp_path)
    told = " ".join(shown.stdout.split())
    assert f"mqtt holds more and more, {5_888 + 119 * leak:,} B at last: by " in told
    rate = re.search(r"at last: by ([\d,]+) B a day", told)
    assert rate and float(rate[1].replace(",", "")) == pytest.approx(48 * leak, rel=0.02)
    assert "Others are level: app main 70,224 B, filled at first; Idle Task 12,528 B." in told
    assert not shown.stderr


def test_a_task_is_named_without_a_clock_and_in_a_table_of_ones_own(tmp_path):
    (tmp_path / "log").write_text(write_tasks(700, is_stamped=False, seed=4))
    shown = " ".join(heapfit("forecast", "log", folder=tmp_path).stdout.split())
    assert "mqtt holds more and more, 89,188 B at last: by 700 B a state" in shown
    rows = "".join(
        f"I ({600_000 * i}) mon: free heap {200_000 - 40 * i}\n"
        "| Task name | Used | Peak |\n|---|---|---|\n| a | 900 | 950 |\n"
        f"| b | {40 * i} | {40 * i} |\n"
        for i in range(100)
    )
    (tmp_path / "log").write_text(rows)
    seen = find_outlook(read_log(tmp_path / "log"))
    assert [one.log.name for one in seen.holders if one.pace] == ["b"]
    assert seen.holders[1].pace * 600 == pytest.approx(40, rel=0.02)


@pytest.mark.parametrize(
    "head",
    ["Task       Stack  Heap used", "I (5) mem: task  stack  allocated", "Module,Stack,Used"],
)
def test_a_column_of_tasks_names_who_holds_a_row(tmp_path, head):
    sign = "," if "," in head else "   "
    rows = "".join(
        f"{head}\nwifi{sign}1200{sign}{9_000 + 100 * i}\nmqtt{sign}900{sign}4000\n"
        f"Free heap: {90_000 - 100 * i}\n"
        for i in range(100)
    )
    (tmp_path / "log").write_text(rows)
    seen = find_outlook(read_log(tmp_path / "log"))
    assert ([one.free for one in seen.log.states], seen.log.other_heaps) == (
        [90_000 - 100 * i for i in range(100)],
        [],
    )
    assert {one.log.name: one.held for one in seen.holders} == {"wifi": 18_900, "mqtt": 4_000}
    assert [one.log.name for one in seen.holders if one.pace] == ["wifi"]
    (tmp_path / "log").write_text(
        "".join(f'{{"task":"t{i % 2}","free":{9 - i}}}\n' for i in range(9))
    )
    assert len(read_log(tmp_path / "log").states) == 9  # of one heap, which two tasks print


def test_free_bytes_are_no_part_of_the_row_before(tmp_path):
    """A task's peak, 9,300 B, above the 9,000 B that it holds, made the least ever free 0 B."""
    rows = "".join(
        f"[2026-03-01 {i:02}:00:00] free heap {300_000 - 50 * i}\n"
        f"Task|Heap|Peak\n----|----|----\nnet|{5_000 + 50 * i}|{5_050 + 50 * i}\nui|9000|9300\n"
        for i in range(24)
    )
    (tmp_path / "log").write_text(rows)
    assert find_outlook(read_log(tmp_path / "log")).least == 300_000 - 50 * 23


def test_what_a_task_holds_may_be_no_number_or_above_the_heap(tmp_path):
    rows = "".join(
        f"I ({600_000 * i}) m: heap free {20_000 - 40 * i} of 40000\n| Task name | Used | Peak |\n"
        f"|---|---|---|\n| a | -5 | 9 |\n| b | {90_000 + 40 * i} | 99000 |\n| c | 7 | 8 |\n"
        for i in range(100)
    )
    (tmp_path / "log").write_text(rows)
    seen = find_outlook(read_log(tmp_path / "log"))
    assert {one.log.name: one.held for one in seen.holders} == {"b": 93_960, "c": 7}
    assert [one.log.name for one in seen.holders if one.pace] == ["b"]
    (tmp_path / "log").write_text("heap -5\nheap 5\nheap 6\n")
    with pytest.raises(HeapfitError, match="line 2: heap 5: free or used"):
        read_log(tmp_path / "log")


@pytest.mark.parametrize(("least", "told"), [(93.2, True), (93.0, False)])
def test_a_level_excludes_a_fall_that_ends_within_ten_such_logs(least, told):
    values = np.where(np.arange(48) < 42, 100.0, least)  # 0.6875 of the log lie between
    assert is_level(values, values, 0, 24) == told


@pytest.mark.parametrize(
    ("last_high", "told"), [(11, False), (12, True), (34, True), (35, False)]
)  # of 40 values; the last four may be a burst
def test_what_falls_in_the_first_three_tenths_alone_falls_no_longer(last_high, told):
    assert still_falls(np.where(np.arange(40) <= last_high, 100.0, 0.0)) == told


@pytest.mark.parametrize(
    ("before", "newest", "values"), [(50, 10, 10), (72, 24, 6)]
)  # with which a fall grows e-fold; a parabola leaves more of either than two lines do
def test_a_fall_that_grows_by_a_share_of_itself_speeds_up(before, newest, values):
    age = np.arange(-before, newest)
    assert speeds_up(-np.exp(age / values), newest)
    assert not speeds_up(-np.maximum(0.0, age), newest)


def test_a_fall_at_one_pace_holds_it_and_is_not_said_to_slow_down():
    noise = np.random.default_rng(7).normal(0, 5, (40, 48))
    found = [find_decline(10_000 - 10 * np.arange(48.0) + one) for one in noise]
    assert sum(one.low <= 10 <= one.high for one in found) >= 36
    assert min(one.low / one.rate for one in found) > 0.8
    assert max(one.high / one.rate for one in found) < 1.36  # newest values may be as fast
    assert [one.at_last for one in found] == [one.rate for one in found]


def deepest_served(gaps: np.ndarray, left: float, rate: float) -> float:
    """Where a line is that falls by `rate` a step when a dip below it has likely come.

    A step has one of the dips that were seen, below the straight line through them.
    """
    places = np.arange(len(gaps))
    dips = gaps - np.polyval(np.polyfit(places, gaps, 1), places)
    line, served = min(left, dips.max()), 1.0
    while served > 0.5:
        line -= rate
        served *= float((dips < line).mean())
    return max(0.0, line)


@pytest.mark.parametrize(
    "gaps",
    [np.arange(48) ** 2.0, (np.arange(48) % 7) ** 3.0, np.sqrt(np.arange(48.0)) * 90],
    ids=["ever deeper", "in a cycle", "less and less"],
)
@pytest.mark.parametrize(("start", "rate"), [(60_000.0, 1.0), (48_500.0, 10.0), (100_000.0, 3.0)])
def test_a_fall_ends_when_a_dip_as_seen_reaches_what_is_needed(gaps, start, rate):
    highs = start - rate * np.arange(48.0)
    lows = np.append(highs[1:], highs[-1]) - gaps
    fall = Decline(rate, rate, rate, 48, rate, rate)
    left = lows[-16:].mean() - rate * 15 / 2 - 40_000
    after, _, _ = find_end(fall, highs, lows, 40_000)
    assert after == pytest.approx((left - deepest_served(gaps, left, rate)) / rate, abs=1.01)


def test_a_request_is_looked_for_in_each_heap_of_a_log(tmp_path):
    lines = [f"{name}: free {free} largest {free - 8}" for name, free in (("a", 9000), ("b", 500))]
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    shown = heapfit("forecast", "log", "--sizes", "1000", folder=tmp_path).stdout
    assert shown.startswith(
        "A request of 1,000 B fits in 1 of 1 state of 'a', 0 of 1 state of 'b'."
    )


def test_capabilities_of_esp_idf_are_named(tmp_path):
    summary = "Heap summary for capabilities {}:\n  Totals:\n    free {} allocated 9 min_free {} "
    summary += "largest_free_block {}\n"
    caps = (("0x00000400", 4_071_380), ("0x00000800", 10_884), ("0x00000804", 9_000))
    text = "".join(summary.format(name, free, free, free // 2) for name, free in caps)
    (tmp_path / "log").write_text(text)
    shown = heapfit("forecast", "log", "--sizes", "16717", folder=tmp_path).stdout
    told = "0 of 1 state of 'internal', 0 of 1 state of '0x00000804', 1 of 1 state of 'PSRAM'."
    assert " ".join(shown.split()).startswith(f"A request of 16,717 B fits in {told}")


def test_what_was_free_at_least_is_no_more_than_at_last(tmp_path):
    (tmp_path / "log").write_text("9000 heap: free 900\n9500 heap: free 950\n100 heap: free 800\n")
    shown = heapfit("forecast", "log", folder=tmp_path).stdout
    least, last = (re.search(rf"([\d,]+) B at {word}", shown)[1] for word in ("least", "last"))
    assert least <= last == "800"


def test_marks_of_notes_are_no_bytes_and_a_question_has_whole_words(tmp_path):
    notes = "Total : 960320 (100%)\n  - Free (Current) : {} (95%)\n"
    notes += "  - Current Size (Alive Allocation) = (1) + (2) + (3)\n"
    log = read(tmp_path, "".join(notes.format(900_000 - i) for i in range(3)))
    assert (figures(log)[0], log.notes) == ((900_000, None, None), [])
    with pytest.raises(HeapfitError, match="line 1: of the momentary heap 5: free or used"):
        read(tmp_path, "what there is of the momentary heap: 5\n")


@pytest.mark.parametrize("uneven", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("each", [8, 25])
def test_a_leak_below_a_collectors_sawtooth_ends_in_its_interval(each, uneven):
    """90 B lost for each state, and 16,000 B of garbage, collected every so many states."""
    right = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        ends = np.cumsum(np.maximum(2, random.normal(each, uneven * each, 2000)).round())
        age = np.arange(2000)
        since = age - np.append(0, ends)[np.searchsorted(ends, age, "right")]
        free = 120_000 - 90 * age - 16_000 / each * since + random.normal(0, 600, 2000)
        life = int(np.argmax(free < 1024))
        run_out = judge(free[: life * 9 // 10]).run_out
        assert run_out is not None
        left = 60.0 * (life - life * 9 // 10)
        right += run_out.earliest <= left <= (run_out.latest or np.inf)
    assert right >= 7


@pytest.mark.parametrize(("leak", "left_over"), [(60, 12_000), (100, 20_000), (60, 6_000)])
def test_a_collector_that_waits_until_little_is_left_dies_when_its_highs_are_there(leak, left_over):
    """Half of each life is seen: its lows never fall, and dated by them it ended far too soon."""
    right = 0
    for seed in range(8):
        random, free, kept, used = np.random.default_rng(seed), list[float](), 20_000.0, 20_000.0
        while kept < 100_000 - 1024:
            kept += leak * random.uniform(0.5, 1.5)
            used += random.uniform(1_400, 2_600)
            used = kept if 100_000 - used < left_over else used
            free.append(100_000 - used)
        run_out = judge(np.array(free[: len(free) // 2])).run_out
        left = 60.0 * (len(free) - len(free) // 2)
        right += run_out is not None and run_out.earliest <= left <= (run_out.latest or np.inf)
    assert right >= 7


@pytest.mark.parametrize("seed", range(4))
def test_a_leak_is_seen_below_few_and_uneven_collections(seed):
    """12 times in 300 states 20,000 B are collected; four fifths of the start are lost."""
    random = np.random.default_rng(seed)
    ends = np.cumsum(random.normal(25, 5, 20).round())
    age = np.arange(300)
    since = age - np.append(0, ends)[np.searchsorted(ends, age, "right")]
    free = 100_000 - 250 * age - 800 * since + random.normal(0, 1000, 300)
    assert judge(free).finding is Finding.FALLS
    assert judge(free + 250 * age).finding is Finding.STEADY


@pytest.mark.parametrize(
    ("neighbours", "count", "least", "most"),
    [(0.7, 36, 0, 0.05), (0.95, 90, 0.89, 1), (0.95, 270, 0, 0.05), (0.995, 270, 0.74, 1)],
)
def test_a_walk_is_told_from_what_comes_back(neighbours, count, least, most):
    """Of 2,000 series of the first order, whose changes matter."""
    random = np.random.default_rng(2000)
    values = np.empty((count, 2000))
    values[0] = random.normal(size=2000)
    for i in range(1, count):
        fresh = np.sqrt(1 - neighbours**2) * random.normal(size=2000)
        values[i] = neighbours * values[i - 1] + fresh
    share = np.mean([wanders(40 + 20 * one) for one in values.T])
    assert least <= share <= most
