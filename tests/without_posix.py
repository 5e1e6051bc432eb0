# SPDX-License-Identifier: Apache-2.0
"""Runs commands where all is missing that Python does not document for Windows.

  python tests/without_posix.py '[["FOLDER", "fit", "run.parquet"], ...]'

Modules, functions and signals are gone; /dev and /proc, a folder that is opened, a file that is
replaced or removed while it is open, and descriptors passed to a process are refused, as Windows
refuses them. Text whose encoding nobody names is of code page 1252, its lines end in CR LF. No
program is on the path. All run in this process; status, output and errors of each are printed, as
JSON. What it cannot show: paths with drives, and the C and C++ code (docs/platforms.md).
"""

import asyncio  # noqa: F401 (of the standard library, loaded while all is there)
import builtins
import concurrent.futures.thread  # noqa: F401
import inspect
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile  # noqa: F401
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401 (others' packages, which on Windows are other files)
import pyarrow.parquet  # noqa: F401

MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
# By Python's documentation of os and signal: availability Unix, not Windows.
OF_OS = """
    fork forkpty geteuid getuid getegid getgid getgroups getpgid killpg mkfifo mknod nice openpty
    posix_spawn pread pwrite register_at_fork sched_getaffinity sched_setaffinity setsid statvfs
    fstatvfs sysconf wait wait3 wait4 waitid uname fchmod chown lchown
    getxattr setxattr listxattr removexattr memfd_create eventfd pipe2 posix_fadvise sendfile
    O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_SYNC
"""
KEPT_SIGNALS = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM"}
OF_SIGNAL = "pthread_sigmask sigwait pthread_kill SIG_BLOCK SIG_UNBLOCK SIG_SETMASK alarm"
CODE_PAGE = "cp1252"
OURS = str(Path(__file__).resolve().parents[1] / "python")


class Missing:
    """A finder of modules that are not there."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """None for a module that others may find; ModuleNotFoundError for those of MODULES."""
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def is_ours() -> bool:
    """True if a file of heapfit made the call: the standard library on Windows is another one."""
    here = inspect.currentframe()
    frame = here and here.f_back and here.f_back.f_back
    while frame and "/lib/python3" in frame.f_code.co_filename:
        if "site-packages" in frame.f_code.co_filename:
            return False
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(OURS)


def require_file(path: Any) -> None:
    """PermissionError or FileNotFoundError for what Windows does not open."""
    if isinstance(path, int) or path == os.devnull or not is_ours():
        return
    name = os.fsdecode(path)
    if name.startswith(("/dev/", "/proc/")):
        raise FileNotFoundError(2, "No such file or directory", name)
    if Path(name).is_dir():
        raise PermissionError(13, "Permission denied", name)


def require_closed(path: Any) -> None:
    """PermissionError for a file that this process has open."""
    if not is_ours():
        return
    name = os.path.realpath(os.fsdecode(path))
    for opened in Path("/proc/self/fd").iterdir():
        if os.path.realpath(opened) == name:
            raise PermissionError(13, "it is open", name)


def checked(function: Callable[..., Any], *checks: Callable[[Any], None]) -> Callable[..., Any]:
    """The function, whose arguments are checked first, each by its check."""

    def call(*arguments: Any, **named: Any) -> Any:
        for check, argument in zip(checks, arguments, strict=False):
            check(argument)
        return function(*arguments, **named)

    return call


def require_new(path: Any) -> None:
    """FileExistsError for what a rename would replace."""
    if is_ours() and Path(path).exists():
        raise FileExistsError(17, "File exists", path)


def start(self: Any, *arguments: Any, **named: Any) -> None:
    """Popen of a program, with nothing that Windows has not."""
    if named.get("pass_fds") or named.get("start_new_session") or named.get("preexec_fn"):
        raise ValueError("not on Windows")
    _start(self, *arguments, **named)


_start = subprocess.Popen.__init__


def take_away() -> None:
    """Takes away all that this file names."""
    sys.meta_path.insert(0, Missing)
    for name in MODULES:
        sys.modules.pop(name, None)
    for name in OF_OS.split():
        vars(os).pop(name, None)
    for name in list(vars(signal)):
        is_signal = name.startswith("SIG") and name[3] != "_"
        if name in OF_SIGNAL.split() or (is_signal and name not in KEPT_SIGNALS):
            delattr(signal, name)
    builtins.open = io.open = open_as_there
    os.open = checked(os.open, require_file)
    os.rename = checked(os.rename, require_closed, require_new)
    os.replace = checked(os.replace, require_closed, require_closed)
    os.unlink = os.remove = checked(os.unlink, require_closed)
    subprocess.Popen.__init__ = start
    shutil.which = lambda *_, **__: None


def open_as_there(file: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
    """The open file, in which text has what Windows takes for its encoding and ends of lines."""
    require_file(file)
    if "b" not in mode and is_ours():
        given = dict(zip(("buffering", "encoding", "errors", "newline"), arguments, strict=False))
        arguments, named = (), given | named
        if named.get("encoding") in (None, "locale"):
            named["encoding"] = CODE_PAGE
        if named.get("newline") is None and mode[0] in "wax":
            named["newline"] = "\r\n"
    return _open(file, mode, *arguments, **named)


_open = open


def run(folder: str, *words: str) -> tuple[int, str, str]:
    """How a command ends in a folder, and what it prints where no terminal is."""
    from heapfit.cli.main import main

    os.chdir(folder)
    out, err = (io.TextIOWrapper(io.BytesIO(), CODE_PAGE, write_through=True) for _ in "oe")
    with redirect_stdout(out), redirect_stderr(err):
        status = main(list(words))
    return status, *(one.buffer.getvalue().decode(CODE_PAGE) for one in (out, err))


if __name__ == "__main__":
    take_away()
    json.dump([run(*command) for command in json.loads(sys.argv[1])], sys.stdout)
