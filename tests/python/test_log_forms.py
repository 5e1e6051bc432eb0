# SPDX-License-Identifier: Apache-2.0
"""Print formats of free bytes and clocks before them: how many are read rightly, and none wrongly.

The words are those of public firmware, the project named with each; numbers are made. A form is
printed for 60 states that lose 700 B each, 138,700 B free at last. Run as a script it prints the
figures: `python tests/python/test_log_forms.py`.
"""

import json
import os
import re
import time
import tomllib
import tracemalloc
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from small_traces import heapfit

from heapfit.errors import HeapfitError
from heapfit.forecast.log.forms import read_lines_by
from heapfit.forecast.log.heaps import judge_heaps
from heapfit.forecast.log.outlook import Finding, find_outlook
from heapfit.forecast.log.reading import read_log
from heapfit.forecast.log.states import Clock, Field
from heapfit.importers.file_kind import SourceKind, classify_file
from heapfit.importers.log_lines import LineReader, LogLine
from heapfit.importers.own_lines import suggest_own_lines
from heapfit.results.forecast_heaps import describe_failure
from program import call_heapfit

TOTAL, FIRST, LAST, STEP, STATES = 327_680, 180_000, 138_700, 700, 60
FOLDER = Path(__file__).with_name("telemetry")


def read_table(name: str) -> dict[str, str]:
    """The two columns of a file, which have Python's escapes."""
    return dict(
        [one.encode("latin-1", "backslashreplace").decode("unicode_escape") for one in row]
        for row in (line.split("\t") for line in (FOLDER / name).read_text().splitlines())
    )


# What a form prints: {f} free, {u} used, {t} total, {l} largest, {m} least, {p} most used, {i}
# number of the state, {s} seconds, {fk0} and so on in KiB, {pf} and {pu} per cent.
FORMS = read_table("print-formats.tsv")
# Before a line: {d} is the day from 1, {h} hours, {H} hours of twelve, {n} the number of a state.
CLOCKS = {form: Clock.__members__.get(name) for form, name in read_table("clocks.tsv").items()}
ASKED = {  # bytes of which nobody can tell whether they are free
    "bluetooth": "bt_mem heap={u} stack_free_min=2212 idle_blocks=3",
    "mbed alone": "Current heap: {u}\nMax heap size: {p}",
    "slash alone": "Heap: {u}/{t}",
    "used alone": "used heap: {u}",
    "block above": "free: {i} largest: {l}",
    "a table by columns": "  | PSRAM |  HEAP |\nSIZE | 4.194304 | {t} |\nFREE | 4.000000 | {f} |",
    "fields by number": "field1={f}&field2={l}&status=free_heap",
    "a list's interval": 'PUTVAL "esp1/memory/memory-free" interval=60 1768903200:{f}',
}


def print_form(form: str) -> str:
    lines = []
    for i in range(STATES):
        free = FIRST - STEP * i
        used, largest = TOTAL - free, free // 2
        figures = {
            "f": free, "u": used, "t": TOTAL, "l": largest, "m": free - 5000, "p": used + 5000
        }  # fmt: skip
        kib = {
            f"{name}k{digits}": f"{value / 1024:.{digits}f}"
            for name, value in figures.items()
            for digits in range(3)
        }
        others = {
            "i": i, "s": 60 * i + 100, "l16": largest // 16, "pf": round(100 * free / TOTAL),
            "pu": round(100 * used / TOTAL),
        }  # fmt: skip
        grouped = {f"f{n}": f"{free:,}".replace(",", sign) for n, sign in enumerate("'. ", 1)}
        lines.append(form.format(**figures, **kib, **others, **grouped))
    return "\n".join(lines) + "\n"


def print_clock(clock: str) -> str:
    lines = []
    for n in range(STATES):
        day, hour = divmod(n, 24)
        before = clock.format(
            d=day + 1, h=hour, H=hour % 12 or 12, half="AM" if hour < 12 else "PM", n=n,
            epoch=1_768_903_200 + 3600 * n, ms=3_600_000 * n + 5000, up=n, seconds=3600 * n + 5,
        )  # fmt: skip
        lines.append(f"{before}free heap: {FIRST - STEP * n} bytes")
    return "\n".join(lines) + "\n"


def judge(text: str, folder: Path, clock: Clock | None = None, *, is_timed: bool = False) -> str:
    """right, wrong, without time, or refused."""
    file = folder / "device.log"
    file.write_text(text)
    try:
        log = read_log(file)
    except HeapfitError as error:
        return f"refused: {error}".replace(str(folder), "")
    free = [one.free for one in log.states]
    near = 10_000 if "(" in text and "%" in text and "biggest" in text else 600  # KiB, per cent
    is_right = len(free) == STATES and abs(free[-1] - LAST) <= near and abs(free[0] - FIRST) <= near
    if not is_right or log.boots > 1:
        return f"wrong: {len(free)} states, {free[-1]}, {log.boots} boots, {log.name}"
    span = None if log.clock is None else log.states[-1].seconds - log.states[0].seconds
    if is_timed and clock is not None and span != 3600 * (STATES - 1):
        return f"without time: {log.clock} {span}"
    return "right"


@pytest.mark.parametrize("name", FORMS)
def test_a_print_format_is_read_rightly(tmp_path, name):
    assert judge(print_form(FORMS[name]), tmp_path) == "right"


@pytest.mark.parametrize(
    ("line", "least"),
    [
        ("free heap {}, stack min 812", None),
        ("free {} min 50000, stack min 812", 50_000),
        ("free heap   {}\nLowest free heap since start   50000", 50_000),
        ("interna livre {} B | maior bloco 41000 B | mínimo histórico 50000 B", 50_000),
    ],
)
def test_the_least_is_of_the_heap(tmp_path, line, least):
    (tmp_path / "log").write_text("".join(f"{line.format(60_000 - i)}\n" for i in range(5)))
    assert [(one.free, one.least) for one in read_log(tmp_path / "log").states][-1] == (
        59_996,
        least,
    )


@pytest.mark.parametrize("name", ASKED)
def test_what_nobody_can_know_is_asked_back(tmp_path, name):
    told = judge(print_form(ASKED[name]), tmp_path)
    assert told.startswith("refused")
    assert "--line" in told


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_clock_before_a_line_is_taken_off(tmp_path, clock):
    assert judge(print_clock(clock), tmp_path, CLOCKS[clock], is_timed=True) == "right"


# Where the time of a state stands within its line, or in a cell of its row.
TIMED = {
    '{{"level":"info","ts":{epoch}.5,"msg":"free heap: {f} bytes"}}': Clock.DATE,
    '{{"entity_id":"sensor.gw_heap_free","state":"{f}","last_changed":"{date}T{time}+00:00"}}': (
        Clock.DATE
    ),
    "{{'time': '{date} {time}', 'free_heap': {f}, 'rssi': -61}}": Clock.DATE,
    "gw.heap.free,{date} {time},{f}.0": Clock.DATE,
    '<status uptime="{s}"><heap free="{f}"/></status>': Clock.UPTIME,
    "<tr><td>Uptime</td><td>{s} s</td></tr><tr><td>Free heap</td><td>{f} B</td></tr>": Clock.UPTIME,
    "Uptime (s) ........ {s}\nHeap free (B) ..... {f}": Clock.UPTIME,
    "Alive {s}000 ms, counter={n}, free_heap={f}": Clock.UPTIME,
    '"Time","heap_free_bytes{{device=""gw""}}"\n"{date} {time}","{f}"': Clock.DATE,
}


