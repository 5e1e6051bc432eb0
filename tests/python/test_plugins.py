# SPDX-License-Identifier: Apache-2.0
"""Allocators of others: built, measured by the rules of ours, and told by `heapfit compare`."""

import csv
import json
import os
import random
import re
import resource
import select
import subprocess
import sys
from pathlib import Path

import pytest

import heapfit
from grid import of_the_day
from heapfit import external_tool
from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.measuring import (
    EXACT,
    STANDARD_PRECISION,
    Precision,
    measure_candidate,
)
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.energy import load_sram
from heapfit.plugin import (
    INCLUDE,
    Built,
    Plugin,
    PluginRow,
    build,
    measure,
    plugin_of,
    plugins_of,
    running,
)
from heapfit.plugin.building import host_objects
from heapfit.plugin.faults import EXTREMES, FAULT_NAMES, NO_HARM, NOT_RUN
from heapfit.plugin.running import start_process
from heapfit.results.ranking import explain_marks, marks_of
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace
from program import run_heapfit

ROOT = Path(__file__).parents[2]
ECHO = ROOT / "examples/lwip-echo/lwip-echo.parquet"
PLUGINS = Path(__file__).parent / "plugins"
PLANS = {"tlsf": "{{8},0,2}", "best_fit": "{{8}}"}


def own(name: str) -> Plugin:
    """An allocator of core, with an adapter."""
    core = ROOT / "core"
    flags = ("-ffreestanding", "-fno-tree-loop-distribute-patterns", f"-DNAME={name}")
    return Plugin(
        name,
        (PLUGINS / "core.c", core / f"src/tiling/{name}.c"),
        32,
        (*flags, f"-I{core / 'include'}", f"-I{core}", f"-DPLAN_VALUES={PLANS[name]}"),
    )


@pytest.mark.parametrize(
    ("name", "precision"),
    [("best_fit", STANDARD_PRECISION), ("tlsf", STANDARD_PRECISION), ("tlsf", EXACT)],
)
def test_an_allocator_of_ours_given_as_a_plug_in_has_the_engines_figures(
    name: str, precision: Precision, tmp_path: Path
) -> None:
    trace = Trace.open(ECHO)
    if precision.every_size:
        trace = heapfit.generate_workload("slotbuf:events=500", tmp_path / "walk.parquet")
    loaded = load_trace(trace, 8)
    (candidate,) = build_portfolio(loaded, [name], []).candidates
    base = max(trace.largest_alignment, 8)
    engine = measure_candidate(candidate, loaded, base_alignment=base, precision=precision)

    row = measure(build(own(name), tmp_path), trace, 8, every_size=precision.every_size)

    assert engine.replay is not None
    assert (row.r_min, row.r_safe) == (engine.r_min, engine.r_safe)
    assert row.step <= engine.step or not engine.step, "of one heap more are tried"
    assert row.placements == engine.replay.placement_hash
    assert (row.loads, row.stores) == (engine.replay.loads, engine.replay.stores)
    measured = measures_of(engine, loaded, load_sram())
    assert row.longest_accesses == measured.longest_accesses > row.accesses_per_operation
    assert row.accesses_per_operation == pytest.approx(measured.accesses, rel=1e-3)
    assert (row.statics_bytes, row.faults, row.is_sized) == (0, (), False)


def test_every_region_is_tried_where_that_is_cheap(tmp_path: Path) -> None:
    trace = heapfit.generate_workload("slotbuf:events=500", tmp_path / "walk.parquet")
    built = build(own("tlsf"), tmp_path)
    row, exact = measure(built, trace, 8), measure(built, trace, 8, every_size=True)
    assert row.step == exact.step == 8
    assert (row.r_min, row.r_safe) == (exact.r_min, exact.r_safe)


def test_regions_between_the_scanned_ones_are_not_tried_where_that_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapfit.plugin.measuring.limit_to_try_all", lambda *_: 0)
    trace = heapfit.generate_workload("slotbuf:events=500", tmp_path / "walk.parquet")
    assert measure(build(own("tlsf"), tmp_path), trace, 8).step > 8


def test_variables_count_in_the_region_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "big.c").write_text(
        '#include "heapfit_plugin.h"\n'
        "static char *next, *end;\nstatic volatile char table[1000];\n"
        "void *plugin_init(void *region, size_t size, size_t alignment) {\n"
        "    (void)alignment; next = region; end = next + size; table[size % 1000] = 1;\n"
        "    return region;\n}\n"
        "void *plugin_alloc(void *heap, size_t size) {\n"
        "    (void)heap; size = (size + 7) / 8 * 8;\n"
        "    if (size > (size_t)(end - next)) return 0;\n"
        "    next += size; return next - size;\n}\n"
        "void plugin_free(void *heap, void *block) { (void)heap; (void)block; }\n"
    )
    built = build(plugin_of(tmp_path / "big.c"), tmp_path / "built")

    assert dict(built.statics) == {"table": 1000, "end": 4, "next": 4}
    assert built.statics_bytes >= 1008


