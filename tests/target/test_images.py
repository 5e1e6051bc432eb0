# SPDX-License-Identifier: Apache-2.0
"""Heaps read out of dumps of an emulated board, compared with what its program printed.

The C libraries and heapfit's allocators are themselves; heap_4, mem, sys_heap and multi_heap are
stand-ins that we wrote after their published layouts, since their sources are not ours to keep.
"""

import json
import re
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from test_generated_malloc import PLAN
from test_recorder_adapters import REENTRANT

from harness import sources
from harness.board import CORTEX_M3
from harness.image import Image
from heapfit.external_tool import run
from heapfit.generate import generate
from heapfit.images.snapshot import Snapshot, read_image
from heapfit.images.walk import DumpedHeap
from heapfit.plan.plan_file import load_plan

HERE = Path(__file__).parent / "images"
RAM, RAM_SIZE = 0x20000000, 0x1010000  # with the start of the region's memory
MOMENTS = {"s": "after the start-up", "p": "at the peak", "r": "after a refusal"}
LINES = re.compile(r"^([afrl]) ([0-9a-f]{8}) ([0-9a-f]{8})$", re.MULTILINE)


@dataclass(frozen=True)
class Truth:
    """What the program printed until it stopped."""

    live: dict[int, int]  # address and requested size
    lost: set[int]
    refused: int


def board_image(folder: Path, *options: str | Path) -> Image:
    here, made = sources.root(), folder / "board.elf"
    board = ("recording/sbrk", "board/start_arm", "board/start", "board/semihost")
    run(
        [
            *("arm-none-eabi-gcc", *CORTEX_M3.flags, "-std=c11", "-Os", "-g"),
            *(f"-I{here / 'target'}", f"-I{HERE}", HERE / "board.c"),
            *(here / f"target/{name}.c" for name in board),
            *("-nostartfiles", f"-L{here}/target/board", f"-T{CORTEX_M3.memories}"),
            *("-Wl,--no-warn-rwx-segments", *options, "-o", made),
        ],
        folder,
    )
    return Image(made, CORTEX_M3)


def libc_image(folder: Path, *options: str) -> Image:
    return board_image(folder, "-DHEAP_IS_LIBC", *options)


def stand_in_image(folder: Path, name: str, *options: str) -> Image:
    return board_image(folder, HERE / f"{name}.c", *options)


def generated_image(
    folder: Path, plan: str, *options: str, region: int = 16384, alignment: int = 8
) -> Image:
    text = PLAN.replace('"tlsf"', plan).replace("32768", str(region))
    (folder / "plan.toml").write_text(text.replace("ment = 8", f"ment = {alignment}"))
    generate(load_plan(folder / "plan.toml"), folder / "code", "app")
    code = [*(folder / "code").glob("*.c"), *(folder / "code").glob("src/*/*.c")]
    given = (f"-I{folder}/code", '-DHEAP_HEADER="app_heap.h"', "-Wl,--gc-sections", *code)
    return board_image(folder, *given, *options)


def stop(image: Image, moment: str, folder: Path) -> tuple[Path, str]:
    """A dump of the board's memory when the program stops, and what it printed until then."""
    printed, dump, monitor = folder / "printed", folder / "core.elf", folder / "monitor"
    given = {"begin": RAM, "length": RAM_SIZE}
    words = f"arg={image.path.name},arg={moment}"
    emulator = subprocess.Popen(
        [
            *(image.board.emulator, *image.board.machine, "-kernel", image.path),
            *("-chardev", f"file,id=host,path={printed}"),
            *("-semihosting-config", f"enable=on,target=native,chardev=host,{words}"),
            *("-qmp", f"unix:{monitor},server=on,wait=off"),
        ],
        cwd=folder,
    )
    try:
        deadline = time.monotonic() + 100
        while not (printed.exists() and "stopped" in printed.read_text()):
            assert time.monotonic() < deadline and emulator.poll() is None
            time.sleep(0.02)
        ask(monitor, "dump-guest-memory", {"paging": False, "protocol": f"file:{dump}", **given})
        emulator.wait(100)
    finally:
        emulator.kill()
        emulator.wait()
    return dump, printed.read_text()


