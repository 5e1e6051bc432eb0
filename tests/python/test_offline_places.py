# SPDX-License-Identifier: Apache-2.0
"""`heapfit place` of known lifetimes in banks, and of two programs in one memory or apart."""

import csv
import random
import runpy
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_traces import heapfit, heapfit_json

from heapfit import _engine, join_programs, place_in_banks
from heapfit.cli.commands.memories import PlaceCommand
from heapfit.cli.place import run
from heapfit.errors import HeapfitError
from heapfit.importers import open_trace
from heapfit.memories.joining import Joining, arena_of, join_recorded, program_of
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import load_trace

ROOT = Path(__file__).parents[2]
HEAP = Plan("best_fit")
BANKS = ("--memory", "tcm=512", "--memory", "sram=512")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network") / "n.tflite"
    path.write_bytes(runpy.run_path(str(ROOT / "examples/arena/network.py"))["make_network"]())
    return path


def test_tensors_lie_apart_in_banks_that_hold_them(network: Path) -> None:
    folder = network.parent
    content = heapfit_json("place", "n.tflite", *BANKS, "-o", "banks.csv", folder=folder)
    used = {one["name"]: one["height"] for one in content["banks"]}
    with (folder / "banks.csv").open(newline="") as file:
        rows = [
            (one["bank"], *(int(one[key]) for key in ("lower", "upper", "offset", "size")))
            for one in csv.DictReader(file)
        ]
    assert len(rows) == 17
    for one, other in combinations(rows, 2):
        is_apart = one[3] + one[4] <= other[3] or other[3] + other[4] <= one[3]
        assert one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1] or is_apart
    tops = {bank: max(row[3] + row[4] for row in rows if row[0] == bank) for bank in used}
    assert tops == used
    assert all(top <= 512 for top in tops.values())
    assert sum(row[4] for row in rows if row[0] == "tcm") > 0.5 * sum(row[4] for row in rows)


