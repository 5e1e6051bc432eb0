# SPDX-License-Identifier: Apache-2.0
"""The options of `place`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from heapfit.cli.arguments import make_output_option
from heapfit.cli.commands import Command
from heapfit.cli.parser import Option


@dataclass(frozen=True, slots=True)
class PlaceCommand(Command):
    """Divide requests among several memories: how small can internal RAM be?

    The first memory is the one to be small. Requests that need what it offers always go there. With
    one memory: two programs in one heap, or apart?

    Examples:
        heapfit place run.parquet --memory internal=320K:dma --memory psram=4M --needs dma=1500
        heapfit place run.parquet --memory dtcm=128K --memory sram=1M:dma --admission 0.9
    """

    sources: list[Path]
    memories: Annotated[
        list[str],
        Option(
            "--memory",
            "A memory, the scarce one first, and what it offers: internal, dma, exec, "
            "external, fast, retained, uncached, words (not bytes). A name of these offers it.",
            metavar="NAME=SIZE[:OFFERED,...]",
        ),
    ]
    needs: Annotated[
        list[str] | None,
        Option(
            "--needs",
            "Requests of at least so many bytes need this; dma=site:HEX: those of a call "
            "site. It adds to what the recording tells.",
            metavar="OFFERED=SIZE",
        ),
    ] = None
    admission: float = 0.8
    allocators: list[str] | None = None
    horizon: str | None = None
    margin: float | None = None
    programs: list[Path] | None = None
    output: Annotated[Path | None, make_output_option("the plan file [nowhere]")] = None
    report: Path | None = None
    every: bool = False
