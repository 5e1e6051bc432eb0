# SPDX-License-Identifier: Apache-2.0
"""What an allocator does on an emulated board, for who works on one. See target/README.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.target.board import BOARDS
from heapfit.target.image import Build


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m heapfit.target", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    count = commands.add_parser("count", help="instructions and accesses of each call")
    count.set_defaults(run=_count)
    count.add_argument("trace", type=Path)
    count.add_argument("allocators", nargs="*", metavar="NAME[:TUNABLE=VALUE,...]")
    count.add_argument("--plan", type=Path, action="append", default=[], help="a plan file")
    count.add_argument("--region", type=int, help="bytes; default: the smallest safe one")
    count.add_argument("--alignment", type=int, default=8, choices=(4, 8, 16))
    count.add_argument("--sized", action="store_true", help="free by free_sized")
    for command in (count,):
        command.add_argument("--cpu", choices=BOARDS, default="cortex-m4")
        command.add_argument("--opt", default="O2", help="compiler's optimisation (O2)")
        command.add_argument("--safety", type=int, default=1, choices=(0, 1, 2))
    return parser.parse_args()


def _count(wish: argparse.Namespace, folder: Path) -> None:
    from heapfit.design.workload import load_workload
    from heapfit.importers import ImportOptions, open_any
    from heapfit.target.cases import cases_of, shipped_allocators
    from heapfit.target.emulator import build_plugin
    from heapfit.target.packed_trace import pack
    from heapfit.target.report import lines_of
    from heapfit.target.verify import verify

    trace = open_any(wish.trace, ImportOptions(), folder)
    workload = load_workload(trace, wish.alignment)
    packed = pack(trace)
    plugin = build_plugin(folder)
    build = Build(wish.opt, wish.safety, wish.sized)
    names = wish.allocators or ([] if wish.plan else shipped_allocators())
    for case in cases_of(workload, names, wish.plan, wish.region):
        done = verify(case, packed, BOARDS[wish.cpu], build, plugin, folder / "image")
        print("\n".join(lines_of(case, done)), end="\n\n")


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
