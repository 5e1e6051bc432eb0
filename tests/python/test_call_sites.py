# SPDX-License-Identifier: Apache-2.0
"""Call sites: what each asks for, and the line of the program that it is."""

import json
import os
import random
import shutil
import struct
import subprocess

import numpy as np
import pyarrow.parquet as pq
import pytest
from page_reader import Page
from test_record import heapfit

from heapfit.checks.growth import name_sites
from heapfit.design.placement.learned import learn_placement
from heapfit.design.placement.sites import busiest_sites, learn_sites
from heapfit.design.placement.tailored_plans import layouts
from heapfit.design.robust.joined_trace import join_traces
from heapfit.errors import HeapfitError
from heapfit.importers.preload import recorder_settings
from heapfit.importers.record import record
from heapfit.outputs.printable import printable
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, TrainingRecord, save_plan
from heapfit.programs.site_names import own_places
from heapfit.programs.source_lines import SourcePlace, mapping_of, places_in, site_hash
from heapfit.trace.chains import callers_of, tags_of
from heapfit.trace.kinds import View
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace, TraceInfo, write_trace
from heapfit.trace.views import view_blocks

PT_LOAD, PF_X = 1, 1


def flat(text):
    return " ".join(text.split())


OFFSET, ADDRESS, FILE_SIZE = 8, 16, 32  # in a segment's header of 64 bits

LIBRARY = """
#include <stdlib.h>
void *text(size_t size) {
    return malloc(size); /* line 4 */
}
"""
PROGRAM = """
#include <stdlib.h>
void *text(size_t size);
static void *kept[100];
static void *note(void) {
    return calloc(1, 48); /* line 6 */
}
int main(void) {
    for (int i = 0; i < 100; i++) {
        kept[i] = note();
        free(text(1000 + (size_t)i));
        free(text(2000));
    }
    return realloc(NULL, 8) == NULL;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program and its library, with debugging information."""
    folder = tmp_path_factory.mktemp("sites")
    (folder / "library.c").write_text(LIBRARY)
    (folder / "program.c").write_text(PROGRAM)
    flags = ["-g", "-O0", "-fPIC"]
    library = ["-shared", "library.c", "-o", "libtext.so"]
    linked = ["program.c", "-o", "program", "./libtext.so"]
    for words in (library, linked, [*linked[:2], "fixed", linked[3], "-no-pie"]):
        subprocess.run(["cc", *flags, *words], cwd=folder, check=True)
    return folder / "program"


@pytest.fixture(scope="module")
def recording(program):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(program.parent)
        return record([str(program)], program.parent / "trace.parquet").trace


@pytest.fixture(scope="module")
def sites(recording):
    return [*busiest_sites(load_trace(recording))]


def test_a_site_tells_its_requests_and_how_long_they_live(recording, sites):
    viewed = view_blocks(load_trace(recording), View.PEAK)
    holders = {one.key: one for one in viewed.find_holders(viewed.sites)}
    text, note = (holders[site] for site in sites[:2])
    assert (text.requests, text.mean_life) == (200, 1)
    assert (note.requests, note.least, note.most, note.size) == (100, 48, 48, 4800)
    assert note.mean_life > 200


def test_a_site_is_found_in_the_file_that_has_it(program, sites):
    own, library = (
        places_in([program.parent / name], {*sites}) for name in ("program", "libtext.so")
    )
    text, note = sites[:2]
    assert (own[note].function, own[note].line) == ("note", "program.c:6")
    assert (library[text].function, library[text].line) == ("text", "library.c:4")
    assert text not in own
    assert note not in library


def test_a_program_at_a_fixed_address_is_told_too(program, monkeypatch):
    monkeypatch.chdir(program.parent)
    trace = record(["./fixed"], program.parent / "fixed.parquet").trace
    _, note, *_ = busiest_sites(load_trace(trace))
    assert places_in([program.parent / "fixed"], {note})[note].line == "program.c:6"