@pytest.mark.parametrize("form", TIMED)
def test_a_time_within_a_line_is_no_figure(tmp_path, form):
    start = datetime(2026, 1, 20, 9, 58, 3, tzinfo=UTC)
    lines = []
    for n in range(STATES):
        at = start + timedelta(seconds=937 * n)
        lines += form.format(
            n=n, f=FIRST - STEP * n, s=937 * n + 12, epoch=int(at.timestamp()),
            date=at.date(), time=at.time(),
        ).splitlines()  # fmt: skip
    lines = list(dict.fromkeys(lines)) if "Time" in form else lines
    (tmp_path / "device.log").write_text("\n".join(lines))
    log = read_log(tmp_path / "device.log")
    assert (len(log.states), log.boots, log.clock) == (STATES, 1, TIMED[form])
    assert log.states[-1].free == FIRST - STEP * (STATES - 1)
    took = (log.states[-1].seconds or 0) - (log.states[0].seconds or 0)
    assert took == pytest.approx(937 * (STATES - 1), abs=1)


@pytest.mark.parametrize("count", ["[{n}] ", "[{task}] ", "{n}: ", "[{line}] x\n[{next}] ", "[7] "])
def test_a_number_of_a_line_or_task_is_no_clock(tmp_path, count):
    lines = (
        count.format(n=n, task=n % 3 * 100, line=2 * n, next=2 * n + 1) + f"free heap {FIRST - n}"
        for n in range(STATES)
    )
    (tmp_path / "device.log").write_text("\n".join(lines))
    assert read_log(tmp_path / "device.log").clock is None


