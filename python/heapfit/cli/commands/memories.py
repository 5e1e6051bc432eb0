# SPDX-License-Identifier: Apache-2.0
"""The options of `place`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from heapfit.cli.arguments import (
    Admission,
    Allocators,
    AsJson,
    Everything,
    HorizonOption,
    Margin,
    Programs,
    ReportPage,
    Sources,
    make_output_option,
)
from heapfit.cli.parser import make_option


@dataclass(frozen=True, slots=True)
class PlaceCommand:
    """Divide requests among several memories: how small can internal RAM be?

    The first memory is the one to be small. Requests that need what it offers always go there. With
    one memory: two programs in one heap, or apart?
    """

    EXAMPLES: ClassVar = (
        "heapfit place run.heap --memory internal=320K:dma --memory psram=4M --needs dma=1500",
        "heapfit place run.heap run2.heap --memory dtcm=128K --memory sram=1M:dma --admission 0.9",
    )

    sources: Sources
    memories: Annotated[
        list[str],
        make_option(
            "--memory",
            "A memory, the scarce one first, and what it offers: internal, dma, exec, "
            "external, fast, retained, uncached, words (not bytes). A name of these offers it.",
            metavar="NAME=SIZE[:OFFERED,...]",
        ),
    ]
    needs: Annotated[
        list[str] | None,
        make_option(
            "--needs",
            "Requests of at least so many bytes need this; dma=site:HEX: those of a call "
            "site. It adds to what the recording tells.",
            metavar="OFFERED=SIZE",
        ),
    ] = None
    admission: Admission = 0.8
    allocators: Allocators = None
    horizon: HorizonOption = None
    margin: Margin = None
    programs: Programs = None
    output: Annotated[Path | None, make_output_option("the plan file [nowhere]")] = None
    report: ReportPage = None
    everything: Everything = False
    as_json: AsJson = False