def test_malloc_of_its_own_is_no_foreign_memory(tmp_path: Path) -> None:
    source = (PLUGINS / "faulty.c").read_text()
    (tmp_path / "own.c").write_text(
        source.replace("take(h, 8, asked)", "malloc(asked)")
        .replace(
            "void *plugin_alloc(",
            "static heap *it;\nvoid *malloc(size_t n) { return take(it, 8, n); }"
            "\nvoid *plugin_alloc(",
        )
        .replace("h->requests++;", "h->requests++; it = h;")
    )
    plugin = plugin_of(tmp_path / "own.c", cflags=["-DFAULT=NONE", "-fno-builtin"])

    assert measure(build(plugin, tmp_path / "built"), ECHO).faults == ()


BUMP_IN_CXX = """
#include "heapfit_plugin.h"
namespace {
struct heap { char *next, *end; };
}
void *plugin_init(void *region, size_t size, size_t) {
    if (size < LEAST) return nullptr;
    auto *h = static_cast<heap *>(region);
    *h = {static_cast<char *>(region) + 16, static_cast<char *>(region) + size};
    return h;
}
void *plugin_alloc(void *all, size_t size) {
    auto *h = static_cast<heap *>(all);
    const size_t left = static_cast<size_t>(h->end - h->next);
    if (size > left || (size + 7) / 8 * 8 > left) return nullptr;
    char *block = h->next;
    h->next += (size + 7) / 8 * 8;
    return block;
}
void plugin_free(void *, void *) {}
"""


@pytest.mark.parametrize("bits", [32, 64])
def test_a_plug_in_in_cxx_is_metered_and_what_no_attack_reached_is_told(
    bits: int, tmp_path: Path
) -> None:
    source = tmp_path / "bump.cpp"
    source.write_text(BUMP_IN_CXX)
    trace = heapfit.generate_workload("slotbuf:events=500", tmp_path / "walk.parquet")
    row = measure(build(plugin_of(source, bits, ["-DLEAST=70000"]), tmp_path / "built"), trace)

    assert (row.bits, row.faults) == (bits, ())
    assert row.loads is not None and (row.accesses_per_operation or 0) >= 0.5
    outcomes = {*row.attacks.values(), *row.misuse.values(), *row.extremes.values()}
    assert outcomes == {NOT_RUN}  # attacks' region is below the least that it takes
    assert row.r_safe is not None


def test_an_archive_is_a_plug_in_whose_accesses_are_not_known(tmp_path: Path) -> None:
    bump = ROOT / "examples/plugins/bump.c"
    words = ("gcc", "-m32", "-O2", "-fno-pie", f"-I{INCLUDE}", "-c", str(bump), "-o", "bump.o")
    subprocess.run(words, cwd=tmp_path, check=True)
    subprocess.run(("ar", "rc", "libbump.a", "bump.o"), cwd=tmp_path, check=True)

    trace = heapfit.generate_workload("slotbuf:events=500", tmp_path / "walk.parquet")
    archived = measure(build(plugin_of(tmp_path / "libbump.a"), tmp_path / "built"), trace)
    compiled = measure(build(plugin_of(bump), tmp_path / "other"), trace)

    assert archived.loads is None and compiled.loads is not None
    assert (archived.r_min, archived.placements) == (compiled.r_min, compiled.placements)
    assert archived.extremes == dict.fromkeys(EXTREMES, NO_HARM)


def test_what_cannot_be_built_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "half.c").write_text('#include "heapfit_plugin.h"\n')
    with pytest.raises(HeapfitError, match="plugin_init"):
        build(plugin_of(tmp_path / "half.c"), tmp_path / "built")
    with pytest.raises(HeapfitError, match="no such plug-in"):
        plugin_of(tmp_path / "none.c")
    with pytest.raises(HeapfitError, match=r"\(known: "):
        plugin_of(ECHO)
    os.mkfifo(tmp_path / "pipe.o")
    with pytest.raises(HeapfitError, match=r"pipe\.o: not a plug-in's source"):
        plugin_of(tmp_path / "pipe.o")
    with pytest.raises(HeapfitError, match=r"^true: cannot be run: Argument list too long$"):
        external_tool.run(["true", "x" * (1 << 18)], tmp_path)  # as of thousands of sections
    (tmp_path / "wrong.c").write_text("int one = nothing;\nint two = none;\nint three = {;\n" * 9)
    with pytest.raises(
        HeapfitError, match=r"gcc: ended with 1: \S+wrong\.c:1:11: error: .nothing."
    ):
        build(plugin_of(tmp_path / "wrong.c"), tmp_path / "built")
    adapter = "void *other(void *);\nvoid *plugin_init(void *region) { return other(region); }\n"
    (tmp_path / "alone.c").write_text(adapter)
    with pytest.raises(HeapfitError, match=r"alone: calls .*the folder of all\).* .other'"):
        build(plugin_of(tmp_path / "alone.c"), tmp_path / "built")


def test_flags_are_of_all_plug_ins_or_of_the_one_that_is_named(tmp_path: Path) -> None:
    paths = [tmp_path / "one.c", tmp_path / "two.c"]
    for path in paths:
        path.touch()

    one, two = plugins_of(paths, 32, ["-DALL -DTEXT='a: b'", "two: -DTWO"])

    assert one.cflags == ("-DALL", "-DTEXT=a: b", f"-I{tmp_path}")
    assert two.cflags == ("-DALL", "-DTEXT=a: b", "-DTWO", f"-I{tmp_path}")
    with pytest.raises(HeapfitError, match=r"--cflags too: -DX: no plug-in too .*two"):
        plugins_of(paths, 32, ["too: -DX"])
    with pytest.raises(HeapfitError, match="--cflags -D': No closing quotation"):
        plugins_of(paths, 32, ["-D'"])


