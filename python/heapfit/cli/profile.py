# SPDX-License-Identifier: Apache-2.0
"""`heapfit profile`: what a trace asks of a heap, before any allocator is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    Queue,
    Source,
    import_options,
)
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.printing import console
from heapfit.design.pools.special_pools import special_sizes
from heapfit.trace.profile import Profile, SizeSeries, follow_sizes, profile_trace
from heapfit.trace.stored import TraceInfo

_SHOWN = 16  # sizes
_OPERATIONS = ("alloc", "zeroed", "aligned", "resize", "free")


def command(
    source: Source,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Show sizes, lifetimes and live bytes of a trace, and what they suggest."""
    importing = import_options(queue, drop_unknown, pointer_bits)
    with (
        console.progress() as progress,
        opened_trace(source, importing, progress) as trace,
    ):
        profile = profile_trace(trace, progress)
        frequent = _most_frequent(profile)
        series = follow_sizes(trace, sorted(frequent), progress) if as_json else ()
    if as_json:
        console.out_json(_json(trace.info, profile, series))
    else:
        _print(trace.info, profile, frequent)


def _most_frequent(profile: Profile) -> list[int]:
    """The sizes allocated most often, most frequent first."""
    counts = zip(profile.allocations.tolist(), profile.sizes.tolist(), strict=True)
    return [size for count, size in sorted(counts, key=lambda pair: (-pair[0], pair[1]))[:_SHOWN]]


def _print(info: TraceInfo, profile: Profile, frequent: Sequence[int]) -> None:
    bits = f"{info.pointer_bits} bit" if info.pointer_bits else "unknown pointer size"
    console.out(f"{info.program or info.source}: {profile.events:,} events ({info.kind}, {bits})")
    counts = zip(_OPERATIONS, profile.operations.tolist(), strict=True)
    console.out(", ".join(f"{count:,} {name}" for name, count in counts if count))
    console.out(
        f"U_max {profile.u_max:,} B at event {profile.u_max_event:,}; at most "
        f"{profile.live_blocks_max:,} blocks live; {profile.never_freed:,} never freed "
        f"({profile.never_freed_bytes:,} B)"
    )
    console.out("")
    _print_sizes(profile, frequent)
    console.out("")
    _print_lifetimes(profile)
    console.out("")
    console.out(_suggestion(profile))
    for note in info.notes:
        console.note(note)


def _print_sizes(profile: Profile, frequent: Sequence[int]) -> None:
    index = {size: i for i, size in enumerate(profile.sizes.tolist())}
    total = max(int(profile.allocations.sum()), 1)
    rows = []
    for size in frequent:
        count, peak = int(profile.allocations[index[size]]), int(profile.peaks[index[size]])
        rows.append((size, count, 100 * count / total, peak, size * peak))
    console.out(f"{len(index):,} sizes, the most frequent first:")
    console.out_table(("size", "allocations", "percent", "most live", "bytes then"), rows)


def _print_lifetimes(profile: Profile) -> None:
    figures = zip(profile.lifetimes.tolist(), profile.lifetime_bytes.tolist(), strict=True)
    rows = [(2**b, 2 ** (b + 1) - 1, *both) for b, both in enumerate(figures) if both[0]]
    console.out("Lifetimes in events:")
    console.out_table(("from", "to", "objects", "bytes"), rows)


def _suggestion(profile: Profile) -> str:
    special = ", ".join(f"{size:,}" for size in special_sizes(profile))
    if special:
        return (
            f"Sizes with 10% of the allocations: {special} B; `heapfit fit` tries pools for them."
        )
    return "No size has 10% of the allocations; `heapfit fit` tells whether budgets pay."


def _json(info: TraceInfo, profile: Profile, series: Sequence[SizeSeries]) -> dict[str, Any]:
    counts = zip(_OPERATIONS, profile.operations.tolist(), strict=True)
    arrays = ("sizes", "allocations", "peaks", "lifetimes", "lifetime_bytes")
    scalars = ("events", "u_max", "u_max_event", "live_blocks_max", "never_freed")
    return {
        "trace": asdict(info),
        **{name: getattr(profile, name) for name in (*scalars, "never_freed_bytes", "is_coarse")},
        "operations": dict(counts),
        **{name: getattr(profile, name).tolist() for name in arrays},
        "live": {
            "bucket_width": profile.bucket_width,
            "lowest": profile.live_lowest.tolist(),
            "highest": profile.live_highest.tolist(),
        },
        "live_blocks": [
            {
                "size": one.size,
                "bucket_width": one.bucket_width,
                "lowest": one.lowest.tolist(),
                "highest": one.highest.tolist(),
            }
            for one in series
        ],
    }