def test_places_in_banks_are_written_as_c(network: Path) -> None:
    folder = network.parent
    assert heapfit("place", "n.tflite", *BANKS, "-o", "banks.h", folder=folder).returncode == 0
    (folder / "use.c").write_text(
        '#include "banks.h"\nint main(void) { return banks_places[29].bank > 1 || '
        "banks_places[29].offset + 16 > 512 || BANKS_TCM_SIZE > 512; }\n"
    )
    subprocess.run(["cc", "-Wall", "-Werror", "use.c", "-o", "use"], cwd=folder, check=True)
    subprocess.run(["./use"], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"memories": ["a=100", "b=400"]}, "a buffer of 432 B is larger than every bank"),
        ({"memories": ["a=432", "b=100"]}, r"no division has room \(proven\) for all"),
        ({"output": Path("p.tflite")}, "only a TFLite model in one memory"),
        ({"needs": ["dma=1"]}, "are for recordings in two memories"),
        ({"sources": ["n.tflite", "n.tflite"]}, "give one network for banks"),
        ({"memories": ["a=4K"]}, "one --memory is for two programs"),
    ],
)
def test_what_cannot_be_placed_is_named(
    network: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(network.parent)
    given = {"sources": ["n.tflite"], "memories": ["tcm=512", "sram=512"], **arguments}
    given["sources"] = [Path(one) for one in given["sources"]]
    with pytest.raises(HeapfitError, match=message):
        run(PlaceCommand(**given))
    assert not Path("p.tflite").exists()


def test_the_first_bank_has_as_many_bytes_as_the_best_of_all_divisions(tmp_path: Path) -> None:
    """Of eight buffers all 256 divisions are packed, with two sizes of the banks."""
    draw, path = random.Random(8), tmp_path / "eight.csv"
    begun = sorted(draw.randrange(12) for _ in range(8))
    rows = [(one, one + draw.randint(1, 6), 8 * draw.randint(1, 9)) for one in begun]
    lines = [f"{i},{lower},{upper},{size}" for i, (lower, upper, size) in enumerate(rows)]
    path.write_text("\n".join(["id,lower,upper,size", *lines, ""]))
    columns = np.array(rows, np.uint64).T

    def height(chosen: list[int]) -> int:
        lifetimes = _engine.Lifetimes(*(one[chosen].copy() for one in columns))
        return _engine.pack(lifetimes, _engine.PackingEffort(1, 100_000, 2_000)).height

    everyone = range(8)
    divisions = [[one for one in everyone if bits >> one & 1] for bits in range(256)]
    heights = {tuple(one): height(one) for one in divisions}
    for sizes in ((96, 120), (64, 160)):
        fitting = (
            sum(rows[one][2] for one in inside)
            for inside in heights
            if heights[inside] <= sizes[0]
            and heights[tuple(one for one in everyone if one not in inside)] <= sizes[1]
        )
        most = max(fitting, default=None)
        memories = [f"a={sizes[0]}", f"b={sizes[1]}"]
        if most is None:
            with pytest.raises(HeapfitError, match="proven"):
                place_in_banks(path, memories)
            continue
        divided = place_in_banks(path, memories)
        assert divided.is_most
        assert divided.banks[0].moved == most


def join(folder: Path, first: str, second: str, *, arena: bool = False) -> Joining:
    """Two recordings of lines OP,OBJECT,SIZE,TIME; or the second one as minimalloc's CSV."""
    programs = []
    for number, text in enumerate((first, second)):
        path = folder / f"{number}.csv"
        is_arena = arena and number == 1
        path.write_text(("id,lower,upper,size\n" if is_arena else "op,object,size,time\n") + text)
        with open_trace(path) as trace:
            loaded = load_trace(trace)
            programs.append(
                arena_of("arena", loaded, has_times=True)
                if is_arena
                else program_of(path.name, loaded, HEAP)
            )
    return join_recorded(programs[0], programs[1], HEAP)


def test_programs_meet_by_their_clocks_at_their_peaks_and_in_turn(tmp_path: Path) -> None:
    first = "alloc,1,100,0\nalloc,2,5000,1\nfree,2,0,20\nfree,1,0,90\n"
    second = "alloc,8,24,0\nalloc,7,3000,30\nresize,7,4000,40\nfree,7,0,50\nfree,8,0,60\n"
    joining = join(tmp_path, first, second)
    assert joining.programs[0].live().tolist() == [100, 5100, 100, 0]
    assert joining.programs[1].live().tolist() == [24, 3024, 4024, 24, 0]
    alone = [one.alone for one in joining.programs]
    clocks, peaks, turns = (one.region for one in joining.meetings)
    assert max(alone) == turns <= clocks < alone[0] + 200  # what is live of the other meanwhile
    assert 9124 < peaks < joining.apart == sum(alone)  # one heap has one control structure
    assert joining.most == peaks
    offered = join_programs(tmp_path / "0.csv", str(tmp_path / "1.csv"))
    assert (offered.apart, offered.most, offered.least) == (joining.apart, peaks, peaks)
    with pytest.raises(HeapfitError, match="tlfs"):
        join_programs(tmp_path / "0.csv", tmp_path / "1.csv", "tlfs")


def test_an_arena_is_one_block_while_any_of_its_buffers_is_live(tmp_path: Path) -> None:
    first = "alloc,1,16,0\nalloc,2,3000,20\nfree,2,0,40\nfree,1,0,60\n"
    arena = "a,30,34,640\nb,33,40,320\nc,41,45,640\n"
    joining = join(tmp_path, first, arena, arena=True)
    block = joining.programs[1]
    assert block.alone == 960
    ops, _, sizes, _ = block.columns
    assert (ops.tolist(), sizes.tolist()) == ([0, 4, 0, 4], [960, 0, 960, 0])
    assert block.times is not None
    assert np.diff(block.times).tolist() == [10, 1, 4]
    clocks, peaks, _ = (one.region for one in joining.meetings)
    assert clocks == joining.programs[0].alone < peaks


def test_examples_need_less_together_whichever_way_they_meet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ROOT / "examples/recordings/traces"
    pair = (str(folder / "broker32-1.parquet"), str(folder / "routes32-1.parquet"))
    content = heapfit_json("place", *pair, "--memory", "ram=128K", folder=tmp_path)
    assert content["together"] < content["apart"] == sum(content["alone"].values())
    assert content["better"] == "one heap for both"
    assert content["meetings"][0]["region"] < 0.9 * content["apart"]
    assert content["fits"] is True
    with pytest.raises(SystemExit) as refused:
        run(PlaceCommand([*map(Path, pair)], ["ram=64K"]))
    assert refused.value.code == 3
    said = " ".join(capsys.readouterr().out.split())
    missing = content["together"] - (64 << 10)
    assert f"they do not fit, {missing:,} B are missing in ram (65,536 B)" in said
