# SPDX-License-Identifier: Apache-2.0
"""One name space of heaps: those of systems, allocators and aliases, in `compare` and elsewhere."""

import re

import pytest
from small_traces import bimodal, heapfit, heapfit_json

from heapfit import _engine
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS, is_heap, is_simulated, list_heap_names
from heapfit.comparison.incumbents.needs import measure
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, list_aliases
from heapfit.sizing.systems import SettingsOptions, settings_for
from heapfit.trace.stored import Trace

pytestmark = pytest.mark.usefixtures("unmeasured")

SYSTEMS = [
    *("heap_4", "lwip-mem", "newlib-nano", "sys_heap"),
    *("threadx", "nuttx", "umm_malloc", "mattconte-tlsf"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("heaps")
    bimodal(made / "run.heap")
    with (made / "run.heap").open("a") as file:
        file.write("a 900000 40\nr 900000 400\nr 900000 30\nf 900000\n")
    (made / "aligned.heap").write_text("m 0 24 64\nf 0\n")
    assert heapfit("import", "run.heap", folder=made).returncode == 0
    return made


def test_systems_heaps_are_ranked_by_their_own_memory(folder):
    content = heapfit_json("compare", "run.parquet", *SYSTEMS, "tlsf", folder=folder)
    rows = {row["name"]: row for row in content["rows"]}
    trace = Trace.open(folder / "run.parquet")
    for name in SYSTEMS:
        heap = find_heap(name, 8)
        assert rows[name]["r_safe"] == measure(heap, [trace]).most, name
        assert (rows[name]["simulated"], rows[name]["tolerance"]) == (heap.title, heap.tolerance)
    assert rows["tlsf"]["simulated"] is None
    assert len(content["rows"]) == len(SYSTEMS) + 1


@pytest.mark.parametrize(
    ("heap", "system"), [("heap_4", "freertos"), ("sys_heap", "zephyr"), ("lwip-mem", "lwip")]
)
def test_settings_of_a_heap_are_those_of_its_system(folder, heap, system):
    settings = heapfit_json("settings", heap, "run.heap", folder=folder)
    assert settings == heapfit_json("settings", system, "run.heap", folder=folder)
    from_python = settings_for(heap, [folder / "run.heap"], SettingsOptions())
    assert from_python.system == settings["system"]


def test_a_heap_without_settings_of_its_system_is_told_the_systems(folder):
    wrong = heapfit("settings", "esp-tlsf", "run.heap", folder=folder)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert (
        "'esp-tlsf' is not one of 'lwip', 'zephyr', 'zephyr-bluetooth', 'nimble'," in wrong.stderr
    )


def test_a_simulated_row_is_marked(folder):
    shown = heapfit("compare", "run.heap", "heap_4", "tlsf", folder=folder).stdout
    assert "heap_4^ " in shown
    assert "tlsf^" not in shown
    assert "^ simulated from its algorithm; R with control data, equal to the source's." in shown
    both = heapfit("compare", "run.heap", "run.parquet", "heap_4", "tlsf", folder=folder).stdout
    assert "^ simulated from its algorithm" in both


def test_a_page_is_drawn_of_a_simulated_heap(folder):
    done = heapfit("compare", "run.heap", "heap_4", "--report", "page.html", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "heap_4" in (folder / "page.html").read_text()


def test_drawn_workloads_are_asked_of_systems_heaps_too(folder):
    asked = ("t2_w1:events=300", "heap_4")
    (row,) = heapfit_json("compare", *asked, folder=folder)["rows"]
    assert row["r_safe"] > 0


def test_what_a_systems_heap_cannot_serve_is_left_out_with_the_reason(folder):
    shown = heapfit("compare", "aligned.heap", "heap_4", "tlsf", folder=folder).stdout
    assert "heap_4 skipped: event 1: asks for an alignment of 64" in " ".join(shown.split())


def test_an_alias_is_the_allocator_everywhere(folder):
    (row,) = heapfit_json("compare", "run.heap", "dlmalloc", folder=folder)["rows"]
    assert row["name"] == "lea"
    shown = heapfit("allocators", "dlmalloc", folder=folder).stdout.splitlines()
    assert shown[0].startswith("lea: ")
    assert shown[1].split() == ["also", "called", "dlmalloc"]
    aliases = list_aliases()
    assert [info.name for info in find_allocators(list(aliases))] == list(aliases.values())


def test_the_heap_of_today_is_any_of_them(folder):
    shown = heapfit("fit", "run.heap", "--now", "dlmalloc", folder=folder).stdout
    assert re.search(r"keep lea and\s+set its region to", shown, re.IGNORECASE)
    (row,) = heapfit_json("compare", "run.parquet", "lea", folder=folder)["rows"]
    needs = measure(find_heap("dlmalloc", 8), [Trace.open(folder / "run.parquet")])
    assert needs.most == row["r_safe"]


def test_a_name_means_one_heap():
    registered = [info.name for info in _engine.allocators()]
    both = set(SYSTEM_HEAPS) & set(registered)
    assert all(is_simulated(name) for name in both)  # it is the system's, in every command
    assert len(list_heap_names()) == len(set(list_heap_names()))
    assert all(is_heap(name) for name in [*SYSTEMS, "lea:alignment=4", "dlmalloc"])
    assert [name for name in SYSTEMS if is_simulated(name)] == SYSTEMS
    assert not is_heap("run.heap")


@pytest.mark.parametrize("name", ["heap_1", "heap_2", "heap_5:16K,8K"])
@pytest.mark.parametrize("words", [("fit", "run.heap", "--now"), ("compare", "run.heap")])
def test_a_removed_heap_ends_with_2_and_the_one_to_name(folder, words, name):
    done = heapfit(*words, name, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name.partition(':')[0]}: is no longer simulated" in done.stderr
    assert "give heap_4" in done.stderr


@pytest.mark.parametrize("name", ["class_pools", "sized", "chained_pool"])
def test_an_allocator_that_no_program_can_just_have_is_none(name):
    with pytest.raises(HeapfitError, match="is no heap that a program can have as it is"):
        find_heap(name, 8)


def test_all_are_listed_with_what_users_set(folder):
    shown = heapfit("allocators", folder=folder).stdout
    content = heapfit_json("allocators", folder=folder)
    assert [one["name"] for one in content["systems_heaps"]] == [*SYSTEM_HEAPS]
    assert content["aliases"] == {"dlmalloc": "lea"}
    assert "systems' heaps: simulated from their algorithms (docs/now.md)" in shown
    assert "configTOTAL_HEAP_SIZE" in heapfit("allocators", "heap_4", folder=folder).stdout