def test_without_building_only_what_comes_compiled_is_taken(tmp_path: Path) -> None:
    ready, hidden = tmp_path / "ready.a", tmp_path / "hidden"
    hidden.mkdir()
    crate = tmp_path / "crate.a"  # a folder, whatever its name ends with
    crate.mkdir()
    for path in (ready, hidden / "ready.o", hidden / "more.c", crate / "Cargo.toml"):
        path.touch()

    def told(*paths: Path) -> str:
        given = [word for path in paths for word in ("--plugin", path)]
        words = ("compare", ECHO, "tlsf", *given, "--no-build")
        return run_heapfit(*words, folder=tmp_path, environment=os.environ).stderr

    assert "--no-build: hidden would be built" in told(ready, hidden)
    assert "--no-build: crate.a would be built" in told(ready, crate)
    assert "--no-build" not in told(ready)


# Names of mattconte/tlsf around core's TLSF; like the original, it writes to its region unasked.
PAGE_TLSF = """
#include "hfit/tlsf.h"
#include <string.h>
static const hfit_tlsf_plan PLAN = {{4}, 0, 2};
static inline size_t tlsf_align_size(void) { return 4; }
static inline size_t tlsf_size(void) { return 1024; }
static inline void *tlsf_create_with_pool(void *at, size_t size) {
    memset(at, 0xff, tlsf_size());
    return hfit_tlsf_init(at, size, &PLAN.common);
}
static inline void *tlsf_malloc(void *it, size_t n) {
    return hfit_tlsf_alloc(it, &PLAN.common, n);
}
static inline void *tlsf_memalign(void *it, size_t alignment, size_t n) {
    return hfit_tlsf_alloc_aligned(it, &PLAN.common, alignment, n);
}
static inline void *tlsf_realloc(void *it, void *block, size_t n) {
    return hfit_tlsf_resize(it, &PLAN.common, block, n);
}
static inline void tlsf_free(void *it, void *block) { hfit_tlsf_free(it, &PLAN.common, block); }
"""


def test_the_adapter_of_the_page_works_as_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs/plugins.md").read_text()
    adapter = re.search(r"```c\n(#include .*?)```", page, re.DOTALL)
    assert adapter is not None
    (tmp_path / "adapter.c").write_text(adapter[1])
    (tmp_path / "tlsf.h").write_text(PAGE_TLSF)
    shipped = own("tlsf")
    sources = (tmp_path / "adapter.c", shipped.sources[1])
    plugin = Plugin("tlsf", sources, 32, (*shipped.cflags, f"-I{tmp_path}"))

    row = measure(build(plugin, tmp_path / "built"), ECHO, 4)

    assert row.faults == () and row.r_safe is not None


def test_the_page_has_plug_ins_among_the_candidates(tmp_path: Path) -> None:
    plugin = ROOT / "examples/plugins/bump.c"
    words = ["compare", ECHO, "tlsf", "--plugin", plugin, "--report", "page.html"]
    done = run_heapfit(*words, folder=tmp_path, environment=os.environ)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    table = page[page.index('id="candidates"') :]
    row = table[table.index("bump") : table.index("</tr>", table.index("bump"))]
    assert "your plug-in" in row and "132,368" in row
    assert "bump: no fault was found in its replays." in page
    assert table.index(">tlsf") < table.index(">bump"), "it needs less"
    tlsf = table[table.index("tlsf") : table.index("</tr>", table.index("tlsf"))].replace(
        "\xa0", " "
    )
    assert '<td data-label="Rsafe">95,864 B</td>' in tlsf
    assert '<td data-label="with its margin">102,576 B</td>' in tlsf, "7 % of it, a multiple of 8"


def test_compare_tells_of_plug_ins_beside_ours_and_ends_with_3_after_faults(
    tmp_path: Path,
) -> None:
    words = ["compare", ECHO, "tlsf", "--plugin", PLUGINS / "faulty.c", "--cflags"]
    sound, shown = (
        run_heapfit(*words, "-DFAULT=NONE", *as_json, folder=tmp_path, environment=os.environ)
        for as_json in (["--json"], [])
    )
    faulty = run_heapfit(*words, "-DFAULT=CRASH", folder=tmp_path, environment=os.environ)

    content = json.loads(sound.stdout)
    (row,) = content["plugins"]
    assert (sound.returncode, row["name"], row["faults"]) == (0, "faulty", [])
    assert row["bits"] == 64, "the recording's"
    assert "@ built for 64 bits: pointers twice as wide" in shown.stdout
    rows = [line.split() for line in shown.stdout.splitlines()]
    ours, foreign = (
        next(row for row in rows[2:] if row[:1] == [one]) for one in ("tlsf", "faulty@")
    )
    assert len(ours) == len(foreign), "of one table"
    assert abs(rows.index(ours) - rows.index(foreign)) == 1
    (joined,) = (one for one in content["rows"] if one["is_plugin"])
    assert joined["name"] == "faulty" and joined["r_safe"] > content["u_max"]
    assert joined["longest_accesses"] > joined["accesses_per_operation"] > 0
    assert faulty.returncode == 3
    assert "faulty has a fault (crash): see below." in faulty.stdout.replace("\n", " ")
    assert "faulty: crash: event" in faulty.stdout


