# SPDX-License-Identifier: Apache-2.0
"""`heapfit profile`: what a trace asks of a heap, before any allocator is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from heapfit.cli.arguments import reject_options
from heapfit.cli.commands.recordings import ProfileCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import step_bar
from heapfit.cli.running import import_options, print_export, require_export
from heapfit.drawing.html import write_document
from heapfit.drawing.parts import Column, Fields, Line, Note, Part, Table, which_hold
from heapfit.errors import HeapfitError
from heapfit.forecast.filling import name_growing_sites
from heapfit.forecast.kind import RecordingKind, find_kind
from heapfit.forecast.log.states import Clock
from heapfit.forecast.time_units import format_length
from heapfit.images.snapshot import Snapshot, open_snapshot
from heapfit.importers import open_trace
from heapfit.plan.quantities import format_count, format_event
from heapfit.results.image import image_page, image_parts
from heapfit.results.kind import describe_kind, growth_parts, kind_fields
from heapfit.results.sections.program import list_sizes, size_table
from heapfit.trace.exports.samples import holdings_by_size
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import Profile, SizeSeries, follow_sizes, profile_trace
from heapfit.trace.series import write_series
from heapfit.trace.stored import TraceInfo

_SHOWN = 16  # sizes
_OPERATIONS = ("alloc", "zeroed", "aligned", "resize", "free")
_FIGURES = ("events", "u_max", "u_max_event", "live_blocks_max", "never_freed", "never_freed_bytes")
_ARRAYS = ("sizes", "allocations", "peaks", "lifetimes", "lifetime_bytes")


def run(command: ProfileCommand) -> None:
    require_export(command.export, command.as_json)
    snapshot = open_snapshot(command.source)
    if snapshot is not None:
        _show_snapshot(command, snapshot)
        return
    reject_options(
        command,
        ("later", "report"),
        "it is of snapshots of dumped heaps; of a recording fit and compare write pages, and what "
        f"grew: heapfit check {command.later or 'LATER'} --base {command.source}",
    )
    with (
        step_bar() as progress,
        open_trace(
            command.source, import_options(command.queue), progress, keep_oversized=True
        ) as trace,
    ):
        if command.export is not None:
            print_export(holdings_by_size(load_trace(trace, progress=progress)), command.export)
            return
        profile = profile_trace(trace, progress)
        kind, seconds = find_kind(trace, profile), [0.0, 0.0]
        if trace.fits_in_memory:
            seconds = (trace.whole("time")[0][[profile.u_max_event, -1]] / 1e6).tolist()
        names = name_growing_sites(kind, trace, ())
        frequent = (size for size, *_ in list_sizes(profile)[:_SHOWN])
        sampled = follow_sizes(trace, sorted(frequent), progress) if command.as_json else ()
        written = None if command.output is None else write_series(trace, command.output, progress)
    print_result(
        _parts(trace.info, profile, kind=kind, names=names, series=sampled, seconds=seconds),
        command.as_json,
    )
    if written is not None and not command.as_json:
        rows, is_coarse = written
        told = which_hold(
            (True, ""),
            (
                True,
                f"{command.output}: U(t) and P_i(t) after every event, "
                f"{format_count(len(profile.sizes), 'size')}, {rows:,} rows",
            ),
            (is_coarse, "After a million sizes, further ones are rounded up, 16 an octave."),
        )
        print_result(map(Line, told), as_json=False)


def _show_snapshot(command: ProfileCommand, snapshot: Snapshot) -> None:
    reject_options(command, ("output", "queue", "export"), f"{command.source} is a snapshot")
    later = None if command.later is None else open_snapshot(command.later)
    if command.later is not None and later is None:
        raise HeapfitError(f"{command.later}: is no snapshot (heapfit import makes one of a dump)")
    shown = (snapshot, None) if later is None else (later, snapshot)
    if command.report is not None:
        write_document(command.report, image_page(*shown))
    print_result(image_parts(*shown), command.as_json)


def _parts(
    info: TraceInfo,
    profile: Profile,
    *,
    kind: RecordingKind,
    names: Mapping[int, str],
    series: Sequence[SizeSeries],
    seconds: Sequence[float],
) -> list[Part]:
    """`seconds`: from the start to the peak and to the last event; 0 without a clock."""
    operations = dict(zip(_OPERATIONS, profile.operations.tolist(), strict=True))
    at, end = (format_length(one, Clock.UPTIME) for one in seconds)
    bits = f"{info.pointer_bits} bit" if info.pointer_bits else "unknown pointer size"
    return [
        _figures(info, profile, kind=kind, series=series, seconds=seconds, operations=operations),
        Line(f"{info.title}: {format_count(profile.events, 'event')} ({info.kind}, {bits})"),
        Line(
            ", ".join(
                f"{count:,} {'packets' if (info.kind, name) == ('packets', 'alloc') else name}"
                for name, count in operations.items()
                if count
            )
        ),
        Line(
            f"U_max {profile.u_max:,} B at {format_event(profile.u_max_event)}"
            f"{f', {at} of {end}' * (seconds[1] > 0)}; at most "
            f"{format_count(profile.live_blocks_max, 'block')} live; "
            f"{profile.never_freed:,} never freed ({profile.never_freed_bytes:,} B)"
        ),
        Line(describe_kind(kind)),
        *growth_parts(kind, names),
        Line(""),
        Line(f"{format_count(len(profile.sizes), 'size')}, the most frequent first:"),
        size_table(profile, _SHOWN),
        Line(""),
        Line("Lifetimes in events:"),
        _lifetime_table(profile),
        *map(Note, info.notes),
    ]


def _figures(
    info: TraceInfo,
    profile: Profile,
    *,
    kind: RecordingKind,
    series: Sequence[SizeSeries],
    seconds: Sequence[float],
    operations: Mapping[str, int],
) -> Fields:
    return Fields(
        {
            "trace": info,
            **{name: getattr(profile, name) for name in _FIGURES},
            "is_coarse": profile.is_coarse,
            "operations": operations,
            "u_max_seconds": seconds[0],
            "seconds": seconds[1],
            **{name: getattr(profile, name) for name in _ARRAYS},
            "live": {
                "bucket_width": profile.bucket_width,
                "lowest": profile.live_lowest,
                "highest": profile.live_highest,
            },
            "live_blocks": series,
            "kind": kind_fields(kind),
        }
    )


_Counts: TypeAlias = tuple[int, int, int]


def _lifetime_table(profile: Profile) -> Table[_Counts]:
    figures = zip(profile.lifetimes.tolist(), profile.lifetime_bytes.tolist(), strict=True)
    columns: list[Column[_Counts]] = [
        Column(heading="from", shown=lambda row: 2 ** row[0]),
        Column(heading="to", shown=lambda row: 2 ** (row[0] + 1) - 1),
        Column(heading="objects", shown=lambda row: row[1]),
        Column(heading="bytes", shown=lambda row: row[2]),
    ]
    return Table(columns, [(power, *both) for power, both in enumerate(figures) if both[0]])
