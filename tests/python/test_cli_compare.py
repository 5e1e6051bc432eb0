# SPDX-License-Identifier: Apache-2.0
"""`heapfit compare` and `heapfit fit --plans`, as typed."""

import pytest
from small_traces import bimodal, fit_json, heapfit, heapfit_json, table2

from heapfit import _engine
from heapfit.comparison.incumbents.heaps import find_heap_name
from heapfit.design.portfolio import candidate_from_file
from heapfit.importers import import_file
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, TrainingRecord, file_name
from heapfit.trace.loaded import load_trace

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    bimodal(folder / "packets.heap")
    table2(folder / "four.heap")
    return folder


def names(content):
    return [row["name"] for row in content["rows"]]


def test_without_names_all_that_fit_tries_is_compared(folder):
    content = heapfit_json("compare", "packets.heap", folder=folder)
    assert set(names(content)) >= {"tlsf", "address_first_fit", "class_pools"}
    plain = [row["r_safe"] for row in content["rows"] if not row["trained_on_this_trace"]]
    listed = [row["r_safe"] for row in content["rows"] if row["name"] == "address_first_fit"]
    assert sorted(plain[:3]) == plain[:3]  # of one kind: others have a larger margin
    assert listed


def test_baselines_are_compared_by_name_and_never_offered(folder):
    infos = _engine.allocators()
    baselines = [info.name for info in infos if not info.ships]
    assert "kingsley" in baselines
    assert set(baselines).isdisjoint(names(heapfit_json("compare", "four.heap", folder=folder)))
    plans = fit_json("four.heap", "--plans", "four", folder=folder)["plans"]
    assert set(baselines).isdisjoint(names(plans))
    compared = heapfit_json("compare", "four.heap", *baselines, folder=folder)
    assert set(names(compared)) == {*map(find_heap_name, baselines)}
    assert {"kingsley", "esp-tlsf"} <= set(names(compared))
    assert all(row["r_safe"] for row in compared["rows"])


def test_an_allocator_is_compared_with_its_tunables(folder):
    content = heapfit_json(
        "compare", "packets.heap", "first_fit", "first_fit:coalesce=0,alignment=4", folder=folder
    )
    by_name = {row["name"]: row for row in content["rows"]}
    other = by_name["first_fit:coalesce=0:alignment=4"]
    assert other["plan"] == {"allocator": "first_fit", "alignment": 4, "coalesce": 0}
    assert other["alignment"] == 4
    assert by_name["first_fit"]["alignment"] == 8
    assert by_name["first_fit"]["r_safe"] < other["r_safe"]


def test_pools_made_from_the_trace_take_tunables_too(folder):
    asked = ("class_pools", "class_pools:search=1", "class_pools:overflow=1")
    content = heapfit_json("compare", "packets.heap", *asked, folder=folder)
    by_name = {row["name"]: row for row in content["rows"]}
    plain, stack = by_name["class_pools"], by_name["class_pools:search=1"]
    assert stack["plan"] == {**plain["plan"], "search": 1}
    assert stack["r_safe"] == plain["r_safe"]
    assert by_name["class_pools:overflow=1"]["plan"]["overflow"] == 1
    assert all(row["trained_on_this_trace"] for row in by_name.values())


def test_equal_buffers_are_made_for_the_largest_request_and_the_most_live_blocks(folder):
    asked = ("fixed_pool", "fixed_pool:block_size=2048")
    content = heapfit_json("compare", "packets.heap", *asked, folder=folder)
    own, wider = sorted(content["rows"], key=lambda row: row["r_safe"])
    assert own["plan"]["block_size"] == 1500
    assert wider["plan"] == {**own["plan"], "block_size": 2048}
    live = own["plan"]["blocks"]
    assert 1504 * live < own["r_safe"] < 1504 * live + 128
    assert (own["step"], own["trained_on_this_trace"]) == (0, True)


def test_pools_made_from_the_same_trace_are_marked(folder):
    content = heapfit_json("compare", "packets.heap", "class_pools", "tlsf", folder=folder)
    assert {row["name"]: row["trained_on_this_trace"] for row in content["rows"]} == {
        "class_pools": True,
        "tlsf": False,
    }
    shown = heapfit("compare", "packets.heap", "class_pools", folder=folder)
    assert "class_pools*" in shown.stdout
    assert "* trained on this trace" in shown.stdout


def test_a_plan_file_is_marked_only_on_the_trace_it_was_made_from(folder):
    fit_json("four.heap", "--plans", "plans", folder=folder)
    plan = "plans/budgeted_4_largest.toml"
    (own,) = heapfit_json("compare", "four.heap", "--plan", plan, folder=folder)["rows"]
    assert own["name"] == "budgeted_4_largest"
    assert own["trained_on_this_trace"]
    bimodal(folder / "other.heap", seed=2)
    (other,) = heapfit_json("compare", "other.heap", "--plan", plan, folder=folder)["rows"]
    assert not other["trained_on_this_trace"]