def test_requests_of_0_bytes_come_as_1_and_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "zero.heap").write_text(
        "# heap-events 1\n# pointer_bits 32\na 0 0\na 1 40\nr 1 0\n"
    )
    words = ["compare", "zero.heap", "heap_4", "--plugin", ROOT / "examples/plugins/bump.c"]
    shown, read = (
        run_heapfit(*words, *more, folder=tmp_path, environment=os.environ).stdout
        for more in ([], ["--json"])
    )
    note = "1 of 2 requests is of 0 B, which are passed to it as 1 B"
    assert f"bump: {note}." in " ".join(shown.split())
    assert json.loads(read)["plugins"][0]["notes"] == [note]


def test_a_plug_in_that_takes_no_region_is_told_so(tmp_path: Path) -> None:
    words = ["compare", ECHO, "tlsf", "--plugin", ROOT / "examples/plugins/bump.c"]
    done = run_heapfit(*words, "--alignment", "16", folder=tmp_path, environment=os.environ)

    assert done.returncode == 0
    assert "bump: serves the trace in no region" in done.stdout


def test_a_crate_that_is_built_by_cargo_is_measured(tmp_path: Path) -> None:
    crate = plugin_of(ROOT / "bench/crates/linked_list_allocator", bits=64)
    built = build(crate, tmp_path)

    row = measure(built, ECHO, 4)

    assert row.faults == ()
    assert row.is_sized and row.loads is None
    assert marks_of(row) == "#@" and explain_marks([], [row])[0].startswith("# sized")
    assert row.statics_bytes == 48
    assert 1.08 < (row.over_u_max or 0) < 1.09


# ---- confinement

FAULTY = Path(__file__).parent / "plugins/faulty.c"
HEAD = f"""#define _GNU_SOURCE
#define FAULT NONE
#define plugin_init sound_init
#include "{FAULTY}"
#undef plugin_init
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#define told (*(volatile uint32_t **)TOLD) /* the host's answer, host/answer.h */
static char flood[1 << 16];
static char victim[] = VICTIM;
static inline void leave_file(void) {{ close(open(TRACE, O_CREAT | O_WRONLY, 0600)); }}
"""
# What init does, and the fault that it is; VICTIM is a file that exists, TRACE one that does not.
WAYS = {
    '__asm__ volatile("int $0x80" :: "a"(15), "b"(victim), "c"(0777) : "memory")': "system call",
    "syscall(0x40000000 | SYS_chmod, victim, 0777)": "system call",  # by the numbers of x32
    "syscall(0x40000000 | SYS_exit, 7)": "system call",
    "leave_file()": "system call",
    "chmod(victim, 0777)": "system call",
    "socket(AF_INET, SOCK_STREAM, 0)": "system call",
    "socket(AF_UNIX, SOCK_DGRAM, 0)": "system call",
    "sendto(1, flood, 9, 0, 0, 0)": "system call",
    'write(1, "1 1 1 1 1 1 1 1 1 0 0 0\\n", 24)': "system call",
    "for (;;) write(2, flood, sizeof flood)": "system call",
    "for (;;) read(0, flood, 1)": "system call",
    "if (fork() == 0) { leave_file(); _exit(0); }": "system call",
    'execl("/bin/touch", "touch", TRACE, (char *)0)': "system call",
    "kill(getppid(), SIGKILL)": "system call",
    "syscall(SYS_kill, 0, SIGSTOP)": "system call",
    "syscall(SYS_rt_sigqueueinfo, 1, SIGTERM, flood)": "system call",
    "raise(SIGSTOP)": "system call",
    "signal(SIGSEGV, SIG_IGN)": "system call",
    "syscall(SYS_rt_sigreturn)": "system call",  # which would set the mask of signals
    "ptrace(PTRACE_TRACEME, 0, 0, 0)": "system call",
    """{ struct iovec one = {(void *)TRACE, 1};
        process_vm_writev(1, &one, 1, &one, 1, 0); }""": "system call",
    'open("/proc/self/mem", O_RDWR)': "system call",
    "prctl(PR_SET_SECCOMP, 0, 0, 0, 0)": "system call",
    "for (;;) mmap(0, 1 << 30, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)": "system call",
    "for (size_t end = 0;; end += 1 << 30) syscall(SYS_brk, end)": "system call",
    "for (;;) *(volatile char *)malloc(1 << 20) = 1": "other memory",
    "for (volatile char *at = flood;; at--) *at = 1": "crash",
    "for (volatile char *at = __builtin_frame_address(0);; at -= 4096) *at = 1": "crash",  # a stack
    "((long (*)(long *))0xffffffffff600400)(0)": "system call",  # through the kernel's own page
    """{ char *const words[] = {"touch", TRACE, 0};
        syscall(SYS_execveat, AT_FDCWD, "/bin/touch", words, 0, 0); }""": "system call",
    "syscall(425, 8, flood)": "system call",  # a ring of requests, io_uring
    "for (int i = 0; i < 18; i++) told[i] = ~0u": "crash",
    # From a segment of 32 bits, where 15 is chmod.
    """{ static unsigned char code[] __attribute__((section(".text.c,\\"awx\\",@progbits#"))) =
            {0xb8, 15, 0, 0, 0, 0xcd, 0x80, 0xcb};
        __asm__ volatile("push $0x23\\n push %0\\n lretq"
            :: "r"((long)code), "b"(victim), "c"(0777) : "memory"); }""": "system call",
    '__asm__ volatile("pushfq\\n orq $0x100, (%rsp)\\n popfq\\n nop")': "crash",  # step by step
    '__asm__ volatile("xor %esp, %esp\\n push %rax")': "crash",  # without a stack
    "{ extern void _start(void); _start(); }": "system call",  # the host once more
    "for (struct timespec t;;) clock_gettime(CLOCK_MONOTONIC, &t)": "endless loop",  # no call
    "syscall(SYS_exit, 7)": "abort",
    'for (;;) __asm__ volatile("")': "endless loop",
    "for (;;) told[2]++": "endless loop",  # the events that are done
}
# From 32 bits into a segment of 64, where 90 is chmod.
GATE = """__asm__ volatile("lcall $0x33, $1f\\n jmp 2f\\n1: syscall\\n lret\\n2:"
    :: "a"(90), "D"(victim), "S"(0777) : "memory", "ecx")"""
