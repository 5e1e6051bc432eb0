# SPDX-License-Identifier: Apache-2.0
"""`heapfit place` of two programs in one memory or apart."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_traces import heapfit, heapfit_json

from heapfit import join_programs
from heapfit.cli.commands.memories import PlaceCommand
from heapfit.cli.place import run
from heapfit.errors import HeapfitError
from heapfit.importers import open_trace
from heapfit.memories.joining import Joining, arena_of, join_recorded, program_of
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import load_trace

ROOT = Path(__file__).parents[2]
HEAP = Plan("best_fit")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"needs": ["dma=1"]}, "are for recordings in two memories"),
        ({}, "one --memory is for two programs"),
    ],
)
def test_what_cannot_be_placed_is_named(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(HeapfitError, match=message):
        run(PlaceCommand([tmp_path / "run.heap"], ["ram=4K"], **arguments))


def test_a_networks_tensors_are_sent_to_bounds(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,lower,upper,size\n0,0,4,64\n")
    done = heapfit("place", "n.csv", "--memory", "a=4K", "--memory", "b=4K", folder=tmp_path)
    assert done.returncode == 2
    assert "bounds n.csv -o places.h" in " ".join(done.stderr.split())


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
