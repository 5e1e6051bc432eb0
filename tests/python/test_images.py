# SPDX-License-Identifier: Apache-2.0
"""Heaps in memory images: what is shown of them, and what damaged or foreign files are told.

That blocks lie where a program got them is tests/target/test_images.py's.
"""

import gzip
import json
import random
import struct
from pathlib import Path

import pytest
from dumps import END, HEAP, RAM, ROOT, SYMBOLS, elf, heap_4

from heapfit.errors import HeapfitError
from heapfit.images.snapshot import open_snapshot, read_image
from heapfit.results.image import describe_heap
from program import call_heapfit

USED, FREE = True, False
CHUNKS = [(32, USED), (64, USED), (24, FREE), (32, USED), (120, USED), (1024, USED)]
ROOTS = (0, 1, 4)  # chunks 3 and 5 have no reference but 3, by 4


def memory(chunks=CHUNKS, roots=ROOTS) -> bytearray:
    found = heap_4(chunks, roots)
    if chunks is CHUNKS:
        fourth = HEAP + 32 + 64 + 24 + 32 - RAM
        struct.pack_into("<I", found, fourth + 8 + 100, RAM + fourth - 32 + 8 + 3)  # its inside
        found[HEAP - RAM + 8 : HEAP - RAM + 14] = b"hello\0"
    return found


@pytest.fixture
def core(tmp_path: Path) -> Path:
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS, {RAM: bytes(memory())}))
    return path


def shown(*words: object) -> str:
    done = call_heapfit(*words)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def test_a_core_becomes_a_snapshot_that_profile_shows(core, tmp_path):
    snapshot, page = tmp_path / "s.json", tmp_path / "page.html"
    told = shown("import", core, "--program", core, "-o", snapshot)
    assert "FreeRTOS heap_4 (ucHeap), 4,088 B at 0x20000100: 5 blocks live with 1,232 B" in told
    told = shown("profile", snapshot, "--report", page)
    for text in (
        "A request above 2,784 B fails with 2,800 B free, as they lie in 2 holes",
        "0.57 % of them outside the largest",
        "1 live block with 1,016 B: not referenced.",
        "it counts 2,816 B free with headers, as were found",
        f"0x20000100 ###### {10 * '#'}{47 * 'o'}",
        '24 1 24 0 0x20000108 "hello"',
    ):
        assert text in told, text
    assert "not referenced" in page.read_text()
    content = json.loads(shown("profile", snapshot, "--json"))
    (heap,) = content["heaps"]
    lost = [one["address"] for one in heap["blocks"] if not one["is_referenced"]]
    assert lost == [HEAP + 32 + 64 + 24 + 32 + 120 + 8]
    assert heap["damage"] == []
    assert [one["size"] for one in heap["holes"]] == [2784, 16]
    assert (heap["holes"][1]["below"], heap["holes"][1]["above"]) == ("56 B", "24 B")
    assert "Holes, the largest first: hole at bytes below it above it 0x20000610 2,784" in told


def test_two_snapshots_show_what_grew(core, tmp_path):
    later = tmp_path / "later.elf"
    chunks = [(32, USED), *[(64, USED)] * 4, (24, FREE), (32, USED)]
    later.write_bytes(elf(SYMBOLS, {RAM: bytes(memory(chunks, range(6)))}))
    for path in (core, later):
        call_heapfit("import", path, "--program", path, "-o", path.with_suffix(".json"))
    told = shown("profile", core.with_suffix(".json"), later.with_suffix(".json"))
    assert "272 B in later.elf: -960 B and +1 blocks; not referenced: 1 before, 1 now." in told
    assert (
        "What grew, the most bytes first: size blocks bytes more one at begins with "
        "56 4 224 3 0x20000128" in told
    )


