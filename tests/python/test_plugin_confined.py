# SPDX-License-Identifier: Apache-2.0
"""Ways out of the process that a plug-in is measured in: none leaves a trace outside."""

import subprocess
from pathlib import Path

import pytest

from heapfit.errors import HeapfitError
from heapfit.plugin import Plugin, build
from heapfit.plugin.running import start_process

FAULTY = Path(__file__).parent / "plugins/faulty.c"
HEAD = f"""#define _GNU_SOURCE
#define FAULT NONE
#include "{FAULTY}"
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
static inline void leave_file(void) {{ close(open(TRACE, O_CREAT | O_WRONLY, 0600)); }}
"""
# What a constructor does; VICTIM is a file that exists, TRACE one that does not.
CALLS = {
    "int 0x80": 'int made; static char victim[] = VICTIM; __asm__ volatile("int $0x80"'
    ' : "=a"(made) : "a"(15), "b"(victim), "c"(0777) : "memory");',
    "x32": "syscall(0x40000000 | SYS_chmod, VICTIM, 0777);",
    "x32 exit": "syscall(0x40000000 | SYS_exit, 7);",
    "open": "leave_file();",
    "chmod": "chmod(VICTIM, 0777);",
    "socket": "socket(AF_INET, SOCK_STREAM, 0);",
    "fork": "if (fork() == 0) { leave_file(); _exit(0); }",
    "kill": "kill(getppid(), SIGKILL);",
    "ptrace": "ptrace(PTRACE_TRACEME, 0, 0, 0);",
    "memory of the host": """struct iovec one = {(void *)TRACE, 1};
        process_vm_writev(1, &one, 1, &one, 1, 0);""",
    "own memory": 'open("/proc/self/mem", O_RDWR);',
    "lift": "prctl(PR_SET_SECCOMP, 0, 0, 0, 0);",
}
# What would run before the child is confined.
EARLY = {
    "init": (
        "void __attribute__((used)) early(void) { leave_file(); }\n"
        '__asm__(".section .init,\\"ax\\",@progbits\\n call early\\n .previous");',
        "has .init, ",
    ),
    "resolver": (
        "static void real(void) {}\n"
        "static void (*resolve(void))(void) { leave_file(); return real; }\n"
        'void chosen(void) __attribute__((ifunc("resolve")));\n'
        "static void __attribute__((constructor)) calls(void) { chosen(); }",
        "has an IFUNC resolver, ",
    ),
}


def plugin(code: str, folder: Path) -> Plugin:
    source, victim = folder / "escape.c", folder / "victim"
    victim.touch(0o600)
    names = f'#define VICTIM "{victim}"\n#define TRACE "{folder / "trace"}"\n'
    source.write_text(names + HEAD + code)
    return Plugin("escape", (source,), 64, ())


def assert_no_trace(folder: Path) -> None:
    assert not (folder / "trace").exists()
    assert (folder / "victim").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("call", CALLS)
def test_a_call_of_the_system_ends_the_child_and_leaves_nothing(call: str, tmp_path: Path) -> None:
    code = f"static void __attribute__((constructor)) escape(void) {{ {CALLS[call]} }}"
    built = build(plugin(code, tmp_path), tmp_path / "built")
    events = tmp_path / "events"
    events.touch()

    with start_process(built.program, events, 8) as process:
        for _ in range(2):  # the host is alive after it
            _, fault = process.ask("places", 4096)
            assert fault is not None and fault.name == "system call"

    assert_no_trace(tmp_path)


@pytest.mark.parametrize("way", EARLY)
def test_code_that_would_run_before_the_child_is_refused(way: str, tmp_path: Path) -> None:
    code, why = EARLY[way]

    with pytest.raises(HeapfitError, match=why):
        build(plugin(code, tmp_path), tmp_path / "built")

    assert_no_trace(tmp_path)


def test_a_destructor_does_not_run_in_the_host(tmp_path: Path) -> None:
    code = "static void __attribute__((destructor)) escape(void) { leave_file(); }"
    built = build(plugin(code, tmp_path), tmp_path / "built")
    events = tmp_path / "events"
    events.touch()

    done = subprocess.run(
        [built.program, events, "8"],
        input="places 4096\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    assert_no_trace(tmp_path)
