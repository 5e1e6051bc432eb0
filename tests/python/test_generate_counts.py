# SPDX-License-Identifier: Apache-2.0
"""A generated heap counts what its calls do, and its region may be another's."""

from pathlib import Path

import pytest
from generated_code import HERE, PLANS, plan_file, run_with_heap
from small_traces import heapfit

from heapfit.errors import HeapfitError
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import load_plan, save_plan

pytestmark = pytest.mark.usefixtures("unmeasured")

COUNTED = {name: PLANS[name] for name in ("first_fit", "tlsf", "budgeted")}
COUNTED["tailored"] = Plan("tailored")
GIVEN = GenerateOptions(counts=True, is_given=True)


@pytest.mark.parametrize("name", COUNTED)
def test_counts_and_free_blocks_agree_with_what_was_asked(tmp_path: Path, name: str) -> None:
    generate(plan_file(COUNTED[name], 16_384), tmp_path / "code", options=GIVEN)
    main, options = HERE / "generated_counts.c", "-fsanitize=undefined"
    run_with_heap(tmp_path / "code", main, tmp_path / "made", options)


def test_a_heap_that_hands_sizes_over_counts_what_was_asked_for(tmp_path: Path) -> None:
    generate(
        plan_file(Plan("sized"), 4096), tmp_path / "code", options=GenerateOptions(counts=True)
    )
    main = """
        #include "app_heap.h"
        int main(void) {
            app_heap_counts counts;
            (void)app_heap_init();
            void *block = app_malloc(100);
            block = app_realloc_sized(block, 100, 70);
            (void)app_malloc(0);
            app_heap_count(&counts);
            const int is_right = counts.live == 71 && counts.most_live == 100 && counts.allocs == 2;
            app_free_sized(block, 70);
            app_free_sized(NULL, 5);
            app_heap_count(&counts);
            return is_right && counts.live == 1 && counts.frees == 1 ? 0 : 1;
        }"""
    run_with_heap(tmp_path / "code", main, tmp_path / "made")


def test_a_region_that_is_handed_over_takes_no_ram(tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=GIVEN)
    page = (tmp_path / "code/README.md").read_text()
    assert "| RAM | 28 bytes of variables, and a region that the program passes: 65,536" in page
    with pytest.raises(HeapfitError, match=r"the first request makes the heap, .*--region-given"):
        generate(plan_file(PLANS["tlsf"]), tmp_path / "cxx", language="c++", options=GIVEN)


def test_another_region_is_the_codes_and_the_plans(tmp_path: Path) -> None:
    save_plan(tmp_path / "plan.toml", plan_file(PLANS["tlsf"], 8192))
    done = heapfit("generate", "plan.toml", "--region", "6000", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "#define APP_HEAP_BYTES 6000u" in (tmp_path / "code/app_heap.h").read_text()
    assert load_plan(tmp_path / "code/plan.toml").region == 6000
    done = heapfit("generate", "plan.toml", "--region", "6K", folder=tmp_path)
    assert (done.returncode, load_plan(tmp_path / "code/plan.toml").region) == (0, 6144)
    done = heapfit("generate", "plan.toml", "--region", "6KB", folder=tmp_path)
    assert done.returncode == 2
    assert "Invalid value for '--region': 6KB is not a size in bytes, such as 65536" in done.stderr
    done = heapfit("generate", "plan.toml", "--region", "6K", "--region-given", folder=tmp_path)
    assert done.returncode == 2