@pytest.mark.usefixtures("unmeasured")
def test_a_snapshot_gives_no_size(core, tmp_path):
    snapshot = tmp_path / "s.json"
    read_image(core, core).write(snapshot)
    assert open_snapshot(snapshot) == read_image(core, core)
    done = call_heapfit("fit", snapshot)
    assert done.returncode == 1 and "no size follows" in done.stderr
    told = call_heapfit("import", core, snapshot, core, "--program", core).stderr
    assert "give its file, at most the recorder's log behind it" in told
    told = call_heapfit("import", core).stderr
    assert "heapfit import CORE --program FIRMWARE.elf" in told
    snapshot.write_text(snapshot.read_text().replace('"live"', "7"))
    assert "is a damaged snapshot" in call_heapfit("profile", snapshot).stderr


def test_texts_are_one_row_a_size(tmp_path):
    """Lines of a log that are kept differ, and what grew is how many there are."""
    for name, count in (("before", 2), ("after", 20)):
        ram = heap_4([(56, USED)] * count, range(count))
        for i in range(count):
            struct.pack_into("<16s", ram, HEAP + 56 * i + 8 - RAM, f"line {i} of a log".encode())
        path = tmp_path / name
        path.write_bytes(elf(SYMBOLS, {RAM: bytes(ram)}))
        call_heapfit("import", path, "--program", path, "-o", path.with_suffix(".json"))
    told = shown("profile", tmp_path / "before.json", tmp_path / "after.json")
    assert '48 20 960 18 0x20000108 "line 0 of a log" and 19 other texts' in told


def test_a_block_whose_content_changed_did_not_grow(core, tmp_path):
    """It lies where it lay and has its size, whatever it begins with now."""
    ram = memory()
    struct.pack_into("<II", ram, HEAP + 32 + 8 - RAM, ROOT, 0)  # what began with nothing known
    ram[HEAP + 8 - RAM : HEAP + 14 - RAM] = bytes(6)  # and with a text
    later = tmp_path / "later.elf"
    later.write_bytes(elf(SYMBOLS, {RAM: bytes(ram)}))
    for path in (core, later):
        call_heapfit("import", path, "--program", path, "-o", path.with_suffix(".json"))
    told = shown("profile", core.with_suffix(".json"), later.with_suffix(".json"))
    assert "1,232 B in later.elf: +0 B and +0 blocks; not referenced: 1 before, 1 now." in told
    assert "56 1 56 0 0x20000128 roots" in told and "What grew" not in told


def test_two_dumps_are_imported_one_by_one(core, tmp_path):
    (tmp_path / "later.elf").write_bytes(core.read_bytes())
    done = call_heapfit("import", core, tmp_path / "later.elf", "--program", core)
    assert done.returncode == 1 and "two dumps are imported one by one" in done.stderr


def test_a_pointer_into_the_heap_itself_tells_nothing(tmp_path):
    """All blocks of a list would begin with "ucHeap"."""
    ram = memory()
    struct.pack_into("<I", ram, HEAP + 32 + 8 - RAM, HEAP + 8)
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS, {RAM: bytes(ram)}))
    (heap,) = read_image(path, path).heaps
    assert [one.about for one in heap.pieces("live")] == [
        '"hello"',
        'points to "hello"',
        "",
        "",
        "",
    ]


def test_a_label_of_the_assembler_hides_no_heap(tmp_path):
    """As ".L10", which some linkers keep; what follows its dot is no compiler's number."""
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS | {".L10": (RAM + 64, 0)}, {RAM: bytes(memory())}))
    assert [one.name for one in read_image(path, path).heaps] == ["ucHeap"]


def test_what_an_unread_block_points_to_is_referenced(tmp_path):
    """It may be live, and its header is overwritten: nothing is listed falsely for that."""
    ram = heap_4([(32, USED), (32, USED), (64, USED), (40, USED)], [0, 1])
    struct.pack_into("<IIII", ram, HEAP + 32 - RAM, 0x41414141, 0x41414141, 0, HEAP + 72)
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS, {RAM: bytes(ram)}))
    (heap,) = read_image(path, path).heaps
    assert [(one.span, one.state, one.is_referenced) for one in heap.blocks[1:4]] == [
        (32, "unread", True),
        (64, "live", True),
        (40, "live", False),
    ]
    assert describe_heap(heap)[0].endswith("B free, 32 B unread, which may be live.")


