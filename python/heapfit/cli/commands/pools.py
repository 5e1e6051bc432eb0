# SPDX-License-Identifier: Apache-2.0
"""The options of `size`, `settings` and `simulate`, with light imports only."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from heapfit.cli.arguments import SHARED, make_output_option, reuse
from heapfit.cli.commands import Command
from heapfit.cli.parser import Option
from heapfit.comparison.incumbents.heap_names import find_system
from heapfit.trace.kinds import SourceKind

# Whose settings are printed: the tables of their facts, which help has no time to parse.
_FACTS = Path(__file__).parents[2] / "sizing/systems/facts.toml"
_LINES = _FACTS.read_text(encoding="utf-8").splitlines()
_SYSTEMS = [line[1:-1] for line in _LINES if line[:1] == "[" and "." not in line]

_NEEDED = SHARED["queue"].help.replace("fill-drain:1000", "none: a capture needs it")
_QUEUE = replace(SHARED["queue"], help=_NEEDED, group=None)


@dataclass(frozen=True, slots=True)
class SizeCommand(Command):
    """Size pools to serve a share of requests, and show how often they run out.

    Examples:
        heapfit size capture.pcap --queue fifo:2000 --admission 99%
        heapfit size scenario.toml --admission 0.9
    """

    source: Annotated[
        Path,
        Option(
            "",
            help="A stored trace, a recording or a capture to import first, or a TOML file with "
            "the [traffic] of a scenario.",
            kinds=[SourceKind.RECORDING, SourceKind.SCENARIO],
        ),
    ]
    admission: float = 0.999
    sizes: Annotated[
        str | None,
        reuse("sizes", "Those of the pools; of traffic the one of the fixed pool's blocks."),
    ] = None
    times: Annotated[
        int | None, replace(reuse("times", "They are simulated, to judge the answer."), min=2)
    ] = None
    seed: int = 1
    queue: Annotated[str | None, _QUEUE] = None
    report: Path | None = None
    workers: str | None = None


@dataclass(frozen=True, slots=True)
class SettingsCommand(Command):
    """Print a system's settings to copy, of pools with their chance to run out.

    Examples:
        heapfit settings lwip capture.pcap --queue fifo:2000
        heapfit settings freertos run.parquet --assume alignment=4
    """

    system: Annotated[
        str,
        Option(
            "",
            f"Whose settings: {', '.join(_SYSTEMS)}; or the heap of one, as heap_4.",
            parser=find_system,
            choices=_SYSTEMS,
            hint=" (the system comes first; chips, Arduino and other heaps: docs/chips.md)",
        ),
    ]
    sources: list[Path]
    admission: float = 0.999
    assume: Annotated[
        list[str] | None,
        Option(
            "--assume",
            "NAME=VALUE replaces an assumption about the system; SIZE=SETTING: blocks of SIZE "
            "bytes have a pool of that name.",
            metavar="NAME=VALUE",
        ),
    ] = None
    queue: Annotated[str | None, _QUEUE] = None


@dataclass(frozen=True, slots=True)
class SimulateCommand(Command):
    """Simulate a scenario's traffic on its schemes, with confidence intervals and closed forms.

    Examples:
        heapfit simulate scenario.toml
        heapfit simulate scenario.toml --closed-form --report curves.html
    """

    scenario: Annotated[
        Path,
        Option(
            "",
            help="A scenario file; docs/evidence/schemas.md describes it.",
            kinds=[SourceKind.SCENARIO],
        ),
    ]
    closed_form: bool = False
    output: Annotated[
        Path | None, make_output_option("the results as a Parquet table [nowhere]")
    ] = None
    report: Path | None = None
    workers: str | None = None
    seed: Annotated[int | None, reuse("seed")] = None
