# SPDX-License-Identifier: Apache-2.0
"""The options of the commands that the papers add to `heapfit`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from heapfit import _engine
from heapfit.cli.arguments import make_output_option, reuse
from heapfit.cli.commands import Command
from heapfit.cli.parser import Option
from heapfit_papers.slotbuf import REPORT_REGION, STANDARD_LEAST, STANDARD_MOST

STANDARD_ALLOCATOR = "segregated_fit"
_NAMES = ", ".join(info.name for info in _engine.allocators())
_MOST = 2**64 - 1  # what the engine's numbers hold


@dataclass(frozen=True, slots=True)
class ReproduceCommand(Command):
    """Measure every row of the papers again and show which published figures come out.

    Examples:
        heapfit reproduce 000-1 --small
        heapfit reproduce 000-1 --small --report 000.html
    """

    papers: Annotated[
        list[str] | None,
        Option(
            "",
            metavar="000|001|002|003|ROW",
            help="Papers, or single rows such as 003-9: 000 Cebeci 2019, 001 Mamagkakis et al., "
            "002 Elsayed and Galal, 003 Lee and Yi 2008.",
        ),
    ] = None
    every: bool = False
    report: Path | None = None
    small: Annotated[
        bool, Option("--small", "Take fewer seeds and shorter runs, as the tests do.")
    ] = False
    workers: str | None = None


@dataclass(frozen=True, slots=True)
class SlotbufCommand(Command):
    """Run the slot-buffer benchmark of Cebeci 2019 and show the free list it leaves.

    Examples:
        heapfit slotbuf 300 1000
        heapfit slotbuf 10 10 tlsf --seed 7
    """

    buffer: Annotated[
        int, Option("", min=1, max=_MOST, help="Number of slots, each with a block or none.")
    ]
    iterations: Annotated[
        int,
        Option(
            "",
            min=1,
            max=_MOST,
            help="Number of loops, each of which draws a slot and turns it over.",
        ),
    ]
    allocator: Annotated[
        str,
        Option(
            "",
            metavar="ALLOCATOR",
            help=f"NAME or NAME:TUNABLE=VALUE,... with NAME one of {_NAMES}. The report's first "
            "version is first_fit:coalesce=0, its second segregated_fit. Headers have 24 bytes "
            "unless header_size says otherwise.",
        ),
    ] = STANDARD_ALLOCATOR
    plan: Path | None = None
    sizes: Annotated[str, reuse("sizes", "Those of requests: the smallest and the largest.")] = (
        f"{STANDARD_LEAST},{STANDARD_MOST}"
    )
    region: int = REPORT_REGION
    seed: Annotated[int, reuse("seed")] = 1
    output: Annotated[Path, make_output_option("dist.dat and slotbuf.html")] = Path("out/slotbuf")