def test_raw_memory_lies_at_an_address(core, tmp_path):
    raw = tmp_path / "ram.bin"
    raw.write_bytes(memory())
    assert read_image(raw, core, RAM).heaps[0].blocks[0].address == HEAP + 8
    raw.with_suffix(".gz").write_bytes(gzip.compress(raw.read_bytes()))
    assert read_image(raw.with_suffix(".gz"), core, RAM).heaps == read_image(raw, core, RAM).heaps
    told = call_heapfit("import", core, "--program", core, "--at", "0x20000000").stderr
    assert "is an ELF core, which says where it lies (without --at)" in told
    told = call_heapfit("import", raw, "--program", core).stderr
    assert "is no ELF core (of raw memory say --at ADDRESS, where it begins)" in told
    for text in (
        ":020000042000DA\n:1000000000000000",
        "S11300007C0802A6900100049421FFF07C6C1B787C8C23783C",
    ):
        raw.write_text(text)
        told = call_heapfit("import", raw, "--program", core, "--at", "0x20000000").stderr
        assert "objcopy -I ihex -O binary FILE RAM.bin, of S-records -I srec" in told
        assert ":02000004HHHH means 0xHHHH0000" in told


def corrupted(at: int, *words: int) -> bytes:
    found = memory()
    struct.pack_into(f"<{len(words)}I", found, at - RAM, *words)
    return bytes(found)


DAMAGED = {
    "a header that is overwritten": (HEAP + 96, (0x41414141, 0x41414141), (HEAP + 96, HEAP + 40)),
    "a size of nothing": (HEAP + 120, (0, 0x80000000), (HEAP + 120, HEAP + 104)),
    "a size beyond the end": (HEAP + 152, (0, 0xFFFFFFF0), (HEAP + 152, HEAP + 128)),
    "a link in a used block": (HEAP + 32, (7,), (HEAP + 32, HEAP + 8)),
    "a free list in a circle": (HEAP + 96, (HEAP + 96,), (HEAP + 96, HEAP + 40)),
    "a free list that leads out": (HEAP + 96, (0x10,), (HEAP + 96, HEAP + 40)),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damage_is_named_with_its_address_and_the_block_before(what, tmp_path):
    at, words, expected = DAMAGED[what]
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS, {RAM: corrupted(at, *words)}))
    (heap,) = read_image(path, path).heaps
    assert [(one.address, one.neighbour) for one in heap.damage] == [expected]
    snapshot = tmp_path / "s.json"
    read_image(path, path).write(snapshot)
    assert f"DAMAGED: what the heap keeps at {expected[0]:#x}" in shown("profile", snapshot)


def test_several_overwritten_headers_are_named(tmp_path):
    """Another alignment has fewer of them, and most of the heap unread."""
    sizes = [32] * 10 + [24 + 8 * (i * 7 % 5) for i in range(30)]
    ram, places = heap_4([(size, USED) for size in sizes]), [HEAP]
    for size in sizes:
        places.append(places[-1] + size)
    for i in (8, 17, 26):
        struct.pack_into("<16s", ram, places[i] - RAM, b"OVERRUN!" * 2)
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS, {RAM: bytes(ram)}))
    (heap,) = read_image(path, path).heaps
    assert [one[:2] for one in heap.damage] == [(places[i], places[i - 1] + 8) for i in (8, 17, 26)]
    assert len(heap.pieces("live")) == 37
    assert [line.startswith("DAMAGED") for line in describe_heap(heap)[:5]] == [0, 1, 1, 1, 0]