def ask(monitor: Path, command: str, given: dict[str, object]) -> None:
    """Stops the emulator, has it do something, and ends it."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(monitor))
        lines = connection.makefile("rw")
        for name, words in (("qmp_capabilities", {}), ("stop", {}), (command, given), ("quit", {})):
            lines.write(json.dumps({"execute": name, "arguments": words}) + "\n")
            lines.flush()
            while "return" not in (answer := json.loads(lines.readline())):
                assert "error" not in answer, answer


def truth_of(printed: str) -> Truth:
    live: dict[int, int] = {}
    lost, refused = set(), 0
    for what, first, second in LINES.findall(printed):
        address, size = int(first, 16), int(second, 16)
        if what == "a":
            live[address] = size
        elif what == "f":
            del live[address]
        elif what == "l":
            lost.add(address)
        else:
            refused = address
    return Truth(live, lost, refused)


POOLS = """"class_pools"
alignment = 8
pools = [{ size = 24, count = 12, exact = true }, { size = 128, count = 16, exact = false }]
[plan.shared]
allocator = "tlsf\""""
ONE_POOL = """"class_pools"
alignment = 8
pools = [{ size = 128, count = 16, exact = false }]
[plan.shared]
allocator = "good_fit\""""
PICOLIBC = (
    "--specs=picolibc.specs",
    "-Wl,--defsym=__heap_start=0x20100000,--defsym=__heap_end=0x20108000",
)
# By the heap's title, and what is built otherwise behind a comma.
KINDS: dict[str, Callable[[Path], Image]] = {
    "FreeRTOS heap_4": lambda folder: stand_in_image(folder, "heap_4"),
    "FreeRTOS heap_5": lambda folder: stand_in_image(folder, "heap_4", "-DREGIONS"),
    "newlib's malloc": libc_image,
    "newlib-nano's malloc": lambda folder: libc_image(folder, "--specs=nano.specs"),
    "picolibc's malloc": lambda folder: libc_image(folder, *PICOLIBC),
    "lwIP's mem": lambda folder: stand_in_image(folder, "heap", "-DLWIP"),
    "Zephyr's sys_heap": lambda folder: stand_in_image(folder, "heap", "-DZEPHYR"),
    "ESP-IDF's multi_heap": lambda folder: stand_in_image(folder, "heap", "-DESP_IDF"),
    "ESP-IDF's multi_heap, poisoned": lambda folder: stand_in_image(
        folder, "heap", "-DESP_IDF", "-DPOISONED"
    ),
    **{  # DWARF tells
        f"{title}, of other structs": lambda folder, name=name: stand_in_image(
            folder, "heap", f"-D{name}", "-DMOVED"
        )
        for title, name in (
            ("lwIP's mem", "LWIP"),
            ("Zephyr's sys_heap", "ZEPHYR"),
            ("ESP-IDF's multi_heap", "ESP_IDF"),
        )
    },
    **{
        f"heapfit's {name}": lambda folder, name=name: generated_image(folder, f'"{name}"')
        for name in ("tlsf", "good_fit", "address_first_fit")
    },
    "heapfit's tlsf, unchecked": lambda folder: generated_image(
        folder, '"tlsf"', "-DHFIT_SAFETY=0"
    ),
    "heapfit's address_first_fit, unchecked": lambda folder: generated_image(
        folder, '"address_first_fit"', "-DHFIT_SAFETY=0"
    ),
    "heapfit's first_fit, of wide headers, freed blocks wait": lambda folder: generated_image(
        folder, '"first_fit"\nheader_size = 24', "-DHFIT_SAFETY=3", "-flto"
    ),
    "heapfit's fixed_pool, unchecked, by its free list": lambda folder: generated_image(
        folder, '"fixed_pool"\nblock_size = 300', "-DHFIT_SAFETY=0", region=32768
    ),
    "heapfit's sized, checked, its free chunks and where blocks begin": lambda folder: (
        generated_image(folder, '"sized"', "-DSIZED", "-DHFIT_SAFETY=2", "-flto")
    ),
    "heapfit's pools and heapfit's tlsf": lambda folder: generated_image(folder, POOLS, "-flto"),
    "heapfit's pools and heapfit's good_fit, whose one table is gone": lambda folder: (
        generated_image(folder, ONE_POOL, "-flto")
    ),
    "heapfit's fixed_pool, by its free list": lambda folder: generated_image(
        folder, '"fixed_pool"\nblock_size = 300', "-flto", region=32768
    ),
    **{
        f"heapfit's partition_pool, {kept}": lambda folder, number=number: generated_image(
            folder,
            f'"partition_pool"\npartition_size = 48\nmetadata = {number}',
            "-flto",
            region=15488,  # 320 partitions of two bits: a multiple of 32
        )
        for number, kept in enumerate(("list", "bits"))
    },
    **{
        f"heapfit's tailored, {layout}": lambda folder, number=number: generated_image(
            folder, f'"tailored"\nlayout = {number}', "-flto"
        )
        for number, layout in enumerate(("map", "headers", "pairs"))
    },
}