def test_a_stripped_program_tells_addresses(program, sites, tmp_path):
    stripped = tmp_path / "stripped"
    shutil.copy(program, stripped)
    subprocess.run(["strip", "--strip-all", stripped], check=True)
    place = places_in([stripped], {sites[1]})[sites[1]]
    assert (place.function, place.line) == (None, None)
    assert place.address == places_in([program], {sites[1]})[sites[1]].address


SYMBOLS = {  # of two functions, 0x14 B at 0x08000104 and 0xa at 0x08000118
    "nm -S": "08000104 00000014 T take\n08000118 0000000a t help<int>(char)\t/a.c:7\n"
    "20000000 00000004 B at\n",
    "nm": "08000104 T take\n08000118 t help<int>(char)\n08000122 T end\n20000000 B at\n",
    "GNU ld": " .text.gone    0x00000000      0x99 a.o\n .text.startup.take\n"
    "                0x08000104       0x14 a.o\n                0x08000104                take\n"
    " .text.help<int>(char) 0x08000118 0xa a.o\n"
    "                0x20000000                at = .\n",
    "armlink": "    take         0x08000105   Thumb Code    20  a.o(i.take)\n"
    "    help<int>(char)        0x08000119   Thumb Code    10  a.o(.text)\n"
    "    at           0x20000000   Data           4  a.o(.data)\n",
    "ilink": "take         0x800'0105  0x14  Code  Gb  a.o [1]\n"
    "help<int>(char)\n             0x800'0119   0xa  Code  Lc  a.o [1]\n"
    "at           0x2000'0000   0x4  Data  Gb  a.o [1]\n",
}


@pytest.mark.parametrize("form", SYMBOLS)
def test_a_list_or_a_map_names_the_functions_of_addresses(form, tmp_path):
    (tmp_path / "symbols.txt").write_text(SYMBOLS[form])
    calls = {
        0x08000108: "take",
        0x08000109: "take",  # of Thumb
        0x08000118: "take",  # its last instruction, which does not return
        0x0800011D: "help<int>(char)",
        0x08000123: "help<int>(char)",
        0x08000104: None,  # before the first
        0x08000141: None,  # behind the last
        0x20000003: None,
        0: None,
    }
    if form == "nm":  # the bytes of the last one are not known
        calls[0x08000141] = "end"
    found = places_in([tmp_path / "symbols.txt"], calls)
    assert {site: one.function for site, one in found.items()} == {
        site: name for site, name in calls.items() if name
    }


def test_a_map_of_ld_does_not_name_static_functions_by_their_neighbour(tmp_path):
    """Between net_get, of 8 B, and http_open are two static ones, for which ld has no line."""
    (tmp_path / "app.map").write_text(
        " .text.startup  0x08000000       0x30 main.o\n"
        "                0x08000000                main\n"
        " .text          0x08000030       0x26 main.o\n"
        "                0x08000030                net_get\n"
        "                0x08000050                http_open\n"
        " .text.hot.take 0x08000058        0x8 main.o\n"
    )
    calls = {0x0800002B: "in or after main", 0x08000041: "in or after net_get", 0x0800005B: "take"}
    found = places_in([tmp_path / "app.map"], calls)
    assert {site: one.function for site, one in found.items()} == calls


def test_text_without_functions_is_no_list_of_them(tmp_path):
    for text in (
        b"",
        b"8000104 take\n",
        b"08000104 D take\n",
        b"\xff" * 999,
        b"main 0x0 Thumb Code 1",
        b"main   0x''   0x28  Code  Gb  main.o [1]\n",
        b"main   0x08000001   Thumb Code  " + b"9" * 6000 + b"  main.o\n",
        (b"   x" + b" " * 480 + b"\n") * 20_000,  # in linear time
    ):
        (tmp_path / "symbols.txt").write_bytes(text)
        with pytest.raises(HeapfitError, match="names no function as nm or a map of GNU ld"):
            places_in([tmp_path / "symbols.txt"], {1})