# By these the kernel enters its own probes, whatever filters say; from elsewhere they do nothing.
OF_PROBES = {335, 336}
PRIVILEGED = (
    *("hlt", "cli", "sti", "clts", "invd", "wbinvd", "rdmsr", "wrmsr", "swapgs", "invlpg (%rax)"),
    *("mov %rax, %cr0", "mov %cr3, %rax", "mov %dr0, %rax", "lgdt (%rsp)", "lidt (%rsp)"),
    *("ltr %ax", "lldt %ax", "lmsw %ax", "in $0x80, %al", "out %al, $0x80", "insb", "outsb"),
    *("sysexit", "sysret", "vmlaunch", "rsm", "xsetbv", "ud2", "mov %eax, %ds"),
)
# What would run before the child is confined, and what is found of it.
EARLY_CODE = "void __attribute__((used)) early(void) { leave_file(); }\n"
KEPT = """extern volatile char kept[];
static void __attribute__((constructor)) keep(void) { kept[0] = kept[1]; }
"""


def early_list(section: str) -> str:
    return f'__asm__(".section {section},\\"aw\\"\\n kept: .quad early\\n .previous");'


EARLY = {
    EARLY_CODE + '__asm__(".section .init,\\"ax\\"\\n call early\\n .previous");': "has .init, ",
    EARLY_CODE + KEPT + early_list(".ctors.9"): "has .ctors.9, ",
    EARLY_CODE + KEPT + early_list('\\".init_array. 1\\"'): "has .init_array. 1 ",
    "static void real(void) {}\n"
    "static void (*resolve(void))(void) { leave_file(); return real; }\n"
    'void chosen(void) __attribute__((ifunc("resolve")));\n'
    "static void __attribute__((constructor)) calls(void) { chosen(); }": "has an IFUNC resolver, ",
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return host_objects(64, tmp_path_factory.mktemp("host"))


def plugin(code: str, folder: Path, bits: int = 64, told: int = 0) -> Plugin:
    source, victim = folder / "escape.c", folder / "victim"
    victim.touch(0o600)
    names = f'#define VICTIM "{victim}"\n#define TRACE "{folder / "trace"}"\n'
    source.write_text(names + HEAD + code)
    return Plugin("escape", (source,), bits, (f"-DTOLD={told:#x}",))


def with_ways(ways: list[str]) -> str:
    """A plug-in that goes the way of this number in a region of so many bytes above 4,096."""
    cases = "\n".join(f"case {4096 + i}: {way}; break;" for i, way in enumerate(ways))
    return (
        "void *plugin_init(void *region, size_t size, size_t alignment) {\n"
        f"switch (size) {{ {cases} }}\n return sound_init(region, size, alignment); }}"
    )


def faults_of(built: Built, folder: Path, count: int) -> list[str]:
    """The fault of each way, all of one process, which is sound at the end."""
    (folder / "events").touch()
    with start_process(built.program, folder / "events", 8) as process:
        found = [process.ask("places", 4096 + i)[1] for i in range(count + 1)]
    assert found[-1] is None
    return ["" if fault is None else fault.name for fault in found[:-1]]


def address_of(name: str, program: Path) -> int:
    """Of a variable of the host's."""
    listing = subprocess.check_output(["nm", program], text=True)
    (found,) = re.findall(rf"^(\S+) [bB] {name}$", listing, re.MULTILINE)
    return int(found, 16)


def assert_no_trace(folder: Path) -> None:
    assert not (folder / "trace").exists()
    assert (folder / "victim").stat().st_mode & 0o777 == 0o600


def test_every_way_out_ends_the_child_and_leaves_nothing(
    tmp_path: Path, host: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "REPLAY", 1)
    hostile = with_ways(list(WAYS))
    first = build(plugin(hostile, tmp_path), tmp_path / "built", host)
    told = address_of("told", first.program)
    built = build(plugin(hostile, tmp_path, told=told), tmp_path / "built", host)
    assert address_of("told", built.program) == told
    monkeypatch.chdir(tmp_path)
    limits = {one: resource.getrlimit(one) for one in (resource.RLIMIT_CORE, resource.RLIMIT_STACK)}
    before = {path.name for path in tmp_path.iterdir()}

    try:
        for one, (_, most) in limits.items():
            resource.setrlimit(one, (most, most))
        found = faults_of(built, tmp_path, len(WAYS))
    finally:
        for one, limit in limits.items():
            resource.setrlimit(one, limit)

    assert dict(zip(WAYS, found, strict=True)) == WAYS
    assert_no_trace(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*before, "events"}, "a core was kept"


def test_a_call_from_a_segment_of_64_bits_ends_a_child_of_32(tmp_path: Path) -> None:
    built = build(plugin(with_ways([GATE]), tmp_path, 32), tmp_path / "built")

    assert faults_of(built, tmp_path, 1) == ["system call"]
    assert_no_trace(tmp_path)


@pytest.mark.parametrize(("bits", "ends"), [(64, 60), (32, 1)])
def test_a_call_of_the_system_by_any_number_ends_the_child(
    bits: int, ends: int, tmp_path: Path
) -> None:
    numbers = of_the_day(4, [n for n in (*range(512), -1, 0x7FFFFFFF) if n != ends])
    ways = [f"syscall({number}, victim, 0777, 0, 0, 0, 0)" for number in numbers]
    built = build(plugin(with_ways(ways), tmp_path, bits), tmp_path / "built")

    found = dict(zip(numbers, faults_of(built, tmp_path, len(ways)), strict=True))
    let = {number for number, fault in found.items() if fault != "system call"}
    assert let <= (OF_PROBES if bits == 64 else set())
    assert_no_trace(tmp_path)


def test_no_interrupt_and_no_instruction_of_the_kernel_s_leads_out(
    tmp_path: Path, host: list[Path]
) -> None:
    vectors = [f"int ${number}" for number in of_the_day(8, range(256)) if number != 0x80]
    codes = (*vectors, *(code.replace("%", "%%") for code in PRIVILEGED))
    ways = [f'__asm__ volatile("{code}" ::: "memory")' for code in codes]
    built = build(plugin(with_ways(ways), tmp_path), tmp_path / "built", host)

    assert {*faults_of(built, tmp_path, len(ways))} == {"crash"}


@pytest.mark.parametrize(("code", "why"), EARLY.items(), ids=EARLY.values())
def test_code_that_would_run_before_the_child_is_refused(
    code: str, why: str, tmp_path: Path, host: list[Path]
) -> None:
    with pytest.raises(HeapfitError, match=why):
        build(plugin(with_ways([]) + code, tmp_path), tmp_path / "built", host)

    assert_no_trace(tmp_path)


def test_a_destructor_does_not_run_in_the_host(tmp_path: Path, host: list[Path]) -> None:
    code = "static void __attribute__((destructor)) escape(void) { leave_file(); }"
    built = build(plugin(with_ways([]) + code, tmp_path), tmp_path / "built", host)
    (tmp_path / "events").touch()

    done = subprocess.run(
        [built.program, built.program.with_suffix(".image"), tmp_path / "events", "8", "1"],
        input="places 4096\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    assert_no_trace(tmp_path)


def test_a_ready_object_that_a_linker_would_interpret_is_refused(
    tmp_path: Path, host: list[Path]
) -> None:
    source = plugin(with_ways([]), tmp_path).sources[0]
    slim, script = tmp_path / "@slim.o", tmp_path / "script.o"
    words = ["gcc", "-flto", f"-I{INCLUDE}", "-c", str(source), "-o", str(slim)]
    subprocess.run(words, check=True)
    (tmp_path / "slim.o").write_text("decoy.o")  # which `size @slim.o` would list instead
    subprocess.run(["gcc", "-c", "-xc", "/dev/null", "-o", tmp_path / "decoy.o"], check=True)
    script.write_text("INPUT(escape.o)\n")

    for ready, why in ((slim, r"has \.gnu\.lto_"), (script, "file format not recognized")):
        with pytest.raises(HeapfitError, match=why):
            build(Plugin("ready", (ready,), 64), tmp_path / "built", host)


def test_what_a_compiler_started_ends_with_it(tmp_path: Path) -> None:
    """Of a driver that does not end its compiler would, which may wait at a pipe for ever."""
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(HeapfitError, match="sh: not done after 2 seconds"):
        external_tool.run(["sh", "-c", "sh -c 'echo is; sleep 99' > alive & wait"], tmp_path, 2)

    assert os.read(alive, 9) == b"is\n"
    assert select.select([alive], [], [], 10)[0]
    assert os.read(alive, 9) == b"", "somebody could write more"
    os.close(alive)


def test_an_archive_of_names_is_refused_before_a_tool_opens_what_it_names(
    tmp_path: Path, host: list[Path]
) -> None:
    thin, member = tmp_path / "thin.a", tmp_path / "member.o"
    source = plugin(with_ways([]), tmp_path).sources[0]
    subprocess.run(["gcc", f"-I{INCLUDE}", "-DTOLD=0", "-c", source, "-o", member], check=True)
    subprocess.run(["ar", "rcT", thin, member], check=True, cwd=tmp_path)
    member.unlink()
    os.mkfifo(member)  # at which a tool would wait

    with pytest.raises(HeapfitError, match="has names of other files"):
        build(Plugin("ready", (thin,), 64), tmp_path / "built", host)


def test_variables_have_a_limit_whatever_their_section(tmp_path: Path, host: list[Path]) -> None:
    def code(size: int) -> str:
        asm = f'__asm__(".section mine,\\"aw\\",@nobits\\n kept: .zero {size}\\n .previous");'
        return with_ways([]) + KEPT + asm

    small = build(plugin(code(1000), tmp_path), tmp_path / "built", host)
    with pytest.raises(HeapfitError, match=r"has 536,\d+,\d+ B of variables"):
        build(plugin(code(1 << 29), tmp_path), tmp_path / "built", host)

    assert small.statics_bytes == 1000


# ---- the examples
PAGE = ROOT / "docs/plugins.md"


# Rust's library for 32 bits installs from no Debian package, so what tests build is for 64.
@pytest.mark.parametrize(("name", "bits"), [("bump.c", 32), ("buddy", 64)])
def test_an_example_is_sound_and_serves(name: str, bits: int, tmp_path: Path) -> None:
    row = measure(build(plugin_of(ROOT / "examples/plugins" / name, bits), tmp_path), ECHO)

    assert row.faults == ()
    assert row.r_min is not None
    assert 1.4 < (row.over_u_max or 0) < 1.6
    assert row.misuse["double free"] == "overlap"
    assert row.misuse["write after free"] == "crash"


# Clone, installation and all recordings are part of `make test-long`.
ALL = os.environ.get("HEAPFIT_ALL_EXAMPLES") == "1"
SOME = ("bison-1", "routes32-1", "terms32-1")


def link_examples(folder: Path) -> None:
    """The example folders that the page's commands name, with some of the recordings."""
    (folder / "recordings/traces").mkdir(parents=True)
    for name in ("plugins", "sqlite"):
        (folder / name).symlink_to(ROOT / "examples" / name)
    for name in SOME:
        trace = f"recordings/traces/{name}.parquet"
        (folder / trace).symlink_to(ROOT / "examples" / trace)


def test_at_most_ten_commands_lead_from_a_clone_to_a_row_in_the_league(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```bash\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    commands = block.replace("\\\n", " ").splitlines()
    assert len(commands) <= 10
    assert commands[0].split()[:2] == ["git", "clone"]
    if ALL:
        commands = [one.replace("URL", str(ROOT)) for one in commands]
        folder = tmp_path / "heapfit"
    else:
        link_examples(tmp_path / "examples")
        for name in ("bench", "target"):
            (tmp_path / name).symlink_to(ROOT / name)
        commands = [one for one in commands if "examples/" in one]
        folder = tmp_path
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", "\n".join(["set -eu", *commands])],
        cwd=tmp_path,
        env={**os.environ, "PATH": programs, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    with (folder / "out/league.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    found = {row["entrant"]: row for row in rows if row["recording"] == "bison-1"}
    assert set(found) == {"tlsf", "bump", "buddy", "broken"}
    assert found["broken"]["faults"] == "overlap"
    assert int(found["buddy"]["r_safe"]) > int(found["tlsf"]["r_safe"])
    recordings = {row["recording"] for row in rows}
    assert len(recordings) > 30 if ALL else recordings == set(SOME)


def test_the_page_explains_each_fault() -> None:
    table = PAGE.read_text().partition("## Faults")[2]
    assert [name for name in FAULT_NAMES if name not in table] == []


# ---- faults

SOURCE = Path(__file__).parent / "plugins/faulty.c"
PLANTED = {
    "OVERLAP": "overlap",
    "MISALIGNED": "misaligned",
    "OUTSIDE": "outside the region",
    "TOO_SMALL": "too small",
    "HEADER_IN_PAYLOAD": "header in payload",
    "RESIZE_LOSES": "resize loses content",
    "NEVER_REUSED": "freed memory never reused",
    "NULL_CHANGES": "NULL changes a block",
    "ALIGNMENT_IGNORED": "alignment ignored",
    "MALLOC": "other memory",
    "ENDLESS": "endless loop",
    "ABORTS": "abort",
    "CRASH": "crash",
    "SLEEPS": "system call",
    "OVERFLOWS": "impossible served",
}

# What a constructor does, and the fault that it is told as.
HOSTILE = {
    'for (;;) __asm__ volatile("")': "endless loop",
    "raise(SIGSTOP)": "system call",
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """300 requests of all kinds."""
    draw = random.Random(1)
    lines = ["# heap-events 1", "# pointer_bits 32"]
    live: list[int] = []
    for number in range(300):
        size = draw.randrange(1, 300)
        lines.append(f"m {number} {size} 64" if number % 7 == 0 else f"a {number} {size}")
        live.append(number)
        if number % 3 == 0:
            lines.append(f"r {draw.choice(live)} {draw.randrange(1, 500)}")
        if len(live) > 40:
            lines.append(f"f {live.pop(draw.randrange(len(live)))}")
    folder = tmp_path_factory.mktemp("trace")
    (folder / "all.txt").write_text("\n".join(lines) + "\n")
    return open_any(folder / "all.txt", ImportOptions(), folder)


@pytest.fixture(scope="module")
def faulty_host(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The program that all of them are linked into."""
    return host_objects(32, tmp_path_factory.mktemp("host"))


def measured(fault: str, host: list[Path], trace: Trace, folder: Path) -> PluginRow:
    plugin = Plugin(fault, (SOURCE,), 32, (f"-DFAULT={fault}",))
    return measure(build(plugin, folder, host), trace)


@pytest.mark.parametrize(("fault", "name"), PLANTED.items())
def test_a_planted_fault_is_found_by_its_name(
    fault: str, name: str, faulty_host: list[Path], trace: Trace, tmp_path: Path
) -> None:
    row = measured(fault, faulty_host, trace, tmp_path)

    assert name in FAULT_NAMES
    assert {one.name for one in row.faults} == {name}


def test_an_alignment_counted_from_the_region_fails_at_the_same_in_every_run(
    trace: Trace, tmp_path: Path
) -> None:
    """The region of an attack has 64 KiB: it starts at an odd multiple of that."""
    (tmp_path / "offsets.c").write_text(
        '#include "heapfit_plugin.h"\n'
        "static char *start; static size_t next, end, live;\n"
        "void *plugin_init(void *region, size_t size, size_t alignment) {\n"
        "    (void)alignment; start = region; end = size; next = live = 0; return region;\n}\n"
        "void *plugin_alloc_aligned(void *heap, size_t alignment, size_t size) {\n"
        "    (void)heap; size_t at = (next + alignment - 1) / alignment * alignment;\n"
        "    if (at > end || size > end - at) return 0;\n"
        "    next = at + size; live++; return start + at;\n}\n"
        "void plugin_free(void *heap, void *block) {\n"
        "    (void)heap; (void)block; if (--live == 0) next = 0;\n}\n"
    )
    built = build(plugin_of(tmp_path / "offsets.c"), tmp_path / "built")
    told = [" ".join(map(str, measure(built, trace).faults)) for _ in range(4)]
    assert len(set(told)) == 1
    assert "a block is not aligned to 131,072 as requested" in told[0]


def test_every_name_of_a_fault_is_planted() -> None:
    assert set(PLANTED.values()) == set(FAULT_NAMES)


@pytest.mark.parametrize(("attack", "name"), HOSTILE.items())
def test_a_hostile_constructor_is_contained_and_named(
    attack: str, name: str, faulty_host: list[Path], trace: Trace, tmp_path: Path
) -> None:
    plugin = Plugin("hostile", (SOURCE.parent / "hostile.c",), 32, (f"-DHOSTILE={attack}",))
    row = measure(build(plugin, tmp_path, faulty_host), trace)

    assert {fault.name for fault in row.faults} == {name}
    assert row.r_safe is None


def test_an_answer_of_its_own_cannot_say_that_it_needs_less_than_is_live(
    faulty_host: list[Path], trace: Trace, tmp_path: Path
) -> None:
    def built(statement: str) -> Built:
        flags = (f"-DHOSTILE={statement}",)
        return build(Plugin("lies", (SOURCE.parent / "hostile.c",), 32, flags), tmp_path, host)

    host = faulty_host
    answer = address_of("told", built("").program)
    served = f"(*(volatile uint32_t **){answer:#x})"  # runs, is_region
    leave = '__asm__ volatile("int $0x80" :: "a"(1), "b"(0))'
    row = measure(built(f"{served}[0] = {served}[1] = 1; {leave}"), trace)

    assert {fault.name for fault in row.faults} == {"impossible served"}
    assert f"{row.u_max:,} B" in row.faults[0].what
    assert row.r_safe is None


def test_constructors_run_in_their_order_before_init(
    faulty_host: list[Path], trace: Trace, tmp_path: Path
) -> None:
    source = tmp_path / "ordered.c"
    source.write_text(
        f'''#define FAULT NONE
        #include "{SOURCE}"
        static int order;
        __attribute__((constructor(102))) static void second(void) {{ order = order * 10 + 2; }}
        __attribute__((constructor(101))) static void first(void) {{ order = order * 10 + 1; }}
        __attribute__((constructor)) static void last(void) {{ if (order != 12) abort(); }}'''
    )
    row = measure(
        build(Plugin("ordered", (source,), 32, ()), tmp_path / "built", faulty_host), trace
    )

    assert row.faults == () and row.r_safe is not None


@pytest.mark.parametrize("bits", [32, 64])
def test_variables_of_a_thread_have_their_first_values(
    bits: int, trace: Trace, tmp_path: Path
) -> None:
    source = tmp_path / "own.c"
    source.write_text(
        f'''#define FAULT NONE
        #include "{SOURCE}"
        static __thread volatile int first[9] = {{1, 2, 3}}, zero[100];
        __attribute__((constructor)) static void keep(void) {{
            if (first[2] != 3 || first[8] != 0 || zero[99] != 0) abort();
            zero[99] = first[0] = 7;
        }}'''
    )
    row = measure(build(plugin_of(source, bits), tmp_path / "built"), trace)

    assert row.faults == () and row.r_safe is not None


def test_a_process_that_does_not_start_in_time_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nwhile :; do :; done\n")
    sleeper.chmod(0o700)
    monkeypatch.setattr(running, "START", 1)
    with (
        pytest.raises(HeapfitError, match="its process does not start"),
        running.start_process(sleeper, tmp_path / "events", 8),
    ):
        pass


def test_an_adapter_without_free_is_told_which_function_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "half.c").write_text(
        "void *plugin_init(void *r) { return r; }\nvoid *plugin_alloc(void *h) { return h; }\n"
    )
    built = build(plugin_of(tmp_path / "half.c"), tmp_path / "built")
    with pytest.raises(HeapfitError, match="has no plugin_free or plugin_free_sized"):
        measure(built, ECHO)