@pytest.mark.parametrize("size", [0x140, 0x240])
def test_a_size_that_a_text_one_byte_too_long_cut_is_named(size, tmp_path):
    """Of newlib-nano: what the cut size leads to is no header."""
    sizes, start = [20, 40, size, 28, 60, 36], RAM + 64
    ram, places = bytearray(b"\x81" * 2048), [start]
    for one in sizes:
        struct.pack_into("<I", ram, places[-1] - RAM, one)
        places.append(places[-1] + one)
    ram[places[2] - RAM] = 0
    struct.pack_into("<III", ram, 0, 0, start, places[-1])
    names = ("__malloc_free_list", "__malloc_sbrk_start", "heap_end")
    path = tmp_path / "core.elf"
    symbols = {name: (RAM + 4 * i, 4) for i, name in enumerate(names)}
    path.write_bytes(elf(symbols, {RAM: bytes(ram)}))
    (heap,) = read_image(path, path).heaps
    assert [one[:2] for one in heap.damage] == [(places[2], places[1] + 4)]
    assert [one.span for one in heap.pieces("live")] == [20, 40, 28, 60, 36]


def test_a_protected_heap_4_is_read_by_its_canary(tmp_path):
    """Its links stand xored; all of them are, those of used blocks, too."""
    canary, found, at = 0x5CA1AB1E, memory(), HEAP
    for size in (*(size for size, _ in CHUNKS), 2792):
        (link,) = struct.unpack_from("<I", found, at - RAM)
        struct.pack_into("<I", found, at - RAM, link ^ canary)
        at += size
    struct.pack_into("<I", found, 0, (HEAP + 96) ^ canary)
    struct.pack_into("<I", found, 16, canary)
    path = tmp_path / "core.elf"
    path.write_bytes(elf({**SYMBOLS, "xHeapCanary": (RAM + 16, 4)}, {RAM: bytes(found)}))
    (heap,) = read_image(path, path).heaps
    assert len(heap.pieces("live")) == 5 and heap.damage == heap.assumed == []


def test_a_heap_whose_end_only_a_variable_tells_is_read_to_its_end(tmp_path):
    """Of newlib-nano: not to where another variable points, and without it as far as chunks go."""
    found, start = bytearray(512), RAM + 64
    sizes = [20, 40, 12, 100]
    at = start
    for size in sizes:
        struct.pack_into("<I", found, at - RAM, size)
        at += size
    names = {"__malloc_free_list": RAM, "__malloc_sbrk_start": RAM + 4, "heap_end": RAM + 8}
    struct.pack_into("<IIII", found, 0, start + 20, start, at, start + 4)
    symbols = {name: (address, 4) for name, address in names.items()}
    for more, confirmed in (({"heap_top": (RAM + 12, 4)}, "heap_end says where it ends"), ({}, "")):
        path = tmp_path / "core.elf"
        given = symbols | more if more else {name: symbols[name] for name in list(symbols)[:2]}
        path.write_bytes(elf(given, {RAM: bytes(found)}))
        (heap,) = read_image(path, path).heaps
        assert [(one.span, one.state) for one in heap.blocks] == [
            (size, "free" if size == 40 else "live") for size in sizes
        ]
        assert heap.confirmed == ([confirmed] if confirmed else [])
        assert heap.assumed == ([] if confirmed else ["where it ends"])
    found[start + 20 - RAM : start + 28 - RAM] = b"overruns"
    path.write_bytes(elf(symbols, {RAM: bytes(found)}))
    (heap,) = read_image(path, path).heaps
    assert heap.end == at and [one.neighbour for one in heap.damage] == [start + 8]


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        # sizes, and the number of the chunk that the first word links to; -1: the list's end
        ([(20, 9), (24, 3), (16, 9), (40, 5), (12, -1), (28, -1), (60, 9)], {1, 3, 5}),
        ([(8, 9), (24, 3), (16, 9), (40, 5), (12, -1), (28, 7), (60, 9), (32, -1)], {1, 3, 5, 7}),
        # what begins with an old link lies beside the chunk that it leads to, or leads back
        ([(20, 9), (24, 4), (12, 9), (16, 4), (40, 6), (12, 4), (28, -1), (60, 4)], {1, 4, 6}),
        # one alone may be a block that begins with 0
        ([(20, 9), (24, 3), (16, 9), (40, -1), (12, 9)], {1}),
    ],
)
def test_free_blocks_behind_a_lost_link_are_told_by_their_own(chunks, said, tmp_path):
    """Of newlib-nano; the first chunk that links has both words overwritten."""
    ram, start = bytearray(512), RAM + 64
    places = [start + sum(size for size, _ in chunks[:i]) for i in range(len(chunks) + 1)]
    for (size, link), at in zip(chunks, places, strict=False):
        word = {-1: 0, 9: 0x8A898887}.get(link) or places[link] * (link >= 0)
        struct.pack_into("<II", ram, at - RAM, size, word)
    victim = min(said)
    struct.pack_into("<8s", ram, places[victim] - RAM, b"OVERRUN!")
    struct.pack_into("<III", ram, 0, places[victim], start, places[-1])
    names = ("__malloc_free_list", "__malloc_sbrk_start", "heap_end")
    path = tmp_path / "core.elf"
    symbols = {name: (RAM + 4 * i, 4) for i, name in enumerate(names)}
    path.write_bytes(elf(symbols, {RAM: bytes(ram)}))
    (heap,) = read_image(path, path).heaps
    states = dict.fromkeys(range(len(chunks)), "live") | dict.fromkeys(said, "free")
    assert [one.state for one in heap.blocks] == [*(states | {victim: "unread"}).values()]
    assert [one.address for one in heap.damage] == [places[victim]]