def heaps_of(snapshot: Snapshot, title: str) -> list[DumpedHeap]:
    wanted = title.partition(",")[0].split(" and ")
    return [one for one in snapshot.heaps if one.title.partition(",")[0] in wanted]


@pytest.mark.parametrize("title", KINDS)
def test_every_live_block_lies_where_the_program_got_it(title: str, tmp_path: Path) -> None:
    """At three moments; what no pointer leads to is what the program lost."""
    image = KINDS[title](tmp_path)
    for moment in MOMENTS:
        folder = tmp_path / moment
        folder.mkdir()
        dump, printed = stop(image, moment, folder)
        truth = truth_of(printed)
        heaps = heaps_of(read_image(dump, image.path), title)
        live = [one for heap in heaps for one in heap.pieces("live")]
        found = {one.address: one.size for one in live}
        for heap in heaps:
            assert heap.damage == [] and heap.confirmed != []
            is_list_alone = "unchecked, by its free list" in title
            assert len(heap.assumed) == is_list_alone, heap.assumed
            assert sum(one.span for one in heap.blocks) == heap.end - heap.start
        assert set(truth.live) <= set(found)
        assert all(truth.live[at] <= found[at] for at in truth.live)
        others = {at: size for at, size in found.items() if at not in truth.live}
        assert len(others) == 0, others
        lost = {one.address for one in live if not one.is_referenced}
        assert lost <= truth.lost and len(truth.lost - lost) <= 1  # an old link may lie in a block
        assert (truth.refused > 0) == (moment == "r")
        if re.search("map|pairs|pools|bits", title):  # bounds apart
            continue
        assert [one for heap in heaps for one in damaged(dump, image.path, heap, title)] == []


