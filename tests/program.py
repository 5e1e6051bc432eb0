# SPDX-License-Identifier: Apache-2.0
"""The program as its users run it, in a process of its own, without a start of Python for each.

Loading what a command needs takes ten times as long as most commands on small inputs. So this file,
run as a program, loads all commands once, then forks for each run that it reads on stdin: the child
gets the run's folder, environment and output, and goes on as `python -m heapfit` does. What a
start costs falls from 0.5 s of CPU to 0.02. A test of the start itself starts Python.
"""

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

MOST_SECONDS = 300
measures = True  # whether generated code is linked and weighed in what is run


def leave_unmeasured(replace: Callable[[str, object], object]) -> None:
    """Leaves out what takes most of the time of a small fit: linking its code to weigh it."""
    replace("heapfit.generate.link_images", lambda *_: nullcontext(()))
    replace("heapfit.generate.measure_code_sizes", lambda *_: [])
    replace("heapfit.generate.call_bounds", lambda *_: None)


def run_heapfit(
    *arguments: object, folder: Path, environment: Mapping[str, str], output: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs the program with nothing to read on stdin; it is ended after MOST_SECONDS."""
    words = list(map(str, arguments))
    with tempfile.TemporaryDirectory() as beside:
        paths = [os.devnull, output or f"{beside}/out", f"{beside}/err"]
        run = {"words": words, "folder": str(folder), "environment": dict(environment)}
        run["measures"] = measures
        status = _ask({**run, "paths": paths})
        out, err = ("" if path == output else Path(path).read_text() for path in paths[1:])
    return subprocess.CompletedProcess(["heapfit", *words], status, out, err)


def call_heapfit(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the program in this process and folder."""
    from heapfit.cli.main import main

    words = list(map(str, arguments))
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        status = main(words)
    return subprocess.CompletedProcess(["heapfit", *words], status, out.getvalue(), err.getvalue())


@cache
def _server() -> subprocess.Popen[str]:
    """Ends with its stdin, so at the latest with this process."""
    started = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(started.communicate)
    return started


def _ask(run: Mapping[str, object]) -> int:
    server = _server()
    assert server.stdin and server.stdout
    print(json.dumps(run), file=server.stdin, flush=True)
    return int(server.stdout.readline())


def _serve() -> None:
    """Forks for each run on stdin and tells its status."""
    for line in sys.stdin:
        process = get_context("fork").Process(target=_run, args=(json.loads(line),))
        process.start()
        process.join()
        print(process.exitcode, flush=True)


def _run(run: dict) -> None:
    signal.alarm(MOST_SECONDS)
    os.chdir(run["folder"])
    os.environ.clear()
    os.environ.update(run["environment"])
    for number, path in enumerate(run["paths"]):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.argv = ["heapfit", *run["words"]]
    if not run["measures"]:
        leave_unmeasured(lambda name, left_out: mock.patch(name, left_out).start())
    main.run()


if __name__ == "__main__":
    from heapfit.cli import main

    for command in main.all_commands().values():
        import_module(main.module_of(command))
    with redirect_stdout(StringIO()):
        main.main(["check", "--help"])
    gc.freeze()
    _serve()