def test_a_chunk_of_heap_4_may_be_smaller_than_one_that_is_split(tmp_path):
    """At 4 B a request of 1 B is 12: a free chunk of 16 serves it whole, one of 24 is split."""
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS, {RAM: bytes(heap_4([(12, USED), (20, USED), (16, False)]))}))
    (heap,) = read_image(path, path).heaps
    assert [one.span for one in heap.pieces("live")] == [12, 20] and heap.damage == []


@pytest.mark.parametrize(("count", "size", "block"), [(12, 48, 16), (3, 48, 8), (12, 64, 32)])
def test_sizes_of_many_chunks_show_the_alignment_of_a_heap_4(count, size, block, tmp_path):
    """No DWARF tells it here, and few chunks may have such sizes by chance."""
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS, {RAM: bytes(heap_4([(size, USED)] * count))}))
    (heap,) = read_image(path, path).heaps
    assert [one.address - one.chunk for one in heap.pieces("live")] == [block] * count


@pytest.mark.parametrize("guards", [0, 16])
@pytest.mark.parametrize(("width", "word"), [(2, "H"), (4, "I")])
@pytest.mark.parametrize("align", [1, 2, 4, 8, 16])
def test_a_heap_of_lwip_is_read_whatever_its_options(align, width, word, guards, tmp_path):
    """MEM_ALIGNMENT, the width of mem_size_t and MEM_OVERFLOW_CHECK, of which no DWARF tells."""
    start, end, at, before, live = 0x100, 0xE00, 0, 0, []
    found = bytearray(start + end + 64)
    for size in (*(random.Random(i).randint(1, 90) for i in range(24)), 0):
        block = at + -(-(4 if guards else 3) * width // align) * align + guards
        after = block + -(-max(size, 12) // align) * align + guards if size else end
        struct.pack_into(f"<2{word}B", found, start + at, after, before, size > 0)
        if size > 0:
            live.append(RAM + start + block)
        if size > 0 and guards:
            struct.pack_into(f"<{word}", found, start + at + 3 * width, size)
            for guard in (start + block - guards, start + block + size):
                found[guard : guard + guards] = b"\xcd" * guards
        at, before = after, at
    struct.pack_into("<III", found, 0, RAM + start, RAM + start + end, RAM + start + before)
    names = {name: (RAM + 4 * i, 4) for i, name in enumerate(("ram", "ram_end", "lfree"))}
    path = tmp_path / "core.elf"
    path.write_bytes(elf(names, {RAM: bytes(found)}))
    (heap,) = read_image(path, path).heaps
    assert [one.address for one in heap.pieces("live")] == live
    assert heap.damage == heap.assumed == []


def test_of_a_dump_that_was_cut_the_rest_is_no_damage(tmp_path):
    path = tmp_path / "core.elf"
    path.write_bytes(elf(SYMBOLS, {RAM: bytes(memory())[: HEAP - RAM + 124]}))
    (heap,) = read_image(path, path).heaps
    assert [one.span for one in heap.pieces("live")] == [32, 64]
    assert heap.damage == [] and heap.blocks[-1].state == "unread"
    assert "a lost link" in heap.assumed[0]


def test_a_recording_has_no_later_one(core, tmp_path):
    trace = tmp_path / "run.heap"
    trace.write_text("a 1 8\nf 1\n")
    said = call_heapfit("profile", trace, core).stderr
    assert "LATER has no effect here: it is of snapshots of dumped heaps" in said
    assert f"heapfit check {core} --base {trace}" in said


NOT_HELD = {
    r"heapfit's sized \(app_heap_of_sized_8\): is of another build, or its first words are": elf(
        {"app_heap_of_sized_8": (RAM + 4, 4), "app_heap_region": (RAM, 64)},
        {RAM: struct.pack("<16I", RAM + 8, RAM + 8, *range(14))},
    ),
    "was not used yet": elf(SYMBOLS, {RAM: bytes(0x1200)}),
    "0x20000008 was not captured": elf(SYMBOLS, {RAM + 0x100: bytes(64)}),
    "has the symbols of none": elf({"main": (RAM, 4)}, {RAM: bytes(64)}),
    "has no symbols": elf({}, {RAM: bytes(64)}),
    "CONFIG_DEBUG_COREDUMP_MEMORY_DUMP_LINKER_RAM captures it": elf(
        {"sys_heap_alloc": (8, 4), "_system_heap": (RAM + 64, 12)}, {RAM: bytes(64)}
    ),
    # as ESP-IDF dumps by default: the stacks of tasks, which no symbol leads to
    r"registered_heaps\): 0x3fc8bbb0 was not captured \(CONFIG_ESP_COREDUMP_CAPTURE_DRAM": elf(
        {"registered_heaps": (0x3FC8BBB0, 4)}, {0x3FC8EC30: bytes(340), 0x3FC8E9D0: bytes(592)}
    ),
    "CONFIG_ESP_COREDUMP_CAPTURE_DRAM": elf(
        {"registered_heaps": (RAM, 4)}, {RAM: struct.pack("<I12I", RAM + 4, *[0x3FC00000] * 12)}
    ),
    "is empty, damaged or no ELF file": b"\x7fELF\1\1\1" + bytes(40),
    "damaged or no ELF file": elf(SYMBOLS, {RAM: bytes(64)}).replace(b"CORE\0\0\0\0", b"CORE" * 2),
}


@pytest.mark.parametrize("told", NOT_HELD)
def test_a_dump_without_a_heap_is_told_why(told, tmp_path):
    path = tmp_path / "core.elf"
    path.write_bytes(NOT_HELD[told])
    with pytest.raises(HeapfitError, match=told):
        read_image(path, path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"===== CORE DUMP START =====\nAAAA\n", "is a core dump of ESP-IDF as text"),
        (b"tCQAAAIBAAAAAAAAAAAAAAAAAAAsAQAA\nf0VMRgEBAQAAAAAA\nAAAAAA==\n", "of ESP-IDF as text"),
        (b"a line of the boot\n" * 999 + b"uart: #CD:BEGIN#\n", "is a core dump of Zephyr as text"),
        (bytes(24) + b"\x7fELF" + bytes(60), "--core-format raw --save-core"),
    ],
)
def test_a_dump_in_a_systems_own_form_is_named_with_its_converter(content, told, core, tmp_path):
    path = tmp_path / "dump"
    path.write_bytes(content)
    done = call_heapfit("import", path, "--program", core)
    assert done.returncode == 1 and told in done.stderr


