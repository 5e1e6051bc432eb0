# SPDX-License-Identifier: Apache-2.0
"""Each fault that is planted in a sound allocator is found, and by its name."""

import random
from pathlib import Path

import pytest

from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plugin import Plugin, PluginRow, build, measure, running
from heapfit.plugin.building import host_objects
from heapfit.plugin.faults import FAULT_NAMES
from heapfit.trace.stored import Trace

SOURCE = Path(__file__).parent / "plugins/faulty.c"
PLANTED = {
    "OVERLAP": "overlap",
    "MISALIGNED": "misaligned",
    "OUTSIDE": "outside the region",
    "TOO_SMALL": "too small",
    "HEADER_IN_PAYLOAD": "header in payload",
    "RESIZE_LOSES": "resize loses content",
    "NEVER_REUSED": "freed memory never reused",
    "NULL_CHANGES": "NULL changes a block",
    "ALIGNMENT_IGNORED": "alignment ignored",
    "MALLOC": "other memory",
    "ENDLESS": "endless loop",
    "ABORTS": "abort",
    "CRASH": "crash",
    "SLEEPS": "system call",
    "OVERFLOWS": "impossible served",
}

# What a constructor does, and the fault that it is told as.
HOSTILE = {
    'for (;;) __asm__ volatile("")': "endless loop",
    "raise(SIGSTOP)": "system call",
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """300 requests of all kinds."""
    draw = random.Random(1)
    lines = ["# heap-events 1", "# pointer_bits 32"]
    live: list[int] = []
    for number in range(300):
        size = draw.randrange(1, 300)
        lines.append(f"m {number} {size} 64" if number % 7 == 0 else f"a {number} {size}")
        live.append(number)
        if number % 3 == 0:
            lines.append(f"r {draw.choice(live)} {draw.randrange(1, 500)}")
        if len(live) > 40:
            lines.append(f"f {live.pop(draw.randrange(len(live)))}")
    folder = tmp_path_factory.mktemp("trace")
    (folder / "all.txt").write_text("\n".join(lines) + "\n")
    return open_any(folder / "all.txt", ImportOptions(), folder)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The program that all of them are linked into."""
    return host_objects(32, tmp_path_factory.mktemp("host"))


def measured(fault: str, host: list[Path], trace: Trace, folder: Path) -> PluginRow:
    plugin = Plugin(fault, (SOURCE,), 32, (f"-DFAULT={fault}",))
    return measure(build(plugin, folder, host), trace)


def test_a_sound_allocator_has_no_fault_and_a_region(
    host: list[Path], trace: Trace, tmp_path: Path
) -> None:
    row = measured("NONE", host, trace, tmp_path)

    assert row.faults == ()
    assert row.r_safe is not None and row.r_safe > row.u_max


@pytest.mark.parametrize(("fault", "name"), PLANTED.items())
def test_a_planted_fault_is_found_by_its_name(
    fault: str, name: str, host: list[Path], trace: Trace, tmp_path: Path
) -> None:
    row = measured(fault, host, trace, tmp_path)

    assert name in FAULT_NAMES
    assert {one.name for one in row.faults} == {name}


def test_every_name_of_a_fault_is_planted() -> None:
    assert set(PLANTED.values()) == set(FAULT_NAMES)


@pytest.mark.parametrize(("attack", "name"), HOSTILE.items())
def test_a_hostile_constructor_is_contained_and_named(
    attack: str, name: str, host: list[Path], trace: Trace, tmp_path: Path
) -> None:
    plugin = Plugin("hostile", (SOURCE.parent / "hostile.c",), 32, (f"-DHOSTILE={attack}",))
    row = measure(build(plugin, tmp_path, host), trace)

    assert {fault.name for fault in row.faults} == {name}
    assert row.r_safe is None


def test_constructors_run_in_their_order_before_init(
    host: list[Path], trace: Trace, tmp_path: Path
) -> None:
    source = tmp_path / "ordered.c"
    source.write_text(
        f'''#define FAULT NONE
        #include "{SOURCE}"
        static int order;
        __attribute__((constructor(102))) static void second(void) {{ order = order * 10 + 2; }}
        __attribute__((constructor(101))) static void first(void) {{ order = order * 10 + 1; }}
        __attribute__((constructor)) static void last(void) {{ if (order != 12) abort(); }}'''
    )
    row = measure(build(Plugin("ordered", (source,), 32, ()), tmp_path / "built", host), trace)

    assert row.faults == () and row.r_safe is not None


def test_a_process_that_does_not_start_in_time_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nwhile :; do :; done\n")
    sleeper.chmod(0o700)
    monkeypatch.setattr(running, "START", 1)
    with (
        pytest.raises(HeapfitError, match="its process does not start"),
        running.start_process(sleeper, tmp_path / "events", 8),
    ):
        pass