@pytest.mark.parametrize(("alignment", "ends"), [(8, 1), (4, 2), (16, 1)])
def test_free_chunks_and_what_is_used_are_told_of_a_heap_without_sizes(
    alignment: int, ends: int, tmp_path: Path
) -> None:
    """Live blocks, of which only their callers know the ends, fill what lies between."""
    image = generated_image(tmp_path, f'"sized"\nends = {ends}', "-DSIZED", alignment=alignment)
    for moment in MOMENTS:
        dump, printed = stop(image, moment, tmp_path)
        (heap,) = read_image(dump, image.path).heaps
        expected: list[list[int]] = []
        for at, size in sorted(truth_of(printed).live.items()):
            end = at + -(-max(size, 8) // alignment) * alignment
            expected = (
                [*expected[:-1], [expected[-1][0], end]]
                if (expected and expected[-1][1] == at)
                else [*expected, [at, end]]
            )
        assert [[one.chunk, one.chunk + one.span] for one in heap.pieces("live")] == expected
        assert heap.damage == [] and len(heap.assumed) == 1 and len(heap.confirmed) == 2
        (tmp_path / "printed").unlink()


def test_blocks_are_named_by_who_asked_for_them(tmp_path: Path) -> None:
    """By the recorder's log of the same run."""
    recorder = sources.root() / "recorder/target"
    parts = ("record", "adapters/one_heap", "adapters/newlib", "sinks/semihosting")
    wraps = ",".join(f"--wrap={one}" for one in REENTRANT)
    image = libc_image(
        tmp_path,
        *("-DRECORDED", "-DHFIT_RECORD_CALL_SITES=1", f"-I{recorder}", f"-Wl,{wraps}"),
        *(str(recorder / f"{part}.c") for part in parts),
    )
    dump, printed = stop(image, "p", tmp_path)
    (heap,) = read_image(dump, image.path, log=tmp_path / "heapfit.frames").heaps
    told = {one.address: one.about.partition(", board.c:")[0] for one in heap.pieces("live")}
    assert Counter(told[at] for at in truth_of(printed).live) == {"start_up": 15, "grow": 40}


HOSTED = """
#include "heap.h"
#include <stdio.h>
extern char __data_start[], _end[];
void *kept[3];
int main(int count, char **words) {
    heap_start();
    for (int i = 0; i < 3 * count; i++) {
        kept[i % 3] = heap_take(40 + 24 * (size_t)i); /* three are kept */
        printf("%p\\n", kept[i % 3]);
    }
    heap_give(kept[1]);
    kept[1] = NULL;
    printf("at %p\\n", (void *)__data_start);
    FILE *file = fopen(words[1], "wb");
    return fwrite(__data_start, 1, (size_t)(_end - __data_start), file) == 0 || fclose(file) != 0;
}
"""


def test_a_heap_4_of_64_bits_is_read(tmp_path: Path) -> None:
    """As FreeRTOS's simulators on POSIX and Windows have it."""
    source, program, dump = tmp_path / "main.c", tmp_path / "program", tmp_path / "raw"
    source.write_text(HOSTED)
    run(["gcc", "-g", f"-I{HERE}", "-no-pie", source, HERE / "heap_4.c", "-o", program], tmp_path)
    *given, (_, at) = (line.split() for line in run([program, dump], tmp_path).splitlines())
    blocks = [int(address, 16) for (address,) in given]
    (heap,) = read_image(dump, program, int(at, 16)).heaps
    assert heap.damage == heap.assumed == []
    assert [one.address for one in heap.pieces("live")] == [*blocks[:4], blocks[5]]
    lost = [one.address for one in heap.pieces("live") if not one.is_referenced]
    assert {*lost} >= {*blocks[1:3]} and not {*lost} & {blocks[3], blocks[5]}


TYPED = """
#include "heap.h"
#include <stdio.h>
#include <string.h>
extern char __data_start[], _end[];
typedef struct { int count; char *name; } entry_t;
typedef entry_t row_t;
struct peer { struct peer *next; int id; };
struct session {
    struct session *next;
    struct { int a; struct peer *peer; } inner;
    entry_t *entries[2];
    void *other;
};
extern struct session *sessions;
struct session *sessions;
static struct { int n; struct peer *peers[3]; } registry;
static struct session *too_small;
static struct peer *grid[2][3];
static struct { char text[300]; struct peer *volatile last; } far_off;
static row_t *row;
static struct peer *row_as_another;
static struct a_name_that_is_longer_than_a_page_has_room_for_it { int a; } *named;
static void *taken(const char *what, size_t size) {
    void *block = heap_take(size);
    memset(block, 0, size);
    printf("%p %s\\n", block, what);
    return block;
}
int main(int count, char **words) {
    heap_start();
    for (int i = 0; i < 2 * count; i++) {
        struct session *one = taken("struct session", sizeof *one);
        one->next = sessions;
        sessions = one;
        one->inner.peer = taken("struct peer", sizeof *one->inner.peer);
        one->entries[i % 2] = taken("entry_t", sizeof *one->entries[0]);
        one->other = taken("", 28);
    }
    registry.peers[2] = taken("struct peer", sizeof *registry.peers[2]);
    registry.peers[2]->next = taken("struct peer", sizeof *registry.peers[2]);
    too_small = taken("", 8);
    grid[1][2] = taken("struct peer", sizeof *grid[1][2]);
    far_off.last = taken("struct peer", sizeof *far_off.last);
    row = taken("entry_t", sizeof *row);
    row_as_another = (void *)row; /* the first pointer names it */
    named = taken("struct a_name_that_is_longer_than_a_page_has_roo", sizeof *named);
    printf("%p at\\n", (void *)__data_start);
    FILE *file = fopen(words[1], "wb");
    return fwrite(__data_start, 1, (size_t)(_end - __data_start), file) == 0 || fclose(file) != 0;
}
"""


def blocks_of(folder: Path, build: str, source: Path) -> list[dict[int, str]]:
    """What live blocks of a built and run program are called, and what it printed they are."""
    program, dump = folder / "program", folder / "raw"
    words = (*build.split(), f"-I{HERE}", "-no-pie", source, "-x", "c", HERE / "heap_4.c")
    run([*words, "-o", program], folder)
    *rows, last = run([program, dump], folder).splitlines()
    (heap,) = read_image(dump, program, int(last.split()[0], 16)).heaps
    expected = {int(at, 16): what for at, _, what in (one.partition(" ") for one in rows)}
    return [{one.address: one.about for one in heap.pieces("live")}, expected]


@pytest.mark.parametrize(
    "build",
    [
        "gcc -gdwarf-5",
        "gcc -gdwarf-4 -m32",
        "gcc -gdwarf-2 -gstrict-dwarf",
        "gcc -g0",
        "clang -gdwarf-5",
    ],
)
def test_blocks_are_named_by_the_type_of_a_pointer_to_them(build: str, tmp_path: Path) -> None:
    """From variables on, by members of structs in structs and of arrays; none without DWARF."""
    (tmp_path / "main.c").write_text(TYPED)
    named, expected = blocks_of(tmp_path, build, tmp_path / "main.c")
    assert named == (dict.fromkeys(expected, "") if "-g0" in build else expected)


def test_a_name_in_dwarf_moves_no_cursor(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(TYPED)
    blocks_of(tmp_path, "gcc -gdwarf-5", tmp_path / "main.c")
    program, dump = tmp_path / "program", tmp_path / "raw"
    *_, last = run([program, dump], tmp_path).splitlines()
    content = program.read_bytes()
    assert content.count(b"\0session\0") == 1
    program.write_bytes(content.replace(b"\0session\0", b"\0\x1b[2Jion\0"))
    (heap,) = read_image(dump, program, int(last.split()[0], 16)).heaps
    named = [one.about for one in heap.pieces("live") if "ion" in one.about]
    assert len(named) == 4 and all(map(str.isprintable, named))


DERIVED = """
extern "C" {
#include "heap.h"
}
#include <stdio.h>
#include <string.h>
extern char __data_start[], _end[];
struct Node { int id; Node *next; };
class Bulk { void *any; public: void keep(void *block) { any = block; } };
class Base { public: Node *link; };
class Task : public Bulk, public Base { public: static Node *all; };
Node *Task::all;
Task task;
static void *taken(const char *what, size_t size) {
    void *block = heap_take(size);
    memset(block, 0, size);
    printf("%p %s\\n", block, what);
    return block;
}
int main(int, char **words) {
    heap_start();
    task.keep(taken("", 48));
    task.link = (Node *)taken("struct Node", sizeof(Node));
    Task::all = (Node *)taken("struct Node", sizeof(Node));
    printf("%p at\\n", (void *)__data_start);
    FILE *file = fopen(words[1], "wb");
    return fwrite(__data_start, 1, (size_t)(_end - __data_start), file) == 0 || fclose(file) != 0;
}
"""


@pytest.mark.parametrize("build", ["g++ -gdwarf-5", "g++ -gdwarf-4", "clang++ -gdwarf-4"])
def test_a_base_class_has_pointers_and_a_static_member_none_in_the_object(
    build: str, tmp_path: Path
) -> None:
    (tmp_path / "main.cpp").write_text(DERIVED)
    named, expected = blocks_of(tmp_path, build, tmp_path / "main.cpp")
    assert named == expected


def damaged(dump: Path, program: Path, heap: DumpedHeap, title: str) -> list[str]:
    """Writes beyond the ends of four blocks, one at a time and all: what is not named rightly.

    All where enough whole blocks lie between to tell where headers go on. Pools keep words in free
    blocks alone. Where fences lie behind blocks the first is named.
    """
    state = "free" if re.search("pool|sized", title) else "live"
    wrong, has_fences = [], "poisoned" in title or "mem, of" in title
    content, pieces = dump.read_bytes(), heap.blocks
    with dump.open("rb") as file:
        loads = [one.header for one in ELFFile(file).iter_segments("PT_LOAD")]
    after = [pair for pair in pairwise(pieces) if [one.state for one in pair] == ["live", state]]
    if "sized" in title:  # its top has no words
        after = [pair for pair in after if pair[1].chunk + pair[1].span != heap.end]
    top = [*pairwise(pieces)][-1:] * (title == "newlib's malloc")  # its last chunk has a header
    four = after[:: max(len(after) // 4, 1)][:4]
    for planted in (
        *([one] for one in four + top),
        *([four] if state == "live" and len(after) > 24 else []),
    ):
        changed, headers, firsts = bytearray(content), [], []
        for block, victim in planted:
            end = block.address + block.size
            (load,) = (x for x in loads if x["p_vaddr"] <= end < x["p_vaddr"] + x["p_filesz"])
            at = load["p_offset"] + end - load["p_vaddr"]
            changed[at : at + 8] = b"OVERRUN!"
            headers.append((victim.chunk, block.address))
            firsts.append((end, block.address) if has_fences else headers[-1])
        copy = dump.with_name("damaged.elf")
        copy.write_bytes(changed)
        found = heaps_of(read_image(copy, program), heap.title)
        named = {(one.address, one.neighbour) for each in found for one in each.damage}
        if not {*firsts} <= named <= {*firsts, *headers}:
            wrong.append(f"{planted}: {named}")
        (same,) = (one for one in found if one.start == heap.start)
        before, after_it = ({one.address for one in it.pieces("live")} for it in (heap, same))
        is_list_alone = title.endswith("unchecked, by its free list")  # of which a part is lost
        if not is_list_alone and not before ^ after_it <= {one.address for _, one in planted}:
            wrong.append(f"{planted}: other blocks are listed otherwise")
    return wrong
