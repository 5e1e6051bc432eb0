# SPDX-License-Identifier: Apache-2.0
"""`heapfit record` names what it does not record, and why: nothing partial goes unsaid."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from heapfit.errors import HeapfitError
from heapfit.importers import import_file, preload, record
from heapfit.importers.executable import read_executable
from heapfit.importers.processes import Watch
from heapfit.importers.unseen_heaps import describe_unseen, explain_obstacle

PROGRAMS = Path(__file__).with_name("programs")
FLAGS = ("-O0", "-fno-builtin", "-w")


@pytest.fixture(scope="module")
def parting(tmp_path_factory):
    return compile_c(PROGRAMS / "parting.c", tmp_path_factory.mktemp("parting") / "parting")


def compile_c(source, program, *options, compiler="cc"):
    subprocess.run([compiler, *FLAGS, source, *options, "-o", program], check=True)
    return program


def compile_text(text, program, *options, compiler="cc", ending=".c"):
    source = program.with_suffix(ending)
    source.write_text(text)
    return compile_c(source, program, *options, compiler=compiler)


def hidden(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_daemon_is_named_and_its_recording_goes_on(parting, tmp_path):
    (flag := tmp_path / "flag").touch()
    command = [str(parting), "daemon", str(flag)]
    recording = record.record(command, tmp_path / "out.parquet")
    assert recording.trace.info.events == 2
    (survivor,) = recording.survivors
    assert survivor.name == "parting"
    flag.unlink()
    while Path(f"/proc/{survivor.process}/environ").exists() and not is_zombie(survivor.process):
        time.sleep(0.01)
    (raw,) = survivor.recordings.parent.glob(survivor.recordings.name)
    assert import_file(raw, tmp_path / "daemon.parquet").info.events == 20


def is_zombie(process):
    return ") Z" in Path(f"/proc/{process}/stat").read_text()


def test_children_of_a_parent_that_asks_for_nothing_are_kept(parting, tmp_path):
    command = [str(parting), "child"]
    recording = record.record(command, tmp_path / "out.parquet", keep_children=True)
    assert recording.trace is None
    assert [one.info.events for one in recording.children] == [20]
    assert not hidden(tmp_path)
    with pytest.raises(HeapfitError, match=r"1 other process did .* kept: heapfit import"):
        record.record(command, tmp_path / "out.parquet")
    (raw,) = hidden(tmp_path)
    (wire,) = raw.glob("*.wire")
    assert import_file(wire, tmp_path / "child.parquet").info.events == 20


def test_a_program_with_its_own_malloc_is_named(tmp_path):
    own = compile_c(PROGRAMS / "parting.c", tmp_path / "own", "-DOWN_MALLOC")
    with pytest.raises(HeapfitError, match=r"own: brings its own malloc"):
        record.record([str(own), "own"], tmp_path / "out.parquet")
    assert not hidden(tmp_path)


def test_an_alignment_that_no_region_has_costs_one_request_not_the_recording(tmp_path):
    text = """#include <stdlib.h>
int main(void) { void *wide = aligned_alloc(1 << 25, 1 << 25); wide = realloc(wide, 1 << 24);
                 for (int i = 0; i < 50; i++) free(malloc(i + 1)); free(wide); return 0; }
"""
    program = compile_text(text, tmp_path / "wide")
    recording = record.record([str(program)], tmp_path / "out.parquet")
    assert recording.trace.info.events == 100
    assert recording.trace.info.notes == ("1 request for an alignment above 16 MiB left out.",)


def test_libstdcxxs_emergency_pool_is_left_out(tmp_path):
    """The same size asked for by the program itself stays."""
    text = "#include <cstdlib>\nint main() { delete new long; free(malloc(72704)); }\n"
    program = compile_text(text, tmp_path / "cpp", compiler="c++", ending=".cpp")
    recording = record.record([str(program)], tmp_path / "out.parquet")
    sizes = next(recording.trace.batches(["size"]))["size"].tolist()
    assert sizes == [8, 0, 72704, 0]
    assert "emergency pool for exceptions" in recording.trace.info.notes[0]


def test_a_python_program_is_told_of_its_arenas_and_how_to_see_them(tmp_path, monkeypatch):
    script = "import time; kept = [[i] for i in range(100_000)]; time.sleep(0.3)"
    command = [os.path.realpath(sys.executable), "-S", "-c", script]
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    seen = record.record(command, tmp_path / "arenas.parquet")
    assert "MB resident: CPython's own arenas (PYTHONMALLOC=malloc" in seen.unseen
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    all_seen = record.record(command, tmp_path / "malloc.parquet")
    assert all_seen.unseen is None
    assert all_seen.trace.info.events > 100_000 > seen.trace.info.events


def test_memory_that_a_program_maps_itself_is_counted(tmp_path):
    text = """#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) { char *own = mmap(0, 20 << 20, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                 memset(own, 1, 20 << 20); free(malloc(10)); usleep(300000); return 0; }