def of_zephyr(memory: dict[int, bytes]) -> bytes:
    """A core dump in Zephyr's own form, which has registers and threads beside memory."""
    parts = [b"ZE" + struct.pack("<HHBBI", 2, 3, 5, 0, 4)]
    parts += [kind + struct.pack("<HH", 1, 68) + bytes(68) for kind in (b"A", b"T")]
    for at, data in memory.items():
        parts += [b"M" + struct.pack("<HII", 1, at, at + len(data)), data]
    return b"".join(parts)


def printed(content: bytes) -> bytes:
    """The same as a log has it, with what each backend puts around it."""
    lines = [
        f"[00:00:01.1] <err> coredump: #CD:{content[i : i + 32].hex()}\x1b[0m".encode()
        for i in range(0, len(content), 32)
    ]
    return b"\r\n".join([b"*** Booting ***", b"E: #CD:BEGIN#", *lines, b"E: #CD:END#", b""])


@pytest.mark.parametrize("write", [bytes, printed, lambda content: gzip.compress(printed(content))])
def test_zephyrs_own_form_is_read(write, core, tmp_path):
    path = tmp_path / "coredump.bin"
    path.write_bytes(write(of_zephyr({RAM + 0x800: bytes(4), RAM: bytes(memory())})))
    assert read_image(path, core).heaps == read_image(core, core).heaps


