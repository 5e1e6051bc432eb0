# SPDX-License-Identifier: Apache-2.0
"""Prints docs/evidence/allocators.md from the descriptors: `make docs` puts it in place."""

from heapfit import _engine
from heapfit.comparison.incumbents.heap_names import list_algorithms, list_offered_allocators
from heapfit.plan.allocators import ALIGNMENTS, UNKNOWN
from heapfit.plan.serving_region import SMALL_REQUEST, serving_region

HEAD = f"""\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/allocators_page.py from the descriptors; `make docs` renews it. -->
# Allocators

Each allocator is one header and one source. Those in `core/` may ship in firmware; those in
`baselines/` are for comparison only. The header describes how its allocator works.
`heapfit allocators` prints this page's figures. It also prints those of allocators in `papers/src`,
which only the reproduction of a paper needs, if they are named. A tunable is a line of a plan; if
the line is absent, the standard value is used.

Figures are of the standard plan. n is the largest request in units of the smallest block, M the
most bytes live at once. The smallest region is one that serves a single block of
{SMALL_REQUEST} B, found by trying; an allocator of pools gets one pool of one such block."""

SYSTEMS = f"""\
Heaps of systems, such as FreeRTOS's heap_4, are in [Comparing with your heap](../now.md).
`heapfit allocators NAME` prints the algorithm, layout and costs of each. In a plan's `[plan]` they
are {", ".join(f"`{name}` ({heap})" for name, heap in list_algorithms().items())}."""


def summary(infos: list[_engine.AllocatorInfo]) -> str:
    """One row an allocator."""
    columns = ["allocator", "what it is", *(f"smallest, alignment {one}" for one in ALIGNMENTS)]
    lines = [f"| {' | '.join(columns)} |", "|---|---|---|---|"]
    for info in infos:
        regions = (serving_region(info.name, alignment) for alignment in ALIGNMENTS)
        cells = [f"[`{info.name}`](#{info.name})", info.title, *map(in_bytes, regions)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def in_bytes(size: int | None) -> str:
    """A region's size, or a dash where none serves."""
    return "-" if size is None else f"{size:,} B"


def section(info: _engine.AllocatorInfo) -> str:
    """One allocator: what it is, where it comes from, what it costs, what can be tuned."""
    title = info.title[:1].upper() + info.title[1:]
    lines = [f"### `{info.name}`", "", f"{title}. Origin: {info.origin}."]
    if info.ignores_region_end:
        lines.append("No placement depends on where the region ends.")
    lines += ["", f"- worst case: {info.worst_case or UNKNOWN}"]
    lines += [f"- bytes a block beyond the request: {info.block_bytes or UNKNOWN}"]
    lines += [f"- fragmentation: {info.fragmentation or UNKNOWN}"]
    lines += ["", "```text", info.layout or UNKNOWN, "```", ""]
    lines += ["| tunable | meaning | range | standard |", "|---|---|---|---|"]
    lines += [tunable_row(tunable) for tunable in info.tunables]
    return "\n".join(lines)


def tunable_row(tunable: _engine.Tunable) -> str:
    """One row of an allocator's table; pools and shared heaps have no range."""
    if tunable.kind != "scalar":
        return f"| `{tunable.name}` | {tunable.meaning} | {tunable.kind} | none |"
    extent = f"{tunable.lowest} to {tunable.highest}"
    return f"| `{tunable.name}` | {tunable.meaning} | {extent} | {tunable.standard} |"


def chapter(title: str, infos: list[_engine.AllocatorInfo]) -> list[str]:
    """A table of the allocators of one kind, then each of them."""
    return [f"## {title}", summary(infos), *map(section, infos)] if infos else []


if __name__ == "__main__":
    everything = list_offered_allocators()
    core = chapter("Core", [info for info in everything if info.ships])
    baselines = chapter("Baselines", [info for info in everything if not info.ships])
    systems = ["## Systems' heaps", SYSTEMS]
    print("\n\n".join([HEAD, *core, *baselines, *systems]))
