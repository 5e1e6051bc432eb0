# SPDX-License-Identifier: Apache-2.0
"""`heapfit check`, as typed: what is green, what is red, and what is said to have grown."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from small_traces import heapfit, heapfit_json

from heapfit import _engine
from heapfit.checks.check import CheckFinding, CheckOptions, check_recordings
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import PlanFile, TrainingRecord, save_plan
from heapfit.sweep import Sweep

FAILED = 3
CAPTURE = Path(__file__).parents[2] / "examples/capture/network.pcap.gz"
REGION, PEAK = 4096, 3000  # of the plan that most tests check


def plan_file(**changed: object) -> PlanFile:
    """first_fit in 4 KiB, for a peak of 3,000 bytes and with a margin of 10 %."""
    made = PlanFile(
        name="small",
        plan=Plan("first_fit", {"alignment": 8}),
        region=REGION,
        r_min=3200,
        base_alignment=16,
        u_max=PEAK,
        pointer_bits=32,
        trained_on=TrainingRecord("old", f"sha256:{'0' * 64}", 100),
        heapfit_version=_engine.version,
        r_safe=3200,
        peak=PEAK,
        margin=10.0,
    )
    return replace(made, **changed)


def recording(path: Path, lines: list[str], bits: int = 32) -> Path:
    path.write_text("\n".join(["# heap-events 1", f"# pointer_bits {bits}", *lines]) + "\n")
    return path


def blocks(sizes: list[int]) -> list[str]:
    """Requests that are freed in the order in which they come."""
    asked = [f"a {i} {size}" for i, size in enumerate(sizes)]
    return asked + [f"f {i}" for i in range(len(sizes))]


def broken_up() -> list[str]:
    """Small blocks among large ones that go: 1,000 B are asked for, of 2,600 free in pieces."""
    asked = blocks([600, 32] * 5)[:10]
    return [*asked, *(f"f {i}" for i in range(0, 10, 2)), "a 10 1000", "f 10"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_plan(tmp_path / "plan.toml", plan_file())
    recording(tmp_path / "same.heap", blocks([1000] * 3))
    recording(tmp_path / "less.heap", blocks([1000] * 2))
    recording(tmp_path / "more.heap", blocks([1000] * 3 + [150]))
    recording(tmp_path / "leak.heap", [f"a {i} 500" for i in range(12)])
    recording(tmp_path / "broken.heap", broken_up())
    return tmp_path


def check(folder: Path, *arguments: object) -> tuple[int, dict]:
    done = heapfit("check", *arguments, "--plan", "plan.toml", "--json", folder=folder)
    return done.returncode, json.loads(done.stdout)


def test_recordings_that_run_are_replayed_once_each(folder: Path) -> None:
    status, content = check(folder, "same.heap", "less.heap")
    assert status == 0
    assert [one["verdict"] for one in content["recordings"]] == ["passed", "passed"]
    assert content["events_replayed"] == sum(one["events"] for one in content["recordings"]) == 10
    assert content["events_of_searches"] == 0
    assert content["is_passed"]


def test_a_leak_is_red_and_told_as_more_than_planned(folder: Path) -> None:
    shown = heapfit("check", "leak.heap", "--plan", "plan.toml", folder=folder)
    assert shown.returncode == FAILED
    assert "leak: out of memory in the 4,096 bytes of small, at event " in shown.stdout
    assert "above the planned peak." in shown.stdout
    assert "Its peak of 6,000 live bytes is 100 % above the planned 3,000." in shown.stdout


def test_a_heap_that_is_broken_up_is_red_although_the_load_is_as_planned(folder: Path) -> None:
    save_plan(folder / "plan.toml", plan_file(region=3400, peak=3160, u_max=3160))
    status, content = check(folder, "broken.heap")
    (one,) = content["recordings"]
    assert (status, one["findings"]) == (FAILED, ["ran_out"])
    assert one["refusal"]["live"] == 5 * 32
    assert one["refusal"]["largest_hole"] < one["refusal"]["size"] == 1000 < one["refusal"]["free"]
    shown = heapfit("check", "broken.heap", "--plan", "plan.toml", folder=folder)
    assert "within the planned peak: the heap is fragmented." in " ".join(shown.stdout.split())


def test_what_failed_is_told_with_the_region_it_needs(folder: Path) -> None:
    _, content = check(folder, "leak.heap")
    (one,) = content["recordings"]
    again = heapfit_json("compare", "leak.heap", "first_fit", folder=folder)
    assert one["r_safe"] == again["rows"][0]["r_safe"] > REGION
    assert content["events_of_searches"] > 0


def test_sizes_that_grew_are_told_beside_the_base(folder: Path) -> None:
    _, content = check(folder, "leak.heap", "--base", "less.heap", "--base", "same.heap")
    assert content["base"] == {"name": "same", "peak": PEAK}
    (one,) = content["recordings"]
    (grown,) = one["sizes"]
    assert grown["name"] == 512
    assert grown["before"]["at_peak"] == 0
    assert grown["now"]["at_peak"] == 6000
    assert one["growth"] == pytest.approx(100)


@pytest.mark.parametrize(("limit", "status"), [("4%", FAILED), ("5", 0), ("5.0 %", 0)])
def test_growth_is_limited_against_the_highest_base(folder: Path, limit: str, status: int) -> None:
    asked = ("more.heap", "--base", "less.heap", "--base", "same.heap", "--growth", limit)
    found, content = check(folder, *asked)
    assert found == status
    assert [one["findings"] for one in content["recordings"]] == [["grew"] if status else
                                                                  ["margin_eaten"]]  # fmt: skip


def test_without_a_base_growth_is_against_the_plans_own_recordings(folder: Path) -> None:
    assert check(folder, "more.heap", "--growth", "4%")[0] == FAILED
    assert check(folder, "same.heap", "--growth", "0%")[0] == 0


def test_a_margin_that_is_eaten_warns_and_fails_a_strict_check(folder: Path) -> None:
    status, content = check(folder, "more.heap")
    (one,) = content["recordings"]
    assert (status, one["findings"]) == (0, ["margin_eaten"])
    assert one["margin_eaten"] == pytest.approx(50)  # 5 % of load, of a margin of 10 %
    assert check(folder, "more.heap", "--strict")[0] == FAILED
    assert check(folder, "same.heap", "--strict")[0] == 0


def test_a_measured_recording_tells_what_fragmentation_takes_of_the_margin(folder: Path) -> None:
    save_plan(folder / "plan.toml", plan_file(region=3096))
    status, content = check(folder, "same.heap", "--measure")
    (one,) = content["recordings"]
    assert (status, one["findings"]) == (0, ["margin_eaten"])
    without = 3096 / 1.1
    assert one["margin_eaten"] == pytest.approx((one["r_safe"] - without) / (3096 - without) * 100)


def test_a_plan_without_a_margin_is_not_judged_by_it(folder: Path) -> None:
    save_plan(folder / "plan.toml", plan_file(margin=None))
    done = heapfit("check", "more.heap", "--plan", "plan.toml", "--strict", folder=folder)
    assert done.returncode == 0
    assert "small: states no margin, so its use is not judged" in done.stderr


def test_more_alignment_than_the_regions_start_has_is_red(folder: Path) -> None:
    recording(folder / "aligned.heap", ["m 0 100 64", "f 0"])
    status, content = check(folder, "aligned.heap")
    assert (status, content["recordings"][0]["findings"]) == (FAILED, ["misaligned"])


def test_markdown_has_the_verdict_and_the_tables(folder: Path) -> None:
    asked = ("same.heap", "leak.heap", "--plan", "plan.toml", "--report", "pull.md")
    assert heapfit("check", *asked, folder=folder).returncode == FAILED
    page = (folder / "pull.md").read_text()
    assert page.startswith("### The heap of 4,096 bytes fails on 1 of 2 recordings\n")
    assert "| leak | ran out | 12 | 6,000 | +100.0 % |" in page
    assert "| size up to | at the peak | on average |" in page
    assert heapfit("check", "same.heap", *asked[2:], folder=folder).returncode == 0
    assert (
        (folder / "pull.md")
        .read_text()
        .startswith("### The heap of 4,096 bytes serves every recording\n")
    )


@pytest.mark.parametrize(
    ("changed", "lines", "bits", "message"),
    [
        ({}, blocks([8]), 64, "odd: recorded on 64 bit, the plan small on 32 bit"),
        ({"region": None}, blocks([8]), 32, "small: the plan sets no region"),
        (
            {"trained_on": TrainingRecord("p", f"sha256:{'0' * 64}", 9, "packets")},
            blocks([8]),
            32,
            "odd: is a recording of heap, the plan small was made from packets",
        ),
    ],
)
def test_what_cannot_be_checked_is_one_line(
    folder: Path, changed: dict, lines: list[str], bits: int, message: str
) -> None:
    save_plan(folder / "plan.toml", plan_file(**changed))
    recording(folder / "odd.heap", lines, bits)
    asked = ("odd.heap", "--plan", "plan.toml", "--report", "pull.md")
    done = heapfit("check", *asked, folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert message in line
    assert not (folder / "pull.md").exists()


def test_a_recording_of_unknown_pointer_size_is_checked_with_a_word_of_warning(
    folder: Path,
) -> None:
    recording(folder / "odd.heap", blocks([8]), 0)
    done = heapfit("check", "odd.heap", "--plan", "plan.toml", folder=folder)
    assert done.returncode == 0
    assert "odd: pointer size unknown; the plan is for 32 bit" in done.stderr


def test_a_plan_of_no_recording_is_judged_by_its_region_alone(folder: Path) -> None:
    none = TrainingRecord("by hand", f"sha256:{'0' * 64}", 0)
    made = plan_file(trained_on=none, u_max=0, pointer_bits=0, peak=None, margin=None)
    save_plan(folder / "plan.toml", made)
    asked = ("leak.heap", "--plan", "plan.toml", "--growth", "1%")
    done = heapfit("check", *asked, folder=folder)
    assert done.returncode == FAILED
    assert "Its peak is 6,000 live bytes; the plan states none." in done.stdout
    assert "small: states no peak, so growth is not judged (give --base)." in done.stderr
    save_plan(folder / "plan.toml", replace(made, region=1_000_000))
    packets = heapfit("check", CAPTURE, "--plan", "plan.toml", folder=folder)
    assert packets.returncode == 0


def test_a_capture_is_checked_on_a_plan_for_packets(folder: Path) -> None:
    trained_on = TrainingRecord("net", f"sha256:{'0' * 64}", 9, "packets")
    save_plan(folder / "plan.toml", plan_file(region=1_000_000, trained_on=trained_on))
    asked = (CAPTURE, "--queue", "fill-drain:100", "--plan", "plan.toml")
    done = heapfit("check", *asked, folder=folder)
    assert (done.returncode, done.stderr) == (0, "network: 2 packets without IP skipped\n")


def test_pools_of_other_sizes_are_told_apart_from_a_broken_heap(folder: Path) -> None:
    pools = Plan("class_pools", {"alignment": 8}, (Pool(504, 4, False), Pool(1000, 1, False)))
    save_plan(folder / "plan.toml", plan_file(plan=pools, r_min=None, r_safe=None))
    shown = heapfit("check", "same.heap", "--plan", "plan.toml", folder=folder)
    assert "within the planned peak: the pools do not fit these sizes." in " ".join(
        shown.stdout.split()
    )


def test_compare_ends_with_whether_a_plan_held(folder: Path) -> None:
    asked = ("same.heap", "leak.heap", "--plan", "plan.toml")
    done = heapfit("compare", *asked, folder=folder)
    assert done.returncode == 0
    held, planned, ran_out, above = done.stdout.splitlines()[-4:]
    assert held == "same: the 4,096 bytes of small are enough."
    assert planned == "Its peak of 3,000 live bytes equals the planned peak."
    assert ran_out.startswith("leak: out of memory in the 4,096 bytes of small, at event ")
    assert above.endswith(" is 100 % above the planned 3,000.")
    content = heapfit_json("compare", *asked, folder=folder)
    assert [one["held"] for one in content["in_plans_regions"]] == [True, False]


def test_compare_takes_a_plan_of_another_pointer_size(folder: Path) -> None:
    recording(folder / "wide.heap", blocks([8]), 64)
    done = heapfit("compare", "wide.heap", "--plan", "plan.toml", folder=folder)
    assert done.returncode == 0
    assert "wide: the 4,096 bytes of small are enough." in done.stdout


def test_without_a_plan_recordings_are_compared_with_the_base(folder: Path) -> None:
    asked = ("more.heap", "--base", "less.heap", "--base", "same.heap", "--json")
    content = json.loads(heapfit("check", *asked, folder=folder).stdout)
    (one,) = content["recordings"]
    assert content["base"] == {"name": "same", "peak": PEAK, "needed": 3032}  # a header of 8 each
    assert (one["verdict"], one["growth"], one["r_safe"]) == ("passed", 5.0, 3032 + 160)
    assert [(grown["name"], grown["now"]["at_peak"]) for grown in one["sizes"]] == [(160, 150)]
    assert "so nothing fails: --growth" in heapfit("check", *asked[:-1], folder=folder).stdout
    limited = CheckOptions((folder / "same.heap",), growth=4.0)
    assert not check_recordings([folder / "more.heap"], None, limited).holds
    wide = recording(folder / "wide.heap", blocks([1000]), bits=64)
    for other, reason in ((wide, "64 bit"), (CAPTURE, "of packets")):
        with pytest.raises(HeapfitError, match=reason):
            check_recordings([other], None, limited)
    with pytest.raises(HeapfitError, match="nothing to compare with"):
        check_recordings([wide], None)


def test_from_python_a_check_is_a_record(folder: Path) -> None:
    found = check_recordings([folder / "same.heap", folder / "leak.heap"], plan_file())
    assert not found.holds
    assert [one.findings for one in found.recordings] == [(), (CheckFinding.RAN_OUT,)]
    trace = open_any(folder / "leak.heap", ImportOptions(), folder)
    (leak,) = check_recordings([trace], plan_file(), CheckOptions((trace,))).recordings
    assert (leak.run.name, leak.growth) == ("leak", 0)
    with pytest.raises(HeapfitError, match="none"):
        check_recordings([folder / "none.heap"], plan_file(), CheckOptions())


def test_workers_find_what_one_process_finds(tmp_path: Path) -> None:
    base = recording(tmp_path / "base.heap", blocks([200] * 8))
    runs = [
        recording(tmp_path / "small.heap", blocks([100] * 12)),
        recording(tmp_path / "grown.heap", blocks([300] * 16)),
        recording(tmp_path / "broken.heap", broken_up()),
    ]
    options = CheckOptions(base=(base,), growth=5.0)
    alone = check_recordings(runs, plan_file(), options)
    with Sweep(workers=2) as sweep:
        together = check_recordings(runs, plan_file(), options, sweep=sweep)
    assert together == alone
    assert [bool(one.findings) for one in alone.recordings] == [False, True, True]
    assert together.recordings[1].changes is not None


def test_a_recording_that_is_not_there_is_told_by_workers_too(tmp_path: Path) -> None:
    run = recording(tmp_path / "run.heap", blocks([100]))
    with Sweep(workers=2) as sweep, pytest.raises(HeapfitError, match=r"gone\.heap"):
        check_recordings([run, tmp_path / "gone.heap"], plan_file(), sweep=sweep)


def test_recordings_of_a_sweep_weigh_what_their_files_do(tmp_path):
    class Noted:
        """A sweep that runs nothing."""

        def run(self, _, jobs, __):
            self.events = [job.events for job in jobs]
            return []

    noted, files = Noted(), [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file, size in zip(files, (4_000, 8_000), strict=True):
        file.write_bytes(b" " * size)
    check_recordings(files, plan_file(), sweep=noted)
    assert noted.events == [500, 1_000]
