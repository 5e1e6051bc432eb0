# SPDX-License-Identifier: Apache-2.0
"""Call sites: what each asks for, and the line of the program that it is."""

import json
import os
import random
import shutil
import struct
import subprocess

import numpy as np
import pytest
from page_reader import Page
from test_record import heapfit

from heapfit.design.placement.call_sites import call_sites
from heapfit.errors import HeapfitError
from heapfit.importers.record import record
from heapfit.importers.site_names import own_places
from heapfit.importers.source_lines import SourcePlace, mapping_of, places_in, site_hash
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, TrainingRecord, save_plan
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import TraceInfo, write_trace

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
    return call_sites(load_trace(recording))


def test_a_site_tells_its_requests_and_how_long_they_live(sites):
    text, note = sites[:2]
    assert (text.requests, text.least, text.most, text.mean_life) == (200, 1000, 2000, 1)
    assert (note.requests, note.least, note.most) == (100, 48, 48)
    assert note.live_at_peak == 4800
    assert note.mean_life > 200


def test_a_trace_that_tells_no_sites_has_none(tmp_path):
    columns = {"op": np.array([0, 4]), "object": np.array([0, 0]), "size": np.array([24, 0])}
    loaded = load_trace(write_trace(tmp_path / "t.parquet", [columns], TraceInfo()), 8)
    assert call_sites(loaded) == ()


def test_a_site_is_found_in_the_file_that_has_it(program, sites):
    known = {one.site for one in sites}
    own, library = (places_in([program.parent / name], known) for name in ("program", "libtext.so"))
    text, note = sites[:2]
    assert (own[note.site].function, own[note.site].line) == ("note", "program.c:6")
    assert (library[text.site].function, library[text.site].line) == ("text", "library.c:4")
    assert text.site not in own
    assert note.site not in library


def test_a_program_at_a_fixed_address_is_told_too(program, monkeypatch):
    monkeypatch.chdir(program.parent)
    trace = record(["./fixed"], program.parent / "fixed.parquet").trace
    note = call_sites(load_trace(trace))[1]
    assert places_in([program.parent / "fixed"], {note.site})[note.site].line == "program.c:6"


def test_a_stripped_program_tells_addresses(program, sites, tmp_path):
    stripped = tmp_path / "stripped"
    shutil.copy(program, stripped)
    subprocess.run(["strip", "--strip-all", stripped], check=True)
    place = places_in([stripped], {sites[1].site})[sites[1].site]
    assert (place.function, place.line) == (None, None)
    assert place.address == places_in([program], {sites[1].site})[sites[1].site].address


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
    monkeypatch.setattr("heapfit.importers.source_lines._MOST_CODE", 3)
    monkeypatch.delattr("elftools.elf.segments.Segment.data")
    with pytest.raises(HeapfitError, match="more code than 3 B"):
        places_in([tmp_path / "bare"], {5})


def test_a_file_whose_code_begins_at_0_is_looked_up(program, tmp_path):
    """No call returns to address 0, but a damaged file may say that code lies there."""
    (tmp_path / "low").write_bytes(with_code(program, ADDRESS, 0))
    extent = mapping_of(tmp_path / "low").extent
    (site,) = site_hash(np.zeros(1, np.uint64), extent).tolist()
    assert places_in([tmp_path / "low"], {site})[site].address == 0


def test_a_tool_that_fails_or_tells_no_text_is_one_line(program, sites, tmp_path, monkeypatch):
    tool = tmp_path / "addr2line"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    known = {one.site for one in sites}
    tool.write_text("#!/bin/sh\necho 'a line'\necho another >&2\nexit 1\n")
    tool.chmod(0o755)
    with pytest.raises(
        HeapfitError, match=r"program: its source lines cannot be read: addr2line.*another"
    ):
        places_in([program], known)
    tool.write_text("#!/bin/sh\nprintf '0x1\\nf\\377\\n??:0\\n'\n")
    (place,) = places_in([program], {sites[1].site}).values()
    assert place.function == "f\ufffd"


def test_the_command_tells_tag_end_and_line(program, recording, sites):
    plan = Plan("tailored", {"alignment": 8, "ends": 2, "tags": 2, "tag_high": 1 << 2},
                sites={sites[1].site: 2, sites[0].site: 1})  # fmt: skip
    about = TrainingRecord("sites", "sha256:" + 64 * "0", 5)
    path = program.parent / "plan.toml"
    save_plan(path, PlanFile("by_site", plan, 8192, None, 16, 1, 64, about, "0.1.0"))
    options = ["--program", program, "--plan", path]
    done = heapfit("sites", recording.path, *options)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.split()[-2:] == ["low", "-"] for line in lines)
    assert any(line.endswith("high  note, program.c:6") for line in lines)
    assert "in other files" in " ".join(lines[-2:])
    told = heapfit("sites", recording.path, *options, "--json")
    first, second = json.loads(told.stdout)["sites"][:2]
    assert (first["tag"], first["end"], first["place"]) == (1, "low", None)
    assert (second["tag"], second["end"], second["place"]["function"]) == (2, "high", "note")


def test_a_program_that_names_no_site_is_told(recording, program):
    done = heapfit("sites", recording.path, "--program", "/bin/ls")
    assert done.stderr.startswith("/bin/ls: names none of these call sites")
    assert "names none" not in heapfit("sites", recording.path, "--program", program).stderr


def test_a_recording_without_call_sites_is_told(tmp_path):
    (tmp_path / "plain.heap").write_text("# heap-events 1\n# pointer_bits 64\na 0 10\nf 0\n")
    done = heapfit("sites", tmp_path / "plain.heap")
    assert done.returncode == 1
    assert "no call sites are recorded (`heapfit record` keeps them)" in done.stderr
    firmware = "# heap-events 1\n# source recorder/target, FreeRTOS\na 0 10\nf 0\n"
    (tmp_path / "plain.heap").write_text(firmware)
    done = heapfit("sites", tmp_path / "plain.heap")
    assert "recorded (firmware built with HFIT_RECORD_CALL_SITES=1 keeps them)" in done.stderr


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
