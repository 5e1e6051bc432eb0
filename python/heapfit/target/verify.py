# SPDX-License-Identifier: Apache-2.0
"""One plan on one trace, replayed on the host and on a board: are they the same?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heapfit import _engine
from heapfit.target.image import Build, Image, replay_image
from heapfit.target.replay import OPERATIONS, TargetReplay, counted_replay, replay

if TYPE_CHECKING:
    from heapfit.plan import Plan
    from heapfit.target.board import Board
    from heapfit.target.calls import Calls
    from heapfit.target.packed_trace import PackedTrace

_METERED = OPERATIONS[1:]  # the engine does not meter init
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
class Verification:
    """A replay on a board beside the host's."""

    board: Board
    build: Build
    target: TargetReplay
    calls: Calls
    host: _engine.ReplayResult
    differences: tuple[str, ...]  # none: the same placements and, at the host's level, accesses


def host_replay(case: Case, events: _engine.EventArray) -> _engine.ReplayResult:
    """The engine's replay, refusals counted."""
    replay = _engine.Replay(
        case.plan.engine(), case.region, base_alignment=case.base_alignment, keep_going=True
    )
    replay.feed(events)
    return replay.result()


def verify(
    case: Case, trace: PackedTrace, board: Board, build: Build, plugin: Path, folder: Path
) -> Verification:
    """Builds an image in `folder`, replays the trace without and with counting, and compares."""
    image = replay_image(board, case.plan, case.region, folder, build, case.base_alignment)
    host = host_replay(case, trace.engine_events())
    plain = replay(image, trace, build.frees_by_size)
    target, calls = counted_replay(image, case.plan.allocator, trace, plugin, build.frees_by_size)
    found = _compare(target, plain, "counted replay", "uncounted replay")
    found += _compare(target, _as_printed(host, target), board.name, "host")
    if target.placement_hash != host.placement_hash:
        found.append(first_difference(case, image, trace))
    if build.compares_accesses:
        found += _compare_accesses(calls, host)
    return Verification(board, build, target, calls, host, tuple(found))


def first_difference(case: Case, image: Image, trace: PackedTrace) -> str:
    """Which event is the first to place a block elsewhere, found by replaying fewer and fewer."""

    def hashes(events: int) -> tuple[int, int]:
        part = trace.first(events)
        return replay(image, part).placement_hash, host_replay(
            case, part.engine_events()
        ).placement_hash

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


def _compare_accesses(calls: Calls, host: _engine.ReplayResult) -> list[str]:
    pairs = {
        "metadata loads": (calls.total("heap_loads", *_METERED), host.loads),
        "metadata stores": (calls.total("heap_stores", *_METERED), host.stores),
        "payload bytes": (calls.total("payload", *_METERED, "clear"), host.payload_bytes),
    }
    return [
        f"{name}: {target} on the target, {metered} on the host"
        for name, (target, metered) in pairs.items()
        if target != metered
    ]
