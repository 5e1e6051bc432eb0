# SPDX-License-Identifier: Apache-2.0
"""`sized`, whose callers hand sizes over: replayed, simulated, tried, generated."""

import subprocess
from pathlib import Path

import pytest
from generated_code import STRICT, compile_objects, plan_file
from small_traces import bimodal, event_array, heapfit

from heapfit import _engine
from heapfit.comparison.comparison import compare
from heapfit.design.effort import Effort
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import build_portfolio, standard_portfolio
from heapfit.errors import HeapfitError
from heapfit.generate import generate
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace

RESIZE, FREE = 3, 4
SIZED = Plan("sized")
PROGRAM = """
#include "app_heap.h"
#include <string.h>

int main(void) {
    unsigned char *blocks[40];
    if (!app_heap_init()) return 1;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 40; i++) {
            if ((blocks[i] = app_malloc((size_t)i * 7 + 1)) == NULL) return 2;
            memset(blocks[i], i, (size_t)i * 7 + 1);
        }
        for (int i = 0; i < 40; i += 2) {
            blocks[i] = app_realloc_sized(blocks[i], (size_t)i * 7 + 1, (size_t)i * 11 + 2);
            if (blocks[i] == NULL || blocks[i][i * 7] != i) return 3;
        }
        for (int i = 0; i < 40; i++) {
            if (blocks[i][i * 7] != i) return 4;
            if (i == 3) {
                (void)app_realloc_sized(blocks[i], (size_t)i * 7 + 1, 0);
                continue;
            }
            app_free_sized(blocks[i], i % 2 == 0 ? (size_t)i * 11 + 2 : (size_t)i * 7 + 1);
        }
        if (!app_heap_check()) return 5;
    }
    app_free_sized(NULL, 7);
    return app_malloc(60000) != NULL ? 0 : 6;
}
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> LoadedTrace:
    folder = tmp_path_factory.mktemp("sized")
    return load_trace(open_any(bimodal(folder / "two.heap", 600), ImportOptions(), folder))


def test_a_replay_hands_sizes_over() -> None:
    replay = _engine.Replay(SIZED.engine(), 24 + 200)
    a, b, c = 0, 1, 2
    made = [(0, a, 100), (0, b, 90), (FREE, a, 0), (RESIZE, b, 190), (FREE, b, 0), (0, c, 200)]
    assert replay.feed(event_array(made))
    result = replay.result()
    assert (result.refusals, result.footprint) == (0, 224)


def test_behind_pools_it_is_refused_in_one_line() -> None:
    with pytest.raises(HeapfitError, match="sized cannot be shared: it needs the sizes of blocks"):
        _engine.Plan("budgeted", {}, [], SIZED.engine())


def test_it_is_tried_only_where_sizes_are_handed_over(loaded) -> None:
    def names(options: PlanOptions) -> set[str]:
        return {one.plan.allocator for one in standard_portfolio(loaded, options).candidates}

    assert "sized" not in names(PlanOptions(effort=Effort.QUICK))
    assert "sized" in names(PlanOptions(effort=Effort.QUICK, sized=True))


def test_named_it_needs_least_and_is_marked(loaded, tmp_path) -> None:
    table = compare(loaded, build_portfolio(loaded, ["tlsf", "sized"], []))
    assert [row.name for row in table.rows] == ["sized", "tlsf"]
    arguments = ("compare", "t2_w2:events=600", "sized", "tlsf")
    shown = heapfit(*arguments, folder=tmp_path).stdout
    assert "\nsized# " in shown
    assert "\n# sized deallocation: the program passes the size when it frees or resizes." in shown


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("safety", [0, 1, 2, 3])
def test_a_generated_heap_has_calls_with_sizes_alone(tmp_path: Path, safety: int) -> None:
    plan = Plan("sized", {"alignment": 4, "ends": 1 + safety % 2})
    code = tmp_path / "code"
    generate(plan_file(plan), code)
    header = (code / "app_heap.h").read_text()
    assert "app_free(void" not in header and "usable_size" not in header
    (tmp_path / "main.c").write_text(PROGRAM)
    level = f"-DHFIT_SAFETY={safety}"
    objects = compile_objects(code, tmp_path / "objects", "-m32", level)
    program = [str(tmp_path / "main.c"), *map(str, objects), "-o", str(tmp_path / "main")]
    subprocess.run(["gcc", "-m32", *STRICT[2:], f"-I{code}", *program], check=True)
    subprocess.run([tmp_path / "main"], check=True, timeout=300)


def test_a_load_beyond_its_limit_is_told_with_the_limit(tmp_path) -> None:
    rows = "".join(f"alloc,{number},1000000\n" for number in range(9))
    (tmp_path / "large.csv").write_text(f"op,object,size\n{rows}")
    done = heapfit("compare", "large.csv", "sized:alignment=4", "good_fit", folder=tmp_path)
    assert "8 MiB at 4, 16 MiB at 8" in " ".join(done.stdout.split())
