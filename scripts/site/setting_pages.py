# SPDX-License-Identifier: Apache-2.0
"""A page of the settings that `heapfit settings` prints, had by asking it of two examples."""

import heapfit
from heapfit.sizing.settings import Settings
from heapfit.sizing.systems import SYSTEMS
from site_pages import ROOT

PAGE = "reference/settings.md"
CAPTURE = ROOT / "examples/capture/network.pcap.gz"
PROGRAM = ROOT / "examples/check/traces/base.parquet"
ABOUT = """\
# Settings of other systems

`heapfit settings SYSTEM SOURCE` prints these lines to copy, each with its value and the chance
that it runs out ([sizing](../docs/sizing.md)). Which lines there are depends on whether the source
is a capture or a program's recording. An assumption is a figure of the system itself;
`--assume NAME=VALUE` sets it for another build."""


def setting_pages() -> dict[str, str]:
    """Every system's settings and assumptions."""
    return {PAGE: "\n\n".join([ABOUT, *map(_section, SYSTEMS)]) + "\n"}


def _section(system: str) -> str:
    parts = [f"## {system}"]
    found = {words: _settings(system, words) for words in ("a capture", "a program")}
    for words, settings in found.items():
        if settings is not None:
            rows = [(one.name, one.standard, one.why) for one in settings.settings]
            parts.append(_table(f"from {words}", "its own standard", "what is counted", rows))
    known = {one.name: one for given in found.values() if given for one in given.assumptions}
    rows = [(one.name, f"{one.value:,}: {one.meaning}", one.source) for one in known.values()]
    return "\n\n".join([*parts, _table("assumption", "value", "where it is from", rows)])


def _settings(system: str, source: str) -> Settings | None:
    """None where a system's settings are not of such a source."""
    importing = heapfit.ImportOptions(queue="fifo:20000")
    try:
        if source == "a capture":
            return heapfit.size_settings(system, CAPTURE, importing=importing)
        return heapfit.size_settings(system, PROGRAM)
    except heapfit.HeapfitError:
        return None


def _table(first: str, second: str, third: str, rows: list[tuple[str, str, str]]) -> str:
    cells = [[f"`{name}`", *(one.replace("|", "\\|") for one in others)] for name, *others in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([f"| {first} | {second} | {third} |", "|---|---|---|", *lines])
