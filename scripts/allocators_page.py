# SPDX-License-Identifier: Apache-2.0
"""Prints docs/allocators.md from the allocators' own descriptors: `make docs` puts it in place."""

from heapfit import _engine

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/allocators_page.py from the descriptors in core/src; `make docs` renews it. -->
# Allocators

Each is one header and one source in `core/`; a header says how its allocator works and what it
costs. A tunable is a line of a plan; what a plan leaves out takes the standard value."""


def section(allocator: _engine.AllocatorInfo) -> str:
    """One allocator: what it is, where it comes from, what can be tuned."""
    lines = [f"## `{allocator.name}`: {allocator.title}", "", f"Origin: {allocator.origin}."]
    if allocator.ignores_region_end:
        lines.append("No placement depends on where the region ends.")
    lines += ["", "| tunable | meaning | range | standard |", "|---|---|---|---|"]
    lines += [tunable_row(tunable) for tunable in allocator.tunables]
    return "\n".join(lines)


def tunable_row(tunable: _engine.Tunable) -> str:
    """One row of an allocator's table; pools and shared heaps have no range."""
    if tunable.kind != "scalar":
        return f"| `{tunable.name}` | {tunable.meaning} | {tunable.kind} | none |"
    extent = f"{tunable.lowest} to {tunable.highest}"
    return f"| `{tunable.name}` | {tunable.meaning} | {extent} | {tunable.standard} |"


if __name__ == "__main__":
    print("\n\n".join([HEAD, *map(section, _engine.allocators())]))
