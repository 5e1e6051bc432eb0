# SPDX-License-Identifier: Apache-2.0
"""recorder/target on an emulated Cortex-M3: what it records is what was asked, within its bars.

On the firmware recording gateway-1, 74,142 events, where HEAPFIT_CORPUS names a corpus with it;
else on as many of an example of our own as it has.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import recordings

from harness import sources
from harness.calls import Calls
from harness.image import Image
from harness.packed_trace import pack
from harness.recording import (
    EVENTS,
    Recorded,
    Setting,
    record_on_board,
    recording_image,
    text_bytes,
)
from harness.workbench import Workbench
from heapfit.importers import ImportOptions, import_file, open_any
from heapfit.importers.target_log import Emulation, record_emulated
from heapfit.trace.operations import Op
from heapfit.trace.stored import COLUMNS, Trace

DRAIN = "hfit_record_drain"
REGION = 1 << 20
# Told apart: what a program may leave out.
APART = (
    *("send_header", "hfit_record_resize", "hfit_record_aligned", "hfit_record_zeroed"),
    *("__wrap_pvPortCalloc", "ulPortRaiseBASEPRI"),  # FreeRTOS's own
)


@dataclass
class Run:
    """A trace, and what the board recorded of it."""

    trace: Trace
    image: Image
    recorded: Recorded
    imported: Trace

    @property
    def calls(self) -> Calls:
        assert self.recorded.calls is not None
        return self.recorded.calls


def firmware_trace(folder: Path) -> Trace:
    """Requests of a firmware, or what comes next to them."""
    if "HEAPFIT_CORPUS" in os.environ:
        source = Path(os.environ["HEAPFIT_CORPUS"]) / "rtos/gateway-1.heap.gz"
        return open_any(source, ImportOptions(), folder)
    return Trace.open(sources.root() / "examples/lwip-echo/lwip-echo.parquet")


def columns_of(trace: Trace, *names: str) -> dict[str, np.ndarray]:
    batches = list(trace.batches(names))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in names}


@pytest.fixture(scope="module")
def run(workbench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("recording")
    trace = firmware_trace(folder)
    image = recording_image(workbench, REGION, Setting())
    recorded = record_on_board(image, pack(trace), workbench.plugin, (*EVENTS, DRAIN))
    return Run(trace, image, recorded, import_file(recorded.frames, folder / "board.parquet"))


def test_the_board_records_what_was_asked_to_the_event(run: Run) -> None:
    asked, told = (columns_of(trace, *COLUMNS) for trace in (run.trace, run.imported))
    for name in ("op", "object", "size", "alignment"):
        assert np.array_equal(asked[name], told[name])
    assert run.imported.info.notes == ()  # 1 KB of ring, drained each 5 ms, lost nothing
    assert run.imported.info.pointer_bits == 32


def test_its_times_are_the_ticks_of_the_board(run: Run) -> None:
    time = columns_of(run.imported, "time")["time"]
    happened = np.arange(len(time)) * 1000 // 3700 * 1000
    assert np.array_equal(time, happened)


def test_an_event_takes_at_most_120_instructions_in_the_mean_and_180(run: Run) -> None:
    counts = run.calls.of(*EVENTS)["instructions"]
    assert counts.mean() <= 120
    assert counts.max() <= 180


def test_an_event_takes_at_most_3_8_bytes_of_frames(run: Run) -> None:
    assert run.recorded.frames.stat().st_size <= bytes_an_event() * run.trace.info.events


def bytes_an_event() -> float:
    return 3.8 if "HEAPFIT_CORPUS" in os.environ else 5.0  # the example's blocks are larger


def test_the_wrapper_of_a_request_takes_at_most_16_instructions_more(
    workbench: Workbench, run: Run
) -> None:
    """With the calls that suspend and resume the scheduler. That of a free ends in a jump, so it is
    not counted: it has 36 B."""
    packed = pack(run.trace).first(2000)

    def spent(*functions: str) -> int:
        calls = record_on_board(run.image, packed, workbench.plugin, functions).calls
        assert calls is not None
        return calls.total("instructions", *functions)

    own = spent("__wrap_pvPortMalloc") - spent("pvPortMalloc", "hfit_record_alloc")
    requests = np.count_nonzero(packed.events[:, 0] >> 29 == 0)
    assert own <= 16 * requests
    assert text_bytes(run.image)["__wrap_vPortFree"] <= 36


def own_bytes(image: Image) -> int:
    """The recorder's code, but for what a program may leave out."""
    told = {name: size for name, size in text_bytes(image).items() if name not in APART}
    assert len(told) >= 12
    return sum(told.values())


