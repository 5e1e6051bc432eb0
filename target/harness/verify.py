# SPDX-License-Identifier: Apache-2.0
"""One plan on one trace, replayed on the host and on a board: are they the same?"""

from __future__ import annotations

from dataclasses import dataclass

from harness.board import Board
from harness.calls import Calls
from harness.image import Image, replay_design, replay_image
from harness.packed_trace import PackedTrace
from harness.replay import TAGGED, TargetReplay, count_replay, replay
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.plan.plan import Plan

_PLAIN = ("alloc", "free", "free_sized", "resize", "resize_sized")  # the engine does not meter init
_FNV_START, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
_HASHES = 2**64


@dataclass(frozen=True, slots=True)
class Case:
    """A plan and a region to replay a trace in. Sizes in bytes."""

    name: str
    plan: Plan
    region: int
    base_alignment: int


@dataclass(frozen=True, slots=True)
class Accesses:
    """Metadata words loaded and stored."""

    loads: int
    stores: int

    def __sub__(self, other: Accesses) -> Accesses:
        return Accesses(self.loads - other.loads, self.stores - other.stores)


@dataclass(frozen=True, slots=True)
class HostReplay:
    """The engine's replay, and what of its accesses is of aligned requests."""

    result: _engine.ReplayResult
    aligned: Accesses

    @property
    def plain(self) -> Accesses:
        """The accesses of alloc, free and resize."""
        return Accesses(self.result.loads, self.result.stores) - self.aligned


@dataclass(frozen=True, slots=True)
class Verification:
    """A replay on a board beside the host's."""

    board: Board
    build: Build
    target: TargetReplay
    calls: Calls
    host: HostReplay
    differences: tuple[str, ...]  # none: the same placements and, at the host's level, accesses


def host_replay(case: Case, trace: PackedTrace) -> HostReplay:
    """Replays on the host, refusals counted."""
    replay = _engine.Replay(
        case.plan.engine(), case.region, base_alignment=case.base_alignment, keep_going=True
    )
    loads = stores = 0
    for is_aligned, run in trace.runs():
        before = replay.result()
        replay.feed(run.engine_events())
        if is_aligned:
            after = replay.result()
            loads += after.loads - before.loads
            stores += after.stores - before.stores
    return HostReplay(replay.result(), Accesses(loads, stores))


def verify(
    workbench: Workbench, case: Case, trace: PackedTrace, board: Board, build: Build
) -> Verification:
    """Builds an image, replays the trace without and with counting, and compares with the host."""
    design = replay_design(case.plan, case.region, case.base_alignment)
    image = replay_image(workbench, board, build, design)
    host = host_replay(case, trace)
    plain = replay(image, trace, build.frees_by_size)
    target, calls = count_replay(
        image, case.plan.allocator, trace, workbench.plugin, build.frees_by_size
    )
    differences = _compare(target, plain, "counted replay", "uncounted replay")
    if build.places_as_host:
        differences += _compare(target, _as_printed(host.result, target), board.name, "host")
        if target.placement_hash != host.result.placement_hash:
            differences.append(first_difference(case, image, trace, build.frees_by_size))
    if build.compares_accesses:
        differences += _compare_payload(calls, host)
        differences += _compare_accesses(calls, host)
    return Verification(board, build, target, calls, host, tuple(differences))


def first_difference(
    case: Case, image: Image, trace: PackedTrace, frees_by_size: bool = False
) -> str:
    """Which event is the first to place a block elsewhere, found by replaying fewer and fewer."""

    def hashes(events: int) -> tuple[int, int]:
        part = trace.first(events)
        host = host_replay(case, part).result
        return replay(image, part, frees_by_size).placement_hash, host.placement_hash

    equal, different = 0, len(trace.events)
    before = _FNV_START
    while different - equal > 1:
        middle = (equal + different) // 2
        on_target, on_host = hashes(middle)
        if on_target == on_host:
            equal, before = middle, on_host
        else:
            different = middle
    offsets = (_last_offset(before, after) for after in hashes(different))
    return "event {}: placed at {} on the target, at {} on the host".format(different - 1, *offsets)


def _last_offset(before: int, after: int) -> str:
    """The offset that took the hash from one value to the next."""
    if after == before:
        return "no place"
    return str(after * pow(_FNV_PRIME, -1, _HASHES) % _HASHES ^ before)


def _as_printed(host: _engine.ReplayResult, target: TargetReplay) -> TargetReplay:
    return TargetReplay(host.placement_hash, host.refusals, host.footprint, target.stack)


def _compare(one: TargetReplay, other: TargetReplay, here: str, there: str) -> list[str]:
    fields = ("placement_hash", "refusals", "footprint")
    return [
        f"{field}: {getattr(one, field)} on {here}, {getattr(other, field)} on {there}"
        for field in fields
        if getattr(one, field) != getattr(other, field)
    ]


def _compare_payload(calls: Calls, host: HostReplay) -> list[str]:
    target = calls.total("payload", *_plain(calls), "alloc_aligned", "clear")
    if target == host.result.payload_bytes:
        return []
    return [f"payload bytes: {target} on the target, {host.result.payload_bytes} on the host"]


def _compare_accesses(calls: Calls, host: HostReplay) -> list[str]:
    pairs = {
        "alloc, free and resize": (_accesses(calls, *_plain(calls)), host.plain),
        "aligned requests": (_accesses(calls, "alloc_aligned"), host.aligned),
    }
    return [
        f"metadata accesses of {operations}: {more.loads:+} loads, {more.stores:+} stores on the "
        "target"
        for operations, (target, on_host) in pairs.items()
        if (more := target - on_host) != Accesses(0, 0)
    ]


def _plain(calls: Calls) -> tuple[str, ...]:
    return (*_PLAIN, TAGGED) if TAGGED in calls.functions else _PLAIN


def _accesses(calls: Calls, *operations: str) -> Accesses:
    return Accesses(calls.total("heap_loads", *operations), calls.total("heap_stores", *operations))
