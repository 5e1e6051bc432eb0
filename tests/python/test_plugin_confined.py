# SPDX-License-Identifier: Apache-2.0
"""Ways out of the process that a plug-in is measured in: none leaves a trace outside."""

import subprocess
from pathlib import Path

import pytest

from heapfit.errors import HeapfitError
from heapfit.plugin import INCLUDE, Built, Plugin, build, running
from heapfit.plugin.building import host_objects
from heapfit.plugin.running import start_process

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
#include <unistd.h>
extern volatile uint32_t *told; /* the host's answer, host/answer.h */
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
    "for (int i = 0; i < 18; i++) told[i] = ~0u": "crash",
    "syscall(SYS_exit, 7)": "abort",
    'for (;;) __asm__ volatile("")': "endless loop",
    "for (;;) told[2]++": "endless loop",  # the events that are done
}
# From 32 bits into a segment of 64, where 90 is chmod.
GATE = """__asm__ volatile("lcall $0x33, $1f\\n jmp 2f\\n1: syscall\\n lret\\n2:"
    :: "a"(90), "D"(victim), "S"(0777) : "memory", "ecx")"""
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


def plugin(code: str, folder: Path, bits: int = 64) -> Plugin:
    source, victim = folder / "escape.c", folder / "victim"
    victim.touch(0o600)
    names = f'#define VICTIM "{victim}"\n#define TRACE "{folder / "trace"}"\n'
    source.write_text(names + HEAD + code)
    return Plugin("escape", (source,), bits, ())


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


def assert_no_trace(folder: Path) -> None:
    assert not (folder / "trace").exists()
    assert (folder / "victim").stat().st_mode & 0o777 == 0o600


def test_every_way_out_ends_the_child_and_leaves_nothing(
    tmp_path: Path, host: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "REPLAY", 1)
    built = build(plugin(with_ways(list(WAYS)), tmp_path), tmp_path / "built", host)

    found = faults_of(built, tmp_path, len(WAYS))

    assert dict(zip(WAYS, found, strict=True)) == WAYS
    assert_no_trace(tmp_path)


def test_a_call_from_a_segment_of_64_bits_ends_a_child_of_32(tmp_path: Path) -> None:
    built = build(plugin(with_ways([GATE]), tmp_path, 32), tmp_path / "built")

    assert faults_of(built, tmp_path, 1) == ["system call"]
    assert_no_trace(tmp_path)


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
        [built.program, tmp_path / "events", "8", "1"],
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
    slim, script = tmp_path / "slim.o", tmp_path / "script.o"
    words = ["gcc", "-flto", f"-I{INCLUDE}", "-c", str(source), "-o", str(slim)]
    subprocess.run(words, check=True)
    script.write_text("INPUT(escape.o)\n")

    for ready, why in ((slim, r"has \.gnu\.lto_"), (script, "file format not recognized")):
        with pytest.raises(HeapfitError, match=why):
            build(Plugin("ready", (ready,), 64), tmp_path / "built", host)


def test_variables_have_a_limit_whatever_their_section(tmp_path: Path, host: list[Path]) -> None:
    def code(size: int) -> str:
        asm = f'__asm__(".section mine,\\"aw\\",@nobits\\n kept: .zero {size}\\n .previous");'
        return with_ways([]) + KEPT + asm

    small = build(plugin(code(1000), tmp_path), tmp_path / "built", host)
    with pytest.raises(HeapfitError, match=r"has 536,\d+,\d+ B of variables"):
        build(plugin(code(1 << 29), tmp_path), tmp_path / "built", host)

    assert small.statics_bytes == 1000