def test_zephyrs_smallest_dump_is_told_which_setting_captures_the_heap(tmp_path):
    """MIN has the thread that failed and its stack."""
    program, path = tmp_path / "zephyr.elf", tmp_path / "coredump.bin"
    symbols = {"sys_heap_alloc": (8, 4), "_system_heap": (RAM + 64, 12)}
    program.write_bytes(elf(symbols, {RAM: bytes(128)}))
    path.write_bytes(of_zephyr({RAM + 0x1000: bytes(144), RAM + 0x2000: bytes(1024)}))
    with pytest.raises(HeapfitError) as told:
        read_image(path, program)
    assert str(told.value) == (
        f"{path}: holds no heap: Zephyr's sys_heap (_system_heap): 0x20000040 was not captured "
        "(CONFIG_DEBUG_COREDUMP_MEMORY_DUMP_LINKER_RAM captures it)"
    )


def test_what_a_dump_should_have_and_has_not_is_said(core, tmp_path):
    """A cut file; raw memory without some of the program's variables."""
    content, path = core.read_bytes(), tmp_path / "cut"
    behind = content.index(bytes(memory())) + HEAP - RAM + 100
    path.write_bytes(content[:behind])
    lost = END - 100
    told = f"{lost:,} B of data and bss were not captured: blocks may be referenced from there"
    assert read_image(path, core).notes == (f"cut is cut: {lost:,} B of memory are missing", told)
    path.write_bytes(of_zephyr({RAM: bytes(memory())})[: -END + 100])
    assert read_image(path, core).notes == (f"cut is cut: {lost:,} B of memory are missing", told)
    path.write_bytes(bytes(memory())[: HEAP - RAM + 100])
    assert read_image(path, core, RAM).notes == (told,)
    assert read_image(core, core).notes == ()


@pytest.mark.parametrize(
    ("machine", "register", "below"),
    [(40, 13, False), (243, 2, False), (3, 15, False), (94, 65, True)],
)
def test_a_stack_holds_references_above_its_pointer(machine, register, below, tmp_path):
    """Of Arm, RISC-V, x86. Of Xtensa, whose windows no register tells, all memory is searched."""
    stack, blocks = bytearray(64), [HEAP + 8, HEAP + 40]
    struct.pack_into("<I", stack, 4, blocks[0])  # left below the pointer
    struct.pack_into("<I", stack, 40, blocks[1])
    registers = [0] * 18
    registers[register % 18] = RAM + 0x4000 + 32
    path = tmp_path / "core.elf"
    spans = {RAM: bytes(heap_4([(32, USED), (64, USED)])), RAM + 0x4000: bytes(stack)}
    path.write_bytes(elf(SYMBOLS, spans, registers, machine))
    (heap,) = read_image(path, path).heaps
    assert [one.is_referenced for one in heap.pieces("live")] == [below, True]


