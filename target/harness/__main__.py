# SPDX-License-Identifier: Apache-2.0
"""What an allocator does on an emulated board, for who works on one. See target/README.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.board import BOARDS
from harness.bound import bound_functions, bound_lines
from harness.cases import cases_of, list_shipped
from harness.code_size import code_size
from harness.interrupts import interrupt_heaps
from harness.packed_trace import pack
from harness.plugin import Target, count_plugin, plugin_lines
from harness.report import lines_of
from harness.verify import Case, verify
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.allocators import find_allocators
from heapfit.plugin import plugins_of
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m harness", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    count = commands.add_parser("count", help="instructions and accesses of each call")
    count.set_defaults(run=_count)
    bound = commands.add_parser("bound", help="worst case of each call, from the machine code")
    bound.set_defaults(run=_bound)
    for command in (count, bound):
        command.add_argument("--region", type=int, help="bytes; default: the smallest safe one")
        command.add_argument("--sized", action="store_true", help="free by free_sized")
        command.add_argument("--opt", default="O2", help="the compiler's optimisation")
        command.add_argument("--safety", type=int, default=1, choices=(0, 1, 2, 3))
    size = commands.add_parser("size", help="code of init, alloc and free, at each safety level")
    size.set_defaults(run=_size, region=None)
    size.add_argument("--opt", default="Os", help="the compiler's optimisation")
    for command in (count, bound, size):
        command.add_argument("trace", type=Path)
        command.add_argument("allocators", nargs="*", metavar="NAME[:TUNABLE=VALUE,...]")
        command.add_argument("--plan", type=Path, action="append", default=[], help="a plan file")
        command.add_argument("--alignment", type=int, default=8, choices=(4, 8, 16))
        command.add_argument("--cpu", choices=BOARDS, default="cortex-m4")
    plugin = commands.add_parser(
        "plugin", help="instructions and code of an allocator of another's"
    )
    plugin.set_defaults(run=_plugin)
    plugin.add_argument("trace", type=Path)
    plugin.add_argument("plugins", type=Path, nargs="+", metavar="SOURCE|FOLDER|CRATE")
    plugin.add_argument("--opt", default="Os", help="the compiler's optimisation")
    plugin.add_argument("--alignment", type=int, default=8, choices=(4, 8, 16))
    plugin.add_argument("--cpu", choices=BOARDS, default="cortex-m4")
    plugin.add_argument(
        "--pointer-bits", type=int, default=32, choices=(32, 64), help="of the host's build"
    )
    plugin.add_argument(
        "--cflags", action="append", default=[], help="of all plug-ins, or NAME: FLAGS of one"
    )
    interrupts = commands.add_parser(
        "interrupts", help="one at every instruction of an operation, which uses the heap, too"
    )
    interrupts.set_defaults(run=_interrupts)
    interrupts.add_argument("--count", type=int, default=10_000, help="interrupts a heap")
    return parser.parse_args(list(_join_flags(sys.argv[1:])))


def _join_flags(words: Sequence[str]) -> Iterator[str]:
    """The words, --cflags and its value as one: argparse takes none that begins with a dash."""
    rest = iter(words)
    for word in rest:
        yield f"{word}={next(rest, '')}" if word == "--cflags" else word


def _cases(wish: argparse.Namespace, folder: Path) -> tuple[Trace, list[Case]]:
    trace = open_any(wish.trace, ImportOptions(), folder)
    names = wish.allocators or ([] if wish.plan else list_shipped())
    return trace, cases_of(load_trace(trace, wish.alignment), names, wish.plan, wish.region)


def _build_of(wish: argparse.Namespace, case: Case) -> Build:
    """The build that was asked for; allocators that need sizes always get them."""
    (info,) = find_allocators([case.plan.allocator])
    return Build(wish.opt, wish.safety, frees_by_size=wish.sized or info.needs_size)


def _count(wish: argparse.Namespace, folder: Path) -> None:
    trace, cases = _cases(wish, folder)
    workbench = Workbench(folder)
    for case in cases:
        build = _build_of(wish, case)
        packed = pack(trace, case.plan.sites)
        done = verify(workbench, case, packed, BOARDS[wish.cpu], build)
        print("\n".join(lines_of(case, done)), end="\n\n")


def _bound(wish: argparse.Namespace, folder: Path) -> None:
    trace, cases = _cases(wish, folder)
    workbench = Workbench(folder)
    board = BOARDS[wish.cpu]
    for case in cases:
        build = _build_of(wish, case)
        found = bound_functions(workbench, case, pack(trace, case.plan.sites), board, build)
        print("\n".join(bound_lines(case, board, build, found)), end="\n\n")


def _size(wish: argparse.Namespace, folder: Path) -> None:
    print(f"{wish.cpu} -{wish.opt}, bytes          level 0  level 1  level 2  level 3")
    workbench = Workbench(folder)
    for case in _cases(wish, folder)[1]:
        sizes = (
            code_size(workbench, BOARDS[wish.cpu], build, case.plan)
            for build in (Build(wish.opt, safety) for safety in (0, 1, 2, 3))
        )
        print(f"{case.name:32}" + "".join(f"{size.total:9,}" for size in sizes))


def _plugin(wish: argparse.Namespace, folder: Path) -> None:
    trace = open_any(wish.trace, ImportOptions(), folder)
    target = Target(BOARDS[wish.cpu], Build(wish.opt), wish.alignment)
    failed = []
    for plugin in plugins_of(wish.plugins, wish.pointer_bits, wish.cflags):
        try:
            found = count_plugin(Workbench(folder / plugin.name), plugin, trace, target)
            print("\n".join(plugin_lines(plugin, target, found)), end="\n\n", flush=True)
        except HeapfitError as error:
            failed.append(str(error))
    if failed:
        raise HeapfitError("\nerror: ".join(failed))


def _interrupts(wish: argparse.Namespace, folder: Path) -> None:
    print("heap                  interrupts  corrupt with a lock  without")
    workbench = Workbench(folder)
    for name, locked, bare in interrupt_heaps(workbench, wish.count):
        print(f"{name:20} {locked.inside:11,} {locked.corrupt:20,} {bare.corrupt:8,}", flush=True)


def main() -> None:
    """Runs one command; bad input ends with one line on stderr."""
    wish = _arguments()
    try:
        with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
            wish.run(wish, Path(folder))
    except HeapfitError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