def test_a_plan_file_of_what_no_trace_teaches_is_not_marked(folder, tmp_path):
    loaded = load_trace(import_file(folder / "packets.heap", tmp_path / "packets.parquet"), 8)
    seen = TrainingRecord("packets", loaded.content, len(loaded.events))
    plain = {"address_first_fit": {}, "tailored": {"layout": 1}, "tlsf": {}}
    learned = {
        "tailored": {"ends": 2, "high_0": 512},
        "fixed_pool": {"blocks": 9},
    }

    def is_marked(allocator, scalars):
        plan = Plan(allocator, {"alignment": 8, **scalars})
        file = PlanFile("made", plan, 4096, 4096, 8, 100, 32, seen, "0.1.0")
        return candidate_from_file(file, loaded).trained_on_this_trace

    assert not any(is_marked(*one) for one in plain.items())
    assert all(is_marked(*one) for one in learned.items())


def test_plans_of_one_name_are_told_apart(folder):
    fit_json("four.heap", "--plans", "twice", folder=folder)
    plan = "twice/tlsf.toml"
    arguments = ("four.heap", "tlsf", "--plan", plan, "--plan", plan)
    compared = names(heapfit_json("compare", *arguments, folder=folder))
    assert sorted(compared) == ["tlsf", "tlsf-2", "tlsf-3"]


def test_nothing_that_applies_is_told_with_the_reason(folder):
    (folder / "single.heap").write_text("# heap-events 1\na 0 64\nr 0 65\nr 0 63\n")
    done = heapfit("compare", "single.heap", "budgeted", folder=folder)
    assert done.returncode == 1
    assert "no plan to compare (budgeted_4_largest: no budget for the 4" in done.stderr


def test_every_region_is_told_with_its_alignment_and_step(folder):
    shown = heapfit("compare", "four.heap", "tlsf", "--alignment", "16", folder=folder)
    header, row, caption, _, _, aligned, *_ = shown.stdout.splitlines()
    cells = dict(zip(header.split("  "), row.split(), strict=False))
    assert header.split()[:5] == ["candidate", "R_min", "R_safe", "step", "over"]
    assert aligned == "Every block is aligned to 16 B."
    assert int(row.split()[3]) > 0
    assert "aligned to 16" in caption
    assert cells["candidate"] == "tlsf"


def test_fit_writes_each_candidate_as_a_plan(folder):
    asked = ("packets.heap", "--plans", "designs")
    content = fit_json(*asked, folder=folder)["plans"]
    assert all(row["r_safe"] for row in content["rows"])
    assert (folder / content["page"]).is_file()
    assert [path.removeprefix("designs/") for path in content["plans"]] == [
        f"{file_name(name)}.toml" for name in names(content)
    ]
    shown = heapfit("fit", *asked, folder=folder)
    told = " ".join(shown.stdout.split())
    assert "special sizes by the 10 % rule: 40, 1,500 B; powers of two for the rest" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("packets.heap", "xyz"),
            "xyz: no such file, and no such allocator (one of first_fit, ",
        ),
        (("packets.heap", "tlsf:speed=3"), "speed"),
        (("packets.heap", "tlsf:alignment=eight"), "alignment=eight is not TUNABLE=NUMBER"),
        (("packets.heap", "tlsf:alignment=3"), "alignment"),
        (("packets.heap", "budgeted:alignment=8"), "made from the trace"),
        (("none.heap", "tlsf"), "none.heap"),
        (("packets.heap", "--plan", "packets.heap"), "packets.heap: is a recording (heapfit fit"),
    ],
)
def test_what_cannot_be_compared_is_one_line(folder, arguments, message):
    done = heapfit("compare", *arguments, folder=folder)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert message in line


def test_a_bare_tailored_is_its_least_layout_and_says_which(folder):
    layouts = [f"tailored:layout={layout}" for layout in range(3)]
    content = heapfit_json("compare", "four.heap", "tailored", *layouts, folder=folder)
    by_name = {row["name"]: row for row in content["rows"]}
    least = min(layouts, key=lambda name: by_name[name]["r_safe"])
    assert least != layouts[0]
    assert by_name["tailored"]["r_safe"] == by_name[least]["r_safe"]
    one = heapfit("compare", "four.heap", "tailored", folder=folder).stdout
    several = heapfit("compare", "four.heap", "packets.heap", "tailored", folder=folder).stdout
    took = "tailored: laid out as tailored_headers, the least"
    assert f"{took}." in one
    assert f"{took}, on four." in several