def test_two_builds_are_compared_by_lists_of_their_symbols(tmp_path):
    for name, at, size in (("old", 0x08000118, 64), ("new", 0x08000218, 128)):
        events = "".join(f"a {i} {size} 1 1 {at + 4:x}\n" for i in range(9))
        (tmp_path / f"{name}.heap").write_text(f"# heap-events 1\n# pointer_bits 32\n{events}")
        (tmp_path / f"{name}.txt").write_text(f"{at:08x} 00000010 T push\n")
    asked = ("new.heap", "--program", "new.txt", "--base", "old.heap", "--base-program", "old.txt")
    shown = heapfit("check", *asked, "--growth", "5%", cwd=tmp_path).stdout
    assert "Cause: push: 1,152 B held at the peak (old: 576 B)." in shown


def test_a_damaged_program_is_refused_in_one_line(program, tmp_path):
    whole = program.read_bytes()
    random_ = random.Random(1)
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole[: random_.choice([10, 64, 500, len(whole)])])
        for _ in range(4):
            damaged[random_.randrange(min(len(damaged), 800))] = random_.randrange(256)
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            places_in([tmp_path / "damaged"], {1, 2, 3})
        except HeapfitError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 100


def with_code(program, field, value):
    """The program's bytes with a field of the header of what is executed, at an offset in it."""
    content = bytearray(program.read_bytes())
    (table,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    for at in range(table, table + size * count, size):
        kind, flags = struct.unpack_from("<II", content, at)
        if kind == PT_LOAD and flags & PF_X:
            struct.pack_into("<Q", content, at + field, value)
    return bytes(content)


@pytest.mark.parametrize(("field", "value"), [(OFFSET, 1 << 20), (FILE_SIZE, 1 << 29)])
def test_code_that_is_not_in_the_file_is_refused_before_it_is_hashed(
    program, tmp_path, field, value
):
    damaged = tmp_path / "damaged"
    damaged.write_bytes(with_code(program, field, value))
    with pytest.raises(HeapfitError, match=r"its code ends behind the file's end"):
        places_in([damaged], {1, 2, 3})


def test_of_a_fixed_image_no_more_code_is_read_than_is_looked_at(tmp_path, monkeypatch):
    """A file may say that thousands of segments are the same bytes."""
    (tmp_path / "bare.c").write_text("void _start(void) { for (;;); }\n")
    words = ["cc", "-static", "-no-pie", "-nostdlib", "bare.c", "-o", "bare"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert places_in([tmp_path / "bare"], {5}) == {}
    monkeypatch.setattr("heapfit.programs.source_lines._MOST_CODE", 3)
    monkeypatch.delattr("elftools.elf.segments.Segment.data")
    with pytest.raises(HeapfitError, match="more code than 3 B"):
        places_in([tmp_path / "bare"], {5})


def test_a_file_whose_code_begins_at_0_is_looked_up(program, tmp_path):
    """No call returns to address 0, but a damaged file may say that code lies there."""
    (tmp_path / "low").write_bytes(with_code(program, ADDRESS, 0))
    extent = mapping_of(tmp_path / "low").extent
    (site,) = site_hash(np.zeros(1, np.uint64), extent).tolist()
    assert places_in([tmp_path / "low"], {site})[site].address == 0


def test_names_of_several_lines_are_read(tmp_path):
    """A symbol may have any name; addr2line prints it as it is, also one like its own lines."""
    names = ["first\n0x1\nx\x1b[2J", "second", "a\n??:0\nb", "last"]
    lines = "".join(
        f".globl f{i}\n.type f{i}, @function\nf{i}: .zero 16\n.size f{i}, 16\n" for i in range(4)
    )
    (tmp_path / "n.s").write_text(f".text\n.zero 16\n{lines}")
    renamed = [f"--redefine-sym=f{i}={name}" for i, name in enumerate(names)]
    for words in (
        ["cc", "-c", "n.s", "-o", "n.o"],
        ["objcopy", *renamed, "n.o"],
        ["cc", "-shared", "-nostdlib", "n.o", "-o", "n"],
    ):
        subprocess.run(words, cwd=tmp_path, check=True)
    mapping = mapping_of(tmp_path / "n")
    starts = sorted({start for start, _ in mapping.functions})
    offsets = np.array([start + 8 - mapping.start for start in starts], np.uint64)
    sites = site_hash(offsets, mapping.extent).tolist()
    found = places_in([tmp_path / "n"], set(sites))
    told = [found[site].function for site in sites]
    assert (told[0], *told[1::2]) == (names[0], *names[1::2])
    assert printable(told[0]) == "first\\n0x1\\nx\\x1b[2J"


def test_a_tool_that_fails_or_tells_no_text_is_one_line(program, sites, tmp_path, monkeypatch):
    tool = tmp_path / "addr2line"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    known = {*sites}
    tool.write_text("#!/bin/sh\necho 'a line'\necho another >&2\nexit 1\n")
    tool.chmod(0o755)
    with pytest.raises(
        HeapfitError, match=r"program: its source lines cannot be read: addr2line.*another"
    ):
        places_in([program], known)
    tool.write_text('#!/bin/sh\nfor call; do :; done\nprintf "$call\\nf\\377\\n??:0\\n"\n')
    (place,) = places_in([program], {sites[1]}).values()
    assert place.function == "f\ufffd"


def test_the_command_tells_tag_end_and_line(program, recording, sites):
    plan = Plan("tailored", {"alignment": 8, "ends": 2, "tags": 2, "tag_high": 1 << 2},
                sites={sites[1]: 2, sites[0]: 1})  # fmt: skip
    about = TrainingRecord("sites", "sha256:" + 64 * "0", 5)
    path = program.parent / "plan.toml"
    save_plan(path, PlanFile("by_site", plan, 8192, None, 16, 1, 64, about, "0.1.0"))
    options = ["--program", program, "--plan", path]
    done = heapfit("sites", recording.path, *options)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert flat(done.stdout).startswith("note, program.c:6 holds 4,800 of the ")
    assert any(line.split()[-2:] == ["low", "-"] for line in lines)
    assert any(line.endswith("high  note, program.c:6") for line in lines)
    assert "1 site in other files" in " ".join(lines[-2:])
    told = heapfit("sites", recording.path, *options, "--json")
    by_site = {one["site"]: one for one in json.loads(told.stdout)["sites"]}
    first, second = (by_site[f"{one:08x}"] for one in sites[:2])
    assert (first["tag"], first["end"], first["place"]) == (1, "low", None)
    assert (second["tag"], second["end"], second["place"]["function"]) == (2, "high", "note")


def test_a_program_that_names_no_site_is_told(recording, program):
    done = heapfit("sites", recording.path, "--program", "/bin/ls")
    assert done.stderr.startswith("/bin/ls: names none of these call sites")
    assert "names none" not in heapfit("sites", recording.path, "--program", program).stderr


def test_of_many_sites_those_that_hold_most_are_shown(tmp_path):
    count, most = 50, 24
    op, size = np.zeros(count, np.uint8), np.arange(1, count + 1, dtype=np.uint64) * 8
    columns = {"op": op, "object": np.arange(count, dtype=np.uint32), "size": size}
    columns["site"] = np.arange(1, count + 1, dtype=np.uint32)
    write_trace(tmp_path / "many.parquet", [columns], TraceInfo("many"))
    lines = heapfit("sites", tmp_path / "many.parquet").stdout.splitlines()
    assert [int(line.split()[2]) for line in lines[2 : 2 + most]] == sorted(size, reverse=True)[
        :most
    ]
    rest = sum(sorted(size.tolist())[: count - most])
    assert lines[2 + most :] == [f"{count - most} more hold {rest:,} B: --json lists them."]
    listed = json.loads(heapfit("sites", tmp_path / "many.parquet", "--json").stdout)["sites"]
    assert sum(one["size"] for one in listed) == size.sum()


def test_a_recording_without_call_sites_is_told(tmp_path):
    (tmp_path / "plain.heap").write_text("# heap-events 1\n# pointer_bits 64\na 0 10\nf 0\n")
    done = heapfit("sites", tmp_path / "plain.heap")
    assert done.returncode == 1
    assert "(`heapfit record` keeps them; `heapfit profile` has sizes)" in done.stderr
    firmware = "# heap-events 1\n# source recorder/target, FreeRTOS\na 0 10\nf 0\n"
    (tmp_path / "plain.heap").write_text(firmware)
    done = heapfit("sites", tmp_path / "plain.heap")
    assert (
        "recorded (firmware built with HFIT_RECORD_CALL_SITES=1 keeps them; --view tasks has tasks)"
        in done.stderr
    )


@pytest.mark.usefixtures("recording")
def test_a_page_names_the_functions_of_a_recorded_program(program):
    words = ["compare", "trace.parquet", "tlsf", "--program", "program", "--report", "page.html"]
    done = heapfit(*words, cwd=program.parent)
    assert done.returncode == 0, done.stderr
    page = Page((program.parent / "page.html").read_text())
    (holder,) = (row for row in page.rows if row and "note" in row[0])
    assert holder[0] == "note, program.c:6"
    assert holder[2] == "100"
    assert "Call sites by function and line" in page.text
    map_of_blocks = next(text for _, text in page.scripts if "note, program.c:6" in text)
    assert '"sites"' in map_of_blocks


CXX = """
#include <memory>
#include <vector>
static std::vector<std::unique_ptr<int>> all;
__attribute__((noinline)) static void remember(int value) {
    all.push_back(std::make_unique<int>(value)); // line 6
}
int main() {
    for (int i = 0; i < 1200; i++) {
        remember(i);
    }
    return 0;
}
"""


@pytest.mark.parametrize(("options", "is_hinted"), [([], True), (["--site-depth", "4"], False)])
def test_a_program_of_cxx_is_named_by_its_own_functions(tmp_path, options, is_hinted):
    (tmp_path / "program.cpp").write_text(CXX)
    words = ["g++", "-g", "-O2", "program.cpp", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, check=True)
    done = heapfit("record", "-o", "run.parquet", *options, "--", "./program", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = heapfit("sites", "run.parquet", "--program", "program", cwd=tmp_path)
    assert ("heapfit record --site-depth 4 records who" in flat(done.stderr)) == is_hinted
    assert ("program.cpp:6 < main" in flat(done.stdout)) != is_hinted
    assert "std::" not in done.stdout


def test_of_inlined_callers_the_innermost_of_the_program_is_named():
    library = "std::vector<Session, std::allocator<Session> >::reserve(unsigned long)"
    names = ["operator new(unsigned long)", library, "std::pair<int, int> make<int>(Table)", "main"]
    chain = tuple(SourcePlace("program", one, name, None) for one, name in enumerate(names, 1))
    assert own_places({1: chain}) == {1: chain[2]}
    assert own_places({1: chain, 2: chain[1:]}) == {1: chain[2], 2: chain[2]}
    assert own_places({1: chain[:2]}) == {1: chain[0]}


def test_a_function_that_a_few_sites_call_is_no_wrapper():
    """Two of six sites ask through a line of layout."""
    layout, *lines = [
        SourcePlace("", at, name, f"a.c:{at}")
        for name, at in (
            ("layout", 3),
            ("main", 20),
            ("main", 30),
            *((f"f{i}", i) for i in range(4)),
        )
    ]
    chains = {i: (layout, one) for i, one in enumerate(lines[:2])}
    chains |= {i: (one, lines[0]) for i, one in enumerate(lines[2:], 2)}
    texts = [place.description for place in own_places(chains).values()]
    assert texts[:2] == ["layout, a.c:3 < main, a.c:20", "layout, a.c:3 < main, a.c:30"]


def test_a_caller_that_several_sites_have_is_named_with_those_below():
    """Each of two callers asks through each of two lines of grow."""
    near = [SourcePlace("", at, "grow", f"a.c:{at}") for at in (3, 9)]
    far = [SourcePlace("", at, "main", f"a.c:{at}") for at in (20, 30)]
    chains = {i: (near[i % 2], far[i // 2]) for i in range(4)}
    texts = [place.description for place in own_places(chains).values()]
    assert texts[:2] == ["grow, a.c:3 < main, a.c:20", "grow, a.c:9 < main, a.c:20"]
    assert len(set(texts)) == 4
    alone = own_places({1: (near[0], far[0]), 2: (near[0], far[1])})  # a wrapper
    assert [place.description for place in alone.values()] == ["main, a.c:20", "main, a.c:30"]


def test_the_callers_of_esp_idfs_heap_trace_are_told_apart(tmp_path):
    """It prints who asks first: 0x400d2000 holds 180 B and 0x400d1000 190 B, neither 100 B."""
    callers = {100: "0x400d2000:0x400d1000", 90: "0x400d2030:0x400d1000"}
    callers[80] = "0x400d2000:0x400d1004"
    lines = [
        f"{size} bytes (@ 0x3ffb1{i}00, Internal) allocated CPU 0 ccount 0x2f3bd{i}00 caller {one}"
        for i, (size, one) in enumerate(callers.items())
    ]
    head = "====== Heap Trace: 3 records (100 capacity) ======"
    (tmp_path / "t.log").write_text("\n".join([head, *lines, ""]))
    shown = heapfit("sites", "t.log", cwd=tmp_path).stdout
    assert shown.startswith("0x400d2000 < 0x400d1000 holds 100 of the 270 B live at the peak")
    assert "0x400d2030 < 0x400d1000\n" in shown
    lines.insert(1, "--- 0x400d1000: grow at /a/main.c:33")  # as a monitor decodes one
    (tmp_path / "t.log").write_text("\n".join([head, *lines, ""]))
    shown = flat(heapfit("sites", "t.log", cwd=tmp_path).stdout)
    assert "0x400d2030 < grow at /a/main.c: 33" in shown  # folded


# ---- chains of callers

ROUNDS = 200
# Every request goes through one function: who wants to keep what it asks for, its callers know.
CHAINED = """
#include <stdlib.h>
static void *ask(size_t size) {
    void *volatile block = malloc(size); /* line 4 */
    return block;
}
static void *keep(void) { void *volatile block = ask(64); return block; }
static void *use(void) { void *volatile block = ask(64); return block; }
int main(void) {
    void *used[200];
    for (int i = 0; i < 200; i++) {
        keep();
        used[i] = use();
    }
    for (int i = 0; i < 200; i++) free(used[i]);
    for (int i = 0; i < 100; i++) ask(128);
    return 0;
}
"""


@pytest.fixture(scope="module")
def chained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains")
    (folder / "program.c").write_text(CHAINED)
    flags = ["-g", "-O1", "-fno-inline", "-fomit-frame-pointer"]
    subprocess.run(["cc", *flags, "program.c", "-o", "program"], cwd=folder, check=True)
    return folder / "program"


@pytest.fixture(scope="module")
def recorded(chained):
    """With chains, and with direct callers alone."""
    traces = {}
    for depth in (4, 1):
        path = chained.parent / f"{depth}.parquet"
        traces[depth] = record([str(chained)], path, depth=depth).trace
    return traces


def test_a_chain_tells_apart_what_asks_through_one_function(chained, recorded):
    path = recorded[4].path
    told = heapfit("sites", path, "--program", chained, "--json")
    sites = json.loads(told.stdout)["sites"]
    above = [[caller["function"] for caller in one["callers"] if caller] for one in sites]
    assert sorted(one["requests"] for one in sites) == [ROUNDS // 2, ROUNDS, ROUNDS]
    assert sorted(above) == [["keep", "main"], ["main"], ["use", "main"]]
    assert {one["place"]["line"] for one in sites} == {"program.c:4"}
    shown = heapfit("sites", path, "--program", chained).stdout
    assert "keep, program.c:7 < main\n" in shown


def test_a_site_is_named_by_the_caller_that_no_other_has(chained, recorded):
    loaded = load_trace(recorded[4])
    names = {name_sites(loaded, [chained])[one] for one in busiest_sites(loaded)}
    assert names == {"keep, program.c:7", "use, program.c:8", "main, program.c:16"}
    functions = name_sites(loaded, [chained], by_function=True)
    assert {functions[one] for one in busiest_sites(loaded)} == {"keep", "use", "main"}


def test_direct_callers_are_the_same_at_either_depth(recorded):
    """The recorder names a chain's first caller as it does where that is the site."""
    (direct,) = busiest_sites(load_trace(recorded[1]))
    assert recorded[1].chains == {}
    assert {chain[0] for chain in recorded[4].chains.values()} == {direct}
    by_caller = load_trace(recorded[4]).reduce_to_callers()
    assert [*busiest_sites(by_caller)] == [direct]


def test_chains_are_the_same_in_every_run(chained, recorded, tmp_path):
    again = record([str(chained)], tmp_path / "again.parquet", depth=4).trace
    assert again.chains == recorded[4].chains
    assert Trace.open(again.path).chains == again.chains


def test_a_forked_child_tells_its_chains_itself(tmp_path):
    """Its file is another: what the parent told is not in it."""
    source = tmp_path / "fork.c"
    source.write_text(
        "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
        "static void *volatile kept;\n"
        "static void ask(void) { kept = malloc(24); }\n"
        "int main(void) { for (int i = 0; i < 2; i++) { ask(); if (i == 0 && fork()) "
        "{ wait(0); return 0; } } return 0; }\n"
    )
    subprocess.run(["cc", "-O0", source, "-o", tmp_path / "fork"], check=True)
    words = [str(tmp_path / "fork")]
    found = record(words, tmp_path / "t.parquet", keep_children=True, depth=4)
    (child,) = found.children
    loaded = load_trace(child)
    (site,) = set(loaded.sites[loaded.events.sizes() == 24].tolist())
    assert len(child.chains[site]) > 1


def test_what_learns_takes_chains_where_the_caller_tells_too_little(recorded):
    chained, direct = (load_trace(recorded[depth], 4) for depth in (4, 1))
    start = learn_placement(chained, list(layouts(4).values()), most_events=200_000)
    assert start is not None
    assert learn_sites(direct, start.climbed, 200_000) == (None, 0)
    found, replayed = learn_sites(chained, start.climbed, 200_000)
    assert replayed > 0
    assert found is not None
    assert found.layout.sites.keys() <= recorded[4].chains.keys()
    assert start.climbed.region - found.region > 0.2 * chained.profile.u_max


KEEP, GO, ASK = 0x10, 0x20, 0x30  # direct callers


@pytest.fixture
def by_direct_caller(tmp_path):
    """A trace whose chains tell no more than their first callers do."""
    first = [(0, i, 64, (KEEP if i % 2 == 0 else GO) + 1) for i in range(2 * ROUNDS)]
    freed = [(4, i, 0, 0) for i in range(1, 2 * ROUNDS, 2)]
    late = [(0, 2 * ROUNDS + i, 128, ASK + 1) for i in range(ROUNDS // 2)]
    rows = zip(*first, *freed, *late, strict=True)
    columns = dict(zip(("op", "object", "size", "site"), map(np.array, rows), strict=True))
    chains = {caller + 1: (caller, 0x99) for caller in (KEEP, GO, ASK)}
    return write_trace(tmp_path / "t.parquet", [columns], TraceInfo(), lambda: chains)


def test_a_plan_of_direct_callers_finds_them_in_chains(by_direct_caller, tmp_path):
    sites = {KEEP: 3, GO + 1: 2}
    tags = load_trace(by_direct_caller).tags(sites)
    assert tags[:4].tolist() == [3, 2, 3, 2]
    joined = join_traces(tmp_path / "j.parquet", [by_direct_caller, by_direct_caller])
    assert joined.chains == by_direct_caller.chains
    again = load_trace(joined).tags(sites)
    assert np.count_nonzero(again == 3) == 2 * np.count_nonzero(tags == 3)


def test_a_chain_with_a_tag_of_its_own_goes_before_its_caller():
    chains = {100: (7, 8), 101: (7, 9)}
    called_from = np.array([100, 101, 7, 5], np.uint32)
    assert tags_of(called_from, {7: 1, 101: 2}, chains).tolist() == [1, 2, 1, 0]
    assert callers_of(called_from, chains).tolist() == [7, 7, 7, 5]


DAMAGED_CHAINS = (
    *(b"{", b"[]", b"1", b'{"x": [1]}', b'{"1": []}', b'{"1": [0]}', b'{"1": 5}', b'{"1": [true]}'),
    *(b'{"1": [1,2,3,4,5]}', b'{"0": [1]}', b'{"4294967296": [1]}', b'{"1": ["2"]}'),
)
DAMAGED_NAMES = (b"{", b"[]", b'{"1": 5}', b'{"0": "f"}')


@pytest.mark.parametrize(
    ("key", "damaged"),
    [("chains", one) for one in DAMAGED_CHAINS] + [("names", one) for one in DAMAGED_NAMES],
)
def test_damaged_chains_and_names_are_refused(by_direct_caller, key, damaged):
    table = pq.read_table(by_direct_caller.path)
    stored = pq.ParquetFile(by_direct_caller.path).metadata.metadata
    stored |= {f"heapfit {key}".encode(): damaged}
    pq.write_table(table.replace_schema_metadata(stored), by_direct_caller.path)
    with pytest.raises(HeapfitError, match=rf"t\.parquet: its {key} of callers are damaged"):
        Trace.open(by_direct_caller.path)


def test_the_environment_asks_for_chains_only_where_they_are_wanted(tmp_path):
    assert "HEAPFIT_SITE_DEPTH" not in recorder_settings(tmp_path)
    told = heapfit("record", "--environment", tmp_path, "--site-depth", "4").stdout
    assert told.splitlines()[-1] == "HEAPFIT_SITE_DEPTH=4"
    refused = heapfit("record", "--environment", tmp_path, "--site-depth", "3")
    assert refused.returncode == 2
    assert "1 or 4" in refused.stderr


@pytest.mark.parametrize(
    "damaged",
    [b"{", b"[]", b"1", b'{"x": [1]}', b'{"1": []}', b'{"1": [0]}', b'{"1": 5}', b'{"1": [true]}',
     b'{"1": [1,2,3,4,5]}', b'{"0": [1]}', b'{"4294967296": [1]}', b'{"1": ["2"]}'],
)  # fmt: skip
def test_damaged_chains_are_refused(by_direct_caller, damaged):
    table = pq.read_table(by_direct_caller.path)
    stored = pq.ParquetFile(by_direct_caller.path).metadata.metadata | {b"heapfit chains": damaged}
    pq.write_table(table.replace_schema_metadata(stored), by_direct_caller.path)
    with pytest.raises(HeapfitError, match=r"t\.parquet: its chains of callers are damaged"):
        Trace.open(by_direct_caller.path)


@pytest.mark.parametrize("damaged", [b"{", b"[]", b'{"1": 5}', b'{"0": "f"}'])
def test_damaged_names_are_refused(by_direct_caller, damaged):
    table = pq.read_table(by_direct_caller.path)
    stored = pq.ParquetFile(by_direct_caller.path).metadata.metadata | {b"heapfit names": damaged}
    pq.write_table(table.replace_schema_metadata(stored), by_direct_caller.path)
    with pytest.raises(HeapfitError, match=r"t\.parquet: its names of callers are damaged"):
        Trace.open(by_direct_caller.path)
