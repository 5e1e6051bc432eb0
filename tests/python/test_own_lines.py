# SPDX-License-Identifier: Apache-2.0
"""Logs in forms of one's own: read by a description, which is found where it is missing."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from own_process import run_alone

from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, OwnLines, import_file
from heapfit.importers.own_lines import guess_own_lines
from heapfit.trace.stored import Trace

# An allocation of 124 bytes, or 1,024, and its free, as people print them.
HOME_MADE = {
    "words": ("alloc: 0x20001000 allocated 124 bytes", "free: 0x20001000 released"),
    "letters": ("M 0x3ffb1234 124", "F 0x3ffb1234"),
    "equals signs": ("=malloc= 0x20000400, 124", "=free= 0x20000400"),
    "bare hexadecimal digits": ("malloc 124 -> 20001f30", "free 20001f30"),
    "signs": ("[MEM] +124 @0x2000a0b0", "[MEM] - @0x2000a0b0"),
    "times": ("12:00:01.123 mem_alloc(124) returned 0x801234", "12:00:02.1 mem_free(0x801234)"),
    "C++": ("new: size=124 ptr=0x55d0c0de task=3", "del: ptr=0x55d0c0de task=3"),
    "ESP-IDF's log": (
        "I (1234) heap: malloc'd 0x3ffb0000 of 124 B",
        "I (9) heap: free'd 0x3ffb0000",
    ),
    "files and lines": (
        "os_malloc:main.c:120: size 124 addr 0x20001234",
        "os_free:m.c:9: addr 0x20001234",
    ),
    "commas": ("ALLOC,0x20001234,124,17", "FREE,0x20001234,18"),
    "a size in hexadecimal": ("<mem> p=0x20001234 sz=0x7c", "</mem> p=0x20001234"),
    "JSON": ('{"op":"alloc","size":124,"ptr":"0x20001234"}', '{"op":"free","ptr":"0x20001234"}'),
    "tabs": ("ALLOC\t0x20001234\t124", "FREE\t0x20001234"),
    "units": ("malloc 124B->20001f30 ok", "free 20001f30 ok"),
    "groups of digits": ("got 1,024 bytes at 0x20001234", "gave 0x20001234"),
    "one size in brackets": ("get(1,024) = 0x20001234", "put(0x20001234)"),
    "logcat": (
        "11-26 12:34:56.7  1234  1235 D Heap    : new 124 bytes 0x20001000",
        "11-26 12:34:57.7  1234  1235 D Heap    : delete 0x20001000",
    ),
    "decimal addresses": ("TRACE 100 A 536875572 124", "TRACE 101 F 536875572"),
}


def put(folder: Path, *lines: str) -> Path:
    path = folder / "own.log"
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path: Path, own: OwnLines) -> list[tuple[int, ...]]:
    trace = import_file(path, path.with_suffix(".parquet"), ImportOptions(own_lines=own))
    names = ("op", "object", "size", "time", "thread", "site")
    return [
        row
        for batch in trace.batches(names)
        for row in zip(*(batch[name].tolist() for name in names), strict=True)
    ]


@pytest.mark.parametrize(("served", "freed"), HOME_MADE.values(), ids=HOME_MADE.keys())
def test_a_form_of_ones_own_is_found_and_then_read(tmp_path, served, freed):
    path = put(tmp_path, "boot v1.2 0x08000000", served, "tick 17", freed)
    guess = guess_own_lines(path.read_bytes())
    assert guess is not None
    assert guess.shown == (served.replace("\t", " "), freed.replace("\t", " "))
    alloc, free = 0, 4
    rows = read(path, guess.own)
    size = 1024 if "1,024" in served else 124
    assert [row[:3] for row in rows] == [(alloc, 0, size), (free, 0, 0)]


@pytest.mark.parametrize(
    ("line", "own", "size"),
    [
        ("got 12,345,678 bytes @0x20001000", "got {size} bytes @{address}", 12_345_678),
        ("got 0x20001000: 1,024", "got {address}: {size}", 1024),
        ("got 16,200,0x20001000", "got {size},200,{address}", 16),
        ("got 0x20001000,16,200 free", "got {address},{size}", 16),
        ("got 16,2000 @0x20001000", "got {size},2000 @{address}", 16),
        ("got(16,200) @0x20001000", "got({any},{size}) @{address}", 200),
    ],
)
def test_groups_of_three_digits_are_one_number_where_no_other_may_follow(tmp_path, line, own, size):
    assert [row[2] for row in read(put(tmp_path, line), OwnLines(own))] == [size]


def test_a_failing_import_shows_lines_like_calls_and_a_command_that_reads_them(tmp_path):
    path = put(tmp_path, "hello", *HOME_MADE["ESP-IDF's log"])
    failed = run_alone("import", path, "-o", tmp_path / "o.parquet")
    assert failed.code == 1
    _, shown, *lines, would, command = failed.told.splitlines()
    assert (shown, would) == ("These lines look like calls:", "This would read them:")
    assert [line.strip() for line in lines] == list(HOME_MADE["ESP-IDF's log"])
    words = shlex.split(command)
    ran = run_alone(*words[1:], "-o", tmp_path / "o.parquet")
    assert (ran.code, (tmp_path / "o.parquet").exists()) == (0, True)


def test_every_field_of_a_line_is_read(tmp_path):
    path = put(
        tmp_path,
        "5 ms 100% t0x2 A 1f @20000010 by 0xabc",
        "7 ms 100% t0x2 R 20000010 to 20000040, 64 B",
        "9 ms  100% F 20000040",
    )
    own = OwnLines(
        "{time:ms} ms 100% t{task} A {size:x} @{address} by {site}",
        "{time:ms} ms 100% F {address}",
        "ms 100% t{task} R {old} to {address}, {size} B",
    )
    alloc, resize, free = 0, 3, 4
    assert read(path, own) == [
        (alloc, 0, 0x1F, 0, 2, 0xABC),
        (resize, 0, 64, 0, 2, 0),
        (free, 0, 0, 4000, 0, 0),
    ]


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (OwnLines("{size} bytes", free="f {address}"), "it needs {address}, as the other lines"),
        (OwnLines("a {size}", free="f {any}"), "it needs {size}"),
        (OwnLines("a {size}", resize="r {size}"), "it needs {old}, the size before"),
        (OwnLines("at {address}"), "it needs {size}"),
        (OwnLines("a {address} {size}", resize="r {address} {size}"), "it needs {old}"),
        (OwnLines("a {bytes} {address}"), '"bytes" is none of address, size'),
        (OwnLines("a {size}{address}"), "words have to stand before {address}"),
        (OwnLines("{any} a {size} {address}"), "words have to stand before {any}"),
        (OwnLines("{address}"), "it has no words"),
        (OwnLines(""), "it has no words"),
        (OwnLines("%a {address} {size}"), "begins with %"),
    ],
)
def test_a_description_that_cannot_be_read_is_refused(tmp_path, own, told):
    with pytest.raises(HeapfitError, match=r"^line ") as refused:
        read(put(tmp_path, "a 1 2"), own)
    assert told in str(refused.value)


# Two blocks of 24 B with one of 100 B between them; then one of the two is freed, and 40 B come.
WITHOUT_ADDRESSES = ("malloc(24)", "malloc(100)", "malloc(24)", "free(24)", "malloc(20)")


@pytest.mark.parametrize(("is_newest", "freed"), [(False, 0), (True, 2)])
def test_without_addresses_a_free_means_one_block_of_its_size(tmp_path, is_newest, freed):
    path = put(tmp_path, *WITHOUT_ADDRESSES, "realloc 100 -> 200", "free(7)", "realloc 0 -> 8")
    own = OwnLines("malloc({size})", "free({size})", "realloc {old} -> {size}", is_newest)
    rows = [row[:3] for row in read(path, own)]
    assert rows[3:6] == [(4, freed, 0), (0, 3, 20), (3, 1, 200)]
    assert rows[6:] == [(0, 4, 8)]  # nothing of 7 B was live


def stored_frees(path: Path) -> list[int]:
    batches = Trace.open(path).batches(("op", "object"))
    rows = (row for one in batches for row in zip(one["op"], one["object"], strict=True))
    return [int(block) for op, block in rows if op == 4]


@pytest.mark.parametrize(
    ("sizes", "needs", "freed"),
    [
        ((24, 24, -24, 48), "128 B if the oldest was, 96 B if the newest was", [0]),
        (
            (100, 24, 8, 24, -100, -24, 132),
            "200 B if the oldest was, 312 B if the newest was",
            [0, 3],
        ),
    ],
)
def test_both_readings_of_a_log_without_addresses_are_told(tmp_path, sizes, needs, freed):
    calls = (f"mem_get({size})" if size > 0 else f"free({-size})" for size in sizes)
    path, output = put(tmp_path, "hello", *calls), tmp_path / "o.parquet"
    suggested = run_alone("import", path, "-o", output)
    command = shlex.split(suggested.told.splitlines()[-1])
    assert command[-4:] == ["--line", "mem_get({size}", "--free", "free({size}"]
    ran = run_alone(*command[1:], "-o", output)
    assert f"heap_4 needs {needs}" in " ".join(ran.told.split())
    assert stored_frees(output) == freed  # of the reading that needs more


@pytest.mark.parametrize(
    "head", [b"", b"hello\n", b"\xff" * 100, b"1" * 70_000, b"0x12345678\n" * 9]
)
def test_text_without_calls_gives_no_guess(head):
    assert guess_own_lines(head) is None
