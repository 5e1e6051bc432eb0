# SPDX-License-Identifier: Apache-2.0
"""A trace replayed on a board gives what the engine's replay gives."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import recordings

from grid import thin
from harness.board import BOARDS, Board
from harness.cases import cases_of, list_shipped
from harness.image import replay_design, replay_image
from harness.packed_trace import PackedTrace, pack
from harness.replay import OPERATIONS, replay
from harness.verify import (
    Case,
    Verification,
    first_difference,
    host_replay,
    verify,
)
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import PlanFile, TrainingRecord, save_plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import COLUMNS, Trace, write_trace

M4 = BOARDS["cortex-m4"]
TLSF = Plan("tlsf")


class Recordings:
    """The traces, each read once, and the cases of each allocator, each searched once."""

    def __init__(self, folder):
        self._folder = folder
        self._loaded = {}
        self._cases = {}

    def loaded(self, name: str) -> LoadedTrace:
        if name not in self._loaded:
            self._loaded[name] = load_trace(recordings.recording(name, self._folder))
        return self._loaded[name]

    def cases(self, name: str, allocator: str) -> list[Case]:
        key = (name, allocator)
        if key not in self._cases:
            self._cases[key] = cases_of(self.loaded(name), [allocator])
        return self._cases[key]

    def packed(self, name: str) -> PackedTrace:
        return pack(self.loaded(name).trace)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    return Recordings(tmp_path_factory.mktemp("recordings"))


@pytest.mark.parametrize(
    ("allocator", "name"),
    [
        pair
        for pair in thin(16, list_shipped(), recordings.names())
        # "mixed" asks for blocks at 32 B, which equal blocks at 8 B refuse in a region of any size
        if pair != ("fixed_pool", "mixed")
    ],
)
def test_placements_and_accesses_equal_the_hosts(
    workbench: Workbench, recorded: Recordings, allocator: str, name: str
) -> None:
    for case in recorded.cases(name, allocator):
        (info,) = find_allocators([allocator])
        build = Build("O2", frees_by_size=info.needs_size)
        done = verify(workbench, case, recorded.packed(name), M4, build)
        assert done.differences == ()
        assert done.target.refusals == 0
        assert done.calls.spread("alloc").calls > 100


def test_requests_with_tags_are_placed_where_the_host_does(
    workbench: Workbench, recorded: Recordings, tmp_path: Path
) -> None:
    trace = with_sites(recorded.loaded("mixed").trace, tmp_path / "sites.parquet")
    scalars = {"alignment": 8, "ends": 2, "high_0": 0, "high_1": 0, "tags": 2, "tag_high": 2}
    plan = Plan("tailored", scalars, sites={1: 1, 2: 2})
    [case] = cases_of(load_trace(trace), [], [saved(plan, tmp_path / "plan.toml")])
    done = verify(workbench, case, pack(trace, plan.sites), M4, Build("O2"))
    assert done.differences == ()
    tagged = done.calls.spread("alloc_at")
    assert tagged is not None
    assert tagged.calls > 100
    assert host_replay(case, pack(trace)).result.placement_hash != done.target.placement_hash


def with_sites(trace: Trace, path: Path) -> Trace:
    """The trace, as if its requests came from four places by turns."""

    def batches() -> Iterator[dict[str, np.ndarray]]:
        for batch in trace.batches(tuple(COLUMNS)):
            yield {**batch, "site": (np.arange(len(batch["op"])) % 4).astype(np.uint32)}

    return write_trace(path, batches(), trace.info)


def saved(plan: Plan, path: Path) -> Path:
    about = TrainingRecord("mixed", "sha256:" + 64 * "0", 1)
    save_plan(path, PlanFile("sites", plan, None, None, 32, 1, 0, about, _engine.version))
    return path


def small_case(recorded: Recordings, allocator: str) -> Case:
    """A region that refuses some of what the trace "mixed" asks for."""
    loaded = recorded.loaded("mixed")
    case = cases_of(loaded, [allocator], region=1)[0]
    room = int(loaded.profile.u_max * 0.7) // 16 * 16
    return replace(case, region=case.plan.engine().smallest_region + room)


def verify_mixed(
    workbench: Workbench, recorded: Recordings, allocator: str, build: Build, board: Board = M4
) -> Verification:
    case = small_case(recorded, allocator)
    return verify(workbench, case, recorded.packed("mixed"), board, build)


@pytest.mark.parametrize(("allocator", "board"), thin(3, list_shipped(), BOARDS))
def test_every_kind_of_request_equals_the_hosts_on_every_board(
    workbench: Workbench, recorded: Recordings, allocator: str, board: str
) -> None:
    [info] = find_allocators([allocator])
    build = Build("Os", frees_by_size=info.needs_size)
    done = verify_mixed(workbench, recorded, allocator, build, BOARDS[board])
    assert done.differences == ()
    others = {"free", "resize"} if info.needs_size else {"free_sized", "resize_sized"}
    for operation in set(OPERATIONS) - others:
        assert done.calls.spread(operation) is not None
    assert done.calls.total("payload", "clear") > 0


LAYOUTS = thin(3, [(0, 0), (0, 1), (1, 0), (2, 0)], [(1, False), (2, False), (2, True)])


@pytest.mark.parametrize(("form", "ends_of"), LAYOUTS)
def test_every_layout_index_and_end_of_tailored_equals_the_hosts(
    workbench: Workbench,
    recorded: Recordings,
    form: tuple[int, int],
    ends_of: tuple[int, bool],
) -> None:
    (layout, index), (ends, is_shared) = form, ends_of
    loaded = recorded.loaded("mixed")
    plan = Plan("tailored", {"layout": layout, "index": index, "ends": ends})
    if is_shared:
        sizes = sorted({int(size + 7) // 8 * 8 for size in loaded.profile.sizes[-4:]})
        plan = Plan("budgeted", pools=tuple(Pool(size, 3, True) for size in sizes), shared=plan)
    room = int(loaded.profile.u_max * 0.7) // 16 * 16
    case = Case("tailored", plan, plan.engine().smallest_region + room, 32)
    board = list(BOARDS.values())[(layout + index + ends) % len(BOARDS)]
    done = verify(workbench, case, recorded.packed("mixed"), board, Build("Os"))
    assert done.differences == ()
    assert done.target.refusals > 0


def test_payload_moved_by_a_resize_is_counted(workbench: Workbench, recorded: Recordings) -> None:
    done = verify_mixed(workbench, recorded, "tlsf", Build())
    assert done.calls.total("payload", "resize") > 1000


def test_a_region_too_small_is_refused_alike(workbench: Workbench, recorded: Recordings) -> None:
    done = verify_mixed(workbench, recorded, "tlsf", Build())
    assert done.target.refusals == done.host.result.refusals > 40
    assert done.differences == ()


@pytest.mark.parametrize(("allocator", "safety"), thin(4, list_shipped(), [0, 2]))
def test_every_safety_level_and_free_sized_place_alike(
    workbench: Workbench, recorded: Recordings, allocator: str, safety: int
) -> None:
    build = Build("O2", safety, frees_by_size=True)
    done = verify_mixed(workbench, recorded, allocator, build)
    [info] = find_allocators([allocator])
    if info.needs_size and safety == 2:  # its map of live blocks takes room of them
        assert done.target.refusals >= done.host.result.refusals
    else:
        assert done.differences == ()
    assert done.calls.spread("free_sized").calls > 100
    assert done.calls.spread("free") is None


def test_the_first_event_placed_elsewhere_is_found(
    workbench: Workbench, recorded: Recordings
) -> None:
    trace = recorded.packed("mixed")
    coarse = Case("coarse", Plan("tlsf", {"second_level": 2}), 1 << 20, 32)
    fine = Case("fine", Plan("tlsf", {"second_level": 5}), 1 << 20, 32)
    image = replay_image(workbench, M4, Build(), replay_design(coarse.plan, coarse.region, 32))
    told = first_difference(fine, image, trace)
    event = int(told.removeprefix("event ").split(":")[0])

    def host(case: Case, events: int) -> int:
        return host_replay(case, trace.first(events)).result.placement_hash

    assert host(fine, event) == replay(image, trace.first(event)).placement_hash
    assert host(fine, event + 1) != replay(image, trace.first(event + 1)).placement_hash
    words = told.split()
    assert words[words.index("at") + 1] != words[-4]


def test_a_trace_the_image_has_no_room_for_is_told(
    workbench: Workbench, recorded: Recordings
) -> None:
    image = replay_image(workbench, M4, Build(), replay_design(TLSF, 1 << 20))
    too_many = replace(recorded.packed("mixed"), slots=1 << 20)
    with pytest.raises(HeapfitError, match="too many live objects"):
        replay(image, too_many)


def test_a_packed_trace_is_the_trace(recorded: Recordings) -> None:
    loaded = recorded.loaded("mixed")
    packed = pack(loaded.trace)
    direct = _engine.Replay(TLSF.engine(), 1 << 20, base_alignment=32)
    direct.feed(loaded.events)
    host = host_replay(Case("tlsf", TLSF, 1 << 20, 32), packed).result
    assert packed.slots < loaded.profile.allocations.sum() / 4
    for figure in ("placement_hash", "loads", "stores", "frees", "resizes", "payload_bytes"):
        assert getattr(host, figure) == getattr(direct.result(), figure), figure


def test_aligned_requests_are_metered_apart(recorded: Recordings) -> None:
    host = host_replay(Case("tlsf", TLSF, 1 << 20, 32), recorded.packed("mixed"))
    assert 0 < host.aligned.loads < host.plain.loads
    assert host.plain.stores + host.aligned.stores == host.result.stores