# Lines with words of their own, and of each heap a word of its name and the times of its bytes.
SAID = {
    "two devices": ("node-01 free_heap={f} node-02 free_heap=9{f}", {"node-01": 1, "node-02": 9}),
    "two boards": ("esp_1: free={f}, esp_2: free={f}", {"esp_1": 1, "esp_2": 1}),
    "calls": ("{i} gc.mem_free() {f} gc.mem_alloc() {u}", {"": 1}),
    "used before free": ("{i} gc.mem_alloc() {u} gc.mem_free() {f}", {"": 1}),
    "words": ("heap: {f} words free", {"heap": 4}),
    "words behind": ("free heap: {f} words", {"": 4}),
    "NetX": ("total_packets = 500000 free_packets = {f} empty_pool_requests = 0", {"packets": 1}),
    "packets behind": ("free {f} B, {i} free packets", {"": 1, "packets": 0}),
    "packets first": ("pbuf_free={i} heap_free={f}", {"heap": 1, "packets": 0}),
    "packets by the total": ("free packets {i}/64, free {f}", {"": 1, "packets": 0}),
    "hosts": (
        "Mar  1 10:00:00 node-01 fw[12]: free {f}\nMar  1 10:00:01 node-02 fw[12]: free 9{f}",
        {"node-01": 1, "node-02": 9},
    ),
    "pools behind a date": (
        "2026-03-01 10:00:{i:02} pool-1 stats: free {f}\n"
        "2026-03-01 10:00:{i:02} pool-2 stats: free 9{f}",
        {"pool-1": 1, "pool-2": 9},
    ),
    "hosts by RFC 3339": (
        "2026-03-01T10:00:{i:02}Z gw-1 fw: free {f}\n2026-03-01T10:00:{i:02}Z gw-2 fw: free 9{f}",
        {"gw-1": 1, "gw-2": 9},
    ),
    "TizenRT": (
        "Total : {t} (100%)\n - Allocated (Current / Peak)  : {u} (4%) / {p} (5%)\n"
        " - Free (Current)  : {f} (95%)\n - Reserved  : 32",
        {"": 1},
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_a_heap_has_its_name_and_its_unit(tmp_path, name):
    form, heaps = SAID[name]
    (tmp_path / "device.log").write_text(print_form(form))
    log = read_log(tmp_path / "device.log")
    found = (log, *log.other_heaps)
    for one, (words, times) in zip(
        sorted(found, key=lambda one: one.name), heaps.items(), strict=True
    ):
        expected = {9: int(f"9{LAST}"), 0: STATES - 1}.get(times, times * LAST)
        assert (words in one.name, one.states[-1].free) == (True, expected)
    assert log.unit == ("packets" if name == "NetX" else "B")
    assert ("words are taken as 4 B" in " ".join(log.notes)) == name.startswith("words")


# Lines of two devices that run for other times: {n} is the device, {s} its seconds.
DEVICES = [
    "Mar  1 10:{i:02}:00 node-0{n} fw[12]: [{s}000] free heap {f}",
    "esp-{n}  | I ({s}000) app: free heap {f}",
    "/dev/ttyUSB{n}: I ({s}000) app: free heap {f}",
    "[10:{i:02}:00] COM{n} > I ({s}000) app: free heap {f}",
    "[node-0{n}] I ({s}000) app: free heap {f}",
    "node-0{n}: I ({s}000) app: free heap {f}",
    "[node-0{n}] uptime {s} free heap {f}",
    'home/node-0{n}/status {{"uptime":{s},"free_heap":{f}}}',
    '10:{i:02}:00 MQT: tele/plug{n}/STATE = {{"UptimeSec":{s},"free_heap":{f}}}',
    "2026-03-01T10:{i:02}:00.123456+0000 gw{n} fw: free heap {f}",
    "<134>1 2026-03-01T10:{i:02}:00Z gw-{n} fw 2{n} - - free heap {f}",
    '<134>1 2026-03-01T10:{i:02}:00.123Z gw-{n} fw - ID7 [a@1 b="c"] free heap {f}',
    '{{"node":"node-{n}","uptime":{s},"free_heap":{f}}}',
]


# An uptime of no unit, and how the first state and a step of it are counted in seconds.
UPTIMES = {
    "uptime={} free_heap={}": (10_000, 0.001),
    "app: free {1}, uptime: {0}": (60_000, 0.001),
    '{{"uptime":{},"free_heap":{}}}': (30_017, 0.001),
    "uptime {} free heap {}": (3600, 1),
    "uptime={} free_heap={} ": (60, 1),
    "uptime: {} s, free {}": (10_000, 1),
    "Uptime: {}ms\nfree heap: {}": (7000, 0.001),
    "2026-03-01 [10:00] uptime={} free={}": (10_000, None),
}


@pytest.mark.parametrize("form", UPTIMES)
def test_an_uptime_counts_what_its_steps_tell(tmp_path, form):
    step, unit = UPTIMES[form]
    lines = (form.format(123_456 + step * i, FIRST - STEP * i) for i in range(STATES))
    (tmp_path / "device.log").write_text("\n".join(lines))
    log = read_log(tmp_path / "device.log")
    if unit:
        assert [one.seconds for one in log.states[:2]] == [
            pytest.approx(unit * (123_456 + step * i)) for i in range(2)
        ]
    assert ("taken as ms" in " ".join(log.notes)) == (unit == 0.001 and "ms" not in form)


@pytest.mark.parametrize("form", ["[{}] ", "{} I app: ", "{} [INFO] "])
@pytest.mark.parametrize(
    ("step", "unit"), [(60_000_000, 1e-6), (3_600_000, 1e-3), (86_400_000, 1e-3)]
)
def test_a_count_that_passes_where_dates_begin_is_one_clock(tmp_path, form, step, unit):
    lines = (
        f"{form.format(1_400_000_123 + step * (i - 10))}free heap {FIRST - STEP * i}"
        for i in range(STATES)
    )
    (tmp_path / "device.log").write_text("\n".join(lines))
    log = read_log(tmp_path / "device.log")
    assert (len(log.states), log.boots, log.clock) == (STATES, 1, Clock.UPTIME)
    assert log.states[1].seconds - log.states[0].seconds == pytest.approx(step * unit)
    assert ("taken as microseconds" in " ".join(log.notes)) == (unit == 1e-6)


@pytest.mark.parametrize(("step", "seconds"), [(60_000, 60), (60, 60), (3600, 3600)])
def test_a_column_of_uptimes_counts_what_its_steps_tell(tmp_path, step, seconds):
    for head, row in (("uptime,free", "{0},{1}"), ("free;rssi;Uptime", '{1};-61;"{0}"')):
        lines = (row.format(1_234 + step * i, FIRST - STEP * i) for i in range(STATES))
        (tmp_path / "device.csv").write_text("\n".join((head, *lines)))
        log = read_log(tmp_path / "device.csv")
        assert (log.states[1].seconds or 0) - (log.states[0].seconds or 0) == pytest.approx(seconds)
        assert ("taken as ms" in " ".join(log.notes)) == (step != seconds)


def test_the_most_used_tells_the_least_free(tmp_path):
    lines = (f"heap used {100 + i} kB of 320 kB, most {140 + i} kB" for i in range(STATES))
    (tmp_path / "device.log").write_text("\n".join(lines))
    assert read_log(tmp_path / "device.log").states[-1].least == (180 - STATES + 1) * 1024


def test_topics_keep_their_names(tmp_path):
    rooms = ("home/kitchen/free_heap", "home/garage/heap/free")
    lines = (f"{room} {FIRST - STEP * i}" for i in range(STATES) for room in rooms)
    (tmp_path / "device.log").write_text("\n".join(lines))
    log = read_log(tmp_path / "device.log")
    names = {one.name for one in (log, *log.other_heaps)}
    assert names == {"home/kitchen/free_heap", "home/garage/heap"}


def test_tasks_of_one_device_are_no_devices(tmp_path):
    form = "[00:{i:02}:00] heap task[12]: free {f}\n[00:{i:02}:01] net task[3]: rx 5\n"
    lines = [form.format(i=i, f=FIRST - STEP * i) for i in range(STATES)]
    (tmp_path / "device.log").write_text("".join(["rst:0x1 (POWERON)\n", *lines[:30], *lines]))
    log = read_log(tmp_path / "device.log")
    assert (len(log.states), log.boots, log.other_heaps) == (STATES + 30, 2, [])


def test_of_many_devices_of_a_table_the_one_that_ends_first_is_named(tmp_path):
    """40 devices lose 10 to 400 B a state, 24 of them nothing; the last column is the clock."""
    rows = [
        f"{100 * i + n},gw-{n:02},{90_000 - i * pace + 7 * (i * n % 5)},2026-03-{1 + i // 24:02} "
        f"{i % 24:02}:00:00"
        for i in range(30)
        for n in range(40)
        for pace in [10 * n if n % 5 > 2 else 0]
    ]
    (tmp_path / "fleet.csv").write_text("\n".join(["uptime_s,device,free_heap,received", *rows]))
    first, *others = judge_heaps(read_log(tmp_path / "fleet.csv"), [2000])
    falling = [one.log.name for one in (first, *others) if one.run_out]
    assert falling == [f"gw-{n:02} free_heap" for n in range(39, 0, -1) if n % 5 > 2]
    assert len(others) == 39 and first.log.clock is Clock.DATE
    assert first.run_out is not None and first.run_out.after == pytest.approx(
        3600 * (90_000 - 29 * 390 - 2000) / 390, rel=0.02
    )
    shown = heapfit("forecast", "fleet.csv", "--sizes", "2000", folder=tmp_path).stdout
    assert "gw-38 free_heap: 7" in shown and "falls by 9,120 B a day" in " ".join(shown.split())
    assert "and 24 more (--json has them)" in shown
    told = json.loads(
        heapfit("forecast", "fleet.csv", "--sizes", "2000", "--json", folder=tmp_path).stdout
    )
    ends = [one["run_outs"][0]["date"] for one in told["other_heaps"] if one["run_outs"]]
    assert ends == sorted(ends) and len(ends) == 15 and told["run_out"]["date"] <= ends[0]


@pytest.mark.parametrize("form", DEVICES)
def test_devices_of_one_log_are_heaps_with_boots_of_their_own(tmp_path, form):
    lines = [
        form.format(n=n, i=i, s=60 * i + 900 * n, f=FIRST // n - STEP * i)
        for i in range(STATES)
        for n in (1, 2)
    ]
    (tmp_path / "device.log").write_text("\n".join(lines))
    log = read_log(tmp_path / "device.log")
    for heap, first in zip((log, *log.other_heaps), (FIRST, FIRST // 2), strict=True):
        assert (len(heap.states), heap.boots, heap.states[0].free) == (STATES, 1, first)
        assert heap.states[-1].seconds - heap.states[0].seconds == 60 * (STATES - 1)
    (tmp_path / "device.log").write_text("\n".join([*lines[::2], *lines[::2]]))
    assert read_log(tmp_path / "device.log").boots == 2


def test_pools_of_lwip_in_a_syslog_are_those_of_their_host(tmp_path):
    """Two hosts whose lines alternate, without a process's number; one loses buffers, one bytes."""

    def look(n: int, i: int) -> list[str]:
        used = 9000 + 40 * i * (n == 1), 2 + i // 8 * (n == 2)
        return [
            *("MEM HEAP", "avail: 24576", f"used: {used[0]}", f"max: {used[0]}", "err: 0"),
            *("MEM PBUF_POOL", "avail: 32", f"used: {used[1]}", f"max: {used[1]}", "err: 0"),
        ]

    lines = [
        f"Nov {1 + i // 24:2} {i % 24:02}:00:00 gw-{n} lwip: {text}"
        for i in range(160)
        for both in zip(look(1, i), look(2, i), strict=True)
        for n, text in enumerate(both, 1)
    ]
    (tmp_path / "fleet.log").write_text("\n".join(lines))
    heaps = judge_heaps(read_log(tmp_path / "fleet.log"), [1536])
    found = {one.log.name: (one.log.unit, one.pace > 0) for one in heaps}
    assert found == {
        "gw-1 HEAP": ("B", True),
        "gw-2 PBUF_POOL": ("buffers", True),
        "gw-2 HEAP": ("B", False),
        "gw-1 PBUF_POOL": ("buffers", False),
    }
    assert [(one.log.setting, *one.needed) for one in heaps[:2]] == [
        ("PBUF_POOL_SIZE",),
        ("MEM_SIZE", 1536),
    ]
    shown = " ".join(call_heapfit("forecast", str(tmp_path / "fleet.log")).stdout.split())
    assert shown.startswith("gw-2 PBUF_POOL: free memory falls by 3 buffers a day")
    assert "gw-1 HEAP: 9,216 of 24,576 B free" in shown and "fails about Nov 1" in shown


def test_a_start_in_a_syslog_is_that_of_its_own_device(tmp_path):
    said = "<134>1 2026-03-{:02}T{:02}:00:00Z gw-{} {} - - {}"
    lines = [
        said.format(1 + i // 24, i % 24, n, *what)
        for i in range(60)
        for n in (1, 2)
        for what in (
            *[("kernel -", "booting firmware 4.2, reset cause WATCHDOG")] * (i == 30 and n == 2),
            ("memd 1", f"heap: {90_000 - 100 * i * n} of 196,608 B free"),
        )
    ]
    (tmp_path / "fleet.log").write_text("\n".join(lines))
    log = read_log(tmp_path / "fleet.log")
    assert {one.name: one.boots for one in (log, *log.other_heaps)} == {
        "gw-1 heap": 1,
        "gw-2 heap": 2,
    }


@pytest.mark.parametrize("head", ["", "time,free\n"])
def test_a_log_with_the_newest_line_first_is_read_from_its_end(tmp_path, head):
    clock = "2026-01-{d:02} {h:02}:00:00 "
    lines = print_clock(clock).splitlines()
    if head:
        lines = [line.replace(" free heap: ", ",").removesuffix(" bytes") for line in lines]
    (tmp_path / "device.log").write_text(head + "\n".join(lines[::-1]))
    log = read_log(tmp_path / "device.log")
    assert (log.boots, len(log.states), log.states[-1].free) == (1, STATES, LAST)
    assert log.states[-1].seconds - log.states[0].seconds == 3600 * (STATES - 1)
    assert any("from the end" in note for note in log.notes)


def test_a_heading_in_angle_brackets_is_no_call(tmp_path):
    """TizenRT's heapinfo behind a terminal's clock: mtrace has such a sign before an address."""
    clock = "[2026-01-{:02} 10:00:00.091] "
    lines = [clock.format(1 + n) + f"< Free >\n  - Free : {FIRST - n}" for n in range(9)]
    (tmp_path / "device.log").write_text("\n".join(lines))
    assert classify_file(tmp_path / "device.log") is SourceKind.UNKNOWN


# Dates of two states, which tell the day from the month or not: the last as ISO 8601 has it.
ORDERS = {
    ("30/01/2026", "01/02/2026"): "2026-02-01",
    ("01/30/2026", "02/01/2026"): "2026-02-01",
    ("12/02/2026", "01/03/2026"): "2026-03-01",  # else it falls
    ("01/05/2026", "02/05/2026"): "2026-05-02",  # else a month
    ("05.05.2026", "05.06.2026"): "2026-06-05",  # nobody writes the month before a full stop
    ("02/01/2026", "02/01/2026"): "2026-02-01, with the month first",
}


@pytest.mark.parametrize("dates", ORDERS)
def test_the_log_tells_the_day_from_the_month(tmp_path, dates):
    (tmp_path / "device.log").write_text("".join(f"{one} 10:00 free {LAST}\n" for one in dates))
    log = read_log(tmp_path / "device.log")
    assert (log.clock, log.boots) == (Clock.DATE, 1)
    expected, _, supposed = ORDERS[dates].partition(", ")
    assert f"{datetime.fromtimestamp(log.states[-1].seconds, UTC):%Y-%m-%d}" == expected
    assert supposed in " ".join(log.notes)
    assert bool(log.notes) == bool(supposed)


# What stacks and runtimes print of their pools: the one that had nothing left, and its setting.
POOLS = tomllib.loads((FOLDER / "pools.toml").read_text("utf-8"))
# A request that failed in a line of its own, and why it did.
FAILURES = {
    "Failed to alloc 2088\nfree heap: 1024": "used up, and 1,064 B more",
    "free heap: 9000 largest block: 2000\nE (12) app: malloc(4096) failed": "free is fragmented",
    "Allocation failed, size 65552\nTotal:471040, used:420000, free:51040": "used up, and 14,512 B",
    "my_alloc_fail:  - requested size 900\nmy_alloc_fail:  - largest free size : 950\n"
    "my_alloc_fail:  - total free size   : 990": "another memory, such as internal RAM",
    "Out of memory: need 5000 bytes, free 4000": "used up, and 1,000 B more",
    "malloc(9000) returned NULL\nfree heap: 8000": "used up, and 1,000 B more",
    "no room for 9000 bytes\nfree heap: 8000": "used up, and 1,000 B more",
    "calloc(4, 2250) failed, 9000 bytes\nfree heap: 8000": "used up, and 1,000 B more",
    "free heap: 500\n<err> net_pkt: Data buffer (590) allocation failed (x:391)": "90 B more",
    "heap free: 20000\n:oom(24000)@main.cpp:120": "used up, and 4,000 B more",
    "heap free 50000 largest 21000\n[ERR] [PGE] ALLOCFAIL where=png bytes=30000 max=21000": (
        "free is fragmented"
    ),
    "Mem alloc fail. size 0x00000420 caps 0x00000804\nFree heap: 800": "used up, and 256 B more",
}


def test_rows_of_a_table_end_where_other_lines_begin(tmp_path):
    """Zephyr's shell: net mem, kernel heap, a heap of the application, and what modules log."""
    look = """uart:~$ net mem
Address\t\tTotal\tAvail\tMaxUsed\tName
0x20012c08\t48\t9\t41\tRX DATA (rx_bufs)
uart:~$ kernel heap
free:           {free}
allocated:      {used}
max. allocated: 7480
uart:~$ app heap json_heap
json_heap: free {own} B, in use {less} B, most in use 3120 B, of 4 KiB
[01:4{n}:44.000,000] <dbg> json: encoded 1103 bytes, 2048 free in line buffer
[01:4{n}:44.100,000] <inf> coap_up: block 34 of 61 acknowledged
[01:4{n}:44.200,000] <inf> meter: frame 729 ok, crc 0x5f2f
[01:4{n}:44.300,000] <inf> fetch: got 47207 bytes, free slots 3
"""
    file = tmp_path / "console.txt"
    file.write_text(
        "".join(
            look.format(n=n, free=648 - 8 * n, used=7464 + 8 * n, own=3512 - n, less=584 + n)
            for n in range(4)
        )
    )
    log = read_log(file)
    found = {one.name: (one.states[-1].free, one.unit) for one in (log, *log.other_heaps)}
    assert found == {
        "RX DATA rx_bufs": (9, "buffers"),
        "kernel heap": (624, "B"),
        "heap json_heap": (3509, "B"),
    }


@pytest.mark.parametrize("name", POOLS)
def test_the_pool_that_ran_dry_is_named_with_its_setting(tmp_path, name):
    text, told = POOLS[name].values()
    (tmp_path / "device.log").write_text(text)
    shown = call_heapfit("forecast", str(tmp_path / "device.log")).stdout
    assert told in " ".join(shown.split())


# What lines that were cut leave in one of 60 states of lwIP's pools.
CUT = {
    "the next pool's name": "\terr: 0\nMEM TCP_SEG\n",
    "half of a name": "_SEG",
    "an end of a line": "il: 5\n\tused: 3\n\tma",
    "the size": "\tavail: 16\n",
}


@pytest.mark.parametrize("cut", CUT)
def test_a_line_that_was_cut_makes_no_heap_and_no_dry_pool(tmp_path, cut):
    state = "MEM TCP_PCB\n\tavail: 5\n\tused: 3\n\tmax: 4\n\terr: 0\n"
    state += "MEM TCP_SEG\n\tavail: 16\n\tused: 3\n\tmax: 9\n\terr: 0\n"
    torn = state.replace(CUT[cut], "", 1)
    assert torn != state
    (tmp_path / "device.log").write_text(40 * state + torn + 19 * state)
    log = read_log(tmp_path / "device.log")
    pools = (log, *log.other_heaps)
    assert {one.name: one.is_dry for one in pools} == {"TCP_PCB": False, "TCP_SEG": False}
    assert {one.region for one in pools} == {5, 16}


@pytest.mark.parametrize("text", FAILURES)
def test_a_failed_request_in_its_own_line_says_why(tmp_path, text):
    (tmp_path / "device.log").write_text(text + "\n")
    shown = call_heapfit("forecast", str(tmp_path / "device.log")).stdout
    assert FAILURES[text] in " ".join(shown.split())


def test_former_boots_that_ended_low_tell_when_the_last_one_does(tmp_path):
    lines = [
        f"{'rst:0x1 (POWERON_RESET)' * (i == 0)}\n({60 * i}.000000) free heap: {90_000 - 900 * i}"
        for length in (91, 95, 99, 20)
        for i in range(length)
    ]
    file = tmp_path / "device.log"
    file.write_text("\n".join(lines).replace("(", "[").replace(")", "]"))
    seen = find_outlook(read_log(file))
    assert seen.lives == [5400, 5640, 5880]
    shown = " ".join(call_heapfit("forecast", str(file)).stdout.split())
    assert (
        "3 boots before ended low in memory, after 90 min to 98 min. The last one has run 19 min: "
        "71 min to 79 min are left if it ends as they did, as 50.0 % of such boots do." in shown
    )
    file.write_text(file.read_text().replace("free heap: 9000\n", "free heap: 60000\n"))
    assert find_outlook(read_log(file)).lives == []  # the first boot did not end low


STARTS = {
    "MPY: soft reboot": 3,
    "main(): This is RIOT! (Version: 2024.01)": 3,
    "[INFO: Main      ] Starting Contiki-NG-release/v4.9": 3,
    "[I][app:029]: Running through setup()...": 3,
    "Reset reason: brownout": 3,
    "booting firmware 4.2.1, reset cause WATCHDOG": 3,
    "booting 3 of 4 nodes": 1,
    "2026-07-06 13:26:31 | Reset reason: watchdog": 3,
    "2026-07-06 13:26:31 | *** Gateway gestartet, Grund: Watchdog ***": 3,
    "== REBOOT ==": 3,
    "System started.": 3,
    "Restart by watchdog": 3,
    "reset: NRST pin": 3,
    "  reset = POR": 3,
    "Reset by IWDG": 3,
    "reset: counters": 1,
    "reset: 4 users": 1,
    "heap free 9000, reset reason 4": 1,  # a line of state
    "| Reset reason | 3 |": 1,
    "Node started 3 of 4 services": 1,
    "Restarting WiFi": 1,
    "MQTT started": 1,
}


@pytest.mark.parametrize("said", STARTS)
def test_a_start_of_the_device_is_known_by_its_words(tmp_path, said):
    (tmp_path / "device.log").write_text(
        f"{said}\n" + f"free heap: 9000\n{said}\n" * 2 + "free heap: 8000\n"
    )
    assert read_log(tmp_path / "device.log").boots == STARTS[said]


# Counts before 60 states: seconds that NTP sets late, numbers of threads, and a clock of 32 bits
# that begins again between two states. With the clock, and from the first state to the last.
COUNTS = {
    "[{} ]": (lambda i: (864_012 if i < 30 else 1_764_495_000) + 60 * i, Clock.DATE, 3540),
    "[{}.5]": (lambda i: (12 if i < 30 else 1_764_495_000) + 60 * i, Clock.DATE, 3540),
    "[{}]": (lambda i: 1_764_495_000 + 60 * i, Clock.DATE, 3540),
    "[{}] ": (lambda i: 1_434_567_890 + 0 * i, None, None),
    " [{}]": (lambda i: (1_434_567_890, 1_434_571_000, 1_434_999_999)[i * i % 7 % 3], None, None),
    "{} us:": (lambda i: 7_200_000_000 * i % 2**32, None, None),
    "({} us)": (lambda i: 3_000_000_000 * i % 2**32, None, None),
    "  [{}]": (lambda i: 7_200_000_000 * i % 2**32, None, None),
    "{}us ": (lambda i: 60_000_000 * i % 2**32, Clock.UPTIME, 3540),
    "[0] a\n[1] b\n[2] c\n[3] d\n[{}]": (lambda i: 1_764_495_000 + 60 * i, Clock.DATE, 3540),
    "35 ms\n12 s\n[{}] ": (lambda i: 500_000 + 60_000 * i, Clock.UPTIME, 3540),
    "=== 2026-03-01 ===\n2026-03-01 10:{}:00 ": (lambda i: f"{i:02}", Clock.DATE, 3540),
}


@pytest.mark.parametrize("form", COUNTS)
def test_all_counts_of_a_log_tell_what_they_are(tmp_path, form):
    at, clock, span = COUNTS[form]
    lines = [f"{form.format(at(i))} free heap {FIRST - STEP * i}" for i in range(STATES)]
    (tmp_path / "device.log").write_text("\n".join(lines))
    log = read_log(tmp_path / "device.log")
    assert (log.clock, log.boots, len(log.states)) == (clock, 1, STATES)
    assert clock is None or log.states[-1].seconds - log.states[0].seconds == span
    assert any("begins again" in one for one in log.notes) == (float(at(1)) > 2**31)


# What stands above rows without a time of their own, and the clock that it tells.
ABOVE = {
    "=== 2026-03-01 10:{i:02}:00 ===": Clock.DATE,
    "Sun Mar  1 10:{i:02}:00 UTC 2026": Clock.DATE,
    "I ({i}0000) mem: pools": Clock.UPTIME,
    "[10:{i:02}:00] pools": Clock.DAY,
    "build of 2026": None,
}


@pytest.mark.parametrize("above", ABOVE)
def test_rows_have_the_time_of_the_line_above(tmp_path, above):
    rows = "pool  total  used  free\nsmall  100  {used}  {left}\nlarge  20  5  15\n"
    lines = [
        above.format(i=i) + "\n" + rows.format(used=10 + i, left=90 - i) for i in range(STATES)
    ]
    (tmp_path / "device.log").write_text("".join(lines))
    log = read_log(tmp_path / "device.log")
    for heap, last in zip((log, *log.other_heaps), (90 - STATES + 1, 15), strict=True):
        assert (heap.clock, len(heap.states), heap.states[-1].free) == (ABOVE[above], STATES, last)
    step = 10 if ABOVE[above] is Clock.UPTIME else 60
    times = [one.seconds and one.seconds - log.states[0].seconds for one in log.states[1:]]
    assert times == [step * i if ABOVE[above] else None for i in range(1, STATES)]
    assert log.boots == 1
    (tmp_path / "device.log").write_text(lines[0] + rows.format(used=11, left=89) * 9)
    assert read_log(tmp_path / "device.log").clock is None  # one line tells no time of ten rows


# What Linux prints of a machine whose cache fills and whose memory leaks: bytes at last.
LINUX = {
    "free": (
        "              total        used        free      shared  buff/cache   available\n"
        "Mem:        3884352     1000000   {cache}     10000     2684352     {f}\nSwap:   0   0  0",
        1024,
    ),
    "free -m": (
        "   total   used   free   shared  buff/cache   available\n"
        "Mem:  3793   900   {cache:.1}   12   2700   {f:.4}\nSwap:   99   0   99",
        2**20,
    ),
    "busybox": (
        "             total       used       free     shared    buffers\n"
        "Mem:       3884352     900000    {f}          0          0",
        1024,
    ),
    "free -h": (
        "   total   used   free   shared  buff/cache   available\n"
        "Mem:   3.7Gi   1.2Gi   {cache:.2}Mi   12Mi   2.3Gi   {f:.4}Mi\nSwap:   0B   0B   0B",
        2**20,
    ),
    "top": (
        "KiB Mem :  3884352 total,  {cache} free,  1000000 used,  2684352 buff/cache\n"
        "KiB Swap:        0 total,  0 free,  0 used.  {f} avail Mem",
        1024,
    ),
    "/proc/meminfo": (
        "MemTotal:  3884352 kB\nMemFree:  {cache} kB\nMemAvailable:  {f} kB\nSwapFree:  9 kB",
        1024,
    ),
}


@pytest.mark.parametrize("name", LINUX)
def test_what_linux_has_free_is_what_is_available(tmp_path, name):
    form, unit = LINUX[name]
    free = [2_599_000 - 1000 * i for i in range(STATES)]
    lines = [
        f"Sun Mar  1 10:{i:02}:00 UTC 2026\n{form.format(cache='90000'[i > 0 :], f=str(one))}\n"
        for i, one in enumerate(free)
    ]
    (tmp_path / "device.log").write_text("".join(lines))
    log = read_log(tmp_path / "device.log")
    assert ("available is read" in log.setting) == (name not in ("busybox", "top"))
    digits = 4 if unit > 1024 else 7
    assert [one.free for one in log.states] == [int(str(one)[:digits]) * unit for one in free]
    assert (log.other_heaps, log.clock) == ([], Clock.DATE)
    assert log.states[-1].seconds - log.states[0].seconds == 3540


def test_free_of_busybox_counts_mib_where_no_linux_has_so_few_kb(tmp_path):
    rows = [
        f"   total   used   free   shared   buffers\nMem:   512   {512 - n}   {n}   0   12\n"
        for n in range(200, 140, -1)
    ]
    (tmp_path / "device.log").write_text("".join(rows))
    log = read_log(tmp_path / "device.log")
    assert (log.states[0].free, log.region) == (200 * 2**20, 512 * 2**20)


def test_tags_are_devices_where_levels_differ(tmp_path):
    """Two rooms by chance in turn; tasks of one device, whose tags are no devices."""
    order = [i * i * 7 % 11 % 2 for i in range(2 * STATES)]
    left = [
        iter(range(41_234, 0, -100)),
        iter(90_000 - 64 * (i % 3) for i in range(2 * STATES)),
    ]
    names = ("kitchen", "garage")
    lines = [f"[{names[which]}] free heap {next(left[which])}" for which in order]
    (tmp_path / "device.log").write_text("\n".join(lines))
    log = read_log(tmp_path / "device.log")
    counts = [order.count(0), order.count(1)]
    assert [len(one.states) for one in (log, *log.other_heaps)] in (counts, counts[::-1])
    found = {one.name: one.states[0].free for one in (log, *log.other_heaps)}
    assert found == {"kitchen heap": 41_234, "garage heap": 90_000}
    assert "garage, kitchen in brackets are taken as devices" in log.notes
    for step, noise in ((100, 0), (0, 900)):
        lines = [
            f"[{('wifi', 'mqtt', 'ui')[i % 3]}] free heap {90_000 - step * i - i * i % 7 * noise}"
            for i in range(STATES)
        ]
        (tmp_path / "device.log").write_text("\n".join(lines))
        log = read_log(tmp_path / "device.log")
        assert (len(log.states), log.other_heaps) == (STATES, [])


@pytest.mark.parametrize("text", ["node 1: heap {} free, node 2: heap 9000 free", "a1 {} free"])
def test_numbers_of_nodes_are_in_their_names(tmp_path, text):
    (tmp_path / "device.log").write_text("\n".join(text.format(800 - i) for i in range(9)))
    log = read_log(tmp_path / "device.log")
    names = [one.name for one in (log, *log.other_heaps)]
    assert names == (["node 1 heap", "node 2 heap"] if "node" in text else ["a1"])


# A request that failed between states of two memories: it was asked of the internal one.
OF_TWO = "watch: IRAM 30000 left (low 28000, chunk 15104) / SPIRAM 7000000 left (chunk 6000000)\n"
ASKED_OF_ONE = {
    "named": ("cloud: no memory for 16717 bytes (internal)", ()),
    "of no name, and one had no room": ("malloc(16717) failed", ()),
    "beside lines as given": ("malloc(16717) failed", ("IRAM {free} left (low {least}",)),
    "in a line as given": (
        "sorry: 16717 too much",
        ("IRAM {free} left (low {least}, chunk {largest})", "sorry: {failed} too"),
    ),
}


def test_a_clock_that_swings_keeps_few_of_its_times():
    """Each fall of a swing is compared with a boot's first times, not with all of them."""
    reader = LineReader()
    reader.read(0, "[1000000000] heap: free=50000")
    tracemalloc.start()
    for i in range(3000):
        reader.read(i + 1, f"[{1_000_000_000 - i % 2 * 500 + i // 2}] heap: free=50000")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reader.boot == 0
    assert kept < 3000 * 8


def test_a_name_that_ends_in_cant_tells_of_no_failure(tmp_path):
    lines = [f"free heap: {9000 - i}\n 7 | 3 | 4096 | 9392 | wpa_supplicant\n" for i in range(3)]
    (tmp_path / "device.log").write_text("".join(lines))
    log = read_log(tmp_path / "device.log")
    assert [(one.free, one.failed) for one in log.states] == [(9000 - i, None) for i in range(3)]


def test_a_block_that_falls_below_a_request_between_two_states_is_why_it_failed(tmp_path):
    lines = [
        f"I ({900_000 * n}) mem: internal {160_000 - 600 * n} B free "
        f"(largest piece {92_000 - 2560 * (n // 2)} B)"
        for n in range(58)
    ]
    lines.append(f"E ({900_000 * 58}) app: could not allocate 19000 bytes for TLS")
    file = tmp_path / "monitor.txt"
    file.write_text("\n".join(lines))
    text = " ".join(describe_failure(find_outlook(read_log(file))))
    assert "the largest block, 20,320 B in the nearest state, falls by up to 2,560 B" in text
    assert "What is free is fragmented." in text


def test_a_leak_that_leaves_one_block_is_no_fragmentation(tmp_path):
    lines = [
        f"I ({900_000 * n}) mem: free heap {20_000 - 300 * n}, largest block {16_000 - 240 * n}"
        for n in range(58)
    ]
    lines.append(f"E ({900_000 * 58}) app: could not allocate 2200 bytes for TLS")
    file = tmp_path / "monitor.txt"
    file.write_text("\n".join(lines))
    text = " ".join(describe_failure(find_outlook(read_log(file))))
    assert "the largest block, 2,320 B in the nearest state, falls by up to 240 B" in text
    assert text.endswith("and was too small.")
    steady = [  # in another region 48,000 B are free all the time, in none a request fits at last
        f"I ({900_000 * n}) mem: free heap {118_000 - 900 * n}, largest block {70_000 - 900 * n}"
        for n in range(59)
    ]
    file.write_text("\n".join([*steady, "E (53100000) app: could not allocate 18100 bytes"]))
    text = " ".join(describe_failure(find_outlook(read_log(file))))
    assert "largest block" in text and "fragmented" not in text


@pytest.mark.parametrize("name", ASKED_OF_ONE)
def test_a_failed_request_is_of_the_memory_that_could_not_serve_it(tmp_path, name):
    text, lines = ASKED_OF_ONE[name]
    (tmp_path / "device.log").write_text(f"{OF_TWO}{text}\n{OF_TWO}")
    first, *others = judge_heaps(read_log(tmp_path / "device.log", lines or None))
    assert [one.failed for one in first.log.states] in ([None, 16_717], [16_717, None])
    assert first.log.states[0].largest == (15_104 if len(lines) != 1 else None)
    assert not any(one.failed for other in others for one in other.log.states)


@pytest.mark.parametrize(
    ("form", "largest"),
    [
        ("ota: free {free}, chunk {i} of 40 written\n", None),
        ("free heap {free} B, sending block {i}\n", None),
        ("free {free} (chunk {half})\n", 70_000),
        ("free {free}, largest free block {i}\n", 9),
    ],
)
def test_the_number_of_a_block_is_no_size(tmp_path, form, largest):
    lines = (form.format(free=180_000 - i, half=70_000, i=9) for i in range(9))
    (tmp_path / "device.log").write_text("".join(lines))
    assert read_log(tmp_path / "device.log").states[-1].largest == largest


# What stands beside the free bytes of a line: the least ever free, and the largest block.
BESIDE = {
    "Heap 135 KB (min 131, largest 68)\nPSRAM free 4000 KB": (131 * 1024, 68 * 1024),
    "free heap 135 KB, min 133700 B, largest 69350": (133_700, 69_350),
    "heap internal=135 min=131 largest=68 psram=4000": (131 * 1024, 68 * 1024),
    "Heap:  free=138700  alloc=188980  max_alloc=193980": (None, None),
    "alloc 900, free 138700, maxAlloc 69350": (None, 69_350),
    "used:  12345 ( 18 %), biggest free:  50000, system free: 138700": (None, 50_000),
}


@pytest.mark.parametrize("line", BESIDE)
def test_what_stands_beside_free_bytes_is_read_in_their_unit(tmp_path, line):
    (tmp_path / "device.log").write_text(f"{line}\n" * 3)
    state = read_log(tmp_path / "device.log").states[-1]
    assert (state.least, state.largest) == BESIDE[line]


# Several heaps in one log: the name of each, and its free bytes at last; the first is answered.
HEAPS = {
    "devices in turn": (
        "dev 0 heap_free {f}\ndev 1 heap_free 80000\n",
        {"dev 0 heap": LAST, "dev 1 heap": 80_000},
    ),
    "headings": (
        "kernel heap:\nfree: {f}\nallocated: {u}\nsystem heap:\nfree: 9000\nallocated: 31000\n",
        {"kernel heap": LAST, "system heap": 9_000},
    ),
    "capabilities in a line": (
        "free PSRAM 4000000, largest 3900000, free internal {f}, largest {l}\n",
        {"internal PSRAM": LAST, "PSRAM": 4_000_000},
    ),
    "digits in words": (
        "heap0 free {f} largest {l}\nheap1 free 9000 largest 80\n",
        {"heap0": LAST, "heap1": 9_000},
    ),
    "paths": (
        '{{"psram":{{"free":4000000}},"internal":{{"free":{f}}}}}\n',
        {"internal": LAST, "PSRAM": 4_000_000},
    ),
    "rows": (
        "name,total,free\nfast,{t},{f}\nslow,90000,80000\n",
        {"fast": LAST, "slow": 80_000},
    ),
    "in one line, the largest block first": (
        "A: largest 90, free 8000 of 9000; pool B: largest {l}, frag 10%, free {f} of {t}\n",
        {"pool B": LAST, "A": 8_000},
    ),
}


@pytest.mark.parametrize("name", HEAPS)
def test_heaps_are_told_apart_and_the_one_that_falls_is_answered(tmp_path, name):
    form, expected = HEAPS[name]
    (tmp_path / "device.log").write_text(print_form(form))
    first, *others = judge_heaps(read_log(tmp_path / "device.log"))
    assert [one.log.states[-1].free for one in (first, *others)] == [*expected.values()]
    assert first.finding is Finding.FALLS
    shown = call_heapfit("forecast", str(tmp_path / "device.log")).stdout
    assert "Other heaps and pools in the log:" in shown


TWO = "HeapA: free 8000 of 9000, largest 90; HeapB: free {f} of {t}, largest {l} (of one moment)\n"
OWN = "{{}}: free {free} of {total}, largest {largest}"
# Descriptions that read both heaps of a line, by its words or by the names that they have.
BOTH = {
    "by own forms": (),
    "a line for each": tuple(OWN.replace("{{}}", name) for name in ("HeapA", "HeapB")),
    "by its memory": (OWN.replace("{{}}", "{memory}"),),
}


@pytest.mark.parametrize("lines", BOTH.values(), ids=BOTH)
def test_two_heaps_of_a_line_are_read_and_the_one_that_falls_is_answered(tmp_path, lines):
    (tmp_path / "device.log").write_text(print_form(TWO))
    first, other = judge_heaps(read_log(tmp_path / "device.log", lines or None))
    assert first.finding is Finding.FALLS
    assert [
        (one.log.name, one.last.free, one.log.region, one.last.largest) for one in (first, other)
    ] == [("HeapB", LAST, TOTAL, LAST // 2), ("HeapA", 8_000, 9_000, 90)]


@pytest.mark.parametrize("line", [OWN.replace("{{}}: ", ""), "HeapB: free {free} of {total},"])
def test_a_heap_beside_the_described_one_is_said_to_be_there(tmp_path, line):
    (tmp_path / "device.log").write_text(print_form(TWO))
    shown = call_heapfit("forecast", str(tmp_path / "device.log"), "--line", line).stderr
    assert "its lines tell of other free bytes, too" in " ".join(shown.split())


def test_a_failed_request_beside_what_is_free_makes_no_other_heap(tmp_path):
    lines = [f"free {9000 - i}" + ", malloc(9999) failed" * (i == 3) for i in range(9)]
    (tmp_path / "device.log").write_text("\n".join(lines) + "\n")
    log = read_log(tmp_path / "device.log", ["free {free}", "malloc({failed})"])
    assert (len(log.states), log.states[3].failed, log.other_heaps) == (9, 9999, [])


# Logs of the corpus: states of the heap that is read, its free bytes at last; None: asked back.
CORPUS = {
    "cases/B1-total-then-free.log": (60, 138_700),
    "cases/B2-free-slash-total.log": (60, 138_700),
    "cases/B4-alloc-free-counts.log": (60, 16_384 - 5_458),
    "cases/B5-used-as-free.log": None,
    "cases/B6-lwip-stats.log": (1, 880),
    "cases/B8-apostrophes.log": (60, 138_700),
    "cases/C1-date-with-dots.log": (60, 138_700),
    "cases/C3-number-of-line.log": (60, 138_700),
    "cases/D1-padded-clock.log": (60, 138_700),
    "cases/D3-three-devices.log": (60, 82_300),
    "cases/D4-two-heaps-equal-words.log": (60, 138_700),
    "cases/E1-colour-then-time.log": (60, 138_700),
    "cases/M1-failed-in-function-name.log": (1, 69_248),
    "cases/O1-blocks-of-16.log": (1, 12_768),
    "cases/P1-table-of-free.log": (40, 343_680),
    "logs/lwip-stats-display.log": (200, 16_384 - 12_348),
    "logs/rt-thread-free.log": (200, 64_903),
    "logs/several-heaps.log": (300, 69_531),
}


@pytest.mark.parametrize("name", CORPUS)
def test_a_log_of_the_corpus_is_read_rightly(name):
    file = Path(os.environ.get("HEAPFIT_CORPUS", "")) / name
    if not file.is_file():
        return  # the forms above are the same
    if CORPUS[name] is None:
        with pytest.raises(HeapfitError, match="free or used bytes"):
            read_log(file)
        return
    log = read_log(file)
    assert (len(log.states), log.states[-1].free) == CORPUS[name]


# A new form is one row: its line, as a user describes it.
ROWS = {
    "heap[{any}] {used:x}h/{total:x}h": ("heap[7] 0240E0h/050000h", 0x50000 - 0x240E0),
    "{time:ms};{memory};{free} KB": ("61000;sram;135 KB", 135 * 1024),
    "at {address} of {size}: {free} left": ("at 0x2000 of 64: 138,700 left", 138_700),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_new_form_is_one_row(tmp_path, row):
    line, free = ROWS[row]
    (tmp_path / "device.log").write_text(f"{line}\n" * 2)
    assert [one.free for one in read_log(tmp_path / "device.log", [row]).states] == [free] * 2


def test_a_described_time_in_ms_passes_what_may_be_seconds_since_1970_and_wraps(tmp_path):
    """An uptime of 16.2 days in ms reads like a date, and after 49.7 days it begins again."""
    hours = range(24 * 60)
    (tmp_path / "log").write_text(
        "".join(f"[{(i * 3_600_000 + 5) % 2**32}] hive: {40_000 - 12 * i} left\n" for i in hours)
    )
    log = read_log(tmp_path / "log", "[{time:ms}] hive: {free} left")
    assert (len(log.states), log.boots, log.clock) == (len(hours), 1, Clock.UPTIME)
    assert log.states[-1].seconds - log.states[0].seconds == pytest.approx(3600 * hours[-1], abs=1)


@pytest.mark.parametrize("text", ["{free}{total}", "free {free}{memory}", "{any}{any}{free}"])
def test_fields_side_by_side_are_refused(text: str) -> None:
    with pytest.raises(HeapfitError, match=r"--line: a blank has to stand behind \{\w+\}$"):
        read_lines_by([text])


@pytest.mark.parametrize(
    "between", [" ", "  ", "1 ", " b", ",", ";", "-", "'", ".", ":", "a", "0x"]
)
def test_no_description_takes_long_on_any_line(between: str) -> None:
    numbers = ("free", "used", "total", "largest", "least", "failed", "memory", "time:s")
    lines = ("1" * 4000, "1 " * 2000, "a" * 4000, "1." * 2000, "111," * 1000, " " * 4000)
    for names in (numbers, numbers[:3], ("any",) * 9 + numbers[:1]):
        try:
            read = read_lines_by([between.join(f"{{{name}}}" for name in names)])
        except HeapfitError:
            continue
        begun = time.process_time()
        for line in lines:
            read(LogLine(line, line, {}, is_start=False))
        assert time.process_time() - begun < 1, names


HOSTILE = {  # drawn ones that took up to 280 us a character
    "{memory}é{any}1{used}${total}\\{free}({time:ms}": "é",
    "x{memory}é{any}1{used}${free}(": "xé",
    "{largest}0{free}é": "0",
    "{free}1{least}*": "1",
    "{any} a {least}, {free}|": " ",
}


@pytest.mark.parametrize("description", HOSTILE)
def test_no_drawn_description_takes_long_on_a_line_made_for_it(description: str) -> None:
    read, line = read_lines_by([description]), (HOSTILE[description] * 4000)[:4000]
    begun = time.process_time()
    for _ in range(5):
        read(LogLine(line, line, {}, is_start=False))
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("text", "length"),
    [*((one, 4000) for one in ("-", "1", "1% ", "1 h ", "free=1 ")), ("1a", 390), ("a.", 390)],
)
def test_no_line_takes_long(tmp_path: Path, text: str, length: int) -> None:
    """Whatever is read of a log and guessed of one in no known form: 10 us a character at most."""
    line = (text * length)[: length - 26] + "=16 0x20001000 malloc\n"
    lines = line * (48_000 // length)
    begun = time.process_time()
    (tmp_path / "device.log").write_text(lines)
    with suppress(HeapfitError):
        read_log(tmp_path / "device.log")
    suggest_own_lines(Path("device.log"), lines.encode())
    assert time.process_time() - begun < 1


@pytest.mark.parametrize("line", ["2026-03-01 =", "begin_", "=", "on ", "2026-03-01 log -"])
def test_no_line_that_may_tell_a_day_takes_long(line: str) -> None:
    reader, text = LineReader(), line + 4000 * line[-1] + "x"
    begun = time.process_time()
    for number in range(20):
        reader.read(number, text)
    assert time.process_time() - begun < 1


def test_a_row_of_numbers_is_read_by_its_commas() -> None:
    (sample,) = read_lines_by(["h {free},{used},{total}"])(
        LogLine("h 100,200,300", "", {}, is_start=False)
    )
    assert [sample.values[field] for field in (Field.FREE, Field.ALLOCATED, Field.TOTAL)] == [
        *(100, 200, 300)
    ]


def test_the_page_has_the_lines_that_begin_a_boot():
    """Each phrase of its list begins one; the sentence below it has one that does not."""
    page = Path(__file__).parents[2] / "docs/evidence/forecast.md"
    text = page.read_text()
    section = text.split("## Lines that begin a boot\n")[1].split("\n## ")[0]
    listed, below = section.split("\n\nAnother line, such as ")
    words = {"reason", "cause"}  # of a start's cause, which alone begin none
    phrases = [one for one in re.findall("`([^`]+)`", listed) if one not in words]
    assert len(phrases) > 20
    assert [one for one in phrases if not begins_boot(one)] == []
    assert not begins_boot(below.split("`")[1])


def begins_boot(line: str) -> bool:
    """True if a line in the midst of a log begins a boot."""
    reader = LineReader()
    reader.read(0, "free heap 100")
    return reader.read(100, line).is_start