"""
    program = compile_text(text, tmp_path / "mapped")
    unseen = record.record([str(program)], tmp_path / "out.parquet").unseen
    assert unseen.startswith("Not recorded: 2")
    assert "memory that the program mapped itself" in unseen


@pytest.mark.parametrize(
    ("mapped", "name"),
    [
        ("libjvm.so", "Java's heap"),
        ("libcoreclr.so", ".NET's heap"),
        ("libmonosgen-2.0.so.1", "Mono's heap"),
        ("libnode.so.1", "V8's heap"),
        ("beam.smp", "Erlang's carriers (+Mea min"),
        ("php8.2", "PHP's own heap (USE_ZEND_ALLOC=0"),
    ],
)
def test_runtimes_are_known_by_what_they_map(mapped, name):
    watch = Watch(1, 20 << 20, 20 << 20, None, frozenset(["libc.so.6", mapped]))
    assert name in describe_unseen(watch, 1 << 20)
    assert describe_unseen(watch, 20 << 20) is None


def test_sanitizers_are_named_before_the_program_runs(tmp_path):
    text = "#include <stdlib.h>\nint main(void) { free(malloc(1)); }\n"
    for name in ("address", "thread", "leak", "memory"):
        compiler = "clang" if name == "memory" else "cc"
        program = compile_text(text, tmp_path / name, f"-fsanitize={name}", compiler=compiler)
        with pytest.raises(HeapfitError, match=f"is built with -fsanitize={name}"):
            record.record([str(program)], tmp_path / "out.parquet")


def test_a_go_program_is_known_by_its_note(tmp_path):
    text = r"""__asm__(".pushsection .note.go.buildid, \"a\", @note\n.long 4, 4, 4\n"
        ".asciz \"Go\\0\"\n.long 0\n.popsection");
int main(void) { return 0; }
"""
    program = compile_text(text, tmp_path / "go", "-static")
    with pytest.raises(HeapfitError, match="go: is a Go program, whose heap is Go's own"):
        record.record([str(program)], tmp_path / "out.parquet")


def test_a_program_that_ends_in_an_exec_of_one_that_cannot_be_recorded_says_so(
    tmp_path, monkeypatch
):
    text = "#include <unistd.h>\nint main(void) { usleep(300000); return 0; }\n"
    program = compile_text(text, tmp_path / "static", "-static")
    assert "is statically linked" in explain_obstacle(read_executable(program))
    unseen = record.record(["sh", "-c", f"exec {program}"], tmp_path / "out.parquet").unseen
    assert f"{program}, which it became by exec, is statically linked" in unseen
    brief = compile_text("int main(void) { return 0; }\n", tmp_path / "brief", "-static")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")  # too short to be looked at
    unseen = record.record(["sh", "-c", f"exec {brief}"], tmp_path / "out.parquet").unseen
    assert f"{brief}, which it became by exec, is statically linked" in unseen


def test_a_program_that_an_exec_starts_without_the_recorder_is_named(tmp_path):
    command = ["env", "-u", "LD_PRELOAD", "sleep", "0.1"]
    unseen = record.record(command, tmp_path / "out.parquet").unseen
    assert "sleep, which it became by exec, was started without the recorder" in unseen


def test_a_child_that_is_started_without_the_recorder_is_named(tmp_path):
    command = ["sh", "-c", "sleep 0.2; env -u LD_PRELOAD sleep 0.3; true"]
    recording = record.record(command, tmp_path / "out.parquet", keep_children=True)
    assert recording.children, "the first sleep"
    assert re.fullmatch(r"Not recorded: sleep \(\d+\): started without .*", recording.unseen)


def test_blocks_of_a_library_that_is_closed_again_are_recorded(tmp_path):
    text = "#include <stdlib.h>\nvoid *take(void) { return malloc(333); }\n"
    library = compile_text(text, tmp_path / "library.so", "-shared", "-fPIC")
    program = compile_text(
        "#include <dlfcn.h>\n#include <stdlib.h>\nint main(void) {\n"
        "    for (int i = 0; i < 3; i++) {\n"
        f'        void *opened = dlopen("{library}", RTLD_NOW);\n'
        '        void *block = ((void *(*)(void))dlsym(opened, "take"))();\n'
        "        if (dlclose(opened) != 0) return 1;\n        free(block);\n    }\n"
        "    free(malloc(444));\n    return 0;\n}\n",
        tmp_path / "opens",
    )
    recorded = record.record([str(program)], tmp_path / "out.parquet")
    sizes = pq.read_table(recorded.trace.path)["size"].to_pylist()
    assert recorded.status == 0
    assert (sizes.count(333), sizes.count(444)) == (3, 1)


def test_the_name_is_the_executables_whatever_argv_says(parting, tmp_path):
    (tmp_path / "alias").symlink_to(parting)
    command = [str(tmp_path / "alias"), "daemon", str(tmp_path / "gone")]
    recording = record.record(command, tmp_path / "out.parquet")
    assert recording.trace.info.program == "parting"


@pytest.mark.parametrize("has_musl", [shutil.which("musl-gcc") is not None])
def test_a_program_of_musl_has_a_recorder_of_its_own(has_musl, tmp_path, monkeypatch):
    """Without musl-gcc an interpreter's name is enough to say what is missing."""
    text = "#include <stdlib.h>\nint main(void) { free(realloc(malloc(3), 9)); return 0; }\n"
    compiler = "musl-gcc" if has_musl else "cc"
    options = () if has_musl else ("-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1",)
    program = compile_text(text, tmp_path / "small", *options, compiler=compiler)
    assert preload.library_for(program) == preload.LIBRARY_MUSL
    if preload.LIBRARY_MUSL.exists() and has_musl:
        trace = record.record([str(program)], tmp_path / "out.parquet").trace
        assert next(trace.batches(["size"]))["size"].tolist() == [3, 9, 0]
    monkeypatch.setattr(preload, "LIBRARY_MUSL", tmp_path / "none")
    with pytest.raises(HeapfitError, match=r"is a program of musl, .* \(install musl-gcc"):
        record.record([str(program)], tmp_path / "out.parquet")