@pytest.mark.parametrize("word", [b"AAAA", bytes(4)])
def test_a_link_between_regions_that_is_overwritten_is_named(word, tmp_path):
    """Of heap_5, whose list of free blocks goes through all regions to the end of the last."""
    ram, first, second = bytearray(0x400), RAM + 0x100, RAM + 0x200
    pieces = [  # address, link, size and flag
        (first, 0, 32 | 1 << 31), (first + 32, first + 72, 40), (first + 72, second + 24, 0),
        (second, 0, 24 | 1 << 31), (second + 24, second + 96, 40),
        (second + 64, 0, 32 | 1 << 31), (second + 96, 0, 0),
    ]  # fmt: skip
    for at, link, size in pieces:
        struct.pack_into("<II", ram, at - RAM, link, size)
    struct.pack_into("<5I", ram, 0, first + 32, 0, second + 96, 0, 0)
    struct.pack_into("<6I", ram, 0x40, first, 80, second, 104, 0, 0)
    names = {"xStart": RAM, "pxEnd": RAM + 8, "xHeapRegions": RAM + 0x40}
    symbols = {name: (at, 8) for name, at in names.items()} | {"vPortDefineHeapRegions": (8, 4)}
    path, found = tmp_path / "core.elf", []
    for torn in (0, second + 24, first + 32):
        changed = bytearray(ram)
        if torn:
            changed[torn - RAM : torn - RAM + 4] = word
        path.write_bytes(elf(symbols, {RAM: bytes(changed)}))
        heaps = read_image(path, path).heaps
        found.append([one[:2] for heap in heaps for one in heap.damage])
        assert [len(heap.pieces("live")) for heap in heaps] == [1, 2]
    assert found == [[], [(second + 24, second + 8)], [(first + 32, first + 8)]]


@pytest.mark.parametrize("is_own", [False, True])
def test_mutated_images_end_in_a_snapshot_or_a_sentence(is_own, core, tmp_path):
    """In small; tests/fuzz has more."""
    content = of_zephyr({RAM: bytes(memory())}) if is_own else core.read_bytes()
    path, draw = tmp_path / "mutated", random.Random(4)
    for _ in range(300):
        mutated = bytearray(content)
        for _ in range(draw.randint(1, 6)):
            at = draw.randrange(len(mutated) - 4)
            word = draw.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, HEAP + 8, draw.randrange(1 << 32)))
            struct.pack_into("<I", mutated, at, word)
        path.write_bytes(mutated[: draw.choice((len(mutated), draw.randrange(len(mutated))))])
        try:
            for heap in read_image(path, core if is_own else path).heaps:
                assert sum(one.span for one in heap.blocks) == heap.end - heap.start
        except HeapfitError as error:
            assert str(error).count("\n") == 0


def test_an_old_header_behind_damage_is_no_block(tmp_path):
    """One that was left in a block leads on as well as the true next one, but no list has it."""
    ram = heap_4([(64, USED), (256, USED), (48, USED), (64, FREE), (40, USED)])
    block = HEAP + 64
    for old, size in ((32, 224), (80, 176 + 48)):
        struct.pack_into("<II", ram, block + old - RAM, 0, size)
    struct.pack_into("<8s", ram, block - RAM, b"OVERRUN!")
    (tmp_path / "core.elf").write_bytes(elf(SYMBOLS, {RAM: bytes(ram)}))
    (heap,) = read_image(tmp_path / "core.elf", tmp_path / "core.elf").heaps
    assert [(one.chunk, one.span, one.state) for one in heap.blocks[:4]] == [
        (HEAP, 64, "live"),
        (block, 256, "unread"),
        (block + 256, 48, "live"),
        (block + 304, 64, "free"),
    ]