@pytest.fixture(scope="module")
def uart_image(workbench: Workbench) -> Image:
    return recording_image(workbench, REGION, Setting(has_uart=True))


def test_it_takes_at_most_752_bytes_of_code_and_36_of_memory(uart_image: Image, run: Run) -> None:
    for image in (uart_image, run.image):  # the other has semihosting as its sink
        assert own_bytes(image) <= 752
        assert image.symbols["hfit_one_heap"][1] <= 36


def test_call_sites_take_at_most_48_bytes_of_code_and_2_5_an_event(
    workbench: Workbench, run: Run, tmp_path: Path
) -> None:
    """They are those of the program's one function that asks."""
    image = recording_image(workbench, REGION, Setting(has_call_sites=True))
    frames = record_on_board(image, pack(run.trace)).frames
    imported = import_file(frames, tmp_path / "sites.parquet")
    columns = columns_of(imported, "op", "size", "site")
    asked = columns["op"] != Op.FREE
    assert np.array_equal(columns["size"], columns_of(run.trace, "size")["size"])
    start, size = image.symbols["main"]
    places = columns["site"][asked].astype(np.int64) - start
    assert 0 < places.min() <= places.max() <= size
    assert not columns["site"][~asked].any()
    assert frames.stat().st_size <= (bytes_an_event() + 2.5) * run.trace.info.events
    assert own_bytes(image) - own_bytes(run.image) <= 48


def test_every_kind_of_request_comes_through_a_uart(uart_image: Image, tmp_path: Path) -> None:
    trace = recordings.recording("mixed", tmp_path, 1500)
    frames = record_on_board(uart_image, pack(trace)).frames
    imported = import_file(frames, tmp_path / "uart.parquet")
    asked, told = (columns_of(one, *COLUMNS) for one in (trace, imported))
    for name in ("op", "object", "size"):
        assert np.array_equal(asked[name], told[name])
    is_aligned = asked["alignment"] > 1
    assert np.array_equal(asked["alignment"][is_aligned], told["alignment"][is_aligned])
    assert imported.info.notes == ()


def test_a_ring_that_is_drained_too_seldom_tells_how_much_is_missing(
    workbench: Workbench, run: Run, tmp_path: Path
) -> None:
    image = recording_image(workbench, REGION, Setting(drain_each=200, ring=512))
    packed = pack(run.trace).first(4000)
    trace = import_file(record_on_board(image, packed).frames, tmp_path / "lossy.parquet")
    told = next(note for note in trace.info.notes if "missing" in note)
    missing = int(told.split()[0].replace(",", ""))
    events = columns_of(run.imported, "op")["op"][: len(packed.events)]
    assert 0 < missing < len(events)
    assert trace.info.events <= len(events)


@pytest.mark.parametrize("has_uart", [True, False])
def test_heapfit_record_runs_an_image(
    run: Run, uart_image: Image, tmp_path: Path, has_uart: bool
) -> None:
    image = (uart_image if has_uart else run.image).path
    packed = pack(run.trace).first(300)
    packed.save(image.parent / "trace")
    emulation = Emulation(image, (str(image.parent / "trace"),))
    recording = record_emulated(emulation, tmp_path / "run.parquet")
    assert recording.ending == "ended with status 0"
    assert recording.trace.info.events == 300
